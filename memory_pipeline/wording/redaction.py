"""Masking on the way in, and before a text leaves the machine: secrets, e-mail addresses and phone numbers
become `[REDACTED:kind]`.

Only the source still has them, so a mask can be taken back there alone. Masking twice changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter

_SECRETS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[\w-]{16,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"),
    re.compile(r"\bxox[abposr]-[\w-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}|\bpypi-[\w-]{20,}"),
    re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}|\bwhsec_[A-Za-z0-9]{16,}"),
    re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    re.compile(r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"),
)
_KEYED_SECRET = re.compile(
    r"(?i)\b((?:[\w-]*[_-])?(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key)"
    r"[\"']?\s*(?:is\s|[:=])\s*[\"'`]?)(?!\[REDACTED)([^\s\"'`,;)\]]{6,})"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)(?!\[REDACTED)([A-Za-z0-9._~+/-]{16,}=*)")
_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@]+:)(?!\[REDACTED)([^\s@/]{3,})(@)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}(?![\w@])")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[\s.-]?(?:\(\d{1,4}\)[\s.-]?)?\d{2,4}(?:[\s.-]?\d{2,4}){2,4}"
    r"|\(\d{3}\)\s?\d{3}[\s.-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4})(?![\w-])"
)


def redact(text: str, *, personal: bool = True) -> tuple[str, Counter[str]]:
    """The text with secrets and, if `personal`, addresses and phone numbers masked, and how many of each."""
    counts: Counter[str] = Counter()
    for pattern in _SECRETS:
        text, number = pattern.subn("[REDACTED:secret]", text)
        counts["secret"] += number

    def keyed(match: re.Match[str]) -> str:
        if not _looks_secret(match[2]):
            return match[0]
        counts["secret"] += 1
        tail = match[3] if match.re is _URL_PASSWORD else ""
        return f"{match[1]}[REDACTED:secret]{tail}"

    for pattern in (_KEYED_SECRET, _BEARER):
        text = pattern.sub(keyed, text)
    text, number = _URL_PASSWORD.subn(r"\1[REDACTED:secret]\3", text)
    counts["secret"] += number
    if not personal:
        return text, +counts
    text, number = _EMAIL.subn("[REDACTED:email]", text)
    counts["email"] += number
    text, number = _PHONE.subn("[REDACTED:phone]", text)
    counts["phone"] += number
    return text, +counts


def _looks_secret(value: str) -> bool:
    """Letters and digits or punctuation mixed, and no path, call or placeholder: `hunter2x`, not `rotated`."""
    if value.startswith(("/", "./", "~", "$", "{", "<", "%", "http")) or value.endswith("()"):
        return False
    kinds = [any(c.isdigit() for c in value), any(c.isalpha() for c in value), any(not c.isalnum() for c in value)]
    return kinds[1] and (kinds[0] or (kinds[2] and any(c in "!@#$%^&*" for c in value)))
