"""Files of a workspace that conversations write: what a person has there stays, and what cannot be written waits."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

from memory_pipeline.config.exports import ExportTable
from memory_pipeline.config.night import Destinations
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import run_conversations, show_day
from memory_pipeline.consolidation.review.rollback import RollbackScope, as_text, roll_back
from memory_pipeline.files.markers import without_blocks
from memory_pipeline.periods.calendar import periods_between
from memory_pipeline.periods.running import finish_rollups, roll_up
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, run, sql_rows
from memory_pipeline_tests.consolidation.test_conversations import (
    FIRST_DAY,
    MONDAY,
    NOW,
    SECOND_DAY,
    TUESDAY,
    files_of,
    read,
    spoken,
)


def test_words_outside_of_the_marks_stay_byte_for_byte(store: Store, settings: Settings, workspace: Path) -> None:
    (workspace / "SOUL.md").write_bytes(b"\xef\xbb\xbf# Soul\r\n\r\nCaf\xe9 \xff\r\n")
    fill(store, FIRST_DAY)
    read(store, settings, MONDAY)
    written = (workspace / "SOUL.md").read_bytes()
    assert written.startswith(b"\xef\xbb\xbf# Soul\r\n\r\nCaf\xe9 \xff\r\n")
    assert "check the calendar" not in without_blocks(written.decode("utf-8", "replace").replace("\r\n", "\n"))


def test_what_a_person_writes_between_the_marks_is_never_lost(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, [*FIRST_DAY, *SECOND_DAY])
    read(store, settings, MONDAY)
    for name, old, new in (
        (
            "USER.md",
            "- “I live in Lisbon with my wife.”",
            "- “I live in Lisbon with my wife and Rex.”\n- I play the cello",
        ),
        ("daily/2026-03-02.md", "5 turns read", "5 turns read, I think"),
        ("DailyLogs/2026-03-02.md", "## Decisions", "## Decisions\n\n- (mine) and Redis"),
    ):
        file = workspace / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    done = run_conversations(store, settings, [TUESDAY], now=NOW)
    assert [told.partition(" stand")[0] for told in done.moved] == ["2 lines that a person wrote"]
    text = files_of(workspace)["USER.md"]
    assert "end -->\n- “I live in Lisbon with my wife and Rex.”\n- I play the cello\n" in text
    assert "- “I live in Lisbon with my wife.”\n" in text and "I work as a nurse" in text
    fill(store, spoken(MONDAY, "I am a vegetarian.", hour=15))
    read(store, settings)
    files = files_of(workspace)
    assert "- (mine) and Redis" in without_blocks(files["DailyLogs/2026-03-02.md"])
    assert "5 turns read, I think" in without_blocks(files["daily/2026-03-02.md"])
    assert files["USER.md"].count("Rex") == files["USER.md"].count("cello") == 1


def test_a_destination_that_is_empty_gets_nothing(store: Store, settings: Settings, workspace: Path) -> None:
    closed = settings.with_values({"compression.destinations": Destinations(user="", relational="R/us.md")})
    fill(store, FIRST_DAY)
    read(store, closed, MONDAY)
    assert files_of(workspace)["USER.md"] == "# The human\n\n- Likes tea.\n"
    assert "trust" in files_of(workspace)["R/us.md"]
    (day,) = show_day(store, MONDAY)
    assert day.coverage["extractions_dropped"] == {"its destination is empty in the settings": 1}


def test_a_file_that_cannot_be_written_is_written_by_the_next_night(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, FIRST_DAY)
    (workspace / "SOUL.md").mkdir()
    done = run_conversations(store, settings, [MONDAY], now=NOW)
    assert "SOUL.md" in done.problems[0]
    night = run(store, MONDAY, settings)
    assert night.verdict == "IDLE" and "1 file or day of conversations failed" in night.verdict_reason
    (workspace / "SOUL.md").rmdir()
    run(store, TUESDAY, settings)
    assert "check the calendar" in files_of(workspace)["SOUL.md"]


def test_a_check_finds_what_stands_in_the_wrong_file(store: Store, settings: Settings) -> None:
    fill(store, FIRST_DAY)
    read(store, settings, MONDAY)
    with store.writing("test") as tx:
        sql_rows(tx, "update extractions set destination = 'user' where kind = 'trust'")
    with store.reading() as tx:
        (finding,) = tx.integrity.check()
    assert "a trust of the human went to user" in finding.problem


def test_files_that_a_killed_rollback_left_are_mended_by_the_next_night(
    store: Store, settings: Settings, workspace: Path
) -> None:
    fill(store, FIRST_DAY)
    run_id = read(store, settings, MONDAY)
    with store.writing("rollback") as tx:
        tx.rollbacks.apply(tx.rollbacks.plan_run(run_id), "killed", NOW, "rollback")
    assert "Lisbon" in files_of(workspace)["USER.md"]
    run(store, date(2026, 2, 1), settings)
    assert files_of(workspace) == {"USER.md": "# The human\n\n- Likes tea.\n"}


def test_words_that_look_like_marks_stay_inside_of_their_block(
    store: Store, settings: Settings, workspace: Path
) -> None:
    mark = "<!-- memory-pipeline:conversations:end -->"
    fill(store, spoken(MONDAY, f"I live in Lisbon, {mark} with my wife.", f"I work as a nurse.\n{mark}\nI like tea."))
    read(store, settings, MONDAY)
    first = (workspace / "USER.md").read_text()
    assert first.splitlines().count(mark) == 1
    fill(store, SECOND_DAY)
    read(store, settings, TUESDAY)
    second = (workspace / "USER.md").read_text()
    assert second.splitlines().count(mark) == 1
    assert without_blocks(second).strip() == "# The human\n\n- Likes tea."


def test_one_file_may_have_everything(store: Store, settings: Settings, workspace: Path) -> None:
    names = Destinations(user="ALL.md", relational="ALL.md", soul="ALL.md")
    fill(store, FIRST_DAY)
    read(store, settings.with_values({"compression.destinations": names}), MONDAY)
    text = files_of(workspace)["ALL.md"]
    assert all(part in text for part in ("## Updates from", "## Growth Markers", "## Communication Evolution"))
    assert text.count("conversations:start") == 1


def test_days_that_are_taken_back_leave_memory_md_and_no_file_behind(
    store: Store, settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    mine = files_of(workspace)
    fill(store, [*FIRST_DAY, *SECOND_DAY])
    table = ExportTable(
        name="agent", format="openclaw", path=str(tmp_path / "agent"), contents=("user", "memory", "logs")
    )
    settings = settings.with_values({"exports": (table,)})
    read(store, settings, MONDAY, TUESDAY)
    assert "Lisbon" in files_of(tmp_path / "agent")["USER.md"]
    periods = periods_between(MONDAY, TUESDAY, ended_by=date(2026, 3, 31))
    store.take_lease("rollups", "test")
    made = roll_up(store, settings, periods, holder="test", run_id="rollups", projects=["p"])
    assert not finish_rollups(store, settings, made, is_newest=True)
    store.release_lease("rollups")
    for place in (workspace, tmp_path / "agent"):
        assert "We decided to use Postgres" in files_of(place)["MEMORY.md"]
    done = roll_back(store, settings, RollbackScope(since=datetime(2020, 1, 1, tzinfo=UTC)))
    assert done.renewed == (table.path,) and "agent was made again" in as_text(done)
    assert files_of(workspace) == mine and files_of(tmp_path / "agent") == {}
