"""Tells by the content of a path which format it is of."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memory_pipeline.errors import InputError
from memory_pipeline.files import cause_and_mend, check_has_contents
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.ingest.importer import Importer

#: What stands for a format on the command line if the content is to tell it.
AUTO = "auto"
_log = logging.getLogger(__name__)


class Recognised(NamedTuple):
    """A format that a path may be of, and what shows it, as words that follow "it has"."""

    importer: Importer
    evidence: str

    def told(self, path: Path) -> str:
        """Which format was taken, and why."""
        return f"'{path}' is read as {self.importer.name}: it has {self.evidence}"


def recognise(path: Path, importers: Iterable[Importer] | None = None) -> list[Recognised]:
    """Every format that the content of a path shows signs of, in the order of the registry."""
    if not (path.is_file() or path.is_dir()):
        return []
    found = []
    for importer in IMPORTERS.values() if importers is None else importers:
        if importer.takes_directory not in (None, path.is_dir()):
            continue
        try:
            evidence = importer.evidence(path)
        except Exception:  # one format's reader must not keep the others from telling
            _log.warning("format %s cannot tell whether '%s' is of it", importer.name, path, exc_info=True)
            continue
        if evidence:
            found.append(Recognised(importer, evidence))
    return found


def the_format_of(path: Path, command: str = "memory-pipeline import {format} {path}") -> Recognised:
    """The one format that a path is of. `command` is what names a format, for the errors.

    Raises InputError if the path does not exist, or if none or several formats know it.
    """
    check_has_contents(path)
    try:
        if not path.is_dir():
            with path.open("rb"):
                pass
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    found = recognise(path)
    at_home = [one for one in found if one.importer.is_home(path)]
    if len(found) == 1 or len(at_home) == 1:
        return (at_home or found)[0]
    if found:
        signs = " and ".join(f"as {one.importer.name} (it has {one.evidence})" for one in found)
        commands = " or ".join(_filled(command, one.importer.name, path) for one in found)
        raise InputError(f"'{path}' can be read {signs}; name the format: {commands}")
    kind = "directory" if path.is_dir() else "file"
    *names, last = (one.name for one in IMPORTERS.values() if one.takes_directory in (None, path.is_dir()))
    known = f"{', '.join(names)} or {last}" if names else last
    raise InputError(
        f"'{path}' is a {kind} that no format knows; if it is of one, name it: {_filled(command, 'FORMAT', path)}, "
        f"where FORMAT is {known}"
    )


def _filled(command: str, name: str, path: Path) -> str:
    return f"'{command.format(format=name, path=shlex.quote(str(path)))}'"
