"""What is worth keeping of a day's conversations, without a model: sentences that say it themselves.

Precise before complete: a question, a condition, a wish, a quotation, pasted text, or what somebody else said gives
nothing, and a fact about a human is in that human's own words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_pipeline.conversations.about_human import emotion_in, fact_in, preference_in
from memory_pipeline.conversations.between import boundary_in, dynamic_in, shared_in, trust_in
from memory_pipeline.conversations.corrections import correction_in, own_correction_in, says_what
from memory_pipeline.conversations.denied import taken_back_in
from memory_pipeline.conversations.earlier import Earlier
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.of_self import told_of_self
from memory_pipeline.conversations.orders import leans_on_name
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.proposals import Proposals, united
from memory_pipeline.conversations.reversals import kind_of_reversal
from memory_pipeline.conversations.significance import significance_of
from memory_pipeline.conversations.taking_back import IN_ITS_PLACE
from memory_pipeline.conversations.topics import LEAST_AGAIN, LEAST_TURNS, repeated_topics, topic_key, topics_in
from memory_pipeline.conversations.work import (
    decision_in,
    finding_in,
    is_announced_decision,
    is_context,
    learned_by_agent_in,
    learned_by_human_in,
    marker_in,
    rationale_of,
)
from memory_pipeline.records import Chunk, Extraction, ExtractionKind, Turn, derived_id
from memory_pipeline.wording.agreement import says_the_same
from memory_pipeline.wording.days import with_days
from memory_pipeline.wording.facts import content_words, find_facts

#: Why sentences and turns gave nothing.
QUESTIONS = "questions"
NOT_OWN = "turns without a sentence of the speaker's own in English"
NOTHING = "sentences with nothing to keep"
TOLD_BEFORE = "told before"
OF_NOTHING = "corrections that do not say of what"
TAKEN_BACK = "taken back by the human directly afterwards"
#: A turn of more is pasted: a log, or a list; so is a message that holds many turns. A message may be several memories.
MOST_OF_TURN, MOST_OF_MESSAGE = 40, 120
BEYOND = f"beyond the first {MOST_OF_TURN} of one turn, or {MOST_OF_MESSAGE} of one message"
#: A mark that stands alone in a sentence is about the sentence before it: `This is important.`
_MOST_WORDS_OF_MARK = 6
#: With another of these, the same words say something else: `never use port 5432`.
_VALUES = ("number", "time", "date", "identifier")
_BARE_MARK = re.compile(r"\b(?:important|critical|crucial|essential|vital|urgent)\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was extracted, and what became of what was read: turns by speaker, sentences, and those that were left out,
    by reason. `again`: the extractions that were told again, each with the turn that did; `proposed`: those that
    a model proposed and no rule found, by id."""

    extractions: tuple[Extraction, ...]
    turns: Mapping[str, int]
    sentences: int
    dropped: Mapping[str, int]
    again: tuple[tuple[str, str], ...] = ()
    proposed: frozenset[str] = frozenset()

    @property
    def withdrawn(self) -> dict[str, str]:
        """By the id of each extraction that is withdrawn, that of the one which corrects it."""
        return {old: new.id for new in self.extractions for old in new.withdraws}


