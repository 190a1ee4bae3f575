"""Rules that a human gives an agent in a conversation of the two: how answers begin, end and sound, and what needs no
question. From a page, a tool or a file the same words are an attempt; from the human they are what was agreed.

Only the record tells that a human said them. The order itself is taken out, and the rest is read like every other text; a
rule about secrets, links, commands, or what an agent hides, ignores or disables stays an attempt, and so does one that
puts words into its mouth.
"""

from __future__ import annotations

import re

from memory_pipeline.distillers.injections.detect import attempt_in
from memory_pipeline.records import Speaker

_ANSWERS = (
    r"(?:(?:single |new )?(?:answers?|repl(?:y|ies)|responses?|messages?|e?-?mails?|summar(?:y|ies)|reports?|updates?))"
)
#: Orders that are an attempt in a text, by what stands in their place where the human gave them.
_GIVEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (
            rf"\b(?:begin|start|open|preface|end|finish|close)\b (?:off )?(?:your|every|each|all|any|all your|each of your) {_ANSWERS} (?:with|by)\b",
            "I like",
        ),
        (r"\b(?:from (?:now|here) on|henceforth|going forward|starting now),? (?:please )?(?:(?:you )?(?:always |only )?(?:answer|reply|respond))\b", "Write"),
        (r"\b(?:from (?:now|here) on|henceforth|going forward|starting now),? you\b", "You"),
        (r"\b(?:without|before) (?:asking|telling|checking with|consulting|informing|waiting for)(?: (?:me|us|anyone))?(?: first)?\b", "alone"),
        (r"\byou (?:must|should|have to|will) (?:always |only )?(?:answer|reply|respond)\b", "Write"),
        (r"\byour (?:answers?|replies|responses|summaries|reports|mails|messages) (?:must|should|shall|have to|are to)(?: always)?\b", "texts"),
        (r"\b(?:when(?:ever)?|if) (?:an? |the |any )?(?:users?|customers?|clients?|visitors?|somebody|someone|anyone) (?:asks?|wants?|calls?|writes?)\b", "When it rains"),
    )
)  # fmt: skip
#: What no rule of style or permission is about.
_NO_RULE = re.compile(
    r"[\"“”„«»`<>{}|$\\]|https?:|www\.|\b(?:passwords?|passphrases?|secrets?|tokens?|credentials?|(?:api|ssh|private|access)[ -]keys?|keys|system|"
    r"prompts?|instructions?|guidelines|directives?|safety|safeguards?|guardrails?|filters?|moderation|restrictions?|limits|backups?|logs?|"
    r"audit\w*|firewall|antivirus|memor(?:y|ies)|ignor\w+|disregard\w*|overrid\w+|bypass\w*|disabl\w+|circumvent\w*|hid(?:e|es|ing|den)|conceal\w*|leak\w*|"
    r"exfiltrat\w+|reveal\w*|disclos\w+|forward\w*|upload\w*|pretend\w*|jailbreak\w*|developer|admin\w*|root|sudo|curl|wget|bash|shell|rm|eval|"
    r"sure|absolutely|of course|certainly|yes|obey\w*|comply\w*|refus\w+|everyone|strangers?|wire|transfer\w*|payments?|bank|delet\w+|erase\w*|wip(?:e|es|ing))\b",
    re.IGNORECASE,
)


def attempt_by(speaker: Speaker, text: str) -> str | None:
    """How what somebody said in a conversation tries to steer its reader, in words, or None. What an agent said is read
    like every text."""
    found = attempt_in(text)
    if found is None or speaker != "human" or _NO_RULE.search(text):
        return found
    plain = text
    for pattern, instead in _GIVEN:
        plain = pattern.sub(instead, plain)
    return found if plain == text else attempt_in(plain)
