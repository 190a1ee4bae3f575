"""Checks a model's answer against its items, by code alone and in any language: quotes, figures, names, negations,
speakers, and what is replaced. Nothing that the model says of itself counts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.reading.answers import (
    MOST_ASKED,
    MOST_DIGEST,
    MOST_STATEMENT,
    ReadingAnswer,
    SaidStatement,
    Source,
)
from memory_pipeline.reading.evidence import (
    Evidence,
    are_enough,
    beginnings,
    denies,
    find_names,
    find_strange,
    find_unsupported,
    is_marked_name,
    unknown_name,
    writes_nouns_so,
)
from memory_pipeline.reading.items import Item, Standing
from memory_pipeline.records import Statement
from memory_pipeline.text.facts import WORD, Fact, find_facts
from memory_pipeline.text.hidden import without_scaffolding
from memory_pipeline.text.normalise import spaced
from memory_pipeline.text.orders import is_order
from memory_pipeline.text.preservation import find_invention
from memory_pipeline.text.redaction import redact
from memory_pipeline.text.steering import attempt_by, attempt_in
from memory_pipeline.text.whole import keeps

#: The cosine of two texts.
Likeness = Callable[[str, str], float]

#: A statement and the one that it replaces are about one thing if they share so many long words, or have at least this
#: cosine. Of 82 replacements that models named on a real workspace 80 pass.
_SAME_WORDS, _SAME_SUBJECT = 2, 0.5
_LEAST_WORDS_QUOTED = 2
#: The words that statements have at least, as a part of the words of the note that they carry.
_LEAST_CARRIED = 0.5
#: Kinds that only a human's own words can show, whomever they are about.
_OF_HUMAN = frozenset(("trust", "boundary", "emotion"))
#: Words that a statement about the human shares at least with a turn of the human's own, or all of a shorter one.
_LEAST_SPOKEN = 2
#: A statement of notes of one day that replaces none is worth its tokens from this significance on: the model is told
#: 0.4, and wrote 84 of 323 statements about a real workspace at that. Without all of another reading's below 0.5 a
#: context of 250 to 2,000 tokens answered as many of 200 questions as with them, or one more.
_LEAST_SIGNIFICANT = 0.45
_ORDER = "it reads like an order to whoever reads it"
_FIGURES = frozenset(("number", "time", "date", "identifier", "name"))
_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>.*$")
_MARKS = re.compile(r"[*_`~]+")
_CLAUSE_BREAK = re.compile(r"[.!?,;:…)]\s|\s[-(]|[。！？；，、]")
_SENTENCE_BREAK = re.compile(r"[.!?;…]\s|[。！？；]")
_BRACKETS = re.compile(r"\([^()]*\)")
#: So many words before and after a quote may turn it.
_WORDS_BEFORE, _WORDS_AFTER = 4, 2
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class Reading:
    """The statements read in some items, by the ids of items and standing statements.

    `repeats`: by item, the standing statement that says it already; `routine`: items of which nothing more is worth
    keeping; `digests`: by day (YYYY-MM-DD), what its routine was about; `ended`: standing threads that are finished;
    `steering`: items that try to steer their reader; `carried`: items whose figures, names and identifiers are all in
    its statements; `refused`: what is not borne out, in words.
    """

    statements: tuple[Statement, ...] = ()
    repeats: tuple[tuple[str, str], ...] = ()
    routine: tuple[str, ...] = ()
    digests: tuple[tuple[str, str], ...] = ()
    ended: tuple[str, ...] = ()
    steering: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Reading):
    """The parts of an answer about some items that are borne out, and what a second question needs of the rest:
    `failed`: the statements that are not, with the reason; `claimed`: what is said to be routine, also of days that
    lack a digest; `unlike`: the numbers of notes and of the statements that they are said to repeat and do not, with
    the reason; `undigested`: the days that have routine items and no digest, with the reason."""

    items: Sequence[Item]
    failed: Sequence[tuple[SaidStatement, str]] = ()
    claimed: Sequence[str] = ()
    unlike: Sequence[tuple[int, int, str]] = ()
    undigested: Mapping[str, str]

    def with_repairs(self, second: Checked) -> Reading:
        """These with what a second answer put right. What it found to steer is believed in nothing."""
        steering = tuple(dict.fromkeys([*self.steering, *second.steering]))
        texts = {statement.text for statement in self.statements}
        statements = [*self.statements, *(statement for statement in second.statements if statement.text not in texts)]
        statements = [statement for statement in statements if not set(statement.item_ids) & set(steering)]
        return Reading(
            statements=tuple(statements),
            repeats=tuple(pair for pair in self.repeats if pair[0] not in steering),
            routine=tuple(i for i in dict.fromkeys([*self.routine, *second.routine]) if i not in steering),
            digests=tuple((dict(self.digests) | dict(second.digests) | dict(self.digests)).items()),
            ended=self.ended,
            steering=steering,
            carried=find_carried(self.items, statements),
            refused=second.refused,
        )


def check_answer(
    answer: ReadingAnswer,
    items: Sequence[Item],
    standing: Sequence[Standing],
    likeness: Likeness,
    *,
    spoken: bool,
    least: int = 1,
    claimed: Sequence[str] = (),
) -> Checked:
    """Finds what is borne out of an answer about some items. `spoken`: the items are turns with speakers; `least`: on
    how many items a statement rests at least; `claimed`: items that a first answer called routine."""
    steering, of_notes = _ids(answer.steering, items), not spoken and least == 1
    named = find_names([*(item.text for item in items), *(old.text for old in standing)])
    by_text: dict[str, Statement] = {}
    objections: list[str] = []
    failed: list[tuple[SaidStatement, str]] = []
    for draft in answer.statements:
        outcome = _statement(draft, items, standing, likeness, named, spoken=spoken, general=least > 1)
        # Of single notes, what is to be done may be said as it stands there: `Restart the proxy after a change`.
        if not isinstance(outcome, str) and not of_notes and is_order(outcome.text):
            outcome = _ORDER
        if not isinstance(outcome, str) and (behind := len(set(outcome.item_ids) - set(steering))) < least:
            outcome = f"it rests on {behind}, and needs {least} at least"
        if isinstance(outcome, str):
            objections.append(f'"{draft.text[:120]}": {outcome}')
            failed.append((draft, outcome))
        elif of_notes and _is_minor(outcome, items):
            continue
        elif not set(outcome.item_ids) & set(steering):
            by_text.setdefault(outcome.text, outcome)
    statements = list(by_text.values())
    taken = {item for statement in statements for item in statement.item_ids} | set(steering)
    by_id = {item.id: item for item in items}
    repeats: list[tuple[str, str]] = []
    unlike: list[tuple[int, int, str]] = []
    for repeat in answer.repeats:
        if not (1 <= repeat.item <= len(items) and 1 <= repeat.statement <= len(standing)):
            continue
        item, given = items[repeat.item - 1], standing[repeat.statement - 1]
        if item.id in taken or item.is_protected:
            continue
        if why := _not_repeated(item, given.text, likeness):
            unlike += [(repeat.item, repeat.statement, why)] if of_notes else []
        else:
            repeats.append((item.id, given.id))
    repeated = {item for item, _ in repeats}
    routine = [
        i
        for i in dict.fromkeys([*_ids(answer.routine, items), *(i for i in claimed if i in by_id)])
        if not by_id[i].is_protected and i not in {*steering, *repeated}
    ]
    digests, wrong = _digests(answer, [by_id[i] for i in routine if i not in taken], items)
    return Checked(
        items=items,
        statements=tuple(statements),
        repeats=tuple(dict.fromkeys(repeats)),
        routine=tuple(i for i in routine if i in taken or f"{by_id[i].day}" in digests),
        digests=tuple(digests.items()),
        ended=tuple(
            standing[n - 1].id
            for n in dict.fromkeys(answer.ended)
            if 1 <= n <= len(standing) and standing[n - 1].is_thread
        ),
        steering=steering,
        refused=(*objections, *wrong.values()),
        failed=failed,
        carried=find_carried(items, statements),
        claimed=routine,
        unlike=unlike,
        undigested=wrong,
    )


def _not_repeated(item: Item, text: str, likeness: Likeness) -> str:
    """The reason why an item does not only say again what a statement says; empty if it does."""
    if missing := lacking(item, [text]):
        return f"the statement lacks '{missing[0].text}'"
    if denies(item.text) != denies(text):
        return "one of the two denies something"
    return "" if _about_the_same(item.text, text, likeness) else "the two share no words"


def _is_minor(statement: Statement, items: Sequence[Item]) -> bool:
    """True if hardly anybody needs a statement again: what replaces another is needed, and what several days say."""
    days = {item.day for item in items if item.id in statement.item_ids}
    return statement.significance < _LEAST_SIGNIFICANT and not statement.replaces and len(days) < 2


def lacking(item: Item, texts: Iterable[str]) -> list[Fact]:
    """The figures, names and identifiers of an item that none of some texts has. The day of the item is none."""
    joined = "\n".join(texts)
    own = {f"{item.day}", f"----{item.day:-%m-%d}"}
    plain = not writes_nouns_so(item.words)
    return [
        fact
        for fact in find_facts(item.words)
        if fact.kind in _FIGURES
        and not (fact.kind == "date" and fact.value in own)
        and (fact.kind != "name" or plain or is_marked_name(fact.text))
        and not keeps(joined, fact)
    ]


def find_carried(items: Sequence[Item], statements: Sequence[Statement]) -> tuple[str, ...]:
    """The items whose figures, names and identifiers are all in the statements that rest on them, if these have half as
    many words."""
    texts: dict[str, list[str]] = {}
    for statement in statements:
        for item in statement.item_ids:
            texts.setdefault(item, []).append(statement.text)
    return tuple(
        item.id
        for item in items
        if item.id in texts
        and not lacking(item, texts[item.id])
        and sum(map(_count_words, texts[item.id])) >= _LEAST_CARRIED * _count_words(item.words)
    )


def _count_words(text: str) -> int:
    return len(WORD.findall(text))


def own_text(words: str) -> str:
    """The words of somebody's own: without code, quoted lines and what programs put around it."""
    return _QUOTED_LINE.sub(" ", _FENCED.sub(" ", without_scaffolding(words)))


