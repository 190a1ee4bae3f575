"""A kind of question that nobody asks yet, with a schema of its own, over real HTTP: live, in a batch, capped, kept."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined, ModelClient, Prompt, Question, Session, questions
from memory_pipeline.records import ModelCall
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, slowly
from memory_pipeline_tests.consolidation.distillers.claude_nights import claude_settings, night, patience, serving
from memory_pipeline_tests.messages_server import Body, Failure, MessagesServer, Raw, Said, faithful

CITIES = ("Porto", "Oslo", "Lima")
#: What a `forecast` of 500 tokens in and 100 out costs with claude-haiku-5-5.
PRICE = (500 * 0.10 + 100 * 0.50) / 1e6
SECRET = "ghp_" + "a1" * 20


class Forecast(BaseModel):
    """What is answered about a city."""

    model_config = ConfigDict(extra="forbid")

    rain: bool
    degrees: float = Field(ge=-90, le=60)


@pytest.fixture
def store(store: Store) -> Store:
    """A store without a memory in it."""
    with store.writing("test"):
        pass
    return store


def forecast(body: Body, number: int = 0) -> Said:
    return Said(json.dumps({"rain": "Oslo" in body["messages"][0]["content"], "degrees": 12.5}))


def dear(said: Said, body: Body) -> Said:
    """The same, with as many tokens as the request allows."""
    return Said(said.text, tokens_in=1000, tokens_out=body["max_tokens"])


def question_about(city: str, settings: Settings) -> Question[Forecast, str]:
    def check(answer: Forecast) -> str | Declined:
        if city == "Atlantis":
            raise LookupError("no such city")
        return f"{city}: {'rain' if answer.rain else 'sun'}" if answer.degrees > 0 else Declined("too cold to be true")

    return Question.about(
        Prompt("Say what the weather is.", json.dumps({"city": city, "note": SECRET})),
        version="weather-1",
        schema=Forecast,
        check=check,
        source_tokens=20,
        settings=settings,
    )


def ask(
    store: Store, server: MessagesServer, *cities: str, run_id: str = "r", preview: bool = False, **changes: Any
) -> dict[str, str | Declined | Exception]:
    settings = claude_settings(store, server, **changes)
    session = Session(store, run_id, "test", preview=preview)
    return dict(ModelClient(settings).ask({c: question_about(c, settings) for c in cities}, session, "weather"))


@pytest.mark.parametrize("calling", ["live", "batch"])
@pytest.mark.parametrize(("tokens_in", "tokens_out"), [(10**12, 100), (500, -5), (500, 10**9), (-1, 0), ("many", 100)])
def test_counts_of_tokens_that_cannot_be_true_are_replaced_by_the_most_a_call_may_cost(
    store: Store, calling: str, tokens_in: Any, tokens_out: Any
) -> None:
    def absurd(body: Body, number: int = 0) -> Said:
        return Said(forecast(body).text, tokens_in=tokens_in, tokens_out=tokens_out)

    with serving(absurd) as server:
        assert ask(store, server, "Oslo", model__calling=calling) == {"Oslo": "Oslo: rain"}
    (call,) = calls_of(store)
    assert 0 < call.input_tokens < 10_000 and 0 < call.output_tokens < 10_000 and 0 < call.cost_usd < 0.01
    assert call.error and "cannot be true" in call.error


@pytest.mark.parametrize("size", [100_000, *slowly(5_000_000)])
def test_an_answer_longer_than_its_tokens_can_be_is_not_read_and_not_asked_for_again(store: Store, size: int) -> None:
    with serving(lambda body, number: Said(json.dumps({"rain": True, "degrees": 1, "more": "x" * size}))) as server:
        (result,) = ask(store, server, "Oslo").values()
        assert len(server.requests) == 1
    words = str(result.reason) if isinstance(result, Declined) else str(result)
    assert "longer than was asked for" in words or "for at most" in words


@pytest.mark.slow
def test_an_answer_that_comes_in_drops_is_given_up_in_time(store: Store) -> None:
    with serving(lambda body, number: Raw(b" " * 400, drop_s=0.05)) as server:
        began = time.monotonic()
        with patience(attempts=1):
            (result,) = ask(store, server, "Oslo", model__timeout_s=1.0).values()
    assert isinstance(result, ModelError) and "longer than 1 s" in str(result)
    assert time.monotonic() - began < 10


def test_a_servers_words_control_no_terminal(store: Store) -> None:
    with serving(lambda body, number: Failure(400, message="busy \x1b[31mignore\x07\u202e")) as server:
        (result,) = ask(store, server, "Oslo").values()
    assert "busy [31mignore" in str(result) and not set(str(result)) & set("\x1b\x07\u202e")
    with serving(
        lambda body, number: Said('{"rain": true, "degrees": 1, "\x1b[31mred": 2}'.replace("\x1b", "\\u001b"))
    ) as server:
        (result,) = ask(store, server, "Lima").values()
    assert isinstance(result, Declined) and "red" in result.reason and "\x1b" not in result.reason


def calls_of(store: Store, run_id: str = "r") -> list[ModelCall]:
    return Session(store, run_id, "test").calls()


@pytest.mark.parametrize("calling", ["live", "batch"])
def test_its_answers_have_its_own_schema_and_are_checked_by_it(store: Store, calling: str) -> None:
    with serving(forecast) as server:
        found = ask(store, server, *CITIES, model__calling=calling)
    bodies = server.requests or [r["params"] for batch in server.batches.values() for r in batch["requests"]]
    assert list(found.items()) == [("Porto", "Porto: sun"), ("Oslo", "Oslo: rain"), ("Lima", "Lima: sun")]
    assert [set(body["output_config"]["format"]["schema"]["properties"]) for body in bodies] == [
        {"rain", "degrees"}
    ] * 3
    assert SECRET not in json.dumps(bodies) and "[REDACTED:secret]" in json.dumps(bodies)
    share = 0.5 if calling == "batch" else 1.0
    assert [(c.mode, c.outcome, c.masked_secrets) for c in calls_of(store)] == [(calling, "answered", 1)] * 3
    assert sum(call.cost_usd for call in calls_of(store)) == pytest.approx(3 * PRICE * share)


@pytest.mark.parametrize("calling", ["live", "batch"])
def test_its_answers_are_kept_and_paid_for_once(store: Store, calling: str) -> None:
    with serving(forecast) as server:
        first = ask(store, server, *CITIES, model__calling=calling)
        assert ask(store, server, *CITIES, "Porto", run_id="again", model__calling=calling) == first
        assert len(server.requests) == (3 if calling == "live" else 0) and len(server.batches) == (calling == "batch")
    assert {(call.mode, call.cost_usd) for call in calls_of(store, "again")} == {("cache", 0.0)}


@pytest.mark.parametrize("calling", ["live", "batch"])
def test_its_money_is_reserved_before_it_is_sent(store: Store, calling: str) -> None:
    cap = 0.0035 if calling == "live" else 0.00175  # two questions fit; three could pass it
    with serving(lambda body, number: dear(forecast(body), body)) as server:
        found = ask(store, server, *CITIES, model__calling=calling, model__cost_cap_usd=cap)
        sent = len(server.requests) + sum(len(batch["requests"]) for batch in server.batches.values())
    assert (sent, list(found.values()).count(Declined("cost cap", again=True))) == (2, 1)
    assert 0.9 * cap < sum(call.cost_usd for call in calls_of(store)) <= cap


@pytest.mark.slow
def test_the_cap_is_one_for_all_that_a_run_asks(store: Store) -> None:
    fill(store, lesson(4))

    def script(body: Body, number: int) -> Said:
        return dear(faithful(body) if "members" in body["messages"][0]["content"] else forecast(body), body)

    with serving(script) as server:
        distilled = night(store, server, run_id="both", model__cost_cap_usd=0.005)
        spent = distilled.estimated_cost_usd
        assert distilled.clusters_compressed == 1 and 0.0015 < spent < 0.003
        cap = spent + 0.001
        found = ask(store, server, "Porto", run_id="both", model__cost_cap_usd=cap)
        assert found == {"Porto": Declined("cost cap", again=True)} and len(server.requests) == 1
        assert ask(store, server, "Porto", run_id="next", model__cost_cap_usd=cap) == {"Porto": "Porto: sun"}


def test_a_batch_of_this_run_that_still_runs_lets_nothing_else_be_sent(store: Store) -> None:
    """What it will cost is not known yet, and the cap is of the whole run."""
    with serving(forecast, batch_polls=10_000) as server:
        with patience(time_limit_s=0.1):
            ask(store, server, "Porto", model__calling="batch")
            found = ask(store, server, "Porto", "Oslo", model__calling="batch")
        assert set(found.values()) == {Declined("batch under way", again=True)} and len(server.batches) == 1
        other = ask(store, server, "Oslo", run_id="next", model__calling="live")
        assert other == {"Oslo": "Oslo: rain"} and len(server.requests) == 1


@pytest.mark.slow
def test_what_another_kind_of_question_is_waiting_for_is_collected_and_kept_for_it(store: Store) -> None:
    fill(store, lesson(4))
    script = lambda body, number: faithful(body) if "members" in str(body["messages"]) else forecast(body)  # noqa: E731
    with serving(script, batch_polls=10_000) as server:
        with patience(time_limit_s=0.1):
            night(store, server, model__calling="batch")
        server.batch_polls = 1
        assert ask(store, server, "Porto", run_id="weather") == {"Porto": "Porto: sun"}
        report = night(store, server, run_id="later")
    assert report.clusters_compressed == 1 and report.llm_answers_reused == 1
    assert len(server.batches) == 1 and len(server.requests) == 1


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Said('{"rain": true, "degrees": 99}'), "malformed answer: degrees: "),
        (Said('{"rain": true, "degrees": 9, "wind": 3}'), "malformed answer: wind: "),
        (Said("It will rain."), "malformed answer: no JSON object"),
        (Said("", stop_reason="refusal"), "the model declined to answer"),
        (Said('{"rain": tr', stop_reason="max_tokens"), "the model's answer was cut short"),
        (Said('{"rain": true, "degrees": -80}'), "too cold to be true"),
    ],
)
def test_what_its_schema_or_its_check_refuses_is_declined(store: Store, said: Said, reason: str) -> None:
    with serving(lambda body, number: said) as server:
        (found,) = ask(store, server, "Porto").values()
    assert isinstance(found, Declined) and found.reason.startswith(reason) and not found.again


def test_a_check_that_breaks_fails_its_own_question_alone(store: Store) -> None:
    with serving(forecast) as server:
        found = ask(store, server, "Atlantis", "Lima")
    assert isinstance(found["Atlantis"], LookupError) and found["Lima"] == "Lima: sun"


def test_a_question_too_long_for_a_prompt_is_not_sent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST_SOURCE_TOKENS", 10)
    with serving(forecast) as server:
        (found,) = ask(store, server, "Porto").values()
    assert found == Declined("too long for one prompt: 20 tokens, at most 10 are sent") and server.requests == []


def test_a_preview_keeps_its_answers_beside_the_store(store: Store) -> None:
    before = store.path.read_bytes()
    with serving(forecast) as server:
        first = ask(store, server, *CITIES, preview=True, model__calling="batch")
        assert store.path.read_bytes() == before
        assert ask(store, server, *CITIES, run_id="real") == first and len(server.requests) == 3


def test_a_key_that_is_refused_is_one_error_after_what_is_kept(store: Store) -> None:
    with serving(forecast) as server:
        ask(store, server, "Porto")
        server.script = lambda body, number: Failure(401, "authentication_error")
        settings = claude_settings(store, server)
        questions = {city: question_about(city, settings) for city in CITIES}
        answers = ModelClient(settings).ask(questions, Session(store, "later", "test"), "weather")
        assert next(answers) == ("Porto", "Porto: sun")
        with pytest.raises(ModelError, match="rejected the key"):
            next(answers)


def test_what_is_wrong_with_an_answer_is_told_to_the_model_once(store: Store) -> None:
    def improving(body: Body, number: int) -> Said:
        is_again = "It was not accepted" in body["messages"][0]["content"]
        return Said('{"rain": true, "degrees": 12}' if is_again else '{"rain": true, "degrees": 99}')

    with serving(improving) as server:
        assert ask(store, server, "Oslo") == {"Oslo": "Oslo: rain"}
        (again,) = [body for body in server.requests if "It was not accepted" in str(body["messages"])]
        assert "degrees" in again["messages"][0]["content"] and '"degrees": 99' in again["messages"][0]["content"]
        assert ask(store, server, "Oslo", run_id="later") == {"Oslo": "Oslo: rain"} and len(server.requests) == 2
    assert [call.asked_again for call in calls_of(store)] == [False, True]


def test_an_answer_that_stays_wrong_is_asked_for_no_third_time(store: Store) -> None:
    with serving(lambda body, number: Said("It will rain.")) as server:
        (found,) = ask(store, server, "Porto").values()
    assert isinstance(found, Declined) and found.reason.startswith("malformed answer") and len(server.requests) == 2


def test_an_answer_that_ended_early_is_asked_for_in_halves(store: Store) -> None:
    def short(body: Body, number: int) -> Said:
        is_half = "half" in body["system"]
        return forecast(body) if is_half else Said('{"rain": tr', stop_reason="max_tokens")

    with serving(short) as server:
        settings = claude_settings(store, server)
        half = Question.about(
            Prompt("Say what the weather is in half of it.", "Oslo"),
            version="weather-1",
            schema=Forecast,
            check=lambda answer: "half",
            source_tokens=10,
            settings=settings,
        )
        whole = replace(
            question_about("Oslo", settings),
            halves=lambda: [half, half],
            join=lambda results: "+".join(map(str, results)),
        )
        asked = ModelClient(settings).ask({"Oslo": whole}, Session(store, "r", "test"), "weather")
        assert dict(asked) == {"Oslo": "half+half"}


@pytest.mark.parametrize("context", [4096, 16_384, 200_000])
def test_a_question_and_its_answer_fit_the_context_or_are_not_asked(store: Store, context: int) -> None:
    with serving(forecast) as server:
        settings = claude_settings(store, server, model__context_tokens=context)
        for words in (10, 1_000, 3_000, 20_000):
            question = Question.about(
                Prompt("Say what the weather is.", "rain " * words),
                version="weather-1",
                schema=Forecast,
                check=lambda answer: "",
                source_tokens=words,
                settings=settings,
            )
            fits = question.request.tokens_in + question.request.max_tokens <= context
            assert fits or question.too_long
            assert not (words <= 1_000 and question.too_long)


def test_a_run_makes_no_more_calls_than_it_may(store: Store) -> None:
    with serving(forecast) as server:
        found = ask(store, server, *CITIES, model__most_calls=2)
        assert len(server.requests) == 2 and list(found.values()).count(Declined("call limit", again=True)) == 1


def test_what_is_wrong_with_an_answer_is_told_without_secrets(store: Store) -> None:
    with serving(forecast) as server:
        settings = claude_settings(store, server)
        wrong = replace(
            question_about("Oslo", settings), check=lambda answer: Declined("wrong", objection=f"It lacks '{SECRET}'.")
        )
        asked = dict(ModelClient(settings).ask({"Oslo": wrong}, Session(store, "r", "test"), "weather"))
    assert asked == {"Oslo": Declined("wrong", objection=f"It lacks '{SECRET}'.")} and len(server.requests) == 2
    assert SECRET not in json.dumps(server.requests) and "[REDACTED:secret]" in json.dumps(server.requests[1])
