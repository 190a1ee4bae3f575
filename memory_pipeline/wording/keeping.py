"""Which facts of one text another one keeps, if it says them in another order or at another place of a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from memory_pipeline.wording.facts import MODALS, NEGATORS, Fact, fact_keys, find_facts, stem
from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import plain_text
from memory_pipeline.wording.sentences import split_statements

_EDGES = " \t\n.,;:!?()[]{}<>\"'’`*|—–"


def facts_lacking(text: str, other: str) -> list[Fact]:
    """The facts of another text that a text does not keep."""
    return [fact for fact in find_facts(other) if not keeps(text, fact)]


def keeps(text: str, fact: Fact) -> bool:
    """Whether a text has a fact: the same key; or a name as a word anywhere, since at the start of a sentence every
    word is capitalised; or a negation or a recommendation in one sentence with the word it refers to."""
    if fact.key in fact_keys(text):
        return True
    if fact.kind == "name":
        return any(fact.value in words for words in _sentences(text))
    if fact.kind in ("negation", "recommendation"):
        signs, word = (NEGATORS if fact.kind == "negation" else MODALS), fact.value.removeprefix(fact.kind).strip()
        return any(signs & words and (not word or word in map(stem, words)) for words in _sentences(text))
    return False


def keeps_all(text: str, facts: Iterable[Fact]) -> bool:
    """Whether a text has all of these facts."""
    return all(keeps(text, fact) for fact in facts)


@remembered
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(
            word.strip(_EDGES).lower().replace("’", "'").removesuffix("'s") for word in plain_text(sentence).split()
        )
        for sentence in split_statements(text) or [text]
    )