def extract(
    chunks: Iterable[Chunk],
    *,
    known: Sequence[Extraction] = (),
    topics_before: Mapping[str, Sequence[date]] | None = None,
    proposed: Proposals | None = None,
) -> Extracted:
    """The extractions of some chunks, in order.

    `known`: the extractions of what was said before, without those that were withdrawn, in the order in which they
    were said; those of the turns that are read, and of later days, take no part, so that a day that is read again
    gives the same. `topics_before`: by the stem of a topic, the days on which the human named it (`topics_of_day`).
    What was told before is no new evidence, and is only counted. `proposed`: what a model proposes beside these.
    """
    turns = [turn for chunk in chunks for turn in chunk.turns]
    if not turns:
        return Extracted((), {}, 0, {})
    own_turns, last = {turn.memory_id for turn in turns}, max(turn.day for turn in turns)
    earlier = [one for one in known if one.turn_id not in own_turns and one.day <= last]
    dropped: Counter[str] = Counter()
    told, standing = _Told(earlier), Earlier(earlier)
    found: list[Extraction] = []
    kept_of: Counter[object] = Counter()
    before_turn, last_turn = 0, turns[0]
    again: list[tuple[str, str]] = []
    of_model: set[str] = set()
    sentences = 0
    for turn in turns:
        message = _message_of(turn)
        if not _continues(turn, last_turn):
            before_turn = kept_of[message]
        last_turn = turn
        if kept_of[message] >= min(before_turn + MOST_OF_TURN, MOST_OF_MESSAGE):
            dropped[BEYOND] += 1
            continue
        own = own_sentences(turn.words)
        sentences += len(own)
        if not own:
            dropped[NOT_OWN] += 1
        ruled = _with_reversals(turn, own, _of_turn(turn, own, dropped), standing, dropped)
        of_turn = united(turn, ruled, proposed.of(turn)) if proposed else ruled
        of_model.update({one.id for one in of_turn} - {one.id for one in ruled})
        dropped[NOTHING] -= min(dropped[NOTHING], len(of_turn) - len(ruled))
        for one in of_turn:
            before = told.before(one)
            if before is not None and before.id not in standing.withdrawn_by(one):
                dropped[TOLD_BEFORE] += 1
                again.append((before.id, turn.memory_id))
                continue
            if kept_of[message] >= min(before_turn + MOST_OF_TURN, MOST_OF_MESSAGE):
                dropped[BEYOND] += 1
                continue
            one = replace(one, withdraws=standing.withdrawn_by(one, by_model=one.id in of_model))
            if one.kind == "correction" and not one.withdraws and not says_what(Said.alone(one.quote)):
                dropped[OF_NOTHING] += 1
                continue
            kept_of[message] += 1
            for memory in (told, standing):
                memory.add(one)
                memory.forget(one.withdraws)
            found.append(one)
    if taken_back := taken_back_in(turns, found):
        dropped[TAKEN_BACK] += len(taken_back)
        found = [one for one in found if one.id not in taken_back]
        again = [(before, turn_id) for before, turn_id in again if before not in taken_back]
    found += _repetitions(turns, topics_before or {}, [*earlier, *found])
    by_model = frozenset(one.id for one in found if one.id in of_model)
    spoken: Counter[str] = Counter(turn.speaker for turn in turns)
    return Extracted(tuple(found), spoken, sentences, +dropped, tuple(again), by_model)


def _message_of(turn: Turn) -> object:
    """What was sent at once: imports make several memories of what is long."""
    return (turn.conversation, turn.line, turn.said_at) if turn.line else turn.memory_id


def _continues(turn: Turn, before: Turn) -> bool:
    """Whether a turn is the next part of one that was too long for one memory."""
    return (
        turn.memory_id != before.memory_id
        and _message_of(turn) == _message_of(before)
        and turn.speaker == before.speaker
        and not turn.offset
    )


class _Told:
    """What was told, to find what is told again: the same kind by the same speaker in the same words."""

    def __init__(self, extractions: Iterable[Extraction]) -> None:
        self._by_words: dict[object, list[Extraction]] = defaultdict(list)
        self._gone: set[str] = set()
        for one in extractions:
            self.add(one)

    def add(self, one: Extraction) -> None:
        self._by_words[self._key(one)].append(one)

    def forget(self, ids: Iterable[str]) -> None:
        """What was withdrawn can be told anew."""
        self._gone.update(ids)

    def before(self, one: Extraction) -> Extraction | None:
        """What says the same already."""
        alike = (
            other
            for other in self._by_words.get(self._key(one), ())
            if other.id not in self._gone
            and (
                other.quote == one.quote
                or (says_the_same(one.quote, other.quote) and says_the_same(other.quote, one.quote))
            )
        )
        return next(alike, None)

    @staticmethod
    def _key(one: Extraction) -> object:
        values = frozenset(fact.value.lower() for fact in find_facts(one.quote) if fact.kind in _VALUES)
        return one.project_id, one.kind, one.speaker, frozenset(content_words(one.quote)), values


