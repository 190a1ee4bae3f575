"""What flushes and compactions keep of sessions, one record a run beside the store; with a store or without one.

The pages follow from the records: a later run of a session replaces the blocks of an earlier one, and one that is taken
back leaves none. A record is there before the pages are written, so that a killed run is made whole by the next.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.errors import AlreadyRolledBackError, InputError
from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.shared_blocks import WRITTEN
from memory_pipeline.workspace.places import MEMORY_FILE, folder_of
from memory_pipeline.workspace.promotions import BLOCK, Promotion, promotions_block

_BEGINNING = '{"session_run": '
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class SessionRun:
    """One flush or compaction. `what`: what it was, in words; `logs`: by page and block, what it keeps there;
    `promoted`: what is to be remembered; `is_written`: whether the pages say so."""

    project: str
    what: str
    logs: Mapping[tuple[str, str], str]
    promoted: tuple[Promotion, ...] = ()
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    undone_at: datetime | None = None
    is_written: bool = False

    def taken_back(self) -> SessionRun:
        """The run as one that leaves nothing."""
        return replace(self, undone_at=datetime.now(UTC), is_written=False)


def keep_run(store: Path, run: SessionRun) -> None:
    """Write the record of a run."""
    place = _records(store) / folder_of(run.project)
    shown = {
        "session_run": run.run_id,
        **{name: getattr(run, name) for name in ("project", "what", "is_written")},
        "at": run.at.isoformat(),
        "undone_at": run.undone_at.isoformat() if run.undone_at else None,
        "logs": [[*where, body] for where, body in run.logs.items()],
        "promoted": [{**asdict(one), "day": one.day.isoformat()} for one in run.promoted],
    }
    with directories(place):
        file = place / f"{run.at:%Y%m%dT%H%M%S%f}-{run.run_id}.json"
        write_text(file, json.dumps(shown), begins_with(_BEGINNING), private=True)


def session_runs(store: Path, project: str | None = None) -> Iterator[SessionRun]:
    """The flushes and compactions, of one project or of all, the oldest first."""
    pattern = f"{folder_of(project)}/*.json" if project is not None else "*/*.json"
    for path in sorted(_records(store).glob(pattern), key=lambda path: path.name):
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            yield SessionRun(
                project=kept["project"],
                what=kept["what"],
                logs={(file, block): body for file, block, body in kept["logs"]},
                promoted=tuple(Promotion(**{**one, "day": date.fromisoformat(one["day"])}) for one in kept["promoted"]),
                run_id=kept["session_run"],
                at=datetime.fromisoformat(kept["at"]),
                undone_at=datetime.fromisoformat(kept["undone_at"]) if kept["undone_at"] else None,
                is_written=kept["is_written"],
            )
        except (OSError, ValueError, KeyError, TypeError):  # it was removed just now, or somebody changed it
            continue


def find_run(store: Path, run_id: str) -> SessionRun | None:
    """The only flush or compaction whose id starts so; None if there is none. Raises InputError for several, and
    AlreadyRolledBackError for one that was taken back."""
    found = [one for one in session_runs(store) if run_id and one.run_id.startswith(run_id)]
    if len(found) > 1:
        raise InputError(f"{len(found)} runs begin with '{run_id}'; give more of the id")
    if found and (undone := found[0].undone_at):
        raise AlreadyRolledBackError(
            f"run '{found[0].run_id}' was already rolled back on {undone:%Y-%m-%d %H:%M:%S} UTC"
        )
    return found[0] if found else None


def session_logs(runs: Iterable[SessionRun]) -> dict[tuple[str, str], str]:
    """By page and block, what some runs of a project keep there; empty where all were taken back."""
    known = list(runs)
    blocks = {where: "" for run in known for where in run.logs}
    for run in known:
        blocks.update({} if run.undone_at else run.logs)
    return blocks


def session_promotions(runs: Iterable[SessionRun], budget: int) -> dict[tuple[str, str], str]:
    """What some runs of a project keep in `MEMORY.md`, within a budget of tokens; nothing if none ever kept any."""
    known = list(runs)
    if not any(run.promoted for run in known):
        return {}
    return {(MEMORY_FILE, BLOCK): promotions_block(standing_promotions(known), budget, _tokens_in)}


def standing_promotions(runs: Iterable[SessionRun]) -> list[Promotion]:
    """What runs keep that were not taken back, in their order."""
    return [one for run in runs if not run.undone_at for one in run.promoted]


def _tokens_in(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def _records(store: Path) -> Path:
    return store.with_suffix(WRITTEN) / "sessions"
