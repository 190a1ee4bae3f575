"""The classifier finds what is worth keeping without rules, the same in every batch, and from the measured weights."""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest

from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.reading import classifier
from memory_pipeline.reading.classifier import FILE, WEIGHTS_SHA256, Sentence, Verdict, classify, salience_by_id
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline_tests.build import memory

pytestmark = pytest.mark.usefixtures("every_text_anew")

KEEPERS = (
    "I'm allergic to shellfish and so is my younger son.",
    "We decided to move the shop to Shopify in May, because the old one can't do VAT for Norway.",
    "Never send anything to a client without showing it to me first.",
    "I prefer short answers without bullet points.",
    "Wir haben beschlossen, ab Oktober keine Miete mehr in bar anzunehmen.",
)
LOOK_ALIKES = (
    "Could you check whether the parcel has arrived?",
    "What time does the pharmacy close on Saturdays?",
    "Please print the list for tomorrow's meeting, two copies.",
    "thanks, that was quick",
    "¿Puedes mirar si ha llegado el correo?",
)
LASTING = (
    "Decision: we stay on Postgres 15 until the extension supports 16, because an upgrade would break the search.",
    "Nora reacts to ibuprofen with hives; give her paracetamol only.",
    "Lehre: nie vor dem Wochenende ausrollen, weil dann niemand die Warnungen liest.",
)
ROUTINE = (
    "Heartbeat ok, queue empty.",
    "Ran the tests, 812 passed.",
    "Backup gelaufen, keine Fehler.",
)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(1)


def said(*texts: str) -> list[Sentence]:
    return [Sentence(text, "", "human") for text in texts]


def test_plain_statements_that_last_are_found_with_a_kind(model: MiniLM) -> None:
    verdicts = classify(said(*KEEPERS), model.embed)
    assert sum(one.kind is not None for one in verdicts) >= len(KEEPERS) - 1


def test_questions_thanks_and_single_tasks_are_not_kept(model: MiniLM) -> None:
    assert [one.kind for one in classify(said(*LOOK_ALIKES), model.embed)] == [None] * len(LOOK_ALIKES)


def test_scores_are_probabilities(model: MiniLM) -> None:
    assert all(0 <= one.score <= 1 for one in classify(said(*KEEPERS, *LOOK_ALIKES), model.embed))


def test_a_verdict_does_not_depend_on_the_batch(model: MiniLM) -> None:
    sentences = said(*KEEPERS[:3], *LOOK_ALIKES[:3])
    together = classify(sentences, model.embed)
    assert classify(sentences[::-1], model.embed)[::-1] == together
    assert [classify([one], model.embed)[0] for one in sentences] == together


def test_blank_sentences_and_empty_batches_need_no_vectors() -> None:
    def refuse(texts: object) -> classifier.Vectors:
        raise AssertionError(f"nothing is to be embedded, and {texts!r} was")

    assert classify([], refuse) == []
    assert classify(said(" "), refuse) == [Verdict(None, 0.0)]
    assert salience_by_id([], {}) == {}
    assert salience_by_id([memory("blank", "\n")], {"blank": np.ones(384, dtype=np.float32)}) == {"blank": 0.0}
    assert salience_by_id([memory("unread", "We moved to Porto.")], {}) == {}


def test_a_sentence_without_letters_says_nothing_to_keep(model: MiniLM) -> None:
    assert [one.kind for one in classify(said("12", "?", "👍"), model.embed)] == [None] * 3


def test_vectors_of_another_model_are_refused() -> None:
    with pytest.raises(ValueError, match="reads vectors of 384 numbers"):
        classify(said("We moved to Porto."), lambda texts: np.ones((len(texts), 8), dtype=np.float32))
    with pytest.raises(ValueError, match=r"embedding\.model"):
        salience_by_id([memory("a", "We moved to Porto.")], {"a": np.ones(768, dtype=np.float32)})


def test_lasting_notes_score_above_routine(model: MiniLM) -> None:
    texts = [*LASTING, *ROUTINE]
    notes = [memory(str(number), text) for number, text in enumerate(texts)]
    vectors = dict(zip([note.id for note in notes], model.embed([embedding_text(text) for text in texts]), strict=True))
    scores = list(salience_by_id(notes, vectors).values())
    assert min(scores[: len(LASTING)]) > max(scores[len(LASTING) :])


def test_the_weights_are_those_that_were_measured() -> None:
    raw = (resources.files("memory_pipeline.reading") / FILE).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == WEIGHTS_SHA256
    assert len(raw) < 1_500_000


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ValueError, match="install memory_pipeline again"):
        classifier.weights.__wrapped__()
