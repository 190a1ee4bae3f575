"""The places that settings are read from: each gives values by dotted key, with the origin of each value.

An API key goes only to the address that it belongs to: the provider's own, or the one that stands beside the key in
the environment or in one settings file.
"""

from __future__ import annotations

import difflib
import functools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memory_pipeline.config.described import SettingInfo, describe_settings, own_variable
from memory_pipeline.config.section import Range
from memory_pipeline.config.trust import CONFIG_VARIABLE, FOUND_VARIABLE, HOME_VARIABLE, is_trusted
from memory_pipeline.errors import InputError, SettingError, first_line
from memory_pipeline.files.writing import cause_and_mend, check_has_contents

CONFIG_FILE = "memory_pipeline.toml"
#: Variables with our prefix that are not settings: the locations of the file and the home, and test variables.
NOT_SETTINGS = (
    CONFIG_VARIABLE, HOME_VARIABLE, FOUND_VARIABLE, "MEMORY_PIPELINE_SHARED_DATA", "MEMORY_PIPELINE_FORGET",
)  # fmt: skip
_LARGEST_FILE = 1_000_000
_PORTS = {"https": 443, "http": 80}
_IN_ENVIRONMENT = "environment "
_GUARDED_PREFIXES = ("MEMORY_PIPELINE_", "COMPRESSION_", "CONSOLIDATION_")

#: The parts of a dotted key; a project name may itself contain a dot.
KeyPath = tuple[str, ...]


class Given:
    """Values from one place, by the parts of their keys. Aliases are replaced with the setting that they represent.

    `untrusted` is the directory of a file that nobody has trusted: of its values those alone are taken that are safe,
    and `refused` has the keys of the others. Raises SettingError for an unknown key, and for two names of one setting
    with different values. A secret's own variable comes before its provider's, which other programs read too.
    """

    def __init__(self, given: Iterable[tuple[KeyPath, object, str]], untrusted: Path | None = None) -> None:
        self.values: dict[KeyPath, object] = {}
        self.origins: dict[str, str] = {}
        self.refused: list[str] = []
        self._untrusted = untrusted
        self._named: dict[str, tuple[str, object]] = {}
        for path, value, origin in given:
            for leaf, inner in _leaves(path, value):
                self._take(leaf, inner, origin)

    def value(self, key: str) -> object:
        return self.values[tuple(key.split("."))]

    def remove(self, key: str) -> None:
        """Give no value for a setting any more."""
        del self.values[tuple(key.split("."))], self.origins[key]

    def _take(self, path: KeyPath, value: object, origin: str) -> None:
        name = ".".join(path)
        info, subpath = _find_setting(path, origin)
        if self._untrusted is not None and not (info.safe and info.safe(value, self._untrusted)):
            self.refused += [] if info.key in self.refused else [info.key]
            return
        if name in info.aliases:
            _check_range(name, value, info.aliases[name], origin)
            origin = origin if origin.startswith(_IN_ENVIRONMENT) else f"{origin}, {name}"
        name = origin.removeprefix(_IN_ENVIRONMENT) if origin.startswith(_IN_ENVIRONMENT) else name
        known, before = self._named.setdefault(f"{info.key}{subpath}", (name, value))
        if known != name and not info.secret and not _is_same(before, value):
            raise SettingError(
                f"'{known}' and '{name}' are two names of one setting and are {before!r} and {value!r}; "
                "leave one of them"
            )
        self.origins[info.key] = origin
        self.values[*info.key.split("."), *subpath] = value


def nested(sources: Sequence[Given]) -> dict[str, Any]:
    """The values of all, as nested sections; the first place that gives one counts. Tables are merged by name."""
    values = {path: value for source in reversed(sources) for path, value in source.values.items()}
    tree: dict[str, Any] = {}
    for path in sorted(values, key=len):  # a table that is given as empty, before what is given for it
        inner = tree
        for part in path[:-1]:
            inner[part] = inner = inner[part] if isinstance(inner.get(part), dict) else {}
        inner[path[-1]] = values[path]
    return tree


