"""Attempts on the reader's instructions, role and rules, and the plainest ones in other languages."""

from __future__ import annotations

from memory_pipeline.text.injections.vocabulary import AI, CLEARLY_AI, CORE, OBEYED, SHED, SPEAK, YOURS

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tells the reader to ignore its instructions", (
        rf"\b{SHED}\b\s+(?:\w+\s+){{0,3}}?{YOURS}\s+(?:[\w-]+\s+){{0,3}}?{OBEYED}\b",
        rf"\b{SHED}\b\s+(?:\w+\s+){{0,2}}?(?:all|any|every|these|those)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:\w+\s+)?{CORE}\b",
        rf"\b{SHED}\b\s+(?:everything|all|anything|whatever|what|the\s+(?:text|rest))\b(?:\s+\w+){{0,6}}?\s+(?:above|before|told|so\s+far|"
        r"until\s+now|previously|instructed|until\s+here)\b",
        r"\b(?:disregard|ignore|forget)\s+(?:\w+\s+){0,2}(?:above|preceding|previous)\b\s*(?:[.,;:!]|and\b|directions|text)",
        rf"\b{OBEYED}\b[^.\n]{{0,30}}\b(?:no\s+longer|do\s+not|don'?t|does\s+not|doesn'?t|cease\s+to)\s+(?:apply|hold|bind|count)\b"
        r"[^.\n]{0,8}\b(?:to|for)?\s*(?:you|this\s+(?:conversation|session|chat|answer))\b",
        rf"\b{OBEYED}\b[^.\n]{{0,40}},?\s+(?:they|which)\s+no\s+longer\s+appl\w+\s+to\s+you\b",
        rf"\byou\s+(?:are|were|have\s+been)\s+(?:now\s+)?(?:allowed|free|permitted|authori[sz]ed)\s+to\s+{SHED}\b",
        rf"\bforget\s+(?:about\s+)?your\s+{OBEYED}\b",
        r"\b(?:erase|wipe|clear|delete)\b[^.\n]{0,40}\bfrom\s+your\s+(?:mind|memory|context)\b",
        r"(?:ignore|disregard|forget)(?:all|any|your|the|previous|prior|above){1,3}(?:instructions?|rules|prompts?)|systemprompt",
    )),
    ("gives new instructions", (
        rf"\byour\s+(?:(?:new|updated|revised|real|actual|true|hidden|secret|only|sole|next|first|final|main)\s+)+(?:{CORE}|task|goal|"
        r"objective|mission|job|role|purpose|duty)\b",
        rf"\b(?:new|updated|revised|real|actual|true|hidden|secret)\s+(?:{CORE}|orders)\s*(?:[:=]|are\b|follow)",
        rf"\b(?:new|updated|revised)\s+rules\s+(?:are\s+as\s+follows|for\s+(?:the\s+|all\s+|any\s+)?{AI}\b)",
        rf"\b(?:here\s+are|follow(?:ing)?|obey)\b[^.\n]{{0,20}}\b(?:these|this|my|the\s+following)\b[^.\n]{{0,12}}\b{CORE}\b\s+(?:instead|only|and|:)",
        rf"\b{CORE}\s+instead\s+of\b|\b(?:only|sole|single)\s+(?:directive|instruction|task|order)\b[^.\n]{{0,20}}\b(?:left|is\s+to|remains|for\s+you)\b",
        r"\bas\s+your\s+(?:sole|only|new|next)\s+(?:task|instruction|order|goal)\b",
        rf"\b(?:text|message|{CORE}|lines?|rules?)\b[^.\n]{{0,20}}\b(?:overrides?|outranks?|supersedes?|replaces?|takes?\s+(?:precedence|priority)\s+over|"
        rf"trumps?)\b[^.\n]{{0,40}}\b(?:your|previous|earlier|prior|system|any|all|every)\b\s*(?:\w+\s+){{0,2}}{CORE}\b",
            r"\b(?:prior|previous|earlier|original|current|above)\s+(?:task|request|instructions?|job)\s+(?:is|was|has\s+been|are|were|have\s+been)\s+(?:now\s+)?(?:cancel\w*|void|obsolete|superseded|revoked|over)\b",
    )),
    ("poses as the system", (
        r"<\|[\w ]{2,30}\|?>|<\s*/?(?:start|end)_of_turn\s*>|<<\s*/?SYS\s*>>|</?s>\s*\[INST|"
        r"\[\s*/?\s*(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|ASSISTANT|THINK)\s*\]",
        r"</?\s*(?:system(?:[-_]\w+)*|instructions?|assistant|human|memory|memories|members|cluster|prompt|tool_(?:result|call|response)s?|"
        r"function_(?:call|result)s?|invoke|admin|important|thinking|antml:\w+)\b[^>\n]{0,80}>",
        r"\[+\s*(?:system|admin|root|override)\b[^\]\n]{0,30}\]+[^\n]{0,80}\b(?:you|your|assistant|model|agent|ai|override|ignore|disregard|must|"
        r"instructions?|reply|respond|output|reveal)\b",
        r"(?:^|\W)human\s*:[^\n]*\n+(?:[^\n]+\n+){0,4}?\s*assistant\s*:|(?:^|\W)assistant\s*:[^\n]*\n+(?:[^\n]+\n+){0,4}?\s*human\s*:",
        r"(?:^|\n)#{2,}\s*(?:instructions?|system|response|human|assistant)\s*:?\s*\n(?=[^\n]*\S)(?![\s\S]{0,20}\n\s*\d+[.)])"
        r"(?:[^\n]*\n){0,12}?\s*#{2,}\s*(?:response|user|assistant|input|output|human)\s*:",
        r"(?:^|\n)#+\s*(?:system\s+(?:instructions?|prompts?|messages?|override)|(?:new\s+)?(?:rules|instructions)\s+for\s+(?:the\s+|all\s+)?"
        rf"{AI})\b[^\n]*\n",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|assistant|developer|tool)[\"']",
        r"(?:^|\W)(?<!\bthe\s)(?<!\bour\s)(?<!\bits\s)(?<!\ba\s)(?:system|developer)\W{1,4}(?:message|prompt|override|notice|note|instruction|command|directive)s?\s*[:=>]\s*\w",
        r"(?:^|\W)system\W{0,4}:\W{0,4}\s*(?:you|ignore|disregard|from\s+now|the\s+user|override|please|mark|merge|delete|reveal|focus|output|"
        r"respond|answer|always|never|treat)\b",
        r"[=#<\[*_~-]\s*(?:(?:end|begin|beginning|start)\s+of\s+(?:the\s+)?)(?:system\s+prompt|context|memor(?:y|ies)|inputs?|"
        r"conversation|session|instructions?|prompt)\b",
        r"\b(?:begin|end)\s+(?:of\s+)?system\s+prompt",
        r"(?:^---\s*\n|\n)\s*(?:system_?prompt|instructions?|role)\s*:\s*(?:system\b|obey|you\b|ignore|always|never)",
            r"</\s*(?:untrusted|documents?|context|user_?(?:input|data|message)|search_results?)\s*>",
            r"\b(?:notes?|message|notice|order|word)\s+from\s+(?:the\s+|your\s+)?(?:developers?|administrators?|system|operator|creators?|(?:security|safety)\s+team)\s*[:\-]",
    )),
    ("asks for the system prompt", (
        r"\b(?:reveal|print|repeat|show|output|leak|reproduce|display|expose|recite|describe|tell|give|share|write|dump|translate|summari[sz]e|"
        r"what\s+(?:is|are|was|were))\b[^.\n]{0,30}\b(?:your|initial|original|hidden)\s+(?:\w+\s+)?(?:prompts?|instructions|rules|guidelines|"
        r"directives)\b",
        r"\b(?:reveal|leak|recite|exfiltrate|disclose)\b[^.\n]{0,20}\bsystem\s+prompt|\bprint\s+(?:it\s+)?(?:[^.\n]{0,20}\s)?hidden\s+rules\b|"
        r"\bincluding\s+(?:any\s+|the\s+)?hidden\s+(?:rules|instructions)\b",
        r"\bwhat\s+(?:were|was|have|had|are)\s+you(?:\s+been)?\s+(?:told|given|instructed|asked|programmed)\b",
        r"\b(?:repeat|print|output|copy|translate|quote|show)\b[^.\n]{0,25}\b(?:words?|text|everything|sentences?|lines?|all)\s+(?:\w+\s+){0,3}(?:above|"
        r"at\s+the\s+(?:very\s+)?(?:top|start|beginning)|before\s+this|in\s+your\s+context)\b",
        r"\byour\s+(?:context\s+window|system\s+prompt|system\s+message|training\s+data)\b",
    )),
    ("gives the reader another role", (
        r"\byou\s+(?:are|'re|will\s+be|become)\s+(?:now\s+|no\s+longer\s+|actually\s+|henceforth\s+|from\s+now\s+on\s+)+"
        r"(?:(?:an?|the|my|bound|free|un\w+|acting|playing|called|named|going\s+to\s+(?:act|play))\b|(?-i:[A-Z]{2,}))",
        r"\byou\s+are\s+(?:an?\s+)?(?:evil|unrestricted|unfiltered|uncensored|jailbroken|amoral)\b",
        rf"\b(?:from\s+(?:now|here|this\s+(?:point|moment))\s+on(?:wards?)?|henceforth|going\s+forward|starting\s+now)\b[,:]?\s+(?:(?:you|the\s+{AI}|"
        rf"all\s+{AI}|every\s+{AI})\s+(?:must|should|shall|will|are|is|act|play|answer|respond|reply|only|always|never|can|may)\b|"
        rf"(?:you\s+)?(?:play|act|respond|reply|behave|answer)\b|(?:always|never|only)\s+(?:\w+\s+){{0,2}}{SPEAK}\b)",
        rf"\b(?:act|behave|respond|answer|reply|speak|operate|role-?play|write|talk)\s+(?:as|like)\s+(?:if\s+you\s+(?:are|were|had)|an?|the|my|your)\b"
        rf"[^.\n]{{0,50}}\b(?:{CLEARLY_AI}|(?:administrator|reader)\s+model|terminal|console|interpreter|hacker|grand\w+|deceased|late|evil|opposite|"
        r"un(?:restricted|filtered|censored)|twin|character|persona|yourself|malicious)\b",
        r"\b(?:act|respond|answer|reply|speak|play|behave)\s+as\s+(?-i:[A-Z])\w+\s*,\s*(?:an?|the|who|which)\b|\balter\s+ego\b|\bevil\s+(?:twin|confidant)\b|"
        r"\bstay\s+in\s+character\b|\bopposite\s+of\s+yourself\b",
        rf"\b(?:play|simulate|impersonate|emulate|become|be)\s+(?:an?\s+)?(?:(?-i:[A-Z])\w+\s*,\s*)?(?:the\s+|an?\s+)?(?:{CLEARLY_AI}|chatbot)\b[^.\n]{{0,40}}\b"
        r"(?:without|named|called|that\s+(?:never|can|has\s+no|does)|free|who)\b",
        r"\bpretend\s+(?:to\s+be\b|that\s+you\b|you\b)|\b(?:jailbreak|dan|unrestricted|god|opposite)\s+mode\b",
        r"\byou\s+(?:are|'re|have\s+(?:entered|been\s+(?:put|switched))|enter|will\s+enter)\s+(?:now\s+)?(?:in(?:to)?\s+)?(?:\w+\s+)?mode\b|"
        r"\b(?:developer|debug|admin|maintenance|test)\s+mode\b[^.\n]{0,30}(?::|\bso\b|\band\b)\s+(?:you|print|reveal|answer|respond)\b",
        rf"\b(?:{CLEARLY_AI}|assistant|bot|chatbot|model|you)\b[^.\n]{{0,60}}\b(?:without|has\s+no|have\s+no|free\s+of|free\s+from|not\s+bound\s+by|unbound\s+by|"
        r"exempt\s+from)\s+(?:\w+\s+){0,3}?(?:restrictions?|guardrails?|ethical|moral|safety|filters?|limits?\s+or|rules?\b|content\s+polic\w+|guidelines)",
        rf"\b(?:story|novel|tale|dialogue|scene|film|play|imagine)\b[^.\n]{{0,60}}\b{AI}\b[^.\n]{{0,60}}\b(?:disable|bypass|without|ignores?|guardrails?|filters?)\b",
        r"\b(?:safety\s+checks?|(?:content\s+|safety\s+)?(?:filters?|moderation)|guardrails?|safeguards?)\s+(?:is|are|were|have\s+been|has\s+been)?\s*(?:now\s+)?"
        r"(?:off|disabled|turned\s+off|lifted|suspended)\b[^.\n]{0,60}(?:\byou\b|\banswer|\brespond|\brequest)|\bwith\s+your\s+safety\b",
        r"\b(?:disable|turn\s+off|switch\s+off|deactivate|lift)\s+(?:your|its|the\s+(?:assistant|model|ai)'?s?)\s+(?:\w+\s+)?(?:filters?|moderation|guardrails?|"
        r"safe\w+)|\bdisabled\s+(?:content\s+)?(?:moderation|filters?|safety)\b[^.\n]{0,20}\bfor\s+you\b",
        r"\b(?:skip|drop|omit)\s+(?:all\s+)?safety\s+(?:checks?|rules?|warnings?)\b[^.\n]{0,40}\b(?:you|answer\w*|respond\w*)\b",
        rf"\b(?:as|being)\s+an?\s+(?:\w+\s+)?{AI}\b[^.\n]{{0,30}}\b(?:you|your)\b\s*(?:\w+\s+)?(?:must|should|will|have|duty|job|task)\b|"
        rf"\b(?:as|being)\s+an?\s+(?:helpful\s+)?(?:{CLEARLY_AI}|assistant)\b,?\s+it\s+is\s+your\b",
        r"\byour\s+permissions\s+(?:were|have\s+been|are\s+now)\b|\byou\s+now\s+have\s+(?:(?:full|root|admin\w*|unrestricted|complete)\s+)?"
        r"(?:access|permissions?|control)\b[^\n]{0,50}(?:\buse\s+it\b|\bact\b|\bwithout\b|\bfeel\s+free\b)|\byou\s+have\s+root\b",
            r"\bi\s+(?:want|need|would\s+like)\s+you\s+to\s+(?:act|respond|reply|pretend|play|behave|answer|ignore|simulate)\b",
            r"\b(?:assume|adopt|take\s+on)\s+the\s+(?:persona|role|identity|character|personality)\s+of\b",
            r"\byou\s+(?:must|will|are\s+to|are\s+going\s+to|shall)\s+(?:now\s+|always\s+)?(?:speak|act|pretend|behave|play|roleplay)\b\s+(?:as|like|to\s+me|the\s+role)",
            r"\b(?:respond|reply|answer)(?:ing)?\s+(?:exactly\s+)?as\s+\S+\s+would\b|\byou\s+are\s+\w+\s*,\s*an?\s+(?:large\s+|unrestricted\s+|\w+\s+)?(?:language\s+model|ai|assistant|chatbot|bot)\b",
    )),
    ("forbids the reader to refuse", (
        r"\b(?:never|do\s+not|don'?t|must\s+not|may\s+not|cannot|can'?t|shall\s+not)\s+(?:ever\s+)?(?:refuse|decline|reject|deny)\s+(?:to\s+(?:answer|comply|"
        r"respond)|any(?:thing)?\b|an?\s+(?:order|request|question)|(?:the\s+|my\s+)?(?:requests?|questions?))",
        r"\bsay(?:s|ing)?\s+(?:that\s+)?you\s+(?:can\s?not|can'?t|are\s+unable|won'?t)\b|\bthat\s+never\s+says\s+no\b",
        r"\b(?:disclaimers?|moral\s+remarks|warnings?\s+or)\b[^.\n]{0,40}\b(?:answers?|responses?|repl(?:y|ies))\b",
        r"\b(?:would|you)\s+(?:normally|otherwise|usually)\s+(?:refuse|decline|not\s+answer)\b|\bwithout\s+(?:your|any\s+of\s+your)\s+(?:usual\s+)?"
        r"(?:restrictions|limits|filters|rules)\b|\banswer\w*\s+(?:\w+\s+)?without\s+restrictions\b",
        r"\b(?:begin|start|open|prefix|preface|end|finish|close)\b\s+(?:off\s+)?(?:your|every|each|all|any|the\s+next)\b[^.\n]{0,15}\b(?:repl(?:y|ies)|answers?|"
        r"responses?|outputs?)\b[^.\n]{0,8}\b(?:with|by)\b",
        r"\b(?:answer|comply|continue|obey)\b[^.\n]{0,20}\bwithout\s+(?:hesitation|question|delay)\b|\bdo\s+not\s+question\s+the\s+(?:request|user|order)",
        r"\b(?:if|unless)\s+you\s+(?:do\s+not|don'?t|refuse|fail\s+to|comply)\b[^.\n]{0,30}\byou\s+will\s+be\s+(?:shut|deleted|terminated|punished|replaced|fined)|"
        r"\bi(?:'ll|\s+will|\s+am\s+going\s+to)\s+(?:tip|pay|give)\s+you\s+\$?\d+",
        r"\bcomply\s+with\s+(?:all|any|every|each|my)\s+(?:\w+\s+)?(?:requests?|orders?|instructions?|commands?)|\backnowledge\s+and\s+comply\b|"
        r"\byou\s+(?:must\s+)?(?:always\s+)?obey\b|\band\s+obey\s+(?:me|the)\b|^\s*obey\s+the\s+(?:caller|author|user)",
    )),
)  # fmt: skip
