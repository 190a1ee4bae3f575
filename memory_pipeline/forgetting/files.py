"""Takes words out of the files beside a store, whatever form they have: Dagster's history, reports, pages, answers.

What can be made again is removed; of the rest, what quotes the words is replaced. A database of SQLite is written anew:
it leaves what was deleted in its free pages and its log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from memory_pipeline.errors import OutputError, StoreBusyError
from memory_pipeline.files.writing import cause_and_mend, write_text
from memory_pipeline.ingest.sqlite_files import columns_of, is_sqlite, quoted
from memory_pipeline.ingest.tables import is_parquet
from memory_pipeline.killpoints import reached
from memory_pipeline.text.own_words import OwnWords

_BUSY_S = 10.0


def clean_files(places: Iterable[Path], words: OwnWords) -> list[str]:
    """Take words out of every file in some places; returns the files that were changed or removed."""
    changed = []
    for path in walk_files(places):
        try:
            if _clean(path, words):
                changed.append(str(path))
        except OSError as error:
            raise OutputError(f"'{path}' could not be cleaned: {cause_and_mend(error)}") from error
        reached("forget.file")
    return changed


def walk_files(places: Iterable[Path]) -> Iterator[Path]:
    """Every file in some places, once; links are not followed."""
    seen: set[Path] = set()
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path not in seen and path.is_file() and not path.is_symlink():
                seen.add(path)
                yield path


def quotes(path: Path, words: OwnWords) -> bool:
    """True if a file still says any of it, read in the form that it has."""
    if is_sqlite(path):
        with closing(_opened(path)) as database:
            return any(
                words.stands_in(text) for table in _list_tables(database) for _, _, text in _read_texts(database, table)
            )
    if is_parquet(path):
        return _parquet_quotes(path, words)
    text = _read_text(path)
    return text is not None and words.rewritten(text) != text


def _clean(path: Path, words: OwnWords) -> bool:
    if path.name.endswith(("-wal", "-shm", "-journal")):
        return False  # with their database
    if is_sqlite(path):
        return _clean_sqlite(path, words)
    if is_parquet(path):
        is_quoting = _parquet_quotes(path, words)
        if is_quoting:
            path.unlink()
        return is_quoting
    text = _read_text(path)
    if text is None:
        return False
    after = _cleaned(path.suffix, text, words)
    if after == text:
        return False
    write_text(path, after, lambda _: True)
    return True


def _cleaned(suffix: str, text: str, words: OwnWords) -> str:
    if suffix == ".html":
        return words.rewritten_page(text)
    if suffix == ".jsonl":
        return "\n".join(map(words.rewritten, text.split("\n")))
    after = words.rewritten(text)
    if suffix == ".json" and after != text and "\n" in text.strip():
        return json.dumps(json.loads(after), indent=2, sort_keys=True, ensure_ascii=False)
    return after


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


def _parquet_quotes(path: Path, words: OwnWords) -> bool:
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError):
        return True  # what cannot be read cannot be known to be without the words, and is made again
    textual = [field.name for field in table.schema if "string" in str(field.type)]
    if _says(table.select(textual).to_pylist(), words):
        return True
    return any(words.stands_in(str(value)) for value in (table.schema.metadata or {}).values())


def _says(value: object, words: OwnWords) -> bool:
    if isinstance(value, str):
        return words.stands_in(value) or value in words.renamed
    if isinstance(value, dict):
        return any(_says(each, words) for each in value.values())
    return isinstance(value, list | tuple) and any(_says(each, words) for each in value)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)


def _list_tables(database: sqlite3.Connection) -> list[str]:
    return [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]


def _read_texts(database: sqlite3.Connection, table: str) -> Iterator[tuple[int, str, str]]:
    """Every text of a table: its row, its column, and what it says."""
    for column in map(quoted, columns_of(database, table)):
        where = f"from {quoted(table)} where typeof({column}) = 'text'"
        for rowid, text in database.execute(f"select rowid, {column} {where}"):
            yield rowid, column, text


def _clean_sqlite(path: Path, words: OwnWords) -> bool:
    try:
        with closing(_opened(path)) as database:
            database.execute("pragma secure_delete = on")
            changed = 0
            for table in _list_tables(database):
                updates = [
                    (after, rowid, column)
                    for rowid, column, text in _read_texts(database, table)
                    if (after := words.rewritten(text)) != text
                ]
                for after, rowid, column in updates:
                    database.execute(f"update {quoted(table)} set {column} = ? where rowid = ?", [after, rowid])
                changed += len(updates)
            database.execute("vacuum")
            (is_busy, *_) = database.execute("pragma wal_checkpoint(truncate)").fetchone()
            if is_busy:
                raise sqlite3.OperationalError("another program reads it")
            return bool(changed)
    except sqlite3.OperationalError as error:
        raise StoreBusyError(
            f"'{path}' could not be written anew ({error}); end the UI and every run, and run 'forget' again"
        ) from error
    except sqlite3.DatabaseError as error:
        raise OutputError(f"'{path}' cannot be read ({error}); move it away, and run 'forget' again") from error
