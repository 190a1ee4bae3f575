"""Rollups: what days, weeks, months and years amount to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import run_conversations
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import OutputError
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.periods.calendar import period_of, periods_between, read_period
from memory_pipeline.periods.days import SAID, Entry, from_json
from memory_pipeline.periods.making import BUDGETS, Maker, rollup_id
from memory_pipeline.periods.pages import page_of
from memory_pipeline.periods.running import MadeRollup, finish_rollups, periods_to_make, roll_up
from memory_pipeline.store import Store
from memory_pipeline.text.threads import find_threads
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline.workspace.exporting import export_to
from memory_pipeline.workspace.playbook_pages import rollup_page
from memory_pipeline_tests.build import candidate, fill, lesson, memory, run, settings_for, sql_rows
from memory_pipeline_tests.ingest.bring import bring
from memory_pipeline_tests.interfaces.in_process import bytes_of
from memory_pipeline_tests.reading.saying import reading_as

MONDAY = datetime(2026, 3, 9, 10, tzinfo=UTC)
LAST = date(2027, 1, 31)
DAYS = [
    ("The port of the staging database is 5433.", 0, "fact"),
    ("We keep PostgreSQL for the orders service.", 1, "decision"),
    ("TODO: ask Dana for the retention rule of the invoices", 1, "other"),
    ("Rotate the gateway key before the release, or the sync fails.", 2, "lesson"),
    ("DONE: ask Dana for the retention rule of the invoices", 9, "other"),
    ("The importer reads CSV in Latin-1.", 30, "fact"),
]


def noted(store: Store) -> Settings:
    fill(store, [candidate(text, MONDAY + timedelta(days=n), memory_type=kind) for text, n, kind in DAYS])
    return settings_for(store)


def make(store: Store, settings: Settings, last: date = LAST) -> list[MadeRollup]:
    periods = periods_to_make(store, None, last, last)
    store.take_lease("run", "test")
    try:
        return roll_up(store, settings, periods, holder="test", run_id="run")
    finally:
        store.release_lease("run")


def text_of(store: Store, key: str) -> str:
    with store.reading() as tx:
        return next((one.content for one in tx.rollups.all() if one.period == key), "")


def contents(store: Store) -> tuple[object, dict[str, bytes]]:
    with store.reading() as tx:
        rows = tx.rollups.all()
    files = {str(p): p.read_bytes() for p in store.path.parent.rglob("*.md")}
    return rows, files


def test_a_week_is_made_from_its_days_a_month_from_its_weeks_and_a_year_from_its_months(store: Store) -> None:
    make(store, noted(store))
    assert "The port of the staging database is 5433." in text_of(store, "2026-03-09")
    for key in ("2026-W11", "2026-03", "2026"):
        told = text_of(store, key)
        assert "10 Mar: We keep PostgreSQL for the orders service." in told
        assert "Rotate the gateway key before the release" in told
    assert "[9 Mar](../DailyLogs/2026-03-09.md)" in text_of(store, "2026-W11")
    assert "[2026-W11](../weekly/2026-W11.md)" in text_of(store, "2026-03")
    assert "[2026-03](../monthly/2026-03.md)" in text_of(store, "2026")
    with store.reading() as tx:
        week = next(one for one in tx.rollups.all() if one.period == "2026-W11")
        days = {one.id for one in tx.rollups.all() if one.level == "day"}
    assert set(week.below_ids) <= days and len(week.below_ids) == 3


def test_a_thread_is_carried_until_a_note_says_that_it_is_done(store: Store) -> None:
    make(store, noted(store))
    assert "### Open threads\n\n- since 10 Mar: TODO: ask Dana" in text_of(store, "2026-W11")
    assert "### Closed threads\n\n- 18 Mar: TODO: ask Dana" in text_of(store, "2026-W12")
    assert "### Closed threads\n\n- 18 Mar: TODO: ask Dana" in text_of(store, "2026-03")
    assert "ask Dana" not in text_of(store, "2026-04")


def test_a_task_is_told_with_its_box(store: Store) -> None:
    tasks = ["[ ] ask Dana for the rule of the invoices", "[x] renew the certificate of the gateway"]
    fill(store, [candidate(text, MONDAY, native_id=text) for text in tasks])
    make(store, settings_for(store), MONDAY.date() + timedelta(days=6))
    assert "- [ ] ask Dana" in text_of(store, "2026-03-09") and "- [x] renew" in text_of(store, "2026-03-09")
    assert "9 Mar: [ ] ask Dana" in text_of(store, "2026-W11") and "9 Mar: [x] renew" in text_of(store, "2026-W11")


def test_a_task_that_was_ticked_is_told_once(store: Store) -> None:
    tasks = ["[ ] renew the certificate of the gateway", "[x] renew the certificate of the gateway"]
    fill(store, [candidate(text, MONDAY + timedelta(days=n), native_id=text) for n, text in enumerate(tasks)])
    make(store, settings_for(store), MONDAY.date() + timedelta(days=6))
    for key in ("2026-03-10", "2026-W11"):
        assert text_of(store, key).count("renew the certificate") == 1 and "### Closed threads" in text_of(store, key)


def test_a_note_that_knows_only_its_day_opens_and_closes_threads_on_that_day(store: Store) -> None:
    days = [datetime(2026, 3, 19, tzinfo=UTC), datetime(2026, 3, 20, tzinfo=UTC)]
    told = [DAYS[2][0], DAYS[4][0]]
    fill(store, [candidate(text, day) for text, day in zip(told, days, strict=True)])
    make(store, settings_for(store), date(2026, 3, 21))
    assert "ask Dana" not in text_of(store, "2026-03-18")
    assert "### Open threads\n\n- TODO: ask Dana" in text_of(store, "2026-03-19")
    assert "### Closed threads\n\n- 20 Mar: TODO: ask Dana" in text_of(store, "2026-03-20")


def test_two_sentences_of_one_turn_keep_their_order() -> None:
    day = date(2026, 3, 9)
    entries = [Entry(SAID, f"human: sentence {n} says its own", day, "turn", 0.5, "talk:000001") for n in range(8)]
    orders = (entries, entries[::-1], entries[3:] + entries[:3])
    for budget in (60, 200):
        pages = {
            page_of("p", period_of("day", day), order, [], 8, budget, lambda text: len(text.split())).text
            for order in orders
        }
        assert len(pages) == 1


def test_running_again_changes_no_byte(store: Store) -> None:
    settings = noted(store)
    made = make(store, settings)
    assert {one.status for one in made} == {"new", "empty"}
    before = contents(store)
    assert {one.status for one in make(store, settings)} == {"unchanged", "empty"}
    assert contents(store) == before


@pytest.mark.slow
def test_days_made_as_they_come_give_what_all_at_once_gives(store: Store, tmp_path: Path) -> None:
    settings = noted(store)
    at_once = Store(tmp_path / "other" / "store.duckdb")
    at_once.path.parent.mkdir()
    noted(at_once)
    for n in range(60):
        last = MONDAY.date() + timedelta(days=n)
        periods = [one for one in periods_between(last, last, ended_by=last) if one.last == last]
        roll_up(store, settings, periods, holder="test", run_id="run")
    end = MONDAY.date() + timedelta(days=59)
    make(at_once, settings_for(at_once), end)
    with store.reading() as tx, at_once.reading() as other:
        assert tx.rollups.all() == other.rollups.all()


@pytest.mark.parametrize("budget", [100, 150, 200])
def test_a_rollup_keeps_its_budget_and_says_how_much_it_left_out(
    store: Store, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The {name} service listens on the port of rack {n}." for n, name in enumerate("abcdefghijklmnopqrst")]
    fill(store, [candidate(text, MONDAY + timedelta(minutes=n), memory_type="fact") for n, text in enumerate(texts)])
    monkeypatch.setitem(BUDGETS, "day", budget)
    make(store, settings_for(store), MONDAY.date())
    with store.reading() as tx:
        (day,) = (one for one in tx.rollups.all() if one.level == "day")
    said = len(from_json(day.entries))
    assert day.token_count <= budget == day.budget_tokens
    assert f"- and {20 - said} more" in day.content


@pytest.mark.slow
def test_what_a_night_archived_is_told_by_what_replaced_it(store: Store) -> None:
    fill(store, lesson(4, MONDAY))
    for n in range(3):
        run(store, MONDAY.date() + timedelta(days=n))
    make(store, settings_for(store), MONDAY.date() + timedelta(days=6))
    week = text_of(store, "2026-W11")
    assert "### Patterns and principles" in week and "### Facts and lessons" not in week
    assert "### Patterns" not in text_of(store, "2026-03-09")


@pytest.mark.slow
def test_a_rollback_makes_the_rollups_again_that_say_what_it_took_back(store: Store) -> None:
    fill(store, lesson(4, MONDAY))
    settings = settings_for(store)
    make(store, settings, MONDAY.date() + timedelta(days=6))
    before = contents(store)
    for n in range(3):
        run(store, MONDAY.date() + timedelta(days=n), run_id=f"night-{n}")
    make(store, settings, MONDAY.date() + timedelta(days=6))
    assert contents(store) != before
    result = roll_back(store, settings, RollbackScope(since=MONDAY - timedelta(days=900)), cascade=True)
    assert result.rollups
    make(store, settings, MONDAY.date() + timedelta(days=6))
    after = contents(store)
    assert {one.period: one.content for one in after[0]} == {one.period: one.content for one in before[0]}  # type: ignore[attr-defined]


def test_no_file_of_the_workspace_is_touched_and_no_page_is_read_as_a_memory(store: Store, tmp_path: Path) -> None:
    workspace = tmp_path / "notes"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "2026-03-09.md").write_text("# Monday\n\n- Decision: we keep PostgreSQL for the orders.\n")
    before = bytes_of(workspace)
    source = SourceTable(name="notes", format="openclaw", path=str(workspace), project="notes")
    settings = settings_for(store, sources=(source,))
    run(store, MONDAY.date(), settings)
    assert not finish_rollups(store, settings, make(store, settings), is_newest=True)
    assert bytes_of(workspace) == before
    root = pages_of(store.path, "notes")
    assert {p.name for p in root.rglob("*.md")} == {
        "2026-03-09.md", "2026-W11.md", "2026-03.md", "2026.md", "MEMORY.md",
    }  # fmt: skip
    pages = settings.with_values(
        {"sources": (SourceTable(name="own", format="openclaw", path=str(root), project="notes"),)}
    )
    with store.reading() as tx:
        count = tx.memories.count()
    run(store, MONDAY.date() + timedelta(days=1), pages, moment=datetime.now(UTC))
    with store.reading() as tx:
        assert tx.memories.count() == count


@pytest.mark.slow
def test_words_that_were_edited_after_their_week_was_told_are_told_as_a_backfill_tells_them(
    store: Store, tmp_path: Path
) -> None:
    workspace = tmp_path / "notes"
    path = workspace / "memory" / "2026-03-09.md"
    path.parent.mkdir(parents=True)
    old = "- Decision: the gateway listens on port 5432 for all services\n- [ ] ask Dana for the rule\n"
    path.write_text(old)
    source = SourceTable(name="notes", format="openclaw", path=str(workspace), project="p")
    settings = settings_for(store, sources=(source,))
    run(store, MONDAY.date(), settings)
    make(store, settings, MONDAY.date() + timedelta(days=6))
    path.write_text(old.replace("5432", "5433").replace("Dana", "Dana or Bob"))
    run(store, MONDAY.date() + timedelta(days=8), settings)
    told = text_of(store, "2026-W11")
    assert "port 5433" in told and "5432" not in told and "ask Dana or Bob" in told and "ask Dana for" not in told
    assert told in (pages_of(store.path, "p") / "weekly" / "2026-W11.md").read_text()
    fresh = Store(tmp_path / "fresh" / "store.duckdb")
    fresh.path.parent.mkdir()
    settings = settings_for(fresh, sources=(source,))
    run(fresh, MONDAY.date(), settings)
    make(fresh, settings, MONDAY.date() + timedelta(days=6))
    assert {key: text_of(store, key) for key in ("2026-03-09", "2026-W11")} == {
        key: text_of(fresh, key) for key in ("2026-03-09", "2026-W11")
    }


def test_what_a_person_writes_in_a_rollup_stands_below_it_from_then_on(store: Store) -> None:
    settings = noted(store)
    make(store, settings)
    (week,) = store.path.parent.rglob("2026-W11.md")
    line = "- 10 Mar: We keep PostgreSQL for the orders service."
    week.write_text(week.read_text().replace(line, f"{line} (mine: until May)\n  - and a note below it"))
    told = [one.moved for one in make(store, settings) if one.period == "2026-W11"]
    assert told == [f"2 lines that a person wrote stand below our block in '{week}' now"]
    text = week.read_text()
    assert text.count(f"{line}\n") == 1
    assert text.endswith(f"rollup:end -->\n{line} (mine: until May)\n  - and a note below it\n")
    assert all(one.moved is None for one in make(store, settings)) and week.read_text() == text


def test_a_decision_of_a_conversation_stands_once_in_the_log_of_its_day(store: Store) -> None:
    decided = "We decided to keep PostgreSQL for the orders, because the team knows it."
    spoken = candidate(decided, MONDAY, native_id="said", memory_type="conversation", tags=("human",))
    fill(store, [spoken, candidate("Decision: the shop closes at six.", MONDAY, memory_type="decision")])
    settings = settings_for(store)
    run_conversations(store, settings, None, now=MONDAY + timedelta(days=9))
    make(store, settings, MONDAY.date())
    page = pages_of(store.path, "p") / "DailyLogs" / "2026-03-09.md"
    log = page.read_text()
    assert log.count("to keep PostgreSQL") == 1 and log.count("the shop closes at six") == 1
    assert "to keep PostgreSQL" in text_of(store, "2026-03-09")
    make(store, settings, MONDAY.date())
    assert page.read_text() == log


def test_a_file_whose_block_is_of_another_project_is_left_alone(store: Store, tmp_path: Path) -> None:
    settings = noted(store)
    make(store, settings, MONDAY.date())
    out = tmp_path / "out"
    export_to(store, settings, "openclaw", out, contents=("rollups",))
    before = bytes_of(out)
    fill(store, [candidate("The shop closes at six.", MONDAY, memory_type="fact", native_id="q")], project="q")
    make(store, settings, MONDAY.date())
    with pytest.raises(OutputError, match="of another project"):
        export_to(store, settings, "openclaw", out, project="q", contents=("rollups",))
    assert bytes_of(out) == before


def test_a_rollup_that_no_longer_stands_leaves_the_export_too(store: Store, tmp_path: Path) -> None:
    settings = noted(store)
    made = make(store, settings, MONDAY.date())
    (tmp_path / "out" / "DailyLogs").mkdir(parents=True)
    (tmp_path / "out" / "DailyLogs" / "2026-03-09.md").write_text("Mine.\n")
    export_to(store, settings, "openclaw", tmp_path / "out", contents=("rollups",))
    with store.writing("test") as tx:
        tx.rollups.keep([], [rollup_id("p", read_period(one.period)) for one in made])
    done = export_to(store, settings, "openclaw", tmp_path / "out", contents=("rollups",))
    assert [(one.file, one.outcome) for one in done.changes] == [("DailyLogs/2026-03-09.md", "changed")]
    (left,) = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert left.read_text() == "Mine.\n"


def test_an_export_of_everything_brings_rollups_along(store: Store, tmp_path: Path) -> None:
    make(store, noted(store))
    export_memories(store, "jsonl", tmp_path / "all.jsonl", everything=True)
    other = Store(tmp_path / "other.duckdb")
    bring(other, tmp_path / "all.jsonl", "jsonl")
    with store.reading() as tx, other.reading() as there:
        assert tx.rollups.all() == there.rollups.all()
        assert tx.transfer.digest() == there.transfer.digest()


KILLED = """
import sys
from datetime import date
from pathlib import Path
from memory_pipeline.periods.running import periods_to_make, roll_up
from memory_pipeline.store import Store
from memory_pipeline_tests.ingest.bring import bring
from memory_pipeline_tests.build import settings_for
store, last = Store(Path(sys.argv[1])), date(2026, 3, 31)
roll_up(store, settings_for(store), periods_to_make(store, None, last, last), holder="t", run_id="r")
"""


@pytest.mark.slow
@pytest.mark.parametrize("at", ["rollups.kept", "shared.written", "shared.written#3"])
def test_after_a_kill_running_again_gives_the_files_of_the_store(store: Store, at: str) -> None:
    settings = noted(store)
    killed = {**os.environ, "KILL_POINT": at}
    done = subprocess.run([sys.executable, "-c", KILLED, str(store.path)], env=killed, check=False)
    assert done.returncode == -signal.SIGKILL
    make(store, settings, date(2026, 3, 31))
    with store.reading() as tx:
        rows = {one.period: one.content for one in tx.rollups.all()}
    for key, content in rows.items():
        page = rollup_page(read_period(key).level, key)
        assert content in (pages_of(store.path, "p") / page).read_text()


def test_an_entry_of_the_knowledge_base_is_told_by_what_it_recommends(store: Store) -> None:
    text = (
        "Title: Confirm craftsmen\nRecommendation: Confirm each appointment by phone.\nExamples:\n- HOME-4: too late."
    )
    fill(store, [candidate(text, MONDAY, memory_type="lesson")])
    make(store, settings_for(store), MONDAY.date())
    assert "- Confirm craftsmen: Confirm each appointment by phone.\n" in text_of(store, "2026-03-09") + "\n"


def test_entries_of_a_day_stand_in_the_order_of_their_source(store: Store) -> None:
    texts = ["We keep Zabbix for the racks.", "We drop Nagios at the end of May.", "The audit is in June."]
    fill(store, [candidate(t, MONDAY + timedelta(minutes=n), memory_type="decision") for n, t in enumerate(texts)])
    make(store, settings_for(store), MONDAY.date())
    told = text_of(store, "2026-03-09")
    assert [told.index(text) for text in texts] == sorted(told.index(text) for text in texts)


@pytest.mark.slow
def test_what_was_said_is_told_until_it_is_withdrawn(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lisbon, decided = "I live in Lisbon.", "We decided to keep PostgreSQL, because it is known."
    told = (lisbon, "fact", ""), (decided, "decision", ""), ("I live in Porto now.", "fact", lisbon)
    reading_as(monkeypatch, *told)
    said = [
        (lisbon, 0),
        (decided, 0),
        ("I live in Porto now.", 1),
    ]
    fill(
        store,
        [
            candidate(text, MONDAY + timedelta(days=n, minutes=k), memory_type="conversation", tags=("human",))
            for k, (text, n) in enumerate(said)
        ],
    )
    for n in range(2):
        run(store, MONDAY.date() + timedelta(days=n))
    make(store, settings_for(store), MONDAY.date() + timedelta(days=6))
    monday, week = text_of(store, "2026-03-09"), text_of(store, "2026-W11")
    assert "### Said in conversations\n\n- human: I live in Lisbon." in monday
    assert "### Decisions" in monday and "PostgreSQL" in monday
    assert "Porto" in week and "Lisbon" not in week


def test_a_note_of_a_day_alone_is_told_on_that_day_in_every_zone(store: Store) -> None:
    midnight = datetime(2026, 3, 9, 15, tzinfo=UTC)  # 10 March in Tokyo
    fill(store, [candidate("The lab in Tokyo closes at six.", midnight, memory_type="fact", utc_offset=540)])
    make(store, settings_for(store), date(2026, 3, 12))
    assert "Tokyo" in text_of(store, "2026-03-10") and not text_of(store, "2026-03-09")


def test_a_thread_that_was_edited_or_is_no_longer_there_is_closed() -> None:
    opened = memory("a", "- [ ] order the spare fan of rack three", MONDAY)
    assert [t.closed_at for t in find_threads([opened], {})] == [None]
    gone = MONDAY + timedelta(days=2)
    assert [t.closed_at for t in find_threads([opened], {"a": gone})] == [gone]
    ticked = memory("b", "- [x] order the spare fan of rack three", MONDAY + timedelta(days=1))
    assert [t.closed_by for t in find_threads([opened, ticked], {})] == [ticked]


@pytest.mark.parametrize(
    "text",
    [
        "Not done yet: order the spare fan of rack three",
        "Result: failure. Order the spare fan of rack three. Done with tests.",
        "The fan of rack two is fixed.",
    ],
)
def test_what_does_not_say_that_it_is_done_closes_nothing(text: str) -> None:
    opened = memory("a", "TODO: order the spare fan of rack three", MONDAY)
    later = memory("b", text, MONDAY + timedelta(days=1))
    assert all(thread.closed_at is None for thread in find_threads([opened, later], {}) if thread.memory.id == "a")


def test_check_names_a_rollup_that_says_what_is_not_there(store: Store) -> None:
    make(store, noted(store), MONDAY.date() + timedelta(days=6))
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
    with store.writing("test") as tx:
        sql_rows(tx, "update rollups set memory_ids = ['nowhere'], token_count = 9999 where period = '2026-W11'")
    with store.reading() as tx:
        found = [finding.problem for finding in tx.integrity.check()]
    assert found == ["9999 tokens, of at most 1000", "the memory or rollup nowhere is not there"] or len(found) == 2


def test_a_quiet_project_costs_no_row_and_no_file(store: Store, tmp_path: Path) -> None:
    settings = noted(store)
    with store.reading() as tx:
        maker = Maker(tx, "p", len)
        assert maker.rollup(period_of("day", date(2026, 5, 5)), anew=True) is None
    made = make(store, settings, date(2026, 3, 12))
    assert sum(one.status == "new" for one in made) == 3
    assert len([*tmp_path.rglob("2026-*.md")]) == 3
    with store.reading() as tx:
        assert sql_rows(tx, "select count(*) from rollups") == [(3,)]
