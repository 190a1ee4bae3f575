"""Reads every block of a database file, including indexes, and compares it with its checksum.

DuckDB checks a block only when it happens to read it; a snapshot or a copy counts as whole only if all of them can
be read. The layout is that of DuckDB 2.0: three headers of 4,096 bytes, then blocks of one size, each with its
checksum in the first 8 bytes (XOR over its 64-bit words, each times a constant, starting with 5381).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

_HEADER = 4096
#: The position of the database identifier in the main header, which DuckDB writes into every log and compares.
_IDENTIFIER = slice(124, 140)
_FACTOR, _SEED = np.uint64(0xBF58476D1CE4E5B9), np.uint64(5381)
#: A metadata block has this many pieces; a pointer has a block in its low 56 bits and a piece in the rest.
_PIECES, _BLOCK_BITS, _NO_POINTER = 64, (1 << 56) - 1, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class BlockReport:
    """The number of blocks in a file, and the numbers of unreadable blocks in use."""

    blocks: int
    damaged: tuple[int, ...]


def read_blocks(path: Path) -> BlockReport:
    """Read every block of a database file and check it.

    A block that the file itself marks as free may contain anything. Raises ValueError for a file with unreadable
    headers, and OSError for a disk error.
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
    """Whether the three headers of a database file are those that were written."""
    with path.open("rb") as file:
        pages = [file.read(_HEADER) for _ in range(3)]
    return all(len(page) == _HEADER and _is_whole(page) for page in pages)


def identifier_of(path: Path) -> bytes:
    """The identifier of a database file, 16 bytes; a log that continues it has the same one."""
    with path.open("rb") as file:
        return file.read(_HEADER)[_IDENTIFIER]


def write_identifier(path: Path, identifier: bytes) -> None:
    """Give a database file without a log another identifier (16 bytes), so that it no longer accepts a log of
    another file.

    Raises ValueError for a file whose main header cannot be read.
    """
    with path.open("r+b") as file:
        page = bytearray(file.read(_HEADER))
        if len(page) != _HEADER or not _is_whole(page):
            raise ValueError("its main header cannot be read")
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
    """Block size and the pointer to the free list, from the newer readable database header."""
    found = []
    for at in (_HEADER, 2 * _HEADER):
        page = headers[at : at + _HEADER]
        if len(page) == _HEADER and _is_whole(page):
            iteration, _meta, free_list, _count, block_size = struct.unpack_from("<5Q", page, 8)
            found.append((iteration, block_size, free_list))
    if not found or not _is_whole(headers[:_HEADER]):
        raise ValueError("its headers cannot be read")
    _, block_size, free_list = max(found)
    if block_size < _HEADER or block_size % _HEADER:
        raise ValueError(f"its block size is {block_size}")
    return block_size, free_list


def _free_blocks(file: BinaryIO, block_size: int, pointer: int) -> set[int]:
    """The free list: a count and that many block numbers, in pieces of metadata blocks that are chained by pointers."""
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
