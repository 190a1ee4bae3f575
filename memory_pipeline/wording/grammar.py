"""The words of an English sentence with their parts of speech and base forms, and the clauses that they form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import plain_text

_TOKEN = re.compile(
    r"https?://\S+|[\w.~/-]*/[\w./~-]*\w|[A-Za-z_]\w*(?:[.:_]\w+)+(?:\(\))?|\w+(?:[-'’.]\w+)*%?|--?\w[\w-]*|\.{3}|[^\w\s]",
    re.UNICODE,
)
#: Longer sentences are lists or pasted text; their words are not read.
_MOST_WORDS = 120
_LONGEST_WORD = 40
#: Conjunctions that open a clause, whatever the tagger takes them for; `as` and `so` do if a clause follows.
SUBORDINATORS = frozenset(
    "because since when whenever if unless once until till while after before although though whereas where wherever "
    "than whether".split()
)
_OR_ELSE = frozenset("otherwise else or".split())


@dataclass(frozen=True, slots=True)
class Word:
    """One word or mark of a sentence: as written, its base form, its part of speech, and where it stands. Parts of
    speech are the tags of the British National Corpus (CLAWS C5): `VVB` is a verb in the present or an order, `NN1` a
    noun, `CJS` a conjunction."""

    text: str
    base: str
    tag: str
    start: int

    @property
    def low(self) -> str:
        """The word in lower case."""
        return self.text.lower().replace("’", "'")

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self.start + len(self.text)

    @property
    def is_verb(self) -> bool:
        """Whether it is a verb that makes a clause: not a participle, an infinitive or a gerund."""
        return self.tag in _FINITE

    @property
    def is_noun(self) -> bool:
        """Whether it is a common noun, or a word that the tagger does not know."""
        return self.tag in ("NN0", "NN1", "NN2", "UNC")

    @property
    def is_mark(self) -> bool:
        """Whether it is a punctuation mark."""
        return self.tag.startswith("PU") or not any(c.isalnum() for c in self.text)


_FINITE = frozenset("VVB VVD VVZ VBB VBD VBZ VDB VDD VDZ VHB VHD VHZ VM0".split())
PRESENT = frozenset("VVB VVZ VBB VBZ VDB VDZ VHB VHZ VM0".split())


#: Tagged by hand: the tagger knows them as two words.
_MODALS = dict.fromkeys(("cannot", "can't", "mustn't", "shouldn't", "won't", "wouldn't", "couldn't"), "VM0")
_RELATIVE = frozenset("CJT DTQ PNQ".split())
_BASE_FORMS = frozenset("VVB VVI VBB VBI VHB VHI VDB VDI".split())
#: What an order may start with, and what may follow its verb if the tagger takes that for a noun or an adverb.
_BEFORE_ORDER = frozenset("always never please only first then also instead just not so simply".split())
_AFTER_ORDER = frozenset("AT0 DPS DT0 PNP PNX AVP CRD AJ0 AJC PRP".split())
_BEFORE_SUBJECT = frozenset("AT0 DPS DT0 PNP NP0".split())
_NO_ORDER = frozenset("VVD VVN VVZ VVG PNP AT0 DPS DT0 PRP CJS CJC NP0 VM0".split())


def can_be_order(word: str) -> bool:
    """Whether a word is the base form of a verb in one of its meanings."""
    return any(tag in _BASE_FORMS for tag, _ in _tagger().tag_word(word))


def _is_clearly_verb(word: Word) -> bool:
    """Whether it is a verb that makes a clause, and no participle that looks like one (`with the lid closed`)."""
    return word.is_verb and not (word.tag == "VVD" and word.low.endswith("ed"))


@cache
def _tagger() -> Any:
    from HanTa.HanoverTagger import HanoverTagger  # its model is loaded only where sentences are read

    return HanoverTagger("morphmodel_en.pgz")


@remembered
def words_of(sentence: str) -> tuple[Word, ...]:
    """The words and marks of a sentence in order, without Markdown marks; none if it is too long to be a sentence."""
    text = plain_text(sentence)
    places = list(_TOKEN.finditer(text))
    if not 0 < len(places) <= _MOST_WORDS:
        return ()
    tagged = _tagger().tag_sent([match.group()[:_LONGEST_WORD].replace("’", "'") for match in places])
    return tuple(
        Word(match.group(), str(base).lower(), _MODALS.get(match.group().lower(), str(tag)), match.start())
        for match, (_, base, tag) in zip(places, tagged, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that says something by itself, or that depends on one that does: `when the disk is full`,
    `after rotating its key`. `opener`: the conjunction or preposition that makes it depend, or nothing; `mark`: the
    mark before it, or nothing."""

    opener: str
    words: tuple[Word, ...]
    mark: str = ""

    @property
    def text(self) -> str:
        """Its words in lower case, marks aside."""
        return " ".join(word.low for word in self.words if not word.is_mark)

    @property
    def verb(self) -> Word | None:
        """The first verb that makes it a clause, relative clauses in it aside."""
        for word in self.words:
            if word.tag in _RELATIVE:
                return None
            if word.is_verb:
                return word
        return self._verb_like_a_noun()

    def _verb_like_a_noun(self) -> Word | None:
        """A word that the tagger took for a noun, and that is the verb of its noun: `the printer jams whenever ...`."""
        for noun, word, following in zip(self.words, self.words[1:], (*self.words[2:], None), strict=False):
            agree = (noun.tag in ("NN1", "NP0") and word.tag == "NN2") or (noun.tag == "NN2" and word.tag == "NN1")
            if agree and (following is None or following.tag in ("AVP", "AV0", "AJC", "AT0", "PNP")):
                form = "VVZ" if word.tag == "NN2" else "VVB"
                if word.low not in ("out", "up") and can_be_order(word.base):
                    return replace(word, tag=form)
        return None

    @property
    def order(self) -> int | None:
        """The place of the verb of an order (`restart the gateway`, `never move the lesson`, `do not deploy it`), or
        None if the clause is no order."""
        start = 3 if self.text.startswith("from now on ") else 0
        place = next((n for n, word in enumerate(self.words) if n >= start and word.low not in _BEFORE_ORDER), None)
        if place is None or place + 1 == len(self.words):
            return None
        first, following = self.words[place], self.words[place + 1]
        negated = 2 if first.low == "do" and following.low == "not" else 1 if first.low == "don't" else 0
        if any(map(_is_clearly_verb, self._rest(place + 1 + negated))):
            return None
        if first.low in ("do", "don't") or first.tag in _BASE_FORMS:
            return place
        if first.tag in ("VVD", "VVN") and first.low == first.base:  # `set`, `put`, `run`
            return place if following.tag in ("AT0", "DPS", "PNP", "CRD") else None
        follows = following.tag in _AFTER_ORDER or (first.low == "use" and not following.is_mark)
        is_known = can_be_order(first.low) or (place > 0 and following.tag in _BEFORE_SUBJECT)
        return place if follows and first.tag not in _NO_ORDER and is_known else None

    def _rest(self, start: int) -> Iterator[Word]:
        """The words from a place on, up to a relative clause."""
        for word in self.words[start:]:
            if word.tag in _RELATIVE:
                return
            yield word


