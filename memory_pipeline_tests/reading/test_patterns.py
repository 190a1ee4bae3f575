"""Patterns of how the two work together: what confirms them, what contradicts them, and how they fade."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from memory_pipeline.reading.relationship_patterns import RelationshipPattern, patterns_of
from memory_pipeline.records import Extraction, ExtractionKind, PatternDecision
from memory_pipeline_tests.reading.saying import START, kept

DAY = START.date()


def said(*days: str, kind: ExtractionKind = "dynamic") -> list[Extraction]:
    """What is extracted of one sentence a day."""
    return [kept(words, kind, START + timedelta(days=number)) for number, words in enumerate(days)]


def only(*days: str) -> RelationshipPattern:
    (pattern,) = patterns_of(said(*days))
    return pattern


def test_a_pattern_fades_by_a_tenth_a_day_and_waits_below_one() -> None:
    pattern = only("Keep your answers short from now on.")
    assert pattern.score(DAY) == 1.0
    assert pattern.status(DAY) == "active"
    assert pattern.score(DAY + timedelta(days=3)) == 0.7
    assert pattern.status(DAY + timedelta(days=3)) == "fading"


def test_saying_it_again_on_another_day_confirms_it() -> None:
    extractions = said("Keep your answers short from now on.")
    again = [(extractions[0].id, DAY), (extractions[0].id, DAY + timedelta(days=2))]
    (pattern,) = patterns_of(extractions, again)
    assert pattern.confirmations == 2
    assert pattern.score(DAY + timedelta(days=3)) == 1.9


def test_a_contradiction_that_is_said_once_is_noted() -> None:
    pattern = only("Keep your answers short from now on.", "Keep your answers long from now on.")
    (seen,) = pattern.observed
    assert (seen.resolution, seen.updated) == ("noted", "Keep your answers short from now on.")
    assert pattern.score(DAY) == -1.0


def test_a_contradiction_that_is_said_again_takes_the_place_of_the_pattern() -> None:
    extractions = said("Keep your answers short from now on.", "Keep your answers long from now on.")
    (pattern,) = patterns_of(extractions, [(extractions[1].id, DAY + timedelta(days=4))])
    assert [seen.resolution for seen in pattern.observed] == ["noted", "repeated"]
    assert pattern.text == "Keep your answers long from now on."
    assert pattern.score(DAY + timedelta(days=4)) == 2.0


def test_other_patterns_are_left_alone() -> None:
    found = patterns_of(said("Keep your answers short from now on.", "Never send letters without showing them first."))
    assert [len(pattern.observed) for pattern in found] == [0, 0]


def test_what_a_person_rejected_does_not_hide_the_words_that_revoke_it() -> None:
    allowed = kept("You may restart the workers without asking me.", "trust")
    revoked = kept(
        "You may no longer restart the workers.", "trust", START + timedelta(days=1), withdraws=(allowed.id,)
    )
    extractions = [allowed, revoked]
    (pattern,) = patterns_of(extractions)

    def decided(text: str) -> RelationshipPattern:
        kept = PatternDecision(
            id=pattern.id, project_id="p", text=text, decision="rejected", decided_at=datetime(2026, 4, 20, tzinfo=UTC),
            decided_by="me",
        )  # fmt: skip
        return patterns_of(extractions, (), {pattern.id: kept})[0]

    earlier = decided("You may restart the workers without asking me.")
    assert (earlier.rejected, earlier.decision) == ([extractions[0].id], None)
    assert decided("You may no longer restart the workers.").rejected == [one.id for one in extractions]


def test_what_a_person_decides_counts() -> None:
    extractions = said("Keep your answers short from now on.")
    (pattern,) = patterns_of(extractions)
    later = datetime(2026, 4, 20, tzinfo=UTC)

    def decided(decision: str) -> RelationshipPattern:
        kept = PatternDecision(
            id=pattern.id,
            project_id="p",
            text="",
            decision=decision,
            decided_at=later,
            decided_by="me",  # type: ignore[arg-type]
        )
        return patterns_of(extractions, (), {pattern.id: kept})[0]

    assert decided("confirmed").status(date(2026, 4, 21)) == "confirmed"
    assert decided("rejected").status(date(2026, 4, 21)) == "rejected"


def test_leave_or_a_limit_for_another_thing_contradicts_nothing() -> None:
    garden = "You can decide about the {} garden yourself."
    letter = "Never send the letter to {} without showing it to me first."
    for form, names in ((garden, ("Villa Rosa", "Villa Nova")), (letter, ("Porto", "Lisbon"))):
        found = patterns_of(said(*map(form.format, names), kind="boundary"))
        assert len(found) == 2 and not any(pattern.observed for pattern in found)


def test_what_only_spoke_against_a_pattern_leaves_it_when_it_is_taken_back() -> None:
    limit = kept("Keep your answers short from now on.", "dynamic")
    against = kept("Keep your answers long from now on.", "dynamic", START + timedelta(days=1))
    back = kept("Short answers it is.", "correction", START + timedelta(days=2), withdraws=(against.id,))
    (pattern,) = patterns_of([limit, against, back])
    assert pattern.contradictions == 0 and pattern.text == limit.text
