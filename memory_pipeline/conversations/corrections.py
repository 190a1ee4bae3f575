"""Corrections of a human, and those of an agent of itself."""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import form, stated
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.facts import content_words, stem

_ENDS = r"(?=\s*(?:[,.;:!)—–-]|$|\bfor\b|\bbecause\b|\bat all\b|\bagain\b|\band\b|\bbut\b|\bthe\b))"
_UNDOING = (
    r"(?:scrap|forget(?: about)?|drop|ditch|disregard|undo|revert|never mind|nevermind|cancel|ignore|take back|strike)"
)
_CORRECTION = form(
    rf"(?:that|this|it)(?:'s| is| was|s) (?:just |simply |completely |plain |totally |still |all |also )?(?:wrong|incorrect|false|not (?:right|correct|true|accurate)){_ENDS}",
    r"(?:that|this|it)(?:'s| is| was|s) not what i (?:asked|said|meant|wanted|told)\b",
    r"i meant (?!to\b|that\b|it\b|no\b|well\b|what\b|every\b|a lot\b|come on|like\b|the world|really\b|who\b|how\b|if\b|i\b|you\b|yes\b|yeah\b|,)\w[\w' -]{0,60}(?:,| and| -|;|\.|!|$)",
    r"i (?:(?:didn't|did not|didnt|never) (?:say|mean|ask for|ask you)|never (?:said|meant|asked for)) (?!to\b|that i\b|anything|it like|goodbye|hello|hi\b|thank|yes\b|no\b|a word|much|so\b|never\b)\w",
    r"(?:that's|thats|that is|this is|it's|you(?:'ve| have)? (?:got |have |used |sent |picked |took )?) ?(?:the )wrong [\w'-]+(?: [\w'-]+)?[,;:.–—-]+ (?:it's|it is|the|mine|mine's|ours|that's|i|we|use|take)\b",
    r"you(?:'ve| have)? (?:got|get) (?:that|it|this|the [\w ]{2,30}?|my [\w ]{2,30}?) (?:completely |all |totally )?(?:wrong|mixed up|backwards)\b",
    r"you(?:'re| are| were) (?:wrong|mistaken|incorrect)(?=\s*(?:[,.;:!]|$|there\b|here\b|about\b|on that\b|again\b))",
    r"i(?:'ve| have)? (?:already )?told you (?:already|before|twice|several times|\w+ times|yesterday|that (?:the|my|our|it|we|i)\b(?! (?:love|like|feel|think|want|need|hate|miss|hope|believe|would|could|might|will)\b))",
    r"you(?:'ve| have)? (?:misunderstood|misread|misheard|mixed up|confused)\b",
    r"(?:small |quick |one |a |another )*correction\s*(?::|—|–| - )",
    r"i(?:'m| am| was) (?:talking about|referring to) (?!you\b|it\b|how\b|what\b)(?=[^.!?]{2,80}$|[^.!?]{2,80}[.!])\w",
    r"(?:that's|thats|that is) not how (?:you|it|we|i|my|the)\b",
    r"(?!if\b|when\b)[\w' -]{2,60}\d[\w' .]{0,20}, (?:but )?you (?:wrote|said|put|typed|booked|entered|used|have) \w",
    r"(?:my mistake|my bad|oops|typo|whoops)[\s,.:;!—–-]+(?:it's|it is|it was|that's|i meant|it should|the|should be)\b",
    r"(?:it|that|this) should (?:be|say|read|have been) [\w' :.-]{1,40},? (?:and )?not \w",
    r"(?:it's|it is|it was) [\w' -]{0,30}\d[\w']{0,10} not \w",
    r"(?:small |quick |one |a |another )*correction (?:to|of|on|about|for) [\w' -]{2,60}\s*[:,—–]",
    r"i said (?!that\b|to\b|i\b|no\b|yes\b|so\b|it\b|hi\b)[\w' -]{1,40},? not \w",
    r"i (?:misspoke|mistyped|stand corrected|misremembered)\b",
    r"i (?:was wrong|made a mistake|made an error|got (?:it|that) wrong)(?: (?:earlier|before|there|about [\w ]{2,30}|in [\w ]{2,20}))?\s*[:,;—–.]",
    r"(?:no|nope|nah|sorry|wait|actually)[\s,.!:—–-]+(?:it|that|the|this|they|he|she|we|there|my|our|i)\b[\w' :.-]{1,60},\s*(?:and )?not\s+(?!bad\b|too\b|very\b|so\b|that\b|really\b|much\b|even\b|at all\b|yet\b|only\b|just\b)\w",
    r"(?:no|nope|nah|sorry|wait|actually)[\s,.!:—–-]+not\s+[\w' -]{1,40},?\s*(?:but|it was|it's|it is|that was|i meant|rather)\b",
    r"(?:no|nope|nah|wrong)[\s,.!:—–-]+not\s+(?!now\b|yet\b|today\b|really\b|quite\b|sure\b|at all\b|bad\b|exactly\b|anymore\b|necessarily\b)[\w' -]{1,40},\s*(?:the|my|our|his|her|their|we|they) \w",
    r"actually,?\s+(?:i|my|we|our|the)\b[^.!?]{2,80}\b(?:any ?more|no longer|and not|not in|not on|not at)\b",
    r"not (?=(?-i:[A-Z])|\d|the |in |on |at |my |our |for )[\w' .:-]{2,40}, (?:it|the|my|our|his|her|their|that|this|he|she|they|we|i)(?:'s|'re|\b)[\w' -]{0,40}\b(?:is|are|was|were|has|have|said|meant|want|wanted|goes|comes|'s)\b",
    r"(?:it's|it is|that's|that is|her name is|his name is|my name is|the name is) (?:spelled|spelt|pronounced|written (?=with|as|without))\b ?\w",
    r"(?:once )?again\s*[:,—–-]\s*[^.!?]{3,80}?,? (?:and )?not \w",
    r"(?:that|this|it) (?:cannot|can't|can not|couldn't) (?:be|have been) (?:right|true|correct|so|it)\b",
    r"(?:that|this|it)(?:'s| is| was) not (?:the |a |an |my |our |his |her |their |in |on |at |from )(?!point\b|problem\b|issue\b|case\b|question\b|same\b|end\b|time\b|way\b|first\b|only\b|best\b|good\b|bad\b|big\b)[\w' -]{2,50}[,;:–—-]\s*(?:but |it's|it is|that's|that is|it was|this is|they're|we|i)\b",
    r"(?:that's|that is|that was|it's|it is|it was|those are|these are|they are|they're) (?:the |a |an |my |our |in |on |at |from |for )(?![\w' -]{2,30} that (?:counts|matters)\b)[\w' -]{2,50}, (?:and )?not (?:the |a |an |my |our |in |on |at |from |for )?(?!very\b|that\b|so\b|bad\b|too\b|really\b|even\b|sure\b|to\b|only\b|just\b|because\b)\w",
    r"(?:you(?:'ve| have)?|i(?:'ve| have)?) (?:had )?(?:mixed up|swapped|confused) (?:the|my|our|two|these|those|it with)\b",
    r"i(?:'ve| have)? (?:already )?(?:told|said to|wrote to|mentioned to) you(?: (?:in|on|at|last|this|before|earlier|back in|the other)[\w ]{0,20}?)? that (?:the|my|our|it|we|i|this|these|those|all|no)\b(?! (?:love|like|feel|think|want|need|hate|miss|hope|believe|would|could|might|will)\b)",
    r"(?:way |far |much |a bit |still )?too (?:much|many|high|low|long|short|little|few|late|early|big|small|expensive|slow|fast|loud)\s*[,;:.!–—-]+\s*(?:please |just |so |then |better )?(?:make|set|put|use|try|take|cut|raise|lower|change|go|bring|keep|reduce|i said)\b",
    rf"{_UNDOING} (?!about it\b|to\b)(?:that|this|it|those|these|the|my|our|what i (?:said|wrote|told you|asked)|all that|everything)\b[^,;:.–—-]{{0,60}}[,;:–—-]+\s*(?!if\b|it's (?:ok|fine|nothing)|i (?:found|got|figured)|thanks|thank|sorry|please\b$|ok\b|okay\b|then\b$)(?:\w+[ ,']+){{2,}}\w+",
    r"(?:it|that|this)(?:'s| is| was) (?:actually [\w' :.-]{1,40}|[\w' :.-]{0,30}\d[\w' :.-]{0,20}),\s*not\s+\w",
)  # fmt: skip
_OWN_CORRECTION = form(
    r"i was (?:wrong|mistaken|incorrect)(?: (?:earlier|before|there|about [\w ]{2,30}))?\s*[:,;—–.]",
    r"i (?:made|had) (?:a |an )?(?:mistake|error|typo)(?: (?:earlier|before|there|above|in [\w ]{2,30}))?\s*[:,;—–.]",
    r"i (?:gave|told|sent|showed|named|quoted|used|picked|wrote|read|took|opened|changed) (?:you )?(?:the|a) wrong \w+",
    r"i (?:wrongly|mistakenly|incorrectly|falsely) (?:told|said|wrote|gave|assumed|named|reported|stated|put|listed|marked|counted)\b",
    r"i (?:had|have) (?:mixed up|confused|misread|misunderstood|swapped|misstated|miscounted) \w",
    r"i (?:misread|misspoke|mixed up|misstated|misremembered|misunderstood|confused) \w",
    r"(?:small |quick |one |a )*correction\s*(?::|—|–| - )",
    r"i (?:have to|need to|must|should) correct (?:myself|that|what i (?:said|wrote|told you)|my (?:answer|last))\b",
    r"i (?:said|wrote|told you|gave you) [^.!?]{2,60}(?:, but|; but|, which|; it|, it)\b[^.!?]{0,40}\b(?:is|was|wrong)\b",
)  # fmt: skip
#: `No no, the other Anna. Anna Berg, not Anna Lind.` and `I said Thursday!! Not Tuesday`.
_DENIES = re.compile(r"\W*(?:no|nope|nah|wrong|sorry|wait|not quite)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"[\w' :.-]{2,60}, not \w", re.IGNORECASE)
_NOT_THE = re.compile(
    r"\W*(?:(?:that|this|it)(?:'s| is| was) not (?:the|my|our|what|where|how|who)\b|(?:no|nope|nah|wrong)[\s,.!:—–-]+not (?:the |a |my |our )?(?!now\b|yet\b|today\b|really\b|quite\b|sure\b|at all\b|bad\b|exactly\b|necessarily\b|that\b))[\w' .-]{2,60}\W*$",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"\W*(?:it|that|the [\w' -]{2,40}?|we|i|they|our [\w' -]{2,40}?|my [\w' -]{2,40}?|he|she)(?:'s|'re| is| was| are| were| use| have| said| wanted| meant| want)\b(?! (?:not|ok|okay|fine|sure|sorry|just)\b)",
    re.IGNORECASE,
)
_I_SAID = re.compile(r"\W*(?:no,? )?i said \w+", re.IGNORECASE)
_NOT_AFTER = re.compile(r"\W*not \w", re.IGNORECASE)
_NO_CORRECTION = re.compile(
    r"\bwhat (?:went|is|was) wrong\b|\bwrong with\b|\bnot (?:to )?(?:worry|sure)\b|\bno problem\b|\bsounds\b",
    re.IGNORECASE,
)
_LEAST_WORDS, _LEAST_OWN = 3, 6
_WORD = re.compile(r"\w[\w'.-]*")
#: Words of corrections that say nothing about what is corrected, as stems.
_OF_CORRECTIONS = frozenset(map(stem, (
    "wrong incorrect false correct right true accurate mistake mistaken error sorry wait actually correction nope nah yes "
    "misspoke mistyped completely totally again misunderstood misread simply plain earlier got get said asked meant "
    "that's it's wasn't isn't you're i'm"
).split()))  # fmt: skip
#: A human takes back what an agent said directly before, and says nothing else.
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well|but|please|pls),? )*(?:(?:no|nope|nah)[\s,.!:—–-]+)?(?:please )?"
    r"(?:(?:revert|undo|scrap|forget|drop|cancel|remove|take back|scratch) (?:that|it|this)(?: again| please)?|(?:please )?don't(?: do (?:that|it|this))?|do not do (?:that|it|this))"
    r"(?:,? please)?\W*",
    re.IGNORECASE,
)


