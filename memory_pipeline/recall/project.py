"""The memory of one project, as agents use it: search, context, remember, feedback, lineage, metrics.

Every interface (Python, command line, HTTP, MCP) is a thin layer over this.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError, MemoryPipelineError, NotFoundError, StoreBusyError
from memory_pipeline.ingest.candidates import Candidate, RowError
from memory_pipeline.ingest.importing import remember
from memory_pipeline.ingest.values import check_storable, identifier
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.recall.asking import ANSWER_S, BUDGET, Reply, ask_model
from memory_pipeline.recall.atoms import (
    AtomIndex,
    DescribedAtom,
    FoundAtom,
    causal_chains,
    describe_atom,
    search_atoms,
    state_atom,
)
from memory_pipeline.recall.context import ConsolidatedContext, build_context, consolidated_context, metrics_of
from memory_pipeline.recall.documents import (
    DEFAULT_BUDGET,
    LEAST_BUDGET,
    LONGEST_QUERY,
    MOST_BUDGET,
    MOST_RESULTS,
    SHORTEST_QUERY,
    AtomListing,
    Context,
    Feedback,
    Filters,
    MemoryLineage,
    Metrics,
    Mode,
    NewMemory,
    PlaybookListing,
    RecalledMemory,
    RecalledPlaybookEntry,
    Remembered,
    ReportedUsage,
    SearchResults,
    SourceMemory,
    frame_of,
)
from memory_pipeline.recall.index import ProjectIndex
from memory_pipeline.recall.lineage import lineage_of, recalled, sources_of
from memory_pipeline.recall.past import read_state, search_state
from memory_pipeline.recall.pieces import current_matches, order_pieces, read_guidance
from memory_pipeline.recall.ranking import MIN_RELEVANCE
from memory_pipeline.recall.search import Match
from memory_pipeline.records import EXPIRED, Causal, ExtractionFeedback, Memory, SessionUsage, Source, derived_id
from memory_pipeline.records.conversation import MOST_TOKENS
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.steering import guiding_entries

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)
#: Recalls that wait at most before they are written.
_MOST_WAITING = 2000
#: How many memories a search gives unless another number is asked for. What these say of a question, a context says.
_BEST = 10
#: The connector of what is told through an interface.
TOLD = "api"


class ProjectMemory:
    """The memory of one project in one store. Nothing that it does reads or changes another project (law 8).

    It is safe to use from several threads. Close it, or use it in a `with` block, so that the counts of use are kept.
    """

    def __init__(
        self, store: Store, settings: Settings, project: str, *, actor: str, embedder: Embedder | None = None
    ) -> None:
        """`actor`: who asks and writes, for the audit log."""
        self.project = project
        self._store, self._settings, self._actor = store, settings, actor
        self._embedder = embedder or choose_embedder(settings)
        self._index = ProjectIndex(store, settings, project, self._embedder)
        self._guidance = lru_cache(1)(lambda generation: read_guidance(store, project, self._embedder))
        self._uses = Uses(store, actor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def acting_as(self, actor: str) -> ProjectMemory:
        """The same memory for another actor in the audit log: index, model and counts of use are shared."""
        other = copy(self)
        other._actor = actor
        return other

    def prepare(self) -> None:
        """Bring the index up to date, and load a model that is on this machine, so that the next search need not."""
        self.generation()
        if ":" not in self._settings.embedding.model:
            self._embedder.embed(["ready"])

    def generation(self) -> int:
        """Bring the index up to date; returns its generation, the position in the audit log that it stands for."""
        return self._index.fresh().generation.sequence

    def close(self) -> None:
        """Write the counts of use that wait."""
        self._uses.write()

    def search(
        self,
        query: str,
        limit: int = _BEST,
        *,
        filters: Filters | None = None,
        mode: Mode = "hybrid",
        include_sources: bool = False,
        explain: bool = False,
        **narrowing: Any,
    ) -> SearchResults:
        """The best memories for a query, best first.

        `include_sources` gives each its direct sources, and lets archived sources stand beside the memory that was
        made from them. `explain`: each says why it stands where it stands, but not with `as_of`. `filters`, or the
        fields of `Filters` as arguments, narrow the search. Raises InputError for a query that is too short or too
        long, a limit outside 1 to 100, or a filter that does not exist.
        """
        check_query(query)
        if not 1 <= limit <= MOST_RESULTS:
            raise InputError(f"the limit is {limit}; use 1 to {MOST_RESULTS}")
        chosen = filters or _filters(narrowing)
        began = time.perf_counter()
        if chosen.as_of is not None:
            matches, total = self._search_past(query, limit, chosen, sources_too=include_sources)
        else:
            matches, total = self._index.search(
                query, limit=limit, filters=chosen, mode=mode, sources_too=include_sources, explain=explain
            )
        results = self._describe(matches, include_sources)
        self._uses.add(match.memory.id for match in matches)
        took = round(1000 * (time.perf_counter() - began), 3)
        return SearchResults(
            results=tuple(results),
            total_found=total,
            search_time_ms=took,
            nothing_near=chosen.as_of is None and mode != "bm25" and self._index.is_nothing_near(query, matches),
        )

    def context(self, task: str, budget: int = DEFAULT_BUDGET, *, with_sources: bool = False) -> Context:
        """Everything that an agent should know for a task, within a budget of tokens: what a search for it prints
        within the same tokens, in a shorter form, with more of it, and with guidance. `with_sources`: the text says
        where each memory was read. Raises InputError for a task or budget out of range."""
        check_query(task, "task")
        if not LEAST_BUDGET <= budget <= MOST_BUDGET:
            raise InputError(f"the budget is {budget} tokens; use {LEAST_BUDGET} to {MOST_BUDGET}")
        hits, _ = self._index.search(task, limit=MOST_RESULTS, filters=Filters(), all_that_match=True)
        best, _ = self._index.search(task, limit=_BEST, filters=Filters())
        matches = current_matches(hits, self._index.find, datetime.now(UTC).date())
        pieces = order_pieces(
            matches,
            self._index.vectors_of(matches),
            self._guidance(self._index.fresh().generation),
            self._index.vector_of(task),
            self._index.handles().shorten,
        )
        context = build_context(
            self.project,
            task,
            budget,
            pieces,
            self._embedder.count_tokens,
            with_sources=with_sources,
            nothing_near=self._index.is_nothing_near(task, best),
        )
        self._uses.add(item.id for item in context.items if item.handle)
        return context

    def ask(self, question: str, *, within_s: float = ANSWER_S) -> Reply:
        """The answer of the chosen model from a context of the question, with the memories that it rests on; or that
        the memory does not hold it. Raises InputError for a question out of range, ModelError without a model or an
        answer in that many seconds."""
        today = datetime.now(UTC).date()
        return ask_model(
            self._store, self._settings, lambda words: self.context(words, BUDGET), question, today, within_s=within_s
        )

    def consolidated(self, task: str, budget: int = DEFAULT_BUDGET) -> ConsolidatedContext:
        """The memories and guidance of a context, each with its particulars, and the advice in them. Raises
        InputError for a task or budget out of range."""
        context = self.context(task, budget)
        scores = {item.id: item.relevance_score for item in context.items if item.handle}
        guidance = {item.id for item in context.items if item.kind == "playbook"}
        matches = [replace(match, score=scores[match.memory.id]) for match in self._index.find(list(scores))]
        memories = {match.memory.id: match.memory for match in matches}
        entries = [entry for entry in self.playbook().entries if entry.id in guidance] if guidance else []
        return consolidated_context(self._describe(matches, False), memories, entries)

    def get(self, memory_id: str, *, include_sources: bool = True) -> RecalledMemory:
        """One memory, by its id, the beginning of it, or its handle. Raises NotFoundError if the project has none with
        this id, InputError if several begin so."""
        matches = self._index.find([memory_id]) or self._index.find([self._index.handles().whole_id(memory_id)])
        if not matches:
            with self._store.reading() as tx:
                matches = self._index.find([tx.memories.whole_id(memory_id, self.project)])
        if not matches:
            raise self._unknown(memory_id)
        return self._describe(matches, include_sources, scored=False)[0]

    def lineage(self, memory_id: str) -> MemoryLineage:
        """The origin of a memory and what has replaced it, by its id, the beginning of it, or its handle. Raises
        NotFoundError if the project does not have it, InputError if several begin so."""
        with self._store.reading() as tx:
            return lineage_of(tx, self._read(tx, tx.memories.whole_id(memory_id, self.project)))

    def remember(self, memory: NewMemory | str, **fields: Any) -> Remembered:
        """Write a memory: its text with the fields of NewMemory as arguments, or a NewMemory. The next search finds
        it, and the next night takes it up. Raises InputError for what cannot be stored."""
        if isinstance(memory, str):
            try:
                memory = NewMemory(content=memory, **fields)
            except ValidationError as error:
                raise InputError(f"this cannot be remembered: {in_words(error)}") from None
        candidate = Candidate(
            content=memory.content,
            memory_type=memory.memory_type or "other",
            typed_under=None if memory.memory_type else (),
            categories=memory.categories,
            tags=memory.tags,
            importance=memory.importance,
            created_at=memory.created_at,
            native_id=memory.id,
            source=Source(TOLD),
        )
        written = remember(
            self._store,
            candidate,
            self.project,
            self._embedder,
            actor=self._actor,
            now=datetime.now(UTC),
            mask=self._settings.import_.redact,
        )
        self._index.must_see(written.sequence)
        return Remembered(
            id=written.memory.id,
            status=written.outcome,
            masked=dict(written.masked),
            memory=recalled(Match(written.memory, 0.0)),
        )

    def feedback(self, memory_id: str, was_useful: bool) -> Feedback:
        """Say whether a memory helped, by its id or handle, or what was extracted from a conversation, by its id.

        The rank of the memory rises a little if it did; what is extracted of the same kind later matters more or less.

        Raises NotFoundError for an unknown memory.
        """
        with self._store.writing(self._actor) as tx:
            extraction = tx.conversations.find(self.project, memory_id)
            if extraction is not None:
                now = datetime.now(UTC)
                tx.opinions.add_feedback(
                    ExtractionFeedback(
                        id=derived_id("feedback", extraction.id, self._actor, now.isoformat()),
                        project_id=self.project,
                        extraction_id=extraction.id,
                        kind=extraction.kind,
                        was_useful=was_useful,
                        said_at=now,
                        said_by=self._actor,
                    )
                )
            target_id = extraction.memory_id if extraction else tx.memories.whole_id(memory_id, self.project)
            if target_id is None:
                gone = extraction.gone_at if extraction is not None else None
                note = f"it is no longer kept, since {gone:%Y-%m-%d}" if gone else None
                return Feedback(memory_id=memory_id, was_useful=was_useful, useful_count=0, reuse_count=0, note=note)
            self._read(tx, target_id)
            tx.memories.count_uses({}, {target_id: 1} if was_useful else {})
            memory = self._read(tx, target_id)
        return Feedback(
            memory_id=memory_id if extraction else target_id,
            was_useful=was_useful,
            useful_count=memory.useful_count,
            reuse_count=memory.reuse_count,
            note=_out_of_use(memory),
        )

    def report_usage(self, session_id: str, tokens_used: int, window_tokens: int) -> ReportedUsage:
        """Keep how much of its context window a session has used. Raises InputError for what cannot be stored."""
        try:
            identifier(self.project, "the project's name")
            known_as = identifier(session_id, "the session's id")
        except RowError as error:
            raise InputError(str(error)) from None
        if not known_as or not 0 <= tokens_used <= MOST_TOKENS or not 1 <= window_tokens <= MOST_TOKENS:
            raise InputError(f"session '{session_id}' has used {tokens_used} of {window_tokens} tokens; correct these")
        usage = SessionUsage(self.project, known_as, tokens_used, window_tokens, datetime.now(UTC), self._actor)
        with self._store.writing(self._actor) as tx:
            tx.sessions.keep(usage)
        return ReportedUsage.of_record(usage, share=round(tokens_used / window_tokens, 4))

    def metrics(self) -> Metrics:
        """Figures of how far the project is consolidated."""
        with self._store.reading() as tx:
            return metrics_of(tx, self.project, datetime.now(UTC))

    def playbook(self) -> PlaybookListing:
        """The guidance that the project's patterns and principles give."""
        with self._store.reading() as tx:
            entries = guiding_entries(tx.playbook.read(self.project))
        listed = (RecalledPlaybookEntry.model_validate(entry, from_attributes=True) for entry in entries)
        return PlaybookListing(entries=tuple(listed))

    def atoms(self, query: str | None = None, field: str | None = None, limit: int = 10) -> AtomListing:
        """Atoms by meaning; without a query, those with the highest confidence."""
        index = AtomIndex.of(self._store, self._embedder, self.project, self._actor)
        matches = search_atoms(index, self._embedder, query, field, limit, MIN_RELEVANCE)
        return AtomListing(atoms=tuple(describe_atom(match) for match in matches))

    def atom_chains(self, query: str, limit: int = 3) -> list[list[DescribedAtom]]:
        """Chains of causes and effects from the atoms that are nearest to a query."""
        index = AtomIndex.of(self._store, self._embedder, self.project, self._actor)
        matches = search_atoms(index, self._embedder, query, None, limit, MIN_RELEVANCE)
        return [
            [describe_atom(match) for match in chain]
            for chain in causal_chains(index, [match.atom for match in matches])
        ]

    def state_atom(self, causal: Causal, source_ids: Sequence[str] = ()) -> DescribedAtom:
        """Add an atom, with confidence 1.0; adding it again changes nothing. Raises InputError if subject, action or
        outcome is empty, or a source is not a memory of the project."""
        now = datetime.now(UTC)
        made = state_atom(self._store, self._embedder, self.project, causal, self._actor, now, source_ids)
        return describe_atom(FoundAtom(made, 1.0))

    def memories(self, *, archived: bool = False) -> pd.DataFrame:
        """The active memories as a data frame, by creation and id; with `archived`, all of them."""
        with self._store.reading() as tx:
            return frame_of(tx.memories.all(self.project, include_archived=archived))

    def _search_past(self, query: str, limit: int, filters: Filters, *, sources_too: bool) -> tuple[list[Match], int]:
        """The best memories of a past state, and how many match."""
        state = read_state(self._store, filters.as_of or "now")
        hits = search_state(
            self._store, state, self._embedder, query, self.project, None, self._settings, filters,
            sources_too=sources_too,
        )  # fmt: skip
        best = hits[:limit]
        counts = {match.memory.id: match.source_count for match in self._index.find([h.memory.id for h in best])}
        return [replace(hit, source_count=counts.get(hit.memory.id, 0)) for hit in best], len(hits)

    def _read(self, tx: Transaction, memory_id: str) -> Memory:
        memory = tx.memories.read([memory_id]).get(memory_id)
        if memory is None or memory.project_id != self.project:
            gone = tx.forgotten.find(memory_id) if memory is None else None
            if gone is not None and gone.project_id == self.project:
                raise NotFoundError(f"memory '{memory_id}' was forgotten on {gone.forgotten_at:%Y-%m-%d}")
            raise self._unknown(memory_id)
        return memory

    def _unknown(self, memory_id: str) -> NotFoundError:
        return NotFoundError(f"project '{self.project}' has no memory '{memory_id}'; searches and contexts give ids")

    def _describe(
        self, matches: Sequence[Match], include_sources: bool, *, scored: bool = True
    ) -> list[RecalledMemory]:
        sources: dict[str, list[SourceMemory]] = {}
        if include_sources:
            with self._store.reading() as tx:
                sources = sources_of(tx, [match.memory.id for match in matches])
        return [recalled(match, scored=scored, sources=sources.get(match.memory.id)) for match in matches]


