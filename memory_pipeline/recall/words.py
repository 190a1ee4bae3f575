"""Words of texts and queries: how they are cut, stemmed and indexed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.text.normalise import spaced

#: Bytes of the longest word that is indexed.
_LONGEST_WORD = 100
_QUERY_WORDS = 64
#: Of more rows with the same score, any may be left out.
_MOST_EQUAL = 20_000
#: As the index has them.
_AUXILIARIES = frozenset(("do", "doe", "did"))


@cache
def analyzer(language: str) -> Any:
    """The analyzer of a language that `recall.language` names; `none` only folds case.

    The stop words for English are few on purpose: with the words of questions and the pronouns among them, evidence
    within 150 tokens fell from 0.86 to 0.81 (in dialogues, `you` and `my` tell who said it).
    """
    import tantivy

    steps = [tantivy.Filter.remove_long(_LONGEST_WORD), tantivy.Filter.lowercase()]
    if language != "none":
        steps += [tantivy.Filter.stopword(language), tantivy.Filter.stemmer(language)]
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in steps:
        builder = builder.filter(step)
    return builder.build()


def query_terms(query: str, language: str) -> list[str]:
    """The different terms of a query, the first 64, in order; without the auxiliaries of English questions, which are
    rare in notes (`What does the vet cost?` would find who `does not operate on Fridays`)."""
    terms = terms_of(query, language)
    if language == "english":
        terms = [term for term in terms if term not in _AUXILIARIES] or terms
    return terms[:_QUERY_WORDS]


def terms_of(text: str, language: str) -> list[str]:
    """The different terms of a text, in order."""
    return list(dict.fromkeys(analyzer(language).analyze(spaced(text))))


#: Rows of a project and their scores.
Scores = tuple[NDArray[np.int64], NDArray[np.float64]]
NOTHING: Scores = (np.array([], dtype=np.int64), np.array([], dtype=np.float64))
_ANALYZER = "words"
#: Bytes of memory that an index in the making may take, and tantivy takes as it needs them: with less it is made in
#: parts, which costs three times the time.
_LEAST_ROOM, _MOST_ROOM, _ROOM_OF_A_CHARACTER = 15_000_000, 128_000_000, 16


class WordIndex:
    """An index in memory, or in a directory. One process at a time adds to it; rows are added once and stay."""

    def __init__(self, language: str, directory: Path | None = None) -> None:
        """Open the index in `directory`, or begin an empty one. Raises ValueError or OSError if it cannot be read."""
        import tantivy

        self.language = language
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=False, tokenizer_name=_ANALYZER, index_option="freq")
        builder.add_unsigned_field("row", stored=False, indexed=True, fast=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, str(directory) if directory else None)
        self._index.register_tokenizer(_ANALYZER, analyzer(language))
        self._index.config_reader("manual", 0)  # no thread that watches the file: `add` says when it has changed
        self._searcher = self._index.searcher()

    def add(self, first: int, texts: Sequence[str]) -> None:
        """Add the texts of the rows from `first` on."""
        import tantivy

        room = sum(map(len, texts)) * _ROOM_OF_A_CHARACTER
        writer = self._index.writer(min(max(room, _LEAST_ROOM), _MOST_ROOM), 1)
        for row, text in enumerate(texts, first):
            document = tantivy.Document()
            document.add_text("body", spaced(text))
            document.add_unsigned("row", row)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str, depth: int) -> Scores:
        """The rows that share most with a query, with their BM25 scores: at most `depth`, best first; of equal ones
        those that were added last."""
        import tantivy

        terms = query_terms(query, self.language)
        if not terms:
            return NOTHING
        searcher = self._searcher
        with _panics_named():
            asked = [tantivy.Query.term_query(self._schema, "body", term, "freq") for term in terms]
            any_of = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in asked])
            hits = searcher.search(any_of, depth, count=False).hits
            if not hits:
                return NOTHING
            if len(hits) == depth > 1 and hits[-1][0] == hits[-2][0]:  # equal ones may have been cut off
                least = hits[-1][0]
                hits = searcher.search(any_of, max(depth, _MOST_EQUAL), count=False).hits
                hits = hits[: bisect_right(hits, -least, key=lambda hit: -hit[0])]
            rows = np.array(searcher.fast_field_values("row", [address for _, address in hits]), dtype=np.int64)
        scores = np.array([score for score, _ in hits], dtype=np.float64)
        best = np.lexsort((-rows, -scores))[:depth]
        return rows[best], scores[best]


class DamagedIndexError(Exception):
    """A file of the index is not what was written."""


@contextmanager
def _panics_named() -> Iterator[None]:
    """tantivy panics over files that were changed under it, with an error that no handler of errors would catch."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException" or isinstance(error, ValueError):
            raise DamagedIndexError(str(error)) from None
        raise
