"""The extractive distiller and the judge: honest, complete, and refused when not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.by_model import choose_distiller
from memory_pipeline.consolidation.distillers.extractive import (
    NOTHING_SHARED,
    OPEN_AND_DONE,
    OTHER_VALUES,
    Extractive,
)
from memory_pipeline.consolidation.distillers.judge import Draft, Member, Task, evidence_confidence, judge
from memory_pipeline.models import Declined
from memory_pipeline.models.conflicts import find_contradiction
from memory_pipeline.records import Cluster, Distillation, Memory, binds, fingerprint_of
from memory_pipeline.text.preservation import check_preservation, find_invention
from memory_pipeline_tests.build import FIRST, memory, settings_for


def task_of(*contents: str, key: str = "c") -> Task:
    members = [Member(memory(f"member-{n}", text, FIRST + timedelta(days=n)), 0.9) for n, text in enumerate(contents)]
    ids = tuple(member.memory.id for member in members)
    cluster = Cluster(
        key, fingerprint_of(ids), "distill", "p", ids, len(ids), 0.9, 0.85, "deploy", ("deploy",),
        sum(m.memory.token_count for m in members), 1.0, FIRST, FIRST + timedelta(days=len(ids)),
    )  # fmt: skip
    return Task(cluster, tuple(members))


def distil(*contents: str) -> Draft:
    draft = Extractive().draft(task_of(*contents))
    assert isinstance(draft, Draft), draft
    return draft


def declined(*contents: str) -> str:
    draft = Extractive().draft(task_of(*contents))
    assert isinstance(draft, Declined), draft
    return draft.reason


def judged(draft: Draft, *contents: str, **settings: object) -> Distillation:
    rules = settings_for(Path("none"), **settings)
    return judge(task_of(*contents), draft, Extractive(), rules, lambda text: max(1, len(text) // 4))


COPIES = (
    "Restart the gateway after rotating the key. The old key stays cached for 15 minutes.",
    "Reminder: restart the gateway after rotating the key. Dana lost two orders.",
    "restart the gateway after rotating the key",
)


def test_a_pattern_of_something_temporary_is_temporary() -> None:
    words = [f"The relay restarts at noon on floor {n}." for n in (1, 2, 3)]
    tags = []
    for contents in (words, [*words[:2], f"{words[2]} [temporary]"]):
        result = judged(Draft("The relay restarts.", "1"), *contents)
        tags.append(result.tags)
    assert tags == [(), ("temporary",)]


def test_what_is_made_of_statements_binds_as_they_do_and_answers_their_questions() -> None:
    task = task_of(*COPIES)
    own = (("kind:rule", "about:agent", "asked:How do keys turn over?"), ("kind:rule", "about:human"), ("kind:fact",))
    members = tuple(replace(m, memory=replace(m.memory, tags=tags)) for m, tags in zip(task.members, own, strict=True))
    rules = settings_for(Path("none"))
    result = judge(replace(task, members=members), distil(*COPIES), Extractive(), rules, len)
    assert result.tags == ("asked:How do keys turn over?", "kind:rule") and binds(result.tags)


def test_near_copies_become_the_best_wording_with_every_fact_of_the_others() -> None:
    content = distil(*COPIES).content
    assert content.lower().count("restart the gateway") == 1
    assert "15 minutes" in content and "Dana lost two orders" in content


def test_every_word_of_a_draft_stands_in_a_source() -> None:
    draft = distil(*COPIES)
    words = {word.strip(".,;:") for text in COPIES for word in text.split()}
    assert {word.strip(".,;:") for word in f"{draft.text} {' '.join(draft.attached)}".split()} <= words


@pytest.mark.parametrize(
    "contents",
    [
        ("The deploy took 14 minutes because the build cache was cold.",
         "Cold build cache again, and the deploy took 22 minutes because of it.",
         "Since the build cache was cold, this deploy took as long as 19 minutes."),
        ("Raising the learning rate to 3e-4 made the loss diverge at step 900.",
         "The loss diverged at step 1200 after raising the learning rate to 5e-4."),
        tuple(f"Pre-flight of the nightly job complete in {n}.5s" for n in (33, 31, 40)),
        ("The gateway needs a restart after an update. It took 3 minutes.",
         "The gateway needs a restart after an update. It took 5 minutes."),
    ],
)  # fmt: skip
def test_values_that_differ_are_never_told_as_one(contents: tuple[str, ...]) -> None:
    assert declined(*contents) in (NOTHING_SHARED, OTHER_VALUES)


def test_an_open_task_is_never_one_with_what_was_done() -> None:
    done = "moved the login of the shop to the new server before the sale began"
    for mark in ("TODO:", "- [ ]"):
        assert declined(f"{mark} {done}", done.capitalize(), f"Reminder: {done}") == OPEN_AND_DONE


def test_a_figure_that_one_member_adds_is_no_other_value() -> None:
    shared = "Take a backup before updating the NAS."
    text = distil(f"{shared} It takes 4 minutes.", f"{shared} The archive has 1.9 GB.", shared).text
    assert "4 minutes" in text and "1.9 GB" in text


@pytest.mark.parametrize(
    "contents",
    [
        ("Anna pays the rent of the flat.", "The boiler of the flat leaks.", "The flat is on the third floor."),
        ("Sender: Bob <bob@example.com>\nCan you book the room?", "Sender: Bob <bob@example.com>\nThanks, that works.",
         "Sender: Bob <bob@example.com>\nThe meeting is on Monday."),
        ("Section gate suppresses {'a', 'b', 'c'} today", "Section gate suppresses {'a', 'b'} today",
         "Section gate suppresses {'a', 'd'} today"),
    ],
)  # fmt: skip
def test_what_cannot_be_one_memory_is_declined(contents: tuple[str, ...]) -> None:
    assert declined(*contents) == NOTHING_SHARED


def test_nothing_that_one_member_alone_says_is_left_out() -> None:
    text = distil(
        "Mia is allergic to peanuts and carries an EpiPen.",
        "Reminder: Mia is allergic to peanuts.",
        "Mia is allergic to peanuts and to kiwi.",
    ).text
    assert "kiwi" in text and "EpiPen" in text


def test_a_sentence_stands_behind_the_one_that_it_follows_in_its_memory() -> None:
    text = distil(
        "Always take a backup before updating the NAS. Version 7 broke the photos.",
        "The plug is in the cellar. Always take a backup before updating the NAS. It needs 310 GB.",
        "Always take a backup before updating the NAS. Version 7 broke the photos. Only one viewer shows it.",
    ).text
    assert text.startswith("Always take a backup before updating the NAS. Version 7 broke the photos. Only one viewer")
    assert text.index("backup") < text.index("310 GB")


def test_a_word_for_another_day_carries_its_date() -> None:
    text = distil("Lesson: Ana fetches the graph paper.", "Ana fetches the graph paper at noon tomorrow.").text
    assert text == "Ana fetches the graph paper at noon tomorrow (3 March 2026)."
    assert declined("The graph soak begins tomorrow.", "The graph soak begins tomorrow.") in (
        NOTHING_SHARED,
        OTHER_VALUES,
    ), "written on two days, they mean two days"


def test_fillers_are_never_the_wording() -> None:
    text = "The gateway needs a restart after an update."
    assert distil(f"As mentioned earlier, {text.lower()[:-1]} (logged).", f"Noted again: {text}").text == text


def test_a_draft_does_not_depend_on_the_order_in_which_equals_are_given() -> None:
    assert distil(*COPIES).content == distil(*COPIES).content


def test_code_and_tables_stay_whole() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert table in distil(f"Scores of the run:\n{table}", f"Scores of the run again:\n{table}").content


def on_days(*days: int) -> list[Memory]:
    return [
        memory(f"w{n}", f"Somebody noted it, number {n}.", FIRST + timedelta(days=day)) for n, day in enumerate(days)
    ]


def test_confidence_follows_independent_sources_and_their_days() -> None:
    assert evidence_confidence(on_days(0)) == pytest.approx(2 / 3)
    assert evidence_confidence(on_days(0, 0, 0)) == 0.75
    assert evidence_confidence(on_days(0, 1, 2)) == 0.8
    assert evidence_confidence([*on_days(0), *on_days(0)]) == pytest.approx(2 / 3), (
        "the same words again are no witness"
    )
    long = "Restart the gateway after each rotation of its key, because it keeps the old one in memory until then."
    copies = [memory(f"c{n}", long + " Logged." * n, FIRST + timedelta(days=n)) for n in range(2)]
    assert evidence_confidence(copies) == pytest.approx(2 / 3), "nor are nearly the same words"
    assert evidence_confidence(on_days(*range(100))) < 1.0


def test_what_is_mostly_said_by_one_member_alone_is_too_unsure() -> None:
    """However alike the vectors are: of what these say, only a few words are said twice."""
    asides = (
        "Dana's printer needs new labels, its roller was cleaned in March and jams whenever paper curls",
        "Tokyo sends its invoices to the accounting inbox, never to the private address of the owner",
        "Backups of the vault run at night on the storage box, whose disks were replaced before winter",
    )
    contents = [f"Restart the gateway. {aside}." for aside in asides]
    draft = distil(*contents)
    assert draft.confidence < 0.7
    result = judged(draft, *contents, compression__min_ratio=0.1)
    assert result.outcome == "refused" and (result.reason or "").startswith("confidence 0.6")
    assert distil(*COPIES).confidence > 0.7


def test_a_good_draft_is_accepted_with_its_figures() -> None:
    result = judged(distil(*COPIES), *COPIES)
    assert result.outcome == "accepted"
    assert result.measured.facts_kept + result.measured.facts_attached == result.measured.facts_found > 0
    assert result.measured.compression_ratio == pytest.approx(
        result.measured.tokens_before / result.measured.tokens_after, abs=1e-4
    )


def test_what_an_earlier_merge_took_in_counts_for_the_ratio_of_a_draft() -> None:
    one = "Never move the piano lesson on Wednesday, the teacher has no other free hour. It starts at 16:30 in room 12."
    two = "The teacher has no other free hour, so never move the piano lesson on Wednesday."
    task = task_of(one, f"{two} Bus 7 goes there from the market square every 20 minutes.")
    draft = Extractive().draft(task)
    assert isinstance(draft, Draft)

    def reason(task: Task) -> str:
        rules = settings_for(Path("none"))
        return judge(task, draft, Extractive(), rules, lambda text: max(1, len(text) // 4)).reason or ""

    assert reason(task).startswith("compression ratio")
    copies = tuple(memory(f"copy-{n}", text) for n, text in enumerate((one, two)))
    merged = replace(task.members[0], made_from=copies)
    assert not reason(replace(task, members=(merged, task.members[1])))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text": "  "}, "empty"),
        ({"text": COPIES[0] + COPIES[1] + COPIES[0], "attached": ()}, "compression ratio"),
        ({"text": "Restart the gateway after rotating the key.", "attached": ()}, "preservation"),
        ({"text": "Do not restart the gateway after rotating the key for 15 minutes, Dana."}, "preservation"),
        ({"text": "Restart the gateway after rotating the key for 15 minutes at 99%."}, "invented"),
        ({"text": "Restart as member-1 says."}, "member's id"),
        ({"confidence": 0.6}, "confidence"),
    ],
)
def test_bad_drafts_are_refused_with_the_reason(change: dict[str, object], reason: str) -> None:
    draft = replace(distil(*COPIES), **change)  # type: ignore[arg-type]
    result = judged(draft, *COPIES)
    assert result.outcome == "refused" and reason in (result.reason or "")


def test_a_draft_that_is_too_long_is_refused() -> None:
    tail = " ".join(f"{a}{b}lamp" for a in "bcdfghjk" for b in "aeiouxyz")
    long = tuple(f"{text} {tail.capitalize()}." for text in COPIES)
    assert "tokens; the maximum is 50" in (
        judged(distil(*long), *long, compression__max_abstraction_tokens=50).reason or ""
    )


def test_preservation_counts_what_is_kept_attached_and_lost() -> None:
    found = check_preservation(
        ["Takes 15 minutes on staging_db.", "Ask Dana on Friday."], "Takes 15 minutes.", ["Ask Dana"]
    )
    assert (found.kept, found.attached) == (1, 1)
    assert {fact.text for fact in found.lost} == {"staging_db", "Friday"}


def test_a_negation_that_goes_missing_is_a_contradiction() -> None:
    assert find_contradiction(["Never deploy the shop on Friday."], "Deploy the shop on Friday.")


def test_a_figure_that_no_source_has_is_an_invention() -> None:
    invented = find_invention(["Takes 15 minutes."], "Takes 25 minutes.")
    assert invented is not None and invented.text == "25 minutes"


def test_claude_distils_when_there_is_a_key_unless_it_is_told_not_to() -> None:
    keyed = {"anthropic.api_key": "sk-test"}
    assert choose_distiller(Settings(), len).method == "heuristic"
    assert choose_distiller(Settings().with_values(keyed), len).method == "llm"
    assert choose_distiller(Settings().with_values({**keyed, "model.provider": "none"}), len).method == "heuristic"
