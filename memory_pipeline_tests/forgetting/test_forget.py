"""A person has memories forgotten: their words are nowhere any more, and everything else is as sound as before."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError, StoreError
from memory_pipeline.forgetting.documents import ForgetPreview, Forgotten, forgotten_text
from memory_pipeline.forgetting.forget import Selection, forget, preview
from memory_pipeline.ingest.candidates import FORGOTTEN_BEFORE, Skipped
from memory_pipeline.ingest.importing import import_memories, remember
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import CONTRADICTION, Conflict
from memory_pipeline.store import Store, create_snapshot, list_snapshots, restore_snapshot, verify_snapshot
from memory_pipeline.text.own_words import FORGOTTEN
from memory_pipeline.workspace.exporting import export_to, write_memory
from memory_pipeline_tests.build import FIRST, NOW, candidate, fill, lesson, run, settings_for, sql_rows
from memory_pipeline_tests.consolidation.test_conversations import FIRST_DAY, MONDAY, TUESDAY, read, spoken
from memory_pipeline_tests.forgetting.searching import files_with
from memory_pipeline_tests.ingest.test_whole_export import bring, exported

DAY = date(2026, 3, 2)
#: A word that nothing else says; the third detail of the lesson gets it.
WORD = "quokkaville"
SECRET = "Marta moved to Quokkaville because of her divorce"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A store with a night, two snapshots and a copy that a restore put aside, and the same after a search for the word
    was forgotten."""
    made = {name: tmp_path_factory.mktemp(name) / "data" for name in ("prepared", "without")}
    _prepare(Store(made["prepared"] / "store.duckdb"))
    shutil.copytree(made["prepared"], made["without"])
    _forget(Store(made["without"] / "store.duckdb"), search=WORD)
    return made


@pytest.fixture
def prepared(places: dict[str, Path], tmp_path: Path) -> Store:
    """The store before, alone: each further file takes its time to be written anew."""
    alone = shutil.ignore_patterns("*.snapshots", "*.before-restore-*")
    return Store(shutil.copytree(places["prepared"], tmp_path / "data", ignore=alone) / "store.duckdb")


@pytest.fixture
def without(places: dict[str, Path], tmp_path: Path) -> Store:
    """The store afterwards."""
    return Store(shutil.copytree(places["without"], tmp_path / "after") / "store.duckdb")


def _prepare(store: Store) -> None:
    """A lesson of five notes, one of which says more than the others, a note of its own, a snapshot of before the night
    and the night, and one of afterwards that was restored."""
    notes = lesson(5)
    notes[2] = candidate(f"{notes[2].content} Quokkaville.", notes[2].created_at or FIRST, native_id="gateway-2")
    fill(store, [*notes, candidate(f"{SECRET}.", FIRST, native_id="own"), *lesson(4, topic="printer")])
    create_snapshot(store, "night", datetime(2026, 3, 2, tzinfo=UTC), 7)
    run(store, DAY + timedelta(days=1), snapshot=True)
    create_snapshot(store, "night", datetime(2026, 3, 3, tzinfo=UTC), 7)
    restore_snapshot(store, list_snapshots(store)[-1].name)


def _forget(store: Store, *ids: str, **how: str) -> tuple[ForgetPreview, Forgotten]:
    settings, selection = settings_for(store), Selection(ids, **how)  # type: ignore[arg-type]
    shown = preview(store, settings, selection)
    return shown, forget(store, settings, selection, code=shown.code, actor="pia")


def _sound(store: Store) -> None:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
    store.verify()
    for snapshot in list_snapshots(store):
        verify_snapshot(store, snapshot.name)


def test_what_is_forgotten_stands_in_no_file_any_more(places: dict[str, Path], without: Store) -> None:
    said = files_with(places["prepared"], WORD)
    for place in ("store.duckdb", "store.snapshots", "before-restore"):
        assert any(place in file for file in said), place
    assert files_with(without.path.parent, WORD, "divorce", "gateway-2") == []
    assert list(without.path.parent.glob("*.before-restore-*"))
    _sound(without)


def test_the_preview_writes_nothing_and_names_what_goes(prepared: Store) -> None:
    before = prepared.path.read_bytes()
    shown = preview(prepared, settings_for(prepared), Selection(("gateway-2",)))
    assert prepared.path.read_bytes() == before
    assert "gateway-2" in {memory.id for memory in shown.memories}
    assert any(memory.why == "made from it" for memory in shown.memories)
    assert {"gateway-0", "gateway-1", "gateway-3"} <= set(shown.active_again)


