"""What a night would ask a person about: contradictions between two notes, on labelled pairs that no weight saw.

    python benchmarks/contradictions.py

The held-out pairs are the sets T3 and T4 of `labels/pairs.jsonl`, written after the last change of the model and of its
thresholds, which were chosen on T1 and T2. A pair contradicts itself, says the same twice, or may both be true; half of
the last differ in as little as one number or name, and a third of the contradictions are worded freely. Printed for
each label: how many a person would be asked about (`asked`), and how many the guard keeps from being merged; for other
languages than English the same; and average precision, with the recall at a precision of .9 and .8. In a store nearly
all pairs of neighbours are compatible: `neighbours` are such pairs of made-up logs, which the model was trained on.

`near copies` are notes and copies of them with one or two small edits (T7 and T8 of `labels/near_copies.jsonl`, whose
writers saw no other set): of how many each says what the other does, of how many at least one says all of the other, so
that a night without a language model leaves that out, and how many the guard keeps apart.
`status, modality` are such copies that differ in whether a thing is done, planned, wished or allowed, or only in how
that is said (T11), and `roles, small words` in who does what to whom, in a preposition, in what causes what, or in a
comma (T12); `additions` have further words, which add something, take the note back or say nothing (T13); `all kinds`
were written last (T15). All were written by others than the sets that taught it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.consolidation.merging import says_again
from memory_pipeline.models.conflicts import find_conflict, says, should_ask
from memory_pipeline.models.relations import chances_of_contradiction

LABELS = Path(__file__).parent / "labels"
HELD_OUT = ("T3", "T4")
COPIES_HELD_OUT = {
    "near copies": ("T7", "T8"),
    "status, modality": ("T11",),
    "roles, small words": ("T12",),
    "additions": ("T13",),
    "all kinds": ("T15",),
}


def labelled(name: str) -> list[dict[str, Any]]:
    """The pairs of a file."""
    return [json.loads(line) for line in (LABELS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def count(title: str, pairs: Sequence[dict[str, Any]]) -> None:
    """Print how many pairs of each label are asked about and kept apart, and the figures of the ranking."""
    chances = np.array(chances_of_contradiction([(pair["a"], pair["b"]) for pair in pairs]))
    total = Counter(pair["label"] for pair in pairs)
    asked = Counter(
        pair["label"]
        for pair, chance in zip(pairs, chances.tolist(), strict=True)
        if should_ask(pair["a"], pair["b"], chance)
    )
    guarded = Counter(pair["label"] for pair in pairs if find_conflict(pair["a"], pair["b"]) is not None)
    print(f"{title:24}{'pairs':>7}{'asked':>8}{'guard':>7}")
    for label, number in total.most_common():
        print(f"{label:24}{number:7}{asked[label]:8}{guarded[label]:7}")
    right = np.array([pair["label"] == "contradicts" for pair in pairs])
    precise, at_90, at_80 = average_precision(chances, right)
    print(f"average precision {precise:.3f}, recall {at_90:.2f} at .9, {at_80:.2f} at .8\n")


def count_copies(title: str, pairs: Sequence[dict[str, Any]]) -> None:
    """Print of how many near copies of each label each says the other, or at least one the other, so that a night
    leaves that out, and how many the guard keeps apart; nothing of none."""
    if not pairs:
        return
    total = Counter(pair["label"] for pair in pairs)
    joined = Counter(pair["label"] for pair in pairs if says_again(pair["a"], pair["b"]))
    left_out = Counter(pair["label"] for pair in pairs if says(pair["a"], pair["b"]) or says(pair["b"], pair["a"]))
    apart = Counter(pair["label"] for pair in pairs if find_conflict(pair["a"], pair["b"]) is not None)
    print(f"{title:24}{'pairs':>7}{'joined':>8}{'left out':>10}{'apart':>7}")
    for label, number in total.most_common():
        print(f"{label:24}{number:7}{joined[label]:8}{left_out[label]:10}{apart[label]:7}")
    print()


def average_precision(chances: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The average precision of a ranking, and its recall at a precision of .9 and .8."""
    ordered = right[np.argsort(-chances, kind="stable")]
    precision, recall = np.cumsum(ordered) / np.arange(1, len(ordered) + 1), np.cumsum(ordered) / ordered.sum()
    at = [max(recall[precision >= least], default=0.0) for least in (0.9, 0.8)]
    return float(precision[ordered].mean()), float(at[0]), float(at[1])


def main() -> None:
    """Count and print."""
    held_out = [pair for pair in labelled("pairs") if pair["set"].startswith(HELD_OUT)]
    count("held out", held_out)
    count("not English", [pair for pair in held_out if pair["lang"] != "en"])
    count("neighbours", labelled("neighbours"))
    for title, sets in COPIES_HELD_OUT.items():
        copies = [pair for pair in labelled("near_copies") if pair["set"] in sets]
        count_copies(title, copies)
        count_copies("not English", [pair for pair in copies if pair["lang"] != "en"])


if __name__ == "__main__":
    main()
