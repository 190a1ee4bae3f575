"""File names as text: Linux file names are bytes and need not be UTF-8."""

from __future__ import annotations


def readable_name(name: str) -> str:
    """A file name as text that can be stored: bytes that are not UTF-8 and line breaks are written as `\\xe9`."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
