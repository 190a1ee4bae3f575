"""Finds causes and effects by the words that state them: `because`, `so`, `when ..., ...`, `which caused`.

Without a model, only explicit statements can be found, in the sources' own words. When in doubt there is none: a
subject is a thing and no pronoun, an effect is what happens and no advice, and both sides are whole clauses.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from memory_pipeline.records import Causal
from memory_pipeline.wording.agreement import status_of
from memory_pipeline.wording.kinds import gives_rule, is_machine_text
from memory_pipeline.wording.lexicon import INSTRUCTIONS, MISHAPS, PAST_VERBS, RULE_WORDS, STATE_WORDS, VERBS
from memory_pipeline.wording.normalise import plain_text
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

#: This many members, and this share of them, must state a cause before a cluster counts as causal.
_LEAST_MEMBERS, _LEAST_SHARE = 2, 0.5
_LONGEST_STATEMENT, _LONGEST_CLAUSE = 500, 200
#: Words.
_LONGEST_SUBJECT = 8


class _Form(NamedTuple):
    """One way of stating a cause: `advice` instead of a cause if not following it has the effect; `needs_mishap` if
    the words tell only of one time after another, so that the effect must be something that goes wrong; `has_verb` if
    they are the verb of the effect (`made the loss diverge`)."""

    pattern: re.Pattern[str]
    needs_mishap: bool = False
    has_verb: bool = False


def _form(pattern: str, *, needs_mishap: bool = False, has_verb: bool = False) -> _Form:
    return _Form(re.compile(pattern, re.IGNORECASE), needs_mishap, has_verb)


_AGAIN = r"(?:once (?:more|again)|again|this time|today)"
_THEREFORE = r"(?:so(?!\s+that\b)|therefore|hence|thus|consequently|as\s+a\s+result|which\s+is\s+why)"
_MADE = r"(?:causes?|caused|makes?|made|leads?\s+to|led\s+to|results?\s+in|resulted\s+in|triggers?|triggered)"
_FORMS = (
    _form(r"^(?P<advice>[^,;]+)[,;]\s+(?:otherwise|or\s+else|else|or)\s+(?P<effect>.+)$"),
    _form(r"^(?P<cause>[^,;:]+?)[:;,]\s*(?:and\s+)?because\s+of\s+(?:that|this|it),?\s+(?P<effect>.+)$"),
    _form(rf"^(?P<cause>[^,;:]+?)(?:\s+{_AGAIN})?,?\s+and\s+(?P<effect>.+?)\s+because\s+of\s+(?:that|this|it)$"),
    _form(
        r"^(?P<effect>.+?),?\s+(?:because\s+of|due\s+to|owing\s+to|as\s+a\s+result\s+of|caused\s+by)\s+(?P<cause>.+)$"
    ),
    _form(r"^(?:because|since|as)\s+(?P<cause>[^,]+),\s+(?P<effect>.+)$"),
    _form(r"^(?P<effect>.+?),?\s+because\s+(?P<cause>.+)$"),
    _form(r"^(?P<effect>.+?)\s+when(?:ever)?\s+(?P<cause>[^,]+),\s+so\s+.+$", needs_mishap=True),
    _form(rf"^(?P<cause>.+?)[,;]\s+(?:and\s+)?{_THEREFORE},?\s+(?P<effect>.+)$"),
    _form(rf"^(?P<cause>.+?),\s+which\s+{_MADE}\s+(?P<effect>.+)$", has_verb=True),
    _form(rf"^(?P<cause>\w+ing\b[^,;:]+?)\s+{_MADE}\s+(?P<effect>.+)$", has_verb=True),
    _form(r"^(?P<effect>.+?)[,:;]\s+(?:the\s+)?(?:reason|cause)\s+(?:was|is|being)\s+(?:that\s+)?(?P<cause>.+)$"),
    _form(r"^(?P<effect>[^,]+?)\s+after\s+(?P<cause>\w+ing\b.+)$", needs_mishap=True),
    _form(r"^(?:when(?:ever)?|if|once|as\s+soon\s+as)\s+(?P<cause>[^,]+),\s+(?P<effect>.+)$", needs_mishap=True),
    _form(r"^(?P<effect>[^,]+?)\s+(?:when(?:ever)?|if|as\s+soon\s+as)\s+(?P<cause>[^,]+)$", needs_mishap=True),
)
_PRONOUNS = frozenset(
    "i you he she it we they this that these those there one ones someone somebody anyone anybody everyone everybody "
    "nobody none everything something nothing what which who me him her us them mine yours his hers its their our my "
    "your another other others both all some any each many most".split()
)
_ARTICLE = re.compile(r"^(?:the|a|an|its|our|their|this|that|these|those|some|any|another|my|your|his|her)\s+", re.I)
_FINITE = STATE_WORDS | PAST_VERBS | RULE_WORDS | frozenset(
    "does do will would could might keeps stays goes comes leaves fell rose stood cut shut hit froze woke ate drew "
    "left".split()
)  # fmt: skip
#: What joins the words of one thing: a word after one of these is no verb.
_BEFORE_NOUN = frozenset(
    "the a an of in on at to for from by with its our their two three four five six no per".split()
)
#: The verb and its object: `raising the learning rate to 3e-4`.
_DOING = re.compile(
    r"^\w+\s+(?:(?:the|a|an|its|our)\s+)?(?P<object>[\w'-]+(?:\s+[\w'-]+){0,4}?)"
    r"(?:\s+(?:to|from|with|in|on|at|by|for|of|after|before|when|until|every|and|without|only|while|open|shut|\w+ed)\b|,|$)"
)
_DONE_BY_US = re.compile(r"^(?:we|i)\s+(?:had\s+)?(?P<done>\w+ed\s+.+)$", re.IGNORECASE)
_QUALITY = frozenset(
    "cold stale full empty dead broken missing wrong loose old slow wet dirty flat weak low high hot corrupt".split()
)
#: Participles that only describe.
_NO_EVENT = frozenset("shared related limited detailed mixed scheduled advanced unexpected supposed needed".split())
_LABEL = re.compile(r"^(?:root cause|cause|why|reason|problem|symptom|result|bug|issue)s?:\s+", re.IGNORECASE)
_DASH = re.compile(r"\s+[—–]+\s+|\s+--?\s+")
_OPEN_END = re.compile(
    r"(?:\.\.\.|…|\b(?:the|a|an|of|to|in|for|with|and|or|as|is|are|was|were|by|from))$", re.IGNORECASE
)
_ADVISES = re.compile(
    r"^(?:please|consider|let's|don't|do not|never|always|better)\b|\b(?:must|should|shall|ought|has to|have to|needs?|"
    r"need to|want|wants|would|could|may|might)\b",
    re.IGNORECASE,
)


def shared_cause(contents: Sequence[str], centrality: Sequence[float]) -> Causal | None:
    """The cause and effect that most of a cluster's members state, in the words of the most central of them."""
    found = [(place, causal) for place, text in enumerate(contents) if (causal := find_cause(text))]
    if len(found) < _LEAST_MEMBERS or len(found) < _LEAST_SHARE * len(contents):
        return None
    return min(found, key=lambda item: (-centrality[item[0]], item[0]))[1]


