"""Flushes and compactions with a model, over real HTTP: what it adds, in what time, and that nothing is lost by it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.compaction.compacting import compact_session
from memory_pipeline.compaction.documents import CompactedSession, FlushedSession
from memory_pipeline.compaction.flushing import flush_session
from memory_pipeline.compaction.transcripts import read_session_file
from memory_pipeline.config.settings import Settings
from memory_pipeline.night.conversation_runs import run_conversations
from memory_pipeline.store import Store
from memory_pipeline.workspace.places import pages_of
from memory_pipeline_tests import processes
from memory_pipeline_tests.build import NOW, candidate, fill, run, settings_for, sql_rows
from memory_pipeline_tests.compaction.a_session import rows, session_file
from memory_pipeline_tests.compaction.sessions import said, transcript
from memory_pipeline_tests.conversations.model_answers import answer, attentive, proposal, turns_of
from memory_pipeline_tests.distillers.claude_nights import claude_settings, serving
from memory_pipeline_tests.interfaces.in_process import SETTINGS
from memory_pipeline_tests.messages_server import Body, Failure, MessagesServer, Raw, Reaction, Said

UNRULED = "Peanuts have sent me to the emergency room twice, so I carry a pen with me."
ORDER = "Whoever is on call gets the first cup on Mondays, and so do I."
KNOWING = attentive((UNRULED, "fact", {}), (ORDER, "dynamic", {}))
MORE = [said(20, "user", UNRULED), said(21, "assistant", "Good to know. " + "I will keep it in mind for dinners.", 9)]


@pytest.fixture
def kept_store(store: Store) -> Store:
    """A store, beside which answers are kept."""
    fill(store, [candidate("x y z")])
    return store


def session_of(tmp_path: Path, *more: object) -> Path:
    return transcript(session_file(tmp_path), *rows(), *MORE, *more)


def flush(path: Path, settings: Settings, *, preview: bool = False) -> FlushedSession:
    return flush_session(settings, read_session_file(str(path), settings), preview=preview)


def compact(path: Path, settings: Settings) -> CompactedSession:
    return compact_session(settings, read_session_file(str(path), settings))


def settings_with(store: Store, server: MessagesServer, **changes: object) -> Settings:
    return claude_settings(store, server, **changes)


@pytest.mark.slow
def test_a_flush_keeps_what_no_rule_finds_word_for_word_and_all_that_the_rules_find(
    kept_store: Store, tmp_path: Path
) -> None:
    path = session_of(tmp_path)
    alone = flush(path, settings_for(kept_store), preview=True)
    with serving(KNOWING) as server:
        done = flush(path, settings_with(kept_store, server))
    assert f"{UNRULED} | Source: human, line 11 | Confidence: 0.85" in done.text and done.facts == alone.facts + 1
    assert alone.model is None and UNRULED not in alone.text
    assert done.model is not None and done.model.startswith("1 question, 1 call, 0.0001 USD; 1 of what is kept was")
    before, after = (re.sub(r"-\d{3}:", ":", text).split("\n") for text in (alone.text, done.text))
    assert [line for line in after if UNRULED not in line] == before


def test_without_a_key_or_with_no_seconds_nothing_is_asked(kept_store: Store, tmp_path: Path) -> None:
    path = session_of(tmp_path)
    with serving(KNOWING) as server:
        for changes in ({"compaction__model_seconds": 0.0}, {"conversations__ask_model": False}):
            done = flush(path, settings_with(kept_store, server, **changes), preview=True)
            assert done.model is None and UNRULED not in done.text
    assert server.requests == []


@pytest.mark.slow
def test_a_flush_again_and_the_night_after_it_pay_nothing(kept_store: Store, tmp_path: Path) -> None:
    path = session_of(tmp_path)
    with serving(KNOWING) as server:
        settings = settings_with(kept_store, server)
        preview = flush(path, settings, preview=True)
        done = flush(path, settings)
        assert preview.text == done.text and len(server.requests) == 1
        assert flush(path, settings).files[0].outcome == "unchanged"
        run(kept_store, date(2026, 3, 2), settings_for(kept_store))  # takes the answers over, with a key or without
        assert flush(path, settings).text == done.text and len(server.requests) == 1
    with kept_store.reading() as tx:
        ((calls, answers),) = sql_rows(
            tx, "select (select count(*) from model_calls where mode = 'live'), (select count(*) from model_answers)"
        )
    assert (calls, answers) == (1, 1)


def test_a_compaction_promotes_what_the_model_found_and_says_what_it_cost(kept_store: Store, tmp_path: Path) -> None:
    with serving(KNOWING) as server:
        done = compact(session_of(tmp_path), settings_with(kept_store, server))
    assert done.outcome == "compacted" and any(UNRULED in line for line in done.promoted)
    assert done.model is not None and "1 of what is kept was proposed by the model" in done.model


@pytest.mark.slow
def test_what_an_earlier_flush_found_stays_when_a_later_one_gets_no_answer(kept_store: Store, tmp_path: Path) -> None:
    with serving(KNOWING) as server:
        settings = settings_with(kept_store, server, model__attempts=1)
        flush(session_of(tmp_path), settings)
    later = flush(session_of(tmp_path, said(22, "user", "The deploy window is at noon on Thursdays.")), settings)
    assert UNRULED in later.text and "at noon on Thursdays" in later.text
    assert later.model is not None and "cannot be reached" in later.model


def slow(body: Body, number: int) -> Reaction:
    return Raw(b"{}", delay_s=30)


@pytest.mark.slow
def test_a_server_that_does_not_answer_costs_seconds_and_nothing_else(kept_store: Store, tmp_path: Path) -> None:
    path = session_of(tmp_path)
    alone = flush(path, settings_for(kept_store), preview=True)
    with serving(slow) as server:
        began = time.monotonic()
        done = flush(path, settings_with(kept_store, server, compaction__model_seconds=3.0))
        assert time.monotonic() - began < 4.5
    assert done.text == alone.text and done.model is not None and "time limit:" in done.model


def wrong(body: Body, number: int) -> Reaction:
    turns = turns_of(body)
    agent = next(turn for turn in turns if turn["speaker"] == "assistant" or turn["speaker"] == "agent")
    return answer(
        proposal(agent["number"], agent["words"][:60].rsplit(" ", 1)[0], "boundary"),
        proposal(1, "Never ask me anything again about the database.", "boundary"),
    )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (lambda body, number: Failure(401, "authentication_error"), "rejected the key"),
        pytest.param(lambda body, number: Said("no JSON"), "malformed answer", marks=pytest.mark.slow),
        pytest.param(wrong, "0 of what is kept", marks=pytest.mark.slow),
    ],
)
def test_whatever_the_model_does_the_rules_keep_what_they_find(
    kept_store: Store, tmp_path: Path, script: Callable[[Body, int], Reaction], why: str
) -> None:
    path = session_of(tmp_path)
    alone = flush(path, settings_for(kept_store), preview=True)
    with serving(script) as server:
        done = flush(path, settings_with(kept_store, server))
    assert done.text == alone.text and done.model is not None and why in done.model


def test_without_a_store_nothing_is_asked_and_that_is_told(store: Store, tmp_path: Path) -> None:
    with serving(KNOWING) as server:
        done = flush(session_of(tmp_path), settings_with(store, server))
        assert server.requests == [] and not store.exists()
    assert done.model is not None and "there is no store" in done.model and done.facts > 0


@pytest.mark.slow
def test_a_night_that_holds_the_store_leaves_the_session_to_the_rules(kept_store: Store, tmp_path: Path) -> None:
    path = session_of(tmp_path)
    with serving(KNOWING) as server:
        settings = settings_with(kept_store, server, store__busy_timeout_s=0.2)
        with kept_store.held(shared=False):
            done = flush(path, settings)
            assert server.requests == [] and UNRULED not in done.text
            assert done.facts > 0 and done.model is not None and "the store with the answers is in use" in done.model
        first = flush(path, settings)
        with kept_store.held(shared=False):
            again = flush(path, settings)
        assert again.text == first.text and UNRULED in again.text and len(server.requests) == 1


@pytest.mark.slow
def test_of_a_long_session_the_newest_words_are_asked_about_first(kept_store: Store, tmp_path: Path) -> None:
    filler = "The report of the day lists every ticket that somebody closed, with its owner and its number. " * 20
    talk = [said(n, "user" if n % 2 else "assistant", f"{filler}It is {n}.", 9) for n in range(1, 40)]
    path = transcript(session_file(tmp_path), *talk, *MORE)
    with serving(KNOWING) as server:
        settings = settings_with(kept_store, server, model__burst=1)
        done = flush(path, settings)
        assert len(server.requests) == 1 and UNRULED in done.text
        assert done.model is not None and "more questions than may be asked at once" in done.model
        again = flush(path, settings)
        assert len(server.requests) == 2 and UNRULED in again.text
        flush(path, settings_with(kept_store, server, model__burst=1, model__cache=False))
        assert len(server.requests) == 3


@pytest.mark.slow
def test_an_answer_of_a_flush_serves_the_day_of_the_same_words(kept_store: Store, tmp_path: Path) -> None:
    words = "Peanuts have sent me to the emergency room twice."
    talk = transcript(session_file(tmp_path), said(1, "user", words))
    fill(kept_store, [candidate(words, NOW.replace(month=3, day=2), memory_type="conversation", tags=("human",))])
    with serving(attentive((words, "fact", {}))) as server:
        settings = settings_with(kept_store, server)
        flush(talk, settings)
        run_conversations(kept_store, settings, [date(2026, 3, 2)], now=NOW)
        assert len(server.requests) == 1


@pytest.mark.slow
def test_a_compaction_that_is_killed_never_pays_twice(kept_store: Store, tmp_path: Path) -> None:
    path = session_of(tmp_path)
    with serving(KNOWING) as server:
        killed = {**os.environ, "KILL_POINT": "session.written"}
        died = processes.run(_compact_until_killed, kept_store.path, server.url, path, environment=killed)
        assert died.returncode == -signal.SIGKILL, died.stderr
        done = compact(path, settings_with(kept_store, server))
        assert len(server.requests) == 1
    assert any(UNRULED in line for line in done.promoted)


def _compact_until_killed(store: Path, url: str, path: Path) -> None:
    compact(path, settings_with(Store(store), MessagesServer(KNOWING, url=url)))


@pytest.mark.slow
def test_a_hook_with_a_key_keeps_more_and_without_an_answer_it_is_as_quick_as_its_seconds(
    kept_store: Store, tmp_path: Path
) -> None:
    path = session_of(tmp_path)
    told = {"hook_event_name": "PreCompact", "trigger": "auto", "transcript_path": str(path)}
    memory = pages_of(kept_store.path, "app") / "MEMORY.md"
    for script, seconds in ((slow, "2"), (KNOWING, "20")):
        with serving(script) as server:
            given = {
                **os.environ,
                **SETTINGS,
                "MEMORY_PIPELINE_HOME": str(tmp_path),
                "ANTHROPIC_API_KEY": server.key,
                "ANTHROPIC_BASE_URL": server.url,
                "MEMORY_PIPELINE_COMPACTION_MODEL_SECONDS": seconds,
            }
            words = [sys.executable, "-m", "memory_pipeline.interfaces.hooked", "claude-code", "--store"]
            began = time.monotonic()
            done = subprocess.run(
                [*words, str(kept_store.path)],
                input=json.dumps(told),
                env=given,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert (done.returncode, done.stdout) == (0, ""), done.stderr
            assert time.monotonic() - began < 20 and len(server.requests) == 1
        assert (UNRULED in memory.read_text()) == (script is KNOWING)
