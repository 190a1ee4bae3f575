"""Which kind of knowledge an entry is: a lesson, a decision, a fix, a warning, a discovery, a fact, or none of these.

An entry's own label (`Decision: ...`) speaks first, then the heading that it stands under, then its wording. Readings,
lines of a program, tasks and bare links are `other`, whatever heading they stand under.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memory_pipeline.wording.agreement import is_clause
from memory_pipeline.wording.lexicon import INSTRUCTIONS, PAST_VERBS, RULE_WORDS, STATE_WORDS
from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import one_line
from memory_pipeline.wording.sentences import split_statements, strip_lead_in
from memory_pipeline.wording.templates import read_line

OTHER = "other"
#: Characters and statements in which an entry says what it is about.
_BEGINNING, _FIRST_STATEMENTS = 1200, 8
_LONGEST_INSTRUCTION = 400
_LONGEST_HEADING = 200
#: Characters in which a report names its first figures.
_OPENING = 160
_LEAST_WORDS_BESIDE_LINK = 6


def _one_of(*forms: str) -> str:
    return f"(?:{'|'.join(forms)})"


def _reads(*forms: str) -> re.Pattern[str]:
    return re.compile(_one_of(*forms), re.IGNORECASE)


def _says(*forms: str) -> re.Pattern[str]:
    """Any of these, as whole words."""
    return re.compile(rf"\b{_one_of(*forms)}\b", re.IGNORECASE)


_KINDS = {
    "decision": _one_of(
        r"(?:key |design )?decisions?(?: made| log| record)?", "decided", "agreements?", "agreed", r"adr(?:[- ]?\d+)?",
        r"dec-\d+",
    ),
    "lesson": _one_of(
        "(?:key |main )?lessons?(?: learn(?:ed|t))?", "(?:key )?learnings", "(?:what (?:i|we|was) )?learn(?:ed|t)",
        "(?:key )?take-?aways?", "(?:ground |house |golden )?rules?(?: of thumb)?", "best practices?", "guidelines?",
        "principles", "dos? and don'?ts?", "conventions?", "tips?(?: and tricks)?", "for next time",
    ),
    "warning": _one_of(
        "warnings?", "gotchas?", "pitfalls?", "cautions?", "caveats?", "traps?", "hazards?", "dangers?", "risks?",
        "beware", "watch out", "careful", "known (?:issues?|problems?|limitations?)", "don'?ts", "things to avoid",
        "anti-?patterns?",
    ),
    "error_fix": _one_of(
        "(?:bug ?|hot ?|quick )?fix(?:es)?(?: applied| made)?", "(?:bugs? )?fixed", "bugs?(?: found)?", "errors?",
        "incidents?", "troubleshooting", "root causes?", "post-?mortems?", "outages?", "solved", "resolved",
        "(?:problems?|issues?)(?: (?:found|fixed|solved|resolved))?", "work-?arounds?", "solutions?", "repairs?",
    ),
    "discovery": _one_of(
        "(?:key |research |new |main )?insights?", "discover(?:y|ies|ed)", "research(?: notes?| findings?| discovery)?",
        "(?:key |critical |main )?findings?", "observations?", "investigations?", "experiments?", "til",
        "today i learn(?:ed|t)",
    ),
    "feedback": _one_of(
        "(?:user |customer |client |human )?feedback", "complaints?", "corrections?", "praise",
    ),
}  # fmt: skip
#: A part of a heading, or a label, names a kind if it is that word, ends with it, or goes on with a preposition.
_KIND_NAMES = {
    kind: _reads(rf"^{words}\s+(?:for|from|of|on|about|in|with|to|at|by|#?\d+)\b", rf"(?:^|\s){words}$")
    for kind, words in _KINDS.items()
}
#: Headings of lasting knowledge: what stands under them is of that kind if its wording says no other.
_SUBJECTS = {
    "codebase_knowledge": _reads(
        "^(?:key |important |main )?(?:files|scripts|modules|components|commands|classes|functions|paths)$",
        "^(?:code|project|repo(?:sitory)?|directory|file|folder|package) (?:structure|layout|map|overview)$",
        "^code ?base$", "^(?:software |system )?architecture$", "^apis?$", "^endpoints?$", "^data model$",
        "^(?:database )?schema$", "^how it works$", "^internals$",
    ),
    "fact": _reads(
        r"^(?:key |known |basic )?facts?(?: learned)?$", r"^.{0,30}\bcapabilit(?:y|ies)$", "^infrastructure$",
        "^(?:current |my |our )?(?:set-?up|environment|configuration|config|settings?)$", "^hardware$", "^network$",
        "^accounts?$", "^contacts?$", "^people$", "^team$", "^family$", "^profile$", "^(?:user )?preferences$",
        "^(?:dis)?likes$", "^identity$", "^about(?: .{1,30})?$", "^who .{1,30}$", "^stack$", "^services$",
        "^servers?$", "^references?$", "^glossary$", "^definitions?$", "^key dates$", "^birthdays$", "^addresses$",
    ),
}  # fmt: skip
_TASKS = _reads(
    r"\b(?:to-?dos?|tasks?|tomorrow(?:'?s)?|pending|backlog|queue|planned|agenda|priorities|upcoming|in progress)\b",
    r"\bopen (?:questions?|issues?|items?|threads?|points?|loops?)\b",
    r"\b(?:action items?|follow[- ]?ups?|blockers?|blocked)\b",
    r"^(?:what'?s )?next\b", r"\bnext (?:steps?|up|actions?)$", r"^(?:the )?plans?\b",
)  # fmt: skip
_JOURNAL = _says(
    "log", "highlights", "status", "metrics", "health", "progress", r"accomplish\w*", "completed", "done", "changes",
    "verified", "validation", "checks", "summary", "heartbeat", "sprint", "batch", "session", "stand-?up", "report",
    "digest", "activity", "timeline", "history", "events", "results", "audits?",
)  # fmt: skip
_NOTHING_TO_TELL = _says(
    r"(?:no|zero|without|0) (?:\w+ ){0,2}(?:fix(?:es)?|issues?|bugs?|errors?|problems?|warnings?|decisions?|lessons?)",
    r"all (?:\w+ )?(?:clean|green|passing|ok|good|verified)",
)
_PARTS = re.compile(r"\s+[—–-]+\s+|[:|;,/]\s*|\s*&\s*|\s+and\s+")
_ASIDE = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?")
_ORNAMENT = re.compile(r"^[\W\d_]+|[\W_]+$")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

#: At most four words before a colon or a dash.
_LABEL = re.compile(
    r"^[\W_]*(?P<label>[A-Za-z][\w'-]*(?: [\w'&-]+){0,3})\s*(?:\([^()]{0,40}\)\s*)?"
    r"[*_`]{0,3}\s?(?::|—|–)[*_`]{0,3}(?:\s|$)"
)
#: Labels that announce anything.
_EMPTY_LABEL = re.compile(
    r"(?:note[ds]?(?: again)?|remind(?:er)?|remember|tip|important|once more|fyi|nb)$", re.IGNORECASE
)
#: A line of a knowledge-base entry.
_ENTRY = re.compile(r"^[\W_]{0,8}recommendations?:", re.IGNORECASE | re.MULTILINE)
_REMINDER = re.compile(r"^[\W_]*(?:remember|tip)\b\W*:", re.IGNORECASE)

_PROGRAM_LINE = re.compile(
    _one_of(
        r"^\W*[\w.-]{1,40}\*{0,2}:\s+[A-Z][A-Z_-]{2,40}(?::|\s*\()",
        r"^\W*(?:INFO|DEBUG|TRACE)\b",
        r"^\W*(?:\w+ ){1,2}(?:FAILED|PASSED|DONE|COMPLETED?)\b",
        r"^\W*I (?:started|executed|ran|finished|completed|reviewed)\b",
        r"\bResult: (?:success|fail\w*|ok|done|timeout|partial)\b",
        r"\(exit (?:code )?\d",
        r"\b[Ee]xit=\d",
    )
)
_TASK_LINE = _reads(
    r"^\W*(?:P[0-3]|to-?do|tomorrow|pending|blocked|waiting for|follow up|needs? to)\b",
    r"^\W*next\b[^:\n]{0,20}:", r"^\W*plan(?:ned)?:", r"^\s*(?:[-*]\s*)?\[ \]",
)  # fmt: skip
_MEASURED = re.compile(r"\b[A-Za-z_]\w{0,40}=[~<>+-]?\d")
_SET = re.compile(r"(?<![\w/.?&-])[A-Za-z_]\w{0,40}=[\w.]+(?=[\s,;)]|$)")
_PAIRED = re.compile(r"[A-Za-z_]\*{0,2}\s?[=:]\s?[~<>≈+-]?[$€]?\d")
_CHANGED_TO = re.compile(r"\d%?\s?(?:→|->)\s?[~<>+-]?\d")
_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\](?:\([^()\s]{0,500}\)?)?|https?://\S{1,500}|^\[[^\]\n]{0,300}$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE_SPAN = re.compile(r"`[^`\n]{0,300}`")

_MENDED = r"(?:fixed|repaired|resolved|patched|solved|cured)"
_FIX = _reads(
    rf"^\W*(?:\w+\W+){{0,3}}?{_MENDED}\b",
    rf"\b{_MENDED}\s+(?:it|this|that|them|by|with|in|via|through|the)\b",
    rf"(?:\b(?:was|were|is|are|got|been|now|and)|→)\s+{_MENDED}\b",
    r"\b(?:the|its?|a|our|my|one|permanent|temporary) (?:fix|work-?around|cure|remedy|solution) (?:was|is|were)\b",
    r"\b(?:fix|work-?around|solution|remedy):\s",
    r"\b(?:was|were|had been) (?:\w+ )?(?:broken|failing|crashing|corrupt(?:ed)?|missing|wrong|stuck|hanging)\b"
    r".{0,200}\b(?:now|changed|replaced|removed|added|renamed|moved|restored|corrected|reinstalled|restarted)\b",
)
_UNMENDED = _says(rf"(?:not|n't|never|no|(?:needs? to|must|should|will|can|to|yet to) be)\s+(?:\w+\s+)?{_MENDED}")
_DECISION = re.compile(
    _one_of(
        r"\b(?:decided|decision (?:is|was)|chosen (?:over|instead)|opted (?:for|to|against)|settled on)\b",
        r"\b(?:[Ww]e|I|[Tt]hey|team|[A-Z][a-z]+) (?:chose|picked|opted|settled)\b",
        r"\b(?:was|were) agreed\b",
        r"\bagreed (?:to|that|on) ",
        r"\b[Gg]oing with\b",
        r"\b(?:[Ww]e|I) (?:went with|will (?:go with|use)|are going to use)\b",
        r"\b[Ff]rom now on\b",
        r"\b[Ss]witch(?:ed|ing)? (?:from .{1,60} )?to\b",
        r"\b[Ss]tandardi[sz]ed? on\b",
        r"\bin favou?r of\b",
        r"\b[Rr]uled out\b",
        r"\b[Rr]ejected the\b",
    )
)
_BREAKS = r"(?:fails?|crash(?:es)?|hangs?|breaks?|drops?|drips?|stalls?|jams?|corrupts?|overwrites?|loses?|leaks?)"
_WARNING = _reads(
    "⚠",
    r"\b(?:beware|watch out|careful|caution|danger(?:ous)?|gotcha|pitfall|trap|caveat|mind that|silently)\b",
    r"\b(?:without (?:any )?warning|irreversibl[ey]|cannot be undone|data loss|breaks? (?:everything|the))\b",
    rf"\b{_BREAKS} (?:\w+ ){{0,6}}?(?:if|when(?:ever)?|unless|as soon as|every|while|after|before)\b",
    rf"\b(?:if|when(?:ever)?|as soon as) .{{1,120}}\b{_BREAKS}\b",
)
_DISCOVERY = _reads(
    r"\b(?:found (?:out )?that|discovered|turns? out|it turned out|turned out that|reali[sz]ed|root cause|arxiv)\b",
    r"\b(?:the|its) (?:real |actual |true )?(?:cause|reason|culprit) (?:is|was)\b",
    r"\b(?:insight|finding|conclusion)(?: \w+){0,3}:",
    r"\b(?:we learned that|research shows|stud(?:y|ies) (?:shows?|found))\b",
    r"\b(?:experiments?|tests?|benchmarks?|measurements?|ablations?|analysis|results?|paper|authors?|comparison) "
    r"(?:\w+ ){0,5}?(?:show(?:s|ed)?|suggest(?:s|ed)?|found|finds?|prove[sd]?|reveal(?:s|ed)?|indicates?|"
    r"confirm(?:s|ed) that)\b",
)
_FEEDBACK = _says(
    r"(?:users?|customers?|clients?|reviewers?|readers?|testers?|boss|human|owner) (?:\w+ ){0,2}?"
    r"(?:said|says|complained|asked (?:me|us) to|praised|liked?|likes|loved|disliked|hated|corrected|criticised|"
    r"criticized|objected|thanked|was (?:happy|unhappy|annoyed|pleased|angry))",
    r"(?:corrected|thanked|praised|scolded) (?:me|us|the (?:agent|assistant|bot))",
    r"complained (?:that|about)",
    r"(?:positive|negative|good|bad) feedback",
)
_FILE = (
    r"(?:[\w.-]{1,60}/){0,12}[\w-]{1,80}\."
    r"(?:py|js|ts|tsx|jsx|sh|go|rs|java|kt|c|cc|cpp|h|rb|php|sql|toml|ya?ml|jsonl?|md|css|html|txt)"
)
_CODE = _reads(
    rf"^\W*{_FILE}\b[`*]{{0,3}}(?:\s*\([^()]{{0,60}}\))?\s*(?:—|–|-|:|=)\s",
    r"^\W*(?:the )?`?[\w./:-]+`? (?:module|class|function|method|script|table|package|endpoint|route|hook|service)\b "
    r".{0,80}\b(?:is|are|has|returns?|handles?|reads?|writes?|calls?|stores?|lives?|defines?|implements?|wraps?|"
    r"contains?|exposes?|uses?)\b",
    r"\bcode ?base\b",
)
#: The name of a piece of code: a function, a file with code, a name in the code's style.
_CODE_NAME = re.compile(
    r"\b[A-Za-z_][\w.]{1,60}\(|\b[\w/-]{1,60}\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|cpp|rb|php)\b|"
    r"`[A-Za-z]\w*_\w+`|`[A-Z]\w*[a-z]\w*`"
)
_RULE = _reads(
    r"^\W*(?:always|never|do not|don't|only ever)\s+[a-z]",
    r"(?:[,;:.!]\s+|\bso\s+|\band\s+)(?:do not|don't)\s+[a-z]+\b",
    r"\b(?:should|must|ought to|had better|may not|(?:is|are) (?:supposed|not allowed) to)\b",
    r"\b(?<!nobody )(?<!no one )ha(?:ve|s) to\b",
    r"\b(?:prefer|recommend(?:ed)?|avoid)\b",
    r"\bit (?:is|'s) (?:better|best|safer|wise) to\b",
    r"\bgo(?:es)? to\b[^.]{0,80}\bnot to\b",
)
_DUTY_ONCE = _says(r"(?:must|should|ha(?:s|ve) to) (?:\w+ ){0,2}(?:be done|have been|be (?:fixed|finished|ready))")
#: Where an instruction may begin, with its verb.
_INSTRUCTION = re.compile(
    r"(?:^|[.!?;:]\s+|,\s+(?:so\s+|then\s+|and\s+)?|\b(?:so|therefore|then|and)\s+)"
    r"(?:(?:always|never|please)\s+)?(?P<verb>[A-Za-z]{2,14})\s+(?=[\w'\"`(])",
    re.IGNORECASE,
)
#: What makes an instruction a rule: when it holds, or why.
_REASONED = _reads(
    r"\b(?:before|after|when(?:ever)?|every|each|once|until|unless|otherwise|or|because|since|if|instead of|without)\b",
    r"\b(?:rather than|never|always|only|cannot|can't|by hand|in advance|ahead)\b",
    r"(?:\w\S*\s+){3}\S+[:;]\s+(?:\S+\s+){2}",
    r",\s+(?:not|it|they|he|she|the|that|this|nobody|two|there)\b",
)
_LASTING = _says(
    "is", "are", "has", "have", "lives?", "runs? (?:on|at|in|as|every|under|with)", "uses?", "needs?", "requires?",
    "supports?", "contains?", "belongs?", "costs?", "takes?", "keeps?", "holds?", "works?", "expects?", "accepts?",
    "starts at", "begins?", "ends?", "opens?", "closes?", "means?", "stands? for", "prefers?", "likes?", "hates?",
    "dislikes?", "speaks?", "owns?", "sits?", "stays?", "goes", "comes from", "listens?", "points? to", "stores?",
    "returns?", "ships?", "expires?", "depends?", "refuses?", "allows?", "consists?", "measures?", "resets?",
    "changes", "protects?", "defers?", "wraps?", "handles?", "serves?", "renders?", "sends?", "reads", "writes",
    "loads?", "checks", "converts?", "maps?",
)  # fmt: skip
#: What makes the participle after it no event.
_PASSIVE = STATE_WORDS | RULE_WORDS
_PASSING = _says(
    "now", "currently", "today", "tonight", "yesterday", "tomorrow", "again", "still", "yet", "just", "so far",
    "this (?:week|morning|month|round|time|afternoon|evening)", "was", "were", "did", "had", "went", "took", "came",
    "got", "made", "ran", "found", "will", "going", "done", "pending", "running", "ready", "waiting", "healthy",
    "green", "pass", r"progress\w*", "being", r"\w+ing (?:well|fine)",
    r"(?<!is )(?<!are )(?<!be )(?!\w*eed\b)\w{3,}ed",
)  # fmt: skip


class _Place(NamedTuple):
    """What a heading says of the entries under it: the kind that it names or the kind of its subject, and whether
    they are tasks or a journal."""

    named: str | None = None
    subject: str | None = None
    is_tasks: bool = False
    is_journal: bool = False


#: Kinds that a wording tells, from the one that counts most in a text of several statements.
_BY_WEIGHT = ("decision", "feedback", "lesson", "warning", "discovery")


def kind_of(text: str, headings: Sequence[str] = (), usual: str = OTHER) -> str:
    """The memory type of an entry. `headings`: those above it, the outermost first; `usual`: the type of what does
    not show its kind, where it stands."""
    beginning = text[:_BEGINNING]
    label = _label_of(beginning)
    if label or is_machine_text(beginning):
        return label if label and not _is_reading(beginning) else OTHER
    if _ENTRY.search(beginning):
        return "lesson"
    place = next((place for heading in reversed(headings) if any(place := _heading_says(heading))), _Place())
    if place.named or place.is_tasks:
        return place.named or OTHER
    told = _told_kind(beginning)
    if told and told != "fact":
        return told
    if told and not (place.is_journal and usual == OTHER):
        return place.subject or told
    is_dated = _DATE.match(beginning.lstrip("*_[( "))
    return place.subject or (OTHER if is_dated else usual)


@remembered
def _heading_says(heading: str) -> _Place:
    heading = heading[:_LONGEST_HEADING]
    if _NOTHING_TO_TELL.search(heading):
        return _Place(is_journal=True)
    parts = [part for text in _PARTS.split(_ASIDE.sub(" ", heading)) if (part := _ORNAMENT.sub("", text))]
    kinds = [_named(part) for part in parts]
    is_mixed = None in kinds and ("&" in heading or " and " in heading.lower())
    if len({*kinds} - {None}) == 1 and not is_mixed:
        return _Place(named=next(filter(None, kinds)))
    if _TASKS.search(heading):
        return _Place(is_tasks=True)
    subject = next((kind for part in parts for kind, form in _SUBJECTS.items() if form.search(part)), None)
    return _Place(
        subject=subject, is_journal=not subject and not _DATE.search(heading) and bool(_JOURNAL.search(heading))
    )


def _named(part: str) -> str | None:
    return next((kind for kind, form in _KIND_NAMES.items() if form.search(part)), None)


def _label_of(text: str) -> str | None:
    """The kind that an entry's own label names, `other` for a task; None if it has no such label."""
    if _TASK_LINE.match(text):
        return OTHER
    if text.lstrip("*_ ").startswith("⚠"):
        return "warning"
    match = _LABEL.match(text)
    if match and _EMPTY_LABEL.match(match["label"]):
        text = text[match.end() :]
        match = _LABEL.match(text)
    if match is None:
        return None
    return "fact" if re.match(r"fact(?:-\d+)?$", match["label"], re.IGNORECASE) else _named(match["label"])


