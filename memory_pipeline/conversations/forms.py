"""How people say what they mean: forms of sentences that stand at the start of a clause of their own.

A form counts only where its speaker states it: not in a question, under a condition, as a wish, or as what somebody
else said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from memory_pipeline.conversations.own_words import Said

IM = r"(?:i'?m|i am)"
WERE = r"(?:we're|we are)"
ADVERBS = (
    r"(?:(?:really|actually|much|strongly|generally|usually|always|also|still|personally|definitely|honestly|do|just|"
    r"kinda|kind of|sort of|absolutely|so|very|quite|pretty|rather|deeply|extremely|truly|totally|completely|super|"
    r"genuinely|currently|now|now a|normally|mostly|mainly|simply|only|actively|feeling|a bit|a little|a big|more|"
    r"incredibly|terribly|seriously|particularly|especially|especially) ){0,3}"
)
_SEPARATORS = ",;:—–-()!.…*_\"'"
#: What may stand before a clause without changing what it says.
_OPENERS = re.compile(
    r"(?:(?:hi|hey|hello|hiya|well|ok|okay|yes|yeah|yep|yup|sure|right|so|and|but|also|btw|by the way|honestly|frankly|"
    r"actually|personally|in fact|the fact is|to be honest|tbh|imo|imho|fyi|no|nope|nah|oh|ah|ugh|wow|haha|hm+|lol|omg|"
    r"sorry|thanks|thank you|great|good|nice|cool|true|indeed|as i said|like i said|as you know|you know|you see|"
    r"for me|for my part|as for me|for the record|generally|usually|besides|anyway|anyways|however|because|since|cause|"
    r"cos|though|although|then|plus|please|pls|plz|remember|note|that|important|i think|i guess|i believe|i mean|"
    r"i'd say|i must say|i have to say|i want to be clear|let me be clear|of course|obviously|sadly|luckily|"
    r"unfortunately|fortunately|currently|now|today|these days|recently|lately|nowadays|from now on|(?:from|as of|starting|effective) (?:today|now|tomorrow|next week|immediately|this week|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|in (?:the )?future|"
    r"going forward|wait|er|um|uh|dear|friend|my friend|there|lately|finally|in general|correction|update|ps|edit|"
    r"agreed|perfect|alright|all right|fine|super|lovely|exactly|deal|done|awesome|wonderful|fantastic|absolutely|of course not|certainly|"
    r"(?:much |way |a lot |even )better|(?:no|not a) (?:drama|harm done|problem|problems|worries|big deal)|never mind|got it|understood|"
    r"fair enough|makes sense|sounds (?:good|great|fine)|good (?:morning|evening|afternoon|idea|point|question|catch|news|call)|morning|quick one|"
    r"one (?:more )?(?:thing|point|request|rule)|another (?:thing|point|request|rule)|by the by|oh well|in short|"
    r"i misspoke|in my opinion|for (?:\w+ ){1,3}|on (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays)|"
    r"in (?:the )?(?:morning|mornings|evening|evenings|summer|winter|spring|autumn|fall)|every \w+|at (?:home|work|night)|"
    r"after [^,]{1,40},|as (?:a|an) [^,]{1,40},|since [^,]{1,40},|in my (?:free|spare) time|guess what|look|listen)"
    r"(?:[\s,;:—–()!.…*_-]|$)+)*",
    re.IGNORECASE,
)
#: A circumstance before a clause, without a mark after it: `After talking to Sam I've ...`.
_CIRCUMSTANCE = re.compile(
    r"(?:so |and |but |well |ok |okay )?(?:after|before|during|with|without|in|on|at|for|by|thanks to|because of|over|given|despite|"
    r"following|based on|apart from|besides|instead of) (?:(?!\b(?:i|you|he|she|they|it|we|that|which|who)\b)[^,.;:!?]){1,60}",
    re.IGNORECASE,
)
#: What stands behind it is somebody else's text: `Rule 4 of their handbook: you may no longer ...`.
_TEXT_OF_OTHERS = re.compile(
    r"\b(?:(?:their|his|her|its|\w+['’]s) [^:]{0,60}|(?:handbook|manual|contract|terms|policy|letter|article|guidelines?|profile|statutes?|notice|sign|poster|banner)\b[^:]{0,20}):\s*$",
    re.IGNORECASE,
)
_ENDS_CLAUSE = re.compile(
    r"(?:[,;:—–(.!…]|\s-|\b(?:and|but|so|because|since|cause|cos|plus|also|though|although|that|then|yet|however|btw))\s*$",
    re.IGNORECASE,
)
#: A word that turns what comes after it into a condition, a wish, a question, or somebody else's statement.
_TURNING = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|pretend|assume|assuming|hypothetically|wish(?:es|ed)?|would|"
    r"could|might|maybe|perhaps|possibly|probably|lest|when|once|until|as if|as though|says?|said|saying|tells?|told|"
    r"thinks?|thought|thinking|believes?|believed|claims?|claimed|asks?|asked|asking|writes?|wrote|mentioned|heard|"
    r"reads?|dreamt|dreamed|dream|according|what|who|whom|whose|which|how|why|where|feels? like|not sure|used to|"
    r"should|doubt|hope|hopes|hoping|meant|suggested|recommended|translate|means?|sounds?|joke|joking|kidding|"
    r"convinced|insists?|insisted|swears?|swore|assumes?|assumed|seems?|example|e\.g|quote|don't know|doesn't know|sarcas\w+|ironically|"
    r"in (?:the|my|a|an|this|that|our|your|his|her) (?:[\w-]+ )?(?:games?|story|stories|film|movie|book|novel|dreams?|play|simulation|tale|fantasy))\b",
    re.IGNORECASE,
)
#: The speaker's own ways of saying that something is meant.
_OWN_SAYING = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:think|thought|believe|said|mean|meant|hope|feel|must say|have to say|told you)\b",
    re.IGNORECASE,
)
#: What is said after a statement, and turns it into a condition, or into what somebody else said.
_CONDITION_AFTER = re.compile(
    r"\b(?:if (?!(?:i'm|i am|we're) (?:honest|being honest|not mistaken|frank)\b|you ask me\b|anything\b|need be\b|possible\b)|unless\b)",
    re.IGNORECASE,
)
#: What follows from something is said by the speaker, whoever said the first: `She asked for it, so leave it.`
_SO = re.compile(r",\s*so (?:(?:please|now|then|just|from now on),? )*\Z", re.IGNORECASE)
_FURTHER = re.compile(r"[,;:–—-]\s*(?:so|and|but|then|please|which is why)\b|;", re.IGNORECASE)
_NOT_MEANT_AFTER = re.compile(
    r"\b(?:right\?|isn't it|just kidding|jk|he says|she says|they say|he said|she said|they said|according to|says the|"
    r"said the)\b|[,–—-]\s*(?:said|says|wrote|writes|thinks|claims|claimed|joked|joking|replied|answered|insists|insisted|shouted|announced|reads?|told us) (?:my |the |our |his |her |their )?\w+|[,–—-]\s*(?:that is|that's|or so|as|so|at least)(?: what)? (?:\w+ ){1,3}(?:said|says|told (?:me|us)|wrote|claims?|thinks?)\b|\b(?:ha ?ha|lol)\W*$|,\s*(?:my |the )?\w+ (?:said|says|claims|told me|thinks|wrote|writes)\W*$|\b(?-i:[A-Z]\w+) (?:said|says)\W*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|hey|hi|also|btw|wait|oh|hm+|sorry|actually|or|then)[\s,]+)*"
    r"(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|have|has|had|isn't|aren't|don't you|"
    r"doesn't|didn't|can't|won't|wouldn't|what|what's|whats|who|who's|whom|whose|which|when|where|where's|why|how|how's|hows) "
    r"(?:i|you|we|he|she|it|they|the|this|that|these|those|my|your|our|his|her|their|there|a|an|any|some|someone|anyone|"
    r"did|do|does|is|are|was|were|can|could|should|would|will|to|about|if|much|many|long|often|come|else|kind|sort|time|day)\b",
    re.IGNORECASE,
)
_CLEFT = re.compile(r"\W*what [\w' ]{3,50}? (?:is|are|was) (?:if|when|that|to|a|an|the|my|our)\b", re.IGNORECASE)
_OCCASION = re.compile(r"\W*(?:(?:so|and|but|ok|okay|also|then)[\s,]+)*when(?:ever)? [^,?]{3,90}, \S", re.IGNORECASE)
_ASKS = re.compile(r"\?\W*$")
#: About one moment.
MOMENT = re.compile(
    r"\b(?:today|tonight|tomorrow|right now|for now|at the moment|this (?:time|morning|afternoon|evening|week|weekend|one)|"
    r"yet|for the moment|just this once|in a (?:minute|moment|second)|currently|not now|later)\b",
    re.IGNORECASE,
)


@cache
def form(*ways: str) -> re.Pattern[str]:
    """A pattern for any of some ways to say something, as whole words."""
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(ways)})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """Where a form stands in a sentence that states it."""

    start: int
    end: int
    match: re.Match[str]


def is_question(said: Said) -> bool:
    """Whether a sentence asks, with its mark or without. `What helps me is if you ...` and `When it rains, ...` do
    not."""
    if _ASKS.search(said.read) or "?" in said.read[:-1]:
        return True
    return bool(_QUESTION.match(said.read) and not _CLEFT.match(said.read) and not _OCCASION.match(said.read))


def stated(said: Said, pattern: re.Pattern[str], *, may_depend: bool = False) -> re.Match[str] | None:
    """Where a sentence states a form at the start of a clause; None if it does not, or not as its speaker's own.

    `may_depend`: a condition may follow, as in `ask me first if ...`.
    """
    return next(each_stated(said, pattern, may_depend=may_depend), None)


def each_stated(said: Said, pattern: re.Pattern[str], *, may_depend: bool = False) -> Iterator[re.Match[str]]:
    """Every place where a sentence states a form, as `stated` does."""
    for match in pattern.finditer(said.read):
        before = said.read[said.read.rfind("; ", 0, match.start()) + 1 : match.start()]  # a clause of its own
        if any(_SO.search(said.read, 0, end) for end in (match.start(), match.start() + len("so "))):
            before = ""
        opens = _OPENERS.fullmatch(before.strip(_SEPARATORS + " ").lower() + " ") or not before.strip(_SEPARATORS + " ")
        opens = bool(opens) or bool(_CIRCUMSTANCE.fullmatch(before.strip()) and not _TURNING.search(before))
        if _TEXT_OF_OTHERS.search(before):
            continue
        if not opens and not (_ENDS_CLAUSE.search(before) and not _TURNING.search(_OWN_SAYING.sub(" ", before))):
            continue
        if _NOT_MEANT_AFTER.search(said.read, match.end()):
            continue
        if not may_depend and depends(said.read[match.end() :]):
            continue
        yield match


def is_plain(text: str) -> bool:
    """Whether a sentence says what it says as its speaker's own, without a condition, a wish, a question or a doubt in any
    of its clauses."""
    return not (
        "?" in text or _TURNING.search(_OWN_SAYING.sub(" ", text)) or _NOT_MEANT_AFTER.search(text) or depends(text)
    )


def depends(rest: str) -> bool:
    """Whether what follows a statement makes it depend on a condition. A condition of the next clause does not:
    `I have diabetes, so if I am silent, call`."""
    further = _FURTHER.search(rest)
    return bool(_CONDITION_AFTER.search(rest[: further.start()] if further else rest))
