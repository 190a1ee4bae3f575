"""What is said about the work: markers of what matters, decisions with their reasons, learnings, and how things are."""

from __future__ import annotations

import re

from memory_pipeline.conversations.between import ENDS_SOON
from memory_pipeline.conversations.choices import choice_in
from memory_pipeline.conversations.forms import form, stated
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.conversations.surroundings import cause_in, surroundings_in
from memory_pipeline.wording.facts import find_facts
from memory_pipeline.wording.grammar import PRESENT, clauses_of, words_of
from memory_pipeline.wording.guidance import guidance_in
from memory_pipeline.wording.kinds import is_machine_text, kind_of

_WEIGHTY = r"(?:important|critical|crucial|essential|vital|urgent|paramount)"
_DEGREE = r"(?:very |really |so |super |extremely |absolutely |most |the most |also |pretty |quite |highly |truly |incredibly )*"
_ANNOUNCED = form(
    rf"(?:one |another |the |a |an |this is |(?:one |another )?(?:last |final |very )?)*{_DEGREE}{_WEIGHTY}(?: things?| points?| notes?| details?| parts?| reminder| to (?:know|note|remember|me))?\s?(?::|!|—|–| - )\s*",
    r"(?:i (?:just )?(?:want|need|would like|wanted)|i'd like|let me|allow me) (?:to )?(?:be (?:very |really |absolutely |crystal |perfectly |totally )?clear|make (?:it|this|one thing|something|myself) (?:very |absolutely |perfectly |crystal )?clear|stress|emphasi[sz]e|underline|point out)\b(?: that| about)?\s*[:,—–-]?",
    r"to be (?:very |absolutely |crystal |perfectly )?clear\s*[:,—–-]",
    r"(?:please |pls |plz |always |do |just |also |and )*(?:remember|keep in mind|bear in mind|note(?! ?,)|take note|make a note|don't forget|dont forget|do not forget|never forget)(?: that\b(?! (?:time|day|one|guy|film|movie|song|trip|night|moment))| this\b)?\s*(?:[:,—–]| -|(?<=that)|(?<=mind))",
    r"(?:please|pls|plz) note (?=the\b|our\b|my\b|that\b|we\b|there\b)",
    r"(?:reminder|nb|n\.b\.|heads[- ]up|fyi|for the record)\s*:",
    rf"(?:one|another|a|the) (?:more |last |final )?things? (?:that(?:'s| is| are)|which is) {_DEGREE}{_WEIGHTY}\s?(?::|,|—|–| - )\s*",
    r"mark my words\s*[:,]",
)  # fmt: skip
_STRESSED = form(
    rf"(?:this|it|which)(?:'s| is) {_DEGREE}{_WEIGHTY}\b(?! (?:if|for you|to you|in)\b)",
    r"(?:[\w' -]{2,60}) (?:is|are) (?:our|my|the) (?:top|highest|number one|absolute|main|first) priority\b",
)  # fmt: skip
_LEAST_MARKED = 3
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d\S*")

