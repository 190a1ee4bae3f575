"""What a night makes of planted duplicates and planted conflicts, by kind: the memories that a user has afterwards.

    python benchmarks/duplicates.py [--pairs 30] [--seed 1] [--workspace DIRECTORY] [--misses 5] [--json FILE]

Each planted pair is a note of the demo workspace, of this benchmark (planted_notes.py) or, with `--workspace`, of an
OpenClaw workspace of your own, and a changed copy of it some days later (planted_duplicates.py,
planted_conflicts.py). The copies are imported beside all the other notes, and the real night runs with its policies
as they are. A pair is *joined* if both of its memories end in one active memory. A *neighbour* is another note that
ends in one memory with a planted pair, although the same night without the copies keeps it apart from the pair's
note. Nothing is planted in readings of a series (with another figure, a reading is the next one, neither a copy nor a
conflict) or in knowledge-base entries (their examples differ and are all kept). Goals: duplicates joined >= 0.92,
conflicts joined <= 0.01, no unrelated neighbours (their number is shown; read them with `--misses`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path

from planted_conflicts import CONFLICTS
from planted_duplicates import DUPLICATES
from planted_languages import PAIRS as LANGUAGES
from planted_notes import NOTES, PARAPHRASES
from planting import Planter

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.demo.workspace import import_demo
from memory_pipeline.ingest.candidates import Candidate, Skipped
from memory_pipeline.ingest.dates import zone
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.store import Store
from memory_pipeline.text.entries import is_entry
from memory_pipeline.text.normalise import content_hash

FOUND_GOAL, JOINED_GOAL = 0.92, 0.01
SHORTEST, LONGEST = 20, 600
_FIRST = datetime(2026, 1, 1, 9, tzinfo=UTC)
_NIGHT = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pair:
    """A note and its planted copy, by their places among the notes; `joined`: whether both ended in one memory."""

    corpus: str
    group: str
    kind: str
    note: Candidate
    copy: Candidate
    joined: bool = False


def notes_of(settings: Settings, workspace: Path | None) -> dict[str, list[Candidate]]:
    """By corpus, its distinct notes that are neither very short nor very long."""
    notes = {"written": [_note("written", n, text) for n, text in enumerate(NOTES)]}
    with tempfile.TemporaryDirectory() as directory:
        lexical = settings.with_values({"store.path": f"{directory}/demo.duckdb", "embedding.model": "lexical"})
        import_demo(Store.of(lexical), lexical)
        with Store.of(lexical).reading() as tx:
            texts = sorted({m.content for m in tx.memories.all() if m.importance < 2.5})
        notes["demo"] = [_note("demo", n, text) for n, text in enumerate(texts)]
    if workspace:
        found = read_format("openclaw", workspace, zone("UTC"), _NIGHT, settings, Skipped())
        texts = sorted({item.content for item in found if isinstance(item, Candidate) and item.importance < 2.5})
        notes["own"] = [_note("own", n, text) for n, text in enumerate(texts)]
    return {name: [note for note in mine if SHORTEST <= len(note.content) <= LONGEST] for name, mine in notes.items()}


def _note(corpus: str, number: int, content: str, suffix: str = "", days: float = 0) -> Candidate:
    at = _FIRST + timedelta(days=number % 90 + days, minutes=number)
    native_id = f"{corpus}-{number}{suffix}"
    return Candidate(content=content, created_at=at, native_id=native_id, project_id=corpus, importance=1.0)


def plant(corpus: str, notes: Sequence[Candidate], count: int, seed: int) -> list[Pair]:
    """Up to `count` pairs of each kind; no note is in two of them."""
    free = list(notes)
    random.Random(seed).shuffle(free)
    count = min(count, max(2, len(free) // (len(DUPLICATES) + len(CONFLICTS))))
    pairs: list[Pair] = []
    for group, planters in (("duplicate", DUPLICATES), ("conflict", CONFLICTS)):
        for kind, planter in planters.items():
            pairs += _of_kind(corpus, free, group, kind, planter, count, seed)
            taken = {pair.note.native_id for pair in pairs}
            free = [note for note in free if note.native_id not in taken]
    return pairs


def _of_kind(
    corpus: str, free: Iterable[Candidate], group: str, kind: str, planter: Planter, count: int, seed: int
) -> list[Pair]:
    rng = random.Random(f"{seed} {kind}")
    pairs: list[Pair] = []
    for note in free:
        changed = planter(note.content, rng)
        if changed is None or (group == "conflict" and content_hash(changed) == content_hash(note.content)):
            continue
        later = (
            note.created_at + timedelta(days=rng.randrange(1, 9), hours=rng.randrange(8)) if note.created_at else None
        )
        copy = replace(note, content=changed, native_id=f"{note.native_id}-copy", created_at=later)
        pairs.append(Pair(corpus, group, kind, note, copy))
        if len(pairs) == count:
            break
    return pairs


def written_pairs() -> list[Pair]:
    """The pairs that are written out: paraphrases, and duplicates and conflicts of other languages."""
    pairs = []
    told = [("duplicate", "paraphrase", one, other) for one, other in PARAPHRASES]
    told += [(group, f"in {language}", one, other) for language, group, one, other in LANGUAGES]
    for n, (group, kind, one, other) in enumerate(told):
        note = _note("pairs", n, one)
        pairs.append(Pair("pairs", group, kind, note, _note("pairs", n, other, "-copy", days=3)))
    return pairs


@dataclass(frozen=True, slots=True)
class Places:
    """By native id, the active memory in which each note ended; and the readings of series, with those that break
    one."""

    of: Mapping[str, str]
    readings: frozenset[str]


def places_after_a_night(directory: Path, settings: Settings, notes: Iterable[Candidate]) -> Places:
    """Where each note is after a night over all of them."""
    notes = list(notes)
    own = settings.with_values({"store.path": str(directory / "store.duckdb")})
    store = Store.of(own)
    for project in dict.fromkeys(note.project_id or "" for note in notes):
        mine = [note for note in notes if note.project_id == project]
        import_memories(store, iter(mine), project=project, embedder=choose_embedder(own), now=_NIGHT)
    run_night(Night(store, own, NightOptions(_NIGHT.date(), "benchmark")))
    with store.reading() as tx:
        ids = [memory.id for memory in tx.memories.all() if memory.abstraction_level == 0]
        places = {memory_id: tx.lineage.replacement_of(memory_id) for memory_id in ids}
        series = {one.id: one.facts.breaking_ids for one in tx.series.active()}
    readings = {memory_id for memory_id, place in places.items() if place in series}
    return Places(places, frozenset(readings.union(*series.values())))


def neighbours(pairs: Sequence[Pair], after: Mapping[str, str], before: Mapping[str, str]) -> list[tuple[str, str]]:
    """Native ids of a planted pair's note and of another note that the copies brought into one memory with it."""
    inside = defaultdict(set)
    for note, place in after.items():
        inside[place].add(note)
    found = []
    for pair in (pair for pair in pairs if pair.corpus != "pairs"):
        note = pair.note.native_id or ""
        for other in sorted(inside[after[note]] | inside[after[f"{note}-copy"]]):
            apart = not other.endswith("-copy") and other != note and before[other] != before[note]
            if apart or (other.endswith("-copy") and other != f"{note}-copy"):
                found.append((note, other))
    return found