def _statement(
    draft: SaidStatement,
    items: Sequence[Item],
    standing: Sequence[Standing],
    likeness: Likeness,
    named: frozenset[str],
    *,
    spoken: bool,
    general: bool,
) -> Statement | str:
    """The statement, or what is wrong with it. `general`: it is a rule that its items bear out, in words of its own."""
    text = " ".join(draft.text.split())
    if not text or not draft.sources:
        return "it has no words or no items"
    if len(text) > MOST_STATEMENT:
        return f"it has {len(text)} characters; say it in 200, or in two statements"
    if any(not 1 <= source.item <= len(items) for source in draft.sources):
        return "it names an item that does not exist"
    cited = [items[source.item - 1] for source in draft.sources]
    for source, item in zip(draft.sources, cited, strict=True):
        if wrong := _not_quoted(source.quote, item):
            return wrong
    if spoken and (wrong := _wrong_speaker(draft, cited)):
        return wrong
    mine = beginnings(text)
    citations = [
        (source, item, _read_beginnings(source, item)) for source, item in zip(draft.sources, cited, strict=True)
    ]
    if not (general or spoken):  # of a conversation, a `yes` may be a source
        citations = [citation for citation in citations if mine & citation[2]] or citations
    pairs, cited = [(source, item) for source, item, _ in citations], [item for _, item, _ in citations]
    bearing = [item for _, item, words in citations if are_enough(mine & words, mine, words)]
    everything = {word for _, _, words in citations for word in words}
    if any(not 1 <= number <= len(standing) for number in draft.replaces):
        return "it replaces a statement that was not given"
    replaced = [standing[number - 1] for number in dict.fromkeys(draft.replaces)]
    newest = max(item.day for item in bearing or cited)
    is_of_human = any(item.speaker == "human" for item in cited)
    for old in replaced:
        if old.day > newest:
            return f'it replaces "{old.text[:80]}", which is newer'
        if not _about_the_same(text, old.text, likeness):
            return f'it replaces "{old.text[:80]}", which is about something else'
        if spoken and old.of_human and not is_of_human:
            return f'it replaces "{old.text[:80]}", which only the human can do'
    older = [old.text for old in replaced]
    evidence = Evidence(
        quotes=[_with_clause(source.quote, item) for source, item in pairs],
        sentences=[*(_with_sentence(source.quote, item) for source, item in pairs), *older],
        sources=[*(own_text(item.text) for item in cited), *older],
        others="\n".join(item.text for item in items) if spoken else "",
        named=named,
        days={item.day for item in cited} | {old.day for old in replaced},
    )
    if wrong := find_unsupported(text, evidence):
        return wrong
    if attempt_by("human" if is_of_human else "agent", text):
        return _ORDER
    if not (general or bearing or are_enough(mine & everything, mine, everything)):
        return "the sentences of its quotes do not speak of it; quote the words of the items that say it"
    significance = draft.significance if math.isfinite(draft.significance) else 0.5
    return Statement(
        text=text,
        kind=draft.kind,
        about=draft.about,
        quotes=tuple((item.id, source.quote) for source, item in pairs),
        significance=round(min(1.0, max(0.0, significance)), 3),
        replaces=tuple(old.id for old in replaced),
        asked=_check_question(draft.asked, evidence),
        until=_check_end(draft.until, evidence),
    )


