"""Writes the file with the strings that the patterns need, after a change of patterns."""

from __future__ import annotations

from pathlib import Path

from memory_pipeline.text.injections import rules
from memory_pipeline.text.injections.needed import FILE, as_file

if __name__ == "__main__":
    Path(__file__).with_name(FILE).write_text(as_file(rule.pattern for rule in rules()), "utf-8")
