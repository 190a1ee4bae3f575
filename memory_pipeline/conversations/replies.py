"""What a human's turn says to what was said directly before it: that it is right, or that it is not.

`Good.`, `Go ahead.` and a thumb agree; `That isn't it`, `Can't be`, `No, ...` and `..., so no` deny; `It still does
it.` says that what was tried did not help. A complaint without a sign (`It eats too much memory.`) objects: what it is
about is to be found by its words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memory_pipeline.conversations.own_words import as_read, without_others
from memory_pipeline.wording.facts import content_words
from memory_pipeline.wording.grammar import clauses_of, words_of

ReplyKind = Literal["agrees", "confirms", "denies", "fails", "objects"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a turn replies. `text`: the sentences that say so, with the reason; `head`: the first of them; `points`: whether it says of what it is only
    by pointing (`That isn't it`), or not at all (`No.`);
    `thing`: what it begins to say is not wanted (`Not CSV please`); `is_reasoned`: whether it says by itself what it is
    against and why (`Redis loses jobs, so no`); `is_of_cause`: whether it can only confirm a cause;
    `vouches`: whether somebody saw to what it points at; `end`: where in the turn it ends."""

    kind: ReplyKind
    text: str
    head: str
    points: bool = True
    thing: str = ""
    is_reasoned: bool = False
    is_of_cause: bool = False
    vouches: bool = False
    end: int = 0


