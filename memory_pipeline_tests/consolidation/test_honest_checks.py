"""Checks that can fail: what is planted in a store is noticed by its figures and its checks."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_pipeline.consolidation.recall_check import RecallCheck, check_recall, measure_preservation
from memory_pipeline.orchestration.assets.reporting import check_report
from memory_pipeline.recall.questions import question_for, word_frequencies
from memory_pipeline.records import Archive, Cluster, LineageLink
from memory_pipeline.reporting.model import MissedReport
from memory_pipeline.reporting.summary import summary
from memory_pipeline.store import Replacement, Store, integrity
from memory_pipeline.text.normalise import content_hash, shape_hash
from memory_pipeline_tests.build import (
    FIRST,
    candidate,
    fill,
    lesson,
    memory,
    night_of,
    run,
    settings_for,
    slowly,
    sql_rows,
)

DAY = date(2026, 3, 3)


def tamper(store: Store, memory_id: str, content: str) -> None:
    """Other words under an abstraction's id, past every guard of the store."""
    with store.writing("tamperer") as tx:
        for name, table in sql_rows(
            tx, "select trigger_name, table_name from duckdb_triggers() where table_name = 'memories'"
        ):
            sql_rows(tx, f'drop trigger "{name}" on "{table}"')
        sql_rows(
            tx,
            "update memories set content = $2, content_hash = $3, shape_hash = $4 where id = $1",
            [memory_id, content, content_hash(content), shape_hash(content)],
        )


def written(store: Store) -> list[Archive]:
    """What a night over one lesson archived."""
    fill(store, lesson(4))
    run(store, DAY)
    with store.reading() as tx:
        (made,) = [m for m in tx.memories.all() if m.source.connector == "night"]
    at = made.created_at
    cluster = Cluster("c", "f", "distill", "p", (), 0, 0.0, 0.0, "", (), 0, 0.0, at, at)
    return [Archive(cluster, "compressed", abstraction_id=made.id)]


@pytest.mark.parametrize(
    ("said", "instead", "lost"),
    [
        ("15 minutes", "a while", "number '15 minutes'"),
        *slowly(("its API key", "its key", "name 'API'"), ("is not enough", "is enough", "negation 'not enough'")),
    ],
)
def test_a_planted_loss_lowers_the_figure_and_is_named(store: Store, said: str, instead: str, lost: str) -> None:
    archives = written(store)
    made = archives[0].abstraction_id or ""
    night = night_of(store, DAY)
    before, nothing = measure_preservation(night.store, archives)
    assert before.kept + before.attached == before.found > 0 and nothing == []
    with store.reading() as tx:
        content = tx.memories.read([made])[made].content
    assert said in content
    tamper(store, made, content.replace(said, instead))
    after, losses = measure_preservation(night.store, archives)
    assert after.kept + after.attached < after.found
    assert any(lost in words for words in losses), losses


def test_the_checks_of_the_report_notice_what_is_lost_and_what_is_not_found(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY)
    assert all(result.passed for result in check_report(report)[:2])
    broken = report.model_copy(update={"recall_rate": 0.9, "facts_lost": ("'x' lacks the name 'Dana'",)})
    assert [(result.check_name, result.passed) for result in check_report(broken)[:2]] == [
        ("archived_still_found", False),
        ("facts_preserved", False),
    ]


def test_a_memory_that_search_does_not_bring_back_fails_the_recall_check(store: Store) -> None:
    """What replaced it says something else, and a dozen others say its words."""
    words = "Restart the payment gateway after rotating its key"
    crowd = [candidate(f"{words} in data hall {n} too, please", FIRST + timedelta(minutes=n)) for n in range(14)]
    fill(store, [candidate(f"{words}.", FIRST, native_id="gone"), *crowd])
    stand_in = memory("stand-in", "Water the basil.", FIRST + timedelta(hours=1))
    with store.writing("night") as tx:
        tx.memories.add([stand_in])
        gone = Replacement("gone", archived_by="c", into="stand-in")
        tx.memories.archive([gone], archived_at=FIRST + timedelta(days=2), critical_floor=2.5)
        tx.lineage.add([LineageLink("stand-in", "gone", "distilled", 0.9)])
    check = check_recall(night_of(store, DAY), ["gone"])
    assert (check.found, check.asked) == (0, 1)
    assert [(one.memory_id, one.replaced_by) for one in check.missed] == [("gone", "stand-in")]


