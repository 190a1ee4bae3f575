"""Whether the sources state the links between clauses that a statement states: cause and effect, and which is which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_pipeline.text.clauses import FRONTED, Clause, Statement, Word
from memory_pipeline.text.entailment.evidence import Evidence, Source, weighs, words_match

#: A source states a link if one of its statements has at least this share of the words of both clauses.
_SHARE = 0.6
#: A source has a link the other way round if that reading shares this much more of the words, of 2.
_TURNED = 0.3
_SAYING = re.compile(
    r"^as\s+(?:[\w-]+\s+){0,3}?(?:asked|said|noted|requested|recommended|required|happened|happens|before|usual|agreed|"
    r"planned|written|described|seen|well|soon|long)\b",
    re.IGNORECASE,
)
_CAUSING = re.compile(
    r"^which\s+(?:\w+ly\s+)?(?:takes?|took|causes?|caused|makes?|made|leads?|led|brings?|brought|breaks?|broke|leaves|"
    r"left|results?|resulted|means|meant|lets?|prevents?|prevented|triggers?|triggered)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Link:
    """One clause as the cause, or the condition, of another; `readings` of what the other one is."""

    clause: Clause
    kind: str
    readings: tuple[tuple[tuple[Word, ...], tuple[Word, ...]], ...]


def unborne_links(statement: Statement, evidence: Evidence) -> Iterator[str]:
    """The links that no source states, or that a source states the other way round."""
    for link in links_of(statement):
        found = [_unborne(link, cause, effect, evidence) for cause, effect in link.readings]
        if found and all(found) and found[0]:
            yield found[0]


def links_of(statement: Statement) -> list[Link]:
    """The causes, effects and conditions in a statement."""
    outer = [clause for clause in statement.clauses if clause.depth == 0]
    links = []
    for number, clause in enumerate(outer):
        kind = _kind(clause)
        follows = number + 1 < len(outer) and outer[number + 1].connective == FRONTED
        if not kind or (number == 0 and not follows):
            continue
        before = [outer[number + 1]] if follows else outer[:number]
        here = _words([clause])
        others = dict.fromkeys((_words(before[-1:]), _words(before[:1]), _words(before)))
        pairs = [(other, here) if kind == "effect" else (here, other) for other in others if other]
        if here and pairs:
            links.append(Link(clause, kind, tuple(pairs)))
    return links


def _kind(clause: Clause) -> str:
    text = clause.text.lstrip(" ,")
    if clause.link == "as":
        return "" if _SAYING.match(text) else "cause"
    if clause.link == "other":
        return "effect" if _CAUSING.match(text) else ""
    if clause.connective in ("unless", "otherwise"):
        return ""
    return clause.link


def _words(clauses: Sequence[Clause]) -> tuple[Word, ...]:
    return tuple(
        word for clause in clauses for word in clause.content if weighs(word) and word.text.replace("-", "").isalpha()
    )


def _unborne(link: Link, cause: Sequence[Word], effect: Sequence[Word], evidence: Evidence) -> str | None:
    cause = [word for word in cause if evidence.knows(word)]
    effect = [word for word in effect if evidence.knows(word)]
    only_cause = [word for word in cause if not _among(word, effect)]
    only_effect = [word for word in effect if not _among(word, cause)]
    agree = disagree = 0
    for source in evidence.sources:
        for number, one in enumerate(source.statements):
            if not all(_shares(source, number, words) for words in (cause, effect, only_cause, only_effect)):
                continue
            sides = [pair for told in links_of(one) for pair in told.readings[:1]]
            turned = [_turned(cause, effect, *pair) for pair in sides]
            enough = link.kind != "condition" or min(len(cause), len(effect)) > 1
            if enough and turned and max(turned) > _TURNED and min(turned) >= 0:
                disagree += 1
            else:
                agree += 1
    shown = " ".join(link.clause.text.split()).strip(" ,;")[:70]
    if disagree > agree:
        return f"the sources give cause and effect the other way round: '{shown}'"
    if agree or disagree:
        return None
    if link.kind == "condition" and evidence.covering([*cause, *effect]):
        return None
    return f"no source states the link '{shown}'"


def _turned(
    cause: Sequence[Word], effect: Sequence[Word], told_cause: Sequence[Word], told_effect: Sequence[Word]
) -> float:
    """How much better a link fits what a source tells if it is turned round: -2 to 2."""
    straight = _share(cause, told_cause) + _share(effect, told_effect)
    return _share(cause, told_effect) + _share(effect, told_cause) - straight


def _share(words: Sequence[Word], others: Sequence[Word]) -> float:
    return sum(_among(word, others) for word in words) / len(words) if words else 0.0


def _among(word: Word, others: Sequence[Word]) -> bool:
    return any(words_match(word, other) for other in others)


def _shares(source: Source, number: int, words: Sequence[Word]) -> bool:
    said = [source.says(word, number) for word in words]
    names = all(has for has, word in zip(said, words, strict=True) if word.is_name)
    return names and sum(said) >= _SHARE * len(words)
