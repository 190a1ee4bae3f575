"""Trains the cross-encoder that says how two notes relate, and measures it.

    pip install jax optax
    python benchmarks/train_relations.py [--near-copies [--further [SET ...]] [--changed N]] [--epochs 4] [--write]

`labels/pairs.jsonl` are pairs of made-up notes, each invented and labelled by itself: `contradicts`, `same` or
`compatible`. The sets whose names begin with Y were written after the weights of the package: 540 more steps with them
found no more on T4. `labels/neighbours.jsonl` are the nearest neighbours in made-up logs, nearly all compatible, as in
a store. Low-rank adapters in each layer of all-MiniLM-L6-v2 and a head are trained with both orders of a pair; sets
whose names begin with T are held out, and their figures are printed after each epoch. An epoch over 16,000 pairs takes
some ten minutes on two cores. `--write` puts the weights into the package.

`--near-copies` goes on from the weights for any two notes with `labels/near_copies.jsonl`: notes with one or two small
edits, among which a single word decides; `--further` from the ones for near copies, with sets that are named twice
among 1,500 pairs of the others. Copies with typing slips and other marks, and with two names changed places, are made
of all notes; `--changed`: so many in an epoch with words of `labels/changes.tsv` exchanged or put at an end, too. The
first 8 ranks of the weights in the package had three epochs of the sets Z1 to Z7, read as they are written, two more of
Z1 to Z12, two further ones of Z1 to Z18, two of `--further Z19 Z20 Z21`, two of `--further Z22 Z23 Z24`, and one of all
six; all 24 then two of `--further --changed 5000`, two of `--changed 14000` among 3,500 pairs of the sets, and one of
`--changed 6000`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from contradictions import LABELS, average_precision, labelled
from planting import is_prose

from memory_pipeline.models import relations
from memory_pipeline.models.conflicts import MOST_DOUBTED, plain_form
from memory_pipeline.models.embedders.minilm import read_tensors

KINDS = ("contradicts", "same", "compatible")
RANK, RANK_OF_COPIES, BATCH, RATE, RATE_OF_COPIES, RATE_OF_SETS, DROPOUT = 8, 24, 16, 1e-3, 4e-4, 3e-4, 0.1
#: Near copies of other sets, and copies that are made, beside named sets.
_REPLAYED, _MADE = 1_500, 260
#: How many of the copies with changed words are changed twice.
_TWICE = 0.3
#: What typing slips and the kinds of `labels/changes.tsv` make of a note, and how often each is drawn.
_CHANGES = {
    "same": ("same", 8),
    "slip": ("same", 3),
    "nothing": ("same", 1),
    "opposite": ("contradicts", 6),
    "adds": ("compatible", 3),
    "revokes": ("contradicts", 3),
}
#: What a pair of these sets of neighbours counts beside a written one.
_EASY, _OF_NEIGHBOURS = ("N", "U"), 0.5
#: Sets of neighbours, which stay as they are; what may stand before a note; the words of a further sentence.
_NEIGHBOURS = ("N", "U", "X", "X2")
_MARKS = ("Note: ", "Reminder: ", "Once more: ", "**Decision:** ", "- ", "[CURATE] ", "TODO: ", "14:05 ", "Nota: ")
_LONGEST_MORE = 22
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_PARTS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)

Pair = dict[str, Any]
Read = Callable[[Pair], list[Pair]]
Learnt = dict[str, Any]
Batch = tuple[Any, Any, Any, Any, Any]


def _read_starts(pair: Pair) -> list[Pair]:
    """A pair as the package reads any two notes, with its tokens in both orders."""
    return [{**pair, "orders": [relations.tokens_of(pair[a], pair[b]) for a, b in ("ab", "ba")]}]


def _read_differences(pair: Pair) -> list[Pair]:
    """A pair of near copies as the package reads it: around each difference. One of several says nothing of the label,
    unless that is `same`."""
    plain = plain_form(pair["a"]), plain_form(pair["b"])
    orders = [[relations.joined(*window) for window in relations.windows_in(*both)] for both in (plain, plain[::-1])]
    windows = [{**pair, "orders": list(both)} for both in zip(*orders, strict=False)]
    return windows if len(windows) == 1 or pair["label"] == "same" else []


def _read_all(pairs: Iterable[Pair], read: Read) -> list[Pair]:
    return [found for pair in pairs for found in read(pair)]


def as_logged(pairs: Sequence[Pair], rng: random.Random, read: Read = _read_starts) -> list[Pair]:
    """The pairs of an epoch: over half of the written ones otherwise marked or with a further sentence of another note
    on one side or both; and notes beside themselves, so changed."""
    notes: dict[str, list[str]] = {}
    for pair in pairs:
        notes.setdefault(pair["set"], []).extend((pair["a"], pair["b"]))
    written = [pair for pair in pairs if pair["set"] not in _NEIGHBOURS]
    found = [pair for pair in pairs if pair["set"] in _NEIGHBOURS]
    for pair in written:
        more, still = (rng.choice(notes[pair["set"]]) for _ in range(2))
        one, other, place = pair["a"], pair["b"], rng.random()
        if max(len(more.split()), len(still.split())) > _LONGEST_MORE or place < 0.15:
            one, other = _marked(one, rng), _marked(other, rng)
        elif place < 0.55:
            one, other = rng.choice(
                [(one, _and(other, more)), (_and(one, more), other), (_and(one, more), _and(other, still))]
            )
        found += read({**pair, "a": one, "b": other})
    for pair in rng.sample(written, len(written) // 5):
        note, more, still = pair["a"], *(rng.choice(notes[pair["set"]]) for _ in range(2))
        one, other, label = rng.choice(
            [
                (note, note, "same"),
                (_and(note, more), f"{_and(more, note)}", "same"),
                (note, _and(note, more), "compatible"),
                (_and(note, more), _and(note, still), "compatible"),
            ]
        )
        found += read({**pair, "a": _marked(one, rng), "b": _marked(other, rng), "label": label})
    return found


def _and(note: str, more: str) -> str:
    end = "" if note.rstrip()[-1:] in ".!?" else "."
    return f"{note.rstrip()}{end} {more}"


def _marked(note: str, rng: random.Random) -> str:
    changes = [
        str,
        str,
        str.lower,
        str.upper,
        lambda text: text.rstrip(".!"),
        lambda text: f"_{text.replace(' ', '_ ', 1)}",
    ]
    return rng.choice(["", "", *_MARKS]) + rng.choice(changes)(note)


def near_copies(pairs: Sequence[Pair], rng: random.Random, named: Sequence[str] = (), changes: int = 0) -> list[Pair]:
    """The pairs of an epoch of near copies, beside copies that are made of their notes and some of the other pairs.
    `named`: sets that are taught twice, among some of the others; `changes`: how many copies with changed words."""
    taught = [pair for pair in labelled("near_copies") if not pair["set"].startswith("T")]
    others = [pair for pair in pairs if pair["set"] not in _NEIGHBOURS]
    new, old = [pair for pair in taught if pair["set"] in named], [pair for pair in taught if pair["set"] not in named]
    written = [*new, *new, *rng.sample(old, _REPLAYED)] if new else taught
    found = _read_all(written, _read_differences)
    logged = (len(new) // 4, 200, 200, 60) if new else (0, len(taught) // 4, 500, 100)
    for some in (rng.sample(known, number) for known, number in zip((new, old, others), logged, strict=False)):
        found += as_logged(some, rng, _read_differences)[: len(some)]
    found += rng.sample([pair for pair in pairs if pair["set"] in _NEIGHBOURS], logged[-1])
    notes = [pair[side] for pair in (*taught, *pairs) for side in "ab"]
    most = len(found) + _MADE
    while len(found) < most:
        note = rng.choice(notes)
        change, label = rng.choice([(_slipped, "same")] * 4 + [(_marked, "same"), (_names_swapped, "contradicts")])
        copy = change(note, rng)
        if copy != note:
            found += _beside(note, copy, label, rng)
    return found + changed(notes, rng, changes)


def _beside(note: str, copy: str, label: str, rng: random.Random) -> list[Pair]:
    one, other = rng.sample([_marked(note, rng), copy], 2)
    return _read_differences({"set": "S", "a": one, "b": other, "label": label})


class _Changes:
    """`labels/changes.tsv`: a line for each exchange of words (`same`, `opposite`), and for each piece that is put at
    the end of a note or, with a `^`, before it (`adds`, `revokes`, `nothing`)."""

    def __init__(self) -> None:
        self._drawn: Counter[tuple[str, ...]] = Counter()
        self._pieces: dict[str, list[str]] = {kind: [] for kind in _CHANGES}
        self._others: dict[str, dict[str, list[str]]] = {kind: {} for kind in _CHANGES}
        for line in (LABELS / "changes.tsv").read_text("utf-8").splitlines():
            kind, piece, *other = line.split("\t")
            self._pieces[kind].append(piece)
            for word, another in ((piece, *other), (*other, piece)) if other else ():
                self._others[kind].setdefault(word, []).append(another)
        self._words = {
            kind: re.compile(
                rf"(?<![\w/.`-])({'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})(?![\w`/-]|\.\w)",
                re.I,
            )
            for kind, words in self._others.items()
            if words
        }

    def of(self, note: str, kind: str, rng: random.Random) -> str:
        """The note with a change of this kind, or as it is, if none is possible. What means the same in most notes need
        not in this one: the classifier of any two notes is asked."""
        if kind == "slip":
            return _slipped(note, rng)
        if kind in self._words:
            copy = self._exchanged(note, kind, rng)
            is_doubted = kind == "same" and relations.relation_of_any(note, copy).contradicts >= MOST_DOUBTED
            return note if is_doubted else copy
        piece = rng.choice(self._pieces[kind])
        if piece.startswith("^"):
            start = 1 if note[1:2].islower() else 0
            return piece[1:] + note[:start].lower() + note[start:]
        bare = note.rstrip(" .")
        return f"{bare}{piece}{note[len(bare) :]}"

    def _exchanged(self, note: str, kind: str, rng: random.Random) -> str:
        found = [match for match in self._words[kind].finditer(note) if is_prose(note, match.start())]
        if not found:
            return note
        # Those that were drawn least so far: common words would be nearly all.
        match = min(found, key=lambda each: (self._drawn[(each[0].lower(),)], rng.random()))
        word = match[0].lower()
        other = min(self._others[kind][word], key=lambda each: (self._drawn[word, each], rng.random()))
        self._drawn.update([(word,), (word, other)])
        other = other[:1].upper() + other[1:] if match[0][:1].isupper() else other
        return note[: match.start()] + other + note[match.end() :]


def changed(notes: Sequence[str], rng: random.Random, count: int) -> list[Pair]:
    """Notes beside copies with other words, at least so many pairs."""
    changes, shares = _Changes(), [share for _, share in _CHANGES.values()]
    found: list[Pair] = []
    while len(found) < count:
        note = copy = rng.choice(notes)
        kinds = rng.choices(list(_CHANGES), shares, k=1 + (rng.random() < _TWICE))
        for kind in kinds:
            before, copy = copy, changes.of(copy, kind, rng)
            if copy in (before, note):
                break
        else:
            labels = {_CHANGES[kind][0] for kind in kinds}
            label = next(label for label in ("contradicts", "compatible", "same") if label in labels)
            found += _beside(note, copy, label, rng)
    return found


def _slipped(note: str, rng: random.Random) -> str:
    """The note with two letters of a word swapped, or one lost, doubled or wrong."""
    words = note.split(" ")
    places = [n for n, word in enumerate(words) if len(word) >= 4 and word.isalpha() and word[1:].islower()]
    if not places:
        return note
    n = rng.choice(places)
    word, at = words[n], rng.randrange(1, len(words[n]) - 1)
    slips = [
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at - 1 :],
        word[:at] + rng.choice(word) + word[at + 1 :],
    ]
    words[n] = rng.choices(slips, (3, 2, 2, 1))[0]
    return " ".join(words)


def _names_swapped(note: str, rng: random.Random) -> str:
    """The note with two of its names, which are not neighbours, changed places."""
    words = note.split(" ")
    names = [n for n, word in enumerate(words) if n and len(word) > 2 and word.isalpha() and word[0].isupper()]
    if len(names) < 2:
        return note
    one, other = sorted(rng.sample(names, 2))
    if other - one > 1:
        words[one], words[other] = words[other], words[one]
    return " ".join(words)


def stored_weights(name: str, rng: np.random.Generator, rank: int) -> Learnt:
    """The adapters and the head of a file of the package, with at least this rank."""
    with np.load(Path(relations.__file__).with_name(name)) as stored:
        learnt = {name: jnp.asarray(stored[name], jnp.float32) for name in stored.files}
    for part in [name.removesuffix(".A") for name in learnt if name.endswith(".A")]:
        down, up = learnt[f"{part}.A"], learnt[f"{part}.B"]
        further, columns = max(rank - down.shape[1], 0), down.shape[0]
        drawn = jnp.asarray(rng.normal(0, columns**-0.5, (columns, further)), jnp.float32)
        learnt[f"{part}.A"] = jnp.concatenate([down, drawn], 1)
        learnt[f"{part}.B"] = jnp.concatenate([up, jnp.zeros((further, up.shape[1]), jnp.float32)], 0)
    return learnt


def first_weights(rng: np.random.Generator, published: dict[str, Any]) -> Learnt:
    """Adapters that change nothing yet, and a head."""
    learnt: Learnt = {"head.W": rng.normal(0, 0.02, (3 * _WIDTH, 3)), "head.b": np.zeros(3)}
    for layer in range(_LAYERS):
        for part in _PARTS:
            rows, columns = published[f"encoder.layer.{layer}.{part}.weight"].shape
            learnt[f"{layer}.{part}.A"] = rng.normal(0, columns**-0.5, (columns, RANK))
            learnt[f"{layer}.{part}.B"] = np.zeros((RANK, rows))
    return {name: jnp.asarray(value, jnp.float32) for name, value in learnt.items()}


class Trained:
    """The published network with adapters, as a function of these."""

    def __init__(self, published: dict[str, Any]) -> None:
        self._published = {name: jnp.asarray(value) for name, value in published.items() if value.dtype == np.float32}

    def logits(self, learnt: Learnt, batch: Batch, key: Any = None) -> Any:
        """Float32 (batch, 3). `key`: of the dropout while training."""
        tokens, types, there = batch[:3]
        states = self._published["embeddings.word_embeddings.weight"][tokens]
        states += self._published["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        states += self._published["embeddings.token_type_embeddings.weight"][types]
        states = _dropped(self._norm(states, "embeddings"), key, 99)
        for layer in range(_LAYERS):
            states = self._layer(learnt, layer, states, there, key)
        means = [
            (states * mine[..., None]).sum(1) / jnp.maximum(mine.sum(1), 1)[:, None]
            for mine in (there & (types == 0), there & (types == 1))
        ]
        return _dropped(jnp.concatenate([states[:, 0], *means], 1), key, 98) @ learnt["head.W"] + learnt["head.b"]

    def _layer(self, learnt: Learnt, layer: int, states: Any, there: Any, key: Any) -> Any:
        pairs, length, _ = states.shape
        heads = [
            self._linear(learnt, layer, part, states).reshape(pairs, length, _HEADS, -1).transpose(0, 2, 1, 3)
            for part in _PARTS[:3]
        ]
        scores = heads[0] @ heads[1].transpose(0, 1, 3, 2) * (_WIDTH // _HEADS) ** -0.5
        shares = jax.nn.softmax(jnp.where(there[:, None, None, :], scores, -1e9), -1)
        mixed = (shares @ heads[2]).transpose(0, 2, 1, 3).reshape(pairs, length, _WIDTH)
        mixed = _dropped(self._linear(learnt, layer, _PARTS[3], mixed), key, 2 * layer)
        states = self._norm(states + mixed, f"encoder.layer.{layer}.attention.output")
        wide = jax.nn.gelu(self._linear(learnt, layer, _PARTS[4], states), approximate=False)
        out = _dropped(self._linear(learnt, layer, _PARTS[5], wide), key, 2 * layer + 1)
        return self._norm(states + out, f"encoder.layer.{layer}.output")

    def _linear(self, learnt: Learnt, layer: int, part: str, states: Any) -> Any:
        name = f"encoder.layer.{layer}.{part}"
        change = states @ learnt[f"{layer}.{part}.A"] @ learnt[f"{layer}.{part}.B"]
        plain = states @ self._published[f"{name}.weight"].T + self._published[f"{name}.bias"]
        return plain + relations.SCALE * change

    def _norm(self, states: Any, name: str) -> Any:
        centred = states - states.mean(-1, keepdims=True)
        scaled = centred / jnp.sqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-12)
        return scaled * self._published[f"{name}.LayerNorm.weight"] + self._published[f"{name}.LayerNorm.bias"]


def _dropped(values: Any, key: Any, place: int) -> Any:
    if key is None:
        return values
    kept = jax.random.bernoulli(jax.random.fold_in(key, place), 1 - DROPOUT, values.shape)
    return values * kept / (1 - DROPOUT)


def batch_of(pairs: Sequence[Pair], orders: Sequence[int]) -> Batch:
    """Tokens, types and what is there, int32 and bool (BATCH, length); labels and weights (BATCH,)."""
    length = -(-max(len(pair["orders"][order][0]) for pair, order in zip(pairs, orders, strict=True)) // 8) * 8
    tokens, types = np.zeros((2, BATCH, length), np.int32)
    there, labels, weights = np.zeros((BATCH, length), bool), np.zeros(BATCH, np.int32), np.zeros(BATCH, np.float32)
    there[:, 0] = True
    for row, (pair, order) in enumerate(zip(pairs, orders, strict=True)):
        mine, of_types = pair["orders"][order]
        tokens[row, : len(mine)], types[row, : len(mine)], there[row, : len(mine)] = mine, of_types, True
        labels[row] = KINDS.index(pair["label"])
        weights[row] = _OF_NEIGHBOURS if pair["set"] in _EASY else 1
    return tokens, types, there, labels, weights


def batches(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Batch]:
    """The pairs once, those of about one length together, each in one of its orders."""
    shuffled = [pairs[place] for place in rng.permutation(len(pairs))]
    found = []
    for start in range(0, len(shuffled), 20 * BATCH):
        some = sorted(shuffled[start : start + 20 * BATCH], key=lambda pair: len(pair["orders"][0][0]))
        found += [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
    for place in rng.permutation(len(found)):
        yield batch_of(found[place], rng.integers(0, 2, len(found[place])).tolist())


def main() -> None:
    """Train, print the figures, and write the weights if they are wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--near-copies", action="store_true", help="train the weights for near copies")
    parser.add_argument("--further", nargs="*", metavar="SET", help="go on from the weights for near copies")
    parser.add_argument("--changed", type=int, default=0, metavar="N", help="copies with changed words in an epoch")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    options = parser.parse_args()
    pairs = _read_all((pair for name in ("pairs", "neighbours") for pair in labelled(name)), _read_starts)
    published, rng = read_tensors(), np.random.default_rng(0)
    taught = [pair for pair in pairs if not pair["set"].startswith("T")]
    near = _read_all(labelled("near_copies"), _read_differences) if options.near_copies else []
    held_out = [pair for pair in near or pairs if pair["set"].startswith("T")]
    before = relations.ANY if options.further is None else relations.NEAR_COPIES
    learnt = stored_weights(before, rng, RANK_OF_COPIES) if near else first_weights(rng, published)
    model = Trained(published)
    named = options.further or ()
    epochs = [
        near_copies(taught, random.Random(epoch), named, options.changed)
        if near
        else as_logged(taught, random.Random(epoch))
        for epoch in range(options.epochs)
    ]
    steps, rate = sum(map(len, epochs)) // BATCH + 1, RATE_OF_SETS if named else RATE_OF_COPIES if near else RATE
    rates = optax.warmup_cosine_decay_schedule(0, rate, steps // 10, steps, rate / 20)
    optimizer = optax.adamw(rates, weight_decay=0.01)
    state = optimizer.init(learnt)

    def loss(learnt: Learnt, batch: Batch, key: Any) -> Any:
        wrong = optax.softmax_cross_entropy_with_integer_labels(model.logits(learnt, batch, key), batch[3])
        return (wrong * batch[4]).sum() / batch[4].sum()

    @jax.jit
    def step(learnt: Learnt, state: Any, batch: Batch, key: Any) -> tuple[Learnt, Any]:
        change, state = optimizer.update(jax.grad(loss)(learnt, batch, key), state, learnt)
        return optax.apply_updates(learnt, change), state

    judge = jax.jit(lambda learnt, batch: jax.nn.softmax(model.logits(learnt, batch))[:, 0])
    key = jax.random.PRNGKey(0)
    for epoch, drawn in enumerate(epochs):
        for batch in batches(drawn, rng):
            key, drop = jax.random.split(key)
            learnt, state = step(learnt, state, batch, drop)
        chances = np.concatenate(
            [
                np.asarray(judge(learnt, batch_of(some, [0] * len(some))))[: len(some)]
                for some in (held_out[at : at + BATCH] for at in range(0, len(held_out), BATCH))
            ]
        )
        right = np.array([pair["label"] == KINDS[0] for pair in held_out])
        precise, at_90, at_80 = average_precision(chances, right)
        print(f"{epoch + 1}: average precision {precise:.3f}, recall at .9 {at_90:.2f}, at .8 {at_80:.2f}", flush=True)
    if options.write:
        path = Path(relations.__file__).with_name(relations.NEAR_COPIES if near else relations.ANY)
        np.savez(path, **{name: np.asarray(value, np.float16) for name, value in learnt.items()})


if __name__ == "__main__":
    main()
