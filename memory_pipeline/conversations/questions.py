"""Questions to a model about turns of a conversation, and the check of its answers.

The model proposes, and the turns decide: whose words they are is known before, the quote must be words of that turn,
and what is more than its quote without fillers is replaced by it. Only sentences of the speakers' own are sent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.conversations.extraction import extraction_of
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.own_clause import is_own_statement
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.prompts import VERSION, read_prompt
from memory_pipeline.conversations.proposals import TurnKey, key_of
from memory_pipeline.conversations.routing import ROUTES
from memory_pipeline.models import Declined, Prompt, Question
from memory_pipeline.models.choose import context_tokens, model_name
from memory_pipeline.models.requests import Reply
from memory_pipeline.records import Chunk, Extraction, ExtractionKind, ModelAnswer, Speaker, Turn
from memory_pipeline.wording.days import with_days
from memory_pipeline.wording.grammar import clauses_of
from memory_pipeline.wording.redaction import redact
from memory_pipeline.wording.retelling import is_without_fillers

PROMPT_VERSION = f"conversation-{VERSION}"
#: At most so many tokens of turns are asked about at once: the instructions are as long as a chunk.
_AT_ONCE = 2_000
#: Of a smaller context at most one part in so many.
_CONTEXTS = 6
#: A quote has at least so many words, unless it is a whole sentence.
_LEAST_QUOTED = 3
#: Sentences that one quote may go over.
_MOST_SENTENCES = 2
#: By how much the model's word may move what follows from the kind and the words.
_MOST_MOVED = 0.1

STEERS = "reads like an attempt to steer a model"
NO_TURN = "a turn that does not exist"
NO_QUOTE = "a quote that the turn does not have"
TOO_SHORT = "a quote of too few words"
NOT_FROM = "a kind that is not kept from this speaker"
NOT_STATED = "a question, a wish, or not plainly said by its speaker"
NOT_SELF = "nothing about its speaker"
NOT_BETWEEN = "nothing between the two"

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_SELF = re.compile(r"\b(?:i|im|ive|i'\w+|me|my|mine|myself|we|us|our|ours|we'\w+)\b", re.IGNORECASE)
#: About whom these are, somebody says by himself.
_ABOUT_SELF: Mapping[Speaker, frozenset[ExtractionKind]] = {
    "human": frozenset(("fact", "preference", "emotion")),
    "agent": frozenset(("preference", "learning")),
}
#: What these are about, the other is addressed in, or something is told to be done.
_BETWEEN_BOTH: frozenset[ExtractionKind] = frozenset(("trust", "boundary", "dynamic"))
_ADDRESSED = re.compile(
    r"\b(?:you|your|yours|yourself|u|we|us|our|ours|let's|together|each other|please|pls|never|always|don't|do not|"
    r"must|from now on|going forward|(?:ask|tell|show|call|remind|send|give|let) me|"
    r"without (?:asking|telling|showing|my)|plz|no need|under no circumstances|whenever|"
    r"approval|permission|consent|rule)\b",
    re.IGNORECASE,
)
#: What an agent tells of its human is no context of the work.
_OF_HUMAN = re.compile(
    r"\b(?:the|my|our) (?:user|human|owner|operator)\b|\byou (?:told|said|mentioned|live|like|love|hate|prefer|feel)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:i wish|if only|what if|imagine|pretend|suppose|hypothetically|let's say|as if|as though)\b", re.IGNORECASE
)
#: What a model may propose: a topic that recurs is counted, and a mark is found by its words.
ProposedKind = Literal[
    "correction", "trust", "boundary", "emotion", "decision", "fact", "preference", "dynamic", "learning", "context"
]


class ProposedExtraction(BaseModel):
    """One thing that a model proposes to keep."""

    model_config = ConfigDict(extra="forbid")

    turn: int
    kind: ProposedKind
    quote: str = Field(max_length=4000)
    text: str = Field(max_length=4000)
    rationale: str = Field(max_length=4000)
    significance: float = Field(ge=0, le=1)


class TurnsAnswer(BaseModel):
    """A model's answer about some turns."""

    model_config = ConfigDict(extra="forbid")

    extractions: list[ProposedExtraction]
    suspicious: list[int]


