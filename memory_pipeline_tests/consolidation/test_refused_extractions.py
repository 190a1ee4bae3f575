"""What a person says is not so, of what was extracted: it stays on record, and is written nowhere."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import day_as_text, run_conversations, show_day
from memory_pipeline.consolidation.review.decisions import decide_extraction
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill
from memory_pipeline_tests.consolidation.test_conversations import FIRST_DAY, MONDAY, NOW, TUESDAY, files_of, spoken


def read(store: Store, settings: Settings) -> str:
    return run_conversations(store, settings, [MONDAY], now=NOW).run_id


def id_of(store: Store, words: str) -> str:
    (day,) = show_day(store, MONDAY)
    return next(one.id for one in day.extractions if words in one.text)


def reject(store: Store, settings: Settings, words: str) -> None:
    decide_extraction(store, settings, id_of(store, words)[:8], "rejected", actor="dana", now=NOW)


def memories(store: Store) -> list[str]:
    with store.reading() as tx:
        found = tx.memories.all()
        assert not tx.integrity.check(deep=True)
    return [one.content for one in found if one.source.connector == "conversations" and one.archived_at is None]


def test_a_fact_that_is_refused_leaves_its_file_alone_and_comes_back_when_it_is_accepted(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, FIRST_DAY)
    read(store, settings)
    before = files_of(workspace)
    reject(store, settings, "Lisbon")
    after = files_of(workspace)
    assert "Lisbon" not in "".join(after.values()) and "Likes tea" in after["USER.md"]
    assert "restaurant" in after["RELATIONAL.md"]
    (day,) = show_day(store, MONDAY)
    assert ", withdrawn: I live in Lisbon" in day_as_text(day)
    decide_extraction(store, settings, id_of(store, "Lisbon"), "confirmed", actor="dana", now=NOW)
    assert files_of(workspace) == before


def test_a_decision_that_is_refused_leaves_its_memory_its_log_and_its_rollups(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, FIRST_DAY)
    read(store, settings)
    assert memories(store) == ["We decided to use Postgres because the team knows it."]
    reject(store, settings, "Postgres")
    assert memories(store) == []
    assert "Postgres" not in "".join(files_of(workspace).values())
    decide_extraction(store, settings, id_of(store, "Postgres"), "confirmed", actor="dana", now=NOW)
    assert memories(store) == ["We decided to use Postgres because the team knows it."]


@pytest.mark.slow
def test_what_is_refused_stays_so_when_its_day_is_read_again_or_said_again(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, FIRST_DAY)
    first = read(store, settings)
    for words in ("Lisbon", "Postgres"):
        reject(store, settings, words)
    fill(store, spoken(MONDAY, "I work as a nurse in a hospital.", hour=11))
    second = read(store, settings)
    fill(store, spoken(TUESDAY, "I live in Lisbon with my wife."))
    run_conversations(store, settings, [TUESDAY], now=NOW)
    told = "".join(files_of(workspace).values())
    assert "nurse" in told and "Lisbon" not in told and "Postgres" not in told and memories(store) == []
    roll_back(store, settings, RollbackScope(run_id=second))
    assert first != second and memories(store) == []
    assert "Postgres" not in "".join(files_of(workspace).values())


def test_an_unknown_id_says_where_the_ids_are(store: Store, settings: Settings) -> None:
    fill(store, FIRST_DAY)
    read(store, settings)
    for wanted in ("zzz", ""):
        with pytest.raises(InputError, match="conversations show DAY"):
            decide_extraction(store, settings, wanted, "rejected", actor="dana", now=datetime.now(UTC))
