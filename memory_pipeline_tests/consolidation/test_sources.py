"""The night's first step: sources read as of the night, edits followed, failures kept to themselves."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory_pipeline.config.exports import SourceTable, check_tables
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import import_notes, import_source
from memory_pipeline.consolidation.review.conflicts import Decision, list_conflicts, resolve_conflict
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.ingest.candidates import Skipped
from memory_pipeline.ingest.exporting import export_memories
from memory_pipeline.ingest.formats import read_format
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.ingest.sources import with_known_projects
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.recall.series import export_series
from memory_pipeline.records import Memory, SourceReading
from memory_pipeline.reporting.pages import DIFFERENCE_MARK, REPORT_MARK
from memory_pipeline.store import Store
from memory_pipeline.workspace.exporting import export_to
from memory_pipeline_tests.build import NOW, candidate, fill, night_of, run, settings_for


def write(root: Path, name: str, text: str, at: datetime) -> Path:
    """A file of a workspace as it was last changed at a time."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def on(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


def with_source(store: Store, path: Path, **fields: object) -> Settings:
    source = SourceTable.model_validate({"name": "notes", "path": str(path), "project": "p", **fields})
    return settings_for(store, sources=(source,))


def read(store: Store, settings: Settings, day: int, **options: object) -> SourceReading:
    """The first step of the night of a day, alone."""
    return of_night(store, settings, date(2026, 3, day), **options)[0]


def of_night(store: Store, settings: Settings, day: date, **options: object) -> list[SourceReading]:
    night = night_of(store, day, settings, **options)
    readings = import_notes(night)
    store.release_lease(night.options.run_id)
    return readings


def known(store: Store) -> dict[str, Memory]:
    """Every memory by its words."""
    with store.reading() as tx:
        return {memory.content: memory for memory in tx.memories.all()}


