"""The knowledge base made canonical on demand and by the month: preflight, report, closing lines."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_pipeline.config.policies import PolicyTable
from memory_pipeline.consolidation.knowledge_base import (
    EntriesAfter,
    KnowledgeBaseReport,
    compress_knowledge_base,
    knowledge_base_night,
)
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, settings_for, sql_rows

_TOPICS = "wiki backup printer label basil water receipt archive pallet scanner invoice mailing lamp window".split()


def knowledge(store: Store, strangers: int = 8, at: datetime = FIRST) -> None:
    """Three entries on one subject, and others that have nothing in common."""
    advice = "Restart the gateway after every rotation of the API key"
    same = [
        candidate(
            f"Title: Rotate keys\nRecommendation: {advice}{end}\nExamples:\n- S-{n}: it happened {n} times",
            at,
            native_id=f"k{n}",
            memory_type=kind,
            tags=(f"t{n}",),
        )
        for n, (end, kind) in enumerate(((".", "lesson"), ("", "decision"), (" and wait a minute.", "feedback")))
    ]
    others = [
        candidate(
            f"Title: About {topic}\nRecommendation: Look after the {topic} {n} every week.", at, native_id=f"x{n}"
        )
        for n, topic in enumerate(_TOPICS[:strangers])
    ]
    fill(store, [*same, *others])


def compress(store: Store, **options: Any) -> KnowledgeBaseReport:
    return compress_knowledge_base(knowledge_base_night(store, settings_for(store), "kb", threshold=0.8, **options))


@pytest.mark.slow
def test_the_report_counts_what_became_one(store: Store) -> None:
    knowledge(store, strangers=9)
    report = compress(store)
    written = yaml.safe_load(Path(str(report.report_file)).read_text(encoding="utf-8"))
    assert Path(str(report.report_file)).name == "COMPRESSION-REPORT.yaml"
    assert {name: written[name] for name in ("threshold", "dry_run", "before", "after", "no_cluster")} == {
        "threshold": 0.8,
        "dry_run": False,
        "before": {"total_entries": 12, "lessons": 1, "decisions": 1, "feedback": 1, "other": 9},
        "after": {"total_entries": 10, "canonical_entries": 1, "archived_entries": 3},
        "no_cluster": {"count": 9, "reason": "no other entry reaches the threshold of 0.8"},
    }
    (cluster,) = written["clusters_created"]
    assert (cluster["size"], cluster["topic"], cluster["members"]) == (3, "Rotate keys", ["k0", "k1", "k2"])
    assert written["compression"]["ratio"] == 0.83 and written["run_date"] == datetime.now(UTC).date().isoformat()
    saved = written["compression"]["estimated_token_savings"]
    assert report.line == f"COMPRESSION COMPLETE: 1 clusters, 3 archived, {saved} tokens saved"
    with store.reading() as tx:
        canonical = tx.memories.read([cluster["id"]])[cluster["id"]]
        assert sum(m.token_count for m in tx.memories.all() if m.archived_at) - canonical.token_count == saved
        assert canonical.tags == ("t0", "t1", "t2", "canonical", "role:all") and tx.integrity.check(deep=True) == []
    again = compress(store)
    assert again.line == "COMPRESSION COMPLETE: 0 clusters, 0 archived, 0 tokens saved"
    assert again.after == EntriesAfter(total_entries=10, canonical_entries=1, archived_entries=0)


@pytest.mark.slow
def test_a_dry_run_says_what_would_be_and_writes_nothing(store: Store) -> None:
    knowledge(store)
    before = store.path.read_bytes()
    report = compress(store, dry_run=True)
    assert store.path.read_bytes() == before
    assert report.line == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 3 entries would be archived"
    assert report.clusters_created == compress(store).clusters_created


def test_a_dry_run_embeds_what_has_no_vector_yet_and_keeps_none(store: Store) -> None:
    knowledge(store)
    with store.writing("test") as tx:
        sql_rows(tx, "delete from embeddings")
    before = store.path.read_bytes()
    report = compress(store, dry_run=True)
    assert report.line == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 3 entries would be archived"
    assert store.path.read_bytes() == before


def test_a_dry_run_without_a_store_blocks(store: Store) -> None:
    assert "there is no store" in (compress(store, dry_run=True).blocked or "") and not store.path.exists()


def test_too_few_entries_are_left_as_they_are(store: Store) -> None:
    knowledge(store, strangers=5)
    report = compress(store)
    assert report.line == "COMPRESSION SKIPPED: Insufficient entries (min 10, found 8)"
    written = yaml.safe_load(Path(str(report.report_file)).read_text(encoding="utf-8"))
    assert written["line"] == report.line and written["compression"]["ratio"] == 1.0
    assert written["before"]["total_entries"] == written["after"]["total_entries"] == 8


def test_a_store_that_cannot_be_reached_blocks(store: Store) -> None:
    report = compress(store)
    assert report.line == "COMPRESSION BLOCKED: KB unavailable" and "there is no store" in (report.blocked or "")


def test_entries_of_a_waiting_proposal_are_left_alone_and_said_to_be(store: Store) -> None:
    knowledge(store)
    settings = settings_for(store, compression__review="manual")
    for run_id in ("first", "second"):
        report = compress_knowledge_base(knowledge_base_night(store, settings, run_id, threshold=0.8))
        (left,) = report.left_alone
        assert (left.members, left.status, left.reason) == (("k0", "k1", "k2"), "proposed", "awaits review"), run_id
    (kept,) = yaml.safe_load(Path(str(report.report_file)).read_text(encoding="utf-8"))["left_alone"]
    assert kept["status"] == "proposed" and report.clusters_created == ()


def test_a_night_that_runs_is_not_disturbed(store: Store) -> None:
    knowledge(store)
    store.take_lease("another", "a night")
    with pytest.raises(StoreBusyError, match="a night"):
        compress(store)


def test_critical_pinned_and_old_entries_are_not_taken(store: Store) -> None:
    knowledge(store)
    with store.writing("agent") as tx:
        sql_rows(tx, "update memories set importance = 2.7 where id = 'k0'")
        sql_rows(tx, "update memories set pinned = true where id = 'k1'")
    report = compress(store)
    assert report.clusters_created == () and report.not_eligible == 2
    assert compress(store, days=1).not_eligible == 11


def test_entries_that_contradict_each_other_are_kept_apart(store: Store) -> None:
    knowledge(store)
    text = "Title: Rotate keys\nRecommendation: Restart the gateway before every rotation of the API key."
    fill(store, [candidate(text, FIRST, native_id="k9")])
    (cluster,) = compress(store).clusters_created
    assert cluster.members == ("k0", "k1", "k2")


def test_the_month_takes_what_had_been_there_at_its_end(store: Store) -> None:
    knowledge(store, at=datetime(2026, 4, 2, tzinfo=UTC))
    settings = settings_for(store, compression__policies={"canonical": PolicyTable(threshold=0.8)})
    march = knowledge_base_night(store, settings, "march", day=date(2026, 3, 31))
    assert compress_knowledge_base(march).line == "COMPRESSION SKIPPED: Insufficient entries (min 10, found 0)"
    april = knowledge_base_night(store, settings, "april", day=date(2026, 4, 30))
    (cluster,) = compress_knowledge_base(april).clusters_created
    with store.reading() as tx:
        assert tx.memories.read([cluster.id])[cluster.id].created_at == april.as_of
        assert april.as_of - timedelta(days=1) == datetime(2026, 4, 30, tzinfo=UTC)


def test_a_threshold_that_cannot_be_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match=r"--threshold is 1\.5"):
        knowledge_base_night(store, settings_for(store), "kb", threshold=1.5)
