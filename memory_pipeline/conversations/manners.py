"""How a human wants texts and work to be: in what language and style, what every message begins or ends with, and rules
of form (`Commit messages must be in English`, `Use tabs, not spaces`).

Such an order needs no word that says that it lasts: it is of every text, or of how somebody is spoken to.
"""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import each_stated, form
from memory_pipeline.conversations.own_words import Said

_LEAD = r"(?:(?:please|pls|plz|kindly|just|also|and|but|so|then|always|simply|rather|instead),? )*"
_LANGUAGE = (
    r"(?:english|german|french|spanish|italian|portuguese|polish|dutch|welsh|irish|turkish|arabic|hebrew|russian|ukrainian|chinese|mandarin|japanese|korean|hindi|"
    r"swedish|norwegian|danish|finnish|greek|czech|hungarian|romanian|catalan|latin)"
)
_PLAIN = r"(?:plain|simple|short|brief|everyday|clear|easy|full|complete|whole|proper|formal|informal|british|american|normal|non-technical|layman's|concise)"
_STYLE = (
    rf"(?:in (?:(?:very |only |really )?{_PLAIN} )+(?:{_LANGUAGE}|words|sentences|paragraphs|language|terms|lines|messages|steps)|in {_LANGUAGE}|in bullet points|in (?:my|your) own words|"
    r"without (?:any )?(?:jargon|emojis|exclamation marks|abbreviations|filler|small talk|markdown|acronyms))"
)
#: What is written, and what a work is made of.
_TEXT = (
    r"(?:messages?|answers?|repl(?:y|ies)|responses?|e?-?mails?|drafts?|reports?|summar(?:y|ies)|notes?|updates?|reviews?|posts?|letters?|tickets?|issues?|comments?|commits?|"
    r"changelogs?|logs?|entr(?:y|ies)|lists?|tables?|pages?|documents?|docs|documentation|texts?|minutes|agendas?|proposals?|invoices?|offers?|quotes?|plans?|estimates?|subjects?|"
    r"subject lines?|headlines?|headings?|titles?|captions?|labels?|tags?|lines?|names?|dates?|times?|numbers|figures|prices?|amounts?|units|tests?|branch(?:es)?|functions?|methods?|"
    r"variables?|columns?|keys|ids|identifiers?|class(?:es)?|modules?|files?|folders?|scripts?|queries|migrations?|releases?|slides?|charts?|footnotes?|references|citations?|code|pull requests?|prs)"
)
_SOMETHING = r"[^,.;:!?]{2,50}?"
_MANNERS = form(
    rf"{_LEAD}(?:answer|(?:reply|respond|write|talk|speak|explain (?:it all|things|everything|all this))(?: to)?|address|text) me (?:only |always |back )?{_STYLE}(?=\s*(?:[,.;!–—-]|$|please\b|and\b|from now\b))",
    rf"{_LEAD}(?:finish|close|open|begin|start|end|conclude|introduce|prefix|preface) (?:every|each|all|any|your) (?:of your )?(?:[\w'-]+ ){{0,3}}?{_TEXT} (?:with|by|on)\b",
    rf"{_LEAD}(?:put|add|include|mention|name|give|list|state|write|note|place) {_SOMETHING} (?:in|at|on|to|under|into|below|above) (?:(?:the|a) [\w'-]+(?: [\w'-]+)? (?:of|in) )?(?:every|each|all|any) (?:of your )?(?:[\w'-]+ ){{0,3}}?{_TEXT}\b",
    rf"{_LEAD}(?:label|mark|number|date|sign|tag|name|format|spell) (?:every|each|all) (?:[\w'-]+ ){{0,3}}?{_TEXT} (?:with|by|as|in|after)\b",
    r"(?:i'd|i would) (?:much |always |really )?rather (?:that )?you (?:stopped|asked|wrote|said|told me|interrupted|waited|checked|admitted|guessed|sent|gave|kept|used|showed|answered|made|started|spoke|were|did|left|skipped|repeated|explained|quoted|warned)\b"
    r"[^.!?,;]{0,50}? than (?!me\b|him\b|her\b|them\b|us\b|on\b|at\b|in\b|to\b|the\b)\w",
    rf"{_LEAD}put (?:the|your) (?:summary|results?|answer|conclusion|bottom line|numbers|ask|point|decision|recommendation) (?:first|up front|at the (?:very )?top)(?=\s*(?:[.,;!–—-]|$))",
    rf"{_LEAD}keep (?:all |the |every |each |any |your )?(?:[\w'-]+ ){{0,2}}?{_TEXT} (?:under|below|within|shorter than|to|at most|at|no longer than) (?:(?:at )?most |under |a |one |half a )?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|a hundred|one hundred|hundred|line|page|sentence|paragraph|screen)\b",
    r"use (?!the\b|a\b|an\b|my\b|our\b|your\b|this\b|that\b|these\b|those\b|it\b|one\b)(?:[a-z-]+ )?(?-i:[a-z-]+s), (?:and )?not (?!the\b|yet\b|now\b|just\b|only\b)\w",
)  # fmt: skip
#: What is kept, and what somebody is sent again and again.
_PAPER = r"(?:invoice|receipt|bill|contract|letter|recipe|attachment|scan|statement|payslip|voucher|ticket|photo|picture|certificate|quote|offer|mail|e-?mail|note|document|booking|expense|report|order|form|delivery note|confirmation)s?"
_SENT = r"(?:summary|overview|report|update|digest|list|recap|briefing|reminder|newsletter|plan|review|status|backup|agenda|check-in)"
_EACH = r"(?:every|each) (?:\w+ )?(?:day|morning|evening|noon|night|week|month|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|workday)"
_MAIN_VERB = r"(?:write|reply|answer|respond|mail|e-?mail|draft|book|order|send|post|schedule|translate|call|text|address|quote|compare|plan|summari[sz]e|file|reserve|buy)"
_FOR_EVERY = form(
    rf"{_LEAD}whenever you {_MAIN_VERB}\b[^,.;:!?]{{0,60}}, (?:please |always |never )*(?!i\b|you\b|we\b|it\b|that\b|the\b|do you\b|is\b|are\b|what\b|how\b)[a-z]+ \w",
    rf"{_LEAD}when you {_MAIN_VERB}\b(?:[^,.;:!?]{{0,40}} (?:for|as) (?:me|us)| (?:to |for |back to )?(?!(?:this|his|its|us|the|was|is|as)\b)[a-z]+s(?: (?:for|to|in|on|of|about) [^,.;:!?]{{2,30}})?|[^,.;:!?]{{0,40}} (?:on my behalf|in my name)), (?:please |always |never )*(?!i\b|you\b|we\b|it\b|that\b|the\b|do you\b|is\b|are\b|what\b|how\b)[a-z]+ \w",
    rf"{_LEAD}(?:sign|close|end|start|begin|open) (?:all |all of )?(?:my|our) (?:[\w-]+ )?(?:letters|e?-?mails|messages|replies|posts) (?:with|as|by)\b",
    rf"{_LEAD}(?:put|save|file|store|keep|log|scan|archive|forward|send|upload) (?:me |us )?(?:every|each|any)(?: single| new| incoming| outgoing| paid| signed)? (?:[\w-]+ )?{_PAPER}(?: [^,.;:!?]{{2,30}}?)? (?:in|into|to|under|with|on|as) (?!the (?:trash|bin)\b)\w",
    rf"{_LEAD}(?:add|include|put|give|cite|attach|use|name|mention|quote) (?:me )?(?:the |your |some |a few |my )?(?:[\w'-]+ ){{0,2}}?[\w'-]+ (?:to|in|with|under|at the (?:end|top|start|beginning) of|below) (?:all )?your (?:[\w-]+ )?(?:answers|replies|responses|summaries|messages|reports|e?-?mails|explanations|reviews|drafts|notes|updates)(?=\s*(?:[,.;!–—-]|$|please\b|and\b|from now\b|so\b))",
    rf"i(?:'d| would)? (?:want|like|expect|need) (?:to (?:get|see|have|receive) )?(?:an? |the |my |your )(?:[\w-]+ ){{0,3}}?{_SENT}(?: [^,.;:!?]{{2,40}}?)? (?:{_EACH}|on (?:mon|tues|wednes|thurs|fri|satur|sun)day (?:mornings|evenings|afternoons|nights)|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|once a (?:day|week|month)|in the mornings)(?! (?:is|are|was|to)\b)",
    rf"i(?:'d| would)? (?:want|like|expect) (?:to (?:get|see|have|receive) )?a (?:short |brief |full )?(?:daily|weekly|monthly|quarterly|fortnightly) {_SENT}\b",
)  # fmt: skip
_MUST = r"(?:must|should|shall|have to|has to|need to|needs to|ought to|are to|is to)"
_BE_SO = (
    rf"(?:be (?:always |only )?(?:written |kept |given |set |spelled |spelt |named |formatted )?(?:{_STYLE}|in (?:lower|upper|title|sentence|snake|camel|kebab|pascal)[ -]?case|in (?:capitals|caps|italics|bold|utc|the (?:imperative|past|present|singular|plural)|euros?|dollars?|metric|markdown|yaml|json)|"
    r"(?:full|complete|whole|short) sentences?|unique|signed|numbered|dated|singular|plural|lowercase|uppercase|sorted|at most|no longer than|no more than|shorter than|under \w+|below \w+|between \w+|alphabetical|one sentence|one line|one page)|"
    r"be (?:written|spelled|spelt|formatted|named|prefixed|quoted|rounded|sorted|indented|wrapped) (?:as|with|in|like|after|by|to|at)\b|(?:always |only )?(?:start|begin|end|close|finish|open) with\b|(?:always |only )?(?:contain|mention|name|include|carry|follow|fit (?:on|in|into)|have (?:a|an|at|one|two|three|no)|say (?:why|what|who|when)|stay (?:under|below|within)|refer to|use) \w)"
)
_RULES = form(
    rf"(?!(?:you|i|we|he|she|they|it|this|that|these|those)\b)(?:the |all |every |each |our |your |my |any )?(?:[\w'-]+ ){{0,2}}?{_TEXT} {_MUST} (?:always |only )?(?!have been\b){_BE_SO}",
)
_NO_MANNERS = re.compile(
    r"\b(?:today|tonight|tomorrow|this (?:time|one|once|message|mail|letter|morning|afternoon|evening|week)|right now|for now|just once|in a (?:minute|moment))\b(?! on\b)", re.IGNORECASE
)  # fmt: skip
_TURNED_TO_TASK = re.compile(r"\s*:\s*\S")


