"""Rounded ends of a range: what makes room where the exact ones do not fit."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

_DECIMAL = re.compile(r"\d{1,12}\.\d{1,12}")
#: How many decimals are kept of values below one, below ten, below a hundred.
_DECIMALS = (3, 2, 1)
#: A unit of the last digit is at most this share of the width of the range.
_FINENESS = Decimal("0.5")

#: How near the ends of a range are told: exactly, or to three significant digits but at most three decimals; from 100
#: on to whole units. A narrow range is told more finely.
EXACT, NEAR = 0, 1


def rounded(least: str, greatest: str, nearness: int) -> tuple[str, str]:
    """The ends of a range, each at most half a unit of its last digit from the exact one; a tie goes outward. What is
    no plain decimal number, or would become zero, stays as it is."""
    if nearness == EXACT or not (_DECIMAL.fullmatch(least) and _DECIMAL.fullmatch(greatest)):
        return least, greatest
    low, high = Decimal(least), Decimal(greatest)
    unit = _unit(high)
    while unit > _FINENESS * (high - low) and unit > Decimal(1).scaleb(-12):
        unit /= 10
    ends = []
    for text, exact, way in ((least, low, ROUND_HALF_DOWN), (greatest, high, ROUND_HALF_UP)):
        near = exact.quantize(unit, way)
        is_shorter = len(text) > len(f"{near:f}") and (near or not exact)
        ends.append(f"{near:f}" if is_shorter else text)
    return ends[0], ends[1]


def _unit(size: Decimal) -> Decimal:
    below = [n for n, limit in enumerate((1, 10, 100)) if size < limit]
    return Decimal(1).scaleb(-_DECIMALS[below[0]]) if below else Decimal(1)
