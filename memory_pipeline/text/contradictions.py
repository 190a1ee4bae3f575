"""Is a pair of memories a contradiction that a person should see?

The conflict guard keeps two memories apart in case of doubt, which costs a few tokens. A list for a person must be
precise: two statements contradict each other if they agree in every word but those of one place, and what stands in
this place cannot be true of the same subject at the same time. Readings have a new figure each time, and events of
different days differ as they like: neither contradicts anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_pipeline.records import UNDATED, Conflict, Memory
from memory_pipeline.text.agreement import COMMANDS, is_clause
from memory_pipeline.text.conflicts import differ_in_order, is_same_word, tells_an_event, what_is_replaced
from memory_pipeline.text.entries import claim_of
from memory_pipeline.text.facts import NEGATORS, STOP_WORDS, find_facts, unit_of, value_of
from memory_pipeline.text.lexicon import (
    FINDINGS,
    GAUGES,
    ONE_VALUED,
    RULE_WORDS,
    SELECTIVE,
    SETTINGS,
    STATE_WORDS,
    mean_the_same,
)
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text, without_clock
from memory_pipeline.text.sameness import Difference, differences, tokens_of
from memory_pipeline.text.sentences import split_statements, strip_lead_in
from memory_pipeline.text.subject import states_of_another

#: The kind of a conflict that a model found; it is not judged again by its words.
BY_MODEL = "contradiction"


def contradiction_of(a: Memory, b: Memory) -> Contradiction | None:
    """The contradiction between two memories, or None."""
    if states_of_another(a, b):
        return None
    return find_contradiction(claim_of(a.content), claim_of(b.content), same_day=a.day == b.day)


def newer_of(a: Memory, b: Memory) -> Memory | None:
    """The memory that supersedes the other one: it says later, on another day, how a setting, a preference or a state
    is now. None if the two contradict each other at one time, or about what does not change, or in a way that no
    person would be asked about, or if nobody knows when one of them was said."""
    if a.created_at_quality in UNDATED or b.created_at_quality in UNDATED:
        return None
    found = None if a.day == b.day else contradiction_of(a, b)
    if found is None or not (found.can_change and found.is_clear):
        return None
    return a if a.effective_date > b.effective_date else b


def superseded_ids(conflicts: Iterable[Conflict], memories: Mapping[str, Memory]) -> dict[str, str]:
    """By memory that a newer one supersedes, the newest of these. `memories`: the sides of the conflicts, by id."""
    newest: dict[str, Memory] = {}
    for conflict in conflicts:
        a, b = memories[conflict.a], memories[conflict.b]
        newer = newer_of(a, b)
        if newer is not None:
            older = b.id if newer.id == a.id else a.id
            newest[older] = max(newest.get(older, newer), newer, key=lambda memory: (memory.effective_date, memory.id))
    return {older: newer.id for older, newer in newest.items()}


def clear_conflicts(conflicts: Iterable[Conflict], memories: Mapping[str, Memory]) -> list[Conflict]:
    """The conflicts that a person is asked to decide: what a model found, and what is clear by its words. The others
    keep two memories apart. `memories`: the sides of the conflicts, by id."""
    return [
        conflict
        for conflict in conflicts
        if conflict.kind == BY_MODEL
        or ((found := contradiction_of(memories[conflict.a], memories[conflict.b])) is not None and found.is_clear)
    ]


def contradicting_ids(conflicts: Iterable[Conflict]) -> dict[str, tuple[str, ...]]:
    """By memory, the others with which it is in conflict."""
    found: dict[str, tuple[str, ...]] = {}
    for conflict in conflicts:
        for one, other in ((conflict.a, conflict.b), (conflict.b, conflict.a)):
            found[one] = (*found.get(one, ()), other)
    return found


#: The words of one place: a value with its unit, a name, a negation.
_LONGEST_PLACE = 3
#: Content words that two statements share beside the place: a subject and what is said of it.
_LEAST_SHARED = 2
#: The same for events of different days. A short one (`The backup failed`) happens again.
_LEAST_OF_EVENT = 5
_LEAST_LIKENESS = 0.6
_MOST_STATEMENTS = 16
#: What machines write: `key=value`, lists, records, arrows, ids of many parts.
#: A rule, and what follows it: a clause there says why.
_RULE_AND_REASON = re.compile(
    r"(?!(?:when|whenever|if|before|after|unless|until|while|once|in|on|for|at|with)\b)([^,;]{15,300}), (.{3,300})$",
    re.IGNORECASE,
)
_MACHINE = re.compile(r"\w=\S|[{}\[\]<>|]|→|->|\b\w+_\d{6,}|https?://")
_FORM = re.compile(r"[A-Za-z]+|\d+")
#: Words that tie a statement to one moment; those of one day tie a rule to it as well.
_OF_ONE_DAY = r"this (?:time|round|run|week|morning|afternoon|evening)|today|tonight|yesterday|tomorrow"
_NAMES_A_DAY = re.compile(rf"\b(?:{_OF_ONE_DAY})\b", re.IGNORECASE)
_NAMES_A_MOMENT = re.compile(
    rf"\b(?:again|another|now|so far|next|last (?:week|night|run|time)|{_OF_ONE_DAY})\b", re.IGNORECASE
)
_MOMENTS = frozenset(("date", "time"))
_CLOSING = " \t*_\"'”’)"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that cannot both be true at one time.

    `kind`: as of the guard's finding; `sides`: the differing words of each as they are written; `about`: the words
    that both share, by which repeated contradictions of one subject are found; `can_change`: whether a later statement
    replaces an earlier one, as with a setting, a preference or a state; a finding does not change; `is_clear`: whether
    a person should be asked to decide: both say what holds, and not how things stood at a moment.
    """

    kind: str
    sides: tuple[str, str]
    about: str
    can_change: bool
    is_clear: bool

    @property
    def detail(self) -> str:
        """The differing words of both."""
        return " / ".join(dict.fromkeys(self.sides))


