"""Judges if a text is whole and if it is passing, and finds the facts of another text that it keeps."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_pipeline.text.facts import MODALS, NEGATORS, Fact, fact_keys, find_facts, stem
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import plain_text
from memory_pipeline.text.sentences import join_statements, split_statements

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
    """True if a text has lost its beginning or its end: a bracket, quotation or emphasis that nothing closes, a report
    that begins inside of a sentence, or an end after the first word of one, or with a word that needs another one."""
    flat = _CODE.sub("", text[:_READ])
    if flat.count("**") % 2 or flat.count("`") % 2 or flat.count('"') % 2:
        return True
    if flat.count("(") > flat.count(")") or flat.count("[") > flat.count("]"):
        return True
    if _HANGING.search(flat) is not None:
        return True
    return _MIDDLE.search(flat) is not None or _FIRST_WORD.search(flat) is not None


TEMPORARY = "temporary"
_TAG = re.compile(r"\[TEMPORARY\]", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])\s")
_WORD = re.compile(r"\S")


def is_temporary(text: str, tags: Iterable[str] = ()) -> bool:
    """True if the tag stands in an entry, or among the tags that its source gave it."""
    return TEMPORARY in tags or _TAG.search(text) is not None


def blank_temporary(text: str) -> tuple[str, int]:
    """The text with spaces in the place of every entry that has the tag, and how many these are.

    An entry is a line with the lines below it that are indented more; a bullet among these is an entry of its own,
    which goes with the one that it hangs on. Every other character stays where it was.
    """
    if not is_temporary(text):
        return text, 0
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if not n or not line[:1].isspace() or _BULLET.match(line)]
    entries = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    blanked, count, above = list[str](), 0, None
    for entry in entries:
        depth = len(entry[0]) - len(entry[0].lstrip())
        if is_tagged := _TAG.search("\n".join(entry)) is not None:
            count += 1
        if above is not None and depth <= above:
            above = None
        if is_tagged and above is None:
            above = depth
        blanked += entry if above is None else [_WORD.sub(" ", line) for line in entry]
    return "\n".join(blanked), count


_EDGES = " \t\n.,;:!?()[]{}<>\"'’`*|—–"


def facts_lacking(text: str, other: str) -> list[Fact]:
    """The facts of another text that a text does not keep."""
    return [fact for fact in find_facts(other) if not keeps(text, fact)]


def keeps(text: str, fact: Fact) -> bool:
    """True if a text has a fact: the same key; or a name as a word anywhere, since at the start of a sentence every
    word is capitalised; or a negation or a recommendation in one sentence with the word it refers to."""
    if fact.key in fact_keys(text):
        return True
    if fact.kind == "name":
        return any(fact.value in words for words in _sentences(text))
    if fact.kind in ("negation", "recommendation"):
        signs, word = (NEGATORS if fact.kind == "negation" else MODALS), fact.value.removeprefix(fact.kind).strip()
        return any(signs & words and (not word or word in map(stem, words)) for words in _sentences(text))
    return False


@remembered
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(
            word.strip(_EDGES).lower().replace("’", "'").removesuffix("'s") for word in plain_text(sentence).split()
        )
        for sentence in split_statements(text) or [text]
    )