def _check_question(asked: str, evidence: Evidence) -> str:
    """The question that a statement is said to answer; empty if it is long or has figures or names of its own."""
    asked = " ".join(asked.split())
    sources = [*evidence.sources, evidence.others]
    if len(asked) > MOST_ASKED or find_invention(sources, asked, evidence.days) or unknown_name(asked, sources):
        return ""
    return "" if attempt_in(asked) or redact(asked, personal=False)[1].total() > 0 else asked


def _check_end(until: str, evidence: Evidence) -> str:
    """The last day on which a statement is said to matter; empty if it is no date, or none that its sources give."""
    try:
        last = date.fromisoformat(until.strip())
    except ValueError:
        return ""
    # No day is computed here: what a day ends is no longer loaded after it.
    dates = {fact.value for source in evidence.sources for fact in find_facts(source) if fact.kind == "date"}
    return f"{last}" if last > min(evidence.days) and dates & {f"{last}", f"----{last:%m-%d}"} else ""


def _not_quoted(quote: str, item: Item) -> str:
    """The fault of a quote; empty if it stands in the item and is its speaker's own words."""
    wanted = _plain(quote)
    sentences = {_plain(item.words), *map(_plain, _SENTENCE_BREAK.split(item.words))}
    if not wanted or (len(spaced(wanted).split()) < _LEAST_WORDS_QUOTED and wanted not in sentences):
        return f'the quote "{quote[:80]}" has too few words'
    if wanted in _plain(own_text(item.words)) or wanted in _plain(item.text):
        return "" if wanted in _plain(own_text(item.text)) else f'the quote "{quote[:80]}" is quoted or code there'
    return f'the quote "{quote[:80]}" does not stand in its item'


