"""Trains what finds the sentences that are worth keeping, names their kind, and tells lasting notes from routine.

    python benchmarks/train_classifier.py [--write] [--held-out]

`labels/conversations_*.jsonl` and `labels/notes.jsonl` are labelled by hand; the planted sentences stand beside them.
Every fifth conversation and log is held out: no weight and no threshold comes from it, and `--held-out` measures it.
The other figures come from five-fold cross-validation by conversation. In the labels of single files the length of a
sentence betrays what it is, so they weigh in such a way that among those of one length and speaker both classes count
alike.
`--write` puts the weights into the package and prints their hash, which `memory_pipeline/reading/classifier.py` states.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from planted_conversations import plant_conversations
from planted_lives import LOOK_ALIKES, STATEMENTS, lines_of
from planted_reversals import plant_reversals

from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.reading import classifier
from memory_pipeline.reading.classifier import KIND_PLACES, KINDS, Machine, Namer, Numbers, Sentence
from memory_pipeline.text.orders import BITS, features_of

LABELS = Path(__file__).parent / "labels"
_FOLDS, _LANDMARKS, _SEED = 5, 1200, 17
#: Penalties of the kernel machines and of the runs; the smallest eigenvalue that counts.
_RIDGE, _KIND_RIDGE, _RUN_RIDGE, _PENALTY, _LEAST = 0.1, 0.3, 0.15, 2e-5, 1e-4
_STEPS = 200
#: What a sentence counts by where it comes from: those of `c` are written where the others are easy.
_SHARES = {"a": 1.0, "b": 1.0, "c": 1.5, "planted": 0.7, "notes": 1.0}
#: Characters at which a group of about equally long sentences ends, and the least and most that a sentence weighs.
_LENGTHS, _LEAST_WEIGHT, _MOST_WEIGHT = (15, 25, 35, 45, 55, 65, 80, 95, 115, 140), 0.25, 5.0
#: Share of the kept that must be right: of humans among the sentences of `a` and `b` as well as among those of `c`, and
#: of agents. What is promised is 0.75; conversations never seen are a little harder.
_PRECISION = 0.78


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text, whether it is to be kept, and its kind ('' if unknown). `source` is a file, `group` stays together."""

    sentence: Sentence
    is_kept: bool
    kind: str
    group: str
    language: str
    source: str
    is_held_out: bool


def number_of(group: str) -> int:
    """The number of a conversation or log."""
    return int(re.sub(r"\D", "", group))


def conversations() -> list[Labelled]:
    """The sentences of the labelled conversations."""
    rows: list[Labelled] = []
    for path in sorted(LABELS.glob("conversations_*.jsonl")):
        group = before = ""
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            before = before if row["conversation"] == group else ""
            group, kind = row["conversation"], row["kind"] if row["kind"] in KINDS else ""
            said = Sentence(row["text"], before, row["speaker"])
            held_out = number_of(group) % 5 == 0
            rows.append(Labelled(said, bool(kind), kind, group, row["lang"], path.stem[-1], held_out))
            before = row["text"]
    return rows


def notes() -> list[Labelled]:
    """The lines of the labelled notes."""
    rows = map(json.loads, (LABELS / "notes.jsonl").read_text("utf-8").splitlines())
    return [
        Labelled(
            Sentence(row["text"], "", "human"),
            row["label"] == "lasting",
            "",
            row["log"],
            row["lang"],
            "notes",
            number_of(row["log"]) % 5 == 0,
        )
        for row in rows
    ]