@dataclass(frozen=True, slots=True)
class _Claim:
    text: str
    tokens: tuple[str, ...]
    is_event: bool
    is_rule: bool
    is_prose: bool


def find_contradiction(a: str, b: str, *, same_day: bool) -> Contradiction | None:
    """The contradiction between two memories, or None. `same_day`: whether both are of one day.

    Symmetric, except that the words of `a` come first. A time with which a note begins mostly says when it was
    written: the two are compared without such times, and then with them.
    """
    untimed = [without_clock(text) for text in (a, b)]
    found = _contradiction(*untimed, same_day=same_day)
    return _contradiction(a, b, same_day=same_day) if found is None and untimed != [a, b] else found


def _contradiction(a: str, b: str, *, same_day: bool) -> Contradiction | None:
    mine, theirs = _claims(a), _claims(b)
    found = [
        contradiction if _rest_agrees(one, mine, other, theirs) else replace(contradiction, is_clear=False)
        for one in mine
        for other in theirs
        if (contradiction := _between(one, other, same_day=same_day)) is not None
    ]
    return min(found, key=lambda one: (not one.is_clear, one.about, one.kind)) if found else None


def _rest_agrees(one: _Claim, mine: Sequence[_Claim], other: _Claim, theirs: Sequence[_Claim]) -> bool:
    """Whether two memories say the same beside two of their claims: otherwise each speaks of its own case."""
    return {claim.text for claim in mine if one.text not in claim.text} == {
        claim.text for claim in theirs if other.text not in claim.text
    }


@remembered
def _claims(text: str) -> tuple[_Claim, ...]:
    statements = split_statements(text)
    if len(statements) > _MOST_STATEMENTS:
        return ()
    claims = [_claim(statement) for statement in statements]
    parts = [part for claim in claims if claim.is_rule and (part := _RULE_AND_REASON.match(claim.text))]
    rules = [_claim(part.group(1)) for part in parts if is_clause(part.group(2))]
    return (*claims, *(rule for rule in rules if rule.is_rule))


def _claim(statement: str) -> _Claim:
    text = embedding_text(strip_lead_in(statement))
    words = [word.strip(".,;:!?()\"'").lower() for word in text.split() if word != "May"]  # the month
    is_rule = not (RULE_WORDS.isdisjoint(words) and COMMANDS.isdisjoint(words[:1]))
    stops = sum(word in STOP_WORDS for word in words)
    return _Claim(
        text=text,
        tokens=tokens_of(statement),
        is_event=not is_rule and tells_an_event(words),
        is_rule=is_rule,
        is_prose=not _MACHINE.search(text) and (stops > 0 or is_rule),
    )


