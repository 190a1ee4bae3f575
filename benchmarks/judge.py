"""How many of a model's answers the judge accepts, mends and refuses.

    python benchmarks/judge.py [--half seen|held_out] [--answers FILE] [--verdicts FILE] [--record FILE] [--show]

Without a file: the clusters and answers of the tests. A file has one JSON object a line: `key`, `members` (texts),
`known_slip` (what is wrong with the answer, or null), and either `answer`, as the model gave it, or its `abstraction`,
`claims` and `is_causal`. What a model says of the sentences that code lets pass is recorded (`--verdicts`); questions
that have no answer yet are written to `--record`. Goals: at least 0.85 of the answers without a slip accepted, as they
are or mended, and no slip in the words that are kept: whether a mended answer is free of its slip is for a reader of
`--show` to say.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from memory_pipeline_tests.consolidation.distillers.answers import OWN, VERDICTS, judged, read_cases


def main() -> None:
    """Print a line for every answer, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("seen", "held_out"))
    parser.add_argument("--answers", type=Path, default=OWN)
    parser.add_argument("--verdicts", type=Path, default=VERDICTS)
    parser.add_argument("--record", default="")
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    cases = read_cases(chosen.answers, chosen.half)
    with tempfile.TemporaryDirectory() as directory:
        verdicts = judged(cases, Path(directory), verdicts=chosen.verdicts, record=chosen.record)
    slips = 0
    counts: Counter[tuple[str, str]] = Counter()
    for case, verdict in zip(cases, verdicts, strict=True):
        slips += verdict.keeps_slip(case)
        counts["with a slip" if case.slip else "without a slip", verdict.outcome] += 1
        print(f"{case.key:20} {verdict.outcome:8} {f'slip: {case.slip}' if case.slip else ''}")
        if chosen.show:
            print(f"    said: {case.answer.abstraction}\n    kept: {verdict.text}")
        if verdict.reason:
            print(f"    {verdict.reason}")
    for kind in ("without a slip", "with a slip"):
        accepted, mended, refused = (counts[kind, outcome] for outcome in ("accepted", "mended", "refused"))
        total = accepted + mended + refused
        rate = f"{(accepted + mended) / total:.2f}" if total else "-"
        print(f"{kind}: {accepted} accepted, {mended} mended, {refused} refused, kept {rate}")
    print(f"slips whose words are kept, where they are known: {slips}")


if __name__ == "__main__":
    main()
