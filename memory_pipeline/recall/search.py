"""Hybrid search: how every search ranks, and one over memories that are given, in memory, which the recall check, past
states and measurements use."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.errors import InputError
from memory_pipeline.recall.catalogue import Beside, Catalogue
from memory_pipeline.recall.documents import MOST_RESULTS, SHORTEST_QUERY, Explanation, Filters, Mode
from memory_pipeline.recall.neighbours import Headings, Matrix, Rows
from memory_pipeline.recall.ranking import DEPTH, Floats, NamedTime, Parts, newest_first, rank, worth_showing
from memory_pipeline.recall.words import NOTHING, WordIndex, query_terms, terms_of
from memory_pipeline.records import Memory, with_asked
from memory_pipeline.store import memory_table
from memory_pipeline.text.facts import content_words, find_facts
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.sentences import join_statements, split_statements
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.superseding import Opponent
from memory_pipeline.text.values import lacks_name, other_values

_MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = re.compile(
    rf"\b(?:in|during|of|since|from|until|last|this)\s+({'|'.join(_MONTHS)})(?:,?\s+(\d{{4}}))?\b"
    rf"|\b({'|'.join(_MONTHS)}),?\s+(\d{{4}})\b|(?<!\d)(\d{{4}})-(0[1-9]|1[0-2])(?![\d-])",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4}|-{4})-(\d{2})-(\d{2})")
#: Words of a question about how things are now.
_NOW = re.compile(r"\b(?:now|nowadays|current(?:ly)?|latest|newest|at the moment|these days|today)\b", re.IGNORECASE)
#: Days after which a memory counts half as new.
_HALF_AS_NEW = 14.0
#: Rows of one named time that are looked at.
_MOST = 5_000
#: Rows that words propose when a filter leaves out most of what they find.
_DEPTH_WITH_FILTER = 20_000
_ALL = Filters()

Days = NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class Match:
    """A memory that was found, with its score, and the newer memory that supersedes it.

    What a project's index knows besides: the number of its direct sources, the memories that contradict it, the latest
    first, without earlier ones, and the archived memory by whose words it was found, if it does not say them itself.
    `why`: why it stands there, if that was asked for; `scope`: where a person said that it applies; `told_again`: the
    day of its last copy, if that is later; `until`: the day of the memory that supersedes it; `gone`: whether its words
    were removed from its file; `newer`: whether it stands before a better one because it is the later word on one
    thing.
    """

    memory: Memory
    score: float
    superseded_by: str | None = None
    source_count: int = 0
    opponents: tuple[Opponent, ...] = ()
    found_through: Memory | None = None
    why: Explanation | None = None
    scope: str = ""
    told_again: date | None = None
    until: date | None = None
    gone: bool = False
    newer: bool = False


class SearchIndex:
    """The memories of one project, indexed for search. A memory without a vector is found by its words."""

    def __init__(
        self,
        memories: Sequence[Memory] | pa.Table,
        vectors: Mapping[str, NDArray[np.float32]],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        superseded: Mapping[str, str] | None = None,
        language: str = "english",
        copies: Collection[str] = (),
    ) -> None:
        """`memories`: of a table as the store has it, the content alone is searched, without the subject. `vectors`:
        unit length, by memory id. `embed` turns queries into unit vectors. `superseded`: by memory, the newer one that
        supersedes it; it has the weight of an archived one. `language`: the setting `recall.language`; `copies`:
        memories that were archived into one that said the same before. Their uses do not count.

        Raises InputError if the memories belong to more than one project: no query crosses projects.
        """
        if isinstance(memories, pa.Table):
            table, texts = memories, memories["content"].to_pylist()
        else:
            table, texts = memory_table(memories), [*map(indexed_text, memories)]
        projects = set(table["project_id"].to_pylist())
        if len(projects) > 1:
            raise InputError(
                f"a search index holds one project, not {len(projects)}: {', '.join(sorted(projects)[:3])}"
            )
        self._embed, self._headings = embed, Headings(embed)
        self._superseded = superseded or {}
        self._catalogue = Catalogue.of(
            table["id"].to_pylist(), table, Beside(self._superseded, {}, {}, copies=frozenset(copies)), uses_count=False
        )
        ids = self._catalogue.ids
        dimension = next((len(vectors[memory_id]) for memory_id in ids if memory_id in vectors), 0)
        nothing = np.zeros(dimension, dtype=np.float32)
        self._matrix = Matrix(np.stack([vectors.get(memory_id, nothing) for memory_id in ids])) if dimension else None
        self._words = WordIndex(language)
        self._words.add(0, texts)

    def search(
        self,
        query: str,
        limit: int | None = 10,
        mode: Mode = "hybrid",
        query_vector: NDArray[np.float32] | None = None,
        *,
        few: bool = False,
        filters: Filters = _ALL,
        sources_too: bool = True,
    ) -> list[Match]:
        """The best memories for a query, best first; of equal ones the newest, then by id. Without a limit, all that
        match.

        `query_vector`: the query's unit vector, if already known; `few`: only those worth showing; `filters`: what is
        considered; `sources_too`: also archived ones that others stand for. Raises InputError for a query of fewer than
        3 characters or a limit outside 1-100.
        """
        if len(query.strip()) < SHORTEST_QUERY:
            raise InputError(f"the query '{query}' is too short; use at least {SHORTEST_QUERY} characters")
        if limit is not None and not 1 <= limit <= MOST_RESULTS:
            raise InputError(f"the limit is {limit}; use 1 to {MOST_RESULTS}")
        vector = None
        if mode != "bm25" and self._matrix is not None:
            vector = query_vector if query_vector is not None else self._embed([embedding_text(query)])[0]
        ranking = ranked(
            query, mode, vector, self._words, self._matrix, self._headings, self._catalogue,
            few=few, filters=filters, sources_too=sources_too,
        )  # fmt: skip
        chosen = self._catalogue.memories(ranking.rows[:limit].tolist())
        return [
            Match(memory, score, self._superseded.get(memory.id), newer=is_newer)
            for memory, score, is_newer in zip(
                chosen, ranking.scores[:limit].tolist(), ranking.lifted(len(chosen)), strict=True
            )
        ]


class Ranked(NamedTuple):
    """The rows that a search finds, best first, each with its score.

    `by_score`: the same before later ones were lifted; `gone`: archived rows that were left out because others stand
    for them, best first; `parts`: what the scores are made of.
    """

    rows: Rows
    scores: Floats
    by_score: Rows
    gone: Rows
    parts: Parts

    def lifted(self, most: int) -> list[bool]:
        """For each of the first rows, True if it stands before one that has a better score."""
        place = {row: number for number, row in enumerate(self.by_score.tolist())}
        places = np.array([place[row] for row in self.rows.tolist()], dtype=np.int64)
        best_from_here = np.minimum.accumulate(places[::-1])[::-1]
        return [bool(is_lifted) for is_lifted in (places > best_from_here)[:most]]


def ranked(
    query: str,
    mode: Mode,
    vector: NDArray[np.float32] | None,
    words: WordIndex,
    matrix: Matrix | None,
    headings: Headings,
    catalogue: Catalogue,
    *,
    few: bool,
    filters: Filters = _ALL,
    sources_too: bool = True,
) -> Ranked:
    """The rows that a search finds, as every search ranks them.

    `vector`: the query's unit vector, None if words alone decide; `few`: only those worth showing; `sources_too`: also
    archived ones that others stand for.
    """
    admitted, columns = catalogue.admitted(filters), catalogue.columns
    depth = _DEPTH_WITH_FILTER if filters.narrows else DEPTH
    with_words, word_scores = words.search(query, depth) if mode != "dense" else NOTHING
    known = with_words < len(admitted)  # a killed process may have left rows behind the last one
    known[known] = admitted[with_words[known]]
    by_words = with_words[known], word_scores[known]
    near, cosines = NOTHING[0], None
    if vector is not None and matrix is not None and len(matrix):
        near = matrix.nearest(vector, DEPTH, admitted)
        near = near[admitted[near]]

        def cosines(some: Rows) -> Floats:
            return headings.cosines(matrix, some, vector, columns.titles[some].tolist())

    is_dated = ~columns.is_undated
    times, newness = (
        named_times(query, columns.days, columns.was_noted & is_dated),
        newness_for(query, columns.days, is_dated),
    )
    rows, scores, parts = rank(by_words, cosines, near, catalogue, times, newness)
    if not len(rows) and filters.narrows and vector is not None:
        # Who asks for a day or a type wants what there is, even if it has little to do with the words.
        everything = np.flatnonzero(admitted)
        everything = everything[np.argsort(catalogue.last_told[everything], kind="stable")[-DEPTH:]]
        rows, scores, parts = rank(by_words, cosines, everything, catalogue, times, newness, least=-1.0)
    keep, gone = admitted[rows], rows[:0]
    if not sources_too:
        ends = catalogue.stands_for_it[rows]
        is_gone = (ends >= 0) & (ends != rows) & admitted[ends]  # an admitted one stands for it
        keep, gone = keep & ~is_gone, rows[admitted[rows] & is_gone]
    rows, scores = rows[keep], scores[keep]
    if few:
        is_worth_it = worth_showing(scores)
        rows, scores = rows[is_worth_it], scores[is_worth_it]
    by_score = rows
    if not any(time.is_day for time in times):
        terms = partial(terms_of, language=words.language)
        asked = query_terms(query, words.language)

        def compared(some: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
            texts = catalogue.contents(some)
            return other_values(asked, texts, terms), lacks_name(asked, texts, terms)

        rows = newest_first(rows, scores, matrix, catalogue, compared, times)
        own = dict(zip(by_score.tolist(), scores.tolist(), strict=True))
        scores = np.array([own[row] for row in rows.tolist()])
    return Ranked(rows, scores, by_score, gone, parts)


def indexed_text(memory: Memory) -> str:
    """The words by which a memory is found, with what they hang on and the questions that they answer: a question names
    a heading as often as what stands below it."""
    return with_asked(with_subject(memory), memory.tags)


def fit_budget(hits: Sequence[Match], budget: int, question: str, count_tokens: Callable[[str], int]) -> list[Memory]:
    """The best memories that fit into a token budget, never both an abstraction and a source archived into it.

    Of a best one that is longer than the whole budget, the statements nearest to the question are given.
    """
    chosen: list[Memory] = []
    taken: set[str] = set()
    left = budget
    for hit in hits:
        memory = hit.memory
        if memory.consolidated_into_id in taken or memory.id in {m.consolidated_into_id for m in chosen}:
            continue
        if memory.token_count <= left:
            chosen.append(memory)
            taken.add(memory.id)
            left -= memory.token_count
        elif not chosen and (text := part_of(memory.content, left, question, count_tokens)):
            chosen.append(replace(memory, content=text, token_count=count_tokens(text)))
            taken.add(memory.id)
            left -= chosen[-1].token_count
    return chosen


def part_of(
    content: str, most: int, question: str, count_tokens: Callable[[str], int], *, needs_best: bool = False
) -> str:
    """Those statements of a text that share most words with a question, the first ones of several, as many as fit into
    `most` tokens; empty if not one does, and with `needs_best` if the best of them does not."""
    asked = set(content_words(question))
    statements = split_statements(content)
    shared = [len(asked & set(content_words(text))) for text in statements]
    chosen: list[int] = []
    for n in sorted(range(len(statements)), key=lambda n: (-shared[n], n)):
        if count_tokens(join_statements([statements[i] for i in sorted([*chosen, n])])) <= most:
            chosen.append(n)
        elif needs_best and not chosen:
            break
    return join_statements([statements[n] for n in sorted(chosen)])


def named_times(query: str, days: Days, is_of_its_day: NDArray[np.bool_]) -> tuple[NamedTime, ...]:
    """The rows that refer to days and months that a query names. `days`: datetime64[D], the day of each row.

    `is_of_its_day`: whether a row has a day of its own. The day of a memory that a night made is only that of its
    newest source, and it is found through those of its sources that are of the day; of an undated one nobody knows it.
    """
    times: list[NamedTime] = []
    for fact in find_facts(query):
        named = _DATE.fullmatch(fact.value) if fact.kind == "date" else None
        if named:
            year = None if named[1].startswith("-") else int(named[1])
            times.append(NamedTime(_find_rows(days, year, int(named[2]), int(named[3])), is_day=True))
    if not times:
        for month in _MONTH.finditer(query):
            name, in_year = month[1] or month[3], month[2] or month[4] or month[5]
            number = _MONTHS[name.casefold()] if name else int(month[6])
            times.append(NamedTime(_find_rows(days, int(in_year) if in_year else None, number, None), is_day=False))
    noted = (NamedTime(time.rows[is_of_its_day[time.rows]], time.is_day) for time in times)
    return tuple(time for time in noted if len(time.rows))


def newness_for(query: str, days: Days, is_dated: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The newness of each row, from 1 for the newest day to 0 for what nobody knows the day of, if a query asks how
    things are now; else None."""
    if not is_dated.any() or not _NOW.search(query):
        return None
    age = (days[is_dated].max() - days).astype("timedelta64[D]").astype(np.float64)
    newness: NDArray[np.float64] = np.where(is_dated, 0.5 ** (age.clip(0.0) / _HALF_AS_NEW), 0.0)
    return newness


def _find_rows(days: Days, year: int | None, month: int, day: int | None) -> NDArray[np.int64]:
    months = days.astype("datetime64[M]").astype(np.int64)
    matches = months % 12 == month - 1
    if year is not None:
        matches &= months // 12 == year - 1970
    if day is not None:
        matches &= (days - days.astype("datetime64[M]")).astype(np.int64) == day - 1
    return np.flatnonzero(matches)[-_MOST:]
