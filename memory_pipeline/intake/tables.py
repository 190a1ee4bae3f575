"""Readers of row formats: JSONL (memories or conversation turns), CSV and Parquet, streamed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

from memory_pipeline.errors import InputError
from memory_pipeline.intake.candidates import Candidate, Reading, Rejected, RowError
from memory_pipeline.intake.rows import candidate_from_row
from memory_pipeline.records import Source
from memory_pipeline.wording.redaction import redact


def read_jsonl(path: Path, default_zone: tzinfo, now: datetime, max_line_bytes: int) -> Reading:
    """One JSON object a line. A line that is too long, broken or half-written is rejected; the rest goes on."""
    with path.open("rb") as file:
        lines = iter(lambda: file.readline(max_line_bytes + 1), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) > max_line_bytes:
                _skip_rest_of_line(file, line, max_line_bytes)
                yield Rejected(path.name, number, f"the line is longer than {max_line_bytes} bytes")
                continue
            text = line.decode("utf-8", errors="replace").lstrip("\ufeff").strip()
            if text:
                yield _from_json(text, path.name, number, default_zone, now)


def _skip_rest_of_line(file: BinaryIO, line: bytes, step: int) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(step)


def _from_json(text: str, name: str, number: int, default_zone: tzinfo, now: datetime) -> Candidate | Rejected:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Rejected.of(name, number, f"no valid JSON: {error}", text)
    if isinstance(row, Mapping) and isinstance(row.get("message"), Mapping) and "content" not in row:
        row = {"timestamp": row.get("timestamp"), **row["message"]}
    if not isinstance(row, Mapping) or not row:
        return Rejected.of(name, number, "the line is no JSON object with content", text)
    return _from_row(row, name, number, default_zone, now, "jsonl")


def read_csv(path: Path, default_zone: tzinfo, now: datetime, max_line_bytes: int) -> Reading:
    """A header, then one memory a row; lists are JSON or separated by semicolons."""
    csv.field_size_limit(max_line_bytes)
    with path.open("rb") as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")
        reader = csv.DictReader(text)
        if reader.fieldnames is None or "content" not in reader.fieldnames:
            raise InputError(f"'{path}' has no column 'content'; its header is {_shown(reader.fieldnames)}")
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Rejected(path.name, reader.line_num, f"no valid CSV: {error}")
                continue
            row.pop(None, None)
            yield _from_row(row, path.name, reader.line_num, default_zone, now, "csv")


def read_parquet(path: Path, default_zone: tzinfo, now: datetime, max_line_bytes: int) -> Reading:
    """One memory a row, read a row group's slice at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"'{path}' is no readable Parquet file: {error}") from error
    if "content" not in file.schema_arrow.names:
        raise InputError(f"'{path}' has no column 'content'; it has {_shown(file.schema_arrow.names)}")
    for number, row in enumerate(_rows(file), start=1):
        if len(str(row.get("content") or "").encode("utf-8", "replace")) > max_line_bytes:
            yield Rejected(path.name, number, f"the content is longer than {max_line_bytes} bytes")
        else:
            yield _from_row(row, path.name, number, default_zone, now, "parquet")


def _shown(names: Sequence[str] | None) -> str:
    """A header for a message; the first line of a file without one holds anything."""
    return redact(str(names))[0][:400]


def _rows(file: Any) -> Iterator[dict[str, Any]]:
    for batch in file.iter_batches(batch_size=1000):
        yield from batch.to_pylist()


def _from_row(
    row: Mapping[str, Any], name: str, number: int, default_zone: tzinfo, now: datetime, connector: str
) -> Candidate | Rejected:
    try:
        return candidate_from_row(row, Source(connector, name, number), default_zone, now)
    except (RowError, ValueError, KeyError, TypeError) as error:
        reason = str(error) if isinstance(error, RowError) else f"the row cannot be read: {error}"
        return Rejected.of(name, number, reason, str(row.get("content") or ""))
