"""A workspace that is opened for writing: what goes into it, what is said of it, and what is kept of it."""

from __future__ import annotations

import difflib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline import killpoints
from memory_pipeline.config.exports import CONTENTS, ExportTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.conversation_runs import run_conversations
from memory_pipeline.consolidation.review import rollback
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import AlreadyRolledBackError, InputError
from memory_pipeline.files.markers import outside
from memory_pipeline.periods.running import finish_rollups, periods_to_make, roll_up
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import original_of, pages_of, written_files
from memory_pipeline.workspace.exporting import export_to
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for, slowly
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
LAST = date(2026, 3, 9)


@pytest.fixture
def settings(store: Store) -> Settings:
    """A store with a lesson, a fact, a talk and its rollups, and the pages of them."""
    said = ("I live in Lisbon with my wife.", "We decided to use Postgres because the team knows it.")
    talk = [
        candidate(w, MONDAY + timedelta(minutes=n), native_id=f"t{n}", memory_type="conversation", tags=("human",))
        for n, w in enumerate(said)
    ]
    fill(store, [*talk, *lesson(4, MONDAY), candidate("The port is 5432.", MONDAY, memory_type="fact")])
    settings = settings_for(store)
    run_conversations(store, settings, None, now=MONDAY + timedelta(days=7))
    sum_up(store, settings)
    return settings


def sum_up(store: Store, settings: Settings) -> None:
    store.take_lease("r", "test")
    made = roll_up(store, settings, periods_to_make(store, None, LAST, LAST), holder="test", run_id="r")
    assert not finish_rollups(store, settings, made, is_newest=True)
    store.release_lease("r")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "agent"
    (place / "DailyLogs").mkdir(parents=True)
    (place / "MEMORY.md").write_bytes(b"# Mine\r\n\r\n- Caf\xe9 \xff\r\n")
    (place / "DailyLogs" / "2026-03-02.md").write_text("# A day\n")
    return place


def test_contents_are_chosen_by_name(store: Store, settings: Settings, tmp_path: Path) -> None:
    files = {
        "memory": {"MEMORY.md"}, "user": {"USER.md"}, "summaries": {"daily/2026-03-02.md"},
        "logs": {"DailyLogs/2026-03-02.md"}, "series": set(), "promotions": set(), "soul": set(), "relational": set(),
        "rollups": {"DailyLogs/2026-03-02.md", "weekly/2026-W10.md"}, "playbook": set(),
    }  # fmt: skip
    assert files.keys() == set(CONTENTS)
    for name, names in files.items():
        done = export_to(store, settings, "openclaw", tmp_path / name, contents=(name,))
        assert set(done.written) == names and done.contents == (name,), name
    assert export_to(store, settings, "openclaw", tmp_path / "out").contents == ("memory", "playbook", "series")
    with pytest.raises(InputError, match="'friends' is no content of a workspace"):
        export_to(store, settings, "openclaw", tmp_path / "out", contents=("friends",))