_CHOICE = r"(?:decided|agreed|resolved|opted|settled|chosen|chose)"
_DECISION = form(
    r"(?:my |the |our )?final (?:answer|call|word|choice)\s*(?:[:—–]|is\b)\s*",
    r"(?:so |then |ok |okay )*(?:it's|it is|that's|that is) (?:all )?(?:settled|decided|official|a deal|agreed)(?: then)?\s*(?:[:,—–]|$)",
    r"(?:i'm|i am|we're|we are) (?:cancell?ing|quitting|dropping|leaving|giving up|switching to|moving to|selling|closing|ending|stopping|keeping|scrapping|retiring) [^.!?]{2,60}?\b(?:for good|from|starting|as of|because|instead|permanently|after all|at the end of)\b",
    r"(?:starting|as of|effective|beginning|from) (?:next )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|january|february|march|april|june|july|august|september|october|november|december|\d{1,2}\b|the \d)[\w ]{0,20}?,? (?:the|we|i|our|all)\b(?! (?:was|were|had|been))",
    r"(?:the|our) (?:whole )?(?:team|board|family|group|committee|crew|choir|band|club|lab|office|department|household|class|founders|partners|editors|orchestra)(?: has| have)? (?:voted|agreed|decided|settled|chose)\b",
    r"(?:i'll|i will|i'm going to|i am going to|i'd) (?:use|keep|store|build|split|replace|drop|cache|leave) [^.!?]{2,80}\b(?:because|since|so that)\b",
    r"(?:we're|we are|i'm|i am) doing it\s*[:—–]\s*",
    r"(?:so |then |ok |okay )*decided\s*(?::|—|–| - )\s*(?!to be\b)\w",
    r"(?:the |our |my |final )*decision(?: made| taken| is| was)?\s*(?::|—|–| - |(?:is|was) (?:to|that)\b)\s*",
    rf"(?:we|i)(?:'ve| have|'d| had)? (?:now |just |finally |both |all |also |already |then |jointly |mutually |therefore |)*{_CHOICE}(?: not)?(?: to| on| for| that| against| in favou?r of|(?<=chose)|(?<=chosen)) (?!it\b|this\b|that\b(?! we)|them\b|you\b|nothing\b|everything\b|most\b|disagree|differ|the (?:couch|sofa|bed|floor))\w",
    r"(?:we|i)(?:'ve| have)? (?:went|gone) with (?!him\b|her\b|them\b|my\b|it\b|a friend|friends|the flow|some|you\b|(?-i:[A-Z])\w+ (?:to|and i)\b)\w",
    r"(?:we|i)(?:'ve| have)? picked (?!up|it\b|him|her|them|out\b|on\b)[\w' -]{2,60}? (?:because|over|instead of|since|as)\b",
    r"(?:we're|we are|i'm|i am) going (?:with|for) (?:the|an?|option|plan|version|variant|number) (?!walk|run|swim|ride|drive|friend|kids|children|family|team|trip|hike|jog|guys|others|flow|bit|while|meal|coffee|drink|beer)\w",
    r"let'?s (?:just |all |then |rather )*(?:go with|stick (?:with|to)|switch to|settle on|drop (?-i:[A-Z])|use|call it|move to|postpone|keep (?:the|using)) (?!it\b|him\b|this for now|talk|the (?:next|topic|point|subject|facts|time|moment|last|other)\b|next\b|another\b|something\b|an? (?:different|new) (?:topic|subject)|question)\w",
    r"from (?:now|here) on,? (?:we|i)(?:'ll| will)? (?!think|feel|know|believe)\w+",
    r"(?:we'll|we will|i'll|i will) (?:now |just )*(?:go with (?!my\b|him\b|her\b|us\b|some\b|friends\b|a (?:friend|colleague)|mum\b|mom\b|dad\b|(?-i:[A-Z])\w+ (?:to|and)\b)\w|switch to|stick with|stick to|standardi[sz]e on|settle for|move to) ?(?!it\b|this\b|that\b|them\b|you\b|bed\b|sleep\b)\w",
    r"(?:i've|i have|we've|we have) (?:finally )?made (?:up )?(?:my|our|a|the) (?:mind|minds|decision)s?\b\s*(?:to|:|,)",
    r"(?:i|we) (?:hereby |officially |finally )*(?:approve|reject|veto) (?!of\b|it\b)\w",
)  # fmt: skip
_CALLED_DECISION = form(
    r"(?:the |our |final )*decision(?: made| taken)?\s*(?::|—|–| - )\s*\w",
    r"(?:we|you and i) (?:have |both )?(?:agreed|decided) (?:to|on|that|for|against)\b",
)
_NO_DECISION = re.compile(
    r"\b(?:haven't|have not|hasn't|not yet|didn't|can't|couldn't|cannot|hard to|trying to|need to|have to) (?:\w+ )?(?:decide|agree|settle|choose|make)|"
    r"\bagreed (?:with (?![\w' ]{2,40}? (?:to|that)\b)|that i'?m\b)|\bnot decided\b|\bcall it (?:a day|a night)\b|\bkeep (?:in touch|going|chatting|talking)\b|\blet'?s see\b",
    re.IGNORECASE,
)
#: What somebody decides for an afternoon.
_OF_THE_DAY = re.compile(
    r"\b(?:decided|chose|chosen|opted|agreed) (?:not )?(?:to|for) (?:go (?:to|for|out|home|on|back|and|see|shopping|hiking|there)|take a|take some|have (?:a|some)|ask|write to you|talk|chat|"
    r"call|visit|come|watch|see|share|tell|meet|stay|eat|cook|try (?:it|this|that|some)|give (?:it|this|you)|make (?:some|a)|buy (?:some|a|it)|listen|"
    r"a (?:walk|nap|break)|relax|rest|spend|walk|sit|play|read)\b",
    re.IGNORECASE,
)
_RECURS = re.compile(r"\b(?:every|each|once a|twice a|weekly|daily|monthly)\b", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening|weekend))\b", re.IGNORECASE)
_REASON = re.compile(
    r"(?:(?:,\s*|\s|\()(?:because(?: of)?|since(?! (?:19|20)\d\d| \w+day| last| then)|so that|so (?=(?:the|we|it|i|they|nobody|everyone)\b)|due to|given that|in order to|as (?=(?:the|it|we|they|this|that|nobody)\b)|the reason (?:is|being))|"
    r"(?<!decided)(?<!agreed)(?<!chose)(?<!chosen)(?<!opted)(?<!going)(?<!want)(?<!need)(?<!have)(?:,\s*|\s|\()to (?:avoid|keep|save))\s+[^.!?]{3,200}",
    re.IGNORECASE,
)
_REASON_BEFORE = re.compile(
    r"\W*(?:because|since(?! (?:19|20)\d\d| \w+day| last| then)|as (?=the\b|it\b|we\b|they\b)|given that|due to)\b[^,.!?]{3,150}(?=,)",
    re.IGNORECASE,
)
_REASON_AFTER = re.compile(
    r"\W*(?:because|the reason(?: is)?|reason|rationale|that way|this way|otherwise)\b[:,]?\s+\S.{3,200}", re.IGNORECASE
)

