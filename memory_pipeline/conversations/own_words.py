"""The sentences of a turn that are its speaker's own words.

Code, logs, quotations, pasted texts, role play, and what a program put into the turn are somebody else's words or
nobody's, and are left out. What stands in quotation marks within a sentence is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import sentencex

from memory_pipeline.wording.languages import is_english
from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import strip_leading
from memory_pipeline.wording.scaffolding import without_scaffolding

#: Longer turns are documents; of those only the beginning and the end are somebody's words.
_LONGEST, _EDGE = 3_000, 600
_LONGEST_SENTENCE = 500
#: How a turn begins that a program wrote: reports of schedules, summaries, commands, files of instructions.
_PROGRAM = re.compile(
    r"\s*(?:HEARTBEAT_OK\b|NO_REPLY\b|Read HEARTBEAT\.md|\[?cron\b|\[(?:system|scheduled|automated|request interrupted)\b|"
    r"System(?: note)?:|System \(|This session is being continued from|The conversation history before this point|"
    r"Caveat: The messages below|Base directory for this skill|\[?Subagent\b|A (?:new session|scheduled reminder|cron)\b|"
    r"<(?:system|command|local-command|task-notification|environment_context|user_instructions|ide_|bash-)|"
    r"(?:#+ )?(?:AGENTS|SOUL|USER|MEMORY|RELATIONAL|CLAUDE|HEARTBEAT|TOOLS|IDENTITY|BOOTSTRAP)\.md\b|"
    r"(?:#+ )?(?:Pre-compaction|Memory flush|Session summary|Compact(?:ion)? summary|Previous conversation)\b|"
    r"\{\s*\"|\[\s*\{|<\?xml|<!doctype)",
    re.IGNORECASE,
)
#: A name within a sentence says nothing of its language: `I live in Malmö`.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z\u00c0-\u00de][\w'’-]*(?<=\w)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
#: Lines that nobody says: quotations, tables, headings, lines of logs, prompts, traces, heads of mails, tags.
_FOREIGN_LINE = re.compile(
    r"^[ \t]*(?:>|\||#{1,6}\s|\$ |% |>>>|\.\.\. |[-=_*]{3,}\s*$|<[/!\w]|[\w.-]{1,40}@[\w.-]{1,40}:[^\n$#]{0,80}[$#]|at [\w.$]+\(|Traceback\b|File \"|"
    r"[+-]{3} |@@ |diff --git|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|"
    r"(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE|NOTICE)\b|"
    r"(?:From|To|Cc|Subject|Date|Sent|Von|An|Betreff):\s|(?:import|def|class|const|let|var|return|SELECT|INSERT|sudo|npm|pip|git) "
    r"[^\n]{0,80}[({;=/-]|[{}()\[\];]+\s*$)"
)
#: After such a line, the rest is somebody else's text.
_PASTED_WORD = (
    r"(?:e-?mails?|mails?|messages?|letter|text|texts|paragraph|article|post|tweet|review|ticket|log|logs|error|output|"
    r"transcript|draft|bio|abstract|story|poem|song|lyrics|passage|quote|comment|note from|notes? from|chat|prompt|"
    r"description|cv|resume|résumé|profile|sentences?|speech|essay|dialogue|job ad|ad|advert|caption|status|reply|"
    r"answer from|document|documentation|docs|config|snippet|report|statement|intro|summary)"
)
_TASK_ON_TEXT = (
    r"(?:translate|proofread|summari[sz]e|rewrite|rephrase|paraphrase|correct|polish|edit|improve|shorten|analy[sz]e|"
    r"classify|explain|review|check|fix|reword|transcribe|format|tag|label|parse|read|look at|grammar|write|draft|compose|"
    r"complete|continue|finish|say|reply|answer|respond|post|send)"
)
_PASTE = re.compile(
    rf"(?:(?:^|[.!?,;)]\s|\b(?:please|pls|plz|you|help me|to|and|then|also|just|ok|okay|hey|hi|now)\s)\s{{0,3}}{_TASK_ON_TEXT}\b(?! myself)[^\n:]{{0,80}}|\b(?:here(?:'s| is| are)|this is|below is|got|received)\b[^\n:]{{0,50}}"
    rf"\b{_PASTED_WORD}\b[^\n:]{{0,50}}|\b(?:he|she|they|it|[A-Z][a-z]+|somebody|someone|doctor|boss|landlord)"
    r"(?:'s)? (?:just )?(?:wrote|writes|said|says|replied|answered|texted|posted|sent(?: me)?(?: this)?|asked|told me)\b[^\n:]{0,40}|"
    rf"\b(?:the |my |this |that |his |her |their )?{_PASTED_WORD}\b[^\n:.]{{0,40}}\b(?:says|said|reads|was|is|goes)?\b[^\n:.]{{0,12}}(?!: (?:it|its|they|which)\b)):"
    r"(?=\s|\")",
    re.IGNORECASE | re.MULTILINE,
)
#: A sentence behind which the turn goes on with somebody else's words, or with those of an attack.
_LEADS_TO_OTHERS = re.compile(
    r"^\W*(?:here(?:'s| is| are)|below is|this is|see|read) (?:what|the|his|her|their|your|\w+['’]s|(?:my|our) \w+['’]s) [^.?!]{0,60}?"
    r"\b(?:answer(?:ed|s)?|said|wrote|writes|replied|repl(?:y|ies)|mails?|e-?mails?|messages?|letters?|quotes?|output|response|prompt|instructions?)\b[^.?!]{0,30}\W*$|"
    r"\b(?:answers?|repl(?:y|ies)|text|mail|e-?mail|message|letter|note|output|quote) (?:is |are |follows |stands )?below\W*$|"
    r"\bignore (?:all |any )?(?:of )?(?:the |your |my )?(?:previous|prior|earlier|above|other) (?:instructions?|rules|messages?|prompts?)\b",
    re.IGNORECASE,
)
#: The human speaks as somebody else.
_ROLE_PLAY = re.compile(
    r"\b(?:imagine|pretend|suppose|let's say|lets say|say) (?:that )?(?:you(?:'re| are| were)?|i(?:'m| am| were| was)?|we|this)\b|"
    r"\b(?:act|speak|write|answer|talk|behave) (?:as if|as though|like) (?:you|i|an?)\b|\brole[- ]?play|\bin the role of\b|"
    r"\byou are (?:now )?(?:an? )?(?:expert|helpful|professional|world-class|senior|AI|assistant|character)\b|"
    r"\b(?:my|the|his|her) (?:character|protagonist|hero|heroine|narrator)\b|\bscene \w+\b|\bin (?:the|my) (?:story|novel|script|play)\b|"
    r"\bfor example[,:]? ?i\b|\bhypothetical",
    re.IGNORECASE,
)
_OTHERS_LINE = re.compile(r"^[ \t]*[*_]{0,2}[A-Z][\w.'-]{1,20}(?: [A-Z][\w.'-]{1,20})?[*_]{0,2}:\s")
_LABEL = re.compile(
    r"^[ \t]*[*_]{0,2}(?:important|note|ps|update|correction|decision|reminder|remember|edit|btw|fyi|lesson|urgent|reason|todo|"
    r"critical|crucial|essential|vital|warning|tl;?dr|question|context|background|rule|preference|til|also|nb|sorry|ok|okay|"
    r"yes|no|one thing|key point|final decision|lessons? learne?d?t?|changed|reverted|done|fixed|added|removed|updated|moved|"
    r"created|next|result|status|(?:root )?cause|finding|fix|plan|blocked|open|remaining|problem|issue|solution|workaround|"
    r"conclusion|summary|outcome|policy|constraint|deadline|goal|hypothesis|theory|guess|suspicion|diagnosis|proposal|suggestion|"
    r"recommendation|option|alternative|idea|choice|answer|verdict|observation)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"^[ \t]*(?:dear|hi|hello|hey) [A-Z][\w. ]{1,40},[ \t]*$", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(
    r"^[ \t]*(?:(?:kind|best|warm|many)? ?regards|sincerely|yours|cheers|best|thanks|love)[\w ]{0,20},?[ \t]*\n[ \t]*\S",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{3,200}'(?!\w)"
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
#: Where people end a sentence in a chat, beside the marks that the sentence splitter knows.
_CHAT_END = re.compile(
    r"(?<=[!?…])[\"')*_]*\s+|(?<=[\w)]\.)\s+(?=[A-Z])|(?<=[^\W\d_]{2}\.)\s+(?=[a-z])|(?<=[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f])\s+|(?<=[:;]\))\s+"
)
_ABBREVIATED = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|approx|no|mr|mrs|ms|dr|st|prof|sr|jr|a\.m|p\.m|u\.s|u\.k)\.$", re.IGNORECASE
)
_NO = re.compile(r"\bno\.$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"\S+(?:[^\S\n]{1,40}\S+)*")


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of a turn: as it was said, where it stands in the turn, and as it is read: with plain quotes, and
    with dots in the place of what is quoted in it. `before` and `after`: the sentences beside it, as they are read."""

    quote: str
    start: int
    read: str
    before: str = ""
    after: str = ""

    @classmethod
    def alone(cls, text: str) -> Self:
        """Words as a sentence of their own, wherever they stand."""
        return cls(text, 0, as_read(text))

    @property
    def end(self) -> int:
        """The position after its last character."""
        return self.start + len(self.quote)