def correction_in(said: Said) -> re.Match[str] | None:
    """Where a human corrects what was said."""
    if _NO_CORRECTION.search(said.read) or len(_WORD.findall(said.read)) < _LEAST_WORDS:
        return None
    if _DENIES.match(said.before) and (contrast := _CONTRAST.match(said.read)):
        return contrast
    if _NOT_AFTER.match(said.after) and (repeats := _I_SAID.match(said.read)):
        return repeats
    if _IT_IS.match(said.after) and (denies := _NOT_THE.match(said.read)):
        return denies
    return stated(said, _CORRECTION)


def takes_back(words: str) -> bool:
    """Whether a human's turn takes back what was said directly before, and says nothing else: `No, revert that.`"""
    return bool(_TAKEN_BACK.fullmatch(words.strip()))


def says_what(said: Said) -> bool:
    """Whether a correction says by itself what it corrects, and what is right: `That's wrong.` and `No, not Anna.` do
    not."""
    if _NOT_THE.match(said.read) and _IT_IS.match(said.after):
        return False
    return len(set(content_words(said.read)) - _OF_CORRECTIONS) > 1


def own_correction_in(said: Said) -> re.Match[str] | None:
    """Where an agent corrects itself, and says what is right."""
    if len(_WORD.findall(said.read)) < _LEAST_OWN:
        return None
    return stated(said, _OWN_CORRECTION)
