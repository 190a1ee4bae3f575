"""Imports candidates: each is cleaned, masked, given its id, checked, and written in batches.

Importing is idempotent and streams its input; a bad row goes to quarantine with file, line and reason, and the
others are imported. Each batch is one transaction, so an interruption leaves complete batches and a second run
completes the import. What an agent or a person tells, one memory at a time, is written here too.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Literal

import numpy as np

from memory_pipeline.errors import EmbeddingError, InputError, MemoryPipelineError, OtherModelError
from memory_pipeline.ingest.candidates import (
    FORGOTTEN_BEFORE,
    Candidate,
    Finding,
    ImportSummary,
    Item,
    Rejected,
    RowError,
)
from memory_pipeline.ingest.claims import Claims
from memory_pipeline.ingest.full_import import FullExport, bring_what_follows, restore
from memory_pipeline.ingest.gate import (
    Admitted,
    Found,
    Gate,
    check_times,
    mask_id,
    only_new,
    reject,
    says_same,
    storable,
    version_id,
)
from memory_pipeline.ingest.values import NEVER_ARCHIVED, identifier
from memory_pipeline.models.embedders import Embedder
from memory_pipeline.models.embedders.missing import Progress, embed_missing
from memory_pipeline.records import EXPIRED, Atom, Causal, LineageLink, Memory, derived_id
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.normalise import clean_text, embedding_text
from memory_pipeline.text.redaction import redact


def bring_findings(store: Store, findings: Sequence[Finding], *, project: str, mask: bool, actor: str) -> list[str]:
    """Write the findings that the store does not have as atoms; returns what was done as sentences.

    A source that is not a memory of the project in use is left out; the atom stands without it, because someone stated
    it. Its vectors are made when it is first searched for.
    """
    if not findings:
        return []
    new, no_vectors = 0, np.empty((0, 0), dtype=np.float32)
    as_id: Callable[[str], str] = mask_id if mask else str

    def as_text(text: str) -> str:
        return redact(clean_text(text))[0] if mask else clean_text(text)

    with store.writing(actor) as tx:
        known = {atom.id for atom in tx.atoms.read(retracted=True)}
        memories = tx.memories.read({as_id(source_id) for finding in findings for source_id in finding.source_ids})
        ours = {memory.id for memory in memories.values() if memory.project_id == project}
        for finding in findings:
            atom_id = as_id(finding.native_id)
            if atom_id in known:
                continue
            known.add(atom_id)
            new += 1
            atom = Atom(
                atom_id,
                project,
                Causal(*map(as_text, astuple(finding.causal))),
                finding.confidence,
                tuple(sorted(ours.intersection(map(as_id, finding.source_ids)))),
                finding.created_at,
                stated_by=as_text(finding.stated_by),
            )
            tx.atoms.write(atom, no_vectors, (), "")
    return [f"{how_many(new, 'causal atom')} imported, {len(findings) - new} known already."]


_log = logging.getLogger(__name__)
_BATCH = 500
_BATCH_CHARS = 8_000_000


def import_memories(
    store: Store,
    reading: Iterable[Item],
    *,
    project: str,
    embedder: Embedder,
    now: datetime,
    mask: bool = True,
    progress: Progress = lambda step, done, total: None,
    actor: str = "import",
    accept: Callable[[Memory], Memory | None] = lambda memory: memory,
    accept_finding: Callable[[Finding], bool] = lambda finding: True,
    embed: bool = True,
    critical_floor: float | None = None,
) -> ImportSummary:
    """Import every readable row into the store, embed it, and return a summary.

    `project` applies to candidates that name none; `now` replaces a missing date. A failing embedder does not fail
    the import: the next night embeds the rest. `accept` gets every memory, in order, and returns it as it is to be
    written, or None to leave it out, and `accept_finding` says the same of causes and effects; with `embed` off nothing
    is embedded. With a `critical_floor`, changed words under a known id replace earlier ones of less importance.
    """
    try:
        identifier(project, "the project's name")
    except RowError as error:
        raise InputError(f"{error}; name another with --project") from None
    summary = ImportSummary()
    if isinstance(reading, FullExport) and _try_restore(store, reading, summary, actor):
        with store.small_steps():
            _embed_what_is_missing(store, embedder, summary, progress, actor)
        return summary
    ongoing = _ImportInProgress(store, summary, Gate(project, embedder, now, mask), actor, accept)
    findings: list[Finding] = []
    stream = iter(reading)
    batch = _next_batch(stream, findings)  # a file that is refused as a whole must not create a store
    with store.small_steps():
        with store.writing(actor):
            pass  # an import of nothing still creates a store that nights can run on
        while batch:
            ongoing.take(batch)
            progress("import", summary.read, 0)
            batch = _next_batch(stream, findings)
        ongoing.admit_claims()
        if critical_floor is not None and not isinstance(reading, FullExport):
            ongoing.settle_versions(critical_floor)
        taken = [finding for finding in findings if accept_finding(finding)]
        summary.notes += bring_findings(store, taken, project=project, mask=mask, actor=actor)
        if isinstance(reading, FullExport):
            summary.notes += bring_what_follows(store, reading, actor)
        if embed:
            _embed_what_is_missing(store, embedder, summary, progress, actor)
    return summary


def _try_restore(store: Store, export: FullExport, summary: ImportSummary, actor: str) -> bool:
    """Make an export of everything the store; False if that cannot be, for which the summary has the reason."""
    wrong = export.what_is_wrong()
    if wrong:
        summary.notes.append(
            f"'{export.file.name}' is not the complete, unaltered export: {wrong}. Its readable contents were imported."
        )
        return False
    if store.exists():
        with store.reading() as tx:
            if not tx.transfer.is_blank():
                return False
    why_not = restore(store, export, actor)
    if why_not:
        summary.notes.append(
            f"'{export.file.name}' could not be imported as a whole store, because {why_not}; "
            "it was read row by row instead."
        )
        return False
    with store.reading() as tx:
        summary.read = summary.imported = tx.memories.count()
    summary.notes.append("The store was empty and now equals the exported one.")
    return True


def _next_batch(stream: Iterator[Item], findings: list[Finding]) -> list[Candidate | Rejected]:
    """Rows up to the limits of one transaction: a number of rows, or a number of characters. Findings, which rest on
    memories, are put aside until these are in."""
    batch: list[Candidate | Rejected] = []
    size = 0
    while len(batch) < _BATCH and size < _BATCH_CHARS and (item := next(stream, None)) is not None:
        if isinstance(item, Finding):
            findings.append(item)
        else:
            batch.append(item)
            size += len(item.content) if isinstance(item, Candidate) else len(item.excerpt)
    return batch


@dataclass
class _ImportInProgress:
    store: Store
    summary: ImportSummary
    gate: Gate
    actor: str
    accept: Callable[[Memory], Memory | None]
    claims: Claims = field(default_factory=Claims)
    #: By id, the memory that has the words of today, of rows whose words changed.
    todays: dict[str, str] = field(default_factory=dict)

    def take(self, batch: list[Candidate | Rejected]) -> None:
        """Write a batch, except for rows that refer to other memories: those wait until all rows are read."""
        self.summary.read += len(batch)
        rejected = [item for item in batch if isinstance(item, Rejected)]
        plain: list[Admitted] = []
        for item in batch:
            if isinstance(item, Candidate):
                try:
                    entry = self.gate.admit(item)
                    memory = self.accept(entry.memory)
                    if memory is None:
                        continue
                    entry = replace(entry, memory=memory)
                    self.summary.masked += entry.masked
                    if not entry.links and memory.consolidated_into_id is None:
                        plain.append(entry)
                    elif not self.claims.add(entry):  # a second row with this id
                        if self.claims.waiting(memory.id).memory.content_hash != memory.content_hash:
                            raise RowError(f"id '{memory.id}' appears in the file twice, with different content")
                        self.summary.unchanged += 1
                except (RowError, EmbeddingError) as error:
                    rejected.append(reject(item, str(error)))
                except Exception as error:
                    _log.warning("a row of %s could not be imported", item.source.file, exc_info=True)
                    rejected.append(reject(item, f"the row cannot be imported ({type(error).__name__})"))
        self._write([[entry] for entry in plain], rejected)

    def admit_claims(self) -> None:
        """Admit the rows whose claims about other memories are confirmed, and report the others."""
        self._pass_over_known()
        rejected = [reject(entry.memory, why) for entry, why in self.claims.refuse(self._read_known)]
        self._write([], rejected)
        if loosened := len(self.claims.loosened.intersection(self.claims.ids())):
            self.summary.notes.append(
                f"{loosened} memories name sources that neither the file nor the store has; "
                "they were imported without them."
            )
        groups: list[list[Admitted]] = []
        for group in self.claims.groups():
            groups.append([self.claims.waiting(memory_id) for memory_id in group])
            written = [entry.memory.content for rows in groups for entry in rows]
            if len(written) >= _BATCH or sum(map(len, written)) >= _BATCH_CHARS:
                self._write(groups, [])
                groups = []
        self._write(groups, [])

    def _pass_over_known(self) -> None:
        """Handle rows that are already in the store, which stay unchanged."""
        known = self._read_known(self.claims.ids())
        rejected = []
        for memory_id, before in known.items():
            memory = self.claims.waiting(memory_id).memory
            if before == (memory.project_id, memory.content_hash):
                self.summary.unchanged += 1
            else:
                reason = (
                    f"id '{memory_id}' is already in the store with different content or in another project, "
                    "and stays unchanged"
                )
                rejected.append(reject(memory, reason))
        self.claims.drop(known)
        self._write([], rejected)

    def _read_known(self, memory_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        with self.store.reading() as tx:
            return tx.memories.existing(list(memory_ids))

    def _write(self, groups: list[list[Admitted]], rejected: list[Rejected]) -> None:
        """Write everything in one transaction; a group that makes it fail goes to quarantine."""
        if not groups and not rejected:
            return
        try:
            self._write_together([entry for group in groups for entry in group], rejected)
        except MemoryPipelineError:
            raise
        except Exception as error:
            if not groups:
                raise
            _log.warning("a batch could not be written as a whole", exc_info=True)
            if len(groups) > 1:
                middle = len(groups) // 2
                self._write(groups[:middle], rejected)
                self._write(groups[middle:], [])
            else:
                reason = f"the row cannot be written ({type(error).__name__})"
                self._write([], [*rejected, *(reject(entry.memory, reason) for entry in groups[0])])

    def _write_together(self, admitted: list[Admitted], rejected: list[Rejected]) -> None:
        with self.store.writing(self.actor) as tx:
            ids = [entry.memory.id for entry in admitted]
            known = tx.memories.existing([*ids, *(version_id(entry.memory) for entry in admitted)])
            result = only_new(admitted, known)
            forgotten = tx.forgotten.among([entry.memory for entry in result.fresh])
            left_out = [e for e in admitted if forgotten.intersection((e.memory.id, version_id(e.memory)))]
            if left_out:
                admitted = [entry for entry in admitted if entry not in left_out]
                result = only_new(admitted, known)
            memories = [entry.memory for entry in admitted]
            stand = {m.id: m for m in memories if known.get(m.id) == (m.project_id, m.content_hash)}
            over = {i: memory.archived_at if memory.archived_by == EXPIRED else None for i, memory in stand.items()}
            tx.memories.follow_expiry(over, NEVER_ARCHIVED)
            self._note_versions(tx, admitted, known, result)
            tx.memories.add([entry.memory for entry in result.fresh])
            # What was read again, under the id that the store has its words under.
            again = [memory for memory in memories if memory.id in known]
            places = [m if says_same(m, known[m.id][1]) else replace(m, id=version_id(m)) for m in again]
            tx.memories.place(places)
            tx.lineage.add([link for entry in result.fresh for link in entry.links])
            _add_given_vectors(tx, result.fresh)
            refused = [storable(item, self.gate.mask) for item in [*rejected, *result.wrong]]
            tx.journal.keep_quarantine([astuple(row) for row in refused], self.gate.now)
        self.summary.expired += sum(memory.archived_by == EXPIRED for memory in memories)
        self.summary.imported += len(result.fresh)
        if left_out:
            self.summary.skipped[FORGOTTEN_BEFORE] += len(left_out)
        self.summary.unchanged += result.unchanged
        self.summary.new_versions += result.new_versions
        self.summary.reject(refused)
        self.summary.projects.update(entry.memory.project_id for entry in result.fresh)
        self.summary.dates.update(entry.memory.created_at_quality for entry in result.fresh)

    def _note_versions(
        self, tx: Transaction, admitted: Sequence[Admitted], known: Mapping[str, tuple[str, str]], result: Found
    ) -> None:
        """Note the rows of a batch whose words changed. `known`: by id, project and words in the store before."""
        fresh = {entry.memory.id for entry in result.fresh}
        pairs: list[tuple[str, str]] = []
        for entry in admitted:
            if known.get(entry.memory.id, (entry.memory.project_id,))[0] != entry.memory.project_id:
                continue
            own, version = entry.memory.id, version_id(entry.memory)
            pairs.append((own, version if version in fresh or version in known else own))
        replaced = tx.lineage.replaced_by_words({memory_id for _, memory_id in pairs if memory_id in known})
        for own, memory_id in pairs:
            by = replaced.get(memory_id)
            is_back = by is not None and (by == own or by.startswith(f"{own}@"))
            if is_back or own in self.todays or (memory_id != own and memory_id in fresh):
                self.todays[own] = memory_id

    def settle_versions(self, critical_floor: float) -> None:
        """Let the words of today take the place of earlier ones, unless these are as important as `critical_floor`."""
        todays = iter(self.todays.items())
        while page := dict(islice(todays, _BATCH)):
            with self.store.writing(self.actor) as tx:
                tx.memories.take_back(list(page.values()), at=self.gate.now)
                versions = tx.lineage.active_versions(list(page))
                edited: list[str] = []
                for own, memory_id in versions:
                    if memory_id != page[own] and tx.memories.supersede(
                        memory_id,
                        winner=page[own],
                        archived_by=derived_id("edit", memory_id, page[own]),
                        at=self.gate.now,
                        critical_floor=critical_floor,
                    ):
                        tx.lineage.add([LineageLink(page[own], memory_id, "superseded", 1.0)])
                        edited += [memory_id, page[own]]
                tx.rollups.mark_stale(edited, only_rollups=True)
            self.summary.replaced += len(edited) // 2


def _add_given_vectors(tx: Transaction, entries: Iterable[Admitted]) -> None:
    """Store the vectors that memories came with, those of one model and dimension together: a statement for each costs
    more than all else in an import."""
    together: defaultdict[tuple[str, int], dict[str, Sequence[float]]] = defaultdict(dict)
    for entry in entries:
        if entry.embedding is not None and entry.embedding_model is not None:
            together[entry.embedding_model, len(entry.embedding)][entry.memory.id] = entry.embedding
    for (model, _), vectors in together.items():
        tx.vectors.add(list(vectors), np.array(list(vectors.values()), dtype=np.float32), model)


def _embed_what_is_missing(
    store: Store, embedder: Embedder, summary: ImportSummary, progress: Progress, actor: str
) -> None:
    def report(step: str, done: int, total: int) -> None:
        summary.embedded = done
        progress(step, done, total)

    try:
        embed_missing(store, embedder, lambda: store.writing(actor), report)
    except OtherModelError as error:
        summary.embedding_error = str(error)
    except EmbeddingError as error:
        summary.embedding_error = f"{error}; the next night tries again"


Outcome = Literal["created", "unchanged", "new_version"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The outcome for a memory that was told: the memory as the store has it, what was masked in it, by kind, and the
    number of the log's entry from which on the store has it."""

    memory: Memory
    outcome: Outcome
    masked: Counter[str]
    sequence: int


