"""The conflict guard: do two memories say different things in nearly the same words?

Cosine cannot distinguish `passed` from `failed` or 5432 from 5433 (both score above 0.95), so every pair that
similarity proposes is checked here before it may be merged. In case of doubt, the guard reports a *conflict*:
keeping two memories apart costs a few tokens, merging two contradictory ones loses the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_pipeline.text.facts import (
    NEGATORS,
    STOP_WORDS,
    WEEKDAYS,
    content_words,
    find_facts,
    stem,
    unit_of,
    value_of,
)
from memory_pipeline.text.languages import turned
from memory_pipeline.text.lexicon import (
    PAST_VERBS,
    QUANTITIES,
    RELATIVE_DAYS,
    RESTRICTIONS,
    RULE_WORDS,
    STATE_WORDS,
    are_opposites,
    find_opposites,
    mean_the_same,
)
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text, has_done
from memory_pipeline.text.sameness import Difference, differences, reaches, tokens_of
from memory_pipeline.text.sentences import split_statements

#: The kind of pairs that are kept apart without being a contradiction.
WORDING = "wording"
#: Two sentences are *nearly the same words* if at most this share of the content words of the one with fewer own words
#: is missing from the other.
SAME_WORDS_SHARE = 0.25
#: For opposites and negations, a lower similarity is enough: half of the words shared.
ALIKE_SHARE = 0.5
#: Two events that were described independently (word sequences, figures masked, less similar than this) are
#: episodes: their figures may differ. A copy with a different figure is a conflict.
EPISODE_LIKENESS = 0.8
#: Sentences that share this much of their words, in order, are compared word by word.
NEAR_COPY = 0.75
#: Texts of several sentences that share this much are compared as one, too: a short sentence finds no partner.
NEAR_TEXT = 0.9
#: Words that weaken a statement when they are inserted.
_NARROWING = frozenset("only half partly partially sometimes occasionally almost nearly exclusively".split())
_MAX_SENTENCES = 16
#: Maximum number of pairs of names that are checked for synonyms.
_MOST_NAMES = 4_000
_DIRECTION = frozenset(
    "before after depends depend calls call blocks block over than instead follows follow precedes precede beats feeds "
    "replaces replace requires require triggers trigger causes cause reports owns imports sends overrides ->".split()
)
_PIVOTS = _DIRECTION | {stem(word) for word in _DIRECTION}


#: More words that only one side has are a clause of its own, which tells more of the same.
_LONGEST_PUT_IN = 3


@dataclass(frozen=True, slots=True)
class ConflictFinding:
    """The reason why two texts conflict: the kind (`number`, `unit`, `date`, `time`, `name`, `identifier`, `negation`,
    `opposite`, `quantifier`, `order`, or `wording`) and the differing words.

    `wording`: otherwise equal sentences differ in one word that is not known to mean the same, or in a figure that only
    one of them has. This does not claim a contradiction, but is reason enough to keep them apart.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    words: Counter[str]
    plain: Counter[str]
    sequence: tuple[str, ...]
    written: dict[str, str]
    facts: dict[str, dict[str, str]]
    negated: int
    masked: tuple[str, ...]
    tokens: tuple[str, ...]
    is_event: bool
    labelled: bool


def find_conflict(a: str, b: str) -> ConflictFinding | None:
    """The first conflict between two texts, or None if one may replace the other.

    Sentences are matched to the sentence of the other text that shares most words; facts are compared only between
    matched sentences, so that two long notes may differ in unrelated details. Symmetric: swapping the texts finds
    the same kind.
    """
    if has_done(a) != has_done(b):
        return ConflictFinding(WORDING, "done on one side")
    if a == b or _folded(a) == _folded(b):
        return None
    if against := turned(a, b):
        return ConflictFinding(*against)
    left, right = _sentences(a), _sentences(b)
    if len(left) == 1 and len(right) == 1:
        return _compare(left[0], right[0])
    for mine, theirs in sorted(set(_matches(left, right)) | {(i, j) for j, i in _matches(right, left)}):
        finding = _compare(left[mine], right[theirs])
        if finding:
            return finding
    if len(left) != len(right):
        return None
    finding = _compare_words(tokens_of(a), tokens_of(b), NEAR_TEXT)
    return None if finding and finding.kind == "negation" and _tell_other_things(left, right) else finding


