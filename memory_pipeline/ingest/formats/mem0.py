"""Reads memories of mem0: what its `get_all` or its platform exports, and its `history.db`.

An export is a list, or an object or pages with `results`. What the history beside it says was deleted stays deleted;
a history alone gives the memories as its last events left them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import UNREADABLE, Candidate, Reading, Rejected, RowError, dated
from memory_pipeline.ingest.dates import parse_moment
from memory_pipeline.ingest.foreign import archive_expired, foreign_id, newest_time
from memory_pipeline.ingest.importer import FilesImporter, OneFile
from memory_pipeline.ingest.sqlite_files import beside, columns_of, is_sqlite, reading, shows_table
from memory_pipeline.ingest.text_files import Broken, Unreadable, json_items
from memory_pipeline.records import Source

_HISTORY = "history.db"
_EVENTS = ("history", frozenset({"memory_id", "new_memory", "event"}))
#: The last event of each memory, with the time of its first one.
_LAST_EVENTS = """
select memory_id, new_memory, event, first, updated_at
from (
    select *, min(created_at) over (partition by memory_id) as first,
           row_number() over (partition by memory_id order by rowid desc) as back
    from history
    where event in ('ADD', 'UPDATE', 'DELETE')
)
where back = 1
order by first, memory_id
"""
_PLACES = ("", "results", "memories")
_DELETED = "memories that were deleted"
#: Who a memory belongs to: the first of these that it names is its project, since mem0 never mixes them.
_OWNERS = ("user_id", "agent_id", "app_id", "run_id")


class Mem0Importer(FilesImporter):
    """An export of mem0, a directory of its pages, or its history."""

    name = "mem0"
    about = "Memories of mem0: JSON of `get_all` or of the platform's export, its pages in a directory, `history.db`."
    takes = "a JSON file, a directory of JSON files, or history.db"
    takes_directory = None
    lacks = "no JSON file of mem0 and no history.db; give the export's own path"

    def reader(self, place: OneFile, files: Sequence[tuple[str, Path]]) -> Callable[[OneFile], Reading]:
        """Reads the memories of an export, or of a history without any beside it. Raises as `reading` does if the
        history cannot be read: what was deleted would come back."""
        path = place.path
        deleted = _deleted(path if is_sqlite(path) else (path if path.is_dir() else path.parent) / _HISTORY)
        if all(is_sqlite(file) for _, file in files):
            return _read_history
        return lambda file: iter(()) if is_sqlite(file.path) else _read_export(file, deleted)

    def found(self, directory: Path) -> list[Path]:
        """The JSON files and the history in a directory."""
        return [file for file in sorted(directory.iterdir()) if file.suffix == ".json" or _is_history(file)]

    def parts(self, file: Path) -> tuple[Path, ...]:
        """An export and the history beside it; a history and its log."""
        return beside(file) if file.name == _HISTORY else (file, *beside(file.parent / _HISTORY))

    def sign_of(self, path: Path) -> str | None:
        """The fields of its memories, or the events of its history."""
        files = [path] if path.is_file() else sorted(path.iterdir()) if path.is_dir() else []
        for file in files[:50]:
            if _is_history(file):
                return "the events of mem0's history"
            with suppress(InputError):
                first = next(json_items(file, *_PLACES), None) if file.suffix == ".json" and file.is_file() else None
                if first is not None and not isinstance(first, Broken) and _is_memory(first[1]):
                    return "memories with the hashes and owners of mem0"
        return None


def _is_history(path: Path) -> bool:
    return path.name.endswith(".db") and shows_table(path, *_EVENTS)


def _is_memory(item: object) -> bool:
    if not isinstance(item, Mapping) or not isinstance(item.get("memory"), str) or "id" not in item:
        return False
    return "hash" in item or any(owner in item for owner in _OWNERS)


def _deleted(history: Path) -> frozenset[str]:
    """The memories that a history says are deleted; none if it is of another program. Raises as `reading` does."""
    if not history.is_file() or not history.stat().st_size:
        return frozenset()
    try:
        with reading(history) as connection:
            table, columns = _EVENTS
            if not columns <= set(columns_of(connection, table)):
                return frozenset()
            events = connection.execute(_LAST_EVENTS)
            return frozenset(str(memory_id) for memory_id, _, event, _, _ in events if event == "DELETE")
    except InputError as error:
        raise InputError(
            f"{error}; what it says was deleted would come back: repair it, or move it away if it is not mem0's"
        ) from error


def _read_export(file: OneFile, deleted: frozenset[str]) -> Reading:
    for number, entry in enumerate(json_items(file.path, *_PLACES), start=1):
        if isinstance(entry, Broken):
            reason = entry.reason if number > 1 else f"{UNREADABLE}: {entry.reason}"
            yield Rejected(file.name, number, reason)
            return
        line, item = entry
        yield from _memory(file, item, line, deleted)
    relations = sum(1 for relation in json_items(file.path, "relations") if not isinstance(relation, Broken))
    file.skipped.add("relations of the graph", relations)


def _read_history(file: OneFile) -> Reading:
    """The memories as the last events of a history left them."""
    with reading(file.path) as connection:
        for line, (memory_id, words, event, created, updated) in enumerate(connection.execute(_LAST_EVENTS), 1):
            if event == "DELETE":
                file.skipped.add(_DELETED)
                continue
            item = {"id": memory_id, "memory": words, "created_at": created, "updated_at": updated}
            yield from _memory(file, item, line)


def _memory(file: OneFile, item: object, line: int, deleted: frozenset[str] = frozenset()) -> Reading:
    """The memory of an item, nothing if it is left out, or why it cannot be read."""
    words = item.get("memory", item.get("text")) if isinstance(item, Mapping) else None
    try:
        if isinstance(item, Unreadable):
            raise RowError(f"the memory cannot be read: {item.reason}")
        if not isinstance(item, Mapping):
            raise RowError(f"the item is {values.shown(item)}, which is not an object")
        native_id = values.identifier(item.get("id"), "id")
        if not isinstance(words, str):
            raise RowError(values.no_text("memory", words))
        if native_id in deleted:
            file.skipped.add(_DELETED)
        else:
            yield _candidate(file, item, words, native_id, line)
    except RowError as error:
        yield Rejected.of(file.name, line, str(error), words)


def _candidate(file: OneFile, item: Mapping[str, Any], words: str, native_id: str | None, line: int) -> Candidate:
    zone, now = file.zone, file.now
    created = parse_moment(item.get("created_at"), zone, now)
    metadata = item.get("metadata")  # the platform has categories of its own
    stated = item.get("categories") or values.at(metadata, "categories") or values.at(metadata, "category")
    categories = values.labels({"categories": stated}, "categories")
    return Candidate(
        content=words,
        source=Source(Mem0Importer.name, file.name, line),
        native_id=foreign_id(Mem0Importer.name, native_id) if native_id else None,
        project_id=next(
            (owner_id for owner in _OWNERS if (owner_id := values.identifier(item.get(owner), owner))), None
        ),
        typed_under=categories,
        categories=categories,
        effective_date=newest_time(created, parse_moment(item.get("updated_at"), zone, now, "updated_at")),
        **dated(created),
        **archive_expired(item.get("expiration_date"), zone, created, now),
    )
