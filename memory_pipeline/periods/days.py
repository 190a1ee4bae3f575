"""One day of a project: entries from the memories of the day, as of its end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import date

from memory_pipeline.records import LEVEL_PATTERN, Memory, is_series
from memory_pipeline.text.days import with_days
from memory_pipeline.text.entries import is_entry, read_entry
from memory_pipeline.text.normalise import strip_leading
from memory_pipeline.text.sentences import split_statements, strip_lead_in
from memory_pipeline.text.threads import box_of, opens
from memory_pipeline.text.whole import is_cut_off, is_temporary, whole_part
from memory_pipeline.workspace.contents import BY_AGENT, why_not_told
from memory_pipeline.workspace.playbook_pages import DECISIONS_HEADING
from memory_pipeline.workspace.worth import is_code, is_promoted, is_table, without_marks, words_of, worth_of

#: What an entry can be, in the order in which a rollup says them, with the heading and the share of the budget that is
#: kept free for it.
DECISION, PATTERN, FACT, SAID, THREAD, CLOSED, FIGURE, NOTE = (
    "decision", "pattern", "fact", "said", "thread", "closed", "figure", "note",
)  # fmt: skip
SECTIONS: dict[str, tuple[str, float]] = {
    DECISION: (DECISIONS_HEADING, 0.25),
    PATTERN: ("Patterns and principles", 0.2),
    FACT: ("Facts and lessons", 0.2),
    SAID: ("Said in conversations", 0.1),
    THREAD: ("Open threads", 0.1),
    CLOSED: ("Closed threads", 0.05),
    FIGURE: ("Figures", 0.1),
    NOTE: ("Also noted", 0.0),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a rollup says.

    `day`: the day that it is of; `memory_id`: the memory that says it; `weight`: what it is worth beside others of its
    kind; `place`: where it stands among others of its day: as in its source.
    """

    kind: str
    words: str
    day: date
    memory_id: str
    weight: float
    place: str = ""


def as_json(entries: Sequence[Entry]) -> str:
    rows = [{**asdict(entry), "day": entry.day.isoformat()} for entry in entries]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True)


def from_json(text: str) -> list[Entry]:
    """The entries of a rollup."""
    return [Entry(**{**row, "day": date.fromisoformat(row["day"])}) for row in json.loads(text)]


def place_of(memory: Memory) -> str:
    """The place of a memory among others of its day: by its time, and by file and line where many have one time."""
    return f"{memory.said_at:%H:%M} {memory.source.file or ''}:{memory.source.line or 0:06}"


#: The longest entry, in tokens, and of what is decided or learned; a longer memory is told by its first statements.
MOST_TOKENS, MOST_OF_WEIGHT = 100, 180
_WEIGHTY = ("decision", "lesson", "warning", "feedback")
_CUT = " ..."
#: What kinds of facts count beside each other; a note that is promoted without a kind counts least.
_FACTS = {
    "lesson": 1.0, "warning": 1.0, "feedback": 1.0, "learning": 1.0, "error_fix": 0.9, "fact": 0.85,
    "codebase_knowledge": 0.85, "discovery": 0.75, "other": 0.7,
}  # fmt: skip
_LEAST_WORDS = 4
#: What a routine note counts beside others.
_PASSING = 0.5
#: The words of a note beside links and code.
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([^()\s]{0,500}\)?|https?://\S+")


def entries_of_day(
    day: date,
    noted: Sequence[Memory],
    series: Sequence[Memory],
    gone: Collection[str],
    count_tokens: Callable[[str], int],
    by_agent: Collection[str] = (),
    routine: Collection[str] = (),
    lasting: Collection[str] = (),
) -> list[Entry]:
    """Entries on what was decided, found and learned on a day, and the figures of its readings.

    `noted`: the memories of the day; `series`: the series memories of its end; `gone`: memories whose words have
    left their source; `by_agent`: memories that were made of words of an agent; `routine`, `lasting`: notes
    that the classifier takes for such.
    """
    entries = []
    for memory in noted:
        kind = _find_kind(memory, lasting, is_routine=memory.id in routine)
        if kind is None or why_not_told(memory, gone) or is_temporary(memory.content, memory.tags):
            continue
        most = MOST_OF_WEIGHT if memory.memory_type in _WEIGHTY else MOST_TOKENS
        words = short(with_days(_read_words(memory), memory.day), count_tokens, most)
        if words is not None:
            words = box_of(memory.content) + words + (f" ({BY_AGENT})" if memory.id in by_agent else "")
            worth = worth_of(memory)
            worth *= _FACTS.get(memory.memory_type, 1.0) if kind == FACT else 1.0
            worth *= _PASSING if kind == NOTE and memory.id in routine else 1.0
            entries.append(Entry(kind, words, min(memory.day, day), memory.id, round(worth, 4), place_of(memory)))
    for memory in series:
        if not why_not_told(memory, gone):
            words, worth = " ".join(memory.content.split()), round(worth_of(memory), 4)
            entries.append(Entry(FIGURE, words, memory.day, memory.id, worth, memory.content))
    return entries


def short(text: str, count_tokens: Callable[[str], int], most: int = MOST_TOKENS) -> str | None:
    """A text, or the statements at its beginning that are short enough; None if none is whole."""
    whole = whole_part(without_marks(text))
    if whole is None:
        return None
    words = strip_lead_in(strip_leading(whole))
    if len(words) <= 2 * most or count_tokens(words) <= most:
        return words
    taken: list[str] = []
    shortened = ""
    for statement in split_statements(words[: 40 * most]):
        if count_tokens(" ".join([*taken, statement])) > most:
            break
        taken.append(statement)
        shortened = " ".join(taken) if not is_cut_off(" ".join(taken)) else shortened
    return shortened + _CUT if shortened else None


def _find_kind(memory: Memory, lasting: Collection[str], *, is_routine: bool) -> str | None:
    """The kind of entry that a memory is; None if a rollup does not say it. Open threads are found on their own."""
    if is_series(memory) or memory.memory_type == "conversation" or opens(memory):
        return None
    if memory.abstraction_level >= LEVEL_PATTERN:
        return PATTERN
    if is_code(memory) or is_table(memory):
        return None
    if memory.memory_type == "decision":
        return DECISION
    if len(_WORD.findall(_LINK.sub("", _CODE.sub("", memory.content[:1000])))) < _LEAST_WORDS:
        return None  # a path, a label or a set of figures says nothing by itself
    return FACT if is_promoted(memory, lasting) and not is_routine else NOTE


def _read_words(memory: Memory) -> str:
    """The words of a memory; of an entry of the knowledge base its title and what it recommends."""
    if not is_entry(memory.content):
        return words_of(memory)
    entry = read_entry(memory)
    return f"{entry.title.rstrip('.')}: {' '.join(entry.recommendations)}"