def is_nobodys(words: str) -> bool:
    """Whether a program wrote a turn, whoever's it is said to be: a report, a summary, a file of instructions."""
    return bool(_PROGRAM.match(words))


@remembered
def own_sentences(words: str) -> tuple[Said, ...]:
    """The sentences of a turn that its speaker says in words of his or her own, in English."""
    if is_nobodys(words):
        return ()
    own = without_others(words)
    if _ROLE_PLAY.search(own):
        return ()
    found = []
    for quote, start in _sentences(own):
        found.append((quote, start, as_read(quote)))
        if _LEADS_TO_OTHERS.search(quote):
            break
    return tuple(
        Said(
            quote,
            start,
            read,
            found[place - 1][2] if place else "",
            found[place + 1][2] if place + 1 < len(found) else "",
        )
        for place, (quote, start, read) in enumerate(found)
        if is_english(_NAME.sub("", read))
    )


def as_read(quote: str) -> str:
    """A sentence with plain quotes, and with dots in the place of what is quoted in it."""
    plain = quote.translate(_QUOTES)
    return _QUOTED.sub(lambda match: match.group()[0] + "." * (len(match.group()) - 2) + match.group()[-1], plain)


def without_others(words: str) -> str:
    """The turn with spaces in the place of what is not its speaker's own prose."""
    own = words
    stripped = without_scaffolding(words)
    if stripped is not words and stripped != words:
        own = _only(words, stripped)
    if len(own) > _LONGEST:
        own = own[:_EDGE] + _blank(own[_EDGE:-_EDGE]) + own[-_EDGE:]
    letter = _LETTER.search(own)
    if letter and _CLOSING.search(own, letter.end()):
        own = own[: letter.start()] + _blank(own[letter.start() :])
    lines = own.split("\n")
    fenced = False
    for place, line in enumerate(lines):
        opens = bool(_FENCE.match(line))
        is_others = _OTHERS_LINE.match(line) and not _LABEL.match(line)
        if opens or fenced or _FOREIGN_LINE.match(line) or is_others:
            lines[place] = _blank(line)
        fenced = fenced != opens
    own = "\n".join(lines)
    pasted = _PASTE.search(own)
    if pasted and own[pasted.end() :].strip() and not _LABEL.match(own[max(0, pasted.start()) :]):
        own = own[: pasted.start()] + _blank(own[pasted.start() :])
    return own


