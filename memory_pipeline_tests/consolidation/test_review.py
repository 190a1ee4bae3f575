"""Review by hand: nights leave proposals, a person decides, and what is approved counts as of its night."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.consolidation.report import closing_line
from memory_pipeline.consolidation.review import decisions
from memory_pipeline.consolidation.review.decisions import approve_proposals, find_proposals, reject_proposals
from memory_pipeline.consolidation.review.proposals import describe_proposals, proposal_text
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.records.drafts import drafted, members_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for, sql_rows

DAY = date(2026, 3, 3)


def filled(store: Store) -> None:
    copies = [candidate("Copied  words", FIRST + timedelta(hours=n), native_id=f"copy-{n}") for n in range(2)]
    fill(store, [*lesson(5), *copies])


def manual(store: Store, **changes: object) -> object:
    return settings_for(store, **{"compression__review": "manual", **changes})


def active(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(active_only=True)


@pytest.mark.slow
def test_a_reviewed_night_archives_nothing_and_leaves_proposals(store: Store) -> None:
    filled(store)
    before = active(store)
    report = run(store, DAY, manual(store))
    assert active(store) == before
    assert (report.verdict, report.proposals, report.memories_archived) == ("IDLE", 2, 0)
    assert closing_line(report) == "COMPRESSION SKIPPED: 2 proposals await review"
    again = run(store, DAY + timedelta(days=1), manual(store), run_id="b")
    assert again.clusters_settled == 1 and len(find_proposals(store, [])) == 2


@pytest.mark.slow
def test_approving_all_gives_the_store_that_an_automatic_night_gives(store: Store, tmp_path: object) -> None:
    twin = Store(store.path.with_name("twin.duckdb"))
    for each in (store, twin):
        filled(each)
    run(twin, DAY)
    run(store, DAY, manual(store))
    results = approve_proposals(store, manual(store), [], "dana")
    assert [result.outcome for result in results] == ["approved", "approved"]
    assert active(store) == active(twin)
    with store.reading() as tx, twin.reading() as other:
        report, night = tx.journal.report(results[0].run_id), other.journal.report()
    assert report and night and report["kind"] == "review" and report["verdict"] == "PASS"
    alike = ("memories_archived", "duplicates_archived", "clusters_compressed", "tokens_before", "tokens_after")
    assert [report[name] for name in alike] == [night[name] for name in alike]
    assert report["recall_found"] == report["recall_sampled"] == night["recall_sampled"] == 6
    assert "COMPRESSION RUN PASS" in (store.path.parent / "reports" / "notices.jsonl").read_text()
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        assert {(p.status, p.decided_by) for p in tx.proposals.list(None)} == {("approved", "dana")}


def whole(store: Store) -> str:
    with store.reading() as tx:
        return tx.contents.digest(with_log=True)


def steps(store: Store) -> None:
    """Three near-copies for a merge, on which a pattern rests; two copies of one of them; and what has a cause."""
    merged = [c for c in lesson(1) for _ in range(2)]
    near = [
        candidate(f"{merged[0].content}{end}", FIRST + timedelta(minutes=n), native_id=f"near-{n}")
        for n, end in enumerate(("", " So it is.", " So it is, then."))
    ]
    fill(store, [*lesson(5), *near, candidate(near[1].content.upper(), FIRST + timedelta(hours=9), native_id="copy")])
    fill(store, lesson(4, topic="printer"))


@pytest.mark.slow
def test_approving_all_leaves_the_log_the_atoms_and_the_playbook_of_an_automatic_night(store: Store) -> None:
    twin = Store(store.path.with_name("twin.duckdb"))
    for each in (store, twin):
        steps(each)
    report = run(twin, DAY)
    policies = {p.policy: p.compressed for p in report.policies}
    assert policies["merge"] >= 1 and policies["distill"] >= 1 and report.playbook_created >= 1
    run(store, DAY, manual(store))
    with store.reading() as tx:
        proposed = tx.proposals.list()
        resting = [describe_proposals(tx, [p])[0] for p in proposed]
    assert any(shown.rests_on_proposed for shown in resting)
    results = approve_proposals(store, manual(store), [], "dana")
    assert {result.outcome for result in results} == {"approved"}
    assert whole(store) == whole(twin)
    with store.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []


@pytest.mark.slow
def test_what_rests_on_a_proposal_waits_for_it_and_goes_with_it(store: Store) -> None:
    steps(store)
    run(store, DAY, manual(store))
    with store.reading() as tx:
        shown = [describe_proposals(tx, [p])[0] for p in tx.proposals.list()]
    (top,) = [s for s in shown if s.rests_on_proposed]
    (base,) = [s for s in shown if s.policy == "merge"]
    assert top.rests_on_proposed == (base.id,) and f"depends on other proposals: {base.id}" in proposal_text(top)
    (proposal,) = find_proposals(store, [top.id])
    assert {member.id for member in top.members} == set(members_of(drafted(proposal)))
    assert base.abstraction in {member.content for member in top.members}
    (early,) = approve_proposals(store, manual(store), [top.id], "dana")
    assert early.outcome == f"not applied: it depends on the proposal '{base.id}'; approve that one first"
    reject_proposals(store, [base.id], "dana")
    assert find_proposals(store, [top.id])[0].status == "withdrawn"


@pytest.mark.slow
def test_a_rejected_proposal_is_not_made_again(store: Store) -> None:
    filled(store)
    run(store, DAY, manual(store))
    reject_proposals(store, [], "dana", "they differ")
    for days in (1, 30):
        report = run(store, DAY + timedelta(days=days), settings_for(store), run_id=f"r{days}")
        assert report.memories_archived == 0
    with store.reading() as tx:
        assert {(p.status, p.reason) for p in tx.proposals.list(None)} == {("rejected", "they differ")}


def test_a_proposal_whose_sources_changed_is_not_applied(store: Store) -> None:
    filled(store)
    run(store, DAY, manual(store))
    with store.writing("agent") as tx:
        sql_rows(tx, "update memories set pinned = true where id = 'gateway-2'")
    (cluster,) = [p for p in find_proposals(store, []) if p.policy == "distill"]
    (result,) = approve_proposals(store, manual(store), [cluster.id[:8]], "dana")
    assert result.outcome == "not applied: a source may not be archived: 'gateway-2' is pinned"
    assert find_proposals(store, [cluster.id])[0].status == "pending"


@pytest.mark.slow
def test_a_proposal_that_breaks_is_reported_and_leaves_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store)
    run(store, DAY, manual(store))

    def broken(*_: object) -> None:
        raise OSError("the line broke")

    monkeypatch.setattr(decisions, "archive_group", broken)
    results = approve_proposals(store, manual(store), [], "dana")
    assert sorted(result.outcome for result in results) == ["approved", "failed: OSError: the line broke"]
    with store.reading() as tx:
        report = tx.journal.report(results[0].run_id)
    assert report and (report["verdict"], report["memories_archived"]) == ("PARTIAL", 5)
    assert len(find_proposals(store, [])) == 1


def test_only_the_named_projects_are_reviewed(store: Store) -> None:
    fill(store, lesson(4), project="free")
    fill(store, lesson(4, topic="printer"), project="careful")
    report = run(store, DAY, settings_for(store, compression__review_projects=("careful",)))
    assert (report.clusters_compressed, report.proposals, report.verdict) == (1, 1, "PASS")


@pytest.mark.slow
def test_an_approved_proposal_can_be_rolled_back_and_proposed_again(store: Store) -> None:
    filled(store)
    before = active(store)
    run(store, DAY, manual(store))
    run_id = approve_proposals(store, manual(store), [], "dana")[0].run_id
    roll_back(store, settings_for(store), RollbackScope(run_id=run_id))
    assert active(store) == before
    with store.reading() as tx:
        assert {p.status for p in tx.proposals.list(None)} == {"withdrawn"}
    run(store, DAY, manual(store), run_id="again")
    assert len(find_proposals(store, [])) == 2


def test_a_proposal_shows_sources_beside_what_would_stand_for_them(store: Store) -> None:
    filled(store)
    run(store, DAY, manual(store))
    with store.reading() as tx:
        texts = [proposal_text(describe_proposals(tx, [p])[0]) for p in tx.proposals.list()]
        contents = [m.content for m in tx.memories.read([f"gateway-{n}" for n in range(5)]).values()]
    whole = "\n".join(texts)
    assert all(content in whole for content in contents)
    assert "5 kept, 0 attached, of 5" in whole and "exact copies of copy-0" in whole


def test_an_unknown_proposal_is_named(store: Store) -> None:
    filled(store)
    with pytest.raises(InputError, match=r"no proposal has an id that starts with 'zz'; .* list --all' shows every"):
        approve_proposals(store, manual(store), ["zz"], "dana")


def test_an_id_that_fits_several_proposals_names_them(store: Store) -> None:
    filled(store)
    run(store, DAY, manual(store))
    proposals = find_proposals(store, [])
    assert len(proposals) > 1
    with pytest.raises(InputError, match=f"{len(proposals)} proposals have ids that start with ''.*{proposals[0].id}"):
        approve_proposals(store, manual(store), [""], "dana")


def test_a_dry_run_leaves_no_proposals(store: Store) -> None:
    filled(store)
    bytes_before = store.path.read_bytes()
    run(store, DAY, manual(store), dry_run=True)
    assert store.path.read_bytes() == bytes_before
