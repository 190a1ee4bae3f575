"""A night step by step: who is touched, who is not, and what the report says of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.consolidation.archive import archive_distillations
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.distillation import distill_clusters
from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.judge import Draft, Task
from memory_pipeline.consolidation.duplicates import archive_duplicates
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.growth import cluster_memories
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.report import closing_line
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.records import Distillation, Memory
from memory_pipeline.store import Store
from memory_pipeline.store.lineage import Lineage
from memory_pipeline_tests.build import (
    FIRST,
    BrokenEmbedder,
    candidate,
    fill,
    lesson,
    night_of,
    run,
    settings_for,
    sql_rows,
)

DAY = date(2026, 3, 3)


def memories(store: Store) -> dict[str, Memory]:
    with store.reading() as tx:
        return {memory.id: memory for memory in tx.memories.all()}


def archived(store: Store) -> set[str]:
    return {i for i, memory in memories(store).items() if memory.archived_at is not None}


def drafts_of(night: Night) -> list[Distillation]:
    """The night's distillations, with everything before the archive done."""
    eligible = select_eligible(night, archive_duplicates(night))
    return distill_clusters(night, cluster_memories(night, eligible, find_similar(night, eligible)))


@pytest.mark.slow
@pytest.mark.parametrize("page", [1, 2, 4])
def test_a_night_is_the_same_however_much_it_reads_at_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    other = Store(tmp_path / "in_pages.duckdb")
    for one in (store, other):
        fill(one, [*lesson(5), *lesson(4, topic="printer"), candidate("The cellar has 4 shelves.", native_id="shelf")])
    report = run(store, DAY)
    for name in ("eligibility.PAGE", "context._VECTORS_AT_ONCE"):
        monkeypatch.setattr(f"memory_pipeline.consolidation.{name}", page)
    again = run(other, DAY)
    assert report.clusters_compressed == again.clusters_compressed == 2
    assert (report.recall_found, report.recall_sampled) == (again.recall_found, again.recall_sampled)
    with store.reading() as tx, other.reading() as tx_of_pages:
        assert tx_of_pages.contents.digest(with_log=True) == tx.contents.digest(with_log=True)


def test_a_lesson_becomes_one_memory_with_every_detail(store: Store) -> None:
    fill(store, lesson(5))
    report = run(store, DAY)
    (abstraction,) = [memory for memory in memories(store).values() if memory.compressed_from]
    assert report.verdict == "PASS" and report.clusters_compressed == 1
    for detail in ("15 minutes", "Dana", "health page", "reload signal", "2.4.1"):
        assert detail in abstraction.content
    assert abstraction.abstraction_level == 2 and abstraction.importance == 1.0
    assert abstraction.effective_date == FIRST + timedelta(hours=4)
    assert abstraction.created_at == datetime(2026, 3, 4, tzinfo=UTC)
    assert abstraction.categories == ("compressed",)
    sources = json.loads(abstraction.compressed_from or "")
    assert set(sources) == {"source_ids", "compression_ratio", "cluster_size", "distilled_at", "source_date_range"}
    assert sources["cluster_size"] == 5 and sources["source_ids"] == [f"gateway-{n}" for n in range(5)]


def test_sources_are_archived_with_their_importance_kept_and_lineage_reaches_them(store: Store) -> None:
    fill(store, [replace(c, importance=1.7) for c in lesson(4)])
    run(store, DAY)
    found = memories(store)
    (abstraction,) = [memory for memory in found.values() if memory.compressed_from]
    source = found["gateway-0"]
    assert (source.importance, source.importance_before) == (0.5, 1.7)
    assert source.consolidated_into_id == abstraction.id and source.archived_at == datetime(2026, 3, 4, tzinfo=UTC)
    assert abstraction.importance == 1.7
    with store.reading() as tx:
        assert {link.source_id for link in tx.lineage.of([abstraction.id])} == {f"gateway-{n}" for n in range(4)}
        assert tx.lineage.raw_sources_of([abstraction.id]) == {abstraction.id: [f"gateway-{n}" for n in range(4)]}


def test_critical_pinned_and_fresh_memories_are_left_alone(store: Store) -> None:
    plain, critical, pinned = lesson(3), lesson(5)[3], lesson(5)[4]
    fresh = replace(lesson(6)[5], created_at=datetime(2026, 3, 3, 12, tzinfo=UTC))
    fill(store, [*plain, replace(critical, importance=2.5), replace(pinned, pinned=True), fresh])
    run(store, DAY)
    assert archived(store) == {"gateway-0", "gateway-1", "gateway-2"}