def clauses_of(sentence: str) -> tuple[Clause, ...]:
    """The clauses of a sentence in order.

    A new one starts at a conjunction that subordinates, at `after` or `before`, at `or` and `otherwise` behind a mark,
    and at a mark behind which a clause with a verb follows.
    """
    words = words_of(sentence)
    starts = [0]
    for n in range(1, len(words)):
        before = words[starts[-1] : n]
        if _opens(words, n) or _orders_after(before, words[n:]) or _threatens_after(before, words[n:]):
            starts.append(n)
    return tuple(
        clause
        for start, end in pairwise([*starts, len(words)])
        if (clause := _clause(words[start:end], words[start - 1 : start])).words
    )


def _clause(words: Sequence[Word], before: Sequence[Word]) -> Clause:
    bare = list(words)
    mark = "".join(word.text for word in before if word.is_mark)
    while bare and bare[0].is_mark:
        mark = bare.pop(0).text
    opener = ""
    if len(bare) > 1 and (bare[0].low, bare[1].low) in (("rather", "than"), ("instead", "of")):
        opener = f"{bare[0].low} {bare[1].low}"
        del bare[:2]
    while (
        bare
        and (bare[0].low in SUBORDINATORS | _OR_ELSE | {"so", "as", "that"})
        and not (opener and bare[0].low == "as")
    ):
        if bare[0].low in ("so", "that") and opener not in ("", "so"):
            break
        opener = f"{opener} {bare[0].low}".strip()
        del bare[0]
    while bare and bare[-1].is_mark:
        del bare[-1]
    return Clause(opener, tuple(bare), mark)


