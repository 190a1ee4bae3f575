"""Finds the rule that several patterns state about different things, and says it in one sentence.

A rule is read from a sentence that advises something, as what to do and the occasion on which to do it: `take a
backup`, `before updating the router`. Three patterns that advise the same on other occasions, or on one occasion the
same about other things, share a rule: `Take a backup before updating Home Assistant, the router or the NAS.`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from memory_pipeline.knowledge.principle_phrases import DETERMINERS, are_subjects, listed, phrases_of, text_of
from memory_pipeline.wording.grammar import Clause, Word, clauses_of, words_of
from memory_pipeline.wording.guidance import guidance_in
from memory_pipeline.wording.inflection import plural_verb_of
from memory_pipeline.wording.lexicon import mean_the_same
from memory_pipeline.wording.normalise import plain_text
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

#: Kinds of conflicts between patterns that are contradictions, whatever the subject.
CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))
#: Words that open an occasion; words of one line mean one thing.
_OCCASIONS = {
    word: kind
    for kind, words in enumerate(("before", "after once", "when whenever if while", "unless", "until till"))
    for word in words.split()
}
_OPPOSITE_OCCASIONS = ({0, 1},)
#: Words that do not change what a rule says.
_FREE = frozenset("always please simply just also then so first right away immediately directly".split()) | DETERMINERS
_NEGATIVE = frozenset("never not don't avoid".split())
_PRONOUNS = frozenset("it its they them their itself themselves this that these those".split())
_OF_ONE = frozenset("it its itself this that".split())
_VERBS = frozenset("VVB VVI VVZ VVD VVN VVG".split())
#: A rule about one thing has at least so many words beside it: a verb alone says nothing.
_LEAST_WORDS, _LEAST_WORDS_OF_ACTION = 3, 2
_LONGEST_SUBJECT = 8
#: A reason in brackets has at most so many words, and all of a principle so many.
_LONGEST_REASON, _MOST_REASON_WORDS = 12, 48
#: What a pattern adds to its reason in brackets, which the principle leaves to it.
_ASIDE = re.compile(r"\s*\([^()]*\)(?=[\s.!]*$)")
#: Rules with one verb that are compared with each other.
_MOST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class Principle:
    """The rule that patterns share: its text, and the numbers of the patterns that state it."""

    text: str
    supporters: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """One sentence that advises something. `pattern`: the number of the pattern; `action`: the clause of what to do;
    `occasion`: the clause of when, if there is one; `reasons`: the other clauses."""

    pattern: int
    sentence: str
    action: Clause
    occasion: Clause | None
    reasons: tuple[Clause, ...]

    @cached_property
    def is_negative(self) -> bool:
        """Whether it says what not to do."""
        return any(word.low in _NEGATIVE for word in self.action.words)

    @cached_property
    def said(self) -> tuple[Word, ...]:
        """The words of the action that count."""
        words = [word for word in self.action.words if word.low not in _FREE | _NEGATIVE and not word.is_mark]
        return tuple(words[1:] if words and words[0].low == "do" and self.is_negative else words)

    @property
    def kind(self) -> int | None:
        """The kind of occasion, or None."""
        return _OCCASIONS[self.occasion.opener.split()[0]] if self.occasion else None


def rules_of(pattern: int, text: str) -> list[Rule]:
    """The rules that a pattern states."""
    found = []
    for statement in split_statements(text):
        sentence = plain_text(strip_lead_in(statement))
        rule = _rule_of(pattern, sentence) if guidance_in(statement) else None
        if rule is not None and rule.said:
            found.append(rule)
    return found


def _rule_of(pattern: int, sentence: str) -> Rule | None:
    clauses = clauses_of(sentence)
    main = [n for n, clause in enumerate(clauses) if clause.opener in ("", "so")]
    place = next((n for n in main if clauses[n].order is not None), next((n for n in main if clauses[n].verb), None))
    if place is None:
        return None
    when = next(
        (
            n
            for n in sorted(range(len(clauses)), key=lambda n: (abs(n - place), -n))
            if n != place and clauses[n].opener.split()[:1] and clauses[n].opener.split()[0] in _OCCASIONS
        ),
        None,
    )
    others = [clause for n, clause in enumerate(clauses) if n not in (place, when)]
    if when is None:
        return Rule(pattern, sentence, clauses[place], None, tuple(others))
    occasion, rest = _cut(clauses[when])
    reasons = sorted([*others, *rest], key=lambda clause: clause.words[0].start)
    return Rule(pattern, sentence, clauses[place], occasion, tuple(reasons))


def _cut(occasion: Clause) -> tuple[Clause, list[Clause]]:
    """An occasion up to its first comma, and what follows there, which has another subject."""
    end = next((n for n, word in enumerate(occasion.words) if n and word.low == ","), len(occasion.words))
    rest = occasion.words[end + 1 :]
    return Clause(occasion.opener, occasion.words[:end], occasion.mark), [Clause("", rest, ",")] if rest else []


def find_principles(patterns: Sequence[str], *, least: int) -> list[Principle]:
    """The rules that at least `least` of the patterns share, with their patterns; no pattern is in two of them.

    Patterns are given as texts. Of several rules, the one that most patterns state is taken first; then one that is
    said in full by all; then one that is the same for several occasions. What another pattern contradicts (the same
    action negated, or before instead of after) is no rule.
    """
    rules = [rule for number, text in enumerate(patterns) for rule in rules_of(number, text)]
    found = [
        candidate
        for alike in _by_verb(rules)
        for template in alike
        for candidate in _principles_like(template, alike, least)
    ]
    taken: set[int] = set()
    chosen = []
    for _, principle in sorted(found, key=lambda item: item[0]):
        if not taken & set(principle.supporters):
            taken |= set(principle.supporters)
            chosen.append(principle)
    return chosen


def _by_verb(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The rules in groups with one verb, or verbs that mean the same; of a large group, the first ones."""
    known: list[str] = []
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        verb = rule.said[0] if rule.action.order is not None else rule.action.verb or rule.said[0]
        groups.setdefault(_key(verb, known), []).append(rule)
    return [group[:_MOST_COMPARED] for group in groups.values()]


