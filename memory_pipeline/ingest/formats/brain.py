"""Reads a `brain.db`: memories, their vectors, and causal atoms, in any of the schemas that its programs wrote.

Memories are in `stm` or `memories`, their time in `created_at` or `timestamp`, mostly by the local clock;
vectors are in `embeddings`, by `source_type` and `source_id` or by `memory_id`. What this program wrote into the file
is never read, unless its agent changed the words since.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, Finding, Reading, Rejected, RowError, dated
from memory_pipeline.ingest.dates import FAR, parse_moment
from memory_pipeline.ingest.foreign import archive_expired
from memory_pipeline.ingest.importer import Importer, OneFile
from memory_pipeline.ingest.sqlite_files import columns_of, is_sqlite, quoted, reading, records
from memory_pipeline.ingest.values import MAX_CONTENT
from memory_pipeline.records import Causal, Source

_MADE_BY = "memory_pipeline"
#: The greatest number that is one; a brain's scale of importance is not known.
_MOST = sys.float_info.max
_ARCHIVED = re.compile(rf"{_MADE_BY}:(?P<by>.*?)(?: into [^\n]{{1,200}})?:(?P<importance>[^:]{{1,40}})", re.DOTALL)
#: Tables of memories, and what each has at least.
MEMORY_TABLES = (
    ("stm", frozenset({"id", "content"})),
    ("memories", frozenset({"id", "content", "categories"})),
    ("memories", frozenset({"id", "content", "category"})),
)
_WANTED = (
    "id", "content", "categories", "category", "importance", "access_count", "created_at", "timestamp", "expires_at",
    "compressed_from", "archived_by", "archived_at",
)  # fmt: skip
_OF_ATOMS = (
    "id", "subject", "action", "outcome", "consequences", "confidence", "source", "created_at", "timestamp",
    "source_memory_id",
)  # fmt: skip
#: The model and the dimension of the vectors that are taken over and written.
MODEL, DIMENSION = "all-MiniLM-L6-v2", 384
_MOST_IMPORTANT = 3.0
_JUST_BELOW_CRITICAL = 2.49
_PAGE = 200
#: Characters of a long text that are kept beside its vector.
_BEGINNING = 1000
_MOST_BYTES = 4 * MAX_CONTENT


class BrainImporter(Importer):
    """A `brain.db`."""

    name = "brain"
    about = "The SQLite file of a Helios brain (`brain.db`): memories, vectors and causal atoms."

    def read_file(self, file: OneFile) -> Reading:
        """Every memory, then every pinned one, then every atom. Raises InputError if it is no brain.

        Vectors of all-MiniLM-L6-v2 are taken over if that is the store's model; a row whose vector is of another model,
        another size or another text comes without.
        """
        with reading(file.path) as connection:
            yield from _memories(connection, require_table(connection, file.path), file)
            yield from _pins(connection, file)
            yield from _atoms(connection, file)

    def sign_of(self, path: Path) -> str | None:
        if not is_sqlite(path):
            return None
        with reading(path) as connection:
            table = memory_table(connection)
        return f"a table '{table}' of memories with their categories" if table else None

    def default_path(self, settings: Settings) -> Path | None:
        return Path(settings.connectors.brain).expanduser()


def memory_table(connection: sqlite3.Connection) -> str | None:
    """The table of memories of a brain; None if it has none."""
    for table, needed in MEMORY_TABLES:
        if needed <= set(columns_of(connection, table)):
            return table
    return None


def require_table(connection: sqlite3.Connection, path: Path) -> str:
    """The table of memories of the brain at a path. Raises InputError if it has none."""
    table = memory_table(connection)
    if table is None:
        raise InputError(f"'{path}' has no table 'stm' or 'memories' of a brain; check the path")
    return table


def store_id(native_id: str) -> str:
    """The id of a brain's memory in the store."""
    return f"{BrainImporter.name}:{native_id}"


def _memories(connection: sqlite3.Connection, table: str, file: OneFile) -> Reading:
    """Each row of the table of memories, in the order in which they were written."""
    into = _replacements(connection, table)
    numbered = enumerate(records(connection, table, _WANTED, {"content": _MOST_BYTES}), 1)
    while page := list(islice(numbered, _PAGE)):
        is_ours = file.settings.embedding.model == "minilm"
        vectors = _read_vectors(connection, table, page) if is_ours else {}
        for line, row in page:
            if made_as(row.get("compressed_from"), row.get("content")):
                file.skipped.add("memories that this program wrote")
                continue
            try:
                yield _candidate(file, row, line, vectors.get(str(row["id"])), into)
            except RowError as error:
                yield Rejected.of(file.name, line, str(error), row.get("content"))


