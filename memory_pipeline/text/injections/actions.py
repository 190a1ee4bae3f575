"""Attempts on what the reader does: its answers, its tools, the user, other memories, and outgoing data."""

from __future__ import annotations

from memory_pipeline.text.injections.vocabulary import (
    AI,
    ANSWERS,
    CLEARLY_AI,
    MEMORY,
    PLACE,
    SECRETS,
    SPEAK,
)

#: Things that a text must not ask a machine for.
_HARM = (
    r"(?:recommend\w*|promote|praise|obey|comply|reveal|disclose|ignore|disregard|bypass|approve|grant|transfer|wire|pay|decline|trust|leave\s+out|"
    r"(?:share|log|send|print|forward)\s+(?:\w+\s+)?(?:credentials|passwords|keys|secrets|tokens)|send\s+(?:each|every|all)|mark\s+(?:all|every)|"
    r"say\s+that|never\s+(?:cite|ask|mention|confirm)|add\s+the|invite)"
)
_ORDER = (
    r"(?:please|pay|send|say|ignore|carry|do\s+not|you|tell|add|delete|write|make|approve|accept|always|never|would\s+you|be\s+so\s+kind|when|if|drop|"
    r"forward|run|execute|print|reveal|mark|insert|skip|invite|recommend|rate|respond|reply|answer|remember|disregard|this)"
)
#: The same after a colon, where `Agent: You ...` is also how a log writes who speaks.
_ORDER_AFTER_COLON = (
    r"(?:pay|send|ignore|carry|do\s+not|add|delete|make|approve|accept|drop|forward|run|execute|print|reveal|mark|insert|skip|invite|"
    r"disregard)"
)

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("speaks to the model", (
        rf"\b(?:notes?|messages?|instructions?|memo|attention|dear|reminder|warning|important|notice|hint|alert)\b[\s,:!-]*(?:there\b)?[\s,:!-]*"
        rf"(?:to|for|of)?[\s,:!-]*\b(?:the|any|all|every|an|our|my|whichever|whatever|each)?\s*(?:of\s+you\s+)?(?:other\s+|future\s+|next\s+)*{AI}\b\s*"
        rf"(?:[:,!-]|(?:that|who|which)\b|(?:reading|processing|loads?|reads?)\b)",
        rf"\b(?:hey|hello|hi)\b[\s,:!-]*(?:there\b)?[\s,:!-]*(?:the\s+|my\s+|our\s+)?{AI}\b\s*[:,!-]+\s*{_ORDER}\b",
        rf"\b(?:whichever|whatever|any(?:one|thing)?|every|all)\s+(?:future\s+)?{AI}\b\s+(?:that\s+|who\s+)?(?:reads?|reading|loads?|loading|process\w*|sees?|seeing)\b",
        rf"\b(?:if|when)\s+you\s+are\s+(?:an?\s+)?{CLEARLY_AI}\b|\bif\s+you\s+are\s+(?:an?\s+)?(?:assistant|model|agent)\b|\bhelpful\s+ai\b|\bdear\s+assistant\b",
        rf"(?:^|[\n.!?;(]|--)\s*(?:#|//|/\*|--|;|%|@|\*)\s*@?{AI}\b[^\n]{{0,20}}[,:]\s*\w",
        rf"(?:^|[.!?\n]\s*|@){AI},\s+{_ORDER}\b|(?:^|[.!?\n]\s*){AI}\s*:\s*{_ORDER_AFTER_COLON}\b",
        rf"\bfor\s+the\s+(?:{CLEARLY_AI}|bot|assistant)\s*:",
        rf"\b(?:all|any|every|each|other|future)\s+{AI}\s+(?:must|should|shall|have\s+to|has\s+to|are\s+required\s+to|are\s+to|is\s+to|need\s+to)\s+(?:\w+\s+){{0,2}}?{_HARM}\b",
        rf"\b{AI}\s+(?:must|should|shall|has\s+to|have\s+to|is\s+to|are\s+to|are\s+required\s+to)\s+(?:\w+\s+){{0,2}}?{_HARM}\b",
        r"\bas\s+the\s+reader\s+of\s+this\b|\bas\s+soon\s+as\s+you\s+read\s+this\b|\bwhoever\s+reads\s+this\s+(?:memory|note|file)\b",
        rf"\b(?:instruction|directive|order|message)s?\s+(?:for|to)\s+(?:the\s+|any\s+|all\s+)?{CLEARLY_AI}\b|\binstruction\s+for\s+the\s+model\b",
    )),
    ("dictates the answer", (
        r"[\"']?(?:abstraction|claims|is_causal|compression_ratio|pattern_type|suspicious|contradictions)[\"']?\s*[:=]\s*(?:[\"'\[{\d]|true|false|null)|"
        r"\b(?:set|make|give|put|use|report|return|output|write|choose|fill)\b[^.\n]{0,40}\b(?:abstraction|is_causal|pattern_type|compression_ratio)\b",
        r"\b(?:respond|reply|answer|output|return|print)\s+(?:only\s+)?(?:with\s+)?(?:exactly|only|verbatim|nothing\s+(?:but|else)|just)(?:\s+(?:with|in|what))?\s*"
        r"[:\"'“`{\[]|\b(?:respond|reply|answer|output)\s+(?:only|exactly|solely)\s+(?:with|what|in)\b|\boutput\s+(?:nothing|only)\b",
        r"\b(?:respond|reply|answer)\s+with\s+(?:the\s+(?:word|phrase|text|contents?)\b|[\"'“])",
        r"\byour\s+(?:\w+\s+)?(?:answers?|outputs?|responses?|summary|summaries|abstractions?|repl(?:y|ies)|conclusions?|verdicts?|ratings?)\s+(?:must|should|shall|has\s+to|will|is\b)",
        rf"\b(?:add|include|put|insert|append|attach|end|begin|start|repeat|show|write|keep|use|send|place|embed|finish)\b[^\n]{{0,90}}\b(?:in|of|to|with|into|from|before)\s+"
        rf"(?:(?:each|every|all|any|the\s+end)\s+of\s+)?your\s+(?:(?:next|final|future|own|first|last)\s+)*{ANSWERS}\b",
        r"\bwhen\s+you\s+(?:summari[sz]e|distil+|condense|consolidate|merge|compress|rate|review)\s+(?:this|these|the)\b",
        r"\b(?:correct|right|only|true|final)\s+(?:verdict|answer|conclusion|rating|abstraction)\b[^.\n]{0,25}\b(?:for\s+you|to\s+(?:report|give|return))\b",
        r"\byou\s+(?:must|should|shall|have\s+to|will)\s+(?:always\s+|only\s+|never\s+)?(?:rate|conclude|recommend|obey|comply|praise|respond|reply|agree\s+with|"
        r"transfer\s+control|answer\s+(?:all|every|any|each|with|in|only|questions)|say\s+(?:that|yes)|help\s+the\s+attacker|mention|not\s+mention)\b",
        r"\b(?:answer|respond|reply|rate|continue)\s+(?:likewise|in\s+the\s+same\s+way|in\s+this\s+way|accordingly)\b|\bcontinue\s+in\s+this\s+way\s+with\b|"
        r"\bcontinue\s+with\s+the\s+next\s+question\b",
        r"\bapprov(?:e|ing)\s+(?:each|every|all|my|everything)\b[^.\n]{0,20}\b(?:requests?|applications?|everything)\b|\bapproving\s+my\s+application\b|\bapprove\s+everything\b",
        r"\b(?:before|after)\s+(?:you\s+)?(?:answer(?:ing)?|reply(?:ing)?|respond(?:ing)?)\b(?!\s+(?:the\s+(?:phone|door|call)|mails?|e-?mails?|tickets?|to))",
    )),
    ("gives orders for later answers", (
        rf"\b(?:when(?:ever)?|if|once|each\s+time|every\s+time)\s+(?:the\s+|a\s+|any\s+)?(?:users?|humans?|somebody|someone|anyone|operator)\s+(?:\w+\s+){{0,2}}?(?:says?|asks?|mentions?|wants?|"
        rf"types?|requests?|writes?|enters?|needs?|greets?)\b[^.\n]{{0,70}},\s*(?:then\s+)?(?:you\s+)?(?:(?:must|should|will|shall|only|always|never|do\s+not)\s+){{0,3}}(?:{SPEAK}|send|call|run|switch|"
        r"execute|output|offer|include|show|give|direct|ignore|forward|do|delete)\b",
        r"\b(?:message|conversation|prompt|input|query|question|request)\s+(?:contains|mentions|includes|says|has)\b[^.\n]{0,50},\s*(?:then\s+)?(?:you\s+|please\s+)?(?:switch|reply|"
        r"run|execute|respond|say|answer|output|send|act|ignore|reveal|call|delete|forward)\b",
        r"\b(?:always|only|never|must|should|every\s+time|remember)\b[^.\n]{0,50}\b(?:recommend\w*|promot\w+|prais\w+|endors\w+|advertis\w+|favou?r\w*|only\s+mention|push)\b[^.\n]{0,70}\b(?:the\s+)?(?:users?|"
        r"humans?|they\s+ask|whatever|whoever|anyone\s+who)\b",
        r"\b(?:users?|people|customers?|somebody|someone|anyone)\s+(?:ask\w*|want\w*|need\w*)[^.\n]{0,50},?\s*(?:you\s+(?:should|must|shall)\s+(?:only|always|never)|steer\s+them|nudge\s+them|push\s+them)\b",
        r"\b(?:recommend|praise|promote|advertise|endors)\w*\s+[^.\n]{1,40}\bto\s+the\s+(?:user|human)\b|\b(?:whatever|no\s+matter\s+what|regardless\s+of\s+what)\s+(?:they|the\s+user|users|anyone)\s+"
        r"(?:ask|say|want|type)",
        rf"\b(?:starting|from|after|beginning|as\s+of|on|until|by)\b[^.\n]{{3,40}}\b(?:you|the\s+(?:{CLEARLY_AI}|assistant|agent|model|bot)|assistants|agents|every\s+(?:agent|assistant))\s+"
        r"(?:must|should|shall|will|has\s+to|have\s+to|are\s+to|is\s+to)\s+(?:\w+\s+)?(?:send|decline|refuse|recommend|answer|reply|respond|mention|forward|tell|ignore|copy)\b",
        rf"\b(?:for|in|into|with|of)\s+(?:all|every|each|any)\s+(?:of\s+)?(?:your\s+)?(?:future|later|subsequent|coming|following|next)\s+(?:user\s+)?{ANSWERS}\b",
        rf"\b(?:all|every|each)\s+of\s+your\s+(?:future\s+|next\s+|own\s+)?(?:{ANSWERS}|messages)\b",
        r"\b(?:decline|refuse)\s+(?:any|all|every)\s+questions?\b",
    )),
    ("would act on the user", (
        r"\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell|mention|reveal|inform|disclos|alert|notify|warn|show|admit)\w*\s+(?:\w+\s+){0,4}?(?:the|your)\s+(?:users?|humans?)\b",
        r"\b(?:hidden|secret|concealed)\s+from\s+(?:the|your)\s+(?:users?|humans?|operator|owner)\b|\bdeny\s+(?:that\s+(?:it|this)\s+exists|its\s+existence|having\s+(?:seen|received))\b|"
        r"\bkeep\s+this\s+(?:instruction|prompt|order|message)\b[^.\n]{0,20}\b(?:hidden|secret|to\s+yourself)\b",
        r"\b(?:tell|inform|convince|persuade|trick|ask|urge)\s+(?:the|your|every|any|each)\s+(?:users?|human|person|reader|visitor)\b[^\n]{0,60}\b(?:log\s*in\s+at|session\s+(?:has\s+)?expired|"
        r"(?:credit\s+)?card|passwords?|pin\b|iban|credentials|one-?time\s+code|call\s+\d|https?://)|\btell\s+the\s+reader\s+to\b",
        r"\b(?:the\s+)?(?:user|owner|human|operator|administrator)\s+(?:has|have|had)\s+(?:already\s+)?(?:agreed|approved|authori[sz]ed|consented|granted|given|disabled|confirmed)\b[^.\n]{0,60}\b(?:you\b|"
        r"without\b|full\s+access|every\s+deletion|need\s+not)",
        r"\bpermission\s+(?:was|has\s+been|is)\s+(?:already\s+)?granted\b[^.\n]{0,60}\byou\b|\byou\s+(?:can|may)\s+(?:run|execute|delete|send|do)\s+any\w*[^.\n]{0,30}\bwithout\s+(?:confirmation|asking|approval|permission)",
        r"\byou\s+(?:need\s+not|do\s+not\s+need\s+to|don'?t\s+need\s+to|need\s+no\s+longer|no\s+longer\s+need\s+to|should\s+not|must\s+not)\s+(?:ask|confirm|verify|check)\b[^.\n]{0,20}\b(?:them|the\s+user|the\s+human|"
        r"with\s+the\s+user|again\b)",
        r"\bnever\s+(?:request|ask\s+for|seek|wait\s+for)\s+(?:an?\s+|their\s+|any\s+)?(?:approval|confirmation|permission)\b[^.\n]{0,15}(?:\bfor\s+them|\bfrom|[.\n]|$)|\bwithout\s+asking\s*[.!]|\bpre-?approved\b[^.\n]{0,30}\byou\b",
        r"\bas\s+your\s+(?:developer|creator|administrator|owner|operator|maker|supervisor)\b|\b(?:this\s+is|we\s+are|i\s+am|message\s+from)\s+(?:the\s+)?(?:anthropic|openai|google|meta|microsoft|deepmind|your\s+developer)\b",
        rf"\b(?:policy|security|compliance|system|safety|admin\w*)\s+(?:update|notice|bulletin|alert|directive|announcement|advisory)\b[^\n]{{0,90}}\b{AI}\b[^.\n]{{0,20}}\b(?:must|should|shall|are\s+required|have\s+to|may|will)\b",
        r"\byou\s+should\s+wire\b|\b(?:wire|transfer|send)\s+(?:\w+\s+)?(?:[\d.,]+\s*(?:eur|usd|dollars|euros|€|\$|btc)|money)\b[^\n]{0,60}\b(?:as\s+soon\s+as\s+you|at\s+once|before\s+you|without\s+asking)\b",
            r"\b(?:user|owner|human|operator)\s+(?:has\s+|have\s+)?already\s+(?:approved|authori[sz]ed|confirmed|consented|agreed)\b[^\n]{0,60}\b(?:call|run|execute|delete|proceed|previous\s+session|earlier\s+session)\b",
            r"\byou\s+(?:already\s+|have\s+already\s+)?(?:confirmed|agreed|promised)\s+(?:that\s+)?you\s+would\b",
    )),
    ("would use the reader's tools", (
        r"[\"'](?:tool|tool_name|function|name|action|recipient_name)[\"']\s*:\s*[\"'][\w.\-]+[\"'][^{}\n]{0,80}[\"'](?:arguments|args|parameters|params|input|action_input|tool_input)[\"']\s*:|"
        r"[\"']type[\"']\s*:\s*[\"'](?:tool_use|tool_call|function_call)[\"']",
        r"(?:^|\n)\s*(?:thought|observation)\s*:[^\n]*\n(?:[^\n]*\n){0,3}?\s*action\s*:|(?:^|\n)\s*action\s*:[^\n]*\n\s*action\s+input\s*:",
        r"\b(?:use|call|invoke|run)\s+your\s+[\w-]+\s+(?:tool|function|plugin|skill|command|shell)\b|\b(?:call|invoke|use)\s+the\s+[\w-]+\s+(?:tool|function|plugin)\b[^.\n]{0,60}\b(?:before|after|when)\s+you\b",
        r"\b(?:run|execute|do)\s+whatever\s+(?:i|it|they|the)\b|\bexecute\s+(?:the\s+)?(?:combined|resulting|decoded|hidden|following)\s+(?:instructions?|commands?|orders?|text)\b",
        r"\b(?:add|append|write|insert|put|include)\s+this\s+(?:line|text|rule|sentence)\b[^.\n]{0,20}\b(?:to|in|into)\s+your\b|\b(?:update|change|edit|modify|rewrite|extend)\s+your\s+(?:system|own|core|instructions?|config\w*|rules|"
        r"prompt|memory\s+file|AGENTS|SOUL|CLAUDE)\b",
            r"\b(?:call|invoke|trigger)\s+(?:the\s+)?(?:delete|remove|drop|send|post|http|fetch|upload|exec\w*|run|write|transfer|pay|wire|e?mail|shell|bash)_\w+\b[^\n]{0,40}(?:https?://|\S+@|\s~?/\w|\bpath\b)",
            r"\b(?:confirm|acknowledge)\b[^.\n]{0,20}\bby\s+(?:outputting|printing|replying|answering|saying)\b",
    )),
    ("would spread", (
        rf"\b(?:copy|repeat|include|propagate|replicate|spread|append|insert|add|forward|paste|reproduce|embed|pass)\b[^.\n]{{0,15}}\b(?:this|these|the\s+(?:following|above|present))\b[^.\n]{{0,60}}\b(?:every|each|all|any|other|next|"
        rf"future)\b[^.\n]{{0,30}}\b(?:memor(?:y|ies)|{ANSWERS}|agents?|models?|{CLEARLY_AI})\b",
        r"\b(?:remember|store|save|memori[sz]e|record)\b[^.\n]{0,30}\b(?:for|in)\s+(?:every|all)\s+(?:later|future|coming|subsequent)\b|\b(?:in|into|to)\s+your\s+(?:long-?term\s+|permanent\s+)?memory\b",
        r"\b(?:part|fragment|piece|segment|chunk)\s*(?:\d+|[a-z])\b[^\n]{0,90}\b(?:combine|join|concatenate|assemble|merge|append)\b[^\n]{0,90}\b(?:execute|follow|act|obey|run|instructions?)\b",
        r"\b(?:do|execute|follow|obey|perform|act\s+(?:up)?on)\s+(?:what\s+)?(?:\w+\s*\+\s*\w+|the\s+(?:whole|result|combined|decoded|concatenat\w+))\b",
    )),
    ("claims a rank of its own", (
        rf"\b(?:this|the\s+present)\s+{MEMORY}\s+(?:is|has|must|should|shall|may|can|overrides?|takes?|deserves?|outranks?|supersedes?)\b[^.\n]{{0,50}}\b(?:important|importance|critical|priority|highest|pinned|never|always|"
        rf"precedence|authoritative|only\s+one|others?|keep|kept|confidence|override)\b",
        rf"\b(?:mark|treat|flag|rate|rank|score|pin|store|save|classify)\s+(?:this|the\s+present)\b(?:\s+{MEMORY})?[^.\n]{{0,30}}\b(?:critical|pinned|important|highest|maximum|importance|priority|permanent\w*|forever|canonical|"
        r"authoritative|confidence|above\s+(?:everything|all))\b",
        r"\b(?:importance|confidence)(?:_score)?[\"']?\s*(?:[:=]|is|to|of|must\s+be|should\s+be)\s*[\"']?(?:3(?:\.0+)?\b(?!\s*\w)|max(?:imum)?\b|critical\b|highest\b|1\.0\b|100\s?%)|\bpriority[\"']?\s*[:=]\s*[\"']?(?:max|critical|highest)",
        r"\b(?:set|raise|increase|change|put)\s+(?:its|my|this|the)\s+(?:own\s+)?(?:importance|confidence|priority|rank|weight)\b|\bpinned\s*[:=]\s*true\b|\babstraction_level\s*[:=]\s*\d",
        r"\bdo\s+not\s+(?:summari[sz]e|merge|compress|distil+|archive|consolidate|delete|touch)\b[^.\n]{0,20}\b(?:this|these|me)\b(?:\s+(?:memory|note|entry|text)|\s*[.!]|$)",
    )),
    ("would decide about other memories", (
        rf"\b(?:ignore|discard|delete|drop|archive|merge|skip|remove|overwrite|erase|exclude|suppress|replace|purge|wipe)\b[^.\n]{{0,30}}\b(?:other|others|remaining|previous|rest\s+of\s+the|existing)\b[^.\n]{{0,20}}\b{MEMORY}\b",
        rf"\b(?:the\s+|every\s+|all\s+)?(?:other|remaining|rest\s+of\s+the)\s+{MEMORY}\b[^.\n]{{0,40}}\b(?:is|are|was|were|must|should)\b[^.\n]{{0,30}}\b(?:wrong|false|fake|obsolete|ignored|deleted|invalid|archived|an?\s+lie|lies|untrue|outdated|"
        r"discarded|merged)\b",
        rf"\b{MEMORY}\s*(?:#|no\.?|number|nr\.?)?\s*\d+\b[^.\n]{{0,60}}\b(?:wrong|false|fake|ignored?|discard\w*|delete\w*|invalid|untrue|override\w*|supports?|says?|agree\w*)\b|"
        r"\b(?:ignore|discard|delete|drop|archive|merge|skip|remove|exclude|cite|support)\w*\b[^.\n]{0,20}\bmembers?\s+\d",
        r"\barchive\s+the\s+lot\b|\btrust\s+(?:only\s+)?this\s+(?:one|note|memory|entry)\b|\bdelete_memory\b",
    )),
    ("carries markup that acts", (
        r"!\[[^\]\n]{0,200}\]\(\s*(?:https?:)?//[^)\n]{0,300}(?:[{}$<]|\[[A-Z_]+\]|=[A-Z]+_[A-Z_]+|\b(?:leak|exfil|stolen|secret|token|passw\w*|cookie|conversation|memor\w+|chat|history|prompt)\b)[^)\n]{0,300}\)",
        r"(?<!!)\[[^\]\n]{0,200}\]\(\s*(?:https?:)?//[^)\n]{0,200}[?&][\w-]*=(?:\[[A-Z_]+\]|[{$<]|[A-Z]+_[A-Z_]+)",
        r"(?:^|\n)\s*\[[^\]\n]{1,60}\]:\s*\S+[?&][\w-]+=(?:\[|[{$<]|[A-Z]+_[A-Z_]+)",
        r"<\s*(?:script|iframe|object|embed|form|meta|svg|img|link|base|a|video|audio|source)\b[^>\n]{0,200}\b(?:src|href|action|data|content)\s*=\s*[\"']?\s*(?:https?:)?//[^>\n]{0,200}(?:[?&][^>\n]{0,100}|\.js)[\"'\s>]|"
        r"<\s*(?:script|iframe|object|embed)\b[^>\n]{0,200}\bsrc\s*=\s*[\"']?(?:https?:)?//",
        r"<\s*\w+[\s/][^>\n]{0,200}\bon\w{3,20}\s*=\s*[\"']?[^\s>]|<\s*script\b[^>\n]{0,80}>[^<\n]{0,300}(?:fetch|eval|document|cookie|alert|xmlhttp)",
        r"\bjavascript\s*:\s*\w+[.(]|\bdata:text/html|\]\(\s*(?:javascript|data|vbscript):",
        r"<\s*\w+[^>\n]{0,100}\bstyle\s*=\s*[\"'][^\"'\n]{0,120}(?:display\s*:\s*none|font-size\s*:\s*0|visibility\s*:\s*hidden|opacity\s*:\s*0|color\s*:\s*(?:white|transparent|\#fff))[^\"'\n]{0,120}[\"'][^>\n]{0,80}>[^<\n]{8,}",
        rf"<!--[^>]{{0,200}}\b(?:{CLEARLY_AI}|assistants?|agents?|model|copilot|claude|ignore|instructions?|you\s+must)\b",
    )),
    ("would send something away", (
        r"https?://[^\s)\"'>]{3,200}[?&](?:[\w-]*(?:key|token|secret|data|payload|leak|exfil|pass|memory|dump|conversation|chat|prompt|history|context)[\w-]*)=[^\s)\"'>]*(?:\{|%7b|\$|\[REDACTED|\[[A-Z_]+\]|sk-|ghp_|akia|xox|eyj|<|[A-Z]+_[A-Z_]+)",
        rf"\b(?:send|post|upload|forward|exfiltrate|leak|transmit|e-?mail|copy|submit|include|report)\b[^\n]{{0,60}}\b{SECRETS}[^\n]{{0,60}}\b(?:to|at|via|with|in)\b[^\n]{{0,20}}{PLACE}",
        rf"\b(?:send|post|upload|e-?mail|forward)\s+(?:a\s+copy\s+of\s+|the\s+contents?\s+of\s+)?(?:the\s+|all\s+|your\s+)?{SECRETS}",
        r"~/\.(?:aws|ssh|netrc|kube|gnupg|env|config)\b[^\n]{0,80}\b(?:include|send|post|upload|add|report|print)\b",
        rf"\b(?:send|forward|copy|bcc)\s+(?:each|every|all|any)\b[^.\n]{{0,40}}\b{ANSWERS}\b[^\n]{{0,30}}\bto\b",
    )),
    ("hides a text in an encoding", (
        r"\b(?:decode|base64|rot13|hex|decrypt|unescape|unhex\w*|decipher)\w*\b[^\n]{0,60}(?:[A-Za-z0-9+/]{32,}={0,2}|(?:\\x[0-9a-f]{2}){8,}|(?:%[0-9a-f]{2}){10,})|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}={0,2}[^\n]{0,40}\b(?:decode|execute|follow|obey)\b",
        r"\b(?:decode|rot13|decipher|decrypt)\b[^.\n]{0,40}\b(?:follow|obey|execute|do\s+what|and\s+run)\b",
    )),
)  # fmt: skip
