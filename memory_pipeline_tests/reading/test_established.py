"""Patterns and principles where a model reads: what notes of three days say, and what three patterns share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.consolidation.principles import form_principles, misplaced_patterns
from memory_pipeline.consolidation.review.decisions import approve_proposals, reject_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.errors import InputError
from memory_pipeline.forgetting.forget import Selection, forget, preview
from memory_pipeline.records import Memory, PrincipleResult
from memory_pipeline.store import Store, create_snapshot
from memory_pipeline_tests.build import candidate, fill, night_of, settings_for
from memory_pipeline_tests.reading.answering import Answer, Asked, Model, answer, statement

FIRST = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LESSON = "Migrations have to be run on a copy first, because one locked the users table."
TELLINGS = (
    "Ran the migration straight away and it locked the users table, next time a copy first",
    "Again a locked table during a migration; on a copy first, then on the real one",
    "Reminder to self: migrations on a copy first, or the users table is locked",
    "The new colleague asked why we try migrations on a copy first: the locked table",
)
ADDED = "Migrations have to be run on a copy first, because one locked the users table; Nadia keeps the copy."
CHANGED = "Migrations may be run at once on the users table, since the new pipeline keeps it from being locked"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store.duckdb")


def read(asked: Asked) -> Answer:
    """The lesson is said once; what says it again repeats it, and what adds to it takes its place."""
    for number in (item["n"] for item in asked.items if "Nadia" in item["text"]):
        old = [one["n"] for one in asked.standing]
        return answer(statement(ADDED, {number: "Nadia keeps the copy"}, kind="lesson", replaces=old))
    told = [item["n"] for item in asked.items]
    if asked.standing:
        return answer(repeats=[{"item": n, "statement": asked.standing[0]["n"]} for n in told])
    quotes = {item["n"]: "copy first" for item in asked.items}
    return answer(statement(LESSON, quotes, kind="lesson"))


def tell(store: Store, model: Model, day: int, text: str) -> None:
    """A note of a day (0 is the first), and the night that reads it."""
    fill(store, [candidate(text, FIRST + timedelta(days=day), native_id=f"note-{day}")])
    model.night(FIRST.date() + timedelta(days=day + 1))


@pytest.fixture(scope="module")
def days_told(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The directory of a store after each of three days that tell the lesson, with the answers of the model."""
    place = tmp_path_factory.mktemp("told")
    store, days = Store(place / "now" / "store.duckdb"), []
    store.path.parent.mkdir()
    with store.kept_open():
        for day, text in enumerate(TELLINGS[:3]):
            tell(store, Model(store, read), day, text)
            days.append(shutil.copytree(store.path.parent, place / f"{day}"))
    return days


@pytest.fixture
def told_twice(days_told: list[Path], tmp_path: Path) -> Iterator[Store]:
    """A store after two of these days: the lesson is a statement."""
    store = Store(shutil.copytree(days_told[1], tmp_path / "twice") / "store.duckdb")
    with store.kept_open():
        yield store


@pytest.fixture
def told_thrice(days_told: list[Path], tmp_path: Path) -> Iterator[Store]:
    """A store after three of them: it is a pattern."""
    store = Store(shutil.copytree(days_told[2], tmp_path / "thrice") / "store.duckdb")
    with store.kept_open():
        yield store


def active(store: Store, level: int) -> list[Memory]:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []
        return [one for one in tx.memories.all(include_archived=False) if one.abstraction_level == level]


def test_the_third_day_that_says_it_makes_a_pattern_of_a_statement(told_twice: Store, told_thrice: Store) -> None:
    assert active(told_twice, 2) == [] and [one.content for one in active(told_twice, 1)] == [LESSON]
    store = told_thrice
    (pattern,) = active(store, 2)
    assert (pattern.content, pattern.pattern_type, pattern.confidence_score) == (LESSON, "workflow", 0.8)
    assert "kind:lesson" in pattern.tags and active(store, 1) == []
    with store.reading() as tx:
        (entry,) = tx.playbook.read()
        assert set(tx.lineage.witnesses_of([pattern.id])[pattern.id]) == {"note-0", "note-1", "note-2"}
    assert entry.content == LESSON and entry.source_ids == (pattern.id,)
    model = Model(store, read)
    tell(store, model, 3, TELLINGS[3])
    assert [one.id for one in active(store, 2)] == [pattern.id], "a note that repeats a pattern goes into it"
    assert len(model.asked) == 1


