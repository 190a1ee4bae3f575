"""Every block of a database file, read and held against its checksum, those of indexes included.

DuckDB checks a block when it happens to read it; a snapshot or a copy is called whole only when all of them read.
The layout is that of DuckDB 2.0: three headers of 4,096 bytes, then blocks of one size, each with its checksum in
the first 8 bytes (XOR over its 64-bit words, each times a constant, begun at 5381).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

_HEADER = 4096
#: Where the main header has the identifier of the database, which DuckDB writes into every log and compares.
_IDENTIFIER = slice(124, 140)
_FACTOR, _SEED = np.uint64(0xBF58476D1CE4E5B9), np.uint64(5381)
#: A metadata block is cut into so many pieces; a pointer names a block in its low 56 bits and a piece in the rest.
_PIECES, _BLOCK_BITS, _NO_POINTER = 64, (1 << 56) - 1, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class BlockReport:
    """How many blocks a file has, and the numbers of those in use that do not read."""

    blocks: int
    damaged: tuple[int, ...]


def read_blocks(path: Path) -> BlockReport:
    """Read every block of a database file and check it.

    A block that the file itself calls free may hold anything. Raises ValueError for a file whose headers do not
    read, OSError when the disk does not.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        block_size, free_list = _current_header(file.read(3 * _HEADER))
        count = (size - 3 * _HEADER) // block_size
        file.seek(3 * _HEADER)
        damaged = [number for number in range(count) if not _is_whole(file.read(block_size))]
        if damaged:
            free = _free_blocks(file, block_size, free_list)
            damaged = [number for number in damaged if number not in free]
    return BlockReport(count, tuple(damaged))


def headers_read(path: Path) -> bool:
    """Whether the three headers of a database file are what was written."""
    with path.open("rb") as file:
        pages = [file.read(_HEADER) for _ in range(3)]
    return all(len(page) == _HEADER and _is_whole(page) for page in pages)


def identifier_of(path: Path) -> bytes:
    """The identifier of a database file, 16 bytes; a log that continues it bears the same."""
    with path.open("rb") as file:
        return file.read(_HEADER)[_IDENTIFIER]


def write_identifier(path: Path, identifier: bytes) -> None:
    """Give a database file that has no log another identifier (16 bytes): it takes no log of another one from then on.

    Raises ValueError for a file whose main header does not read.
    """
    with path.open("r+b") as file:
        page = bytearray(file.read(_HEADER))
        if len(page) != _HEADER or not _is_whole(page):
            raise ValueError("its main header does not read")
        page[_IDENTIFIER] = identifier
        page[:8] = struct.pack("<Q", _checksum(page))
        file.seek(0)
        file.write(page)


def _is_whole(block: bytes | bytearray) -> bool:
    (written,) = struct.unpack_from("<Q", block)
    return bool(written == _checksum(block))


def _checksum(block: bytes | bytearray) -> int:
    return int(np.bitwise_xor.reduce(np.frombuffer(block, dtype="<u8")[1:] * _FACTOR) ^ _SEED)


def _current_header(headers: bytes) -> tuple[int, int]:
    """Block size and the pointer to the free list, of the newer of the two database headers that read."""
    found = []
    for at in (_HEADER, 2 * _HEADER):
        page = headers[at : at + _HEADER]
        if len(page) == _HEADER and _is_whole(page):
            iteration, _meta, free_list, _count, block_size = struct.unpack_from("<5Q", page, 8)
            found.append((iteration, block_size, free_list))
    if not found or not _is_whole(headers[:_HEADER]):
        raise ValueError("its headers do not read")
    _, block_size, free_list = max(found)
    if block_size < _HEADER or block_size % _HEADER:
        raise ValueError(f"its block size is {block_size}")
    return block_size, free_list


def _free_blocks(file: BinaryIO, block_size: int, pointer: int) -> set[int]:
    """The free list: a count and as many block numbers, in pieces of metadata blocks that are chained by pointers."""
    piece = (block_size - 8) // _PIECES // 8 * 8
    words: list[int] = []
    seen: set[int] = set()
    while pointer != _NO_POINTER and pointer not in seen and (not words or len(words) <= words[0]):
        seen.add(pointer)
        block, index = pointer & _BLOCK_BITS, pointer >> 56
        file.seek(3 * _HEADER + block * block_size + 8 + index * piece)
        found = np.frombuffer(file.read(piece), dtype="<u8").tolist()
        if not found:
            break
        pointer, rest = found[0], found[1:]
        words += rest
    return set(words[1 : 1 + words[0]]) if words else set()
