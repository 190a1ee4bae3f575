"""Streaming readers of row formats: JSONL (memories or conversation turns), CSV and Parquet."""

from __future__ import annotations

import csv
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from memory_pipeline.errors import InputError, first_line
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError
from memory_pipeline.ingest.exporting import begins_everything
from memory_pipeline.ingest.importer import Importer, OneFile
from memory_pipeline.ingest.rows import PROJECT_NOT_READ, candidate_from_row, is_turn, names_project_otherwise
from memory_pipeline.ingest.text_files import FALLBACK, RECODED, bounded_lines, first_objects, json_records, opened
from memory_pipeline.ingest.turns import CALLS, OF_SYSTEM, RESULTS, Transcripts, is_nobody, texts_in
from memory_pipeline.ingest.values import MAX_LINE_BYTES, json_or_none
from memory_pipeline.records import Source
from memory_pipeline.text.redaction import redact

#: Rows in memory at once; few, because a row may have megabytes.
_ROWS = 256
_log = logging.getLogger(__name__)
#: What may stand between the columns of a CSV file, in words: a comma, or what spreadsheets write elsewhere.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
#: Characters of a line that are looked at to tell the format.
_LONGEST = 1 << 20
EVERYTHING = "everything of a store, as this program exports it"
_TURNS = "turns of a conversation, one JSON object a line"
#: Columns of which transcripts of agents have at least one in every line; a row of memories has none.
_OF_TRANSCRIPTS = frozenset({"sessionId", "parentUuid", "uuid", "parentId", "payload"})


class JsonlImporter(Importer):
    """A file of JSON lines."""

    name = "jsonl"
    about = "A file with one JSON object per line: memories, or turns of a conversation."

    def read_file(self, file: OneFile) -> Reading:
        """Every line. One that is too long, broken or incomplete is rejected; the others are read."""
        transcripts = Transcripts(self.name, file)
        with opened(file.path) as lines:
            for item in json_records(lines, file.name, MAX_LINE_BYTES, file.skipped, grows=False, strict=True):
                if isinstance(item, Rejected):
                    yield item
                    continue
                number, row = item
                message = row.get("message")
                if isinstance(message, Mapping) and "content" not in row:
                    row = {"timestamp": row.get("timestamp"), **message}
                if is_turn(row):
                    yield from _read_turn(row, number, file, transcripts)
                else:
                    yield read_row(row, number, file, self.name)

    def sign_of(self, path: Path) -> str | None:
        """JSON objects with a text in `content`, one a line."""
        if is_full_export(path, self.name):
            return EVERYTHING
        first = next(first_objects(path, 1, _LONGEST), None)
        return _read_sign(first) if first else None


def is_full_export(path: Path, name: str) -> bool:
    """True if a file starts like an export of everything."""
    text: object = None
    if name == JsonlImporter.name:
        with opened(path) as file:
            text = file.readline(4096)
    elif name == ParquetImporter.name:
        row = next((row for _, row in parquet_rows(path)), None)
        text = row.get("payload") if isinstance(row, dict) else None
    record = json_or_none(text)
    return isinstance(record, dict) and begins_everything(record)


def _read_sign(row: Mapping[str, Any]) -> str | None:
    if _OF_TRANSCRIPTS & row.keys():
        return None
    if isinstance(row.get("content"), str):
        return _TURNS if row.get("role") else "JSON objects with content, one a line"
    message = row.get("message")
    if isinstance(message, Mapping) and {"role", "content"} <= message.keys() and "type" not in row:
        return _TURNS
    return None


def _read_turn(row: Mapping[str, Any], number: int, file: OneFile, transcripts: Transcripts) -> Reading:
    """The turn in a row; what nobody said is counted."""
    content, role = row.get("content"), row["role"]
    if is_nobody(role):
        file.skipped.add(RESULTS if str(role).strip().lower().startswith(("tool", "function")) else OF_SYSTEM)
        return
    if not content and (row.get("tool_calls") or row.get("function_call")):
        file.skipped.add(CALLS)
        return
    if isinstance(content, list):
        content = "\n".join(texts_in(content, file.skipped))
        if not content:
            return
    read = read_row({**row, "content": content}, number, file, JsonlImporter.name)
    yield from transcripts.in_parts(read) if isinstance(read, Candidate) else (read,)


