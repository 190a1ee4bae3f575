"""What a human's answer makes of what the agent put forward; and answers that are of something else."""

from __future__ import annotations

import pytest

from memory_pipeline.compaction.answered import answered_in
from memory_pipeline.conversations.replies import reply_in, says_instead, what_is_so
from memory_pipeline_tests.compaction.test_spoken import kept
from memory_pipeline_tests.conversations.saying import talk


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Good.", "agrees"),
        ("\N{THUMBS UP SIGN}", "agrees"),
        ("ok do it", "agrees"),
        ("Sounds right.", "agrees"),
        ("Hm, fine with me. Next: the docs.", "agrees"),
        ("Ah, that explains it.", "confirms"),
        ("That isn't it, the retry is off.", "denies"),
        ("Can't be.", "denies"),
        ("I doubt it.", "denies"),
        ("No, it had bed bugs.", "denies"),
        ("Hold on. It locks up with two writers, that won't do.", "denies"),
        ("Too expensive.", "denies"),
        ("It still does it.", "fails"),
        ("Same error.", "fails"),
        ("Not CSV please.", "objects"),
        ("Elasticsearch eats too much memory.", "objects"),
        ("Good, but not today.", None),
        ("Good. But use Postgres.", None),
        ("Good question.", None),
        ("Sure about that?", None),
        ("No problem.", None),
        ("No, that's fine.", None),
        ("No emojis, ever, from now on?", None),
        ("From now on no pushes on Fridays.", None),
        ("The next thing is the header.", None),
        ("So it was Sofie.", None),
    ],
)
def test_a_turn_agrees_denies_or_goes_on(said: str, kind: str | None) -> None:
    reply = reply_in(said)
    assert (reply.kind if reply else None) == kind


@pytest.mark.parametrize(
    ("proposal", "answer", "kind", "text"),
    [
        ("Then we use RabbitMQ for the queue.", "Good.", "decision", "Then we use RabbitMQ for the queue. (agreed)"),
        ("Valkey then, it persists to disk.", "Deal.", "decision", "Valkey then, it persists to disk. (agreed)"),
        ("How about Hetzner?", "Yes, take that.", "decision", "How about Hetzner? (agreed)"),
        ("I propose ULIDs. OK?", "Go ahead.", "decision", "I propose ULIDs. (agreed)"),
        ("I'll draft the cards.", "Good.", "open", "I'll draft the cards."),
        ("My guess is the cable of rack 3.", "Exactly.", "fact", "My guess is the cable of rack 3."),
        ("The cause is the proxy.", "Nope.", "dead_end", "The cause is the proxy. (the human: Nope.)"),
        ("The drift comes from the clock.", "The clock is fine.", "dead_end", "The drift comes from the clock. (the human: The clock is fine.)"),
        ("I recommend Postgres.", "Yes, but with a replica.", "decision", "I recommend Postgres. (the human: Yes, but with a replica.)"),
        ("Kafka or RabbitMQ?", "RabbitMQ.", "decision", "Kafka or RabbitMQ? RabbitMQ."),
        ("Which region do you want?", "Frankfurt, for the latency.", "decision", "Which region do you want? Frankfurt, for the latency."),
        ("I propose a deposit of 1,500 euros.", "1,000 is enough.", "decision", "I propose a deposit of 1,500 euros. (the human: 1,000 is enough.)"),
        ("The rate is too high, I think.", "I tried 10x lower, same curve.", "dead_end", "The rate is too high, I think. (the human: I tried 10x lower, same curve.)"),
        ("Then the build is old?", "I rebuilt it last week.", "dead_end", "Then the build is old? (the human: I rebuilt it last week.)"),
        ("An induction hob with extractor?", "Yes, that.", "decision", "An induction hob with extractor? (agreed)"),
        ("The timer overflows a 32-bit int.", "Ouch. Fix it.", "fact", "The timer overflows a 32-bit int."),
        ("It must be the proxy.", "It still fails.", "dead_end", "It must be the proxy. (the human: It still fails.)"),
    ],
)  # fmt: skip
def test_what_is_put_forward_becomes_what_the_answer_says(proposal: str, answer: str, kind: str, text: str) -> None:
    assert (kind, text) in kept(f"a: {proposal}", answer)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I ran the tests. Shall I also delete the logs?", "Yes."),
        ("I'd take Redis. Which region do you want?", "No idea."),
        ("The proxy is slow. Do you have the logs of May?", "No."),
        ("All tests pass.", "Good."),
        ("Should we use Redis or Valkey?", "Yes."),
        ("Should we use Redis or Valkey?", "You decide."),
        ("Which logs do you mean?", "Can you list them?"),
    ],
)
def test_an_answer_to_a_question_agrees_to_nothing_else(said: str, answer: str) -> None:
    found = answered_in(talk(f"a: {said}", answer))
    assert not found.denied and not [one for one in found.kept if one.kind in ("decision", "fact", "dead_end")]


def test_what_is_denied_goes_wherever_it_was_said_before() -> None:
    found = kept(
        "a: The cause of the timeouts is the proxy.",
        "Look again.",
        "a: As I said, the cause of the timeouts is the proxy.",
        "That isn't it, the proxy was replaced in May.",
    )
    assert [kind for kind, text in found if "cause of the timeouts" in text] == ["dead_end"]
    assert ("fact", "the proxy was replaced in May.") in found


def test_a_denial_that_names_a_thing_finds_it_some_turns_before() -> None:
    found = kept(
        "a: I'll use MQTT for the sensors because it is small.",
        "Write the parser first.",
        "a: All 9 tests pass.",
        "No wait, MQTT gets blocked by the firewall of the school, so that is out.",
    )
    assert "decision" not in [kind for kind, _ in found]
    assert [text for kind, text in found if kind == "dead_end"] == [
        "I'll use MQTT for the sensors because it is small. (the human: No wait, MQTT gets blocked by the firewall of the "
        "school, so that is out.)"
    ]


def test_what_is_denied_with_a_reason_ends_a_decision_of_the_human_too() -> None:
    before = ("We decided to use SQLite for the sessions.", "a: Wrote it.", "Write the parser.", "a: Wrote the parser.")
    found = kept(*before, "Hold on. SQLite locks up with two writers, that won't do.")
    assert "decision" not in [kind for kind, _ in found]
    assert ("dead_end", "SQLite locks up with two writers, that won't do.") in found


@pytest.mark.parametrize(
    ("said", "instead", "so"),
    [
        ("No, first person plural.", True, ""),
        ("Not CSV, put them in the table.", True, ""),
        ("No, not Postfix.", False, ""),
        ("No, the retry has been off since May.", False, "the retry has been off since May."),
        ("Nope, she gets seasick.", False, ""),
        ("Redis loses jobs on restart, so no.", False, ""),
    ],
)
def test_what_a_denial_says_beside_it(said: str, instead: bool, so: str) -> None:
    assert says_instead(said) is instead
    assert (what_is_so(said) if what_is_so(said) != said else "") == so


def test_a_question_that_puts_another_thing_forward_can_be_agreed_to() -> None:
    said = kept(
        "For the queue I'd take Redis.", "a: Redis loses jobs. Then we run it from a table in Postgres?", "Yes, good."
    )
    assert any("run it from a table in Postgres" in text for kind, text in said if kind == "decision")
