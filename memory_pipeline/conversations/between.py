"""What a human and an agent say about each other: trust, boundaries, and how they work together."""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import IM, MOMENT, form, stated
from memory_pipeline.conversations.manners import manner_in
from memory_pipeline.conversations.orders import asking_in, lasting_order_in, prohibition_in, standing_order_in
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.conversations.reversals import ends_permission
from memory_pipeline.wording.grammar import can_be_order
from memory_pipeline.wording.guidance import guidance_in

_ALONE = r"(?:on your own|by yourself|yourself|alone|without asking(?: me)?|without (?:my|telling|involving|informing|consulting|waiting for|bothering|checking|me|approval|permission)[\w ]*|independently|autonomously|as you (?:see fit|like|please|wish|think best))"
_TRUST = form(
    r"i (?:really |fully |completely |absolutely |do |totally )*trust (?:you\b|your\b)(?! (?:are|were|will|have|had|can|slept|found|got|made|\w+ed)\b)",
    r"(?:it's |it is |this is |that's |totally |completely )*your (?:call|choice|decision)\b(?=\s*(?:[,.;!:)—–-]|$|on\b|here\b|what\b|which\b|whether\b|how\b|really\b|this\b))",
    r"(?:it's |it is |that's |this is |totally |entirely |completely |all )*up to you\b(?! to prove)",
    r"(?:i'll |i will |i |i'm |i am )?(?:leave|leaving) (?:it|this|that|them|the [\w ]{2,40}?|all of [\w ]{2,30}?|everything) (?:entirely |completely |all |fully |totally )?(?:up )?(?:to|with) you\b",
    r"(?:you can |you may |just |please |feel free to )*use your (?:own |best )?(?:best )?judge?ment\b",
    rf"you (?:can|may|could just|are free to|'re free to|should feel free to) (?:now |just |also |always |go ahead and )*(?!see\b|imagine\b|check\b|try\b|ask\b|help\b|enjoy\b|believe\b|be\b|keep\b)(?:[\w']+ ){{1,8}}?{_ALONE}(?!\w)",
    rf"feel free to (?:[\w']+ ){{1,8}}?{_ALONE}(?!\w)",
    r"(?:there's |there is )?no need to (?:ask|check with|check in with|consult|wait for|confirm with|tell) (?:me|us)\b",
    r"no need to (?:ask|check)(?: first| in)?(?=\s*(?:[.,!;]|$|for\b|every\b|each\b|before\b))",
    r"you (?:don't|do not|dont|needn't|need not) (?:have to |need to |always have to )?(?:ask|check with|check in with|consult|wait for|confirm with) (?:me|us|my)\b",
    r"(?:just |please |you can )*(?:go ahead|do it|do that|go for it|merge|proceed) without (?:asking|checking|waiting|my approval|me)\b",
    r"(?:you decide|you choose|you pick)\b(?=\s*(?:[.,!;:)—–-]|$|what|which|how|on|here|this time))",
    r"(?:just )?do (?:what|whatever|as|it how|it the way|it however) you (?:think|feel|believe|see|like)(?:'s| is)? ?(?:is )?(?:best|right|fit|necessary|makes? sense|it's best)?\b",
    r"(?:you have|you've got|i(?:'m| am) giving you|i(?:'ll| will)? give you|consider this) (?:my |a |full |free |complete )*(?:permission|free hand|free rein|full access|carte blanche|authority|the green light|my blessing|free reign|autonomy)\b",
    r"i (?:can |know i can |know that i can )?(?:rely|depend|count) on you\b",
    r"you've earned (?:my|our|that|the) (?:trust|confidence)|you(?:'ve| have) earned my trust",
    rf"{IM} (?:fully |completely )?confident (?:in you|that you(?:'ll| will) (?:do|get|make|handle))",
    r"(?:please )?(?:handle|take care of|deal with) (?:it|this|that|the [\w ]{2,30}?) (?:yourself|on your own|as you see fit)\b",
    r"from now on you (?:can|may) \w+",
    r"you (?:may|can|are allowed to|'re allowed to) (?:now |always |also )*(?:read|open|see|use|access|search|look (?:at|into|through)|go through) (?:all )?my (?:whole |work |private )?(?:inbox|calendar|mail|mails|e-?mails?|contacts|files|notes|diary|photos|address book|documents|drive|journal|messages|bookmarks)(?=\s*(?:[.;!]|$))",
    r"you may (?:now |always |also )?(?:delete|remove|merge|push|deploy|restart|send|e-?mail|call|contact|order|buy|book|publish|post|share|change|edit|rename|move|archive|close|approve|refund|answer|install|update|upgrade|reboot|create|read|write to)"
    r" (?!the\b|this\b|that\b|these\b|those\b|my\b|a\b|an\b|it\b|me\b|us\b|this\b)(?:[a-z-]+ ){0,2}?[a-z-]+s(?=\s*(?:[.;!–—]|, (?:i|it|that|they|but)\b|$|from (?:now|today) on\b|directly\b|any ?time\b|yourself\b))",
    r"i have (?:full |complete |every |total |absolute |great |a lot of )*(?:confidence|faith|trust) in (?:you\b|your (?:judge?ment|taste|choice|work|skills))",
    r"(?:please |just |you can |you may )*take the lead\b",
    r"i (?:don't|do not|dont) (?:need|have) to (?:see|approve|check|review|sign off|read|confirm|know about) (?!you\b|it to\b)\w",
    r"you(?:'re| are) (?:now )?(?:in charge|the boss|responsible) (?:of|for|here|on)\b",
    r"[\w' -]{2,40} (?:is|are|'s) all yours\b",
    r"(?:just |please )?(?:do|handle|arrange|organi[sz]e|write|plan|sort|build|format|name) (?:it|this|that|them|these|the \w+) (?:however|any way|whatever way|whichever way|the way) you (?:like|want|prefer|see fit|think)\b",
    r"i(?:'ll| will|'m happy to| am happy to)? (?:just )?(?:go along with|go with|follow|accept|be happy with|be fine with) whatever you\b",
    r"whatever you (?:think|decide|choose|pick|prefer|feel|recommend)(?: (?:works|is|fits|suits)[\w ]{0,20})?(?=\s*(?:[,.;!)]|$|i'm|im\b|is fine|works|goes))",
    r"(?:just |please |you can )*(?:pick|choose|take|use|do|go with|go for|book|order|buy) (?:whichever|whatever|what|any)(?: [\w'-]+){0,3} you (?:think|like|want|prefer|see fit|feel|find|consider)\b",
    r"no need to (?:run|clear|check) (?:\w+ ){1,5}(?:past|by|with) me\b",
    r"(?:and |so |then )*(?:just |please )+(?!find\b|see\b|ask\b|check\b|look\b|try\b|help\b|be\b|imagine\b|keep\b)[a-z]+ (?:it|this|that|them) (?:yourself|on your own|by yourself)\b",
    r"(?!what\b|if\b|is\b|it's\b)(?:[\w'-]+ ){1,5}?(?:is|are|will be) (?:all |entirely |completely )?your (?:call|choice|decision|department|domain|turf)\b(?! (?:of|to make|because|when))",
    r"(?:the |my |our )?(?:choice|decision|call|wording|timing|order|design|layout|details?|rest|execution) (?:(?:of|about|on|for) [\w' -]{2,40} )?(?:is|are) (?:all |entirely |completely )?yours\b",
    rf"(?:(?:for|on|with|in) )?(?:anything|everything|whatever|all|small|minor|such) [^.!?,]{{0,40}}?,? ?(?:you (?:can|may) )?(?:just |please |simply )*(?:decide|choose|do|handle|fix|order|pick|go ahead|answer|approve)(?: it| that| those| them)? (?:{_ALONE}|without me)(?!\w)",
    r"(?!if\b|it's\b|what\b|when\b|how\b|is\b|whether\b)[\w' -]{2,50} (?:is|are) (?:totally |entirely |completely |all |fully )?up to you\b",
    rf"(?:please |just |then |also )*(?:pick|choose|select|decide on|name|design|arrange|plan|book|write|handle|order|schedule|sort) (?:the|a|an|your|some|any|all|these|those) [\w' -]{{2,40}}? (?:{_ALONE})(?!\w)",
    r"you (?:don't|do not|won't|will not) need (?:my|any|our) (?:\w+ )?(?:ok|okay|approval|permission|consent|go-ahead|sign-off|yes)\b",
    r"no (?:approval|permission|sign-off|ok) (?:is )?(?:needed|necessary|required)\b",
    r"you(?:'ve| have)(?: got)? (?:my|our) (?:full |complete |standing )?(?:ok|okay|go|go-ahead|yes|blessing|permission|consent|approval|word|trust|confidence|backing|thumbs up)\b (?:to|for|on|in)\b",
    rf"(?!if\b|when\b|what\b|how\b|where\b|as\b)(?:[\w'-]+ ){{1,6}}?you (?:can|may|might as well) (?:now |always |just |simply )*(?!see\b|imagine\b|find\b|get\b|buy\b|tell\b|read\b|hear\b|ask\b|learn\b|use\b)(?:[\w']+ ){{1,6}}?(?:straight away|right away|directly|at once|immediately|any ?time|whenever you (?:like|want)|{_ALONE})(?!\w)",
    r"(?:[\w' -]{1,40} )?(?:up to|below|under|within|less than|anything (?:below|under|up to)|smaller than) (?:[\w' .,%€$£-]{1,30}) you (?:can|may|are free to|'re free to|decide)\b",
    r"you (?:can|may|are free to|'re free to) (?:always |now |just )*(?:buy|spend|order|book|approve|refund|sign|pay|decide|grant|give)[\w' ]{1,40} (?:up to|below|under|within|of less than|for less than) \W?\d",
    r"[\w' -]{2,50} (?:doesn't|don't|does not|do not|needn't|need not) (?:have to |need to |need )(?:cross my desk|come (?:to|past|by|through) me|go (?:through|past|by) me|wait for me|be (?:approved|cleared|confirmed|signed off|checked)(?: by me| with me)|my (?:ok|okay|approval|permission|sign-off|yes|confirmation))\b",
    r"[\w' -]{2,50} (?:is|are|'s) (?:all |entirely |completely )?yours to (?!lose\b|keep me\b)[a-z]+",
    r"(?:whatever|whichever|anything|any \w+|what) you (?:come up with|think of|pick|choose|decide|prefer|go with|suggest|propose|find|settle on) (?:is|will be|'s) (?:totally |perfectly |absolutely )?(?:fine|ok|okay|good|great|right)(?: (?:by|with|for) (?:me|us))?\b",
    rf"{IM} (?:fine|ok|okay|happy|good|cool|comfortable|at ease) (?:with you \w+ing|for you to (?!be\b|have\b|know\b|hear\b)\w+|if you (?:just |simply )?(?!are\b|feel\b|have\b|say\b|think\b|don't\b)[\w' ]{{3,50}} (?:{_ALONE}))",
    r"you(?:'re| are) (?:now |always )?(?:free|allowed|cleared|authori[sz]ed|welcome|entitled) to (?!ask\b|disagree\b|laugh\b|call me\b|join\b|come\b|correct me\b|think\b|feel\b|be\b|your\b)\w+ \w+",
    r"(?:feel free to|go ahead and) [\w' -]{3,50} (?:any ?time|whenever|without asking|on your own|as you (?:like|see fit)|yourself|every \w+)\b",
    r"from (?:now|here) on,? (?:it's |it is )?you(?:'re| are)? (?:handle|take|run|own|do|decide|choose|manage|write|answer|lead|the one who|in charge)\b",
    r"i(?:'ll| will)? (?:let|hand|give|pass) (?:you (?:decide|choose|handle|run|take over|have (?:a free hand|the last word))|(?:it|this|that|the [\w' -]{2,40}?|all [\w' -]{2,30}?) (?:over )?to you)\b(?! (?:soon|later|one day))",
    rf"(?:small|minor|tiny|simple|routine|such|these|those|trivial|little)(?: [\w'-]+){{1,3}} you (?:can|may)(?: [\w']+){{1,5}}? {_ALONE}(?!\w)",
)  # fmt: skip
_NO_TRUST = re.compile(
    r"\b(?:laugh|don't trust|can't trust|not trust|never trust|landlord|wouldn't|if i)\b|\bnot (?:up to you|your call)\b",
    re.IGNORECASE,
)