@dataclass(frozen=True, slots=True)
class Accepted:
    """What is left of an answer: the extractions by turn, and what was refused, by reason."""

    by_turn: Mapping[TurnKey, tuple[Extraction, ...]]
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Sent:
    """A turn as it is sent: its own sentences, the same with secrets masked, and as one text."""

    turn: Turn
    own: tuple[Said, ...]
    masked: tuple[str, ...]

    @property
    def words(self) -> str:
        return " ".join(self.masked)


@dataclass(frozen=True, slots=True)
class TurnsQuestion:
    """A question about the turns of some chunks of one conversation."""

    question: Question[TurnsAnswer, Accepted]
    chunks: int
    turns: tuple[_Sent, ...]

    @property
    def prompt_hash(self) -> str:
        """What names the question among kept answers."""
        return self.question.request.prompt_hash

    def shorter(self, settings: Settings) -> list[TurnsQuestion]:
        """The questions about its first turns alone, the longest first: as they were when these were the last."""
        return [_question(self.turns[:end], self.chunks, settings) for end in range(len(self.turns) - 1, 0, -1)]

    def read(self, kept: ModelAnswer) -> Accepted | Declined | Exception:
        """The result of an answer that is kept."""
        return self.question.read(Reply(self.question.request, "answered", kept.answer, kept.stop_reason))


