"""What held in every reading of a series, in words: `all with syntax clean, quality 0.96 and task success`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.lexicon import OUTCOMES
from memory_pipeline.wording.readings import Series
from memory_pipeline.wording.series_line import listed
from memory_pipeline.wording.series_pieces import Piece

#: So many parts of a line that held are told together.
_FEWEST = 2
#: A part with its whole, beside a word.
_SHARE = re.compile(r"(?<![\d.,/])(\d+)/\1 (?=[^\W\d])")
_NAMED_OUTCOME = re.compile(r"[^\W\d][\w-]* ([^\W\d][\w-]*)")


def held(series: Series, pieces: Sequence[Piece]) -> tuple[list[Piece], str]:
    """The parts of a line behind the first that were the same in every reading, and the words with which it is said of
    all. Nothing, if there are fewer than two, or readings with more or other words."""
    if series.strangers:
        return [], ""
    found = {piece: words for piece in pieces[1:] if (words := _words(series, piece))}
    return (list(found), f", all with {listed(list(found.values()))}") if len(found) >= _FEWEST else ([], "")


def _words(series: Series, piece: Piece) -> str:
    """A part with a figure that never varied, or with a named outcome. Of a part that is always the whole, only the
    words: `syntax clean` of `syntax 8/8 clean`."""
    text = piece.text.rstrip(" .,;:")
    if not piece.places:
        outcome = _NAMED_OUTCOME.fullmatch(text)
        return text if outcome and outcome.group(1).casefold() in OUTCOMES else ""
    if all(len(set(series.columns[place])) == 1 for place in piece.places):
        return text
    moving = [place for place in piece.places if len(set(series.columns[place])) > 1]
    is_whole = len(moving) == 2 and series.columns[moving[0]] == series.columns[moving[1]]
    words, number = _SHARE.subn("", text)
    return words if is_whole and number == 1 and moving == [*piece.places] else ""