def test_a_dry_run_writes_nothing_and_says_what_an_export_then_does(
    store: Store, settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    everything = bytes_of(tmp_path)
    seen = export_to(store, settings, "openclaw", workspace, contents=CONTENTS, preview=True, with_diff=True)
    assert bytes_of(tmp_path) == everything and seen.dry_run
    before = {path: path.read_text(errors="surrogateescape") for path in workspace.rglob("*.md")}
    done = export_to(store, settings, "openclaw", workspace, contents=CONTENTS, with_diff=True)
    assert [(one.file, one.outcome, one.added, one.removed, one.diff) for one in seen.changes] == [
        (one.file, one.outcome, one.added, one.removed, one.diff) for one in done.changes
    ]
    for one in done.changes:
        path = workspace / one.file
        old, new = before.get(path, "").splitlines(), path.read_text(errors="surrogateescape").splitlines()
        lines = list(difflib.ndiff(old, new))
        assert (one.added, one.removed) == (sum(li[0] == "+" for li in lines), sum(li[0] == "-" for li in lines))
    again = export_to(store, settings, "openclaw", workspace, contents=CONTENTS)
    assert not again.changes and again.unchanged == len(done.changes)


def test_the_first_original_of_a_file_is_kept_once_and_only_of_files_of_others(
    store: Store, settings: Settings, workspace: Path
) -> None:
    mine = (workspace / "MEMORY.md").read_bytes()
    first = export_to(store, settings, "openclaw", workspace, contents=("memory", "user"))
    kept = original_of(store.path, workspace / "MEMORY.md")
    assert kept.read_bytes() == mine and kept.as_posix().endswith(f"store.originals{workspace.as_posix()}/MEMORY.md")
    assert {one.file: one.original for one in first.changes} == {"MEMORY.md": str(kept), "USER.md": None}
    assert outside((workspace / "MEMORY.md").read_bytes().decode(errors="surrogateescape"), "memory").startswith(
        "# Mine"
    )
    fill(store, [candidate("The disk has 40 GB.", MONDAY, memory_type="fact")])
    assert export_to(store, settings, "openclaw", workspace, contents=("memory", "user")).written == ("MEMORY.md",)
    assert kept.read_bytes() == mine and not original_of(store.path, workspace / "USER.md").exists()


def test_every_file_that_was_written_is_listed(
    store: Store, settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    export_to(store, settings, "openclaw", workspace, contents=CONTENTS)
    export_to(store, settings, "obsidian", tmp_path / "vault")
    written = set(written_files(store.path))
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path for path in new if not path.name.startswith("store.")} <= written
    assert workspace / "MEMORY.md" in written and pages_of(store.path, "p") / "USER.md" in written


class Killed(BaseException):
    """Ends a process at a point."""


def killed_rollback(store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch, scope: RollbackScope) -> None:
    def kill(name: str) -> None:
        if name == "rollback.committed":
            raise Killed

    monkeypatch.setattr(rollback, "reached", kill)
    with pytest.raises(Killed):
        roll_back(store, settings, scope)
    monkeypatch.setattr(rollback, "reached", killpoints.reached)


@pytest.mark.parametrize("how", [*slowly("again"), "night"])
def test_files_that_a_killed_rollback_left_are_made_right_by_repeating_it_and_by_any_night(
    store: Store, settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    table = ExportTable(name="a", format="openclaw", path=str(workspace), contents=("memory", "rollups"))
    settings = settings.with_values({"exports": (table,)})
    sum_up(store, settings)
    pages = pages_of(store.path, "p")
    before = bytes_of(pages, workspace)
    run(store, LAST, settings, run_id="one")
    sum_up(store, settings)
    assert bytes_of(pages, workspace) != before
    killed_rollback(store, settings, monkeypatch, RollbackScope(run_id="one"))
    assert bytes_of(pages, workspace) != before
    if how == "again":
        with pytest.raises(AlreadyRolledBackError, match="already rolled back"):
            roll_back(store, settings, RollbackScope(run_id="one"))
    else:
        run(store, date(2026, 2, 1), settings)
    assert bytes_of(pages, workspace) == before
    with store.reading() as tx:
        assert tx.rollups.stale() == []


def test_the_command_says_file_by_file_what_it_does(
    store: Store, settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PIPELINE_STORE_PATH", str(store.path))
    seen = command("export", "openclaw", workspace, "--contents", "memory,user", "--dry-run", "--diff")
    assert seen.code == 0 and "Would export" in seen.out and "(memory, user)" in seen.out
    assert "  changed: MEMORY.md (lines +" in seen.out and "+# Mine" not in seen.out and "+- 2026-03-02: " in seen.out
    done = command("export", "openclaw", workspace, "--contents", "memory,user")
    assert "  created: USER.md (lines +" in done.out and "its first original is kept in " in done.out
    wrong = command("export", "openclaw", workspace, "--contents", "memory,friends")
    assert wrong.code == 1 and "'friends' is no content" in wrong.err