def whole(store: Store) -> str:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.contents.digest(with_log=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "agent"
    write(root, "memory/2026-03-02.md", "- 10:00 the port is 5432\n- 11:00 mail to dana@example.org\n", on(2))
    write(root, "memory/2026-03-03.md", "- 09:00 the disk is full\n", on(3))
    write(root, "MEMORY.md", "- backups run at night\n", on(3, 5))
    return root


def test_a_night_reads_what_is_dated_before_its_end(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    first = read(store, settings, 2)
    assert (first.new, first.later, first.masked) == (2, 2, 1)
    assert set(known(store)) == {"10:00 the port is 5432", "11:00 mail to [REDACTED:email]"}
    assert read(store, settings, 3).new == 2
    assert read(store, settings, 1).new == 0 and len(known(store)) == 4


def test_an_unchanged_source_is_not_read_again(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    read(store, settings, 5)
    before = whole(store)
    again = read(store, settings, 5)
    assert (again.status, again.files, again.files_read) == ("unchanged", 3, 0)
    os.utime(workspace / "MEMORY.md", (on(4).timestamp(),) * 2)
    assert read(store, settings, 6).files_read == 0, "the same bytes at another time"
    assert whole(store) == before


def test_what_an_import_brought_is_known(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    reading = read_format("openclaw", workspace, UTC, NOW, settings, Skipped())
    import_memories(store, reading, project="p", embedder=Lexical(), now=NOW)
    assert read(store, settings, 5).new == 0


def test_edited_words_supersede_the_old_ones(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    run(store, date(2026, 3, 3), settings)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", on(4))
    report = run(store, date(2026, 3, 4), settings, run_id="edited")
    assert (report.entries_new, report.entries_changed, report.entries_gone) == (0, 1, 2)
    found = known(store)
    old, new = found["10:00 the port is 5432"], found["10:00 the port is 5433"]
    assert old.archived_at == on(5, 0) and old.consolidated_into_id == new.id and new.archived_at is None
    assert found["11:00 mail to [REDACTED:email]"].archived_at is None, "removed words stay"
    with store.reading() as tx:
        marked = {entry.memory_id: entry.superseded_by for entry in tx.sources.gone()}
        assert [event.table for event in tx.history.of(old.id)].count("source_entries") == 1
    assert marked == {old.id: new.id, found["11:00 mail to [REDACTED:email]"].id: None}
    whole(store)


def test_words_that_were_removed_weigh_half_and_say_so(store: Store, workspace: Path) -> None:
    settings, line = with_source(store, workspace), "09:00 the disk is full"

    def found(words: str) -> tuple[float, bool, str]:
        with ProjectMemory(store, settings, "p", actor="agent") as mine:
            (one,) = [one for one in mine.search(words, explain=True).results if one.content == line]
            assert mine.context(words).text.count("(gone from its file)") == one.gone
        assert one.explanation and not one.archived
        return round(one.explanation.weight, 1), one.gone, one.words_in_place

    read(store, settings, 4)
    assert found("is the disk full") == (1.0, False, line)
    write(workspace, "memory/2026-03-03.md", "- 10:00 mail was sent\n", on(4))
    assert read(store, settings, 5).gone == 1
    assert found("is the disk full") == (0.5, True, f"{line} (gone from its file)")
    write(workspace, "memory/2026-03-03.md", f"- {line}\n- 10:00 mail was sent\n", on(5))
    read(store, settings, 6)
    assert found("is the disk full") == (1.0, False, line)


@pytest.mark.slow
@pytest.mark.usefixtures("judged")
def test_where_a_side_applies_stays_with_its_words_when_they_are_edited(store: Store, tmp_path: Path) -> None:
    root, line = tmp_path / "agent", "- 10:00 the fee for a locker in the studio is {} EUR a month\n"
    for day, price in ((2, 14), (3, 16)):
        write(root, f"memory/2026-03-0{day}.md", line.format(price), on(day))
    settings = with_source(store, root)
    run(store, date(2026, 3, 5), settings)
    (conflict,) = list_conflicts(store)
    scopes = {"scope_a": "in December", "scope_b": "in other months"}
    resolve_conflict(store, settings, str(conflict.id), Decision("both", "dana", **scopes))
    write(root, "memory/2026-03-03.md", line.format(18), on(6))
    assert run(store, date(2026, 3, 6), settings).entries_changed == 1
    assert list_conflicts(store) == [], "a person said that both hold"
    with ProjectMemory(store, settings, "p", actor="agent") as mine:
        told = {one.content: one.scope for one in mine.search("fee for a locker", archived=False).results}
    first, second = (known(store)[line.format(price)[2:].strip()] for price in (14, 18))
    assert {told[first.content], told[second.content]} == set(scopes.values())
    export_to(store, settings, "openclaw", tmp_path / "out")
    text = (tmp_path / "out" / "MEMORY.md").read_text()
    assert text.count("(applies: in December)") == text.count("(applies: in other months)") == 1


def test_a_task_that_is_ticked_in_its_place_is_edited(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    for day, mark in ((3, " "), (4, "x"), (5, " ")):
        write(workspace, "MEMORY.md", f"- backups run at night\n- [{mark}] book the hall\n", on(day))
        reading = read(store, settings, day)
        assert (reading.changed, reading.gone) == ((0, 0) if day == 3 else (1, 1))
        stands = {content: memory.archived_at is None for content, memory in known(store).items() if "hall" in content}
        assert [content for content, is_active in stands.items() if is_active] == [f"[{mark}] book the hall"]


@pytest.mark.slow
def test_a_rollback_takes_back_what_an_edit_archived_and_keeps_what_was_imported(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    run(store, date(2026, 3, 3), settings)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", on(4))
    run(store, date(2026, 3, 4), settings, run_id="edited")
    roll_back(store, settings, RollbackScope(run_id="edited"))
    assert all(memory.archived_at is None for memory in known(store).values()) and len(known(store)) == 5
    with store.reading() as tx:
        assert tx.sources.gone() == []
    assert read(store, settings, 5).gone == 2, "the next night finds it again"
    found = known(store)
    old, new = found["10:00 the port is 5432"], found["10:00 the port is 5433"]
    assert old.consolidated_into_id == new.id and new.archived_at is None, "with what replaced it"
    whole(store)


@pytest.mark.slow
def test_a_night_that_took_words_back_and_is_undone_is_made_again_by_the_next_one(
    store: Store, workspace: Path
) -> None:
    settings = with_source(store, workspace)
    run(store, date(2026, 3, 3), settings)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n- 11:00 mail to dana@shop.example\n", on(4))
    run(store, date(2026, 3, 4), settings)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5432\n- 11:00 mail to dana@shop.example\n", on(5))
    run(store, date(2026, 3, 5), settings, run_id="back")
    roll_back(store, settings, RollbackScope(run_id="back"))
    run(store, date(2026, 3, 6), settings)
    found = known(store)
    first, second = found["10:00 the port is 5432"], found["10:00 the port is 5433"]
    assert first.archived_at is None and second.consolidated_into_id == first.id
    whole(store)


@pytest.mark.slow
def test_words_that_come_back_are_active_again(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    for day, port in ((3, 5432), (4, 5433), (5, 5432)):
        write(workspace, "memory/2026-03-02.md", f"- 10:00 the port is {port}\n", on(day))
        run(store, date(2026, 3, day), settings)
    found = known(store)
    assert found["10:00 the port is 5432"].archived_at is None
    assert found["10:00 the port is 5433"].consolidated_into_id == found["10:00 the port is 5432"].id
    whole(store)


def test_a_past_night_takes_the_words_of_an_edit_with_what_they_replace_and_leaves_removals(
    store: Store, workspace: Path
) -> None:
    settings = with_source(store, workspace)
    read(store, settings, 3)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", on(6))
    early = read(store, settings, 4)
    assert (early.changed, early.gone, early.edits_later) == (1, 1, 1)
    found = known(store)
    assert found["10:00 the port is 5432"].consolidated_into_id == found["10:00 the port is 5433"].id
    late = read(store, settings, 6)
    assert (late.changed, late.gone, late.edits_later) == (0, 1, 0)
    whole(store)


def test_a_new_line_beside_an_open_removal_gives_way_to_its_next_version(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    read(store, settings, 3)
    for hour, room in ((1, "hall"), (2, "kitchen")):
        text = f"- 10:00 the port is 5432\n- 12:00 the lamp hangs in the {room}\n"
        write(workspace, "memory/2026-03-02.md", text, on(9, hour))
        assert read(store, settings, 4, run_id=room).edits_later == 1, "the removed line waits"
    found = known(store)
    old, new = (found[f"12:00 the lamp hangs in the {room}"] for room in ("hall", "kitchen"))
    assert old.consolidated_into_id == new.id and new.archived_at is None
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5432\n", on(10))
    assert read(store, settings, 10).gone == 2, "a line that is removed later is marked"
    whole(store)


@pytest.mark.slow
def test_a_line_that_is_edited_after_its_day_leaves_no_conflict_between_its_versions(
    store: Store, tmp_path: Path
) -> None:
    root = tmp_path / "agent"
    settings = with_source(store, root)
    for port, day in (("5432", 2), ("5433", 9)):
        line = f"- The staging database of the webshop listens for connections on port {port} behind the proxy.\n"
        write(root, "memory/2026-03-02.md", line, on(day))
        report = run(store, date(2026, 3, 5), settings, run_id=port)
    assert (report.entries_changed, report.memories_archived, list_conflicts(store)) == (1, 1, [])
    assert (report.verdict, report.verdict_reason) == ("PASS", "1 edit of a source followed")
    with ProjectMemory(store, settings, "p", actor="test") as memory:
        first, *others = memory.search("port of the staging database").results
    assert "5433" in first.content and others == []


def test_words_that_are_edited_back_are_active_again_at_once(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    read(store, settings, 3)
    for hour, port in ((1, 5433), (2, 5432)):
        write(workspace, "memory/2026-03-02.md", f"- 10:00 the port is {port}\n", on(9, hour))
        read(store, settings, 4, run_id=str(port))
    found = known(store)
    assert found["10:00 the port is 5432"].archived_at is None
    assert found["10:00 the port is 5433"].consolidated_into_id == found["10:00 the port is 5432"].id
    whole(store)


def test_a_source_that_is_imported_again_brings_its_edits(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    import_source(store, settings, settings.sources[0], lambda step, done, total: None)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", datetime.now(UTC))
    import_source(store, settings, settings.sources[0], lambda step, done, total: None)
    found = known(store)
    assert found["10:00 the port is 5432"].consolidated_into_id == found["10:00 the port is 5433"].id
    assert found["11:00 mail to [REDACTED:email]"].archived_at is None
    whole(store)


def test_a_pinned_memory_is_marked_but_stays(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "agent"
    settings = with_source(store, root)
    for day, hour in ((2, "02:00"), (3, "03:00")):
        write(root, "USER.md", f"- Backups of the shop run at {hour} every night.\n", on(day))
        run(store, date(2026, 3, day), settings)
    old, new = sorted(known(store).values(), key=lambda memory: memory.created_at)
    assert all(memory.archived_at is None and memory.pinned for memory in (old, new))
    with store.reading() as tx:
        assert len(tx.sources.gone()) == 1
    with ProjectMemory(store, settings, "p", actor="test") as memory:
        hits = memory.search("when do backups of the shop run").results
    assert [(hit.id, hit.superseded_by) for hit in hits] == [(new.id, None), (old.id, new.id)]


def test_a_vanished_file_is_marked_by_the_newest_night_alone(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    of_night(store, settings, yesterday)
    (workspace / "memory/2026-03-03.md").unlink()
    assert read(store, settings, 5).gone == 0
    (reading,) = of_night(store, settings, yesterday, run_id="newest")
    assert reading.gone == 1 and known(store)["09:00 the disk is full"].archived_at is None


def test_a_row_with_an_id_is_superseded_by_its_next_version(store: Store, tmp_path: Path) -> None:
    settings = with_source(store, tmp_path / "rows.jsonl", format="jsonl")
    for day, words in ((2, "one thing"), (3, "entirely different words")):
        row = {"id": "a", "content": words, "created_at": "2026-03-01T10:00:00Z"}
        write(tmp_path, "rows.jsonl", json.dumps(row) + "\n", on(day))
        run(store, date(2026, 3, day), settings)
    assert known(store)["one thing"].consolidated_into_id == known(store)["entirely different words"].id


@pytest.mark.slow
def test_a_line_that_moved_to_another_day_is_not_told_as_gone(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    run(store, date(2026, 3, 4), settings)
    write(workspace, "memory/2026-03-02.md", "- 11:00 mail to dana@example.org\n", on(5))
    write(workspace, "memory/2026-03-05.md", "- 10:00 the port is 5432\n", on(5))
    run(store, date(2026, 3, 6), settings)
    run(store, date(2026, 3, 8), settings)
    with store.reading() as tx:
        assert tx.sources.gone() == []
        active = [memory.content for memory in tx.memories.all(include_archived=False)]
    assert sum(text.endswith("the port is 5432") for text in active) == 1


def test_two_sources_of_one_path_are_refused(store: Store, workspace: Path) -> None:
    one = SourceTable.model_validate({"name": "notes", "path": str(workspace), "project": "p"})
    with pytest.raises(ValueError, match="'notes' and 'again' read the same path"):
        check_tables([one, one.model_copy(update={"name": "again"})])
    check_tables([one, one.model_copy(update={"name": "again", "enabled": False})])
    check_tables([one, one.model_copy(update={"name": "again", "project": "q"})])


def test_a_source_that_cannot_be_read_costs_itself_alone(store: Store, workspace: Path, tmp_path: Path) -> None:
    settings = with_source(store, workspace)
    missing = SourceTable(name="gone", path=str(tmp_path / "nowhere"))
    settings = settings.with_values({"sources": (missing, *settings.sources)})
    report = run(store, date(2026, 3, 3), settings)
    assert [source.status for source in report.sources] == ["failed", "read"] and report.entries_new == 4
    assert report.verdict == "IDLE" and report.errors[0].stage == "sources" and "nowhere" in report.errors[0].error
    notices = (settings.reports_path / "notices.jsonl").read_text()
    assert json.loads(notices)["priority"] == "action"


def test_a_file_that_cannot_be_read_is_tried_again(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    packed = write(workspace, "memory/2026-03-04.md.gz", "no gzip", on(4))
    reading = read(store, settings, 5)
    assert reading.new == 4 and reading.error is not None and "2026-03-04" in reading.error
    assert read(store, settings, 5).files_read == 0
    packed.unlink()
    assert read(store, settings, 5).error is None


def test_words_without_a_date_are_read_although_their_file_changes_every_night(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "agent"
    settings = with_source(store, root)
    write(root, "MEMORY.md", "- first\n", on(3, 1))
    assert read(store, settings, 2).later == 1
    write(root, "MEMORY.md", "- first\n- second\n", on(4, 1))
    assert read(store, settings, 3).new == 1
    assert known(store)["first"].created_at == on(3, 1) and "second" not in known(store)


def test_what_the_program_wrote_is_not_read_back(store: Store, workspace: Path, tmp_path: Path) -> None:
    write(workspace, "memory/playbook.md", "# Playbook: mail\n\n- do this\n", on(3))
    write(workspace, "memory/report.md", "# Night of 2026-03-02: PASS\n\nall good\n", on(3))
    block = "<!-- memory-pipeline:notes:start -->\n- ours\n<!-- memory-pipeline:notes:end -->\n- theirs\n"
    write(workspace, "memory/2026-03-04.md", block, on(4))
    assert read(store, with_source(store, workspace), 5).new == 5
    fill(store, [candidate("something", native_id="x")])
    export_memories(store, "jsonl", tmp_path / "out.jsonl")
    reading = read(store, with_source(store, tmp_path / "out.jsonl", format="jsonl"), 5, run_id="export")
    assert reading.status == "failed" and "not read back" in str(reading.error)


@pytest.mark.parametrize("how", ["rows", "everything", "series as csv", "series as json", "page", "difference"])
def test_an_export_into_a_workspace_is_not_read_back(store: Store, workspace: Path, how: str) -> None:
    fill(store, [candidate("Something else.", native_id="x")])
    out = workspace / "memory" / "2026-03-01.md"
    if how in ("rows", "everything"):
        export_memories(store, "jsonl", out, everything=how == "everything")
    elif how.startswith("series"):
        export_series(store, how.split()[-1], out)
    else:
        out.write_text((REPORT_MARK if how == "page" else DIFFERENCE_MARK) + "<ul><li>Something</li></ul>\n")
    os.utime(out, (on(1).timestamp(), on(1).timestamp()))
    before = set(known(store))
    assert read(store, with_source(store, workspace), 1).new == 0
    assert set(known(store)) == before


def test_patterns_choose_the_files_and_leave_out_what_holds_no_memories(store: Store, workspace: Path) -> None:
    for name in ("index.md", "subagents/2026-03-02.md", "code-dumps/x.md", "drafts/y.md", "archive/index.md"):
        write(workspace, f"memory/{name}", "- no memory\n", on(3))
    settings = with_source(store, workspace, exclude=("drafts/", "!memory/archive/index.md"))
    assert read(store, settings, 5).files == 4
    only = with_source(store, workspace, include=("MEMORY.md",))
    assert read(store, only, 5, run_id="only").files == 1


def test_a_dry_run_reads_the_sources_and_writes_nothing(store: Store, workspace: Path) -> None:
    fill(store, [candidate("something", native_id="x")])
    before = store.path.read_bytes()
    report = run(store, date(2026, 3, 4), with_source(store, workspace), dry_run=True)
    assert report.entries_new == 4 and store.path.read_bytes() == before


def test_a_source_of_another_store_is_left_alone(store: Store, workspace: Path, tmp_path: Path) -> None:
    source = SourceTable(name="notes", path=str(workspace), store=str(tmp_path / "other.duckdb"))
    settings = settings_for(store, sources=(source,))
    assert of_night(store, settings, date(2026, 3, 4)) == []


@pytest.mark.slow
def test_marks_travel_with_an_export_of_everything(store: Store, workspace: Path, tmp_path: Path) -> None:
    settings = with_source(store, workspace)
    run(store, date(2026, 3, 3), settings)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", on(4))
    run(store, date(2026, 3, 4), settings)
    export_memories(store, "jsonl", tmp_path / "all.jsonl", everything=True)
    other = Store(tmp_path / "other.duckdb")
    reading = read_format("jsonl", tmp_path / "all.jsonl", UTC, NOW, settings, Skipped())
    import_memories(other, reading, project="p", embedder=Lexical(), now=NOW)
    with store.reading() as tx, other.reading() as there:
        assert tx.sources.gone() == there.sources.gone() != []
    assert read(other, settings.with_values({"store.path": str(other.path)}), 4).gone == 0


_LINES = st.lists(
    st.tuples(st.integers(1, 5), st.integers(0, 23), st.sampled_from(["disk full", "mail sent", "disk is full now"])),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@given(_LINES)
@hypothesis_settings(max_examples=4, deadline=None)
def test_live_nights_and_a_backfill_read_the_same(lines: list[tuple[int, int, str]]) -> None:
    """Law 4: a workspace that grows day by day, against the finished one read for the same days."""
    with TemporaryDirectory() as place:
        live, later = (Store(Path(place) / f"{name}.duckdb") for name in ("live", "later"))
        root = Path(place) / "agent"
        for day in range(1, 7):
            told = [line for line in lines if line[0] == day]
            if told:
                text = "".join(f"- {hour:02d}:00 {words}\n" for _, hour, words in told)
                write(root, f"memory/2026-03-{day:02d}.md", text, on(day, 23))
            elif day == 1:
                write(root, "memory/2026-02-27.md", "- 10:00 the first note\n", on(1))
            run(live, date(2026, 3, day), with_source(live, root))
        for day in range(1, 7):
            run(later, date(2026, 3, day), with_source(later, root))
        assert whole(live) == whole(later)
        for day in range(1, 7):
            run(later, date(2026, 3, day), with_source(later, root), run_id=f"again-{day}")
        assert whole(live) == whole(later)


def test_a_reading_says_which_night_takes_what_it_left(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    read(store, settings, 3)
    write(workspace, "memory/2026-03-02.md", "- 10:00 the port is 5433\n", on(6))
    write(workspace, "memory/2026-03-07.md", "- 09:00 the disk is new\n", on(7))
    during = read(store, settings, 3, moment=on(6, 13))
    assert (during.changed, during.edits_later, during.later, during.waits_for) == (1, 1, 1, "2026-03-06")
    assert read(store, settings, 4).status == "unchanged", "what waits is not read again before its night"
    done = read(store, settings, 6)
    assert (done.gone, done.edits_later, done.waits_for) == (1, 0, None)
    assert read(store, settings, 7).new == 1


def test_words_of_a_renamed_file_have_their_successor(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace)
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    of_night(store, settings, yesterday - timedelta(days=1))
    (workspace / "memory" / "2026-03-02.md").unlink()
    renamed = "- 10:00 the port is 5432\n- 11:00 mail to dana@example.org today\n"
    write(workspace, "memory/2026-03-02-ports.md", renamed, on(2))
    of_night(store, settings, yesterday)
    with store.reading() as tx:
        gone = tx.sources.gone()
        memories = tx.memories.read([i for e in gone for i in (e.memory_id, e.superseded_by) if i])
    assert [(memories[e.memory_id].content, memories[e.superseded_by or ""].content) for e in gone] == [
        ("11:00 mail to [REDACTED:email]", "11:00 mail to [REDACTED:email] today")
    ]


def moved_a_night_ago(store: Store, root: Path) -> tuple[Settings, date]:
    """A file of three lines that was read, then moved, and read at its new place; and the newest day that has ended."""
    settings, newest = with_source(store, root), datetime.now(UTC).date() - timedelta(days=1)
    old = datetime.combine(newest - timedelta(days=3), datetime.min.time(), UTC)
    lines = (
        "- Backups of host ada run at 02:00.\n- The printer on floor two uses the driver 7.1.\n- Ms Ortiz calls at 9.\n"
    )
    hosts = write(root, "memory/hosts.md", lines, old)
    run(store, newest - timedelta(days=2), settings, run_id="first")
    (root / "memory/infra").mkdir()
    hosts.rename(root / "memory/infra/hosts.md")
    assert run(store, newest - timedelta(days=1), settings, run_id="moved").entries_gone == 0
    return settings, newest


@pytest.mark.slow
def test_words_of_a_moved_file_are_not_superseded_by_lines_that_quote_them(store: Store, tmp_path: Path) -> None:
    settings, newest = moved_a_night_ago(store, tmp_path / "agent")
    quotes = (
        "- Backups of host ada run at 02:00, as Ortiz said on Monday.\n"
        "- The printer on floor two uses the driver 7.1. (memory/hosts.md:2)\n"
    )
    minutes = datetime.combine(newest, datetime.min.time(), UTC)
    write(tmp_path / "agent", "memory/minutes.md", quotes, minutes)
    report = run(store, newest, settings, run_id="quoted")
    assert (report.entries_changed, report.entries_gone) == (0, 0)
    with store.reading() as tx:
        assert tx.sources.gone() == []
        active = {memory.content for memory in tx.memories.all(include_archived=False)}
    assert "Backups of host ada run at 02:00." in active
    whole(store)


@pytest.mark.slow
def test_a_rollback_of_a_night_that_took_a_vanished_file_leaves_it_to_the_next_one(
    store: Store, tmp_path: Path
) -> None:
    root = tmp_path / "agent"
    settings, newest = moved_a_night_ago(store, root)
    (root / "memory/infra/hosts.md").unlink()
    write(root, "memory/2026-03-02.md", "- 10:00 the port is 5432\n", on(2))
    gone = run(store, newest, settings, run_id="taken").entries_gone
    roll_back(store, settings, RollbackScope(run_id="taken"))
    with store.reading() as tx:
        assert gone > 0 and tx.sources.gone() == []
    assert run(store, newest, settings, run_id="anew").entries_gone > 0
    with store.reading() as tx:
        assert len({one.memory_id for one in tx.sources.gone()}) >= 3
    whole(store)


@pytest.mark.slow
def test_words_that_moved_and_are_edited_there_give_way(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "agent"
    settings, newest = moved_a_night_ago(store, root)
    run(store, newest, settings, run_id="taken")
    text = (root / "memory/infra/hosts.md").read_text().replace("7.1", "7.2")
    write(root, "memory/infra/hosts.md", text, datetime.combine(newest, datetime.min.time(), UTC))
    report = run(store, newest, settings, run_id="edited")
    assert (report.entries_changed, report.entries_gone) == (1, 1)
    with store.reading() as tx:
        active = [memory.content for memory in tx.memories.all(include_archived=False)]
    assert [text for text in active if "driver" in text] == ["The printer on floor two uses the driver 7.2."]
    whole(store)


def test_a_source_without_a_project_keeps_its_own_when_its_directory_moves(store: Store, workspace: Path) -> None:
    settings = with_source(store, workspace, project="")
    assert read(store, settings, 5).new == 4
    moved = workspace.rename(workspace.with_name("elsewhere"))
    settings = with_source(store, moved, project="")
    assert read(store, settings, 6, run_id="moved").status == "unchanged"
    write(moved, "memory/2026-03-06.md", "- 09:00 the fan is loud\n", on(6))
    assert read(store, settings, 6, run_id="grown").new == 1
    assert {memory.project_id for memory in known(store).values()} == {"agent"} and len(known(store)) == 5
    assert [s.project for s in with_known_projects(settings, store).sources] == ["agent"]
