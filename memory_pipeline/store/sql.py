"""Executes statements on one open transaction: the place where SQL enters DuckDB and rows and tables come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import pyarrow as pa

Parameters = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]


class Sql:
    """Runs the statements of one transaction.

    Parameters are `$1`, `$2`, ... of a sequence, or `$name` of a mapping.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Parameters = ()) -> None:
        """Run a statement without a result."""
        self._connection.execute(statement, parameters)

    def rows(self, statement: str, parameters: Parameters = ()) -> list[Row]:
        """Every row of a result."""
        return self._connection.execute(statement, parameters).fetchall()

    def row(self, statement: str, parameters: Parameters = ()) -> Row | None:
        """The first row of a result; None if there is none."""
        rows = self.rows(statement, parameters)  # read completely: an unfinished result would prevent the commit
        return rows[0] if rows else None

    def value(self, statement: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row of a result; None if there is none."""
        row = self.row(statement, parameters)
        return row[0] if row else None

    def strings(self, statement: str, parameters: Parameters = ()) -> list[str]:
        """The first column of every row, as text."""
        return [str(row[0]) for row in self.rows(statement, parameters)]

    def pages(self, statement: str, size: int) -> Iterator[list[Row]]:
        """The rows of a large result, `size` at a time; no other statement may run before it is read or abandoned."""
        result = self._connection.execute(statement)
        try:
            while rows := result.fetchmany(size):
                yield rows
        finally:
            with suppress(duckdb.Error):
                self._connection.abort()  # read the rest: an unfinished result would prevent the commit

    def table(self, statement: str, parameters: Parameters = ()) -> pa.Table:
        """A result as an Arrow table."""
        return self._connection.sql(statement, params=parameters).to_arrow_table()

    @contextmanager
    def given(self, **tables: pa.Table) -> Iterator[None]:
        """Until the block ends, statements can read these Arrow tables by their names."""
        for name, table in tables.items():
            self._connection.register(name, table)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # an error has ended the transaction, and the registered tables with it
                for name in tables:
                    self._connection.unregister(name)
