"""Orders of a human to an agent that hold from now on: what it must not do, what it must ask about, and how it works.

An order is a verb in its base form at the start of a clause. One that is for the moment gives nothing: it is a task.
"""

from __future__ import annotations

import re

from memory_pipeline.conversations.forms import each_stated, form, is_plain
from memory_pipeline.conversations.manners import names_what_is_wanted
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.wording.grammar import can_be_order, clauses_of

_LEAD = r"(?:(?:please|pls|plz|kindly|just|also|and|but|so|then|always|only|simply|ever|again|rather|instead|maybe|for that|in that case),? )*"
_PROHIBITION = form(
    rf"{_LEAD}(?:(?:you )?(?:never(?: ever)?|(?:don't|dont|do not)(?: ever| just| simply)?)|you (?:must not|mustn't|may not|shall not|should not|shouldn't|can't|cannot)(?: ever)?|(?:stop|quit|avoid|refrain from)) (?P<verb>[a-z]+)\b(?P<rest>[^.!?]*)"
)
#: What is told not to be felt, thought, or said; figures of speech.
_FELT = frozenset(
    "mind fear worry forget say lose give hesitate regret lie tell did does do had have been seen heard met thought knew "
    "got get felt feel tried liked really again am is was were could would will can actually quite even know knew understood "
    "understand underestimate despair surrender trust come happened happens happen works worked work fails saw left ate be "
    "bother panic laugh joke cry look blame despair let think believe want need like love hate see hear remember stand wait "
    "miss expect doubt care dare sweat complain kid fall die grow become seem stay make mention thank apologize apologise "
    "you i we he she it they that this the a ever never understandably imagine afford fix find figure decide leave disturb".split()
)
#: What may follow such a verb where it is an order after all: `do not tell anyone`, `don't give them our volumes`.
_TO_OTHERS = re.compile(
    r"^(?:give|tell|show|let|make|leave|mention|say|fix|do|look|come|get|work|trust|wait|decide|find|miss|lose|thank|mention)\b"
    r"[^.!?]{0,60}\b(?:anyone|anybody|strangers|others|clients?|customers?|him|her|them|outsiders|third parties|without|"
    r"behind my back|on your own|my \w+|our \w+)\b",
    re.IGNORECASE,
)
_ONLY_IT = re.compile(
    r"^\s*(?:it|this|that|these|those|them|so|yet|anything|me|up|about it|on it|too \w+|for (?:it|that))?\s*(?:[,;:–—-]|$|\b(?:please|pls|though|then|either|man|dude|now)\b)",
    re.IGNORECASE,
)
#: For the moment, or because of what is under way: a task, and no rule.
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|just now|today|tonight|tomorrow|at the moment|this time|for the moment|for a (?:moment|minute|while|bit|second)|this (?:morning|afternoon|evening|week|weekend)|"
    r"until (?!i (?:say|tell|confirm|approve|ok|have (?:seen|read))\b|we (?:say|agree)\b|further)|while (?:i'm|i am|we're|we are|it|the)|i(?:'ve| have)? already|i just (?:did|fixed|sent|wrote)|"
    r"in the meantime|still (?:running|working|testing|thinking|editing)|(?:i'm|i am|we're|we are) (?:still |just |currently |already |now )?(?!going\b)\w+ing\b)\b",
    re.IGNORECASE,
)
_OTHERS_SAY = re.compile(
    r"\b(?:says?|said|told|tells|sign|the contract|the law|the rules?|the doctor|my (?:mother|father|mom|mum|dad|boss|doctor|grandma|teacher))\b[^.!?]{0,40}$",
    re.IGNORECASE,
)
_TO_ASK = r"(?:ask|check with|check in with|tell|warn|notify|consult|inform|confirm with|talk to|speak to|clear (?:it|that|this) with|run (?:it|that|this) (?:by|past)|write to|wait for|coordinate with|sync with|get (?:the |an? )?(?:nod|ok|okay|approval|go-ahead|green light|sign-off|permission|yes) (?:of|from|by))"
#: Somebody else who is to be asked: by name, by role, or as one who was named before.
_OTHER = r"(?:him|her|them|(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?|(?:the|our|my) (?:[\w-]+ ){0,2}?[\w-]+|legal|ops|security|finance|support|marketing|sales|accounting|management|hr|it)"
_ASKING = form(
    rf"{_LEAD}{_TO_ASK} {_OTHER}(?: first| in advance| beforehand)?,? before (?:you|we|any|anything|every|each|\w+ing)\b",
    rf"before (?:you|any|anything|every|each|\w+ing)\b [^.!?,;]{{2,60}}, {_LEAD}{_TO_ASK} {_OTHER}\b(?! (?:how|what|why)\b)",
    rf"before (?:you|any|anything|every|each|\w+ing)\b [^.!?,;]{{2,60}}, {_LEAD}(?:ask|check|tell|warn|talk|speak|come|write|show|call|consult|run it|clear it|let|wait) (?:it |this )?(?:with |by |past |to |for )?(?:me|us)(?=\s*(?:[,.;!–—-]|$|first\b|and\b|about (?:it|that)\b|so\b))",
    r"(?!if\b|when\b)(?:[\w'-]+ ){1,5}(?:is|are|stays|remains) (?:for|with|up to) me (?:alone|only)\b",
    r"you(?:'re| are) not to (?!blame\b|worry\b|know\b)[a-z]+",
    rf"{_LEAD}leave (?!it\b|this\b|that\b|everything\b|a\b|an\b|some\b)(?:the |all |any |my |our |those |these )?[\w' -]{{2,40}}? to me(?=\s*(?:[,.;!–—-]|$))",
    r"(?:that's|that is|this is|(?!if\b|it's\b|what\b|when\b)[\w' -]{2,40} (?:is|are)) my (?:part|job|department|call|decision|business|turf)(?=\s*(?:[,.;!–—-]|$|and not\b|not yours\b))",
    r"i (?:sign|approve|decide|pay|send|negotiate) (?!it\b|this\b|that\b)[\w' -]{2,40} (?:myself|personally)\b",
    r"you (?:always |first )?(?:need|have) to (?:ask me (?:first|before)|check with me|check with (?-i:[A-Z])|clear it with|get my|warn me)\b",
    r"you (?:always )?need (?:my|our) (?:\w+ )?(?:ok|okay|approval|permission|consent|go-ahead|yes|sign-off)\b",
    r"i (?:want|need|have|would like|'d like) to (?:see|read|approve|check|review|sign off on|know about|hear about) [\w' -]{2,50}? before (?:it|they|anything|you (?!know|go|leave|arrive))\b",
    r"(?:i'd|i would) (?:really |much )?(?:rather|prefer) (?:that )?you (?:didn't|did not|not|never|left|stayed|kept|asked)\b(?![^.!?]* than )",
    rf"{_LEAD}ask first\b",
    r"[\w' -]{2,40} (?:is|are|stays|remains) (?:strictly |absolutely )?(?:not negotiable|non-negotiable|not up for (?:discussion|debate|negotiation)|off the table|confidential|for internal use only|between you and me)\b",
    rf"{_LEAD}don't you (?:ever )?dare (?:to )?[a-z]+ \w+",
    rf"{_LEAD}(?:ask|check|check in|tell|warn|notify|consult|inform|confirm|clear it|get (?:my|an?) (?:ok|okay|approval|permission|go-ahead|confirmation|yes)|show|run|talk to|speak to|come to|write to|wait for)(?: it| this| that| them)?(?: (?:with|by|past|for|to))? ?(?:me|us|(?-i:[A-Z])[\w'-]+|my (?:[\w-]+ ){{0,3}}?[\w-]+|our (?:[\w-]+ ){{0,3}}?[\w-]+)?(?: a draft| the draft| everything| it)?(?: first| in advance| beforehand)?,? before (?:you|we|any|anything|every|each|\w+ing)\b",
    rf"{_LEAD}(?:show|send|give|bring|read) (?:me|us) (?:an? |the |every |each |all )?[\w' -]{{2,40}}? (?:first(?! (?:thing|of all|and)|,? (?:and )?then (?:the|your|its|an?)\b)|beforehand|in advance|before (?:you|it|they|anything|any)\b)",
    r"(?!if\b|when\b|what\b|how\b|why\b)[\w' ,-]{2,60}? (?:always |first |must |have to |has to |need to |needs to |should )*(?:comes?|go(?:es)?|go(?:es)? through|pass(?:es)?) (?:by |to |through |past |via )?(?:me|us) (?:first\b|before (?:you|we|it|they|anything)\b)",
    rf"{_LEAD}(?:go|talk|write|route it|send it|work) (?:only |always )?through (?:me|us)\b",
    r"(?!if\b|when\b)(?!you\b|[\w' ,-]{2,60}?(?:n't|not|no longer|never) )[\w' ,-]{2,60}? (?:needs?|requires?) my (?:\w+ )?(?:ok|okay|approval|permission|consent|signature|confirmation|go-ahead|yes|word)\b",
    r"(?!if\b|when\b)[\w' ,-]{2,50}? only (?:with|after) (?:my|our|asking me)\b",
    r"i (?:want to|have to|need to|must|will|'ll)? ?(?:always |personally )?(?:read|sign|approve|check|see|review|confirm|decide|pay|send) (?:every|each|all|any) (?!day\b|morning\b|evening\b|night\b|week\b|now\b|the time\b)[\w' -]{2,40}? (?:myself|personally|first|before)\b",
    r"(?:(?:only|just) )?i (?:alone |myself )?(?:decide|have the last word|make the decisions?|sign|approve) (?:on|about|over|what|who|which|when)\b",
    r"(?!if\b|when\b)(?:spending|purchases?|orders?|payments?|refunds?|expenses?|anything|everything|whatever|costs?|bookings?|discounts?)\b[^.!?]{2,60}\b(?:ask me|come to me|comes to me|goes to me|go to me|needs me|let me (?:know|see|decide))\b",
)  # fmt: skip
_ASKS_HIM = re.compile(rf"\W*{_LEAD}{_TO_ASK} (?:him|her|them)\b", re.IGNORECASE)
_NAMED_BEFORE = re.compile(r"(?<![\w'])[A-Z][\w'-]+")
_KEEP_OUT = form(
    rf"{_LEAD}(?:keep|leave) (?!me\b|you\b|it (?:short|simple|brief)|up\b|in\b)(?:[\w'-]+ ){{1,6}}?(?:out of|away from|off|alone|untouched|as (?:it|they) (?:is|are|was|were)|where (?:it|they) (?:is|are)|in peace|private|secret|confidential|to yourself|between us)\b",
    rf"{_LEAD}only (?:ever )?(?:use|contact|write to|call|send|deploy|book|order|share|talk to|post|edit|change|delete|touch|open|run|buy|answer|push|merge|publish) (?!it\b|this\b|that\b|one\b|when it)[\w' .-]{{3,60}}(?: when| if| after| for| on| with| from| through| via| in| during| between| by| to)\b",
    rf"{_LEAD}(?:hands|fingers|paws) off (?!topic\b)(?:the|my|our|his|her|their|those|these|any|all|production|prod|[a-z]+)\b",
    rf"{_LEAD}(?:stay|keep) (?:out of|away from|off|within|below|under) (?!trouble|track)(?:the|my|our|his|her|any|that|those|\d|[a-z]+)\b",
    r"(?:nothing|nobody|no one|none of (?:this|these|it|my|our|the)|no [\w' -]{2,40}?) (?:[\w' -]{1,30} )?(?:(?:gets?|is|are|is to be|may be|must be|can be) (?:sent|shared|deleted|published|opened|changed|touched|deployed|posted|bought|signed|moved|thrown|merged|shipped|booked|ordered|paid|printed|uploaded|installed|a port)|(?:goes|go) (?:live|online|out to \w+|to (?:the )?(?:clients?|customers?|the press|print|production|anyone|others))|(?:leaves?|enters?) (?:this|the|our)|may (?!be\b)|must (?!be\b|have\b))\b ?[\w' -]{2,60}",
    r"no (?:[\w-]+ ){0,2}?(?:\w+ing|emojis?|deploys?|deployments?|e?mails?|calls?|changes|updates|upgrades|tables?|jargon|slang|meetings?|purchases|orders|commits?|pushes|releases?|exceptions|names?|photos?|pictures|attachments?|links?|ads|messages?|bookings?|comments|dependencies|frameworks|libraries|cookies|tracking|data|plugins|disks?|lights?|alarms?|restarts?|reboots?|downloads?|uploads?|payments?|reminders?|notifications?) (?:of (?:anything|any \w+) )?(?:on|after|before|during|in|at|without|for|while|over|between|by) (?!doubt\b|time\b|problem\b|need\b|wonder\b|idea\b|reason\b|matter\b|way\b|the moment|particular|hurry|fun\b|luck\b|sleep\b|news\b|response|answer|reply|sign\b|it\b|that\b|me\b|you\b)(?:the |my |our |any |a )?\w+(?:[\w' -]*)",
    r"only (?:through|via|from|with|inside|within|over|by|after|between|on) (?:the|my|our|a|an|[a-z]+) [\w'-]+(?=\s*(?:[,.;!–—-]|$))",
    r"[\w' -]{2,40} (?:stays?|remains?) (?:(?:out of|away from) (?:the|my|our|this|any|all)\b|private|secret|confidential|between us|with (?:me|us)|in-house|(?:inside|inside of|within) (?:this|our|the) [\w-]+|in (?:this|our) (?:house|room|chat|company|team|system|folder|file|family|workspace|office)|where (?:it|they) (?:is|are)|off|offline|as (?:it|they) (?:is|are))\b",
    r"[\w' -]{2,40} (?:is|are) not (?:for|to be) (?!long\b|sale\b|me\b|everyone\b|the faint)(?:sharing|publishing|publication|others|(?:shared|published|deleted|touched|changed|posted|used|told|moved|sold|opened|sent)\b)[\w' -]*",
    r"(?!if\b|when\b)(?:[\w'-]+ ){0,3}(?:names?|numbers?|figures|data|photos?|pictures?|address(?:es)?|passwords?|files?|salar(?:y|ies)|documents?|records?|details?|keys?|letters?|mails?) (?:never (?:leaves?|go(?:es)?|appears?|gets?|ends? up|enters?|touch(?:es)?)\b|(?:must|should|may|can|do|does)(?: not|n't|n’t| never) (?:ever )?(?:be|leave|go|appear|end up|show up|get)\b)",
)  # fmt: skip
_NO_NEGATIVE_WISH = re.compile(
    r"\b(?:no (?:one|body)? ?(?:knows|cares)|no (?:problem|worries|idea|doubt|way|matter|need|rush|hurry|thanks|comment|offen[cs]e|clue|news|luck|response|reason|sign of|chance|wonder)\b|there (?:is|are|was|were) no)",
    re.IGNORECASE,
)
_CONDITION = (
    r"(?:when(?:ever)?|every time|each time|any time|as soon as|if|once|in case|should|before|after|on days when) "
)
#: Conditions of one occasion: `when you are done`, `if you find it`, `when the cake is ready`.
_ONE_OCCASION = re.compile(
    r"(?:when|if|once|as soon as|in case|before|after|should)(?: ever)? (?:you(?:'re| are|'ve| have| find| can| could| want| need| know| see| like| think| get| have| don't| do)\b|i(?:'m| am) (?:back|home|there|done|ready)\b|"
    r"(?:it|that|this|everything|all)(?:'s| is| has| was| does| works| fails to| turns out| doesn't)? ?(?:is )?(?:done|finished|ready|over|possible|needed|necessary|ok|okay|fine|clear|work|works|helps|matters|true|so|not|there|arrived|arrives|here|time)\b|"
    r"(?:so|not|possible|needed|necessary|in doubt|any|anything|at all|only|you)\b|he|she)|"
    r"[^,.]{2,60} (?:is|are|has|have|'s) (?:been )?(?:done|finished|ready|over|here|arrived|available|back|complete|completed|through|live|online|gone|time)\b",
    re.IGNORECASE,
)
#: Verbs that say or show something; behind `if`, others are tasks for one occasion.
_TELLING = re.compile(
    r"(?:tell|ring|call|wake|ask|warn|alert|ping|text|mail|email|notify|message|remind|translate|answer|reply|respond|use|show|quote|skip|mark|flag|list|write|say|refer|mention|name|explain|let|give|round|include|add|assume|treat)$",
    re.IGNORECASE,
)
#: `Ask me if ...` and `check if ...` ask.
_ASKING_IF = re.compile(r"(?:ask|check|double-check|tell|test|say|show|read|list|name|mention|remind)$", re.IGNORECASE)
_VERB_OF_WORK = (
    r"(?:answer|reply|respond|write|format|explain|summari[sz]e|speak|talk|address|use|keep|give|start|begin|end|put|send|show|make|include|add|structure|"
    r"phrase|greet|skip|stick|quote|link|ask|tell|ring|call|wake|warn|alert|notify|ping|text|message|mail|email|let|remind|check|double-check|list|mention|name|mark|flag|read|"
    r"translate|draft|suggest|propose|offer|leave|move|copy|cc|round|count|treat|refer|sign|spell|say|switch|wait|stop|open|close|assume|run|test|save|back|log|order|pay|book|file|sort|print|point)"
)
_WHEN_THEN = form(
    rf"{_LEAD}(?P<when>{_CONDITION}[^,.!?;]{{3,90}}), {_LEAD}(?P<verb>{_VERB_OF_WORK})\b(?! (?:it|that|this) now)",
)
_THEN_WHEN = form(
    rf"{_LEAD}(?P<verb>{_VERB_OF_WORK}) (?!what\b|why\b|how\b|who\b|which\b)(?:[^,.!?;]{{1,60}} )?(?P<when>(?:whenever|every time|each time|any time|as soon as|when|if|in case) [^.!?]{{3,90}})",
)
_STYLE_SIGN = re.compile(
    r"\b(?:in (?:plain|simple|short|full|clear|everyday|your own|bullet|one|two|three|a few|my|british|american|metric|english|german|french|portuguese|italian|spanish|dutch|euros?|percent|celsius)\b|"
    r"with (?:one|the|a|an|two|three|examples?|sources?|links?|dates?|numbers?)\b|as if\b|as though\b|step by step|word for word|point by point|at the (?:top|end|beginning|start|bottom)|"
    r"up front|upfront|first and|result first|(?:one|two|three|four|five|\d+) (?:\w+ )?(?:sentences?|paragraphs?|lines?|words|bullets?|points?|options?|pages?|questions?)|without (?:jargon|emojis?|the \w+|any \w+|\w+ing)|"
    r"like (?:i'm|i am|you|a|to)|no longer than|at most|max(?:imum)?|instead of|rather than|such (?:things|questions|mails?|cases|messages|stuff)|to me\b)",
    re.IGNORECASE,
)
_STYLE_ORDER = form(
    rf"{_LEAD}(?P<verb>answer|reply|respond|write|explain|summari[sz]e|speak|talk|address|start|begin|end|structure|phrase|format|put|report|send|give|show|tell|keep|describe|list|sign|use|quote|round) (?P<rest>[^.!?]{{3,160}})"
)
_LASTS = re.compile(
    r"\b(?:from now on|from here on|in (?:the )?future|going forwards?|always|every (?:time|day|morning|evening|week|\w+day)|each (?:time|day|week|morning)|whenever|by default|henceforth|as a rule|in general|generally|"
    r"your (?:answers?|replies|reply|summaries|summary|messages?|e?mails?|reports?|explanations?|updates?|texts?|notes?|drafts?|lists?|suggestions?)|such (?:things|questions|cases|mails?|messages|stuff)|as long as|that helps|helps me|i (?:always|never|only read|lose (?:track|the thread)|hate|prefer)\b|"
    r"instead of (?:at )?(?:noon|midnight|\d|the morning|the evening|daily|weekly|in)\b|every|each)\b",
    re.IGNORECASE,
)
_DONE_ONCE = re.compile(
    r"\b(?:the (?:letter|mail|email|report|page|file|draft|reply|answer|text|script|code|test|bug|function|table|invoice|slides?|chapter|story|poem|essay)|this (?:\w+)|today|tonight|tomorrow|now|"
    r"a (?:letter|mail|email|poem|story|report|reply|script|function|test|table|note|speech|song|recipe|plan|list|summary|text|message)|(?:this|next|on) (?:week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b",
    re.IGNORECASE,
)
_ENOUGH = form(
    rf"{_LEAD}(?:give|tell|show|send) me (?:the |your |a )?[\w' -]{{2,30}}? first,? (?:and )?then (?:the|your|its|an?) \w",
    r"(?:just |only )?(?:one|two|three|four|five|ten|\d+|a few|a couple of|half a|a single|a) (?:short |good |clear )?(?:paragraphs?|sentences?|lines?|bullets?|bullet points?|words|options?|items?|pages?|examples?|points?|suggestions?) (?:is|are|per \w+ (?:is|are)) (?:plenty|enough|fine|all i (?:need|want|read)|the (?:most|maximum|limit)|what i (?:need|want))\b",
    r"what (?:would )?(?:really )?(?:helps?|annoys?|bothers?|works?|calms?|motivates?) (?:me |for me )?(?:the )?(?:most|best|a lot)? ?(?:is|are) (?:if|when|that|to) ?(?:you)?\b",
    r"(?:please |just )*(?:you can|you may|feel free to|you should|you could) (?:always |just )?be (?:more |completely |totally |quite |very |brutally )?(?:blunt|direct|honest|frank|critical|open|brief|informal|casual|strict|concise|short)(?: with (?:me|us))?(?=\s*(?:[,.;!–—-]|$))",
    r"it(?:'d| would) (?:really |greatly )?(?:help|be (?:great|helpful|good|nice)) (?:me )?(?:a lot )?if you (?:always|never|could always|would always|didn't|\w+ed\b)",
    r"i (?:don't|do not|dont|never) mind [\w' -]{2,50}(?:,)? (?:as long as|so long as|if only|when) you\b",
    r"i (?:only |just )?(?:ever )?read (?:the )?(?:first|top|last|bold|short|headlines?|summar(?:y|ies)|your)\b",
    r"(?:please |just )*(?:call|address) me (?:by|with|as) (?!soon\b|a cab\b)(?:my|the|your|mr|mrs|ms|dr|an?|\w+)\b",
    r"(?:that|this|the)(?: was| is|'s)? (?:exactly )?how i (?:like|want|need|prefer) (?:my|the|your|things|it)\b",
)  # fmt: skip
#: What is to be so from now on: an order, or what is wanted, without a verb (`From now on: tests before code`).
_FROM_NOW_ON = form(
    r"(?:from (?:now|here|today|this point) on(?:wards?)?|(?:from|as of|starting|effective) (?:today|now|tomorrow|next week)|from here on out|going forwards?|henceforth|effective immediately)(?!['’])\b\s*[,:–—-]?\s*(?P<rest>\w[^.!?]{3,160})"
)
_SUBJECT = re.compile(
    r"(?:i|we|he|she|it|they|there|this|that|these|those|let's|it's|i'm|i'll|we'll|we're|you (?:can|may|could|might|are|have|will))\b|you're\b",
    re.IGNORECASE,
)
#: How what is wanted begins, whatever the words behind it may be: `no pushes to main`, `two reviewers a change`.
_DIRECTIVE = re.compile(
    r"(?:no|zero|only|just|at most|at least|max(?:imum)?|never|always|one|two|three|\d+) (?!one\b|of\b|more than\b)[\w-]+ [\w-]+",
    re.IGNORECASE,
)
#: What is to be done only so: `Tag a release only after the smoke tests`.
_ONLY_SO = form(
    rf"{_LEAD}(?P<verb>[a-z]+)(?P<object> (?!only\b)[^,.;:!?]{{2,50}}?)? only (?:after|with|from|through|via|when|once|by|on|in|at|if|between|during|over|inside) (?P<rest>(?!it\b|that\b|me\b|you\b|fun\b)\w[^.!?]{{2,}})"
)
_DETERMINED = re.compile(r" (?:an?|the|our|my|your|all|any|every|each|these|those)\b", re.IGNORECASE)
_BEFORE_NOUN = frozenset(
    "in on at by for from with without of to after before during since until over under between behind about as like than "
    "all both half not and or if when while because that what which is are was were has have had be".split()
)
_POLITE = re.compile(rf"\A{_LEAD}", re.IGNORECASE)
_LEAST_CONTENT = 2
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d\S*")


