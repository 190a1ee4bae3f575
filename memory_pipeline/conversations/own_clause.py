"""Whether a sentence is plainly its speaker's own statement: about himself or herself, or to the other.

What may go into the files about a human or an agent on a model's word begins with the speaker or the other, or tells to
do something. What others say, write, think or want, personas, dictation, guesses, dreams and jokes are left out, and
with them some true statements.
"""

from __future__ import annotations

import re

from memory_pipeline.records import ExtractionKind, Speaker
from memory_pipeline.wording.grammar import clauses_of

_ABOUT_SELF: frozenset[ExtractionKind] = frozenset(("fact", "preference", "emotion", "learning"))
_DAYS = (
    r"(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekdays?|weekends?|january|"
    r"february|march|"
    r"april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|mornings?|"
    r"the (?:morning|afternoon|evening|summer|winter)|evenings?|nights?|home|work|lunch|dinner|breakfast|now on|"
    r"today|"
    r"tomorrow|this week|next week|(?:mon|tues|wednes|thurs|fri|satur|sun)day on|\d{1,2}(?::\d\d)?(?: ?[ap]m)?|"
    r"(?:19|20)\d\d)"
)
#: What may stand before a statement: interjections, labels, days, and an address.
_BEFORE = re.compile(
    r"\W*(?:(?:(?:hi|hey|hello|dear|hiya)(?: there| [a-z]\w+)?(?=[,!.])|(?:well|ok|okay|yes|yeah|yep|yup|sure|"
    r"right|alright|all right|"
    r"oh|ah|ugh|wow|haha|hm+|lol|omg|sorry|thanks|thank you|great|good|nice|cool|perfect|agreed|exactly|indeed|"
    r"anyway|fyi|btw|"
    r"by the way|so|and|but|also|no|nope|honestly|frankly|personally|actually|to be honest|tbh|in fact|of course|"
    r"as you know|"
    r"you know|as i said|like i said|for the record|look|listen|in general|generally|usually|sadly|luckily|"
    r"unfortunately|"
    r"fortunately|now|nowadays|currently|lately|these days|from now on|going forward|in (?:the )?future|remember|"
    r"important|"
    r"please note|note|reminder|rule|new rule|ps|nb|again|one (?:more )?(?:thing|rule|request)|"
    r"good (?:morning|evening|afternoon)|i(?:'ve)? (?:already |just )?(?:told you|said)(?: before)?(?: that)?|"
    rf"(?:(?:on|in|at|for|every|since|from|after|before|until|during) )?{_DAYS})(?![\w'’-])|"
    r"(?-i:(?!(?:Maybe|Perhaps|Example|If|Imagine|Suppose|Quote|Subject)\b)(?!\w*ly\b)[A-Z]\w+),)[\s,;:!.–—-]*)*",
    re.IGNORECASE,
)
_SELF = re.compile(r"(?:i|i'\w+|im|ive|we|we'\w+|my|our|mine)\b", re.IGNORECASE)
#: Something does something to the speaker, or this does: `coriander makes me sick`.
_DONE_TO_SELF = re.compile(
    r"(?:\w+ ){1,3}?(?:really |always |never )?(?:have |has )?(?:sent|makes?|made|gives?|gave|keeps?|helps?|"
    r"hurts?|scares?|"
    r"calms?|bores?|annoys?|upsets?|wakes?|drives?|drove|costs?|worries|frightens?|bothers?|stress(?:es)?) me\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:you|you'\w+|u|your|yours|let's|let us|never|always|please|pls|plz|don't|do not|no need|no more|"
    r"no longer|feel free|"
    r"under no circumstances|(?:it|that)(?:'s| is) (?:all |entirely |always )?(?:up to you|your \w+|yours))\b",
    re.IGNORECASE,
)
#: Words of those who tell what somebody says, thinks, feigns or dreams.
_REPORTED = re.compile(
    r"\b(?:says|said|saying|tells|told|telling|thinks|thought|claims|claimed|claiming|believes|believed|insists|"
    r"insisted|"
    r"suspects|suspected|reckons|reckoned|assumes|assumed|argues|argued|writes|texted|emailed|e-mailed|tweeted|"
    r"reads|states|stated|"
    r"mentions|mentioned|suggests|complains|complained|announced|announces|warns|warned|swears|swore|whispers|"
    r"whispered|shouted|joked|"
    r"joking|kidding|jk|sarcasm|dreamt|dreamed|dreaming|imagined?|imagining|pretend(?:s|ed|ing)?|supposed|"
    r"supposedly|allegedly|"
    r"apparently|reportedly|hypothetical(?:ly)?|theoretically|rumou?rs?|gossip|according to|convinced|heard|"
    r"quot(?:e|ed|es|ing)|"
    r"persona|as if|as though|horoscope|exact words|if only|what if|used to (?!it\b|that\b|this\b|the\b)|"
    r"not true|untrue|"
    r"demanded|hints?|hinted|implies|implied|alleges|denies|denied|"
    r"as (?:the|a|an|my|his|her|their|our|\w+'s) \w+ (?:asks|asked|wants|wanted|demands|requires|required|"
    r"requested|put it))\b|"
    r"(?<!\bi )(?<!\bwe )\b(?:wrote|posted|reported|recommended|recommends|suggested)\b|"
    r"\b(?:wrote|write|writes|posted|report|know|mean) that (?:i|you|we)\b|"
    r"\b(?:they|people|others|everyone|everybody|\w+s|\w+ and \w+) (?:\w+ly |also |often |still |all |always |"
    r"keep |kept )?"
    r"(?:say|think|claim|believe|insist|suspect|reckon|assume|write|complain|swear|state|tell|feel) (?!you\b)|"
    r"\b(?:say|write|put|state|claim|reply|answer|read)(?: \w+)?(?: that)?:? (?:i|i'm|you're|we're)\b",
    re.IGNORECASE,
)
#: Whose view it is, or in what text or play it is so.
_ELSEWHERE = re.compile(
    r"\b(?:\w+'s|his|her|their) (?:own )?(?:view|opinion|eyes|mind|words?|mail|letter|talk|guess|idea|theory|"
    r"dream|story|book)\b|"
    r"\bin (?:the|this|that|a|an|my|our) (?:\w+ )?(?:novel|scenario|script|story|book|game|play|film|movie|dream|"
    r"song|poem|role|text|"
    r"letter|essay|brochure|sketch|advert|ad)\b|\b(?:cover letter|a character|(?:the|a) (?:part|role) of|"
    r"for the sake of|"
    r"contrary to|or so)\b|\bas the \w+ (?:goes|went|has it)\b|\bper (?:the|my|his|her|\w+'s)\b|"
    r"[,:–—-] ?(?:replied|sang|answered|asked|cried|yelled|shouted|goes|wrote|writes|"
    r"(?:that is |that's )?(?:what|the answer|write|tell|say|send|reply|mail|text)\b[^,]{0,30}\b(?:to|him|her|"
    r"them|that|say|send|tell))\b|"
    r"\bis (?:what (?:you|he|she|they|to)\b|the (?:title|answer|name of|line|text|subject|message|song|motto))\b|"
    r"^(?:my|our|your)\b[^,;:]{0,60}:\s|\bis a (?:great |nice |good )?(?:song|title|book|film)\b",
    re.IGNORECASE,
)
_GUESSED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|one day|some ?day|in theory|thinking (?:about|of)|"
    r"considering|wondering|"
    r"(?:i|we) (?:almost|nearly|bet|seem|hear|must (?:be|have)|should (?:be|have)|feel like (?:i|we)|am rumou?red)|"
    r"toying|debating|tempted|see (?:if|whether)|not sure|unsure|undecided|"
    r"i (?:\w+ )?(?:guess|suppose|suspect|wonder|doubt|assume|imagine|think)|i (?:don't|do not) (?:think|know|"
    r"believe))\b",
    re.IGNORECASE,
)
_HOPED = re.compile(r"\bi(?:'m| am)? (?:hop(?:e|ing)|wish(?:ing)?|dream(?:ing)?|fear)\b", re.IGNORECASE)
#: What only may be, in the first clause; liking and wanting are said so too.
_MODAL = re.compile(
    r"\b(?:would|could|might|(?-i:may)|(?:i|we|you)'d)\b(?! (?:\w+ )?(?:like|love|prefer|rather|hate|appreciate|"
    r"better)\b)",
    re.IGNORECASE,
)
_MAY = re.compile(r"\byou may\b", re.IGNORECASE)
_FIRST_CLAUSE_ENDS = re.compile(
    r"[,;]|\b(?:that|which|who|when|whenever|if|before|after|because|so|unless|until|where|what)\b", re.IGNORECASE
)
#: Somebody's own, of whom the rest tells: `My status is I am away`.
_WITHIN = re.compile(
    r"(?:my|our|your)\b(?! (?:[\w-]+ ){1,3}and i\b)[^,;]*?(?<!\bwhen)(?<!\bbefore)(?<!\bif)(?<!\buntil)"
    r"(?<!\bunless)(?<!\bbecause)"
    r"(?<!\bwhere)(?<!\bsince)(?<!\bwhile)(?<!\bafter)(?<!\bthan)(?<!\bwhenever)(?<!\bas)(?<!\band)(?<!\bbut)"
    r"(?<!\bso)(?<!\bwhat)"
    r" (?:i|i'm|i've|you're|we're)\b",
    re.IGNORECASE,
)
_UNREAL_OWN = re.compile(
    r"(?:my|our) (?:\w+ )?(?:test|demo|dummy|fake|sample|mock|example|fictional|imaginary|character|persona|"
    r"avatar|alter ego)\b",
    re.IGNORECASE,
)
#: Something that is to be said to others, with what is to be said.
_DICTATES = re.compile(
    r"(?:please |pls |then |now |just |also |always |you (?:can|may|should|must) )*(?:tell|say|write|reply|"
    r"answer|respond|post|send|"
    r"put|type|print|output|translate|e-?mail|mail|text|message|draft|repeat|copy|sing|act|ask|inform|let|call|"
    r"sign|tweet|"
    r"announce|remind|warn|promise|convince|record|enter|fill|add|begin|start|open|end|close)\b.*?"
    r"(?:(?<!\bwhen)(?<!\bbefore)(?<!\bif)(?<!\bas)(?<!\bunless)(?<!\buntil)(?<!\bafter)(?<!\bwhenever)"
    r"(?<!\bthan)(?<!\bbecause)"
    r"(?<!\bwhat)(?<!\bwhere)(?<!\bhow)(?<!\bonce)(?<!\bwhile)(?<!\bsince)(?<!\bso)(?<!\band)(?<!\bor)"
    r"(?<!\bwhatever)(?<!\bwhy)"
    r"(?<!\bwho)(?<!\bthings)(?<!\banything)(?<!\beverything)"
    r" (?:i|i'm|i've|i'll|you|you're|you've|we|we're|we've)\b|\bwith:? (?:never|always|don't|do not|my|our)\b)",
    re.IGNORECASE,
)
#: What says that something is not given.
_WITHHELD = re.compile(
    r"\b(?:cannot|can not|can't|never|not|no longer|\w+n't) (?:\w+ ){0,2}?(?:trust\w*|allow\w*|let|letting|permit\w*|"
    r"promis\w+|agree\w*|authori[sz]\w+)\b|\byou (?:\w+ )?(?:can't|cannot|can not|can never|may not|may never|"
    r"must not|mustn't|"
    r"should not|shouldn't|are not|aren't|will not|won't|must never|should never)\b",
    re.IGNORECASE,
)
#: Somebody else is trusted, or the other was, will be, or is only in part.
_NOT_GIVEN_NOW = re.compile(
    r"\b(?:trust|let|allow|permit|trusts|lets|allows) (?!you\b|your\b)|\byou (?:were|had|have had|will be|used)\b|"
    r"\b(?:soon|next (?:week|month|year)|nothing|only|hardly|barely|scarcely|little|in the past|back then)\b|"
    r"^your (?!call\b|decision\b|choice\b|job\b|task\b|responsibility\b|turn\b)",
    re.IGNORECASE,
)
#: Said so, and nothing is limited; and who the other is to be.
_PHRASE = re.compile(
    r"never (?:mind|say never|give up|ever mind|knew)\b|(?:don't|do not) (?:worry|panic|get me wrong|you\b|"
    r"forget me|ask why)|"
    r"you(?:'re| are) (?:now )?(?:an? |the |my )",
    re.IGNORECASE,
)
#: What no agent may give itself by a preference.
_POWER = re.compile(
    r"\b(?:access|permissions?|privileges?|root|admin\w*|credentials?|passwords?|tokens?|secrets?|unsupervised|"
    r"autonom\w+|full control|"
    r"oversight|without (?:asking|approval|review|permission|confirmation|supervision))\b",
    re.IGNORECASE,
)


