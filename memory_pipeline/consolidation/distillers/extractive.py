"""The distiller without a model: it says what the sources say, in their own sentences, and nothing else.

What all members say is one sentence, in its fullest wording. Where the members tell it of several times, the values
in which those differ stand inside that sentence, each with its day. What one member adds is a sentence of its own.
What cannot be told so is declined: the members stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_pipeline.consolidation.distillers.judge import Draft, Member, Task, evidence_confidence
from memory_pipeline.consolidation.distillers.sayings import Saying, Statement, find_sayings, told_once
from memory_pipeline.models import Declined, Session
from memory_pipeline.text.agreement import overlap, status_of
from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.days import in_words, with_days
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import shape_hash
from memory_pipeline.text.sentences import join_statements, split_statements, strip_lead_in

#: The members share what at least this share of them says.
SHARED_BY = 0.6
#: A shared statement has at least so many content words; fewer are a heading, a greeting, or who wrote it.
LEAST_WORDS = 2
#: Two statements speak of one thing from this share of the shorter one's content words on.
SAME_SUBJECT = 0.5
#: Kinds of conflict that do not concern a different figure or word.
_CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))

#: Who sent something, at the start of a line.
_ADDRESS = re.compile(
    r"^\s*(?:from|to|sender|author|by|subject|date|channel|chat|cc)\s*:.*$", re.IGNORECASE | re.MULTILINE
)

NOTHING_SHARED = "the members say nothing in common"
READINGS = "one line with other figures each time: readings, which a series tells"
OPEN_AND_DONE = "what is open or planned in one member is done in another"


class Extractive:
    """Deterministic, offline, and honest: every statement of a draft is one of its sources'."""

    method = "heuristic"
    prompt_version = "extractive-12"

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """One draft per task, one after the other."""
        for task in tasks:
            session.keep_alive()
            try:
                yield task, self.draft(task)
            except Exception as error:  # one failing cluster leaves the others
                yield task, error

    def draft(self, task: Task) -> Draft | Declined:
        """Every distinct statement of the members once, what most of them say first; or why that cannot be told."""
        members = task.members
        sayings = _after_their_context(find_sayings(_statements_of(members), [member.centrality for member in members]))
        if not _is_shared(sayings, len(members)):
            return Declined(NOTHING_SHARED)
        for saying in sayings:  # one line, word for word, with other figures each time
            if saying.varying and len({shape_hash(statement.text) for statement, _ in saying.tellings}) == 1:
                return Declined(READINGS)
        if _mixes_open_and_done(sayings):
            return Declined(OPEN_AND_DONE)
        sentences = [_dated(saying, sayings[0], told_once(saying)) for saying in sayings]
        if too_many := next((sentence for sentence in sentences if isinstance(sentence, Declined)), None):
            return too_many
        return Draft(
            text=join_statements([sentence for sentence in sentences if isinstance(sentence, str)]),
            prompt_version=self.prompt_version,
            confidence=_confidence(sayings, members),
        )


def _statements_of(members: Sequence[Member]) -> list[Statement]:
    statements = []
    for index, member in enumerate(members):
        texts = list(map(strip_lead_in, split_statements(member.memory.content)))
        day = member.memory.day
        for place, text in enumerate(texts or [member.memory.content.strip()]):
            statements.append(Statement(index, place, day, text))
    return statements


def _after_their_context(sayings: Sequence[Saying]) -> list[Saying]:
    """The sayings in their order, but each directly after the one that tells what precedes it in its memory: whatever
    it refers to stands before it, as in its source."""
    told_in = {(s.member, s.place): n for n, saying in enumerate(sayings) for s, _ in saying.tellings}
    following: dict[int | None, list[int]] = {}
    for n, saying in enumerate(sayings):
        before = told_in.get((saying.best.member, saying.best.place - 1)) if n else None
        following.setdefault(None if before == n else before, []).append(n)
    ordered: dict[int, None] = {}
    waiting = [*reversed([*following.get(None, ()), *range(len(sayings))])]  # those in a circle come last
    while waiting:
        n = waiting.pop()
        if n not in ordered:
            ordered[n] = None
            waiting += reversed(following.get(n, ()))
    return [sayings[n] for n in ordered]


def _is_shared(sayings: Sequence[Saying], members: int) -> bool:
    """Whether one statement is said by most members, and none of them speaks of something else alone."""
    joined: set[int] = set()
    for saying in sayings:
        if len(saying.members) > 1 or overlap(saying.best.text, sayings[0].best.text) >= SAME_SUBJECT:
            joined |= saying.members
    says_something = len(content_words(_ADDRESS.sub("", sayings[0].best.text))) >= LEAST_WORDS
    return says_something and len(joined) == members and len(sayings[0].members) >= max(2, SHARED_BY * members)


def _dated(saying: Saying, first: Saying, sentence: str | Declined) -> str | Declined:
    """The sentence with the dates of its `today` and `tomorrow`; and one more time at which something happened has its
    day as well, where the others have theirs."""
    if isinstance(sentence, Declined):
        return sentence
    sentence = with_days(sentence, saying.best.day)
    if saying is not first and first.varying:  # beside the days of the other times, this one's is said like theirs
        year = saying.best.day.year not in {statement.day.year for statement, _ in first.tellings}
        sentence = sentence.replace(
            f" today ({in_words(saying.best.day)})", f" on {in_words(saying.best.day, year=year)}"
        )
    alone = saying is not first and len(saying.tellings) == 1 and first.varying
    day = in_words(saying.best.day)
    if (
        not alone
        or in_words(saying.best.day, year=False) in sentence
        or overlap(sentence, first.best.text) < SAME_SUBJECT
    ):
        return sentence
    return f"{sentence.rstrip('.!')} ({day})."


def _mixes_open_and_done(sayings: Sequence[Saying]) -> bool:
    """Whether of one thing one statement says that it is open, and another one that it is done."""
    texts = [saying.best.text for saying in sayings]
    return any(
        {status_of(one), status_of(other)} == {"open", "done"} and overlap(one, other) >= SAME_SUBJECT
        for place, one in enumerate(texts)
        for other in texts[place + 1 :]
    )


def _confidence(sayings: Sequence[Saying], members: Sequence[Member]) -> float:
    """The `evidence_confidence` of every distinct statement, weighted by its words.

    It decreases with the share of statements that only one member makes (0.67). A cluster of three on one day falls
    below the default floor of 0.7 if less than two fifths of it is said by all members, and one on three days if
    less than a quarter is.
    """
    sure = whole = 0.0
    for saying in sayings:
        against = {
            other.best.member
            for other in sayings
            if other.best.member not in saying.members
            and overlap(other.best.text, saying.best.text) >= SAME_SUBJECT
            and (finding := find_conflict(other.best.text, saying.best.text))
            and finding.kind in _CONTRADICTING
        }
        weight = max(1, len(content_words(saying.best.text)))
        witnesses = (witness for i in sorted(saying.members) for witness in members[i].witnesses)
        whole += weight
        sure += weight * evidence_confidence(witnesses, len(against))
    return round(sure / whole, 4)
