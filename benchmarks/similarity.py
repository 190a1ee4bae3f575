"""A full similarity pass beside plain blocked numpy and faiss, and an incremental pass beside a full one.

    python benchmarks/similarity.py [--rows 20000] [--dimension 384] [--repeats 3]

Vectors are drawn around seeded centres, so that a realistic share of pairs lies near the threshold.
Every contender gets the same vectors and one BLAS thread per core; the best of the repeats is shown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from memory_pipeline.consolidation.similarity import similar_pairs

THRESHOLD = 0.82


def make_vectors(rows: int, dimension: int, seed: int = 7) -> np.ndarray:
    """Unit vectors, float32 (rows, dimension): one in five in groups, the others spread like MiniLM's."""
    rng = np.random.default_rng(seed)
    grouped = rows // 5
    centres = rng.standard_normal((max(1, grouped // 8), dimension))
    near = centres[rng.integers(0, len(centres), grouped)] + 0.42 * rng.standard_normal((grouped, dimension))
    shared = rng.standard_normal(dimension)
    far = rng.standard_normal((rows - grouped, dimension)) + 0.35 * shared
    stacked = np.concatenate([near, far])
    rng.shuffle(stacked)
    return (stacked / np.linalg.norm(stacked, axis=1, keepdims=True)).astype(np.float32)


def blocked_numpy(vectors: np.ndarray, block: int = 2048) -> int:
    """What one would write in numpy: product, compare, keep the upper triangle. Returns how many pairs."""
    found = 0
    for top in range(0, len(vectors), block):
        for left in range(top, len(vectors), block):
            product = vectors[top : top + block] @ vectors[left : left + block].T
            i, j = np.nonzero(product >= THRESHOLD)
            found += int(((i + top) < (j + left)).sum())
    return found


def faiss_range(vectors: np.ndarray) -> int:
    """faiss's exact inner-product index and its range search."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    limits, _, _ = index.range_search(vectors, THRESHOLD)
    return (int(limits[-1]) - len(vectors)) // 2


def best_of(repeats: int, work: Callable[[], int]) -> tuple[float, int]:
    """Least seconds of the repeats, and the result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def main() -> None:
    """Run all contenders and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    vectors = make_vectors(arguments.rows, arguments.dimension)
    print(f"{arguments.rows} vectors of {arguments.dimension}, threshold {THRESHOLD}, best of {arguments.repeats}")
    ours, pairs = best_of(arguments.repeats, lambda: len(similar_pairs(vectors, THRESHOLD)[0]))
    plain, plain_pairs = best_of(arguments.repeats, lambda: blocked_numpy(vectors))
    print(f"  memory_pipeline, exact float64 scores   {ours:7.2f} s  {pairs} pairs")
    print(f"  blocked numpy, float32                  {plain:7.2f} s  {plain_pairs} pairs  ours is {ours / plain:.2f}x")
    try:
        other, other_pairs = best_of(arguments.repeats, lambda: faiss_range(vectors))
        ratio = f"ours is {ours / other:.2f}x"
        print(f"  faiss range_search, float32             {other:7.2f} s  {other_pairs} pairs  {ratio}")
    except ImportError:
        print("  faiss is not installed: pip install --editable '.[bench]'")

    known, new = arguments.rows * 3 // 2, 1000
    grown = make_vectors(known + new, arguments.dimension, seed=8)
    full, everything = best_of(arguments.repeats, lambda: len(similar_pairs(grown, THRESHOLD)[0]))
    before = len(similar_pairs(grown[:known], THRESHOLD)[0])
    added, fresh = best_of(arguments.repeats, lambda: len(similar_pairs(grown, THRESHOLD, known=known)[0]))
    assert before + fresh == everything, "the incremental pass does not equal the full one"
    print(f"{new} new vectors against {known}")
    print(f"  full pass         {full:7.2f} s")
    print(f"  incremental pass  {added:7.2f} s  {full / added:.1f}x faster, the same {everything} pairs")


if __name__ == "__main__":
    main()
