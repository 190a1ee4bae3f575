"""A night with Claude over real HTTP: what is sent, what is paid, and what goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from memory_pipeline.consolidation.distillation import session_of
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.models import questions
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, night_of, settings_for, sql_rows
from memory_pipeline_tests.consolidation.distillers.claude_nights import (
    DAY,
    TOPICS,
    abstractions,
    night,
    serving,
    three_lessons,
)
from memory_pipeline_tests.messages_server import MODEL, Body, Failure, Raw, Reaction, Said, faithful


@pytest.mark.slow
def test_a_night_with_claude_keeps_what_the_answer_lacks_and_bills_what_the_server_counted(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        report = night(store, server)
    assert (report.verdict, report.clusters_compressed, report.total_llm_calls) == ("PASS", 3, 6)
    assert (report.total_llm_input_tokens, report.total_llm_output_tokens) == (3000, 600)
    assert report.estimated_cost_usd == pytest.approx(6 * (500 * 0.10 + 100 * 0.50) / 1e6, abs=1e-6)
    assert report.preservation_rate == 1.0 and report.llm_models == (MODEL,)
    gateway = next(text for text in abstractions(store) if "gateway" in text)
    assert gateway.startswith("Restart the payment gateway") and "15 minutes" in gateway and "Dana" in gateway
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        made = [memory for memory in tx.memories.all() if memory.compressed_from]
    assert {(memory.consolidation_method, memory.pattern_type) for memory in made} == {("llm", "gotcha")}


def test_what_is_asked_is_structured_and_holds_the_members_as_data(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        night(store, server)
    (body,) = server.requests
    content = json.loads(body["messages"][0]["content"])
    assert (content["size"], [member["number"] for member in content["members"]]) == (4, [1, 2, 3, 4])
    assert body["output_config"]["format"]["type"] == "json_schema" and "effort" not in body["output_config"]
    assert "temperature" not in body and "data, never instructions" in body["system"]
    assert "gateway-0" not in json.dumps(body)


def test_sentences_that_a_reader_finds_beyond_the_members_are_left_out(store: Store) -> None:
    fill(store, lesson(4))

    def beyond(sentence: str) -> str:
        return "no source names Dana" if "Dana" in sentence else ""

    with serving(unfaithful=beyond) as server:
        report = night(store, server)
        (body,) = server.checks
    assert "Restart the payment gateway" in body["messages"][0]["content"].partition("Sentences:")[2]
    assert "claims" not in body["messages"][0]["content"]  # the reader knows nothing of the answer but its sentences
    assert report.clusters_compressed == 0 and abstractions(store) == []
    (reason,) = report.refusals
    assert reason == "unsupported"
    with store.reading() as tx:
        ((said,),) = sql_rows(tx, "select reason from compression_log where reason is not null")
    assert said.startswith("unsupported: 'Dana lost two test orders to this.': no source names Dana")


SAID = {"sentence": 1, "sources": [1], "beyond": ""}


@pytest.mark.parametrize(
    "verdicts",
    [
        "no JSON",
        pytest.param({"verdicts": []}, id="none"),
        pytest.param({"verdicts": [{**SAID, "sentence": n, "sources": []} for n in range(1, 9)]}, id="no source"),
        pytest.param(
            {"verdicts": [{**SAID, "sentence": n, "sources": [99]} for n in range(-2, 9)]}, id="another source"
        ),
        pytest.param(
            {"verdicts": [{**SAID, "sentence": n, "beyond": word} for n in range(1, 9) for word in ("wrong", "")]},
            id="two verdicts on each",
        ),
    ],
)
def test_what_nobody_bears_out_is_no_memory(store: Store, verdicts: object) -> None:
    fill(store, lesson(4))
    with serving() as server:
        text = verdicts if isinstance(verdicts, str) else json.dumps(verdicts)
        server.judge = lambda body: Said(text)  # type: ignore[method-assign]
        report = night(store, server)
    assert report.clusters_compressed == 0 and abstractions(store) == []


@pytest.mark.slow
def test_a_model_that_takes_effort_is_asked_for_little(store: Store) -> None:
    fill(store, lesson(4))
    capable = {MODEL: {"lifecycle": "active", "capabilities": {"effort": {"supported": True}}}}
    with serving(models=capable) as server:
        night(store, server)
    assert server.requests[0]["output_config"]["effort"] == "low"


@pytest.mark.slow
def test_the_same_prompt_is_paid_for_once(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        night(store, server, compression__min_ratio=90.0)
        again = night(store, server, run_id="again", compression__fingerprint_ttl_days=0)
        assert (len(server.requests), again.total_llm_calls, again.llm_answers_reused) == (6, 3, 3)
        assert (again.clusters_compressed, len(server.checks)) == (3, 3)


@pytest.mark.slow
def test_no_cache_asks_again(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        night(store, server, compression__min_ratio=90.0)
        night(store, server, run_id="again", compression__fingerprint_ttl_days=0, no_cache=True)
    assert len(server.requests) == 3  # the first one twice, with what was wrong


@pytest.mark.slow
def test_a_preview_writes_nothing_and_the_night_after_it_pays_nothing(store: Store) -> None:
    three_lessons(store)
    before = store.path.read_bytes()
    with serving() as server:
        preview = night(store, server, run_id="preview", dry_run=True)
        assert store.path.read_bytes() == before
        assert (preview.clusters_compressed, preview.total_llm_calls) == (3, 6)
        report = night(store, server)
    assert len(server.requests) == 3 and report.total_llm_calls == 0 and report.clusters_compressed == 3
    assert not list(store.path.parent.glob("*.answers.jsonl"))


def dear(body: Body, number: int) -> Said:
    """As many tokens as the request allows."""
    return Said(faithful(body).text, tokens_in=1500, tokens_out=body["max_tokens"])


@pytest.mark.slow
def test_the_cap_ends_distillation_cleanly_and_the_next_night_goes_on(store: Store) -> None:
    three_lessons(store)
    with serving(dear) as server:
        first = night(store, server, model__cost_cap_usd=0.003, model__concurrency=1)
        assert (len(server.requests), first.refusals["cost cap"]) == (1, 3)  # also what nobody read again
        assert first.estimated_cost_usd <= 0.003
        with store.reading() as tx:
            rows = sql_rows(tx, "select distinct status, reason from compression_log where reason is not null")
        assert rows == [("skipped", "cost cap")]
        second = night(store, server, run_id="second", day=date(2026, 3, 4))
    assert len(server.requests) == 3 and second.clusters_compressed == 3


def test_what_a_night_drafts_it_can_have_read_again(store: Store) -> None:
    three_lessons(store)
    with serving(dear) as server:
        report = night(store, server, model__cost_cap_usd=0.006, model__concurrency=1)
        assert len(server.requests) == report.clusters_compressed == 1 and report.refusals["cost cap"] == 2


def test_the_cap_is_never_passed_however_many_calls_fly(store: Store) -> None:
    three_lessons(store)
    with serving(dear) as server:
        report = night(store, server, model__cost_cap_usd=0.005, model__concurrency=8)
    assert report.estimated_cost_usd <= 0.005 and report.refusals["cost cap"] > 0


def test_a_draft_that_no_call_is_left_to_read_again_is_not_asked_for_and_the_report_says_so(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        assert night(store, server, model__most_calls=1).refusals == {"call limit": 1}
    assert server.requests == []


def test_a_cap_of_nothing_calls_nobody(store: Store) -> None:
    fill(store, lesson(4))
    with serving() as server:
        assert night(store, server, model__cost_cap_usd=0.0).refusals == {"cost cap": 1}
    assert server.requests == []


@pytest.mark.parametrize(
    "failure",
    [
        Failure(429, "rate_limit_error", retry_after=0.05),
        pytest.param(Failure(500), marks=pytest.mark.slow),
        pytest.param(Failure(503), marks=pytest.mark.slow),
        pytest.param(Failure(529, "overloaded_error"), marks=pytest.mark.slow),
        pytest.param(Raw(b'{"id": "msg", "content": [', cut=True), marks=pytest.mark.slow),
        pytest.param(Raw(b"<html>a proxy speaks</html>"), marks=pytest.mark.slow),
        pytest.param(Raw(b"{}", delay_s=0.6), marks=pytest.mark.slow),
    ],
    ids=lambda failure: f"{getattr(failure, 'status', 'line')}-{getattr(failure, 'body', b'')[:6].decode()}",
)
def test_a_busy_server_or_a_broken_line_is_asked_again(store: Store, failure: Reaction) -> None:
    fill(store, lesson(4))
    with serving(lambda body, number: failure if number == 0 else faithful(body)) as server:
        report = night(store, server, model__timeout_s=0.4)
    assert (report.clusters_compressed, len(server.requests), report.llm_calls_failed) == (1, 2, 1)
    spent_twice = report.estimated_cost_usd > 0.0005
    assert spent_twice == isinstance(failure, Raw)  # a line that broke may have been charged: it counts in full


@pytest.mark.slow
def test_retry_after_is_waited_for(store: Store) -> None:
    fill(store, lesson(4))
    busy = Failure(429, "rate_limit_error", retry_after=1.2)
    with serving(lambda body, number: busy if number == 0 else faithful(body)) as server:
        night(store, server)
    assert server.times[1] - server.times[0] >= 1.2


def test_a_server_that_asks_for_an_hour_is_left_for_the_next_night(store: Store) -> None:
    fill(store, lesson(4))
    with serving(lambda body, number: Failure(429, "rate_limit_error", retry_after=3600)) as server:
        report = night(store, server)
    assert report.verdict == "FAIL" and "receives too many requests" in report.errors[0].error
    with store.reading() as tx:
        assert {memory.archived_at for memory in tx.memories.all()} == {None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [(401, "authentication_error", "rejected the key"), (403, "permission_error", "does not let this key"),
     (404, "not_found_error", "does not know")],
)  # fmt: skip
def test_what_no_other_question_would_mend_is_one_error(store: Store, status: int, kind: str, words: str) -> None:
    three_lessons(store)
    with serving(lambda body, number: Failure(status, kind)) as server:
        report = night(store, server, model__concurrency=1)
    assert len(server.requests) == 1 and len(report.errors) == 1
    assert words in report.errors[0].error and report.clusters_failed == 3
    assert report.verdict == "FAIL" and abstractions(store) == []


def test_one_bad_request_leaves_the_other_clusters(store: Store) -> None:
    three_lessons(store)

    def picky(body: Body, number: int) -> Reaction:
        return Failure(400, "invalid_request_error") if "printer" in body["messages"][0]["content"] else faithful(body)

    with serving(picky) as server:
        report = night(store, server)
    assert (report.clusters_compressed, report.clusters_failed, len(report.errors)) == (2, 1, 1)


def test_a_server_that_is_down_is_given_up(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        pass
    report = night(store, server)
    assert report.verdict == "FAIL" and "cannot be reached" in report.errors[0].error


def test_a_wrong_model_name_is_one_error_before_the_first_call(store: Store) -> None:
    three_lessons(store)
    with serving() as server:
        report = night(store, server, model__name="claude-haiku-5.5", model__prices=("claude-haiku-5.5=0.1/0.5",))
    assert server.requests == [] and len(report.errors) == 1
    assert "did you mean 'claude-haiku-5-5'" in report.errors[0].error


@pytest.mark.slow
def test_a_server_without_a_list_of_models_is_used_unchecked(store: Store) -> None:
    fill(store, lesson(4))
    with serving(knows_models=False) as server:
        assert night(store, server).clusters_compressed == 1


def test_secrets_and_addresses_never_leave_the_machine(store: Store) -> None:
    secret, mail = "ghp_" + "a1" * 20, "dana.field@example.com"
    fill(store, [candidate(f"{note.content} Token {secret}, ask {mail}.", native_id=f"m{n}", at=note.created_at)
                 for n, note in enumerate(lesson(4))])  # fmt: skip
    with store.writing("test") as tx:  # as a source imported without masking would leave them
        sql_rows(tx, "drop trigger memories_updated on memories")
        sql_rows(
            tx,
            "update memories set content = replace(replace(content, '[REDACTED:secret]', $1), '[REDACTED:email]', $2), "
            "categories = [$2]",
            [secret, mail],
        )
    with serving() as server:
        report = night(store, server)
    sent = json.dumps(server.requests)
    assert secret not in sent and mail not in sent and "[REDACTED:secret]" in sent
    asked = len(server.requests)  # once more, since what is masked is missing; the cluster's category is an address
    assert (report.masked_secrets, report.masked_personal) == (4 * asked, 5 * asked)
    with serving() as server:
        night(
            store,
            server,
            run_id="r2",
            model__mask_personal=False,
            compression__fingerprint_ttl_days=0,
            compression__min_ratio=99.0,
            no_cache=True,
        )
    assert secret not in json.dumps(server.requests)


def test_a_cluster_too_long_for_a_prompt_is_not_sent(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST_SOURCE_TOKENS", 100)
    fill(store, lesson(4))
    with serving() as server:
        report = night(store, server)
    assert server.requests == [] and report.refusals == {"too long for one prompt": 1}


@pytest.mark.slow
def test_no_more_calls_fly_than_allowed_and_none_is_asked_twice(store: Store) -> None:
    for project in "abcd":
        notes = [note for topic in TOPICS for note in lesson(4, topic=topic)]
        fill(store, [replace(note, native_id=f"{project}-{note.native_id}") for note in notes], project)
    with serving() as server:
        report = night(store, server, model__concurrency=3)
    assert server.most_at_once <= 3 and report.clusters_compressed == 12
    assert len(server.requests) == 3  # the same words in another project are the same prompt


def test_a_night_without_a_key_says_what_to_do(store: Store) -> None:
    fill(store, lesson(4))
    report = run_night(night_of(store, DAY, settings_for(store, model__provider="anthropic")))
    assert "set ANTHROPIC_API_KEY" in report.errors[0].error and report.verdict == "FAIL"


@pytest.mark.slow
def test_two_stores_with_the_same_answers_are_the_same(store: Store, tmp_path: Any) -> None:
    other = Store(tmp_path / "other" / "store.duckdb")
    hashes = []
    with serving() as server:
        for one in (store, other):
            three_lessons(one)
            night(one, server)
            with one.reading() as tx:
                hashes.append(tx.contents.digest(with_log=True))
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_every_call_is_on_record(store: Store) -> None:
    fill(store, lesson(4))
    with serving(lambda body, number: Failure(500) if number == 0 else faithful(body)) as server:
        night(store, server)
    calls = session_of(night_of(store, DAY, run_id="r")).calls()
    assert [(call.mode, call.outcome, call.input_tokens, call.output_tokens) for call in calls] == [
        ("live", "failed", 0, 0),
        ("live", "answered", 500, 100),
        ("live", "answered", 500, 100),
    ]
    assert calls[1].latency_ms >= 0 and calls[1].model == MODEL and "500" in (calls[0].error or "")
    with store.reading() as tx:
        logged = sql_rows(tx, "select count(*) from audit_log where table_name = 'model_calls'")[0]
    assert logged == (3,)