def remember(
    store: Store, candidate: Candidate, project: str, embedder: Embedder, *, actor: str, now: datetime, mask: bool
) -> Remembered:
    """Write a candidate as a memory of a project, with its vector, unless the embedder fails: a night embeds it then.

    An id that the store has with the same words changes nothing; with other words, these become a memory of their
    own. Raises InputError for what cannot be stored, which is quarantined.
    """
    try:
        identifier(project, "the project's name")
        identifier(candidate.native_id, "id")
        entry = Gate(project, embedder, now, mask).admit(candidate)
        check_times(candidate, now)
        memory = _give_own_id(store, entry.memory)
        if candidate.created_at is None:
            memory = replace(memory, created_at_quality="exact")  # it is told now, and its id has no time in it
        entry = replace(entry, memory=memory)
    except (RowError, EmbeddingError) as error:
        if store.exists():
            with store.writing(actor) as tx:
                tx.journal.keep_quarantine([astuple(storable(reject(candidate, str(error)), mask))], now)
        raise InputError(f"this cannot be remembered: {error}") from None
    try:
        vector = embedder.embed([embedding_text(entry.memory.content)])
    except EmbeddingError:
        vector = np.empty((0, embedder.dimension), dtype=np.float32)
    with store.writing(actor) as tx:
        known = tx.memories.existing([memory.id, version_id(memory)])
        result = only_new([entry], known)
        if result.wrong:
            raise InputError(f"this cannot be remembered: {result.wrong[0].reason}")
        if not result.fresh:
            same = memory.id if known[memory.id][1] == memory.content_hash else version_id(memory)
            return Remembered(tx.memories.read([same])[same], "unchanged", entry.masked, 0)
        memory = result.fresh[0].memory
        if tx.forgotten.among([entry.memory]):
            raise InputError("this cannot be remembered: a person has had it forgotten in this project")
        tx.memories.add([memory])
        if len(vector):
            tx.vectors.add([memory.id], vector, embedder.name)
        sequence = tx.recallable.generation().sequence
    return Remembered(memory, "new_version" if result.new_versions else "created", entry.masked, sequence)


def _give_own_id(store: Store, memory: Memory) -> Memory:
    """The memory, with another id if its own is another project's: nobody learns of what others have (law 8)."""
    if not store.exists():
        return memory
    with store.reading() as tx:
        owner = tx.memories.existing([memory.id]).get(memory.id)
    if owner is None or owner[0] == memory.project_id:
        return memory
    return replace(memory, id=f"{memory.id}@{hashlib.sha256(memory.project_id.encode()).hexdigest()[:12]}")