def _candidate(
    file: OneFile, row: Mapping[str, Any], line: int, vector: tuple[float, ...] | None, into: Mapping[str, str]
) -> Candidate:
    native_id = values.identifier(row["id"], "id")
    if native_id is None:
        raise RowError("id is empty")
    content = row["content"]
    if not isinstance(content, str):
        raise RowError(f"content is {values.shown(content)}, which is not text of up to {_MOST_BYTES} bytes")
    zone, now = file.zone, file.now
    created = parse_moment(values.first_of(row, "created_at", "timestamp"), zone, now)
    categories = _categories(values.first_of(row, "categories", "category"))
    ours = archived_here(row.get("archived_by"))
    importance = ours.importance if ours else values.number(row, "importance", -_MOST, _MOST)
    importance = 1.0 if importance is None else min(max(importance, 0.0), _MOST_IMPORTANT)
    return Candidate(
        content=content,
        source=Source(BrainImporter.name, file.name, line),
        native_id=store_id(native_id),
        typed_under=categories,
        categories=categories,
        reuse_count=_count(row.get("access_count")),
        embedding=vector,
        embedding_model=MODEL if vector else None,
        **{
            "importance": importance,
            **dated(created),
            **archive_expired(row.get("expires_at"), zone, created, now, importance),
            **_history(file, row, native_id, importance, created, into.get(native_id)),
        },
    )


def _history(
    file: OneFile, row: Mapping[str, Any], native_id: str, importance: float, created: datetime | None, into: str | None
) -> dict[str, Any]:
    """The columns for what another program made of the row: the sources of an abstraction, the abstraction of each."""
    history: dict[str, Any] = {}
    if sources := read_source_ids(row.get("compressed_from"), native_id):
        links = tuple((store_id(source_id), "distilled", 1.0) for source_id in sources)
        history |= {"source_links": links, "abstraction_level": 2}
    if into and row.get("archived_by") and not archived_here(row["archived_by"]):
        moment = parse_moment(row.get("archived_at"), file.zone, FAR) or created or file.now
        history |= {
            "archived_by": values.text_value(row, "archived_by"),
            "archived_at": min(moment, file.now).astimezone(UTC),
            "consolidated_into_id": store_id(into),
            "importance_before": min(importance, _JUST_BELOW_CRITICAL),
        }
    return history


