"""What an agent says that its human may agree to or deny: what it takes for the cause of something, and what it would
do or use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory_pipeline.conversations.forms import each_stated, form, is_question
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.work import decision_in, finding_in, rationale_of
from memory_pipeline.wording.grammar import words_of

OfferKind = Literal["cause", "choice"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence that may be agreed to or denied. `is_sure`: it states its cause as found, and not as a guess."""

    said: Said
    kind: OfferKind
    is_sure: bool = True
    rationale: str = ""


_LEAD = (
    r"(?:(?:ok|okay|right|fine|good|understood|clear|then|so|and|but|also|now|well|hm+|yes|sure|in that case|alternatively|instead|"
    r"rather|for now|next|first|here|(?:as for|for the|about the) [\w'-]+(?: [\w'-]+){0,3}(?=[,:]))[\s,:;–—-]+){0,4}"
)
_CAUSE = r"(?:cause|reason|problem|culprit|bug|issue|explanation|root cause|trigger|source|error|fault|suspect|hypothesis|theory|guess|suspicion|hunch|bet|assumption)"
_GUESSED = re.compile(
    r"\b(?:might|could|may|maybe|perhaps|probably|possibly|presumably|likely|must be|must have|should be|seems?|appears?|looks? like|sounds? like|"
    r"i (?:think|guess|suspect|believe|assume|bet|suppose|would say)|i'd (?:say|guess|bet)|my (?:guess|bet|hunch|theory|suspicion|hypothesis|assumption)|hypothesis|theory|suspect|assumption)\b",
    re.IGNORECASE,
)
#: What is told as the cause of something: found, guessed or suspected.
_OF_CAUSE = re.compile(
    rf"\W*{_LEAD}(?:"
    rf"(?:my |the |our |one |a |another )?(?:\w+ )?{_CAUSE}(?: (?:of|for|behind|with|here) [^.!?:]{{2,80}}?)?\s*(?:[:—–]|(?:is|was|'s|are|were|has to be|must be|may be|might be|could be|seems|lies|turned out|comes?|came)\b)|"
    r"(?:i|we) (?:think|suspect|guess|believe|assume|bet|suppose|would say|found|see|conclude) (?!we (?:should|could|can)\b|i (?:should|could|can|will|would)\b|you\b)(?:that )?\w|"
    r"(?:it|that|this)(?:'s| is| was)(?: (?:probably|likely|surely|clearly|just|simply|actually|most likely|always|again))* (?:the|a|an|our|your|my|because|caused|due|in|on|that|an?other)\b|"
    r"(?:it|that|this) (?:must|might|could|may|has to|should|can only)(?: (?:also|well|only))? (?:be|have|come)\b|"
    r"(?:it|that|this) (?:comes|came|stems|looks like|seems|sounds like|smells like|points to|happens because|happened because|must)\b|"
    r"(?:probably|maybe|perhaps|possibly|presumably|most likely|likely)\b|"
    r"i'd (?:say|guess|bet|blame)\b|[\w' -]{2,40} (?:is|are) (?:to blame|at fault|the culprits?|behind it|responsible for it)\b|"
    r"(?:the|this|that|all|every|both|your|our|these) [\w' -]{2,50}? (?:comes?|came|stems?|results?|(?:is|are|was|were) (?:caused|due|triggered|produced)|happens?|happened|starts?|started) (?:only )?(?:from|by|to|because|due|when)\b|"
    r"[^.!?]{4,120}[,;:–—] ?(?:and )?(?:(?:that|this)(?:'s| is| was)|which is|that explains|which explains|hence|thus) why\b|"
    r"[^.!?]{4,120}, (?:i (?:think|guess|suspect|believe|bet|suppose|assume|would say)|i'd (?:say|guess|bet)|probably|presumably|most likely|it seems)\W*$|"
    r"(?:turns? out|turned out|it turns out|it turned out)\b)",
    re.IGNORECASE,
)
_NO_VERB = (
    r"(?!like\b|love\b|say\b|need\b|be\b|know\b|expect\b|guess\b|think\b|hope\b|look\b|check\b|see\b|try\b|wait\b|ask you|tell you|show you|"
    r"let you|note\b|remember\b|report\b|do (?:that|it|so)\b|take a look|take care|have a look|find out|investigate|read\b|explain\b)"
)
_CHOOSE = (
    r"(?:use|take|go (?:with|for|back to|ahead with)|stay|stick (?:with|to)|keep|store|put|cache|switch|move|replace|drop|split|host|choose|pick|adopt|"
    r"build|book|rent|buy|hire|order|make|give|leave|set|add|send|deploy|run|serve|index|pin|merge|rename|skip|limit|write|call|do|publish|sign|mount|start|"
    r"ship|cut|sort|group|seat|invite|plan|schedule|print|train|sample|shard|partition|encrypt|migrate|archive|save|log|feed|wrap|mock|test)"
)
#: What is to be used or done, as an agent puts it forward.
_PROPOSED = form(
    rf"(?:i'd|i would|we'd|we would|we could|i could|we should|i should|we can|you could|we might|we may|let's|let us|why (?:don't|not) we|what if we|how about we) (?:also |then |rather |just |therefore |now |simply |instead )*{_NO_VERB}[a-z]+ \w",
    rf"(?:i'll|i will|we'll|we will|i'm going to|we're going to|i am going to|i plan to|i want to|i intend to) (?:also |then |rather |just |therefore |now |simply |instead )*{_CHOOSE} (?!it up\b|a look\b|care\b|sure\b|you\b|me\b)\w",
    rf"(?:we|i) (?:also |then |rather |just |therefore |now |simply |instead )*(?!i (?:set|put|cut|split|read)\b)(?:(?<=\bi )(?!set\b|put\b|cut\b|split\b)|(?<!\bi )){_CHOOSE} (?!it up\b|a look\b|care\b|sure\b|you\b|me\b)\w",
    r"(?:i|we)(?:'d| would)?(?: strongly| rather)? (?:suggest|propose|recommend|advise|favou?r|vote for|prefer|lean towards?|opt for)(?: that)? [\w\"]",
    r"(?:my |the |a |one |our |another )?(?:proposal|suggestion|recommendation|idea|fix|solution|choice|pick|best (?:option|choice|way|fit)|favou?rite|way out|workaround|plan|compromise|alternative|remedy|cure)(?: (?:for|to|here) [\w' -]{2,40}?)?\s*(?:[:—–]|(?:is|would be|could be|here is) )",
    r"(?:how|what) about (?!you\b|that\b|it\b)\w",
    r"option [a-z0-9]\b",
    r"(?!it\b|this\b|that\b|there\b|i\b|you\b|what\b)(?:[\w'-]+ ){1,5}?(?:could|should|can|would) (?:be|go|sit|serve|act|work|run|do|live|stay|stand|take) \w",
    rf"(?:you|you'd) {_CHOOSE} \w",
)  # fmt: skip
_ASKED = re.compile(
    rf"\W*{_LEAD}(?:(?:shall|should|can|could|may) (?:i|we) (?:also |then |just )?{_NO_VERB}[a-z]+ \w|(?:do you want|want|would you like) me to {_NO_VERB}[a-z]+ \w|(?:how|what) about (?!you\b|that\b|it\b)\w|"
    rf"why (?:don't|not) we \w|what if we \w|(?:then|so|rather|instead) [^?]{{2,60}}\?|[^,;:?]{{2,60}}? (?:then|instead|perhaps|maybe),?\s*\?)",
    re.IGNORECASE,
)
#: `Could two instances be running?`, `Then the subject lines are too long?`
_ASKED_CAUSE = re.compile(
    rf"\W*{_LEAD}(?:(?:could|might|can|may) (?:it|this|that|the|our|your|there|two|some\w*|(?!i\b|we\b|you\b)[\w'-]+ [\w'-]+)\b[^?]{{0,80}}\b(?:be|have|come|cause|\w+ing)\b|is it (?:possible|maybe|perhaps|the|that|because)\b|maybe\b|perhaps\b|"
    r"(?:then|so) (?:the|it's|it is|our|your|there(?:'s| is)) [^?]{2,80}? (?:is|are|was|were|has|have|too|not) [^?]{2,80})[^?]*\?",
    re.IGNORECASE,
)
#: What only asks whether what stands before it is right: `OK?`, `Shall I?`, `What do you think?`
_ONLY_ASKS = re.compile(
    r"\W*(?:(?:is that |is this |would that be |are you |all )?(?:ok|okay|fine|good|right|agreed|alright|all right|deal|correct|yes|clear|possible)(?: (?:with|for|by) (?:you|me|everybody))?(?: so)?|"
    r"(?:shall|should|may|can) (?:i|we)(?: (?:do (?:that|it|so)|go ahead|proceed|start|continue|go on))?|does that (?:work|fit|suit|make sense|sound \w+)(?: for you)?|"
    r"(?:what|how) do you (?:think|say|feel)(?: about (?:it|that))?|any objections?|objections?|do you agree|you agree|agree|sounds? good|would that (?:work|do|help)|want (?:it|that|me to)|do you want (?:that|it|me to))\s*\?\W*",
    re.IGNORECASE,
)
_PLAN = re.compile(
    rf"\W*{_LEAD}(?:(?:tomorrow|today|tonight|after that|afterwards|later|once [^,]{{3,60}}|after [^,]{{3,40}}|when [^,]{{3,60}}),? )?(?:i'll|i will|i'd|i would|i'm going to|i am going to|i plan to|i can|i could|let me|shall i|should i) (?:also |then |now |next |just |rather )*"
    r"(?:write|send|add|test|run|draft|update|fix|document|clean|ask|prepare|create|make|set up|finish|check|look|investigate|remove|delete|rename|push|commit|open|close|call|report|review|measure|try|start|begin|copy|import|export|upload|download|install|restart|post|print|book|order|list|do|give|rebuild|rerun|re-run|verify|search|read|collect|compare|turn|put together)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(rf"\W*{_LEAD}", re.IGNORECASE)
_SO_OR_THEN = re.compile(
    rf"\W*{_LEAD}(?<![\w'])(?:then|so|rather|instead|alternatively|in that case)[\s,:–—-]+(?=\w)", re.IGNORECASE
)
_THEN_AT_END = re.compile(r"\b(?:then|instead)\W*(?=$|[,;:(–—]|\s-)", re.IGNORECASE)
_REASONED = re.compile(r"[,;:–—(]\s*(?:because|since|as|so that|so|it|they|this|that|which|given|due)\b", re.IGNORECASE)
_HEAD_ENDS = re.compile(r"[,;:.!?–—(]|\s-\s|\b(?:because|since|so that|due to|given)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\W*(?:(?:then|so|and|also|now|first|next),? )*(?:i|we)(?:'ve| have| had)? (?:\w+ly |just |also |now |then |already )*(?!need\b|feed\b|seed\b|embed\b|shed\b)\w+ed\b|\W*(?!need\b|feed\b|seed\b|embed\b|shed\b|agreed\b|red\b)[a-z]+ed (?:the|a|an|our|all|it|that|your)\b",
    re.IGNORECASE,
)
_REASON_BESIDE = re.compile(r"\W*(?:it|they|this|that|he|she|there|its)(?:'s|'re)? \w+", re.IGNORECASE)
_CLAUSE_BESIDE = re.compile(
    r"[,;:–—]\s*(?P<why>(?:it|they|this|that|he|she|there|its)(?:'s|'re)? [^.!?]{4,160})", re.IGNORECASE
)
#: Says what was there; nobody proposes it.
_THANKS = re.compile(
    r"\W*(?:thanks|thank you|sorry|you're (?:right|welcome)|got it|noted|understood|ok|okay|done|sure|good|great|perfect|yes|no)\b[^\w]*$",
    re.IGNORECASE,
)


_ASKS_CHOICE = re.compile(
    r"\b(?:which|prefer|rather)\b|\bor\b|\b(?:what|where|when|how (?:many|much|long|often|big|far|old|high|large)|who|whom|at what|in which|how)\b[^?]*\b(?:should|shall|do you want|would you (?:like|want)|may|must|are we to|am i to)\b",
    re.IGNORECASE,
)
#: `OK: one mail with a question, then removal.`
_ANSWERS = re.compile(r"\W*(?:ok|okay|right|understood|good|fine|so|then|clear)\s*[,:;–—]", re.IGNORECASE)
_FEW = 3
_WH = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay|then|or)\W+)?(?:who|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|shall|may|have|has|had|any|anything|more|you|really|sure|ok|okay|right|still|why not)\b",
    re.IGNORECASE,
)
_LEAVE = re.compile(
    rf"\W*{_LEAD}(?:(?:shall|should|can|may) i|(?:do you want|want|would you like) me to)\b", re.IGNORECASE
)
_ORDINALS = ("first", "second", "third", "fourth")
_OPTION = re.compile(
    r"(?:(?:ok|okay|yes|i'd say|i'd take|i take|take|let's (?:take|do|go with)|go with|definitely|then|hm+)[\s,]+)*"
    r"(?:(?:option|variant|version|plan|number|choice) (?P<name>[a-z]|\d)|the (?P<place>first|second|third|fourth)(?: one| option| variant)?)\b(?=\W*(?:$|[.,!;]| please| because| since| it\b))",
    re.IGNORECASE,
)
_OPTION_LABEL = re.compile(
    r"\W*(?:option|variant|version|plan|number|choice)? ?(?P<name>[a-z]|\d)\s?[:.)—–-]", re.IGNORECASE
)


