"""Whether a text says again what another says, in the same words in the same order: who did what to whom stays.

The same words in other places may say the opposite: only fillers may be left out, and only whole clauses joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.wording.memo import remembered

#: Words with their inner marks, and each other mark alone.
_TOKEN = re.compile(r"\w+(?:['’.:/@_-]\w+)*|[^\w\s]")
#: What may stand before a sentence without changing what it says: no limit, no hedge, and no refusal.
_OPENER = re.compile(
    r"\W*(?:(?:hi|hey|hello|hiya|dear)(?: there\b| [A-Z]\w+)?(?=\s*[,!.:;–—])|"
    r"(?:well|ok|okay|yes|yeah|yep|yup|sure|right|alright|all right|oh|ah|ugh|wow|haha|hm+|lol|omg|hey|hi|hello|um+|"
    r"uh+|er|sorry|thanks|thank you|great|nice|cool|perfect|agreed|exactly|indeed|anyway|anyways|fyi|btw|by the way|ps|"
    r"nb|so|also|and|honestly|frankly|to be honest|tbh|in fact|of course|obviously|as you know|you know|you see|"
    r"as i said|like i said|for the record|i mean|look|listen|good (?:morning|evening|afternoon|idea|point|catch)|"
    r"got it|understood|makes sense|fair enough|thanks a lot|many thanks|no problem|no worries|by the by|oh well)"
    r"(?=\s*[,!.:;–—]|\s-\s)|(?:so|also|and|oh|ok|okay|um+|uh+)\s|(?:please )?(?:note|remember) that\b)"
    r"(?:[\s,!.:;–—]|-\s)*",
    re.IGNORECASE,
)
#: What may stand between the words of a sentence: set off by commas, or alone.
_ASIDE = re.compile(
    r",\s{0,4}(?:of course|obviously|as you know|you know|you see|i mean|to be honest|honestly|frankly|btw|by the way|"
    r"um+|uh+|as i said|like i said|in fact|well|please|thanks|thank you)\s{0,4}(?:,|(?=[.!]{0,4}\s{0,4}$))",
    re.IGNORECASE,
)
_FILLER = re.compile(r"(?<![\w-])(?:um|uh|umm|uhh|erm|basically)(?![\w-])")
_CLOSER = re.compile(
    r"(?:[\s,.!;–—-]{1,4}(?:thanks|thank you|please|pls|cheers|lol|haha|many thanks|thanks a lot)|"
    r"\s{0,4}[:;]-?[)D])[\s.!]{0,4}$",
    re.IGNORECASE,
)
#: Articles and marks of Markdown.
_UNREAD = frozenset(("a", "an", "the", *'*_`"“”'))
#: So many sources may be joined in one sentence.
MOST_JOINED = 4
#: What may join two clauses without saying anything of them.
_JOINTS = frozenset((",", ";", "and", "while", "also", "."))
#: What ends a clause, so that a run of words may begin after it or end before it.
_MARKS = frozenset((";", ".", ":", "(", ")", "—", "–", "!", "?"))
#: What narrows or turns a statement: a clause that leaves it out is not said.
_LIMITS = frozenset(
    "not never no nobody nothing none only unless except until till if when while whenever but without before after or "
    "any anymore yet still maybe perhaps probably usually mostly always sometimes almost about say says said claim "
    "claims claimed think thinks thought according supposed want wants would could might should may instead rather "
    "than wrong false cannot".split()
)
_CONTRACTED = re.compile(r"n['’]t$")
#: Longer texts are not compared: nobody says them in short.
_MOST_TOKENS = 400


def is_without_fillers(text: str, quote: str) -> bool:
    """Whether a text is a quote without some of its interjections, addresses and fillers: each other word and mark is
    in it, in its place."""
    return _is_left_of(text, quote) and _bare(text) == _bare(quote)


def _is_left_of(text: str, quote: str) -> bool:
    """Whether the words of a text are words of a quote, in its order."""
    left = iter(_words(quote))
    return all(any(word == other for other in left) for word in _words(text))


def _words(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text) if token[0].isalnum() or token[0] == "_"]


def _bare(text: str) -> list[str]:
    """The words and marks of a text without its fillers; the first word in any case."""
    while (match := _OPENER.match(text)) and match.end():
        text = text[match.end() :]
    text = _ASIDE.sub(" ", _CLOSER.sub("", text))
    tokens = _TOKEN.findall(_FILLER.sub(" ", text).rstrip(" .!…"))
    return [token.casefold() if not number else token for number, token in enumerate(tokens)]


def joins_clauses_of(text: str, sources: Sequence[str]) -> bool:
    """Whether a sentence is made of whole clauses of some texts, word for word, one after the other.

    Each source gives at most one run of words, which begins and ends where one of its clauses does, and leaves out
    nothing that narrows or turns the sentence that it is from. Articles may differ.
    """
    wanted = _read(text)
    while wanted and wanted[-1] in _MARKS | {","}:
        wanted.pop()
    if not wanted or len(sources) > MOST_JOINED or len(wanted) > _MOST_TOKENS:
        return False
    statements = [_statements(source) for source in sources]
    ways = [(0, frozenset[int]())]  # how much of the text is found, and in which of the sources
    seen = set(ways)
    while ways:
        start, used = ways.pop()
        for number in set(range(len(sources))) - used:
            for end in {
                start + length for statement in statements[number] for length in _runs(statement, wanted, start)
            }:
                further = _after_joint(wanted, end)
                if end == len(wanted):
                    return True
                if further > end and (further, used | {number}) not in seen:
                    seen.add((further, used | {number}))
                    ways.append((further, used | {number}))
    return False


def _after_joint(words: Sequence[str], place: int) -> int:
    """The place behind what joins two clauses at a place."""
    while place < len(words) and words[place] in _JOINTS:
        place += 1
    return place


@remembered
def _statements(source: str) -> tuple[tuple[str, ...], ...]:
    """The sentences of a source as words and marks."""
    parts = (tuple(_read(part)) for part in re.split(r"(?<=[.!?])\s|\n", source) if part.strip())
    return tuple(part for part in parts if len(part) <= _MOST_TOKENS)[:_MOST_TOKENS]


def _read(text: str) -> list[str]:
    return [token for token in map(str.casefold, _TOKEN.findall(text)) if token not in _UNREAD]


def _runs(statement: Sequence[str], wanted: Sequence[str], at: int) -> set[int]:
    """How many words from a place on are whole clauses of a sentence that leave out no limit of it."""
    found = set()
    limits = sum(map(_is_limit, statement))
    for start in (0, *(place + 1 for place, token in enumerate(statement) if token in _MARKS)):
        kept = 0
        for length, (token, word) in enumerate(zip(statement[start:], wanted[at:], strict=False), start=1):
            if token != word:
                break
            kept += _is_limit(token)
            ends = start + length == len(statement) or statement[start + length] in _MARKS
            if kept == limits and (token == ")" or (ends and token not in _MARKS)):
                found.add(length)
    return found


def _is_limit(token: str) -> bool:
    return token in _LIMITS or bool(_CONTRACTED.search(token))
