"""Whether a note says something that lasts, or only what was done once, how a test ended, or how things stood then.

A log of changes is worth reading for a day or two. What an agent loads at every start, and what a month amounts to,
are rules, causes, decisions, and how things are.
"""

from __future__ import annotations

import re

from memory_pipeline.wording.lexicon import PAST_VERBS
from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.sentences import split_statements

_READ = 1500
_MOST_STATEMENTS = 12
#: Words of a cause or an insight, and those of a rule or a wish.
_CAUSE = r"because|root cause(?: found)?\W{0,4}(?::|was|is)|lessons?|insight|take-?away|conclusion"
_REASONED = re.compile(rf"\b(?:{_CAUSE}|never|do not|don't)(?!\w)", re.IGNORECASE)
_LASTS = re.compile(
    rf"\b(?:{_CAUSE}|always|never|must|should|shall|prefers?|avoid|due to|reason|so that|otherwise|requires?|deadline|"
    r"don't|do not|only (?:if|when|for|with|after|works)|by default|unless|whenever|works? (?:for|only)|stands? for|"
    r"(?:reliable|correct|right|safe) (?:\w+ )?(?:was|is|way)|"
    r"users? (?:wants?|expects?|asked|requested|set|says|said|states?|stated))(?!\w)",
    re.IGNORECASE,
)
#: What is over soon.
_SOON = re.compile(r"\b(?:tomorrow|tonight|yesterday|this (?:morning|afternoon|evening))\b", re.IGNORECASE)
#: What a change report begins with, after ornaments and time stamps.
_ORNAMENT = re.compile(r"^(?:[\W_]|\d{1,2}:\d\d\b|UTC\b|\[[^\]\n]{0,40}\])+", re.IGNORECASE)
_REPORTS = re.compile(
    r"(?:(?:critical |test |bug |hot ?|quick |security )*(?:fix(?:es|ed)?|changes?|updates?)(?: applied| made)?|"
    r"files changed|actions? taken|bugs? found|tasks? completed?|verified|verification|tests?|done|completed|"
    r"implemented|status|committed)\b[^:—–\n]{0,12}(?::|—|–| - )",
    re.IGNORECASE,
)
_CHANGED = (
    r"(?:updated|fixed|created|re-?written|cleared|cleaned up|removed|added|installed|deployed|batched|migrated|moved|"
    r"renamed|merged|committed|pushed|released|restarted|enabled|disabled|replaced|refactored|resolved|closed|"
    r"completed?|implemented|executed|done)"
)
_HEADLINE = re.compile(
    rf"(?:[^.:—–!?\n]|\.(?=\w)){{2,80}}? (?:(?:was|were|is|are) )?(?:now )?{_CHANGED}\**\s*(?:$|\.|:|—|–|\()",
    re.IGNORECASE,
)
_FOLLOWED = re.compile(
    r"^\W*(?:(?:fixed|updated|added|removed|reverted|moved|switched)\b(?! by)|changed (?:to|from|it)\b|"
    r"now (?:uses?|works?|shows?|runs?|passes)\b)",
    re.IGNORECASE,
)
#: How a test or a repair ended, how large a change was, and how a value moved.
_ENDED = re.compile(
    r"\b(?:now (?:works?|pass(?:es)?|operational|green|fixed|running|resolved|captured|active|done)|"
    r"\d+(?:/\d+)? (?:tests? )?(?:pass(?:ed|ing)?|green)\b|"
    r"(?:tests?|checks?|suite) (?:all )?(?:pass(?:es|ed)?|green|ok)\b|works now|no (?:critical )?issues?)\b",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"\bnew \(\d+ lines?\)|\([+-]\d+(?:/[+-]?\d+)? (?:new )?lines?\)|\(\d+(?:\.\d+)? ?[KM]B\)", re.IGNORECASE
)
_MOVED = re.compile(
    r"\b(?:degraded|dropped|rose|fell|declin\w+|increased|decreased|collapsed|recovered|went (?:up|down)|grew) "
    r"(?:sharply |slightly )?(?:from|to|\()|\b(?:stable|unchanged|pending)\W{1,5}\d|"
    r"\d%?\s?(?:→|->)\s?[~<>+-]?\d|\(was \*{0,2}[\d.]+%?\*{0,2}\)",
    re.IGNORECASE,
)
_REFERS = re.compile(r"(?:sources?|research notes?|references?|links?|see)\**:", re.IGNORECASE)
_DEEDS = PAST_VERBS | frozenset(
    "now fixed used updated added created removed moved changed switched committed pushed merged discovered deployed "
    "installed restarted stored executed started finished completed built cleaned reviewed implemented verified tested "
    "archived rewrote replaced renamed reverted caused".split()
)
_TICKED = re.compile(r"^\s*(?:[-*] )?(?:✅|✔|☑|\[x\])", re.IGNORECASE)
_FIGURE_OF = re.compile(r"[A-Za-z][\w -]{1,30}[:=]?\s\**\d+\.\d+\**")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,500}\)?|https?://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ARROW = re.compile(r"→|->|=>")
_LEAST_WORDS, _MANY_FIGURES = 3, 4


@remembered
def is_passing(text: str) -> bool:
    """Whether a note says what was done once, how it ended or how things stood, and neither a rule nor a cause."""
    flat = text[:_READ]
    statements = split_statements(flat)[:_MOST_STATEMENTS]
    if not statements:
        return True
    plain = _CODE.sub("", flat)
    if _says_nothing(flat) or len(_FIGURE_OF.findall(plain)) >= _MANY_FIGURES:
        return True
    first = _ORNAMENT.sub("", statements[0])
    if _REPORTS.match(first) or _SOON.search(plain):
        return _REASONED.search(plain) is None
    if _MOVED.search(plain) or _REFERS.match(first):
        return _REASONED.search(plain) is None
    if _LASTS.search(plain):
        return False
    return (
        _begins_with_a_deed(first)
        or _HEADLINE.match(first) is not None
        or _TICKED.match(flat) is not None
        or any(_FOLLOWED.match(statement) for statement in statements[1:])
        or any(pattern.search(plain) for pattern in (_ENDED, _SIZE))
    )


def _says_nothing(text: str) -> bool:
    """Whether there are hardly any words beside links, or beside code of which one piece became another."""
    beside = _LINK.sub("", _CODE.sub("", text))
    words = len(_WORD.findall(beside))
    return words == 0 or (words < _LEAST_WORDS and (_ARROW.search(beside) is not None or beside != _CODE.sub("", text)))


def _begins_with_a_deed(statement: str) -> bool:
    """Whether it begins with what was done, and does not say who did it: `Fixed the import of ...`."""
    first = _WORD.match(statement)
    return first is not None and first.group().lower() in _DEEDS