def _tell_other_things(left: tuple[_Sentence, ...], right: tuple[_Sentence, ...]) -> bool:
    """True if what only one text says and what only the other one says have no word in common: `Not on staging.` denies
    nothing in `Kenji has a card.`"""
    mine, theirs = (
        {word for sentence in side if sentence.tokens not in others for word in sentence.plain}
        for side, others in (
            (left, {sentence.tokens for sentence in right}),
            (right, {sentence.tokens for sentence in left}),
        )
    )
    return bool(mine and theirs) and len(mine | theirs) > 2 and not mine & theirs


def _matches(sentences: tuple[_Sentence, ...], among: tuple[_Sentence, ...]) -> Iterable[tuple[int, int]]:
    for index, sentence in enumerate(sentences):
        score, place = max((_jaccard(sentence.words, candidate.words), -place) for place, candidate in enumerate(among))
        if score >= ALIKE_SHARE:
            yield index, -place


def _jaccard(a: Counter[str], b: Counter[str]) -> float:
    """Shared words divided by all words."""
    return (a & b).total() / max(1, (a | b).total())


@remembered
def _folded(text: str) -> str:
    return embedding_text(text).casefold()


@remembered
def _sentences(text: str) -> tuple[_Sentence, ...]:
    statements = split_statements(text) or [text]
    if len(statements) > _MAX_SENTENCES:
        statements = [text]
    return tuple(_read(statement) for statement in statements)


def _read(statement: str) -> _Sentence:
    facts: dict[str, dict[str, str]] = {}
    for fact in find_facts(statement):
        facts.setdefault(fact.kind, {})[fact.value] = fact.text
    lowered = [word.strip(".,;:!?()[]\"'").lower().replace("’", "'") for word in embedding_text(statement).split()]
    sequence = tuple("->" if word == "→" else stem(word) for word in lowered if word)
    valued = {
        word
        for kind in ("number", "date", "time", "name", "identifier")
        for text in facts.get(kind, {}).values()
        for word in content_words(text)
    }
    words = Counter(content_words(statement))
    plain = Counter({word: n for word, n in words.items() if word not in valued and word not in NEGATORS})
    negated = sum(word in NEGATORS or word.endswith("n't") for word in lowered)
    raw = embedding_text(statement).split()
    return _Sentence(
        words=words,
        plain=plain,
        sequence=sequence,
        written={stem(word): word for word in lowered},
        facts=facts,
        negated=negated,
        tokens=tokens_of(statement),
        masked=tuple("#" if any(c.isdigit() for c in word) else word for word in lowered if word),
        is_event=tells_an_event(lowered),
        labelled=bool(raw) and raw[0].endswith(":"),
    )


def tells_an_event(words: Sequence[str]) -> bool:
    """True if a sentence describes a single event: a verb in the past, and no rule or permanent state."""
    if RULE_WORDS & set(words):
        return False
    return any(
        (word in PAST_VERBS or (len(word) > 4 and word.endswith("ed")))
        and not STATE_WORDS & set(words[max(0, n - 2) : n])
        for n, word in enumerate(words)
    )


