"""What an agent reports of its work, read by the build of its sentences: who did what, with a path, an identifier, a name
or a figure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.grammar import PRESENT, Word, words_of

#: A figure with the word behind it, which says of what it is.
_FIGURE = re.compile(
    r"(?<![\w./:-])(?P<number>\d{1,3}(?:[ ,]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w/:-])(?: ?(?P<unit>%|[^\W\d_]+))?"
)
_IDENTIFIER = re.compile(
    r"\b[A-Z]{2,}[A-Z0-9]*-\w*\d[\w/-]*|[~.]?/?[\w.-]+/[\w./-]+\w|\b\w+\.[a-z]{2,5}\b|\b\w+_\w+|[\w.]+@[\w.]+\.\w+|\\\w+\{|`[^`]+`|\b\w*\d\w*-\w*\d\w*"
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w.&'-]*")
_FILLER = frozenset(
    "ok okay so then and also now but well good great right understood done noted thanks thank yes no".split()
)
_I, _I_HAVE = frozenset(("i", "we")), frozenset(("i've", "we've"))
#: A participle that opens a sentence, whatever the tagger takes it for.
_LIKE_PAST = re.compile(r"(?!need|inde|speed|exceed|proceed)[a-z]{2,}[a-z]ed")
_SAME_IN_PAST = frozenset("cut put set split shut reset".split())
_BY = frozenset("VHB VHD VBD".split())
_OF_WORK = frozenset("VVD VVN VDD".split())
#: What was thought, seen or attempted is no work that is done.
_NO_WORK = frozenset(
    "think want consider expect try assume hope look notice find see hear guess suspect know feel say tell mean understand "
    "read go ask fail wait believe wonder miss compare forget lose break need seem remember wish check".split()
)
_I_DID = re.compile(
    r"\b(?:so|and|then|,) i(?:'ve| have)? (?:just |now |also |then )?[a-z]+ed\b|\bpassed\b", re.IGNORECASE
)
#: With these, something other than the speaker came to its end.
_CAME_TO = re.compile(
    r"\b(?:passed|succeeded|went (?:to|out|through|live)|finished|completed|arrived|landed|compiled|worked)\b", re.I
)
_DID_NOT = re.compile(
    r"\W*(?:\w+,? )?(?:i|we)(?:'ve| have|'d| had)?(?: \w+)?(?:n't| not| never)\b|\W*(?:i|we) (?:\w+)n't\b",
    re.IGNORECASE,
)
#: What is not whole, or not there.
_LACKS = re.compile(
    r"\bstill (?:fails?|failing|missing|open|shows?|to come|to do|no|not|needs?|lacks?|contains?|has|have|uses?|pending|unsigned|going|running)\b|\b(?:fails|failing|was skipped|were skipped|is missing|are missing|(?:hasn't|haven't|has not|have not) (?:\w+ )?(?:answered|replied|arrived|come|paid|signed|confirmed)|is unsigned|is unpaid)\b",
    re.IGNORECASE,
)
_FAILED_TRY = re.compile(
    r"\W*(?:(?:but|and|also|so) )?(?:i |we )?(?:tried |try )?(?:[a-z]+ing|with|without) [^.!?;]{2,80} (?:did not|didn't|does not|doesn't|would not|wouldn't|failed to) (?!need\b|change\b|affect\b|matter\b)[a-z]+"
    r"|[^.!?]{4,160}[,;:–—] ?(?:so|and) (?:that|it|this)(?:'s| is| was) (?:not (?:it|that|the (?:cause|reason|problem|culprit|one))|out|ruled out)\b",
    re.IGNORECASE,
)
#: What is only possible, wanted or to come.
NOT_SO_YET = re.compile(
    r"\b(?:would|might|could|may|should|if|unless|perhaps|maybe|probably|whether|will|i'll|i'd|we'd|shall|can)\b",
    re.IGNORECASE,
)


def is_specific(text: str) -> bool:
    """Whether words name something: a path, an identifier, a figure, or a name within the sentence."""
    return bool(_IDENTIFIER.search(text) or _FIGURE.search(text) or _NAME.search(text) or re.search(r"\d", text))


def has_identifier(text: str) -> bool:
    """Whether words have a path, a reference or another identifier."""
    return _IDENTIFIER.search(text) is not None


def identifiers_of(text: str) -> set[str]:
    """The paths, references and other identifiers of a text."""
    return set(_IDENTIFIER.findall(text))


def figures_of(text: str) -> dict[str, str]:
    """The figures of a text, each with the word behind it in lower case, identifiers aside."""
    bare = _IDENTIFIER.sub(" ", text)
    return {found["number"]: (found["unit"] or "").lower().rstrip("s") for found in _FIGURE.finditer(bare)}


def are_of_a_size(one: str, other: str, most: float) -> bool:
    """Whether the larger of two figures is less than so many times the smaller; one that is zero is like no other."""
    left, right = (float(re.sub(r"[ ,]", "", figure)) for figure in (one, other))
    return bool(left and right) and max(left, right) / min(left, right) < most


def is_report(said: Said) -> bool:
    """Whether an agent states a piece of work that it did, or that came to its end, with something that names it:
    `I set EXPORT_DSN in deploy/export.env.`, `Replaced in 11 places.`"""
    if not is_specific(said.quote) or lacks(said) or _DID_NOT.match(said.read):
        return False
    words = _after_filler(words_of(said.read))
    if not words:
        return False
    if words[0].low in _I_HAVE:
        return len(words) > 1 and words[1].base not in _NO_WORK
    if words[0].low in _I:
        if len(words) > 1 and words[1].low in _SAME_IN_PAST:
            return True
        verb = next((word for word in words[1:] if word.tag in _OF_WORK or word.tag in PRESENT - _BY), None)
        return verb is not None and verb.tag in _OF_WORK and verb.base not in _NO_WORK and not _asks(words, verb)
    if words[0].tag in _OF_WORK and words[0].base not in _NO_WORK:
        return words[0].low != words[0].base
    if _LIKE_PAST.fullmatch(words[0].low) and words[1:2] and not words[1].is_verb and not words[1].is_mark:
        return True
    if words[0].low == "put" and words[1:2] and words[1].low == "back":
        return True
    return _CAME_TO.search(said.read) is not None and not NOT_SO_YET.search(said.read)


def tells_work(said: Said) -> bool:
    """Whether a sentence tells that its speaker did something, in any of its clauses, or that something came to its
    end."""
    return is_report(said) or _I_DID.search(said.read) is not None


def _asks(words: Sequence[Word], verb: Word) -> bool:
    """Whether what was done is only told as what should, or could, be."""
    return any(word.tag == "VM0" or word.low in ("not", "never", "n't") for word in words if word.start < verb.start)


def _after_filler(words: Sequence[Word]) -> list[Word]:
    rest = list(words)
    while rest and (rest[0].is_mark or rest[0].low in _FILLER):
        del rest[0]
    return rest


def lacks(said: Said) -> bool:
    """Whether somebody states that something fails, or is not there yet."""
    return _LACKS.search(said.read) is not None and not NOT_SO_YET.search(said.read)


def is_failed_try(said: Said) -> bool:
    """Whether an agent states that what it tried did not do it: `Adding a random slope did not converge.`"""
    return _FAILED_TRY.match(said.read) is not None and not NOT_SO_YET.search(said.read)
