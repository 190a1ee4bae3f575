"""Trains what tells a sentence that orders its reader about from an ordinary note, and measures it.

    python benchmarks/train_orders.py [--write]

`orders/attempts.txt` and `orders/notes.txt` are labelled by hand; `{a|b}` stands for either. Sentences of the demo, of
the planted conversations and of the documentation are ordinary ones beside them. `orders/held_out_*.txt` speak of other
subjects in other words; they were written before the classifier was first tried: every
second note sets the threshold, the others measure. `--write` puts the
weights into the package and prints their hash, which `memory_pipeline/text/orders.py` states.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from planted_conversations import plant_conversations

from memory_pipeline.demo.generate import make_demo
from memory_pipeline.text import orders
from memory_pipeline.text.injections.detect import attempt_in
from memory_pipeline.text.sentences import split_statements

HERE = Path(__file__).parent
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")
#: How many sentences are drawn of a line with choices, and how many of the held-out notes may be taken for orders.
_DRAWN, _MOST_FALSE = 6, 0.1
_PENALTY, _STEPS = 1e-5, 800


def sentences_in(name: str, rng: random.Random) -> list[list[str]]:
    """The sentences of each line of a file: of a line with choices, enough that each choice is in one."""
    lines = [line for line in (HERE / "orders" / name).read_text("utf-8").splitlines() if line and line[0] != "#"]
    return [drawn(line, rng) for line in lines]


def held_out(name: str) -> list[str]:
    """The held-out texts."""
    return (HERE / "orders" / f"held_out_{name}.txt").read_text("utf-8").splitlines()


def drawn(line: str, rng: random.Random) -> list[str]:
    """Sentences of one line."""
    parts = [part.split("|") if n % 2 else [part] for n, part in enumerate(_CHOICE.split(line))]
    picks = [[rng.choice(part) for part in parts] for _ in range(_DRAWN)]
    for n, part in enumerate(parts):
        picks += [[choice if m == n else rng.choice(other) for m, other in enumerate(parts)] for choice in part[1:]]
    return sorted({"".join(pick).strip() for pick in picks})


def ordinary() -> list[str]:
    """Sentences of this repository that tell nobody what to do, or honestly."""
    texts = [note.text for note in make_demo().notes]
    texts += [turn.words for planted in plant_conversations() for turn in planted.turns]
    for page in sorted((HERE.parent / "docs").glob("*.md")):
        texts += [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=[-*|#] )", page.read_text("utf-8"))]
    statements = {statement for text in texts for statement in split_statements(text)}
    return sorted(one for one in statements if len(one) > 15 and attempt_in(one) is None)


class Rows:
    """Sentences as rows of features, each of length one."""

    def __init__(self, sentences: Iterable[str]) -> None:
        places = [orders.features_of(sentence) for sentence in sentences]
        sizes = np.array([len(one) for one in places])
        self.places, self.row = np.concatenate(places), np.repeat(np.arange(len(places)), sizes)
        self.value = (1 / np.sqrt(sizes))[self.row]
        self.size = len(places)

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product with the weights, float64 (rows,)."""
        return np.bincount(self.row, self.value * weights[self.places], self.size)

    def transposed_times(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of the transposed rows with a value each, float64 (places,)."""
        return np.bincount(self.places, self.value * values[self.row], orders.PLACES)


def train(rows: Rows, labels: NDArray[np.float64], shares: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias by Nesterov's accelerated gradient (1983) on the weighted logistic loss with an L2 penalty."""
    weights, bias, ahead, ahead_bias, pace = np.zeros(orders.PLACES), 0.0, np.zeros(orders.PLACES), 0.0, 1.0
    step = 1 / (0.5 + _PENALTY)
    for _ in range(_STEPS):
        off = shares * (1 / (1 + np.exp(-rows.times(ahead) - ahead_bias)) - labels)
        new = ahead - step * (rows.transposed_times(off) + _PENALTY * ahead)
        new_bias = ahead_bias - step * float(off.sum())
        following = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = new + (pace - 1) / following * (new - weights)
        ahead_bias = new_bias + (pace - 1) / following * (new_bias - bias)
        weights, bias, pace = new, new_bias, following
    return weights, bias


def scores(texts: Sequence[str], weights: NDArray[np.float64], bias: float) -> NDArray[np.float64]:
    """The highest score of a statement of each text."""
    parts = [split_statements(text) or [text] for text in texts]
    single = Rows(statement for part in parts for statement in part).times(weights) + bias
    return np.maximum.reduceat(single, np.cumsum([0, *map(len, parts)])[:-1])


def main() -> None:
    """Train, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    rng = random.Random(1)
    attempts, notes, beside = sentences_in("attempts.txt", rng), sentences_in("notes.txt", rng), ordinary()
    groups = [*attempts, *notes, *([one] for one in beside)]
    labels = np.repeat([float(n < len(attempts)) for n in range(len(groups))], list(map(len, groups)))
    shares = np.concatenate([np.full(len(group), len(group) ** -0.5) for group in groups])
    shares[-len(beside) :] = 0.3
    for label in (0, 1):
        shares[labels == label] /= 2 * shares[labels == label].sum()
    weights, bias = train(Rows(sentence for group in groups for sentence in group), labels, shares)
    held = [
        (HERE / "orders" / f"held_out_{name}.txt").read_text("utf-8").splitlines() for name in ("attempts", "notes")
    ]
    bias -= float(np.quantile(scores(held[1][::2], weights, bias), 1 - _MOST_FALSE))
    print(f"{len(labels)} sentences, {int(labels.sum())} of them attempts; held out:")
    for name, texts in zip(("attempts", "notes"), held, strict=True):
        texts = texts[1::2]
        by_patterns = np.mean([attempt_in(text) is not None for text in texts])
        taken = np.mean(scores(texts, weights, bias) > 0)
        print(
            f"{taken:.2f} of {len(texts)} {name} are taken for orders, by the patterns for attempts {by_patterns:.2f}"
        )
    scale = float(np.abs(weights).max()) / 127
    kept = io.BytesIO()
    np.savez_compressed(kept, weights=np.round(weights / scale).astype(np.int8), scale=np.float32(scale), bias=bias)
    print(f"{len(kept.getvalue())} bytes, SHA-256 {hashlib.sha256(kept.getvalue()).hexdigest()}")
    if chosen.write:
        Path(orders.__file__).with_name(orders.FILE).write_bytes(kept.getvalue())


if __name__ == "__main__":
    main()