#: What an agent means to do better. Kind words are none of these: `I'll be here for you in the future`.
_HABIT = r"(?:not |never |always |first |also )*(?:ask|check|verify|read|run|test|wait|confirm|use|keep|make sure|avoid|remember|start|include|stop|write|look|quote|state|show|double-check|list|answer|clarify|slow|pause|mention|name|validate|compare|begin|be (?:more|less))"
_LEARNED_BY_AGENT = form(
    r"i(?:'ve| have)? (?:now |also |just |finally )*(?:learned|learnt) (?:that|to|not to|from|how|:)",
    r"(?:key |main |my )?lessons?(?: i)?(?: learned| learnt)?(?: here| for me| from this)?\s*(?:[:—–]| is (?:that|to)\b)\s*",
    rf"(?:so |and )?(?:next time|in (?:the )?future|from now on|going forward),? i(?:'ll| will|'m going to| should| am going to| need to) {_HABIT}\b",
    rf"i(?:'ll| will| should| need to) {_HABIT} (?:\w+ ){{0,14}}?(?:next time|in (?:the )?future|from now on|going forward)\b",
    r"i(?:'ve| have)? (?:now |also |just )*(?:reali[sz]ed?|noticed?|see now|understand now) (?:that )?i (?:tend to|should|often|was too|need to|had been|keep|rushed|assumed|over|under|always|sometimes|have a habit|jumped)\b",
    r"i should(?:'ve| have| not have|n't have) (?!been of\b|mentioned\b)\w+",
    rf"(?:so |and |then )?(?:next time|in (?:the )?future|from now on|going forward),? i {_HABIT}\b",
    rf"i(?:'ll| will|'m going to| am going to) {_HABIT} [\w' -]{{3,80}} before (?:i|any|every|each|\w+ing)\b[\w' -]*(?:\bagain\b|\banything\b|\bsuch\b|\bevery\b)",
    r"note to (?:self|myself)\s*[:—–-]",
    r"(?:my|the|one|a) (?:key |main |big )?(?:takeaway|take-away|learning)(?: for me| here| from this)? (?:is|was) (?:that|to)\b",
)  # fmt: skip
_LEARNED_BY_HUMAN = form(
    r"(?:today |yesterday |recently |this week |just )?i(?:'ve| have)? (?:also |just |finally |now |recently )*(?:learned|learnt)(?: today| the hard way| recently)?(?: that\b|:| (?=[\w' -]{2,40}\b(?:is|are|needs|must|uses|has)\b)(?!how|to|about|a |an |from|some|the |many|new|more|so|lot|much|from|piano|guitar))",
    r"(?:the |my |key |big )*lessons?(?: i)?(?: learned| learnt)?(?: here| for me| today)?\s*(?:[:—–]| is (?:that|to)\b| - )\s*",
    r"lessons? (?:for|from|of) [\w' -]{2,30}?\s*[:—–]\s*",
    r"note to (?:self|myself)\s*[:—–-]\s*",
    r"(?:my|the|one|a) (?:key |main |big )?(?:takeaway|take-away)(?: for me| here| from this)? (?:is|was) (?:that|to)\b",
    r"til(?: that)?\s*[:,]?\s",
)  # fmt: skip
_LEAST_LEARNED = 6