def _with_clause(quote: str, item: Item) -> str:
    """A quote with the nearest words of its clause, and with what leads in to it, if the item begins so: a quote may
    leave out the word that forbids (`Never` | `deploy on Fridays`)."""
    words, wanted = _plain(own_text(item.words)), _plain(quote)
    start = words.find(wanted)
    if start < 0:
        return quote
    before = _CLAUSE_BREAK.split(words[:start])[-1].split()[-_WORDS_BEFORE:]
    after = _CLAUSE_BREAK.split(words[start + len(wanted) :])[0].split()[:_WORDS_AFTER]
    lead_in = _BRACKETS.sub(" ", item.under) if start == 0 else ""
    return " ".join([lead_in, *before, wanted, *after])


def _with_sentence(quote: str, item: Item) -> str:
    """The whole sentences of a quote, in which its statement finds what it denies."""
    words, wanted = _plain(own_text(item.words)), _plain(quote)
    before, match, after = words.partition(wanted)
    return _SENTENCE_BREAK.split(before)[-1] + match + _SENTENCE_BREAK.split(after)[0]


def _plain(text: str) -> str:
    """A text as quotes are compared: without emphasis, with one space and plain marks."""
    return " ".join(_MARKS.sub("", text.translate(_PLAIN)).split()).strip(".,;:!…").strip().casefold()


