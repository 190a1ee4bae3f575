"""Whether the sources state the causes that a statement states, and which is cause and which effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_pipeline.text.clauses import FRONTED, Clause, Statement, Word
from memory_pipeline.text.entailment.evidence import Evidence, Source, is_among, weighs

#: A source states a link if one of its statements has at least this share of the words of both clauses.
_SHARE = 0.6
#: A source has a link the other way round if that reading shares this much more of the words, of 2.
_TURNED = 0.3
_Link = tuple[Clause, list[Word], list[Word]]


def unborne_links(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The links that no source states, or that most sources state the other way round."""
    for clause, *sides in links_of(statement):
        cause, effect = ([word for word in side if evidence.knows(word)] for side in sides)
        told = [
            links_of(one)
            for source in evidence.sources
            for number, one in enumerate(source.statements)
            if _shares(source, number, cause) and _shares(source, number, effect)
        ]
        if not told:
            yield f"no source states the link '{clause.shown}'"
        elif 2 * sum(any(_is_turned(cause, effect, link) for link in links) for links in told) > len(told):
            yield f"the sources give cause and effect the other way round: '{clause.shown}'"


def links_of(statement: Statement) -> list[_Link]:
    """The clauses of a statement that give a cause or an effect, with the words of the cause and of the effect."""
    outer = [clause for clause in statement.clauses if clause.depth == 0]
    links = []
    for clause, before, after in zip(outer, [None, *outer], [*outer[1:], None], strict=False):
        other = after if after is not None and after.connective == FRONTED else before
        if clause.link in ("cause", "effect") and other is not None and (here := _words(clause)) and _words(other):
            pair = (_words(other), here) if clause.link == "effect" else (here, _words(other))
            links.append((clause, *pair))
    return links


def _words(clause: Clause) -> list[Word]:
    return [word for word in clause.content if weighs(word) and word.text.replace("-", "").isalpha()]


def _is_turned(cause: Sequence[Word], effect: Sequence[Word], link: _Link) -> bool:
    """Whether a link fits what a source tells better if it is turned round."""
    _, told_cause, told_effect = link
    straight = _share(cause, told_cause) + _share(effect, told_effect)
    return _share(cause, told_effect) + _share(effect, told_cause) > straight + _TURNED


def _share(words: Sequence[Word], others: Sequence[Word]) -> float:
    return sum(is_among(word, others) for word in words) / len(words) if words else 0.0


def _shares(source: Source, number: int, words: Sequence[Word]) -> bool:
    said = [source.says(word, number) for word in words]
    names = all(has for has, word in zip(said, words, strict=True) if word.is_name)
    return names and sum(said) >= _SHARE * len(words)