@remembered
def is_machine_text(text: str) -> bool:
    """Whether a text is a reading, a line or report of a program, or a bare link: it tells nothing lasting."""
    return bool(_PROGRAM_LINE.search(text)) or _is_link(text) or _is_reading(text)


def _is_link(text: str) -> bool:
    if "](" not in text and "http" not in text and not text.startswith("["):
        return False
    return len(_WORD.findall(_LINK.sub(" ", text))) < _LEAST_WORDS_BESIDE_LINK


@remembered
def _is_reading(text: str) -> bool:
    """Whether a text is mostly figures or settings and what they are of."""
    opening = text[:_OPENING]
    if len(_MEASURED.findall(opening)) >= 3 or (len(_SET.findall(opening)) >= 2 and "`" not in opening):
        return True
    line = one_line(text)
    figures = sum(place.kind == "figure" for place in read_line(line).places)
    words = len(_WORD.findall(line))
    if figures >= 2 and _CHANGED_TO.search(line) and figures * 4 >= words:
        return True
    if not figures or is_clause(line):
        return False
    return figures * 3 >= words or (figures >= 2 and (len(_PAIRED.findall(text)) >= 2 or figures * 5 >= words))


@remembered
def _told_kind(text: str) -> str | None:
    """The kind that the wording of a text tells."""
    statements = [_CODE_SPAN.sub("` `", strip_lead_in(one)) for one in split_statements(text)][:_FIRST_STATEMENTS]
    if not statements:
        return None
    whole = " ".join(statements)
    if _FIX.search(whole) and not _UNMENDED.search(whole):
        return "error_fix"
    if _CODE.search(text):
        return "codebase_knowledge"
    is_report = _tells_an_event(statements[0])
    kinds = {_statement_kind(statement, is_report=is_report) for statement in statements}
    told = next((kind for kind in _BY_WEIGHT if kind in kinds), None)
    if told or is_report:
        return told
    if any(map(_LASTING.search, statements)) and not any(map(_PASSING.search, statements)):
        return "codebase_knowledge" if _CODE_NAME.search(text) else "fact"
    return "lesson" if _REMINDER.match(text) else None


