"""Changes one value in a JSON file that belongs to another program: every other byte stays, and what the file was is
kept beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.writing import cause_and_mend, directories, writing_whole

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()
#: The largest file that is read, in bytes.
_LARGEST = 50_000_000


def change_file(
    file: Path, change: Callable[[str], str], title: str, *, write: bool = True, option: str = "without --write"
) -> tuple[Path | None, bool]:
    """Change a client's JSON file: where the file as it was is kept, and whether anything changed, or would without
    `write`. Raises InputError for a file that is not JSON, and OutputError if its client has just changed it."""
    before = _read(file)
    try:
        text = (before or b"").decode("utf-8-sig")
        after = change(text if text.strip() else "{}\n")
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"'{file}' cannot be edited ({error}), and nothing was changed; {option}, this command shows what to put "
            f"there by hand or with {title}'s own command"
        ) from None
    mark = b"\xef\xbb\xbf" if before and before.startswith(b"\xef\xbb\xbf") else b""
    written = mark + after.encode()
    if before == written or not write:
        return None, before != written
    with directories(file.parent):
        backup = _keep(file, before) if before is not None else None
        with writing_whole(file, lambda _: True) as target:
            target.write(written)
            if _read(file) != before:
                raise OutputError(f"{title} has just changed '{file}' itself; close it and run this again")
    return backup, True


def _read(file: Path) -> bytes | None:
    try:
        if file.stat().st_size > _LARGEST:
            raise InputError(f"'{file}' is larger than {_LARGEST:,} bytes; that is no file of settings")
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"'{file}' cannot be read: {cause_and_mend(error)}") from None


def _keep(file: Path, data: bytes) -> Path:
    """A copy of the file beside it, which only its owner can read: such files hold keys."""
    moment = datetime.now(UTC)
    backup = file.with_name(f"{file.name}.before-memory-pipeline-{moment:%Y%m%dT%H%M%S%fZ}")
    try:
        with os.fdopen(os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as kept:
            kept.write(data)
            kept.flush()
            os.fsync(kept.fileno())
    except OSError as error:
        raise OutputError(f"'{backup}' cannot be written: {cause_and_mend(error)}") from None
    return backup


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its name, and where the name begins and its value begins and ends."""

    name: str
    at: int
    value: int
    end: int


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at a path of names; objects on the way that are missing are added. A text that has the
    value there already stays as it is.

    Raises ValueError for a text that is not JSON, and for a path that leads through something other than an object.
    """
    whole = json.loads(text)
    if not isinstance(whole, dict):
        raise ValueError("it is no JSON object")
    start = _after_space(text, 0)
    depth = 0
    while True:
        members = _members(text, start)
        found = _only(members, path[: depth + 1])
        if found is None:
            return _added(text, start, members, path[depth], _nested(path[depth + 1 :], value), depth)
        depth += 1
        if depth == len(path):
            if json.dumps(json.loads(text[found.value : found.end])) == json.dumps(value):
                return text
            return text[: found.value] + _written(text, value, depth) + text[found.end :]
        if text[found.value] != "{":
            raise ValueError(f"'{'.'.join(path[:depth])}' in it is no object")
        start = found.value


def with_item(text: str, path: Sequence[str], item: object, is_it: Callable[[object], bool]) -> str:
    """The text with an item in the list at a path, which is added where it is missing: in the place of the item that
    `is_it`, else at the end. Raises ValueError as `with_value`, and for something other than a list."""
    place = _place_of(text, path)
    if place is None:
        return with_value(text, path, [item])
    items = _items(text, place)
    depth = len(path) + 1
    for start, end in items:
        found = json.loads(text[start:end])
        if is_it(found):
            return text if found == item else text[:start] + _written(text, item, depth) + text[end:]
    written = _written(text, item, depth)
    if items:
        space = text[place + 1 : items[0][0]]
        between = space if "\n" in space else " "
        return f"{text[: items[-1][1]]},{between}{written}{text[items[-1][1] :]}"
    end = text.index("]", place)
    line, indent = _line_end(text), _indent(text)
    return f"{text[: place + 1]}{line}{indent * depth}{written}{line}{indent * (depth - 1)}{text[end:]}"


def without_items(text: str, path: Sequence[str], is_it: Callable[[object], bool]) -> str:
    """The text without the items that `is_it` in the list at a path; a list that is empty then goes too, and so does an
    object that held nothing else. Raises ValueError as `with_item`."""
    while (place := _place_of(text, path)) is not None:
        items = _items(text, place)
        gone = next((n for n, (start, end) in enumerate(items) if is_it(json.loads(text[start:end]))), None)
        if gone is None:
            return text
        if len(items) == 1:
            return without_value(text, path)
        text = _cut(text, items, gone)
    return text


def without_value(text: str, path: Sequence[str]) -> str:
    """The text without the value at a path, and without the objects on the way that held nothing else."""
    start = _place_of(text, path[:-1])
    if start is None:
        return text
    members = _members(text, start)
    _only(members, path)
    gone = next((n for n, member in enumerate(members) if member.name == path[-1]), None)
    if gone is None:
        return text
    if len(members) > 1:
        return _cut(text, [(member.at, member.end) for member in members], gone)
    if len(path) > 1:
        return without_value(text, path[:-1])
    return f"{text[: start + 1]}{text[_after_space(text, members[0].end) :]}"


def _cut(text: str, places: Sequence[tuple[int, int]], gone: int) -> str:
    """The text without one of several members or items, and without the comma beside it."""
    if gone:
        return text[: places[gone - 1][1]] + text[places[gone][1] :]
    return text[: places[0][0]] + text[places[1][0] :]


def _place_of(text: str, path: Sequence[str]) -> int | None:
    """Where the object or the list at a path begins; None if it is missing. Raises ValueError if it is something else,
    or the text is no JSON object."""
    if not isinstance(json.loads(text), dict):
        raise ValueError("it is no JSON object")
    place = _after_space(text, 0)
    for depth in range(1, len(path) + 1):
        found = _only(_members(text, place), path[:depth])
        if found is None:
            return None
        wanted = "[{" if depth == len(path) else "{"
        if text[found.value] not in wanted:
            raise ValueError(f"'{'.'.join(path[:depth])}' in it is no object or list")
        place = found.value
    return place


def _only(members: Sequence[_Member], path: Sequence[str]) -> _Member | None:
    """The member that a path ends with. Raises ValueError if there are two, of which programs read one or the other."""
    found = [member for member in members if member.name == path[-1]]
    if len(found) > 1:
        raise ValueError(f"'{'.'.join(path)}' stands in it {len(found)} times; leave one of them")
    return found[0] if found else None


def _items(text: str, start: int) -> list[tuple[int, int]]:
    """Where the items of the list that begins at `start` begin and end. Raises ValueError if it is no list."""
    if text[start] != "[":
        raise ValueError("a value in it is no list")
    found: list[tuple[int, int]] = []
    place = _after_space(text, start + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        found.append((place, end))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return found


def _members(text: str, start: int) -> list[_Member]:
    """The members of the object that begins at `start`, in a text that is JSON."""
    found: list[_Member] = []
    place = _after_space(text, start + 1)
    while text[place] != "}":
        at = place
        name, place = _DECODER.raw_decode(text, at)
        value = _after_space(text, _after_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(_Member(name, at, value, end))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return found


def _added(text: str, start: int, members: Sequence[_Member], name: str, value: object, depth: int) -> str:
    """The text with one more member at the end of the object that begins at `start`."""
    written = f"{json.dumps(name, ensure_ascii=False)}: {_written(text, value, depth + 1)}"
    if members:
        first, last = members[0], members[-1]
        space = text[start + 1 : first.at]  # the last one may stand on the line of another
        between = space if "\n" in space else " "
        return f"{text[: last.end]},{between}{written}{text[last.end :]}"
    end = text.index("}", start)
    line, indent = _line_end(text), _indent(text)
    return f"{text[: start + 1]}{line}{indent * (depth + 1)}{written}{line}{indent * depth}{text[end:]}"


def _written(text: str, value: object, depth: int) -> str:
    """A value as JSON in the manner of the text, for an object at a depth."""
    indent, line = _indent(text), _line_end(text)
    lines = json.dumps(value, ensure_ascii=False, indent=indent).split("\n")
    return f"{line}{indent * depth}".join(lines)


def _nested(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _indent(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
