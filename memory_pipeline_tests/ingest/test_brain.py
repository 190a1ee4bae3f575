"""A `brain.db`, in the schemas of `brain.py` (UnifiedBrain) and of its predecessor, becomes memories and atoms."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import ImportSummary
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.past import diff_states, read_state
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Memory
from memory_pipeline.store import Store
from memory_pipeline_tests.build import run, settings_for
from memory_pipeline_tests.ingest.brains import EARLIER, blob, brain, change, noted, rows_of
from memory_pipeline_tests.ingest.bring import bring as bring_format

GATEWAY = "Restart the payment gateway after rotating its key."


class MiniLmInName(Lexical):
    """An embedder that calls itself the built-in model."""

    name = "all-MiniLM-L6-v2"


def bring(store: Store, path: Path, zone: str = "UTC") -> ImportSummary:
    changes = {"project": "p", "embedder": MiniLmInName(), "embedding__model": "minilm"}
    return bring_format(store, path, "brain", zone=ZoneInfo(zone), **changes)


def memories(store: Store) -> dict[str, Memory]:
    with store.reading() as tx:
        return {memory.id: memory for memory in tx.memories.all()}


def vector_of(store: Store, memory_id: str) -> np.ndarray:
    with store.reading() as tx:
        return tx.vectors.read([memory_id], "all-MiniLM-L6-v2", 384)[1][0]


def test_memories_keep_id_words_categories_importance_and_time(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", noted(1, GATEWAY, "2026-03-01T09:00:00.000001", 2.0))
    change(path, "update stm set access_count = 4")
    assert bring(store, path, "Europe/Lisbon").imported == 1
    found = memories(store)["brain:stm_000000000001"]
    assert (found.content, found.categories, found.importance, found.reuse_count) == (GATEWAY, ("ops",), 2.0, 4)
    assert found.created_at == datetime(2026, 3, 1, 9, 0, 0, 1, tzinfo=UTC)
    assert (found.source.connector, found.source.file) == ("brain", "brain.db")
    assert bring(store, path, "Europe/Lisbon").unchanged == 1


def test_naive_times_are_of_the_zone_that_is_given(store: Store, tmp_path: Path) -> None:
    path = brain(
        tmp_path / "brain.db",
        noted(1, GATEWAY, "2026-03-01T09:00:00"),
        noted(2, "b", "2026-03-01T09:00:00Z"),
    )
    bring(store, path, "America/New_York")
    found = memories(store)
    assert found["brain:stm_000000000001"].created_at == datetime(2026, 3, 1, 14, tzinfo=UTC)
    assert found["brain:stm_000000000001"].utc_offset == -300
    assert found["brain:stm_000000000002"].created_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_the_earlier_schema_is_read_too(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "b.db", ("m1", GATEWAY, "ops", 1.0, "2026-03-01T09:00:00"), schema=EARLIER)
    change(path, "insert into embeddings values ('m1', ?)", (blob(np.eye(384)[7]),))
    assert importer_of("brain").evidence(path) == "a table 'memories' of memories with their categories"
    assert bring(store, path).imported == 1
    assert memories(store)["brain:m1"].categories == ("ops",)
    assert vector_of(store, "brain:m1")[7] == pytest.approx(1.0)


def test_a_category_may_stand_alone(store: Store, tmp_path: Path) -> None:
    schema = EARLIER.replace("categories text", "category text")
    with closing(sqlite3.connect(tmp_path / "b.db")) as connection, connection:
        connection.executescript(schema)
        connection.execute(f"insert into memories values ('m1', '{GATEWAY}', 'ops', 1.0, '2026-03-01T09:00:00')")
    assert importer_of("brain").evidence(tmp_path / "b.db")
    assert bring(store, tmp_path / "b.db").imported == 1
    assert memories(store)["brain:m1"].categories == ("ops",)


def test_vectors_are_taken_over_only_where_they_are_ours_whole_and_of_these_words(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *(noted(n, f"{GATEWAY} Case {n} of it.") for n in range(7)))
    unit, nan = np.eye(384)[3], np.full(384, np.nan)
    texts = [f"{GATEWAY} Case {n} of it." for n in range(7)]
    for n, (vector, model, content, kind) in enumerate(
        [
            (blob(unit), "all-MiniLM-L6-v2", texts[0], "stm"),
            (blob(unit * 5), "sentence-transformers/all-MiniLM-L6-v2", texts[1], "stm"),
            (blob(unit), "bge-small", texts[2], "stm"),
            (blob(nan), "all-MiniLM-L6-v2", texts[3], "stm"),
            (blob(unit[:100]), "all-MiniLM-L6-v2", texts[4], "stm"),
            (blob(unit), "all-MiniLM-L6-v2", "what it said before it was edited", "stm"),
            (blob(unit), "all-MiniLM-L6-v2", texts[6], "atom"),
        ]
    ):
        row = (f"e{n}", kind, f"stm_{n:012x}", content, vector, model)
        change(path, "insert into embeddings values (?, ?, ?, ?, ?, ?, '2026')", row)
    change(path, "insert into embeddings values ('x', 'stm', 'gone', 'deleted words', ?, 'm', '2026')", (blob(unit),))
    brought = bring(store, path)
    assert (brought.imported, brought.embedded, brought.quarantined) == (7, 5, 0)
    taken = [n for n in range(7) if vector_of(store, f"brain:stm_{n:012x}")[3] > 0.999]
    assert taken == [0, 1]
    assert not any("deleted words" in memory.content for memory in memories(store).values())


def test_a_vector_of_words_that_were_masked_is_made_again(store: Store, tmp_path: Path) -> None:
    text = "Write to dana.miller@example.org when the gateway fails at night."
    path = brain(tmp_path / "brain.db", noted(1, text))
    row = ("e", "stm", "stm_000000000001", text, blob(np.eye(384)[3]), "all-MiniLM-L6-v2")
    change(path, "insert into embeddings values (?, ?, ?, ?, ?, ?, '2026')", row)
    assert bring(store, path).embedded == 1


def test_atoms_come_with_their_sources_and_only_once(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", noted(1, GATEWAY))
    change(
        path,
        "insert into atoms (id, subject, action, outcome, consequences, confidence, created_at, source_memory_id) "
        "values (?, 'gateway', 'rotate its key', 'orders fail', '', ?, '2026-03-01T10:00:00', ?)",
        ("atom_1", 0.6, "stm_000000000001"),
        ("atom_2", 1.0, "stm_gone"),
        ("atom_3", 7, None),
    )
    first = bring(store, path)
    assert "2 causal atoms imported, 0 known already." in first.notes
    assert [row.reason for row in first.rejected] == ["the atom's confidence is 7; use 0 to 1"]
    assert "0 causal atoms imported, 2 known already." in bring(store, path).notes
    with store.reading() as tx:
        found = {atom.id: atom for atom in tx.atoms.read("p")}
        assert tx.integrity.check(deep=True) == []
    assert found["brain:atom_1"].source_ids == ("brain:stm_000000000001",)
    assert (found["brain:atom_1"].confidence, found["brain:atom_2"].source_ids) == (0.6, ())


def test_what_the_agent_pinned_stays_pinned(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db")
    change(
        path, "insert into working_memory values ('wm_1', 'rule', 'Never deploy on Fridays.', '2026-03-01T09:00', 1)"
    )
    bring(store, path)
    found = memories(store)["brain:wm_1"]
    assert (found.pinned, found.categories, found.content) == (True, ("rule",), "Never deploy on Fridays.")


def test_expired_memories_are_archived_for_that_and_prolonged_ones_come_back(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", noted(1, "soon gone"), noted(2, "long gone"), noted(3, "odd"))
    for n, until in ((1, "2031-01-01T00:00:00"), (2, "2026-03-02T00:00:00"), (3, "never")):
        change(path, "update stm set expires_at = ? where id = ?", (until, f"stm_{n:012x}"))
    change(path, "update stm set importance = 1.5")
    brought = bring(store, path)
    assert (brought.imported, brought.expired, brought.skipped) == (3, 1, {})

    def archived() -> dict[str, tuple[str | None, float]]:
        with store.reading() as tx:
            assert tx.integrity.check(deep=True) == []
        return {one.content: (one.archived_by, one.importance) for one in memories(store).values()}

    before = archived()
    assert before == {"soon gone": (None, 1.5), "long gone": ("expired", 0.5), "odd": (None, 1.5)}
    change(path, "update stm set expires_at = '2031-01-01T00:00:00' where content = 'long gone'")
    change(path, "update stm set expires_at = '2026-03-03T00:00:00' where content = 'odd'")
    bring(store, path)
    assert archived() == {"soon gone": (None, 1.5), "long gone": (None, 1.5), "odd": ("expired", 0.5)}


def test_an_expired_memory_is_found_at_half_weight(store: Store, tmp_path: Path) -> None:
    path = brain(
        tmp_path / "brain.db", noted(1, "The relay restarts at noon."), noted(2, "The relay restarts at night.")
    )
    change(path, "update stm set expires_at = '2026-03-03T00:00:00' where id = ?", (f"stm_{1:012x}",))
    bring(store, path)
    memory = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=MiniLmInName())
    found = memory.search("the relay restarts at noon").results
    assert sorted((one.id, one.archived) for one in found) == [(f"brain:stm_{n:012x}", n == 1) for n in (1, 2)]
    assert memory.search("the relay restarts", archived=False).total_found == 1
    changes = diff_states(read_state(store, "2026-03-01"), read_state(store, "now"))
    assert [one.why for one in changes.gone] == ["its time was over in its source"]
    assert "when its time was over in its source" in str(memory.feedback(f"brain:stm_{1:012x}", True).note)


def test_a_bad_row_costs_itself_alone(store: Store, tmp_path: Path) -> None:
    path = brain(
        tmp_path / "brain.db",
        noted(1, "good"),
        ("stm_time", "bad time", "[]", 1.0, "yesterday"),
        ("stm_blob", b"\x00\xff", "[]", 1.0, "2026-03-01"),
        ("stm_future", "ahead", "[]", 1.0, "2036-03-01"),
        ("stm_high", "important", "not json [", 9.5, "2026-03-01T09:00:00"),
        ("stm_endless", "too important", "[]", float("inf"), "2026-03-01T09:00:00"),
        ("stm_empty", "   ", "[]", 1.0, "2026-03-01T09:00:00"),
        ("stm_nul", "nul \x00 inside", "[]", 1.0, "2026-03-01T09:00:00"),
    )
    change(
        path, "insert into stm (id, content, created_at) values ('stm_bytes', cast(x'66ff66' as text), '2026-03-01')"
    )
    brought = bring(store, path)
    assert sorted(memories(store)) == ["brain:stm_000000000001", "brain:stm_high"]
    assert memories(store)["brain:stm_high"].importance == 3.0
    assert brought.quarantined == 7 and {row.file for row in brought.rejected} == {"brain.db"}


def test_what_another_program_compressed_comes_with_its_lineage(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", *(noted(n, f"{GATEWAY} Case {n}.") for n in range(3)), noted(9, GATEWAY))
    change(path, "alter table stm add column compressed_from text")
    change(path, "alter table stm add column archived_by text")
    ids = [f"stm_{n:012x}" for n in range(3)]
    change(path, "update stm set compressed_from = ? where id = 'stm_000000000009'", (str(ids).replace("'", '"'),))
    change(path, "update stm set archived_by = 'c1', importance = 0.5 where id <> 'stm_000000000009'")
    bring(store, path)
    found = memories(store)
    assert [found[f"brain:{one}"].consolidated_into_id for one in ids] == ["brain:stm_000000000009"] * 3
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


def test_a_running_program_s_log_is_read_and_its_file_never_written(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", noted(1, "in the file"))
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("insert into stm (id, content, created_at) values ('stm_2', 'in the log', '2026-03-01')")
        agent.commit()
        before = path.read_bytes()
        assert bring(store, path).imported == 2
        assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_brain_in_a_directory_that_cannot_be_written_to_is_read(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "ro"
    place.mkdir()
    path = brain(place / "brain.db", noted(1, "kept"))
    place.chmod(0o500)
    try:
        assert bring(store, path).imported == 1
    finally:
        place.chmod(0o700)


def test_what_is_no_brain_is_refused_in_words(store: Store, tmp_path: Path) -> None:
    for name, content in (("a.db", b""), ("b.db", b"SQLite format 3\x00 and nothing"), ("c.db", b"text")):
        (tmp_path / name).write_bytes(content)
        assert importer_of("brain").evidence(tmp_path / name) is None
        with pytest.raises(InputError, match=r"cannot be read as an SQLite file|no table"):
            bring(store, tmp_path / name)


@pytest.mark.slow
def test_a_night_reads_it_as_of_its_day_and_again_when_the_log_grew(store: Store, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    path = brain(tmp_path / "own" / "brain.db", noted(1, GATEWAY))
    change(
        path,
        "insert into atoms (id, subject, action, outcome, consequences, created_at) values (?, 's', 'a', 'o', '', ?)",
        ("atom_1", "2026-03-01T10:00:00"),
        ("atom_2", "2026-03-03T10:00:00"),
    )
    source = SourceTable(name="brain", format="brain", path=str(path), project="p")
    settings = settings_for(store, sources=(source,))
    run(store, date(2026, 3, 1), settings)
    assert list(memories(store)) == ["brain:stm_000000000001"]
    with store.reading() as tx:
        assert [atom.id for atom in tx.atoms.read()] == ["brain:atom_1"]
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("insert into stm (id, content, created_at) values ('stm_2', 'in the log', '2026-03-02T09:00')")
        agent.commit()
        run(store, date(2026, 3, 2), settings)
        assert set(memories(store)) == {"brain:stm_000000000001", "brain:stm_2"}
    run(store, date(2026, 3, 3), settings)
    with store.reading() as tx:
        assert [atom.id for atom in tx.atoms.read()] == ["brain:atom_1", "brain:atom_2"]


def test_a_deleted_memory_leaves_nothing_that_is_read(store: Store, tmp_path: Path) -> None:
    path = brain(tmp_path / "brain.db", noted(1, "kept"), noted(2, "secret wish"))
    row = ("e", "stm", "stm_000000000002", "secret wish", blob(np.eye(384)[1]), "all-MiniLM-L6-v2")
    change(path, "insert into embeddings values (?, ?, ?, ?, ?, ?, '2026')", row)
    change(path, "delete from stm where content = 'secret wish'")
    bring(store, path)
    assert [memory.content for memory in memories(store).values()] == ["kept"]
    assert rows_of(path, "select count(*) from embeddings") == [(1,)]


def test_of_a_long_text_the_vector_is_of_its_beginning(store: Store, tmp_path: Path) -> None:
    text = "The relay forwards every order to the warehouse. " * 40
    path = brain(tmp_path / "brain.db", noted(1, text))
    row = ("e", "stm", "stm_000000000001", text[:1000], blob(np.eye(384)[3]), "all-MiniLM-L6-v2")
    change(path, "insert into embeddings values (?, ?, ?, ?, ?, ?, '2026')", row)
    assert bring(store, path).embedded == 0
