"""Remembers the results of reading a text, with a limit on the number of characters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar

_Result = TypeVar("_Result")
#: Characters of text whose results one function remembers; the results take some thirty times the memory.
_MOST_CHARACTERS = 4_000_000


def remembered(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
    """The function with a cache of its latest results, so that a text is read once however many pairs it is in."""
    cache: OrderedDict[str, _Result] = OrderedDict()
    lock = Lock()
    size = 0

    @wraps(function)
    def recall(text: str) -> _Result:
        nonlocal size
        with lock:
            if text in cache:
                cache.move_to_end(text)
                return cache[text]
        result = function(text)
        with lock:
            if text not in cache:
                cache[text] = result
                size += len(text)
                while size > _MOST_CHARACTERS and len(cache) > 1:
                    size -= len(cache.popitem(last=False)[0])
        return result

    return recall