def _statement_kind(statement: str, *, is_report: bool) -> str | None:
    """The kind of one statement. In a report of what was done, only instructions are rules, and nothing is a
    warning."""
    if _DECISION.search(statement):
        return "decision"
    if _FEEDBACK.search(statement):
        return "feedback"
    if gives_instruction(statement) or (not is_report and gives_rule(statement)):
        return "lesson"
    if not is_report and _WARNING.search(statement):
        return "warning"
    return "discovery" if _DISCOVERY.search(statement) else None


def gives_rule(statement: str) -> bool:
    """Whether a statement says in general what to do or to leave: a rule, or an instruction with its when or why."""
    return bool(_RULE.search(statement) and not _DUTY_ONCE.search(statement)) or gives_instruction(statement)


def gives_instruction(statement: str) -> bool:
    """Whether a statement tells to do something, and when or why."""
    found = (match["verb"].lower() for match in _INSTRUCTION.finditer(statement[:_LONGEST_INSTRUCTION]))
    return any(verb in INSTRUCTIONS for verb in found) and bool(_REASONED.search(statement))


def _tells_an_event(statement: str) -> bool:
    """Whether a statement begins with what was done: `Moved the ...`, `Dana moved the ...`."""
    return any(map(_begins_with_an_event, _ORNAMENT.sub("", statement)[:_LONGEST_INSTRUCTION].split(", ")))


def _begins_with_an_event(clause: str) -> bool:
    words = [word.strip("*_`\"',:;.").lower() for word in clause.split(maxsplit=4)[:4]]
    return any(
        (word in PAST_VERBS or (len(word) > 4 and word.endswith("ed") and not word.endswith("eed")))
        and (place == 0 or words[place - 1] not in _PASSIVE)
        for place, word in enumerate(words)
    )