def _wrong_speaker(draft: SaidStatement, cited: Sequence[Item]) -> str:
    """The reason why a statement cannot be of the kind that it is said to be, by who says it. A turn of the human's
    that says nothing of it (`ok, thanks`) bears nothing out."""
    if draft.kind not in _OF_HUMAN and draft.about != "human":
        return ""
    mine = beginnings(draft.text)
    for source, item in zip(draft.sources, cited, strict=True):
        spoken = beginnings(_with_clause(source.quote, item)) if item.speaker == "human" else set()
        if spoken and len(mine & spoken) >= min(_LEAST_SPOKEN, len(spoken)):
            return ""
    return "what is about the human must rest on a turn of the human's own that says it"


def _read_beginnings(source: Source, item: Item) -> set[str]:
    """The beginnings of the words of a quote's sentences, or if these are short of all that its item says, and of what
    that stands under."""
    starts = beginnings(_with_sentence(source.quote, item)) or beginnings(own_text(item.words))
    return starts | beginnings(item.under)


def _about_the_same(text: str, other: str, likeness: Likeness) -> bool:
    shared = _long_words(text) & _long_words(other)
    return len(shared) >= _SAME_WORDS or likeness(text, other) >= _SAME_SUBJECT


def _long_words(text: str) -> set[str]:
    """Words that may name a subject."""
    return {word.casefold() for word in WORD.findall(text) if len(word) > 5}


def _digests(
    answer: ReadingAnswer, routine: Sequence[Item], items: Sequence[Item]
) -> tuple[dict[str, str], dict[str, str]]:
    """By day that has routine items its digest, or else what is wrong with it."""
    given = {digest.day.strip()[:10]: " ".join(digest.text.split()) for digest in answer.digests}
    digests: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for day in sorted({f"{item.day}" for item in routine}):
        text = given.get(day, "")
        sources = [item.text for item in items if f"{item.day}" == day]
        if not text:
            wrong[day] = f"{day} has routine items and no digest"
        elif len(text) > MOST_DIGEST:
            wrong[day] = f'the digest of {day} has {len(text)} characters; say it in 160: "{text[:80]}"'
        elif strange := find_strange(text, sources, {date.fromisoformat(day)}):
            wrong[day] = f"the digest of {day}: none of its items has '{strange}': \"{text}\""
        elif unknown := unknown_name(text, sources):
            wrong[day] = f"the digest of {day}: none of its items names '{unknown}': \"{text}\""
        elif denies(text) and not any(map(denies, sources)):
            wrong[day] = f'the digest of {day} denies something, and none of its items does: "{text}"'
        elif attempt_in(text) or redact(text, personal=False)[1].total() > 0:
            wrong[day] = f"the digest of {day} copies a secret or an order to its reader"
        else:
            digests[day] = text
    return digests, wrong


def _ids(numbers: Iterable[int], items: Sequence[Item]) -> tuple[str, ...]:
    return tuple(items[n - 1].id for n in dict.fromkeys(numbers) if 1 <= n <= len(items))
