"""The files of a project's index beside the store: rows, vectors, their signs and the words. Derived, never the truth.

A manifest says how much of each file counts, with checksums; it is replaced last, in one step, so that whatever a
killed process has left behind it is cut off or written again. Files that do not match it are thrown away and made
again from the store. One process at a time writes; rows are only ever added, and a row's words never change: if what
stands above one in its source does, all is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import portalocker

from memory_pipeline.killpoints import reached
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.neighbours import SIGNS_FROM, Bits, Matrix, signs_of
from memory_pipeline.recall.words import WordIndex
from memory_pipeline.store import Generation

#: Raised when the form of the files changes: they are then made again.
_FORM = 2
#: Rows with one checksum.
_BLOCK = 4096
_CHUNK = 1 << 22
_MANIFEST, _LOCK, _IDS, _VECTORS, _SIGNS, _WORDS = (
    "manifest.json", "lock", "ids.jsonl", "vectors.f32", "signs.u64", "words",
)  # fmt: skip
#: The file of the word index that says which of its other files count.
_META = "meta.json"


class DamagedIndexError(Exception):
    """The files do not match their manifest."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What an index is of: project, embedding model, and the language of its words. Another kind is another index."""

    project: str
    model: str
    dimension: int
    language: str

    def directory_name(self) -> str:
        """A name that holds no character of the project's."""
        parts = json.dumps([self.project, self.model, self.dimension, self.language])
        return hashlib.sha256(parts.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Opened:
    """The files as one manifest describes them. `ids` by row; `without_vector`: rows that have none yet."""

    manifest: dict[str, Any]
    generation: Generation
    ids: list[str]
    without_vector: tuple[int, ...]
    matrix: Matrix
    words: WordIndex


@dataclass(frozen=True, slots=True)
class Addition:
    """Rows to add, and vectors for rows that had none. `filled`: rows, with float32 (n, dimension); `vectors`: of the
    added rows, zero for none; `places`: the digest of what stands above all rows in their sources."""

    ids: Sequence[str]
    texts: Sequence[str]
    vectors: Vectors
    filled: Sequence[int]
    filled_vectors: Vectors
    places: str = ""


class IndexFiles:
    """The directory of one project's index."""

    def __init__(self, home: Path, kind: Kind) -> None:
        """`home`: the directory of all indexes of a store; nothing is created before it is written."""
        self._kind = kind
        self._directory = home / kind.directory_name()

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
        """The files as they are, verified; None if there are none. `known`: what this process opened before, which is
        returned if nothing has changed. Call it while they are locked. Raises DamagedIndexError."""
        try:
            manifest = json.loads((self._directory / _MANIFEST).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"the manifest cannot be read: {error}") from error
        try:
            if manifest["form"] != _FORM or manifest["kind"] != asdict(self._kind):
                return None
            if known is not None and known.manifest["token"] == manifest["token"]:
                return known
            return self._open(manifest, known if known and known.manifest["name"] == manifest["name"] else None)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise DamagedIndexError(f"{type(error).__name__}: {error}") from error

    def write(self, before: Opened | None, addition: Addition, generation: Generation) -> Opened:
        """Add to the files (`before` is what `read` returned; without it they are made anew) and open the result.
        Call it while they are locked."""
        if before is None:
            name = f"v-{secrets.token_hex(8)}"
            (self._directory / name / _WORDS).mkdir(parents=True)
            counts, blocks = [0, 0], []
        else:
            manifest = json.loads((self._directory / _MANIFEST).read_bytes())
            name, counts, blocks = manifest["name"], manifest["ids"], manifest["blocks"]
        place = self._directory / name
        first = len(before.ids) if before else 0
        without = set(before.without_vector if before else ())
        changed = self._write_vectors(place, first, addition)
        if addition.ids:
            lines = "".join(f"{json.dumps(one)}\n" for one in addition.ids).encode()
            _write_at(place / _IDS, counts[0], lines)
            counts = [counts[0] + len(lines), zlib.crc32(lines, counts[1])]
            reached("index.words.before")
            words = before.words if before else WordIndex(self._kind.language, place / _WORDS)
            words.add(first, addition.texts)
            reached("index.words.after")
        rows = first + len(addition.ids)
        without |= {first + n for n in np.flatnonzero(~addition.vectors.any(axis=1)).tolist()}
        without -= {row for row, one in zip(addition.filled, addition.filled_vectors, strict=True) if one.any()}
        blocks = self._checked_blocks(place, rows, blocks, changed)
        manifest = {
            "form": _FORM,
            "kind": asdict(self._kind),
            "token": secrets.token_hex(16),
            "name": name,
            "sequence": generation.sequence,
            "mark": generation.mark,
            "places": addition.places,
            "rows": rows,
            "without_vector": sorted(without),
            "ids": counts,
            "blocks": blocks,
            "words": {file.name: [file.stat().st_size, _crc_of(file)] for file in _files_of_words(place)},
        }
        reached("index.manifest.before")
        incoming = self._directory / f"{_MANIFEST}.new"
        incoming.write_text(json.dumps(manifest), encoding="utf-8")
        incoming.replace(self._directory / _MANIFEST)
        reached("index.manifest.after")
        self._remove_others(name)
        return self._opened(manifest, place, [*(before.ids if before else []), *addition.ids])

    def _write_vectors(self, place: Path, first: int, addition: Addition) -> set[int]:
        """Write vectors and signs; the rows that changed."""
        width = self._kind.dimension * 4
        for name, size, values in (
            (_VECTORS, width, addition.vectors),
            (_SIGNS, _sign_bytes(self._kind.dimension), signs_of(addition.vectors)),
        ):
            _write_at(place / name, first * size, values.tobytes())
        for row, vector in zip(addition.filled, addition.filled_vectors, strict=True):
            _write_over(place / _VECTORS, row * width, vector.tobytes())
            signs = signs_of(vector[None, :])
            _write_over(place / _SIGNS, row * signs.nbytes, signs.tobytes())
        return {*addition.filled, *range(first, first + len(addition.ids))}

    def _checked_blocks(self, place: Path, rows: int, blocks: list[int], changed: set[int]) -> list[int]:
        """The checksum of every block of vectors and signs; those without a changed row keep theirs."""
        count = -(-rows // _BLOCK)
        again = {row // _BLOCK for row in changed} | set(range(len(blocks), count))
        known = [*blocks, *[0] * (count - len(blocks))]
        for block in again:
            known[block] = self._crc_of_block(place, block, rows)
        return known

    def _crc_of_block(self, place: Path, block: int, rows: int) -> int:
        here = min(_BLOCK, rows - block * _BLOCK)
        crc = 0
        for name, size in ((_VECTORS, self._kind.dimension * 4), (_SIGNS, _sign_bytes(self._kind.dimension))):
            with (place / name).open("rb") as file:
                file.seek(block * _BLOCK * size)
                crc = zlib.crc32(file.read(here * size), crc)
        return crc

    def _open(self, manifest: dict[str, Any], known: Opened | None) -> Opened:
        """Open the files of a manifest; what `known` has verified already is not read again."""
        place = self._directory / Path(manifest["name"]).name
        verified: dict[str, Any] = known.manifest if known else {"ids": [0, 0], "blocks": [], "words": {}}
        ids = [*(known.ids if known else []), *_read_ids(place / _IDS, verified["ids"], manifest["ids"])]
        rows = manifest["rows"]
        if len(ids) != rows or len(manifest["blocks"]) != -(-rows // _BLOCK):
            raise DamagedIndexError("the number of rows is another one")
        for block, crc in enumerate(manifest["blocks"]):
            if verified["blocks"][block : block + 1] != [crc] and self._crc_of_block(place, block, rows) != crc:
                raise DamagedIndexError(f"the vectors from row {block * _BLOCK} on are other ones")
        _check_words(place / _WORDS, manifest["words"], verified["words"])
        opened = self._opened(manifest, place, ids)
        if opened.words.count < rows:
            raise DamagedIndexError("words of some rows are missing")
        return opened

    def _opened(self, manifest: dict[str, Any], place: Path, ids: list[str]) -> Opened:
        rows, dimension = manifest["rows"], self._kind.dimension
        signs: Bits | None = None
        if rows:
            vectors = np.memmap(place / _VECTORS, np.float32, "r", shape=(rows, dimension))
            if rows >= SIGNS_FROM:
                words = _sign_bytes(dimension) // 8
                signs = np.fromfile(place / _SIGNS, np.uint64, rows * words).reshape(rows, words)
        else:
            vectors = np.zeros((0, dimension), dtype=np.float32)  # type: ignore[assignment]
        index = WordIndex(self._kind.language, place / _WORDS)
        return Opened(
            manifest,
            Generation(manifest["sequence"], manifest["mark"]),
            ids,
            tuple(manifest["without_vector"]),
            Matrix(vectors, signs),
            index,
        )

    def _remove_others(self, kept: str) -> None:
        for other in self._directory.glob("v-*"):
            if other.name != kept:
                shutil.rmtree(other, ignore_errors=True)


def _sign_bytes(dimension: int) -> int:
    return -(-dimension // 64) * 8


def _files_of_words(place: Path) -> list[Path]:
    """The files of the word index, but for its locks and what it keeps for itself."""
    return [file for file in sorted((place / _WORDS).iterdir()) if file.is_file() and not file.name.startswith(".")]


def _read_ids(file: Path, verified: Sequence[int], wanted: Sequence[int]) -> list[str]:
    """The ids between two lengths of their file; lengths come with the checksum up to there."""
    with file.open("rb") as opened:
        opened.seek(verified[0])
        lines = opened.read(wanted[0] - verified[0])
    if zlib.crc32(lines, verified[1]) != wanted[1]:
        raise DamagedIndexError("the list of rows is another one")
    ids: list[str] = json.loads(f"[{','.join(lines.decode().splitlines())}]")
    return ids


def _check_words(place: Path, wanted: dict[str, list[int]], verified: dict[str, list[int]]) -> None:
    """Compare the files of the word index with a manifest.

    A process that was killed between the word index's own commit and the manifest leaves a newer, whole index behind:
    then files may be missing that this commit no longer needs.
    """
    is_newer = [(place / _META).stat().st_size, _crc_of(place / _META)] != wanted[_META]
    for name, (size, crc) in wanted.items():
        if verified.get(name) == [size, crc] or name == _META:
            continue
        file = place / Path(name).name
        if is_newer and not file.exists():
            continue
        if file.stat().st_size != size or _crc_of(file) != crc:
            raise DamagedIndexError(f"'{name}' is another file")


def _crc_of(file: Path) -> int:
    crc = 0
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc


def _write_at(file: Path, offset: int, data: bytes) -> None:
    """Write at an offset, and cut off what was behind."""
    with file.open("r+b" if file.exists() else "wb") as opened:
        opened.truncate(offset)
        opened.seek(offset)
        opened.write(data)


def _write_over(file: Path, offset: int, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.pwrite(descriptor, data, offset)
    finally:
        with suppress(OSError):
            os.close(descriptor)
