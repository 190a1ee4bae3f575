"""What a human denied of what an agent put forward: what the reply names, or else what was put forward last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memory_pipeline.conversations.corrections import takes_back
from memory_pipeline.conversations.offers import Offer, offers_in
from memory_pipeline.conversations.replies import Reply, reply_in
from memory_pipeline.records import Extraction, Turn
from memory_pipeline.wording.facts import content_words

#: A denial that names a thing may be of what was said in so many turns before.
_FAR = 40
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w.+#-]*\b|\b\w*(?:\d|_|[a-z][A-Z])\w*\b|\b\w+\.\w+\b|\b[A-Z]{2,}\b")
#: Words that many sentences of a work share.
_COMMON = frozenset(
    "change use run set add make work do go time day new one thing way need want get put take test file".split()
)
#: What an agent tells of the work.
_OF_WORK = frozenset(("decision", "context"))


@dataclass(frozen=True, slots=True)
class Denied:
    """What a human denied of what an agent said: the turns, the sentence, and the reply."""

    turn: Turn
    offer: Offer
    human: Turn
    reply: Reply

    @property
    def words(self) -> frozenset[str]:
        """The words of content of the sentence."""
        return frozenset(content_words(self.offer.said.quote))


class PutForward:
    """What the agent put forward in some turns, each read when it is asked for."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self._of: dict[int, list[Offer]] = {}

    def of(self, at: int) -> list[Offer]:
        """What was put forward in a turn; nothing if it is a human's."""
        if at not in self._of:
            self._of[at] = offers_in(self.turns[at].words) if self.turns[at].speaker == "agent" else []
        return self._of[at]

    def directly_before(self, place: int) -> list[int]:
        """The agent's turns of a conversation since the human's last one before a turn, the newest first."""
        found = []
        for at in range(place - 1, -1, -1):
            if self.turns[at].speaker != "agent" or self.turns[at].conversation != self.turns[place].conversation:
                break
            found.append(at)
        return found

    def denied_by(self, place: int, reply: Reply) -> Iterator[Denied]:
        """What the reply of a turn denies."""
        human = self.turns[place]
        last = next((at for at in self.directly_before(place) if self.of(at)), None)
        near = [] if last is None else [Denied(self.turns[last], offer, human, reply) for offer in self.of(last)]
        if reply.kind == "fails":
            yield from ([one for one in near if one.offer.kind == "cause"] or near)[-1:]
            return
        named = [one for one in near if _shares(one)]
        if named:
            yield from named
            return
        is_of_last = reply.points and bool(near) and (near[-1].offer.kind == "choice" or reply.vouches)
        if near and (reply.kind == "denies" or is_of_last):
            yield near[-1]
        elif reply.kind == "denies" and (names := _names(reply.text)):
            for at in range(place - 1, max(-1, place - _FAR), -1):
                same_talk = self.turns[at].conversation == human.conversation
                far = [one for one in self.of(at) if same_talk and names & _names(one.said.quote)]
                if far:
                    yield from (Denied(self.turns[at], one, human, reply) for one in far)
                    return


def taken_back_in(turns: Sequence[Turn], found: Iterable[Extraction]) -> set[str]:
    """The ids of what an agent decided or found and its human took back or denied, without what is withdrawn already.
    What an agent asked besides may be all that was answered."""
    all_found = list(found)
    withdrawn = {old for one in all_found for old in one.withdraws}
    of_agent = [one for one in all_found if one.speaker == "agent" and one.id not in withdrawn]
    if not of_agent:
        return set()
    turned_down = {
        before.memory_id
        for before, turn in pairwise(turns)
        if turn.speaker == "human" and before.speaker == "agent" and before.conversation == turn.conversation
        and "?" not in before.words and takes_back(turn.words)
    }  # fmt: skip
    forward = PutForward(turns)
    denied = [
        one
        for place, turn in enumerate(turns)
        if turn.speaker == "human" and (reply := reply_in(turn.words)) and reply.kind not in ("agrees", "confirms")
        for one in forward.denied_by(place, reply)
    ]
    quotes = {(one.turn.memory_id, " ".join(one.offer.said.quote.split())) for one in denied}
    return {
        one.id
        for one in of_agent
        if one.turn_id in turned_down or (one.kind in _OF_WORK and (one.turn_id, one.quote) in quotes)
    }


def _shares(one: Denied) -> bool:
    own = one.words - _COMMON
    if one.reply.thing:
        return bool(own & frozenset(content_words(one.reply.thing)))
    said = one.reply.text
    return bool(own & frozenset(content_words(said))) or bool(_names(one.offer.said.quote) & _names(said))


def _names(text: str) -> frozenset[str]:
    """Names and identifiers in a text, in lower case; the first word of a sentence only if it looks like one."""
    return frozenset(match.group().lower() for match in _NAME.finditer(text))
