"""Whether a text is whole, or a program cut off its beginning or its end."""

from __future__ import annotations

import re

from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.sentences import join_statements, split_statements

_READ = 3000
_CODE = re.compile(r"`[^`\n]*`")
#: A report of which the first words are the middle of a sentence, and an end that announces what is not there.
_MIDDLE = re.compile(r"\b(?:Summary|Output|Result): (?:[-|#*]|[a-z]{1,8} )|[|:]\s*$")
#: One word after the last sentence is the beginning of another one.
_FIRST_WORD = re.compile(r"[a-z][.!?] [A-Za-z]{1,20}\Z")
#: What no text ends with.
_HANGING = re.compile(
    r"(?:\b(?:and|or|the|a|an|of|by|via|both|with|its|into|than|because)|(?<=[a-z] )[b-hj-wyz]|[,(\[&+—–])\s*\Z"
)


def whole_part(text: str) -> str | None:
    """A text up to its last statement that is whole; None if none is. Inches and feet are no open quotations."""
    flat = " ".join(text.split())
    if not is_cut_off(flat.replace('"', "")):
        return flat
    statements = split_statements(text[:_READ])
    while statements:
        statements.pop()
        whole = join_statements(statements)
        if statements and not is_cut_off(whole.replace('"', "")):
            return " ".join(whole.split())
    return None


@remembered
def is_cut_off(text: str) -> bool:
    """Whether a text has lost its beginning or its end: a bracket, quotation or emphasis that nothing closes, a report
    that begins inside of a sentence, or an end after the first word of one, or with a word that
    needs another one."""
    flat = _CODE.sub("", text[:_READ])
    if flat.count("**") % 2 or flat.count("`") % 2 or flat.count('"') % 2:
        return True
    if flat.count("(") > flat.count(")") or flat.count("[") > flat.count("]"):
        return True
    if _HANGING.search(flat) is not None:
        return True
    return _MIDDLE.search(flat) is not None or _FIRST_WORD.search(flat) is not None