def planted() -> list[Labelled]:
    """The planted sentences that are not held out; of what takes something back, and what it takes back, no kind."""

    def one(text: str, before: str, kinds: Iterable[str], group: str, *, is_agent: bool = False) -> Labelled:
        said = Sentence(text, before, "agent" if is_agent else "human")
        kind = next(iter(sorted(kinds)), "")
        return Labelled(said, bool(kind), kind if kind in KINDS else "", group, "en", "planted", False)

    rows = []
    for talk in plant_conversations():
        if talk.held_out or talk.kinds == {"repetition"} or any("\n" in turn.words for turn in talk.turns):
            continue
        words = [turn.words for turn in talk.turns]
        for place, (before, turn) in enumerate(zip(["", *words], talk.turns, strict=False), start=1):
            if place == len(words) or not talk.kinds:
                kinds = talk.kinds - {"repetition"}
                rows.append(one(turn.words, before, kinds, talk.name, is_agent=turn.speaker == "agent"))
    for name, lives in (("life", STATEMENTS), ("look-alike", LOOK_ALIKES)):
        rows += [one(words, "", kinds, f"{name}-{n}") for n, (kinds, words) in enumerate(lines_of(lives))]
    for n, pair in enumerate(plant_reversals()):
        if not pair.held_out:
            rows.append(one(pair.first, "", {"?"}, f"pair-{n}"))
            if pair.is_taken_back and ". " not in pair.then:
                rows.append(one(pair.then, "", {"?"}, f"pair-{n}"))
    return rows


def embed_all(texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The vector of each text; those of an earlier run are read from a temporary file."""
    path = Path(tempfile.gettempdir()) / "memory_pipeline_train_classifier.npz"
    known: dict[str, NDArray[np.float32]] = {}
    if path.exists():
        with np.load(path) as kept:
            known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))
    missing = sorted(set(texts) - set(known) - {""})
    if missing:
        known |= dict(zip(missing, MiniLM(1).embed(missing), strict=True))
        np.savez(path, texts=np.array(list(known)), vectors=np.stack(list(known.values())))
    return {text: known[text] for text in set(texts) - {""}}


class Data:
    """Rows with all that a machine reads of them."""

    def __init__(self, rows: Sequence[Labelled]) -> None:
        self.rows = rows
        vectors = embed_all([text for row in rows for text in (row.sentence.text, row.sentence.before)])
        self.inputs = np.array([classifier.inputs_of(row.sentence, vectors) for row in rows])
        self.places = [features_of(row.sentence.text) for row in rows]
        self.kept = np.array([row.is_kept for row in rows])
        self.is_agent = np.array([row.sentence.speaker == "agent" for row in rows], dtype=np.float64)
        self.source = np.array([row.source for row in rows])
        self.held_out = np.array([row.is_held_out for row in rows])
        digests = [hashlib.sha256(row.group.encode()).digest()[0] for row in rows]
        self.fold = np.where(self.source == "planted", -1, np.array(digests) % _FOLDS)
        self.length = np.digitize([len(row.sentence.text) for row in rows], _LENGTHS)


def weigh(data: Data, chosen: NDArray[np.intp]) -> Numbers:
    """What each of the chosen rows counts: among those of one speaker and about one length, both classes alike."""
    kept, length = data.kept[chosen], data.length[chosen] + (len(_LENGTHS) + 1) * (data.is_agent[chosen] > 0)
    share = kept.mean()
    among = np.array([(kept[length == n].sum() + 3 * share) / ((length == n).sum() + 3) for n in length])
    weights = np.where(kept, share / among, (1 - share) / (1 - among)).clip(_LEAST_WEIGHT, _MOST_WEIGHT)
    return weights * np.array([_SHARES[source] for source in data.source[chosen]])


def fit_logistic(features: Numbers, labels: NDArray[np.bool_], weights: Numbers, ridge: float) -> Numbers:
    """Coefficients and, last, the bias of a logistic regression with an L2 penalty, by Newton's method."""
    features = np.hstack([features, np.ones((len(features), 1))])
    penalty = np.append(np.full(features.shape[1] - 1, ridge), 1e-6)
    found = np.zeros(features.shape[1])
    for _ in range(15):
        likely = 1 / (1 + np.exp(-features @ found))
        slope = features.T @ (weights * (likely - labels)) + penalty * found
        curve = (features * (weights * likely * (1 - likely))[:, None]).T @ features + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-4:
            break
    return found


def fit_runs(places: Sequence[NDArray[np.int64]], labels: NDArray[np.bool_], weights: Numbers) -> NDArray[np.float16]:
    """Weights by place: Nesterov's accelerated gradient (1983) on the weighted logistic loss with an L2 penalty."""
    sizes = np.array([max(1, len(one)) for one in places])
    row, column = np.repeat(np.arange(len(places)), [len(one) for one in places]), np.concatenate(places)
    value, shares = (1 / np.sqrt(sizes))[row], weights / weights.sum()
    found, ahead, pace, bias = np.zeros(1 << BITS), np.zeros(1 << BITS), 1.0, 0.0
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.bincount(row, value * ahead[column], len(places)) - bias))
        off = shares * (likely - labels)
        new = ahead - 2 * (np.bincount(column, value * off[row], 1 << BITS) + _PENALTY * ahead)
        bias -= 2 * float(off.sum())
        following = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = new + (pace - 1) / following * (new - found)
        found, pace = new, following
    return found.astype(np.float16)


