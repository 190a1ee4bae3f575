"""What users see as JSON: whole, described, and still read when an earlier version kept it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from memory_pipeline.config.exports import SourceTable
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.review.conflicts import list_conflicts
from memory_pipeline.consolidation.review.proposals import describe_proposals
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.documents import Document
from memory_pipeline.orchestration.consolidation import with_verdicts
from memory_pipeline.recall.atoms import FoundAtom, describe_atom
from memory_pipeline.recall.past import describe_hits, diff_states, list_state, read_state
from memory_pipeline.recall.search import Match
from memory_pipeline.recall.series import list_series, show_series
from memory_pipeline.reporting.model import MissedReport, Report
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, draft_with_cause, fill, lesson, night_of, run, settings_for
from memory_pipeline_tests.consolidation.test_atoms import stories
from memory_pipeline_tests.consolidation.test_conflicts import TEXT
from memory_pipeline_tests.consolidation.test_review import manual, steps
from memory_pipeline_tests.consolidation.test_series import lines
from memory_pipeline_tests.orchestration.test_job_texts import a_job


def test_a_report_of_an_earlier_version_still_reads(store: Store) -> None:
    fill(store, lesson(4))
    kept = run(store, date(2026, 3, 3)).as_json()
    assert Report.read_kept(kept).as_json() == kept
    for name in ("kind", "policies", "recall_rate", "store", "duplicates_archived", "sources_sha256", "refusals"):
        del kept[name]
    del kept["largest_clusters"][0]["member_ids"]
    report = Report.read_kept({**kept, "clusters_hummed": 3})
    assert (report.kind, report.policies, report.recall_rate, report.duplicates_archived) == ("night", (), None, 0)
    assert (report.sources_sha256, report.refusals, report.store.active) == ("", {}, 0)
    assert report.memories_archived == 4 and "“Restart the payment gateway" in as_markdown(report)


def test_a_report_holds_what_it_declares_and_cannot_be_changed(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, date(2026, 3, 3))
    with pytest.raises(ValidationError, match="clusters_hummed"):
        Report.model_validate({**report.as_json(), "clusters_hummed": 3})
    with pytest.raises(ValidationError, match="frozen"):
        report.verdict = "FAIL"  # type: ignore[misc]


def documented(heading: str) -> set[str]:
    """The fields that the reference names under a heading."""
    page = (Path(__file__).parents[1] / "docs" / "reference.md").read_text()
    section = page.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def shown(value: object, path: str = "") -> set[str]:
    """The fields of a JSON value, as the reference writes them."""
    if isinstance(value, list):
        return {name for part in value for name in shown(part, f"{path}[]")}
    if not isinstance(value, dict):
        return set()
    found = set()
    for name, inner in value.items():
        place = f"{path}.{name}".lstrip(".")
        found |= {place} | (set() if name in OPEN else shown(inner, place))
    return found


#: Fields that hold names which nobody knows beforehand.
OPEN = ("refusals", "scope", "metrics", "before", "after")


def check(heading: str, *documents: Document) -> None:
    assert {name for document in documents for name in shown(document.as_json())} == documented(heading), heading


#: Readings with two words that return, and one far outside.
READINGS = (
    (30, "success"),
    (31, "failed"),
    (33, "success"),
    (29, "failed"),
    (32, "success"),
    (500, "failed"),
    (30, "success"),
)


@pytest.mark.slow
@pytest.mark.usefixtures("judged")
def test_the_reference_names_every_field_of_a_night(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extractive, "draft", draft_with_cause)  # only a model names causes
    fill(store, [*stories("a"), *lesson(4, topic="scanner")])
    fill(store, [candidate(TEXT.format(port), FIRST + timedelta(days=n), native_id=str(n))
                 for n, port in enumerate((5432, 5433))])  # fmt: skip
    fill(store, lines("Pump check complete in {}s, task={}", *READINGS, hours=12))
    sources = (SourceTable(name="missing", path="/nowhere"),)
    night = night_of(store, date(2026, 3, 5), settings_for(store, sources=sources))
    night.note_error("c", "enrich", "something went wrong")
    missed = MissedReport(memory_id="a-0", question="why", content="it failed", replaced_by="b")
    check("Report fields", run_night(night).model_copy(update={"recall_missed": (missed,)}))
    check("Conflicts", *list_conflicts(store, each=True))
    with store.reading() as tx:
        check("Histories", *tx.history.of("a-0"))
        atoms = [describe_atom(FoundAtom(atom, 1.0)) for atom in tx.atoms.read()]
        check("Series", *list_series(tx))
        whole = show_series(tx, list_series(tx)[0].id)
        fields = shown(whole.as_json())
        assert fields == documented("Series") | documented("Series with their readings")
    check("Atoms", *atoms)
    now, before = read_state(store, "now"), read_state(store, "before:night:2026-03-05")
    changed = replace(before, memories=tuple(replace(m, pinned=True) for m in before.memories))
    check("Differences", diff_states(before, now), diff_states(before, changed))
    check("Past states", list_state(now, now.memories))
    check("Searches of past states", describe_hits(now, [Match(now.memories[0], 0.5)]))


def test_the_reference_names_every_field_of_a_proposal_and_a_job(store: Store) -> None:
    steps(store)
    run(store, date(2026, 3, 3), manual(store))
    with store.reading() as tx:
        check("Proposals", *(describe_proposals(tx, [proposal])[0] for proposal in tx.proposals.list()))
    check("Jobs", *with_verdicts(settings_for(store), [a_job()]))
