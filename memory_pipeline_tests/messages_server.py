"""A server on loopback that speaks the Messages API as a test wants it: models, messages, batches, errors."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "claude-haiku-5-5"

#: What a test may have the server do with a request: an answer's text, or one of the classes below.
Body = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """An HTTP error as the API words it."""

    status: int
    kind: str = "api_error"
    message: str = "it is what it is"
    retry_after: float | None = None


@dataclass(frozen=True)
class Raw:
    """Bytes on the wire instead of an answer; `cut` closes the line before all that was promised is sent, and `drop_s`
    is the time between two bytes."""

    body: bytes = b""
    cut: bool = False
    delay_s: float = 0.0
    drop_s: float = 0.0


@dataclass(frozen=True)
class Said:
    """An answer's text, why it stopped, and what it is billed as."""

    text: str
    stop_reason: str = "end_turn"
    tokens_in: int = 500
    tokens_out: int = 100


Reaction = Said | Failure | Raw
Script = Callable[[Body, int], Reaction]


@dataclass
class MessagesServer:
    """What the server was asked, and how it answers. `script` is given the request and its number from 0."""

    script: Script
    models: dict[str, dict[str, Any]] = field(default_factory=lambda: {MODEL: {"lifecycle": "active"}})
    knows_models: bool = True
    key: str = "sk-test"
    unfaithful: Callable[[str], str] = lambda sentence: ""
    requests: list[Body] = field(default_factory=list)
    checks: list[Body] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    batch_polls: int = 1
    batch_outcome: Callable[[str, int], str] = lambda custom_id, number: "succeeded"
    create_failure: Failure | Raw | None = None
    most_at_once: int = 0
    url: str = ""
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[MessagesServer]:
        """Listens on a free port of loopback until the block ends."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def react(self, body: Body) -> Reaction:
        """Note a request and decide what becomes of it. Whether sentences follow from their sources is answered by
        `unfaithful`, and stands in no list."""
        if is_about_faithfulness(body):
            return self.judge(body)
        with self._lock:
            number = len(self.requests)
            self.requests.append(body)
            self.times.append(time.monotonic())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            return self.script(body, number)
        finally:
            with self._lock:
                self._now -= 1

    def judge(self, body: Body) -> Said:
        """A verdict on each sentence."""
        with self._lock:
            self.checks.append(body)
        verdicts = [
            {"sentence": number, "sources": [1], "beyond": self.unfaithful(sentence)}
            for number, sentence in enumerate(sentences_of(body), start=1)
        ]
        return Said(json.dumps({"verdicts": verdicts}))

    def message(self, body: Body, said: Said) -> dict[str, Any]:
        """An answer as the API words it."""
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": said.text}],
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": said.tokens_in, "output_tokens": said.tokens_out},
        }

    def new_batch(self, requests: list[Body]) -> dict[str, Any]:
        """Take a batch in."""
        made = datetime.now(UTC)
        batch = {
            "id": f"msgbatch_{len(self.batches) + 1}",
            "type": "message_batch",
            "processing_status": "in_progress",
            "created_at": made.isoformat(),
            "expires_at": (made + timedelta(hours=24)).isoformat(),
            "ended_at": None,
            "requests": requests,
            "polls": 0,
        }
        self.batches[str(batch["id"])] = batch
        return batch

    def public(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A batch as a client sees it."""
        size, ended = len(batch["requests"]), batch["processing_status"] == "ended"
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if ended else "processing"] = size
        shown = {name: value for name, value in batch.items() if name not in ("requests", "polls")}
        url = f"{self.url}/v1/messages/batches/{batch['id']}/results" if ended else None
        return {**shown, "request_counts": counts, "results_url": url}

    def poll(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A look at a batch; it ends after so many."""
        batch["polls"] += 1
        if batch["polls"] >= self.batch_polls:
            batch["processing_status"] = "ended"
        return self.public(batch)

    def results(self, batch: dict[str, Any]) -> str:
        """A batch's results, the last first, since no order is promised."""
        lines = []
        for number, request in enumerate(batch["requests"]):
            outcome = self.batch_outcome(request["custom_id"], number)
            result: dict[str, Any] = {"type": outcome}
            if outcome == "succeeded":
                params = request["params"]
                reaction = self.judge(params) if is_about_faithfulness(params) else self.script(params, number)
                assert isinstance(reaction, Said)
                result["message"] = self.message(request["params"], reaction)
            if outcome == "errored":
                inner = {"type": "invalid_request_error", "message": "it cannot be read"}
                result["error"] = {"type": "error", "error": inner}
            lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
        return "\n".join(reversed(lines)) + "\n"

    def _handler(outer) -> type[BaseHTTPRequestHandler]:  # the handler class has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                return

            def do_GET(self) -> None:
                if not self._is_allowed():
                    return
                path = self.path.partition("?")[0].removeprefix("/v1/")
                if path == "models" and outer.knows_models:
                    rows = [self._model(name) for name in outer.models]
                    self._send(200, {"data": rows, "has_more": False, "first_id": None, "last_id": None})
                elif path.startswith("models/") and outer.knows_models and path[7:] in outer.models:
                    self._send(200, self._model(path[7:]))
                elif path == "messages/batches":
                    rows = [outer.public(batch) for batch in reversed(outer.batches.values())]
                    self._send(200, {"data": rows, "has_more": False, "first_id": None, "last_id": None})
                elif path.startswith("messages/batches/"):
                    batch = outer.batches.get(path.split("/")[2])
                    if batch is None:
                        self._fail(Failure(404, "not_found_error", "no such batch"))
                    elif path.endswith("/results"):
                        self._bytes(200, outer.results(batch).encode(), "application/x-jsonl")
                    else:
                        self._send(200, outer.poll(batch))
                else:
                    self._fail(Failure(404, "not_found_error", f"no {path}"))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if not self._is_allowed():
                    return
                if self.path.startswith("/v1/messages/batches"):
                    self._batch(body)
                    return
                reaction = outer.react(body)
                if isinstance(reaction, Failure):
                    self._fail(reaction)
                elif isinstance(reaction, Raw):
                    self._raw(reaction)
                else:
                    self._send(200, outer.message(body, reaction))

            def _batch(self, body: Body) -> None:
                if isinstance(outer.create_failure, Failure):
                    self._fail(outer.create_failure)
                    return
                batch = outer.new_batch(body["requests"])
                if isinstance(outer.create_failure, Raw):
                    self._raw(outer.create_failure)
                else:
                    self._send(200, outer.public(batch))

            def _is_allowed(self) -> bool:
                bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
                if outer.key in (self.headers.get("x-api-key"), bearer):
                    return True
                self._fail(Failure(401, "authentication_error", "invalid x-api-key"))
                return False

            def _model(self, name: str) -> dict[str, Any]:
                known = {"id": name, "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
                return {**known, **outer.models[name]}

            def _fail(self, failure: Failure) -> None:
                extra = {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
                error = {"type": "error", "error": {"type": failure.kind, "message": failure.message}}
                self._bytes(failure.status, json.dumps(error).encode(), "application/json", extra)

            def _raw(self, raw: Raw) -> None:
                time.sleep(raw.delay_s)
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw.body) + (100 if raw.cut else 0)))
                self.end_headers()
                for piece in [raw.body] if not raw.drop_s else [bytes([byte]) for byte in raw.body]:
                    time.sleep(raw.drop_s)
                    try:
                        self.wfile.write(piece)
                    except OSError:  # nobody listens any more
                        return
                if raw.cut:
                    self.close_connection = True

            def _send(self, status: int, body: Body) -> None:
                self._bytes(status, json.dumps(body).encode(), "application/json")

            def _bytes(self, status: int, body: bytes, kind: str, extra: dict[str, str] | None = None) -> None:
                self.send_response(status)
                for name, value in {"content-type": kind, "content-length": str(len(body)), **(extra or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        return Handler


def is_about_faithfulness(body: Body) -> bool:
    """Whether a request asks if sentences follow from their sources."""
    return "verdicts" in json.dumps(body.get("output_config", {}))


def sentences_of(body: Body) -> list[str]:
    """The sentences that are asked about."""
    _, _, lines = body["messages"][0]["content"].partition("\n\nSentences:\n")
    return [json.loads(line)["text"] for line in lines.splitlines() if line.startswith("{")]


def members_of(body: Body) -> list[str]:
    """The members' texts in a request."""
    # A question that is asked again has the first answer, and what is wrong with it, behind the members.
    content, _ = json.JSONDecoder().raw_decode(body["messages"][0]["content"])
    return [member["content"] for member in content["members"]]


def faithful(body: Body, number: int = 0, **changes: Any) -> Said:
    """What a good model would answer: the first member's first sentence, claimed of all, and what each adds to it; of
    notes and turns, that nothing is worth keeping."""
    if "\n\nItems:\n" in body["messages"][0]["content"]:
        lists = ("statements", "repeats", "routine", "digests", "ended", "steering")
        return Said(json.dumps({name: [] for name in lists}))
    texts = members_of(body)
    sentence, *_ = texts[0].split(". ")
    sentence = sentence.rstrip(".") + "."
    added = {text.partition(". ")[2]: number for number, text in enumerate(texts, start=1) if ". " in text}
    answer = {
        "abstraction": " ".join([sentence, *added]),
        "claims": [
            {"text": sentence, "members": list(range(1, len(texts) + 1))},
            *({"text": text, "members": [number]} for text, number in added.items()),
        ],
        "contradictions": [],
        "suspicious": [],
        "is_causal": False,
        "subject": "",
        "action": "",
        "outcome": "",
        "consequences": "",
        "pattern_type": "gotcha",
        "confidence": 0.9,
        "compression_ratio": 4.0,
        **changes,
    }
    return Said(json.dumps(answer))
