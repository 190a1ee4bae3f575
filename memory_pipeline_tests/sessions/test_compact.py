"""What a compaction keeps in `MEMORY.md` and in the daily log, its gates, and how it takes everything back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline import killpoints
from memory_pipeline.config.exports import ExportTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.review.rollback import RollbackResult, RollbackScope, preview_rollback, roll_back
from memory_pipeline.errors import AlreadyRolledBackError, InputError, OutputError
from memory_pipeline.reading.conversation_day import classifier_vectors
from memory_pipeline.reading.extraction import Found, found_by_classifier
from memory_pipeline.sessions import compacting
from memory_pipeline.sessions.compacting import Gate, compact_session
from memory_pipeline.sessions.documents import CompactedSession
from memory_pipeline.sessions.flush import fitted_logs, flush_of, summary_of
from memory_pipeline.sessions.transcripts import read_session_file
from memory_pipeline.store import Store
from memory_pipeline.text.counts import estimated_tokens
from memory_pipeline.workspace import session_pages
from memory_pipeline.workspace.directory import pages_of
from memory_pipeline.workspace.session_pages import (
    FACTS,
    RULES,
    Promotion,
    SessionRun,
    keep_run,
    mend_session_pages,
    promotions_block,
    session_runs,
)
from memory_pipeline_tests.build import slowly
from memory_pipeline_tests.ingest.bring import lines as transcript
from memory_pipeline_tests.interfaces.in_process import bytes_of, command
from memory_pipeline_tests.sessions.a_session import session_file
from memory_pipeline_tests.sessions.sessions import said

DAY = date(2026, 3, 1)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    workspace = tmp_path / "ws"
    (workspace / "DailyLogs").mkdir(parents=True)
    source = {"name": "ws", "path": str(workspace), "project": "app"}
    return Settings.model_validate({"sources": [source], "store": {"path": str(tmp_path / "store.duckdb")}})


@pytest.fixture
def workspace(settings: Settings) -> Path:
    """The pages of the project, in which a person has written."""
    place = pages_of(Path(settings.store.path), "app")
    (place / "DailyLogs").mkdir(parents=True)
    (place / "MEMORY.md").write_bytes(b"# Memory\r\n\r\n- Mine stays \xff.\r\n")
    (place / "DailyLogs" / "2026-03-01.md").write_text("# A day\n\nMine stays too.\n")
    return place


def compacted(settings: Settings, path: Path, **options: bool) -> CompactedSession:
    return compact_session(settings, read_session_file(str(path), settings), **options)


@contextmanager
def killed(at: str) -> Iterator[None]:
    """What is done within ends at a point, as if its process were killed there."""

    class Killed(BaseException):
        pass

    def kill(name: str) -> None:
        if name == at:
            raise Killed

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):
        patched.setattr(session_pages, "reached", kill)
        yield


def gate(done: CompactedSession, name: str) -> tuple[bool, str]:
    return next((one.passed, one.found) for one in done.gates if one.name == name)


@pytest.mark.parametrize(
    "words",
    [
        "The port is 8081 this week. [TEMPORARY]",
        "Decision: the port is 8081 because 8080 is taken. **[temporary]**",
        "- Remember: the port is 8081\n  until the move [TEMPORARY]",
        "- [TEMPORARY] while we move:\n  - the port is 8081",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_is_tagged_as_temporary_anywhere_in_its_entry_is_promoted_nowhere(
    settings: Settings, workspace: Path, tmp_path: Path, words: str, role: str
) -> None:
    lasting = "[CURATE] Dana reads the mail at nine."
    path = transcript(tmp_path / "t.jsonl", said(1, "user", f"{lasting}\n{words}"), said(2, role, words, 9))
    done = compacted(settings, path)
    written = "".join(file.read_text(errors="replace") for file in workspace.rglob("*.md"))
    assert "Dana reads the mail" in written and "8081" not in written + done.summary
    assert "8081" in path.read_text() and read_session_file(str(path), settings).temporary == 2


def test_rules_marked_notes_reasoned_decisions_and_sure_facts_are_promoted(
    settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    done = compacted(settings, session_file(tmp_path))
    assert done.outcome == "compacted"
    assert not [one for one in done.gates if not one.passed and one.name not in ("reduction", "no_open_decisions")]
    memory = (workspace / "MEMORY.md").read_bytes()
    assert memory.startswith(b"# Memory\r\n\r\n- Mine stays \xff.\r\n")
    text = memory.decode("utf-8", "replace")
    for line in (
        "- 2026-03-01: Never touch the production database without asking me first.",
        "- 2026-03-01: keep DuckDB for reports (one file, no server) (by the agent)",
        "- 2026-03-01: [CURATE] Dana prefers CSV over XLSX for the weekly numbers.",
    ):
        assert line in done.promoted and f"{line}\r\n" in text
    assert "VACUUM job" not in text and "staging password" not in text
    log = (workspace / "DailyLogs" / "2026-03-01.md").read_text()
    assert log.startswith("# A day\n\nMine stays too.\n") and "Completed: " in log
    assert "## Session Summary: " not in log  # of a short session, the flush has all of it


def test_compacting_again_changes_no_byte(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    path = session_file(tmp_path)
    compacted(settings, path)
    before = bytes_of(workspace)
    again = compacted(settings, path)
    assert bytes_of(workspace) == before and {file.outcome for file in again.files} == {"unchanged"}


def test_an_aggressive_one_leaves_out_progress_and_what_is_not_sure(settings: Settings, tmp_path: Path) -> None:
    path = session_file(tmp_path)
    whole, less = (compacted(settings, path, preview=True, aggressive=how) for how in (False, True))
    assert less.kept < whole.kept and less.promoted == whole.promoted and less.tokens_after <= less.tokens_before
    assert estimated_tokens(less.summary) <= 250


def test_a_preview_writes_nothing(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    before = bytes_of(workspace)
    done = compacted(settings, session_file(tmp_path), preview=True)
    assert done.outcome == "previewed" and done.promoted and bytes_of(workspace) == before


def test_a_gate_that_fails_afterwards_gives_every_file_its_bytes_back(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session_file(tmp_path)
    (workspace / "DailyLogs" / "2026-03-01.md").unlink()
    before = bytes_of(workspace)
    failed = Gate.of("memory_parses", "after", False, "rolls back", "it does not parse")
    monkeypatch.setattr(compacting, "memory_parses", lambda *_: failed)
    assert compacted(settings, path).outcome == "rolled back" and bytes_of(workspace) == before


def test_broken_markers_leave_every_file_as_it_was(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    (workspace / "MEMORY.md").write_text("mine\n<!-- memory-pipeline:compacted:start -->\nno end\n")
    before = bytes_of(workspace)
    with pytest.raises(OutputError, match="markers"):
        compacted(settings, session_file(tmp_path))
    assert bytes_of(workspace) == before


def test_what_somebody_writes_meanwhile_stays_when_a_compaction_is_taken_back(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Gate:
        with (workspace / "MEMORY.md").open("ab") as file:
            file.write(b"- A new line.\r\n")
        return Gate.of("memory_parses", "after", False, "rolls back", "changed")

    monkeypatch.setattr(compacting, "memory_parses", fails)
    compacted(settings, session_file(tmp_path))
    after = (workspace / "MEMORY.md").read_bytes()
    assert after.startswith(b"# Memory") and after.endswith(b"- A new line.\r\n") and b"Never touch" not in after


def test_writers_beside_it_lose_nothing_and_stop_nothing(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, log = workspace / "MEMORY.md", workspace / "DailyLogs" / "2026-03-01.md"
    other = transcript(tmp_path / "b.jsonl", said(1, "user", "Never deploy on a Friday."))

    def meanwhile(name: str) -> None:
        if name == "session.kept":
            monkeypatch.setattr(session_pages, "reached", killpoints.reached)
            for file in (memory, log):
                with file.open("ab") as opened:
                    opened.write(b"- Written meanwhile.\r\n")
            compacted(settings, other)

    monkeypatch.setattr(session_pages, "reached", meanwhile)
    assert compacted(settings, session_file(tmp_path)).outcome == "compacted"
    text = memory.read_text(errors="replace")
    for words in ("Mine stays", "Written meanwhile.", "Never touch the production", "Never deploy on a Friday."):
        assert words in text
    assert "Written meanwhile." in log.read_text() and log.read_text().count("## Memory Flush:") == 2


@pytest.mark.parametrize("at", ["session.kept", *slowly("session.written")])
def test_a_killed_one_is_made_whole_by_the_next_run(
    settings: Settings, workspace: Path, tmp_path: Path, at: str
) -> None:
    with killed(at):
        compacted(settings, session_file(tmp_path))
    assert not mend_session_pages(settings)
    whole = bytes_of(workspace)
    assert compacted(settings, session_file(tmp_path)).run_id is None
    assert bytes_of(workspace) == whole and b"Never touch" in (workspace / "MEMORY.md").read_bytes()


def test_a_killed_rollback_of_one_is_mended_by_repeating_it(
    settings: Settings, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bytes_of(workspace)
    done = compacted(settings, session_file(tmp_path))

    with killed("session.taken_back"):
        undone(settings, done.run_id)
    assert bytes_of(workspace) != before
    with pytest.raises(AlreadyRolledBackError):
        undone(settings, done.run_id)
    assert bytes_of(workspace) == before


def test_what_a_person_wrote_in_the_block_stays_below_it(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    path = session_file(tmp_path)
    compacted(settings, path)
    memory = workspace / "MEMORY.md"
    fixed = memory.read_bytes().replace(b"### Standing Rules\r\n", b"### Standing Rules\r\n\r\n- 2026-03-01: Mine.\r\n")
    memory.write_bytes(fixed)
    done = compacted(settings, path)
    assert memory.read_bytes().endswith(b"<!-- memory-pipeline:compacted:end -->\r\n- 2026-03-01: Mine.\r\n")
    assert [one.told for one in done.files if one.file == str(memory)] == [
        f"1 line that a person wrote stands below our block in '{memory}' now"
    ]


def undone(settings: Settings, run_id: str | None, *, preview: bool = False) -> RollbackResult:
    scope = RollbackScope(run_id=run_id)
    store = Store.of(settings)
    return preview_rollback(store, settings, scope) if preview else roll_back(store, settings, scope)


def test_a_compaction_is_taken_back_to_the_byte_without_a_store(
    settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "DailyLogs" / "2026-03-01.md").unlink()
    (workspace / "DailyLogs").rmdir()
    before = bytes_of(workspace)
    done = compacted(settings, session_file(tmp_path))
    after = bytes_of(workspace)
    assert done.run_id is not None and compacted(settings, session_file(tmp_path)).run_id is None
    told = {(one.file, one.outcome) for one in undone(settings, done.run_id, preview=True).files}
    log = str(workspace / "DailyLogs" / "2026-03-01.md")
    assert told == {(str(workspace / "MEMORY.md"), "changed"), (log, "removed")} and bytes_of(workspace) == after
    undone(settings, done.run_id[:8])
    assert bytes_of(workspace) == before and not (workspace / "DailyLogs").exists()
    with pytest.raises(InputError, match="already rolled back"):
        undone(settings, done.run_id)
    again = compacted(settings, session_file(tmp_path))
    assert bytes_of(workspace) == after
    assert roll_back(Store.of(settings), settings, RollbackScope(since=datetime(2026, 1, 1, tzinfo=UTC))).run_ids == (
        again.run_id,
    )
    assert bytes_of(workspace) == before


def test_one_is_taken_back_whatever_was_written_since(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    memory, log = workspace / "MEMORY.md", workspace / "DailyLogs" / "2026-03-01.md"
    before = memory.read_bytes()
    first = compacted(settings, session_file(tmp_path))
    later = compacted(settings, transcript(tmp_path / "b.jsonl", said(1, "user", "Never deploy on a Friday.")))
    with log.open("ab") as file:
        file.write(b"- A new line.\n")
    undone(settings, first.run_id)
    assert b"Never touch" not in memory.read_bytes() and b"Friday" in memory.read_bytes()
    assert log.read_text().count("## Memory Flush:") == 1
    undone(settings, later.run_id)
    assert log.read_text().replace("\n\n-", "\n-") == "# A day\n\nMine stays too.\n- A new line.\n"
    assert memory.read_bytes() == before


def test_an_export_that_is_set_gets_what_a_compaction_keeps_and_loses_it_with_a_rollback(
    settings: Settings, tmp_path: Path
) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "MEMORY.md").write_text("# Mine\n")
    table = ExportTable(name="a", format="openclaw", path=str(agent), project="app", contents=("promotions", "logs"))
    settings = settings.with_values({"exports": (table,)})
    done = compacted(settings, session_file(tmp_path))
    assert {one.file: one.outcome for one in done.files}[str(agent / "MEMORY.md")] == "changed"
    assert "Never touch the production database" in (agent / "MEMORY.md").read_text()
    assert "Completed: " in (agent / "DailyLogs" / "2026-03-01.md").read_text()
    undone(settings, done.run_id)
    assert bytes_of(agent) == {str(agent): None, str(agent / "MEMORY.md"): b"# Mine\n"}


def test_contradictions_and_open_decisions_are_told(settings: Settings, workspace: Path, tmp_path: Path) -> None:
    first = said(1, "user", "[CURATE] The staging database listens on port 5433.")
    compacted(settings, transcript(tmp_path / "a.jsonl", first))
    second = said(1, "user", "[CURATE] The staging database listens on port 5434.\nShould we move it to another host?")
    done = compacted(settings, transcript(tmp_path / "b.jsonl", second))
    assert done.outcome == "compacted"
    passed, found = gate(done, "no_contradicting_facts")
    assert not passed and "5433" in found and "5434" in found
    passed, found = gate(done, "no_open_decisions")
    assert not passed and "another host" in found


def test_compacting_again_counts_no_contradiction_twice(settings: Settings, tmp_path: Path) -> None:
    talk = [said(n, "user", f"[CURATE] The staging database listens on port {5433 + n}.") for n in range(2)]
    file = transcript(tmp_path / "a.jsonl", *talk)
    first, again = (gate(compacted(settings, file), "no_contradicting_facts") for _ in range(2))
    assert first == again and not first[0] and first[1].count(" and '") == 1


def test_many_decisions_of_one_form_contradict_nothing(settings: Settings, tmp_path: Path) -> None:
    talk = [
        said(n, "user", f"We decided to move table t{n} to schema s{n} because vacuum {n} was slow.") for n in range(9)
    ]
    assert gate(compacted(settings, transcript(tmp_path / "a.jsonl", *talk)), "no_contradicting_facts")[0]


def test_a_warning_names_a_few_contradictions_and_counts_the_others(settings: Settings, tmp_path: Path) -> None:
    talk = [said(n, "user", f"[CURATE] The staging database listens on port {5433 + n}.") for n in range(5)]
    passed, found = gate(compacted(settings, transcript(tmp_path / "a.jsonl", *talk)), "no_contradicting_facts")
    assert not passed and found.count(" and '") == 5 and found.endswith("; and 5 more")


@pytest.mark.slow
def test_a_long_session_becomes_much_shorter(settings: Settings, tmp_path: Path) -> None:
    talk = [
        said(n, "assistant" if n % 2 else "user", f"Let me explain step {n} at length. " * 40, n) for n in range(60)
    ]
    done = compacted(settings, transcript(tmp_path / "a.jsonl", *talk, said(61, "user", "Never deploy on a Friday.")))
    assert done.reduction > 0.9 and gate(done, "reduction")[0]


def test_of_a_short_session_no_more_is_written_than_was_said(settings: Settings, tmp_path: Path) -> None:
    talk = [
        said(
            1,
            "user",
            "Could you look at the export of the invoices? It fails since Tuesday, and nobody knows why. " * 2,
        ),
        said(2, "assistant", "I looked at the logs of the export and at the code that writes the file. " * 8, 9),
        said(3, "user", "Never deploy on a Friday. We decided to keep DuckDB because it is one file."),
    ]
    done = compacted(settings, transcript(tmp_path / "a.jsonl", *talk))
    passed, found = gate(done, "reduction")
    assert done.tokens_after <= done.tokens_before and passed and "nothing is expected" in found


def test_a_log_without_room_for_all_says_how_much_it_leaves_out(tmp_path: Path) -> None:
    rules = [said(n, "user", f"Rule: never touch the table number_{n} of the database.") for n in range(1, 6)]
    session = read_session_file(str(transcript(tmp_path / "a.jsonl", *rules)), Settings())
    flush = flush_of(session, found_by_classifier(session.turns, classifier_vectors()))
    assert len(flush.kept) == 5
    (log,) = fitted_logs(flush, flush.days, 60, lambda one: "number_1" in one.text).values()
    assert re.search(r"- 1 in MEMORY\.md, [1-4] left out$", log)


def test_the_summary_has_the_questions_of_the_human(tmp_path: Path) -> None:
    asked = ("What's there now?", "No, that's not the cause.", "Which port does the staging database use?")
    lines = [said(n, "user", words) for n, words in enumerate(asked, start=1)]
    session = read_session_file(str(transcript(tmp_path / "a.jsonl", *lines, said(9, "assistant", "Ok."))), Settings())
    text = summary_of(flush_of(session, Found()), DAY, 500, estimated_tokens)
    assert text.split("**Asked:**\n\n")[1] == "- Which port does the staging database use?"


def test_the_summary_keeps_to_its_tokens(tmp_path: Path) -> None:
    lines = [said(n, "user", f"Rule: never touch the table number_{n} of the database.") for n in range(1, 80)]
    flush = flush_of(read_session_file(str(transcript(tmp_path / "a.jsonl", *lines)), Settings()), Found())
    for most in (60, 250, 500):
        assert most / 2 < estimated_tokens(summary_of(flush, DAY, most, estimated_tokens)) <= most


def test_the_block_keeps_its_order_and_its_budget() -> None:
    rules = [Promotion(RULES, DAY, f"Never do {n} of the many things.", 3.5) for n in range(3)]
    facts = [Promotion(FACTS, DAY - timedelta(days=n), f"The host h{n} is in rack {n}.", 1.4) for n in range(40)]

    def lines(block: str) -> list[str]:
        return [line for line in block.split("\n") if line.startswith("- ")]

    first = promotions_block(facts[:5], 10_000)
    grown = promotions_block([*facts[:5], *rules, *facts], 10_000)
    assert lines(grown)[3:8] == lines(first) and len(lines(grown)) == 43
    small = promotions_block([*facts[:5], *rules, *facts], 200)
    assert estimated_tokens(small) <= 200 and all(rule.line in small for rule in rules)
    assert facts[0].line in small and facts[39].line not in small


def test_a_record_keeps_half_a_character(tmp_path: Path) -> None:
    run = SessionRun(project="p", what="a flush", logs=(("day.md", "x", "- \ud83d"),), promoted=())
    keep_run(tmp_path / "store.duckdb", run)
    assert list(session_runs(tmp_path / "store.duckdb", "p")) == [run]


def test_the_command_tells_what_it_did_and_fails_if_it_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, home = session_file(tmp_path), {"MEMORY_PIPELINE_HOME": str(tmp_path)}
    done = command("compact", path, "--json", **home)
    assert done.code == 0 and json.loads(done.out)[0]["outcome"] == "compacted"
    assert "Warning: reduction" not in command("compact", path, **home).out
    failed = Gate.of("memory_parses", "after", False, "rolls back", "it does not parse")
    monkeypatch.setattr(compacting, "memory_parses", lambda *_: failed)
    broken = command("compact", path, **home)
    assert broken.code == 1 and "PROBLEM: memory_parses: it does not parse." in broken.out