_NEVER = form(
    r"(?:(?:please|pls|plz|you must|you should|you may|you can|and|but|so) )*(?:never(?: ever)?|(?:don't|dont|do not|don’t) ever) (?P<verb>[a-z]+)\b(?! mind)"
)
_NO_ORDER = frozenset(
    "mind fear worry forget say lose give stop change hesitate regret lie tell did does do had have been seen heard met "
    "thought knew got felt tried liked really again am is was were could would will can actually quite even know "
    "understood understand underestimate despair surrender trust come happened happens happen works worked fails saw left ate".split()
)
_DO_NOT = form(
    r"(?:(?:please|pls|plz|you|and|but|so) )*(?:don't|dont|do not|must not|mustn't|may not|can't|cannot|shouldn't|should not) (?P<verb>[a-z]+)\b"
)
_LIMITED = re.compile(
    r"\bwithout (?:asking|telling|checking|my|me|approval|permission|consent|confirmation|talking to|letting me|an ok|explicit|first)\b|"
    r"\bunless i\b|\buntil i (?:say|tell|confirm|approve|ok)|\bever(?: again)?\b|\bunder any circumstances\b|\bin my name\b|"
    r"\bon my behalf\b|\bno matter what\b|\bagain\s*[.!]*$|\bbefore (?:asking|telling|checking with) me\b|\bbehind my back\b",
    re.IGNORECASE,
)
_BOUNDARY = form(
    r"(?:(?:please|pls|plz|and|but|so|just|then|always|only) )*(?:always )?(?:ask|tell|consult|warn|notify|inform|check with|confirm with|check in with|run it by|talk to) (?:me|us)(?: first| in advance| beforehand)?,? (?:first )?before\b",
    r"(?:(?:please|pls|plz|and|but|so|just) )*(?:always) (?:ask|check|confirm|consult|tell|warn|get) (?:with |for )?(?:me|us|my)\b(?! (?:how|about how|what))",
    r"(?:(?:please|pls|plz|and|but|so|just) )*ask me first\b",
    r"(?:(?:please|pls|plz|and|but|so|just) )*(?:don't|dont|do not) (?:touch|mess with|go near|tamper with) (?:my|the|any|our|anything)\b",
    r"(?:(?:please|pls|plz|and|but|so|just) )*(?:keep|stay) (?:out of|away from|off) (?:my|the|our|any|that|those)\b",
    r"(?:(?:please|pls|plz|and|but|so|just) )*leave (?:my |the |our |those |all )[\w ]{2,40}? alone\b",
    r"(?:[\w' -]{1,50} (?:is|are) |that's |it's )(?:strictly |absolutely |completely )?off[- ]limits\b",
    r"(?:[\w' -]{1,50} (?:is|are) |that's |it's )(?:strictly |absolutely )?(?:private and (?:stays|stay)|none of your (?:business|concern)|a no-go|a red line|taboo)\b",
    r"i (?:really )?(?:don't|dont|do not|won't|will not) (?:want|wish|like) (?:to (?:talk|discuss|speak|go into|hear|share|be asked|be reminded)\b|you (?:to (?!worry|think|feel|get|misunderstand|be\b)|\w+ing\b))",
    r"(?:i'd|i would|id) (?:really )?rather not (?:talk|discuss|say|share|go into|speak)\b",
    r"you(?:'re| are) (?:not|never) (?:allowed|permitted|supposed|authori[sz]ed) to\b",
    r"you (?:must|may|shall) (?:not|never) (?:ever )?(?!be\b|have\b|see\b|know\b|imagine\b|believe\b)[a-z]+",
    rf"{IM} not (?:really |at all )?comfortable (?:with|sharing|talking|discussing|if|giving)\b",
    r"hands off (?:my|the)\b",
    r"under no circumstances(?: should you| are you to| may you|,)? [a-z]+",
    r"i never want (?:to see )?you (?:to )?[a-z]+",
    r"(?:absolutely )?no [\w' -]{2,40}? (?:before|until|unless) i(?:'ve| have|'m| say| ok| approve)\b",
    r"[\w' -]{2,40} (?:is|are) (?:not (?:something|a topic|a subject|things?)|nothing) i (?:want|wish|like|am willing) to (?:discuss|talk|share|go into)\b",
    r"(?:please |always |pls )*wait for my (?:\w+ )?(?:ok|okay|go|approval|thumbs up|go-ahead|confirmation|sign-off|yes|word|reply)\b",
    r"[\w' -]{2,40} (?:is|are) (?:for you |only )*to [a-z]+,? (?:but )?(?:never|not) to [a-z]+",
    r"(?:i'd|i would|id) (?:really |much |strongly )?(?:prefer|appreciate|like) (?:it )?if you (?:never|didn't|did not|don't|wouldn't|stayed (?:out|away)|kept (?:out|away)|asked me)\b",
    r"(?:nothing|nobody|no one|no [\w' -]{2,30}?) (?:[\w'-]+ ){0,8}?without (?:my|asking me|me\b|our|me knowing)",
    r"i (?:won't|will not) (?:have|accept|tolerate|allow) (?:my|our|any|you|that you|anyone)\b",
    r"i (?:don't|do not|dont) want (?:my|our) [\w' -]{2,40} (?:in|on|to be|shared|used|mentioned|stored|uploaded|posted|going|with)\b",
)  # fmt: skip
_NO_BOUNDARY = re.compile(r"\b(?:worry|smile|hesitate|you know|you must never have)\b", re.IGNORECASE)
#: An order not to do something with what is the speaker's own.
_ORDER_ABOUT_ME = form(
    r"(?:(?:please|pls|plz|and|but|so) )*(?:never|don't|dont|do not|avoid)\b[^.!?]{2,80}\b(?:my|our)\b(?! (?:mind|advice|word|opinion))"
)
#: A prohibition that ends soon is none.
ENDS_SOON = re.compile(
    r"\b(?:yet|for now|right now|just now|today|tonight|at the moment|until (?!i\b|we\b|further)|this time|for the moment|for a (?:moment|minute|while|bit|second))\b",
    re.IGNORECASE,
)

