"""Changes the configuration file and keeps what a person wrote there: comments, order and spacing stay."""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from memory_pipeline.config.exports import ExportTable, SourceTable, key_of
from memory_pipeline.config.sources import read_settings_file
from memory_pipeline.config.trust import is_trusted, trust
from memory_pipeline.errors import InputError, OutputError, SettingError, first_line
from memory_pipeline.files.writing import directories, write_text

_log = logging.getLogger(__name__)


def add_table(file: Path, table: SourceTable | ExportTable) -> None:
    """Append a table to its list, `[[sources]]` or `[[exports]]`; the file is created if it does not exist.

    Raises SettingError for a file that cannot be read, and OutputError if it cannot be written.
    """
    document, key = _read(file), table.kind
    if document and key not in document:
        document.add(tomlkit.nl())
    listed: Any = document.setdefault(key, tomlkit.aot())
    if not isinstance(listed, list):
        raise SettingError(
            f"'{key}' in '{file}' is no list; begin its tables with [[{key}]], or take it out with "
            f"'memory-pipeline {key} remove {key}'"
        )
    added: Any = tomlkit.table() if isinstance(listed, AoT) else tomlkit.inline_table()
    added.update(table.model_dump(mode="json", exclude_defaults=True))
    listed.append(added)
    _write(file, document)


def set_values(file: Path, section: str, values: Mapping[str, object]) -> None:
    """Set keys of a section, and remove those whose value is None. Errors and a missing file as in `add_table`."""
    document = _read(file)
    table: Any = document.setdefault(section, tomlkit.table())
    if not isinstance(table, dict):
        raise SettingError(f"'{section}' in '{file}' is no table; write it as [{section}]")
    for key, value in values.items():
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
    _write(file, document)


def remove_table(file: Path, key: str, name: str, number: int | None, others: Set[int]) -> None:
    """Remove a table from a list: the first of this name that is none of the `others`, or, given its number in the
    list from 1, that one; 0 stands for what is there in place of a list. Raises InputError if there is none such."""
    document = _read(file)
    listed: Any = document.get(key, [])
    if number == 0:
        document.remove(key)
        _write(file, document)
        return
    names = [key_of(str(table.get("name", ""))) if isinstance(table, dict) else "" for table in listed]
    places = [place for place, known in enumerate(names) if known == key_of(name) and place + 1 not in others]
    if number is not None:
        places = [number - 1] if number <= len(listed) else []
    if not places:
        raise InputError(f"'{file}' has no {key[:-1]} '{name}'; 'memory-pipeline {key} list' shows what there is")
    before = tomlkit.dumps(document)
    del listed[places[0]]
    if not listed:
        del document[key]
    _write(file, _without_table(before, key, places[0], document) or document)


def _without_table(text: str, key: str, place: int, wanted: TOMLDocument) -> TOMLDocument | None:
    """The document without the lines of a table of a list. The comments after its last key stay: they belong to
    what follows. None if the file is written in a way that lines cannot tell (the data must be as wanted)."""
    lines = text.splitlines(keepends=True)
    begins = re.compile(rf"\s*\[\[\s*[\"']?{key}[\"']?\s*\]\]")
    starts = [n for n, line in enumerate(lines) if begins.match(line)]
    if place >= len(starts):
        return None
    first = starts[place]
    end = next((n for n in range(first + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    last = max(n for n in range(first, end) if lines[n].strip() and not lines[n].lstrip().startswith("#"))
    tail = lines[last + 1 : end] if any(line.strip() for line in lines[last + 1 : end]) else []
    while tail and lines[first - 1 : first] in ([], ["\n"]) and not tail[0].strip():
        tail = tail[1:]
    try:
        remaining = tomlkit.parse("".join([*lines[:first], *tail, *lines[end:]]))
    except TOMLKitError:
        return None
    return remaining if remaining.unwrap() == wanted.unwrap() else None


def _read(file: Path) -> TOMLDocument:
    """The document. Raises SettingError for an untrusted file: a change would not be obeyed, or trust all of it."""
    content = read_settings_file(file)
    if content is None:
        return tomlkit.document()
    if not is_trusted(file, content):
        raise SettingError(
            f"'{file}' is not trusted, so it is not changed; read it, and if you want all of it, run "
            f"'memory-pipeline config trust {shlex.quote(str(file))}' first"
        )
    try:
        return tomlkit.parse(content.decode("utf-8"))
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingError(f"the configuration file '{file}' is not valid TOML: {first_line(error)}") from error


def _write(file: Path, document: TOMLDocument) -> None:
    """Write the file, which is trusted as it is now: the user has asked for the change, and trusted what was there."""
    text = tomlkit.dumps(document)
    with directories(file.parent):
        write_text(file, text, lambda _: True)
    try:
        trust(file, text.encode("utf-8", "backslashreplace"))
    except (OutputError, SettingError) as error:
        _log.warning("'%s' is obeyed only where MEMORY_PIPELINE_HOME names its directory: %s", file, error)