def test_exact_copies_are_archived_into_the_oldest(store: Store) -> None:
    text = "The warehouse door code changes on the first of the month."
    fill(
        store,
        [
            candidate(text, FIRST + timedelta(hours=2), native_id="younger", importance=2.0, tags=("t",)),
            candidate(f"**{text.upper()}**", FIRST, native_id="oldest"),
            candidate(text, FIRST, native_id="elsewhere", project_id="other"),
        ],
    )
    report = run(store, DAY)
    found = memories(store)
    assert archived(store) == {"younger"} and report.duplicates_archived == 1
    assert found["younger"].consolidated_into_id == "oldest"
    assert found["oldest"].importance == 1.0 and found["younger"].tags == ("t",)


def test_what_differs_in_its_code_is_no_copy(store: Store) -> None:
    pairs = [
        ("Print the plan with `lp -o landscape`.", "Print the plan with `lp -O landscape`."),
        ("The manual is [here](https://example.org/a).", "The manual is [here](https://example.org/b)."),
        ("The laser has 3 mW.", "The laser has 3 MW."),
        ("The fixtures are in data/Fixtures.", "The fixtures are in data/fixtures."),
        ("Pass `**options` on.", "Pass `*options` on."),
    ]
    fill(store, [candidate(text, FIRST, native_id=f"{n}") for n, text in enumerate(sum(pairs, ()))])
    assert run(store, DAY).duplicates_archived == 0 and archived(store) == set()


@pytest.mark.slow
def test_a_copy_of_something_archived_goes_where_that_went(store: Store) -> None:
    fill(store, lesson(4))
    run(store, DAY)
    fill(store, [candidate(lesson(4)[2].content, FIRST + timedelta(days=3), native_id="again")])
    run(store, DAY + timedelta(days=3))
    found = memories(store)
    assert found["again"].consolidated_into_id == found["gateway-2"].consolidated_into_id


@pytest.mark.usefixtures("judged")
def test_contradictions_are_linked_and_never_merged(store: Store) -> None:
    text = "The staging database of the webshop listens for connections on port 5432 behind the proxy"
    notes = [
        candidate(f"{text}.", FIRST, native_id="a"),
        candidate(f"{text[:-18]} behind the proxy!!", FIRST, native_id="b"),
    ]
    notes.append(candidate(text.replace("5432", "5433"), FIRST, native_id="c"))
    fill(store, [*notes, candidate(f"Note: {text}", FIRST, native_id="d")])
    run(store, DAY)
    with store.reading() as tx:
        pairs = {frozenset((conflict.a, conflict.b)) for conflict in tx.conflicts.open()}
        stands_for_a = tx.lineage.replacement_of("a")
        assert pairs == {frozenset((case.conflict.a, case.conflict.b)) for case in tx.conflicts.cases()}
    assert frozenset((stands_for_a, "c")) in pairs
    assert "c" not in archived(store)


def test_readings_that_come_back_with_other_figures_are_neither_distilled_nor_a_conflict(store: Store) -> None:
    notes = [
        candidate(
            f"autonomous preflight: the nightly check of all brain collections is complete in {30 + n}.{n}5s",
            FIRST + timedelta(hours=12 * n),
            native_id=f"r{n}",
        )
        for n in range(6)
    ]
    fill(store, notes)
    report = run(store, date(2026, 3, 6))
    (series,) = [memory for memory in memories(store).values() if memory.compressed_from]
    assert len(archived(store)) == 6
    assert series.content == (
        "autonomous preflight: the nightly check of all brain collections is complete in 35.55s (3 March 2026, 21:00, "
        "the newest of 6 readings since 1 March). is complete in 30.05 to 35.55s, rising."
    )
    assert report.conflicts_known == 0


def test_times_that_are_told_in_other_words_stay_notes_of_their_own_without_a_model(store: Store) -> None:
    tellings = (
        "The deploy took 14 minutes because the build cache was cold",
        "Because the build cache was cold the deploy took 22 minutes",
        "Cold was the build cache, and the deploy took 19 minutes because of it",
    )
    fill(store, [candidate(text, FIRST + timedelta(days=n), native_id=str(n)) for n, text in enumerate(tellings)])
    run(store, date(2026, 3, 6))
    assert not any(memory.compressed_from for memory in memories(store).values()) and not archived(store)


def test_two_readings_alone_are_kept_apart_and_are_no_contradiction(store: Store) -> None:
    text = "autonomous preflight: the nightly check of all brain collections is complete in {}s"
    fill(store, [candidate(text.format(n), FIRST, native_id=str(n)) for n in (30, 31)])
    report = run(store, DAY)
    assert (report.conflicts_known, report.memories_archived) == (0, 0)


