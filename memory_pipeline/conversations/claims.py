"""What a statement is about: its words and values without their forms, so that two statements can be compared.

`Don't book any hotels without my okay`, `You're allowed to book hotels` and `Stop booking hotels` are about one act.
"""

from __future__ import annotations

import re
from functools import cache

from memory_pipeline.wording.facts import content_words, find_facts, stem
from memory_pipeline.wording.memo import remembered

#: `shipping` has the stem `shipp`.
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_IRREGULAR = {
    form: base
    for base, forms in {
        "run": "ran", "keep": "kept", "send": "sent", "buy": "bought", "write": "wrote written", "eat": "ate eaten",
        "drink": "drank", "meet": "met", "pay": "paid", "sell": "sold", "build": "built", "teach": "taught",
        "drive": "drove driven", "speak": "spoke spoken", "sleep": "slept", "make": "made", "hold": "held",
        "think": "thought", "take": "took taken", "give": "gave given", "choose": "chose chosen",
        "begin": "began begun", "person": "people", "child": "children kid kids", "go": "went gone", "leave": "left",
    }.items()
    for form in forms.split()
}  # fmt: skip
#: Words that say the same of what is done or meant, as keys.
_SAME = {
    other: key
    for key, others in {
        "touch": "edit chang modify alter", "begin": "start", "mail": "email e-mail", "photo": "pictur photograph",
        "flat": "apartment", "coworker": "colleagu co-worker", "allergic": "allergy", "fear": "afraid scar",
        "pay": "payment", "ship": "shipment", "deploy": "deployment", "deliver": "delivery",
        "rehears": "rehearsal", "renew": "renewal", "approv": "approval", "remov": "removal",
    }.items()
    for other in others.split()
}  # fmt: skip
#: Ways to say that something is allowed, forbidden or to be asked about, which do not say what.
_FRAME = re.compile(
    r"\b(?:without|with|until|before|after) (?:first )?(?:asking|telling|checking with|consulting|my|our|an?|me|us|explicit)\b(?: (?:me|us|my|our))?"
    r"(?: (?:okay|ok|approval|permission|consent|go-ahead|sign-off|say-so|blessing|yes|word|knowledge|first|word to (?:me|us)|word from (?:me|us))\b)?|"
    r"\b(?:ask|tell|warn|check with|consult|talk to|check in with) (?:me|us)(?: first| in advance| beforehand)?,? before\b|\bask first\b|"
    r"\bi(?:'d like to| want to| need to| would like to| have to|'d rather| would rather|'ll| will) (?:see|read|approve|check|review|sign off on|know about|hear about)\b|\bbefore you\b|"
    r"\b(?:needs?|requires?) (?:my|our) (?:ok|okay|approval|permission|consent|go-ahead|sign-off|yes)\b|"
    r"\b(?:no need|(?:don't|do not) (?:need|have)) to (?:ask|check)(?: (?:me|us|with me|with us))?(?: first)?\b|"
    r"\b(?:whenever|as often as|as much as|when|if) you (?:like|want|please|wish|need to)\b|\bat any time\b|\bany ?time\b|\bas you see fit\b|"
    r"\b(?:on your own|by yourself|yourself|myself|yours)\b|\b(?:i(?:'m| am)? )?tak(?:e|ing) (?:that|this|it) back\b|"
    r"\b(?:from|as of) (?:now on|now|here on|today(?: on)?|tomorrow(?: on)?|this point on)\b|\bgoing forwards?\b|\bin (?:the )?future\b|"
    r"\b(?:permission|okay|ok|approval) to\b|\b(?:these days|nowadays)\b",
    re.IGNORECASE,
)
#: Words that say nothing about the subject, as stems.
_NO_SUBJECT = (
    "i'm i've i'd i'll you're you've you'll we're we've we'll it's that's let let's lets don't doesn't isn't aren't won't can't he's she's they're "
    "without ask asking tell telling check checking first before never ever please again any anymore more longer now always "
    "no not allow allowed allowing permitted free actually just only also instead after all one ones thing things anything something everything stop stopped stopping avoid avoiding decide decided deciding decides choose chose chosen choosing pick picked picking "
    "scrap wait sorry correction settle settled agree agreed go goes gone going want wanted wanting plan planned planning idea rule policy policies decision choice okay use using today henceforth still really must should used uses  "
    "every each need got gets named called leave leaving anymore turns yours whenever everybody nobody maybe quite whole"
)  # fmt: skip
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand".split()
)
_VALUES = frozenset(("number", "time", "date"))
#: The human wants to see or approve all of something: whatever the agent was to do with it.
_GATE = re.compile(
    r"\bi(?:'d like to| want to| need to| would like to| have to|'d rather| would rather|'ll| will) (?:see|read|approve|check|review|sign off on|confirm) (?:every|each|all|any|the)\b|"
    r"\b(?:need|needs|require|requires) (?:my|our) (?:okay|ok|approval|permission|consent|go-ahead|sign-off)\b|\bleave (?:the|all|my|our|any) [\w' -]{2,40}? to me\b|"
    r"\bno [\w' -]{2,40}? without (?:asking|telling|checking|consulting|my|me|a word)\b",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(
    r"(?P<before>\b(?:the|an?) [\w-]+ )(?P<noun>[a-z-]+)(?P<between>(?:,? (?!not\b)[\w'-]+){0,4},? (?:instead of|rather than|and not|not) (?:the|an?) [\w-]+ )one\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?:i|we)(?:'\w+)?", re.IGNORECASE)
_SELF = re.compile(
    r"\W*(?:(?:and|but|so|well|also|actually|honestly|oh|yes|no|sorry|ok|okay|these days|now|nowadays|today|in fact|(?:since|from|as of|starting|until|in|on|at|for) (?:the )?[\w:]+(?: on)?|by the way|btw|turns out|from now on)[\s,:;.!–—-]+){0,4}"
    r"(?P<who>(?:i|we)(?:'\w+)?|my|our|his|her|their|the|this|that|you|your|(?:he|she|they)(?:'\w+)?|"
    r"(?-i:[A-Z])[\w-]+ (?:is|isn't|was|has|hasn't|does|doesn't|lives|works|likes|hates|no longer|says|said)\b)",
    re.IGNORECASE,
)


#: Longer words in `-ion` name what is done: `translation`, `migration`.
_LEAST_OF_ACTION = 8


@cache
def _key(word: str) -> str:
    base = _IRREGULAR.get(word, word)
    stemmed = _DOUBLED.sub(r"\1", stem(base))
    if len(stemmed) > _LEAST_OF_ACTION:
        stemmed = stemmed.removesuffix("ion")
    key = stemmed.removesuffix("e") if len(stemmed) > 3 else stemmed
    return _SAME.get(key, key)


def key_of(word: str) -> str:
    """A word without its forms: that of `shipping`, `ships` and `ship` is the same."""
    return _key(word.lower().replace("’", "'"))


_SAYS_NOTHING = frozenset(_NO_SUBJECT.split())
#: Words of liking, which say nothing about what is liked.
LIKING = frozenset(map(_key, "like love enjoy adore prefer".split()))
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
#: What a number counts that is its unit.
_UNIT = re.compile(
    rf"\b(?:\d[\d.,:]*|{'|'.join(sorted(_NUMBER_WORDS))})[ -]*(?:percent|per cent|euros?|dollars?|pounds?|francs?|cents?|eur|usd|gbp|chf|"
    r"seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|(?:years? )?old|o'clock|am|pm)\b",
    re.IGNORECASE,
)
#: The month that is also a verb.
_MAY = re.compile(r"(?<=[a-z,] )May\b(?! \d)")


@remembered
def words_of_subject(text: str) -> frozenset[str]:
    """The words of a statement that say what it is about, without its numbers, times and dates."""
    plain = _UNIT.sub(" ", _FRAME.sub(" ", text))
    said = {word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(plain)}
    known = set(content_words(plain))
    return frozenset(
        _key(word)
        for word in said
        if word not in _NUMBER_WORDS and stem(word) in known and not {word, word.removesuffix("s")} & _SAYS_NOTHING
    )


def values_of(text: str) -> dict[str, frozenset[str]]:
    """The numbers, times and dates of a statement, by what they are."""
    found: dict[str, set[str]] = {}
    for fact in find_facts(text):
        if fact.kind in _VALUES:
            found.setdefault(fact.kind, set()).add(fact.value.lower())
    if _MAY.search(text):
        found.setdefault("date", set()).add("may")
    return {kind: frozenset(values) for kind, values in found.items()}


@remembered
def subject_of(text: str) -> frozenset[str]:
    """The words of a statement that say what it is about, without their forms, with its numbers, times and dates."""
    return words_of_subject(text).union(*values_of(_FRAME.sub(" ", text)).values())


def is_about_speaker(text: str) -> bool:
    """Whether a statement begins with its speaker, or says nobody in particular: `My wife smokes` does not."""
    found = _SELF.match(text)
    return found is None or _FIRST.fullmatch(found["who"]) is not None


def begins_with_speaker(text: str) -> bool:
    """Whether a statement begins with its speaker: `I`, `we`."""
    found = _SELF.match(text)
    return found is not None and _FIRST.fullmatch(found["who"]) is not None


def with_its_noun(text: str) -> str:
    """A sentence in which `one` is replaced by what it stands for: `the white van instead of the blue one`."""
    return _ELLIPTIC.sub(r"\g<before>\g<noun>\g<between>\g<noun>", text)


def is_gate(text: str) -> bool:
    """Whether a limit is on all that can be done with something: `I want to see every invoice first`."""
    return bool(_GATE.search(text))