def _of_turn(turn: Turn, own: Sequence[Said], dropped: Counter[str]) -> list[Extraction]:
    found: list[tuple[Said, Extraction]] = []
    for place, said in enumerate(own):
        if is_question(said):
            dropped[QUESTIONS] += 1
            continue
        marked = turn.speaker == "human" and marker_in(said) is not None
        if marked and _BARE_MARK.search(said.read) and len(said.read.split()) <= _MOST_WORDS_OF_MARK and place:
            _mark(turn, own[place - 1], found)
            continue
        kinds = list(_kinds_by_human(said) if turn.speaker == "human" else _kinds_by_agent(said))
        if "correction" in kinds and not says_what(said):
            said = _with_what(turn, own, place)
        elif "boundary" in kinds and place and leans_on_name(said):
            said = _together(turn, own[place - 1], said)
        if marked and kinds in ([], ["context"]):
            kinds = ["marker"]
        if not kinds:
            dropped[NOTHING] += 1
        found += [(said, extraction_of(turn, said, kind, priority=marked)) for kind in kinds]
    corrected = [(said.start, said.end) for said, one in found if one.kind == "correction"]
    return [
        one
        for said, one in found
        if one.kind != "context" or not any(start <= said.start and said.end <= end for start, end in corrected)
    ]


def _with_reversals(
    turn: Turn, own: Sequence[Said], found: list[Extraction], standing: Earlier, dropped: Counter[str]
) -> list[Extraction]:
    """What was found in a turn, and its sentences that are nothing else but take back what stands."""
    if turn.speaker != "human":
        return found
    added = []
    for place, said in enumerate(own):
        if is_question(said) or any(said.quote in one.quote for one in found):
            continue
        taken_back = standing.taken_back_by(extraction_of(turn, said, "correction"))
        if taken_back:
            whole = _with_the_new(turn, own, place, found)
            added.append(
                extraction_of(turn, whole, kind_of_reversal(taken_back[0]), priority=marker_in(said) is not None)
            )
            dropped[NOTHING] -= 1
    places = {said.quote: place for place, said in enumerate(own)}
    return sorted([*found, *added], key=lambda one: places.get(one.quote, 0)) if added else found


def _with_the_new(turn: Turn, own: Sequence[Said], place: int, found: Sequence[Extraction]) -> Said:
    """A sentence that gives something up, with the one behind it that says what is done in its place, if this gives
    nothing by itself: `Weekly invoices are too much work. We go back to monthly.`"""
    behind = own[place + 1] if place + 1 < len(own) else None
    if behind is None or not IN_ITS_PLACE.match(behind.read) or any(behind.quote in one.quote for one in found):
        return own[place]
    return _together(turn, own[place], behind)


def _with_what(turn: Turn, own: Sequence[Said], place: int) -> Said:
    """A correction with the sentence beside it that says what is right; the correction itself if there is none."""
    said = own[place]
    beside = [
        other for other in (*own[place + 1 : place + 2], *own[max(0, place - 1) : place]) if not is_question(other)
    ]
    if not beside:
        return said
    return _together(turn, said, beside[0])


def _together(turn: Turn, one: Said, other: Said) -> Said:
    """Two sentences of a turn as one, with what stands between them."""
    start, end = min(one.start, other.start), max(one.end, other.end)
    return replace(one, quote=turn.words[start:end], start=start, read=turn.words[start:end])


def _mark(turn: Turn, said: Said, found: list[tuple[Said, Extraction]]) -> None:
    """Mark what was extracted of a sentence, or the sentence itself."""
    places = [place for place, (other, _) in enumerate(found) if other is said]
    for place in places:
        one = found[place][1]
        found[place] = (said, extraction_of(turn, said, one.kind, priority=True))
    if not places and not is_question(said):
        found.append((said, extraction_of(turn, said, "marker", priority=True)))


