"""Changes the configuration file and keeps what a person wrote there: comments, order and spacing stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from memory_pipeline.config.memory_sources import SourceTable, key_of
from memory_pipeline.errors import InputError, SettingError
from memory_pipeline.files import cause_and_mend, directories, write_text

_KEY = "sources"


def add_source(file: Path, source: SourceTable) -> None:
    """Append a `[[sources]]` table; the file is created if it does not exist.

    Raises SettingError for a file that cannot be read, and OutputError if it cannot be written.
    """
    document = _read(file)
    given = source.model_dump(mode="json", exclude_defaults=True)
    if document and _KEY not in document:
        document.add(tomlkit.nl())
    listed: Any = document.setdefault(_KEY, tomlkit.aot())
    table: Any = tomlkit.table() if isinstance(listed, AoT) else tomlkit.inline_table()
    table.update(given)
    listed.append(table)
    _write(file, document)


def remove_source(file: Path, name: str) -> None:
    """Remove the table of a source. Raises InputError if the file has none with this name."""
    document = _read(file)
    listed = document.get(_KEY, [])
    places = [number for number, table in enumerate(listed) if key_of(str(table.get("name", ""))) == key_of(name)]
    if not places:
        raise InputError(f"'{file}' has no source '{name}'; 'memory-pipeline sources list' shows where each comes from")
    del listed[places[0]]
    if not listed:
        del document[_KEY]
    _write(file, document)


def _read(file: Path) -> TOMLDocument:
    try:
        return tomlkit.parse(file.read_bytes().decode("utf-8")) if file.exists() else tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise SettingError(f"the configuration file '{file}' is not valid TOML: {first}") from error
    except OSError as error:
        raise SettingError(f"the configuration file '{file}' cannot be read: {cause_and_mend(error)}") from error


def _write(file: Path, document: TOMLDocument) -> None:
    with directories(file.parent):
        write_text(file, tomlkit.dumps(document), lambda _: True)