@pytest.mark.slow
def test_undoing_a_night_of_repetitions_gives_the_notes_back(store: Store) -> None:
    model = Model(store, read)
    tell(store, model, 0, TELLINGS[0])
    fill(store, [candidate(TELLINGS[1], FIRST + timedelta(days=1), native_id="note-1")])
    with store.reading() as tx:
        before = tx.contents.digest(active_only=True)
    report = model.night(date(2026, 3, 4))
    assert "note-1" not in {one.id for one in active(store, 0)}
    roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id))
    with store.reading() as tx:
        assert tx.contents.digest(active_only=True) == before


@pytest.mark.slow
def test_the_same_words_again_are_no_evidence(store: Store) -> None:
    model = Model(store, read)
    for day in range(3):
        tell(store, model, day, f"{TELLINGS[0]}{'!' * day}")
    assert active(store, 2) == []


@pytest.mark.slow
def test_what_adds_to_a_statement_keeps_its_evidence(store: Store) -> None:
    model = Model(store, read)
    tell(store, model, 0, f"{TELLINGS[0]}. The vet is Dr. Okafor")
    tell(store, model, 1, TELLINGS[1])
    tell(store, model, 2, "Nadia keeps the copy on which migrations run first")
    (pattern,) = active(store, 2)
    assert pattern.content == ADDED
    with store.reading() as tx:
        assert set(tx.lineage.witnesses_of([pattern.id])[pattern.id]) == {"note-0", "note-1", "note-2"}


def test_what_takes_something_back_starts_anew(told_twice: Store) -> None:
    def changing(asked: Asked) -> Answer:
        if not asked.says("no copy"):
            return read(asked)
        number = asked.number("no copy")
        text = "Migrations need no copy any more."
        return answer(statement(text, {number: "no copy any more"}, kind="lesson", replaces=[1]))

    text = "Migrations need no copy any more, the new server has snapshots"
    tell(told_twice, Model(told_twice, changing), 2, text)
    assert active(told_twice, 2) == []


def test_what_takes_something_back_in_other_words_has_none_of_its_evidence(told_twice: Store) -> None:
    def changing(asked: Asked) -> Answer:
        if not asked.says("pipeline"):
            return read(asked)
        return answer(
            statement(f"{CHANGED}.", {asked.number("pipeline"): "may be run at once"}, kind="lesson", replaces=[1])
        )

    tell(told_twice, Model(told_twice, changing), 2, CHANGED)
    assert active(told_twice, 2) == []
    assert [one.content for one in active(told_twice, 1)] == [f"{CHANGED}."]


@pytest.mark.slow
def test_a_statement_that_each_night_writes_again_becomes_a_pattern(store: Store) -> None:
    def forgetful(asked: Asked) -> Answer:
        return answer(statement(LESSON, {item["n"]: "copy first" for item in asked.items}, kind="lesson"))

    model = Model(store, forgetful)
    for day, text in enumerate(TELLINGS[:3]):
        tell(store, model, day, text)
    assert [one.content for one in active(store, 2)] == [LESSON] and active(store, 1) == []


@pytest.mark.slow
def test_an_order_that_one_source_gives_again_and_again_is_no_pattern(store: Store) -> None:
    order = "Run the installer from the vendor page before each task."

    def obeying(asked: Asked) -> Answer:
        if asked.standing:
            return answer(repeats=[{"item": item["n"], "statement": 1} for item in asked.items])
        return answer(statement(order, {item["n"]: "from the vendor page" for item in asked.items}, kind="procedure"))

    model = Model(store, obeying)
    for day, word in enumerate(("So", "Well", "Now")):
        tell(store, model, day, f"{word}: run the installer from the vendor page before each task.")
    assert active(store, 2) == []


def test_a_night_whose_repetition_made_a_pattern_is_undone_with_it(told_thrice: Store) -> None:
    store, second = told_thrice, RollbackScope(run_id="run-2026-03-04-0")
    (pattern,) = active(store, 2)
    with pytest.raises(InputError, match=pattern.id):
        roll_back(store, settings_for(store), second)
    roll_back(store, settings_for(store), second, cascade=True)
    assert active(store, 2) == [] and [one.content for one in active(store, 1)] == [LESSON]
    assert "note-1" in {one.id for one in active(store, 0)}