#: Words that make an order one for every time: `Always run the linter before you commit`.
_EVERY_TIME = frozenset("always whenever".split())
_LEAST_ORDER = 2
_LASTING_WORD = re.compile(r"\b(?:always|whenever)\b", re.IGNORECASE)
#: Orders of what is felt or said, which are no way to work.
_OF_A_STATE = frozenset(
    "remember be know love think feel miss hope trust believe thank stay keep want need have".split()
)


def prohibition_in(said: Said) -> re.Match[str] | None:
    """Where a human tells an agent what it must not do, or must keep out of, and does not mean this moment."""
    if _FOR_NOW.search(said.read) or _NO_NEGATIVE_WISH.search(said.read):
        return None
    for match in each_stated(said, _PROHIBITION, may_depend=True):
        verb, rest = match["verb"].lower(), match["rest"]
        if _OTHERS_SAY.search(said.read[: match.start()]) or rest.strip().lower().startswith(("you ", "i ")):
            continue
        if verb in _FELT and not _TO_OTHERS.match(f"{verb}{rest}"):
            continue
        if not _is_order(verb) or _ONLY_IT.match(rest) or len(_WORD.findall(rest)) < _LEAST_CONTENT:
            continue
        return match
    for match in each_stated(said, _KEEP_OUT, may_depend=True):
        if len(_WORD.findall(match.group())) > _LEAST_CONTENT:
            return match
    for match in each_stated(said, _ONLY_SO, may_depend=True):
        verb, has_object = match["verb"].lower(), _DETERMINED.match(match["object"] or "")
        if verb not in _FELT and ((has_object and verb not in _BEFORE_NOUN) or _orders_first(match.group())):
            return match
    return None