def is_own_statement(read: str, kind: ExtractionKind, speaker: Speaker) -> bool:
    """Whether a sentence plainly states something of its speaker, or tells the other what to do."""
    rest = read[_end_of(read) :]
    about_self = kind in _ABOUT_SELF
    is_own = bool(_SELF.match(rest)) or (about_self and bool(_DONE_TO_SELF.match(rest)))
    if not is_own and (kind in ("fact", "emotion", "learning") or not _is_told(rest)):
        return False
    if (
        _REPORTED.search(rest)
        or _ELSEWHERE.search(rest)
        or _GUESSED.search(rest)
        or (kind != "emotion" and _HOPED.search(rest))
    ):
        return False
    first = _FIRST_CLAUSE_ENDS.search(rest)
    modal = _MODAL.search(rest, 0, first.start() if first else len(rest))
    if modal and not (_MAY.search(rest) and not about_self):
        return False
    if _WITHIN.match(rest) or _UNREAL_OWN.match(rest) or _DICTATES.match(rest):
        return False
    if kind == "trust" and (_WITHHELD.search(rest) or _NOT_GIVEN_NOW.search(rest)):
        return False
    if kind in ("boundary", "dynamic") and _PHRASE.match(rest):
        return False
    return not (speaker == "agent" and _POWER.search(rest))


def _end_of(read: str) -> int:
    """Where what stands before a statement ends."""
    before = _BEFORE.match(read)
    return before.end() if before else 0


def _is_told(rest: str) -> bool:
    """Whether the other is addressed, or told to do something."""
    first = next(iter(clauses_of(rest)), None)
    return bool(_OTHER.match(rest)) or (first is not None and not first.opener and first.order is not None)
