"""The routes about memories, over a real server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest
import requests

from memory_pipeline_tests.interfaces.api.running import Client

SEARCH = "/api/v1/consolidated-memories/search"


def told(answer: requests.Response, status: int = 200) -> Any:
    """The JSON of an answer that has this status."""
    assert answer.status_code == status, answer.text
    return answer.json()


def pattern(client: Client) -> dict[str, Any]:
    """The pattern of the project."""
    asked = {"query": "restart the payment gateway", "project_id": "p", "filters": {"levels": [2]}}
    (found,) = told(client.post(SEARCH, asked))["results"]
    return dict(found)


def test_a_search_has_the_fields_that_were_promised(client: Client) -> None:
    answer = told(client.post(SEARCH, {"query": "payment gateway", "project_id": "p", "include_sources": True}))
    assert list(answer) == ["results", "total_found", "search_time_ms"]
    promised = {
        "id", "content", "memory_type", "abstraction_level", "pattern_type", "confidence_score", "relevance_score",
        "source_memory_count", "tags", "created_at", "source_memories",
    }  # fmt: skip
    (first, *_) = answer["results"]
    assert promised <= set(first)
    made = next(one for one in answer["results"] if one["abstraction_level"] == 2)
    assert {"id", "summary", "similarity"} == set(made["source_memories"][0])


def test_a_search_says_why_if_it_is_asked(client: Client) -> None:
    asked = {"query": "payment gateway", "project_id": "p"}
    (plain, *_) = told(client.post(SEARCH, asked))["results"]
    (explained, *_) = told(client.post(SEARCH, {**asked, "explain": True}))["results"]
    assert "explanation" not in plain
    assert explained["explanation"]["words"] > 0 and explained["explanation"]["terms"]


def test_a_memory_and_its_lineage_are_read_by_its_id(client: Client) -> None:
    made = pattern(client)
    read = told(client.get(f"/api/v1/consolidated-memories/{made['id']}", params={"project_id": "p"}))
    assert read["content"] == made["content"] and len(read["source_memories"]) == read["source_memory_count"] > 1
    line = told(client.get(f"/api/v1/consolidated-memories/{made['id']}/lineage", params={"project_id": "p"}))
    assert line["raw_sources"] and {edge["memory_id"] for edge in line["edges"]} == {made["id"]}


def test_a_context_has_the_fields_that_were_promised_and_keeps_to_its_budget(client: Client) -> None:
    asked = {"task": "restart the payment gateway", "project_id": "p", "budget": 200}
    answer = told(client.post("/api/v1/consolidated-context", asked))
    assert list(answer) == [
        "consolidated_memories", "playbook_entries", "recommendations", "abstraction_distribution",
    ]  # fmt: skip
    levels = [one["abstraction_level"] for one in answer["consolidated_memories"]]
    assert {level: levels.count(int(level)) for level in "0123"} == answer["abstraction_distribution"]
    whole = told(client.post("/api/v1/context", asked))
    assert 0 < whole["tokens"] <= 200 and whole["text"]
    first = whole["items"][0]
    read = told(client.get(f"/api/v1/consolidated-memories/{first['handle']}", params={"project_id": "p"}))
    assert read["id"] == first["id"] and f" ^{first['handle']}" in whole["text"]


def test_what_is_written_is_found_at_once_with_its_secrets_masked(client: Client) -> None:
    words = "The coffee machine of the office is descaled monthly; password=hunter2secret."
    writer = client.as_("read", "write", projects=("office",))
    first = told(writer.post("/api/v1/memories", {"content": words, "id": "notes/a b#1"}), 201)
    assert (first["status"], first["masked"], first["memory"]["project_id"]) == ("created", {"secret": 1}, "office")
    assert told(writer.post("/api/v1/memories", {"content": words, "id": "notes/a b#1"}))["status"] == "unchanged"
    (found,) = told(writer.post(SEARCH, {"query": "when is the coffee machine descaled"}))["results"]
    assert found["id"] == "notes/a b#1" and "hunter2secret" not in found["content"]
    place = quote(found["id"], safe="")
    assert told(writer.get(f"/api/v1/consolidated-memories/{place}"))["content"] == found["content"]
    said = told(writer.post(f"/api/v1/memories/{place}/feedback", {"was_useful": True}))
    assert said["useful_count"] == 1
    with client.store.reading() as tx:
        assert {event.actor for event in tx.history.of("notes/a b#1")} == {f"token:t{_number(client) - 1}"}


def _number(client: Client) -> int:
    from memory_pipeline.interfaces.api.access import Tokens

    return len(Tokens(client.store.path).all())


def test_nothing_of_a_project_reaches_a_token_that_is_not_good_for_it(client: Client) -> None:
    made, stranger = pattern(client)["id"], client.as_("read", "write", projects=("home",))
    for answer in (
        stranger.post(SEARCH, {"query": "payment gateway", "project_id": "p"}),
        stranger.get(f"/api/v1/consolidated-memories/{made}", params={"project_id": "p"}),
        stranger.post("/api/v1/memories", {"content": "Mine.", "project_id": "p"}),
        stranger.get("/api/v1/playbook", params={"project_id": "nowhere"}),
    ):
        assert told(answer, 403)["error"] == "forbidden"
    for path in (made, f"{made}/lineage"):
        assert told(stranger.get(f"/api/v1/consolidated-memories/{path}"), 404)["error"] == "not_found"
    assert told(stranger.post(f"/api/v1/memories/{made}/feedback", {"was_useful": True}), 404)
    assert told(stranger.post(SEARCH, {"query": "payment gateway"}))["results"] == []


def test_a_request_that_may_mean_several_projects_names_one(client: Client) -> None:
    answer = told(client.post(SEARCH, {"query": "payment gateway"}), 409)
    assert answer["error"] == "project_needed" and "home" in answer["message"]
    assert told(client.get("/api/v1/playbook", params={"project_id": "nowhere"}), 404)["error"] == "not_found"


def test_reading_and_writing_are_scopes_of_their_own(client: Client) -> None:
    reader, writer = client.as_("read", projects=("p",)), client.as_("write", projects=("p",))
    assert told(reader.post("/api/v1/memories", {"content": "Mine."}), 403)["error"] == "forbidden"
    assert told(writer.post(SEARCH, {"query": "payment gateway"}), 403)["error"] == "forbidden"
    assert told(reader.get("/api/v1/playbook")) and told(reader.get("/api/v1/atoms"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"query": "ab"}, "query"),
        ({"query": "   a   "}, "query"),
        ({"query": "gateway", "limit": 101}, "limit"),
        ({"query": "gateway", "limit": "5"}, "limit"),
        ({"query": "gateway", "limit": True}, "limit"),
        ({"query": "gateway", "limits": 5}, "limits"),
        ({"query": "gateway", "filters": {"levels": [7]}}, "filters.levels"),
        ({"query": "gateway", "filters": {"since": "2026-03-02", "until": "2026-03-01"}}, "swap them"),
        ({}, "query"),
        ([], "object"),
    ],
)
def test_a_wrong_field_is_named(client: Client, body: Any, said: str) -> None:
    answer = told(client.post(SEARCH, body), 422)
    assert answer["error"] == "invalid_request" and said in answer["message"]


def test_filters_are_read_as_they_are_written_in_json(client: Client) -> None:
    filters = {"levels": [0], "memory_types": ["other", "lesson"], "since": "2026-03-01", "until": "2026-12-31"}
    assert told(client.post(SEARCH, {"query": "payment gateway", "project_id": "p", "filters": filters}))


def test_filters_may_stand_beside_the_query(client: Client) -> None:
    body = {"query": "payment gateway", "project_id": "p"}
    found = told(client.post(SEARCH, {**body, "abstraction_levels": [0], "memory_types": ["lesson"]}))["results"]
    assert found and {(one["abstraction_level"], one["memory_type"]) for one in found} == {(0, "lesson")}
    assert told(client.post(SEARCH, {**body, "pattern_types": ["gotcha"]}))["results"] == []
    same = {**body, "memory_types": ["lesson"], "filters": {"memory_types": ["lesson"], "levels": [0]}}
    assert told(client.post(SEARCH, same))["results"] == found
    answer = told(client.post(SEARCH, {**same, "abstraction_levels": [1]}), 422)
    assert "levels and filters.levels are different" in answer["message"]


def test_a_first_day_beside_the_query_may_not_come_after_the_last_day_in_the_filters(client: Client) -> None:
    body = {"query": "payment gateway", "project_id": "p", "since": "2026-02-02"}
    assert told(client.post(SEARCH, {**body, "archived": True, "until": "2026-12-31"}))["results"]
    answer = told(client.post(SEARCH, {**body, "filters": {"until": "2026-02-01"}}), 422)
    assert "swap them" in answer["message"]


def test_a_task_has_two_names(client: Client) -> None:
    for path in ("/api/v1/context", "/api/v1/consolidated-context"):
        task = "restart the payment gateway"
        answers = [told(client.post(path, {name: task, "project_id": "p"})) for name in ("task", "task_description")]
        assert answers[0] == answers[1]
    told(client.post("/api/v1/context", {"task": task, "task_description": task, "project_id": "p"}), 422)


def test_what_cannot_be_remembered_is_refused(client: Client) -> None:
    for fields in ({"importance": 3}, {"created_at": "2999-01-01T00:00:00Z"}, {"memory_type": "gossip"}, {"id": " x"}):
        answer = told(client.post("/api/v1/memories", {"content": "Words.", "project_id": "p", **fields}), 422)
        assert answer["error"] == "invalid_request"


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "0100-06-01T12:00:00Z", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_no_memory_can_have_is_refused_with_its_field(client: Client, at: str) -> None:
    answer = told(client.post("/api/v1/memories", {"content": "Words.", "project_id": "p", "created_at": at}), 422)
    assert "created_at" in answer["message"] and "before 2000 or in the future" in answer["message"]


def test_the_usage_of_a_session_is_kept_and_replaced(client: Client) -> None:
    path = "/api/v1/sessions/s-1/usage"
    for tokens in (120_000, 190_000):
        answer = told(client.post(path, {"tokens_used": tokens, "project_id": "p"}))
        assert (answer["window_tokens"], answer["share"]) == (200_000, tokens / 200_000)
    with client.store.reading() as tx:
        usage = tx.sessions.usage("p", "s-1")
        assert usage is not None and usage.tokens_used == 190_000
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_many_writes_and_reads_at_once_lose_nothing(client: Client) -> None:
    def write(n: int) -> str:
        return str(told(client.post("/api/v1/memories", {"content": f"Shelf {n} holds box {n}.", **ours}), 201)["id"])

    def use(_: int) -> None:
        told(client.post("/api/v1/memories/piano/feedback", {"was_useful": True, "project_id": "home"}))
        told(client.post(SEARCH, {"query": "what does the shelf hold", **ours}))

    ours = {"project_id": "storage"}
    told(
        client.post(
            "/api/v1/memories", {"content": "The storage room is in the cellar.", **ours, "create_project": True}
        ),
        201,
    )
    with ThreadPoolExecutor(32) as pool:
        written, used = [pool.submit(write, n) for n in range(16)], [pool.submit(use, n) for n in range(16)]
        ids = {one.result() for one in written}
        assert [one.result() for one in used] == [None] * 16
    with client.store.reading() as tx:
        assert len(ids) == 16 and len(tx.memories.read(list(ids))) == 16
        assert tx.memories.read(["piano"])["piano"].useful_count == 16


def test_a_mistyped_project_begins_none_beside_the_others(client: Client) -> None:
    words = {"content": "The gateway has two nodes.", "project_id": "shpo"}
    assert told(client.post("/api/v1/memories", words), 404)["error"] == "not_found"
    assert told(client.post("/api/v1/memories", {**words, "create_project": True}), 201)["status"] == "created"