def test_projects_never_mix(store: Store) -> None:
    fill(store, [replace(c, project_id="one" if n % 2 else "two") for n, c in enumerate(lesson(4))])
    assert run(store, DAY).clusters_found == 0


def test_a_late_memory_is_taken_up_by_the_next_night(store: Store) -> None:
    fill(store, lesson(2))
    assert run(store, DAY).clusters_found == 0
    fill(store, lesson(3))
    assert run(store, DAY + timedelta(days=1)).clusters_compressed == 1


@pytest.mark.slow
def test_a_refused_cluster_is_left_alone_for_seven_days_and_then_tried_again(store: Store) -> None:
    strict = settings_for(store, compression__min_ratio=50.0)
    fill(store, lesson(4))
    first = run(store, DAY, strict)
    assert first.verdict == "IDLE" and archived(store) == set()
    assert first.refusals == {"compression ratio too low": 1}
    assert run(store, DAY + timedelta(days=6)).verdict == "IDLE"
    assert run(store, DAY + timedelta(days=7)).clusters_compressed == 1


@pytest.mark.slow
def test_an_early_night_run_late_does_not_see_later_decisions(store: Store) -> None:
    """The window of a fingerprint is measured from the partition, not from the clock."""
    fill(store, lesson(4))
    run(store, DAY + timedelta(days=3), settings_for(store, compression__min_ratio=50.0))
    assert run(store, DAY).clusters_compressed == 1


@pytest.mark.slow
def test_one_failing_cluster_leaves_the_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [*lesson(4), *lesson(4, topic="printer")])
    work = Extractive.draft

    def failing(self: Extractive, task: Task) -> Draft:
        if any(i.startswith("printer") for i in task.cluster.member_ids):
            raise RuntimeError("the model fell over")
        return work(self, task)

    monkeypatch.setattr(Extractive, "draft", failing)
    report = run(store, DAY)
    assert report.verdict == "PARTIAL" and report.clusters_compressed == 1
    assert report.errors[0].stage == "distill" and "fell over" in report.errors[0].error
    assert archived(store) == {f"gateway-{n}" for n in range(4)}
    monkeypatch.undo()
    assert run(store, DAY, run_id="again").clusters_compressed == 1


def test_a_failing_write_rolls_the_whole_cluster_back_and_is_logged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(4))
    with store.reading() as tx:
        before = tx.contents.digest()

    def broken(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Lineage, "add", broken)
    report = run(store, DAY)
    with store.reading() as tx:
        assert tx.contents.digest() == before
        assert tx.integrity.check() == []
    assert (report.verdict, report.clusters_failed, report.errors[0].stage) == ("FAIL", 1, "write")


def test_sources_that_changed_since_the_clustering_are_not_archived(store: Store) -> None:
    fill(store, lesson(4))
    night = night_of(store, DAY)
    drafts = drafts_of(night)
    with store.writing("agent") as tx:
        sql_rows(tx, "update memories set pinned = true where id = 'gateway-1'")
    (result,) = archive_distillations(night, drafts)
    assert result.status == "skipped" and "'gateway-1'" in (result.reason or "")
    assert archived(store) == set()


def test_a_memory_written_while_the_night_runs_is_kept(store: Store) -> None:
    fill(store, lesson(4))
    night = night_of(store, DAY)
    drafts = drafts_of(night)
    fill(store, [candidate("Written by the agent meanwhile.", native_id="new")])
    archive_distillations(night, drafts)
    assert memories(store)["new"].archived_at is None


def test_without_an_embedder_only_exact_copies_are_found_and_the_report_says_why(store: Store) -> None:
    copy = candidate(lesson(1)[0].content, FIRST + timedelta(hours=9), native_id="copy")
    fill(store, [*lesson(4), copy], embedder=BrokenEmbedder())
    night = night_of(store, DAY)
    night.embedder = BrokenEmbedder()
    report = run_night(night)
    assert report.duplicates_archived == 1 and report.clusters_found == 0
    assert [error.stage for error in report.errors] == ["embed"]
    assert report.verdict == "PARTIAL"


def test_what_has_no_vector_is_embedded_before_the_night(store: Store) -> None:
    fill(store, lesson(4), embedder=BrokenEmbedder())
    assert run(store, DAY).clusters_compressed == 1