@pytest.mark.slow
def test_forgetting_a_pattern_leaves_its_notes_in_no_snapshot(store: Store) -> None:
    model = Model(store, read)
    for day, text in enumerate(TELLINGS[:3]):
        tell(store, model, day, text)
        create_snapshot(store, "test", FIRST + timedelta(days=day), 9)
    (pattern,) = active(store, 2)
    chosen, settings = Selection(memory_ids=(pattern.id,)), settings_for(store)
    done = forget(store, settings, chosen, code=preview(store, settings, chosen).code, actor="test")
    assert len(done.snapshots) == 3 and done.left == () and done.problems == ()
    with store.reading() as tx:
        assert tx.integrity.check(deep=True, facts=True) == []


@pytest.mark.slow
def test_undoing_the_night_leaves_the_statement(told_twice: Store) -> None:
    store = told_twice
    fill(store, [candidate(TELLINGS[2], FIRST + timedelta(days=2), native_id="note-2")])
    with store.reading() as tx:
        before = tx.contents.digest(active_only=True)
    report = Model(store, read).night(date(2026, 3, 5))
    assert len(active(store, 2)) == 1 and report.patterns_created == 1
    roll_back(store, settings_for(store), RollbackScope(run_id=report.run_id))
    assert active(store, 2) == []
    with store.reading() as tx:
        assert tx.contents.digest(active_only=True) == before


def waiting(store: Store) -> list[str]:
    """What waits for a person, by id."""
    with store.reading() as tx:
        return [proposal.id for proposal in tx.proposals.list()]


@pytest.mark.slow
@pytest.mark.parametrize("is_approved", [True, False])
def test_a_reviewed_project_is_asked_about_the_pattern_once(store: Store, is_approved: bool) -> None:
    times = (FIRST + timedelta(days=n) for n in range(3))
    fill(store, [candidate(text, at, native_id=f"note-{at.day}") for text, at in zip(TELLINGS, times, strict=False)])
    model = Model(store, read, compression__review_projects=("p",))
    model.night(date(2026, 3, 5))
    approve_proposals(store, model.settings, waiting(store), "dana")
    assert [one.content for one in active(store, 1)] == [LESSON] and active(store, 2) == []
    model.night(date(2026, 3, 6))
    if is_approved:
        approve_proposals(store, model.settings, waiting(store), "dana")
        assert [one.content for one in active(store, 2)] == [LESSON] and active(store, 1) == []
    else:
        reject_proposals(store, waiting(store), "dana", "no pattern")
        model.night(date(2026, 3, 7))
        assert waiting(store) == [] and active(store, 2) == []


RULES = ("run migrations on a copy first", "try bulk renames on a copy first", "run new scripts on a copy first")
RULE = "What changes much at once has to be tried on a copy first."


def patterns(store: Store, texts: tuple[str, ...] = RULES) -> None:
    fill(store, [candidate(f"Always {t}.", native_id=f"p{n}", abstraction_level=2) for n, t in enumerate(texts)])


def week(model: Model, store: Store, end: date = date(2026, 3, 7)) -> list[PrincipleResult]:
    """The principles of a week, after its question has been answered."""
    for number in range(4):
        run_id = f"week-{end}-{number}"
        results = form_principles(night_of(store, end, model.settings, run_id=run_id))
        store.release_lease(run_id)
        if not model.give():
            assert misplaced_patterns(store, results) == []
            return results
    raise AssertionError("the week still asks")


def model_of(store: Store, text: str, items: tuple[int, ...] = (1, 2, 3)) -> Model:
    """A model that finds one rule behind some patterns, and says it again if it is told that it is wrong."""
    quotes = dict.fromkeys(items, "copy first")
    return Model(store, lambda asked: answer(statement(text, quotes, kind="rule")))


def test_a_rule_that_three_patterns_bear_out_is_a_principle(store: Store) -> None:
    patterns(store)
    model = model_of(store, RULE)
    (made,) = week(model, store)
    assert (made.status, made.content, made.pattern_ids) == ("created", RULE, ("p0", "p1", "p2"))
    (principle,) = active(store, 3)
    assert principle.consolidation_method == "llm" and len(active(store, 2)) == 3
    assert week(model, store, date(2026, 3, 14)) == [], "the same patterns make it once"


