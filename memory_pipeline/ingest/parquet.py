"""Reads Parquet files one row group at a time, so that a damaged page affects only the rest of its group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.ingest.candidates import Reading, Rejected, Skipped
from memory_pipeline.ingest.file_choice import readable_name
from memory_pipeline.ingest.importer import Importer
from memory_pipeline.ingest.rows import PROJECT_NOT_READ, names_project_otherwise
from memory_pipeline.ingest.tables import read_row, shown
from memory_pipeline.ingest.values import MAX_LINE_BYTES

#: Rows in memory at once; few, because a row may have megabytes.
_ROWS = 256


class ParquetImporter(Importer):
    """A Parquet file."""

    name = "parquet"
    about = "A Parquet file with one memory per row."

    def read(self, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped) -> Reading:
        """Every row."""
        return read_parquet(path, default_zone, now, MAX_LINE_BYTES, skipped)

    def evidence(self, path: Path) -> str | None:
        """Parquet's mark, and the column `content`."""
        from memory_pipeline.ingest.recognising import sign_of_parquet

        return sign_of_parquet(path)


def read_parquet(path: Path, default_zone: tzinfo, now: datetime, max_line_bytes: int, skipped: Skipped) -> Reading:
    """One memory per row. Raises InputError for a file that is not Parquet or has no column `content`."""
    name = readable_name(path.name)
    for number, row in parquet_rows(path):
        if isinstance(row, str):
            yield Rejected(name, number, row)
            continue
        content = row.get("content")
        if isinstance(content, str) and len(content.encode("utf-8", "surrogatepass")) > max_line_bytes:
            yield Rejected(name, number, f"the content is longer than {max_line_bytes} bytes")
        else:
            if names_project_otherwise(row):
                skipped.add(PROJECT_NOT_READ)
            yield read_row(row, name, number, default_zone, now, ParquetImporter.name)


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns of a file. Raises InputError for one that is not Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"'{path}' is not a readable Parquet file: {_first_line(error)}") from error


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Row number and columns of every row; where rows cannot be read, the number of the first one and the reason."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names = file.schema_arrow.names
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"'{path}' is not a readable Parquet file: {_first_line(error)}") from error
    with file:
        if "content" not in names:
            raise InputError(f"'{path}' has no column 'content'; it has {shown(names)}")
        before = 0
        for group, size in enumerate(sizes):
            yield from _rows_of_group(file, group, before, size)
            before += size


def _rows_of_group(file: Any, group: int, before: int, size: int) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The rows of one group; earlier groups have `before` rows."""
    import pyarrow as pa

    read = 0
    try:
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], use_threads=False):
            for row in _rows_of_batch(batch):
                read += 1
                yield before + read, row
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first, last = before + read + 1, before + max(size, read + 1)
        yield first, f"rows {first} to {last} cannot be read, the file is damaged there: {_first_line(error)}"


def _rows_of_batch(batch: Any) -> Iterator[dict[str, Any] | str]:
    columns = {name: _cells(name, column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    for cells in zip(*columns.values(), strict=True):
        wrong = next((cell.why for cell in cells if isinstance(cell, _Unreadable)), None)
        yield wrong or dict(zip(columns, cells, strict=True))


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A cell that cannot be read, with the reason."""

    why: str


def _cells(name: str, column: Any) -> list[Any]:
    """The values of a column, with times in microseconds, the resolution of a memory."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, LookupError, TypeError):
        return [_cell(name, cell) for cell in column]


def _cell(name: str, cell: Any) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError, LookupError, TypeError) as error:
        return _Unreadable(f"{name} cannot be read: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