@pytest.mark.slow
def test_options_narrow_a_night(store: Store) -> None:
    old = [replace(c, created_at=FIRST - timedelta(days=40)) for c in lesson(4)]
    fill(store, [*old, *lesson(4, topic="printer")])
    foretold = run(store, DAY, dry_run=True)
    assert foretold.clusters_compressed == 2
    wanted = foretold.largest_clusters[0].cluster_id
    assert run(store, DAY, dry_run=True, threshold=0.99).clusters_found == 0
    assert run(store, DAY, dry_run=True, days=10).clusters_compressed == 1
    assert run(store, DAY, cluster_id=wanted).clusters_compressed == 1
    assert len({memory_id.split("-")[0] for memory_id in archived(store)}) == 1


def test_too_few_memories_end_the_night_early(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY, settings_for(store, compression__min_active_memories=10))
    assert closing_line(report) == "COMPRESSION SKIPPED: Insufficient memories (min 10, found 4)"


@pytest.mark.parametrize(("options"), [{"threshold": 0.2}, {"threshold": 1.5}, {"days": 0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        NightOptions(DAY, "r", **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_closing_lines(store: Store) -> None:
    fill(store, lesson(4))
    dry = run(store, DAY, dry_run=True)
    assert closing_line(dry) == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 4 entries would be archived"
    real = run(store, DAY)
    saved = real.tokens_before - real.tokens_after
    assert closing_line(real) == f"COMPRESSION COMPLETE: 1 clusters, 4 archived, {saved} tokens saved"
    assert closing_line(run(store, DAY, run_id="again")) == "COMPRESSION SKIPPED: no memory was eligible"


def test_report_files_tables_and_notices(store: Store) -> None:
    fill(store, [*lesson(4), candidate("<script>alert('x')</script> in a note that nobody should run", FIRST)])
    report = run(store, DAY)
    directory = store.path.parent / "reports"
    written = json.loads((directory / f"compression-run-{DAY}.json").read_text())
    assert written == report.as_json()
    page = (directory / f"compression-run-{DAY}.html").read_text()
    assert "<script>" not in page and "keeps using the old key" in page
    notice = json.loads((directory / "notices.jsonl").read_text().splitlines()[0])
    assert notice["subject"].startswith("COMPRESSION RUN PASS: 1 abstractions, ") and notice["priority"] == "info"
    assert notice["subject"].endswith("% token reduction") and notice["recipient"] == "all"
    with store.reading() as tx:
        assert [r["run_id"] for r in tx.journal.reports()] == [report.run_id]
    assert not list(directory.glob(".*"))
    for field in ("started_at", "finished_at", "duration_ms", "total_llm_calls", "estimated_cost_usd", "atoms_created"):
        assert field in written


def test_a_second_night_is_refused_while_one_runs_and_told_by_whom(store: Store) -> None:
    fill(store, lesson(4))
    store.take_lease("other-run", "the daemon")
    with pytest.raises(StoreBusyError, match=r"the daemon on .* run other-run"):
        run(store, DAY)
    assert archived(store) == set()


def test_a_dead_holder_does_not_block_the_next_night(store: Store) -> None:
    fill(store, lesson(4))
    store.take_lease("dead-run", "a killed process")
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set pid = 4194000")
    assert run(store, DAY).verdict == "PASS"


def test_a_holder_on_another_machine_counts_until_its_heartbeat_is_old(store: Store) -> None:
    fill(store, lesson(4))
    store.take_lease("far-run", "another machine")
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set host = 'elsewhere'")
    with pytest.raises(StoreBusyError, match="another machine on elsewhere"):
        run(store, DAY)
    with store.writing("test") as tx:
        sql_rows(tx, "update lease set heartbeat_at = heartbeat_at - interval 2 minutes")
    assert run(store, DAY).verdict == "PASS"


@pytest.mark.slow
def test_the_cached_edges_equal_a_full_recomputation_after_many_nights(store: Store, tmp_path: Path) -> None:
    """Law 5, through the store: what the nights kept is what one comparison of everything gives."""
    for turn, topic in enumerate(("gateway", "printer", "scanner")):
        fill(
            store,
            [
                replace(c, created_at=FIRST + timedelta(days=turn, hours=n))
                for n, c in enumerate(lesson(2, topic=topic))
            ],
        )
        run(store, DAY + timedelta(days=turn))
    night = night_of(store, DAY + timedelta(days=4))
    eligible = select_eligible(night, [])
    kept = find_similar(night, eligible).to_pylist()
    with store.writing("test") as tx:
        sql_rows(tx, "delete from compared")
        sql_rows(tx, "delete from similarity_edges")
    assert find_similar(night, eligible).to_pylist() == kept
    assert len(kept) >= 3
