"""Says what a period was about, in a few sentences above the lists of its rollup, if a model is asked.

Every sentence is borne out by the entries that it names, as far as code and a second question can tell, and has a link
to their part of the period.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError, in_words
from memory_pipeline.models import Declined, ModelClient, Prompt, Question, Session, mask
from memory_pipeline.models.conflicts import find_contradiction
from memory_pipeline.periods.calendar import Period
from memory_pipeline.periods.days import Entry
from memory_pipeline.periods.pages import link_to
from memory_pipeline.reading import instructions
from memory_pipeline.reading.evidence import unknown_name
from memory_pipeline.reading.faithfulness import FaithfulnessAnswer, Unfaithful, faithfulness_question
from memory_pipeline.store import Store
from memory_pipeline.text.entailment import Evidence, find_unborne
from memory_pipeline.text.preservation import find_invention
from memory_pipeline.text.quoting import plain
from memory_pipeline.text.steering import attempt_in

#: Days are short enough, and a page of fewer entries is read whole.
_LEVELS = frozenset(("week", "month", "year"))
LEAST_ENTRIES = 12
#: All sentences have at most so many tokens, and with their links at most this share of the budget.
MOST_TOKENS, _SHARE = 120, 0.2
_MOST_SENTENCES = 4
#: A text has fewer characters a token than this.
_CHARS_PER_TOKEN = 8
_MOST_LINKS = 2
SAID = "said"
NOTHING = "the model says nothing of it that is borne out"


class ShortSentence(BaseModel, extra="forbid"):
    """One sentence, and the numbers of the entries that say so."""

    text: str = Field(max_length=1000)
    entries: list[int]


class ShortAnswer(BaseModel, extra="forbid"):
    """A model's answer about one rollup."""

    sentences: list[ShortSentence]
    suspicious: list[int]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its links, and the entries that say it."""

    text: str
    links: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """A rollup that may be said in short: its period, what stands in it, what it is made from, and its budget."""

    period: Period
    entries: tuple[Entry, ...]
    below: Sequence[Period]
    budget: int

    @property
    def is_long(self) -> bool:
        """True if it is long enough to be said in short."""
        return self.period.level in _LEVELS and len(self.entries) >= LEAST_ENTRIES


def say_in_short(
    store: Store,
    settings: Settings,
    tellings: Mapping[str, Telling],
    by: tuple[str, str],
    count_tokens: Callable[[str], int],
    *,
    cached_only: bool = False,
) -> tuple[dict[str, str], dict[str, str]]:
    """The paragraphs of some rollups, by id, and why others have none. `by`: the holder of the lease, and the run;
    `cached_only`: nothing is asked, and answers that are kept are used.

    The questions follow from the entries alone, so that the answers about a rollup that is made again are known.
    """
    paragraphs: dict[str, str] = {}
    problems: dict[str, str] = {}
    if not tellings:
        return paragraphs, problems
    holder, run_id = by
    try:
        client = ModelClient(settings)
        session = Session(store, run_id, holder, keep_alive=lambda: store.take_lease(run_id, holder))
        questions = {known: _question(telling, settings, count_tokens) for known, telling in tellings.items()}
        drafts: dict[str, Sequence[_Sentence]] = {}
        for known, result in client.ask(questions, session, "rollups in short", cached_only=cached_only):
            if isinstance(result, Declined | Exception):
                problems[known] = _why(result)
            elif result:
                drafts[known] = result
            else:
                problems[known] = NOTHING
        checks = {known: _faithfulness(sentences, settings) for known, sentences in drafts.items()}
        for known, unfaithful in client.ask(checks, session, "faithfulness", cached_only=cached_only):
            if isinstance(unfaithful, Declined | Exception):
                problems[known] = _why(unfaithful)
            elif faithful := [sentence for place, sentence in enumerate(drafts[known]) if place not in unfaithful]:
                paragraphs[known] = _paragraph(faithful)
            else:
                problems[known] = NOTHING
    except ModelError as error:
        problems |= {known: _why(error) for known in tellings if known not in paragraphs and known not in problems}
    return paragraphs, problems


def _why(result: Declined | Exception) -> str:
    return (result.reason if isinstance(result, Declined) else in_words(result))[:300]


def _faithfulness(sentences: Sequence[_Sentence], settings: Settings) -> Question[FaithfulnessAnswer, Unfaithful]:
    """The question whether the entries that some sentences name bear them out."""
    entries = dict.fromkeys(entry for sentence in sentences for entry in sentence.entries)
    return faithfulness_question(
        [sentence.text for sentence in sentences], [([e.day], e.words) for e in entries], settings
    )


def _question(
    telling: Telling, settings: Settings, count_tokens: Callable[[str], int]
) -> Question[ShortAnswer, Sequence[_Sentence]]:
    sent, masked = mask((entry.words for entry in telling.entries), settings)
    user = {
        "period": telling.period.name,
        "entries": [
            {"number": number, "kind": entry.kind, "day": entry.day.isoformat(), "words": words}
            for number, (entry, words) in enumerate(zip(telling.entries, sent, strict=True), start=1)
        ],
    }
    question = Question.about(
        Prompt(instructions.PERIOD, json.dumps(user, ensure_ascii=False, indent=1)),
        version=instructions.PERIOD_VERSION,
        schema=ShortAnswer,
        check=lambda answer: _check_sentences(answer, telling, sent, count_tokens),
        source_tokens=sum(map(count_tokens, sent)),
        settings=settings,
        masked=masked,
    )
    longest = " ".join(entry.words for entry in telling.entries)[: MOST_TOKENS * _CHARS_PER_TOKEN]
    check = _faithfulness([_Sentence(longest, "", telling.entries)], settings).request
    return replace(question, request=replace(question.request, then=(check.tokens_in, check.max_tokens)))


def _check_sentences(
    answer: ShortAnswer, telling: Telling, sent: Sequence[str], count_tokens: Callable[[str], int]
) -> Sequence[_Sentence] | Declined:
    """The sentences that their entries bear out, as many as have room."""
    if answer.suspicious:
        return Declined("the model found instructions in an entry")
    accepted: list[_Sentence] = []
    for sentence in answer.sentences:
        text = " ".join(sentence.text.split())
        text = text if not text or text.endswith((".", "!", "?")) else f"{text}."
        named = sorted(set(sentence.entries))
        if not text or len(accepted) == _MOST_SENTENCES or any(text == earlier.text for earlier in accepted):
            continue
        if not named or any(number not in range(1, len(sent) + 1) for number in named):
            continue
        entries = tuple(telling.entries[number - 1] for number in named)
        links = _links(telling, entries)
        if not links or not _is_borne_out(text, entries, [sent[number - 1] for number in named]):
            continue
        tried = [*accepted, _Sentence(text, links, entries)]
        if count_tokens(" ".join(chosen.text for chosen in tried)) > MOST_TOKENS:
            continue
        if count_tokens(_paragraph(tried)) <= _SHARE * telling.budget:
            accepted = tried
    return accepted


def _paragraph(sentences: Sequence[_Sentence]) -> str:
    return " ".join(f"{plain(sentence.text)} ({sentence.links})" for sentence in sentences)


def _is_borne_out(text: str, entries: Sequence[Entry], words: Sequence[str]) -> bool:
    """True if a sentence says no more than its entries do; nothing that was masked is in it."""
    return not (
        "[REDACTED" in text
        or unknown_name(text, words)
        or attempt_in(text)
        or find_unborne(text, Evidence(words, [[entry.day] for entry in entries]))
        or find_invention(words, text, [entry.day for entry in entries])
        or find_contradiction(words, text)
    )


def _links(telling: Telling, entries: Sequence[Entry]) -> str:
    """Links to those of the periods below that have some entries."""
    parts = [part for part in telling.below if any(part.first <= entry.day <= part.last for entry in entries)]
    return ", ".join(map(link_to, parts[:_MOST_LINKS]))
