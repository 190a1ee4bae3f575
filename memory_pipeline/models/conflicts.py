"""The conflict guard: may one of two texts take the place of the other?

Cosine cannot distinguish `passed` from `failed` or 5432 from 5433 (both score above 0.95), so every pair that
similarity proposes is checked here before it may be merged. Code compares values, names and ticks, in any language. If
words differ beside them, the classifier of relations reads both sentences (`relations.py`). In case of doubt, the guard
reports a *conflict*: keeping two memories apart costs a few tokens, merging two contradictory ones loses the truth.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import ne

from memory_pipeline.models.embedders.minilm import is_installed
from memory_pipeline.models.relations import (
    LEAST_CHANCE,
    LEAST_WITH_GUARD,
    MOST_PIECES,
    Relation,
    count_pieces,
    relation_of,
    relation_of_any,
)
from memory_pipeline.text.days import DAYS_OF_WEEK
from memory_pipeline.text.facts import STOP_WORDS, content_words, find_facts, locate_values, value_of
from memory_pipeline.text.languages import is_german, negates, weekdays_in
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text, has_done, normalise
from memory_pipeline.text.sameness import contains_in_order, reaches, tokens_of
from memory_pipeline.text.sentences import split_statements, strip_lead_in
from memory_pipeline.text.subject import Titled, titles_apart
from memory_pipeline.text.threads import box_of
from memory_pipeline.text.whole import facts_lacking

#: The kind of pairs that are kept apart without being a contradiction, and of those that the classifier takes for one.
WORDING, MEANING = "wording", "meaning"
#: Two sentences are about one thing if they share at least this share of the shorter one's content words.
ALIKE_SHARE = 0.5
#: Sentences that share this much of their words, in order, are near copies: another value in one is a conflict, and
#: other words are one unless they mean the same. Two events that were described independently share less: their
#: figures may differ.
NEAR_COPY = 0.75
#: The least probabilities with which two sentences count as saying the same, or as contradicting each other; the last
#: for one that only says more than the other, and may take it back. Chosen on the sets T5 and T6 of
#: `benchmarks/labels/near_copies.jsonl`, and on Z17 to Z22, which the weights know: of the pairs of T5 and T6 half of
#: the same are said by each other, and 4 of 190 that contradict each other.
LEAST_SAME, LEAST_CONTRADICTING, LEAST_OF_MORE = 0.88, 0.1, 0.4
#: The classifier of any two notes may give a contradiction less than this probability, and has to give this one at
#: least to both saying the same: without that, two unknown names were one to the other. Of 1,000 pairs that are joined
#: it costs 3.
MOST_DOUBTED, LEAST_LIKELY = 0.4, 0.05
#: It has to give this one to a text below two headings saying the same for these to name no things. Of ten pairs of
#: headings that name things the highest was .63, of the demo's times of day 50 of 67 are above it.
LEAST_OF_ONE_THING = 0.65
#: A word of so many pieces is unknown to the classifier; a slip keeps the first letter of a word of so many letters or
#: more, and so much of it.
LEAST_OF_UNKNOWN, _SLIP, _SHORTEST_SLIP = 4, 0.8, 3
#: Letters from here on are of scripts that it does not know.
_NO_LATIN = "\u0250"
_MAX_SENTENCES = 16
#: So few words that only one side has are no filler if they have a figure, or if the classifier cannot read them; more
#: words tell more of the same.
_LONGEST_PUT_IN = 3
_VALUES = ("number", "date", "time", "identifier", "name")
_CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][\w’'-]*")
#: A word in short, which the classifier cannot read: `AM`, `L`, `Mr.` within a sentence.
_SHORTENED = re.compile(r"(?<![\w.'’-])(?:[A-Z]{1,3}(?![\w'’-])|[A-Z]\w{0,3}(?=\.\s+\w))")
#: A word of code: an option, a hidden file, a slice, a set, `!ready`.
_CODE = re.compile(r"(?<!\S)(?:[-.~]+\w|!\w|\S*[\[\]{}\\^])\S*")
#: What is compared as it is written: targets of links, words of code that begin with signs of Markdown, and units in
#: letters of both cases (`mW`, `MW`); and each word with a sign inside, as paths have.
_EXACT = re.compile(
    r"\]\([^)\s]+\)|`[*_]+[\w.][^`\s]*`|(?<!\S)\*\.\w+|(?<=\d)\s?(?:[a-zµ]+[A-Z]|[A-Z]+[a-z])[A-Za-z]{0,2}(?!\w)"
)
_INNER_SIGN = re.compile(r"[\w~.][*/\\_]\w")
#: Punctuation that means something, and signs that are marks of Markdown.
_TELLING, _MARKDOWN = "?？&@", "`|~\ufe0f"
_LIST = re.compile(r"[\[{]([^\[\]{}]*)[\]}]")
_SETTING = re.compile(r"(?<![\w.-])([\w.-]{1,80})=([\w.-]*)")
_ENDS = " .!?。！？,;:，；：、*_`'\"()[]（）「」-"


@dataclass(frozen=True, slots=True)
class ConflictFinding:
    """The reason why two texts conflict: the kind (`number`, `unit`, `date`, `time`, `name`, `identifier`, `negation`,
    `meaning` or `wording`) and the differing words.

    `wording`: nearly equal sentences differ in words that are not known to mean the same. This does not claim a
    contradiction, but is reason enough to keep them apart.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: Counter[str]
    tokens: tuple[str, ...]
    masked: tuple[str, ...]
    values: dict[str, dict[str, str]]
    signs: Counter[str]

    @property
    def plain(self) -> str:
        return " ".join(self.tokens)


