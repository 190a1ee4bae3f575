"""The levels below the pattern: near-copies merged, knowledge-base entries made canonical, each undone whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from memory_pipeline.config.policies import PolicyTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation import distillation as levels
from memory_pipeline.consolidation.review.decisions import approve_proposals, find_proposals, reject_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import Memory
from memory_pipeline.reporting.model import PolicyReport, Report
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, night_of, run, settings_for

DAY = date(2026, 3, 3)
PORT = "The staging database of the webshop listens for connections on port {} behind the proxy."
RULE = "Restart the gateway after rotating the API keys of the payment provider"


def near_copies(**fields: Any) -> list[Candidate]:
    """Two wordings of one rule, and a third with more to say."""
    fields = {"memory_type": "lesson", **fields}
    return [
        candidate(f"{RULE}.", native_id="a", categories=("ops",), tags=("x",), **fields),
        candidate(
            f"Reminder: **{RULE}**. Dana knows why.",
            FIRST + timedelta(hours=1),
            native_id="b",
            categories=("ops", "keys"),
            tags=("y",),
            **fields,
        ),
    ]


def entry(native_id: str, recommendation: str, story: str, title: str = "Rotate keys", **fields: Any) -> Candidate:
    """An entry of the knowledge base."""
    text = f"Title: {title}\nRecommendation: {recommendation}\nExamples:\n- {story}: orders were lost for an hour"
    return candidate(text, native_id=native_id, memory_type="lesson", **fields)


def loose(store: Store, policies: dict[str, PolicyTable] | None = None, **changes: object) -> Settings:
    """Settings with which the model-free embedder finds these near-copies."""
    tables = {"canonical": PolicyTable(threshold=0.5), **(policies or {})}
    near = {"consolidation__similarity__merge": 0.85, "compression__policies": tables}
    return settings_for(store, **{**near, **changes})


def evidence(store: Store) -> Settings:
    """Two wordings of a rule that merge, and a third memory that belongs to them without being a near-copy."""
    texts = (f"{RULE}.", f"Reminder: **{RULE}**")
    notes = [candidate(text, native_id=name) for text, name in zip(texts, "ab", strict=True)]
    fill(store, [*notes, candidate(f"{RULE}, and it takes 15 minutes.", FIRST + timedelta(hours=2), native_id="c")])
    return settings_for(store)


def active(store: Store) -> list[Memory]:
    with store.reading() as tx:
        return tx.memories.all(include_archived=False)


def policy_rows(report: Report, name: str) -> PolicyReport:
    return next(section for section in report.policies if section.policy == name)


@pytest.mark.slow
def test_near_copies_become_one_memory_with_every_distinct_piece(store: Store) -> None:
    fill(store, near_copies())
    report = run(store, DAY, loose(store))
    (merged,) = active(store)
    assert merged.content == f"**{RULE}**. Dana knows why."
    assert (merged.abstraction_level, merged.consolidation_method, merged.confidence_score) == (1, "heuristic", 0.95)
    assert (merged.categories, merged.tags) == (("ops", "keys"), ("x", "y"))
    assert merged.compressed_from is None and merged.effective_date == FIRST + timedelta(hours=1)
    assert policy_rows(report, "merge").compressed == 1 and report.memories_archived == 2
    with store.reading() as tx:
        assert {(link.source_id, link.relation) for link in tx.lineage.of([merged.id])} == {
            ("a", "merged"),
            ("b", "merged"),
        }
        (row,) = tx.journal.log_of(f"run-{DAY}")
        assert (row.policy, row.status, row.member_count) == ("merge", "compressed", 2)
        assert tx.integrity.check(deep=True) == []


def test_the_vector_of_a_merged_memory_is_the_mean_of_its_members_normalised_again(store: Store) -> None:
    fill(store, near_copies())
    night = night_of(store, DAY, loose(store))
    run(store, DAY, loose(store))
    (merged,) = active(store)
    with store.reading() as tx:
        _, vectors = tx.vectors.read(["a", "b", merged.id], night.embedder.name, night.embedder.dimension)
        ids, _ = tx.vectors.read(["a", "b", merged.id], night.embedder.name, night.embedder.dimension)
    by_id = dict(zip(ids, vectors.astype(np.float64), strict=True))
    mean = (by_id["a"] + by_id["b"]) / 2
    assert np.allclose(by_id[merged.id], mean / np.linalg.norm(mean), atol=1e-6)


def test_memories_of_two_types_or_two_projects_do_not_merge(store: Store) -> None:
    one, other = near_copies()
    fill(store, [one])
    fill(store, [candidate(other.content, native_id="b", memory_type="warning")])
    fill(store, [candidate(one.content + " Dana", native_id="c", memory_type="lesson")], project="q")
    report = run(store, DAY, loose(store))
    assert report.memories_archived == 0 and policy_rows(report, "merge").clusters_found == 0


def test_a_type_beside_none_keeps_no_near_copies_apart(store: Store) -> None:
    one, other = near_copies()
    fill(store, [replace(one, memory_type="other"), replace(other, memory_type="other")])
    report = run(store, DAY, loose(store))
    (merged,) = active(store)
    assert report.memories_archived == 2 and merged.memory_type == "other"


@pytest.mark.slow
def test_what_was_merged_is_merged_and_distilled_again_and_its_lineage_reaches_the_originals(store: Store) -> None:
    fill(store, near_copies())
    run(store, DAY, loose(store))
    (first,) = active(store)
    late = FIRST + timedelta(days=1)
    fill(store, [candidate(f"{RULE}. Dana knows why. Ask her.", late, native_id="c", memory_type="lesson")])
    run(store, DAY + timedelta(days=1), loose(store))
    (second,) = active(store)
    assert second.abstraction_level == 1
    with store.reading() as tx:
        assert {link.source_id for link in tx.lineage.of([second.id])} == {first.id, "c"}
        assert tx.lineage.raw_sources_of([second.id]) == {second.id: ["a", "b", "c"]}
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_a_merged_memory_counts_as_many_as_it_stands_for(store: Store) -> None:
    """Two near-copies and a third memory on the subject are three pieces of evidence for a pattern."""
    settings = evidence(store)
    report = run(store, DAY, settings)
    (pattern,) = active(store)
    assert pattern.abstraction_level == 2 and "15 minutes" in pattern.content
    assert policy_rows(report, "merge").compressed == policy_rows(report, "distill").compressed == 1
    with store.reading() as tx:
        assert tx.lineage.raw_sources_of([pattern.id]) == {pattern.id: ["a", "b", "c"]}
        before = tx.contents.digest(with_log=True)
        assert tx.integrity.check(deep=True) == []
    run(store, DAY, settings, run_id="again")
    with store.reading() as tx:
        assert tx.contents.digest(with_log=True) == before


@pytest.mark.slow
def test_a_dry_run_shows_the_merges_and_what_would_be_distilled_of_them(store: Store) -> None:
    settings = evidence(store)
    before = store.path.read_bytes()
    preview = run(store, DAY, settings, dry_run=True, run_id="preview")
    assert store.path.read_bytes() == before
    report = run(store, DAY, settings)
    same = {"policies", "clusters_found", "abstractions_created", "memories_archived", "tokens_before", "tokens_after"}
    assert preview.model_dump(include=same) == report.model_dump(include=same)
    words = [[cluster.policy, cluster.abstraction] for cluster in report.largest_clusters]
    assert [[cluster.policy, cluster.abstraction] for cluster in preview.largest_clusters] == words


@pytest.mark.slow
def test_undoing_a_night_brings_merged_and_distilled_memories_back(store: Store) -> None:
    fill(store, near_copies())
    with store.reading() as tx:
        before = tx.contents.digest(active_only=True)
    run(store, DAY, loose(store))
    done = roll_back(store, loose(store), RollbackScope(run_id=f"run-{DAY}"))
    assert sorted(row.id for row in done.restored) == ["a", "b"] and len(done.retired) == 1
    with store.reading() as tx:
        assert tx.contents.digest(active_only=True) == before and tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_one_merge_is_undone_alone(store: Store) -> None:
    fill(store, near_copies())
    run(store, DAY, loose(store))
    (merged,) = active(store)
    roll_back(store, loose(store), RollbackScope(abstraction=merged.id))
    assert [memory.id for memory in active(store)] == ["a", "b"]


@pytest.mark.usefixtures("judged")
def test_a_conflicting_near_copy_is_kept_apart_and_linked(store: Store) -> None:
    fill(
        store,
        [candidate(PORT.format(5432), native_id="a"), candidate(PORT.format(5433), native_id="b")],
    )
    report = run(store, DAY, loose(store))
    assert report.memories_archived == 0
    assert [(c.a, c.b, c.kind) for c in report.conflicts] == [("a", "b", "contradiction")]


def test_entries_become_one_canonical_entry(store: Store) -> None:
    fill(
        store,
        [
            entry("k1", "Restart the gateway after every rotation.", "S-1", tags=("keys",)),
            entry("k2", "restart the gateway after every rotation", "S-2", "Rotate keys without losing orders"),
        ],
    )
    report = run(store, DAY, loose(store))
    (canonical,) = active(store)
    assert canonical.content == (
        "Title: Rotate keys without losing orders\n"
        "Recommendation: Restart the gateway after every rotation.\n"
        "Merged from 2 entries: k1, k2\n"
        "Examples:\n"
        "- S-1: orders were lost for an hour\n"
        "- S-2: orders were lost for an hour"
    )
    assert canonical.is_canonical and canonical.memory_type == "lesson" and canonical.abstraction_level == 1
    assert canonical.tags == ("keys", "canonical", "role:all")
    assert policy_rows(report, "canonical").compressed == 1
    assert policy_rows(report, "merge").clusters_found == 0
    with store.reading() as tx:
        assert tx.lineage.replacement_of("k1") == tx.lineage.replacement_of("k2") == canonical.id
        assert {link.relation for link in tx.lineage.of([canonical.id])} == {"canonical"}
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_a_canonical_entry_takes_up_a_later_one(store: Store) -> None:
    advice = "Restart the gateway after every rotation."
    fill(store, [entry("k1", advice, "S-1"), entry("k2", advice, "S-2")])
    run(store, DAY, loose(store))
    fill(store, [entry("k3", f"{advice} Then tell Dana.", "S-2", at=FIRST + timedelta(days=1))])
    run(store, DAY + timedelta(days=1), loose(store))
    (canonical,) = active(store)
    assert "Merged from 2 entries: " in canonical.content and canonical.content.count("S-2") == 1
    with store.reading() as tx:
        assert tx.lineage.raw_sources_of([canonical.id]) == {canonical.id: ["k1", "k2", "k3"]}


def test_the_policies_of_a_project_are_its_own(store: Store) -> None:
    for project in ("strict", "loose"):
        fill(store, [candidate(c.content, c.created_at or FIRST) for c in near_copies()], project=project)
    report = run(store, DAY, loose(store, policies={"merge": PolicyTable(projects=("loose",))}))
    assert {memory.project_id for memory in active(store) if memory.abstraction_level == 1} == {"loose"}
    assert policy_rows(report, "merge").compressed == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "touched"),
    [
        ({"consolidation__projects": ("in",)}, {"in"}),
        ({"consolidation__projects": ("in", "!in")}, set()),
        ({"consolidation__projects": ("!in",)}, {"out"}),
        ({}, {"in", "out"}),
    ],
)
def test_a_project_takes_part_as_it_was_told(store: Store, changes: dict[str, Any], touched: set[str]) -> None:
    for project in ("in", "out"):
        copies = [candidate(f"{RULE}.", native_id=f"{project}-{n}") for n in range(2)]
        fill(store, [*copies, *[candidate(c.content) for c in near_copies()]], project=project)
    run(store, DAY, loose(store, **changes))
    with store.reading() as tx:
        assert {memory.project_id for memory in tx.memories.all() if memory.archived_at} == touched


@pytest.mark.slow
def test_a_merge_waits_for_a_person_and_its_members_are_left_alone_meanwhile(store: Store) -> None:
    fill(store, near_copies())
    settings = loose(store, compression__review="manual")
    for run_id in ("one", "two"):
        report = run(store, DAY, settings, run_id=run_id)
        assert report.memories_archived == 0
    (proposal,) = find_proposals(store, [])
    assert proposal.policy == "merge"
    approve_proposals(store, settings, [proposal.id], "dana")
    (merged,) = active(store)
    assert merged.abstraction_level == 1
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []


@pytest.mark.slow
def test_near_copies_that_a_person_keeps_apart_stay_apart(store: Store) -> None:
    fill(store, near_copies())
    run(store, DAY, loose(store, compression__review="manual"))
    reject_proposals(store, [], "dana", "they differ")
    fill(store, [candidate(f"{RULE}. Dana.", FIRST + timedelta(days=1), native_id="c", memory_type="lesson")])
    run(store, DAY + timedelta(days=20), loose(store))
    with store.reading() as tx:
        assert tx.lineage.replacement_of("a") != tx.lineage.replacement_of("b")


@pytest.mark.slow
def test_a_cluster_that_breaks_leaves_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, near_copies())
    others = [candidate(c.content.replace("gateway", "proxy"), native_id=f"q{c.native_id}") for c in near_copies()]
    fill(store, others, project="q")
    merged = levels.merge_contents

    def breaks(contents: Sequence[str]) -> str:
        if any("proxy" in content for content in contents):
            raise KeyError("broken")
        return merged(contents)

    monkeypatch.setattr(levels, "merge_contents", breaks)
    report = run(store, DAY, loose(store))
    row = policy_rows(report, "merge")
    assert (row.compressed, row.failed, report.verdict) == (1, 1, "PARTIAL")
    assert [error.stage for error in report.errors] == ["distill"] and "broken" in report.errors[0].error
    monkeypatch.undo()
    assert policy_rows(run(store, DAY, loose(store), run_id="again"), "merge").compressed == 1
