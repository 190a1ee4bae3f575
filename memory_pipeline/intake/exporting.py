"""Out of the store again: the active memories as rows, or everything (full_export.py), to JSONL or Parquet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.intake.export_rows import export_row, parquet_row, parquet_schema
from memory_pipeline.intake.full_export import json_line, write_everything
from memory_pipeline.intake.whole_file import whole_file
from memory_pipeline.records import LineageLink, Memory
from memory_pipeline.store import Store, all_memories, lineage_of

EXPORT_FORMATS = ("jsonl", "parquet")


def export_memories(store: Store, name: str, path: Path, *, everything: bool = False) -> int:
    """Write memories as rows to `path`, whole or not at all; return how many.

    Only the active ones; with `everything` all that the store holds (full_export.py). Raises InputError for an
    unknown format or a path that cannot be written, StoreError when the disk is full.
    """
    _check_target(name, path)
    if everything:
        return write_everything(store, name, path)
    with store.reading() as tx:
        memories = all_memories(tx, include_archived=False)
        links = lineage_of(tx, [memory.id for memory in memories])
    return write_rows(name, path, memories, links)


def write_rows(name: str, path: Path, memories: list[Memory], links: list[LineageLink]) -> int:
    """Write these memories with their direct sources to `path`; errors as in `export_memories`."""
    _check_target(name, path)
    rows = _rows(memories, links)
    with whole_file(path) as partial:
        if name == "jsonl":
            with partial.open("w", encoding="utf-8") as file:
                file.writelines(json_line(row) for row in rows)
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.Table.from_pylist([parquet_row(row) for row in rows], schema=parquet_schema())
            pq.write_table(table, partial)
    return len(memories)


def _check_target(name: str, path: Path) -> None:
    if name not in EXPORT_FORMATS:
        raise InputError(f"no export format is called '{name}'; use one of {', '.join(EXPORT_FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"'{path}' cannot be written: name a file in a directory that exists")


def _rows(memories: list[Memory], links: list[LineageLink]) -> Iterator[dict[str, Any]]:
    sources: dict[str, list[LineageLink]] = defaultdict(list)
    for link in links:
        sources[link.memory_id].append(link)
    for memory in memories:
        yield export_row(memory, sources[memory.id])
