"""Reads a LangGraph store from SQLite or PostgreSQL: the values that an agent put under namespaces and keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError, first_line
from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError, dated
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.foreign import archive_expired, foreign_id, newest_time
from memory_pipeline.ingest.importer import Importer, OneFile, readable_name
from memory_pipeline.ingest.sqlite_files import columns_of, reading, records, shows_table
from memory_pipeline.ingest.values import MAX_CONTENT
from memory_pipeline.records import MAX_ID, Source

_ADDRESS = re.compile(r"postgres(?:ql)?:/{1,2}(?=[^/])")
_PAGE = 200
_WAIT_S = 10
_ROWS = f"""
select prefix, key, case when octet_length(value::text) <= {4 * MAX_CONTENT} then value::text end,
       created_at, updated_at, expires_at
from store
order by prefix, key
"""
_ROWS_OF_EARLIER = _ROWS.replace("expires_at", "null")
_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at")
NEEDED = frozenset({"prefix", "key", "value", "created_at"})
#: Keys of a value that hold its words, if it is an object.
_WORDS = ("content", "text", "memory", "fact", "data", "value")
#: Keys beside the words that say what kind of object it is.
_KINDS = ("kind", "type", "category")
_MOST_DEPTH = 8


class LangGraphImporter(Importer):
    """A LangGraph store."""

    name = "langgraph"
    about = "A LangGraph store (LangMem too) in SQLite, or at `postgresql://...`: the values under namespaces and keys."
    takes = "an SQLite file or the address of a PostgreSQL database"

    def read_file(self, file: OneFile) -> Reading:
        """Every value; each namespace is a project. Naive times are in UTC."""
        rows = read_rows(file.path) if self.takes_address(file.path) else _rows_of_file(file.path)
        for line, (name, item) in enumerate(rows, 1):
            value: object = item.get("value")
            try:
                value = _parsed(value)
                yield _candidate(item, value, Source(self.name, name, line), file.now)
            except RowError as error:
                yield Rejected.of(name, line, str(error), value)

    def sign_of(self, path: Path) -> str | None:
        return "a LangGraph table 'store' of values" if shows_table(path, "store", NEEDED) else None

    def takes_address(self, path: Path) -> bool:
        """`postgresql://...`, of which a path keeps one slash."""
        return bool(_ADDRESS.match(str(path)))


def _rows_of_file(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The name of the file, and each row of its store."""
    with reading(path) as connection:
        if not set(columns_of(connection, "store")) >= NEEDED:
            raise InputError(f"'{path}' has no table 'store' of LangGraph; check the path")
        for row in records(connection, "store", _COLUMNS, {"value": 4 * MAX_CONTENT}, "prefix, key"):
            yield readable_name(path.name), row


def _parsed(value: object) -> object:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    if value is None:
        raise RowError("value is empty, or too long for a memory")
    try:
        return json.loads(value, parse_constant=lambda _: None) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise RowError("value is not valid JSON") from None


def _candidate(item: Mapping[str, Any], value: object, source: Source, now: datetime) -> Candidate:
    prefix = values.text_value(item, "prefix", values.MAX_PATH) or ""
    key = values.text_value(item, "key", values.MAX_PATH) or ""
    words, kind = extract_words(value)
    escaped = prefix.replace("%", "%25").replace("/", "%2F")  # in an id, the slash behind it is the first one
    created = parse_moment(item.get("created_at"), UTC, now)
    categories = (kind[: values.MAX_NAME],) if kind and kind != "Memory" else ()
    return Candidate(
        content=words,
        source=source,
        native_id=foreign_id(LangGraphImporter.name, f"{escaped}/{key}"),
        project_id=values.identifier(prefix, "the namespace") if len(prefix) <= MAX_ID else prefix[:MAX_ID],
        typed_under=categories,
        categories=categories,
        effective_date=newest_time(created, parse_moment(item.get("updated_at"), UTC, now, "updated_at")),
        **dated(created),
        **archive_expired(item.get("expires_at"), UTC, created, now),
    )


def extract_words(value: object) -> tuple[str, str]:
    """The words of a value and its kind: a text itself, the text of an object, or its fields as lines."""
    kind = ""
    for _ in range(_MOST_DEPTH):
        if isinstance(value, str):
            return value, kind
        if not isinstance(value, Mapping):
            break
        kind = next((value[k] for k in _KINDS if isinstance(value.get(k), str)), kind)
        rest = {name: part for name, part in value.items() if name not in _KINDS and part not in (None, "", [], {})}
        if len(rest) != 1 or next(iter(rest)) not in _WORDS:
            return "\n".join(_lines(rest, 0)), kind
        value = next(iter(rest.values()))
    return "\n".join(_lines(value, 0)), kind


def _lines(value: object, depth: int, name: str = "") -> Iterator[str]:
    """The fields of a value as `name: value`, those of an object within under `name.`, lists on one line."""
    start = f"{name}: " if name else ""
    if depth > _MOST_DEPTH:
        yield f"{start}..."
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if item not in (None, "", [], {}):
                yield from _lines(item, depth + 1, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        yield f"{start}{', '.join(str(item) for item in value)}"
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, depth + 1, name)
    else:
        yield f"{start}{value}"


def read_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The name of the database and each row of its store.

    Raises InputError if psycopg is not installed, or the database cannot be reached or has no store.
    """
    try:
        import psycopg
    except ImportError as error:
        raise InputError(
            "reading from PostgreSQL needs psycopg; install it with 'pip install \"memory_pipeline[postgres]\"'"
        ) from error
    address = _ADDRESS.sub("postgresql://", str(path), count=1)
    try:
        with psycopg.connect(address, connect_timeout=_WAIT_S) as connection:
            connection.read_only = True
            names = connection.execute(
                "select column_name from information_schema.columns where table_name = 'store'"
            ).fetchall()
            columns = {str(row[0]) for row in names}
            if not {"prefix", "key", "value", "created_at", "updated_at"} <= columns:
                raise InputError(f"the database '{connection.info.dbname}' has no table 'store' of LangGraph")
            statement = _ROWS if "expires_at" in columns else _ROWS_OF_EARLIER
            with connection.cursor("memory_pipeline") as cursor:
                cursor.itersize = _PAGE
                cursor.execute(statement)  # type: ignore[arg-type, unused-ignore]
                for row in cursor:
                    yield connection.info.dbname, dict(zip(_COLUMNS, row, strict=True))
    except psycopg.Error as error:
        raise InputError(f"the PostgreSQL database cannot be read: {first_line(error)}") from error