def _compare(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    own_a, own_b, shared = a.plain - b.plain, b.plain - a.plain, (a.plain & b.plain).total()
    fewer = min(own_a.total(), own_b.total())
    same_words = fewer <= SAME_WORDS_SHARE * (shared + fewer)
    alike = shared >= ALIKE_SHARE * (shared + fewer)
    if alike:
        finding = _opposites(a, b) or _negation(a, b)
        if finding:
            return finding
    if same_words:
        finding = _values(a, b) or _quantifiers(a, b) or _order(a, b)
        if finding:
            return finding
    return _swapped_subject(a, b, own_a, own_b) or _compare_words(a.tokens, b.tokens, NEAR_COPY)


def _compare_words(a: tuple[str, ...], b: tuple[str, ...], least: float) -> ConflictFinding | None:
    """The conflict between two nearly equal sentences (with a similarity of at least `least`)."""
    changes = differences(a, b, least)
    if changes is None:
        return None
    negators_a, negators_b = (Counter(token for token in side if token in NEGATORS) for side in (a, b))
    if negators_a.total() != negators_b.total():
        extra = (negators_a - negators_b) + (negators_b - negators_a)
        return ConflictFinding("negation", f"{' '.join(sorted(extra))} on one side")
    for difference in changes:
        finding = compare_sides(difference) if difference.left and difference.right else _judge_insertion(difference)
        if finding:
            return finding
    single = [(d.left[0], d.right[0]) for d in changes if len(d.left) == len(d.right) == 1]
    unknown = [(one, other) for one, other in single if not is_same_word(one, other)]
    if len(unknown) == 1:
        return ConflictFinding(WORDING, " / ".join(unknown[0]))
    return None


def is_same_word(one: str, other: str) -> bool:
    """True if two words are one value, one unit, or mean the same."""
    if value_of(one) is not None or value_of(other) is not None:
        return _normal(one) == _normal(other)
    unit = unit_of(one)
    return (unit is not None and unit == unit_of(other)) or (
        not are_opposites(one, other) and mean_the_same(one, other)
    )


def _normal(word: str) -> str | None:
    value = value_of(word)
    return value and value.replace("–", "-")


def compare_sides(difference: Difference) -> ConflictFinding | None:
    """The conflict between the words of both sides of a difference: opposites, other values, units, days or
    quantities."""
    left, right = difference.left, difference.right
    detail = f"{' '.join(left)} / {' '.join(right)}"
    if against := find_opposites(left, right):
        return ConflictFinding("opposite", " / ".join(against))
    values = [[value for word in side if (value := value_of(word)) is not None] for side in (left, right)]
    if values[0] and values[1] and values[0] != values[1]:
        return ConflictFinding(_find_value_kind(left, right), detail)
    units = [[unit for word in side if (unit := unit_of(word)) is not None] for side in (left, right)]
    if units[0] and units[1] and units[0] != units[1]:
        return ConflictFinding("unit", detail)
    for kind, words in (("date", RELATIVE_DAYS | WEEKDAYS), ("quantifier", QUANTITIES)):
        mine, theirs = set(left) & words, set(right) & words
        if mine and theirs and not any(mean_the_same(one, other) for one in mine for other in theirs):
            return ConflictFinding(kind, detail)
    return None


def _judge_insertion(difference: Difference) -> ConflictFinding | None:
    words = set(difference.left or difference.right)
    for kind, turning in (("negation", RESTRICTIONS), ("quantifier", _NARROWING)):
        if words & turning:
            return ConflictFinding(kind, f"{min(words & turning)} on one side")
    put_in = (*difference.left, *difference.right)
    if len(put_in) > _LONGEST_PUT_IN:
        return None
    figure = next((word for word in put_in if _is_figure(word)), None)
    return ConflictFinding(WORDING, f"{figure} on one side") if figure else None


def _is_figure(word: str) -> bool:
    """True if a word is a figure or an identifier: what only one side has is no filler, and not said by the other."""
    return any(c.isdigit() for c in word) or (word != "one" and value_of(word) is not None)


def _find_value_kind(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    for word in (*left, *right):
        if any(c.isdigit() for c in word):
            if any(c.isalpha() for c in word) or word.count(".") > 1:
                return "identifier"
            return "time" if ":" in word else "date" if word.count("-") == 2 else "number"
    return "number"


def _opposites(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    mine, theirs = sorted(set(a.sequence) - set(b.sequence)), sorted(set(b.sequence) - set(a.sequence))
    against = find_opposites(mine, theirs) if mine and theirs else None
    if against is None:
        return None
    one, other = against
    return ConflictFinding("opposite", f"{a.written.get(one, one)} / {b.written.get(other, other)}")


def _negation(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    if (a.negated == 0) == (b.negated == 0):
        return None
    facts = (a if a.negated else b).facts.get("negation", {})
    return ConflictFinding("negation", next(iter(facts.values()), "not"))


def _values(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    episodes = a.is_event and b.is_event and not reaches(a.masked, b.masked, EPISODE_LIKENESS)
    for kind in ("number", "date", "time", "identifier", "name"):
        if episodes and kind in ("number", "date", "time"):
            continue
        mine, theirs = a.facts.get(kind, {}), b.facts.get(kind, {})
        only_a = [mine[value] for value in mine if value not in theirs]
        only_b = [theirs[value] for value in theirs if value not in mine]
        if kind == "name":  # at the start of a sentence, any word looks like a name
            only_a, only_b = _without_synonyms(only_a, only_b), _without_synonyms(only_b, only_a)
        if kind == "date" and only_a and only_b and _dates_agree(mine, theirs):
            continue
        if only_a and only_b:
            finding_kind = _unit_kind(mine, theirs) if kind == "number" else kind
            return ConflictFinding(finding_kind, f"{', '.join(only_a[:3])} / {', '.join(only_b[:3])}")
    return None


def _without_synonyms(names: list[str], others: list[str]) -> list[str]:
    if len(names) * len(others) > _MOST_NAMES:
        return names
    return [name for name in names if not any(mean_the_same(name.lower(), other.lower()) for other in others)]


def _unit_kind(mine: Iterable[str], theirs: Iterable[str]) -> str:
    """`unit` if the bare figures agree and only their units differ."""
    return "unit" if {m.split(" ")[0] for m in mine} == {t.split(" ")[0] for t in theirs} else "number"


def _dates_agree(mine: Iterable[str], theirs: Iterable[str]) -> bool:
    """True if the dates differ only in a year that one side omits."""
    return {value.replace("----", "")[-6:] for value in mine} == {value.replace("----", "")[-6:] for value in theirs}


def _quantifiers(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    mine, theirs = set(a.sequence) & QUANTITIES, set(b.sequence) & QUANTITIES
    one, other = min(mine - theirs, default=""), min(theirs - mine, default="")
    if one and other and not mean_the_same(one, other):
        return ConflictFinding("quantifier", f"{one} / {other}")
    return None


def _order(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    what = differ_in_order(a.sequence, b.sequence)
    return ConflictFinding("order", what) if what else None


def differ_in_order(a: Sequence[str], b: Sequence[str]) -> str | None:
    """The way in which the order of the same words makes two statements differ, or None: what follows a directional
    word in one precedes it in the other.

    `A depends on B` against `B depends on A`. Clauses that are merely reordered keep what follows. `a`, `b`: the
    words of each, or their stems.
    """
    if a == b or Counter(a) != Counter(b):
        return None
    for pivot in sorted(_PIVOTS & set(a)):
        here, there = a.index(pivot), b.index(pivot)
        after_a, after_b = _next_word(a, here), _next_word(b, there)
        if after_a != after_b and after_a in b[:there] and after_b in a[:here]:
            return f"what stands before and after '{pivot}'"
    if {"from", "to"} <= set(a):
        ends_a, ends_b = ([_next_word(s, s.index(word)) for word in ("from", "to")] for s in (a, b))
        if ends_a == ends_b[::-1] and ends_a[0] != ends_a[1]:
            return f"from {ends_a[0]} to {ends_a[1]}, and back"
    return None


def _next_word(sequence: Sequence[str], place: int) -> str:
    """The first content word after a position."""
    return next((word for word in sequence[place + 1 :] if word not in STOP_WORDS), "")


def _swapped_subject(a: _Sentence, b: _Sentence, own_a: Counter[str], own_b: Counter[str]) -> ConflictFinding | None:
    """One word replaced at the very start of otherwise equal sentences: usually a different subject."""
    if own_a.total() == own_b.total() == 1 and a.tokens and b.tokens and len(a.sequence) == len(b.sequence):
        one, other = next(iter(own_a)), next(iter(own_b))
        starts = a.sequence[0] == one and b.sequence[0] == other and not (a.labelled or b.labelled)
        if starts and not mean_the_same(a.tokens[0], b.tokens[0]) and a.sequence[1:] == b.sequence[1:]:
            return ConflictFinding("name", f"{one} / {other}")
    return None