@pytest.mark.slow
def test_other_sources_are_active_again_and_the_next_night_makes_it_again(prepared: Store) -> None:
    _forget(prepared, "gateway-2", "own")
    with prepared.reading() as tx:
        active = {memory.id for memory in tx.memories.all(include_archived=False)}
    assert {"gateway-0", "gateway-1", "gateway-3", "gateway-4"} <= active
    report = run(prepared, DAY + timedelta(days=2))
    assert report.memories_archived >= 3
    assert files_with(prepared.path.parent, WORD) == []
    _sound(prepared)


def test_no_import_brings_it_back(without: Store) -> None:
    again = [
        candidate(f"{SECRET}.", FIRST, native_id="own"),  # the same row
        candidate(f"  *{SECRET.upper()}*", FIRST + timedelta(days=1), native_id="renamed"),  # from another file
        candidate("own has other words now", FIRST, native_id="own"),  # under the same id
        candidate("Something else", FIRST, native_id="fresh"),
    ]
    summary = fill(without, again, embedder=Lexical())
    summary.note_skipped(Skipped())  # what its reader left out is counted beside
    assert summary.imported == 1 and summary.skipped == {FORGOTTEN_BEFORE: 3}
    assert files_with(without.path.parent, WORD) == []
    with pytest.raises(InputError, match="had it forgotten"):
        remember(without, candidate(f"{SECRET}."), "p", Lexical(), actor="agent", now=NOW, mask=True)
    assert (
        fill(without, [candidate(f"{SECRET}.", native_id="q")], "q", Lexical()).imported == 1
    )  # nothing crosses projects


@pytest.mark.slow
def test_a_masked_note_is_known_again_when_it_comes_unmasked(store: Store) -> None:
    note = "Mail the plan to marta.ferro@example.com tomorrow"
    fill(store, [candidate(note, native_id="mail")])
    _forget(store, "mail")
    again = iter([candidate(note, native_id="mail-2")])
    summary = import_memories(store, again, project="p", embedder=Lexical(), now=NOW, mask=False)
    assert summary.imported == 0


def test_history_tells_who_and_when_and_no_words(without: Store) -> None:
    with without.reading() as tx:
        events = tx.history.of("own")
        tombstone = tx.forgotten.find("own")
    assert [event.action for event in events][-1] == "forget"
    assert events[-1].actor == "pia" and tombstone is not None


@pytest.mark.slow
def test_the_hashes_that_stay_tell_nothing_of_short_words(store: Store, tmp_path: Path) -> None:
    """Two stores that forget the same have no hash in common, nor any plain digest of the words or the id."""
    hashes = []
    for name in ("one", "two"):
        other = Store(tmp_path / name / "store.duckdb")
        fill(other, [candidate("yes, cancer", FIRST, native_id="own")], embedder=Lexical())
        _forget(other, "own")
        with other.reading() as tx:
            hashes.append(
                {str(value) for row in sql_rows(tx, "select memory_id, words_hash from forgotten") for value in row}
            )
    assert not hashes[0] & hashes[1]


@pytest.mark.slow
def test_rollbacks_of_earlier_nights_still_work_and_bring_nothing_back(without: Store) -> None:
    result = roll_back(without, settings_for(without), RollbackScope(run_id=f"run-{DAY + timedelta(days=1)}"))
    assert not any(WORD in memory.content.casefold() for memory in (*result.restored, *result.retired))
    with without.reading() as tx:
        assert {f"printer-{n}" for n in range(4)} <= {m.id for m in tx.memories.all(include_archived=False)}
    _sound(without)


@pytest.mark.slow
def test_snapshots_are_whole_and_can_be_restored_without_it(without: Store) -> None:
    names = [snapshot.name for snapshot in list_snapshots(without)]
    assert [name.partition("-")[2] for name in names] == ["night", "night", "forget"]
    restore_snapshot(without, names[0])
    _sound(without)
    assert files_with(without.path.parent, WORD) == []
    assert fill(without, [candidate(f"{SECRET}.", FIRST, native_id="own")], embedder=Lexical()).imported == 0


def test_something_else_than_was_shown_is_not_forgotten(prepared: Store) -> None:
    settings, selection = settings_for(prepared), Selection(search=WORD)
    code = preview(prepared, settings, selection).code
    fill(prepared, [candidate("Quokkaville is nice", native_id="later")], embedder=Lexical())
    before = prepared.path.read_bytes()
    with pytest.raises(InputError, match="look again"):
        forget(prepared, settings, selection, code=code, actor="pia")
    assert prepared.path.read_bytes() == before


