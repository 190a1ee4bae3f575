"""The catalogue of an external scanner: Kingfisher's rules for the tokens of hundreds of providers.

It runs in this process and never uses the network. Its findings are accepted except for kinds that are not secrets
(identifiers and public keys).
"""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from memory_pipeline.config.trust import cache_directory
from memory_pipeline.text.redaction import spans
from memory_pipeline.text.redaction.spans import Span, is_stand_in, small_letters

_COLUMN = re.compile(
    rf"[\s*`\"']*(?:[\w-]+[\s_])?(?:{spans.PASSWORDS}|{spans.SHORT_PASSWORDS}|{spans.TOKENS})s?(?:\s\([^)]*\))?[\s*`\"']*"
)
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_SHORTEST = 8
#: A text is scanned in pieces, for a few rules take longer than in proportion; nothing that it finds is longer than the
#: overlap but private keys, which are masked before.
_PIECE, _OVERLAP = 20_000, 4_000
_NO_SECRETS = re.compile(
    r"(?:client|account|app|user|tenant)-id\b|pub(?:lic)?(?:lishable)?-(?:api-)?(?:key|token)\b|webhook-id"
)
#: Where the compiled catalogue is kept, which saves the next process some seconds; by default in the user's directory.
_kept_in: ContextVar[Path | None] = ContextVar("kept_in", default=None)


@contextmanager
def catalogue_only_read() -> Iterator[None]:
    """The catalogue that an earlier process has kept is used, and none is kept."""
    kept = cache_directory()
    with tempfile.TemporaryDirectory(prefix="memory_pipeline-") as copy:
        with suppress(OSError):  # the library writes wherever it reads; without a copy it compiles anew
            shutil.copytree(kept, copy, dirs_exist_ok=True)
        token = _kept_in.set(Path(copy))
        try:
            yield
        finally:
            _kept_in.reset(token)


@functools.cache
def _scanner() -> Any:
    """Compiled once per process, or read from the cache in which an earlier process has kept it."""
    from kingfisher_sdk import Rules, Scanner

    return Scanner(Rules(confidence="medium", cache_dir=_kept_in.get() or cache_directory()), base64=False)


def find_with_scanner(text: str) -> Iterator[Span]:
    """The position of every token that the catalogue recognises."""
    if not _LONG.search(text):
        return
    findings = (
        finding
        for start in range(0, len(text), _PIECE)
        for finding in _scanner().scan(text[max(0, start - _OVERLAP) : start + _PIECE].encode("utf-8", "replace"))
    )
    for finding in findings:
        secret = finding.secret
        if not finding.visible or len(secret) < _SHORTEST or _NO_SECRETS.search(finding.rule_id):
            continue
        if _PLAIN.fullmatch(secret) and not _says_key(text, secret):
            continue
        start = text.find(secret)
        while start >= 0:
            yield start, start + len(secret)
            start = text.find(secret, start + len(secret))


def _says_key(text: str, secret: str) -> bool:
    """True if the line says that the digits are a key: `Heroku release: <UUID>` names a provider but contains no
    key."""
    position = text.find(secret)
    line = text[text.rfind("\n", 0, position) + 1 : position].lower()
    return any(word in line for word in ("key", "token", "secret", "auth", "pass", "api", "pat", "cred"))


#: Hexadecimal and decimal digits, as commits, requests and messages have them too.
_PLAIN = re.compile(r"[0-9a-fA-F-]+")
#: No token is shorter than this run; most prose has none so long.
_LONG = re.compile(r"[A-Za-z0-9_+/=.~%:@$-]{14}")


def find_in_columns(text: str) -> Iterator[Span]:
    """The cells below a header that says `password` or `token`."""
    if "\n" not in text:
        return
    columns: dict[int, str] = {}
    mark = ""
    position = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if mark and mark not in line:
            mark = ""
        if not mark:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            mark, columns = _head(line, following)
        elif not _RULE.fullmatch(line):
            yield from _cells(line, position, mark, columns)
        position += len(line) + 1


def _head(line: str, following: str) -> tuple[str, dict[int, str]]:
    for mark in ("|", ",", "\t", ";"):
        if line.count(mark) < 1 or len(line) > 400 or (mark == "|" and not _RULE.fullmatch(following)):
            continue
        names = line.split(mark)
        if mark != "|" and (len(names) != len(following.split(mark)) or any(len(n.split()) > 2 for n in names)):
            continue
        columns = {n: name for n, name in enumerate(names) if _COLUMN.fullmatch(small_letters(name))}
        if columns:
            return mark, columns
    return "", {}


def _cells(line: str, position: int, mark: str, columns: dict[int, str]) -> Iterator[Span]:
    for number, cell in enumerate(line.split(mark)):
        value = cell.strip(" \t*`\"'")
        if number in columns and _is_secret(value):
            start = position + cell.index(value)
            yield start, start + len(value)
        position += len(cell) + len(mark)


def _is_secret(value: str) -> bool:
    """Any value in such a column counts, except a word about it or about its absence."""
    if len(value) < 3 or " " in value or is_stand_in(value) or value.lower() in spans.SAID_OF_ONE:
        return False
    return len(value) >= 5 or not value.isalpha()
