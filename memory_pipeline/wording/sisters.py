"""Lines that are another line but for how it ended: another outcome in the place of one (`failure` for `success`), more
behind it (a further sentence, one more pair in its last bracket), or another last sentence behind many figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.templates import Line, read_line, words_in

#: Where a line may be cut: before a further sentence; so many of these are tried.
_SENTENCE_END = re.compile(r"[.!](?=\s+[A-Z])")
_MOST_CUTS = 4
#: A line with so many places is known by them.
_MANY_PLACES = 5
#: One more pair at the end of the last bracket.
_LAST_PAIR = re.compile(r", [\w.-]{1,40}=[^\s,()]{1,40}(?=\)[.!]?$)")
_NUMBERED = re.compile(r"\d\s?$")


def likened(line: Line, model: Line, varying: Collection[int] = ()) -> Line | None:
    """A line as far as it is another one but for outcomes and for the words with these numbers; or None if it is not.

    The places of the result are those of `model`: `words_in` of both have the same length.
    """
    wanted = _folded(model, varying)
    found = next((cut for cut in _cuts(line) if _folded(cut, varying) == wanted), None)
    return found or _with_its_end(line, model, varying)


def outcomes_in(line: Line) -> list[int]:
    """The numbers of the words that say how something ended; `3 failed` is a count."""
    text = line.text
    return [
        number
        for number, word in enumerate(words_in(line))
        if line.value(word).casefold() in OUTCOMES and not _NUMBERED.search(text[max(0, word.start - 2) : word.start])
    ]


def _cuts(line: Line) -> Iterator[Line]:
    yield line
    for n, end in enumerate(_SENTENCE_END.finditer(line.text)):
        if n == _MOST_CUTS:
            break
        yield read_line(line.text[: end.start()])
    if pair := _LAST_PAIR.search(line.text):
        yield read_line(line.text[: pair.start()] + line.text[pair.end() :])


def _with_its_end(line: Line, model: Line, varying: Collection[int]) -> Line | None:
    """A line with many figures that differs from another one in the last sentence only, which has none, with the last
    sentence of that one; or None."""
    ends = [match.start() for match in _SENTENCE_END.finditer(model.text)]
    if not ends or len(model.places) < _MANY_PLACES or model.places[-1].end > ends[-1]:
        return None
    head = read_line(model.text[: ends[-1]])
    if any(number >= len(words_in(head)) for number in varying):
        return None
    wanted = _folded(head, varying)
    for end in [match.start() for match in _SENTENCE_END.finditer(line.text)][: -_MOST_CUTS - 1 : -1]:
        cut = read_line(line.text[:end])
        if len(cut.places) == len(model.places) and _folded(cut, varying) == wanted:
            return Line(cut.text + model.text[ends[-1] :], cut.places)
    return None


def _folded(line: Line, varying: Collection[int]) -> str:
    """The shape of a line with marks for its outcomes and for the words with these numbers."""
    words = words_in(line)
    chosen = {*outcomes_in(line), *(number for number in varying if number < len(words))}
    places = sorted((*line.places, *(words[number] for number in chosen)), key=lambda place: place.start)
    return Line(line.text, tuple(places)).shape.casefold().rstrip(" .!")