@dataclass(frozen=True)
class _Pair:
    """Two sentences, and what is compared of them, each once."""

    a: _Sentence
    b: _Sentence

    @cached_property
    def are_alike(self) -> bool:
        """True if they are about one thing."""
        shared = (self.a.words & self.b.words).total()
        return shared > 0 and shared >= ALIKE_SHARE * min(self.a.words.total(), self.b.words.total())

    @cached_property
    def are_near(self) -> bool:
        """True if they are near copies, whatever their figures: also short ones with one word exchanged."""
        mine, theirs = self.a.masked, self.b.masked
        if len(mine) == len(theirs) and sum(map(ne, mine, theirs)) == 1:
            return True
        return Counter(mine) == Counter(theirs) or reaches(mine, theirs, NEAR_COPY)

    @cached_property
    def own_words(self) -> list[tuple[str, bool]]:
        """The words that only one of them has, and whether each is a slip of one that only the other has."""
        mine, theirs = set(self.a.tokens), set(self.b.tokens)
        sides = mine - theirs, theirs - mine
        return [
            (word, any(_is_slip(word, other) for other in others))
            for words, others in (sides, sides[::-1])
            for word in words
        ]

    @cached_property
    def is_readable(self) -> bool:
        """True if the classifier knows the words that only one of them has. A word of many pieces is a name or a word
        of another language to it, and is read only as a slip of a word that the other sentence has."""
        return all(is_slip or _is_known(word) for word, is_slip in self.own_words)

    @cached_property
    def relation(self) -> Relation | None:
        """How they relate as near copies, if the classifier can read them."""
        return relation_of(self.a.plain, self.b.plain) if self.is_readable else None

    @property
    def seems_same(self) -> bool:
        """True if the classifier of near copies is sure that they say the same."""
        return self.relation is not None and self.relation.same >= LEAST_SAME

    @property
    def is_same(self) -> bool:
        """True if that is so, and the classifier of any two notes, which was taught no slips, does not doubt it; of
        what is no near copy both have to be sure, and the content words the same."""
        if not self.seems_same:
            return False
        if not self.are_near:
            has_same_words = set(self.a.words) == set(self.b.words)
            return has_same_words and relation_of_any(self.a.plain, self.b.plain).same >= LEAST_SAME
        if all(is_slip for _, is_slip in self.own_words):
            return True
        any_two = relation_of_any(self.a.plain, self.b.plain)
        return any_two.contradicts < MOST_DOUBTED and any_two.same >= LEAST_LIKELY

    def difference(self) -> str:
        """The words that only one of them has, those of each side behind a slash."""
        mine, theirs = Counter(self.a.tokens), Counter(self.b.tokens)
        sides = [" ".join((one - other).elements()) for one, other in ((mine, theirs), (theirs, mine))]
        return " / ".join(filter(None, sides)) or "in another order"