def _principles_like(
    template: Rule, rules: Sequence[Rule], least: int
) -> Iterator[tuple[tuple[object, ...], Principle]]:
    """The principles in the words of one rule, with their rank."""
    for place, supporters in enumerate(_families(template, rules)):
        if len(supporters) < least or any(_contradict(one, other) for one in supporters.values() for other in rules):
            continue
        text = _SAYINGS[place](template, [supporters[n] for n in sorted(supporters)], least)
        if text is not None:
            rank = (-len(supporters), place, len(text), text)
            yield rank, Principle(text, tuple(sorted(supporters)))


def _families(template: Rule, rules: Sequence[Rule]) -> list[dict[int, Rule]]:
    """By pattern, its rule that says what the template says: all of it; the action on any occasion; and, by the span
    of the template's words in which they differ, the same about another thing."""
    whole: dict[int, Rule] = {}
    action: dict[int, Rule] = {}
    slots: dict[tuple[int, int], dict[int, Rule]] = {}
    for rule in sorted(rules, key=lambda rule: (rule.pattern != template.pattern, rule.pattern)):
        if rule.kind != template.kind or rule.is_negative != template.is_negative:
            continue
        apart = _apart(template.said, rule.said)
        same_occasion = _says_alike(_told(template.occasion), _told(rule.occasion))
        if not apart and same_occasion:
            whole.setdefault(rule.pattern, rule)
        if template.occasion is not None and _is_same_action(template.said, rule.said, apart):
            action.setdefault(rule.pattern, rule)
        if same_occasion and len(apart) == 1:
            slots.setdefault(_span(template.said, apart[0]), {}).setdefault(rule.pattern, rule)
    for family in slots.values():
        family.setdefault(template.pattern, template)
    widest = max(slots.values(), key=lambda family: (len(family), sorted(family)), default={})
    return [whole, action, widest]


#: A differing region: the first word and the end in either of two lists of words.
_Region = tuple[int, int, int, int]


def _apart(one: Sequence[Word], other: Sequence[Word]) -> list[_Region]:
    """Where two lists of words differ, synonyms aside."""
    known: list[str] = []
    ours, theirs = ([_key(word, known) for word in words] for words in (one, other))
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return [(a, b, c, d) for how, a, b, c, d in matcher.get_opcodes() if how != "equal"]


def _key(word: Word, known: list[str]) -> str:
    """The first known word that means the same; else the word, which is known from now on."""
    text = word.base if word.tag in _VERBS or word.is_noun else word.low
    for other in known:
        if other == text or mean_the_same(other, text):
            return other
    known.append(text)
    return text


def _told(clause: Clause | None) -> list[Word]:
    return [word for word in clause.words if word.low not in _FREE] if clause else []


def _says_alike(one: Sequence[Word], other: Sequence[Word]) -> bool:
    return not _apart(one, other)


