"""The index of one project: its memories, ready to be searched, brought up to date when the store has changed.

A search looks at the store's files alone; it opens the store only if they have changed, and answers from what it has
if another process holds the store.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import portalocker
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError, StoreBusyError, StoreError
from memory_pipeline.models.embedders import Embedder, check_model
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.catalogue import Beside, Catalogue
from memory_pipeline.recall.disk import IndexFiles, Opened
from memory_pipeline.recall.documents import Explanation, Filters, Mode
from memory_pipeline.recall.lineage import find_through
from memory_pipeline.recall.neighbours import Headings, Matrix, nearest_of, nearest_unrelated, room_for
from memory_pipeline.recall.ranking import Parts
from memory_pipeline.recall.search import Match, indexed_text, ranked
from memory_pipeline.recall.words import DamagedIndexError, query_terms, terms_of
from memory_pipeline.records.identifiers import Handles
from memory_pipeline.store import Generation, Store, Transaction, memory_of
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.superseding import opponents_of, superseded_ids

_log = logging.getLogger(__name__)
#: How long a search waits for a store, or for index files, that another process holds: with a state to answer from,
#: and without one.
_A_MOMENT_S, _AT_FIRST_S = 0.15, 120.0
_QUERIES_KEPT = 256
#: Of how many of the best memories it is asked how well they answer at all; cosines of texts that have nothing to do
#: with each other, and of a question and its answer (the default model's, on the demo and a real workspace).
_LOOKED_AT, _FAR, _NEAR, _LEAST_STRENGTH = 5, 0.2, 0.6, 0.05
#: A memory of this score has half of the words of a query, or the cosine between far and near.
_SURELY_NEAR = 0.5
#: After reading so many memories, the memory that reading took is given back; so many are made of rows at once.
_MANY, _AT_ONCE = 10_000, 1_000


@dataclass(frozen=True, slots=True)
class _State:
    """One generation of the store. Never changed: a newer one takes its place."""

    stamp: tuple[int, ...]
    generation: Generation
    files: Opened
    catalogue: Catalogue
    matrix: Matrix
    of_another_model: Mapping[str, int]


class ProjectIndex:
    """The memories of one project. Safe to use from several threads."""

    def __init__(self, store: Store, settings: Settings, project: str, embedder: Embedder) -> None:
        self._store, self._settings, self._project, self._embedder = store, settings, project, embedder
        self._hurried = Store(store.path, busy_timeout_s=_A_MOMENT_S)
        self._files = self._make_files(store.path.parent / f"{store.path.stem}.index")
        self._state: _State | None = None
        self._refreshing = threading.Lock()
        self._must_see: int = 0
        self._embedded = lru_cache(_QUERIES_KEPT)(lambda query: embedder.embed([embedding_text(query)])[0])
        self._headings = Headings(embedder.embed)
        #: How many rows there were, and how near unrelated questions came to them.
        self._unrelated: tuple[int, float] | None = None
        #: The handles of the first rows, so many, of the files of this name.
        self._handles = ("", 0, Handles())

    def search(
        self,
        query: str,
        *,
        limit: int,
        filters: Filters,
        mode: Mode = "hybrid",
        sources_too: bool = False,
        explain: bool = False,
        all_that_match: bool = False,
    ) -> tuple[list[Match], int]:
        """The best memories for a query, best first, and how many of those that were considered match. `explain`: each
        says why it stands where it stands; `all_that_match`: also those that answer much worse than the best one, as
        a filtered search has them always: who asks for a day or a type wants what there is.

        Raises OtherModelError if many memories have vectors of another model alone, unless words alone decide. An
        archived memory is left out if the one that stands for it is in the ranking, unless `sources_too`. If the
        embedder fails, words alone decide.
        """
        vector = None if mode == "bm25" else self.vector_of(query)
        few = not (all_that_match or filters.narrows)
        rank = partial(ranked, query, mode, vector, few=few, filters=filters, sources_too=sources_too)
        state = self.fresh()
        if vector is not None:
            check_model(self._embedder.name, len(state.catalogue.ids), state.of_another_model)
        try:
            state.files.check_sizes()
            ranking = rank(state.files.words, state.matrix, self._headings, state.catalogue)
        except DamagedIndexError as error:
            _log.warning("the index of '%s' was damaged while it was open, and is made again: %s", self._project, error)
            with self._refreshing:
                self._state = None
                self._files.forget()
            state = self.fresh()
            ranking = rank(state.files.words, state.matrix, self._headings, state.catalogue)
        catalogue = state.catalogue
        rows, gone = ranking.rows, ranking.gone
        # What was put away is found through what stands for it, and answers as well as it did.
        looked_at = np.concatenate([rows[:_LOOKED_AT], gone[:_LOOKED_AT]])
        strength = self._strength(query, state, looked_at, ranking.parts.cosine)
        scores = ranking.scores * strength
        ends, shown = catalogue.stands_for_it[gone], rows[:limit].tolist()
        matches = _make_matches(catalogue, shown, scores[:limit].tolist())
        for place, (row, is_lifted) in enumerate(zip(shown, ranking.lifted(limit), strict=True)):
            behind = gone[ends == row].tolist()
            why = None
            if explain:
                why = self._explain(query, catalogue, row, behind[:1], ranking.parts, is_lifted, strength)
            language = self._settings.recall.language
            through = find_through(query, language, matches[place].memory, behind, catalogue.memories)
            matches[place] = replace(matches[place], newer=is_lifted, why=why, found_through=through)
        return matches, len(rows)

    def _explain(
        self,
        query: str,
        catalogue: Catalogue,
        row: int,
        behind: Sequence[int],
        parts: Parts,
        is_lifted: bool,
        strength: float,
    ) -> Explanation:
        """Why a memory stands where it stands. `behind`: the row of the best archived memory that was found and that
        it stands for, if there is one; its words and nearness are told where its score is told."""
        is_inherited = bool(behind and parts.inherited[row])
        scored_row = behind[0] if is_inherited else row
        (memory,) = catalogue.memories([scored_row])
        language = self._settings.recall.language
        own = set(terms_of(indexed_text(memory), language))
        return Explanation(
            **{
                name: round(float(getattr(parts, name)[scored_row]), 3)
                for name in ("words", "neighbours", "time", "newness")
            },
            weight=round(float(catalogue.weight[scored_row]), 3),
            shortness=round(float(catalogue.columns.shortness[scored_row]), 3),
            terms=tuple(dict.fromkeys(term for term in query_terms(query, language) if term in own)),
            cosine=round(float(parts.cosine[scored_row]), 4),
            inherited=is_inherited,
            lifted=is_lifted,
            strength=round(strength, 3),
        )

    def _strength(self, query: str, state: _State, rows: NDArray[np.int64], cosines: NDArray[np.float64]) -> float:
        """The measure, 0 to 1, of how well the best memories answer a query at all: by the share of its words that one
        has, or by its cosine. What is best among the irrelevant is not relevant. `cosines`: of all rows."""
        language = self._settings.recall.language
        asked = set(query_terms(query, language))
        strength = _LEAST_STRENGTH
        for memory in state.catalogue.memories(rows.tolist()) if asked else ():
            own = asked & set(terms_of(indexed_text(memory), language))
            strength = max(strength, len(own) / len(asked))
        nearest = float(cosines[rows].max(initial=0.0))
        return min(max(strength, (nearest - _FAR) / (_NEAR - _FAR)), 1.0)

    def is_nothing_near(self, query: str, matches: Sequence[Match]) -> bool:
        """True if nothing is nearer to a query than unrelated questions are to the memories of this store, and none of
        the matches has half of its words."""
        vector, state = self.vector_of(query), self.fresh()
        if vector is None or not len(state.matrix) or any(match.score >= _SURELY_NEAR for match in matches):
            return False
        count = len(state.matrix)
        known = self._unrelated
        if known is None or not 0.9 * count <= known[0] <= count:
            try:
                known = count, nearest_unrelated(state.matrix, self._embedder.embed)
            except EmbeddingError as error:
                _log.warning("how near unrelated questions come is not known: %s", error)
                return False
            self._unrelated = known
        return nearest_of(state.matrix, vector) <= known[1]

    def find(self, memory_ids: Sequence[str]) -> list[Match]:
        """The memories of the project with these ids, in their order; unknown ids are left out."""
        catalogue = self.fresh().catalogue
        rows = [catalogue.row_of[memory_id] for memory_id in memory_ids if memory_id in catalogue.row_of]
        rows = [row for row in rows if row < len(catalogue.ids)]
        return _make_matches(catalogue, rows, [0.0] * len(rows))

    def handles(self) -> Handles:
        """The handles of all memories of the project."""
        state = self.fresh()
        (name, count, known), ids = self._handles, state.catalogue.ids
        if name != state.files.manifest["name"]:  # the rows may be others
            name, count, known = state.files.manifest["name"], 0, Handles()
        if count < len(ids):
            known = known.with_further(ids[count:])
            self._handles = name, len(ids), known
        return known

    def must_see(self, sequence: int) -> None:
        """From now on, answer only from a state of the store with this entry of its log, however long that takes."""
        self._must_see = max(self._must_see, sequence)

    def fresh(self) -> _State:
        """The state of the store now, or the newest known one while another process holds the store."""
        state = self._state
        stamp = self._store.stamp() if self._store.exists() else ()
        if state is not None and state.stamp == stamp:
            return state
        with self._refreshing:
            state = self._state
            if state is not None and state.stamp == stamp:
                return state
            try:
                self._state = self._refresh(state)
            except StoreBusyError:
                if self._must_wait(state):
                    raise
            assert self._state is not None
            return self._state

    def _must_wait(self, state: _State | None) -> bool:
        """True if a state is not good enough to answer from."""
        return state is None or state.generation.sequence < self._must_see

    def _refresh(self, state: _State | None) -> _State:
        try:
            return self._hold_and_update(state)
        except (OSError, ValueError) as error:
            _log.warning("the index of '%s' is made again: %s", self._project, error)
        try:
            self._files.forget()
            return self._hold_and_update(None)
        except (OSError, ValueError) as error:
            _log.warning("the index of '%s' is kept in a temporary directory: %s", self._project, error)
            directory = tempfile.mkdtemp(prefix="memory-pipeline-index-")
            weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
            self._files = self._make_files(Path(directory))
        try:
            return self._hold_and_update(None)
        except (OSError, ValueError) as error:
            raise StoreError(
                f"no index of '{self._project}' can be written, neither beside the store nor in '{directory}': "
                f"{error}; free some space, or name a directory with enough of it in the environment variable TMPDIR"
            ) from error

    def _hold_and_update(self, state: _State | None) -> _State:
        try:
            with self._files.locked(_AT_FIRST_S if self._must_wait(state) else _A_MOMENT_S):
                return self._update(state)
        except portalocker.LockException as error:
            raise StoreBusyError(
                f"another process is making the index of '{self._project}'; try again when it has finished"
            ) from error

    def _update(self, state: _State | None) -> _State:
        """Bring the files up to date, and give the state of the store as one transaction sees it."""
        try:
            opened = self._files.read(state.files if state else None)
        except DamagedIndexError as error:
            _log.warning("the index of '%s' is made again: %s", self._project, error)
            opened = None
        store = self._store if self._must_wait(state) else self._hurried
        stamp = store.stamp() if store.exists() else ()
        with store.reading() as tx:
            generation = tx.recallable.generation()
            if opened is not None and not (
                _continues(tx, opened.generation)
                and tx.recallable.places(self._project, opened.generation.sequence) == opened.manifest["places"]
            ):  # the memories do not stand where they stood when the files were made
                opened = None
            goes_on = state and opened and opened.manifest["name"] == state.files.manifest["name"]
            known = state if state and goes_on and _continues(tx, state.generation) else None
            since = known.generation.sequence if known else 0
            table = tx.recallable.memories(self._project, since)
            row_of = known.catalogue.row_of if known else {}
            listed = opened.ids if opened else []
            have = row_of if len(row_of) == len(listed) else set(listed)
            new = table.filter(pa.array([memory_id not in have for memory_id in table["id"].to_pylist()], pa.bool_()))
            new = new.sort_by([("created_at", "ascending"), ("id", "ascending")])
            ids = [*listed, *new["id"].to_pylist()]
            matrix = self._matrix(tx, known.matrix if known else None, ids)
            beside = self._beside(tx, known)
            places = tx.recallable.places(self._project, generation.sequence)
            all_have = not len(matrix.without_vector)
            of_another = {} if all_have else tx.vectors.of_another_model(self._embedder.name, self._project)
        if opened is None or new.num_rows:
            rows = (row for some in new.to_batches(_AT_ONCE) for row in some.to_pylist())
            texts = [indexed_text(memory_of(list(row.values()))) for row in rows]
            opened = self._files.write(opened, generation, places, ids, texts)
        if known is None:
            catalogue = Catalogue.of(opened.ids, table, beside)
            if table.num_rows >= _MANY:
                pa.default_memory_pool().release_unused()
                store.forget_what_was_read()
        else:
            catalogue = known.catalogue.following(opened.ids, table, beside)
        return _State(stamp, generation, opened, catalogue, matrix, of_another)

    def _matrix(self, tx: Transaction, known: Matrix | None, ids: Sequence[str]) -> Matrix:
        """The vectors of all rows; of those whose vectors are known, only the others are read."""
        model, dimension = self._embedder.name, self._embedder.dimension
        if known is None:
            return Matrix.of(tx.recallable.vectors(ids, model, dimension, room_for(len(ids))), len(ids))
        without = known.without_vector
        vectors = tx.recallable.vectors([*(ids[row] for row in without), *ids[len(known) :]], model, dimension)
        return known.extended(vectors[: len(without)], vectors[len(without) :])

    def _beside(self, tx: Transaction, known: _State | None) -> Beside:
        """The facts of other tables about the project's memories."""
        before, since = (known.catalogue.beside, known.generation.sequence) if known else (None, 0)
        tables = ("conflicts", "extractions", "lineage", "source_entries")
        if before and not any(tx.recallable.has_changed(table, since) for table in tables):
            return before
        conflicts = [conflict for conflict in tx.conflicts.open() if conflict.project_id == self._project]
        sides = tx.memories.read_as_last_told({side for conflict in conflicts for side in (conflict.a, conflict.b)})
        conflicts = [conflict for conflict in conflicts if {conflict.a, conflict.b} <= sides.keys()]
        return Beside(
            superseded_ids(conflicts, sides) | tx.recallable.withdrawn(self._project),
            opponents_of(conflicts, sides),
            tx.recallable.source_counts(self._project),
            {memory_id: "; ".join(scopes) for memory_id, scopes in tx.conflicts.scopes_of().items()},
            tx.recallable.copies(self._project),
            frozenset(entry.memory_id for entry in tx.sources.gone() if entry.superseded_by is None),
            frozenset(tx.conflicts.likely(self._project)),
        )

    def vectors_of(self, matches: Sequence[Match]) -> Vectors:
        """The vectors of memories that were found, float32 (len(matches), dimension); zero for one without."""
        state = self.fresh()
        rows = [state.catalogue.row_of[match.memory.id] for match in matches]
        return state.matrix.rows(np.array(rows, dtype=np.int64))

    def vector_of(self, query: str) -> Vectors | None:
        """The unit vector of a query, kept for a while; None if the embedder fails."""
        try:
            vector: Vectors = self._embedded(query)
        except EmbeddingError as error:
            _log.warning("the query is searched by its words alone: %s", error)
            return None
        return vector

    def _make_files(self, home: Path) -> IndexFiles:
        embedder, language = self._embedder, self._settings.recall.language
        return IndexFiles(home, self._project, embedder.name, embedder.dimension, language)


def _continues(tx: Transaction, generation: Generation) -> bool:
    """True if the store has gone on from a generation, and was not restored or replaced."""
    return tx.recallable.generation(generation.sequence) == generation


def _make_matches(catalogue: Catalogue, rows: Sequence[int], scores: Sequence[float]) -> list[Match]:
    beside, scored = catalogue.beside, zip(catalogue.memories(rows), rows, scores, strict=True)
    return [
        Match(
            memory,
            score,
            beside.superseded.get(memory.id),
            beside.source_counts.get(memory.id, 0),
            beside.opponents.get(memory.id, ()),
            scope=beside.scopes.get(memory.id, ""),
            told_again=catalogue.told_again(row, memory),
            until=catalogue.until(row),
            gone=memory.id in beside.gone,
        )
        for memory, row, score in scored
    ]
