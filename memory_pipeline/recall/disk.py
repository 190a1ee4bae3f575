"""The files of a project's index beside the store: its rows by id, and their words. Derived, never the truth.

A manifest has the state of the store that they are of, and a checksum of each; it is replaced last, in one step. Files
that do not match it, as a killed process leaves them, are thrown away and made again from the store. One process at a
time writes; rows are only ever added, and a row's words never change: if what stands above one in its source does, all
is made again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import portalocker

from memory_pipeline.killpoints import reached
from memory_pipeline.recall.words import DamagedIndexError, WordIndex
from memory_pipeline.store import Generation

#: Raised when the form of the files changes: they are then made again.
_FORM = 6
_CHUNK = 1 << 22
_MANIFEST, _LOCK, _IDS, _WORDS = "manifest.json", "lock", "ids.json", "words"
#: The list of segments, the only file that the word index writes a second time.
_WRITTEN_AGAIN = "meta.json"


@dataclass(frozen=True, slots=True)
class Opened:
    """The files as one manifest describes them, in their `place`. `ids` by row."""

    manifest: dict[str, Any]
    place: Path
    ids: list[str]
    words: WordIndex

    @property
    def generation(self) -> Generation:
        """The state of the store that they are of."""
        return Generation(self.manifest["sequence"], self.manifest["mark"])

    def check_sizes(self) -> None:
        """The files of words are mapped into memory: whoever reads what another program has cut off ends with SIGBUS.
        Ours are only replaced or removed, which leaves what is mapped. Raises DamagedIndexError."""
        for name, (size, _) in self.manifest["files"].items():
            with suppress(FileNotFoundError):
                if name not in (_IDS, _WRITTEN_AGAIN) and (self.place / _WORDS / name).stat().st_size < size:
                    raise DamagedIndexError(f"'{name}' was cut off")


class IndexFiles:
    """The directory of one project's index."""

    def __init__(self, home: Path, project: str, model: str, dimension: int, language: str) -> None:
        """`home`: the directory of all indexes of a store; nothing is created before it is written. Each project,
        embedding model and language of the words has an index of its own, under a name that holds no character of the
        project's."""
        self._language = language
        parts = json.dumps([project, model, dimension, language])
        self._directory = home / hashlib.sha256(parts.encode()).hexdigest()[:24]

    @contextmanager
    def locked(self, timeout_s: float) -> Iterator[None]:
        """Hold the files against other processes. Raises portalocker.LockException after the timeout, and OSError
        where nothing can be written."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with portalocker.Lock(self._directory / _LOCK, timeout=timeout_s, check_interval=0.01):
            yield

    def forget(self) -> None:
        """Have the files made again the next time."""
        (self._directory / _MANIFEST).unlink(missing_ok=True)

    def read(self, known: Opened | None) -> Opened | None:
        """The files as they are, verified; None if there are none. `known`: what this process opened before, of which
        only what was added is read. Call it while they are locked. Raises DamagedIndexError."""
        try:
            manifest = json.loads((self._directory / _MANIFEST).read_bytes())
            if manifest["form"] != _FORM:
                return None
            if manifest.pop("crc") != _compute_crc(manifest):
                raise DamagedIndexError("its manifest is not the one that was written")
            place = self._directory / Path(manifest["name"]).name
            if known is not None and known.manifest["token"] == manifest["token"]:
                if _checksum(place / _WORDS / _WRITTEN_AGAIN) != manifest["files"][_WRITTEN_AGAIN]:
                    raise DamagedIndexError("a write was broken off")  # its words would be added to a second time
                known.check_sizes()
                return known
            ids, files = [], {}
            if known is not None and known.manifest["name"] == manifest["name"]:
                ids, files = known.ids, known.manifest["files"]
            if _compute_checksums(place, files) != manifest["files"]:
                raise DamagedIndexError("its files are not those that were written")
            with (place / _IDS).open("rb") as lines:
                lines.seek(files[_IDS][0] if files else 0)
                ids = [*ids, *(memory_id for line in lines for memory_id in json.loads(line))]
            return Opened(manifest, place, ids, WordIndex(self._language, place / _WORDS))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DamagedIndexError(f"{type(error).__name__}: {error}") from error

    def write(
        self, before: Opened | None, generation: Generation, places: str, ids: list[str], texts: Sequence[str]
    ) -> Opened:
        """Add rows to the files (`before` is what `read` returned; without it they are made anew) and open the result.
        Call it while they are locked.

        `places`: the digest of what stands above all rows in their sources; `ids`: of all rows; `texts`: of the last
        ones, which are added.
        """
        name = before.manifest["name"] if before else f"v-{secrets.token_hex(8)}"
        place = self._directory / name
        (place / _WORDS).mkdir(parents=True, exist_ok=True)
        known = before.manifest["files"] if before else {}
        with (place / _IDS).open("ab") as lines:
            lines.truncate(known[_IDS][0] if before else 0)  # a write that failed may have added a line
            lines.write(json.dumps(ids[len(before.ids) if before else 0 :]).encode() + b"\n")
        words = before.words if before else WordIndex(self._language, place / _WORDS)
        if texts:
            reached("index.words.before")
            words.add(len(ids) - len(texts), texts)
            reached("index.words.after")
        manifest = {
            "form": _FORM,
            "token": secrets.token_hex(16),
            "name": name,
            "sequence": generation.sequence,
            "mark": generation.mark,
            "places": places,
            "files": _compute_checksums(place, known),
        }
        reached("index.manifest.before")
        incoming = self._directory / f"{_MANIFEST}.new"
        incoming.write_text(json.dumps(manifest | {"crc": _compute_crc(manifest)}), encoding="utf-8")
        incoming.replace(self._directory / _MANIFEST)
        reached("index.manifest.after")
        for other in self._directory.glob("v-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
        return Opened(manifest, place, ids, WordIndex(self._language, place / _WORDS))


def _compute_checksums(place: Path, known: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Size and checksum of each file, but for locks and what the word index keeps for itself. `known`: as they were, so
    that only what was added since is read."""
    files = [place / _IDS, *(file for file in (place / _WORDS).iterdir() if not file.name.startswith("."))]
    begun = {name: sums for name, sums in known.items() if name != _WRITTEN_AGAIN}
    return {file.name: _checksum(file, *begun.get(file.name, ())) for file in sorted(files)}


def _checksum(file: Path, size: int = 0, crc: int = 0) -> list[int]:
    """Size and checksum of a file, of which the first bytes, so many, have a known one."""
    with file.open("rb") as opened:
        opened.seek(size)
        while chunk := opened.read(_CHUNK):
            size, crc = size + len(chunk), zlib.crc32(chunk, crc)
    return [size, crc]


def _compute_crc(manifest: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())