def _history_without(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch, says: str, values: tuple[str, str], row: tuple[str, ...]
) -> tuple[str, ...]:
    """A row of Dagster's history after one of two notes that contradict each other in these values was forgotten."""
    ids = [f"with-{value}" for value in values]
    fill(store, [candidate(says.format(v), FIRST, native_id=i) for i, v in zip(ids, values, strict=True)])
    fill(store, [candidate("Also open: 180 / 443.", FIRST, native_id="stays")])
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", *sorted(ids), CONTRADICTION, " / ".join(values), 0.9)], FIRST)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    home.mkdir()
    with closing(sqlite3.connect(home / "events.db")) as database:
        database.execute(f"create table events ({', '.join(f'c{n} text' for n in range(len(row)))})")
        database.execute(f"insert into events values ({', '.join('?' * len(row))})", row)
        database.commit()
    _forget(store, ids[1])
    with closing(sqlite3.connect(home / "events.db")) as database:
        (kept,) = database.execute("select * from events").fetchall()
    return tuple(kept)


@pytest.mark.slow
def test_the_words_of_a_conflict_go_from_the_history_of_runs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays = "- 7b21 contradiction: 180 / 443 (cosine 0.950, project p)"
    event = {
        "summary": f"# Night\n- 3f0c contradiction: 80 / 443 (cosine 0.900, project p)\n{stays}\n2 memories",
        "conflicts": [{"detail": "80 / 443"}, {"detail": "180 / 443"}],
        "other": "70 / 443",
    }
    says, values = "The gateway listens on port {}.", ("80", "443")
    (kept,) = _history_without(store, tmp_path / "dagster", monkeypatch, says, values, (json.dumps(event),))
    assert json.loads(kept) == {
        "summary": f"# Night\n{FORGOTTEN}\n{stays}\n2 memories",
        "conflicts": [{"detail": FORGOTTEN}, {"detail": "180 / 443"}],
        "other": "70 / 443",
    }


