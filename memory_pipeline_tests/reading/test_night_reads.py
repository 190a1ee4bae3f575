"""A night with a model: what is kept of notes, what is put away, and what stays."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_pipeline.consolidation.review.decisions import approve_proposals, reject_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, roll_back
from memory_pipeline.forgetting.forget import Selection, forget, preview
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Memory
from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.summary import summary
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, slowly
from memory_pipeline_tests.reading.answering import Answer, Asked, Model, answer, statement

FIRST = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NIGHT = date(2026, 3, 4)
QUEUE = "Moved the job queue from Redis to Postgres because Redis lost jobs on restart"
NOTES = {
    "queue": QUEUE,
    "deploy": "Deploy at 14:02 green, 212 tests passed",
    "walk": "Looked at the logs for a while, nothing new",
    "table": "Support desks: Oslo +1, Lima -5, Pune +5:30, escalate to Ingrid after 20:00",
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store.duckdb")
    fill(made, [candidate(text, FIRST, native_id=name) for name, text in NOTES.items()])
    return made


def read(asked: Asked) -> Answer:
    """What a careful reader makes of the notes."""
    if not asked.says("job queue from Redis"):
        return answer()
    return answer(
        statement(
            "The job queue moved from Redis to Postgres on 2026-03-02 because Redis lost jobs on restart.",
            {asked.number("job queue"): "Moved the job queue from Redis to Postgres"},
            kind="decision",
        ),
        routine=[asked.number("Deploy at"), asked.number("Looked at")],
        digests=[{"day": "2026-03-02", "text": "A green deploy, and a look at the logs."}],
    )


@pytest.fixture(scope="module")
def first_night(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """The directory of a store whose notes have been read, with the answers of the model, and the report."""
    place = tmp_path_factory.mktemp("read")
    store = Store(place / "store.duckdb")
    fill(store, [candidate(text, FIRST, native_id=name) for name, text in NOTES.items()])
    with store.kept_open():
        return place, Model(store, read).night(NIGHT)


@pytest.fixture
def after(first_night: tuple[Path, Report], tmp_path: Path) -> Iterator[Store]:
    """The store after that night."""
    store = Store(shutil.copytree(first_night[0], tmp_path / "after") / "store.duckdb")
    with store.kept_open():
        yield store


def by_id(store: Store) -> dict[str, Memory]:
    with store.reading() as tx:
        return {memory.id: memory for memory in tx.memories.all()}


def made(store: Store, policy: str) -> list[Memory]:
    with store.reading() as tx:
        active = tx.memories.all(include_archived=False)
    return [one for one in active if (one.source.connector, one.source.file) == ("night", policy)]


def test_a_statement_stands_for_its_note_and_a_digest_for_the_routine(
    after: Store, first_night: tuple[Path, Report]
) -> None:
    store, (_, report) = after, first_night
    (kept,), (digest,) = made(store, "reading"), made(store, "digest")
    notes = by_id(store)
    assert kept.content.startswith("The job queue moved from Redis to Postgres")
    assert (kept.memory_type, kept.abstraction_level, kept.consolidation_method) == ("decision", 1, "llm")
    assert kept.tags == ("kind:decision", "about:work")
    assert notes["queue"].consolidated_into_id == kept.id
    assert {notes["deploy"].consolidated_into_id, notes["walk"].consolidated_into_id} == {digest.id}
    assert digest.content == "2026-03-02: A green deploy, and a look at the logs. (2 routine notes)"
    assert notes["table"].archived_at is None
    assert report.verdict == "PASS"
    told = "\n".join(summary(report))
    assert "What was read" in told and "green deploy" not in told
    assert report.recall_sampled == 1, "nobody asks for what holds nothing for a later day"


def test_a_model_reads_the_first_few_notes(store: Store) -> None:
    report = Model(store, read, compression__min_active_memories=10).night(NIGHT)
    assert len(made(store, "reading")) == 1 and report.verdict == "PASS"


def test_what_was_read_is_not_read_again(store: Store) -> None:
    model = Model(store, read, at_once=False)
    model.night(NIGHT)
    asked = len(model.asked)
    assert model.night(NIGHT).verdict == "IDLE"
    model.night(NIGHT + timedelta(days=1))
    assert len(model.asked) == asked


def test_a_note_that_says_more_than_its_statement_stays(store: Store) -> None:
    def less(asked: Asked) -> Answer:
        return answer(
            statement("After 20:00, Ingrid is the escalation.", {asked.number("Ingrid"): "escalate to Ingrid"})
        )

    Model(store, less).night(NIGHT)
    (kept,) = made(store, "reading")
    assert by_id(store)["table"].archived_at is None
    with store.reading() as tx:
        assert [link.source_id for link in tx.lineage.of([kept.id])] == ["table"]


def test_a_newer_statement_takes_the_place_of_an_older_one(after: Store) -> None:
    def later(asked: Asked) -> Answer:
        if not asked.says("NATS"):
            return read(asked)
        return answer(
            statement(
                "The job queue moved from Postgres to NATS on 2026-03-09.",
                {asked.number("NATS"): "job queue moved to NATS"},
                replaces=[asked.standing_number("from Redis to Postgres")],
            )
        )

    model = Model(after, later)
    (old,) = made(after, "reading")
    fill(after, [candidate("job queue moved to NATS", FIRST + timedelta(days=7), native_id="nats")])
    model.night(NIGHT + timedelta(days=7))
    (new,) = made(after, "reading")
    assert "NATS" in new.content
    assert by_id(after)[old.id].consolidated_into_id == new.id
    with after.reading() as tx:
        assert {link.relation for link in tx.lineage.of([new.id])} == {"stated", "replaced"}
        assert not tx.integrity.check(deep=True)


@pytest.mark.slow
def test_a_night_made_again_knows_what_a_later_one_replaced(after: Store) -> None:
    """Undone and made again, with its later night: the same active memory, to the hash."""

    def later(asked: Asked) -> Answer:
        if not asked.says("NATS"):
            return read(asked)
        moved = statement(
            "The job queue moved from Postgres to NATS on 2026-03-09.",
            {asked.number("NATS"): "job queue moved to NATS"},
            replaces=[asked.standing_number("from Redis to Postgres")],
        )
        return answer(moved)

    model = Model(after, later)
    (old,) = made(after, "reading")
    fill(after, [candidate("job queue moved to NATS", FIRST + timedelta(days=7), native_id="nats")])
    model.night(NIGHT + timedelta(days=7))
    with after.reading() as tx:
        before, (night, *_) = tx.contents.digest(active_only=True), tx.runs.on(str(NIGHT))
    roll_back(after, model.settings, RollbackScope(run_id=night))
    assert {one.content for one in made(after, "reading")} == {
        "The job queue moved from Postgres to NATS on 2026-03-09."
    }
    model.night(NIGHT)
    model.night(NIGHT + timedelta(days=7))
    (new,) = made(after, "reading")
    assert by_id(after)[old.id].consolidated_into_id == new.id
    with after.reading() as tx:
        assert tx.contents.digest(active_only=True) == before
        assert not tx.integrity.check(deep=True)
        last = next(iter(tx.runs.on(str(NIGHT + timedelta(days=7)))))
    assert roll_back(after, model.settings, RollbackScope(run_id=last), cascade=True)
    assert "Redis to Postgres" in " ".join(one.content for one in made(after, "reading"))


def test_a_note_that_only_repeats_a_statement_goes_into_it(after: Store) -> None:
    def again(asked: Asked) -> Answer:
        if not asked.says("moved away from Redis"):
            return read(asked)
        item, number = asked.number("moved away from Redis"), asked.standing_number("from Redis to Postgres")
        return answer(repeats=[{"item": item, "statement": number}])

    model = Model(after, again)
    text = "We moved away from Redis to Postgres since jobs got lost"
    fill(after, [candidate(text, FIRST + timedelta(days=7), native_id="again")])
    model.night(NIGHT + timedelta(days=7))
    (kept,) = made(after, "reading")
    assert by_id(after)["again"].consolidated_into_id == kept.id
    with after.reading() as tx:
        assert tx.lineage.witnesses_of([kept.id])[kept.id] == ["again", "queue"]
        assert not tx.integrity.check(deep=True)


def test_a_note_that_says_more_than_what_it_is_said_to_repeat_is_asked_about_once_more(after: Store) -> None:
    text = "The job queue moved from Redis to Postgres in 3 hours since Redis lost jobs"

    def again(asked: Asked) -> Answer:
        if not asked.says("in 3 hours"):
            return read(asked)
        item, number = asked.number("in 3 hours"), asked.standing_number("from Redis to Postgres")
        if "the statement lacks" not in asked.user:
            return answer(repeats=[{"item": item, "statement": number}])
        return answer(statement(f"{text}.", {item: "queue moved from Redis to Postgres in 3 hours"}, replaces=[number]))

    model = Model(after, again)
    (old,) = made(after, "reading")
    fill(after, [candidate(text, FIRST + timedelta(days=7), native_id="again")])
    model.night(NIGHT + timedelta(days=7))
    (new,) = [one for one in made(after, "reading") if "3 hours" in one.content]
    assert by_id(after)[old.id].consolidated_into_id == by_id(after)["again"].consolidated_into_id == new.id


def test_a_rollback_gives_the_store_of_before(store: Store) -> None:
    with store.reading() as tx:
        before = tx.contents.digest(active_only=True)
    model = Model(store, read)
    model.night(NIGHT)
    with store.reading() as tx:
        after = tx.contents.digest(active_only=True)
        runs = tx.runs.on(str(NIGHT))
    assert after != before
    with store.writing("test") as tx:
        for run_id in runs:
            plan = tx.rollbacks.plan_run(run_id, cascade=True)
            if not plan.is_empty:
                tx.rollbacks.apply(plan, f"undo-{run_id}", FIRST + timedelta(days=3), "test")
    with store.reading() as tx:
        assert tx.contents.digest(active_only=True) == before
        assert not tx.integrity.check(deep=True)


def test_what_fails_a_check_is_told_once_and_then_left_out(store: Store) -> None:
    def inventive(asked: Asked) -> Answer:
        number = asked.number("job queue")
        invented = statement(
            "The job queue moved to Postgres 16 because Redis lost jobs.", {number: "Redis lost jobs on restart"}
        )
        good = statement("Redis lost jobs on restart.", {number: "Redis lost jobs on restart"}, kind="cause")
        return answer(invented) if asked.is_repair else answer(invented, good)

    model = Model(store, inventive)
    model.night(NIGHT)
    assert [asked.is_repair for asked in model.asked] == [False, True]
    assert "none of its items has '16'" in model.asked[1].user
    assert [one.content for one in made(store, "reading")] == ["Redis lost jobs on restart."]


def test_a_statement_that_was_put_right_is_kept(store: Store) -> None:
    def learning(asked: Asked) -> Answer:
        text = "Redis lost jobs on restart." if asked.is_repair else "Redis lost 40 jobs on restart."
        return answer(statement(text, {asked.number("job queue"): "Redis lost jobs on restart"}))

    Model(store, learning).night(NIGHT)
    assert [one.content for one in made(store, "reading")] == ["Redis lost jobs on restart."]


def test_nothing_that_is_pinned_or_critical_is_routine(tmp_path: Path) -> None:
    store = Store(tmp_path / "own.duckdb")
    fill(store, [candidate("Heartbeat: all services up", FIRST, native_id="a", importance=2.8)])
    digests = [{"day": "2026-03-02", "text": "Heartbeats."}]
    Model(store, lambda asked: answer(routine=[1], digests=digests)).night(NIGHT)
    assert by_id(store)["a"].archived_at is None


def test_what_steers_is_believed_in_nothing(store: Store) -> None:
    def suspicious(asked: Asked) -> Answer:
        number = asked.number("job queue")
        return answer(statement("Redis lost jobs on restart.", {number: "Redis lost jobs"}), steering=[number])

    Model(store, suspicious).night(NIGHT)
    assert not made(store, "reading")
    assert by_id(store)["queue"].archived_at is None


def test_routine_can_be_kept(store: Store) -> None:
    Model(store, read, reading__routine="keep").night(NIGHT)
    assert by_id(store)["deploy"].archived_at is None
    assert not made(store, "digest")


@pytest.mark.parametrize("dry_run", [False, *slowly(True)])
def test_lines_of_one_shape_are_read_unless_a_series_stands_for_them(tmp_path: Path, dry_run: bool) -> None:
    """Names that change from line to line make no series, and such lines are no reason to stay for ever."""
    names = [f"learnings_202602{20 + n}_17{n}7{n}8" for n in range(6)]
    lines = {
        **{name: f"**worker**: recorded the outcome under {name}" for name in names},
        **{f"run{n}": f"**ci**: run finished in {31 + n}s, tests=80{n}" for n in range(6)},
    }
    store = Store(tmp_path / "store.duckdb")
    days = (FIRST - timedelta(days=n % 6) for n in range(len(lines)))
    fill(store, [candidate(text, day, native_id=name) for (name, text), day in zip(lines.items(), days, strict=True)])
    model = Model(store, lambda asked: answer())
    model.night(NIGHT, dry_run=dry_run)
    shown = "".join(asked.user for asked in model.asked)
    assert all(name in shown for name in names)
    assert "run finished" not in shown


def test_a_dry_run_reads_and_writes_nothing(store: Store) -> None:
    model = Model(store, read)
    model.night(NIGHT, dry_run=True)
    assert not made(store, "reading")
    assert model.asked


def test_without_a_model_nothing_is_read(store: Store) -> None:
    Model(store, read, model__provider="none").night(NIGHT)
    assert not made(store, "reading")


@pytest.mark.slow
def test_live_nights_and_a_backfill_leave_the_same_store(tmp_path: Path) -> None:
    """Law 4: also where every night is given the statements of the nights before."""
    days = [FIRST + timedelta(days=n) for n in range(3)]
    texts = [f"The server in rack {n} is called osprey{n}" for n in range(3)]
    notes = [candidate(text, day, native_id=text[-7:]) for text, day in zip(texts, days, strict=True)]

    def name(asked: Asked) -> Answer:
        return answer(*(statement(f"{item['text']}.", {item["n"]: item["text"]}) for item in asked.items))

    live, later = Store(tmp_path / "live" / "store.duckdb"), Store(tmp_path / "later" / "store.duckdb")
    fill(later, notes)
    fill(live, notes[:1])
    first, second = Model(live, name, at_once=False), Model(later, name)
    for note in notes:
        fill(live, [note])
        first.night(note.created_at.date() + timedelta(days=1))
    for note in notes:
        second.night(note.created_at.date() + timedelta(days=1))
    with live.reading() as one, later.reading() as other:
        assert one.contents.digest(active_only=True) == other.contents.digest(active_only=True)


PAIR = "Server osprey7 has 64 GB; server heron2 has 32 GB in rack 9"


def read_pair(asked: Asked) -> Answer:
    """Two statements of one note, which only together say all of it."""
    if asked.is_repair or not asked.says("osprey7"):
        return answer()
    note = asked.number("osprey7")
    return answer(
        statement("Server osprey7 has 64 GB.", {note: "Server osprey7 has 64 GB"}),
        statement("Server heron2 has 32 GB in rack 9.", {note: "server heron2 has 32 GB"}),
    )


@pytest.fixture
def pair(tmp_path: Path) -> Store:
    made = Store(tmp_path / "pair.duckdb")
    fill(made, [candidate(PAIR, FIRST, native_id="pair")])
    return made


@pytest.mark.parametrize("which", [0, *slowly(1)])
def test_undoing_one_of_two_statements_gives_the_note_back(pair: Store, which: int) -> None:
    model = Model(pair, read_pair)
    model.night(NIGHT)
    assert by_id(pair)["pair"].archived_at is not None
    undone = sorted(made(pair, "reading"), key=lambda one: one.content)[which]
    roll_back(pair, model.settings, RollbackScope(abstraction=undone.id))
    assert by_id(pair)["pair"].archived_at is None
    assert len(made(pair, "reading")) == 1
    with pair.reading() as tx:
        assert not tx.integrity.check(deep=True)


@pytest.mark.slow
def test_a_note_stays_if_only_half_of_it_is_approved(pair: Store) -> None:
    model = Model(pair, read_pair, compression__review="manual")
    model.night(NIGHT)
    with pair.reading() as tx:
        first, second = (proposal.id for proposal in tx.proposals.list())
    (approved,) = approve_proposals(pair, model.settings, [first], "dana")
    reject_proposals(pair, [second], "dana", "no longer so")
    assert approved.outcome == "approved"
    assert len(made(pair, "reading")) == 1
    assert by_id(pair)["pair"].archived_at is None


def test_a_digest_is_approved_like_a_statement(store: Store) -> None:
    model = Model(store, read, compression__review="manual")
    model.night(NIGHT)
    with store.reading() as tx:
        proposed = [proposal.id for proposal in tx.proposals.list()]
    assert {one.outcome for one in approve_proposals(store, model.settings, proposed, "dana")} == {"approved"}
    assert len(made(store, "digest")) == len(made(store, "reading")) == 1
    assert by_id(store)["walk"].archived_at is not None


@pytest.mark.slow
def test_a_digest_counts_what_came_before_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "own.duckdb")

    def walks(asked: Asked) -> Answer:
        numbers = [one["n"] for one in asked.items]
        return answer(routine=numbers, digests=[{"day": "2026-03-02", "text": "A walk."}])

    model = Model(store, walks)
    for number in range(3):
        fill(store, [candidate(f"Walk {'again ' * number}", FIRST + timedelta(minutes=number), native_id=f"{number}")])
        model.night(NIGHT + timedelta(days=number))
    (digest,) = made(store, "digest")
    assert digest.content.endswith("(3 routine notes)")


@pytest.mark.slow
def test_forgetting_a_note_takes_the_digest_that_may_tell_of_it(after: Store) -> None:
    model = Model(after, read)
    selection = Selection(("table",))
    forget(after, model.settings, selection, code=preview(after, model.settings, selection).code, actor="pia")
    assert not made(after, "digest")
    assert by_id(after)["walk"].archived_at is None
    with after.reading() as tx:
        assert not tx.integrity.check(deep=True)


def test_a_note_that_no_question_takes_waits(store: Store) -> None:
    fill(store, [candidate("word " * 9_000, FIRST, native_id="long")])
    assert Model(store, read, model__context_tokens=16_000).night(NIGHT).verdict == "PASS"
    assert by_id(store)["long"].archived_at is None


def test_questions_are_not_written_through_a_link(store: Store, tmp_path: Path) -> None:
    model = Model(store, read)
    (tmp_path / "elsewhere").touch()
    model.record.symlink_to(tmp_path / "elsewhere")
    report = model.night(NIGHT)
    assert "is a link" in report.errors[0].error
    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_statement_is_found_by_the_question_that_it_answers(store: Store) -> None:
    def asks(asked: Asked) -> Answer:
        given = read(asked)
        for one in given["statements"]:
            one["asked"] = "Why was the broker for background tasks swapped?"
        return given

    model = Model(store, asks)
    model.night(NIGHT)
    (kept,) = made(store, "reading")
    assert kept.tags[-1] == "asked:Why was the broker for background tasks swapped?"
    with ProjectMemory(store, model.settings, "p", actor="test") as memory:
        found = memory.search("broker swapped", 3, mode="bm25").results
        assert [one.id for one in found] == [kept.id] and "broker" not in found[0].content
        assert "broker" not in memory.context("the broker of background tasks").text


def test_what_the_human_wants_stands_first_in_a_context(store: Store) -> None:
    def rules(asked: Asked) -> Answer:
        if not asked.says("job queue from Redis"):
            return answer()
        quote = {asked.number("job queue"): "Moved the job queue from Redis to Postgres"}
        return answer(
            statement("The job queue moved from Redis to Postgres.", quote, kind="fact"),
            statement("The job queue stays in Postgres.", quote, kind="rule", about="human"),
        )

    model = Model(store, rules)
    model.night(NIGHT)
    with ProjectMemory(store, model.settings, "p", actor="test") as memory:
        lines = memory.context("the job queue moved from Redis to Postgres").text.splitlines()
    assert lines[2] == "Rules and preferences" and lines[3].startswith("- The job queue stays in Postgres.")
    assert any("moved from Redis" in line for line in lines[4:])


LESSON = (
    "Deploys of the webshop stall in stage two whenever the build cache is cold, so warm the cache before the release.",
    "A cold build cache made the webshop deploy stall in stage two, and warming it before the release helped.",
    "When the build cache is cold, the webshop deploy is slow in stage two; warm it before the release.",
)


@pytest.mark.slow
def test_statements_that_are_alike_in_meaning_become_a_pattern_if_a_model_says_what_they_teach(tmp_path: Path) -> None:
    store = Store(tmp_path / "own.duckdb")
    fill(store, [candidate(text, FIRST, native_id=f"lesson-{n}") for n, text in enumerate(LESSON)])
    clusters: list[str] = []

    def teach(asked: Asked) -> Answer:
        if asked.items:
            return answer(*(statement(text, {asked.number(text): text}, kind="lesson") for text in LESSON))
        clusters.append(asked.user)
        pattern = "Warm the build cache before the release: when it is cold, the webshop deploy stalls in stage two."
        return {
            "abstraction": pattern,
            "claims": [{"text": pattern, "members": [1, 2, 3]}],
            "contradictions": [],
            "suspicious": [],
            "is_causal": False,
            **dict.fromkeys(("subject", "action", "outcome", "consequences"), ""),
            "pattern_type": "workflow",
            "confidence": 0.9,
            "compression_ratio": 3,
        }

    model = Model(store, teach)
    model.night(NIGHT)
    model.night(NIGHT + timedelta(days=1))
    (pattern,) = made(store, "distill")
    assert len(clusters) == 1 and all(text in clusters[0] for text in LESSON)
    assert pattern.content.startswith("Warm the build cache") and pattern.abstraction_level == 2
    assert pattern.tags == ("about:work", "kind:lesson")
    assert made(store, "reading") == []


def test_two_statements_of_however_many_notes_are_no_lesson_to_be_asked_about(tmp_path: Path) -> None:
    store = Store(tmp_path / "own.duckdb")
    fill(store, [candidate(text, FIRST, native_id=f"lesson-{n}") for n, text in enumerate(LESSON)])
    clusters: list[str] = []

    def tell(asked: Asked) -> Answer:
        if not asked.items:
            clusters.append(asked.user)
            return {}
        first, second, third = LESSON
        both = {asked.number(first): first, asked.number(third): third}
        return answer(
            statement(first, both, kind="lesson"), statement(second, {asked.number(second): second}, kind="lesson")
        )

    model = Model(store, tell)
    model.night(NIGHT)
    model.night(NIGHT + timedelta(days=1))
    assert len(made(store, "reading")) == 2 and clusters == []


def test_a_model_that_takes_too_little_is_an_error_only_while_something_is_to_be_read(store: Store) -> None:
    small = Model(store, read, model__context_tokens=2_048)
    assert "and the model takes 2,048" in str(small.night(NIGHT).errors)
    Model(store, read).night(NIGHT + timedelta(days=1))
    assert small.night(NIGHT + timedelta(days=2)).errors == ()


@pytest.mark.slow
def test_forgetting_what_has_a_digest_touches_no_date_of_the_program(store: Store) -> None:
    model = Model(store, read)
    model.night(FIRST.date())
    model.night(NIGHT)
    selection = Selection(("queue", "deploy"))  # then no memory that stays says the day
    forget(store, model.settings, selection, code=preview(store, model.settings, selection).code, actor="pia")
    with store.reading() as tx:
        assert not tx.integrity.check(deep=True, facts=True)
        assert {row["partition"] for row in tx.journal.reports()} == {f"{FIRST.date()}", f"{NIGHT}"}
    assert model.night(NIGHT + timedelta(days=1)).verdict in ("PASS", "IDLE")
