"""Reads the rows of a LangGraph store from PostgreSQL, through a cursor on the server, and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.values import MAX_CONTENT

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


def is_address(path: Path) -> bool:
    """Whether a path is the address of a PostgreSQL database, of which a path keeps one slash."""
    return bool(_ADDRESS.match(str(path)))


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
            found = connection.execute(
                "select column_name from information_schema.columns where table_name = 'store'"
            ).fetchall()
            columns = {str(row[0]) for row in found}
            if not {"prefix", "key", "value", "created_at", "updated_at"} <= columns:
                raise InputError(f"the database '{connection.info.dbname}' has no table 'store' of LangGraph")
            statement = _ROWS if "expires_at" in columns else _ROWS_OF_EARLIER
            with connection.cursor("memory_pipeline") as cursor:
                cursor.itersize = _PAGE
                cursor.execute(statement)  # type: ignore[arg-type, unused-ignore]
                for row in cursor:
                    yield connection.info.dbname, dict(zip(_COLUMNS, row, strict=True))
    except psycopg.Error as error:
        told = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"the PostgreSQL database cannot be read: {told}") from error