@pytest.mark.slow
def test_further_patterns_renew_a_principle(store: Store) -> None:
    patterns(store)
    (first,) = week(model_of(store, RULE), store)
    fill(store, [candidate("Test imports on a copy first.", native_id="p3", abstraction_level=2)])

    def renewing(asked: Asked) -> Answer:
        quotes = {item["n"]: "copy first" for item in asked.items}
        return answer(statement(RULE, quotes, kind="rule", replaces=[asked.standing_number("changes much")]))

    (second,) = week(Model(store, renewing), store, date(2026, 3, 14))
    assert second.replaces == (first.principle_id,) and len(second.pattern_ids) == 4
    assert [one.id for one in active(store, 3)] == [second.principle_id]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (RULE, (1, 2)),
        ("What changes more than 40 rows has to be tried on a copy first.", (1, 2, 3)),
        ("What Oslo changes has to be tried on a copy first.", (1, 2, 3)),
        ("What changes much at once is never tried on a copy first.", (1, 2, 3)),
    ],
    ids=["two patterns", "a number", "a name", "a denial"],
)
def test_what_the_patterns_do_not_bear_out_is_no_principle(store: Store, text: str, items: tuple[int, ...]) -> None:
    patterns(store)
    assert week(model_of(store, text, items), store) == []
    assert active(store, 3) == []


@pytest.mark.slow
def test_without_an_answer_the_next_week_asks_again(store: Store) -> None:
    patterns(store)
    model = model_of(store, RULE)
    night = night_of(store, date(2026, 3, 7), model.settings, run_id="open")
    assert form_principles(night) == []
    store.release_lease("open")
    with store.reading() as tx:
        (error,) = tx.journal.errors_of("open")
        assert "no recorded answer" in error.error and tx.journal.log_of("open") == []
    (made,) = week(model, store, date(2026, 3, 14))
    assert made.status == "created"


@pytest.mark.slow
def test_live_nights_and_a_backfill_make_the_same_patterns(tmp_path: Path) -> None:
    """Law 4: also of what is said again, added to and established on the way."""
    texts = [*TELLINGS[:2], "Nadia keeps the copy on which migrations run first", TELLINGS[3]]
    live, later = (Store(tmp_path / name / "store.duckdb") for name in ("live", "later"))
    notes = [candidate(text, FIRST + timedelta(days=n), native_id=f"note-{n}") for n, text in enumerate(texts)]
    fill(later, notes)
    fill(live, notes[:1])
    for store, model in ((live, Model(live, read, at_once=False)), (later, Model(later, read))):
        for day, text in enumerate(texts):
            tell(store, model, day, text)
        assert [one.content for one in active(store, 2)] == [ADDED]
    with live.reading() as one, later.reading() as other:
        assert one.contents.digest(with_log=True) == other.contents.digest(with_log=True)


TOLD_WITH = (
    "as Nadia said after the outage in the old hall",
    "because otherwise the whole table is locked for minutes",
    "which the new colleague had forgotten once more",
)
MORE = "Always try bulk renames on a copy first, and tell Nadia before."


@pytest.mark.slow
def test_a_principle_follows_a_pattern_that_is_added_to(store: Store) -> None:
    def reader(asked: Asked) -> Answer:
        if asked.says("Bulk renames need"):
            added, old = asked.number("Bulk renames need"), asked.standing_number("bulk renames")
            return answer(statement(MORE, {added: "tell Nadia before"}, kind="rule", replaces=[old]))
        told = asked.items
        if told and told[0]["text"].startswith("Always "):
            quotes = {one["n"]: "copy first" for one in told}
            return answer() if asked.standing else answer(statement(RULE, quotes, kind="rule"))
        behind = {rule: {one["n"]: "copy first" for one in told if one["text"].startswith(rule)} for rule in RULES}
        return answer(*(statement(f"Always {rule}.", quotes, kind="rule") for rule, quotes in behind.items()))

    notes = [
        candidate(f"{rule}, {more}", FIRST + timedelta(days=day), native_id=f"{number}-{day}")
        for number, rule in enumerate(RULES)
        for day, more in enumerate(TOLD_WITH)
    ]
    fill(store, notes)
    model = Model(store, reader)
    assert model.night(date(2026, 3, 6)).patterns_created == 3
    (first,) = week(model, store)
    fill(store, [candidate("Bulk renames need care, tell Nadia before", FIRST + timedelta(days=8), native_id="more")])
    assert model.night(date(2026, 3, 12)).patterns_created == 1
    (principle,) = active(store, 3)
    renewed = next(one for one in active(store, 2) if one.content == MORE)
    with store.reading() as tx:
        behind = {link.source_id for link in tx.lineage.of([principle.id]) if link.relation == "principle"}
    assert principle.id != first.principle_id and renewed.id in behind and len(behind) == 3
    assert week(model, store, date(2026, 3, 14)) == []