def offers_in(words: str) -> list[Offer]:
    """What of an agent's turn its human may agree to or deny. If it ends with a question of its own, a yes or no
    answers that one."""
    sentences = own_sentences(words)
    found = [offer for said in sentences if (offer := offer_in(said)) is not None]
    last = next((said for said in reversed(sentences) if not _ONLY_ASKS.fullmatch(said.read)), None)
    if last is not None and is_question(last) and last.end >= len(words.rstrip()) - len("**"):
        return [offer for offer in found if offer.said is last]
    return found


def offer_in(said: Said) -> Offer | None:
    """What an agent's sentence puts forward, if it does."""
    if is_question(said):
        if " or " in said.read.lower() or _ONLY_ASKS.fullmatch(said.read):
            return None
        if _ASKED_CAUSE.match(said.read):
            return Offer(said, "cause", is_sure=False)
        if not _ASKED.match(said.read) and not _names_only(said):
            return None
        return Offer(said, "choice", rationale=said.after.strip(" .!") if _REASON_BESIDE.match(said.after) else "")
    if _THANKS.match(said.read) or _PAST.match(said.read):
        return None
    if _is_cause(said):
        return Offer(said, "cause", is_sure=not _GUESSED.search(said.read))
    if not _is_proposal(said):
        return None
    beside = _CLAUSE_BESIDE.search(said.read)
    why = rationale_of(said) or (said.quote[slice(*beside.span("why"))].strip(" ,.!") if beside else "")
    return Offer(said, "choice", rationale=why)