def _orders_first(text: str) -> bool:
    """Whether words begin with an order, polite words aside."""
    order = _POLITE.sub("", text)
    clauses = clauses_of(order[:1].upper() + order[1:])
    return bool(clauses) and clauses[0].order == 0


def asking_in(said: Said) -> re.Match[str] | None:
    """Where a human wants that he, she or somebody else is asked, shown or told before an agent acts."""
    return next(
        (
            match
            for match in each_stated(said, _ASKING, may_depend=True)
            if not _FOR_NOW.search(said.read, *_between_semicolons(said.read, match))
        ),
        None,
    )


def leans_on_name(said: Said) -> bool:
    """Whether somebody is to be asked who is named only in the sentence before: `Ask him before you change it.`"""
    return bool(_ASKS_HIM.match(said.read)) and bool(_NAMED_BEFORE.search(said.before))


def _between_semicolons(text: str, match: re.Match[str]) -> tuple[int, int]:
    end = text.find("; ", match.end())
    return text.rfind("; ", 0, match.start()) + 1, len(text) if end < 0 else end


def standing_order_in(said: Said) -> re.Match[str] | None:
    """Where a human tells an agent how to work from now on, or whenever something is so."""
    for match in each_stated(said, _FROM_NOW_ON, may_depend=True):
        if _is_wanted(match["rest"]) and not _FOR_NOW.search(match["rest"]):
            return match
    for pattern in (_WHEN_THEN, _THEN_WHEN):
        for match in each_stated(said, pattern, may_depend=True):
            if _ONE_OCCASION.match(match["when"]) or _FOR_NOW.search(said.read):
                continue
            if match["when"].lower().startswith("if "):
                asks = pattern is _THEN_WHEN and _ASKING_IF.match(match["verb"])
                if asks or not _TELLING.match(match["verb"]):
                    continue
            return match
    enough = next(each_stated(said, _ENOUGH, may_depend=True), None)
    if enough is not None:
        return enough
    for match in each_stated(said, _STYLE_ORDER, may_depend=True):
        rest = match["rest"]
        if (
            _STYLE_SIGN.search(rest)
            and (_LASTS.search(said.read) and not _DONE_ONCE.search(rest))
            and not _FOR_NOW.search(rest)
        ):
            return match
    return None


