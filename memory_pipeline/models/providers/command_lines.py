"""Claude Code and Codex, asked through their command lines with the user's own login.

Each question is a process of its own in an empty directory, without tools that write, without the user's hooks and
servers, and without a session file: what is asked never comes back in as a memory.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_pipeline.errors import ModelError
from memory_pipeline.files.places import QUESTIONS
from memory_pipeline.models.http import one_line
from memory_pipeline.models.limits import FREE
from memory_pipeline.models.provider import Answer, CallError, Request, counted_answer

#: A key in the environment takes precedence over the login, and a running session forbids another one in it.
_NOT_PASSED_ON = (
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION", "CLAUDE_CODE_SSE_PORT",
)  # fmt: skip
_MOST_OUTPUT = 50_000_000


class CommandLine(ABC):
    """A program that answers one question a process."""

    name: str
    #: The program; how to get it, and how to log in.
    command: str
    mend: str

    def __init__(self, model: str, *, context_tokens: int) -> None:
        """`model`: empty for the program's own choice. Starts nothing yet."""
        self._named = model
        self.model = model or f"{self.name}-default"
        self.place, self.price, self.context_tokens = f"the command '{self.command}'", FREE, context_tokens

    @abstractmethod
    def asked(self, request: Request, directory: Path) -> tuple[Sequence[str], str]:
        """The arguments of one question, and the program's standard input. `directory`: an empty one for its files."""

    @abstractmethod
    def read(self, request: Request, output: str, directory: Path) -> Answer:
        """The answer in what the program printed and wrote. Raises CallError, ValueError or KeyError."""

    def prepare(self, log: logging.Logger) -> None:
        if shutil.which(self.command) is None:
            raise ModelError(f"the command '{self.command}' is not on the PATH; {self.mend}")

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """One process, in an empty directory with a name that no source reads sessions of."""
        with tempfile.TemporaryDirectory(prefix=f"{QUESTIONS}-") as name:
            directory = Path(name)
            code, printed, errors = self._run(*self.asked(request, directory), timeout_s, directory)
            output = printed[:_MOST_OUTPUT].decode("utf-8", "replace")
            try:
                return self.read(request, output, directory)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                reason = one_line(errors.decode("utf-8", "replace")[-500:] or output[-500:])
                raise CallError(
                    f"{self.place} gave no answer (exit code {code}: {reason}); {self.mend}",
                    outcome="unknown",
                    retry_after_s=0.0,
                ) from error

    def _run(
        self, arguments: Sequence[str], question: str, timeout_s: float, directory: Path
    ) -> tuple[int, bytes, bytes]:
        """The exit code, and what the program printed on both streams."""
        try:
            process = subprocess.Popen(
                [self.command, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)},
                start_new_session=True,  # what it starts ends with it
            )
        except OSError as error:
            raise CallError(
                f"{self.place} cannot be started ({one_line(str(error))}); {self.mend}", fatal=True
            ) from error
        try:
            output, errors = process.communicate(question.encode("utf-8", "replace"), timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise CallError(
                f"{self.place} did not answer within {timeout_s:g} s; raise model.timeout_s",
                outcome="unknown",
                retry_after_s=0.0,
            ) from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode, output, errors


class ClaudeCode(CommandLine):
    """`claude -p`, with the structured output that it makes of a schema."""

    name = "claude-code"
    command = "claude"
    mend = "install Claude Code and run 'claude' once to log in"

    def asked(self, request: Request, directory: Path) -> tuple[Sequence[str], str]:
        """No tools, settings, servers, commands or session file of the user's; the instructions are an argument."""
        arguments = [
            *("-p", "--output-format", "json", "--json-schema", json.dumps(dict(request.schema))),
            *("--system-prompt", request.system, "--tools", "", "--no-session-persistence"),
            *("--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"),
            *(("--model", self._named) if self._named else ()),
        ]
        return arguments, request.user

    def read(self, request: Request, output: str, directory: Path) -> Answer:
        """The structured output, or the words if the program gives none."""
        result = json.loads(output)
        if result["is_error"]:
            reason = one_line(str(result.get("result") or result.get("subtype")))
            is_login = "login" in reason.lower() or result.get("api_error_status") in (401, 403)
            raise CallError(
                f"{self.place}: {reason}; {self.mend}", retry_after_s=None if is_login else 0.0, fatal=is_login
            )
        made = result.get("structured_output")
        text = json.dumps(made, ensure_ascii=False) if isinstance(made, dict) else str(result["result"])
        usage = result.get("usage") or {}
        cached = usage.get("cache_creation_input_tokens", 0), usage.get("cache_read_input_tokens", 0)
        stop = "length" if result.get("stop_reason") == "max_tokens" else "end"
        return counted_answer(request, text, stop, usage.get("input_tokens", 0), usage.get("output_tokens", 0), cached)


class Codex(CommandLine):
    """`codex exec`, with its final message kept to a schema."""

    name = "codex"
    command = "codex"
    mend = "install Codex and run 'codex login'"

    def asked(self, request: Request, directory: Path) -> tuple[Sequence[str], str]:
        """A read-only sandbox without a session file, servers, rules, web search or notice of the user's. It takes no
        instructions beside its own: ours stand before the data."""
        (directory / "schema.json").write_text(json.dumps(dict(request.schema)), encoding="utf-8")
        overrides = (
            "mcp_servers={}",
            "notify=[]",
            "project_doc_max_bytes=0",
            'history.persistence="none"',
            'web_search="disabled"',
        )
        arguments = [
            *("exec", "--ephemeral", "--sandbox", "read-only", "--skip-git-repo-check", "--ignore-rules"),
            *("--color", "never", "--json", "--output-schema", str(directory / "schema.json")),
            *("--output-last-message", str(directory / "answer.json")),
            *(part for override in overrides for part in ("-c", override)),
            *(("--model", self._named) if self._named else ()),
            "-",
        ]
        return arguments, f"{request.system}\n\n{request.user}"

    def read(self, request: Request, output: str, directory: Path) -> Answer:
        """The final message; tokens from the events."""
        usage: Mapping[str, Any] = {}
        for event in _events(output):
            if event.get("type") == "turn.completed":
                usage = event.get("usage") or {}
            elif event.get("type") in ("error", "turn.failed"):
                reason = event.get("message") or (event.get("error") or {}).get("message") or "the turn failed"
                is_login = "401" in str(reason) or "login" in str(reason).lower()
                raise CallError(
                    f"{self.place}: {one_line(str(reason))}; {self.mend}",
                    outcome="unknown",
                    retry_after_s=None if is_login else 0.0,
                    fatal=is_login,
                )
        answer = directory / "answer.json"
        if not answer.is_file():
            raise ValueError("no final message")
        text = answer.read_text(encoding="utf-8", errors="replace")
        return counted_answer(request, text, "end", usage.get("input_tokens", 0), usage.get("output_tokens", 0))


def _events(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event
