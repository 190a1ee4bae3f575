"""Words of a human that take back what was said: a permission that ends, a limit that is lifted, a preference, a fact
or a decision that holds no longer.

Every form has an explicit sign (`no longer`, `again`, `scrap`, `is out`, `let's not`), and names its subject. What it
takes back is on that subject: who says that he no longer likes long meetings has not said anything of long answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memory_pipeline.conversations.forms import each_stated, form
from memory_pipeline.conversations.own_words import Said, as_read
from memory_pipeline.records import Extraction, ExtractionKind
from memory_pipeline.wording.facts import content_words, find_facts, stem

Reach = Literal["narrower", "same", "chosen"]


@dataclass(frozen=True, slots=True)
class Reversal:
    """What a sentence takes back.

    `subject`: its words, as stems; `kinds`: of the statements that it can take back; `denied`: whether these deny
    (`Never push to main`), affirm, or may do either. `reach`: `same`: only what says no more than the subject;
    `narrower`: also what says more about it; `chosen`: also what was decided for it.
    """

    subject: frozenset[str]
    kinds: frozenset[ExtractionKind]
    denied: bool | None
    reach: Reach

    def takes_back(self, one: Extraction) -> bool:
        """Whether an earlier statement is one that it takes back."""
        if one.kind not in self.kinds or (one.kind in _OF_THE_SPEAKER and one.speaker != "human"):
            return False
        is_said_as = one.kind in ("trust", "boundary") or self.denied in (None, bool(_DENIES.search(one.quote)))
        theirs = subject_of(one.quote)
        if not is_said_as or not self.subject <= theirs:
            return False
        if self.subject == theirs:
            return True
        if self.reach == "same":
            return False
        if self.reach == "narrower" or len(self.subject) > 1:
            return len(self.subject) > 1
        return any(stem(match[1].lower()) in self.subject for match in _CHOSEN.finditer(one.quote))


def _forms(*ways: str) -> tuple[re.Pattern[str], ...]:
    return tuple(form(way) for way in ways)


#: Without one of these, nothing is taken back.
_SIGN = re.compile(
    r"no longer|any ?more|any longer|from now on|after all|again|n't|dont|\bnot\b|take back|withdraw|revoke|no more|needn't|"
    r"scrap|forget|drop|ditch|never ?mind|cancel|disregard|abandon|off the table|no longer|happening|history|out\b|\boff\b|\bdead\b|"
    r"\bgone\b|instead of|rather than|in place of|permission",
    re.IGNORECASE,
)
_ENDS = r"(?=\s*(?:[,;:.!–—]|\s-|$|\b(?:and|but|because|since|so|instead)\b))"
_WHAT = r"(?P<what>[^,;:.!?–—]{2,90}?)"
_ANY_MORE = r"(?:any ?more|any longer|from now on|after all)"
_NOT_ALLOWED = (
    r"(?:may not|can't|cannot|can not|mustn't|must not|shouldn't|should not|"
    r"(?:are |'re )not (?:allowed|permitted|free) to|aren't (?:allowed|permitted|free) to)"
)
#: A permission, a task or a custom of the agent that ends.
_ENDED = _forms(
    rf"you (?:may|can|shall|should|must|will) no longer (?:just )?{_WHAT}{_ENDS}",
    rf"you(?:'re| are) no longer (?:allowed|permitted|free|authori[sz]ed|cleared|entitled|welcome|to) (?:to )?{_WHAT}{_ENDS}",
    rf"you ?{_NOT_ALLOWED} {_WHAT} {_ANY_MORE}\b",
    rf"(?:please )?(?:don't|do not|dont) (?!(?:need|have) to\b){_WHAT} (?:any ?more|any longer)\b",
    rf"i (?:take back|withdraw|revoke) (?:my |the |your |that |all )?(?:permission|ok|okay|go-ahead|approval|consent) (?:to|for) {_WHAT}{_ENDS}",
    rf"(?:your |the |my )?permission (?:to|for) {_WHAT} (?:is|has been) (?:revoked|withdrawn|cancelled|over|gone){_ENDS}",
    rf"no more (?P<what>[a-z]+ing [^,;:.!?–—]{{2,80}}?){_ENDS}",
)  # fmt: skip
#: What was left to the agent, or was its custom.
_NO_MORE = _forms(rf"you no longer {_WHAT}{_ENDS}")
#: Such forms are a limit, whatever was allowed before; `don't wait any more` is none.
_OF_THE_AGENT = re.compile(r"(?:you|your|the|my|i)\b", re.IGNORECASE)
#: A limit that is lifted.
_LIFTED = _forms(
    rf"you (?:may|can) (?:now |always |just )?{_WHAT} (?:again(?! and again)|after all)\b",
    rf"you(?:'re| are) (?:now )?(?:allowed|permitted|free|welcome|cleared) to {_WHAT} (?:again|after all)\b",
    rf"(?:it's|it is) (?:now )?(?:ok|okay|fine|all right|alright|allowed|safe) to {_WHAT} again\b",
    rf"feel free to {_WHAT} again\b",
    rf"you (?:no longer (?:have|need) to|needn't|need not) {_WHAT}(?: any ?more| any longer)?{_ENDS}",
    rf"you (?:don't|do not) (?:have|need) to {_WHAT} (?:any ?more|any longer)\b",
    r"(?!you\b|it\b)(?P<what>[\w' -]{3,60}?) (?:is|are) (?:ok|okay|fine|allowed|permitted|possible) again\b",
)  # fmt: skip
_SUBJECT = r"(?P<who>i|we|my [\w' -]{2,40}?|our [\w' -]{2,40}?|the [\w' -]{2,40}?)"
_NOT = r"(?:'m not| am not|'re not| are not| aren't| is not| isn't| don't| do not| doesn't| does not| won't| will not| can't| cannot)"
#: What was so of the speaker, or of what the speaker tells of, and is so no longer.
_NO_LONGER = _forms(
    rf"{_SUBJECT}(?:'m|'re| am| are| is| has| have)? no longer {_WHAT}{_ENDS}",
    rf"{_SUBJECT}{_NOT} {_WHAT} (?:any ?more|any longer|after all)\b",
)
#: What is corrected with its sign: `Actually I'm not allergic to nuts, only to peanuts.`
_NOT_BUT = _forms(
    rf"(?:actually|sorry|wait|correction|oh|no|i misspoke|i was wrong)[\s,.!:;—–-]+{_SUBJECT}{_NOT} {_WHAT}{_ENDS}",
    rf"{_SUBJECT}{_NOT} {_WHAT}(?=, (?:only|just|but(?: only)?|merely) )",
)
_OFTEN = re.compile(r"\b(?:again|time) and (?:time )?again\b", re.IGNORECASE)
#: Denies less than what it names: `I'm not the only teacher any more`.
_PARTLY = re.compile(
    r"(?:the |an? |my |our )?(?:only|just|always|all|every|each|so|very|too|as|that|really|sure|entirely|completely|quite|alone|"
    r"necessarily|usually|often|exactly)\b",
    re.IGNORECASE,
)
_AGAIN = _forms(
    r"(?P<who>i|we)(?:'m|'re| am| are)? (?P<what>(?:like|love|enjoy|eat|drink|use|want|work|live|read|write|take|meet|run|smoke|drive|prefer|accept|offer|sell|ship|publish|support)\b[^,;:.!?–—]{2,80}?) again\b(?! and again)"
)
_UNDOING = r"(?:scrap|forget(?: about)?|drop|ditch|never mind|nevermind|cancel|disregard|abandon)"
#: A decision that is taken back.
_SCRAPPED = _forms(
    rf"{_UNDOING} (?!it\b|that\b(?! \w)|this\b(?! \w)|me\b|you\b|to\b)(?:the |that |this |our |my |those |these |all )?{_WHAT}{_ENDS}",
    rf"(?P<what>(?:the |our |my )?[\w.+#-]+(?: [\w.+#-]+){{0,3}}?) (?:is|are) (?:off the table|scrapped|cancelled|canceled|no longer an option|not happening|history|out of the running){_ENDS}",
    r"(?P<what>(?:the |our |my )?[\w.+#-]+(?: [\w.+#-]+){0,3}?) (?:is|are) (?:out|off|dead|gone)(?=\s*[,;:–—-]+ ?(?:and )?(?:we|we'll|i|let's|lets|use|go|take|it's|it is)\b)",
    rf"(?:let'?s not|we won't|we will not|we(?:'re| are) not going to) {_WHAT} after all\b",
    rf"let'?s not {_WHAT}{_ENDS}",
    rf"(?:we|i)(?:'re|'m| are| am|'ve| have)? [^,;:.!?–—]{{2,80}}? (?:instead of|rather than|in place of) {_WHAT}{_ENDS}",
)  # fmt: skip
_DENIES = re.compile(r"\b(?:not|never|no longer|nobody|nothing|avoid|stop)\b|n['’]t\b", re.IGNORECASE)
#: What a decision is for: `we go with Mongo`.
_CHOSEN = re.compile(
    r"\b(?:use|uses|using|used|with|on|choose|chose|pick|picked|take|taking|keep|keeping|adopt|adopting|(?:switch|move|moving|switching|migrate) to)\s+"
    r"(?=(?:the |our |a |an |all )?([\w.+#-]*\w)(?! (?:and|or|dump|backup|logs?|export|docs?|team|server|page)\b))",
    re.IGNORECASE,
)
_LIMITS_AGENT = re.compile(
    r"\byou (?:may|must|can|shall|should) ?(?:not|never|n['’]t)\b|\bask me before\b", re.IGNORECASE
)
_ALONE = re.compile(r"\bwithout (?:asking|telling|checking)\b|\bon your own\b", re.IGNORECASE)
#: `shipping` has the stem `shipp`.
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
#: Kinds that are of their speaker alone.
_OF_THE_SPEAKER = frozenset({"fact", "preference", "emotion"})
_PERMISSIONS: frozenset[ExtractionKind] = frozenset({"trust", "dynamic"})
_LIMITS: frozenset[ExtractionKind] = frozenset({"boundary", "dynamic"})
_STATES: frozenset[ExtractionKind] = frozenset({"fact", "preference", "emotion", "decision", "context", "dynamic"})
_CHOICES: frozenset[ExtractionKind] = frozenset({"decision", "context", "dynamic"})
_FORMS: tuple[tuple[tuple[re.Pattern[str], ...], frozenset[ExtractionKind], bool | None, Reach], ...] = (
    (_ENDED, _PERMISSIONS, False, "narrower"),
    (_NO_MORE, _PERMISSIONS, False, "same"),
    (_LIFTED, _LIMITS, None, "same"),
    (_NO_LONGER, _STATES, False, "narrower"),
    (_NOT_BUT, _STATES, False, "narrower"),
    (_AGAIN, _STATES, True, "same"),
    (_SCRAPPED, _CHOICES, False, "chosen"),
)
#: Words that say nothing about the subject, as stems.
_NO_SUBJECT = frozenset(map(stem, (
    "i'm i've i'd i'll you're you've we're we've we'll it's that's let let's lets don't doesn't isn't aren't won't can't "
    "without ask asking tell telling check checking first before never ever please again any anymore more longer now always "
    "no not allow allowed permitted free actually just only also instead after all one ones thing things stop avoid decide decided "
    "scrap wait sorry correction settle settled agree agreed go going want wanted plan idea rule policy decision choice okay use using today henceforth still really must should"
).split()))  # fmt: skip


def subject_of(text: str) -> frozenset[str]:
    """The words of a statement that say what it is about, as stems, with its numbers."""
    numbers = {fact.value.lower() for fact in find_facts(text) if fact.kind == "number"}
    words = set(content_words(text)) - _NO_SUBJECT
    return frozenset({_DOUBLED.sub(r"\1", word) for word in words} | numbers)


def reversals_in(said: Said) -> Iterator[Reversal]:
    """What a sentence of a human takes back."""
    if not _SIGN.search(said.read) or _OFTEN.search(said.read):
        return
    for patterns, kinds, denied, reach in _FORMS:
        for match in (one for pattern in patterns for one in each_stated(said, pattern)):
            about = match.groupdict().get("who") or ""
            subject = subject_of(f"{about} {match['what']}")
            if subject and not _PARTLY.match(match["what"]):
                yield Reversal(subject, kinds, denied, reach)


def ends_permission(said: Said) -> re.Match[str] | None:
    """Where a sentence ends a permission that the agent had: a limit, whatever was allowed before."""
    if not _SIGN.search(said.read):
        return None
    found = (match for pattern in _ENDED for match in each_stated(said, pattern))
    return next((match for match in found if _OF_THE_AGENT.match(match.group())), None)


def reversals_of(new: Extraction, *, by_kind: bool = True) -> Iterator[Reversal]:
    """What a statement of a human takes back. `by_kind`: also by what it is, since a limit, or a permission to do
    without asking, is the human's newest word on its subject."""
    yield from reversals_in(Said(new.quote, 0, as_read(new.quote)))
    if not by_kind:
        return
    is_limit = new.kind == "boundary" or (new.kind == "correction" and _LIMITS_AGENT.search(new.quote))
    if is_limit:
        yield Reversal(subject_of(new.quote), frozenset({"trust"}), None, "same")
    if new.kind == "trust" and _ALONE.search(new.quote):
        yield Reversal(subject_of(new.quote), frozenset({"boundary"}), None, "same")


#: What takes back a statement of a kind is itself of another, or of the same.
_BECOMES: dict[ExtractionKind, ExtractionKind] = {"trust": "boundary", "boundary": "trust", "context": "correction"}


def kind_of_reversal(taken_back: Extraction) -> ExtractionKind:
    """The kind of a statement that takes another one back: of a permission, a limit; of a limit, trust."""
    return _BECOMES.get(taken_back.kind, taken_back.kind)