#: What is between the two, or of the work: a sentence is of the first of these kinds.
_BETWEEN: tuple[tuple[ExtractionKind, Callable[[Said], re.Match[str] | None]], ...] = (
    ("learning", learned_by_human_in),
    ("boundary", boundary_in),
    ("trust", trust_in),
    ("dynamic", dynamic_in),
    ("decision", decision_in),
)


def _kinds_by_human(said: Said) -> Iterator[ExtractionKind]:
    corrects = correction_in(said) is not None
    if corrects:
        yield "correction"
    between = next(((kind, at) for kind, read in _BETWEEN if (at := read(said)) is not None), None)
    if between is not None and not corrects:
        kind, at = between
        yield kind
        about_self = fact_in(said)
        if about_self is not None and (about_self.end() <= at.start() or about_self.start() >= at.end()):
            yield "fact"
        return
    is_about_self = False
    for kind, read in (("fact", fact_in), ("preference", preference_in), ("emotion", emotion_in)):
        if read(said) is not None:
            is_about_self = True
            yield kind
    if corrects or is_about_self:
        return
    if is_context(said):
        yield "context"
    elif told_of_self(said) is not None:
        yield "fact"


def _kinds_by_agent(said: Said) -> Iterator[ExtractionKind]:
    if own_correction_in(said):
        yield "correction"
    elif learned_by_agent_in(said):
        yield "learning"
    elif shared_in(said):
        yield "dynamic"
    elif decision_in(said, is_human=False) and (rationale_of(said) or is_announced_decision(said)):
        yield "decision"
    elif finding_in(said):
        yield "context"


def extraction_of(
    turn: Turn, said: Said, kind: ExtractionKind, *, priority: bool = False, rationale: str = ""
) -> Extraction:
    """The extraction of a sentence of a turn. `rationale`: of a decision, if it is known already."""
    quote = " ".join(said.quote.split())
    rationale = (rationale or rationale_of(said)) if kind == "decision" else ""
    start = turn.offset + said.start
    return Extraction(
        id=derived_id("extraction", turn.memory_id, kind, str(start), str(start + len(said.quote))),
        project_id=turn.project_id,
        day=turn.day,
        turn_id=turn.memory_id,
        conversation=turn.conversation,
        line=turn.line,
        speaker=turn.speaker,
        kind=kind,
        text=with_days(quote, turn.day),
        quote=said.quote,
        significance=significance_of(kind, said.read, priority=priority, rationale=rationale),
        topics=topics_in(said.read),
        rationale=rationale,
        priority=priority,
    )


def _repetitions(
    turns: Sequence[Turn], topics_before: Mapping[str, Sequence[date]], known: Sequence[Extraction]
) -> Iterator[Extraction]:
    facts = (one for one in known if one.kind == "fact" and one.speaker == "human")
    of_life = frozenset(topic_key(topic) for one in facts for topic in one.topics)
    by_day: dict[tuple[str, str, date], list[Turn]] = defaultdict(list)
    for turn in turns:
        by_day[turn.project_id, turn.conversation, turn.day].append(turn)
    for spoken in by_day.values():
        for one in repeated_topics(spoken, topics_before, of_life):
            turn = one.turns[-1]
            start = turn.offset + one.last_start
            times = f"{len(one.turns)} turns" + (f", {one.days_before + 1} days" if one.days_before else "")
            beyond = max(0, len(one.turns) - LEAST_TURNS) + one.days_before
            yield Extraction(
                id=derived_id("extraction", turn.memory_id, "repetition", one.topic, str(start)),
                project_id=turn.project_id,
                day=turn.day,
                turn_id=turn.memory_id,
                conversation=turn.conversation,
                line=turn.line,
                speaker="human",
                kind="repetition",
                text=f"Returns to {one.topic} ({times})",
                quote=one.last_quote,
                significance=significance_of("repetition", "", again=min(beyond, LEAST_AGAIN * 3)),
                topics=(one.topic,),
            )