def find_cause(text: str) -> Causal | None:
    """The first statement of a text with a cause and an effect, or None."""
    if is_machine_text(text):
        return None
    statements = (" ".join(strip_lead_in(plain_text(one)).split()).rstrip(".!") for one in split_statements(text))
    return next((causal for one in statements if (causal := _causal_of(_LABEL.sub("", one)))), None)


def _causal_of(statement: str) -> Causal | None:
    """What the first form that a statement has tells, if both of its sides are clear."""
    if len(statement) > _LONGEST_STATEMENT or statement.endswith("?") or status_of(statement) == "open":
        return None
    for form in _FORMS:
        match = form.pattern.match(statement)
        if match is None:
            continue
        parts = match.groupdict()
        advice = parts.get("advice")
        if advice is not None and not _is_instruction(advice):
            continue
        first, last = sorted(("effect", "cause" if advice is None else "advice"), key=match.start)
        sides = {first: _DASH.split(match[first])[-1], last: _DASH.split(match[last])[0]}
        effect = _clause(sides.pop("effect"))
        (cause,) = map(_clause, sides.values())
        if not cause or not _happens(effect, has_verb=form.has_verb) or (form.needs_mishap and not _goes_wrong(effect)):
            return None
        split = _doing(cause) if advice is not None else _subject_and_action(cause)
        return Causal(*split, f"otherwise {effect}" if advice is not None else effect) if split else None
    return None


