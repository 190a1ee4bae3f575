"""What stands on the other end of each provider in tests.

Servers on loopback speak its protocol, and programs print what the real ones print.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Spoken:
    """What a model answers: a text, whether it ended early, and its tokens."""

    text: str
    cut: bool = False
    tokens_in: int = 50
    tokens_out: int = 7


@dataclass(frozen=True)
class Refused:
    """An HTTP error."""

    status: int
    message: str = "no"
    retry_after: float | None = None


Script = Callable[[Body, int], Spoken | Refused]


@dataclass
class ChatServer:
    """A server with `/v1/chat/completions` and Ollama's `/api/chat`, on a free port of loopback.

    `takes`: the kinds of `response_format` that it knows; it refuses others with `refuses_with`.
    """

    script: Script
    models: tuple[str, ...] = ("tiny",)
    key: str = ""
    takes: tuple[str, ...] = ("json_schema", "json_object")
    refuses_with: int = 400
    context: int = 32_768
    refuses_thinking: bool = False
    requests: list[Body] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[ChatServer]:
        """Listens until the block ends."""
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

    def react(self, path: str, body: Body) -> Spoken | Refused:
        """What the server does with one question."""
        wanted = body.get("response_format", {}).get("type")
        if wanted is not None and wanted not in self.takes:
            return Refused(self.refuses_with, f"response_format: Input should be {' or '.join(self.takes) or 'text'}")
        if self.refuses_thinking and "think" in body:
            return Refused(400, '"tiny" does not support thinking')
        self.requests.append(body)
        return self.script(body, len(self.requests) - 1)

    def answer(self, path: str, spoken: Spoken) -> Body:
        """An answer in the words of the protocol."""
        if path == "/api/chat":
            return {
                "model": "tiny",
                "message": {"role": "assistant", "content": spoken.text},
                "done": True,
                "done_reason": "length" if spoken.cut else "stop",
                "prompt_eval_count": spoken.tokens_in,
                "eval_count": spoken.tokens_out,
            }
        return {
            "object": "chat.completion",
            "model": "tiny",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": spoken.text},
                    "finish_reason": "length" if spoken.cut else "stop",
                }
            ],
            "usage": {"prompt_tokens": spoken.tokens_in, "completion_tokens": spoken.tokens_out},
        }

    def _handler(outer) -> type[BaseHTTPRequestHandler]:  # the handler class has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                return

            def do_GET(self) -> None:
                if not self._is_allowed():
                    return
                if self.path == "/v1/models":
                    rows = [{"id": name, "object": "model", "max_model_len": outer.context} for name in outer.models]
                    self._send(200, {"object": "list", "data": rows})
                elif self.path == "/api/tags":
                    self._send(200, {"models": [{"name": name} for name in outer.models]})
                else:
                    self._send(404, {"error": "not found"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if not self._is_allowed():
                    return
                outer.paths.append(self.path)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                if self.path == "/api/show":
                    self._send(200, {"model_info": {"tiny.context_length": outer.context}})
                    return
                reaction = outer.react(self.path, body)
                if isinstance(reaction, Refused):
                    extra = {} if reaction.retry_after is None else {"retry-after": str(reaction.retry_after)}
                    self._send(reaction.status, {"error": {"message": reaction.message}}, extra)
                else:
                    self._send(200, outer.answer(self.path, reaction))

            def _is_allowed(self) -> bool:
                if not outer.key or self.headers.get("authorization") == f"Bearer {outer.key}":
                    return True
                self._send(401, {"error": {"message": "invalid key"}})
                return False

            def _send(self, status: int, body: Body, extra: dict[str, str] | None = None) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                headers = {"content-type": "application/json", "content-length": str(len(content)), **(extra or {})}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        return Handler


#: What `claude -p --output-format json --json-schema` prints (2.1.197) and `codex exec --json` (0.169.0), with the
#: answer that the test wants.
_CLAUDE = """
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
note = {"arguments": sys.argv[1:], "input": sys.stdin.read(), "cwd": os.getcwd(), "environment": dict(os.environ)}
(here / "asked.jsonl").open("a").write(json.dumps(note) + "\\n")
wanted = json.loads((here / "wanted.json").read_text())
print(json.dumps({
    "type": "result", "subtype": "success", "is_error": wanted["is_error"], "result": wanted["text"],
    "stop_reason": "max_tokens" if wanted["cut"] else "tool_use", "num_turns": 2, "api_error_status": None,
    "usage": {"input_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 7},
    **({"structured_output": json.loads(wanted["text"])} if wanted["structured"] else {}),
}))
"""
_CODEX = """
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
note = {"arguments": sys.argv[1:], "input": sys.stdin.read(), "cwd": os.getcwd(), "environment": dict(os.environ)}
(here / "asked.jsonl").open("a").write(json.dumps(note) + "\\n")
wanted = json.loads((here / "wanted.json").read_text())
print(json.dumps({"type": "thread.started", "thread_id": "t"}))
if wanted["is_error"]:
    print(json.dumps({"type": "turn.failed", "error": {"message": wanted["text"]}}))
    sys.exit(1)
place = sys.argv[sys.argv.index("--output-last-message") + 1]
pathlib.Path(place).write_text(wanted["text"])
print(json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": wanted["text"]}}))
print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 50, "output_tokens": 7}}))
"""


@dataclass(frozen=True)
class StandInProgram:
    """A program on a PATH of its own, that notes how it was asked and answers as it is told."""

    directory: Path

    @classmethod
    def install(cls, directory: Path, command: str) -> StandInProgram:
        """Write `claude` or `codex` into a directory."""
        directory.mkdir(parents=True, exist_ok=True)
        program = directory / command
        program.write_text(f"#!{sys.executable}\n{_CLAUDE if command == 'claude' else _CODEX}")
        program.chmod(0o755)
        made = cls(directory)
        made.will_answer("{}")
        return made

    def will_answer(self, text: str, *, structured: bool = False, cut: bool = False, is_error: bool = False) -> None:
        """What it answers from now on."""
        wanted = {"text": text, "structured": structured, "cut": cut, "is_error": is_error}
        (self.directory / "wanted.json").write_text(json.dumps(wanted))

    @property
    def asked(self) -> list[Body]:
        """How it was asked, in order."""
        return [json.loads(line) for line in (self.directory / "asked.jsonl").read_text().splitlines()]