def in_words(error: ValidationError) -> str:
    """The errors of a document that was given, on one line."""
    problems = (
        ": ".join(filter(None, (".".join(map(str, problem["loc"])), problem["msg"].removeprefix("Value error, "))))
        for problem in error.errors(include_url=False)
    )
    return "; ".join(problems)


def _filters(fields: dict[str, Any]) -> Filters:
    try:
        return Filters(**fields)
    except ValidationError as error:
        raise InputError(in_words(error)) from None


def check_query(text: str, what: str = "query") -> None:
    """Raises InputError for a text that is too short or too long to be searched for, or cannot be stored."""
    try:
        check_storable(text, f"the {what}")
    except RowError as error:
        raise InputError(str(error)) from None
    if len(visible(text).strip()) < SHORTEST_QUERY:
        raise InputError(f"the {what} '{text}' is too short; use at least {SHORTEST_QUERY} characters")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"the {what} has {len(text)} characters; use at most {LONGEST_QUERY}")


def _out_of_use(memory: Memory) -> str | None:
    """The reason why a memory is in use no more; None if it is in use."""
    if memory.rolled_back_at is not None:
        return f"it was taken back on {memory.rolled_back_at:%Y-%m-%d}"
    if memory.archived_at is None:
        return None
    into = f" into '{memory.consolidated_into_id}'" if memory.consolidated_into_id else ""
    expired = ", when its time was over in its source" if memory.archived_by == EXPIRED else ""
    return f"it was archived{into} on {memory.archived_at:%Y-%m-%d}{expired}"


class Uses:
    """The recalls of memories that are not written yet. What waits when the process is killed is lost."""

    def __init__(self, store: Store, actor: str) -> None:
        self._store, self._actor = Store(store.path, busy_timeout_s=0.2), actor
        self._waiting: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, memory_ids: Iterable[str]) -> None:
        """Count a recall of each of these memories."""
        with self._lock:
            self._waiting.update(memory_ids)
            is_due = self._waiting.total() >= _MOST_WAITING
        if is_due:
            threading.Thread(target=self._write_quietly, name="counts of use").start()

    def _write_quietly(self) -> None:
        try:
            self.write()
        except MemoryPipelineError as error:
            _log.warning("counts of use wait: %s", error)

    def write(self) -> None:
        """Write what waits; a store that others hold gets it the next time. Whatever fails, nothing is dropped."""
        with self._lock:
            counted, self._waiting = self._waiting, Counter()
        if not counted:
            return
        try:
            with self._store.writing(self._actor) as tx:
                tx.memories.count_uses(counted, {})
        except BaseException as error:
            with self._lock:
                self._waiting.update(counted)
            if not isinstance(error, StoreBusyError):
                raise
            _log.debug("the store is held; %d recalls are counted later", counted.total())
