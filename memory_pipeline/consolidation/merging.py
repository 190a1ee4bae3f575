"""Merges near-copies into one text: every distinct piece of their content, in order, each once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, combinations
from typing import NamedTuple

from memory_pipeline.models.conflicts import find_conflict, says
from memory_pipeline.text.normalise import LEADING_STAMP, normalise, shape_hash
from memory_pipeline.text.sentences import join_statements, split_statements, strip_lead_in

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
#: A clock time of two digits behind a date, in one zone.
_CLOCK = re.compile(r"(?<=[ T])(?P<clock>[012]\d:[0-5]\d(?::[0-5]\d)?)(?= ?UTC|Z)")
_LABEL = re.compile(r"\W{0,4}(\w[\w ./()-]{0,40}?)\W{0,4}[:=]\s*\S")


def merge_contents(contents: Sequence[str]) -> str:
    """The statements of all contents, the oldest first, without those that another one says as well
    (`models/conflicts.py`).

    If one content says everything, it is returned as it is written (of several the longest), without a lead-in and
    without the time at its start, which is not that of the others.
    """
    by_content: list[list[_Piece]] = []
    for content in contents:
        done = sum(map(len, by_content))
        by_content.append([_Piece(done + n, text) for n, text in enumerate(_pieces(content))])
    all_pieces = list(chain(*by_content))
    merged: list[_Piece] = []
    for piece in all_pieces:
        if any(other.says(piece) for other in merged):
            continue
        place = next((n for n, other in enumerate(merged) if piece.says(other)), len(merged))
        merged = [other for other in merged if not piece.says(other)]
        merged.insert(min(place, len(merged)), piece)
    for piece in all_pieces:  # what a statement held is not always held by the one that took its place
        if not any(other.says(piece) for other in merged):
            merged.append(piece)
    for content, pieces in sorted(zip(contents, by_content, strict=True), key=lambda own: len(own[0]), reverse=True):
        if all(any(piece.says(other) for piece in pieces) for other in all_pieces):
            return strip_lead_in(_without_own_time(content, contents))
    return join_statements([piece.text for piece in merged])


class _Piece(NamedTuple):
    """A statement, and its place among all that are merged, the oldest first."""

    place: int
    text: str

    def says(self, other: _Piece) -> bool:
        return says(self.text, other.text, is_earlier=self.place < other.place)


def _without_own_time(content: str, contents: Sequence[str]) -> str:
    """A content without the time at its start, unless all begin with it: a merge stands for several times. If all are
    of one day, the newest keeps its time, and another one the date: what was so then is not always so."""
    stamps = {match.group().strip() if (match := LEADING_STAMP.match(each)) else "" for each in contents}
    match = LEADING_STAMP.match(content)
    if not match or len(stamps) == 1 or not (rest := content[match.end() :].strip()):
        return content
    dates = {date_match.group() if (date_match := _DATE.search(stamp)) else "" for stamp in stamps}
    if len(dates) > 1 or not (date := dates.pop()):
        return content[match.end() :]
    own, times = _CLOCK.search(match.group()), [_CLOCK.search(stamp) for stamp in stamps]
    is_newest = own is not None and all(time is not None and time.groups() <= own.groups() for time in times)
    return content if is_newest else f"{date}: {rest}"


def says_again(one: str, other: str) -> bool:
    """True if two contents say one thing, but for at most one further sentence of one of them: every other statement is
    said in both, with the same figures and names in the same roles."""
    fewer, more = sorted((_pieces(one), _pieces(other)), key=len)
    if len(more) - len(fewer) > 1:
        return False
    partners = [
        next((n for n, theirs in enumerate(more) if says(piece, theirs) and says(theirs, piece)), None)
        for piece in fewer
    ]
    return None not in partners and len(partners) == len(set(partners)) and find_conflict(one, other) is None


def tells_several(contents: Sequence[str]) -> bool:
    """True if contents are no near-copies of one: one of them shares no statement with the others, or two have a
    statement in the same words with other figures, so that they tell of two times."""
    pieces = [_pieces(content) for content in contents]
    return any(_tell_of_two_times(one, other) for one, other in combinations(pieces, 2)) or not all(
        any(says(one, other) or says(other, one) for one in own for other in chain(*pieces[:n], *pieces[n + 1 :]))
        for n, own in enumerate(pieces)
    )


def _tell_of_two_times(own: Sequence[str], others: Sequence[str]) -> bool:
    """True if two contents have a statement in the same words, each with figures that the other one has not, or one
    under the same label (`QUEUE: 3 pending`), each with something else."""
    mine, theirs = (
        [one for one in side if not any(says(one, other) or says(other, one) for other in opposite)]
        for side, opposite in ((own, others), (others, own))
    )
    return any(
        {key for text in mine if (key := read_key(text))} & set(map(read_key, theirs))
        for read_key in (shape_hash, _read_label)
    )


def _read_label(statement: str) -> str:
    """The words before the first colon or equals sign of a statement, if it is short; or nothing."""
    match = _LABEL.match(statement)
    return match.group(1).casefold() if match else ""


def find_unmerged(contents: Sequence[str], merged: str) -> list[str]:
    """The statements of the contents that the merged text contains neither word for word nor in another statement."""
    pieces, whole = _pieces(merged), normalise(merged)
    return [
        piece
        for content in contents
        for piece in _pieces(content)
        if normalise(piece) not in whole and not any(says(other, piece) for other in pieces)
    ]


def _pieces(content: str) -> list[str]:
    return [strip_lead_in(text) for text in split_statements(content)] or [content.strip()]
