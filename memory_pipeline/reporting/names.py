"""How the files of a run's report are called."""

from __future__ import annotations


def safe_name(run_id: str) -> str:
    """A run id as part of a file name: only letters, digits, hyphens and underscores."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "_" for c in run_id)[:100]


def page_name(run_id: str) -> str:
    """The file name of a run's HTML page."""
    return f"compression-{safe_name(run_id)}.html"
