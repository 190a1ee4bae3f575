"""What changed in the active memory between two states, as data, text and a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_pipeline.files import begins_with, check_output, write_text
from memory_pipeline.recall.past import PastState
from memory_pipeline.records import Memory
from memory_pipeline.wording.quoting import INERT_PAGE, clipped, html_quote, html_text


@dataclass(frozen=True, slots=True)
class Difference:
    """Memories that came, went (with where to) and changed (with what), by id; tokens of the active ones."""

    before: str
    after: str
    added: tuple[Memory, ...]
    gone: tuple[tuple[Memory, str], ...]
    changed: tuple[tuple[Memory, str], ...]
    tokens_before: int
    tokens_after: int

    def as_json(self) -> dict[str, Any]:
        """The difference for `--json`."""
        return {
            "from": self.before,
            "to": self.after,
            "added": [{"id": m.id, "content": m.content} for m in self.added],
            "gone": [{"id": m.id, "content": m.content, "why": why} for m, why in self.gone],
            "changed": [{"id": m.id, "content": m.content, "what": what} for m, what in self.changed],
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
        }


def diff_states(before: PastState, after: PastState) -> Difference:
    """What is active in one state and not in the other, and what changed in those that are in both."""
    old, new = before.active, after.active
    later = {memory.id: memory for memory in after.memories}
    gone = []
    for memory_id in sorted(old.keys() - new.keys()):
        now = later.get(memory_id)
        gone.append((old[memory_id], f"archived into {now.consolidated_into_id}" if now else "no longer in use"))
    changed = []
    for memory_id in sorted(old.keys() & new.keys()):
        what = [
            f"{name} {getattr(old[memory_id], name)} -> {getattr(new[memory_id], name)}"
            for name in ("importance", "pinned", "reuse_count", "useful_count")
            if getattr(old[memory_id], name) != getattr(new[memory_id], name)
        ]
        if what:
            changed.append((new[memory_id], ", ".join(what)))
    return Difference(
        before.label,
        after.label,
        tuple(new[memory_id] for memory_id in sorted(new.keys() - old.keys())),
        tuple(gone),
        tuple(changed),
        sum(memory.token_count for memory in old.values()),
        sum(memory.token_count for memory in new.values()),
    )


def headline(difference: Difference) -> str:
    """The counts of a difference in one sentence."""
    return (
        f"From {difference.before} to {difference.after}: {len(difference.added)} came, {len(difference.gone)} went, "
        f"{len(difference.changed)} changed; {difference.tokens_before} -> {difference.tokens_after} active tokens"
    )


def diff_text(difference: Difference, most: int | None = None) -> str:
    """A difference as lines: `+` came, `-` went, `~` changed; at most `most` of each."""
    lines = [headline(difference)]
    lines += [f"+ {memory.id}  {_flat(memory)}" for memory in difference.added[:most]]
    lines += [f"- {memory.id}  {_flat(memory)}  ({why})" for memory, why in difference.gone[:most]]
    lines += [f"~ {memory.id}  {_flat(memory)}  ({what})" for memory, what in difference.changed[:most]]
    return "\n".join(lines)


#: How a page begins; one that begins otherwise is somebody else's.
_PAGE_START = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="generator" content="memory-pipeline diff">'
)
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2330}"
    "ul{padding:0}li{margin:.5rem 0;list-style:none;padding-left:.8rem;border-left:4px solid #b7c3d7}"
    ".came{border-color:#2f8f5b}.went{border-color:#c28a1b}small{color:#5b6577}"
)


def diff_html(difference: Difference) -> str:
    """A difference as a page; every word of a memory is shown, none is run."""
    rows = [("came", memory, "") for memory in difference.added]
    rows += [("went", memory, why) for memory, why in difference.gone]
    rows += [("changed", memory, what) for memory, what in difference.changed]
    items = "".join(
        f'<li class="{kind}">{html_quote(memory.content, memory.id)}<br><small>{kind} {html_text(why)}</small></li>'
        for kind, memory, why in rows
    )
    return (
        f"{_PAGE_START}{INERT_PAGE}<title>Difference</title><style>{_STYLE}</style>"
        f"<h1>What changed in the active memory</h1><p>{html_text(headline(difference))}</p><ul>{items}</ul></html>"
    )


def check_page(path: Path, *, force: bool = False) -> None:
    """Raises OutputError, before any work is done, for a file that a page cannot or must not be written to."""
    check_output(path, begins_with(_PAGE_START), force=force)


def write_page(path: Path, difference: Difference, *, force: bool = False) -> None:
    """Write a difference as a page, whole or not at all; errors as in `check_page`."""
    write_text(path, diff_html(difference), begins_with(_PAGE_START), force=force)


def _flat(memory: Memory) -> str:
    return clipped(memory.content, 160)
