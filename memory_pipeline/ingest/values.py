"""Strict parsers for single values of a row: each returns a valid value for the column, or raises with the reason.

Whatever a file contains (integers of 400 digits, deeply nested lists, lone surrogates, NaN) ends in a RowError that
names the column, so that it affects only its own row.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from memory_pipeline.ingest.candidates import RowError
from memory_pipeline.records.identifiers import MAX_ID

#: Maximum content length in characters; a longer text is a document, not a memory.
MAX_CONTENT = 4_000_000
#: Maximum bytes of an input line; a longer one goes to quarantine.
MAX_LINE_BYTES = 4_000_000
#: Maximum tokens of an entry; a longer one is split between sentences.
MAX_ENTRY_TOKENS = 1000
#: Maximum length of a tag, category, model name, or name of a person or run.
MAX_NAME = 500
#: Maximum number of tags, and of categories, of one memory.
MAX_LABELS = 200
#: Maximum number of direct sources of one memory.
MAX_SOURCES = 100_000
#: Maximum number of dimensions of a vector.
MAX_DIMENSION = 16_384
#: Maximum nesting of lists and objects in `compressed_from` and `source`.
MAX_DEPTH = 20
#: Maximum length of the path of a source file.
MAX_PATH = 4096
#: At or above this importance, a memory is critical and was never archived (setting `compression.critical_floor`).
NEVER_ARCHIVED = 2.5

_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_MOST_SHOWN = 40


def no_text(name: str, value: object) -> str:
    """The message for a value that is not text."""
    return f"{name} is missing" if value is None else f"{name} is {shown(value)}, which is not text"


def shown(value: object) -> str:
    """A value for a message: short, printable, and never a cause of an error itself."""
    if isinstance(value, list | tuple | set | Mapping):
        return "a list" if not isinstance(value, Mapping) else "an object"
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return "'" + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:_MOST_SHOWN]) + "'"


def is_absent(value: object) -> bool:
    """True if a row has no value there: null, an empty text, or NaN, which tables use for missing values."""
    return value is None or (isinstance(value, str) and value == "") or (isinstance(value, float) and math.isnan(value))


def first_of(row: Mapping[str, Any], *names: str) -> object:
    """The value of the first of some columns that has one."""
    return next((row[name] for name in names if not is_absent(row.get(name))), None)


def at(value: object, *names: str) -> Any:
    """The value that an object holds under these names, one within the other; None where it holds nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def listed(value: object, name: str) -> list[Any]:
    """The list that an object holds under a name; empty if there is none."""
    items = at(value, name)
    return items if isinstance(items, list) else []


def text_at(value: object, *names: str) -> str:
    """The text that an object holds under these names, without white space around it; empty if there is none."""
    text = at(value, *names)
    return text.strip() if isinstance(text, str) else ""


