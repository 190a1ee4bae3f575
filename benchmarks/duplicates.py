"""How many planted duplicates the night would join, and how many planted conflicts, by kind and threshold.

    python benchmarks/duplicates.py [--pairs 60] [--seed 1] [--workspace DIRECTORY] [--misses 5] [--json FILE]

Each pair is a memory of the demo workspace (and, with `--workspace`, of a real OpenClaw workspace) and a
changed copy of it (planted_duplicates.py, planted_conflicts.py). A pair counts as joined when the two are exact
duplicates, or when their cosine reaches the threshold and the conflict guard finds nothing: at 0.95 they merge
(if they repeat anything), at 0.90 knowledge-base entries become one, at 0.82 they may be distilled together.
Goals, at the lowest threshold in use: duplicates found >= 0.92, conflicts joined <= 0.02. `guard off` is what
cosine alone would join.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from planted_conflicts import CONFLICTS
from planted_duplicates import DUPLICATES
from planting import Planter

from memory_pipeline.config.loading import load_settings
from memory_pipeline.demo.workspace import import_demo
from memory_pipeline.embedding import Embedder, choose_embedder
from memory_pipeline.interfaces.cli.setup import import_into
from memory_pipeline.knowledge.merging import merge_contents
from memory_pipeline.store import Store
from memory_pipeline.wording.conflicts import ConflictFinding, find_conflict
from memory_pipeline.wording.normalise import content_hash, embedding_text

THRESHOLDS = (0.95, 0.90, 0.82)
FOUND_GOAL, JOINED_GOAL = 0.92, 0.02
SHORTEST, LONGEST = 20, 600


@dataclass(frozen=True, slots=True)
class Pair:
    """A memory and its planted copy: where it is from, what was planted, and what the night makes of it."""

    corpus: str
    group: str
    kind: str
    text: str
    copy: str
    score: float = 0.0
    finding: ConflictFinding | None = None

    def is_joined(self, threshold: float) -> bool:
        """Whether a night would see one thing in the two. To merge, something must be said twice in them."""
        if content_hash(self.text) == content_hash(self.copy):
            return True
        if self.score < threshold or self.finding is not None:
            return False
        merges = len(merge_contents([self.text, self.copy])) < len(self.text) + len(self.copy)
        return merges or threshold < THRESHOLDS[0]


def texts_of(store: Store) -> list[str]:
    """The distinct texts of a store that are neither very short nor very long, in order."""
    with store.reading() as tx:
        return sorted({m.content for m in tx.memories.all() if SHORTEST <= len(m.content) <= LONGEST})


def plant(
    corpus: str, texts: list[str], group: str, planters: Mapping[str, Planter], count: int, seed: int
) -> list[Pair]:
    """Up to `count` pairs of each kind, drawn from the texts in which there is something to change."""
    pairs = []
    for kind, planter in planters.items():
        rng = random.Random(f"{seed} {kind}")
        pool = list(texts)
        rng.shuffle(pool)
        planted = 0
        for text in pool:
            copy = planter(text, rng)
            if copy is None or (group == "conflict" and content_hash(copy) == content_hash(text)):
                continue
            pairs.append(Pair(corpus, group, kind, text, copy))
            planted += 1
            if planted == count:
                break
    return pairs


def judge_pairs(pairs: list[Pair], embedder: Embedder) -> list[Pair]:
    """The pairs with their cosine and the guard's finding."""
    left = embedder.embed([embedding_text(pair.text) for pair in pairs])
    right = embedder.embed([embedding_text(pair.copy) for pair in pairs])
    scores = (left.astype("float64") * right).sum(axis=1)
    return [
        Pair(p.corpus, p.group, p.kind, p.text, p.copy, float(score), find_conflict(p.text, p.copy))
        for p, score in zip(pairs, scores, strict=True)
    ]


def difference(pair: Pair) -> str:
    """The words in which a pair differs, with their neighbours."""
    left, right = pair.text.split(), pair.copy.split()
    places = []
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            places.append(f"{' '.join(left[max(0, i - 2) : i])} [{' '.join(left[i:j])} => {' '.join(right[k:m])}]")
    return " | ".join(places)[:160]


def table(pairs: list[Pair], misses: int) -> tuple[list[str], dict[str, float]]:
    """The scores by corpus, group and kind as lines, and the two figures that the goals are about."""
    rows: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        rows[(pair.corpus, pair.group, pair.kind)].append(pair)
        rows[(pair.corpus, pair.group, "ALL")].append(pair)
        rows[("both" if len({p.corpus for p in pairs}) > 1 else pair.corpus, pair.group, "ALL")] += (
            [pair] if len({p.corpus for p in pairs}) > 1 else []
        )
    lines = [
        f"{'corpus':8}{'group':11}{'kind':30}{'pairs':>6}" + "".join(f"{t:>8.2f}" for t in THRESHOLDS) + "  guard off"
    ]
    goals: dict[str, float] = {}
    for (corpus, group, kind), mine in sorted(rows.items(), key=lambda row: (row[0][1] == "conflict", row[0])):
        shares = [sum(pair.is_joined(t) for pair in mine) / len(mine) for t in THRESHOLDS]
        off = sum(pair.score >= THRESHOLDS[-1] for pair in mine) / len(mine)
        lines.append(
            f"{corpus:8}{group:11}{kind:30}{len(mine):>6}" + "".join(f"{s:>8.3f}" for s in shares) + f"{off:>11.3f}"
        )
        if kind == "ALL":
            goals[f"{corpus} {group}"] = shares[-1]
        wrong = [pair for pair in mine if pair.is_joined(THRESHOLDS[-1]) != (group == "duplicate")]
        for pair in wrong[:misses] if kind != "ALL" else []:
            why = f"{pair.finding.kind}: {pair.finding.detail}" if pair.finding else f"cosine {pair.score:.3f}"
            lines.append(f"        missed: {difference(pair)}  ({why})")
    return lines, goals


def main() -> int:
    """Plant, judge and print; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=60, help="pairs of each kind and corpus, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workspace", type=Path, help="a real OpenClaw workspace beside the demo")
    parser.add_argument("--misses", type=int, default=5, help="examples of misses of each kind")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        corpora = {}
        settings = load_settings({"store.path": f"{directory}/demo.duckdb", "embedding.model": "lexical"}, {}).values
        import_demo(Store.of(settings), settings)
        corpora["demo"] = texts_of(Store.of(settings))
        if given.workspace:
            real = Store(Path(directory) / "real.duckdb")
            import_into(settings, real, "openclaw", given.workspace, "real", None, lambda *_: None)
            corpora["real"] = texts_of(real)
    embedder = choose_embedder(load_settings({}, {}).values)
    pairs = [
        pair
        for corpus, texts in corpora.items()
        for group, planters in (("duplicate", DUPLICATES), ("conflict", CONFLICTS))
        for pair in plant(corpus, texts, group, planters, given.pairs, given.seed)
    ]
    lines, goals = table(judge_pairs(pairs, embedder), given.misses)
    print("\n".join(lines))
    if given.json:
        given.json.write_text(json.dumps({"seed": given.seed, "pairs": given.pairs, "joined_at_0.82": goals}, indent=2))
    missed = [
        name for name, share in goals.items() if (share < FOUND_GOAL if "duplicate" in name else share > JOINED_GOAL)
    ]
    print(f"Goals missed: {', '.join(missed)}" if missed else "Goals reached: duplicates >= 0.92, conflicts <= 0.02.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