_FINDING = form(
    r"(?:the )?(?:root |real |actual |underlying )*(?:cause|culprit|problem|issue|bug|reason|failure|error|outage|crash|slowdown) (?:of (?:the|this) [\w ]{2,40} )?(?:was|turned out to be|came from|is) (?!that you\b|not\b|still\b|it\b|if\b|yours\b|common\b)",
    r"it (?:turned|turns) out (?:that )?(?!to be\b|fine|well|ok|i\b|you\b|great|really|not\b|he\b|she\b)\w",
    r"(?:i|we) (?:found|discovered|confirmed|determined|traced) (?:out )?that (?!you\b|i\b|my\b)\w",
)  # fmt: skip
_WE_USE = form(
    r"we (?:always |only |mostly |usually |still |exclusively )?use (?!it\b|this\b|that\b|them\b|to\b|the (?:same|first|second)\b)"
    r"[\w.+#-]+(?: [\w.+#-]+){0,2} (?:for|here|in|instead|as|everywhere|on|at)\b"
)
_PRONOUN_FIRST = re.compile(
    r"^\W*(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|we'll|you|you're|your|he|she|it|it's|its|they|they're|this|that|that's|these|those|there|here|my|"
    r"his|her|their|let|let's|thanks|thank|please|pls|ok|okay|yes|no|so|great|nice|hi|hello|hey|good|sure|maybe|what|how|why|when|where|who|which|if|"
    r"one|some|both|wow|well|haha|also|but|and|then|because|not|never|only|just|another|any|speaking|as|for|with|to|in addition)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:best|great|beautiful|delicious|amazing|wonderful|interesting|good|bad|nice|fun|important thing|lovely|famous|popular|suitable|worth|"
    r"i|me|my|you|your|seems?|feels?|maybe|perhaps|probably|might|could|would|should|today|tomorrow|yesterday|tonight|now|currently|sunny|weather|temperature|favou?rite|"
    r"according|says?|said|heard|told|think|believe|if|looks?|sounds?|will|was|were|been|had|paragraph|sentence|word)\b",
    re.IGNORECASE,
)
#: Marks of notes and reports, which nobody says.
_NOTE = re.compile(r"\*\*|→|\[|\bPRIORITY\b|^[^:]{1,40}:\s|\w_\w+_\w|\s-\s")
_LEAST_CONTEXT, _MOST_CONTEXT = 4, 40


#: How something is just now, which it often is: `The coffee machine is broken again`.
_JUST_NOW = re.compile(
    r"(?:\b(?:is|are)|'s|'re) (?:[\w-]+ )?(?:broken|down|late|slow|stuck|empty|full|offline|noisy|crowded|closed|gone|out|sick|ill|off|cold|"
    r"acting up|out of \w+|not working|dead) (?:yet )?again\b",
    re.IGNORECASE,
)
#: A guess: `The key must be in the other coat`.
_MUST_BE_THERE = re.compile(
    r"\bmust be (?:still )?(?:in|at|on|under|near|behind|with|around) (?:the|my|your|our|a|one)\b", re.IGNORECASE
)