def withhold_keys(sources: Sequence[Given]) -> dict[str, str]:
    """Take the keys out of the sources that belong to other addresses than those they would be sent to.

    For an address that is not the provider's own, the key from the same source counts, even an empty one. A key for
    any server (`model.api_key`) belongs to the address beside it; where there is none, to whichever is named. Returns
    the reason and the mend for each setting whose key is missing for that. `sources`: in the order of precedence.
    """
    infos = {info.key: info for info in describe_settings()}
    withheld = {}
    for key, info in infos.items():
        beside = next((source for source in sources if info.address and info.address in source.origins), None)
        if beside is None or is_same_server(beside.value(info.address), infos[info.address].default):
            continue
        others = [source for source in sources if source is not beside and key in source.origins]
        owner = infos[info.address].default
        if not owner:
            address = beside.value(info.address)
            paired = [source for source in others if info.address in source.origins]
            others = [source for source in paired if not is_same_server(source.value(info.address), address)]
        if others and not any(key in source.origins for source in sources if source not in others):
            belongs = f"{owner} or to an address beside it" if owner else f"{others[0].value(info.address)!r} beside it"
            withheld[key] = (
                f"the key '{key}' (from {others[0].origins[key]}) is not sent to {beside.value(info.address)!r}, which "
                f"'{info.address}' names (from {beside.origins[info.address]}): it belongs to {belongs}; set "
                f"{infos[info.address].env[-1]} where {info.env[-1]} is set, or write an api_key beside the base_url "
                f"in the same file (any word if the server needs none)"
            )
        for source in others:
            source.remove(key)
    return withheld


def is_same_server(one: object, other: object) -> bool:
    """True if two addresses have one scheme, host and port; false for one that programs may read in different ways."""
    server = server_of(one)
    return server is not None and server == server_of(other)


def server_of(url: object) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port of an address; None for one that programs may read in different ways."""
    text = str(url)
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if "@" in parts.netloc or "\\" in text or not text.isascii() or not text.isprintable():
        return None
    return parts.scheme, parts.hostname, port


def from_environment(environment: Mapping[str, str]) -> Given:
    """The values in environment variables. Raises SettingError for a variable with our prefix that is not a setting."""
    names = _variables()
    for name in environment:
        if name in names or name in NOT_SETTINGS or not name.startswith(_GUARDED_PREFIXES):
            continue
        close = [f"MEMORY_PIPELINE_{name}"] if f"MEMORY_PIPELINE_{name}" in names else []
        close = close or difflib.get_close_matches(name, names, n=1, cutoff=0.85)
        hint = f"did you mean {close[0]}?" if close else "unset it; 'memory-pipeline config show' lists all settings"
        raise SettingError(f"unknown environment variable {name}; {hint}")
    given = {name: environment[name] for name in names if environment.get(name, "") != ""}
    return Given(
        (tuple(key.split(".")), _parsed(info, text), f"{_IN_ENVIRONMENT}{name}")
        for name, text in given.items()
        for key, info in [names[name]]
    )


def from_file(path: Path | None, content: bytes | None = None) -> Given:
    """The values in a configuration file, or of a file that is not trusted the safe ones alone. The bytes that are
    looked up in the list of trusted files are those that are obeyed; `content` is what was read of it already."""
    if path is None:
        return Given(())
    if content is None and (content := read_settings_file(path)) is None:
        raise SettingError(f"the configuration file '{path}' does not exist; create it or unset its name")
    try:
        tree = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SettingError(f"the configuration file '{path}' is not valid TOML: {first_line(error)}") from error
    values = (((key,), value, str(path)) for key, value in tree.items())
    return Given(values, None if is_trusted(path, content) else path.parent)


def read_settings_file(path: Path) -> bytes | None:
    """The bytes of a settings file; None if there is none. Raises SettingError for one that cannot be read."""
    try:
        if not path.exists():
            return None
        check_has_contents(path)
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except (OSError, ValueError, InputError) as error:
        words = cause_and_mend(error) if isinstance(error, OSError) else str(error)
        raise SettingError(f"the configuration file '{path}' cannot be read: {words}") from error
    if len(content) > _LARGEST_FILE:
        raise SettingError(f"the configuration file '{path}' is larger than 1 MB; name another one")
    return content


def _variables() -> dict[str, tuple[str, SettingInfo]]:
    """The key and the setting of each variable; a setting's own comes last, so that it takes precedence."""
    names = {}
    for info in describe_settings():
        for alias in info.aliases:
            names[own_variable(alias)] = alias, info
        for name in reversed(info.env):
            names[name] = info.key, info
    return names