def check_storable(text: str, name: str) -> str:
    """Check that UTF-8 can encode the text and that it contains no NUL, and return it. Raises RowError."""
    if "\x00" in text:
        raise RowError(f"{name} contains a NUL character at position {text.index(chr(0))}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            what = "a lone surrogate, or bytes that are not UTF-8,"
            raise RowError(f"{name} contains {what} at position {error.start}") from None
    return text


def text_value(row: Mapping[str, Any], name: str, limit: int = MAX_NAME) -> str | None:
    """A text of at most `limit` characters, or None; numbers and booleans become text."""
    value = row.get(name)
    return None if is_absent(value) else as_text(value, name, limit)


def as_text(value: object, name: str, limit: int) -> str:
    """One value as text of at most `limit` characters. Raises RowError for lists, objects and bytes."""
    if not isinstance(value, str | int | float | Decimal):
        raise RowError(f"{name} is {shown(value)}, which is not text")
    try:
        text = str(value)
    except ValueError:
        raise RowError(f"{name} is a number too long to be written") from None
    if len(text) > limit:
        raise RowError(f"{name} is {len(text)} characters long; the maximum is {limit}")
    return check_storable(text, name)


def identifier(value: object, name: str) -> str | None:
    """An id in its stored form, or None. Raises RowError for one with unprintable characters."""
    if is_absent(value):
        return None
    text = as_text(value, name, MAX_ID)
    if not text.isprintable() or text != text.strip():
        raise RowError(f"{name} {shown(text)} contains control characters, or starts or ends with white space")
    return text


def labels(row: Mapping[str, Any], name: str, most: int = MAX_LABELS) -> tuple[str, ...]:
    """A list of texts: a list, JSON of a list, or texts separated by semicolons."""
    value = row.get(name)
    if is_absent(value):
        return ()
    if isinstance(value, str):
        value = (
            parsed(value, name)
            if value.lstrip().startswith("[")
            else [part.strip() for part in value.split(";") if part.strip()]
        )
    if not isinstance(value, list | tuple):
        raise RowError(f"{name} is {shown(value)}, which is not a list")
    if len(value) > most:
        raise RowError(f"{name} has {len(value)} entries; the maximum is {most}")
    return tuple(as_text(item, f"an entry of {name}", MAX_NAME) for item in value if not is_absent(item))


def number(row: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """A number in a range, or None."""
    value = row.get(name)
    if is_absent(value):
        return None
    if isinstance(value, list | tuple | Mapping | bytes):
        raise RowError(f"{name} is {shown(value)}, which is not a number")
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise RowError(f"{name} is {shown(value)}, which is not a number") from None
    except OverflowError:
        result = math.inf
    if not low <= result <= high:
        raise RowError(f"{name} is {result:g}; use {low:g} to {high:g}")
    return result


def whole_number(row: Mapping[str, Any], name: str, low: float, high: float) -> int | None:
    """A whole number, or None."""
    result = number(row, name, low, high)
    if result is not None and not result.is_integer():
        raise RowError(f"{name} is {result:g}; use a whole number")
    return None if result is None else int(result)


def flag(row: Mapping[str, Any], name: str) -> bool:
    """True or false, also in the words that tables use."""
    value = row.get(name)
    if is_absent(value):
        return False
    truth = _FLAGS.get(value.lower()) if isinstance(value, str) else value
    if isinstance(truth, bool | int | float):
        return bool(truth)
    raise RowError(f"{name} is {shown(value)}; use true or false")


def mapping(value: object, name: str) -> Mapping[str, Any] | None:
    """An object, or JSON of one; None if there is none. Raises RowError if it cannot be written again."""
    if is_absent(value):
        return None
    if isinstance(value, str):
        value = parsed(value, name)
    if isinstance(value, list | tuple) and value and all(isinstance(p, tuple) and len(p) == 2 for p in value):
        value = dict(value)  # a Parquet map
    if not isinstance(value, Mapping):
        raise RowError(f"{name} is {shown(value)}, which is not a JSON object")
    check_json(value, name)
    return value


def parsed(text: str, name: str) -> object:
    """JSON inside a column. Raises RowError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RowError(f"{name} is {shown(text)}, which is not valid JSON") from None


def json_or_none(text: object) -> Any:
    """The JSON in a text or in bytes; None for what is none."""
    if isinstance(text, str | bytes):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    return None


def check_json(value: object, name: str, depth: int = 0) -> None:
    """Raises RowError for what JSON cannot represent: NaN, infinite numbers, lone surrogates, very deep nesting."""
    if depth > MAX_DEPTH:
        raise RowError(f"{name} is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise RowError(f"{name} has a key that is not text: {shown(key)}")
            check_storable(key, f"a key of {name}")
            check_json(item, name, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            check_json(item, name, depth + 1)
    elif isinstance(value, str):
        check_storable(value, name)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if abs(value) >= 2**63:
            raise RowError(f"{name} contains a whole number beyond 64 bits")
    elif not (isinstance(value, float) and math.isfinite(value)):
        raise RowError(f"{name} contains {shown(value)}, which JSON cannot represent")
