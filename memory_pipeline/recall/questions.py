"""The query with which a person would search for a memory: a few of its rarest words, as a question if possible."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from memory_pipeline.text.facts import STOP_WORDS
from memory_pipeline.text.normalise import embedding_text

#: The number of words in a query: one in four of the memory's words, within these bounds.
FEWEST_WORDS, MOST_WORDS = 3, 6
_ONE_IN = 4
_WORD = re.compile(r"[^\W\d_][\w-]*[^\W_]")
#: What the wording answers, clearest first: a reason, a time, a measure, a way to do something.
_QUESTIONS = (
    (re.compile(r"\b(?:because|since(?! \d)|otherwise|so that|due to|caused?|therefore)\b", re.I), "Why"),
    (re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I), "When"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:%|ms|s|sec|min|minutes?|hours?|days?|[kmgt]b|usd)(?!\w)", re.I), "How much"),
    (re.compile(r"^\W*(?:use|set|run|add|restart|check|keep|make|put|do|install|call|write)\b", re.I), "How to"),
)


def word_frequencies(texts: Iterable[str]) -> Counter[str]:
    """The number of texts in which each word occurs, without stop words."""
    counts: Counter[str] = Counter()
    for text in map(embedding_text, texts):
        # The lower case of other letters may be longer, so that words would end elsewhere.
        ascii_only = text.isascii()
        counts.update(set(_WORD.findall(text.lower())) if ascii_only else {word.lower() for word in _telling(text)})
    for word in [word for word in counts if len(word) <= 2 or word in STOP_WORDS]:
        del counts[word]
    return counts


def question_for(text: str, frequencies: Mapping[str, int], told_in: str | None = None) -> str | None:
    """The query that should find a text, or None if no word is suitable. With `told_in`, only words that this other
    text tells too are asked for, unless they are too few.

    The words are the rarest by `frequencies` (the project's, see `word_frequencies`), in their order in the text; of
    equally rare words, the longer comes first, then the earlier. No sentence of the text is repeated.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(_words(text)):
        places.setdefault(word.lower(), place)
    if told_in is not None:
        others = {word.lower() for word in _words(told_in)}
        both = {word: place for word, place in places.items() if word in others}
        places = both if len(both) >= FEWEST_WORDS else places
    ranked = sorted(places, key=lambda word: (frequencies.get(word, 0), -len(word), places[word]))
    count = min(MOST_WORDS, max(FEWEST_WORDS, len(ranked) // _ONE_IN))
    chosen = sorted(ranked[:count], key=places.__getitem__)
    if not chosen:
        return None
    asks = next((word for pattern, word in _QUESTIONS if pattern.search(text)), None)
    return f"{asks} {' '.join(chosen)}?" if asks else " ".join(chosen)


def _words(text: str) -> list[str]:
    return _telling(embedding_text(text))


def _telling(text: str) -> list[str]:
    """The words of a text that say something of it."""
    return [word for word in _WORD.findall(text) if len(word) > 2 and word.lower() not in STOP_WORDS]
