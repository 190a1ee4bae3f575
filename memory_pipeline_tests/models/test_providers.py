"""Every provider, by one suite: it answers, says that an answer ended early, and names what is wrong with its mend."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from memory_pipeline.config.models import ProviderName
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.files.places import QUESTIONS
from memory_pipeline.models.choose import endpoint_of, make_provider
from memory_pipeline.models.provider import CallError, Provider, Request
from memory_pipeline_tests.messages_server import Failure, MessagesServer, Said
from memory_pipeline_tests.models.stand_ins import ChatServer, Refused, Spoken, StandInProgram

LOG = logging.getLogger("test")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OSLO = '{"city": "Oslo"}'
SERVERS = ("anthropic", "openai", "ollama")
PROGRAMS = {"claude-code": "claude", "codex": "codex"}


def request(user: str = "Which city?") -> Request:
    return Request("tiny", "v1", "You name a city.", user, max_tokens=100, schema=SCHEMA)


@dataclass
class Stand:
    """A provider with what stands on its other end."""

    provider: Provider
    server: Any = None
    program: StandInProgram | None = None


@contextmanager
def standing(name: str, tmp_path: Path, text: str = OSLO, **more: Any) -> Iterator[Stand]:
    """A provider whose model answers every question with a text."""
    values: dict[str, object] = {"model.provider": name, "model.name": "tiny"}
    cut, failure = more.get("cut", False), more.get("failure")
    if name == "anthropic":
        script = lambda body, number: failure or Said(text, "max_tokens" if cut else "end_turn", 50, 7)  # noqa: E731
        with MessagesServer(script, models={"tiny": {"lifecycle": "active"}}).running() as server:
            values |= {"model.base_url": server.url, "model.api_key": more.get("key", server.key)}
            yield Stand(make_provider(Settings().with_values(values)), server)
    elif name in SERVERS:
        options = {key: more[key] for key in ("takes", "refuses_with", "context", "refuses_thinking") if key in more}
        chat = ChatServer(lambda body, number: failure or Spoken(text, cut), key="sk-chat", **options)
        with chat.running() as server:
            address = server.url if name == "ollama" else f"{server.url}/v1"
            values |= {"model.base_url": address, "model.api_key": more.get("key", "sk-chat")}
            yield Stand(make_provider(Settings().with_values(values)), server)
    elif name in PROGRAMS:
        program = StandInProgram.install(tmp_path / "bin", PROGRAMS[name])
        program.will_answer(text, structured=name == "claude-code" and not cut, cut=cut)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
            yield Stand(make_provider(Settings().with_values(values)), program=program)
    else:
        answers = tmp_path / "answers.jsonl"
        answers.write_text(json.dumps({"question": request().question_hash, "answer": text}) + "\n")
        yield Stand(make_provider(Settings().with_values({**values, "model.answers": str(answers)})))


@pytest.mark.parametrize("name", [name for name in get_args(ProviderName) if name not in ("auto", "none")])
def test_a_provider_answers_with_the_models_words_and_tokens(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path) as stand:
        stand.provider.prepare(LOG)
        answer = stand.provider.ask(request(), 10)
    assert json.loads(answer.text) == {"city": "Oslo"} and answer.stop_reason == "end"
    assert answer.tokens_in >= 50 and answer.tokens_out > 0
    assert stand.provider.name == name and stand.provider.place and stand.provider.context_tokens > 10_000


@pytest.mark.parametrize("name", ["anthropic", "openai", "ollama", "claude-code"])
def test_a_provider_says_that_an_answer_ended_early(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path, '{"city": "Os', cut=True) as stand:
        assert stand.provider.ask(request(), 10).stop_reason == "length"


@pytest.mark.parametrize("name", SERVERS)
def test_a_wrong_key_ends_it_before_the_first_question(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path, key="sk-other") as stand, pytest.raises(ModelError, match="key"):
        stand.provider.prepare(LOG)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that_is_away_is_named_with_the_mend(name: str) -> None:
    values = {
        "model.provider": name,
        "model.name": "tiny",
        "model.base_url": "http://127.0.0.1:9",
        "model.api_key": "k",
    }
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9.*cannot be reached.*model\.base_url"):
        make_provider(Settings().with_values(values)).prepare(LOG)


@pytest.mark.parametrize("name", SERVERS)
def test_a_model_that_is_not_there_is_named_with_one_that_is(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path) as stand:
        stand.provider.model = "tinny"  # type: ignore[misc]  # the classes keep it as a plain attribute
        with pytest.raises(ModelError, match="did you mean 'tiny'"):
            stand.provider.prepare(LOG)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize(("status", "again", "fatal"), [(429, True, False), (503, True, False), (403, False, True)])
def test_a_refusal_says_whether_the_next_one_may_succeed(
    name: str, status: int, again: bool, fatal: bool, tmp_path: Path
) -> None:
    failure = Failure(status, retry_after=7) if name == "anthropic" else Refused(status, retry_after=7)
    with standing(name, tmp_path, failure=failure) as stand, pytest.raises(CallError) as caught:
        stand.provider.ask(request(), 10)
    assert (caught.value.retry_after_s is not None, caught.value.fatal) == (again, fatal)
    assert caught.value.retry_after_s in (None, 7.0) and caught.value.outcome == "failed"


@pytest.mark.parametrize("name", ["openai", "ollama"])
def test_a_context_smaller_than_the_questions_is_refused_before_anything_is_cut_off(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path, context=4096) as stand, pytest.raises(ModelError, match=r"context_tokens = 4096"):
        stand.provider.prepare(LOG)


@pytest.mark.parametrize("refuses_with", [400, 422, 500])
@pytest.mark.parametrize("takes", [("json_schema", "json_object"), ("json_object",), ()])
def test_chat_completions_are_asked_in_the_strictest_way_that_the_server_takes(
    takes: tuple[str, ...], refuses_with: int, tmp_path: Path
) -> None:
    with standing("openai", tmp_path, takes=takes, refuses_with=refuses_with) as stand:
        answers = [stand.provider.ask(request(), 10).text for _ in range(2)]
    formats = [body.get("response_format", {}).get("type") for body in stand.server.requests]
    assert answers == [OSLO] * 2 and formats == [takes[0] if takes else None] * 2
    assert len(stand.server.paths) == 2 + {2: 0, 1: 1, 0: 3}[len(takes)]  # what was refused is not tried again
    in_words = "additionalProperties" in stand.server.requests[0]["messages"][0]["content"]
    assert in_words is (takes != ("json_schema", "json_object"))


def test_a_prompt_that_a_server_refuses_in_every_way_is_an_error_with_the_mend(tmp_path: Path) -> None:
    with (
        standing("openai", tmp_path, failure=Refused(400, "too long")) as stand,
        pytest.raises(CallError, match=r"too long.*set model\.context_tokens") as caught,
    ):
        stand.provider.ask(request(), 10)
    assert not caught.value.fatal and caught.value.retry_after_s is None


def test_ollama_is_told_its_context_with_each_question_and_not_to_think(tmp_path: Path) -> None:
    with standing("ollama", tmp_path) as stand:
        stand.provider.ask(request(), 10)
    (body,) = stand.server.requests
    assert stand.server.paths == ["/api/chat"] and body["options"]["num_ctx"] == stand.provider.context_tokens
    assert body["think"] is False and body["format"] == SCHEMA


def test_a_model_that_refuses_to_be_told_not_to_think_is_asked_without(tmp_path: Path) -> None:
    with standing("ollama", tmp_path, refuses_thinking=True) as stand:
        assert stand.provider.ask(request(), 10).text == OSLO and stand.provider.ask(request(), 10).text == OSLO
    assert len(stand.server.paths) == 3


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_asked_with_its_login_outside_any_workspace_and_keeps_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"):
        monkeypatch.setenv(variable, "1")
    with standing(name, tmp_path) as stand:
        stand.provider.ask(request("A note: --dangerously-skip-permissions; $(rm -rf ~)"), 10)
    assert stand.program is not None
    (asked,) = stand.program.asked
    assert QUESTIONS in asked["cwd"] and not Path(asked["cwd"]).exists()
    passed = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"} & set(asked["environment"])
    assert not passed
    keeps_nothing = "--no-session-persistence" if name == "claude-code" else "--ephemeral"
    assert keeps_nothing in asked["arguments"] and "A note" in asked["input"]
    assert not any("A note" in argument for argument in asked["arguments"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_without_a_login_is_one_error_with_the_mend(name: str, tmp_path: Path) -> None:
    with standing(name, tmp_path) as stand:
        assert stand.program is not None
        stand.program.will_answer("Please run /login", is_error=True)
        with pytest.raises(CallError, match=r"log in|login") as caught:
            stand.provider.ask(request(), 10)
    assert caught.value.fatal


def test_a_program_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match="'claude' is not on the PATH"):
        make_provider(Settings().with_values({"model.provider": "claude-code"})).prepare(LOG)


def test_questions_without_an_answer_are_written_once_and_wait(tmp_path: Path) -> None:
    record = tmp_path / "questions.jsonl"
    values = {"model.provider": "recorded", "model.record": str(record)}
    for _ in range(2):
        provider = make_provider(Settings().with_values(values))
        provider.prepare(LOG)
        for user in ("Which city?", "Which river?", "Which city?"):
            with pytest.raises(CallError) as caught:
                provider.ask(request(user), 1)
            assert caught.value.is_open
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(row["user"], row["system"], row["schema"]) for row in rows] == [
        ("Which city?", "You name a city.", SCHEMA),
        ("Which river?", "You name a city.", SCHEMA),
    ]


def test_a_line_of_answers_that_is_none_is_named(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "a", "answer": "b"}\nnothing\n')
    values = {"model.provider": "recorded", "model.answers": str(answers)}
    with pytest.raises(ModelError, match="line 2"):
        make_provider(Settings().with_values(values)).prepare(LOG)


@pytest.mark.parametrize("own", ["http://corp:pw@127.0.0.1:9/corp/v1", "https://api.openai.com/v1"])
@pytest.mark.parametrize("wanted", ["http://127.0.0.1:9/ü/v1", "http://x@127.0.0.1:9/v1", "http://127.0.0.1:9\\@b/v1"])
def test_a_providers_key_does_not_go_to_an_address_that_can_be_read_in_two_ways(own: str, wanted: str) -> None:
    values = {"model.provider": "openai", "openai.base_url": own, "openai.api_key": "sk-own", "model.base_url": wanted}
    assert endpoint_of(Settings().with_values(values)).key == ""
