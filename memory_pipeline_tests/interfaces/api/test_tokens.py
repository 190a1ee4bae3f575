"""Tokens: what they allow, when they end, and that nobody can read them from the file."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.errors import InputError, NotFoundError, OutputError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.interfaces.api.access import PREFIX, Access, ForbiddenError, ProjectNeededError, Tokens, token_path
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill
from memory_pipeline_tests.interfaces.in_process import command

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def tokens(store: Store) -> Tokens:
    return Tokens(store.path)


def test_a_token_allows_what_it_was_made_for(tokens: Tokens) -> None:
    made = tokens.create("agent", ["write", "read"], ["shop"], NOW)
    assert made.token.startswith(PREFIX) and made.scopes == ("read", "write")
    allowed = tokens.access(made.token, NOW)
    assert allowed == Access("token:agent", frozenset({"read", "write"}), frozenset({"shop"}))
    assert tokens.access(made.token[:-1], NOW) is None
    assert tokens.access("", NOW) is None


def test_the_file_holds_no_token_and_is_for_its_owner_alone(tokens: Tokens, store: Store) -> None:
    made = tokens.create("agent", ["read"], None, NOW)
    path = token_path(store.path)
    assert made.token.removeprefix(PREFIX) not in path.read_text()
    for file in (path, path.with_suffix(".lock")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_others_can_change_is_refused(tokens: Tokens, store: Store) -> None:
    made = tokens.create("agent", ["read"], None, NOW)
    token_path(store.path).chmod(0o666)
    with pytest.raises(InputError, match="chmod 600"):
        Tokens(store.path).access(made.token, NOW)


def test_a_damaged_file_is_named(tokens: Tokens, store: Store) -> None:
    path = token_path(store.path)
    path.write_text("{")
    path.chmod(0o600)
    with pytest.raises(InputError, match=r"tokens\.json' is not a file of tokens"):
        tokens.all()


def test_a_token_ends_when_it_expires_or_is_revoked_elsewhere(tokens: Tokens, store: Store) -> None:
    short = tokens.create("short", ["read"], None, NOW, NOW + timedelta(days=1))
    long = tokens.create("long", ["read"], None, NOW)
    assert tokens.access(short.token, NOW + timedelta(days=1)) is None
    assert tokens.access(long.token, NOW + timedelta(days=1)) is not None
    assert Tokens(store.path).revoke("long", NOW).revoked_at == NOW
    assert tokens.access(long.token, NOW) is None
    assert tokens.any_good(NOW) and not tokens.any_good(NOW + timedelta(days=1))


def test_a_name_can_be_used_again_once_its_token_is_revoked(tokens: Tokens) -> None:
    first = tokens.create("agent", ["read"], None, NOW)
    with pytest.raises(InputError, match="there is a token 'agent' already"):
        tokens.create("agent", ["read"], None, NOW)
    tokens.revoke(first.id[:4], NOW)
    second = tokens.create("agent", ["read"], None, NOW)
    assert tokens.access(first.token, NOW) is None and tokens.access(second.token, NOW) is not None
    assert [one.id for one in tokens.all()] == [first.id, second.id]


@pytest.mark.slow
def test_tokens_made_at_the_same_time_are_all_kept(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: Tokens(store.path).create(f"t{n}", ["read"], None, NOW), range(16)))
    assert {one.id for one in Tokens(store.path).all()} == {one.id for one in made}


@pytest.mark.parametrize(
    ("name", "scopes", "projects", "said"),
    [
        ("a b", ["read"], None, "letters, digits"),
        ("a", ["root"], None, "no scope 'root'"),
        ("a", [], None, "use read, write, admin"),
        ("a", ["read"], [], "name the projects"),
    ],
)
def test_a_wrong_token_is_refused_by_name(
    tokens: Tokens, name: str, scopes: list[str], projects: list[str] | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        tokens.create(name, scopes, projects, NOW)


def test_a_request_is_for_one_project_that_its_token_allows(store: Store) -> None:
    fill(
        store, [candidate("The gateway restarts at night."), candidate("Piano on Tuesday.", project_id="home")], "shop"
    )
    everything = Access("token:a", frozenset({"read"}))
    one = Access("token:b", frozenset({"read"}), frozenset({"shop"}))
    assert one.choose_project(store, None) == "shop"
    assert everything.choose_project(store, "home") == "home"
    assert Access("token:c", frozenset(), frozenset({"home", "office"})).choose_project(store, None) == "home"
    with pytest.raises(ProjectNeededError, match="home, shop"):
        everything.choose_project(store, None)
    for unknown in ("home", "nowhere"):
        with pytest.raises(ForbiddenError, match=f"not good for the project '{unknown}'"):
            one.choose_project(store, unknown)
    with pytest.raises(NotFoundError, match="no project 'nowhere'; use home, shop"):
        everything.choose_project(store, "nowhere")
    assert everything.choose_project(store, "nowhere", may_be_new=True) == "nowhere"
    with pytest.raises(NotFoundError, match="none can begin with it"):
        everything.choose_project(store, "no\x01where", may_be_new=True)
    with pytest.raises(ForbiddenError, match="needs a token with the scope 'admin'; yours has read"):
        one.require("admin")


def test_no_command_writes_over_the_tokens(store: Store) -> None:
    for name in ("store.tokens.json", "store.tokens.lock"):
        with pytest.raises(OutputError, match="belongs to the store"):
            check_is_free(store.path.with_name(name), store.path)


@pytest.mark.usefixtures("in_home")
def test_tokens_on_the_command_line(data: Path) -> None:
    made = command("token", "create", "agent", "--project", "p", "--expires-in", "30", "--json")
    secret = json.loads(made.out)["token"]
    listed = command("token", "list")
    assert secret not in listed.out and " agent " in listed.out and " good" in listed.out
    assert command("token", "revoke", "agent").out == "The token 'agent' is revoked.\n"
    assert "revoked" in command("token", "list").out
    assert command("token", "revoke", "agent").code == 1
    assert "--project NAME, or --all-projects" in command("token", "create", "b").err
    whole = Path("all.jsonl")
    assert command("export", "jsonl", whole, "--all").code == 0
    assert json.loads(made.out)["id"] not in whole.read_text() and "token:agent" not in whole.read_text()


def test_a_file_that_another_program_laid_out_anew_can_still_be_changed(tokens: Tokens, store: Store) -> None:
    made = tokens.create("agent", ["read"], None, NOW)
    path = token_path(store.path)
    path.write_text(json.dumps(json.loads(path.read_text())))
    tokens.revoke("agent", NOW)
    assert tokens.access(made.token, NOW) is None


def test_an_expired_token_can_be_revoked(tokens: Tokens) -> None:
    made = tokens.create("agent", ["read"], None, NOW, NOW + timedelta(days=1))
    assert tokens.revoke(made.id, NOW + timedelta(days=2)).revoked_at is not None
