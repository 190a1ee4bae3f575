"""Changes one value in a JSON file that belongs to another program: every other byte stays, and what the file was is
kept beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memory_pipeline.errors import InputError, OutputError
from memory_pipeline.files.shared_files import bytes_of
from memory_pipeline.files.writing import directories, nobody, writing_whole

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


def change_file(
    file: Path, change: Callable[[str], str], title: str, *, write: bool = True, option: str = "without --write"
) -> tuple[Path | None, bool]:
    """Change a client's JSON file: where the file as it was is kept, and whether anything changed, or would without
    `write`. Raises InputError for a file that is not JSON, and OutputError if it cannot be changed, or its client
    has just changed it."""
    before = bytes_of(file, file)
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
    backup = file.with_name(f"{file.name}.before-memory-pipeline-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    with directories(file.parent):
        if before is not None:
            with writing_whole(backup, nobody, private=True) as copy:  # such files hold keys
                copy.write(before)
        with writing_whole(file, lambda _: True) as target:
            target.write(written)
            if bytes_of(file, file) != before:
                raise OutputError(f"{title} has just changed '{file}' itself; close it and run this again")
    return backup if before is not None else None, True


class _Part(NamedTuple):
    """A member of an object, or a nameless item of a list: where it begins, and its value begins and ends."""

    name: str
    begin: int
    value: int
    end: int


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at a path of names; objects on the way that are missing are added. A text that has the
    value there already stays as it is.

    Raises ValueError for a text that is not JSON, and for a path that leads through something other than an object.
    """
    depth, place = _follow(text, path)
    if depth < len(path):
        for name in reversed(path[depth + 1 :]):
            value = {name: value}
        return _added(text, place, f"{json.dumps(path[depth], ensure_ascii=False)}: ", value, depth)
    present, end = _DECODER.raw_decode(text, place)
    if json.dumps(present) == json.dumps(value):
        return text
    return text[:place] + _written(text, value, depth) + text[end:]


def with_item(text: str, path: Sequence[str], item: object, is_it: Callable[[object], bool]) -> str:
    """The text with an item in the list at a path, which is added where it is missing: in the place of the item that
    `is_it`, else at the end. Raises ValueError as `with_value`, and for something other than a list."""
    depth, place = _follow(text, path)
    if depth < len(path):
        return with_value(text, path, [item])
    for part in _items(text, place):
        present = json.loads(text[part.value : part.end])
        if is_it(present):
            return text if present == item else text[: part.value] + _written(text, item, depth + 1) + text[part.end :]
    return _added(text, place, "", item, depth)


def without_items(text: str, path: Sequence[str], is_it: Callable[[object], bool]) -> str:
    """The text without the items that `is_it` in the list at a path; a list that is empty then goes too, and so does an
    object that held nothing else. Raises ValueError as `with_item`."""
    depth, place = _follow(text, path)
    items = _items(text, place) if depth == len(path) else []
    gone = next((n for n, part in enumerate(items) if is_it(json.loads(text[part.value : part.end]))), None)
    if gone is None:
        return text
    return without_items(_cut(text, items, gone) if len(items) > 1 else without_value(text, path), path, is_it)


def without_value(text: str, path: Sequence[str]) -> str:
    """The text without the value at a path, and without the objects on the way that held nothing else."""
    depth, _ = _follow(text, path)
    if depth < len(path):
        return text
    _, start = _follow(text, path[:-1])
    members = _parts(text, start)
    if len(members) > 1:
        return _cut(text, members, next(n for n, member in enumerate(members) if member.name == path[-1]))
    if len(path) > 1:
        return without_value(text, path[:-1])
    return f"{text[: start + 1]}{text[_after_space(text, members[0].end) :]}"


def _follow(text: str, path: Sequence[str]) -> tuple[int, int]:
    """The number of names of a path that lead to something, and the place where the value of the last of them begins.

    Raises ValueError if the text is no JSON object, if the path leads through something else, and if a name stands
    there twice: programs read one value or the other.
    """
    if not isinstance(json.loads(text), dict):
        raise ValueError("it is no JSON object")
    place = _after_space(text, 0)
    for depth, name in enumerate(path):
        if text[place] != "{":
            raise ValueError(f"'{'.'.join(path[:depth])}' in it is no object")
        members = [member for member in _parts(text, place) if member.name == name]
        if len(members) > 1:
            raise ValueError(f"'{'.'.join(path[: depth + 1])}' stands in it {len(members)} times; leave one of them")
        if not members:
            return depth, place
        place = members[0].value
    return len(path), place


def _items(text: str, start: int) -> list[_Part]:
    """The items of the list that begins at `start`. Raises ValueError if it is no list."""
    if text[start] != "[":
        raise ValueError("a value in it is no list")
    return _parts(text, start)


def _parts(text: str, start: int) -> list[_Part]:
    """The members of the object, or the items of the list, that begins at `start`, in a text that is JSON."""
    parts: list[_Part] = []
    place = _after_space(text, start + 1)
    while text[place] not in "}]":
        name, begin = "", place
        if text[start] == "{":
            name, place = _DECODER.raw_decode(text, begin)
            place = _after_space(text, _after_space(text, place) + 1)
        _, end = _DECODER.raw_decode(text, place)
        parts.append(_Part(name, begin, place, end))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return parts


def _cut(text: str, parts: Sequence[_Part], gone: int) -> str:
    """The text without one of several parts, and without the comma beside it."""
    if gone:
        return text[: parts[gone - 1].end] + text[parts[gone].end :]
    return text[: parts[0].begin] + text[parts[1].begin :]


def _added(text: str, start: int, name: str, value: object, depth: int) -> str:
    """The text with one more part, with its name, at the end of the object or list that begins at `start`."""
    parts, written = _parts(text, start), f"{name}{_written(text, value, depth + 1)}"
    if parts:
        space, end = text[start + 1 : parts[0].begin], parts[-1].end  # the last one may stand on the line of another
        return f"{text[:end]},{space if chr(10) in space else ' '}{written}{text[end:]}"
    line, indent = _line_end(text), _indent(text)
    end = _after_space(text, start + 1)
    return f"{text[: start + 1]}{line}{indent * (depth + 1)}{written}{line}{indent * depth}{text[end:]}"


def _written(text: str, value: object, depth: int) -> str:
    """A value as JSON in the manner of the text, for an object at a depth."""
    indent, line = _indent(text), _line_end(text)
    return f"{line}{indent * depth}".join(json.dumps(value, ensure_ascii=False, indent=indent).split("\n"))


def _indent(text: str) -> str:
    match = _INDENT.search(text)
    return match.group(1) if match else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()