def _between(a: _Claim, b: _Claim, *, same_day: bool) -> Contradiction | None:
    if not (a.is_prose and b.is_prose) or a.tokens == b.tokens:
        return None
    if what := differ_in_order(a.tokens, b.tokens):
        about = " ".join(sorted(a.tokens))
        can_change = not FINDINGS & set(a.tokens)
        return Contradiction("order", (what, what), about, can_change, _are_clear("order", a, b, None))
    turned = b.text < a.text
    first, second = (b, a) if turned else (a, b)
    found = differences(first.tokens, second.tokens, _LEAST_LIKENESS)
    if found is None:
        return None
    places = [place for place in found if not _says_the_same(place)]
    if len(places) != 1 or max(len(places[0].left), len(places[0].right)) > _LONGEST_PLACE:
        return None
    place = places[0]
    own = {*place.left, *place.right}
    shared = [word for word in first.tokens if word not in own and _carries_meaning(word)]
    if len(set(shared)) < _LEAST_SHARED:
        return None
    kind = _kind_of(place, first, second)
    if kind is None or _names_another_thing(kind, place, first, second):
        return None
    if not _holds_at_one_time(place, kind, first, second, len(set(shared)), same_day=same_day):
        return None
    one, other = (_written(words, claim, kind) for words, claim in _in_context(place, first, second))
    return Contradiction(
        kind=kind,
        sides=(other, one) if turned else (one, other),
        about=" ".join(word for word in first.tokens if word not in own),
        can_change=not FINDINGS & {*first.tokens, *second.tokens},
        is_clear=_are_clear(kind, first, second, place),
    )


def _are_clear(kind: str, a: _Claim, b: _Claim, place: Difference | None) -> bool:
    """Whether a person should be asked which of two claims that differ in one place is right.

    Both are rules, or neither is an event or names a day but the one in which they differ. Two times of day that no
    rule gives are two moments of a log, and how much or how often, said in words, is nothing to decide.
    """
    if kind == "opposite" and place and len(place.left) != len(place.right) and _negates(place.left + place.right):
        return False  # `different` and `not the same`
    texts = (a.text, b.text)
    if kind == "quantifier" or any(
        text.rstrip(_CLOSING).endswith(("?", ":")) or _NAMES_A_DAY.search(text) for text in texts
    ):
        return False
    if a.is_rule and b.is_rule:
        return True
    if kind == "time" or a.is_event or b.is_event:
        return False
    return max(map(_moments_in, texts)) <= (kind == "date")


@remembered
def _moments_in(text: str) -> int:
    """How many days and times of day it names."""
    return sum(fact.kind in _MOMENTS for fact in find_facts(text))


def _carries_meaning(word: str) -> bool:
    return word not in STOP_WORDS and value_of(word) is None


def _says_the_same(place: Difference) -> bool:
    """Whether both sides of a difference say the same: synonyms, the same values, or words without a meaning."""
    if not place.left or not place.right:
        return not any(_carries_meaning(word) or word in NEGATORS for word in place.left or place.right)
    return len(place.left) == len(place.right) and all(map(is_same_word, place.left, place.right))


def _kind_of(place: Difference, a: _Claim, b: _Claim) -> str | None:
    left, right = place.left, place.right
    if _negates(left) != _negates(right) and not _rest_differs(left, right):
        return "negation"
    if not left or not right:
        return None
    if found := what_is_replaced(place):
        return found.kind if found.kind != "identifier" or _are_of_one_form(left, right) else None
    if len(left) == len(right) == 1 and _is_name(left[0], a) and _is_name(right[0], b):
        return "name"
    return None


