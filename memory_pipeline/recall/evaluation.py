"""Measures what a memory answers, and what it would answer without nights: questions asked of a copy of the store,
beside what an agent would read instead."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, Field, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.recall.documents import MOST_RESULTS, RecalledMemory
from memory_pipeline.recall.past import superseded_among
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.recall.questions import question_for, word_frequencies
from memory_pipeline.recall.search import SearchIndex
from memory_pipeline.records import EXTRACTED, LEAST_READINGS, MADE, SERIES, Memory
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.facts import find_facts
from memory_pipeline.text.normalise import embedding_text, line_shape
from memory_pipeline.text.quoting import clipped
from memory_pipeline.text.steering import attempt_in
from memory_pipeline.text.subject import with_subject

#: Tokens within which an answer is looked for: a paragraph, and what an agent can spare.
BUDGETS = (250, 500, 1000, 2000)
#: The rows of the table, in the order in which they are shown.
NOW, CONTEXT, BEFORE, WORDS, GREP, TAIL = (
    "search", "context", "search in the notes alone", "BM25 in the notes", "grep in the notes", "the newest notes",
)  # fmt: skip
#: The budget of the line that sums an evaluation up.
_SPARE = 500
_LEAST_ANSWER = 2
_MARKS = str.maketrans("", "", "*`")
#: Kinds of facts that are no values: what is denied, what is recommended.
_NO_VALUES = ("negation", "recommendation")
_EDGES = ".,;:!?()[]{}\"'"
#: 95% of a normal distribution lie within so many standard deviations.
_Z = 1.96


class Asked(Document):
    """A question with its answer, as a line of the file of questions has it."""

    question: str = Field(min_length=3, description="What is asked.")
    answer: Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)] = (
        Field(default=(), description="Words of the answer; one of several is enough.")
    )
    stale: str = Field(default="", description="Words of the answer that was right earlier.")
    absent: bool = Field(default=False, description="Whether the memory does not hold the answer.")


class Answered(Document):
    """The number of questions that one way of asking answers."""

    method: str = Field(description="What an agent reads.")
    answered: dict[int, int] = Field(description="By tokens, how many questions it answers within them.")


class Merge(Document):
    """A memory that a night made, for you to judge."""

    number: int = Field(description="Its number in the sample.")
    id: str = Field(description="The memory.")
    content: str = Field(description="What it says.")
    sources: tuple[str, ...] = Field(description="What it was made from.")
    objection: str | None = Field(default=None, description="Why a judge called it wrong; null if none has.")


class Evaluation(Document):
    """The answers of a project's memory, beside what an agent would read instead."""

    project: str = Field(description="The project.")
    made_by: str = Field(description="Where the questions come from: the name of a file or of a model, or `values`.")
    cost_usd: float = Field(default=0.0, description="What a model's making of the questions cost, in US dollars.")
    questions: int = Field(description="Questions with an answer.")
    rows: tuple[Answered, ...] = Field(description="By method, what is answered.")
    missed: tuple[str, ...] = Field(default=(), description="Questions that no context answers, however large.")
    all_notes: int = Field(description="Questions that all notes together answer.")
    tokens_of_notes: int = Field(description="Tokens of all notes, as they were read.")
    tokens_now: int = Field(description="Tokens of the active memory now.")
    changed: int = Field(description="Questions about something that has changed.")
    newest_first: int = Field(description="Of these, how many find the newest answer before the stale one.")
    absent: int = Field(description="Questions that the memory does not answer.")
    absent_said: int = Field(description="Of these, how many find nothing near: a search says so.")
    made: int = Field(description="Memories that nights made of several and that are active.")
    sample: tuple[Merge, ...] = Field(description="Some of them, drawn by the project's name, for you to judge.")
    judge: str = Field(default="you", description="Who judged the sample: `you`, or the name of a model.")
    wrong: int | None = Field(description="How many of the sample were called wrong; null if nobody has said.")
    wrong_share: tuple[float, float] | None = Field(
        description="Where the share of wrong ones lies, with 95% confidence (Wilson's interval); null as before."
    )

    @property
    def asked_of(self) -> str:
        """The origin of the questions, and what they cost, in words."""
        asked = "made from rare values of the notes" if self.made_by == "values" else f"of {self.made_by}"
        return asked + (f" ({self.cost_usd:.4f} USD)" if self.cost_usd else "")

    @property
    def summary(self) -> str:
        """The evaluation in one line: what a context answers within some tokens, and what the notes answer there."""
        by_method = {row.method: row.answered for row in self.rows}
        wrong = f", {self.wrong} of {len(self.sample)} merges wrong" if self.wrong is not None else ""
        return (
            f"Within {_SPARE} tokens a context answers {by_method[CONTEXT][_SPARE]} of "
            f"{how_many(self.questions, 'question')}, a search in the notes alone {by_method[BEFORE][_SPARE]}, the "
            f"newest notes {by_method[TAIL][_SPARE]}{wrong}."
        )

    @property
    def judged(self) -> str:
        """The memories that were made of several, and how many of the sample were called wrong, in words."""
        made = f"Nights made {how_many(self.made, 'memory')} of several."
        if self.wrong is None or self.wrong_share is None:
            return f"{made} Is each true to what it was made from?"
        low, high = self.wrong_share
        by = "" if self.judge == "you" else f" by {self.judge}"
        return (
            f"{made} {self.wrong} of {len(self.sample)} were called wrong{by}; of all {low:.1%} to {high:.1%} (Wilson)."
        )

    def judged_by(self, judge: str, objections: Mapping[int, str], cost_usd: float = 0.0) -> Evaluation:
        """The evaluation with a judgement of its sample. `objections`: why, by the number of each that is wrong.

        Raises InputError for a number that the sample does not have.
        """
        numbers = {merge.number for merge in self.sample}
        if unknown := sorted(set(objections) - numbers):
            raise InputError(f"--wrong names {unknown[-1]}; the sample has the numbers 1 to {len(numbers)}")
        return self.model_copy(
            update={
                "judge": judge,
                "cost_usd": round(self.cost_usd + cost_usd, 6),
                "sample": tuple(
                    merge.model_copy(update={"objection": objections.get(merge.number)}) for merge in self.sample
                ),
                "wrong": len(objections),
                "wrong_share": wilson(len(objections), len(numbers)) if numbers else None,
            }
        )


