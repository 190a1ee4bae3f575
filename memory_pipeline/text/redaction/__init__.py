"""Masks texts on import and before they leave the machine: secrets, e-mail addresses, bank accounts and phone
numbers become `[REDACTED:kind]`.

Only the source still contains the originals, so masking is irreversible here. The finders go from the specific to
the general: the shapes of providers' tokens; values where a command or an address takes a password; values that a
name describes as a secret; and finally addresses and numbers. Masking is idempotent: a text is processed until no
finder finds anything outside its masks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

Finder = Callable[[str], Iterator[tuple[int, int]]]
_MASK = re.compile(r"\[REDACTED:[a-z]+\]")


@cache
def _finders() -> dict[str, tuple[tuple[str, Finder], ...]]:
    """The finders with the kind of what they find: by shape, by name, and of personal data.

    Imported on first use: compiling their patterns takes a tenth of a second, and a quiet night masks nothing."""
    from memory_pipeline.text.redaction.commands import find_in_commands, find_pairs
    from memory_pipeline.text.redaction.named import find_named
    from memory_pipeline.text.redaction.personal import find_accounts, find_addresses, find_phones
    from memory_pipeline.text.redaction.scanner import find_in_columns, find_with_scanner
    from memory_pipeline.text.redaction.tokens import find_tokens

    return {
        "shape": (("secret", find_tokens), ("secret", find_in_commands), ("secret", find_with_scanner)),
        "name": (("secret", find_in_columns), ("secret", find_named), ("secret", find_pairs)),
        "personal": (("email", find_addresses), ("secret", find_accounts), ("phone", find_phones)),
    }


def has_mask(text: str) -> bool:
    """True if something in a text is masked, so that nobody knows whether another text says the same."""
    return _MASK.search(text) is not None


def redact(
    text: str, *, personal: bool = True, by_name: bool = True, keep_lines: bool = False
) -> tuple[str, Counter[str]]:
    """The text with secrets and, if `personal`, addresses, accounts and phone numbers masked, and the counts by kind.

    Without `by_name`, only secrets with a recognisable shape are masked, for texts that are names themselves. With
    `keep_lines`, a masked part keeps its number of lines.
    """
    counts: Counter[str] = Counter()
    wanted = {"shape": True, "name": by_name, "personal": personal}
    finders = [finder for how, finders in _finders().items() if wanted[how] for finder in finders]
    while True:
        before = text
        for kind, finder in finders:
            text, number = _mask(text, kind, finder, keep_lines)
            counts[kind] += number
        if text == before:  # every round but the last takes characters away, so there is a last one
            return text, +counts


def _mask(text: str, kind: str, finder: Finder, keep_lines: bool) -> tuple[str, int]:
    spans = set(finder(text))
    if not spans:
        return text, 0
    masks = [match.span() for match in _MASK.finditer(text)]
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < position or start == end or any(start < there and here < end for here, there in masks):
            continue  # within another, or a mask already
        lines = text.count("\n", start, end) if keep_lines else 0
        parts += (text[position:start], f"[REDACTED:{kind}]" + "\n" * lines)
        position = end
    return "".join((*parts, text[position:])), len(parts) // 2