def marker_in(said: Said) -> re.Match[str] | None:
    """Where a sentence says that something is important: the announcement, before what is announced."""
    announced = stated(said, _ANNOUNCED)
    if announced is not None and len(_WORD.findall(said.read[announced.end() :])) >= _LEAST_MARKED:
        return announced
    return stated(said, _STRESSED)


def decision_in(said: Said, *, is_human: bool = True) -> re.Match[str] | None:
    """Where somebody states a decision of the two, or his or her own."""
    if _NO_DECISION.search(said.read) or (_OF_THE_DAY.search(said.read) and not _RECURS.search(said.read)):
        return None
    found = stated(said, _DECISION)
    if found is not None and found.group()[:2].lower() in ("i ", "i'") and _TODAY.search(said.read):
        return None
    return found or choice_in(said, is_human=is_human)


def is_announced_decision(said: Said) -> bool:
    """Whether a decision is called one: `Decision: the export moves to the new host.`"""
    return stated(said, _CALLED_DECISION) is not None


def rationale_of(said: Said) -> str:
    """The reason that a decision gives, in its sentence or in the one after it; empty if there is none."""
    found = _REASON.search(said.read) or _REASON_BEFORE.match(said.read)
    if found is not None:
        return said.quote[found.start() : found.end()].strip(" ,(.!")
    return said.after.strip(" .!") if _REASON_AFTER.match(said.after) else ""


def learned_by_agent_in(said: Said) -> re.Match[str] | None:
    """Where an agent states what it learned about its own work."""
    found = stated(said, _LEARNED_BY_AGENT)
    return found if found is not None and len(_WORD.findall(said.read)) >= _LEAST_LEARNED else None


def learned_by_human_in(said: Said) -> re.Match[str] | None:
    """Where a human states a lesson."""
    found = stated(said, _LEARNED_BY_HUMAN)
    return found if found is not None and len(_WORD.findall(said.read)) >= _LEAST_LEARNED else None


def finding_in(said: Said) -> re.Match[str] | None:
    """Where an agent states what it found out about the work."""
    found = stated(said, _FINDING) or cause_in(said)
    return found if found is not None and len(_WORD.findall(said.read)) >= _LEAST_LEARNED else None


def is_context(said: Said) -> bool:
    """Whether a human states how something in his or her surroundings is, with a name or a figure: no opinion, no
    event, nothing about the two."""
    words = len(_WORD.findall(said.read))
    if not _LEAST_CONTEXT <= words <= _MOST_CONTEXT or is_machine_text(said.read) or _JUST_NOW.search(said.read):
        return False
    if stated(said, _WE_USE) is not None or surroundings_in(said) is not None:
        return True
    if finding_in(said) is not None:
        return not _REASON_AFTER.match(said.read)
    text = said.read[:1].upper() + said.read[1:]
    if not re.match(r"\W*our\b", text, re.IGNORECASE) and _PRONOUN_FIRST.match(text):
        return False
    if _OPINION.search(text) or ENDS_SOON.search(text) or _MUST_BE_THERE.search(text):
        return False
    if not text[0].isalpha() or _NOTE.search(text) or not _has_subject(text):
        return False
    if guidance_in(text) is not None:
        return True
    has_figure = any(fact.kind in ("number", "time", "identifier", "date") for fact in find_facts(text))
    return has_figure and kind_of(text) not in ("decision", "feedback", "error_fix")


def _has_subject(text: str) -> bool:
    """Whether a sentence begins with what it is about, and says something of it."""
    words = words_of(text)
    first = next(iter(clauses_of(text)), None)
    if not words or first is None or first.verb is None or first.order is not None:
        return False
    return first.verb.tag in PRESENT and (
        words[0].tag in ("AT0", "DPS", "NP0") or words[0].is_noun or words[0].tag == "AJ0"
    )