@pytest.mark.slow
def test_figures_of_a_conflict_that_is_forgotten_stay_in_times_and_versions(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ("2026-03-12 10:11:12.345678", "1.10.11", '{"at": "2026-03-12T10:11:00", "step": "10/11"}')
    says = "The backup starts at {} o'clock."
    assert _history_without(store, tmp_path / "dagster", monkeypatch, says, ("10", "11"), row) == row


@pytest.mark.slow
def test_a_person_chooses_among_what_a_search_found(prepared: Store) -> None:
    settings = settings_for(prepared)
    found = [m.id for m in preview(prepared, settings, Selection(search=WORD)).memories if m.place]
    selection = Selection(search=WORD, only=(found.index("own") + 1,))
    shown = preview(prepared, settings, selection)
    forget(prepared, settings, selection, code=shown.code, actor="pia")
    with prepared.reading() as tx:
        assert "gateway-2" in tx.memories.read(["gateway-2"]) and not tx.memories.read(["own"])


def test_nothing_but_a_forgetting_changes_what_a_memory_says_or_deletes_it(without: Store) -> None:
    for statement in (
        "update memories set content = 'x' where id = 'gateway-0'",
        "update memories set id = 'x' where id = 'gateway-0'",
        "delete from memories where id = 'gateway-0'",
        "delete from memories where starts_with(id, 'forgotten:')",
    ):
        with pytest.raises((StoreError, duckdb.Error), match="law 1"), without.writing("somebody") as tx:
            sql_rows(tx, statement)
    _sound(without)


@pytest.mark.slow
def test_copies_of_the_words_go_with_them(prepared: Store) -> None:
    fill(prepared, [candidate(f"- **{SECRET}**", FIRST + timedelta(days=3), native_id="copy")], embedder=Lexical())
    shown, _ = _forget(prepared, "own")
    assert {m.id: m.why for m in shown.memories}["copy"] == "the same words"
    with prepared.reading() as tx:
        assert not tx.memories.read(["copy"])


@pytest.mark.slow
def test_a_turn_goes_with_what_was_extracted_from_it(store: Store) -> None:
    settings = settings_for(store)
    fill(store, [*FIRST_DAY, *spoken(TUESDAY, "I work as a nurse in Quokkaville.", "I live in Lisbon.")])
    read(store, settings, MONDAY, TUESDAY)
    with store.reading() as tx:
        assert any(WORD in one.text.casefold() for one in tx.conversations.standing("p"))
    _forget(store, search=WORD)
    assert files_with(store.path.parent, WORD, "nurse") == []
    read(store, settings, MONDAY, TUESDAY)
    with store.reading() as tx:
        said = [one.text for one in tx.conversations.standing("p")]
    assert said and not any("nurse" in text for text in said)
    assert files_with(store.path.parent, WORD, "nurse") == []
    _sound(store)


def test_a_whole_conversation_or_file_is_found_by_its_name(store: Store) -> None:
    fill(store, [*FIRST_DAY, candidate("A note of another file.", native_id="note")])
    settings = settings_for(store)
    shown = preview(store, settings, Selection(conversation="test"))
    assert {memory.id for memory in shown.memories} == {turn.native_id for turn in FIRST_DAY}
    assert preview(store, settings, Selection(source="test.jsonl")).going == len(FIRST_DAY) + 1
    with pytest.raises(InputError, match="nothing in the store matches --conversation 'other'"):
        preview(store, settings, Selection(conversation="other"))


@pytest.mark.slow
def test_a_rejected_row_of_a_file_goes_and_stays_away(store: Store) -> None:
    fill(store, [candidate("fine", native_id="fine")])

    def reject() -> None:
        with store.writing("import") as tx:
            tx.journal.keep_quarantine([("notes.jsonl", 3, "not a row", f"{{broken {SECRET}")], NOW)

    reject()
    _forget(store, source="notes.jsonl")
    assert files_with(store.path.parent, WORD) == []
    reject()
    assert files_with(store.path.parent, WORD) == []


@pytest.mark.slow
def test_what_is_imported_of_an_earlier_full_export_has_nothing_of_it(prepared: Store, tmp_path: Path) -> None:
    before = exported(prepared).rename(tmp_path / "before.jsonl")
    _forget(prepared, search=WORD)
    bring(prepared, before)
    assert files_with(prepared.path.parent, WORD) == []
    _sound(prepared)


def test_a_full_export_carries_the_tombstones_to_another_store(without: Store, tmp_path: Path) -> None:
    file = exported(without)
    other = Store(tmp_path / "other" / "store.duckdb")
    bring(other, file)
    _sound(other)
    assert fill(other, [candidate(f"{SECRET}.", FIRST, native_id="own")], embedder=Lexical()).imported == 0


@pytest.mark.slow
def test_pages_and_exports_are_made_again_without_it(prepared: Store, tmp_path: Path) -> None:
    settings, elsewhere = settings_for(prepared), tmp_path / "agent"
    office = candidate("We decided to open an office in Quokkaville.", memory_type="decision", importance=2.9)
    fill(prepared, [office], embedder=Lexical())
    write_memory(prepared, settings, "p")
    export_to(prepared, settings, "openclaw", elsewhere, project="p")
    files = [tmp_path / "copies" / name for name in ("rows.jsonl", "rows.parquet", "all.jsonl")]
    files[0].parent.mkdir()
    for file in files:
        export_to(prepared, settings, file.suffix[1:], file, everything=file.stem == "all")
    claude = tmp_path / "claude"
    export_to(prepared, settings, "claude-code", claude, project="p")
    pages = [path for path in claude.iterdir() if WORD in path.read_text().casefold()]
    assert any(WORD in path.name for path in pages)
    assert files_with(prepared.path.with_suffix(".pages"), WORD) and files_with(elsewhere, WORD)
    (going, *_) = preview(prepared, settings, Selection(search=WORD)).memories
    report = settings.reports_path / "ids.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(json.dumps({"archived": [going.id]}))
    shown, done = _forget(prepared, search=WORD)
    assert str(report) in done.files
    assert sorted(shown.files) == sorted(done.files), "what is announced is what is cleaned; pages are made again"
    assert files_with(prepared.path.parent, WORD) == []
    assert not any("(forgotten)" in page.read_text() for page in prepared.path.with_suffix(".pages").rglob("*.md"))
    # An export that no setting names is not made again: it is named.
    assert all(any(path.startswith(str(place)) for path in done.exports) for place in (elsewhere, *files, *pages))
    told = forgotten_text(done)
    assert "none says any of it" in told and done.problems == () and "Could not be made again" not in told
    assert told.index("none says any of it") < told.index("Exports that still say it") < told.index(str(files[0]))
