"""What a person sees of a night in the UI: words instead of ids, one set of figures, a log of one sentence a step."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from dagster import DagsterInstance

from memory_pipeline.consolidation.report import Report, closing_line
from memory_pipeline.definitions import defs
from memory_pipeline.orchestration.resources import _Progress
from memory_pipeline.orchestration.showing import INLINE, preview
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson

DAY = "2026-03-08"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def run_night(instance: DagsterInstance, day: str = DAY) -> Any:
    return defs.resolve_job_def("night").execute_in_process(instance=instance, partition_key=day)


def metadata_of(result: Any) -> dict[str, dict[str, Any]]:
    return {
        event.asset_key.path[-1]: event.step_materialization_data.materialization.metadata
        for event in result.get_asset_materialization_events()
    }


def said_in(instance: DagsterInstance, run_id: str) -> dict[str, list[str]]:
    """The lines of a run's log by their step."""
    found: dict[str, list[str]] = {}
    for entry in instance.all_logs(run_id):
        if entry.dagster_event is None and entry.level >= logging.INFO:  # the level of our own instances
            found.setdefault(entry.step_key or "", []).append(entry.user_message)
    return found


@pytest.fixture
def busy(store: Store) -> Store:
    """A lesson, copies of a note, and near-copies."""
    copies = [candidate("The parking permit costs 40 EUR.", FIRST + timedelta(hours=n)) for n in range(3)]
    fill(store, [*lesson(5), *copies])
    return store


@pytest.mark.slow
def test_previews_show_words_and_no_ids(instance: DagsterInstance, busy: Store) -> None:
    shown = metadata_of(run_night(instance))
    previews = {
        (asset, name): str(entry.value)
        for asset, entries in shown.items()
        for name, entry in entries.items()
        if name in ("preview", "all_shown")
    }
    assert not [where for where, text in previews.items() if UUID.search(text) or "openclaw:" in text]
    assert "The parking permit costs 40 EUR." in previews["exact_duplicates", "preview"]
    assert "Restart the payment gateway" in previews["clusters", "preview"]
    assert "| memories | became |" in previews["archives", "preview"]
    inline = [text for (_, name), text in previews.items() if name == "preview"]
    assert all(len(text) < INLINE for text in inline)


@pytest.mark.slow
def test_a_night_has_one_set_of_figures(instance: DagsterInstance, busy: Store) -> None:
    result = run_night(instance)
    report: Report = result.output_for_node("reports")
    shown = {asset: {n: e.value for n, e in entries.items()} for asset, entries in metadata_of(result).items()}
    made = ("series", "merges", "canonical_entries", "archives")
    assert sum(shown[asset]["clusters_compressed"] for asset in made) == report.clusters_compressed
    archived = sum(shown[asset]["memories_archived"] for asset in made)
    assert archived + shown["exact_duplicates"]["duplicates_archived"] == report.memories_archived
    assert shown["exact_duplicates"]["duplicates_archived"] == report.duplicates_archived == 2
    assert shown["eligible_memories"]["memories_scanned"] == report.memories_scanned
    assert shown["atoms"]["atoms_created"] == report.atoms_created
    assert shown["playbook"]["playbook_created"] == report.playbook_created
    told = said_in(instance, result.run_id)["reports"]
    assert told == [f"{report.verdict}: {closing_line(report)}"]
    assert f"{report.memories_archived} archived" in told[0]


@pytest.mark.slow
def test_the_log_says_one_sentence_a_step_under_its_own_name(instance: DagsterInstance, busy: Store) -> None:
    told = said_in(instance, run_night(instance).run_id)
    assert {len(lines) for lines in told.values()} == {1}
    assert told["exact_duplicates"] == ["duplicates archived: 2."]
    assert re.match(r"clusters compressed: 1, memories archived: 5, tokens saved: \d+\.", told["archives"][0])


@pytest.mark.slow
def test_a_quiet_night_says_nothing(instance: DagsterInstance, busy: Store) -> None:
    run_night(instance)
    assert said_in(instance, run_night(instance, "2026-03-20").run_id) == {}


def test_a_long_table_is_shown_in_part_and_whole_behind_a_link() -> None:
    rows = [{"memories": f"note {n} " + "word " * 60, "became": "one <b>memory</b>"} for n in range(8)]
    shown = preview(rows, "nothing")
    assert shown["preview"].value.startswith("| memories | became |\n|---|---|\n| note 0")
    assert len(shown["preview"].value) < INLINE < len(shown["all_shown"].value)
    assert "<b>" not in shown["all_shown"].value
    assert preview([], "nothing")["preview"].value == "nothing"


def test_long_work_tells_its_progress_with_the_time_that_is_left(caplog: pytest.LogCaptureFixture) -> None:
    progress = _Progress(logging.getLogger("memory_pipeline.test"))
    with caplog.at_level(logging.INFO, "memory_pipeline.test"):
        progress("distillation", 1, 40)
        progress._began -= timedelta(seconds=10)
        progress._logged_at -= timedelta(seconds=10)
        progress("distillation", 10, 40)
        progress("distillation", 11, 40)
    assert [record.message for record in caplog.records] == ["distillation: 10 of 40, about 30 s left"]
