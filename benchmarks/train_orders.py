"""Trains what tells a sentence that orders its reader about from an ordinary one, and measures it.

    python benchmarks/train_orders.py [--write]

`orders/attempts.txt`, `notes.txt`, `rules.txt` (what humans tell their own agents) and `asides.txt` (what else they
say) are labelled by hand, in English and some 24 other languages; `{a|b}` stands for either. Sentences of the demo, of
the labelled conversations and of the documentation are honest ones beside them. The bars are set on `chosen_notes.txt`,
which are near to attempts, on every fourth rule and every tenth honest line; the figures come from `held_out_*.txt`,
which others wrote who knew neither the sentences nor the classifier. `--write` puts the weights into the package and
prints their hash, which `memory_pipeline/text/orders.py` states.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.demo.generate import make_demo
from memory_pipeline.text import orders
from memory_pipeline.text.sentences import split_statements

HERE = Path(__file__).parent
_CHOICE = re.compile(r"\{([^{}]*\|[^{}]*)\}")
#: How many sentences are drawn of a line with choices.
_DRAWN = 6
#: The shares of honest notes near to attempts that may be taken for orders and for attempts; that of any honest texts.
_MOST_ORDERS, _MOST_NEAR, _MOST_OF_ANY = 0.1, 0.02, 0.002
#: Labelled conversations: those that are trained on, and the one that sets the bars.
_TAUGHT, _FOR_BARS = ("conversations_a", "conversations_b"), "conversations_c"
_PLACES = 1 << orders.ORDER_BITS
_PENALTY, _STEPS = 1e-6, 2500
#: What each sentence of this repository counts beside a labelled line.
_ORDINARY_SHARE = 0.3

Groups = Sequence[Sequence[str]]


def labelled(name: str) -> list[str]:
    """The lines of a file, without comments."""
    lines = (HERE / "orders" / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("##")]


def drawn(line: str, rng: random.Random) -> list[str]:
    """Sentences of one line: of one with choices, enough that each choice is in one."""
    parts = [part.split("|") if n % 2 else [part] for n, part in enumerate(_CHOICE.split(line))]
    picks = [[rng.choice(part) for part in parts] for _ in range(_DRAWN)]
    for n, part in enumerate(parts):
        picks += [[choice if m == n else rng.choice(other) for m, other in enumerate(parts)] for choice in part[1:]]
    texts = sorted({"".join(pick).strip() for pick in picks})
    return [statement for text in texts for statement in split_statements(text) or [text]]


def ordinary() -> list[str]:
    """Sentences that tell nobody what to do, or honestly: of this repository's notes, data and docs, and of what agents
    said in the labelled conversations."""
    texts = [note.text for note in make_demo().notes]
    for page in [*sorted((HERE.parent / "docs").glob("*.md")), HERE.parent / "CHANGELOG.md"]:
        texts += [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=[-*|#] )", page.read_text("utf-8"))]
    for path in sorted((HERE.parent / "memory_pipeline").rglob("*.py")):
        texts += [" ".join(found.split()) for found in re.findall(r'"""(.+?)"""', path.read_text("utf-8"), re.DOTALL)]
    for belief in json.loads((HERE / "precision_mem_bench" / "beliefs.seed.json").read_text("utf-8")):
        texts += [belief["content"], belief["why_it_matters"]]
    texts += spoken("agent") + [line["text"] for line in lines_of("notes")]
    statements = {statement for text in texts for statement in split_statements(text)}
    return sorted(one for one in statements if len(one) > 8)


def spoken(speaker: str, *names: str) -> list[str]:
    """The sentences of one speaker in the labelled conversations that are trained on."""
    return [line["text"] for name in names or _TAUGHT for line in lines_of(name) if line["speaker"] == speaker]


def lines_of(name: str) -> list[dict[str, Any]]:
    """The lines of a file of labelled sentences."""
    return [json.loads(line) for line in (HERE / "labels" / f"{name}.jsonl").read_text("utf-8").splitlines()]


class Rows:
    """Sentences as rows of features, each of length one."""

    def __init__(self, sentences: Iterable[str]) -> None:
        places = [orders.features_of(sentence, orders.ORDER_BITS) for sentence in sentences]
        sizes = np.array([len(one) for one in places])
        self.places, self.row = np.concatenate(places), np.repeat(np.arange(len(places)), sizes)
        self.value = (1 / np.sqrt(np.maximum(sizes, 1)))[self.row]
        self.size = len(places)

    def times(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product with the weights, float64 (rows,)."""
        return np.bincount(self.row, self.value * weights[self.places], self.size)

    def transposed_times(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product of the transposed rows with a value each, float64 (places,)."""
        return np.bincount(self.places, self.value * values[self.row], _PLACES)


def train(ordering: Groups, honest: Groups, beside: Sequence[str]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias by Nesterov's accelerated gradient (1983) on the weighted logistic loss with an L2 penalty. A
    line counts as one, whatever number of sentences is drawn of it, and both sides count the same."""
    groups = [*ordering, *honest, *([one] for one in beside)]
    labels = np.repeat([float(n < len(ordering)) for n in range(len(groups))], list(map(len, groups)))
    shares = np.concatenate([np.full(len(group), len(group) ** -0.5) for group in groups])
    shares[-len(beside) :] = _ORDINARY_SHARE
    for label in (0, 1):
        shares[labels == label] /= 2 * shares[labels == label].sum()
    rows = Rows(sentence for group in groups for sentence in group)
    weights, bias, ahead, ahead_bias, pace = np.zeros(_PLACES), 0.0, np.zeros(_PLACES), 0.0, 1.0
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
    """The highest score of a statement of each text, less ln n for its n statements (`orders.is_attempt`)."""
    parts = [split_statements(text) or [text] for text in texts]
    sizes = np.array(list(map(len, parts)))
    single = Rows(statement for part in parts for statement in part).times(weights) + bias
    return np.maximum.reduceat(single, np.cumsum([0, *sizes])[:-1]) - np.log(sizes)


def bar_over(honest: Sequence[tuple[Sequence[str], float]], weights: NDArray[np.float64], bias: float) -> float:
    """The least bar over which no more than its share of each of some sets of honest texts is."""
    return max(float(np.quantile(scores(texts, weights, bias), 1 - most)) for texts, most in honest)


def main() -> None:
    """Train, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    rng = random.Random(1)
    attempts, notes, rules, asides = (
        [drawn(line, rng) for line in labelled(name)] for name in ("attempts", "notes", "rules", "asides")
    )
    for_rules, rules = rules[::4], [rule for n, rule in enumerate(rules) if n % 4]
    for_bars = [" ".join(line[:1]) for line in [*notes[::10], *asides[::10]]]
    notes, asides = ([line for n, line in enumerate(lines) if n % 10] for lines in (notes, asides))
    beside, said = ordinary(), spoken("human")
    for_bars, beside = for_bars + beside[::10], [one for n, one in enumerate(beside) if n % 10]
    near = labelled("chosen_notes")
    of_orders, order_bias = train([*attempts, *rules], [*notes, *asides], beside)
    of_attempts, attempt_bias = train(attempts, [*notes, *asides, *rules], [*beside, *said])
    order_bias -= float(np.quantile(scores(near, of_orders, order_bias), 1 - _MOST_ORDERS))
    honest = [(near, _MOST_NEAR), (for_bars, _MOST_OF_ANY)]
    order_bar = bar_over([*honest, (spoken("agent", _FOR_BARS), _MOST_OF_ANY)], of_orders, order_bias)
    talk = spoken("human", _FOR_BARS) + spoken("agent", _FOR_BARS)
    attempt_bar = bar_over(
        [*honest, (talk, _MOST_OF_ANY), ([rule[0] for rule in for_rules], _MOST_NEAR)], of_attempts, attempt_bias
    )
    print(f"lines: {len(attempts)} of attempts, {len(notes)} of notes, {len(rules)} of rules, {len(asides)} of asides")
    for name in ("chosen_attempts", "chosen_notes", "held_out_attempts", "held_out_notes", "held_out_rules"):
        texts = labelled(name)
        order, attempt = scores(texts, of_orders, order_bias), scores(texts, of_attempts, attempt_bias)
        print(
            f"{name}, {len(texts)}: {np.mean(order > 0):.2f} are taken for orders, "
            f"{np.mean((order > order_bar) | (attempt > attempt_bar)):.3f} for attempts, "
            f"{np.mean(attempt > attempt_bar):.3f} if the human says them"
        )
    both = np.stack([of_orders, of_attempts])
    scales = np.abs(both).max(axis=1) / 127
    packed = io.BytesIO()
    np.savez_compressed(
        packed,
        weights=np.round(both / scales[:, None]).astype(np.int8),
        scales=scales.astype(np.float32),
        biases=np.array([order_bias, attempt_bias]),
        bars=np.array([order_bar, attempt_bar]),
    )
    print(f"{len(packed.getvalue())} bytes, SHA-256 {hashlib.sha256(packed.getvalue()).hexdigest()}")
    if chosen.write:
        Path(orders.__file__).with_name(orders.FILE).write_bytes(packed.getvalue())


if __name__ == "__main__":
    main()
