"""What a human's replies make of what an agent put forward: a decision that is agreed, a cause that is confirmed, or a
dead end, with what the human said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory_pipeline.compaction.choices import is_choice, is_limit
from memory_pipeline.compaction.kept import AGREED, NOTED, Kept, keep, with_reply
from memory_pipeline.compaction.reports import tells_work
from memory_pipeline.compaction.told import configs_in, is_done, value_in, with_what_it_is_of
from memory_pipeline.conversations.denied import Denied, PutForward
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.offers import Offer, asked_choice, asks_leave, chosen_option, is_plan
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.replies import Reply, reply_in, says_instead, what_is_so
from memory_pipeline.conversations.work import rationale_of
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.grammar import clauses_of

#: The newest of what was put forward at once may all be agreed to.
_MOST_AGREED = 3
_LEAST_SHARED = 2
_FEW, _SHORT = 3, 6
_MOST_ANSWER = 20
#: Says that nothing is chosen, or something else.
_NO_ANSWER = re.compile(
    r"\W*(?:(?:hm+|well|oh|sorry|honestly)\W+)*(?:yes|no|nope|ok|okay|good|sure|i don't|i do not|dunno|no idea|"
    r"not sure|unsure|you (?:decide|choose|pick|tell)|your (?:call|choice)|whatever|whichever|either|maybe|perhaps|"
    r"later|let me|let's see|let us|what|why|how|which|who|can you|could you|depends|it depends|i'll think|i need|"
    r"i have to|ask|first|wait|hold on|stop|never mind|none|neither|forget|thanks|thank|does not matter|doesn't matter|"
    r"i'm not|i am not|tell me|show me|explain|is there|are there)\b",
    re.IGNORECASE,
)
#: That something will be looked at: no doubt denies it that does not name it.
_LOOKS = re.compile(
    r"\W*(?:(?:ok|okay|then|first|so|sure),? )*(?:i'll|i will|let me|i'm going to) "
    r"(?:first |now |just |also )*(?:look|check|read|see|investigate|(?:have|take) a look|search|find out)\b",
    re.IGNORECASE,
)
#: Of two sentences that say the same, one has so much of the words of the other.
_SAME = 0.75


@dataclass(frozen=True, slots=True)
class Answered:
    """What the replies of a session make of it: what is to be kept for them, what was denied, and by
    line the denials, also of what nobody put forward."""

    kept: tuple[Kept, ...]
    denied: tuple[Denied, ...]
    denials: Mapping[int, Reply] = field(default_factory=dict)


def answered_in(turns: Sequence[Turn]) -> Answered:
    """What the human's replies in some turns make of what the agent said before them."""
    kept: list[Kept] = []
    denied: list[Denied] = []
    denials: dict[int, Reply] = {}
    forward = PutForward(turns)
    for place, turn in enumerate(turns):
        if turn.speaker != "human":
            continue
        direct = forward.directly_before(place)
        kept += _chosen(turn, turns, direct)
        kept += _answered(turn, turns, direct)
        kept += _measured(turn, turns, direct)
        reply = reply_in(turn.words)
        if reply is None:
            continue
        if reply.kind in ("agrees", "confirms"):
            last = next((at for at in direct if forward.of(at)), None)
            if last is not None:
                kept += _agreed(turns[last], turn, reply, forward.of(last))
            elif reply.is_of_cause and direct:  # `Good find.`
                kept += _confirmed(turns[direct[0]])
            continue
        if reply.kind == "denies":
            denials[turn.line] = reply
        of = [one for one in forward.denied_by(place, reply) if _may_be_denied(one)]
        if of and (so := what_is_so(reply.head)) and so != reply.head:
            kept.append(keep(turn, "fact", so, confidence=NOTED))
        denied += of
        if not of and is_limit(Said.alone(reply.head)):
            continue
        if says_instead(reply.head) and (of or reply.thing):
            kept.append(keep(turn, "decision", reply.text))
        elif not of and reply.is_reasoned:
            kept.append(keep(turn, "dead_end", reply.text))
        kept += _dead_ends(of)
    return Answered(tuple(kept), tuple(denied), denials)


def _may_be_denied(one: Denied) -> bool:
    """Whether a reply can be against a sentence: that something was done, or will be looked at, is not denied by a
    doubt or an order that does not name it."""
    said, reply = one.offer.said, one.reply
    if reply.kind == "objects" and not reply.thing and _is_no_objection(Said.alone(reply.head)):
        return False
    if tells_work(said):
        return reply.kind == "fails" or len(reply.text.split()) <= _FEW
    is_named = bool(one.words & frozenset(content_words(reply.text)))
    return is_named or not _LOOKS.match(said.read) or len(reply.text.split()) <= _FEW


def _is_no_objection(said: Said) -> bool:
    first = next(iter(clauses_of(said.read)), None)
    return is_limit(said) or is_choice(said) or (first is not None and first.order is not None)