def read_row(row: Mapping[str, Any], number: int, file: OneFile, connector: str) -> Candidate | Rejected:
    """The memory in a row, or the reason why there is none. Nothing in a row affects its neighbours."""
    if names_project_otherwise(row):
        file.skipped.add(PROJECT_NOT_READ)
    try:
        return candidate_from_row(row, Source(connector, file.name, number), file.zone, file.now)
    except RowError as error:
        reason = str(error)
    except Exception as error:
        _log.warning("a row of %s could not be read", file.name, exc_info=True)
        reason = f"the row cannot be read ({type(error).__name__})"
    return Rejected.of(file.name, number, reason, row.get("content"))


class CsvImporter(Importer):
    """A CSV file with a header."""

    name = "csv"
    about = "A CSV file with a header, one memory per row; columns have commas, semicolons or tabs between them."

    def read_file(self, file: OneFile) -> Reading:
        """Every row: columns are separated as in the header, and lists are JSON or have semicolons between their items.

        A row is named by its first line. A broken row costs only that line: reading continues with the next one.
        """
        with opened(file.path, newline="", guess=True) as text:
            if text.encoding == FALLBACK:
                file.skipped.note(RECODED)
            csv.field_size_limit(MAX_LINE_BYTES)
            lines = bounded_lines(text, MAX_LINE_BYTES)
            first = next(lines, (0, "", False))
            separator = _find_separator(first[1][:MAX_LINE_BYTES])
            records = _records(chain([first], lines), separator)
            _, header = next(records)
            if isinstance(header, str) or "content" not in header:
                raise InputError(f"'{file.path}' has no column 'content'; {_describe_header(header, separator)}")
            for number, fields in records:
                if isinstance(fields, str):
                    yield Rejected(file.name, number, fields)
                elif any(fields[len(header) :]):
                    reason = (
                        f"the row has {len(fields)} fields, the header names {len(header)}; quote texts with "
                        f"{SEPARATORS[separator]}"
                    )
                    yield Rejected.of(file.name, number, reason, separator.join(fields))
                elif fields:
                    yield read_row(dict(zip(header, fields, strict=False)), number, file, self.name)

    def sign_of(self, path: Path) -> str | None:
        """A header with the column `content`."""
        with opened(path, newline="", guess=True) as file:
            line = file.readline(_LONGEST).lstrip("\ufeff")
        named = "content" in next(csv.reader([line], delimiter=_find_separator(line)), [])
        is_json = line.lstrip().startswith(("{", "["))
        return "a header with the column 'content'" if named and not is_json else None


def _describe_header(header: str | list[str], separator: str) -> str:
    """The content of a header without the needed column, and the way to mend it."""
    first = header if isinstance(header, str) else separator.join(header)
    if first.lstrip().startswith(("{", "[")):
        return "it holds JSON; 'import auto' tells the format"
    return (
        f"its header is {masked_header(header)}, read as separated by {SEPARATORS[separator]}; call the column with "
        "the words 'content', and that of their times 'created_at'"
    )


def _find_separator(header: str) -> str:
    """The separator that gives a header the column `content`, else the comma if it has one, else the most columns."""
    columns = {separator: next(csv.reader([header], delimiter=separator), []) for separator in SEPARATORS}
    has_comma = len(columns[","]) > 1
    return max(columns, key=lambda each: ("content" in columns[each], has_comma and each == ",", len(columns[each])))


