"""The choice of the settings files that are obeyed: those in the user's own places, and those that the user trusts.

Anybody can put a `memory_pipeline.toml` into a directory in which somebody else then works. The list of trusted files
lies in the user's own directory of settings; it holds the SHA-256 of each file's contents under the file's place, so a
file that changes or moves has to be trusted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from pathlib import Path

import platformdirs

from memory_pipeline.errors import SettingError
from memory_pipeline.files.writing import cause_and_mend, directories, write_text

_PROGRAM = "memory-pipeline"
CONFIG_VARIABLE, HOME_VARIABLE = "MEMORY_PIPELINE_CONFIG", "MEMORY_PIPELINE_HOME"
#: Names those of the two that this program has set for its own processes to what it found in a working directory.
FOUND_VARIABLE = "MEMORY_PIPELINE_FOUND"


def checkout() -> Path:
    """The directory that contains this package."""
    return Path(str(sys.modules["memory_pipeline"].__file__)).resolve().parent.parent


def user_directory() -> Path:
    """The platform's directory for the user's data."""
    return platformdirs.user_data_path(_PROGRAM, appauthor=False)


def cache_directory() -> Path:
    """The platform's directory for what can be made again."""
    return platformdirs.user_cache_path(_PROGRAM, appauthor=False)


def trust_list() -> Path:
    """The user's list of trusted files; it may not exist."""
    return platformdirs.user_config_path(_PROGRAM, appauthor=False) / "trusted.json"


def is_own(file: Path) -> bool:
    """True if the file lies where the user alone decides what lies there: `MEMORY_PIPELINE_CONFIG` names it,
    `MEMORY_PIPELINE_HOME` names its directory, or this is the checkout of the program or the user's directory, or lies
    with the data of such a place.

    A relative name says no more than the working directory does.
    """
    config, home = user_choice(CONFIG_VARIABLE), user_choice(HOME_VARIABLE)
    places = {Path(os.path.realpath(place)) for place in (checkout(), user_directory(), home) if place is not None}
    directory = _place(file).parent
    is_data = any(place / "data" in (directory, *directory.parents) for place in places)
    return directory in places or is_data or (config is not None and _place(config) == _place(file))


def user_choice(variable: str) -> Path | None:
    """The path that the user has named in an environment variable, wherever the program is started."""
    named = Path(os.environ.get(variable, "")).expanduser()
    return named if named.is_absolute() and variable not in os.environ.get(FOUND_VARIABLE, "").split(",") else None


def is_trusted(file: Path, content: bytes) -> bool:
    """True if a file with this content is obeyed. Raises SettingError for a list that others can change."""
    return is_own(file) or _read().get(str(_place(file))) == _digest(content)


def trust(file: Path, content: bytes) -> None:
    """Trust a file with this content. Raises OutputError if the list cannot be written."""
    _write({**_read(), str(_place(file)): _digest(content)})


def withdraw_trust(file: Path) -> bool:
    """Take a file off the list. Returns whether it stood there."""
    known = _read()
    stood = known.pop(str(_place(file)), None) is not None
    if stood:
        _write(known)
    return stood


def _place(file: Path) -> Path:
    """The place of a file: links on the way there are resolved, but not its own, whose target others may choose."""
    return Path(os.path.realpath(file.parent)) / file.name


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read() -> dict[str, str]:
    file = trust_list()
    subject = f"'{file}', the list of trusted settings,"
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            if stat.S_IMODE(status.st_mode) & 0o022 or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
                raise SettingError(
                    f"others can change '{file}', the list of trusted settings; check it, and run chmod 600"
                )
            known = json.load(opened)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingError(f"{subject} cannot be read: {cause_and_mend(error)}") from error
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{subject} is not JSON; mend or delete it") from error
    if not isinstance(known, dict):
        raise SettingError(f"{subject} is no JSON object; mend or delete it")
    return known


def _write(known: dict[str, str]) -> None:
    file = trust_list()
    with directories(file.parent):
        write_text(file, json.dumps(known, indent=2, sort_keys=True) + "\n", lambda _: True, private=True)