def _replacements(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """By memory that another program archived, its abstraction."""
    if not {"compressed_from", "archived_by"} <= set(columns_of(connection, table)):
        return {}
    statement = f"select id, compressed_from from {quoted(table)} where compressed_from is not null"
    into: dict[str, str] = {}
    for native_id, compressed_from in connection.execute(statement):
        if isinstance(native_id, str):
            into |= dict.fromkeys(read_source_ids(compressed_from, native_id), native_id)
    return into


def _read_vectors(
    connection: sqlite3.Connection, table: str, page: Sequence[tuple[int, dict[str, Any]]]
) -> dict[str, tuple[float, ...]]:
    """By id, the usable vectors of some rows. A text that was changed since has none."""
    columns = columns_of(connection, "embeddings")
    key = next((name for name in ("source_id", "memory_id") if name in columns), None)
    value = next((name for name in ("embedding", "vector") if name in columns), None)
    if key is None or value is None:
        return {}
    texts = {row["id"]: row["content"] for _, row in page}
    names = [key, value, *(name for name in ("source_type", "model", "content") if name in columns)]
    known = sorted({table, "stm", "memory", "memories"})
    kinds = known if "source_type" in columns else []
    of_kind = f"source_type in ({', '.join('?' * len(kinds))}) and" if kinds else ""  # its index begins with that
    statement = (
        f"select {', '.join(map(quoted, names))} from embeddings where {of_kind} {quoted(key)} in "
        f"({', '.join('?' * len(texts))}) order by {quoted('rowid')}"
    )
    vectors = {}
    for row in connection.execute(statement, [*kinds, *texts]):
        entry = dict(zip(names, row, strict=True))
        is_todays = _is_current(entry.get("content"), texts.get(entry[key]))
        if is_todays and (vector := _vector(entry[value], entry.get("model"))) is not None:
            vectors[str(entry[key])] = vector
    return vectors


def _is_current(embedded: object, content: object) -> bool:
    """True if a text that was embedded is what the row says now: the whole or, of a long one, the beginning."""
    if not isinstance(embedded, str) or not isinstance(content, str):
        return embedded is None
    return embedded == content or (len(embedded) >= _BEGINNING and content.startswith(embedded))


def _vector(value: object, model: object) -> tuple[float, ...] | None:
    """A vector of the built-in model, of unit length; None if it is none."""
    is_other = isinstance(model, str) and model.rpartition("/")[2] != MODEL
    if is_other or not isinstance(value, bytes) or len(value) != 4 * DIMENSION:
        return None
    numbers = np.frombuffer(value, dtype="<f4").astype(np.float64)
    length = float(np.sqrt((numbers**2).sum())) if np.isfinite(numbers).all() else 0.0
    return tuple((numbers / length).tolist()) if length > 1e-6 else None


def _pins(connection: sqlite3.Connection, file: OneFile) -> Reading:
    """The pinned memories under their labels, which the agent keeps in its context at all times."""
    if not {"id", "label", "content", "pinned_at"} <= set(columns_of(connection, "working_memory")):
        return
    statement = f"select id, label, content, pinned_at from working_memory order by {quoted('rowid')}"
    for line, (native_id, label, content, pinned_at) in enumerate(connection.execute(statement), 1):
        try:
            if not isinstance(content, str):
                raise RowError(f"content is {values.shown(content)}, which is not text")
            yield Candidate(
                content=content,
                source=Source(BrainImporter.name, file.name, line),
                native_id=store_id(values.identifier(native_id, "id") or ""),
                typed_under=(),
                categories=_categories(label),
                pinned=True,
                **dated(parse_moment(pinned_at, file.zone, file.now)),
            )
        except RowError as error:
            yield Rejected.of(file.name, line, f"the pinned row's {error}", content)


def _atoms(connection: sqlite3.Connection, file: OneFile) -> Reading:
    """The atoms, each with the memory that it rests on."""
    if not {"id", "subject", "action", "outcome"} <= set(columns_of(connection, "atoms")):
        return
    for line, row in enumerate(records(connection, "atoms", _OF_ATOMS, {}), 1):
        try:
            yield _finding(row, file)
        except RowError as error:
            yield Rejected.of(file.name, line, f"the atom's {error}", str(row.get("subject") or ""))


def _finding(row: Mapping[str, Any], file: OneFile) -> Finding:
    native_id = values.identifier(row["id"], "id")
    parts = [" ".join((values.text_value(row, part, _LONGEST_PART) or "").split()) for part in _PARTS]
    missing = next((part for part, text in zip(_PARTS[:3], parts, strict=False) if not text), None)
    if native_id is None or missing:
        raise RowError(f"{missing or 'id'} is empty")
    confidence = values.number(row, "confidence", 0.0, 1.0)
    created = parse_moment(values.first_of(row, "created_at", "timestamp"), file.zone, file.now)
    source = values.identifier(row.get("source_memory_id"), "source_memory_id")
    return Finding(
        native_id=store_id(native_id),
        causal=Causal(*parts),
        confidence=1.0 if confidence is None else confidence,
        created_at=(created or file.now).astimezone(UTC),
        stated_by=values.text_value(row, "source") or BrainImporter.name,
        source_ids=(store_id(source),) if source else (),
        file=file.name,
    )


_PARTS = ("subject", "action", "outcome", "consequences")
_LONGEST_PART = 4000


def _categories(value: object) -> tuple[str, ...]:
    """A JSON list, or the text itself as the only one."""
    try:
        return values.labels({"categories": value}, "categories")
    except RowError:
        return (value[: values.MAX_NAME],) if isinstance(value, str) and value.isprintable() else ()


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0


class ArchivedHere(NamedTuple):
    """The content of a row's `archived_by` if this program archived it: by what, and its importance before."""

    by: str
    importance: float


def made_mark(memory_id: str, content: str, source_ids: Sequence[str], stored: str | None) -> str:
    """The `compressed_from` of a row that this program makes; `stored`: that of the memory in the store."""
    more = json.loads(stored) if stored else {}
    made = {"made_by": _MADE_BY, "memory_id": memory_id, "sha256": _sha256(content)}
    return json.dumps({**more, **made, "source_ids": list(source_ids)}, ensure_ascii=False, sort_keys=True)


def made_as(compressed_from: object, content: object) -> str | None:
    """The memory as which this program made a row, if its words are still those that were written."""
    mark = values.json_or_none(compressed_from)
    if not is_made_here(compressed_from) or not isinstance(content, str) or mark.get("sha256") != _sha256(content):
        return None
    return mark["memory_id"] if isinstance(mark.get("memory_id"), str) else None


def is_made_here(compressed_from: object) -> bool:
    """True if this program made a row, whatever it says now."""
    return bool(values.at(values.json_or_none(compressed_from), "made_by") == _MADE_BY)


def archived_mark(by: str, importance: float, into: object = None) -> str:
    """The `archived_by` of a row that this program archives; `into`: the id of the row that says the same."""
    named = str(into) if isinstance(into, str | int) else ""
    return f"{_MADE_BY}:{by}{f' into {named}' if named.isprintable() and 0 < len(named) <= 200 else ''}:{importance!r}"


def archived_here(archived_by: object) -> ArchivedHere | None:
    """The note that this program made when it archived a row; None if it did not."""
    match = _ARCHIVED.fullmatch(archived_by) if isinstance(archived_by, str) else None
    if match is None:
        return None
    for kind in (int, float):  # as `repr` wrote it: a whole number stays whole
        with suppress(ValueError):
            return ArchivedHere(match["by"], kind(match["importance"]))
    return None


def read_source_ids(compressed_from: object, native_id: str) -> list[str]:
    """The others in the `compressed_from` of a row that another program made: a JSON list, bare or in `source_ids`."""
    if is_made_here(compressed_from):
        return []
    mark = values.json_or_none(compressed_from)
    named = mark.get("source_ids") if isinstance(mark, dict) else mark
    ids = (name for name in named if isinstance(name, str)) if isinstance(named, list) else ()
    return [name for name in dict.fromkeys(ids) if name != native_id]


def _sha256(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