def find_conflict(a: str, b: str) -> ConflictFinding | None:
    """The first conflict between two texts, or None if one may replace the other.

    Sentences are matched to the sentence of the other text that shares most words, and compared only with it, so that
    two long notes may differ in unrelated details. Symmetric: swapping the texts finds the same kind.
    """
    if has_done(a) != has_done(b):
        return ConflictFinding(WORDING, "done on one side")
    if (box_of(a) == "") != (box_of(b) == "") and _Pair(_read(a), _read(b)).are_near:
        return ConflictFinding(WORDING, "a task on one side")
    if is_copy(a, b):
        return None
    left, right = _sentences(a), _sentences(b)
    for mine, theirs in sorted(set(_matches(left, right)) | {(i, j) for j, i in _matches(right, left)}):
        finding = _compare(_Pair(left[mine], right[theirs]))
        if finding:
            return finding
    return None


def are_of_another(a: Titled, b: Titled) -> bool:
    """True if two texts stand below headings that name different things: in the same words, each says something of its
    own (`Has a key.` below `Anna` and `Bert`). Below `Lessons` and `Notes` it does not, which only the classifier of
    any two notes can tell, of one text below both; without it, other headings are other things. What is longer than it
    reads is about what it says itself."""
    titles = titles_apart(a, b)
    if titles is None or min(count_pieces(a.content), count_pieces(b.content)) > MOST_PIECES:
        return False
    below = [tuple(f"{title}: {text.content}" for title in titles) for text in (a, b)] if is_installed() else []
    return all(relation_of_any(one, other).same < LEAST_OF_ONE_THING for one, other in below)


def plain_form(text: str) -> str:
    """A text as the classifier of near copies reads it: in lower case, without marks, its values in their normal
    form."""
    return _read(text).plain


def find_contradiction(sources: Sequence[str], text: str) -> str | None:
    """The contradiction of the text to a claim of a source, in words, or None. Values are checked separately, and a
    draft may word a thing otherwise, or more generally, in fewer of the same words."""
    for source in sources:
        finding = find_conflict(text, source)
        is_general = contains_in_order(_read(source).tokens, _read(text).tokens)
        kinds = ("name", "negation") if is_general else ("name", "negation", MEANING)
        if finding and finding.kind in kinds:
            return f"{finding.kind}: {finding.detail}"
    return None


def should_ask(one: str, other: str, chance: float) -> bool:
    """True if two claims that contradict each other with this probability are so likely to that a person is asked."""
    if chance >= LEAST_CHANCE or chance < LEAST_WITH_GUARD:
        return chance >= LEAST_CHANCE
    finding = find_conflict(one, other)
    return finding is not None and finding.kind != WORDING


def says(one: str, other: str, *, is_earlier: bool = False) -> bool:
    """True if a statement says all that another one says: in the same words, with more words between or around them
    that do not take it back, or in other words, by the classifier of relations. What lacks a value of it, denies what
    it does not, sets another state, or is ticked on one side does not, nor, unless the classifier is sure, what names
    things in other roles. `is_earlier`: the other one was written later, so that what it leaves out (`nearly`) may no
    longer hold, and more certainty is asked for."""
    if has_done(one) != has_done(other) or (box_of(one) == "") != (box_of(other) == ""):
        return False
    if is_copy(one, other):
        return True
    mine, theirs = _read(one), _read(other)
    pair = _Pair(mine, theirs)
    if (
        mine.signs != theirs.signs
        or not pair.are_alike
        or _denies(mine) != _denies(theirs)
        or _find_states(one) != _find_states(other)
        or any(fact.kind in _VALUES for fact in facts_lacking(one, other))
        or find_conflict(one, other) is not None
    ):
        return False
    if pair.is_same:
        return True
    if not (contains_in_order(mine.tokens, theirs.tokens) and keep_their_roles(one, other)):
        return False
    least = LEAST_CONTRADICTING if is_earlier else LEAST_OF_MORE
    return pair.relation is None or pair.relation.contradicts < least