def _is_same_action(one: Sequence[Word], other: Sequence[Word], apart: Sequence[_Region]) -> bool:
    """Whether two actions are the same but for nouns before the same noun: `clear the template cache`, `clear the CDN
    cache`."""
    return len(one) - sum(b - a for a, b, _, _ in apart) >= _LEAST_WORDS_OF_ACTION and all(
        all(_is_name(word) for word in (*one[a:b], *other[c:d])) and b < len(one) and one[b].is_noun
        for a, b, c, d in apart
    )


def _is_name(word: Word) -> bool:
    return word.is_noun or word.tag == "NP0"


def _span(said: Sequence[Word], region: _Region) -> tuple[int, int]:
    """The span of the template's words to be replaced: with the noun after it, if what stands before it differs."""
    start, end = region[0], region[1]
    while end < len(said) and (end == start or _is_name(said[end - 1])) and _is_name(said[end]):
        end += 1
    return start, end


def _contradict(one: Rule, other: Rule) -> bool:
    """Whether two rules say the opposite: one negated, or one before and one after the same."""
    apart = _apart(one.said, other.said)
    if apart and not (one.occasion is not None and _is_same_action(one.said, other.said, apart)):
        return False
    if one.is_negative != other.is_negative:
        return one.kind == other.kind or None in (one.kind, other.kind)
    return {one.kind, other.kind} in _OPPOSITE_OCCASIONS and _says_alike(_told(one.occasion), _told(other.occasion))


def _as_it_is(template: Rule, rules: Sequence[Rule], least: int) -> str:
    """A rule that all state."""
    return _sentence(template, text_of(template.action.words), _occasion_of(template), _shared_reason(template, rules))


def _on_occasions(template: Rule, rules: Sequence[Rule], least: int) -> str | None:
    """The same action on several occasions."""
    assert template.occasion is not None
    phrases = phrases_of([rule.occasion for rule in rules if rule.occasion is not None])
    if phrases is None or not are_subjects(phrases, least):
        return None
    reason = _shared_reason(template, rules)
    behind = {} if reason else _own_reasons(rules, phrases)
    noun, names = _names_before(template, rules)
    opener = template.occasion.opener.split()[0]
    if noun is None or len({name for name in names if name}) < 2:
        occasion = f"{opener} {listed(phrases, 'or', behind)}"
        return _sentence(template, text_of(_without_differing(template, rules)), occasion, reason)
    words = _without_differing(template, rules)
    place = next(n for n, word in enumerate(words) if word is noun)
    rest = f"{text_of(words[place:], capital=False)} {opener}"
    pairs = [
        " ".join(filter(None, (name, rest, phrase, behind.get(phrase))))
        for name, phrase in dict.fromkeys(zip(names, phrases, strict=True))
    ]
    article = words[place - 1].low if words[place - 1].low in DETERMINERS - {"a", "an"} else ""
    others = [f"{article} {pair}".strip() for pair in pairs[1:]]
    told = f"{', '.join([pairs[0], *others[:-1]])} and {others[-1]}"
    return _sentence(template, f"{text_of(words[:place])} {told}", "", reason)


def _without_differing(template: Rule, rules: Sequence[Rule]) -> list[Word]:
    """The words of the template's action but for those in which the rules differ."""
    differing = {
        template.said[n].start for rule in rules for a, b, _, _ in _apart(template.said, rule.said) for n in range(a, b)
    }
    return [word for word in template.action.words if word.start not in differing]


def _own_reasons(rules: Sequence[Rule], phrases: Sequence[str]) -> dict[str, str]:
    """By occasion, the reason that its rule gives behind it, in brackets; none if they are long."""
    found = {phrase: reason for rule, phrase in zip(rules, phrases, strict=True) if (reason := _reason_of(rule))}
    lengths = [len(reason.split()) for reason in found.values()]
    if any(length > _LONGEST_REASON for length in lengths) or sum(lengths) > _MOST_REASON_WORDS:
        return {}
    return {phrase: f"({reason})" for phrase, reason in found.items() if "(" not in reason and ")" not in reason}


def _reason_of(rule: Rule) -> str:
    """The end of a rule's sentence behind what to do and when, without brackets at its end, or nothing."""
    if not rule.reasons:
        return ""
    told = max(clause.words[-1].end for clause in (rule.action, rule.occasion) if clause is not None)
    return "" if rule.reasons[0].words[0].start < told else _ASIDE.sub("", rule.sentence[told:]).strip(" ,;:.!-")


