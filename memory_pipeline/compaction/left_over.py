"""What of a session stands in no section though it names something: statements with a path, an identifier or a figure,
and answers to what was asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from memory_pipeline.compaction.choices import is_limit
from memory_pipeline.compaction.kept import Kept, keep
from memory_pipeline.compaction.reports import NOT_SO_YET, are_of_a_size, figures_of, has_identifier, identifiers_of
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.offers import offer_in
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.replies import reply_in
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.grammar import clauses_of

#: How sure a statement is that is kept for what it names, by who said it.
_SURE = {"human": 0.85, "agent": 0.75}
#: Of those, so many are kept, the newest.
_MOST_LEFT = 20
_LEAST_WORDS, _MOST_WORDS, _SHORT = 3, 60, 12
#: So many turns later, another figure may be told for the same.
_NEAR = 4
#: Figures of the same are not further apart, and without a unit so many words say that they are of the same.
_ALIKE, _LEAST_SHARED = 2.5, 2
_NO_FACT = re.compile(
    r"\W*(?:(?:but|and|so|well|hm+),? )*(?:help|please|thanks|thank you|hi|hello|i (?:wanted|thought|considered|believe|think|guess|assume|suppose))\b",
    re.IGNORECASE,
)
_LOOKED = re.compile(
    r"\W*(?:i|we)(?:'ve| have)? (?:\w+ )?(?:look|read|go|went|check|search|scan|open|compare)\w* [^:;,–—]+",
    re.IGNORECASE,
)
_LEANS = re.compile(r"\W*(?:it|that|they|this|those|these)\b|[^\w\"'`~(/\\]", re.IGNORECASE)
_ANSWERS = re.compile(r"\W*(?:yes|no|right|correct)\s*[:,;–—]\s*\w+ \w+ \w", re.IGNORECASE)
_IS_FINE = re.compile(r"\b(?:is|are|was|were|looks?) (?:fine|ok|okay|good|all right|not it|out)\b", re.IGNORECASE)


def left_over_in(turns: Sequence[Turn], kept: Sequence[Kept], judged: Collection[tuple[str, str]]) -> Iterator[Kept]:
    """Statements of either side that name something and that no section has. Of two with a figure for the same, the
    older is left out, and so is what the human's next turn speaks against. `judged`: sentences by their turn of which
    conversations know more, as that they were taken back."""
    found: list[Kept] = []
    by_line: dict[int, list[Kept]] = {}
    for one in kept:
        by_line.setdefault(one.line, []).append(one)
    for place, turn in enumerate(turns):
        near = [one for line in range(turn.line - 1, turn.line + 2) for one in by_line.get(line, ())]
        sentences = own_sentences(turn.words)
        against = _against(turns, place, sentences) if turn.speaker == "agent" else frozenset()
        was_asked = bool(place) and turn.speaker == "agent" and "?" in turns[place - 1].words
        for number, said in enumerate(sentences):
            if (
                any(_has(one, said.quote) for one in near)
                or number in against
                or (turn.memory_id, said.quote) in judged
            ):
                continue
            if not (was_asked and _ANSWERS.match(said.read)) and not _states(said, turn.speaker):
                continue
            if _is_superseded(said.quote, turns[place + 1 : place + 1 + _NEAR]):
                continue
            quote = said.quote
            if number and _LEANS.match(said.read):
                quote = f"{sentences[number - 1].quote} {quote}"
            found.append(keep(turn, "fact", quote, confidence=_SURE[turn.speaker]))
    yield from found[-_MOST_LEFT:]


def _has(one: Kept, quote: str) -> bool:
    """Whether something that is kept has a sentence, or most of it; a setting has a short one that sets it."""
    if one.kind == "config":
        return one.text in quote and one.value in quote and len(quote.split()) <= _SHORT
    return quote in one.text or (one.text in quote and 2 * len(one.text) >= len(quote))


def _states(said: Said, speaker: str) -> bool:
    """Whether a sentence is a statement that names something."""
    words = said.quote.split()
    least = _LEAST_WORDS - has_identifier(said.quote)
    if not least <= len(words) <= _MOST_WORDS or is_question(said) or _NO_FACT.match(said.read):
        return False
    names = has_identifier(said.quote) or any(unit or not one.isdigit() for one, unit in figures_of(said.quote).items())
    if not names or NOT_SO_YET.search(said.read) or (speaker == "agent" and _LOOKED.fullmatch(said.read)):
        return False
    first = next(iter(clauses_of(said.read)), None)
    if first is None or first.order is not None:
        return False
    offer = offer_in(said) if speaker == "agent" else None
    return offer is None or (offer.kind == "cause" and offer.is_sure)


def _against(turns: Sequence[Turn], place: int, sentences: Sequence[Said]) -> frozenset[int]:
    """The sentences of an agent's turn that the human's next one may speak against: those that it names, or all."""
    after = next((one for one in turns[place + 1 : place + 2] if one.speaker == "human"), None)
    if after is None:
        return frozenset()
    own = own_sentences(after.words)
    vouched = frozenset(word for said in own if _IS_FINE.search(said.read) for word in content_words(said.quote))
    reply = reply_in(after.words)
    denies = reply is not None and reply.kind not in ("agrees", "confirms")
    if reply is not None and reply.kind == "objects" and is_limit(Said.alone(reply.head)):
        denies = False
    theirs = vouched | (frozenset(content_words(reply.text)) if reply is not None and denies else frozenset())
    named = frozenset(n for n, said in enumerate(sentences) if theirs & frozenset(content_words(said.quote)))
    if reply is not None and denies and not named and reply.kind in ("denies", "fails"):
        return frozenset(range(len(sentences)))
    return named


def _is_superseded(quote: str, later: Sequence[Turn]) -> bool:
    """Whether a later sentence has another figure for the same."""
    own, words, names = figures_of(quote), frozenset(content_words(quote)), identifiers_of(quote)
    if not own:
        return False
    for turn in later:
        for said in own_sentences(turn.words):
            theirs = figures_of(said.quote)
            if any(re.search(rf"\bnot (?:[\w']+ ){{0,2}}{re.escape(one)}(?!\d)", said.read) for one in own):
                return True
            of_others = identifiers_of(said.quote)
            if names and of_others and not names & of_others:
                continue
            ours, others = set(own) - set(theirs), set(theirs) - set(own)
            if is_question(said) or not any(are_of_a_size(one, other, _ALIKE) for one in ours for other in others):
                continue
            units = {own[one] for one in ours if own[one]} & {theirs[one] for one in others if theirs[one]}
            same = {word for word in words & frozenset(content_words(said.quote)) if not word.isdigit()}
            if len(same - units - {f"{unit}s" for unit in units}) >= (1 if units else _LEAST_SHARED):
                return True
    return False
