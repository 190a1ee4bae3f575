"""Decisions that are stated without the word: a verb of keeping or changing something, with a sign that this was chosen.

`We are going with X` decides; `we are moving the desks` decides only with what it is instead of, since when, or why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.conversations.forms import each_stated, form
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.grammar import can_be_order

#: What is kept, changed or ended by a decision: base form, and forms in -ing and of the past.
_VERBS = {
    "keep": "keeping|kept", "use": "using|used", "drop": "dropping|dropped", "switch": "switching|switched",
    "move": "moving|moved", "stay": "staying|stayed", "stick": "sticking|stuck", "go": "going|went|gone",
    "replace": "replacing|replaced", "retire": "retiring|retired", "ditch": "ditching|ditched",
    "scrap": "scrapping|scrapped", "migrate": "migrating|migrated", "stop": "stopping|stopped",
    "adopt": "adopting|adopted", "postpone": "postponing|postponed", "delay": "delaying|delayed",
    "cancel": "cancell?ing|cancell?ed", "close": "closing|closed", "split": "splitting", "merge": "merging|merged",
    "rename": "renaming|renamed", "host": "hosting|hosted", "standardi[sz]e": "standardi[sz]ing|standardi[sz]ed",
    "pick": "picking|picked", "choose": "choosing|chose|chosen", "abandon": "abandoning|abandoned",
    "limit": "limiting|limited", "skip": "skipping|skipped", "build": "building|built", "buy": "buying|bought",
    "rent": "renting|rented", "hire": "hiring|hired", "outsource": "outsourcing|outsourced", "sell": "selling|sold",
    "bill": "billing|billed", "invoice": "invoicing|invoiced", "charge": "charging|charged", "ship": "shipping|shipped",
    "pin": "pinning|pinned", "freeze": "freezing|froze|frozen", "raise": "raising|raised", "lower": "lowering|lowered",
    "end": "ending|ended", "return": "returning|returned", "revert": "reverting|reverted", "phase": "phasing|phased",
    "store": "storing|stored", "start": "starting|started", "push": "pushing|pushed", "hold": "holding|held",
    "tag": "tagging|tagged", "release": "releasing|released", "deploy": "deploying|deployed", "run": "running|ran",
    "rewrite": "rewriting|rewrote|rewritten", "leave": "leaving|left", "cut": "cutting", "extend": "extending|extended",
}  # fmt: skip
_BASE = "|".join(_VERBS)
_PAST = "|".join(form for forms in _VERBS.values() for form in forms.split("|") if not form.endswith("ing"))
_ING = "|".join(form for forms in _VERBS.values() for form in forms.split("|") if form.endswith("ing"))
_ADVERBS = r"(?:(?:now|just|all|both|also|then|finally|already|therefore|definitely|officially|simply|only|instead|actually|probably not|not|no longer) )*"
#: A sign that something was chosen: what it is instead of, since when, until when, or why.
_SIGN = re.compile(
    r"\b(?:instead(?: of)?|rather than|in favou?r of|in place of|over to|for good|altogether|entirely|for the whole|"
    r"as of|as from|with effect|any ?more|any longer|no longer|from now on|from then on|permanently|across the board)\b|"
    r"\b(?:from|by|until|till|starting|as of|in|on|with) (?:the )?(?:next |end of |beginning of |start of )?(?:january|february|march|april|may|june|july|"
    r"august|september|october|november|december|spring|summer|autumn|fall|winter|new year|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"quarter|q[1-4]|month|week|year|release|version|sprint|\d{1,2}(?:st|nd|rd|th)?\b)|"
    r"(?:,|\bis|\bare) (?:and )?not (?!sure|yet|now|really|bad)|[,;:–—-]\s*(?:mainly |mostly |simply |partly |just )?(?:because|since|as|so that|so|due to|given)\b|"
    r"\b(?:because|since (?!(?:19|20)\d\d|\w+day\b|last\b|then\b)|so that|due to|given that)\b|"
    rf"\band (?:{_ING}|{_PAST}) \w|\b(?:one|two|\w+) \w+ (?:is|are) (?:one too many|enough)\b",
    re.IGNORECASE,
)
#: A clause behind a proposal that gives its reason without a word for it: `Let's stay on Postgres, I know it well`.
_CLAUSE_AFTER = re.compile(
    r"[,;:–—-]\s*(?:it|they|that|he|she|i|we|nobody|no one|everyone|everything|the|our)\b", re.IGNORECASE
)
_ENDING = re.compile(
    r"\b(?:dropping|cancell?ing|quitting|scrapping|retiring|ditching|closing|ending|selling|stopping|abandoning|replacing|postponing)\b",
    re.IGNORECASE,
)
_NOT_A_THING = r"(?!it\b|him\b|her\b|them\b|you\b|me\b|us\b|up\b|out\b|off\b|by\b|away\b|home\b|back home\b|to (?:bed|sleep|work|school|lunch|dinner)\b|on (?:it|track|time)\b|doing\b|talking\b|chatting\b|a (?:walk|break|rest|nap|coffee|drink|minute|moment|look|chat)\b|laughing\b|crying\b|in touch\b)"
_WITH = (
    r"(?: (?:with|together with|along with|between us|among us|as a (?:team|family|group)|at the [\w' -]{2,30}?|in the [\w' -]{2,30}?|"
    r"after [\w' -]{2,40}?|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|last (?:week|night|month)|this (?:week|morning)|"
    r"today|unanimously|jointly|over (?:lunch|dinner|coffee))(?: (?:and )?[\w'.-]+){0,4}?)?"
)
_RECURS = r"\b(?:every|each|once a|twice a|weekly|daily|monthly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
_AGREED = form(
    rf"(?:we|i)(?:'ve| have|'d| had)? {_ADVERBS}(?:decided|agreed|resolved|settled|voted|arranged){_WITH},? (?:not )?(?:to (?!disagree|differ|meet for|(?:meet|talk|chat|call|speak|sync|eat|have \w+)\b(?!(?:[^.!?]*{_RECURS}))|go (?:to|out|home|for)|think)\w|that (?:the|we|i|our|all|no|from|every)\b|against \w)",
    rf"(?:the )?(?:[\w']+ )?(?-i:[A-Z])\w+ and (?:i|me) (?:have |both )?{_ADVERBS}(?:decided|agreed|resolved|settled|voted|chose)(?: not)? (?:to|on|that|for|against) \w",
)  # fmt: skip
_GOING_WITH = form(
    rf"(?:we're|we are|we will be|we'll be) {_ADVERBS}going (?:with|for (?=the |option|version|plan|variant)|ahead with) (?!you\b|him\b|her\b|them\b|us\b|my\b|our\b|a friend|the (?:kids|children|family|dog|weekend|day|beach|game|movies?|flow)|friends|it\b|(?-i:[A-Z])\w+(?:\s*(?:[.!,]|$)| (?:to|and)\b))\w",
    rf"(?:we're|we are) {_ADVERBS}going (?:with|back to) (?=[^.!?]{{2,60}}\b(?:instead|over|rather than|because|since|in the end|not)\b)(?!you\b|him\b|her\b|them\b|my\b|friends|school\b|work\b)\w",
    rf"we {_ADVERBS}go (?:with|for (?=the |option|version|plan|variant)|ahead with) (?!you\b|him\b|her\b|them\b|us\b|my\b|our (?!own\b)|a (?:friend|walk|run|swim|drink|coffee)|the (?:kids|children|family|dog|weekend|day|beach|game|movies?|flow|bus|train|car)|friends|it\b|(?-i:[A-Z])\w+(?: (?:to|and)\b))\w",
    rf"(?:i'm|i am) {_ADVERBS}going (?:with|back to|ahead with) (?=[^.!?]{{2,60}}\b(?:instead|over|rather than|because|since|in the end|not)\b)(?!you\b|him\b|her\b|them\b|my\b|friends)\w",
)  # fmt: skip
#: Verbs of changing; others (`we are leaving on Friday`, `we ran because of the bus`) tell what somebody does.
_CHANGES = (
    r"(?:keep|dropp|switch|mov|replac|retir|ditch|scrapp|migrat|stopp|adopt|postpon|delay|cancell?|clos|splitt|merg|renam|standardi[sz]|abandon|limit|skipp|outsourc|"
    r"sell|rais|lower|end|revert|phas|cutt|extend|freez|pinn|hir|quitt|shorten|simplify|rewrit|rebuild)ing"
)
_CHANGED = (
    r"(?:kept|dropped|switched|moved|replaced|retired|ditched|scrapped|migrated|adopted|postponed|delayed|cancell?ed|closed|split|merged|renamed|standardi[sz]ed|abandoned|limited|"
    r"outsourced|sold|raised|lowered|ended|reverted|phased|cut|extended|froze|pinned|hired|picked|chose|went with|stopped \w+ing|quit|rewrote|rebuilt)"
)
_PROGRESSIVE = form(rf"(?:we're|we are|i'm|i am|we'll be|we will be) {_ADVERBS}{_CHANGES} {_NOT_A_THING}\w")
_DONE = form(rf"we(?:'ve| have)? {_ADVERBS}{_CHANGED} {_NOT_A_THING}\w")
#: `We dropped Kafka`: what a team has ended needs no sign if it is named.
_ENDED = form(
    rf"we(?:'ve| have)? {_ADVERBS}(?:dropped|ditched|scrapped|retired|abandoned|replaced|phased out|killed|sunset|got rid of|moved (?:away )?(?:from|off)|switched (?:from|to)|settled on|gave up on|stopped using)"
    r" (?:the |our |all )?(?:old )?(?-i:[A-Z])[\w.+#-]*(?! (?:off|at|by|home|from school)\b)"
)
_PRESENT = form(
    rf"we {_ADVERBS}(?:no longer|stop|start|don't|do not|only|never|always)? ?(?:{_BASE}|stop|schedule|accept|support|publish|send|print|offer|order|serve|write|test|log|answer|allow|require|do|make|take) (?:{_NOT_A_THING})[^.!?]{{2,100}}"
    r"\b(?:any ?more|any longer|from now on|from here on|as of|as from|starting (?:next|in|from|on|with)|no longer|until further notice)\b",
    r"(?:we're|we are|i'm|i am) (?:now |still |definitely )*(?:sticking|staying) with (?!you\b|him\b|her\b|them\b|my\b|it\b|a friend|friends|family)\w",
    r"(?:we|i)(?:'ve| have)? (?:finally |just |also )?(?:accepted|turned down|declined|rejected) (?:the|their|his|her|that) (?:\w+ )?(?:offer|job|contract|proposal|invitation|deal|bid|quote|quotation|position|project|request)\b",
    r"we (?:won't|will not|are not going to|aren't going to) (?:support|offer|renew|ship|use|keep|sell|extend|accept|buy|build|hire|migrate|move|upgrade|rebuild|print|host) (?!it today)\w",
    r"(?:the|our) (?:decision|agreement|deal) (?:now |so far )?is (?:now )?(?:to (?!be\b|have\b)|that we )\w",
    r"we(?:'re| are) no longer (?!able\b|in\b|sure\b|friends\b|talking\b|together\b)\w+ing (?!to\b)\w+",
    r"(?:we're|we are|i'm|i am) (?:now )?(?:moving|migrating|switching|shifting) (?:everything|all(?: of)?(?: our| the| my)? [\w' -]{2,40}?|the whole [\w' -]{2,30}?|our [\w' -]{2,40}?) (?:over )?to (?!the (?:left|right|top|back|front|side)\b)\w",
    rf"(?:we'll|we will|we're going to|we are going to) {_ADVERBS}(?:{_BASE}) {_NOT_A_THING}[^.!?]{{2,80}}\b(?:until (?:the|we|it|our|they|further|next|end|\d|[a-z]+ \d)|instead|rather than|because|since (?:the|it|we|our|they|nobody)|so that|from now on|as of|for good|in favou?r of)\b",
    rf"we (?:no longer|stop|stopped) (?:{_BASE}|\w+ing\b|\w+) {_NOT_A_THING}\w",
    rf"let'?s {_ADVERBS}(?:stay (?:on|with)|stick (?:with|to)|standardi[sz]e on|settle (?:on|for)|go (?:back to|with|for)|keep|drop|use|freeze|pin|retire|ditch) {_NOT_A_THING}(?!this (?:for now|going)|going|an eye|the conversation|moving|the (?:next|topic|subject|time)|this chat|something|another|our (?:time|fingers|heads)|some|my|your|a (?:different|new) topic|calm|the flow)\w",
)  # fmt: skip
_LETS = form(rf"let'?s {_ADVERBS}(?:not )?(?!go (?!with\b|back to\b|ahead with\b))(?:{_BASE}) {_NOT_A_THING}\w")
_SETTLED = form(
    r"(?:we'll|we will|we're going to|we are going to) (?:hire|take on|employ|appoint|recruit) (?!I\b)(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)? (?:as )?(?:our|the|a) \w",
    rf"(?:agreed|deal|settled|approved|sold)\s*[,:;–—-]+\s*(?:then |so )?(?:let'?s|we|i'll|(?:{_BASE})\b) ?(?!you\b)\w+",
    r"(?:(?:ok|okay|alright|fine|then|so|good|right),? )*(?!(?:i|you|we|he|she|they|it|no|such)\b)(?:(?!(?:that|this|how|what|so|there|where|why|is|and|as|if|whether|think|know|hope|say|said|feel|because|like|than)\b)[\w.'-]+ ){1,4}it is(?:,? then)?(?=\s*[,.;!–—-]|\s*$)",
    r"(?:a |one |our |the |my )*(?:new |house |team |standing )+(?:rule|policy|convention|agreement|practice)(?: for (?:us|all|everyone|the \w+|this \w+))?(?: from (?:now|here) on| as of \w+)?\s*(?::|—|–| - |is (?:to|that)\b)\s*\w",
)  # fmt: skip
_TURNED_FROM = form(
    r"(?:use|take|choose|pick|go (?:with|for|back to)|stay (?:on|with)|stick (?:to|with)|keep) (?!it\b(?! at| to| in)|me\b|up\b|in mind|calm|going|care|your time|a (?:look|break|seat|deep breath|moment|walk))[^,.;!?]{2,60}?(?:\binstead\b|\brather than\b|,? not \b)"
)
#: What is called decided behind it: `The site will be built with Astro, that is settled.`
_CALLED = form(
    r"(?!(?:i|you|he|she)\b)[^.!?;]{8,120}?(?:,| -|;| –| —) ?(?:and )?(?:that|this|it)(?:'s| is| was) (?:now |all |finally |already )?(?:settled|decided|final|agreed|official|a deal|fixed)(?= ?(?:[.!,;]|$|now\b|then\b|with\b|by\b))"
)
#: What somebody does not go on with.
_NOT_GOING_ON = form(
    r"(?:we're|we are|i'm|i am) (?:definitely |probably |also )?not (?:renewing|extending|prolonging|continuing|keeping|replacing|rebooking|reordering|resigning|upgrading|supporting) (?:(?:the|our|my|that|this|their) (?!way\b|subject\b|topic\b)|(?-i:[A-Z]))\w+",
    r"(?:we|i) (?:won't|will not|'ll not|'ll never|will never) (?:order|buy|book|use|hire|work|rent|pay|accept|sell|publish|ship|deploy|invite|print|advertise|exhibit) [^.!?,;]{2,60} (?:again|any ?more|any longer)\b(?! before| until| today)",
)
#: What will be done with something, and when: what was decided of it.
_WILL_BE = form(
    r"(?:the|our) (?:[\w'-]+ ){1,6}?(?:will be|is going to be|are going to be|is to be|are to be|gets?) (?:switched off|shut down|turned off|sold|closed|moved|replaced|rebuilt|renamed|merged|split|retired|dropped|built|rewritten|hosted|cancell?ed|postponed|phased out|migrated|archived|renovated|given up|taken down|discontinued|outsourced)\b"
    r"(?![^.!?]*\bby the (?!end\b|beginning\b|start\b|summer\b|autumn\b|spring\b|winter\b))(?=[^.!?]*\b(?:in|by|from|until|on|at the end of|before|after) (?:the )?(?:end of |beginning of |start of |middle of |mid-?|early |late )?(?:january|february|march|april|may\b(?! be)|june|july|august|september|october|november|december|spring|summer|autumn|winter|q[1-4]|20\d\d|next (?:month|year|quarter|spring|summer|autumn|winter)))"
)
_FROM_NOW = form(
    r"from (?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|next \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)?(?: \w+)?|20\d\d)(?: \d{1,4})? (?:on|onwards?),? (?:we|the|our|i|all|every|no|it|there|only|[a-z]+s)\b",
    r"(?:from (?:now|here|then|today) on|from here on out|as of (?:now|today|tomorrow|next \w+|\w+)|effective immediately|going forwards?|henceforth|until further notice),? "
    r"(?:please )?(?:all|every|each|no|only|the|our|we|i|nobody|everyone|everybody|any|new|there|both|this|that|it|(?!(?:things|days|nights|times|its|is|his|this|always|thanks|yes|was|has|does)\b)[a-z][\w-]+s|(?!(?:it|life|everything|he|she)\b)[a-z]\w+ (?:goes|is|will|starts|ends|runs|costs|closes|opens|moves))\b(?! (?:feel|think|know|love|was|were))",
)
#: What is given up, and what is done in its place: `Forget bytea, put them in the bucket`.
_REPLACED = form(
    r"(?:forget(?: about)?|drop|scrap|skip|ditch|leave out|never mind) (?!it\b|that\b|this\b|those\b|them\b|what\b|how\b|me\b|everything\b|to\b|it's\b)(?:the |our |my |all |any )?[\w'./-]+(?: [\w'./-]+){0,4}?(?: then| instead| for good)?"
    r"\s*[,;:–—-]+\s*(?:(?:then|so|and|but|just|rather|better|instead|please|simply) )*(?P<then>(?:we|let's|i'll|we'll) [a-z]+|[a-z]+)\b(?P<rest> [^.!?]{2,})"
)
#: What is said or shown is no choice: `Skip the intro, tell me the result`.
_TELLING = frozenset(
    "tell give show explain summarize summarise write list answer describe translate continue start jump focus see look help do say "
    "ask let no be thank thanks get come remember think imagine wait please note try check find talk speak have".split()
)
_GOING_ON = re.compile(r" (?:with|back to|for) (?!me\b|it\b)\w", re.IGNORECASE)
_TAKEN_THEN = form(
    r"(?:use|take|choose|pick|go (?:with|for|back to)|stay (?:on|with)|stick (?:to|with)) (?!it\b|that\b|this\b|me\b|care\b|your\b|a (?:break|walk|look|seat)\b)(?:the |our )?[\w'./-]+(?: [\w'./-]+){0,3}?,? then(?=\W*$)"
)
#: Who chose is not the two, or nothing was chosen.
_NO_CHOICE = re.compile(
    r"\b(?:years? ago|months? ago|back then|at the time|as a (?:child|kid)|when (?:i|we) (?:was|were)|trying to|hard to|if (?:we|i|they)|"
    r"haven't|hasn't|not (?:yet )?(?:decided|sure|settled)|do you think|forgot|regret\w*|thinking (?:about|of)|considering|"
    r"used to|for (?:lunch|dinner|breakfast)|to the (?:doctor|dentist|gym|park|beach|cinema|movies|hospital|supermarket))\b",
    re.IGNORECASE,
)
#: Words of doubt, in the clause that would choose.
_DOUBTED = re.compile(r"\b(?:could|would|might|maybe|perhaps|should|probably)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:(–—]")
_EVENT = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|afternoon|evening|weekend)|last night|just now|an hour ago|right now|at the moment|in a (?:minute|moment|bit))\b",
    re.IGNORECASE,
)
_LEAST = 4
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d\S*")


def choice_in(said: Said, *, is_human: bool = True) -> re.Match[str] | None:
    """Where somebody states what the two, or a group of which the speaker is one, chose; None if nothing was chosen."""
    if _NO_CHOICE.search(said.read) or len(_WORD.findall(said.read)) < _LEAST - 1:
        return None
    always: Sequence[re.Pattern[str]] = (_AGREED, _GOING_WITH, _ENDED, _PRESENT)
    if is_human:
        always = (*always, _SETTLED, _FROM_NOW, _TURNED_FROM, _TAKEN_THEN, _CALLED, _NOT_GOING_ON, _WILL_BE)
    if is_human and (replaced := _replacement_in(said)) is not None:
        return replaced
    for pattern in always:
        for match in each_stated(said, pattern):
            is_event = _EVENT.search(said.read) and pattern in (_PRESENT, _GOING_WITH)
            if not is_event and not _is_doubted(said, match):
                return match
    if not is_human or len(_WORD.findall(said.read)) < _LEAST:
        return None
    for pattern in (_PROGRESSIVE, _LETS, _DONE):
        for match in each_stated(said, pattern):
            rest = said.read[match.end() :]
            is_ended = _ENDING.search(match.group()) is not None
            signed = _SIGN.search(rest) or ((pattern is _LETS or is_ended) and _CLAUSE_AFTER.search(rest))
            if (
                signed
                and not _is_doubted(said, match)
                and not _EVENT.search(said.read)
                and (pattern is not _DONE or _is_of_us(match, rest))
            ):
                return match
    return None


def _replacement_in(said: Said) -> re.Match[str] | None:
    """Where somebody gives one thing up, and orders or states another one in its place."""
    for match in each_stated(said, _REPLACED):
        subject, _, verb = match["then"].lower().rpartition(" ")
        goes_on = verb == "go" and _GOING_ON.match(match["rest"])
        if _is_doubted(said, match) or match["rest"].startswith((" me ", " us ")):
            continue
        if goes_on or (verb not in _TELLING and verb != "go" and (subject or can_be_order(verb))):
            return match
    return None


def _is_doubted(said: Said, match: re.Match[str]) -> bool:
    end = _CLAUSE_END.search(said.read, match.end())
    return bool(_DOUBTED.search(said.read[: end.start()] if end else said.read))


def _is_of_us(match: re.Match[str], rest: str) -> bool:
    """Whether what was done was chosen by more than one, or for a reason, or in the place of something."""
    return bool(
        re.match(r"we\b", match.group(), re.IGNORECASE)
        and re.search(r"\b(?:instead|rather than|in favou?r of|because|since|so that|due to|for good|any ?more)\b", rest, re.IGNORECASE)
    )  # fmt: skip
