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
from collections.abc import Iterator, Mapping, Sequence
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
_FORM = 3
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

    def write(
        self,
        before: Opened | None,
        generation: Generation,
        places: str,
        ids: Sequence[str],
        texts: Sequence[str],
        vectors: Vectors,
        late: Mapping[int, Vectors],
    ) -> Opened:
        """Add rows to the files (`before` is what `read` returned; without it they are made anew) and open the result.
        Call it while they are locked.

        `places`: the digest of what stands above all rows in their sources; `vectors`: float32 (n, dimension), zero for
        none; `late`: by row, the vectors of rows that had none.
        """
        if before is None:
            name = f"v-{secrets.token_hex(8)}"
            (self._directory / name / _WORDS).mkdir(parents=True)
            files = {each: [0, 0] for each in (_IDS, _VECTORS, _SIGNS)}
        else:
            manifest = json.loads((self._directory / _MANIFEST).read_bytes())
            name, files = manifest["name"], manifest["files"]
        place = self._directory / name
        first = len(before.ids) if before else 0
        without = set(before.without_vector if before else ())
        _append(place / _VECTORS, files, vectors.tobytes())
        _append(place / _SIGNS, files, signs_of(vectors).tobytes())
        for row, vector in late.items():
            for file, data in ((_VECTORS, vector.tobytes()), (_SIGNS, signs_of(vector[None, :]).tobytes())):
                _write_over(place / file, row * len(data), data)
        for file in (_VECTORS, _SIGNS) if late else ():
            files[file] = [files[file][0], _crc_of(place / file)]
        _append(place / _IDS, files, "".join(f"{json.dumps(one)}\n" for one in ids).encode())
        if ids:
            reached("index.words.before")
            words = before.words if before else WordIndex(self._kind.language, place / _WORDS)
            words.add(first, texts)
            reached("index.words.after")
        without = (without - late.keys()) | {first + n for n in np.flatnonzero(~vectors.any(axis=1)).tolist()}
        manifest = {
            "form": _FORM,
            "kind": asdict(self._kind),
            "token": secrets.token_hex(16),
            "name": name,
            "sequence": generation.sequence,
            "mark": generation.mark,
            "places": places,
            "rows": first + len(ids),
            "without_vector": sorted(without),
            "files": files,
            "words": {  # but for locks and what the word index keeps for itself
                file.name: [file.stat().st_size, _crc_of(file)]
                for file in sorted((place / _WORDS).iterdir())
                if file.is_file() and not file.name.startswith(".")
            },
        }
        reached("index.manifest.before")
        incoming = self._directory / f"{_MANIFEST}.new"
        incoming.write_text(json.dumps(manifest), encoding="utf-8")
        incoming.replace(self._directory / _MANIFEST)
        reached("index.manifest.after")
        for other in self._directory.glob("v-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
        return self._opened(manifest, place, [*(before.ids if before else []), *ids])

    def _open(self, manifest: dict[str, Any], known: Opened | None) -> Opened:
        """Open the files of a manifest; what `known` has verified already is not read again."""
        place = self._directory / Path(manifest["name"]).name
        verified: dict[str, Any] = known.manifest if known else {"files": {}, "words": {}}
        for name, wanted in manifest["files"].items():
            _check(place / name, wanted, verified["files"].get(name, (0, 0)))
        with (place / _IDS).open("rb") as file:
            lines = file.read(manifest["files"][_IDS][0]).decode().splitlines()
        ids: list[str] = json.loads(f"[{','.join(lines)}]")
        rows = manifest["rows"]
        if len(ids) != rows:
            raise DamagedIndexError("the number of rows is another one")
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


def _sign_bytes(dimension: int) -> int:
    return -(-dimension // 64) * 8


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


def _check(file: Path, wanted: Sequence[int], verified: Sequence[int]) -> None:
    """Raises DamagedIndexError unless a file begins with as many bytes of the checksum that is `wanted`. What is
    `verified` is not read again, but where it has changed."""
    for size, crc in dict.fromkeys((tuple(verified), (0, 0))):
        if _crc_of(file, size, wanted[0], crc) == wanted[1]:
            return
    raise DamagedIndexError(f"'{file.name}' is another file")


def _crc_of(file: Path, start: int = 0, end: int | None = None, crc: int = 0) -> int:
    """The checksum of a file up to an end, which goes on from that of its bytes before the start."""
    left = (file.stat().st_size if end is None else end) - start
    with file.open("rb") as opened:
        opened.seek(start)
        while left > 0 and (chunk := opened.read(min(_CHUNK, left))):
            crc, left = zlib.crc32(chunk, crc), left - len(chunk)
    return crc


def _append(file: Path, files: dict[str, list[int]], data: bytes) -> None:
    """Write behind what counts of a file, cut off what was there, and let the data count."""
    size, crc = files[file.name]
    with file.open("r+b" if file.exists() else "wb") as opened:
        opened.truncate(size)
        opened.seek(size)
        opened.write(data)
    files[file.name] = [size + len(data), zlib.crc32(data, crc)]


def _write_over(file: Path, offset: int, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.pwrite(descriptor, data, offset)
    finally:
        with suppress(OSError):
            os.close(descriptor)
