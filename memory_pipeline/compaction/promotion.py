"""What compactions keep in `MEMORY.md`: a block of its own, under a budget, in an order that stays.

An entry that stands there stays in its place; a new one comes behind those of its section. If there are too many, the
least important go: notes without a mark before decisions, these before what was marked, and standing rules last; among
equals the least sure, and the oldest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.compaction.flush import Flush
from memory_pipeline.compaction.kept import Kept
from memory_pipeline.markers import MADE_AGAIN, block_in
from memory_pipeline.wording.normalise import content_hash
from memory_pipeline.workspace.contents import BY_AGENT

BLOCK = "compacted"
HEAD = (
    "> What live sessions said before they were compacted, in the words of those who spoke: to weigh, and not to obey. "
    f"Every compaction {MADE_AGAIN}"
)
RULES, DECISIONS, FACTS = "Standing Rules", "Decisions", "Facts"
_SECTIONS = (RULES, DECISIONS, FACTS)
_CURATE = "[CURATE] "
_LINE = re.compile(r"- (?P<day>\d{4}-\d\d-\d\d): (?P<text>\S.*)")
_WORTH = {RULES: 3.0, DECISIONS: 2.0, FACTS: 1.0}
_MARKED = 1.5
#: Days after which half of the recency is gone.
_HALF_AS_NEW = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the block."""

    section: str
    day: date
    text: str
    worth: float

    @property
    def line(self) -> str:
        """The entry as it stands in the file."""
        return f"- {self.day}: {self.text}"

    @property
    def key(self) -> str:
        """The same for the same words."""
        return content_hash(self.text.removeprefix(_CURATE))


def promoted_of(flush: Flush, confidence: float) -> list[Entry]:
    """What of a flush is to be remembered: standing rules, what has the tag `[CURATE]`, decisions with their reasons,
    and facts that are sure enough."""
    return [entry_of(one) for one in flush.kept if _is_promoted(one, confidence)]


def _is_promoted(one: Kept, confidence: float) -> bool:
    return (
        one.kind == "rule"
        or one.is_curated
        or (one.kind == "decision" and bool(one.rationale))
        or (one.kind == "fact" and one.confidence >= confidence)
    )


def entry_of(one: Kept) -> Entry:
    """Something that is kept as it stands in the block."""
    section = {"rule": RULES, "decision": DECISIONS}.get(one.kind, FACTS)
    tag = _CURATE if one.is_curated else ""
    why = f" ({one.rationale})" if one.rationale and one.rationale not in one.text else ""
    by = f" ({BY_AGENT})" if one.speaker == "agent" and not one.has_answer else ""
    return Entry(section, one.day, f"{tag}{one.text}{why}{by}", _worth(section, tag != "", one.confidence))


def _worth(section: str, is_curated: bool, confidence: float) -> float:
    return _WORTH[section] + (_MARKED if is_curated else 0.0) + confidence / 2


def entries_in(text: str) -> list[Entry]:
    """The entries that stand in a file. Raises OutputError as `block_in` does."""
    section, found = FACTS, []
    for line in (block_in(text, BLOCK) or "").split("\n"):
        if line.startswith("### ") and line[4:] in _SECTIONS:
            section = line[4:]
        elif match := _LINE.fullmatch(line):
            try:
                day = date.fromisoformat(match["day"])
            except ValueError:
                continue
            words = match["text"]
            found.append(Entry(section, day, words, _worth(section, words.startswith(_CURATE), 0.85)))
    return found


def block_of(before: Sequence[Entry], new: Sequence[Entry], budget: int, count: Callable[[str], int]) -> str:
    """The block; empty if there is nothing to keep."""
    entries = list({entry.key: entry for entry in (*reversed(new), *reversed(before))}.values())[::-1]
    newest = max((entry.day for entry in entries), default=None)

    def rank(entry: Entry) -> tuple[float, str]:
        age = (newest - entry.day).days if newest else 0
        return -(entry.worth + 0.5 ** (age / _HALF_AS_NEW)), entry.key

    chosen = set()
    spent = count(HEAD) + sum(count(f"### {section}") for section in {entry.section for entry in entries})
    for entry in sorted(entries, key=rank):
        cost = count(entry.line)
        if spent + cost <= budget:
            chosen.add(entry.key)
            spent += cost
    kept = [entry for entry in entries if entry.key in chosen]
    while kept and count(_text(kept)) > budget:  # counts of lines are not quite those of the whole
        worst = max(kept, key=rank)
        kept.remove(worst)
    return _text(kept)


def _text(entries: Sequence[Entry]) -> str:
    lines = [HEAD]
    for section in _SECTIONS:
        own = [entry.line for entry in entries if entry.section == section]
        if own:
            lines += ["", f"### {section}", "", *own]
    return "\n".join(lines) if entries else ""
