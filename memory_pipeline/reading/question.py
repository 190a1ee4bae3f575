"""Makes the question about some items, and of its answer a reading: verified statements, and what becomes of items.

What fails a check is told to the model once; what still fails then is dropped and counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined, Prompt, Question, mask
from memory_pipeline.models.choose import context_tokens
from memory_pipeline.models.provider import Request
from memory_pipeline.models.questions import MOST_SOURCE_TOKENS
from memory_pipeline.reading import instructions
from memory_pipeline.reading.answers import ReadingAnswer
from memory_pipeline.reading.check import Checked, Likeness, Reading, check_answer
from memory_pipeline.reading.evidence import find_missing
from memory_pipeline.reading.items import Item, Standing
from memory_pipeline.records import LEAST_PATTERNS

#: Ends the second question, which is about what failed alone.
_WANTED = (
    "This is of your earlier answer what its items do not bear out, with the items and given statements that it named, "
    "numbered anew. Give one JSON object of the same form: of each statement here the words put right, or nothing if "
    "the items above do not say it; of each digest here one put right. All other lists are empty."
)
_WANTED_OF_REPEATED = (
    "Of an item that is said to repeat a given statement, and has more than it: one statement that replaces the given "
    "one and says what both say, or nothing if the item is about something else."
)
_MOST_FAILED = 20
#: Other items that may say what the items of a statement lack.
_MOST_SAYING = 3
#: Of what is left of a context one part is for items, half a part for statements, and the rest for how both are written
#: and for the answer.
_PARTS, _LEAST_ITEM_TOKENS = 4, 500
#: Statements that a question is given at most, and the tokens of one with its frame.
_MOST_STANDING, _STATEMENT_TOKENS = 40, 80


@dataclass(frozen=True, slots=True)
class _Use:
    """One use of reading: its version and instructions, the items on which a statement rests at least, and whether the
    items are turns with speakers."""

    version: str
    instructions: str
    least_items: int = 1
    is_spoken: bool = False


_USES = {
    "notes": _Use(instructions.NOTES_VERSION, instructions.NOTES),
    "conversation": _Use(instructions.CONVERSATION_VERSION, instructions.CONVERSATION, is_spoken=True),
    "session": _Use(instructions.SESSION_VERSION, instructions.SESSION, is_spoken=True),
    "principles": _Use(instructions.PRINCIPLES_VERSION, instructions.PRINCIPLES, LEAST_PATTERNS),
}


@dataclass(frozen=True, slots=True)
class Room:
    """The room of a question beside its instructions and its answer: tokens of items, the longest item in tokens, and a
    number of standing statements."""

    item_tokens: int
    longest_item: int
    standing: int


def room_for(use: str, settings: Settings) -> Room:
    """The room for a question in the model's context. `use`: as in `question_about`.

    Raises ModelError for a context that the instructions fill.
    """
    context = context_tokens(settings)
    overhead = Request("", "", _USES[use].instructions).tokens_in
    free = context - overhead
    if free // _PARTS < _LEAST_ITEM_TOKENS:
        raise ModelError(
            f"a question needs {overhead + _PARTS * _LEAST_ITEM_TOKENS:,} tokens at least, and the model takes "
            f"{context:,}; choose a model that takes more, or set model.context_tokens if it does"
        )
    return Room(
        item_tokens=min(settings.reading.question_tokens, free // _PARTS),
        longest_item=min(free, MOST_SOURCE_TOKENS) // _PARTS,
        standing=min(_MOST_STANDING, free // (2 * _PARTS * _STATEMENT_TOKENS)),
    )


def question_about(
    use: str, items: Sequence[Item], standing: Sequence[Standing], settings: Settings, likeness: Likeness
) -> Question[ReadingAnswer, Reading]:
    """The question about some items. `use`: `notes`, `conversation`, `session` or `principles`; `standing`: the
    statements that are nearest to them; `likeness`: the cosine of two texts, for what is replaced."""
    asked = _USES[use]
    sent, counts = mask((item.words for item in items), settings)
    masked = [replace(item, words=words) for item, words in zip(items, sent, strict=True)]

    def check(answer: ReadingAnswer) -> Reading | Declined:
        checked = check_answer(answer, masked, standing, likeness, spoken=asked.is_spoken, least=asked.least_items)
        if not checked.refused and not checked.unlike:
            return checked
        return Declined(
            "statements that are not borne out",
            objection="some statements are not borne out",
            instead=lambda: _second_question(use, checked, standing, settings, likeness),
            fallback=checked,
        )

    halves = None
    if len(items) > 1:
        middle = len(items) // 2
        parts = (items[:middle], items[middle:])
        halves = lambda: [question_about(use, part, standing, settings, likeness) for part in parts]  # noqa: E731
    question = Question.about(
        Prompt(asked.instructions, _user(masked, standing)),
        version=asked.version,
        schema=ReadingAnswer,
        check=check,
        source_tokens=sum(item.tokens for item in items),
        settings=settings,
        masked=counts,
    )
    return replace(question, halves=halves, join=_join_readings)


def _second_question(
    use: str, checked: Checked, standing: Sequence[Standing], settings: Settings, likeness: Likeness
) -> Question[ReadingAnswer, Reading]:
    """The question about what failed alone: its statements with the reasons, and the items that they name."""
    failed = checked.failed[:_MOST_FAILED]
    named = {source.item for draft, _ in failed for source in draft.sources} | {item for item, _, _ in checked.unlike}
    for _, why in failed:
        missing = find_missing(why)
        saying = [n for n, item in enumerate(checked.items, start=1) if missing and missing in item.text.casefold()]
        named |= set(saying[:_MOST_SAYING])
    items = [item for n, item in enumerate(checked.items, start=1) if n in named or f"{item.day}" in checked.undigested]
    numbers = {item.id: n for n, item in enumerate(items, start=1)}
    old = sorted(
        {n for draft, _ in failed for n in draft.replaces if 1 <= n <= len(standing)}
        | {n for _, n, _ in checked.unlike}
    )
    named_standing = [standing[n - 1] for n in old]
    lines = [
        _line(
            text=draft.text,
            items=[numbers[checked.items[s.item - 1].id] for s in draft.sources if 1 <= s.item <= len(checked.items)],
            replaces=[old.index(n) + 1 for n in draft.replaces if n in old],
            wrong=why,
        )
        for draft, why in failed
    ]
    wanted = f"{_WANTED} {_WANTED_OF_REPEATED}" if checked.unlike else _WANTED
    lines += [
        _line(item=numbers[checked.items[item - 1].id], repeats=old.index(n) + 1, wrong=why)
        for item, n, why in checked.unlike
    ]
    lines += checked.undigested.values()
    asked = _USES[use]
    left = [i for i in checked.claimed if i not in checked.routine]

    def check(answer: ReadingAnswer) -> Reading | Declined:
        least = asked.least_items
        second = check_answer(
            answer, items, named_standing, likeness, spoken=asked.is_spoken, least=least, claimed=left
        )
        repaired = {i for statement in second.statements for i in statement.item_ids}
        repeated = [i for i in dict.fromkeys(checked.items[n - 1].id for n, _, _ in checked.unlike) if i in repaired]
        return checked.with_repairs(replace(second, routine=(*second.routine, *repeated)))

    question = Question.about(
        Prompt(asked.instructions, "\n".join([_user(items, named_standing), "", "Not borne out:", *lines, "", wanted])),
        version=f"{asked.version}-again",
        schema=ReadingAnswer,
        check=check,
        source_tokens=sum(item.tokens for item in items),
        settings=settings,
    )
    return replace(question, request=replace(question.request, is_again=True), fallback=checked)


def _user(items: Sequence[Item], standing: Sequence[Standing]) -> str:
    """The data of a question: a JSON object a line. What several items share, their day and what they stand under, is
    said once above them."""
    lines = ["Statements that stand:"]
    lines += [
        _line(n=n, day=f"{statement.day}", text=statement.text) for n, statement in enumerate(standing, start=1)
    ] or ["none"]
    lines += ["", "Items:"]
    above: dict[str, str] = {}
    for number, item in enumerate(items, start=1):
        shared = {"day": f"{item.day}", "under": item.under}
        if shared != above:
            lines.append(_line(**{name: text for name, text in shared.items() if text}))
            above = shared
        speaker = {"speaker": item.speaker} if item.speaker else {}
        lines.append(_line(n=number, **speaker, text=item.words))
    return "\n".join(lines)


def _line(**values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)


def _join_readings(results: Sequence[Reading | Declined | Exception]) -> Reading | Declined | Exception:
    """One reading of those of several parts; what has none decides."""
    for result in results:
        if not isinstance(result, Reading):
            return result
    joined = Reading()
    for result in results:
        joined = Reading(*(getattr(joined, field.name) + getattr(result, field.name) for field in fields(Reading)))
    return replace(joined, digests=tuple(_days(joined.digests).items()))


def _days(digests: Sequence[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for day, text in digests:
        joined[day] = f"{joined[day]} {text}" if day in joined else text
    return joined
