"""What is wrong with one cluster refuses that cluster, before it is written; no night ends because of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest

from memory_pipeline.consolidation import distillation as levels
from memory_pipeline.consolidation import duplicates, gates
from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.counting import read_clusters
from memory_pipeline.consolidation.distillation import distill_clusters
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.gates import lost_in_levels
from memory_pipeline.consolidation.growth import cluster_memories
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.records import DuplicateGroup
from memory_pipeline.store import Store, Transaction
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, night_of, run, settings_for, sql_rows

DAY = date(2026, 3, 3)


def copies_of(text: str, other: str, name: str) -> list[Candidate]:
    return [
        candidate(text, FIRST, native_id=f"{name}-a"),
        candidate(other, FIRST + timedelta(hours=1), native_id=f"{name}-b"),
    ]


LONG = "Wipe the lenses of both scanners at dock two each morning before the first pallet of the day arrives"

OTHER = "Renew certificates of the mail relay by DNS challenge, because port eighty stays closed on that host"


def archived(store: Store) -> set[str]:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return {memory.id for memory in tx.memories.all() if memory.archived_at}


def test_a_merge_that_would_lose_a_statement_is_skipped_with_the_reason_and_the_others_are_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, copies_of(f"{LONG}.", f"Note: {LONG}!!", "good"))
    fill(store, copies_of(f"{OTHER}.", f"Note: {OTHER}!!", "bad"))
    merge = levels.merge_contents
    monkeypatch.delitem(gates.GATES, "losses")  # the words alone must stop it
    monkeypatch.setattr(
        levels, "merge_contents", lambda texts: "Nothing of it." if "relay" in texts[0] else merge(texts)
    )
    report = run(store, DAY, run_id="night")
    assert archived(store) >= {"good-a"} and not archived(store) & {"bad-a", "bad-b"}
    assert report.verdict == "PASS" and report.refusals == {"preservation": 1}
    with store.reading() as tx:
        rows = sql_rows(tx, "select status, reason from compression_log where reason like 'preserv%'")
        settled = tx.journal.settled_fingerprints(night_of(store, DAY).as_of, 7)
    assert rows[0][0] == "skipped" and "preservation: lacks: Renew certificates" in rows[0][1]
    assert len(settled) == 2


@pytest.mark.parametrize(
    "gate",
    [
        "losses",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("unkept_statements", "unsafe_members", "conflicts_inside")
        ),
    ],
)
def test_every_gate_refuses_its_cluster_alone(store: Store, monkeypatch: pytest.MonkeyPatch, gate: str) -> None:
    fill(store, [*lesson(4), *lesson(4, topic="printer")])
    reason, find = gates.GATES[gate]

    def strict(evidence: gates.Evidence) -> list[str]:
        is_bad = evidence.draft.member_ids[0].startswith("printer")
        return ["something is wrong"] if is_bad else find(evidence)

    monkeypatch.setitem(gates.GATES, gate, (reason, strict))
    report = run(store, DAY)
    assert archived(store) == {f"gateway-{n}" for n in range(4)}
    assert report.verdict == "PASS" and report.clusters_skipped == 1
    monkeypatch.undo()
    assert run(store, DAY + timedelta(days=7)).clusters_compressed == 1


def test_of_two_clusters_with_a_source_in_common_one_is_made(store: Store) -> None:
    fill(store, lesson(5))
    night = night_of(store, DAY)
    eligible = select_eligible(night, [])
    (draft,) = distill_clusters(night, cluster_memories(night, eligible, find_similar(night, eligible)))
    other = replace(draft, cluster=replace(draft.cluster, cluster_id="another", fingerprint="another"))
    done = archive_distillations(night, [draft, other])
    assert [archive.status for archive in done] == ["compressed", "skipped"]
    assert archived(store) == set(draft.member_ids)


def test_a_gate_that_breaks_fails_its_cluster_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [*lesson(4), *lesson(4, topic="printer")])
    real = gates.find_conflict

    def shaky(a: str, b: str) -> object:
        if "labels" in a:
            raise RecursionError("too deep")
        return real(a, b)

    monkeypatch.setattr(gates, "find_conflict", shaky)
    report = run(store, DAY)
    assert (report.verdict, report.clusters_compressed, report.clusters_failed) == ("PARTIAL", 1, 1)
    assert archived(store) == {f"gateway-{n}" for n in range(4)}


def test_the_judge_before_the_write_and_the_check_after_it_agree(store: Store) -> None:
    fill(store, copies_of(f"{LONG}.", f"Note: {LONG}!!", "good"))
    run(store, DAY, run_id="night")
    with store.reading() as tx:
        clusters = read_clusters(
            tx, tx.journal.log_of("night"), {memory_id for memory_id, _ in tx.runs.archived_by("night")}
        )
        made = [archive for archive in clusters if archive.status == "compressed"]
        assert len(made) == 1 and lost_in_levels(tx, {made[0].abstraction_id or ""}) == []


@pytest.mark.slow
def test_a_merge_that_an_earlier_version_left_incomplete_stops_no_night_and_is_a_warning_with_its_mend(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, copies_of(f"{LONG}.", f"Note: {LONG}!!", "old"))
    with monkeypatch.context() as earlier:
        earlier.setattr(levels, "merge_contents", lambda texts: "Wipe the lenses of both scanners.")
        earlier.setattr(gates, "lost_words", lambda *_, **__: [])
        earlier.delitem(gates.GATES, "losses")
        assert run(store, DAY, run_id="earlier").clusters_compressed == 1
    with store.reading() as tx:
        (warning,) = lost_in_levels(tx)
        assert tx.integrity.check(deep=True) == []
    assert "lacks: Wipe the lenses" in warning.problem and f"--abstraction {warning.where}'" in warning.mend
    fill(store, copies_of(f"{OTHER}.", f"Note: {OTHER}!!", "new"))
    report = run(store, DAY + timedelta(days=1))
    assert (report.verdict, report.clusters_compressed) == ("PASS", 1)
    roll_back(store, settings_for(store), RollbackScope(abstraction=warning.where))
    with store.reading() as tx:
        assert lost_in_levels(tx) == []
    assert archived(store) & {"old-a", "old-b"} == set()


def test_a_group_of_exact_copies_that_breaks_leaves_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [*copies_of(f"{LONG}.", f"{LONG}", "good"), *copies_of(f"{OTHER}.", f"**{OTHER}**", "bad")])
    real = duplicates.archive_groups

    def shaky(night: Night, tx: Transaction, groups: Sequence[DuplicateGroup]) -> None:
        if any(group.survivor_id == "bad-a" for group in groups):
            raise RecursionError("too deep")
        real(night, tx, groups)

    monkeypatch.setattr(duplicates, "archive_groups", shaky)
    monkeypatch.setattr("memory_pipeline.config.settings.Settings.night_policies", lambda *_: ())
    report = run(store, DAY)
    assert archived(store) == {"good-b"}
    assert (report.verdict, report.duplicates_archived) == ("PARTIAL", 1)
    assert [(e.stage, e.error) for e in report.errors] == [("archive", "RecursionError: too deep")]
    with store.reading() as tx:
        assert sql_rows(tx, "select status from compression_log order by 1") == [("compressed",), ("failed",)]
