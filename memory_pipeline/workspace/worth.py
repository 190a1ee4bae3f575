"""The worth of one memory to an agent, and how it is told alone: its title, its words, its rank among others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence

from memory_pipeline.records import LEVEL_PATTERN, LEVEL_PRINCIPLE, LEVEL_RAW, MADE, READING, Memory, binds, is_series
from memory_pipeline.text.guidance import guidance_of
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.kinds import OTHER, kind_of
from memory_pipeline.text.normalise import one_line, without_time_of
from memory_pipeline.text.sentences import split_statements
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.threads import opens
from memory_pipeline.text.whole import is_cut_off

_TITLE = re.compile(r"^Title:[ \t]*(\S[^\n]*)", re.MULTILINE)
_LONGEST_TITLE = 80
_CURATE = "curate"
_MARK = re.compile(r"^\s*(?:\[(?:CURATE|TEMPORARY)\]\s*)+|\s*\[(?:CURATE|TEMPORARY)\](?=\W*$)", re.IGNORECASE)
#: Stores of agents, in which a memory is because somebody wanted it remembered.
_MEMORY_STORES = frozenset({"brain", "mem0", "mcp-memory", "langgraph", "letta"})
#: Importance from which a line of a log is worth an agent's attention.
_IMPORTANT = 2.0
_CODE, _TABLE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE), re.compile(r"\s*\|")


def is_promoted(memory: Memory, lasting: Collection[str]) -> bool:
    """True if an agent should know it from the start: what is lasting or open, or what somebody marked, pinned or used.
    A line of a log comes after these. `lasting`: notes that are taken for lasting."""
    return (
        memory.abstraction_level >= LEVEL_PATTERN
        or memory.memory_type != "other"
        or memory.id in lasting
        or is_wanted(memory)
        or is_series(memory)
        or opens(memory)
    )


def is_unmarked(memory: Memory) -> bool:
    """True if it is a note whose own words do not say what kind of knowledge it is; a heading above it may."""
    if memory.memory_type == OTHER:
        return True
    is_note = memory.abstraction_level == LEVEL_RAW and memory.source.connector != MADE
    return is_note and bool(memory.headings) and kind_of(memory.content) == OTHER


#: Importance from which a statement of a reader is for every session: 0.6, which all of them have, and 0.6 of
#: significance. Of the 80 lines of a start file a stranger called 43 of these 58 useful, and 9 of the 22 others.
_FOR_EVERY_SESSION = 1.2


def is_minor(memory: Memory) -> bool:
    """True if it is a statement of a reader that few sessions need."""
    is_statement = memory.source.connector == MADE and memory.source.file == READING
    return is_statement and memory.importance < _FOR_EVERY_SESSION and not binds(memory.tags)


def is_wanted(memory: Memory) -> bool:
    """True if somebody wants it to be known, by a mark, by feedback, or by its place in a memory store of an agent.
    That it was recalled says nothing: a search brings up things that nobody asked for."""
    return (
        memory.pinned
        or memory.importance >= _IMPORTANT
        or memory.useful_count > 0
        or _CURATE in memory.tags
        or memory.source.connector in _MEMORY_STORES
    )


def is_code(memory: Memory) -> bool:
    """True if it has a block of code, which no line can show."""
    return _CODE.search(memory.content) is not None


def is_table(memory: Memory) -> bool:
    """True if it is a table, which a line shows row by row."""
    return _TABLE.match(memory.content) is not None


#: What ends a row of a table that is told on one line.
ROW_END = "; "


def without_marks(text: str) -> str:
    """A text without the marks that tell a program what to do with it."""
    return _MARK.sub("", text)


def words_of(memory: Memory) -> str:
    """The words of a memory as a statement: of a line of a log without the time of the line, of a pattern or principle
    without the attached facts of single sources, of a table its rows on one line."""
    if memory.abstraction_level >= LEVEL_PATTERN:
        return guidance_of(memory)
    if is_table(memory):
        rows = (line.strip().strip("|").strip() for line in memory.content.splitlines() if line.strip("|:- \t"))
        return with_subject(memory, ROW_END.join(rows))
    return with_subject(memory, without_time_of(memory.content, memory.said_at))


def title_of(memory: Memory) -> str:
    """The beginning of a memory, or the title that it states, on one line of at most 80 characters."""
    stated = _TITLE.search(memory.content)
    text = visible(stated[1]) if stated else one_line(without_marks(visible(words_of(memory))))
    first = (split_statements(text) or [text])[0]
    flat = " ".join(first.split())
    if len(flat) <= _LONGEST_TITLE:
        return flat.rstrip(" .") or "Memory"
    cut = flat[: _LONGEST_TITLE - 3]
    return (cut.rsplit(" ", 1)[0] if " " in cut[_LONGEST_TITLE // 2 :] else cut).rstrip(" ,;:.") + "..."


def level_name(memory: Memory) -> str:
    """`principle`, `pattern`, `series`, the memory's own type, or `note` if it has none."""
    if memory.abstraction_level >= LEVEL_PRINCIPLE:
        return "principle"
    if is_series(memory):
        return "series"
    if memory.abstraction_level == LEVEL_PATTERN:
        return "pattern"
    return "note" if memory.memory_type == "other" else memory.memory_type


def short_hash(memory_id: str) -> str:
    """Eight digits that tell a memory from others of the same title."""
    return hashlib.sha256(memory_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]


#: How much importance, confidence, recency and use count; together 1.
_IMPORTANCE, _CONFIDENCE, _RECENCY, _USE = 0.35, 0.25, 0.2, 0.2
#: Confidence of a memory that states none.
_UNTOLD = 0.5
#: Days after which half of the recency is gone, and uses after which half of what they count is reached.
_HALF_AS_NEW, _HALF_AS_USED = 60.0, 3.0
#: What a memory counts beside others of the same rank: what its writer marked to be kept, what is only a line of a log,
#: and what a program has cut off.
_CURATED, _OTHER, _CUT_OFF = 1.25, 0.6, 0.4


def ranked(memories: Sequence[Memory], routine: Collection[str] = ()) -> list[Memory]:
    """The memories, what the human wants or forbids first, then the one that is most worth knowing; equal ones by id.

    Recency is measured from the newest of them, so that the order does not depend on the clock. `routine`: the ids of
    notes whose recalls do not count as use; feedback does.
    """
    newest = max((memory.effective_date for memory in memories if not memory.undated), default=None)

    def worth(memory: Memory) -> float:
        age = (newest - memory.effective_date).total_seconds() / 86_400 if newest else 0.0
        age = max(age, _HALF_AS_NEW) if memory.undated else age
        uses = memory.reuse_count * (memory.id not in routine) + 2 * memory.useful_count
        return worth_of(memory, newness=0.5 ** (age / _HALF_AS_NEW), use=1 - 0.5 ** (uses / _HALF_AS_USED))

    return sorted(memories, key=lambda memory: (not binds(memory.tags), -worth(memory), memory.id))


def worth_of(memory: Memory, *, newness: float = 0.0, use: float = 0.0) -> float:
    """The worth of knowing a memory. `newness`, `use`: from 0 to 1; without them, it is the same at every time."""
    score = (
        _IMPORTANCE * memory.importance / 3
        + _CONFIDENCE * (_UNTOLD if memory.confidence_score is None else memory.confidence_score)
        + _RECENCY * newness
        + _USE * use
    )
    score *= _CURATED if _CURATE in memory.tags else 1.0
    score *= _CUT_OFF if is_cut_off(memory.content) else 1.0
    return float(score) * (_OTHER if level_name(memory) == "note" else 1.0)
