"""Asks a model which sentences of a text, written from some sources, say more than these or something else.

Code finds a figure, a name or a denial that no source has, in any language; what a sentence means only a reader can
tell. The question has nothing of the answer that the sentences come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial

from pydantic import BaseModel, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.models import Declined, Prompt, Question, mask
from memory_pipeline.reading import instructions
from memory_pipeline.text.hidden import visible

#: Characters of a reason that are kept of a model's words.
_MOST_REASON = 200
_UNREAD = "no source is named that says so"
_CHARS_PER_TOKEN = 4


class Verdict(BaseModel, extra="forbid"):
    """What a reader says of one sentence."""

    sentence: int = Field(description="The number of the sentence.")
    sources: list[int] = Field(description="The numbers of the sources that say it, or parts of it.")
    beyond: str = Field(
        max_length=2_000,
        description="What it says that these sources do not say, or say otherwise, in at most 20 words; empty if "
        "nothing.",
    )


class FaithfulnessAnswer(BaseModel, extra="forbid"):
    """A verdict on each sentence."""

    verdicts: list[Verdict] = Field(description="One for each sentence, in their order.")


#: What sentences say beyond their sources, by their place from 0; empty if all are borne out.
Unfaithful = Mapping[int, str]


def faithfulness_question(
    sentences: Sequence[str], sources: Sequence[tuple[Sequence[date], str]], settings: Settings
) -> Question[FaithfulnessAnswer, Unfaithful]:
    """The question about some sentences. `sources`: the days of each, and its text."""
    sent, masked = mask([*(text for _, text in sources), *sentences], settings)

    def line(number: int, text: str, days: Sequence[date] = ()) -> str:
        dated = {"day": ", ".join(sorted({f"{day}" for day in days}))} if days else {}
        return json.dumps({"n": number, **dated, "text": text}, ensure_ascii=False)

    def check(answer: FaithfulnessAnswer, is_last: bool = False) -> Unfaithful | Declined:
        unfaithful, unread = _read(answer, len(sentences), len(sources))
        if unread and not is_last:
            listed = ", ".join(f"{number + 1}" for number in unread)
            reason = f"no verdict that names a source on sentence {listed}"
            return Declined(reason, objection=f"There is {reason}; if no source says it, say so under `beyond`.")
        return unfaithful | dict.fromkeys(unread, _UNREAD)

    lines = ["Sources:", *(line(n, sent[n - 1], days) for n, (days, _) in enumerate(sources, start=1))]
    lines += ["", "Sentences:", *(line(n, text) for n, text in enumerate(sent[len(sources) :], start=1))]
    user = "\n".join(lines)
    return Question.about(
        Prompt(instructions.FAITHFULNESS, user),
        version=instructions.FAITHFULNESS_VERSION,
        schema=FaithfulnessAnswer,
        check=check,
        last_check=partial(check, is_last=True),
        source_tokens=len(user) // _CHARS_PER_TOKEN,
        settings=settings,
        masked=masked,
    )


def _read(answer: FaithfulnessAnswer, sentences: int, sources: int) -> tuple[dict[int, str], list[int]]:
    """Finds what sentences say beyond their sources, and those of which no verdict names a source or an objection; by
    their places from 0. Of several verdicts on one sentence each objection counts."""
    reasons: dict[int, str] = {}
    read: set[int] = set()
    for verdict in answer.verdicts:
        number, beyond = verdict.sentence - 1, " ".join(visible(verdict.beyond).split())[:_MOST_REASON]
        if beyond and 0 <= number < sentences:
            reasons.setdefault(number, beyond)
        elif any(1 <= source <= sources for source in verdict.sources):
            read.add(number)
    return reasons, [number for number in range(sentences) if number not in read and number not in reasons]
