"""E-mail addresses, bank accounts and phone numbers, distinguished from `git@host:` addresses, versions, dates, amounts
and other figures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.text.redaction.spans import Span

_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_ADDRESS = re.compile(rf"(?<![\w.+%@'-])[\w.+%'-]{{1,64}}@(?P<host>{_LABEL}(?:\.{_LABEL}){{1,8}})(?![\w@-])")
#: Accounts of a machine, not of a person, and what follows an address on a machine.
_MACHINE = re.compile(r"(?i)^(?:git|hg|svn|gitea|forgejo|aur)@|^[\w.+-]+@\d+(?:\.\d+)?x\.")
_REMOTE_PATH = re.compile(r":[\w~./]")
_SHELL = re.compile(r"(?i)(?:\b(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id)\b[^\n|;&]{0,80}|://[^\s@]{0,80})$")
_FILES = frozenset(
    "png jpg jpeg gif svg webp avif ico bmp css scss js mjs ts tsx jsx json html txt yml yaml toml lock pdf mp4 mp3 woff ttf".split()
)

#: A number with its country's prefix, in the groups in which people write it.
_INTERNATIONAL = re.compile(
    r"(?<![\w.+/=-])(?:\+|00(?=[1-9]\d[ ./()-]))\d{1,3}[ .\u00a0\u202f-]?(?:/|\(0?\d{0,4}\)[ .\u00a0-]?)?"
    r"\d{1,12}(?:[ ./\u00a0\u202f\u2011-]{1,2}\d{1,11}){0,6}(?![\w%]|[.,]\d|\s?(?:%|lines?\b|rows?\b|EUR|USD|€))"
)
_NATIONAL = (
    r"\(0?\d{2,4}\)[ \u00a0]?\d{3,5}[ .-]\d{4}",  # (555) 123-4567, (11) 91234-5678
    r"[2-9]\d{2}-[2-9]?\d{2,3}-\d{4}",
    r"[2-9]\d{2}\.[2-9]?\d{2,3}\.\d{4}",
    r"0[1-9](?:[ .]\d{2}){4}",  # 06 12 34 56 78
    r"01[5-7]\d{1,2}[ /-]\d{6,8}",  # 0171/2345678
    r"0[27]\d{2,4} \d{3,4} ?\d{3,4}",  # 07700 900123, 020 7946 0123
    r"0[1-9]\d{2,4}[ /]\d{3,4} \d{3,4}",  # 0351 555 0199
    r"0[1-9]\d?[ /.]\d{3}(?:[ .]\d{2}){2}",  # 09 555 01 44, 044 668 18 00
    r"04\d{2}[ /](?:\d{2}[ .]){2}\d{2}",  # 0475 12 34 56
)
_NATIONALS = re.compile(rf"(?<![\w.+/#:=(-])(?:{'|'.join(_NATIONAL)})(?![\w%-]|[.,:/]\d)")
#: Any figures in groups, where the words before them say that they are a number to call.
_CALLED = re.compile(
    r"(?i)(?<![^\W_])(?:phone|tel(?:efon|éfono|efone|ephone)?|mobile?|mobil|cell|handy|fax|whatsapp|sms|call|"
    r"dial|móvil|celular|celulare|portable|téléphone|телефон|тел|电话|手机|電話|携帯|전화)(?:\s?(?:number|no|nr|nummer))?"
    r"[*_\"'`]{0,3}\.?\s?[:=：]?\s?(?:[A-Za-z]{1,12}\s(?:at|on|under|unter)\s|(?:at|on)\s)?[*_\"'`(]{0,3}?"
    r"(?P<number>\+?(?:\(\d{1,5}\)|\d{1,5})(?:[ ./-]?(?:\(\d{1,5}\)|\d{1,5})){1,6})(?![\w%]|[.,:]\d)"
)
_FIGURES = re.compile(r"[0-9](?:[ ./()\u00a0\u202f\u2011-]{0,3}[0-9]){6}")
_DATES = re.compile(r"(?:19|20)\d{2}[-./](?:0?[1-9]|1[0-2])(?:[-./]|\b)|\d{1,2}[./-]\d{1,2}[./-](?:19|20)\d{2}")
#: An international bank account number (ISO 13616), in groups of four or without.
_ACCOUNT = re.compile(
    r"(?<![\w-])[A-Z]{2}\d{2}(?:[ \u00a0]?[A-Z0-9]{4}){2,7}(?:[ \u00a0]?[A-Z0-9]{1,3})?(?![\w-])", re.IGNORECASE
)
_FEWEST, _MOST = 7, 15  # digits of a number that can be called (E.164)


def find_addresses(text: str) -> Iterator[Span]:
    """E-mail addresses."""
    if "@" not in text:
        return
    for match in _ADDRESS.finditer(text):
        last = match["host"].rpartition(".")[2].lower()
        if len(last) < 2 or not last.isalpha() or last in _FILES or _MACHINE.match(match[0]):
            continue
        if _REMOTE_PATH.match(text, match.end()) or _SHELL.search(text, max(0, match.start() - 160), match.start()):
            continue
        start = match.start() + len(match[0]) - len(match[0].lstrip("'.%"))
        yield start, match.end()


def find_accounts(text: str) -> Iterator[Span]:
    """Bank accounts whose check digits are right (ISO 7064, mod 97-10)."""
    for match in _ACCOUNT.finditer(text):
        number = "".join(match[0].split()).upper()
        if int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1:
            yield match.span()


def find_phones(text: str) -> Iterator[Span]:
    """Phone numbers."""
    if not _FIGURES.search(text):
        return
    for pattern in (_INTERNATIONAL, _NATIONALS):
        for match in pattern.finditer(text):
            if _can_be_called(match[0], international=pattern is _INTERNATIONAL):
                yield match.span()
    for match in _CALLED.finditer(text):
        if _can_be_called(match["number"], international=False):
            yield match.span("number")


def _can_be_called(number: str, *, international: bool) -> bool:
    digits = sum(c.isdigit() for c in number)
    fewest = _FEWEST + international
    return fewest <= digits <= _MOST and not _DATES.match(number)