class Kernel:
    """Closeness to landmarks, and the change of basis in which a plain ridge is the kernel's own (Nyström)."""

    def __init__(self, inputs: Numbers) -> None:
        drawn = np.random.default_rng(_SEED).choice(len(inputs), min(_LANDMARKS, len(inputs)), replace=False)
        landmarks = inputs[np.sort(drawn)]
        self.scale = (np.abs(landmarks).max(axis=0) / 127 + 1e-9).astype(np.float32)
        self.steps = np.round(landmarks / self.scale).astype(np.int8)
        self.landmarks = self.steps * self.scale.astype(np.float64)
        values, basis = np.linalg.eigh(self.closeness(self.landmarks))
        self.basis = basis / np.sqrt(np.maximum(values, 0) + _LEAST)

    def closeness(self, inputs: Numbers) -> Numbers:
        """float64 (rows, landmarks)."""
        squares = (inputs**2).sum(axis=1)[:, None] + (self.landmarks**2).sum(axis=1)
        near: Numbers = np.exp(-classifier.GAMMA * (squares - 2 * inputs @ self.landmarks.T))
        return near


def fit_machine(data: Data, chosen: NDArray[np.intp], near: Numbers, basis: Numbers) -> Machine:
    """A machine that is not calibrated yet."""
    weights = weigh(data, chosen)
    found = fit_logistic(near[chosen] @ basis, data.kept[chosen], weights, _RIDGE)
    runs = fit_runs([data.places[n] for n in chosen], data.kept[chosen], weights)
    return Machine((basis @ found[:-1]).astype(np.float32), runs, np.zeros(4))


def parts_of(machine: Machine, data: Data, chosen: NDArray[np.intp], near: Numbers) -> Numbers:
    """What a machine's mix weighs: float64 (chosen, 3)."""
    runs = [classifier.sum_of_places(machine.by_place, data.rows[n].sentence.text) for n in chosen]
    return np.column_stack([near[chosen] @ machine.by_landmark, runs, data.is_agent[chosen]])


def fit_kinds(data: Data, chosen: NDArray[np.intp], near: Numbers, basis: Numbers) -> Namer:
    """Two ridge regressions a kind, on closeness and on runs; a rare kind weighs more than its share."""
    chosen = np.array([n for n in chosen if data.rows[n].kind])
    is_kind = np.array([[data.rows[n].kind == kind for kind in KINDS] for n in chosen], dtype=np.float64)
    weights = (is_kind / np.sqrt(is_kind.sum(axis=0))).sum(axis=1)
    weights /= weights.mean()
    share, features = np.average(is_kind, axis=0, weights=weights), near[chosen] @ basis
    middle = np.average(features, axis=0, weights=weights)
    off = features - middle
    curve = off.T @ (off * weights[:, None]) + _KIND_RIDGE * np.eye(len(middle))
    found = np.linalg.solve(curve, off.T @ (weights[:, None] * (is_kind - share)))
    runs = np.zeros((len(chosen), KIND_PLACES), dtype=np.float32)
    for row, n in enumerate(chosen):
        places = classifier.kind_places(data.rows[n].sentence.text)
        runs[row, places] = 1 / np.sqrt(max(1, len(places)))
    alike = (runs @ runs.T).astype(np.float64) + np.diag(_RUN_RIDGE / weights)
    by_place = runs.T @ np.linalg.solve(alike, is_kind - share)
    return Namer((basis @ found).astype(np.float32), (by_place * 0.5).astype(np.float16), share - middle @ found)


