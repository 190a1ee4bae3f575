"""How things are around a human and an agent: who does what, where things are, and why something failed."""

from __future__ import annotations

import re

from memory_pipeline.conversations.about_human import ROLE_WORDS
from memory_pipeline.conversations.forms import each_stated, form
from memory_pipeline.conversations.own_words import Said

_NAME = r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?"
_NO_NAME = (
    r"(?!(?:i|i'm|i've|we|you|he|she|it|it's|they|this|that|there|these|those|here|what|who|when|where|why|how|which|today|tomorrow|yesterday|everybody|everyone|"
    r"nobody|somebody|someone|people|god|life|love|everything|nothing|something|one|both|all|some|most|many|then|so|and|but|or|if|as|yes|no|not|my|your|our|his|her|"
    r"their|its|the|a|an|let|please|maybe|perhaps|music|art|nature|time|work|money|which|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b)"
)
_TITLE = (
    rf"(?:{ROLE_WORDS}|contact(?: person)?|point of contact|landlady|boss|supervisor|client|customer|supplier|provider|neighbou?r|colleague|coworker|co-worker|teammate|"
    r"assistant|deputy|successor|predecessor|advisor|adviser|agent|broker|controller|treasurer|caretaker|cleaner|handyman|bookkeeper|host|hoster|registrar|maintainer|"
    r"reviewer|approver|sponsor|stakeholder|chair|chairman|chairwoman|head|ceo|cto|cfo|coo|dpo|dba|sre|pm|po|guy|woman|person|go-to)"
)
_PEOPLE = form(
    rf"{_NO_NAME}{_NAME} (?:is|'s|are|was (?:made|named)|became|will be) (?:now )?(?:our|my|the|their) (?:new |main |only |first |other |chief |senior |junior |lead |external |former )*(?:[\w-]+ ){{0,2}}?{_TITLE}\b(?! (?:of|in) (?:my|the) (?:story|film|movie|book|novel|game))",
    rf"{_NO_NAME}{_NAME} (?:is|'s) (?:now )?(?:our|the) (?!(?:best|only|one|same|reason|problem|hero|hope|love|everything|favou?rite|friend|worst|first|last|answer|way|most|future|capital)\b)(?:[\w-]+ ){{0,2}}?[\w-]+(?=\s*(?:[,.;]|$|(?:for|at|in|of) (?:the|our|all)\b))",
    rf"(?:our|my) (?:new |main |chief |lead |external )*(?:[\w-]+ ){{0,2}}?{_TITLE} (?:is|'s|at [\w' -]{{2,30}} is|for [\w' -]{{2,30}} is) (?:now )?(?:called |named )?{_NO_NAME}{_NAME}",
    rf"{_NO_NAME}{_NAME}(?:, [\w' -]{{2,40}},)? (?:now |usually |always |also |still )?(?:(?:handles|runs|owns|manages|leads|maintains|reviews|approves|packs|signs|answers|oversees|coordinates) (?=(?:the|our|all|my|both|most|any|its|their|[a-z]+s)\b)(?!always\b|things\b)|is in charge of|is responsible for|takes care of|"
    r"looks after|takes over|takes the|does (?:all |most )?(?:the|our|my)|keeps (?:the|our|my) (?:books|keys?|accounts?|minutes|list)|pays (?:the|our)|orders (?:the|our)|delivers (?:the|our|to)|covers (?:for|the|our)|reports to|"
    r"works (?:on|with us|for us|in (?:the|our)|at (?:the|our)|from|part|full|only)|has (?:the|our) (?:keys?|password|login|last word)|needs to (?:sign|approve|see)|wants (?:the|those|these|all|our|every) [^.!?]{2,60})\b(?! (?:me|you|mad|crazy)\b)",
    r"(?:the|our) (?:[\w-]+ ){0,2}?(?:team|department|office|agency|vendor|provider|contractor|people|folks|group|board) (?:owns?|handles?|runs?|manages?|maintains?|reviews?|approves?|hosts?|signs off|is responsible for|are responsible for|takes? care of|looks? after|is in charge of) (?:the|our|all|most|both|this|these|its|(?-i:[A-Z])\w*)\b",
    rf"(?:for |about )?(?:anything|everything|questions|all things) (?:about |on |to do with |around )?[\w' -]{{2,40}},? (?:ask|talk to|write to|go to) {_NO_NAME}{_NAME}",
)  # fmt: skip
#: Until when, or on which days, somebody is not there.
_DATED = (
    r"(?:until|till|from|between|through|as of|on|for|over|all) (?:the |at least )?(?:next |end of |whole of |first |second |last |beginning of |mid-?)*(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"january|february|march|april|may\b|june|july|august|september|october|november|december|week|month|summer|spring|autumn|winter|christmas|easter|new year|"
    r"(?:one|two|three|four|five|six|several|a few|a) (?:\w+ )?(?:days?|weeks?|months?))"
)
_AWAY = form(
    rf"(?:{_NO_NAME}{_NAME}|(?:our|my|the) (?:[\w-]+ ){{0,2}}?{_TITLE}|i)(?: \([^)]{{2,40}}\))?(?:, [\w' -]{{2,40}},)?(?:'s|'m| is| am| will be|'ll be)? (?:now |also |still )?(?:out(?: of (?:the )?office)?|away|off(?: sick)?|gone|abroad|travel?ling|back|on (?:[\w-]+ ){{0,2}}?(?:leave|holidays?|vacation|pto|sabbatical)|unavailable|not (?:available|in|around|reachable|here)|sick)(?: in [\w' ]{{2,30}}?)? {_DATED}"
)
_PLACES = form(
    rf"(?:(?:the|our|my (?:[\w-]+ )?(?:keys?|laptop|phone|passport|documents?|papers?|notes?|server|backups?|files?|photos?|car|tools?|books?|password|calendar|mail|domain|data|code|repo\w*|thesis|scans?|records?|receipts?)) (?:[\w'.-]+ ){{0,5}}?|{_NO_NAME}(?-i:[A-Z])[\w-]+ )(?:now |still |also |all |only )?(?:lies?|lives?|stands?|sits?|hangs?|(?:is|are) (?:now |still |also |all |only )?(?:stored|kept|hidden|located|hosted|mounted|filed|installed|saved|archived|"
    r"backed up|deployed|connected|plugged|wired|attached|registered|billed|paid|rebuilt|renewed|generated|synced|mirrored|called|named|owned|made|printed|delivered))"
    r" (?!to (?:be|you|me)\b)(?:in|on|at|under|behind|with|by|over|near|inside|beside|between|from|to|through|against|every|once|twice|(?-i:[A-Z]))\b[\w' ]*",
    r"(?:the|our) (?!one\b|(?:first|second|third|other|last|next|same) one\b)(?:[\w'.-]+ ){1,4}?(?:comes? from|belongs? to|runs? (?:on|under|at|in|from|every|through)|listens? on|points? to|connects? to|depends? on|faces?|expires?|resets?|consists? of|ships? (?:from|with)|"
    r"speaks? only|only (?:speaks?|accepts?|takes?|works?|allows?|supports?)|supports? only|has no|have no|needs? (?:at least|\d)|holds? (?:the|up to|\d|only)|costs?|weighs?|draws?|takes? up to)\b (?!me\b|you\b|mind\b|time\b|to be\b|idea\b|problem\b)\w+",
    r"i (?:keep|store|archived|hid|hide) (?:the|our|all(?: the| our)?|a (?:copy|backup)) [^.!?,;]{2,50} (?:in|on|at|under|behind|into|onto|over|to) (?:the|our|my|a|(?-i:[A-Z]))",
    r"i (?:put|moved) (?:the|our|all(?: the| our)?) [^.!?,;]{2,50} (?:in|on|at|under|behind|into|onto|over|to) (?:the|our|my|a|(?-i:[A-Z]))[^.!?,;]*, (?:it's|it is|it has|they're|they are|they have|so|because|where|since)\b",
)  # fmt: skip
_NO_PLACE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|currently|this (?:morning|afternoon|evening|week|one)|just now|seems?|feels?|looks? like|sounds?|maybe|perhaps|probably|might|could|would|should|if|"
    r"beautiful|lovely|amazing|wonderful|delicious|happiness|feelings?|heart|soul|life|love|dreams?|future|the (?:film|movie|book|song|story|novel|plot|author|character|weather|sentence|word|idea|thing|question|point|problem|world|moment|"
    r"answer|way|day|key to|meaning|secret to|beauty|sun|moon|sky|hardest|best|worst)|he says|she says|according)\b",
    re.IGNORECASE,
)
#: People and moods are no surroundings.
_NO_SUBJECT = re.compile(
    r"\W*(?:(?:and|but|so|well|also|because),? )*(?:my|our) (?:[\w-]+ )?(?:friendship|relationship|mind|body|thoughts?|mood|parents?|mother|father|mom|mum|dad|wife|husband|son|daughter|"
    r"sister|brother|friends?|boyfriend|girlfriend|family|life|day|dream|goal)\b|"
    r"\W*(?:the|our|my|a) (?:[\w-]+ )?(?:cat|dog|birds?|man|woman|boy|girl|child|children|kids?|baby|people|person|guy|sun|moon|stars?|horse|cow|fox|mouse|family|couple|neighbou?rs?)\b",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(r"\bby the way\b", re.IGNORECASE)
_OURS_FROM = form(
    r"our (?!(?:[\w-]+ )?(?:neighbou?r|friend|family|cousin|niece|nephew|aunt|uncle|grand\w+)s?\b|\w+(?:'s|s') )(?:[\w'-]+ ){1,4}?(?:are|is|have|has|do|does|must|need|needs|want|wants|come|comes|pay|pays|start|starts|end|ends|read|reads|get|gets|only|never|always|run|runs|use|uses|ship|ships|open|opens|close|closes|expect|expects) (?!so\b|very\b|really\b|too\b|great|good|bad|nice|fine|the best)\w+"
)
_FIGURE_OR_LIMIT = re.compile(
    r"\d|\b(?:only|never|always|every|no|none|all|at least|at most|one|two|three|four|five|six|ten|twelve|dozen|fifty|hundred|thousand|older|younger|daily|weekly|monthly|quarterly|yearly)\b|(?-i:\s[A-Z][a-z])",
    re.IGNORECASE,
)
#: Something failed or is so, for a reason that was found.
_BECAUSE = form(
    r"(?:so )?(?:the|that|this|these|both|all(?: of)?(?: the| our)?|our|your|it|they|(?-i:[A-Z])[\w.-]+) (?!reason\b)[^.!?,;]{0,80}?\b(?:failed|fails|crashed|crashes|broke|breaks|stopped|stops|hung|hangs|was (?:missing|slow|empty|wrong|late|down|lost|rejected|refused|skipped|blocked|stale|not \w+|too \w+|\w+ed)|were (?:missing|slow|empty|wrong|late|down|lost|rejected|refused|skipped|blocked|not \w+|too \w+|\w+ed)|"
    r"did(?:n't| not) \w+|could(?:n't| not) \w+|timed out|came (?:out|up|back|down|through)|went (?:out|down|wrong|missing|blank|dark|silent|offline|to)|ran (?:out|slow|twice|late|into)|got (?:stuck|lost|slow|skipped|rejected)|fell (?:over|back|out|behind)|shut down|froze|kept \w+ing|lost (?:its|the|their)|doubled|disappeared|vanished|slowed down|leaked|came from|is (?:caused|due)|was (?:caused|due)|were (?:caused|due))[^.!?]{0,60}?(?:\bbecause\b|\bsince (?:the|it|its|our|all|no|a|an|both)\b|\bby (?:a|an|the)\b|\bdue to\b|\bto (?:a|an|the)\b|\bfrom (?:a|an|the)\b) [^.!?]{6,}",
    r"(?:the )?(?:real |root |actual |underlying |main )*(?:cause|culprit|reason (?=of|for|behind|why)|problem|bug|issue)(?: (?:of|for|behind|with) [\w' -]{2,40}?)? (?:was|were|is|turned out to be) (?:that )?(?!that you\b|not\b|still\b|it\b|if\b|yours\b|common\b|solved|fixed|me\b|you\b|i\b|my\b|when\b|how\b|what\b|unclear|unknown|always\b|simple)\w",
    r"it (?:was|wasn't|isn't|is not|was not) (?:the |a |an |our |your )?[\w' -]{2,40}(?:that|which) (?:caused|broke|crashed|killed|slowed|blocked|filled|dropped|deleted|locked|stopped) \w",
)  # fmt: skip
#: How a cause is announced: `Found it: the parser drops the zone.`
_ANNOUNCED = (
    r"(?:(?:i(?:'ve| have)? )?(?:just |finally )?(?:found|spotted|caught|nailed|traced|tracked down) (?:it|one more|another(?: one)?|the (?:rest|other(?: one| half| part)?|last one|second(?: one)?)|the (?:real |actual |root )*(?:cause|bug|problem|culprit|reason|error|leak|issue))(?: now| at last)?|"
    r"(?:i )?(?:think i )?(?:got|have) it now|i(?:'ve| have) (?:got )?it|here(?:'s| is) (?:why|the (?:real |actual |root )*(?:cause|bug|problem|culprit|reason))|"
    r"(?:now )?i (?:now )?(?:see|understand|know) (?:it|why|what (?:it is|it was|is wrong|was wrong|happens|happened|is going on|was going on))(?: now)?|i see now|now i see|"
    r"there (?:it is|we (?:are|go|have it)|you have it)|(?:so )?(?:that|this)(?:'s| is| was) (?:what it (?:is|was)|why|it|the (?:cause|culprit|reason|bug|one)|the (?:real|actual|root) \w+)|that was it|(?:mystery|case|riddle|puzzle) solved|solved(?: it)?|"
    r"bingo|aha|eureka|it(?:'s| is| was) clear now|now it(?:'s| is) clear|tracked it down|what (?:happens|happened)(?: here)?(?: is| was)?(?: this)?|(?:the )?explanation(?: is)?|so it was this|(?:so )?it(?:'s| is| was) this|"
    r"(?:the )?(?:real |actual |root )+(?:cause|culprit|bug|reason)(?: found)?)"
)
_FOUND = form(
    rf"(?:{_ANNOUNCED}|(?:i )?(?:got|have) it|(?:the |root )*(?:cause|culprit|reason))\s*[:—–]\s*(?!we\b|i\b|you\b|let\b|now\b|your\b|my\b)\w[^.!?]{{12,}}",
    rf"{_ANNOUNCED}\s*[,;-]\s*(?:the|our|a|an|two|both|it|its|there|that|every|each|all|no|when|after|(?-i:[A-Z]|[a-z]+[._]))[^.!?]{{12,}}",
    r"(?:so |and |as )?(?:it )?(?:turns|turned) out (?:that )?(?:the|our|a|an|two|both|every|each|all|no|nobody|when|after|some|(?-i:[A-Z])|\w+[._]\w)[^.!?]{8,}",
)
_ONLY_ANNOUNCED = re.compile(
    rf"\W*(?:(?:ah|oh|ok|okay|so|and|right|well|yes|ha)[\s,.!:…–—-]+)*{_ANNOUNCED}\W*", re.IGNORECASE
)
_NO_CAUSE = re.compile(
    r"\b(?:might|could (?:have|be)|maybe|perhaps|probably|would|should|possibly|not sure|i think|i guess|my (?:fault|mother|father|boss|wife|husband|friend|mom|mum|dad)|feel|felt|happy|sad|love|excited|you (?:were|are|have|had|feel|did))\b",
    re.IGNORECASE,
)
_LEAST = 4
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d\S*")


_OTHERS_WORDS = re.compile(
    r"\b(?:says?|said|told|thinks|asks?|asked|wonders|claims|believes|hates?|loves?|adores?)\b", re.IGNORECASE
)
_LETTER = re.compile(r"\W*dear\b", re.IGNORECASE)
_ONE_MOMENT = re.compile(
    r"\b(?:today|tonight|right now|at the moment|just now|yesterday|this (?:morning|afternoon|evening))\b",
    re.IGNORECASE,
)


def surroundings_in(said: Said) -> re.Match[str] | None:
    """Where a human states who does what, where something is, or what it is bound to."""
    if len(_WORD.findall(said.read)) < _LEAST or _OTHERS_WORDS.search(said.read) or _LETTER.match(said.read):
        return None
    found = next(each_stated(said, _PEOPLE), None)
    found = found or next(each_stated(said, _AWAY), None)
    if found is not None:
        return None if _ONE_MOMENT.search(said.read) else found
    if _NO_PLACE.search(_BY_THE_WAY.sub("", said.read)) or _NO_SUBJECT.match(said.read):
        return None
    found = next(each_stated(said, _PLACES), None)
    if found is not None:
        return found
    ours = next(each_stated(said, _OURS_FROM), None)
    return ours if ours is not None and _FIGURE_OR_LIMIT.search(said.read, ours.start() + 4) else None


def cause_in(said: Said) -> re.Match[str] | None:
    """Where somebody states why something failed, as found."""
    if _NO_CAUSE.search(said.read) or len(_WORD.findall(said.read)) < _LEAST + 1:
        return None
    return next(each_stated(said, _BECAUSE), None) or next(each_stated(said, _FOUND), None)


def announces_cause(said: Said) -> bool:
    """Whether a sentence says that a cause was found, and leaves it to the next one to say which: `Found it.`"""
    return _ONLY_ANNOUNCED.fullmatch(said.read) is not None
