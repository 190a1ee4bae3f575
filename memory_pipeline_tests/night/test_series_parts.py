"""Parts of series: what a line with many figures says that one memory has no room for."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_pipeline.embedding import choose_embedder
from memory_pipeline.embedding.lexical import Lexical
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.recall.series import list_series, series_text, show_series
from memory_pipeline.records import Memory
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.review.decisions import approve_proposals
from memory_pipeline.review.rollback import RollbackScope, roll_back
from memory_pipeline.store import SeriesMemory, Store
from memory_pipeline.wording.normalise import content_hash, shape_hash
from memory_pipeline.workspace.contents import contents_of, lasts
from memory_pipeline.workspace.obsidian import ObsidianExport
from memory_pipeline_tests.build import FIRST, NOW, candidate, fill, run, settings_for, sql_rows
from memory_pipeline_tests.night.test_series import active_hash, lines, problems

TEXT = "HOOKS: 8 ran (structural_health={}s, perf_benchmark={}s, latency_budget={}s, procedural_record={}s, audit={}s)"
VALUES = [(f"1.{20 + n * 7 % 9}{n}", f"1.0{n * 5 % 9}1", f"0.2{n * 3 % 8}", f"3.{n}49", f"0.{n}1{n}") for n in range(9)]
LATER = ("1.250", "1.031", "0.24", "3.249", "0.414")
FIRST_NIGHT, NEXT_NIGHT = date(2026, 3, 10), date(2026, 3, 14)


def one_series(store: Store) -> SeriesMemory:
    with store.reading() as tx:
        (one,) = tx.series.active()
    return one


def parts_in(store: Store) -> list[Memory]:
    with store.reading() as tx:
        found = tx.memories.read([part for part, _ in one_series(store).parts])
    return [found[part] for part, _ in one_series(store).parts]


def night(store: Store, day: date = FIRST_NIGHT, **changes: object) -> None:
    run(store, day, settings_for(store, **changes), run_id=f"night-{day}")


@pytest.fixture
def told(store: Store) -> Store:
    """A store after a night over the lines."""
    fill(store, lines(TEXT, *VALUES))
    night(store)
    return store


def test_each_figure_is_told_in_a_memory_of_at_most_sixty_tokens_that_leads_to_the_readings(told: Store) -> None:
    one, count = one_series(told), choose_embedder(settings_for(told)).count_tokens
    assert len(one.parts) >= 1 and all(count(text) <= 60 for text in one.said)
    for name, value in zip(("structural_health", "perf_benchmark", "latency_budget"), VALUES[-1], strict=False):
        assert sum(f"{name} {value} s" in text for text in one.said) == 1
    with told.reading() as tx:
        everything = tx.lineage.raw_sources_of([one.id, *(part.id for part in parts_in(told))])
        assert {len(sources) for sources in everything.values()} == {len(VALUES)}
        links = tx.lineage.of([part.id for part in parts_in(told)])
        assert {(link.source_id, link.relation) for link in links} == {(one.id, "part")}
        main = tx.memories.read([one.id])[one.id]
    assert all(part.token_count == count(part.content) for part in (main, *parts_in(told)))
    assert all(part.effective_date == main.effective_date for part in parts_in(told))
    assert problems(told) == []


def test_a_next_night_replaces_the_series_memory_with_its_parts(told: Store) -> None:
    before = one_series(told)
    fill(told, lines(TEXT, LATER, start=12))
    night(told, NEXT_NIGHT)
    after = one_series(told)
    earlier = [before.id, *(part for part, _ in before.parts)]
    with told.reading() as tx:
        assert {memory.consolidated_into_id for memory in tx.memories.read(earlier).values()} == {after.id}
        assert len(tx.lineage.raw_sources_of([after.id])[after.id]) == len(VALUES) + 1
    assert not {*earlier} & {after.id, *(part for part, _ in after.parts)}
    assert all("10 readings since 1 March" in text for text in after.said) and problems(told) == []
    unchanged = active_hash(told)
    night(told, NEXT_NIGHT + timedelta(days=1))
    assert active_hash(told) == unchanged


def test_a_rollback_takes_the_parts_along_and_they_come_back_under_their_ids(told: Store) -> None:
    first, before = one_series(told), active_hash(told)
    fill(told, lines(TEXT, LATER, start=12))
    unread = active_hash(told)
    night(told, NEXT_NIGHT)
    second = one_series(told)
    roll_back(told, settings_for(told), RollbackScope(run_id=f"night-{NEXT_NIGHT}"))
    assert active_hash(told) == unread != before and one_series(told) == first and problems(told) == []
    run(told, NEXT_NIGHT, run_id="again")
    assert one_series(told) == second and problems(told) == []
    roll_back(told, settings_for(told), RollbackScope(abstraction=second.id))
    assert one_series(told) == first and active_hash(told) == unread and problems(told) == []


def test_a_part_is_not_rolled_back_alone(told: Store) -> None:
    one, (part, *_) = one_series(told), parts_in(told)
    with pytest.raises(InputError, match=f"'{part.id}' is a part of the series memory '{one.id}'; name that one"):
        roll_back(told, settings_for(told), RollbackScope(abstraction=part.id))
    assert one_series(told) == one


def test_nights_one_by_one_leave_what_a_backfill_leaves(told: Store, tmp_path: Path) -> None:
    other_store = Store(tmp_path / "other.duckdb")
    fill(told, lines(TEXT, LATER, start=12))
    night(told, NEXT_NIGHT)
    fill(other_store, [*lines(TEXT, *VALUES), *lines(TEXT, LATER, start=12)])
    for day in (FIRST_NIGHT, NEXT_NIGHT):
        night(other_store, day)
    assert one_series(other_store).said == one_series(told).said
    assert active_hash(other_store) == active_hash(told)


def test_a_person_approves_a_series_with_its_parts(store: Store) -> None:
    fill(store, lines(TEXT, *VALUES))
    night(store, compression__review="manual")
    with store.reading() as tx:
        (proposal,) = tx.proposals.list()
        assert tx.series.active() == []
    approve_proposals(store, settings_for(store, compression__review="manual"), [proposal.id], "dana")
    assert len(one_series(store).parts) >= 1 and problems(store) == []


@pytest.mark.parametrize("number", [0, 1])
def test_other_words_under_the_id_of_one_of_them_leave_the_store_sound(told: Store, number: int) -> None:
    before = one_series(told)
    edited = [before.id, before.parts[0][0]][number]
    edit = candidate("These hooks are of no interest.", FIRST + timedelta(days=10), native_id=edited)
    import_memories(told, iter([edit]), project="p", embedder=Lexical(), now=NOW, critical_floor=2.5)
    with told.reading() as tx:
        assert tx.memories.read([edited])[edited].archived_at is not None
        assert [one.said for one in tx.series.active()] == [before.said] * number
    assert problems(told) == []
    fill(told, lines(TEXT, LATER, start=12))
    night(told, NEXT_NIGHT)
    assert problems(told) == []
    if number:
        assert all("10 readings since 1 March" in text for text in one_series(told).said)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("update memories set content = $2, content_hash = $3, shape_hash = $4 where id = $1", "its words are not"),
        ("delete from lineage where memory_id = $1 and $2 || $3 || $4 <> ''", "no lineage at all"),
        (
            "update memories set archived_at = created_at, archived_by = 'x', importance_before = 1.0, "
            "consolidated_into_id = id where id = $1 and $2 || $3 || $4 <> ''",
            "it is archived, and",
        ),
    ],
)
def test_a_part_that_was_changed_or_is_gone_is_found(told: Store, change: str, problem: str) -> None:
    part = parts_in(told)[-1]
    wrong = part.content.replace("readings", "lines")
    with told.writing("test") as tx:
        sql_rows(tx, "drop trigger memories_updated on memories")
        sql_rows(tx, change, [part.id, wrong, content_hash(wrong), shape_hash(wrong)])
    assert any(found.startswith(problem) or problem in found for found in problems(told))


def test_the_page_of_a_day_says_the_first_and_exports_say_all_together(told: Store) -> None:
    fill(told, lines("Pump check complete in {}s", 30, 31, 33, 29, 32))
    night(told, NEXT_NIGHT)
    with told.reading() as tx:
        wide = next(one for one in tx.series.active() if one.parts)
        day = tx.rollups.series("p", FIRST + timedelta(days=8), FIRST + timedelta(days=14))
    contents = contents_of(told, "p", with_sources=True)
    said = [memory.content for memory in contents.series]
    assert all(map(lasts, contents.series))
    pages = ObsidianExport(contents).plan.pages.values()
    main = next(page for page in pages if wide.id in page.partition("kind:")[0])
    own = [page for page in pages if any(part in page.partition("kind:")[0] for part, _ in wide.parts)]
    assert "## Parts\n" in main and len(own) == len(wide.parts) and all("## Part of\n" in page for page in own)
    assert len(said) == len(wide.said) + 1 and {*said[:-1]} == {*wide.said}
    assert [memory.id for memory in day if memory.content.startswith("Hooks")] == [wide.id]


def test_a_context_tells_the_part_with_what_was_asked_and_the_night_finds_it_again(told: Store) -> None:
    for day in range(3):
        fill(told, lines(TEXT, LATER, start=12 + day))
        report = run(told, NEXT_NIGHT + timedelta(days=day))
        assert report.recall_found == report.recall_sampled > 0
    one = one_series(told)
    memory = ProjectMemory(told, settings_for(told), "p", actor="me")
    for name in ("latency_budget", "audit", "procedural_record"):
        (text,) = (text for text in one.said if name in text)
        assert text in memory.context(f"hooks {name}", 400).text


def test_lists_and_reports_name_the_parts(store: Store) -> None:
    fill(store, lines(TEXT, *VALUES))
    report = run(store, FIRST_NIGHT)
    one = one_series(store)
    assert report.series[0].parts == one.said[1:] and report.series_created == 1
    assert all(text in as_markdown(report) for text in one.said)
    with store.reading() as tx:
        (listed,) = list_series(tx)
        assert [(part.id, part.content) for part in listed.parts] == list(one.parts)
        shown = show_series(tx, one.parts[0][0])
        assert shown.id == one.id and all(text in series_text(shown) for text in one.said)