def cross_validate(data: Data, *, with_kinds: bool) -> tuple[Numbers, Numbers, list[str]]:
    """For each row that is in a fold: what the mix weighs, the calibrated probability, and the kind."""
    parts, kinds = np.zeros((len(data.rows), 3)), [""] * len(data.rows)
    usable = ~data.held_out
    for fold in range(_FOLDS):
        seen, unseen = np.flatnonzero(usable & (data.fold != fold)), np.flatnonzero(usable & (data.fold == fold))
        kernel = Kernel(data.inputs[seen])
        near = kernel.closeness(data.inputs)
        parts[unseen] = parts_of(fit_machine(data, seen, near, kernel.basis), data, unseen, near)
        if with_kinds:
            learned = fit_kinds(data, seen, near, kernel.basis)
            for n in unseen:
                kinds[n] = learned.kind_of(near[n], data.rows[n].sentence.text)
    return parts, calibrate(data, parts), kinds


def calibrate(data: Data, parts: Numbers) -> Numbers:
    """The mix that turns parts into probabilities: float64 (4,); fitted on rows that their machine did not see."""
    rows = np.flatnonzero(~data.held_out & (data.fold >= 0))
    return fit_logistic(parts[rows], data.kept[rows], np.ones(len(rows)), 1e-2)


def probabilities(parts: Numbers, mix: Numbers) -> Numbers:
    """float64 (rows,)."""
    likely: Numbers = 1 / (1 + np.exp(-parts @ mix[:-1] - mix[-1]))
    return likely


def choose_threshold(scores: Numbers, kept: NDArray[np.bool_], parts: Sequence[NDArray[np.bool_]]) -> float:
    """The least score from which on the precision reaches _PRECISION in each part of the rows."""
    for threshold in np.arange(0.2, 0.95, 0.005):
        taken = scores >= threshold
        if all((taken & part & kept).sum() >= _PRECISION * (taken & part).sum() for part in parts):
            return float(round(threshold, 3))
    raise SystemExit(f"no threshold reaches a precision of {_PRECISION}")


def show(title: str, data: Data, rows: NDArray[np.bool_], taken: NDArray[np.bool_], kinds: Sequence[str]) -> None:
    """Print precision and recall of what is taken, by source, language and kind."""
    print(f"\n{title}\n{'':<14}{'rows':>6}{'worth':>7}{'taken':>7}{'right':>7}{'precision':>11}{'recall':>8}")

    def line(name: str, part: NDArray[np.bool_], right: NDArray[np.bool_], worth: NDArray[np.bool_]) -> None:
        t, r, w = int((part & taken).sum()), int((part & taken & right).sum()), int((part & worth).sum())
        print(f"{name:<14}{int(part.sum()):>6}{w:>7}{t:>7}{r:>7}{r / max(1, t):>11.3f}{r / max(1, w):>8.3f}")

    languages = np.array([row.language for row in data.rows])
    line("all", rows, data.kept, data.kept)
    for source in sorted(set(data.source[rows])):
        line(f"file {source}", rows & (data.source == source), data.kept, data.kept)
    for language in sorted(set(languages[rows])):
        line(language, rows & (languages == language), data.kept, data.kept)
    line("not English", rows & (languages != "en"), data.kept, data.kept)
    for speaker in (0, 1):
        line("agent" if speaker else "human", rows & (data.is_agent == speaker), data.kept, data.kept)
    long = data.length >= _LENGTHS.index(65) + 1
    line("65 and longer", rows & long, data.kept, data.kept)
    line("shorter", rows & ~long, data.kept, data.kept)
    if any(kinds):
        given, true = np.array(kinds), np.array([row.kind for row in data.rows])
        print("kinds, of what is taken and worth keeping:")
        for kind in KINDS:
            named, is_kind = rows & taken & data.kept & (given == kind), rows & taken & data.kept & (true == kind)
            right = int((named & is_kind).sum())
            found = int((rows & taken & (true == kind)).sum()) / max(1, int((rows & (true == kind)).sum()))
            print(
                f"{kind:<14}{int((rows & (true == kind)).sum()):>6} sentences, found {found:.2f}; "
                f"named rightly: precision {right / max(1, int(named.sum())):.2f}, "
                f"recall {right / max(1, int(is_kind.sum())):.2f}"
            )