def read_questions(path: Path) -> list[Asked]:
    """The questions of a file: JSON lines with `question` and `answer`, and optionally `stale` or `absent`.

    Raises InputError for a file that cannot be read or is empty, and for a line that is no question, with its number.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"'{path}' is no file; name a file of questions")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}' cannot be read: {error}") from error
    asked = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = Asked.model_validate_json(line, extra="ignore")
        except ValidationError as error:
            raise InputError(
                f"line {number} of '{path}' is no question; write one as "
                '{"question": "which port has the gateway", "answer": "5433"}'
            ) from error
        if not question.absent and not any(len(words.strip()) >= _LEAST_ANSWER for words in question.answer):
            raise InputError(f'line {number} of \'{path}\' has no answer; add "answer", or "absent": true')
        asked.append(question)
    if not asked:
        raise InputError(f"'{path}' holds no question")
    return asked


def make_questions(notes: Sequence[Memory], most: int) -> list[Asked]:
    """Questions without a model: a value that one note alone has, asked for by the rarest other words of its note.

    Which notes are asked for follows from their ids, so that the questions are the same before and after a night.
    Readings are not asked for: nobody asks for one of hundreds of lines by its other figures.
    """
    usable = draw_usable(notes)
    texts = {note.id: embedding_text(note.content) for note in usable}
    frequencies = word_frequencies(texts.values())
    values = {note_id: _find_values(text) for note_id, text in texts.items()}
    folded = [_fold(text) for text in texts.values()]
    asked: list[Asked] = []
    for note_id, text in texts.items():
        if len(asked) == most:
            break
        for value in sorted(values[note_id], key=lambda value: (-len(value), value)):
            if len(value) <= _LEAST_ANSWER or sum(_fold(value) in other for other in folded) != 1:
                continue
            question = question_for(text.replace(value, " "), frequencies)
            if question is not None and _fold(value) not in _fold(question):
                asked.append(Asked(question=question, answer=(value,)))
                break
    return asked


def draw_usable(notes: Sequence[Memory]) -> list[Memory]:
    """The notes that may be asked about, in an order that follows from their ids: no readings of machinery, and none
    that tries to steer its reader."""
    shapes = Counter(line_shape(note.content) for note in notes)
    usable = (
        note for note in notes if shapes[line_shape(note.content)] < LEAST_READINGS and attempt_in(note.content) is None
    )
    return sorted(usable, key=lambda note: hashlib.sha256(note.id.encode()).digest())


def _find_values(text: str) -> dict[str, str]:
    """The values in a text, each with its kind."""
    return {fact.text.strip("`*"): fact.kind for fact in find_facts(text) if fact.kind not in _NO_VALUES}


def _as_it_is_now(asked: Asked, replaced: Iterable[tuple[Mapping[str, str], Mapping[str, str]]]) -> Asked:
    """The question; if its answer was replaced, with the value that holds now. `replaced`: the values of each memory
    that a newer one supersedes, and of this one."""
    (value,) = asked.answer
    for old, new in replaced:
        now = [other for other, kind in new.items() if kind == old.get(value) and other not in old]
        if now and value not in new:
            return Asked(question=asked.question, answer=tuple(now), stale=value)
    return asked


def evaluate(
    store: Store,
    settings: Settings,
    project: str,
    questions: Sequence[Asked] | None = None,
    *,
    made_by: str = "values",
    most: int = 50,
    sample: int = 20,
    wrong: Sequence[int] | None = None,
    progress: Callable[[str, int, int], None] = lambda step, done, total: None,
) -> Evaluation:
    """Ask a copy of the store; the store itself keeps every byte, and no use is counted.

    `most`: questions that are made if none are given; `sample`: memories to judge; `wrong`: the numbers of those that
    somebody called wrong. Raises InputError if there is nothing to ask about, or for a number that the sample lacks.
    """
    embedder = choose_embedder(settings)
    with store.thrown_away() as copy:
        with copy.reading() as tx:
            memories = tx.memories.all(project)
            ids, vectors = tx.vectors.read([memory.id for memory in memories], embedder.name, embedder.dimension)
            links = tx.lineage.of([memory.id for memory in memories])
            newer = {link.source_id: link.memory_id for link in links if link.relation in ("superseded", "replaced")}
            newer |= superseded_among(tx, project, memories, tx.recallable.copies(project))
        sources: dict[str, list[str]] = defaultdict(list)
        for link in links:
            sources[link.memory_id].append(link.source_id)
        notes = _select_raw(memories)
        by_id = {memory.id: memory.content for memory in memories}
        if questions is None:
            pairs = [(by_id[old], by_id[_last(old, newer)]) for old in newer if old in by_id]
            replaced = [(_find_values(embedding_text(old)), _find_values(embedding_text(new))) for old, new in pairs]
            questions = [_as_it_is_now(question, replaced) for question in make_questions(notes, most)]
        asked = list(questions)
        if not asked:
            raise InputError(f"nothing in project '{project}' can be asked about; give questions with --questions FILE")
        known = dict(zip(ids, vectors, strict=True))
        with ProjectMemory(copy, settings, project, actor="evaluation", embedder=embedder) as now:
            ways = _Ways(now, notes, known, settings, embedder)
            counts: dict[str, Counter[int]] = defaultdict(Counter)
            with_answer = [question for question in asked if not question.absent]
            missed: list[str] = []
            for number, question in enumerate(with_answer, start=1):
                for method, budget, text in ways.read(question.question):
                    has_answer = holds(text, question.answer)
                    counts[method][budget] += has_answer
                    if not has_answer and (method, budget) == (CONTEXT, BUDGETS[-1]):
                        missed.append(question.question)
                progress("questions", number, len(with_answer))
            changed = [question for question in with_answer if question.stale]
            newest = sum(_newest_first([_read_result(r) for r in now.search(q.question).results], q) for q in changed)
            absent = [question for question in asked if question.absent]
            answers = [now.search(question.question) for question in absent]
            nothing = sum(answer.nothing_near or not answer.results for answer in answers)
    everything = "\n".join(with_subject(note) for note in notes)
    active = [memory for memory in memories if memory.archived_at is None]
    at_night = (memory for memory in active if memory.source.connector == MADE and memory.source.file != SERIES)
    made = [memory for memory in at_night if len(sources[memory.id]) > 1]  # a series joins no statements, only figures
    evaluation = Evaluation(
        project=project,
        made_by=made_by,
        questions=len(with_answer),
        rows=tuple(
            Answered(method=method, answered={budget: counts[method][budget] for budget in BUDGETS})
            for method in (CONTEXT, NOW, BEFORE, WORDS, GREP, TAIL)
        ),
        missed=tuple(missed),
        all_notes=sum(holds(everything, question.answer) for question in with_answer),
        tokens_of_notes=sum(memory.token_count for memory in notes),
        tokens_now=sum(memory.token_count for memory in active),
        changed=len(changed),
        newest_first=newest,
        absent=len(absent),
        absent_said=nothing,
        made=len(made),
        sample=_draw_sample(made, sources, by_id, sample, project),
        wrong=None,
        wrong_share=None,
    )
    return evaluation if wrong is None else evaluation.judged_by("you", dict.fromkeys(wrong, ""))


def raw_notes(store: Store, project: str) -> list[Memory]:
    """The notes of a project as they were read, those that nights have archived among them."""
    with store.reading() as tx:
        return _select_raw(tx.memories.all(project))


def _select_raw(memories: Iterable[Memory]) -> list[Memory]:
    return [
        replace(memory, archived_at=None) for memory in memories if memory.source.connector not in (MADE, EXTRACTED)
    ]


def _last(memory_id: str, newer: Mapping[str, str]) -> str:
    """The memory at the end of those that superseded each other."""
    seen = {memory_id}
    while (following := newer.get(memory_id, memory_id)) not in seen:
        seen.add(memory_id := following)
    return memory_id


def wilson(count: int, among: int) -> tuple[float, float]:
    """The interval that holds a share with 95% confidence, from so many found among so many (Wilson 1927)."""
    share, spread = count / among, _Z**2 / among
    middle = share + spread / 2
    reach = _Z * math.sqrt(share * (1 - share) / among + spread / (4 * among))
    low, high = (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)
    return round(max(low, 0.0), 4), round(min(high, 1.0), 4)


class _Ways:
    """The ways in which an agent may look for an answer."""

    def __init__(
        self,
        now: ProjectMemory,
        notes: Sequence[Memory],
        vectors: Mapping[str, np.ndarray],
        settings: Settings,
        embedder: Embedder,
    ) -> None:
        self._now, self._embedder, self._count = now, embedder, embedder.count_tokens
        own = {note.id: vectors[note.id] for note in notes if note.id in vectors}
        self._index = SearchIndex(notes, own, embedder.embed, language=settings.recall.language)
        newest = sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)
        self._newest = [with_subject(note) for note in newest]
        self._folded = [_fold(text) for text in self._newest]

    def read(self, question: str) -> Iterator[tuple[str, int, str]]:
        """The texts that an agent reads for a question: the method, the budget, and the text."""
        lists = {
            NOW: [_read_result(result) for result in self._now.search(question, MOST_RESULTS).results],
            BEFORE: [with_subject(hit.memory) for hit in self._index.search(question, MOST_RESULTS)],
            WORDS: [with_subject(hit.memory) for hit in self._index.search(question, MOST_RESULTS, mode="bm25")],
            GREP: self._grep(question),
            TAIL: self._newest[:MOST_RESULTS],
        }
        for budget in BUDGETS:
            yield CONTEXT, budget, self._now.context(question, budget).text
            for method, texts in lists.items():
                yield method, budget, self._fit(texts, budget)

    def _grep(self, question: str) -> list[str]:
        """The notes with the most words of a question, the newest first among equals."""
        words = set(_fold(question).rstrip("?").split())
        shared = [sum(word in text for word in words) for text in self._folded]
        rows = sorted(range(len(shared)), key=lambda row: (-shared[row], row))
        return [self._newest[row] for row in rows[:MOST_RESULTS] if shared[row]]

    def _fit(self, texts: Sequence[str], budget: int) -> str:
        taken = []
        for text in texts:
            budget -= self._count(text)
            if budget < 0:
                break
            taken.append(text)
        return "\n".join(taken)


def _read_result(result: RecalledMemory) -> str:
    """The text of a result: the words of the memory, and those of the archived one through which it was found."""
    through = result.found_through
    return f"{result.words_in_place}\n{through.content}" if through else result.words_in_place


def _fold(text: str) -> str:
    """Without case, white space and the marks of Markdown, which a context leaves out."""
    return " ".join(text.casefold().translate(_MARKS).split())


def holds(text: str, answers: Sequence[str]) -> bool:
    """True if a line of a text has the words of an answer, in any order: `25, 19 and 22 minutes` has `19 minutes`."""
    folded = _fold(text)
    if any(_fold(answer) in folded for answer in answers):
        return True
    lines = [_words(line) for line in text.splitlines()]
    return any(_words(answer) <= line for answer in answers for line in lines)


def _words(text: str) -> set[str]:
    return {word.strip(_EDGES) for word in _fold(text).split()}


def _newest_first(texts: Sequence[str], asked: Asked) -> bool:
    """True if a text with the newest answer stands before every one with the stale answer alone."""
    for text in texts:
        if holds(text, asked.answer):
            return True
        if holds(text, (asked.stale,)):
            return False
    return False


def _draw_sample(
    made: Sequence[Memory], sources: Mapping[str, Sequence[str]], contents: Mapping[str, str], most: int, project: str
) -> tuple[Merge, ...]:
    drawn = sorted(made, key=lambda memory: hashlib.sha256(f"{project}\0{memory.id}".encode()).digest())[:most]
    return tuple(
        Merge(
            number=number,
            id=memory.id,
            content=memory.content,
            sources=tuple(clipped(contents[source], 300) for source in sources[memory.id] if source in contents),
        )
        for number, memory in enumerate(drawn, start=1)
    )
