"""Imports an export of everything: into an empty store as the same store, into another one row by row.

The file is first read once to verify that it is complete. Then, if the store is empty, another store is filled next
to it, checked, and moved into place, so that nobody ever sees an incomplete one. Otherwise its memories pass the
gate like any other row, followed by everything else that is known about the imported ones.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any, NamedTuple

from memory_pipeline.errors import InputError, MemoryPipelineError
from memory_pipeline.ingest.candidates import Candidate, Rejected, RowError
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.exporting import FIRST, LAST, MEMORY, VERSION, find_table
from memory_pipeline.ingest.gate import as_memory, check_candidate
from memory_pipeline.ingest.importer import OneFile
from memory_pipeline.ingest.rows import candidate_from_row
from memory_pipeline.ingest.tables import parquet_rows, read_row
from memory_pipeline.ingest.text_files import bounded_lines, opened
from memory_pipeline.ingest.values import MAX_LINE_BYTES, check_json, json_or_none
from memory_pipeline.records import LineageLink, Source, read_draft
from memory_pipeline.store import AUDIT_LOG, FOLLOWING_TABLES, Store, put_in_blank_place, remove_store, schema_number

_BATCH_ROWS = 500
_BATCH_CHARS = 4_000_000
_PROPOSAL = "proposal"
#: Longest line of an export: the largest memory with all its metadata.
_MAX_LINE = 64_000_000

ALTERED = "it was altered after it was written"


class Item(NamedTuple):
    """One record of an export: its line, kind, fields, the text that its hash is of, and its length in characters."""

    line: int
    kind: str
    row: dict[str, Any]
    text: str
    size: int


@dataclass
class FullExport:
    """A file with everything of a store. Iterating over it gives its memories, as any reader does.

    `digest`: SHA-256 of the file without its last line; for a Parquet file, of the payloads of all rows but the last.
    Known after `what_is_wrong`.
    """

    file: OneFile
    format: str
    digest: str = ""
    _first: dict[str, Any] = field(default_factory=dict)
    _last: dict[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Candidate | Rejected]:
        """The memories, each as a candidate, and the rows that could not be read."""
        for item in self.items():
            if isinstance(item, Rejected):
                yield item
            elif item.kind == MEMORY and item.size > MAX_LINE_BYTES:
                yield Rejected(self.file.name, item.line, f"the row is longer than {MAX_LINE_BYTES} bytes")
            elif item.kind == MEMORY:
                yield _with_token_count(read_row(item.row, item.line, self.file, self.format), item.row)

    def items(self) -> Iterator[Item | Rejected]:
        """Every record between the first and the last."""
        return (item for item in self._all() if isinstance(item, Rejected) or item.kind not in (FIRST, LAST))

    def followers(self) -> Iterator[Item]:
        """The records that may be added to a store with memories, after the memories."""
        for item in self.items():
            if isinstance(item, Item) and find_table(item.kind) in FOLLOWING_TABLES:
                try:
                    check_json(item.row, item.kind)
                    if item.kind == _PROPOSAL:
                        read_draft(str(item.row.get("policy")), str(item.row.get("draft")))
                except (RowError, ValueError):
                    continue
                yield item

    def what_is_wrong(self) -> str | None:
        """Why the file is not complete and unaltered, or None. Raises InputError for a file of a newer program."""
        counts: Counter[str] = Counter()
        digest = hashlib.sha256()
        for item in self._all():
            if isinstance(item, Rejected):
                return f"line {item.line}: {item.reason}"
            if self._last:
                return f"something follows its last record, at line {item.line}"
            if item.kind == LAST:
                self._last = item.row
                continue
            digest.update(item.text.encode("utf-8", "surrogateescape"))
            counts[item.kind] += 1
            if item.kind == FIRST:
                self._check_version(item)
                self._first = item.row
        if not self._last:
            return "its last record is missing: it was truncated"
        if self._last.get("records") != dict(counts):
            return "it does not contain as many records as its last one says"
        self.digest = digest.hexdigest()
        return None if self._last.get("sha256") == self.digest else ALTERED

    @property
    def contents(self) -> object:
        """The contents hash of the exporting store, or None if computed in another way; known after `what_is_wrong`."""
        return self._last.get("contents") if self._first.get("schema") == schema_number() else None

    def _check_version(self, item: Item) -> None:
        schema, newest = item.row.get("schema"), schema_number()
        if item.row.get("version") != VERSION or not isinstance(schema, int) or schema > newest:
            raise InputError(
                f"'{self.file.path}' was exported by a newer program (version {item.row.get('version')}, schema "
                f"{schema}; this one knows {VERSION} and {newest}); install that one"
            )

    def _all(self) -> Iterator[Item | Rejected]:
        return self._of_jsonl() if self.format == "jsonl" else self._of_parquet()

    def _of_jsonl(self) -> Iterator[Item | Rejected]:
        with opened(self.file.path) as file:
            for number, line, too_long in bounded_lines(file, _MAX_LINE):
                item = None if too_long else _item(number, line)
                yield item or Rejected(self.file.name, number, "the line is not a record of an export", line[:160])

    def _of_parquet(self) -> Iterator[Item | Rejected]:
        for number, row in parquet_rows(self.file.path):
            if isinstance(row, str):
                yield Rejected(self.file.name, number, row)
                continue
            payload = row.pop("payload", None)
            more = _item(number, payload, kind=row.get("record")) if isinstance(payload, str) else None
            if more is None:
                yield Rejected(self.file.name, number, "the row is not a record of an export")
            elif more.kind == MEMORY:
                row |= more.row
                yield more._replace(row=row, size=more.size + len(str(row.get("content"))))
            else:
                yield more


def restore(store: Store, export: FullExport, actor: str) -> str | None:
    """Turn an empty store into the exported one. Returns None on success, otherwise the reason.

    The store is unchanged unless everything fits and the result is sound.
    """
    store.path.parent.mkdir(parents=True, exist_ok=True)
    incoming = Store(store.path.with_name(f".{store.path.name}.incoming"))
    remove_store(incoming)
    try:
        return _fill(incoming, export, actor) or (
            None if put_in_blank_place(store, incoming) else "the store was changed in the meantime"
        )
    except RowError as error:
        return str(error)
    except KeyError as error:
        return f"it contains records of a kind that this program does not know: {error}"
    except (TypeError, ValueError, OverflowError) as error:
        return f"one of its records does not fit ({type(error).__name__})"
    finally:
        remove_store(incoming)


def bring_what_follows(store: Store, export: FullExport, actor: str) -> list[str]:
    """Add the conflicts, decisions, atoms and playbook of imported memories that fit here; returns sentences on it."""
    try:
        with store.writing(actor) as tx, tx.transfer.staging():
            before = set(tx.integrity.check(deep=True))
            tables = tx.transfer.tables()
            for kind, items in _batches(export.followers()):
                table = find_table(kind)
                tx.transfer.stage(table, tables[table], [item.row for item in items])
            counts = tx.transfer.let_follow()
            new = [finding for finding in tx.integrity.check(deep=True) if finding not in before]
            if new:
                raise InputError(f"{new[0].rule}: {new[0].where}: {new[0].problem}")
    except MemoryPipelineError as error:
        return [f"What is known about these memories (conflicts, atoms, playbook, log) was not imported: {error}."]
    came = ", ".join(f"{number} {table}" for table, (number, _) in counts.items() if number)
    left = ", ".join(f"{number} {table}" for table, (_, number) in counts.items() if number)
    notes = [f"Imported with them: {came}."] if came else []
    return [*notes, f"Not imported, because already here or about other memories: {left}."] if left else notes


def _fill(incoming: Store, export: FullExport, actor: str) -> str | None:
    """Write all records into a separate store. Returns why it is not sound, or None."""
    with incoming.writing(actor) as tx:
        tables = tx.transfer.tables()
    at_audit = False
    with incoming.small_steps():
        for kind, items in _batches(export.items()):
            table = find_table(kind)
            try:
                with incoming.writing(actor) as tx:
                    if kind == MEMORY:
                        _insert(tx, items, export)
                        continue
                    if table == AUDIT_LOG and not at_audit:
                        tx.transfer.replace_audit_log()
                        at_audit = True
                    tx.transfer.insert(table, tables[table], [item.row for item in items])
            except MemoryPipelineError as error:
                return f"its {kind} records do not fit: {error}"
        with incoming.writing(actor) as tx:
            tx.transfer.note_arrival(actor, export.file.name, export.digest)
    with incoming.reading() as tx:
        findings = tx.integrity.check(deep=True)
        if export.contents not in (None, tx.transfer.digest()):
            return ALTERED
    if findings:
        finding = findings[0]
        return f"its contents are not sound ({finding.rule}: {finding.where}: {finding.problem})"
    return None


def _insert(tx: Any, items: list[Item], export: FullExport) -> None:
    memories, links = [], []
    for item in items:
        candidate = candidate_from_row(item.row, Source(export.format, export.file.name, item.line), UTC, None)
        candidate = _with_token_count(candidate, item.row)
        check_candidate(candidate)
        memory = as_memory(candidate)
        updated = parse_moment(item.row.get("updated_at"), UTC, None, "updated_at")
        memories.append(replace(memory, updated_at=updated and updated.astimezone(UTC)))
        links += [LineageLink(memory.id, *link) for link in candidate.source_links]
    tx.memories.add(memories)
    tx.lineage.add(links)


def _batches(items: Iterable[Item | Rejected]) -> Iterator[tuple[str, list[Item]]]:
    """Consecutive records of one kind, in batches of bounded size."""
    batch: list[Item] = []
    size = 0
    for item in items:
        if isinstance(item, Rejected):
            raise RowError(f"line {item.line}: {item.reason}")
        if batch and (item.kind != batch[0].kind or len(batch) >= _BATCH_ROWS or size + item.size > _BATCH_CHARS):
            yield batch[0].kind, batch
            batch, size = [], 0
        batch.append(item)
        size += item.size
    if batch:
        yield batch[0].kind, batch


def _item(number: int, text: str, kind: object = None) -> Item | None:
    row = json_or_none(text)
    if not isinstance(row, dict):
        return None
    named = row.pop("record", kind)
    return Item(number, named, row, text, len(text)) if isinstance(named, str) else None


def _with_token_count(read: Any, row: dict[str, Any]) -> Any:
    """The token count of the exporting store, on which its ratios are based."""
    count = row.get("token_count")
    if isinstance(read, Candidate) and type(count) is int and 0 < count < 2**31:
        return replace(read, token_count=count)
    return read