def _clause(text: str) -> str:
    """The text on one line; empty if it is no whole clause: too short or long, cut off, or with an open bracket."""
    flat = " ".join(text.split()).strip(" ,;:.")
    is_whole = all(flat.count(a) == flat.count(b) for a, b in ("()", "[]", "{}")) and flat.count("`") % 2 == 0
    is_cut_off = bool(_OPEN_END.search(flat)) or ": " in flat or "; " in flat
    fits = len(flat.split()) >= 2 and len(flat) <= _LONGEST_CLAUSE
    return flat if fits and is_whole and not is_cut_off and flat.count('"') % 2 == 0 else ""


def _is_instruction(text: str) -> bool:
    return text.split(maxsplit=1)[0].lower() in INSTRUCTIONS if text.strip() else False


def _happens(effect: str, *, has_verb: bool) -> bool:
    """Whether a clause says what happens: it has a subject and a verb or says what goes wrong, and gives no advice."""
    if not effect or _is_instruction(effect) or _ADVISES.search(effect):
        return False
    words = effect.split()
    first, second = _bare(words[0]), _bare(words[1])
    if first in ("i", "we", "you", "which", "what") or (first in ("this", "that") and second in _FINITE):
        return False
    return has_verb or _goes_wrong(effect) or _verb_place(words) is not None or _has_plural_verb(words)


def _goes_wrong(effect: str) -> bool:
    return any(_bare(word) in MISHAPS for word in effect.split()) and not gives_rule(effect)


def _subject_and_action(cause: str) -> tuple[str, str] | None:
    """The thing that a cause is about, and what it did or what was done to it; None if either is not clear."""
    by_us = _DONE_BY_US.match(cause)
    if by_us:
        return _doing(by_us["done"])
    words = cause.split()
    if _bare(words[0]).endswith("ing"):
        return _doing(cause)
    place = _verb_place(words)
    if place is not None:
        return _checked(" ".join(words[:place]), " ".join(words[place:]))
    shorter = _ARTICLE.sub("", cause).split()
    if len(shorter) > 1 and (_begins_with_participle(shorter) or _bare(shorter[0]) in _QUALITY):
        return _checked(" ".join(shorter[1:]), shorter[0].lower())
    return None


def _doing(doing: str) -> tuple[str, str] | None:
    """The object of an instruction, a gerund or a participle, and all of it as the action."""
    match = _DOING.match(doing)
    return _checked(match["object"], doing) if match else None


def _checked(subject: str, action: str) -> tuple[str, str] | None:
    subject = _ARTICLE.sub("", subject).strip(" ,;:'\"*")
    words = [_bare(word) for word in subject.split()]
    is_thing = 0 < len(words) <= _LONGEST_SUBJECT and words[0] not in _PRONOUNS and words[-1] not in _PRONOUNS
    is_clear = not re.search(r"[,;:()=?]|\b(?:and|or|but|that|which|when|if|before|after)\b", subject)
    return (subject, action) if is_thing and is_clear and subject.lower() != action.lower() else None


def _verb_place(words: Sequence[str]) -> int | None:
    """The place of a clause's verb, after its subject."""
    bare = [_bare(word) for word in words]
    for place in range(1, len(bare)):
        word, before, after = bare[place], bare[place - 1], bare[place + 1] if place + 1 < len(bare) else ""
        if before in _BEFORE_NOUN or not word:
            continue
        if word in _FINITE or _is_past(word):
            return place
        if _third_person(word) and after not in _FINITE and not before.isdigit():
            return place
    return None


def _has_plural_verb(words: Sequence[str]) -> bool:
    return any(_bare(word) in VERBS and _bare(before).endswith("s") for before, word in itertools.pairwise(words))


def _third_person(word: str) -> bool:
    return word.endswith("s") and (word[:-1] in VERBS or word[:-2] in VERBS or f"{word[:-3]}y" in VERBS)


def _begins_with_participle(words: Sequence[str]) -> bool:
    first = _bare(words[0])
    return _is_past(first) and first not in _NO_EVENT


def _is_past(word: str) -> bool:
    return len(word) > 4 and word.endswith("ed") and (not word.endswith("eed") or word.endswith("greed"))


def _bare(word: str) -> str:
    return word.strip(".,;:!?()[]\"'*`").lower()