_STYLE_NOUN = r"(?:answers?|repl(?:y|ies)|responses?|messages?|summar(?:y|ies)|explanations?|emails?|mails?|updates?|reports?|notes|sentences|tone|texts?|suggestions|questions|humou?r|style|advice|feedback|explaining|wording|lists?)"
_STYLE = (
    r"(?:answer|reply|respond|write|format|explain|summari[sz]e|speak|talk|address|use|keep|give me|start|end|put|send me|send|"
    r"show me|show|be|make|include|add|structure|phrase|greet|skip|avoid|stick to|quote|link|ask)"
)
_DYNAMIC = form(
    r"i (?:really |truly |also |just |very much |so )*(?:like|love|hate|appreciate|enjoy|prefer|dislike|don't like|do not like|dont like|can't stand|value|adore) (?:it |that )?(?:a lot )?(?:when(?:ever)?|if|how|that|the way) you\b(?! (?:guys|people|can)\b)",
    rf"i (?:really |truly |also |much |so )*(?:like|love|hate|appreciate|enjoy|prefer|dislike|don't like|value) your (?:\w+ )?(?:{_STYLE_NOUN}|honesty|directness|patience|way of|openness|bluntness)\b",
    r"it (?:really |always |also )?(?:helps?|annoys?|bothers?|irritates?|confuses?|stresses|calms?|motivates?) me (?:a lot |so much |very much |really |most |a bit )*(?:when(?:ever)?|if|that|how) you\b",
    r"you (?:always|never|constantly|tend to|keep(?: on)?(?= \w+ing\b)) (?!know\b|can\b|mind\b|have to\b|stop\b|being you\b|could\b|should\b|will\b|want\b)(?:\w+)\b",
    r"(?:(?:please|pls|plz|and|but|so|just|can you) )*(?:stop|quit) (?:apologi[sz]ing|repeating|asking|using|adding|explaining|summari[sz]ing|guessing|assuming|praising|flattering|saying|calling me|writing|sending|interrupting|rambling|being so|agreeing|hedging|over-?explaining|telling me|suggesting|sugar-?coating|reminding|second-guessing)\b",
    rf"(?:(?:please|pls|plz|and|but|so|just) )*(?:keep|make) your (?:\w+ )?{_STYLE_NOUN} (?:very |really |more |much |super )?\w+",
    r"(?:(?:please|pls|plz|and|but|so|just|then|also) )*be (?:a bit |a little |much )?(?:more|less) (?:concise|brief|direct|honest|blunt|critical|formal|casual|verbose|specific|precise|careful|polite|chatty|proactive|patient|cautious|enthusiastic|friendly|personal|wordy)\b",
    r"no (?:more )?(?:emojis?|exclamation marks|small talk|flattery|fluff|filler)(?=[\s,]*(?:please|pls|in your|from you|anymore|any more|when|[.!]|$))",
    r"(?:you and i |we )(?:really |always |usually )?(?:work|communicate|get along|collaborate|function) (?:so |really |very |together )*(?:best|well|better|great|together)\b",
    r"(?:our|this) (?:working |morning |daily |weekly |new )?(?:routine|rhythm|workflow|collaboration|way of working|teamwork|working relationship|back-and-forth)(?: really| just)? (?:works|is|helps|has|feels)\b",
    r"we(?:'ve| have) (?:found|settled into|developed|fallen into|built|got|gotten) (?:into )?(?:an? |our )?(?:good |nice |steady |great |real )*(?:rhythm|routine|way of working|workflow|habit|groove)\b",
    rf"(?:whenever|every time|each time|any time|when) (?:i|we) [^,.!?]{{2,60}}, (?:please |just |always |then )*{_STYLE}\b",
    rf"next time,? (?:please |just |pls )*{_STYLE}\b",
    rf"(?:i think |i find |i feel )?your {_STYLE_NOUN} (?:are|is) (?:often |always |usually |sometimes |still |a bit |way |far |much )*(?:too|not)\b",
    r"(?:i )?(?:really )?(?:love|like|hate|appreciate) (?:the way|how) you (?!can\b|guys\b)\w+",
    r"i (?:need|want|expect|would like|'d like) you to (?:always |never )?(?:[\w']+ ){1,4}?(?:more|less|whenever|when i|every time|always|instead of)\b",
    r"(?:please )?keep doing (?:that|this|it)\b",
    r"i find it (?:very |really |so |quite |most )*(?:helpful|useful|annoying|confusing|good|great|nice|reassuring|irritating|tiring|rude|easier) (?:when(?:ever)?|if|that|how) you\b",
    r"we(?:'re| are) (?:such )?(?:a |one )?(?:great|good|fantastic|nice|strong|solid|real) team\b",
    r"we make (?:a|such a) (?:great|good|fantastic|nice) team\b",
)  # fmt: skip
_STYLE_ORDER = form(
    rf"(?:(?:please|pls|plz|and|but|so|just|then|also|always|from now on,?|in future,?|in the future,?|going forward,?) )*(?:always )?{_STYLE}\b"
)
_OF_THE_AGENT = re.compile(
    rf"\b(?:{_STYLE_NOUN}|bullet points?|bullets?|emojis?|english|german|metric|celsius|plain (?:text|language|words)|jargon|"
    r"markdown|tables|first name|formal|informal|short|brief|concise|longer|shorter|sources|examples|step by step|numbered|"
    r"british|american|language|24-hour|units|spelling|one question|options?|with me|to me|me\b)",
    re.IGNORECASE,
)
_NO_DYNAMIC = re.compile(r"\byou never know\b|\bplants\b", re.IGNORECASE)
_FROM_NOW = re.compile(
    r"\b(?:from now on|from here on|in future|going forwards?|by default|henceforth)\b", re.IGNORECASE
)
_STANDING = re.compile(
    r"\b(?:from now on|from here on|in (?:the )?future|going forwards?|always|every time|each time|whenever|by default|henceforth|as a rule|in general)\b",
    re.IGNORECASE,
)