def asked_choice(words: str) -> Said | None:
    """The question with which an agent ends its turn, if it asks what is to be chosen: `Kafka or RabbitMQ?`"""
    last = next(iter(reversed(own_sentences(words))), None)
    if last is None or not is_question(last) or _ONLY_ASKS.fullmatch(last.read):
        return None
    is_name = len(last.read.split()) <= _FEW and not _WH.match(last.read)
    return last if is_name or _ASKS_CHOICE.search(last.read) else None


def _is_cause(said: Said) -> bool:
    """Whether a sentence tells what something comes from, as found or as a guess."""
    return finding_in(said) is not None or bool(_OF_CAUSE.match(said.read))


def _is_proposal(said: Said) -> bool:
    """Whether an agent's sentence says what is to be used or done, as something that can be agreed to."""
    lead = _LEADS.match(said.read)
    rest = replace(said, read=said.read[lead.end() :]) if lead else said
    if any(next(each_stated(one, _PROPOSED, may_depend=True), None) for one in (rest, said)):
        return True
    leads = _SO_OR_THEN.match(said.read)
    if leads or is_plan(said) or decision_in(said, is_human=False) is not None or _THEN_AT_END.search(said.read):
        return True
    is_led = lead is not None and _ANSWERS.match(said.read) is not None and len(rest.read.split()) > _FEW
    return (is_led or bool(_REASONED.search(said.read))) and not _says_something(said.read)