def test_a_night_whose_archive_cannot_be_found_again_is_partial(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_pipeline.consolidation import counting

    fill(store, lesson(4))
    missed = MissedReport(
        memory_id="m", question="why restart gateway", content="Restart the gateway.", replaced_by="x"
    )
    monkeypatch.setattr(counting, "check_recall", lambda night, ids: RecallCheck(3, 4, (missed,)))
    preview = run(store, DAY, dry_run=True)
    assert preview.verdict_reason == (
        "1 cluster would be compressed, but only 3 of 4 that it would archive could be found again"
    )
    told = "\n".join(summary(preview))
    assert "would not bring these back" in told and "asked: why restart gateway" in told
    assert "compression.review" in told
    report = run(store, DAY)
    assert "rollback --abstraction" in "\n".join(summary(report))
    assert (report.verdict, report.recall_rate) == ("PARTIAL", 0.75)
    assert report.verdict_reason.endswith("only 3 of 4 archived memories can be found again")


def test_a_preview_asks_what_the_night_asks_and_another_night_for_another_sample(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_pipeline.consolidation import recall_check

    fill(store, [candidate(f"Note {n} says the same thing", FIRST + timedelta(minutes=n)) for n in range(30)])
    asked: list[tuple[str, ...]] = []

    def note(night: object, memories: object, questions: dict[str, str], replacements: object) -> set[str]:
        asked.append(tuple(questions))
        return set()

    monkeypatch.setattr(recall_check, "_find_recalled", note)
    monkeypatch.setattr(recall_check, "MOST_ASKED", 5)
    with store.reading() as tx:
        ids = [m.id for m in tx.memories.all()]
    for run_id, day in (("preview", DAY), ("night", DAY), ("night", DAY + timedelta(days=1))):
        night = night_of(store, day, settings_for(store), run_id=run_id)
        check = check_recall(night, ids)
        assert (check.found, check.asked, len(check.missed)) == (0, 5, 5)
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Restart the gateway, because it keeps its old key in memory.", "Why restart gateway memory?"),
        ("The backup runs at 03:30 on the storage box.", "When backup runs storage?"),
        ("Dana prefers tea to coffee in the morning meeting.", "prefers coffee morning"),
        ("7.5", None),
    ],
)
def test_a_question_has_the_rarest_words_and_none_of_the_sentences(text: str, asked: str | None) -> None:
    others = ["Dana keeps the old key of the box", "meeting about the key", "keeps box"]
    question = question_for(text, word_frequencies([text, *others]))
    assert question == asked


def test_check_deep_names_what_an_abstraction_has_lost(store: Store) -> None:
    archives = written(store)
    made = archives[0].abstraction_id or ""
    with store.reading() as tx:
        content = tx.memories.read([made])[made].content
        assert tx.integrity.check(deep=True, facts=True) == []
    tamper(store, made, content.replace("15 minutes", "a while"))
    with store.reading() as tx:
        findings = [f for f in tx.integrity.check(facts=True) if f.rule == "abstractions say what their sources say"]
    assert [(f.where, f.problem) for f in findings] == [(made, "lacks the number '15 minutes'")]


def test_check_deep_looks_at_every_abstraction_also_where_they_are_read_in_pages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrity, "_READ_AT_ONCE", 1)
    fill(store, [note for topic in ("gateway", "printer") for note in lesson(4, topic=topic)])
    run(store, date(2026, 3, 4))
    with store.reading() as tx:
        made = sorted(memory.id for memory in tx.memories.all() if memory.source.connector == "night")
    assert len(made) == 2
    tamper(store, made[-1], "Nothing of note.")
    with store.reading() as tx:
        findings = tx.integrity.check(facts=True)
    assert made[-1] in {f.where for f in findings if f.rule == "abstractions say what their sources say"}