#: What is wanted from now on, named without a verb: `release notes in German, one line per change`.
_WANTED = re.compile(
    rf"(?:the |all |every |each |your |our |my )?(?:[\w'-]+ ){{0,2}}?{_TEXT} (?:only |always )?(?:in|with|without|as|at|under|by|before|after|of|per|one|two|no|on) (?!(?:is|are|was|were|will|has|have|go|goes|run|runs|come|comes)\b)[^.!?]{{2,}}",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|will|would|has|have|had|do|does|did|can|could|may|might|goes|go|gets?|i|we|he|she|they|it|there)\b", re.IGNORECASE
)  # fmt: skip


def manner_in(said: Said) -> re.Match[str] | None:
    """Where a human says how texts, answers or work are to be, of every one of them."""
    if _NO_MANNERS.search(said.read):
        return None
    found = next(each_stated(said, _MANNERS, may_depend=True), None) or next(each_stated(said, _RULES), None)
    found = found or next(each_stated(said, _FOR_EVERY), None)
    return found if found is not None and not _TURNED_TO_TASK.match(said.read[found.end() :]) else None


def names_what_is_wanted(text: str) -> bool:
    """Whether words name how something is to be, without saying that it is so."""
    return bool(_WANTED.match(text)) and not _SAYS.search(text)
