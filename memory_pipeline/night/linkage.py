"""Turns edges into groups: connected components first, then linkage inside each.

Single linkage forms chains (in real text, two thirds of its larger groups contain a pair below the threshold), so
complete linkage is the default inside a component: every pair of a group is an edge. It needs only the stored edges
- a pair without an edge is below the threshold and can never be linked - so no n x n matrix is built, however large
the component.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.config.policies import Linkage

Edges = Mapping[tuple[int, int], float]


def connected_components(n: int, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.int64]:
    """Label of every node 0..n-1: the smallest node number of its component.

    Minimum labels are propagated along the edges and replaced by the label of their label until nothing changes
    (Shiloach and Vishkin's pointer jumping, vectorised).
    """
    labels = np.arange(n, dtype=np.int64)
    while len(i):
        lower = np.minimum(labels[i], labels[j])
        before = labels.copy()
        np.minimum.at(labels, i, lower)
        np.minimum.at(labels, j, lower)
        np.minimum.at(labels, before[i], lower)
        np.minimum.at(labels, before[j], lower)
        labels = labels[labels]
        if np.array_equal(labels, before):
            break
    return labels


def link(nodes: Sequence[int], edges: Edges, linkage: Linkage, threshold: float) -> list[list[int]]:
    """Groups of one connected component by agglomeration, each sorted, ordered by their first node.

    `edges`: (i, j) with i < j -> score, every pair at or above `threshold`. Pairs without an edge count as below it:
    with `average` they count as 0, which can only keep groups apart.
    """
    if linkage == "single":
        return [sorted(nodes)]
    return _agglomerate(nodes, edges, linkage, threshold)


def _agglomerate(nodes: Sequence[int], edges: Edges, linkage: Linkage, threshold: float) -> list[list[int]]:
    """Repeatedly merge the closest pair of groups; ties are broken by the smallest node numbers."""
    groups: dict[int, list[int]] = {node: [node] for node in nodes}
    # For complete linkage: the minimum score between two groups. For average: the sum of scores.
    links: dict[int, dict[int, float]] = {node: {} for node in nodes}
    for (i, j), score in edges.items():
        links[i][j] = links[j][i] = score
    heap = [(-score, i, j) for (i, j), score in edges.items()]
    heapq.heapify(heap)
    while heap:
        negative, a, b = heapq.heappop(heap)
        if a not in groups or b not in groups or _height(groups, links, a, b, linkage) != -negative:
            continue
        if -negative < threshold:
            break
        groups[a] = sorted(groups[a] + groups.pop(b))
        theirs, mine = links.pop(b), links[a]
        links[a] = _joined(mine, theirs, a, b, linkage)
        for other in (mine.keys() | theirs.keys()) - {a, b}:
            links[other].pop(b, None)
            if other in links[a]:
                links[other][a] = links[a][other]
                first, second = min(a, other), max(a, other)
                heapq.heappush(heap, (-_height(groups, links, first, second, linkage), first, second))
            else:
                links[other].pop(a, None)
    return sorted(groups.values())


def _joined(mine: dict[int, float], theirs: dict[int, float], a: int, b: int, linkage: Linkage) -> dict[int, float]:
    if linkage == "complete":
        return {other: min(mine[other], theirs[other]) for other in mine.keys() & theirs.keys()}
    every = (mine.keys() | theirs.keys()) - {a, b}
    return {other: mine.get(other, 0.0) + theirs.get(other, 0.0) for other in every}


def _height(
    groups: dict[int, list[int]], links: dict[int, dict[int, float]], a: int, b: int, linkage: Linkage
) -> float:
    score = links[a].get(b, -1.0)
    return score if linkage == "complete" else score / (len(groups[a]) * len(groups[b]))