def _records(lines: Iterator[tuple[int, str, bool]], separator: str) -> Iterator[tuple[int, list[str] | str]]:
    """Records of a CSV file, each with the number of its first line and its fields, or a reason why it has none.

    A quote that is never closed would swallow the rows below it. So a record that does not end properly is given up
    at its first line, and its other lines are read again.
    """
    waiting: deque[tuple[int, str, bool]] = deque()
    taken: list[tuple[int, str, bool]] = []

    def feed() -> Iterator[str]:
        size = 0
        while (line := waiting.popleft() if waiting else next(lines, None)) is not None:
            taken.append(line)
            size += len(line[1])
            if line[2] or size > MAX_LINE_BYTES:
                raise csv.Error(f"longer than {MAX_LINE_BYTES} bytes")
            yield line[1]

    while True:
        taken.clear()
        try:
            fields: list[str] | str = next(csv.reader(feed(), strict=True, delimiter=separator), [])
        except csv.Error as error:
            waiting.extendleft(reversed(taken[1:]))
            fields = _read_loosely(taken, separator, str(error))
        if not taken:
            return
        yield taken[0][0], fields


def _read_loosely(taken: Sequence[tuple[int, str, bool]], separator: str, why: str) -> list[str] | str:
    (_, line, too_long), *others = taken
    if not others and not too_long:
        with suppress(csv.Error, StopIteration):
            # A quote in the middle of a field, which most programs accept without complaint.
            return next(csv.reader([line], delimiter=separator))
    spans = f"; it spans {len(taken)} lines, perhaps because of a missing closing quote" if others else ""
    return f"the row is {why}" if why.startswith("longer") else f"not valid CSV: {why}{spans}"


def masked_header(names: str | Sequence[str]) -> str:
    """A header for a message; the first line of a file without one may contain anything."""
    return redact(str(names))[0][:400]


class ParquetImporter(Importer):
    """A Parquet file."""

    name = "parquet"
    about = "A Parquet file with one memory per row."

    def read_file(self, file: OneFile) -> Reading:
        """Every row. Raises InputError for a file that is not Parquet or has no column `content`."""
        for number, row in parquet_rows(file.path):
            content = row if isinstance(row, str) else row.get("content")
            if isinstance(row, str):
                yield Rejected(file.name, number, row)
            elif isinstance(content, str) and len(content.encode("utf-8", "surrogatepass")) > MAX_LINE_BYTES:
                yield Rejected(file.name, number, f"the content is longer than {MAX_LINE_BYTES} bytes")
            else:
                yield read_row(row, number, file, self.name)

    def sign_of(self, path: Path) -> str | None:
        """Parquet's mark, and the column `content`."""
        if not is_parquet(path):
            return None
        return EVERYTHING if is_full_export(path, self.name) else "a Parquet table with the column 'content'"


def is_parquet(path: Path) -> bool:
    """True if a file begins as those of Parquet do."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Row number and columns of every row; where rows cannot be read, the number of the first one and the reason."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names = file.schema_arrow.names
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"'{path}' is not a readable Parquet file: {first_line(error)}") from error
    with file:
        if "content" not in names:
            raise InputError(f"'{path}' has no column 'content'; it has {masked_header(names)}")
        before = 0
        for group, size in enumerate(sizes):
            yield from _read_group(file, group, before, size)
            before += size


def _read_group(file: Any, group: int, before: int, size: int) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The rows of one group; earlier groups have `before` rows."""
    read = 0
    try:
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], use_threads=False):
            for row in _read_batch(batch):
                read += 1
                yield before + read, row
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first, last = before + read + 1, before + max(size, read + 1)
        yield first, f"rows {first} to {last} cannot be read, the file is damaged there: {first_line(error)}"


def _read_batch(batch: Any) -> Iterator[dict[str, Any] | str]:
    """The columns of every row, with times in microseconds, the resolution of a memory; or why one cannot be read."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, column in columns.items():
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
            columns[name] = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    for number in range(batch.num_rows):
        row: dict[str, Any] = {}
        wrong = ""
        for name, column in columns.items():
            try:
                row[name] = column[number].as_py()
            except (ValueError, OverflowError, LookupError, TypeError) as error:
                wrong = wrong or f"{name} cannot be read: {first_line(error)}"
        yield wrong or row
