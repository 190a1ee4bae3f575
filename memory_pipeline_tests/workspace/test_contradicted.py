"""What agents read of notes that a newer one supersedes or a later one contradicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.records import CONTRADICTION, LIKELY, Conflict, SourceEntry
from memory_pipeline.store import Store
from memory_pipeline.workspace.contents import Contents, contents_of
from memory_pipeline.workspace.memory_pages import MOST_BYTES
from memory_pipeline.workspace.openclaw import OF_ONE_DAY, OpenClawExport
from memory_pipeline.workspace.start_file import CONTRADICTED, STANDING, SUPERSEDED
from memory_pipeline_tests.build import FIRST, candidate, fill, memory, run
from memory_pipeline_tests.workspace.exporting import export, state

DAY = (FIRST + timedelta(days=3)).date()


@pytest.mark.usefixtures("judged")
def test_what_a_newer_note_supersedes_is_not_loaded(store: Store, tmp_path: Path) -> None:
    texts = ("The database port of the shop is 5432.", "The database port of the shop is 5433.")
    rows = [
        candidate(text, FIRST + timedelta(days=n), native_id=f"n{n}", memory_type="fact")
        for n, text in enumerate(texts)
    ]
    fill(store, rows)
    run(store, DAY)
    done = export(store, "openclaw", tmp_path)
    text = (tmp_path / "MEMORY.md").read_text()
    chosen, _, log = text.partition("## From the log")
    assert "5433." in chosen and "5433" not in log and "5432" not in text and "otherwise" not in text
    assert done.left_out[SUPERSEDED] == 1


@pytest.mark.parametrize("is_gone", [False, True])
def test_what_may_not_be_told_supersedes_nothing(store: Store, is_gone: bool) -> None:
    texts = ("The gateway listens on port 8080.", "The gateway listens on port 9090.")
    fill(store, [candidate(text, FIRST + timedelta(days=n), native_id=f"n{n}") for n, text in enumerate(texts)])
    gone_at = FIRST + timedelta(days=3) if is_gone else None
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", "n0", "n1", "contradiction", "8080 / 9090", 0.9)], FIRST)
        tx.sources.keep_entries([SourceEntry("notes", "n1", "notes.md", gone_at)])
    assert contents_of(store, "p").superseded == ({} if is_gone else {"n0": "n1"})


@pytest.mark.parametrize("name", ["openclaw", "claude-code", "obsidian"])
@pytest.mark.parametrize(("before", "is_likely"), [("", False), ("stale", False), ("stale", True)])
def test_what_a_later_note_contradicts_never_stands_alone(
    store: Store, tmp_path: Path, name: str, before: str, is_likely: bool
) -> None:
    """Also where the classifier takes the later one for routine, where an export of the earlier one is there, and where
    it is only likely, of which nothing is said."""
    texts = {
        "old": "The tool shed of the allotment has no electricity.",
        "log": "Rain all day, 14 degrees.",
        "new": "Elektrik is in.",
    }
    notes = [candidate(text, FIRST + timedelta(n), native_id=i) for n, (i, text) in enumerate(texts.items())]
    fill(store, notes[:1] if before else notes)
    if before:
        export(store, name, tmp_path)
        fill(store, notes)
    vectors = MiniLM().embed(list(texts.values()))
    with store.writing("test") as tx:
        tx.vectors.add(list(texts), vectors, MiniLM.name)
        kind = LIKELY if is_likely else CONTRADICTION
        tx.conflicts.record([Conflict("p", "new", "old", kind, "in other words", 0.6)], FIRST)
    known_now = contents_of(store, "p")
    assert "old" in known_now.lasting and "new" in known_now.lasting and "new" not in known_now.noise
    export(store, name, tmp_path)
    index = tmp_path / ("Memory.md" if name == "obsidian" else "MEMORY.md")
    lines = [line for line in index.read_text().splitlines() if line.startswith("- ")]
    (first,) = (place for place, line in enumerate(lines) if "Elektrik" in line)
    assert "electricity" in lines[first + 1] and "otherwise" not in lines[first]
    told = " ".join(file.read_text() for file in tmp_path.rglob("*.md"))
    assert ("a later note of 2026-03-03 says otherwise" in told) is not is_likely
    again = state(tmp_path)
    export(store, name, tmp_path)
    assert state(tmp_path) == again


def contradicting(store: Store, pairs: Sequence[str], **notes: tuple[str, Mapping[str, object]]) -> None:
    """A store with these notes, one a day, of which `pairs` contradict each other."""
    rows = [
        candidate(text, FIRST + timedelta(n), native_id=i, **{"memory_type": "fact", **fields})  # type: ignore[arg-type]
        for n, (i, (text, fields)) in enumerate(notes.items())
    ]
    fill(store, rows)
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", *pair, "contradiction", "in other words", 0.6) for pair in pairs], FIRST)


@pytest.mark.parametrize(("is_rule", "sections"), [(False, ["Facts"]), (True, ["Rules", "Facts"])])
def test_an_earlier_decision_stands_where_what_contradicts_it_stands_but_no_rule_does(
    store: Store, tmp_path: Path, is_rule: bool, sections: list[str]
) -> None:
    old = {"memory_type": "decision", "tags": ("kind:rule",) if is_rule else ()}
    contradicting(store, ["ba"], a=("The shed stays without electricity.", old), b=("Elektrik is in.", {}))
    export(store, "openclaw", tmp_path)
    text = (tmp_path / "MEMORY.md").read_text()
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == sections
    assert (text.index("Elektrik") < text.index("The shed stays")) is not is_rule
    assert "The shed stays without electricity. (a later note of 2026-03-02 says otherwise)" in text


@pytest.mark.parametrize("name", ["openclaw", "claude-code"])
@pytest.mark.parametrize("is_temporary", [False, True])
def test_what_a_superseded_note_contradicts_is_left_out_and_what_a_temporary_one_does_is_marked(
    store: Store, tmp_path: Path, name: str, is_temporary: bool
) -> None:
    until = {"tags": ("temporary",)} if is_temporary else {}
    newer = {} if is_temporary else {"c": ("The shed has 32 ampere.", {})}
    pairs = ["ba"] if is_temporary else ["ba", "cb"]
    contradicting(store, pairs, a=("No power there.", {}), b=("The shed has 16 ampere.", until), **newer)
    done = export(store, name, tmp_path)
    told = " ".join(file.read_text() for file in tmp_path.rglob("*.md"))
    assert "16 ampere" not in told and ("32 ampere" in told) is not is_temporary
    assert ("No power there" in told) == ("a later note of 2026-03-02 says otherwise" in told) == is_temporary
    assert done.left_out.get(CONTRADICTED, 0) == (not is_temporary)


@pytest.mark.parametrize("name", ["openclaw", "claude-code"])
def test_a_rule_stands_marked_also_where_what_contradicts_it_is_superseded(
    store: Store, tmp_path: Path, name: str
) -> None:
    rule = ("Never put power into the shed.", {"tags": ("kind:rule",)})
    later = {"b": ("The shed has 16 ampere.", {}), "c": ("The shed has 32 ampere.", {})}
    contradicting(store, ["ba", "cb"], a=rule, **later)
    export(store, name, tmp_path)
    told = " ".join(file.read_text() for file in tmp_path.rglob("*.md"))
    assert "Never put power into the shed" in told and "a later note of 2026-03-02 says otherwise" in told


@pytest.mark.parametrize("named", ["b1", "b2"])
def test_of_notes_in_the_same_words_one_is_a_line_whichever_contradicts(
    store: Store, tmp_path: Path, named: str
) -> None:
    texts = {"old": "The shed has no electricity.", "b1": "Elektrik is in.", "b2": "Elektrik is in.", "x": "A lamp."}
    days = {"old": 0, "b1": 1, "b2": 1, "x": 0}
    rows = [candidate(text, FIRST + timedelta(days[i]), native_id=i, memory_type="fact") for i, text in texts.items()]
    fill(store, rows)
    with store.writing("test") as tx:
        tx.memories.count_uses({}, {"old": 1})
        tx.conflicts.record([Conflict("p", named, "old", "contradiction", "in other words", 0.6)], FIRST)
    done = export(store, "openclaw", tmp_path)
    lines = [line for line in (tmp_path / "MEMORY.md").read_text().splitlines() if line.startswith("- ")]
    assert [line for line in lines if "lamp" not in line] == [
        "- 2026-03-02: Elektrik is in.",
        "- 2026-03-01: The shed has no electricity. (a later note of 2026-03-02 says otherwise)",
    ]
    assert "lamp" in lines[0] + lines[2] and done.left_out[STANDING] == 1


def test_what_contradicts_a_line_of_a_log_is_a_line_of_a_log(store: Store, tmp_path: Path) -> None:
    texts = {"wet": "Rain all day, 14 degrees.", "dry": "No rain all day, went for a walk.", "tea": "Dana likes tea."}
    fill(store, [candidate(text, FIRST + timedelta(n), native_id=i) for n, (i, text) in enumerate(texts.items())])
    with store.writing("test") as tx:
        tx.vectors.add(list(texts), MiniLM().embed(list(texts.values())), MiniLM.name)
        tx.conflicts.record([Conflict("p", "dry", "wet", "contradiction", "in other words", 0.6)], FIRST)
    assert contents_of(store, "p").routine == {"wet", "dry"}
    export(store, "openclaw", tmp_path)
    log = (tmp_path / "MEMORY.md").read_text().partition("## From the log")[2]
    assert 0 < log.index("No rain") < log.index("Rain all day")


def test_without_room_on_its_day_for_what_contradicts_it_an_earlier_note_is_left_out(tmp_path: Path) -> None:
    notes = [memory(f"d{n}", f"Walked the dog to pond {n}.", FIRST + timedelta(n)) for n in range(4)]
    notes += [memory(f"m{n}", f"Fed the hens in pen {n}.", FIRST + timedelta(5, n)) for n in range(9)]
    notes += [memory("new", "The dog is lame.", FIRST + timedelta(5))]
    made = OpenClawExport(Contents("p", notes, {}, (), (), {}, later={"d0": ["new"]}), tmp_path, 4000, len)
    text = made.blocks["MEMORY.md", "memory"]("")
    assert "lame" not in text and "pond 0" not in text and "pond 1" in text
    assert made.left_out[CONTRADICTED] == 1 and made.left_out[OF_ONE_DAY] > 1


@pytest.mark.parametrize("name", ["openclaw", "claude-code"])
def test_without_room_for_what_contradicts_it_an_earlier_note_is_left_out(
    store: Store, tmp_path: Path, name: str
) -> None:
    texts = ("The shed has no electricity.", "Electricity has come to the shed, from the house of Ilse, by a cable.")
    rows = [candidate(text, FIRST + timedelta(n), native_id=f"n{n}") for n, text in enumerate(texts)]
    fill(store, [replace(row, memory_type="fact") for row in rows])
    with store.writing("test") as tx:
        tx.memories.count_uses({}, {"n0": 1})
        tx.conflicts.record([Conflict("p", "n0", "n1", "contradiction", "in other words", 0.6)], FIRST)
    index, told = tmp_path / "MEMORY.md", set()
    for room in range(0, 600, 40):
        index.write_text("x" * (MOST_BYTES - room) if name == "claude-code" else "")
        done = export(store, name, tmp_path, budget=room // 4 or None)
        has_old, has_new = (words in index.read_text() for words in ("no electricity", "Ilse"))
        assert has_new or not has_old
        told.add((has_old, done.left_out.get(CONTRADICTED, 0)))
    assert told >= {(False, 1), (True, 0)}


@pytest.mark.usefixtures("judged")
def test_a_value_that_came_back_is_loaded(store: Store, tmp_path: Path) -> None:
    text = "The staging database of the webshop listens for connections on port {} behind the proxy."
    days = zip((5432, 5433, 5432), (0, 2, 5), strict=True)
    fill(store, [candidate(text.format(port), FIRST + timedelta(n), native_id=f"t{n}") for port, n in days])
    run(store, DAY + timedelta(days=5))
    export(store, "openclaw", tmp_path)
    told = (tmp_path / "MEMORY.md").read_text()
    assert "5432" in told and "5433" not in told