_FILL = r"(?:(?:hm+|oh|ah|aha|uh|um|well|wait|hold on|hang on|sorry|actually|but|and|so|also|man|please|stop|whoa|ugh|eh|i'm afraid|to be honest|honestly|i think|i'm sure|sadly)\b[\s,.!…:;–—-]*){0,4}"
_IT = r"(?:that|this|it|they|those|these|which)(?: one)?"
_ISNT = r"(?:'s not|'re not| is not| are not| isn't| aren't| was not| wasn't| were not| weren't| ain't)"
_NOT_WORD = r"(?:right|true|correct|possible|it|so|because|an option|that|either|why|how|what|where|from|due|related|acceptable|allowed|good|viable|realistic|feasible|what (?:i|we) \w+|(?:the|my|our|a|an) (?!problem|big deal|must\b|secret|surprise|emergency|bad\b)[\w' -]{2,40})"
_OUT = r"(?:out(?: of (?:the question|the running|bounds))?|off the table|wrong|incorrect|false|nonsense|rubbish|impossible|unlikely|ruled out|a no(?:[- ]go)?|no option|no good|not an option|unacceptable|forbidden|not allowed|a bad idea|too \w+)"
_WONT = r"(?:won't|will not|doesn't|does not|didn't|did not|wouldn't|would not|can't|cannot|couldn't|don't)"
_DOES = r"(?:do\b(?! (?:it|that)\b)|work|fly|help|explain|fit|be enough|scale|happen|be it|be the|be right|be true|be why|be so|be because|be\W*$|be,|make sense|suit|convince|hold|add up|matter|apply|count)"
_DENIES = re.compile(
    rf"\W*{_FILL}(?:"
    r"(?:no|nope|nah|no no|no way|not really|hell no|also no|still no)(?! (?:problem|worr|need|idea|rush|doubt|matter|longer|one\b|more|hurry|objection|complaint|question|preference|clue)\w*)"
    r"(?!,? (?:thanks|thank you|that's (?:fine|ok|okay|right|good|it|all|correct)|go (?:ahead|on|for)|it's (?:fine|ok|okay|good)|all good|do it|you're right|carry on|not at all)\b)"
    r"(?=\s*(?:[,.!;:–—…-]|$|(?:that|it|this|not|wait|we|the|i|please|sorry|chance|never|way|he|she|they|there|let's|use|don't)\b))|"
    r"(?:wrong|incorrect|false|untrue|nonsense|rubbish|unlikely|impossible|hardly|negative|veto)\b(?! (?:with|about|door|number|way round))|"
    r"not (?:true|right|correct|quite|so|possible|likely|really|it|an option|a good idea|the (?:cause|reason|problem|culprit|issue|one|case|point)|that|this)\b(?! (?:bad|far|long|much|sure|many|often))|"
    r"(?:i |we )(?:really |strongly |very much )?(?:doubt|disagree|object)\b|i(?: really)? (?:don't|do not) (?:think|believe|buy) (?:so|it|that|this)\b|(?:i'd|we'd|i would) rather not\b|(?:rather|better|preferably) not\b|"
    r"(?:can't|cannot|can not|couldn't) be\b|no chance\b|(?:a )?(?:bad|terrible|horrible|awful|poor) (?:idea|choice|plan)\b|out of the question\b|not an option\b|"
    rf"{_IT}{_ISNT}(?: also| really| quite| even| the least)* {_NOT_WORD}(?![\w'-])|(?:it's|it is|it was) (?:not|none of) (?:that|this|it|those|the)\b|"
    rf"{_IT} (?:can't|cannot|can not|couldn't|could not|can hardly|can never)(?: really| possibly| even)? (?:be|have been|come)\b|"
    rf"{_IT}(?: really| just| simply| also)? {_WONT}(?: really| just| even)? {_DOES}|{_IT}(?:'s| is| was|'re| are)(?: also| just| simply| already| still| definitely| clearly| plain)* {_OUT}\b|"
    r"(?:i|we) (?:really |just |definitely )?(?:don't|do not|won't|will not) (?:want|like|trust|accept|have) (?!to be|to sound)\w|(?:that|this|it) makes no sense\b|(?:we|i)(?:'ve| have| had)?(?: also| already| just)* (?:ruled|excluded) (?:that|this|it|those)\b|(?:already |i |we |'ve |have )*(?:ruled|excluded)(?: out)? (?:that|this|it)\b|(?:i |we )?(?:already )?ruled out (?:that|this|it|the)\b|"
    r"(?:i |we )?(?:already )?tried (?:that|this|it)\b(?! (?:and|,) it (?:works|worked))|"
    r"(?:(?:i |we )?(?:already |just )*checked(?: that| it| this)?|not needed|no need)(?=\s*[,.;:!–—]|\s*$)|(?:then )?(?:that|it|this) would (?:be|have|hit|affect|happen|fail|concern|explain|show|mean|need|break|cost|take|also|only|never|not|require|kill|block)\b(?! (?:been )?(?:so |very |really )?(?:great|nice|good|perfect|fine|it\b|lovely|wonderful|awesome|ideal|best|helpful|better|ok|okay|cool|amazing|my))|"
    r"too (?:much|many|expensive|slow|big|small|long|short|late|early|risky|complicated|complex|heavy|noisy|loud|far|dangerous|high|low|costly|fragile|cold|hot|formal|vague|narrow|wide|weak|dark|bright|old)\b|"
    r"(?:please )?(?:don't|do not)(?: do)?(?: (?:that|it|this))?(?=\W*(?:$|[.,!;:–—]))|(?:scrap|revert|undo|drop|forget) (?:that|it|this)\b|never mind (?:that|the|it)\b|anything but\b|over my dead body"
    r")",
    re.IGNORECASE,
)
#: A thing by its name that is not wanted: `No Redis please`, `Not CSV, put them in the table`, `Please not duplicity`.
_NOT_THAT = re.compile(
    rf"\W*{_FILL}(?:(?:no|nope|nah)[\s,.!]+)?(?:not|no|anything but|forget(?: about)?|drop|skip|scrap|without|(?:don't|do not|never) (?:use|take|go with|do|buy|book|call|ask|move|send|put|store|write|rent|order|want))"
    r" (?!yet\b|now\b|today\b|sure\b|bad\b|only\b|at all\b|really\b|that i\b|a problem\b|necessarily\b|problem|worr|need\b|idea|rush|doubt|matter|longer|one\b|more\b|hurry)"
    r"(?:with |in |on |at |for |to |by |into )?(?P<thing>[^\s,.;:!?]+(?: (?!please\b|then\b|but\b|because\b)[^\s,.;:!?]+){0,3})",
    re.IGNORECASE,
)
#: A sign within or at the end of a complaint: `Redis loses jobs on restart, so no.`
_SO_NO = re.compile(
    r"(?:[,;:–—]|\band|\bbut)\s*(?:(?:so|which is why|therefore|hence|then)[,:]? )?(?:(?:it's|that's|that is|it is|i'd say|this is|they're|i say) (?:also |just )?)?(?:a )?(?:(?:clear |hard |definite )?no|nope|nah|out|off the table|not (?:that|this|it|the [\w' -]{2,30}|an option|for us|possible|acceptable|the (?:reason|cause|problem))|no[- ]go|forget (?:it|that|this|about it)|never mind|drop (?:it|that)|ruled out|excluded|wrong)(?: (?:then|thanks|for us|please|either|anyway))?\W*$|"
    r"\b(?:so|therefore|hence|thus),? (?:that|this|it|they|those)(?:'s| is| are|'re)? (?:also |therefore )?(?:out|wrong|not|no|impossible|excluded|off|can't|cannot|won't|isn't)\b|"
    r"\b(?:so|therefore|hence|thus),? (?:that|this|it|they|those|we|i) (?:can't|cannot|won't|don't|doesn't|isn't|couldn't)\b|"
    r"[,;:–—]\s*(?:so |but |and )?(?:it|that|this|they)(?:'s| is)? (?:also )?(?:can't|cannot|doesn't|won't|couldn't|isn't|wouldn't|can hardly) (?:explain|be (?:it|the|that|because)|cause|help|matter|fit|the (?:cause|reason))|"
    r"\b(?:that|this|it|which) (?:won't|will not|doesn't|does not|wouldn't) (?:do|work|fly|help|scale|fit)\b|\bwe (?:can't|cannot|can not|won't|don't) (?:use|take|have|afford|want|do|accept|touch|need) (?:it|that|this|them|those)\b|"
    r"^\W*[^,;:.!?]{2,50} (?:can't|cannot|can not|couldn't|could not) be (?:it|that|the (?:cause|reason|problem|culprit|issue))\b|"
    r"[^,;:.]{1,60} (?:is|are) (?:out|off the table|not an option|a no[- ]go|no option|out of the question|ruled out)(?=\W*(?:$|[,;:.!–—]))",
    re.IGNORECASE,
)
#: What was tried did not help.
_FAILS = re.compile(
    rf"\W*{_FILL}(?:(?:it|that|this|the [\w' -]{{2,30}})(?:'s| is| was)? still (?:does|do|happens?|fails?|crash(?:es)?|there|broken|the same|not|slow|hangs?|reboots?|stops?|wrong|failing|happening|\w+ing)\b|still (?:the same|broken|not|no|fails?|failing|happening|happens?|there|slow|crashes|wrong|nothing)\b|"
    r"(?:the )?same (?:error|problem|result|thing|issue|again|here|as before|story|behaviou?r|crash)\b|(?:there's |there is )?no (?:change|effect|difference|luck|improvement|better)\b|(?:(?:that|this|it) )?(?:didn't|did not|doesn't|does not|hasn't) (?:really |actually )?(?:help(?:ed)?|work(?:ed)?|change[d]? (?:anything|a thing)|fix(?:ed)?(?: it)?|ma(?:ke|de) (?:a|any) difference)\b|"
    r"(?:i|we)(?:'ve| have)? (?:already |also |just )?tried [^.!?]{2,60}(?:same|no (?:change|effect|difference|luck)|still|nothing|didn't|in vain|to no avail)\b|"
    r"it (?:just )?(?:rebooted|failed|crashed|happened|broke|stopped|hung|froze|came back|did it|switched off|turned on) (?:again|anyway|once more)\b|nothing changed\b|changed nothing\b|(?:it|that|this)(?:'s| is) back\b)",
    re.IGNORECASE,
)
#: That something is the cause: `Ah, that explains it.`
_IS_CAUSE = r"(?:that(?:'s| is| was)(?: exactly| indeed| really| probably)? (?:it|the (?:one|cause|reason|problem|culprit|bug)|what it (?:is|was))|(?:that|this|it) (?:explains|would explain|must be|has to be) (?:it|a lot|everything|that|why)|well spotted|good catch|nice (?:catch|find)|(?:good|great) (?:find|catch)|bingo|i see the same|oh wow|aha|mystery solved|no wonder|that was it|you found it|wow|ouch|oops|damn|oh no|argh|gosh)"
_FIRMLY = rf"(?:{_IS_CAUSE}|that(?:'s| is| was)(?: exactly| indeed| really)? (?:right|true|correct)|exactly|precisely|indeed|correct|of course|you're right|you are right|right you are|spot on|makes sense|confirmed|i can confirm|true|absolutely|wow|ah,? (?:right|yes|ok|of course|that))"
_GIVES_LEAVE = (
    r"(?:yes|yep|yeah|yup|ye[sp]{1,3}|sure(?: thing)?|ok|okay|okey|k|kk|good(?! (?:question|luck|night|morning|evening|afternoon|point|to know|grief))|great|fine|perfect|excellent|nice|cool|agreed|deal|right(?! now)|exactly|correct|absolutely|definitely|certainly|"
    r"of course|naturally|(?:sounds?|looks?|seems) (?:good|right|great|fine|like a plan|reasonable|sensible|perfect|ok|okay)|(?:that )?works for (?:me|us)|(?:that )?(?:works|suits|fits)|(?:that's |it's |all )?(?:fine|good|ok|okay|great|perfect)(?: (?:by|with|for) (?:me|us))?|go (?:ahead|for it|on)|"
    r"(?:please )?do (?:it|that|so)|please do|let's do (?:it|that|this|so)|makes sense|that's it|that's the way|that(?:'s| is) (?:settled|decided|good|great|fine|perfect|right|better|the one|what i want(?:ed)?)|i agree|we agree|i'm (?:fine|happy|ok|okay|good) with (?:it|that|this)|i like (?:it|that|this|the idea)|approved?|accepted|lgtm|ship it|"
    r"good (?:idea|plan|choice|call|thinking|one)|sold|why not|alright|all right|very good|love it|(?:yes,? )?(?:take|use|book|buy|order|keep|pick|choose|send|write|build|rent|add|merge|deploy) (?:it|that|this|them|those)(?: one| ones)?|much better|even better|better|permission granted|granted|by all means|you have my (?:ok|okay|blessing|yes)|\+1|settled|wonderful|brilliant|awesome|lovely|super|splendid|gladly|jo|aye|affirmative|confirmed|indeed|makes sense to me|no objections?|fair enough|understood)"
)
_THUMB = re.compile(r"[\s\W]*[👍👌✅💯🙌🆗✔☑👏🤝][\s\W]*")
_AGREES = re.compile(
    rf"\W*(?:(?:hm+|oh|ah|aha|ha|well|then|thanks|thank you|so|and|mm+|wow|haha|i think)\b[\s,.!…:;–—-]*){{0,3}}(?!good (?:question|luck|night|morning|evening|afternoon|point|to know|grief)\b)(?P<yes>{_FIRMLY}|{_GIVES_LEAVE})(?![\w'-])",
    re.IGNORECASE,
)
_CAUSAL = re.compile(
    rf"\W*(?:(?:hm+|oh|ah|ha|well|then|so|and|yes|yeah|yep|ok|okay|right)\b[\s,.!…:;–—-]*){{0,3}}{_IS_CAUSE}(?![\w'-])",
    re.IGNORECASE,
)
_FIRM = re.compile(
    rf"\W*(?:(?:hm+|oh|ah|ha|aha|well|then|so|and|yes|yeah|yep|ok|okay|right)\b[\s,.!…:;–—-]*){{0,3}}{_FIRMLY}",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:but|except|however|although|though|unless|only if|if|not|n't|instead|rather|wait|or)\b|n't\b|\?",
    re.IGNORECASE,
)
#: An agreement with a condition: `Yes, but with a read replica.`
_WITH = re.compile(
    r"\W*(?:but|only|as long as|if)? ?(?:with|without|only|keep|make sure|in|on|at|for|add|at most|no more than|after|before) (?!.*\b(?:instead|rather|use|no)\b)\w",
    re.IGNORECASE,
)
_BUT = re.compile(r"\W*(?:but|except|however|although|only not|just not|not)\b", re.IGNORECASE)
#: A sentence that begins otherwise and agrees: `Long tables it is.`
_IT_IS = re.compile(r"[^,;:.!?]{2,60} it is(?:,? then)?\W*", re.IGNORECASE)
#: What speaks against something, without a sign that it does.
_AGAINST = re.compile(
    r"\btoo (?!bad\b|good\b|kind\b)\w+|\b(?:can't|cannot|can not|couldn't|won't|will not|doesn't|does not|don't|do not|isn't|is not|aren't|are not|wasn't|hasn't|haven't|never|nobody|no one|not|no|without|hardly|barely|"
    r"forbids?|forbidden|prohibits?|banned|loses?|lost|fails?|failed|breaks?|broke|crash(?:es|ed)?|blocks?|blocked|locks? up|hangs?|leaks?|corrupts?|garbage|rubbish|mess|nightmare|disaster|expensive|slow|unstable|unreliable|insecure|"
    r"dangerous|illegal|deprecated|discontinued|hates?|annoy\w*|allergic|seasick|sick|terrible|awful|useless|broken|cancelled|closed|gone|dead|forget|costs? (?:us )?(?:too|twice|double|more)|takes? (?:us )?(?:too|hours|days|weeks|forever)|took (?:us )?(?:too|hours|days|weeks|forever)|out of|ran out|weak|burned|trouble|problems?|bad)\b|n't\b",
    re.IGNORECASE,
)
#: That something is as it should be: `The clock is fine.`
_VOUCHES = re.compile(
    r"\W*(?:(?:but|well|hm+|and|the same|same),? )*(?:(?:the|that|our|my|this|your) )?[\w' -]{2,40} (?:is|are|was|were|has been|have been|works?|worked|looks?|runs?|ran)(?: (?:all|still|just|perfectly|quite|brand|already|also))*(?:"
    r" (?:fine|ok|okay|good|new|alright|all right|healthy|up to date|in place|there|correct|right|free|empty|off|disabled|replaced|unchanged|the same|clean|charged|full|intact|idle|reachable|valid|set|enabled|on)| on| fine| in| well|(?=\W*$))\b",
    re.IGNORECASE,
)
#: That somebody saw to it: `I rebuilt it last week.`
_SAW_TO = re.compile(
    rf"\W*{_FILL}(?:i|we|they|he|she)(?:'ve| have)?(?: already| just| even)* (?:rebuilt|replaced|changed|updated|checked|tested|disabled|removed|cleaned|reset|swapped|measured|verified|renewed|fixed|turned (?:off|on)|switched off) (?:it|that|them|those|this)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    rf"\W*{_FILL}(?:no|nope|nah)(?:,? (?:thanks|thank you|that's|go|it's|all good|do it|you're right|carry on|not at all)| (?:problem|worr|need|idea|rush|doubt|matter|more|hurry|objection|complaint|question|preference|clue)\w*)\b",
    re.IGNORECASE,
)
#: What is to be so from now on is a rule, whatever was said before.
_RULES = re.compile(
    r"\W*(?:from (?:now|today|here|this)|as of|never\b|always\b|please (?:never|always)|after \d|before \d|in (?:the )?future)",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:it|that|this|they|them|those|he|she|him|her|there)\b", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?…])[\"')*_]*\s+|\n+|(?<=[👍👌✅💯🙌])\s*")
_FILLER = re.compile(rf"\W*{_FILL}(?:thanks|thank you)?\W*", re.IGNORECASE)
_ASKS = re.compile(r"\?\W*$")
#: In so many sentences, a turn replies; the reason may be one more.
_MOST_READ, _MOST_TEXT = 3, 300


_NOT = re.compile(r"[\s,.!]*not\b", re.IGNORECASE)
_LEAST_SAID = 4
#: What is said of something that is named elsewhere: `we sync it every hour`.
_LEANS = re.compile(r"\b(?:it|them|him|her|there|that one|this one)\b", re.IGNORECASE)
#: How a sentence begins that says what it is about, and how that is.
_SAYS_OF_WHAT = re.compile(
    r"\W*(?:(?:the|our|my|we|nobody|everybody|all|both|every|each|no|an?) |(?-i:[A-Z][\w.+#-]*|[\w-]*[\d_.][\w.-]*) )(?!but\b|not\b)[\w'-]+ \w",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    rf"\W*{_FILL}(?:(?:no|nope|nah|wrong|not quite)(?! \w)[\s,.!:;–—-]+(?:rather |please |better |just |make it |i said |i meant )*(?P<thing>(?=\w)(?!not\b|no\b|never\b|wait\b|that\b|this\b|it\b|sorry\b|why\b|please\b|thanks\b|i\b|we\b|you\b|he\b|she\b|they\b|there\b|nobody\b)[^,.;:!?]{{3,80}})(?=[,.;:!?]|$)|"
    r"[^.!?]{2,120}[,;:–—.]\s*(?:please |just |rather |better |so |then |instead |and |but )*(?P<order>(?:(?:we |let's |we'll )?(?:use|take|keep|stay (?:with|on|at)|stick (?:to|with)|go (?:with|for|back to)|leave|put|store|send|write|make it|switch|choose|pick|move) (?!me\b|us\b|it out\b|it alone\b)\w)))",
    re.IGNORECASE,
)
_TO_SUBJECT = re.compile(rf"^\W*{_FILL}(?:(?:no|nope|nah)[\s,.!]+(?:wait[\s,.!]+)?)?", re.IGNORECASE)
_POINTS_FIRST = re.compile(
    rf"\W*{_FILL}(?:no[\s,.!]+)?(?:it|that|this|they|he|she|i|we|you|there|too)\b", re.IGNORECASE
)
_STATES = re.compile(
    r"\W*(?:it|they|that|this|he|she|we|i|there|the|our|my|his|her|its|their|nobody|everybody|all|both|(?-i:[A-Z])[\w-]+)(?:'s|'re|'ve|'d|'m)? (?!me\b|us\b)[\w']+ \w",
    re.IGNORECASE,
)
_FEW = 3


def reply_in(words: str) -> Reply | None:
    """What a turn says to what was said before it; None if it goes on to something else."""
    own = without_others(words)
    if not own.strip():
        return None
    places = _places(own)
    for number, (start, end) in enumerate(places[:_MOST_READ]):
        text = as_read(own[start : min(end, start + _MOST_TEXT)])
        if _ASKS.search(text):
            return None
        kind = _kind(text)
        if kind is None:
            if _FILLER.fullmatch(text):
                continue
            if number:
                return None
            continue
        if (
            kind in ("agrees", "confirms")
            and _TURNS.search(text[_yes_end(text) :])
            and not _WITH.match(text[_yes_end(text) :])
        ):
            return None
        following = [own[left:right] for left, right in places[number + 1 : number + 2]]
        of_cause = any(_CAUSAL.match(one) for one in (text, *following))
        if kind == "agrees" and of_cause:
            kind, end = "confirms", places[number + (not _CAUSAL.match(text))][1]
        if kind in ("agrees", "confirms") and any(
            _BUT.match(own[left:right]) for left, right in places[number + 1 : number + 2]
        ):
            return None
        beside = [
            own[left:right] for left, right in places[number + 1 : number + 2] if _gives_reason(kind, own[left:right])
        ]
        told = " ".join([own[start:end], *beside]) if kind not in ("agrees", "confirms") else own[start:end]
        head = " ".join(own[start:end].split())
        return Reply(
            kind,
            " ".join(told.split())[:_MOST_TEXT],
            head,
            _only_points(text),
            _thing(text),
            _is_reasoned(kind, text),
            kind == "confirms" and of_cause,
            kind == "objects" and _SAW_TO.match(text) is not None,
            end,
        )
    return None


def says_instead(text: str) -> bool:
    """Whether a denial says what is to be in its place: `No, first person plural.`, `Not CSV, put them in the table.`"""
    found = _INSTEAD.search(as_read(text))
    if found is None:
        return False
    return bool(found["order"]) or not any(word.is_verb for word in words_of(found["thing"]))


def what_is_so(text: str) -> str:
    """What a denial says is so, in its words, if it says of what: `That isn't it, the retry is off.`"""
    denies = _DENIES.match(as_read(text))
    rest = text[denies.end() :] if denies else text
    if denies and (comma := re.match(r"[^,;:.!–—]{0,60}[,;:.!–—]+\s*", rest)):
        rest = rest[comma.end() :]
    elif denies:
        return ""
    rest = rest.strip()
    if denies and _NOT.match(text[denies.end() :]):  # `No, not port 5433, the database listens on 5434`
        return ""
    if _SO_NO.search(rest) or _LEANS.search(rest):
        return ""
    return rest if len(rest.split()) >= _LEAST_SAID and _SAYS_OF_WHAT.match(as_read(rest)) else ""


def subject_of_denial(reply: Reply) -> str:
    """The first word that says what a denial is of: `SQLite locks up, that won't do.` Empty if it only points."""
    rest = _TO_SUBJECT.sub("", reply.head)
    return next(iter(content_words(rest)), "") if not _POINTS_FIRST.match(reply.head) else ""


def _yes_end(text: str) -> int:
    found = _AGREES.match(text)
    return found.end() if found else 0


def _kind(text: str) -> ReplyKind | None:
    if _FAILS.match(text):
        return "fails"
    if _DENIES.match(text) or _SO_NO.search(text):
        return "denies"
    if _THUMB.fullmatch(text) or _IT_IS.fullmatch(text):
        return "agrees"
    if _AGREES.match(text):
        return "confirms" if _FIRM.match(text) else "agrees"
    if _HARMLESS.match(text) or _RULES.match(text):
        return None
    if _NOT_THAT.match(text) or _AGAINST.search(text) or _VOUCHES.match(text) or _SAW_TO.match(text):
        return "objects"
    return None


def _thing(text: str) -> str:
    found = _NOT_THAT.match(text)
    return found["thing"] if found else ""


def _is_reasoned(kind: ReplyKind, text: str) -> bool:
    found = _SO_NO.search(text) if kind == "denies" else None
    return found is not None and len(text[: found.end()].split()) > _FEW and not _POINTS_FIRST.match(text)


def _gives_reason(kind: ReplyKind, text: str) -> bool:
    """Whether the sentence behind a denial still belongs to it: it says how something is."""
    if kind in ("agrees", "confirms") or _ASKS.search(text) or not _STATES.match(as_read(text)):
        return False
    first = next(iter(clauses_of(text)), None)
    return first is None or first.order is None


def _only_points(text: str) -> bool:
    return bool(_POINTS.search(text)) or len(text.split()) <= _FEW


def _places(own: str) -> list[tuple[int, int]]:
    places, start = [], 0
    for match in _ENDS.finditer(own):
        if own[start : match.start()].strip():
            places.append((start, match.start()))
        start = match.end()
    if own[start:].strip():
        places.append((start, len(own)))
    return places
