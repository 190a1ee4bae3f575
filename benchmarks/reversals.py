"""How many of the statements that their human takes back are withdrawn, and how many others are.

    python benchmarks/reversals.py [--held-out] [--misses] [--pairs FILE]

Each pair of planted_reversals.py (or of a file with such lines, `-` before those that take nothing back) is read as
two days. A pair of which nothing was kept on the first day is void: it shows nothing. `noted`: patterns that something
speaks against although nothing was taken back.
"""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from planted_reversals import PlantedPair, plant_reversals

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import extract
from memory_pipeline.conversations.patterns import patterns_of
from memory_pipeline.records import Extraction, Turn

_START = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)


def _read(words: str, at: datetime, known: list[Extraction]) -> tuple[Extraction, ...]:
    turn = Turn(
        memory_id=f"t-{at:%d}", project_id="p", conversation=f"c-{at:%d}", line=1, speaker="human", said_at=at,
        words=words, token_count=max(1, len(words) // 4),
    )  # fmt: skip
    return extract(chunks_of([turn], 800), known=known).extractions


def outcome_of(pair: PlantedPair) -> tuple[str, str]:
    """`void`, `withdrawn`, `noted` or `beside`, and what was kept of the second day."""
    first = list(_read(pair.first, _START, []))
    then = _read(pair.then, _START + timedelta(days=2), first)
    kept = "; ".join(f"{one.kind}: {one.quote}" for one in then) or "nothing"
    gone = {old for one in then for old in one.withdraws}
    if not first:
        return "void", kept
    if gone == {one.id for one in first}:
        return "withdrawn", kept
    if gone:
        return "in part", kept
    observed = any(pattern.observed for pattern in patterns_of([*first, *then]))
    return ("noted" if observed else "beside"), f"{first[0].kind} | {kept}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--pairs", type=Path)
    chosen = parser.parse_args()
    pairs = [pair for pair in plant_reversals() if pair.held_out == chosen.held_out]
    if chosen.pairs:
        lines = [line for line in chosen.pairs.read_text("utf-8").splitlines() if " >> " in line]
        pairs = [PlantedPair(*line.lstrip("- ").split(" >> "), not line.startswith("-"), False) for line in lines]
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for pair in pairs:
        outcome, kept = outcome_of(pair)
        counts[pair.is_taken_back][outcome] += 1
        if chosen.misses and outcome != ("withdrawn" if pair.is_taken_back else "beside"):
            told = "" if pair.is_taken_back else " NEAR"
            print(f"{outcome}{told}: {pair.first} >> {pair.then}\n      {kept}")
    for is_taken_back, name in ((True, "taken back"), (False, "beside")):
        print(f"{name}: {sum(counts[is_taken_back].values())}, {dict(counts[is_taken_back])}")


if __name__ == "__main__":
    main()
