"""Reads SQLite files of other programs, which may be writing to them meanwhile: read-only, and never as a whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.files.writing import check_has_contents, resolve_links

_MAGIC = b"SQLite format 3\x00"
#: How long a reader waits for another program that holds the file, in seconds.
_PATIENCE_S = 10.0


def is_sqlite(path: Path) -> bool:
    """True if a path is a file that begins as SQLite's do."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(_MAGIC)) == _MAGIC
    return False


def beside(path: Path) -> tuple[Path, ...]:
    """The file, and the log in which a program that is running keeps what it wrote last."""
    return path, path.with_name(f"{path.name}-wal")


@contextmanager
def reading(path: Path, patience_s: float = _PATIENCE_S) -> Iterator[sqlite3.Connection]:
    """Open a file for reading alone. Texts that are not UTF-8 come with lone surrogates, which no row may contain.

    Raises InputError if it is no SQLite file or damaged, and StoreBusyError if another program holds it for longer
    than `patience_s` seconds.
    """
    check_has_contents(path)
    try:
        with closing(_opened(path, patience_s)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            yield connection
    except sqlite3.Error as error:
        if is_busy(error):
            raise StoreBusyError(
                f"'{path}' is held by {name_holders(path)}, also after {patience_s:g} s of waiting; try again later"
            ) from error
        raise InputError(f"'{path}' cannot be read as an SQLite file: {error}") from error


def _opened(path: Path, patience_s: float) -> sqlite3.Connection:
    address = f"file:{quote(bytes(path.absolute()))}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=patience_s)
    try:
        connection.execute("select count(*) from sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if is_busy(error) or beside(path)[1].exists() or not is_sqlite(path):
            raise
        # In a directory that cannot be written to, a file that nobody has open can only be read like this.
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True)
    return connection


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """The columns of a table; none if there is no such table."""
    return tuple(str(row[1]) for row in connection.execute(f"pragma table_info({quoted(table)})"))


def quoted(name: str) -> str:
    """A name of a table or column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def unless_longer(column: str, most_bytes: int) -> str:
    """An expression for a column that is null where its value has more bytes: such a value is never loaded."""
    name = quoted(column)
    return f"case when length(cast({name} as blob)) <= {most_bytes} then {name} end"


def records(
    connection: sqlite3.Connection, table: str, wanted: Sequence[str], limits: Mapping[str, int], order: str = '"rowid"'
) -> Iterator[dict[str, Any]]:
    """The rows of a table with those of the wanted columns that it has. `limits`: by column, the most bytes of a value;
    a longer one is None.

    Quoted, `rowid` is a mere text where a table has none, and sorts nothing.
    """
    present = columns_of(connection, table)
    names = [name for name in wanted if name in present]
    expressions = [unless_longer(name, limits[name]) if name in limits else quoted(name) for name in names]
    for row in connection.execute(f"select {', '.join(expressions)} from {quoted(table)} order by {order}"):
        yield dict(zip(names, row, strict=True))


def shows_table(path: Path, table: str, needed: frozenset[str]) -> bool:
    """True if a path is a SQLite file with a table that has at least these columns. Never raises."""
    with suppress(InputError, StoreBusyError):
        if is_sqlite(path):
            with reading(path) as connection:
                return needed <= set(columns_of(connection, table))
    return False


def is_busy(error: sqlite3.Error) -> bool:
    """True if an error says that another program holds the file."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def name_holders(path: Path) -> str:
    """The processes that have a file open, in words."""
    real = str(resolve_links(path))
    holders = [
        f"{process.info['name']} (process {process.pid})"
        for process in psutil.process_iter(["name", "open_files"])  # None for what may not be looked at
        if process.pid != os.getpid() and any(file.path.startswith(real) for file in process.info["open_files"] or ())
    ]
    return " and ".join(holders) or "another program"
