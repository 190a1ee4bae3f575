"""Finds where other texts quote certain texts, and takes the quotes out, whatever form the text has.

Used for texts that are to be forgotten: reports, events and answers quote memories, shortened, in other cases, or as a
few of their words. What counts as a quote is computed from the texts that stay: three words in a row, or one word of
four signs or more, that none of these says.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from memory_pipeline.text.normalise import one_line

#: What stands where a quote stood.
FORGOTTEN = "(forgotten)"
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?;:]+\s")
_RUN, _LEAST = 3, 4
#: An id that is shorter, or a word or a number, may stand in any text: it is renamed only where it stands alone.
_SHORT_ID = 6
#: What the program itself writes of digits: ids, times and years, which say nothing of a memory.
_OF_THE_PROGRAM = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT?[\d:.+-]*|[0-9a-f]{16,}",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_TAG = re.compile(r"(<[^>]*>)")
_SOURCES = (".py", ".sql", ".html", ".md", ".txt")


class OwnWords:
    """The words and phrases of texts that no other text has.

    `renamed`: ids by which something is known under another id from now on. `words`: the own words, one by one,
    and `runs`: those in a row. `wholes` and `parts`: given texts, literally, that are a quote however short their words
    are: the first where nothing stands beside them, the others anywhere.
    """

    def __init__(
        self,
        texts: Iterable[str],
        renamed: Mapping[str, str] | None = None,
        *,
        wholes: Iterable[str] = (),
        parts: Iterable[str] = (),
    ) -> None:
        self.renamed = dict(renamed or {})
        self._new_ids = {new for old, new in self.renamed.items() if new != old}
        self.words: set[str] = set()
        self.runs: set[tuple[str, ...]] = set()
        self.wholes, self.parts = set(wholes), set(parts)
        for text in texts:
            for form in {text, one_line(text)}:
                self.words.update(word for word in words_of(form) if len(word) >= _LEAST)
                self.runs.update(_find_runs(form))
        self._every_word = set(self.words)
        ours = program_words()
        # A number of an example in this program is not one that it writes.
        self.words = {word for word in self.words if word not in ours or _is_figure(word)}

    def with_names(self, renamed: Mapping[str, str]) -> OwnWords:
        """The same words, with other ids."""
        copy = OwnWords((), renamed)
        copy.words, copy.runs, copy._every_word = self.words, self.runs, self._every_word
        copy.wholes, copy.parts = self.wholes, self.parts
        return copy

    def leave(self, texts: Iterable[str]) -> None:
        """Take out what these texts, which stay, say too."""
        for text in texts:
            self.words.difference_update(words_of(text))
            if self.runs:
                self.runs.difference_update(_find_runs(text))
            self.wholes = {
                whole
                for whole in self.wholes
                if not (whole in text and re.search(rf"(?<!\w){re.escape(whole)}(?!\w)", text))  # standing alone
            }

    @property
    def is_empty(self) -> bool:
        """True if nothing is to be looked for."""
        return not (self.words or self.runs or self.wholes or self.parts or self.renamed)

    def quoted_in(self, text: str) -> bool:
        """True if a text says any of it."""
        if text.strip() in self.wholes or any(part in text for part in self.parts):
            return True
        if not (self.words or self.runs):
            return False
        if any(run in self.runs for run in _find_runs(text)):
            return True
        own = self.words.intersection(words_of(text))
        return bool(own) and (
            any(word.isalpha() for word in own)
            or not own.isdisjoint(words_of(_OF_THE_PROGRAM.sub(" ", text.casefold())))
        )

    def stands_in(self, text: str) -> bool:
        """True if a text says any of it, or names one of the ids."""
        return self.quoted_in(text) or any(old in text for old in filter(_is_telling, self.renamed))

    def rewritten(self, text: str) -> str:
        """The text without quotes and with the new ids: JSON by its strings, anything else by its lines."""
        if self.renamed:
            text = self._with_new_ids(text)
        # Words may begin behind an escape, and figures stand beside an id.
        if text[:1] in "{[" and (self.quoted_in(text) or "\\" in text or any(new in text for new in self._new_ids)):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                return self._lines(text)
            clean = self._value(value)
            return text if clean == value else json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
        return self._lines(text) if self.quoted_in(text) else text

    def rewritten_page(self, page: str) -> str:
        """The same of HTML: its texts, and the tags in which something is quoted, without their attributes."""
        parts = _TAG.split(self._with_new_ids(page))
        for place, part in enumerate(parts):
            if self.quoted_in(html.unescape(part)):
                name = re.match(r"</?\w+", part)
                parts[place] = f"{name[0]}>" if place % 2 and name else FORGOTTEN
        return "".join(parts)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            is_about_it = any(isinstance(item, str) and item in self._new_ids for item in value.values())
            return {
                self._lines(key): FORGOTTEN if is_about_it and self._shares_words(item) else self._value(item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, str):
            return value
        return self.rewritten(value) if value[:1] in "{[" else self._lines(value)

    def _shares_words(self, value: Any) -> bool:
        """True if what stands beside an id of it, as words and not as one word, has any of its words."""
        return isinstance(value, str) and " " in value and not self._every_word.isdisjoint(words_of(value))

    def _lines(self, text: str) -> str:
        lines = [FORGOTTEN if self.quoted_in(line) else line for line in text.split("\n")]
        # Three words may stand on three lines.
        joined = "\n".join(lines)
        return FORGOTTEN if self.quoted_in(joined) else joined

    def _with_new_ids(self, text: str) -> str:
        if text in self.renamed:
            return self.renamed[text]
        for old, new in self.renamed.items():
            for form in dict.fromkeys((old, json.dumps(old, ensure_ascii=False)[1:-1], json.dumps(old)[1:-1])):
                if form not in text:
                    continue
                text = text.replace(f'"{form}"', f'"{new}"')
                if _is_telling(old):
                    text = re.sub(rf"(?<![\w#@~/-]){re.escape(form)}(?![\w#@~-])", new, text)
        return text


def _is_figure(word: str) -> bool:
    return any(sign.isdigit() for sign in word) and not _YEAR.fullmatch(word)


def _is_telling(memory_id: str) -> bool:
    return len(memory_id) >= _SHORT_ID and not memory_id.isalpha() and not memory_id.isdigit()


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters, in order."""
    return _WORD.findall(text.casefold())


def _find_runs(text: str) -> Iterator[tuple[str, ...]]:
    """The words in a row of each sentence: where one ends and another begins, sentences of anything may meet. A day or
    an id, which the program writes too, is no part of a row."""
    for sentence in _SENTENCE_END.split(_OF_THE_PROGRAM.sub(" ", text)):
        words = words_of(sentence)
        yield from zip(*(words[start:] for start in range(_RUN)), strict=False)


@cache
def program_words() -> frozenset[str]:
    """Every word of this program's own texts: they stand in reports, pages and messages whatever was noted."""
    words: set[str] = set()
    places = [resources.files("memory_pipeline")]
    while places:
        for entry in places.pop().iterdir():
            if entry.is_dir():
                places += [entry] if entry.name != "demo" else []
            elif entry.name.endswith(_SOURCES):
                words.update(words_of(entry.read_text("utf-8")))
    return frozenset(words)