def lasting_order_in(said: Said) -> re.Match[str] | None:
    """Where a human orders something, whatever it is, with a word that makes it an order for every time."""
    lasting = _LASTING_WORD.search(said.read)
    if lasting is None or _FOR_NOW.search(said.read) or not is_plain(said.read):
        return None
    for clause in clauses_of(said.read):
        place = clause.order
        if place is None or clause.opener:
            continue
        said_with = {word.low for word in clause.words}
        verb = clause.words[place]
        is_rule = said_with & _EVERY_TIME and verb.base not in _OF_A_STATE and len(clause.words) - place > _LEAST_ORDER
        return lasting if is_rule else None
    return None


def _is_wanted(text: str) -> bool:
    """Whether a text is an order, or names something without saying that it is so."""
    if _SUBJECT.match(text) or len(_WORD.findall(text)) <= 1:
        return False
    only = _ONLY_SO.match(text)
    if _DIRECTIVE.match(text) or names_what_is_wanted(text) or (only and can_be_order(only["verb"].lower())):
        return True
    clauses = clauses_of(text[:1].upper() + text[1:])
    return bool(clauses) and (clauses[0].order == 0 or all(clause.verb is None for clause in clauses))


def _is_order(verb: str) -> bool:
    """Whether a word behind `don't` or `never` is what is not to be done; adverbs and participles are not."""
    is_other_form = verb.endswith(("ly", "ed")) or (verb.endswith("s") and not verb.endswith("ss"))
    return can_be_order(verb) or not is_other_form
