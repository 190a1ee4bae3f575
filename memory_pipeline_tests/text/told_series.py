"""Series for tests, and what is said of them."""

from __future__ import annotations

import re
from datetime import timedelta

from memory_pipeline.text.readings import Series, read_memory, series_of
from memory_pipeline.text.series_words import describe_series, is_true
from memory_pipeline_tests.build import FIRST


def series(text: str, *values: object, hours: float = 24) -> Series:
    """A reading for each value (a tuple fills several places), one a day."""
    told = [text.format(*(value if isinstance(value, tuple) else (value,))) for value in values]
    return series_of(read_memory(f"r{n:03}", FIRST + timedelta(hours=hours * n), line) for n, line in enumerate(told))


def words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def said(one: Series, most: int = 160) -> str:
    """What is said of a series."""
    text = describe_series(one, words, most)
    assert words(text) <= most and is_true(one, text)
    return text