def _opens(words: Sequence[Word], n: int) -> bool:
    word, before = words[n], words[n - 1]
    if (
        before.low in SUBORDINATORS | {"so", "or"}
        and not before.is_mark
        and word.low in SUBORDINATORS | _OR_ELSE | {"that"}
    ):
        return False
    if word.low in SUBORDINATORS and before.tag not in ("AT0", "DPS"):
        after = words[min(n + 1, len(words) - 1)]
        return word.low != "than" and (word.low != "once" or after.tag in _BEFORE_SUBJECT or after.is_noun)
    if word.low == "so" and words[min(n + 1, len(words) - 1)].low == "that":
        return True
    if word.low in ("so", "otherwise", "as") and before.is_mark:
        return word.low != "as" or _has_verb(words, n + 1)
    if before.low in (";", ":", "—", "–", "...") or (before.low == "-" and word.start > before.end):
        return True
    if before.low == ",":
        return _has_verb(words, n) and (word.low in _OR_ELSE or not _is_listed(words, n))
    return False


def _orders_after(before: Sequence[Word], rest: Sequence[Word]) -> bool:
    """Whether an order follows a condition without a mark: `after editing templates clear the cache`."""
    if len(before) < 2 or before[0].low not in SUBORDINATORS or len(rest) < 2:
        return False
    last = before[-1]
    if last.low != "," and before[0].low not in ("before", "after", "when", "while"):
        return False
    adverbs = 1 if rest[0].low in ("always", "never", "please") else 0
    ends = last.low == "," or (
        (last.is_noun or last.tag in ("NP0", "VVG"))
        and (last.tag != "NN2" or before[1].tag == "VVG" or adverbs > 0)
        and not rest[0].is_mark
    )
    rest = rest[adverbs:]
    return (
        ends
        and len(rest) > 1
        and not (last.low != "," and any(word.is_verb for word in before))
        and rest[1].tag in ("AT0", "DPS", "PNP", "CRD", "DT0")
        and (rest[0].tag not in _NO_ORDER or (rest[0].tag in ("VVD", "VVN") and rest[0].low == rest[0].base))
        and can_be_order(rest[0].low)
    )


def _threatens_after(before: Sequence[Word], rest: Sequence[Word]) -> bool:
    """Whether `or` and what happens otherwise follow an order without a mark: `rotate the logs or the disk fills`."""
    return (
        rest[0].low == "or"
        and before[0].tag in ("VVB", "VVI")
        and len(rest) > 1
        and rest[1].tag in ("AT0", "DPS", "PNP", "NP0")
        and _has_verb(rest, 1)
    )


def _has_verb(words: Sequence[Word], start: int) -> bool:
    """Whether a verb follows before the next mark."""
    for word in words[start:]:
        if word.low in (",", ";", ":", "—", "–"):
            return False
        if word.is_verb:
            return True
        if word.low in SUBORDINATORS:
            return False
    return False


def _is_listed(words: Sequence[Word], n: int) -> bool:
    """Whether what follows a comma is a further item and not a clause: it starts with a noun that an `and` follows."""
    return words[n].low == "and" and not words[min(n + 1, len(words) - 1)].tag.startswith(("PNP", "AT", "DPS"))