@remembered
def find_signs(text: str) -> Counter[str]:
    """The signs of a text: `<`, `=`, `+`, arrows, currencies, emoji, `?`, vowel signs and what is not seen, but for
    ordinary punctuation and marks of Markdown; and its words of code, paths, targets of links and units. No two of them
    mean the same."""
    told = unicodedata.normalize("NFC", strip_lead_in(text).replace("→", "->"))
    signs = (
        c
        for c in told
        if c in _TELLING or (unicodedata.category(c)[0] in "SMC" and c not in _MARKDOWN and not c.isspace())
    )
    code = _CODE.findall(_LIST.sub(_in_order, embedding_text(told)))
    exact = [word.strip().strip("`") for word in _EXACT.findall(told)]
    paths = [word.lstrip("*_`\"'(") for word in told.split() if "](" not in word and _INNER_SIGN.search(word)]
    return Counter([*signs, *(word.rstrip(_ENDS) for word in (*code, *exact, *paths))])


@remembered
def _copy_form(text: str) -> str:
    ordered = _LIST.sub(_in_order, normalise(strip_lead_in(text)))
    return " ".join(word.strip(_ENDS) for word in ordered.split()).strip(_ENDS)


def _in_order(found: re.Match[str]) -> str:
    """A list in brackets or braces with its items in order; with figures as it is written: a place, a range."""
    items = found[1].split(",")
    is_list = len(items) > 1 and not re.search(r"\d", found[1])
    return ", ".join(sorted(item.strip() for item in items)) if is_list else found[0]


def is_copy(one: str, other: str) -> bool:
    """True if two texts are copies but for case, marks, white space, lead-ins and the punctuation at the ends of
    words."""
    return one == other or (_copy_form(one) == _copy_form(other) and find_signs(one) == find_signs(other))


def _matches(sentences: tuple[_Sentence, ...], among: tuple[_Sentence, ...]) -> Iterable[tuple[int, int]]:
    for index, sentence in enumerate(sentences):
        score, place = max(
            ((sentence.words & candidate.words).total() / max(1, (sentence.words | candidate.words).total()), -place)
            for place, candidate in enumerate(among)
        )
        if score:
            yield index, -place


@remembered
def _sentences(text: str) -> tuple[_Sentence, ...]:
    statements = split_statements(text) or [text]
    return tuple(map(_read, statements if len(statements) <= _MAX_SENTENCES else [text]))


@remembered
def _read(statement: str) -> _Sentence:
    text = strip_lead_in(statement)
    values: dict[str, dict[str, str]] = {}
    for fact in find_facts(text):
        values.setdefault(fact.kind, {})[fact.value] = fact.text
    for day, name in weekdays_in(text).items():
        values.setdefault("date", {}).setdefault(DAYS_OF_WEEK[day - 1], name)
    for shortened in _SHORTENED.findall(text):
        values.setdefault("identifier", {}).setdefault(shortened.lower(), shortened)
    tokens = tokens_of(_with_normal_values(text))
    return _Sentence(
        text=text,
        words=Counter(content_words(text)),
        tokens=tokens,
        masked=tuple("#" if any(c.isdigit() for c in token) else token for token in tokens),
        values=values,
        signs=find_signs(text),
    )


def _with_normal_values(text: str) -> str:
    """The text with its numbers, dates and times in their normal form: `five minutes` as `5 min`."""
    parts: list[str] = []
    done = 0
    for fact, start, end in locate_values(text):
        if start >= done and fact.kind in ("number", "date", "time"):
            parts += (text[done:start], f" {fact.value} ")
            done = end
    return "".join([*parts, text[done:]])


def _compare(pair: _Pair) -> ConflictFinding | None:
    a, b = pair.a, pair.b
    if (a.tokens == b.tokens and a.signs == b.signs) or not pair.are_alike or not pair.are_near:
        return None  # also of two events that are told independently, and of one thing in words of its own
    if values := _differing_values(a, b):
        return values
    own = pair.difference()
    if _denies(a) != _denies(b):
        return ConflictFinding("negation", own)
    if a.signs != b.signs:
        return ConflictFinding(WORDING, "other signs")
    if pair.seems_same:  # a merge keeps both, unless `says` is sure as well
        return None
    says_more = contains_in_order(a.tokens, b.tokens) or contains_in_order(b.tokens, a.tokens)
    relation = pair.relation
    if relation is not None and relation.contradicts >= (LEAST_OF_MORE if says_more else LEAST_CONTRADICTING):
        return ConflictFinding(MEANING, own)
    is_telling = len(own.split()) <= _LONGEST_PUT_IN and (not pair.is_readable or any(c.isdigit() for c in own))
    return ConflictFinding(WORDING, own) if is_telling or not says_more else None