def _dead_ends(denied: Sequence[Denied]) -> Iterator[Kept]:
    for one in denied:
        said, sentences = one.offer.said, own_sentences(one.turn.words)
        if is_question(said) and asks_leave(said) and len(one.reply.text.split()) <= _FEW:
            continue  # a task that is not needed is no dead end
        whole = with_what_it_is_of(said, sentences, sentences.index(said))
        yield keep(one.turn, "dead_end", with_reply(whole, one.reply.text))


def _chosen(turn: Turn, turns: Sequence[Turn], direct: Sequence[int]) -> Iterator[Kept]:
    for at in direct[:1]:
        for said in chosen_option(turn.words, own_sentences(turns[at].words)):
            yield keep(turns[at], "decision", with_reply(said.quote, " ".join(turn.words.split())[:80]))


def _answered(turn: Turn, turns: Sequence[Turn], direct: Sequence[int]) -> Iterator[Kept]:
    """What a human answers to the question what is to be chosen."""
    asked = asked_choice(turns[direct[0]].words) if direct else None
    own = own_sentences(f"Answer: {turn.words}")[:1]
    if asked is None or not own or is_question(own[0]) or _NO_ANSWER.match(turn.words):
        return
    answer = own[0].quote.removeprefix("Answer: ")
    if len(answer.split()) <= _MOST_ANSWER:
        yield keep(turn, "decision", f"{asked.quote} {answer}", rationale=rationale_of(own[0]))


def _measured(turn: Turn, turns: Sequence[Turn], direct: Sequence[int]) -> Iterator[Kept]:
    """What the human says how much it is to be, with what the agent said of it: `Make it 14 days.`"""
    told = own_sentences(turns[direct[0]].words) if direct else ()
    figures = [said for said in told if re.search(r"\d", said.quote) and not is_question(said)]
    if not figures or tells_work(figures[-1]) or any(configs_in(said) for said in told):
        return
    for said in own_sentences(turn.words)[:2]:
        if not is_question(said) and value_in(said):
            yield keep(turn, "decision", with_reply(figures[-1].quote, said.quote))
            return


def _agreed(turn: Turn, human: Turn, reply: Reply, offers: Sequence[Offer]) -> Iterator[Kept]:
    sentences = own_sentences(turn.words)
    for offer in offers[-_MOST_AGREED:]:
        quote = offer.said.quote
        if offer.kind == "cause" or reply.is_of_cause:
            if reply.kind == "confirms":
                yield keep(turn, "fact", _whole(offer.said, sentences), confidence=NOTED)
        elif is_plan(offer.said) and not offer.rationale:
            yield keep(turn, "open", quote)
        else:
            agreed = quote + AGREED if len(reply.text.split()) <= _FEW else with_reply(quote, reply.text)
            yield keep(turn, "decision", agreed, rationale=offer.rationale)


def _confirmed(turn: Turn) -> Iterator[Kept]:
    """The last thing that an agent told as found, without calling it the cause."""
    told = [
        said
        for said in own_sentences(turn.words)
        if len(said.quote.split()) > _FEW + 1 and not (is_question(said) or is_plan(said) or is_done(said))
    ]
    for said in told[-1:]:
        yield keep(turn, "fact", said.quote, confidence=NOTED)


def _whole(said: Said, sentences: Sequence[Said]) -> str:
    """A sentence, with the one before it if it is short: `I compared the lists. So it's the address.`"""
    place = sentences.index(said)
    is_short = place and len(said.quote.split()) <= _SHORT
    return f"{sentences[place - 1].quote} {said.quote}" if is_short else said.quote


def _takes(denied: Denied, one: Kept) -> bool:
    """Whether something that is kept says what was denied."""
    if one.line >= denied.human.line or one.speaker != "agent" or one.kind in ("config", "done", "rule"):
        return False
    quote = denied.offer.said.quote
    if one.line == denied.turn.line and (one.text in quote or quote in one.text):
        return True
    own, theirs = frozenset(content_words(one.text)), denied.words
    return len(own & theirs) >= max(_LEAST_SHARED, _SAME * max(len(own), len(theirs)))


def without_denied(found: Sequence[Kept], answered: Answered) -> Iterator[Kept]:
    """What was found, without what the human denied, and without the denials themselves: they stand with what they
    deny. Of a fact beside a denial, the denial is left out."""
    matched = {one.human.line: one.reply for one in answered.denied}
    for one in found:
        if any(_takes(denied, one) for denied in answered.denied):
            continue
        reply = answered.denials.get(one.line, matched.get(one.line)) if one.speaker == "human" else None
        is_of_it = reply is not None and (one.text in reply.head or reply.head in one.text)
        if reply is None or not is_of_it or one.kind not in ("fact", "decision"):
            yield one
        elif one.kind == "decision":
            if not reply.is_reasoned:
                yield one
        elif one.line not in matched and says_instead(reply.head):
            yield one
        elif beside := what_is_so(one.text.removeprefix(reply.head) or reply.head):
            yield replace(one, text=beside, confidence=min(one.confidence, NOTED))
        elif one.line not in matched:
            yield one