def trust_in(said: Said) -> re.Match[str] | None:
    """Where a human gives an agent trust: a task, a decision, or freedom."""
    if _NO_TRUST.search(said.read) or ends_permission(said) is not None:
        return None
    return stated(said, _TRUST, may_depend=True)


def boundary_in(said: Said) -> re.Match[str] | None:
    """Where a human sets an agent a limit that lasts."""
    if _NO_BOUNDARY.search(said.read):
        return None
    if ENDS_SOON.search(said.read):
        return asking_in(said)  # what ends soon may be another clause of it
    found = stated(said, _BOUNDARY, may_depend=True) or ends_permission(said)
    if found is not None:
        return found
    never = stated(said, _NEVER, may_depend=True)
    if never is not None and never["verb"].lower() not in _NO_ORDER and can_be_order(never["verb"].lower()):
        return never
    forbidden = stated(said, _DO_NOT, may_depend=True)
    if forbidden is not None and forbidden["verb"].lower() not in _NO_ORDER and _LIMITED.search(said.read):
        return forbidden
    advised = stated(said, _ORDER_ABOUT_ME, may_depend=True)
    if advised is not None and guidance_in(said.read[:1].upper() + said.read[1:]) == "avoid":
        return advised
    if stated(said, _DYNAMIC, may_depend=True) is not None:
        return None
    return asking_in(said) or prohibition_in(said)


def dynamic_in(said: Said) -> re.Match[str] | None:
    """Where somebody says how the two work together, or how an agent is to answer from now on."""
    if _NO_DYNAMIC.search(said.read):
        return None
    found = stated(said, _DYNAMIC, may_depend=True)
    if found is not None:
        return found
    lasting = standing_order_in(said) or manner_in(said) or lasting_order_in(said)
    if lasting is not None:
        return lasting
    order = stated(said, _STYLE_ORDER, may_depend=True)
    if order is None or not _STANDING.search(said.read) or MOMENT.search(_STANDING.sub(" ", said.read)):
        return None
    return order if _FROM_NOW.search(said.read) or _OF_THE_AGENT.search(said.read, order.start()) else None


def shared_in(said: Said) -> re.Match[str] | None:
    """Where an agent says how the two work together."""
    found = stated(said, _DYNAMIC)
    return (
        found if found is not None and re.match(r"(?:you and i|we|our|this)\b", found.group(), re.IGNORECASE) else None
    )