def _names_only(said: Said) -> bool:
    """Whether a question only names something: `An induction hob with the extractor built in?`"""
    words = words_of(said.read)
    return len(words) > _FEW and not _WH.match(said.read) and not any(word.is_verb for word in words)


def asks_leave(said: Said) -> bool:
    """Whether an agent asks whether it is to do something: `Shall I also delete the logs?`"""
    return _LEAVE.match(said.read) is not None


def is_plan(said: Said) -> bool:
    """Whether a sentence tells what its speaker will do, which is a task, and no choice: `I'll draft the cards.`"""
    return _PLAN.match(said.read) is not None


def _says_something(text: str) -> bool:
    """Whether the words before the first mark or reason make a clause: `Valkey for the cache, since ...` does not."""
    lead = _LEADS.match(text)
    rest = text[lead.end() :] if lead else text
    end = _HEAD_ENDS.search(rest)
    head = rest[: end.start()] if end else rest
    return not head.strip() or any(word.is_verb for word in words_of(head.strip()))


def chosen_option(words: str, sentences: Sequence[Said]) -> Iterator[Said]:
    """The sentences that describe the option that a human names: `Option B.`, `The second one.`"""
    found = _OPTION.match(words.strip())
    if found is None:
        return
    wanted = found["name"] or str(1 + _ORDINALS.index(found["place"].lower()))
    wanted_too = (
        wanted.lower() if wanted.isalpha() else "abcdefghi"[int(wanted) - 1] if wanted in "123456789" else wanted
    )
    for said in sentences:
        label = _OPTION_LABEL.match(said.read)
        if label and label["name"].lower() in (wanted.lower(), *((wanted_too,) if found["place"] else ())):
            yield said
