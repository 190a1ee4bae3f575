"""What is to be done next, and by whom: what an agent says that it will do, what the human tells it to do, and what the
human takes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_pipeline.compaction.kept import Kept
from memory_pipeline.compaction.told import is_done
from memory_pipeline.conversations.forms import form, stated
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.grammar import can_be_order, clauses_of

_ADVERBS = (
    r"(?:(?:also|then|now|next|just|quickly|personally|probably|finally|still|tomorrow|later|first|today|tonight) )*"
)
#: That it is not done at once.
_LATER = re.compile(
    r"\b(?:next|then|after(?:wards)?|once|when|as soon as|tomorrow|later|tonight|today|this (?:afternoon|evening|week)|next week|in the (?:morning|evening|afternoon)|"
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|until|before|by (?:noon|midnight|the end|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d))\b",
    re.IGNORECASE,
)
_AGENT_WILL = re.compile(
    rf"(?:^|[.,;:–—]\s*|\b(?:and|then|so|next|tomorrow|today|tonight|now|later|afterwards|import|run|that|this)\s+|(?:after|once|when|for) [^,;.]{{2,50}}? )\W*(?:i'll|i will|i'm going to|i am going to|i plan to|i do|my next (?:step|task) is to) {_ADVERBS}"
    r"(?!look\b|see\b|try to (?:be|keep)|take a look|have a look|let\b|be\b|wait\b|keep\b|use\b|need\b|know\b|say\b|think\b|remember\b|note\b|stop\b|always\b|never\b|not\b|ask you\b|tell you\b|show you\b|explain\b|start (?:by|with)\b|do (?:that|it|so|my best)\b|stay\b|stick\b|go with\b|take (?:it|that|care of it)\b|go ahead|get back|come back|answer|respond|assume|avoid|treat)(?P<verb>[a-z]+) \w",
    re.IGNORECASE,
)
_AGENT_DOING = re.compile(
    r"(?:^|[.,;:–—]\s*|\b(?:and|then|so|next|tomorrow|now)\s+)(?:i'm|i am) (?:also |then |now )*(?!going\b|looking\b|trying\b|sorry\b|being\b|thinking\b|assuming\b)[a-z]+ing \w[^.!?]*\b(?:next|tomorrow|afterwards|later|tonight|after that|this afternoon)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\b(?:if|unless|would|could|might|maybe|perhaps|should you|whether)\b", re.IGNORECASE)
#: What the human tells the agent to do: `You do the migration.`
_YOU_DO = form(
    rf"(?:please )?you (?:please )?{_ADVERBS}(?P<verb>[a-z]+) (?:(?:to|with|for|about|up|out|down|after|through) )?(?:the|a|an|our|my|all|every|that|this|those|me|us|it|both|\w+s|(?-i:[A-Z])\w+)\b"
)
_NO_TASK = frozenset(
    "know think see like want need feel say mean understand remember look seem love hate always never just are were was have had has do did "
    "can could should would may might must will shall get got told said made gave sent took wrote used keep said forgot missed found "
    "changed asked put set read let owe own hear believe sound agree prefer miss expect appear guess hope wish use call".split()
)
_DO_THE = re.compile(r"\W*(?:please )?you (?:please )?do (?:the|a|our|my|all|that|this|both)\b", re.IGNORECASE)
_ACT = (
    r"(?:call|phone|ring|mail|e-?mail|text|write to|write|contact|ask|tell|talk (?:to|with)|speak (?:to|with)|order|buy|fetch|pick up|book|pay|send|sign|bring|collect|print|renew|register|arrange|organi[sz]e|"
    r"schedule|cancel|return|replace|change|swap|install|test|review|merge|deploy|upload|download|scan|fill (?:in|out)|file|check|fix|repair|mount|paint|clean|prepare|cook|bake|drive|visit|meet|inform|notify|remind|handle|"
    r"search|measure|submit|apply|hand|set up|finish|update|find (?:a|an|someone|somebody)|do (?:the|that part|this part)|get (?:the|a|an|some|new|more|our|my|permission|approval|quotes?)|take care of|look after|deal with|proofread|translate|draft|publish|rent|hire|sell|cut|water|"
    r"move|clear|confirm|verify|order|rotate|restart|plug|carry|put|invite|design|record|photograph|transfer|order|label|restore)"
)
_ACTING = (
    r"(?:calling|phoning|ringing|mailing|e-?mailing|writing to|writing|contacting|asking|telling|talking to|speaking to|ordering|buying|fetching|picking up|booking|paying|sending|signing|bringing|collecting|printing|renewing|registering|arranging|organi[sz]ing|"
    r"scheduling|cancell?ing|returning|replacing|changing|installing|testing|reviewing|merging|deploying|uploading|filling (?:in|out)|filing|checking|fixing|repairing|preparing|getting (?:the|a (?!cold|headache|bit)|an|new|more|permission|approval)|taking care of|handling|"
    r"looking after|dealing with|doing the|finding (?:a|an|someone)|setting up|translating|proofreading)"
)
_NOT_FOR = r"(?!you\b|myself\b|me\b|it\W*$|that\W*$|this\W*$|them\W*$|it later|(?:a|the) (?:bit|look|nap|break|rest|story|secret|moment|question|lot|try)\b|(?:that )?you\b|for (?:you|it)\b|to you\b|whether\b|if\b|how\b)"
_I_DO = form(
    rf"(?:i'll|i will|i'm going to|i am going to|i have to|i need to|i still (?:have|need) to|let me|i can|i shall|i'm about to|i plan to|we'll|i'd better) {_ADVERBS}{_ACT} {_NOT_FOR}\w",
    rf"(?:i'm|i am) {_ADVERBS}{_ACTING} {_NOT_FOR}\w",
    rf"(?!if\b|when\b|what\b|all\b)[\w' -]{{3,60}} (?:i'll|i will|i'm going to) {_ADVERBS}(?:call|order|buy|fetch|get|book|pay|send|sign|bring|print|renew|arrange|organi[sz]e|schedule|replace|change|swap|install|test|review|fix|repair|prepare|do|handle|write|find|take care of|finish|set up|check|clean)(?: up| out)?(?= myself\b|\W*$| (?:on|tomorrow|today|tonight|later|next|this|by|at|after|before|in|when|once)\b)",
    r"(?!if\b|when\b|what\b|friends? of|colleagues? of)[\w' -]{2,60} (?:is|are|stays|remains) (?:mine|on my (?:list|plate|desk)|for me to \w+|up to me)(?: to [a-z]+)?(?=\W*(?:$|[,;.!–—]|(?:and|so|until|by|on)\b))",
    r"(?:i'll|i will) (?:go|drive|walk|fly) (?:to|there) [\w' -]*\b(?:and|to) [a-z]+",
    r"(?:i'll|i will|i'm going to) (?:pick|bring|send|take|drop|hand|fill|sort|write|clean|set|put|look|call|carry) (?:it|them|that|this|him|her|these|those) (?:up|over|out|back|in|down|off|away)\b",
    rf"(?:then )?i {_ACT} {_NOT_FOR}[^.!?]{{3,60}}? (?:tomorrow|tonight|next (?:week|month)|(?:on |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|on the \d+\w*|by \w+day|later today|afterwards)\b",
    r"(?:leave|keep) (?:that|this|it) (?:to|for|with) me\b",
)  # fmt: skip
_NO_ACT = re.compile(
    r"\b(?:let you know|my best|my mind|advice|a (?:headache|cold|break|nap|walk|rest)|to heart|myself (?!$)|some (?:rest|sleep|air)|get (?:the|a|my) (?:feeling|chance|hang|idea|impression))\b",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\W*(?:next(?: steps?| up)?|to-?do|remaining|open|done|still open|up next|what's left)\s*(?::|is to\b|,)\s*",
    re.IGNORECASE,
)
#: Words with which a task says when and by whom it is done.
_OF_TASKS = frozenset(
    "next then after afterwards once tomorrow later tonight today will i'll first now also and finally quickly step you do please i'm before when soon".split()
)
#: So much of what is to be done is said of what is done.
_MOST_OF = 0.5


#: By when something is to be done, or after what.
_DUE = re.compile(
    r"\b(?:tomorrow|tonight|later (?:today|this)|afterwards|after that|next (?:week|month|monday|time we)|by (?:noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|\d|the end of)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|once (?:you|that|it|the)|when (?:you're|that's|it's|the \w+ (?:is|are)) (?:done|finished|ready|through|over))\b",
    re.IGNORECASE,
)
_FEW = 3
#: What is only to be said is done with the answer.
_SAYS = re.compile(
    r"\W*(?:(?:please|ok|okay|and|so|then|now|also|first|just)\W+)*(?:tell|show|explain|list|give|describe|summari[sz]e|look|see|check|think|wait|note|remember|let|say|help|try|find out|go|do|keep|answer|ask|guess|imagine|read|have|be|get|stop|forget|never|don't|do not|thank|start|continue)\b",
    re.IGNORECASE,
)
_ACKNOWLEDGES = re.compile(
    r"\W*(?:noted|ok|okay|understood|will do|clear|sure|alright|all right|got it|agreed|fine|yes|right|of course|certainly|good|on it)\b",
    re.IGNORECASE,
)


def is_agents_next(said: Said, *, is_last: bool) -> bool:
    """Whether an agent says what it will do, and not at once. `is_last`: nothing comes after it in the session."""
    if _AGENT_DOING.search(said.read) and not _AFTER.search(said.read):
        return True
    found = _AGENT_WILL.search(said.read)
    if found is None or _AFTER.search(said.read[: found.start("verb")]) or not can_be_order(found["verb"].lower()):
        return False
    return is_last or bool(_LATER.search(said.read))


def is_order_for_later(said: Said) -> bool:
    """Whether a human tells the agent what to do, by `you`, or by when: `You write the test.`"""
    found = stated(said, _YOU_DO)
    if found is not None:
        verb = found["verb"].lower()
        if (verb not in _NO_TASK and can_be_order(verb)) or _DO_THE.match(said.read):
            return True
    first = next(iter(clauses_of(said.read)), None)
    return first is not None and first.order is not None and _DUE.search(said.read) is not None


def is_order(said: Said) -> bool:
    """Whether a human tells the agent to do something: `Take a snapshot first.`"""
    first = next(iter(clauses_of(said.read)), None)
    return (
        first is not None and first.order is not None and len(said.read.split()) > _FEW and not _SAYS.match(said.read)
    )


def is_only_acknowledged(words: str) -> bool:
    """Whether an agent says that it will do what it was told, and not that it did: `Noted.`"""
    return bool(_ACKNOWLEDGES.match(words)) and not any(is_done(said) for said in own_sentences(words))


def takes_act_on(said: Said) -> bool:
    """Whether a human says what he or she will do: `I'll call the provider.`"""
    return stated(said, _I_DO) is not None and not _NO_ACT.search(said.read)


def without_settled(kept: Sequence[Kept]) -> Iterator[Kept]:
    """What is kept, without tasks of the agent that were done or that the human took on later."""
    taken = [(one.line, _words(one)) for one in kept if one.is_humans]
    done = [(one.line, _words(one)) for one in kept if one.kind == "done"]
    for one in kept:
        words = _words(one)
        is_agents = one.kind == "open" and not one.is_humans and bool(words)
        is_taken = any(one.line < line and 2 * len(words & theirs) >= len(words) for line, theirs in taken)
        is_done = any(one.line < line and len(words & theirs) >= _MOST_OF * len(words) for line, theirs in done)
        if not (is_agents and (is_taken or is_done)):
            yield one


def _words(one: Kept) -> frozenset[str]:
    return frozenset(content_words(_LABEL.sub("", one.text))) - _OF_TASKS
