"""Passwords next to a user or network name, lists of codes, and constants that are keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.wording.redaction.spans import Span, is_machine_made, is_random, is_strong, small_letters

_CODE_LIST = re.compile(
    r"(?i)\b(?:recovery|backup|rescue|emergency|scratch|wiederherstellungs|einmal)[\s-]?codes?\b[^\n:]{0,40}:\s*"
    r"(?P<codes>[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}(?:[\s,;*•`-]{1,5}[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}){0,30})"
)
_ONE_CODE = re.compile(r"[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,4}")
_SEED = re.compile(
    r"(?i)\b(?:seed|recovery|mnemonic|backup|secret)(?:[\s-](?:phrase|words?|seed))?\b[^\n:]{0,30}(?::|=|\bis\b)\s*[\"'`]?"
    r"(?P<seed>[a-z]{3,8}(?:[\s,]{1,3}[a-z]{3,8}){11,23})\b"
)
_WIFI = re.compile(
    r"(?i)\b(?:wi-?fi|wlan|ssid|wpa[23]?|hotspot)\b[^\n]{0,60}?\b(?:key|pass|code|schlüssel|psk)\b\s{0,2}[:=]?\s{0,2}(?:is\s)?[\"'`]?(?P<key>[^\s\"'`|,]{8,63})"
)
_PAIR = re.compile(
    r"(?i)\b(?:credentials?|creds|log[\s-]?ins?|logged\s+in|sign[\s-]?in|zugangsdaten|anmeldung|identifiants|credenciales|"
    r"credenciais|credenziali|логин|accounts?|user(?:name)?|авторизация)\b[^\n:=/|]{0,40}?(?::|=|\b(?:with|as|mit|con|com|avec|is|are)\b|\s)\s*"
    r"[\"'`]?(?P<user>[\w.@+-]{2,60})[\"'`]?(?:\s/\s|/|:|\s\|\s)[\"'`]?(?P<pair>[^\s\"'`|,/]{5,80})"
)
#: `admin/Xk29!fq` without any word about it.
_ROOT = re.compile(
    r"(?<![\w/.@-])(?:admin|root|administrator|sysadmin|pi|guest)(?:\s/\s|[/:]|\s\|\s)[\"'`]?(?P<root>[^\s\"'`|,/:]{6,80})"
)
#: `name:password@host` without a scheme.
_AT_HOST = re.compile(
    r"(?<![\w/:@.-])(?!(?i:mailto|to|cc|bcc|from|e-?mail|mail|reply-to|sips?|xmpp|acct|ssh|scp|by|author|user):)[\w.-]{2,40}:(?P<host>[^\s\"'`/@:]{4,80})@(?=\d{1,3}(?:\.\d{1,3}){3}\b|[\w-]+\.[\w.-]*[a-z]{2})"
)
_CONSTANT = re.compile(
    r"(?<![A-Za-z0-9_])(?![A-Z0-9_]{0,60}(?:PUBLIC|CACHE|PRIMARY|SORT|PARTITION|FOREIGN|ROW_|OBJECT|S3_|HOT))"
    r"[A-Z][A-Z0-9_]{0,60}_(?:KEY|KEYS|SALT|PEPPER|CREDS|PAT)\s?=\s?[\"']?(?P<constant>[^\s\"'`,;]{16,500})"
)
_IN_SENTENCES = (
    (("wi-fi", "wifi", "wlan", "ssid", "wpa", "hotspot"), _WIFI, "key"),
    (("admin", "root", "pi", "guest"), _ROOT, "root"),
    (("@",), _AT_HOST, "host"),
    (("cred", "log", "sign", "zugang", "anmeldung", "ident", "логин", "account", "user", "авториз"), _PAIR, "pair"),
)
_COOKIES = re.compile(r"(?i)\b(?:set-)?cookie[\"']?\s?[:=]\s?(?P<cookies>[^\n]{8,4000})")
_COOKIE = re.compile(r"[\w.-]{1,60}=(?P<cookie>[\w.%+/-]{16,2000})")


def find_pairs(text: str) -> Iterator[Span]:
    """Values that are identified by their neighbours."""
    low = small_letters(text)
    for hints, pattern, group in _IN_SENTENCES:
        if any(hint in low for hint in hints):
            for match in pattern.finditer(text):
                value = match[group].rstrip(".,;:)")
                if (
                    is_strong(value)
                    and any(c.islower() for c in value)
                    and (_is_mixed(value) or (group != "root" and ":" not in value))
                ):
                    yield match.start(group), match.start(group) + len(value)
    if "_" in text and "=" in text:
        for match in _CONSTANT.finditer(text):
            if is_random(match["constant"], 16):
                yield match.span("constant")
    if "code" in low:
        for match in _CODE_LIST.finditer(text):
            for code in _ONE_CODE.finditer(text, *match.span("codes")):
                if any(c.isdigit() for c in code[0]):
                    yield code.span()
    if any(hint in low for hint in ("seed", "phrase", "mnemonic", "words")):
        for match in _SEED.finditer(text):
            yield match.span("seed")
    if "cookie" in low:
        for line in _COOKIES.finditer(text):
            for cookie in _COOKIE.finditer(text, *line.span("cookies")):
                if is_machine_made(cookie["cookie"]):
                    yield cookie.span("cookie")


def _is_mixed(value: str) -> bool:
    """Capitals, or marks that no path has."""
    return any(c.isupper() for c in value) or any(c in "!@#$%^&*+=?~" for c in value)