def final(data: Data, kernel: Kernel, mix: Numbers) -> tuple[Machine, Numbers]:
    """The machine of all rows that are not held out, and the closeness of all rows."""
    near = kernel.closeness(data.inputs)
    machine = fit_machine(data, np.flatnonzero(~data.held_out), near, kernel.basis)
    return Machine(machine.by_landmark, machine.by_place, mix), near


def main() -> None:
    """Train, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--held-out", action="store_true")
    chosen = parser.parse_args()

    talk, log = Data(conversations() + planted()), Data(notes())
    in_fold = (talk.fold >= 0) & ~talk.held_out
    parts, mix, kinds = cross_validate(talk, with_kinds=True)
    scores = probabilities(parts, mix)
    by_agent, hard = talk.is_agent > 0, talk.source == "c"
    human = choose_threshold(scores, talk.kept, [in_fold & ~by_agent & hard, in_fold & ~by_agent & ~hard])
    agent = choose_threshold(scores, talk.kept, [in_fold & by_agent])
    least = np.where(by_agent, agent, human)
    print(f"kept from {human} on of a human, from {agent} on of an agent")
    show("Sentences, cross-validated", talk, in_fold, scores >= least, kinds)
    note_parts, note_mix, _ = cross_validate(log, with_kinds=False)
    note_scores = probabilities(note_parts, note_mix)
    show("Notes, cross-validated, from 0.5 on", log, ~log.held_out, note_scores >= 0.5, [])

    kernel = Kernel(talk.inputs[~talk.held_out])
    keeping, near = final(talk, kernel, mix)
    named = fit_kinds(talk, np.flatnonzero(~talk.held_out), near, kernel.basis)
    lasting, note_near = final(log, kernel, note_mix)
    if chosen.held_out:
        held = probabilities(parts_of(keeping, talk, np.arange(len(talk.rows)), near), mix)
        given = [named.kind_of(row, one.sentence.text) for row, one in zip(near, talk.rows, strict=True)]
        show("Sentences held out", talk, talk.held_out, held >= least, given)
        held = probabilities(parts_of(lasting, log, np.arange(len(log.rows)), note_near), note_mix)
        show("Notes held out, from 0.5 on", log, log.held_out, held >= 0.5, [])
    kept = io.BytesIO()
    np.savez_compressed(
        kept,
        landmarks=kernel.steps,
        scale=kernel.scale,
        thresholds=np.array([human, agent]),
        kinds_by_landmark=named.by_landmark,
        kinds_by_place=named.by_place,
        kinds_bias=named.bias,
        keeping_by_landmark=keeping.by_landmark,
        keeping_by_place=keeping.by_place,
        keeping_mix=keeping.mix,
        lasting_by_landmark=lasting.by_landmark,
        lasting_by_place=lasting.by_place,
        lasting_mix=lasting.mix,
    )
    print(f"\n{len(kept.getvalue()):,} bytes, SHA-256 {hashlib.sha256(kept.getvalue()).hexdigest()}")
    if chosen.write:
        Path(classifier.__file__).with_name(classifier.FILE).write_bytes(kept.getvalue())


if __name__ == "__main__":
    main()
