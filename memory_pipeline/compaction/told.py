"""What sentences tell of the work itself: settings that were changed, what is done or open, and what did not work."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.conversations.forms import form, stated
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.grammar import PRESENT, can_be_order, clauses_of

_I = r"(?:(?:i|we)(?:'ve| have)? )?(?:(?:now|just|also|then|finally|already|successfully) )*"
_VALUE = r"(?P<value>`[^`]{1,120}`|\"[^\"]{1,120}\"|[^\s,;]+(?: (?:ms|seconds?|secs?|s|minutes?|mins?|hours?|h|days?|MB|GB|KB|%|UTC|a\.m\.|p\.m\.)(?!\w))?)"
_KEY = r"(?P<key>(?:the |our |your )?(?!(?:is|are|was|and|but)\b)[^\s,;:.]+(?:[._-][^\s,;:]+)?(?: (?!(?:is|are|was|and|but)\b)[^\s,;:.]+){0,4}?)"
_SET = form(
    rf"{_I}(?:please )?(?:set|sets|changed?|switched?|moved?|bumped?|raised?|lowered?|increased?|decreased?|reduced?|updated?|reset|revert(?:ed)?|turned (?:up|down)) {_KEY}(?: back)?(?: from (?P<old>`[^`]{{1,80}}`|[^,;]{{1,40}}?))? to {_VALUE}",
)
_IS_NOW = form(rf"{_KEY} (?:is|are) (?:now (?:set to |back (?:at|to) )?|back (?:at|to) ){_VALUE}")
_IS_AGAIN = form(rf"{_KEY} (?:is|are) {_VALUE} (?:again|now)\b")
_AMOUNT = r"`[^`]{1,80}`|\d(?:[\w.,]*\w)?(?: (?:ms|seconds?|s|minutes?|min|hours?|h|days?|MB|GB|%))?"
#: A value that is a word: `Set it back to info.`
_IS_WORD = re.compile(
    r"(?!(?:something|anything|what|how|the|a|an|be|me|you|us|my|your|zero|end|work)$)[a-z][a-z_-]+", re.IGNORECASE
)
_IS_IDENTIFIER = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b|\w[_.]\w")
#: A value without its name: `Make it 3.`
_MADE = form(
    rf"(?:please |better |rather |just |let's |then )*(?:make|set|change|put|raise|lower|bump|reduce|increase|cut|keep|leave) (?:it|that|this)(?: down| up| back)?(?: to| at)? {_VALUE}(?=\W*(?:$|,|;| (?:please|instead|then|for now|as|because|since|and)\b))",
    rf"(?:please |just )*(?:(?:better|rather|let's|i'd|we'd|we|i) )*(?:use|take|go with|better|rather|need|want|say) (?P<taken>{_AMOUNT})(?: instead| rather| please|, please)?(?=\W*$)",
    rf"(?P<asked>{_AMOUNT}),? (?:please|instead|rather)(?=\W*$)",
    rf"(?P<enough>{_AMOUNT}) (?:is|are|seems|should be) (?:plenty|enough|better|more like it)\b",
)
_ASSIGNED = re.compile(
    r"(?<![\w.])`?(?P<key>[A-Z][A-Z0-9]*_[A-Z0-9_]{1,60}|[a-z][\w-]{1,40}(?:\.[\w-]{1,40}){1,6}|"
    r"[a-z][a-z0-9]*(?:_[a-z0-9]+){1,6}(?=\s?=\s?[\d\"']))\s?=\s?(?P<value>[^\s`,;]{1,200})`?"
)
#: What a setting is called, if its name does not look like one.
_NAMED = re.compile(
    r"\b(?:time-?out|port|interval|limit|retries|retry|threshold|size|schedule|cron|ttl|version|path|url|endpoint|region|"
    r"model|pool|workers?|threads?|replicas?|memory|quota|budget|rate|level|window|slot|retention|delay|period|"
    r"frequency|zone|timezone|host|branch|flag|mode|export|backup|job|channel|stack|heap|buffer|set-?point|temperature|brightness|volume|baud|gain|offset|duration|cache|concurrency|seed|epochs?|humidity|dose|threshold)\b|[\w]+[._]\w+|`[^`]+`|\b(?-i:[A-Z][A-Z0-9_]{3,})\b",
    re.IGNORECASE,
)
_IS_VALUE = re.compile(
    r"[`\"\d]|^(?:true|false|on|off|yes|no|none|null|enabled|disabled|[a-z]+[-_./:][\w./:-]+)\b", re.I
)
#: A setting that was found so, or with which something was tried, is not changed.
_IS_FOUND = re.compile(
    r"\b(?:has|had|have|shows?|showed|contains?|says|said|found|sits at|with|because of) (?:still |the |a |only )*`?[\w.-]+\s?=\s?\S",
    re.IGNORECASE,
)
#: A setting that is tried, proposed or forbidden is not changed.
_TRIED = re.compile(
    r"^\W*(?:setting|with|using|running|run|try|trying|without)\b|\b(?:if|would|could|should|might|can|don't|do not|never|not)\b",
    re.I,
)
_DID = (
    r"(?:fixed|added|implemented|finished|completed|deployed|merged|wrote|created|updated|removed|renamed|migrated|refactored|"
    r"verified|released|installed|configured|replaced|moved|rewrote|resolved|closed|shipped|upgraded|documented|enabled|disabled|"
    r"restored|cleaned up|set up|rolled out|rewritten|written|drafted|booked|ordered|sent|scheduled|printed|translated|built|prepared|imported|exported|loaded|reverted to|corrected|tested|measured|uploaded|downloaded|reserved|paid|recovered|rebuilt|turned (?:on|off)|switched (?:on|off)|rotated|indexed|backed up|pushed|committed|published|split|extracted|wired|ported)"
)
_DONE = form(
    rf"{_I}{_DID} (?!but\b|by\b|in the past\b)\w",
    r"(?:all )?(?:\d[\d,]* )?(?:of \d+ )?(?:tests?|checks?|suites?|builds?) (?:now )?(?:pass|passes|passed|are green|is green|succeeded)\b",
    r"[\w`./# -]{3,60} (?:is|are) (?:now )?(?:done|complete|completed|finished|deployed|merged|in place|live|fixed)\b",
)
#: A result that is not whole.
_FAILS = re.compile(r"\b[1-9]\d* (?:\w+ )?(?:fail(?:s|ed|ing|ures?)?|errors?|broken|red)\b", re.IGNORECASE)
#: Who is responsible for what, and who is away until when.
_ROLE = form(
    r"(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)? (?:owns|maintains|reviews|approves|handles|runs|takes care of|looks after|is responsible "
    r"for|is in charge of|is on call (?:for|this|until)|signs off) \w",
    r"(?:(?-i:[A-Z])[\w'-]+|he|she|they|i|i'm|we|we're)(?: am| is| are| will be)? (?:out|away|off|on leave|on holiday|on vacation|"
    r"unavailable) (?:of (?:the )?office )?(?:until|till|from|on|for|since|this|next)\b",
)
_OPEN = form(
    r"(?:i'm|i am|we're|we are|still|currently)(?: still| currently)? (?:working on|investigating|debugging|looking into|waiting (?:for|on)|running|migrating|writing)\b",
    r"(?:the |up )?next(?: step| steps| up)?(?: is| are|:|,) ?(?:to )?\w",
    r"(?:what(?:'s| is) left|what remains|remaining|left to do|still open|still missing|still to do|to-?do)(?: is| are|:) ?\w",
    r"[\w`./ -]{2,60} (?:still needs?|is still|are still|remains?) (?:to |open|running|failing|pending|missing|unresolved|broken)",
    r"(?:i|we) still (?:need|have) to \w",
    r"(?:i'll|i will|i'm going to|let me) (?:now |next |then )(?!know\b)\w+",
    r"(?:still )?(?:blocked (?:on|by)|waiting (?:for|on)) \w",
)
#: What runs, where it is told how far, or that it goes on.
_UNDER_WAY = form(
    r"[\w`./' -]{2,60} (?:is|are) (?:now |currently |still )?(?:running|in progress|under ?way|ongoing|being \w+ed|half[- ]done)(?=\s*(?:[:,.;(–—-]|$|now\b|in the background\b|since\b|at \d))",
    r"[\w`./' -]{2,60} (?:is|are|has) (?:now |about |at |reached )*\d{1,2}(?:[.,]\d+)? ?(?:%|percent) (?:done|complete|finished|through|in)\b",
    r"(?:the |our )?[\w`./'-]+(?: [\w`./'-]+){0,3} (?:is|are) (?:now )?at \d{1,2}(?:[.,]\d+)? ?(?:%|percent\b)(?=\s*(?:[,.;:(]|$|now\b|so far\b))",
)
_OF = re.compile(r"(?<![\w.])(?P<done>\d[\d,.]*\d|\d)(?: of|/| out of) ?(?:the )?(?P<all>\d[\d,.]*\d|\d)(?![\w/])")
#: What a human takes on.
_TAKES_ON = form(
    r"(?:i'll|i will|i'm going to|i am going to|let me) (?!not\b|never\b|try\b)[a-z]+ (?!(?-i:[^.!?,;]{0,80}\bto [a-z]+ myself))[^.!?,;]{2,80}? (?:myself|on my own|personally)(?=\W*$|[,;.!]| (?:then|later|tomorrow|today|tonight|so|and|because|this|next)\b)",
    r"(?:leave|keep) (?!me\b|you\b)[\w' -]{2,50}? (?:to|for|with) me\b(?! (?:when|if|as|in)\b)",
    r"(?:i'll|i will|i'm going to|let me) (?:take care of|handle|deal with|take over|take on) (?!you\b|me\b|it from\b|a (?:look|break|walk|nap|moment)\b)\w",
    r"(?!if\b|when\b)[\w' -]{2,40} (?:is|are) (?:on me|my (?:job|task|part))\b",
)
#: Where in code something is: what is told of such a place was looked up.
_PLACE_IN_CODE = re.compile(
    r"\blines? \d+|\b[\w/-]+\.[a-z]{1,4}:\d+|\b\w+\(\)[^.!?]{0,40}\b[\w/-]+\.[a-z]{1,4}\b|\b[\w/-]+\.[a-z]{1,4}\b[^.!?]{0,40}\b\w+\(\)"
)
#: What is named as the cause, with what it does: `It is the proxy: it cuts the body.`
_IS_IT = re.compile(
    r"\W*(?:(?:so|ok|okay|right|found it),? )?it(?:'s| is| was) (?:the|our|a|an) [\w' -]{2,40}\s*[:—–]\s*(?:it|they|its) (?!is (?:a|so|very|too|great|good)\b|'s\b)\w+ (?:the|a|an|our|every|all|no|any|its|only|at|after|before|on|in|\w+s)\b",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(
    r"\W*(?:(?:so|and|but|also|then|because|hm+|ah|oh|right|ok|okay),? )*(?:the|a|an|our|this|that|its|it|they|each|every|all|no|nothing|nobody|[\w.]+\(\)?|(?-i:[A-Z])[\w.]+|[\"`][^\"`]+[\"`]) "
    r"(?!me\b|us\b)\w",
    re.IGNORECASE,
)
#: Where something is to be, or how it is to be: `Put the labels in the bucket labels-prod.`
_PLACED = form(
    r"(?:(?:please|then|so|and|just|also|rather|better) )*(?:put|store|keep|save|host|serve|route|point|mount|archive|cache|log|publish|name|call|use|deploy|index|partition|key|shard|encode|encrypt|tag|send|upload|write|read|load) (?!me\b|it up|in mind)(?P<rest>[^.!?;]{4,200})"
)
#: What is to be used, by its name, and for what: `Use ULIDs for the order ids.`
_USED_FOR = form(
    r"(?:(?:please|then|so|and|just|also|rather|better) )*(?:use|take) (?:the |our )?(?-i:[\w.-]*[A-Z0-9_][\w.-]*)(?: [\w.-]+){0,2}? (?:for|in|as|on) (?:the|our|all|every|each|new|any) (?!moment\b|time\b|day\b|meantime\b|future\b)\w"
)
#: How much of something there is to be: `Keep it to 120 words.`
_MEASURED = form(
    r"(?:(?:please|then|so|and|just|also|rather|better) )*(?:keep|limit|cut|restrict|shorten|cap|hold) (?:it|that|this|them|the [\w-]+|each [\w-]+|every [\w-]+) (?:to|at|under|below|within|down to) (?:at most |about |max(?:imum)? )?\d[\w.,]* [a-z]+"
)
#: What is taken, by its name: `We take Meier.`, and what there is not to be: `No tracking pixels in that mail, please.`
_TAKEN = form(
    r"(?:(?:then|so|and|ok|okay|please) )*(?:we(?:'ll| will)?|i(?:'ll| will)?|let's|you) (?:just |rather )?(?:take|pick|choose|go (?:for|with)|book|use|buy|order|hire|stay with|keep) (?:the |a |an |our )?(?-i:[A-Z0-9])[\w.&'-]*(?: (?-i:[A-Z0-9])[\w.&'-]*)*(?=\W*$|,| (?:then|for|because|instead|as)\b)",
    r"(?:and |also |but )*no (?!problem|worr|need\b|idea|rush|hurry|doubt|matter|more\b|way\b|thanks|one\b|objection|comment)[\w' -]{3,80},? please(?=\W*$)",
)
_CHOSEN_PLACE = re.compile(
    r"\b(?:in|into|on|under|to|from|at|as|with|by|per|for|behind) (?:(?:the|a|an|our|one|its) )?(?:[\w-]+ ){0,3}?(?:\"[.]+\"|`[.]+`|\w+(?:[-_]\w+)+|\w+://\S+|[\w.]+:\d+|#\w[\w-]*|(?-i:[A-Z]{2,})\d*\b)"
    r"|\bper \w+|\b(?:bucket|table|schema|branch|queue|topic|index|region|host|namespace|prefix|cluster|volume|directory|column|key) \w",
    re.IGNORECASE,
)
_DEAD_END = form(
    r"(?:that|this|it|which|[\w`./' -]{2,60}) (?:didn't|did not|doesn't|does not|won't|never|don't|do not) (?:actually |really |seem to )?(?:work|help|fix|solve|scale|compile|resolve|support)\w*\b",
    r"(?:i|we)(?:'ve| have)? (?:already |also )?tried (?:to )?(?:[^.;]|\.\d){3,120}?(?:,|;| -| —)? ?(?:but|and it|without|no luck|which|still)\b",
    r"(?:(?:i|we)(?:'ve| have|'m| am)? )?(?:just |now |already )*(?:reverted|gave up on|giving up on|abandoned|abandoning|rolled back|backed out|ruled out) \w",
    r"(?:that|this|it)(?:'s| is| was) a dead[- ]end\b|dead[- ]end\s*[:—-]",
)
#: What an agent reports of the work; of what a human tells so, much is of other things.
_FAILED = form(
    r"[\w`./' -]{2,60} (?:is|was|are|were) (?:not supported|a red herring|not the (?:cause|problem|culprit|reason|issue)|ruled out)\b",
    r"[\w`./' -]{2,60} (?:failed|broke|crashed) (?:because|due to)\b",
)
_AGREED = r"(?:i|we) (?:really |strongly |all )?(?:prefer|want|insist|require|agreed|expect) (?:that )?(?:we|you|it|nobody|this)"
_RULE = form(
    r"(?:(?:please|and|but|so|also|then|instead|you (?:must|should)) )*always (?P<verb>[a-z]+)\b",
    rf"{_AGREED} (?:should |must |are to |is to |to )?(?:never|always) (?P<agreed>[a-z]+)\b",
    r"(?:we|[\w`./' -]{2,60}) must (?:never|always) (?:be )?(?P<must>[a-z]+)\b",
    r"(?:after|before|between|during|outside|on|in|at) (?:the |our )?(?:\d[\w:.]*|[a-z]+s|[a-z]+ing)(?: (?:and|or|o'clock|of|in|the|\w+day|\d[\w:.]*)){0,3},? (?P<none>no) (?!one\b|problem|need\b|idea|doubt|more than\b|matter)[a-z][\w' -]{3,}",
)
#: What a person always does is no rule for others.
_NO_RULE = frozenset("is are was were be been has have had look remember feel know think wonder love hate".split())
_REFERS_BACK = re.compile(r"\W*(?:but |and |so )?(?:that|this|it|which|both|these|they|he|she)\b", re.IGNORECASE)
_HEDGED = re.compile(r"\b(?:would|might|may|could|should|if|will|shall|unless|whether|maybe|perhaps)\b", re.IGNORECASE)
_NO_EFFORT = re.compile(
    r"\b(?:i|you|he|she|they|people) (?:didn't|don't|doesn't|did not|do not) (?:really )?(?:work|help)\b", re.I
)


def configs_in(said: Said) -> list[tuple[str, str]]:
    """The settings that a sentence changes, each with its value, in the words of the sentence."""
    tried = _TRIED.search(said.read)
    found = (
        []
        if tried or _IS_FOUND.search(said.quote)
        else [(match["key"], _bare(match["value"])) for match in _ASSIGNED.finditer(said.quote)]
    )
    for pattern in (_SET, _IS_NOW, _IS_AGAIN):
        for match in pattern.finditer(said.read):
            key, value = (said.quote[slice(*match.span(name))] for name in ("key", "value"))
            is_stated = stated(said, pattern) is not None
            has_value = _IS_VALUE.search(value) or (_IS_IDENTIFIER.search(key) and _IS_WORD.fullmatch(_bare(value)))
            if is_stated and _NAMED.search(key) and has_value and _bare(key) and _bare(value):
                found.append((re.sub(r"^(?:the|our|your)\s+", "", _bare(key), flags=re.IGNORECASE), _bare(value)))
    return found


def value_in(said: Said) -> str:
    """The value that somebody orders for what was set last, without naming it (`Make it 3.`); empty if there is none."""
    found = stated(said, _MADE)
    if found is None or _TRIED.search(said.read):
        return ""
    place = next(found.span(name) for name in ("value", "taken", "asked", "enough") if found[name])
    value = _bare(said.quote[slice(*place)])
    if re.search(r"\bto$", said.read[: place[0]].rstrip()) and _IS_WORD.fullmatch(value):
        return value
    return value if re.search(r"\d|^(?:true|false|on|off|[\w]+[-_./:]\w+)$", value, re.IGNORECASE) else ""


def _bare(text: str) -> str:
    return text.strip("`\"' *").rstrip(".!?)`\"'")


def is_done(said: Said) -> bool:
    """Whether somebody states that a piece of the work is done, all of it, and nothing of it failed."""
    return stated(said, _DONE) is not None and not _FAILS.search(said.read) and not _is_in_part(said)


def is_open(said: Said) -> bool:
    """Whether somebody states what is under way, comes next, or fails."""
    if stated(said, _OPEN) is not None or stated(said, _UNDER_WAY) is not None:
        return True
    return stated(said, _DONE) is not None and (_FAILS.search(said.read) is not None or _is_in_part(said))


def _is_in_part(said: Said) -> bool:
    """Whether fewer are done than there are: `118,400 of 240,000`."""
    counted = (
        [int(re.sub(r"\D", "", number)) for number in match.group("done", "all")] for match in _OF.finditer(said.read)
    )
    return any(done < of_all for done, of_all in counted)


def takes_on(said: Said) -> bool:
    """Whether somebody states to do something himself or herself."""
    return stated(said, _TAKES_ON) is not None


def is_finding(said: Said) -> bool:
    """Whether somebody states how something is at a place in the code."""
    if _IS_IT.match(said.read):
        return not _HEDGED.search(said.read)
    if not _PLACE_IN_CODE.search(said.quote) or not _ABOUT_IT.match(said.read) or _HEDGED.search(said.read):
        return False
    first = next(iter(clauses_of(said.quote)), None)
    return first is not None and first.order is None and first.verb is not None and first.verb.tag in PRESENT


def is_statement(said: Said) -> bool:
    """Whether a sentence says how something other than the two is."""
    first = next(iter(clauses_of(said.quote)), None)
    return bool(_ABOUT_IT.match(said.read)) and first is not None and first.order is None


def is_placement(said: Said) -> bool:
    """Whether a human orders where something is to be, or how, by a name or a measure."""
    found = stated(said, _PLACED)
    if found is not None and _CHOSEN_PLACE.search(found["rest"]):
        return True
    return (
        stated(said, _USED_FOR) is not None or stated(said, _MEASURED) is not None or stated(said, _TAKEN) is not None
    )


def is_role(said: Said) -> bool:
    """Whether a human states who is responsible for something, or away."""
    return stated(said, _ROLE) is not None


def with_what_it_is_of(said: Said, sentences: Sequence[Said], place: int) -> str:
    """The words of a sentence, with the one before it if it says only `that` of its subject."""
    if place and _REFERS_BACK.match(said.read):
        return f"{sentences[place - 1].quote} {said.quote}"
    return said.quote


def is_dead_end(said: Said, *, of_agent: bool = True) -> bool:
    """Whether somebody states that something was tried, and did not work; an agent also, that it failed."""
    found = stated(said, _DEAD_END) or (stated(said, _FAILED) if of_agent else None)
    return found is not None and not _HEDGED.search(found.group()) and not _NO_EFFORT.search(said.read)


def is_rule(said: Said) -> bool:
    """Whether a human states what is always, or never, to be done."""
    found = stated(said, _RULE, may_depend=True)
    if found is None:
        return False
    verb = next(word.lower() for word in found.groups() if word)
    return bool(found["must"] or found["none"]) or (verb not in _NO_RULE and can_be_order(verb))