def _denies(sentence: _Sentence) -> int:
    """How much a sentence denies: comparable between near copies."""
    return len(sentence.values.get("negation", ())) or int(negates(sentence.text))


def _is_known(word: str) -> bool:
    return count_pieces(word) < LEAST_OF_UNKNOWN and max(word) < _NO_LATIN


def _is_slip(word: str, other: str) -> bool:
    """True if one or two letters are lost, doubled, wrong or in the place of their neighbours. Of the shortest words
    (`mr`, `mrs`) most that are alike are others."""
    least = max(_SLIP, 1 - 4 / (len(word) + len(other)))
    return word[:1] == other[:1] and min(len(word), len(other)) >= _SHORTEST_SLIP and reaches(word, other, least)


def _differing_values(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    for kind in _VALUES:
        mine, theirs = a.values.get(kind, {}), b.values.get(kind, {})
        only_a = [mine[value] for value in mine if value not in theirs and not _stands_in(value, b)]
        only_b = [theirs[value] for value in theirs if value not in mine and not _stands_in(value, a)]
        if not (only_a and only_b) or (kind == "date" and _dates_agree(mine, theirs)):
            continue
        if kind == "name" and (is_german(a.text) or is_german(b.text)):
            continue  # German writes every noun with a capital letter
        is_unit = kind == "number" and {m.split(" ")[0] for m in mine} == {t.split(" ")[0] for t in theirs}
        return ConflictFinding("unit" if is_unit else kind, f"{', '.join(only_a[:3])} / {', '.join(only_b[:3])}")
    return None


def _stands_in(value: str, sentence: _Sentence) -> bool:
    """True if a name is a word of a sentence: at its start any word may be written as one."""
    return value in sentence.tokens


def _dates_agree(mine: Iterable[str], theirs: Iterable[str]) -> bool:
    """True if the dates differ only in a year that one side omits."""
    return {value.replace("----", "")[-6:] for value in mine} == {value.replace("----", "")[-6:] for value in theirs}


def keep_their_roles(one: str, other: str) -> bool:
    """True if the names and figures of two statements that share their words keep a neighbour: the word before or after
    them. `Dana pays Marco` and `Marco pays Dana` have the same words."""
    names = _find_names(one) | _find_names(other)
    mine, theirs = (
        {w: near for w, near in _find_neighbours(s).items() if w in names or value_of(w)} for s in (one, other)
    )
    return len(mine) < 2 or all(
        word not in theirs
        or any(before == others[0] or after == others[1] for before, after in places for others in theirs[word])
        for word, places in mine.items()
    )


@remembered
def _find_neighbours(statement: str) -> dict[str, list[tuple[str, str]]]:
    """By content word of a statement, the content words before and after each of its places; "" at an end."""
    tokens = ["", *(token for token in tokens_of(statement) if token not in STOP_WORDS), ""]
    neighbours: dict[str, list[tuple[str, str]]] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        neighbours.setdefault(token, []).append((before, after))
    return neighbours


@remembered
def _find_names(statement: str) -> frozenset[str]:
    """The words that are written as names, in lower case. The first word may be any."""
    return frozenset(match.lower() for match in _CAPITAL.findall(statement.lstrip()[1:]))


@remembered
def _find_states(statement: str) -> frozenset[str]:
    """The states that a statement sets: the items of lists in braces or brackets, and `key=value` without figures. They
    are states, and never a detail that the other side left out."""
    return frozenset(state.lower() for state in _list_states(statement))


def _list_states(statement: str) -> Iterator[str]:
    for match in _SETTING.finditer(statement):
        if not re.search(r"\d", match[2]):
            yield f"{match[1]}={match[2]}"
    for match in _LIST.finditer(statement):
        if "," in match.group(1):
            yield from (item.strip(" '\"`") for item in match.group(1).split(","))
