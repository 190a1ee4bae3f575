"""What of contradictions between two notes is found without a model: 2,000 labelled pairs in four languages.

    python benchmarks/contradictions.py

A pair contradicts itself, says the same twice, or may both be true; half of the last differ in as little as one number
or name, and most contradictions are worded freely. Printed for each label: the pairs that a person would be asked about
(`review`), and those that the guard keeps from being merged as a conflict. No program made the pairs.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.contradictions import find_contradiction

PAIRS = Path(__file__).parent / "labels" / "pairs.jsonl"


def main() -> None:
    """Count and print."""
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    total = Counter(pair["label"] for pair in pairs)
    asked: Counter[str] = Counter()
    guarded: Counter[str] = Counter()
    for pair in pairs:
        found = find_contradiction(pair["a"], pair["b"], same_day=pair["same_day"])
        asked[pair["label"]] += found is not None and found.is_clear
        guarded[pair["label"]] += find_conflict(pair["a"], pair["b"]) is not None
    print(f"{'':14}{'pairs':>7}{'review':>8}{'guard':>7}")
    for label, count in total.most_common():
        print(f"{label:14}{count:7}{asked[label]:8}{guarded[label]:7}")


if __name__ == "__main__":
    main()