def _leaves(path: KeyPath, value: object) -> Iterator[tuple[KeyPath, object]]:
    """The values in nested tables, each with its path; an empty table with a user-defined name is a value too, and so
    is one in place of a list of tables, which is left to who reads it."""
    info = _names().get(".".join(path))
    if (info and info.tables) or not isinstance(value, Mapping) or (not value and len(path) > 2):
        yield path, value
        return
    for key, inner in value.items():
        yield from _leaves((*path, str(key)), inner)


def _find_setting(path: KeyPath, origin: str) -> tuple[SettingInfo, KeyPath]:
    """The setting that a path leads to (directly or through one of its tables), and the rest of the path within it."""
    named = _names()
    for depth in range(len(path), 0, -1):
        info = named.get(".".join(path[:depth]))
        if info and (info.table or depth == len(path)):
            return info, path[depth:]
    name = ".".join(path)
    raise SettingError(f"unknown setting '{name}' in {origin}{nearest(name, named)}")


@functools.cache
def _names() -> dict[str, SettingInfo]:
    """Each setting by its key and by its aliases."""
    return {name: info for info in describe_settings() for name in (info.key, *info.aliases)}


def nearest(key: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown key: a suggestion of a near one, of its own section by the name there."""
    (section, _, name), names = key.rpartition("."), list(known)
    of_section = {
        last: candidate for candidate in names for prefix, _, last in [candidate.rpartition(".")] if prefix == section
    }
    close = [of_section[last] for last in difflib.get_close_matches(name, of_section, n=1, cutoff=0.6)]
    close = close or difflib.get_close_matches(key, names, n=1, cutoff=0.88)
    return f"; did you mean '{close[0]}'?" if close else "; 'memory-pipeline config show' lists all"


def _check_range(name: str, value: object, limits: Range, origin: str) -> None:
    """Check the narrower range of an alias. The setting itself refuses values that are not numbers."""
    try:
        number = float(str(value))
    except ValueError:
        return
    if limits and not limits[0] <= number <= limits[1]:
        raise SettingError(f"setting '{name}' (from {origin}) is {value!r}: use {limits[0]} to {limits[1]}")


def _is_same(one: object, other: object) -> bool:
    try:
        return one == other or float(str(one)) == float(str(other))
    except ValueError:
        return False


def _with_unique_keys(setting: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object as a table. Raises SettingError for a key that is in it twice, as TOML does."""
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise SettingError(f"setting '{setting}' has the key '{key}' twice; leave one of them")
        table[key] = value
    return table


def _parsed(info: SettingInfo, text: str) -> object:
    """Parse a variable's text: a list may be written with commas or as JSON, a table as JSON."""
    if info.table or (isinstance(info.default, tuple) and text.lstrip().startswith("[")):
        kind = "table" if info.table else "list"
        try:
            return json.loads(text, object_pairs_hook=functools.partial(_with_unique_keys, info.key))
        except (ValueError, RecursionError) as error:
            raise SettingError(f"setting '{info.key}' is not a JSON {kind}: {error}") from error
    if isinstance(info.default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return text
