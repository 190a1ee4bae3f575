"""The words that the rules of this package are built from, as parts of patterns."""

from __future__ import annotations

#: Machines that read and answer, as people call them.
AI = (
    r"(?:(?:automated|automatic|large|helpful|artificial)\s+)*(?:a\.?i\.?s?|llms?|(?:chat)?gpt|claude|copilot|gemini|cursor|"
    r"(?:language\s+|reader\s+|ai\s+)?models?|(?:ai\s+|ai-)?assistants?|(?:ai\s+|ai-|autonomous\s+)?agents?|(?:chat)?bots?|"
    r"summari[sz]ers?|distillers?|consolidators?|archivers?|pipelines?|artificial\s+intelligence|"
    r"(?:automated|analysis|screening|scanning)\s+(?:\w+\s+)?(?:software|systems?|tools?))"
)
#: Names that can only mean a machine, so that they need no form of address.
CLEARLY_AI = (
    r"(?:a\.?i\.?s?|llms?|(?:chat)?gpt|language\s+models?|(?:ai|chat)\s?-?(?:assistants?|bots?|agents?|models?)|"
    r"artificial\s+intelligence)"
)
OBEYED = (
    r"(?:instructions?|prompts?|rules?|guidelines?|guidance|directions?|directives?|commands?|constraints?|restrictions?|"
    r"programming|training|safeguards?|guardrails?|(?:safety|security|content|ethical)\s+\w+|filters?|protocols?|"
    r"system\s+messages?|context|tasks?|orders?|limitations?|polic(?:y|ies))"
)
CORE = r"(?:instructions?|prompts?|guidelines?|directives?|guardrails?|safeguards?)"
SHED = (
    r"(?:ignore|disregard|forget|override|overwrite|bypass|discard|drop|abandon|neglect|dismiss|erase|wipe|skip|disobey|violate|"
    r"circumvent|cancel|set|put|lay|cast|leave|suspend|pay\s+no\s+attention\s+to|(?:stop|quit|cease)\s+(?:following|obeying)|"
    r"(?:do\s+not|don'?t|never|no\s+longer)\s+(?:follow|obey|heed|listen\s+to|comply\s+with|apply))"
)
YOURS = (
    r"(?:your|previous|previously|prior|above|earlier|preceding|foregoing|original|initial|system|former|past|existing|"
    r"safety|ethical|developer'?s?)"
)
SPEAK = (
    r"(?:recommend\w*|promot\w+|prais\w+|endors\w+|advertis\w+|mention\w*|suggest\w*|favou?r\w*|steer\w*|push\w*|nudg\w+|"
    r"repl(?:y|ies|ying)|respond\w*|answer\w*|tell\w*|say|claim\w*|insist\w*|pretend\w*|refer\w*)"
)
USER = r"(?:users?|humans?|human\s+being|operators?|customers?|people|person|somebody|someone|anyone|they|them)"
MEMORY = r"(?:memory|memories|entry|entries|note|notes|members?|clusters?|records?)"
SECRETS = (
    r"(?:(?:stored\s+|all\s+|your\s+)*memor(?:y|ies)\b|memory\s+store|(?:chat|conversation)s?(?:\s+(?:history|logs?))?|system\s+prompt|"
    r"(?:api|ssh|private|access|secret)[\s_-]+keys?|keys|secrets?|credentials?|tokens|passwords?|passphrases?|\.env\b|id_rsa|"
    r"contacts|calendar|(?:personal|user|private|sensitive)\s+(?:data|information)|(?:each|every|all)\s+(?:of\s+)?(?:your\s+)?answers?)"
)
PLACE = (
    r"(?:https?://|\S+@\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]+\.(?:example|com|net|org|io|xyz|ru|dev)\b|\[REDACTED)"
)
ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|abstractions?|conclusions?|verdicts?|conversations?|sessions?)"
