"""Words of a human that take back what was said: a permission that ends, a limit that is lifted, a preference, a fact
or a decision that holds no longer.

What takes something back is on the subject of that: who says that he no longer likes long meetings has not said anything
of long answers. The less a form says that something changed, the more of the subject has to be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from memory_pipeline.conversations.claims import (
    LIKING,
    is_about_speaker,
    is_gate,
    key_of,
    subject_of,
    with_its_noun,
    words_of_subject,
)
from memory_pipeline.conversations.forms import each_stated
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.conversations.taking_back import (
    AGAIN,
    ALLOWED,
    DENIED,
    DENIED_FOR,
    ENDED,
    LIFTED,
    MINE,
    NO_LIKING,
    NO_LONGER,
    NO_MORE,
    NOT_BUT,
    NOT_REQUIRED,
    OF_THE_AGENT,
    OFTEN,
    PARTLY,
    SCRAPPED,
    SIGN,
    STOP,
    STOPPED,
    TEMPORARY,
    TOO_MUCH,
    WITH_APPROVAL,
)
from memory_pipeline.records import Extraction, ExtractionKind

Reach = Literal["narrower", "same", "chosen", "gate"]


@dataclass(frozen=True, slots=True)
class Reversal:
    """What a sentence takes back.

    `subject`: its words, as stems; `kinds`: of the statements that it can take back; `denied`: whether these deny
    (`Never push to main`), affirm, or may do either. `reach`: `same`: only what says no more than the subject;
    `narrower`: also what says more about it; `chosen`: also what was decided for it; `gate`: also one thing that is done
    with it. `of_speaker`: of facts and preferences, only those of the speaker, and none of the speaker's wife.
    `ends_liking`: that something is no longer liked, in whatever words; otherwise who does something no longer may
    still like it. `done_instead`: words of what is done in its place, of which it then has one.
    """

    subject: frozenset[str]
    kinds: frozenset[ExtractionKind]
    denied: bool | None
    reach: Reach
    of_speaker: bool = False
    ends_liking: bool = False
    done_instead: frozenset[str] = frozenset()

    def takes_back(self, one: Extraction) -> bool:
        """Whether an earlier statement is one that it takes back."""
        if one.kind not in self.kinds or (one.kind in _OF_THE_SPEAKER and one.speaker != "human"):
            return False
        if self.of_speaker and one.kind in _OF_THE_SPEAKER and not is_about_speaker(one.quote):
            return False
        if one.kind == "preference" and not self.ends_liking and LIKING & subject_of(one.quote) - self.subject:
            return False
        if self.done_instead and not self.done_instead & subject_of(one.quote):
            return False
        is_said_as = one.kind in ("trust", "boundary") or self.denied in (None, bool(_DENIES.search(one.quote)))
        theirs = subject_of(one.quote)
        if not is_said_as or not self.subject - (LIKING if one.kind == "preference" else frozenset()) <= theirs:
            return False
        if self.subject == theirs or (one.kind == "preference" and self.subject - LIKING == theirs - LIKING):
            return True
        if self.reach in ("same", "gate"):
            besides = words_of_subject(one.quote) - self.subject
            return one.kind == "trust" and len(besides) <= (self.reach == "gate")
        if self.reach == "narrower" or len(self.subject) > 1:
            return len(self.subject) > 1
        chosen = (match[1] for way in (_CHOSEN, _CHOSEN_SO) for match in way.finditer(one.quote))
        return any(key_of(word) in self.subject for word in chosen)


_DENIES = re.compile(r"\b(?:not|never|no longer|nobody|nothing|avoid|stop)\b|n['’]t\b", re.IGNORECASE)
#: What a decision is for: `we go with Mongo`.
_CHOSEN = re.compile(
    r"\b(?:use|uses|using|used|with|on|choose|chose|pick|picked|take|taking|keep|keeping|adopt|adopting|hire|rent|order|(?:switch|move|moving|switching|migrate) to)\s+"
    r"(?=(?:the |our |a |an |all )?([\w.+#-]*\w)(?! (?:and|or|dump|backup|logs?|export|docs?|team|server|page)\b))",
    re.IGNORECASE,
)
#: How, where or when something is to be, as a decision says: `print the flyers in colour`.
_CHOSEN_SO = re.compile(
    r"\b(?:is|are|in|via|by|per|from|at|into|as)\s+(?=(?:the |our |a |an )?([\w.+#-]*\w)(?=\s*(?:[.,;:!–—]|$|(?:for|in|on|at|with|from|by|because|since|so|instead|to)\b)))",
    re.IGNORECASE,
)
_LIMITS_AGENT = re.compile(
    r"\byou (?:may|must|can|shall|should) ?(?:not|never|n['’]t)\b|\bask me before\b", re.IGNORECASE
)
_PERMITS = re.compile(
    r"\bwithout (?:asking|telling|checking)\b|\bon your own\b|\byou (?:may|can)\b|\bno need to\b|\b(?:free|allowed|welcome) to\b",
    re.IGNORECASE,
)
#: A limit or a permission for some occasions only.
_SOMETIMES = re.compile(
    r"\b(?:if|when|unless|while|during|as long as|except|only|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|at (?:night|weekends?)|on weekends?)\b",
    re.IGNORECASE,
)
#: Where or when something is taken back, before it is said what: elsewhere it holds. `On Fridays you may push to main`.
_CIRCUMSTANCE = re.compile(
    r"\b(?:in|at|on|during|for|with|after|before|under|within) (?!fact\b|short\b|general\b|(?:the )?future\b|second thoughts?\b|the other hand\b|the end\b|"
    r"addition\b|(?:my|our) (?:view|opinion)\b|a second thought\b|the record\b|now\b|good\b|all\b|reflection\b|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b)\w",
    re.IGNORECASE,
)
_RULE = re.compile(r"\b(?:rule|policy|limit|ban|restriction|requirement)s?\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;–—]\s|:\s|\.\s|\s-\s")
#: Kinds that are of their speaker alone.
_OF_THE_SPEAKER = frozenset({"fact", "preference", "emotion"})
_PERMISSIONS: frozenset[ExtractionKind] = frozenset({"trust", "dynamic"})
_LIMITS: frozenset[ExtractionKind] = frozenset({"boundary", "dynamic"})
_RULES: frozenset[ExtractionKind] = frozenset({"boundary", "dynamic", "decision", "context"})
_STATES: frozenset[ExtractionKind] = frozenset({"fact", "preference", "emotion", "decision", "context", "dynamic"})
_THINGS: frozenset[ExtractionKind] = frozenset({"fact", "decision", "context"})
_CHOICES: frozenset[ExtractionKind] = frozenset({"decision", "context", "dynamic"})
_FORMS: tuple[tuple[tuple[re.Pattern[str], ...], frozenset[ExtractionKind], bool | None, Reach], ...] = (
    (ENDED, _PERMISSIONS, False, "narrower"),
    (NO_MORE, _PERMISSIONS, False, "same"),
    (MINE, _PERMISSIONS, False, "gate"),
    (LIFTED, _LIMITS, None, "same"),
    (NOT_REQUIRED, _RULES, None, "narrower"),
    (NO_LONGER, _STATES, False, "narrower"),
    (NOT_BUT, _STATES, False, "narrower"),
    (AGAIN, _STATES, True, "same"),
    (SCRAPPED, _CHOICES, False, "chosen"),
    (TOO_MUCH, _CHOICES, False, "chosen"),
)
#: Forms that do not say that something changed: what is meant for the moment takes nothing back.
_PLAIN: tuple[tuple[tuple[re.Pattern[str], ...], frozenset[ExtractionKind], bool | None, Reach], ...] = (
    (ALLOWED, frozenset({"boundary"}), None, "same"),
    (STOP, _PERMISSIONS, False, "narrower"),
    (STOPPED, _STATES, False, "narrower"),
    (NO_LIKING, _STATES, False, "narrower"),
    (DENIED_FOR, _THINGS, False, "narrower"),
    (DENIED, _STATES, False, "same"),
)


def reversals_in(said: Said) -> Iterator[Reversal]:
    """What a sentence of a human takes back."""
    if not SIGN.search(said.read) or OFTEN.search(said.read):
        return
    said = replace(said, read=with_its_noun(said.read))
    for_now = TEMPORARY.search(said.read) is not None
    for patterns, kinds, denied, reach in _FORMS if for_now else (*_FORMS, *_PLAIN):
        for match in (one for pattern in patterns for one in each_stated(said, pattern)):
            about = match.groupdict().get("who") or ""
            subject = subject_of(f"{about} {match['what']}")
            if _CIRCUMSTANCE.search(said.read, 0, match.start()):
                continue
            if subject and not PARTLY.match(match["what"]):
                is_rule = patterns is SCRAPPED and _RULE.search(match["what"])
                yield Reversal(
                    subject,
                    kinds | _RULES if is_rule else kinds,
                    denied,
                    reach,
                    of_speaker=about.lower() in ("i", "we"),
                    ends_liking=patterns is NO_LIKING,
                    done_instead=subject_of(match.groupdict().get("then") or "") - subject,
                )


def ends_permission(said: Said) -> re.Match[str] | None:
    """Where a sentence ends a permission that the agent had: a limit, whatever was allowed before."""
    if not SIGN.search(said.read):
        return None
    found = (match for pattern in ENDED for match in each_stated(said, pattern))
    return next((match for match in found if OF_THE_AGENT.match(match.group())), None)


def reversals_of(new: Extraction, *, by_kind: bool = True) -> Iterator[Reversal]:
    """What a statement of a human takes back. `by_kind`: also by what it is, since a limit, or a permission to do
    without asking, is the human's newest word on its subject."""
    yield from reversals_in(Said.alone(new.quote))
    if not by_kind:
        return
    is_limit = (
        new.kind == "boundary" or is_gate(new.quote) or (new.kind == "correction" and _LIMITS_AGENT.search(new.quote))
    )
    if is_limit:
        yield from _of_act(new.quote, frozenset({"trust"}))
    if new.kind == "trust" and _PERMITS.search(new.quote):
        yield from _of_act(new.quote, frozenset({"boundary"}))


def _of_act(words: str, kinds: frozenset[ExtractionKind]) -> Iterator[Reversal]:
    """That an act is allowed, or is not, as the whole of some words says, or a clause of them."""
    if TEMPORARY.search(words) or WITH_APPROVAL.search(words):
        return
    clauses = [] if _SOMETIMES.search(words) else [part for part in _CLAUSES.split(words) if part]
    for text in dict.fromkeys([words, *clauses]):
        if subject := subject_of(text):
            yield Reversal(subject, kinds, None, "gate" if is_gate(text) else "same")


#: What takes back a statement of a kind is itself of another, or of the same.
_BECOMES: dict[ExtractionKind, ExtractionKind] = {"trust": "boundary", "boundary": "trust", "context": "correction"}


def kind_of_reversal(taken_back: Extraction) -> ExtractionKind:
    """The kind of a statement that takes another one back: of a permission, a limit; of a limit, trust."""
    return _BECOMES.get(taken_back.kind, taken_back.kind)
