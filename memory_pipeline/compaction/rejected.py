"""What a human rejected or corrected directly afterwards: `No, not pgbouncer.`, `We are on 2.0, not 1.4.` What was
rejected is not kept, and what is right instead is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.replies import reply_in, subject_of_denial
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.grammar import can_be_order

_NO_OBJECTION = (
    r"(?! (?:problem|worr|need|idea|rush|doubt|matter|longer|one|more)\w*)(?!, (?:thanks|that's (?:fine|ok|right)))"
)
_REJECTS = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well|but|and),? )*(?:"
    rf"(?:no|nope|nah)\b{_NO_OBJECTION}|"
    r"(?:please )?don't(?: do (?:that|it|this))?[.!]|"
    r"(?:scrap|revert|undo|forget|drop) (?:that|it|this)\b|never mind (?:that|the|it)\b|"
    r"(?:that|this|it)(?:'s| is| was) (?:not (?:the|it|right|true|correct)|wrong|incorrect)\b|"
    r"wrong\b|not (?:that|this|the)\b)",
    re.IGNORECASE,
)
#: The words of a rejection itself say nothing of what is rejected.
_ITS_OWN = frozenset(
    "never incorrect no nope nah actually please scrap revert undo forget drop mind wrong right true rule".split()
)
_WHOLE = re.compile(
    r"\W*(?:no,? )?(?:that|this|it)(?:'s| is| was) (?:not (?:[\w ]{1,30}?)|wrong|incorrect)(?=,)", re.IGNORECASE
)
_GIVEN_UP = re.compile(r"\W*(?:oh,? |actually,? )?never mind\b", re.IGNORECASE)
_CORRECTS = re.compile(
    r"(?<![\w'])(?!(?:no|nope|nah|please|wait|actually|sorry|ok|okay|but|and|so|wrong)\b)[\w`'\"./-]+,? not "
    r"(?P<wrong>[\w`'\"-]+(?:[./][\w-]+)*)",
    re.IGNORECASE,
)
#: Figures and names, as against words.
_IS_VALUE = re.compile(r"\d|_|[a-z][A-Z]|^[A-Z][a-z]+$|^[A-Z]{2,}")
#: How a sentence begins that says what is so instead.
_INSTEAD = re.compile(r"\W*(?:we|it|its|it's|the|our|that's|this|there) \w+", re.IGNORECASE)
_LEAST_STATED = 4
_LEAST_NAMED = 2
_NEGATIONS = frozenset(("no", "not", "never"))
#: A correction is of what an agent said in so many turns before it.
_CORRECTED = 4
#: A rejection is of what was said in so many turns before it.
_REACH = 2
#: A reason, and that it is one against: `Redis loses jobs on restart, so no.`
_SO_NO = re.compile(
    r"(?P<why>[^?]{8,200}?),? (?:so|which is why|therefore)[,:]? (?:(?:it's|that's|it is|that is|i'd say) )?(?:a )?"
    r"(?:no|nope|out|off the table|not (?:that|this|it|an option|for us)|no[- ]go|forget (?:it|that)|never mind)"
    r"(?: (?:then|thanks|for us))?\W*",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\W*(?:it|that|this|they|he|she|i|we|you|there)\b", re.IGNORECASE)
#: A name of what is not wanted is no sign that it is: `RabbitMQ instead of Redis`.
_NOT_IT_AND_NEXT = re.compile(
    r"\b(?:not|no|never|without|instead of|rather than|over|from|than|drop|dropped|against|replaced?) "
    r"(?:the |our )?[\w.-]+",
    re.IGNORECASE,
)


def rejected_in(turns: Sequence[Turn]) -> Mapping[int, Sequence[frozenset[str]]]:
    """By the number of each turn in its transcript, what a human rejected of it: the words that name it, which are none
    where the whole turn is meant."""
    found: dict[int, list[frozenset[str]]] = {}
    for place, turn in enumerate(turns):
        if turn.speaker != "human":
            continue
        for words in _rejections(turn):
            before = turns[max(0, place - _REACH) : place]
            for one in before if words else before[-1:]:
                found.setdefault(one.line, []).append(words)
    return found


def reason_against(said: Said) -> str:
    """The reason that a sentence gives for a no; empty if it is none."""
    found = _SO_NO.fullmatch(said.read)
    return said.quote[slice(*found.span("why"))].strip(" ,") if found else ""


def rejected_before(turns: Sequence[Turn]) -> Mapping[str, int]:
    """By the name of what a human says no to with a reason, the last line on which that was done: what was decided for
    it before, however long ago, does not stand."""
    found: dict[str, int] = {}
    for turn in turns:
        if turn.speaker != "human":
            continue
        for said in own_sentences(turn.words):
            name = next(iter(content_words(said.quote)), "")
            if name and reason_against(said) and not _POINTS.match(said.read):
                found[name] = turn.line
        reply = reply_in(turn.words)
        if reply is not None and reply.is_reasoned and (name := subject_of_denial(reply)):
            found[name] = turn.line
    return found


def is_for(text: str, name: str) -> bool:
    """Whether a text names something, and not as what is not wanted."""
    if name not in content_words(text):
        return False
    return name in content_words(_NOT_IT_AND_NEXT.sub(" ", text))


def is_rejected(text: str, rejections: Sequence[frozenset[str]]) -> bool:
    """Whether one of the rejections of its turn names something of a text, or means all of the turn."""
    own = frozenset(content_words(text))
    return any(not words or words & own for words in rejections)


@dataclass(frozen=True, slots=True)
class Correction:
    """What a human said against something: the turn, the words, and the figure or name that is wrong, if there is
    one."""

    turn: Turn
    text: str
    wrong: str = ""

    def is_about(self, text: str, line: int) -> bool:
        """Whether a text of an earlier line has what is wrong."""
        return bool(self.wrong) and line < self.turn.line and _has(text, self.wrong)


def is_rejection(said: Said) -> bool:
    """Whether a sentence rejects what was said before it."""
    return _REJECTS.match(said.read) is not None


def corrections_in(turns: Sequence[Turn]) -> list[Correction]:
    """What a human said is right instead: behind a rejection, in the sentence after it, or beside a figure or a name
    that an agent used shortly before."""
    found = []
    for place, turn in enumerate(turns):
        if turn.speaker != "human":
            continue
        sentences = own_sentences(turn.words)
        agents = "\n".join(one.words for one in turns[max(0, place - _CORRECTED) : place] if one.speaker == "agent")
        for number, said in enumerate(sentences):
            following = sentences[number + 1] if number + 1 < len(sentences) else None
            wrong = _CORRECTS.search(said.quote)
            named = wrong["wrong"].strip("`'\"").rstrip(".") if wrong else ""
            if is_question(said) or _GIVEN_UP.match(said.read):
                continue
            if named and _IS_VALUE.search(named) and _has(agents, named):
                found.append(Correction(turn, said.quote, named))
            elif is_rejection(said) and _states(said.read.partition(",")[2]) and not _is_bare(said):
                found.append(Correction(turn, said.quote))
            elif is_rejection(said) and following and not is_question(following) and _INSTEAD.match(following.read):
                found.append(Correction(turn, f"{said.quote} {following.quote}"))
    return found


def _is_bare(said: Said) -> bool:
    """Whether a rejection says nothing without what it rejects: `No, that's not the cause.`"""
    return len(frozenset(content_words(said.quote)) - _ITS_OWN - _NEGATIONS) < _LEAST_NAMED


def _states(text: str) -> bool:
    """Whether words behind a rejection state something: they are several, and no order."""
    words = text.split()
    return (
        len(words) >= _LEAST_STATED and not can_be_order(words[0].lower().strip("'")) and "let" not in words[0].lower()
    )


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", text) is not None


def _rejections(turn: Turn) -> Iterator[frozenset[str]]:
    sentences = own_sentences(turn.words)
    for place, said in enumerate(sentences):
        if reason_against(said) and _POINTS.match(said.read):
            yield frozenset()
            continue
        if not _REJECTS.match(said.read):
            continue
        of_all = _WHOLE.match(said.read)  # `That's wrong, the clock is late`: what follows is right instead
        named = frozenset(content_words(said.quote[: of_all.end()] if of_all else said.quote)) - _ITS_OWN
        if not named and not of_all and place + 1 < len(sentences):  # `Please don't. No Redis.`: the next one says what
            following = sentences[place + 1]
            named = frozenset(content_words(following.quote)) - _ITS_OWN if _REJECTS.match(following.read) else named
        yield named
