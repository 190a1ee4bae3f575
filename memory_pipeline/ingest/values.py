"""Single values of a row, read strictly: each function returns what the column may hold, or says why it cannot.

Whatever a file holds (integers of 400 digits, lists in lists, halves of characters, NaN) ends in a RowError
that names the column, so that it costs its own row and no other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from memory_pipeline.ingest.candidates import RowError

#: Longest id of a memory, and of a project.
MAX_ID = 200
#: Longest tag, category, model name or name of a person or run.
MAX_NAME = 500
#: Most tags, and most categories, of one memory.
MAX_LABELS = 200
#: Most direct sources of one memory.
MAX_SOURCES = 100_000
#: Most numbers of a vector.
MAX_DIMENSION = 16_384
#: Levels of lists and objects inside `compressed_from` and `source`.
MAX_DEPTH = 20
#: Longest path of a source file.
MAX_PATH = 4096

_SHOWN = 40


def shown(value: object) -> str:
    """A value for a message: short, printable, and never a reason to fail itself."""
    if isinstance(value, list | tuple | set | Mapping):
        return "a list" if not isinstance(value, Mapping) else "an object"
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints
        return f"a value of type {type(value).__name__}"
    return "'" + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:_SHOWN]) + "'"


def is_absent(value: object) -> bool:
    """Whether a row has nothing there: null, an empty text, or the NaN that tables use for nothing."""
    return value is None or (isinstance(value, str) and value == "") or (isinstance(value, float) and math.isnan(value))


def check_storable(text: str, name: str) -> str:
    """The text, if UTF-8 can hold it and no NUL cuts it off. Raises RowError."""
    if "\x00" in text:
        raise RowError(f"{name} holds a NUL character at position {text.index(chr(0))}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            what = "half a character, or bytes that are not UTF-8,"
            raise RowError(f"{name} holds {what} at position {error.start}") from None
    return text


def text_value(row: Mapping[str, Any], name: str, limit: int = MAX_NAME) -> str | None:
    """A text of at most `limit` characters; numbers and flags become text. None when there is none."""
    value = row.get(name)
    return None if is_absent(value) else as_text(value, name, limit)


def as_text(value: object, name: str, limit: int) -> str:
    """One value as text of at most `limit` characters. Raises RowError for lists, objects and bytes."""
    if not isinstance(value, str | int | float | Decimal):
        raise RowError(f"{name} is {shown(value)}, no text")
    try:
        text = str(value)
    except ValueError:
        raise RowError(f"{name} is a number too long to be written") from None
    if len(text) > limit:
        raise RowError(f"{name} is {len(text)} characters long; {limit} is the most")
    return check_storable(text, name)


def identifier(value: object, name: str) -> str | None:
    """An id as the store keeps it, or None when there is none. Raises RowError for one that would not print."""
    if is_absent(value):
        return None
    text = as_text(value, name, MAX_ID)
    if not text.isprintable() or text != text.strip():
        raise RowError(f"{name} {shown(text)} holds control characters, or white space at an end")
    return text


def choice(row: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str | None:
    """One of a few words, or None."""
    value = text_value(row, name)
    if value is not None and value not in allowed:
        raise RowError(f"{name} is {shown(value)}; use one of {', '.join(allowed)}")
    return value


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
        raise RowError(f"{name} is {shown(value)}, no list")
    if len(value) > most:
        raise RowError(f"{name} has {len(value)} entries; {most} is the most")
    return tuple(as_text(item, f"an entry of {name}", MAX_NAME) for item in value if not is_absent(item))


def number(row: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    """A number of a range, or None when there is none."""
    value = row.get(name)
    if is_absent(value):
        return None
    if isinstance(value, list | tuple | Mapping | bytes):
        raise RowError(f"{name} is {shown(value)}, no number")
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise RowError(f"{name} is {shown(value)}, no number") from None
    except OverflowError:
        found = math.inf
    if not low <= found <= high:
        raise RowError(f"{name} is {found:g}; use {low:g} to {high:g}")
    return found


def whole_number(row: Mapping[str, Any], name: str, low: float, high: float) -> int | None:
    """A number without a fraction, or None when there is none."""
    found = number(row, name, low, high)
    if found is not None and not found.is_integer():
        raise RowError(f"{name} is {found:g}; use a whole number")
    return None if found is None else int(found)


def flag(row: Mapping[str, Any], name: str) -> bool:
    """True or false, also in the words that tables use."""
    value = row.get(name)
    if is_absent(value):
        return False
    if isinstance(value, str):
        if value.lower() in ("true", "1", "yes"):
            return True
        if value.lower() in ("false", "0", "no"):
            return False
    elif isinstance(value, bool | int | float):
        return bool(value)
    raise RowError(f"{name} is {shown(value)}; use true or false")


def mapping(value: object, name: str) -> Mapping[str, Any] | None:
    """An object, or JSON of one; None when there is none. Raises RowError when it cannot be written again."""
    if is_absent(value):
        return None
    if isinstance(value, str):
        value = parsed(value, name)
    if isinstance(value, list | tuple) and value and all(isinstance(p, tuple) and len(p) == 2 for p in value):
        value = dict(value)  # a Parquet map
    if not isinstance(value, Mapping):
        raise RowError(f"{name} is {shown(value)}, no JSON object")
    check_json(value, name)
    return value


def json_text(row: Mapping[str, Any], name: str) -> str | None:
    """An object as JSON text with sorted keys, or None when there is none (an empty one counts as none)."""
    found = mapping(row.get(name), name)
    return json.dumps(found, sort_keys=True) if found else None


def parsed(text: str, name: str) -> object:
    """JSON inside a column. Raises RowError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RowError(f"{name} is {shown(text)}, no valid JSON") from None


def check_json(value: object, name: str, depth: int = 0) -> None:
    """Refuse what JSON cannot carry from store to export and back: NaN, endless numbers, half characters, a well
    of lists. Raises RowError."""
    if depth > MAX_DEPTH:
        raise RowError(f"{name} is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        for key, held in value.items():
            if not isinstance(key, str):
                raise RowError(f"{name} has a key that is no text: {shown(key)}")
            check_storable(key, f"a key of {name}")
            check_json(held, name, depth + 1)
    elif isinstance(value, list | tuple):
        for held in value:
            check_json(held, name, depth + 1)
    elif isinstance(value, str):
        check_storable(value, name)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if abs(value) >= 2**63:
            raise RowError(f"{name} holds a whole number beyond 64 bits")
    elif not (isinstance(value, float) and math.isfinite(value)):
        raise RowError(f"{name} holds {shown(value)}, which JSON cannot carry")