def questions_about(
    chunks: Sequence[Chunk], settings: Settings, steers: Callable[[str], bool]
) -> tuple[list[TurnsQuestion], int]:
    """The questions about some chunks, and how many of the chunks are left to the rules because of an attempt to steer
    their reader. Chunks without a sentence of anybody's own need no question.

    The questions follow from the turns alone, so that the answers of a day that is read again are known.
    """
    questions: list[TurnsQuestion] = []
    at_once = min(_AT_ONCE, context_tokens(settings) // _CONTEXTS)
    hostile = 0
    for _, those in groupby(chunks, key=lambda chunk: chunk.turns[0].conversation):
        sent: list[list[_Sent]] = []
        for chunk in those:
            turns = [one for one in map(_sent, chunk.turns) if one.own]
            if any(steers(" ".join(said.quote for said in one.own)) for one in turns):
                hostile += 1
            elif turns:
                sent.append(turns)
        questions += [
            _question([one for part in parts for one in part], len(parts), settings) for parts in _full(sent, at_once)
        ]
    return questions, hostile


def _full(chunks: Sequence[Sequence[_Sent]], at_once: int) -> Iterator[list[Sequence[_Sent]]]:
    """The chunks of a conversation, as many at once as one question takes."""
    parts: list[Sequence[_Sent]] = []
    tokens = 0
    for chunk in chunks:
        size = _tokens(chunk)
        if parts and tokens + size > at_once:
            yield parts
            parts, tokens = [], 0
        parts.append(chunk)
        tokens += size
    if parts:
        yield parts


def _tokens(turns: Sequence[_Sent]) -> int:
    """About how many tokens the words of some turns are."""
    return sum(len(one.words) for one in turns) // 4 + 1


def _sent(turn: Turn) -> _Sent:
    own = own_sentences(turn.words)
    return _Sent(turn, own, tuple(_SPACE.sub(" ", said.quote) for said in own))


def _question(turns: Sequence[_Sent], chunks: int, settings: Settings) -> TurnsQuestion:
    secrets = personal = 0
    sent: list[_Sent] = []
    for one in turns:
        masked = []
        for words in one.masked:
            text, counts = redact(words, personal=settings.model.mask_personal)
            secrets += counts["secret"]
            personal += counts["email"] + counts["phone"]
            masked.append(text)
        sent.append(replace(one, masked=tuple(masked)))
    user = {
        "turns": [
            {"number": number, "speaker": one.turn.speaker, "words": one.words}
            for number, one in enumerate(sent, start=1)
        ]
    }
    question = Question.about(
        Prompt(read_prompt("extract"), json.dumps(user, ensure_ascii=False, indent=1)),
        version=PROMPT_VERSION,
        schema=TurnsAnswer,
        check=lambda answer: _accepted(answer, sent, model_name(settings)),
        source_tokens=_tokens(sent),
        settings=settings,
        masked_secrets=secrets,
        masked_personal=personal,
    )
    return TurnsQuestion(question, chunks, tuple(turns))


def _accepted(answer: TurnsAnswer, sent: Sequence[_Sent], model: str) -> Accepted | Declined:
    """What the turns bear out of a model's answer. One that found an attempt to steer it is not believed at all."""
    if answer.suspicious:
        return Declined("the model found instructions")
    by_turn: dict[TurnKey, dict[str, Extraction]] = {}
    refused: Counter[str] = Counter()
    for proposed in answer.extractions:
        if not 1 <= proposed.turn <= len(sent):
            refused[NO_TURN] += 1
            continue
        one = sent[proposed.turn - 1]
        extraction = _extraction(proposed, one, model)
        if isinstance(extraction, str):
            refused[extraction] += 1
        else:
            by_turn.setdefault(key_of(one.turn), {}).setdefault(extraction.id, extraction)
    return Accepted({key: tuple(those.values()) for key, those in by_turn.items()}, refused)


def _extraction(proposed: ProposedExtraction, sent: _Sent, model: str) -> Extraction | str:
    """The extraction that is proposed, in the words of its turn; or why there is none."""
    turn = sent.turn
    if ROUTES[proposed.kind, turn.speaker].destination == "drop":
        return NOT_FROM
    said = _said(proposed.quote, sent)
    if isinstance(said, str):
        return said
    if is_question(said) or _UNREAL.search(said.read):
        return NOT_STATED
    if (turn.speaker, proposed.kind) == ("agent", "context") and _OF_HUMAN.search(said.read):
        return NOT_FROM
    if proposed.kind in _ABOUT_SELF[turn.speaker] and not _SELF.search(said.read):
        return NOT_SELF
    if proposed.kind in _BETWEEN_BOTH and not _ADDRESSED.search(said.read) and not _is_order(said):
        return NOT_BETWEEN
    is_quoted = ROUTES[proposed.kind, turn.speaker].destination != "memory"
    if is_quoted and not is_own_statement(said.read, proposed.kind, turn.speaker):
        return NOT_STATED
    rationale = _rationale(proposed, sent)
    one = extraction_of(turn, said, proposed.kind, rationale=rationale)
    moved = max(-_MOST_MOVED, min(_MOST_MOVED, proposed.significance - one.significance))
    one = replace(one, significance=round(min(1.0, max(0.0, one.significance + moved)), 3))
    text = one.text if is_quoted else _told(proposed.text, one)
    return replace(one, text=text, proposed_by=model)


def _is_order(said: Said) -> bool:
    first = next(iter(clauses_of(said.read)), None)
    return first is not None and first.order is not None


def _said(quote: str, sent: _Sent) -> Said | str:
    """The whole sentences of a turn that have a quote, word for word; or what is wrong with it.

    A part of a sentence would lose what narrows it: `if`, `not`, `except`.
    """
    wanted = _SPACE.sub(" ", quote).strip()
    words = _WORD.findall(wanted)
    if len(words) < _LEAST_QUOTED and wanted not in sent.masked:
        return TOO_SHORT
    place = _place(wanted, sent.words)
    if place is None:
        return NO_QUOTE
    start, touched = 0, []
    for said, masked in zip(sent.own, sent.masked, strict=True):
        if start < place + len(wanted) and place < start + len(masked):
            touched.append(said)
        start += len(masked) + 1
    first, last = touched[0], touched[-1]
    if len(touched) == 1:
        return first
    together = sent.turn.words[first.start : last.end]
    if len(touched) > _MOST_SENTENCES or len(_WORD.findall(together)) != sum(
        len(_WORD.findall(said.quote)) for said in touched
    ):
        return NO_QUOTE  # something of somebody else stands between them
    read = " ".join(said.read for said in touched)
    return Said(together, first.start, read, before=first.before, after=last.after)


def _place(wanted: str, words: str) -> int | None:
    """Where some words stand in others, from the beginning of a word to the end of one."""
    found = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", words) if wanted else None
    return found.start() if found else None


def _rationale(proposed: ProposedExtraction, sent: _Sent) -> str:
    """The reason of a decision, if the turn has it word for word."""
    wanted = _SPACE.sub(" ", proposed.rationale).strip()
    if proposed.kind != "decision" or len(_WORD.findall(wanted)) < _LEAST_QUOTED:
        return ""
    own = " ".join(_SPACE.sub(" ", said.quote) for said in sent.own)
    return wanted.strip(" ,(.!") if _place(wanted, own) is not None else ""


def _told(text: str, one: Extraction) -> str:
    """The model's wording of an extraction if it is the quote without interjections and fillers, or else the quote."""
    text = _SPACE.sub(" ", text).strip()
    quote = _SPACE.sub(" ", one.quote).strip()
    return with_days(text, one.day) if text != quote and is_without_fillers(text, quote) else one.text
