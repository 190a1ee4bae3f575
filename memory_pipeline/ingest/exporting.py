"""Exports the active memories as rows, or everything (full_export.py), to JSONL or Parquet."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_pipeline.config.exports import EXPORT_FORMATS
from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.files.writing import check_output, writing_whole
from memory_pipeline.ingest.export_rows import MARK, export_row, is_export_row, parquet_row, parquet_schema
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.ingest.full_export import json_line, write_everything
from memory_pipeline.ingest.full_import import is_full_export
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import Store

#: A longer first line is not a row of an export.
_LONGEST_LINE = 16 << 20


def export_memories(store: Store, name: str, path: Path, *, everything: bool = False, force: bool = False) -> int:
    """Write memories as rows to `path`, completely or not at all; return their number.

    Writes only the active memories; with `everything`, all contents of the store (full_export.py). Raises InputError
    for an unknown format, and OutputError for a path that cannot or must not be written and for a full disk.
    """
    check_export(store, name, path, everything=everything, force=force)
    if everything:
        with writing_whole(path, lambda found: is_export(name, found), force=force) as file:
            return write_everything(store, name, file)
    with store.reading() as tx:
        memories = tx.memories.all(include_archived=False)
        links = tx.lineage.of([memory.id for memory in memories])
    return write_rows(store, name, path, memories, links, force=force)


def write_rows(
    store: Store, name: str, path: Path, memories: list[Memory], links: list[LineageLink], *, force: bool = False
) -> int:
    """Write these memories with their direct sources to `path`; errors as in `export_memories`.

    An existing file is replaced if it is an earlier export, or with `force`; the file that memories of the store
    came from is never replaced.
    """
    check_export(store, name, path, force=force)
    single_files = {name for name, importer in IMPORTERS.items() if importer.takes_directory is False}
    if path.name in {m.source.file for m in memories if m.source.connector in single_files} and path.exists():
        raise OutputError(
            f"memories of this store came from a file named '{path.name}'; name another file than '{path}'"
        )
    rows = _rows(memories, links)
    with writing_whole(path, lambda found: is_export(name, found), force=force, keep_equal=True) as file:
        if name == "jsonl":
            file.writelines(json_line(row).encode() for row in rows)
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.Table.from_pylist([parquet_row(row) for row in rows], schema=parquet_schema())
            pq.write_table(table, file)
    return len(memories)


def check_export(store: Store, name: str, path: Path, *, everything: bool = False, force: bool | None = False) -> None:
    """Raises the errors of `export_memories` before any work is done. An export of everything is replaced by a
    smaller one only with `force`, which is None if the command has no `--force`."""
    if name not in EXPORT_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_FORMATS)}")
    check_is_free(path, store.path)
    target = check_output(path, lambda found: is_export(name, found), force=force)
    if not everything and not force and target.is_file() and target.stat().st_size and is_full_export(target, name):
        raise OutputError(
            f"'{path}' is an export of everything in a store, and would be replaced by memories only; name another file"
            + ("" if force is None else ", or add --force")
        )


def is_export(name: str, path: Path) -> bool:
    """Whether a file is an earlier export in this format, that is, whether its rows have the columns of one."""
    if name == "parquet":
        return _is_parquet_export(path)
    with path.open("rb") as file:
        line = file.readline(_LONGEST_LINE)
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return is_export_row(row)


def _is_parquet_export(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            metadata = pq.read_schema(file).metadata or {}
    except (pa.ArrowException, OSError):
        return False
    return MARK.items() <= metadata.items()


def _rows(memories: list[Memory], links: list[LineageLink]) -> Iterator[dict[str, Any]]:
    sources: dict[str, list[LineageLink]] = defaultdict(list)
    for link in links:
        sources[link.memory_id].append(link)
    for memory in memories:
        yield export_row(memory, sources[memory.id])