def _names_before(template: Rule, rules: Sequence[Rule]) -> tuple[Word | None, list[str]]:
    """The noun before which the rules name different things (`template cache`, `CDN cache`), and the name that each
    gives, or nothing; no noun if there are several such nouns."""
    apart = [_apart(template.said, rule.said) for rule in rules]
    ends = {b for regions in apart for _, b, _, _ in regions}
    if len(ends) != 1:
        return None, []
    end = ends.pop()
    start = min(a for regions in apart for a, _, _, _ in regions)
    found = [
        rule.said[regions[0][2] : regions[0][3]] if regions else template.said[start:end]
        for rule, regions in zip(rules, apart, strict=True)
    ]
    return template.said[end], [text_of(words, capital=False) for words in found]


def _about_things(template: Rule, rules: Sequence[Rule], least: int) -> str | None:
    """The same about several things, on one occasion or on any."""
    spans = [_apart(template.said, rule.said) for rule in rules if rule is not template]
    start, end = _span(template.said, next(apart[0] for apart in spans if apart))
    if start == end:
        return None
    first, last = template.said[start], template.said[end - 1]
    subjects = [_subject(template, rule, start, end) for rule in rules]
    known = [subject for subject in subjects if subject is not None]
    around = len(template.said) - (end - start) + len(_told(template.occasion))
    if len(known) < len(subjects) or not are_subjects(known, least) or around < _LEAST_WORDS:
        return None
    words = template.action.words
    before = [word for word in words if word.start < first.start]
    while before and before[-1].low in DETERMINERS:
        before.pop()
    after = [word for word in words if word.start > last.start]
    reason = _shared_reason(template, rules)
    rest = [*after, *(template.occasion.words if template.occasion else ()), *(words_of(reason) if reason else ())]
    each = any(word.low in _PRONOUNS for word in rest)
    if not any(word.low not in _FREE | _NEGATIVE for word in before) and template.action.order is None:
        if not after or any(word.low in _OF_ONE for word in rest):
            return None
        after, each = [_plural(after[0]), *after[1:]], False
    each |= template.is_negative and template.action.order is not None
    action = " ".join(filter(None, [text_of(before), listed(known, "or" if each else "and"), text_of(after)]))
    return _sentence(template, action, _occasion_of(template), reason)


_SAYINGS = (_as_it_is, _on_occasions, _about_things)


def _plural(word: Word) -> Word:
    """The form of a verb that follows several things."""
    return Word(plural_verb_of(word.text, word.base), word.base, word.tag, word.start)


def _subject(template: Rule, rule: Rule, start: int, end: int) -> str | None:
    """What a rule says in place of the template's words from `start` to `end`, if it is the name of a thing."""
    if rule is template:
        first, last = start, end
    else:
        ((a, b, first, last),) = _apart(template.said, rule.said)
        last += end - b
        if a != start:
            return None
    found = rule.said[first:last]
    if not found or len(found) > _LONGEST_SUBJECT or not _is_name(found[-1]):
        return None
    if any(word.is_verb or word.tag in _VERBS for word in found):
        return None
    words = rule.action.words
    place = words.index(found[0])
    while place > 0 and words[place - 1].low in DETERMINERS:
        place -= 1
    return text_of(words[place : words.index(found[-1]) + 1], capital=False)


def _occasion_of(rule: Rule) -> str:
    return f"{rule.occasion.opener} {text_of(rule.occasion.words, capital=False)}" if rule.occasion else ""


def _shared_reason(template: Rule, rules: Sequence[Rule]) -> str:
    """The end of the template's sentence behind rule and occasion, if all of the rules give this reason."""
    if not template.reasons or not all(_gives_same_reason(template, rule) for rule in rules):
        return ""
    told = [clause.words[-1].end for clause in (template.action, template.occasion) if clause is not None]
    first = template.reasons[0].words[0].start
    if first < max(told):
        return ""
    return template.sentence[max(told) :].rstrip().rstrip(".!")


def _gives_same_reason(template: Rule, rule: Rule) -> bool:
    ours, theirs = ([word for clause in one.reasons for word in clause.words] for one in (template, rule))
    return [c.opener for c in template.reasons] == [c.opener for c in rule.reasons] and _says_alike(ours, theirs)


def _sentence(template: Rule, action: str, occasion: str, reason: str) -> str:
    """The rule as a sentence; the occasion comes first if the action refers to it."""
    refers = any(word.low in _PRONOUNS for word in template.action.words)
    text = f"{occasion}, {action[:1].lower()}{action[1:]}" if occasion and refers else f"{action} {occasion}".strip()
    return f"{text[:1].upper()}{text[1:]}{reason}."