def _are_of_one_form(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether the first values of both sides differ in their letters and figures alone."""
    one, other = (next((value for word in side if (value := value_of(word))), "") for side in (left, right))
    return _FORM.sub("#", one) == _FORM.sub("#", other)


def _negates(words: Sequence[str]) -> bool:
    return any(word in NEGATORS for word in words)


def _rest_differs(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether the words beside a negation differ: `no emojis` beside nothing is another statement, and denies none."""
    rest = [{word for word in side if word not in NEGATORS and _carries_meaning(word)} for side in (left, right)]
    return not all(any(mean_the_same(one, other) for other in rest[1]) for one in rest[0]) or len(rest[0]) != len(
        rest[1]
    )


def _is_name(word: str, claim: _Claim) -> bool:
    """Whether a word is written as a name within the statement. At the start it may be any word, and another subject
    contradicts nothing."""
    place = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", claim.text, re.IGNORECASE)
    return place is not None and place.start() > 0 and place.group()[:1].isupper()


def _names_another_thing(kind: str, place: Difference, a: _Claim, b: _Claim) -> bool:
    """Whether the words of a place belong to the subject: `task 3 is done` and `task 4 is done` speak of two things."""
    if kind in ("negation", "quantifier"):
        return False
    ends = []
    for words, claim in ((place.left, a), (place.right, b)):
        at = next((n for n, word in enumerate(claim.tokens) if word in words), 0)
        verb = next((n for n, word in enumerate(claim.tokens) if word in STATE_WORDS or word in RULE_WORDS), None)
        least = 2 if kind != "opposite" else 1
        if not claim.is_rule and (at < verb if verb is not None else at < least):
            return True
        ends.append(at + len(words) >= len(claim.tokens))
    return kind == "opposite" and not any(ends) and bool(SELECTIVE & {*place.left}) and bool(SELECTIVE & {*place.right})


def _is_counted(place: Difference, claim: _Claim) -> bool:
    """Whether a figure counts things, which come and go: `has 25 members`."""
    at = next((n for n, word in enumerate(claim.tokens) if word in place.left), 0) + len(place.left)
    noun = claim.tokens[at] if at < len(claim.tokens) else ""
    return len(noun) > 3 and noun.endswith("s") and unit_of(noun) is None


def _holds_at_one_time(place: Difference, kind: str, a: _Claim, b: _Claim, shared: int, *, same_day: bool) -> bool:
    """Whether both statements are of a kind that has one value at a time, and speak of the same time."""
    words = {*a.tokens, *b.tokens}
    counted = kind == "number" and _is_counted(place, a)
    events = a.is_event or b.is_event
    if not same_day and (_NAMES_A_MOMENT.search(a.text) or _NAMES_A_MOMENT.search(b.text)):
        return False
    if kind in ("number", "unit", "identifier"):
        return not events and (bool(words & SETTINGS) or a.is_rule or not (words & GAUGES or counted))
    if kind == "name":
        return not events and bool(words & (STATE_WORDS | ONE_VALUED))
    if kind == "time":
        return not events
    if kind == "date":
        return not events or same_day
    return not events or same_day or shared >= _LEAST_OF_EVENT


def _has_unit(figure: str, claim: _Claim) -> bool:
    at = claim.tokens.index(figure) + 1 if figure in claim.tokens else len(claim.tokens)
    return at < len(claim.tokens) and unit_of(claim.tokens[at]) is not None


def _in_context(place: Difference, a: _Claim, b: _Claim) -> list[tuple[Sequence[str], _Claim]]:
    """The words of each side, with the word that follows where one side says nothing."""
    if place.left and place.right:
        return [(place.left, a), (place.right, b)]
    words, tokens = (place.left, a.tokens) if place.left else (place.right, b.tokens)
    start = next((n for n in range(len(tokens)) if tokens[n : n + len(words)] == words), 0)
    near = slice(start, start + len(words) + 1) if start + len(words) < len(tokens) else slice(start - 1, None)
    whole, bare = tokens[near], tuple(word for word in tokens[near] if word not in words)
    return [(whole, a), (bare, b)] if place.left else [(bare, a), (whole, b)]


def _written(words: Sequence[str], claim: _Claim, kind: str) -> str:
    """The words of a place as the statement writes them, a figure with its unit."""
    pattern = r"\W+".join(map(re.escape, words))
    unit = r"(?:\s?(?:%|°[CF]|[^\W\d_]+))?" if kind == "number" and _has_unit(words[-1], claim) else ""
    number = r"(?:[\d.,]+\s?)?" if kind == "unit" else ""
    match = re.search(rf"(?<!\w){number}{pattern}{unit}(?!\w)", claim.text, re.IGNORECASE)
    return match.group() if match else " ".join(words)
