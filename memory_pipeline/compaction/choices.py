"""What a human chooses, limits and corrects in a session: `We take the second one.`, `Send nothing before Monday.`,
`Make that 4 hours.`"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory_pipeline.compaction.kept import NOTED, Kept, keep, with_reply
from memory_pipeline.compaction.reports import are_of_a_size, figures_of, is_specific
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.own_words import Said, as_read, own_sentences, without_others
from memory_pipeline.records import Turn
from memory_pipeline.wording.grammar import clauses_of

_LEAD = (
    r"(?:(?:ok|okay|then|so|and|but|also|oh|well|perfect|great|good|nice|fine|yes|yep|yeah|alright|all right|right|agreed|"
    r"i agree|hm+|sounds good|actually|wait|now|please|just)\b[\s,.!–—-]*)*"
)
_NO_CHOICE = (
    r"(?!see\b|look\b|talk\b|start\b|begin\b|wait\b|check\b|go (?:on|over|through)\b|move on\b|continue\b|think\b|discuss\b|hope\b|"
    r"get (?:started|going|back)\b|find out\b|stop (?:here|for)\b|assume\b|imagine\b|pretend\b|play\b|recap\b|say (?:that|you|i|we|hello|it)\b|"
    r"be\b|face\b|not\b|leave it (?:there|at that)\b|take a (?:look|break)\b|try (?:to|again)\b|focus\b|chat\b|read\b|understand\b)"
)
_NO_ACT = (
    r"(?:have|are|were|had|know|see|think|want|hope|lose|need to (?:talk|think|know|see)|get|die|can|could|would|should|might|may|"
    r"must|will see|will know|did|do not|don't|got|went|say|feel|believe|guess|cannot|can't|live|work|mean|understand)"
)
_TAKES = r"(?:take|pick|choose|go (?:with|for|back to)|book|order|buy|hire|rent|stay with|stick (?:with|to))"
#: What is chosen, by the build of the sentence.
_CHOICE = re.compile(
    rf"(?:^\W*{_LEAD}|[,;:–—]\s*(?:but |so |and |then )*|\b(?:but|so|and|then) )(?:let's|let us) {_NO_CHOICE}[a-z]+ \w"
    rf"|^\W*{_LEAD}(?<![\w'])(?:then|so)\b,? (?:we|i)(?:'ll| will)? (?!{_NO_ACT}\b)[a-z]+ \w"
    rf"|^\W*{_LEAD}(?<![\w'])then (?:it(?:'s| is)|(?:the|a) ) ?(?!(?:fine|ok|okay|good|clear|true|not|too|all|because|why|what|how|that|like|possible|still|just|probably|time|safe|wrong|broken)\b)\w"
    rf"|^\W*{_LEAD}(?:we|i)(?:'ll| will)? {_TAKES} (?:the|that|this|it|them|those|both|(?-i:[A-Z0-9]))"
    rf"|^\W*{_LEAD}(?:we|i)(?:'ll| will)? (?!{_NO_ACT}\b)[a-z]+ [^.!?]{{2,80}} instead(?: of [\w' -]+)?\W*$"
    rf"|^\W*{_LEAD}(?:we|i) need to [a-z]+ [^.!?]{{2,80}}\bthen\W*$"
    r"|^\W*(?:the|this|that|our|(?-i:[A-Z])[\w-]+)(?: [\w-]+){0,3} (?:can|has to|must) go(?=\W*(?:$|[,;]))"
    rf"|^\W*{_LEAD}(?<![\w'])then (?!no\b|yes\b|ok|what\b|why\b|how\b|fine\b|good\b|nothing\b|again\b|later\b|tomorrow\b|go\b|stop\b|do\b|great\b|sorry\b|never\b)[\w-]+(?=\W*(?:$|[,;]))"
    rf"|^\W*{_LEAD}back to (?:the|our|plan|option)\b(?! (?:topic|question|point|subject|start|beginning|office|matter|drawing board)\b)"
    rf"|^\W*{_LEAD}(?:{_TAKES}|get|use|put) (?:it|them|that|this|those) (?:at|from|with|in|on) (?:the )?(?-i:[A-Z])"
    rf"|^\W*{_LEAD}(?:[a-z]+(?: [a-z]+)?: )?(?:call|name|spell|write) [^.!?]{{2,60}}, not [\w' -]+\W*$"
    rf"|[,;:]\s*(?:that|this) one(?:'s| is) (?:out|gone)\W*$",
    re.IGNORECASE,
)
#: What is chosen of what the agent named directly before.
_THAT_ONE = re.compile(
    rf"\W*{_LEAD}(?:take|book|buy|order|pick|choose|use|get|send|keep|reserve) (?:it|that(?: one)?|this(?: one)?|them|those)(?: one)?(?:,? (?:please|then|thanks))?\W*$",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:always|usually|normally|every|each|often|mostly|sometimes|generally|last|if|when|whenever|would|might|maybe|perhaps)\b",
    re.IGNORECASE,
)
#: A time that takes the place of another: `5 o'clock please.`
_TIME_INSTEAD = re.compile(
    rf"\W*{_LEAD}(?:at )?(?:\d{{1,2}}[:.]\d\d|\d{{1,2}}(?: o'clock| ?[ap]\.?m\b))(?:,? (?:please|instead|rather|better))",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<![\w.:])\d{1,2}:\d\d(?![\w:])")
#: What a human limits, or keeps to himself or others.
_LIMIT = re.compile(
    rf"^\W*{_LEAD}(?:don't|do not|never) (?!worry|bother|forget|mind\b|panic|know\b|think\b|get me wrong|be\b|let\b|you\b|see\b|want\b|need\b|have\b|like\b|care\b|understand|hesitate|remember|believe|feel\b|do (?:that|it|this)\b)[a-z]+ (?!(?:that|it|this)\W*$)\S"
    rf"|^\W*{_LEAD}(?!there\b)[a-z]+ (?:nothing|nobody|no one|none) (?:before|until|about|without|to|in|on|from|outside)\b"
    rf"|^\W*{_LEAD}(?:nobody|no one|nothing) (?!changed\b|happened\b|works?\b|helped\b|new\b|else\b|knows?\b|was\b|is\b|has\b|came\b|came\b|there\b|told\b|answered\b)[a-z]+ [^.!?]{{2,}}\b(?:without|before|until|but|except|unless|to|in|on)\b"
    rf"|^\W*{_LEAD}(?<![\w'])no (?!change|effect|difference|luck|improvement|errors?\b|answers?\b|response|reply|news|signs?\b|traces?\b|memory|results?\b|data\b|idea|problem|need\b|worr|doubt|one\b|more\b|way\b|hurry|rush|longer|matter|thanks|we\b|i\b|it\b|that\b|the\b|not\b|this\b|you\b|he\b|she\b|they\b)[a-z][\w' -]{{1,50}} (?:for|in|on|to|before|after|without|outside|during) \w"
    rf"|^\W*{_LEAD}(?:leave|keep) (?:(?:it|that|this|them|those|the [\w' -]{{2,40}}?|(?-i:[A-Z])[\w-]+|[\w -]{{2,30}}?) )(?:alone|untouched|unchanged|as (?:it|they) (?:is|are)|(?:on|off|open|closed)(?=\W*$|[,;]| (?:until|till|for|while|because)\b))"
    r"|^\W*only (?!if\b|when\b|after\b|one\b|a\b|the\b|two\b|three\b)(?:i|we|(?-i:[A-Z])[\w-]+) [a-z]+ \w"
    r"|[,;] (?:nobody|no one) (?!knows|likes|wants|needs|uses|has|gets|sees|reads|understands|misses|cares)[a-z]+s (?:it|them|that|this)\b"
    r"|[,;] never again\W*$"
    r"|, nothing (?:about|of|on|with) \w"
    r"|\bonly (?:after|if|when|with) (?:i|we|my|our|the|she|he|they|(?-i:[A-Z]))[\w' ]+"
    r"|\b(?:must|has to|have to) (?:stay|remain|not|never|only|keep|fit) (?:under|below|above|within|over|between|in|on|at|be\b|a|the|\d)"
    r"|\b(?:has|have|needs?|wants?|must) (?:to )?(?:see|check|read|sign|approve|confirm|review) (?:it|them|that|this|everything|all of it) (?:first|before)\b"
    r"|\b(?:goes|go) to [^!?]{2,40} before (?:anyone|anybody|everyone|it|they|we|anything)\b"
    rf"|^\W*{_LEAD}[^.!?]{{4,60}}\b(?:throughout|everywhere|at all times)\W*$"
    r"|\b(?:on|in|for|to|at) (?:all|every|each)(?: of)? (?:our|my|the|your)? ?[a-z]+\W*$",
    re.IGNORECASE,
)
_LEADS = re.compile(rf"\W*{_LEAD}", re.IGNORECASE)
_LIMIT_STARTS = re.compile(r"\b(?:on|in|for|to|at) (?:all|every|each)\b", re.IGNORECASE)
#: A value that takes the place of one that was told: `Wait, make it 442,500.`
_VALUE_INSTEAD = re.compile(
    rf"\W*{_LEAD}(?:(?:make|call) (?:it|that|this)|say|let's say|better|rather|change (?:it|that) to|(?:dim|set|turn|lower|raise|cut|put|bring|reduce|increase) (?:it|that|this|them) (?:down |up )?to) (?:about |at most |rather )?(?P<value>[\d.,]*\d)(?![\w/:-])",
    re.IGNORECASE,
)
_SAY_INSTEAD = re.compile(r"\bbut (?:let's )?(?:say|make it|call it) (?P<value>[\d.,]*\d)(?![\w/:-])", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:it|that|them|those|this)\b", re.IGNORECASE)
#: How many turns before may have the figure that a value replaces, and how far the two are apart without a unit.
_REACH, _SAME_SIZE = 5, 1.04
_SHORT = 8
_FOR_NOW = re.compile(r"\b(?:for now|for the moment|this time|this once)\b", re.IGNORECASE)
_FOR_ONCE = re.compile(r"\W*(?:next|first|now|then|after that|afterwards|today|tomorrow)\b,? (?!time\b)", re.IGNORECASE)
_LASTING = re.compile(r"\b(?:always|never|from now on|every|each|whenever|in future|don't|do not|no)\b", re.IGNORECASE)
_TO_BE_DONE = re.compile(
    r"\W*(?:(?:so|then|and|but|also) )*(?!if\b|there\b|every|each\b|all\b|any\b)[\w' .-]{2,50} (?:has|have|needs?|still needs?) to be (?!able\b|in\b|a\b|the\b|on\b|at\b|under\b)[a-z]+(?:ed|ne|wn|en|ut|lt|nt|de|ld|t)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NewValue:
    """A figure that the human puts in the place of one that was told before: the turn, the words, and the figures that
    do not hold any more by the lines in which they stand."""

    turn: Turn
    text: str
    old: frozenset[tuple[int, str]]


def is_choice(said: Said) -> bool:
    """Whether a human states what is taken, done or dropped in this session."""
    if is_question(said) or _HABIT.search(said.read):
        return False
    return _CHOICE.search(said.read) is not None or says_value(said)


def says_value(said: Said) -> bool:
    """Whether a human names a figure that is to hold in the place of another."""
    instead = _VALUE_INSTEAD.match(said.read) or _TIME_INSTEAD.match(said.read) or _SAY_INSTEAD.search(said.read)
    return instead is not None


def is_limit(said: Said) -> bool:
    """Whether a human states what is not to be done, not before what, or not without whom."""
    if is_question(said):
        return False
    found = _LIMIT.search(said.read)
    if found is None:
        return False
    if _LIMIT_STARTS.match(found.group()):
        lead = _LEADS.match(said.read)
        first = next(iter(clauses_of(said.read[lead.end() if lead else 0 :])), None)
        return first is not None and first.order is not None
    return True


def is_for_once(text: str) -> bool:
    """Whether an order is of this once, and no rule: `Next, add an alert when it takes longer.`"""
    return _FOR_ONCE.match(text) is not None and not _LASTING.search(text)


def is_to_be_done(text: str) -> bool:
    """Whether words say that something is to be done once: `Figure 2 has to be redone.`"""
    return _TO_BE_DONE.match(text) is not None and not _LASTING.search(text)


def chosen_in(turns: Sequence[Turn], denials: Iterable[str]) -> Iterator[Kept]:
    """The choices and limits of the human in some turns. `denials`: the words of replies that deny, which are kept with
    what they deny."""
    told_already = tuple(denials)
    for place, turn in enumerate(turns):
        if turn.speaker != "human":
            continue
        sentences = own_sentences(turn.words)
        for number, said in enumerate(sentences):
            if any(said.quote in text for text in told_already):
                continue
            if is_limit(said) and _FOR_NOW.search(said.read):
                yield keep(turn, "decision", _with_before(said, sentences, number))
            elif is_limit(said):
                yield keep(turn, "rule", _with_before(said, sentences, number), confidence=NOTED)
            elif is_choice(said) and place:
                yield keep(turn, "decision", said.quote)
            elif _THAT_ONE.match(said.read) and (named := _named_before(turns, place)):
                yield keep(turn, "decision", with_reply(named, said.quote))


def _with_before(said: Said, sentences: Sequence[Said], number: int) -> str:
    is_short = number and len(said.quote.split()) <= _SHORT and _POINTS.search(said.read) is not None
    return f"{sentences[number - 1].quote} {said.quote}" if is_short else said.quote


def _named_before(turns: Sequence[Turn], place: int) -> str:
    if not place or turns[place - 1].speaker != "agent":
        return ""
    told = [said for said in own_sentences(turns[place - 1].words) if is_specific(said.quote) and not is_question(said)]
    return told[-1].quote if told else ""


def new_values_in(turns: Sequence[Turn]) -> list[NewValue]:
    """The figures and times that the human put in the place of others."""
    found = []
    for place, turn in enumerate(turns):
        if turn.speaker != "human" or not place:
            continue
        before = turns[place - 1]
        own = without_others(turn.words).strip()
        times = set(_TIME.findall(before.words))
        if len(times) == 1 and "?" not in own and _TIME_INSTEAD.match(as_read(own)):
            found.append(NewValue(turn, own, frozenset((before.line, time) for time in times)))
        for said in own_sentences(turn.words):
            value = _VALUE_INSTEAD.match(said.read)
            if value is None or is_question(said):
                continue
            number, last = value["value"].rstrip(".,"), figures_of(before.words)
            unit = figures_of(said.quote).get(number, "")
            old = {(before.line, figure) for figure in last} if len(last) == 1 else set()
            for one in turns[max(0, place - _REACH) : place]:
                alike = (
                    figure
                    for figure, of in figures_of(one.words).items()
                    if figure != number and _is_like(figure, of, number, unit)
                )
                old.update((one.line, figure) for figure in alike)
            found.append(NewValue(turn, said.quote, frozenset(old)))
    return found


def _is_like(one: str, unit: str, other: str, other_unit: str) -> bool:
    """Whether two figures may be of the same thing: of one unit, or of about one size where a unit is not told."""
    if unit and other_unit and unit == other_unit:
        return True
    return are_of_a_size(one, other, _SAME_SIZE)


def without_old_values(kept: Iterable[Kept], values: Sequence[NewValue]) -> Iterator[Kept]:
    """What is kept, without what an agent did or put forward with a figure that its human replaced; a fact stands with
    what replaced it."""
    by_line: dict[int, dict[str, NewValue]] = {}
    for value in values:
        for line, old in value.old:
            by_line.setdefault(line, {})[old] = value
    for one in kept:
        replaced = by_line.get(one.line, {})
        has = figures_of(one.text) if replaced else {}
        new = next((replaced[old] for old in replaced if old in has or (":" in old and old in one.text)), None)
        if new is None or one.kind in ("dead_end", "rule", "open") or new.text in one.text:
            yield one
        elif one.speaker == "human" or one.kind == "fact":
            yield replace(one, text=with_reply(one.text, new.text))
