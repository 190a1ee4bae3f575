"""How much of what people and agents say worth keeping is found, and how much of what is found is right, by kind.

    python benchmarks/extraction.py [--held-out] [--misses] [--demo [--half 0|1]]
    python benchmarks/extraction.py --memorybank FILE [--seed 1] [--draw 60]

Without options, the figures of the planted conversations that may be looked at while rules are changed
(planted_conversations.py); `--held-out` gives those of the others. `--demo` gives those of the demo's labelled
conversations (memory_pipeline/demo/conversations.py), read day after day: of all their sentences, of the half that may
be looked at (0), or of the other one (1). `--memorybank` reads dialogues in the format of MemoryBank's
`memory_bank_en.json` and prints a sample of what is found, for a person to judge. Goal: precision >= 0.9 by kind.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from demo_conversations import is_in_half, score_demo
from planted_conversations import plant_conversations

from memory_pipeline.conversations.chunks import chunks_of
from memory_pipeline.conversations.extraction import extract
from memory_pipeline.records import EXTRACTION_KINDS, Extraction, Turn

_TOKENS = 800


def score(*, held_out: bool, misses: bool, part: str = "") -> None:
    """Print precision and recall by kind of the planted conversations that are held out, or of those that are not."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    near = fell = 0
    for planted in plant_conversations():
        if planted.held_out != held_out or not planted.name.startswith(part):
            continue
        found = extract(chunks_of(planted.turns, _TOKENS)).extractions
        kinds = {one.kind for one in found}
        near += not planted.kinds
        fell += bool(not planted.kinds and kinds)
        right.update(kinds & planted.kinds)
        wrong.update(kinds - planted.kinds)
        lost.update(planted.kinds - kinds)
        if misses and kinds != planted.kinds:
            says = " // ".join(turn.words for turn in planted.turns)
            print(f"expected {sorted(planted.kinds)} found {sorted(kinds)} near {planted.looks_like!r}: {says[:150]!r}")
    show(right, wrong, lost)
    print(f"near misses: {near}, of which something was found in {fell}")


def show(right: Counter[str], wrong: Counter[str], lost: Counter[str]) -> None:
    """Print precision and recall by kind."""
    print(f"{'kind':<14}{'right':>7}{'wrong':>7}{'lost':>7}{'precision':>11}{'recall':>9}")
    for kind in (*EXTRACTION_KINDS, "all"):
        r, w, m = (sum(c.values()) if kind == "all" else c[kind] for c in (right, wrong, lost))
        precision = f"{r / (r + w):.3f}" if r + w else "-"
        recall = f"{r / (r + m):.3f}" if r + m else "-"
        print(f"{kind:<14}{r:>7}{w:>7}{m:>7}{precision:>11}{recall:>9}")


def score_of_demo(half: int | None, *, misses: bool) -> None:
    """Print precision and recall by kind of the demo's conversations, or of one half of their sentences."""
    found = score_demo(lambda words: half is None or is_in_half(words, half))
    if misses:
        print("\n".join(found.told))
    show(found.right, found.wrong, found.lost)
    print(f"near misses: {found.near}, of which something was found in {found.fell}")


def memorybank_turns(path: Path) -> list[Turn]:
    """The dialogues of a file in MemoryBank's format as turns: one conversation for each person and day."""
    turns = []
    for person, told in json.loads(path.read_text("utf-8")).items():
        for day, dialogue in told["history"].items():
            start = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
            said = [(key, pair[key]) for pair in dialogue for key in ("query", "response") if pair.get(key)]
            for line, (key, words) in enumerate(said, start=1):
                turns.append(
                    Turn(
                        memory_id=f"{person}:{day}:{line}",
                        project_id=person,
                        conversation=f"{person}:{day}",
                        line=line,
                        speaker="human" if key == "query" else "agent",
                        said_at=start + timedelta(minutes=line),
                        words=words,
                        token_count=max(1, len(words) // 4),
                    )
                )
    return turns


def draw(path: Path, seed: int, number: int) -> None:
    """Print a sample of what is found in dialogues, and what became of the rest."""
    turns = memorybank_turns(path)
    began = time.process_time()
    result = extract(chunks_of(turns, _TOKENS))
    took = time.process_time() - began
    print(f"{len(turns)} turns in {took:.2f} s of CPU; {len(result.extractions)} extractions; {dict(result.dropped)}")
    print(dict(Counter(one.kind for one in result.extractions).most_common()))
    rng = random.Random(seed)
    ordered: list[Extraction] = sorted(result.extractions, key=lambda one: one.id)
    for place, one in enumerate(rng.sample(ordered, min(number, len(ordered))), start=1):
        print(f"{place:>3} {one.kind:<11}{one.speaker[0]} {one.significance:.2f} {one.text}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--part", default="")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--memorybank", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draw", type=int, default=60)
    chosen = parser.parse_args()
    if chosen.memorybank:
        draw(chosen.memorybank, chosen.seed, chosen.draw)
    elif chosen.demo:
        score_of_demo(chosen.half, misses=chosen.misses)
    else:
        score(held_out=chosen.held_out, misses=chosen.misses, part=chosen.part)


if __name__ == "__main__":
    main()
