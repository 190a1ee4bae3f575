"""What every request passes: host, origin, token, size; and the one form of errors."""

from __future__ import annotations

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from memory_pipeline.interfaces.api import app
from memory_pipeline.interfaces.api.access import Tokens
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, settings_for
from memory_pipeline_tests.interfaces.api.running import Client, running
from memory_pipeline_tests.interfaces.api.test_memories import SEARCH, told

QUERY = {"query": "payment gateway", "project_id": "p"}


@pytest.mark.parametrize("token", ["", "nonsense", "mpt_", "mpt_" + "x" * 43, "ü"])
def test_a_request_without_a_good_token_learns_nothing(client: Client, token: str) -> None:
    stranger = Client(client.url, client.store, "")
    headers = {"Authorization": f"Bearer {token}".encode()} if token else {}
    for method, path in (("POST", SEARCH), ("GET", "/nowhere"), ("DELETE", SEARCH)):
        answer = stranger.ask(method, path, headers=headers)
        assert told(answer, 401)["error"] == "unauthorized" and answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_is_refused_by_the_running_server(client: Client) -> None:
    from datetime import UTC, datetime

    other = client.as_("read")
    assert told(other.post(SEARCH, QUERY))
    tokens = Tokens(client.store.path)
    tokens.revoke(tokens.all()[-1].id, datetime.now(UTC))
    assert told(other.post(SEARCH, QUERY), 401)


def test_pages_of_other_origins_and_other_names_of_the_host_are_refused(client: Client) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = told(client.post(SEARCH, QUERY, headers=headers), 403)
        assert answer["error"] == "forbidden"
    assert "server.allowed_hosts" in told(client.get("/health", headers={"Host": "evil.example"}), 403)["message"]
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    assert not any(
        name.lower().startswith("access-control") for name in client.ask("OPTIONS", SEARCH, headers=asked).headers
    )


def test_errors_have_one_form(client: Client) -> None:
    assert told(client.get("/nowhere"), 404) == {"error": "not_found", "message": "there is nothing at this path"}
    wrong = client.ask("DELETE", SEARCH)
    assert told(wrong, 405)["error"] == "method_not_allowed" and "POST" in wrong.headers["Allow"]
    assert told(client.ask("POST", SEARCH, data=b"{", headers={"Content-Type": "application/json"}), 400)
    assert told(client.ask("POST", SEARCH, data=b"a=b"), 415)["error"] == "unsupported_media_type"
    assert told(client.get("/api/v1/atoms", params={"limit": "many"}), 422)["error"] == "invalid_request"


def test_a_large_body_is_refused_whether_or_not_it_says_how_large_it_is(client: Client) -> None:
    large = b" " * 30_000
    assert told(client.ask("POST", SEARCH, data=large), 413)["error"] == "too_large"
    assert told(client.ask("POST", SEARCH, data=iter([large[:15_000], large[15_000:]])), 413)


def test_a_client_that_sends_a_large_body_to_its_end_finds_the_answer(client: Client) -> None:
    place = urlsplit(client.url)
    connection = HTTPConnection(place.hostname or "", place.port, timeout=60)
    headers = {"Authorization": f"Bearer {client.token}", "Transfer-Encoding": "chunked"}
    connection.request("POST", SEARCH, iter([b" " * 1_000_000] * 20), headers, encode_chunked=True)
    assert connection.getresponse().status == 413


def test_an_unexpected_error_is_told_without_its_particulars(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(ProjectMemory, "search", fail)
    answer = told(client.post(SEARCH, QUERY), 500)
    assert answer["error"] == "internal" and "secret words" not in answer["message"]
    assert told(client.get("/health")) == {"status": "ok"}


def test_while_the_store_is_held_searches_are_answered_and_the_rest_is_told_when_to_ask_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, [candidate("The gateway restarts at night.", project_id="p")])
    monkeypatch.setattr(app, "_STORE_WAIT_S", 0.0)
    with running(settings_for(store), store) as client:
        told(client.post(SEARCH, QUERY))
        with store.held(shared=False):
            assert told(client.post(SEARCH, QUERY))["total_found"] == 1
            answer = client.get("/api/v1/playbook", params={"project_id": "p"})
            assert told(answer, 503)["error"] == "store_busy" and int(answer.headers["Retry-After"]) >= 1
            assert str(store.path.parent) not in answer.text
            assert told(client.get("/ready"), 503)["status"] == "not_ready"
        assert told(client.get("/ready"))["status"] == "ready"


def test_uses_of_memories_are_written_at_the_end(store: Store) -> None:
    fill(store, [candidate("The gateway restarts at night.", native_id="m")])
    with running(settings_for(store), store) as client:
        told(client.post(SEARCH, {"query": "when does the gateway restart"}))
    with store.reading() as tx:
        assert tx.memories.read(["m"])["m"].reuse_count == 1
