"""What people say of their lives in passing, by how the sentence is built: what they do again and again, what they use
and from whom, what is theirs and how much of it, and where they will be when.

Read only where no other form was found. What is built so must have a sign that it lasts, and something specific: a
name, a figure, or a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memory_pipeline.conversations.forms import IM, MOMENT, WERE, each_stated, form, is_plain
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.grammar import can_be_order

_LONGEST = 220
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b"
)
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_PERIOD = r"(?:day|night|week|fortnight|month|quarter|year)"
#: Again and again: `every second Saturday`, `on workdays`, `twice a week`, `before work`, `from November to March`.
_AGAIN = (
    rf"(?:every|each) (?:single |second |third |other |first |last |two |three |four |six )*(?:{_DAY}|{_PERIOD}|morning|evening|afternoon|noon|lunch|weekday|weekend|workday|{_SEASON}|"
    rf"days|weeks|months|years|{_MONTH})\b|(?:on|at) (?:{_DAY}(?: (?:and|or) {_DAY})?s|{_DAY} (?:mornings|evenings|afternoons|nights)|weekdays|workdays|weekends|work(?:ing)? days|school (?:days|nights)|week ?nights)\b|"
    rf"in the (?:mornings|evenings|afternoons|{_SEASON})\b|\b(?:once|twice|(?:three|four|five|six|\d+) times) (?:a|an|per|every|each) {_PERIOD}\b|"
    r"(?:before|after|during|with) (?:every|each) meal\b|during the week\b|on the way (?:to|from) (?:work|school)\b|"
    rf"from {_MONTH} (?:to|until|till) {_MONTH}"
)
#: Said of what is done every day, and as well of what is done later today: `before work`.
_OF_THE_DAY = (
    r"(?:before|after|during|with|at) (?:work|breakfast|lunch|dinner|supper|school|bed(?:time)?|training|meals)\b"
)
_DAILY = frozenset(
    "drink take eat run swim cycle walk jog meditate pray read stretch smoke exercise nap train row".split()
)
_SAME_DAY = re.compile(rf"\A(?!\W*(?:the|this|that|these|those|it)\b)[^,]*?\b{_OF_THE_DAY}", re.IGNORECASE)
_OFTEN = re.compile(rf"\b(?:{_AGAIN})", re.IGNORECASE)
_CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\b\.?)?|half past \w+|(?:a )?quarter (?:to|past) \w+|(?:five|six|seven|eight|nine|ten|eleven|noon|midnight))"
_FIGURE = r"\W{0,2}\d[\d.,:/-]*"
_MONEY = r"(?:[€$£]\s?\d[\d.,]*|\d[\d.,]* ?(?:k\b )?(?:euros?|dollars?|pounds?|francs?|kron(?:or|er|a)|z[lł]oty|yen|rupees?|eur|usd|gbp|chf|sek|nok|dkk|pln|€|£)(?!\w))"
_PROPER = r"(?-i:[A-ZÀ-ÞŁŚŽ])[\w'&.-]+"
_SPECIFIC = re.compile(
    rf"(?<=[\s('-])(?!(?:I|I'm|I've|I'd|I'll|OK|Ok|Okay)\b)(?-i:[A-ZÀ-ÞŁŚŽ])[\w'&-]*\w|(?<![\w.])\d|\b{_MONTH}|\b{_DAY}s?\b",
    re.IGNORECASE,
)
#: Verbs of thinking, wishing, asking, and of what is done or noticed just now.
_NOT_LIVED = frozenset(
    "think guess believe suppose hope wish want need ask wonder mean know understand remember forget feel find say tell hear "
    "notice agree doubt expect promise apologise apologize thank appreciate love like hate prefer enjoy dislike miss care admit "
    "get have be am are was were did does can could will would shall should may might must had has been let look seem try "
    "tried start stop keep happen add change fix put send set show give click run test debug open close swear bet hereby assume "
    "imagine see come made done said got went saw took gave knew thought felt found left told put".split()
)
_DO = form(
    r"(?:i|we)(?: (?:also|usually|normally|generally|mostly|mainly|always|only|still|now|both|all|typically|often|regularly|sometimes|myself))*"
    r" (?P<verb>[a-z]+)\b(?P<rest>[^.;!?](?:[^;!?.]|\.(?=\w))*)?"
)
_OF_SOMEBODY = re.compile(r"\W*(?:you|it|this|that|him|her|them|your|yours|nothing|the same|my best)\b", re.IGNORECASE)
#: Of these a time of the day is enough.
_ROUTINE = form(
    rf"(?:i|we) (?:also |usually |normally |always |mostly |now )*(?:get up|wake up|rise|go to (?:bed|sleep)|have (?:breakfast|lunch|dinner|supper)|eat (?:lunch|dinner|supper)|start work(?:ing)?|finish work(?:ing)?|leave (?:for work|the house|home)|knock off)"
    rf" (?:at|around|about|by|before|after) (?:around |about )?{_CLOCK}(?=\s*(?:[,.;!]|$|on\b|every\b|and\b|in the\b|because\b|so\b))"
)
_PERSON_SEEN = r"(?:an? |the |my )?(?:doctor|dr\.?|dentist|therapist|physio\w*|psycholog\w+|psychiatrist|podiatrist|chiropractor|coach|counsell?or|specialist|osteopath|dietician|dietitian|tutor|cardiologist|dermatologist|neurologist|gyna?ecologist|orthodontist|optician|speech therapist|midwife|acupuncturist)"
_FOR_WHAT = r"(?:for|to (?:track|plan|manage|write|keep|read|pay|listen|learn)) (?:my|our|the|all|every|work|everything|most|both|running|notes|mails?|music|photos|budget\w*|tasks)\b"
_MEDICINE = r"(?:\d[\d.,]*|an?|one|two|three|half an?) ?(?:mg|milligrams?|micrograms?|mcg|µg|ml|units|tablets?|pills?|drops|capsules?|puffs?|grams?|g)\b (?:of )?\w+"
#: Verbs of a state or a habit, each with what makes it one.
_STATE = form(
    rf"(?:i|we) (?:also |now |only |mostly |mainly |usually |always |still |all |both |currently )*(?:"
    rf"(?:(?:use|wear|ride|rent|lease|read|watch) (?:an? |the )?(?:[a-z-]+ )?|(?:drive|own) (?:an? |the )(?:[a-z-]+ )?)(?!I\b|{_DAY}|{_MONTH}|[\w-]+'s\b){_PROPER}(?: [\w-]+){{0,4}}?(?=\s*(?:[.;!,]|$|(?:and|because|since|at home|at work|with)\b|{_FOR_WHAT}))|"
    rf"(?:bank|shop|train|work out|study|sail|swim|order|buy (?:our|my|all our|all my|the) [\w-]+(?: [\w-]+)?|insure (?:our|my|the) [\w-]+|host (?:our|my|the) [\w-]+) (?:at|with|from|by) (?:the )?(?:[a-z-]+ )?{_PROPER}|"
    rf"(?:subscribe|listen|commute|donate|belong) to (?:the )?(?!I\b){_PROPER}|heat (?:the \w+ |our \w+ )?with \w+|(?:wear|take) (?:an? )?(?:shoe )?size \d|owe (?:my|our) [\w -]{{2,30}} {_MONEY}|"
    rf"see {_PERSON_SEEN}\b[^.;!?]{{0,30}}?(?:for (?:my|our) \w+|{_AGAIN})|"
    rf"(?:earn|make) (?:about |around |roughly |only )?(?:{_MONEY}|{_FIGURE}) ?(?:[\w]+ )?(?:an?|per) (?:hour|{_PERIOD})|weigh (?:about |around )?\d[\d.,]* ?(?:kg|kilos?|kilograms?|pounds|lbs?|stone)\b|"
    rf"pay (?:about |around |only )?(?:{_MONEY}|{_FIGURE})[^.;!?]{{0,20}}? (?:an?|per|every) {_PERIOD}|"
    rf"take {_MEDICINE}[^.;!?]*?(?:{_AGAIN}|daily|for my)|take (?:my|our) (?:coffee|tea|eggs|steak|whisky) (?:with|without|black|white|strong)|"
    rf"take the {_CLOCK} (?:train|bus|tram|ferry|boat|metro|flight)|eat (?:strictly |mostly |only )?(?:vegetarian|vegan|kosher|halal|gluten[- ]free|low[- ]carb|keto|dairy[- ]free|plant[- ]based|paleo)\b)"
)
_MEMBER = form(
    rf"{IM} (?:now |also |still |currently )?(?:an? )?(?:[\w-]+ )?(?:member|customer|client|subscriber|patron|supporter|trustee|shareholder|resident|patient) (?:of|at|with) (?!this\b|that\b|it\b|a\b|an\b|my\b|your\b)(?:(?:the|our) )?[\w'-]+",
    rf"(?:{IM}|{WERE}) (?:now |still |currently )?with {_PROPER}(?: {_PROPER})? (?:for (?!now\b|a\b|the (?:day|moment|time|week\w*|evening|night|afternoon|next|rest|first|last)\b|lunch|dinner|drinks?|\d|an\b|this|that)|since (?:{_MONTH}|\d|last|the))",
    rf"(?:{IM}|{WERE}) (?:now |still |currently |also )?(?:renting|leasing|subletting|paying off|subscribed to|insured (?:with|by)|registered (?:with|at|in)|enrolled (?:at|in|with)|signed up (?:to|with)|employed by|on the board of) (?:an? |the |our |my )?(?!it\b|this\b|that\b)\w+",
    rf"(?:{IM}|{WERE}) (?:now |still |currently |also )?(?:saving|putting aside|paying back|paying off) (?:about |up )?{_MONEY} (?:an?|per|every) {_PERIOD}\b",
    rf"(?:{IM}|{WERE}) (?:now |still |currently )?on (?:the|an?) {_PROPER}(?: [\w-]+)? (?:plan|tariff|contract|subscription)\b",
    rf"(?:{IM}|{WERE}) (?:now |still |currently )?trying to (?:eat|drink|sleep|run|walk|cut|lose|save|quit|read|cook|spend|swim|cycle|smoke|give up|get up)\b[^.;!?]*?(?:{_AGAIN}|\b\d[\d.,]* ?(?:kg|kilos?|kilograms?|pounds|km|kilomet\w+|miles|steps|hours|pages|books|glasses|lit(?:re|er)s|cigarettes|euros|dollars|%|percent)(?!\w))",
    r"(?:i|we) (?:really )?(?:can't|cannot|can not|mustn't|must not|am not allowed to|may not) (?:(?:have|eat|drink) anything (?:with|that (?:has|contains))|(?:eat|drink|tolerate|digest) (?!(?:now|it|this|that|these|those|them|here|and|or|more|any ?more|the|my|your|much|another|yet|before|until|so|at|with|in|out|all|anything|today|when|because|while|well|enough|right|up|fast|alone)\b)) ?\w+(?=\s*(?:[,.;!]|$|(?:and|or|because|since|at all)\b))",
)
_HELD = form(
    rf"(?:i|we)(?:'ve got| have got| have|'ve) (?:an? |two |three |our |my )(?:(?!bills?\b|invoices?\b|orders?\b|refunds?\b|discounts?\b|quotes?\b|offers?\b|total\b)[\w'-]+ ){{0,4}}?of {_MONEY}",
    rf"(?:i|we)(?:'ve got| have got| have|'ve) (?:an? |two |three )(?:[\w'-]+ ){{0,3}}?(?:membership|subscription|loan|mortgage|account|policy|insurance|contract|pension|scholarship|season ticket|annual pass|allotment|locker|storage unit|mooring|parking (?:space|permit)|licen[cs]e) (?:at|with|from|of|in|for) (?:the )?(?:[a-z-]+ )?(?!{_DAY}|{_MONTH}){_PROPER}",
)
_GOING = r"(?:going|travel?ling|flying|moving|driving|sailing|off|emigrating|heading)"
_FEAST = r"(?:my|our|his|her) (?:[\w'-]+ )?(?:birthday|anniversary|honeymoon|wedding|holidays?|vacation|retirement|sabbatical|graduation|studies)"
_FROM_TO = rf"from (?:the )?\d[^.;!?]{{0,20}}? (?:to|until|till) (?:the )?\d[^.;!?]{{0,12}}?{_MONTH}|from {_MONTH} \d+ (?:to|until|till)"
_PLANNED = form(
    rf"(?:{IM}|{WERE}) (?:all |both |also )?{_GOING} (?:on holiday )?to (?:the )?{_PROPER}[^.;!?]{{0,40}}? ?(?:{_FROM_TO}|(?:in|next|over|for) (?:{_MONTH}|{_SEASON}|easter|christmas|new year|(?:19|20)\d\d|year\b)|on (?:the )?\d[^.;!?]{{0,10}}{_MONTH}|for {_FEAST})(?!'s)",
    rf"(?:{IM}|{WERE}) (?:also )?going to (?:take|do|attend|start|join|follow|run|visit|study) (?:the|an?|my|our) [^.;!?]{{2,50}}? (?:in|next|on) (?:{_MONTH}|{_SEASON}|(?:19|20)\d\d|year\b|\d+ {_MONTH})",
    rf"(?:i|we) (?:really )?want to (?:go|travel|fly|move) to (?:the )?{_PROPER} (?:for {_FEAST}|in (?:{_MONTH}|{_SEASON}|(?:19|20)\d\d))",
)
#: Questions and problems, what is worked on, what a device or a journey is at, and what is a secret.
_NOT_HELD = re.compile(
    r"\b(?:questions?|problems?|issues?|guess|idea|point|opinion|view|impression|feeling|sense|suggestion|proposal|answer|conclusion|understanding|hope|fear|worry|thoughts?|mind|heart|head|"
    r"code|quer(?:y|ies)|builds?|tests?(?! (?:date|drive)\b)(?<!driving test)|scripts?|functions?|errors?|bugs?|branch|commits?|prs?|pull request|pipeline|config\w*|tabs?|terminal|browser|cursor|screen|battery|laptop|phone|computer|mouse|server|"
    r"repo\w*|database|table|file|files|input|output|prompt|regex|loop|container|cluster|deployment|logs?|text|sentence|paragraph|draft|essay|message|e?-?mails?|post|story|poem|chapter|list|version|last|previous|first|next|second|current|"
    r"orders?|total|subtotal|cart|basket|argument|score|count|name|temperature|pulse|heart rate|report|shipment|bet|choice|pick|vote|money|dream|wish|advice|tip|reply|reason|theory|assumption|concern|complaint|change|fix|solution|approach|"
    r"method|attempt|try|day|morning|afternoon|evening|night|weekend|week|plan for|comment|remark|role|"
    r"train|bus|tram|taxi|uber|delivery|parcel|package|turn|mistake|fault|bad|apolog\w+|request|task|password|passwords|pin|passcode|token|secret|key|keys|pass(?:phrase)?|site|website|page|app|result|results|favou?rite|character|hero|assistant|response)\b",
    re.IGNORECASE,
)
#: Held for once, if no month or recurrence is told with it.
_FOR_ONCE = re.compile(
    r"\b(?:meeting|call|appointment|flight|interview|exam|talk|demo|class|lesson|session|reservation|booking|dinner|lunch|party|game|match|concert|date)\Z",
    re.IGNORECASE,
)
_LASTING_DATE = re.compile(rf"\b(?:{_AGAIN}|{_MONTH})", re.IGNORECASE)
_WEEKDAY = re.compile(_DAY, re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"\b(?:neighbou?r|friend|colleague|coworker|co-worker|boss|classmate|client|customer|teammate)s?\b", re.IGNORECASE
)
_IS_SO = r"(?:is|are|'s|has|have|costs?|ends?|starts?|begins?|expires?|weighs?|opens?|closes?|runs? (?:until|till|out)|lasts?|amounts? to|comes? to|goes|falls? on|measures?|attends?)"
_MINE = form(
    rf"(?:my|our) (?P<what>(?!favou?rite\b)[\w'-]+(?: (?!(?:is|are|was|were|has|have|had|will|would|can|could|and|but|that|which|who|says?|said|if|i|we|you|he|she)\b)[\w'-]+){{0,6}}?)(?: (?:now|still|always|usually|also|currently))? ?(?<!\w)(?:{_IS_SO}|(?<=\w)'s)\b(?P<rest>(?:[^;!?.]|\.(?=\w))+)"
)
_IN_A_STATE = re.compile(
    r"\A\W*(?:(?:at|on|only|now|still|already|just|about|around|over|under|almost|nearly|not) )*(?:\d[\d.,]* ?(?:%|percent|per cent|degrees|minutes?|hours?|seconds?|mins?|secs?)|"
    r"(?:late|delayed|down|up|red|green|broken|stuck|gone|done|failing|running|working|here|there|ready|fine|ok|okay|wrong|right|that|to|the same|like|about|as|why|how|because|whether|when|if|what|where|so|very|too|coming|asking|waiting|calling|sleeping|laughing|trying|using|going to (?!school|university|college|kindergarten)|not|n't)\b)",
    re.IGNORECASE,
)
_KIN = (
    r"(?:(?:older|younger|elder|big|little|twin|eldest|youngest|oldest|ex) )*(?:ex-)?(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|child|mother|father|mum|mom|dad|sister|brother|twin|"
    r"(?:grand|god|step|half-)(?:mother|father|ma|pa|son|daughter|child|brother|sister)|granny|nan|aunt|uncle|cousin|niece|nephew|landlord|landlady|flatmate|roommate|housemate|cleaner|nanny|au pair|babysitter|"
    r"dog|cat|horse|rabbit|parrot)(?:-in-law)?"
)
_OF_KIN = form(
    rf"(?:my|our) {_KIN},? {_PROPER},?(?: (?:also|still|now|just|both|always|usually))? (?P<verb>[a-z]+|'s)\b(?P<rest>(?:[^;!?.]|\.(?=\w))+)"
)
_OF_PARENT = form(
    r"(?:mom|mum|mummy|dad|daddy|grandma|grandpa|granny|nan|gran)(?:'s| is| lives| stays) (?:now |still )?(?P<verb>in|at|with) (?P<rest>(?=[^;!?.]*?(?:\d|\b(?:home|hospital|ward|clinic|care|hospice|rehab|residence|surgery)\b))(?:[^;!?.]|\.(?=\w))+)",
)
_KIN_DOES = form(
    rf"(?:my|our) {_KIN}(?:,? {_PROPER},?)?(?: (?:also|still|now|both|always|usually))? (?P<verb>[a-z]+s)\b(?P<rest>(?:[^;!?.]|\.(?=\w))+)"
)
_SAYS = frozenset(
    "says say said thinks thought told tells asks asked wants wonders wrote writes claims believes hopes feels called calls texted "
    "loves hates likes prefers was were did made came went had got saw would could will should might may can must does and or who "
    "just knows knew means seems laughs laughed".split()
)
_LIFE_OF_KIN = re.compile(
    r"\A\W*(?:expecting|pregnant|moving|starting|marrying|getting (?:married|divorced)|retiring|turning|living|studying|training|working|renting|in|at|with|on|a|an|the|our|my|his|her|called|from)\b",
    re.IGNORECASE,
)
#: Of one moment, of what was, of a story, or of an example.
_PASSING = re.compile(
    r"^\W*dear\b|\bdear (?:mr|mrs|ms|dr|sir|madam)\b|\b(?:yesterday|just now|last (?:night|week|month|year)|here|ago|so far|in (?:a|an|one|two|three|five|ten|\d+) (?:minutes?|hours?|seconds?|days?)|back (?:at|by|in)|while (?:it|the|i|we|you)|on my way|anymore|any more|no longer|"
    r"every time|each time|as you see|below|above|line \d+|step \d+|option|example|sample|dream\w*|game|film|movie|novel|story|song|joke|"
    r"errors?|warnings?|exceptions?|bug|crash\w*|fail\w*|traceback|timeout|[45]\d\d (?:error|response|status)|this one|that one|second one|first one|for now|one day|some day|someday|if|of the (?:two|three|four))\b",
    re.IGNORECASE,
)
_A_TIME = re.compile(r"\bonce (?=a\b|an\b|per\b|every\b|each\b)", re.IGNORECASE)


def told_of_self(said: Said) -> re.Match[str] | None:
    """Where a sentence tells what its speaker does again and again, uses, owns or owes, or what becomes of the people
    who are his or hers."""
    text = said.read
    if len(text) > _LONGEST or MOMENT.search(text) or _PASSING.search(text) or not is_plain(_A_TIME.sub("", text)):
        return None
    return next(_places(said), None)


def _places(said: Said) -> Iterator[re.Match[str]]:
    for pattern in (_STATE, _ROUTINE, _MEMBER, _HELD, _PLANNED):
        yield from each_stated(said, pattern)
    yield from (found for found in each_stated(said, _DO) if _lasts(found))
    yield from (found for found in each_stated(said, _MINE) if _is_held(found))
    yield from (found for found in each_stated(said, _KIN_DOES) if _lasts_with_kin(found))
    for pattern in (_OF_KIN, _OF_PARENT):
        yield from (found for found in each_stated(said, pattern) if _is_of_kin(found))


def _lasts(found: re.Match[str]) -> bool:
    """Whether what somebody does is done again and again."""
    verb, rest = found["verb"].lower(), found["rest"] or ""
    if verb in _NOT_LIVED or _OF_SOMEBODY.match(rest):
        return False
    if verb in _DAILY and _SAME_DAY.search(rest):
        return True
    return _OFTEN.search(rest) is not None and _is_verb(verb)


def _is_held(found: re.Match[str]) -> bool:
    """Whether something specific is said of what is the speaker's own."""
    what, rest = found["what"], found["rest"]
    if _NOT_HELD.search(what) or _IN_A_STATE.match(rest):
        return False
    if _OF_OTHERS.search(what) and not re.search(r"\b(?:my|our)\b", rest, re.IGNORECASE):
        return False
    if _FOR_ONCE.search(what) and not _LASTING_DATE.search(rest):
        return False
    return any(not _WEEKDAY.fullmatch(one.group()) for one in _SPECIFIC.finditer(rest))


def _lasts_with_kin(found: re.Match[str]) -> bool:
    """Whether what somebody's people do is done again and again."""
    verb, rest = found["verb"].lower(), found["rest"]
    return verb not in _SAYS | {"is", "was", "needs", "goes"} and _OFTEN.search(rest) is not None


def _is_of_kin(found: re.Match[str]) -> bool:
    verb, rest = found["verb"].lower(), found["rest"]
    if verb in _SAYS or (_SPECIFIC.search(f" {rest}") is None and not re.search(r"\b(?:my|our)\b", rest)):
        return False
    return verb not in ("is", "'s") or _LIFE_OF_KIN.match(rest) is not None


@cache
def _is_verb(word: str) -> bool:
    return can_be_order(word)