def are_unrelated(one: str, other: str) -> bool:
    """Whether two texts share few of their longer words."""
    mine, theirs = (set(re.findall(r"\w{4,}", text.lower())) for text in (one, other))
    return len(mine & theirs) < 0.3 * min(len(mine), len(theirs))


def difference(pair: Pair) -> str:
    """The words in which a pair differs, with their neighbours."""
    left, right = pair.note.content.split(), pair.copy.content.split()
    places = []
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            places.append(f"{' '.join(left[max(0, i - 2) : i])} [{' '.join(left[i:j])} => {' '.join(right[k:m])}]")
    return " | ".join(places)[:200]


def table(pairs: Sequence[Pair], misses: int) -> tuple[list[str], dict[str, float]]:
    """The shares by corpus, group and kind as lines, and those of each group."""
    rows: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        rows[(pair.group, pair.corpus, pair.kind)].append(pair)
        rows[(pair.group, "all", "ALL")].append(pair)
        rows[(pair.group, pair.corpus, "ALL")].append(pair)
    lines = [f"{'group':11}{'corpus':9}{'kind':28}{'pairs':>6}{'joined':>8}"]
    shares: dict[str, float] = {}
    for (group, corpus, kind), mine in sorted(rows.items()):
        share = sum(pair.joined for pair in mine) / len(mine)
        lines.append(f"{group:11}{corpus:9}{kind:28}{len(mine):>6}{share:>8.3f}")
        if kind == "ALL":
            shares[f"{corpus} {group}"] = share
        wrong = [pair for pair in mine if pair.joined != (group == "duplicate")]
        lines += [f"        missed: {difference(pair)}" for pair in wrong[:misses] if kind != "ALL"]
    return lines, shares


def main() -> int:
    """Plant, run the night and print; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30, help="pairs of each kind and corpus, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workspace", type=Path, help="an OpenClaw workspace of your own, beside the others")
    parser.add_argument("--misses", type=int, default=5, help="examples of misses of each kind")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given = parser.parse_args()
    settings = load_settings({}, {}).values
    notes = notes_of(settings, given.workspace)
    single = [note for mine in notes.values() for note in mine] + [pair.note for pair in written_pairs()]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        before = places_after_a_night(Path(one), settings, single)
        pairs = written_pairs()
        for corpus, mine in notes.items():
            free = [n for n in mine if n.native_id not in before.readings and not is_entry(n.content)]
            print(f"{corpus}: {len(mine)} notes, of them {len(mine) - len(free)} readings or entries")
            pairs += plant(corpus, free, given.pairs, given.seed)
        after = places_after_a_night(Path(other), settings, [*single, *(pair.copy for pair in pairs)]).of
    pairs = [
        replace(pair, joined=after[pair.note.native_id or ""] == after[pair.copy.native_id or ""]) for pair in pairs
    ]
    lines, shares = table(pairs, given.misses)
    print("\n".join(lines))
    brought = neighbours(pairs, after, before.of)
    text_of = {note.native_id: note.content for note in (*single, *(pair.copy for pair in pairs))}
    strange = [(note, other) for note, other in brought if are_unrelated(text_of[note], text_of[other])]
    print(f"Neighbours brought into a planted pair's memory: {len(brought)}, of them unrelated: {len(strange)}")
    for note, neighbour in strange[: given.misses * 4]:
        print(f"        {text_of[note][:100]}\n          + {text_of[neighbour][:100]}")
    if given.json:
        given.json.write_text(json.dumps({"seed": given.seed, "joined": shares, "unrelated": len(strange)}, indent=2))
    reached = shares["all duplicate"] >= FOUND_GOAL and shares["all conflict"] <= JOINED_GOAL and not strange
    print("Goals reached." if reached else f"Goals missed: duplicates >= {FOUND_GOAL}, conflicts <= {JOINED_GOAL}.")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
