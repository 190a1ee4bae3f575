"""Nights that break off, and files that cannot be written: the report says what stands in the store all the same."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest

from memory_pipeline.consolidation.report import Report, closing_line, report_run
from memory_pipeline.consolidation.run import STEPS
from memory_pipeline.errors import StoreError
from memory_pipeline.recall.past import diff_states, read_state
from memory_pipeline.store import Store
from memory_pipeline.workspace.directory import PAGES
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, night_of, run, settings_for, sql_rows

DAY = date(2026, 3, 3)
COPY = candidate(lesson(1)[0].content, FIRST + timedelta(hours=9), native_id="copy")


def reported(store: Store, run_id: str) -> dict[str, Any]:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == [] and tx.lease.holder() is None
        found = tx.journal.report(run_id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("step", "archived", "compressed"),
    [
        pytest.param("exact_duplicates", 0, 0, marks=pytest.mark.slow),
        pytest.param("clusters", 1, 0, marks=pytest.mark.slow),
        pytest.param("atoms", 5, 1, marks=pytest.mark.slow),
        ("playbook", 5, 1),
    ],
)
def test_a_night_that_breaks_off_reports_what_it_had_archived(
    store: Store, monkeypatch: pytest.MonkeyPatch, step: str, archived: int, compressed: int
) -> None:
    fill(store, [*lesson(4), COPY])

    def broken(*_: object) -> None:
        raise RuntimeError("the step fell over")

    monkeypatch.setattr(STEPS[step], "run", broken)
    with pytest.raises(RuntimeError, match="fell over"):
        run(store, DAY, run_id="broken")
    report = reported(store, "broken")
    with store.reading() as tx:
        assert sum(memory.archived_at is not None for memory in tx.memories.all()) == archived
    assert (report["verdict"], report["verdict_reason"]) == ("FAIL", "fatal error: RuntimeError: the step fell over")
    assert (report["memories_archived"], report["clusters_compressed"]) == (archived, compressed)
    assert report["recall_found"] == report["recall_sampled"] == archived
    assert [error["stage"] for error in report["errors"]] == ["night"]
    assert closing_line(Report.read_kept(report)).startswith("COMPRESSION BLOCKED: fatal error")
    files = store.path.parent / "reports"
    assert json.loads((files / "compression-broken.json").read_text()) == report
    assert json.loads((files / "notices.jsonl").read_text())["priority"] == "action"
    monkeypatch.undo()
    assert run(store, DAY, run_id="again").verdict == ("IDLE" if compressed else "PASS")


@pytest.mark.parametrize("stage", ["export", "report"])
def test_a_file_that_cannot_be_written_is_an_error_of_the_night_and_not_its_end(store: Store, stage: str) -> None:
    fill(store, [*lesson(4), COPY])
    taken = store.path.with_suffix(PAGES) if stage == "export" else store.path.parent / "reports"
    taken.write_text("a file where a directory should be")
    report = run(store, DAY, run_id="night")
    assert reported(store, "night") == report.as_json()
    assert (report.verdict, report.memories_archived, report.playbook_created) == ("PARTIAL", 5, 1)
    assert [(e.stage, str(taken) in e.error) for e in report.errors] == [(stage, True)]
    with store.reading() as tx:
        outbox = sql_rows(tx, "select priority, delivery_error from notices")
    assert len(outbox) == 1 and outbox[0][0] == "action"
    assert (outbox[0][1] is not None) == (stage == "report")


@pytest.mark.parametrize(
    ("urls", "why"),
    [
        (("nonsense",), "(invalid: 1 of 1 URL); check the setting notices.urls"),
        (
            ("json://127.0.0.1:9/",),
            "(a channel did not accept it); check the setting notices.urls and the channel itself",
        ),
    ],
)
def test_a_notice_that_did_not_go_out_says_what_to_check(store: Store, urls: tuple[str, ...], why: str) -> None:
    fill(store, lesson(4))
    run(store, DAY, settings_for(store, notices__urls=urls), run_id="night")
    with store.reading() as tx:
        (error,) = sql_rows(tx, "select delivery_error from notices")[0] or ("",)
    assert error == f"the notice was not delivered everywhere {why}"


@pytest.mark.slow
def test_a_figure_that_a_step_told_wrongly_is_not_believed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, lesson(4))
    with monkeypatch.context() as deaf:
        deaf.setattr(STEPS["archives"], "run", lambda night, drafts: [])
        assert run(store, DAY, run_id="nothing").memories_archived == 0
    real = STEPS["archives"].run
    monkeypatch.setattr(STEPS["archives"], "run", lambda night, drafts: real(night, drafts) and [])
    report = run(store, DAY, run_id="silent")
    assert (report.memories_archived, report.clusters_compressed, report.verdict) == (4, 1, "PASS")
    assert report.largest_clusters[0].member_count == 4
    assert reported(store, "silent")["facts_found"] > 0


def test_report_and_difference_and_store_give_the_same_tokens(store: Store) -> None:
    """Memories that are younger than the night count in all of them; those that the night leaves alone, too."""
    young = candidate("Written long after that night, by somebody who works on another thing.", FIRST.replace(month=5))
    fill(store, [*lesson(4), *lesson(4, topic="printer"), COPY, young])
    with store.reading() as tx:
        before = tx.contents.facts()["active_tokens"]
    report = run(store, DAY, run_id="night")
    difference = diff_states(read_state(store, f"before:night:{DAY}"), read_state(store, f"night:{DAY}"))
    with store.reading() as tx:
        facts = tx.contents.facts()
    assert (report.tokens_before, report.tokens_after) == (difference.tokens_before, difference.tokens_after)
    assert (report.tokens_before, report.tokens_after) == (before, facts["active_tokens"])
    assert report.active_memories == facts["active"]


def test_reports_of_other_kinds_are_no_nights(store: Store) -> None:
    fill(store, lesson(4))
    run(store, DAY, run_id="night")
    with store.writing("test") as tx:
        sql_rows(
            tx,
            "insert into night_reports select 'job', partition_date, 'PASS', json_merge_patch(report, "
            '\'{"kind": "job", "run_id": "job"}\')::text, written_at + interval 1 hour from night_reports',
        )
    with store.reading() as tx:
        assert [report["run_id"] for report in tx.journal.reports()] == ["night"]
        assert tx.runs.of_night(DAY) == "night"
        latest, newest, job = tx.journal.report(), tx.journal.report(kind=None), tx.journal.report("job")
    assert latest and newest and job
    assert (latest["run_id"], newest["run_id"], job["run_id"]) == ("night", "job", "job")


def test_what_ends_a_night_is_told_by_whoever_ends_it_and_not_in_the_log_too(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    fill(store, lesson(4))
    report = report_run(night_of(store, DAY), "night", FIRST, fatal="stopped by Ctrl-C")
    assert report.verdict_reason == "fatal error: stopped by Ctrl-C" and not caplog.records


def test_a_mistake_of_the_user_is_told_without_the_name_of_its_class(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise StoreError("the disk is full: nothing was written")

    fill(store, lesson(4))
    monkeypatch.setattr(STEPS["clusters"], "run", refused)
    with pytest.raises(StoreError):
        run(store, DAY)
    with store.reading() as tx:
        (known,) = tx.journal.reports()
    assert known["verdict_reason"] == "fatal error: the disk is full: nothing was written"