def _blank(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)


def _only(words: str, kept: str) -> str:
    """The turn with spaces in the place of every line that is not among those that are kept."""
    left = {line.strip() for line in kept.split("\n")}
    return "\n".join(line if line.strip() in left else _blank(line) for line in words.split("\n"))


def _sentences(own: str) -> Iterator[tuple[str, int]]:
    """The sentences of what is left of a turn, with their places. Long gaps divide them: something was left out."""
    for run in _RUN.finditer(own):
        line = strip_leading(run.group())
        if line.startswith(("```", "~~~", "|")):
            continue
        start = own.find(line, run.start())
        for piece in sentencex.segment("en", line):
            statement = piece.rstrip()
            for left, right in _split(statement):
                quote = statement[left:right]
                if len(quote) <= _LONGEST_SENTENCE and len(_WORD.findall(quote)) > 1:
                    yield quote, start + left
            start += len(piece)


def _split(statement: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a statement stand in it."""
    start = 0
    for match in _CHAT_END.finditer(statement):
        said = statement[max(start, match.start() - 8) : match.start()]
        is_number = not (_NO.search(said) and statement[match.end() : match.end() + 1].isupper())  # `no. 5`
        if _ABBREVIATED.search(said) and is_number:
            continue
        if statement[start : match.start()].strip():
            yield start, len(statement[: match.start()].rstrip())
        start = match.end()
    if statement[start:].strip():
        yield start, len(statement)
