"""Hybrid search over one project: BM25 and vectors, their scores normalised and summed.

Archived memories stay searchable at half weight, below the abstraction that replaced them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.errors import InputError
from memory_pipeline.records import Memory
from memory_pipeline.wording.facts import content_words, stem
from memory_pipeline.wording.normalise import embedding_text
from memory_pipeline.wording.sentences import join_statements, split_statements

#: Dense hits below this cosine are noise.
MIN_RELEVANCE = 0.3
_DEPTH = 100
#: What the lowest possible of normalised scores keeps above nothing.
_LEAST = 1e-3
#: What replaced an archived memory stands at least this little above it.
_JUST_ABOVE = 1 + 1e-9
_QUERY_WORDS = 64
_WORD = re.compile(r"\w+", re.UNICODE)
#: Bytes of memory that an index in the making may take, and tantivy takes as it needs them: with less it is made in
#: parts, which costs three times the time.
_LEAST_ROOM, _MOST_ROOM, _ROOM_OF_A_CHARACTER = 15_000_000, 128_000_000, 16

Mode = Literal["hybrid", "dense", "bm25"]
#: Rows and their scores.
_Scores = tuple[NDArray[np.int64], NDArray[np.float64]]
_NOTHING: _Scores = (np.array([], dtype=np.int64), np.array([], dtype=np.float64))


class Searchable(Protocol):
    """What an index has to know of a memory."""

    @property
    def id(self) -> str: ...
    @property
    def project_id(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def archived_at(self) -> datetime | None: ...
    @property
    def consolidated_into_id(self) -> str | None: ...


_Searchable = TypeVar("_Searchable", bound=Searchable)


@dataclass(frozen=True, slots=True)
class Hit(Generic[_Searchable]):
    """One memory found, with its fused score, and the newer memory that supersedes it."""

    memory: _Searchable
    score: float
    superseded_by: str | None = None


class SearchIndex(Generic[_Searchable]):
    """The memories of one project, indexed for search. A memory without a vector is found by its words."""

    def __init__(
        self,
        memories: Sequence[_Searchable],
        vectors: dict[str, NDArray[np.float32]],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        archived_weight: float = 0.5,
        superseded: Mapping[str, str] | None = None,
    ) -> None:
        """`vectors`: unit length, by memory id. `embed` turns queries into unit vectors. `superseded`: by memory, the
        newer one that supersedes it; it has the weight of an archived one.

        Raises InputError if the memories belong to more than one project: no query crosses projects.
        """
        projects = {memory.project_id for memory in memories}
        if len(projects) > 1:
            raise InputError(
                f"a search index holds one project, not {len(projects)}: {', '.join(sorted(projects)[:3])}"
            )
        self._memories = list(memories)
        self._embed = embed
        self._superseded = superseded or {}
        self._weights = np.array(
            [archived_weight if m.archived_at or m.id in self._superseded else 1.0 for m in self._memories]
        )
        self._replaced, self._replacing = _replacements(self._memories)
        dense = [row for row, m in enumerate(self._memories) if m.id in vectors]
        self._dense_rows = np.array(dense, dtype=np.int64)
        self._matrix = np.stack([vectors[self._memories[row].id] for row in dense]) if dense else None
        self._words = _word_index([memory.content for memory in self._memories])

    def search(
        self,
        query: str,
        limit: int = 10,
        mode: Mode = "hybrid",
        query_vector: NDArray[np.float32] | None = None,
    ) -> list[Hit[_Searchable]]:
        """The best memories for a query, best first; ties by id.

        `query_vector`: the query's unit vector, if already known. Raises InputError for a query of fewer than 3
        characters or a limit outside 1-100.
        """
        if len(query.strip()) < 3:
            raise InputError(f"the query '{query}' is too short; use at least 3 characters")
        if not 1 <= limit <= 100:
            raise InputError(f"the limit is {limit}; use 1 to 100")
        fused = np.zeros(len(self._memories))
        if mode != "dense":
            rows, scores = self._by_words(query)
            fused[rows] += _normalised(scores, 0.0)
        if mode != "bm25":
            rows, scores = self._by_vector(query, query_vector)
            fused[rows] += _normalised(scores, MIN_RELEVANCE)
        fused *= self._weights
        if len(self._replaced):
            np.maximum.at(fused, self._replacing, fused[self._replaced] * _JUST_ABOVE)
        found = sorted(np.flatnonzero(fused), key=lambda row: (-fused[row], self._memories[row].id))
        chosen = [(self._memories[row], float(fused[row])) for row in found[:limit]]
        return [Hit(memory, score, self._superseded.get(memory.id)) for memory, score in chosen]

    def _by_vector(self, query: str, known: NDArray[np.float32] | None) -> _Scores:
        if self._matrix is None:
            return _NOTHING
        vector = known if known is not None else self._embed([embedding_text(query)])[0]
        scores = self._matrix @ vector
        floor = np.partition(scores, -_DEPTH)[-_DEPTH] if len(scores) > _DEPTH else -np.inf
        near = np.flatnonzero((scores >= floor) & (scores >= MIN_RELEVANCE))
        return self._dense_rows[near], scores[near].astype(np.float64)

    def _by_words(self, query: str) -> _Scores:
        words = list(dict.fromkeys(_WORD.findall(query.casefold())))[:_QUERY_WORDS]
        if not words or not self._memories:
            return _NOTHING
        index, schema = self._words
        searcher = index.searcher()
        hits = searcher.search(_any_of(words, schema), _DEPTH).hits
        rows = [int(searcher.doc(address)["row"][0]) for _, address in hits]
        return np.array(rows, dtype=np.int64), np.array([score for score, _ in hits], dtype=np.float64)


def _normalised(scores: NDArray[np.float64], lowest: float) -> NDArray[np.float64]:
    """Scores of one kind from just above 0, for the lowest possible, to 1, for the best found."""
    best = float(scores.max(initial=lowest))
    return (scores - lowest + _LEAST) / (best - lowest + _LEAST)


def fit_budget(
    hits: Sequence[Hit[Memory]], budget: int, question: str, count_tokens: Callable[[str], int]
) -> list[Memory]:
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
        elif not chosen and (part := _part(memory, left, question, count_tokens)):
            chosen.append(part)
            taken.add(memory.id)
            left -= part.token_count
    return chosen


def _part(memory: Memory, most: int, question: str, count_tokens: Callable[[str], int]) -> Memory | None:
    """A memory with those of its statements that share most words with a question, the first ones of several, as many
    as fit; None if not one does."""
    asked = {stem(word) for word in content_words(question)}
    statements = split_statements(memory.content)
    shared = [len(asked & {stem(word) for word in content_words(text)}) for text in statements]
    kept: list[int] = []
    for n in sorted(range(len(statements)), key=lambda n: (-shared[n], n)):
        if count_tokens(join_statements([statements[i] for i in sorted([*kept, n])])) <= most:
            kept.append(n)
    text = join_statements([statements[n] for n in sorted(kept)])
    return replace(memory, content=text, token_count=count_tokens(text)) if text else None


def _replacements(memories: Sequence[Searchable]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of archived memories, and those of the active ones at the end of their chains of replacements."""
    row_of = {memory.id: row for row, memory in enumerate(memories)}
    into = {memory.id: memory.consolidated_into_id for memory in memories if memory.archived_at}
    ends = {memory_id: memory_id for memory_id in row_of.keys() - into.keys()}
    for memory_id in into:
        chain = [memory_id]
        while chain[-1] not in ends and (following := into.get(chain[-1])) and following not in chain:
            chain.append(following)
        ends |= dict.fromkeys(chain, ends.get(chain[-1], ""))
    found = [(row_of[i], row_of[ends[i]]) for i in into if ends[i]]
    return np.array([a for a, _ in found], dtype=np.int64), np.array([b for _, b in found], dtype=np.int64)


def _word_index(texts: Sequence[str]) -> tuple[Any, Any]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="default")
    builder.add_integer_field("row", stored=True, indexed=False)
    schema = builder.build()
    index = tantivy.Index(schema)
    room = sum(map(len, texts)) * _ROOM_OF_A_CHARACTER
    writer = index.writer(min(max(room, _LEAST_ROOM), _MOST_ROOM), 1)
    for row, text in enumerate(texts):
        writer.add_document(tantivy.Document(body=text.casefold(), row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index, schema


def _any_of(words: Sequence[str], schema: Any) -> Any:
    import tantivy

    terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", word)) for word in words]
    return tantivy.Query.boolean_query(terms)
