"""An OpenClaw workspace: the memory that its agent loads at every start, and beside it the playbook and the series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path

from memory_pipeline.config.exports import DEFAULT_CONTENTS, MEMORY, PLAYBOOK, SERIES
from memory_pipeline.files.markers import block_in, outside
from memory_pipeline.files.shared_blocks import Body
from memory_pipeline.records import Memory, binds
from memory_pipeline.text.quoting import plain
from memory_pipeline.text.sentences import split_statements
from memory_pipeline.text.superseding import put_later_first
from memory_pipeline.text.threads import opens
from memory_pipeline.text.whole import whole_part
from memory_pipeline.workspace import start_file, worth
from memory_pipeline.workspace.contents import Contents
from memory_pipeline.workspace.directory import MEMORY_FILE, PLAYBOOK_FILE, SERIES_FILE
from memory_pipeline.workspace.playbook_pages import knowledge_head, playbook_block

#: Files in which an identity is kept; their agent reads them by itself.
_IDENTITY_FILES = ("USER.md", "SOUL.md", "RELATIONAL.md", "IDENTITY.md")
#: Why a memory is left out of `MEMORY.md` alone.
CUT_OFF, BLOCKS = "notes that a program cut off", "blocks of code"
OF_ONE_DAY, MINOR = "memories of a day that has a third of the lines", "statements that few sessions need"
#: What the human wants and forbids stands first; lines of logs stand last.
_RULES, _OPEN, _OF_LOG = "Rules", "Open threads", "From the log"
#: The sections, with what stands in each.
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    _RULES: (),
    "Principles": ("principle",),
    "Patterns": ("pattern",),
    "Decisions": ("decision",),
    "Lessons": ("lesson", "learning", "warning", "error_fix", "feedback"),
    _OPEN: (),
    "Facts": (),
    _OF_LOG: (),
}
#: An entry takes at most this part of the budget.
_MOST_OF_BUDGET = 1 / 12
_CUT = " ..."
#: From so many days on, no day has more than a third of the lines, but for the first few.
_LEAST_DAYS, _LEAST_OF_DAY = 4, 2


@dataclass(frozen=True, slots=True)
class _Line:
    """An entry of `MEMORY.md`: its section, its words, its memory, the day of which it counts as a line, if any, the
    memories that stand above it and those of a later day that contradict it, and how many say the same on its day."""

    section: str
    text: str
    memory_id: str
    day: date | None
    is_routine: bool = False
    is_minor: bool = False
    above: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    memories: int = 1


@dataclass
class OpenClawExport:
    """The blocks that go into a workspace, and what came of them: the memories that stand in `MEMORY.md`, their tokens,
    and the number of others by the reason. `names`: of the contents, those that are chosen."""

    contents: Contents
    directory: Path
    budget: int
    count_tokens: Callable[[str], int]
    names: Collection[str] = DEFAULT_CONTENTS
    chosen: list[str] = field(default_factory=list)
    tokens: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def _head(self) -> str:
        return knowledge_head(self.contents.project)

    @property
    def blocks(self) -> dict[tuple[str, str], Body]:
        """The blocks of the three files, as far as they are chosen."""
        known = self.contents
        made: dict[str, tuple[str, Body]] = {
            PLAYBOOK: (PLAYBOOK_FILE, playbook_block(known.project, known.entries, known.cases)),
            SERIES: (SERIES_FILE, self._series),
            MEMORY: (MEMORY_FILE, lru_cache(2)(self._memory)),
        }
        return {(file, name): body for name, (file, body) in made.items() if name in self.names}

    def _memory(self, present: str) -> str:
        before = _read_lines(present, MEMORY)
        files = {MEMORY_FILE: outside(present, MEMORY), **self._identities()}
        standing = start_file.Standing(
            list(files.values()), start_file.notes_of_files(self.contents.notes, "openclaw", files)
        )
        more = self._more()
        reasons: Counter[str] = Counter()
        lines: list[_Line] = []
        unsaid: set[str] = set()
        for memory in worth.ranked(self.contents.notes, self.contents.routine):
            reason = start_file.why_not_loaded(memory, self.contents, standing) or (
                BLOCKS if worth.is_code(memory) else None
            )
            line = None if reason else self._line(memory)
            if line is None:
                reasons[reason or CUT_OFF] += 1
                unsaid |= {memory.id} if reason not in start_file.LEAVES_EARLIER else set()
            else:
                is_newer = memory.id in self.contents.newer  # a new value does not give way
                day = None if memory.undated or is_newer else memory.day
                is_routine = memory.id in self.contents.routine and not binds(memory.tags)
                section = _OF_LOG if is_routine else _section_of(memory)
                lines.append(_Line(section, line, memory.id, day, is_routine, worth.is_minor(memory) and not is_newer))
        lines.sort(key=lambda line: (line.is_routine, line.is_minor))
        lines = _put_in_order(lines, self.contents)
        most: int | None = None
        while True:
            taken, text, left_out = self._chosen(lines, before, more, most, unsaid)
            days = Counter(line.day for line in taken if line.day)
            if len({line.day for line in lines}) < _LEAST_DAYS or max(days.values(), default=0) * 3 <= len(taken):
                break
            fewer = max(days.values()) - 1 if most is None else most - 1
            if fewer < _LEAST_OF_DAY:
                break
            most = min(fewer, max(len(taken) // 3, _LEAST_OF_DAY))
        self.left_out = reasons + left_out
        self.chosen = [line.memory_id for line in taken]
        self.tokens = self.count_tokens(text) if text else 0
        return text

    def _chosen(
        self, lines: Sequence[_Line], before: Sequence[str], more: str, most_of_day: int | None, unsaid: Collection[str]
    ) -> tuple[list[_Line], str, Counter[str]]:
        """The lines that there is room for, the block, and how many are left out, by the reason. `unsaid`: memories
        that cannot be lines, without which none but a rule stands that they contradict and are later than."""
        left_out: Counter[str] = Counter()
        absent = set(unsaid)
        of_day: Counter[date] = Counter()
        taken: list[_Line] = []
        spent = self.count_tokens(self._head) + self.count_tokens(more or " ")
        for line in lines:
            is_last, is_new = line.is_routine or line.is_minor, all(line.section != known.section for known in taken)
            cost = self.count_tokens(line.text) + (self.count_tokens(f"## {line.section}") if is_new else 0)
            reason = None
            if line.section != _RULES and not absent.isdisjoint(line.later):
                reason = start_file.CONTRADICTED
            elif line.day and most_of_day is not None and of_day[line.day] >= most_of_day:
                reason = OF_ONE_DAY
            elif spent + cost > self.budget * (start_file.FOR_ROUTINE if is_last else 1):
                reason = start_file.UNMARKED if line.is_routine else MINOR if line.is_minor else start_file.NO_ROOM
            if reason:
                left_out[reason] += line.memories
                absent.add(line.memory_id)
                continue
            taken.append(line)
            spent += cost
            if line.day:
                of_day[line.day] += 1
        text = self._text(taken, before, more)
        while taken and self.count_tokens(text) > self.budget:  # counts of lines are not quite those of the whole
            left_out[start_file.NO_ROOM] += taken.pop().memories
            text = self._text(taken, before, more)
        left_out[start_file.STANDING] += sum(line.memories - 1 for line in taken)
        return taken, text, left_out

    def _text(self, taken: Sequence[_Line], before: Sequence[str], more: str) -> str:
        """The block; entries that stood there before stand in their places."""
        if not taken and not more:
            return ""
        body, known = [self._head], self.contents.vectors
        above = {line.memory_id: line.above for line in taken}
        for section in _SECTIONS:
            lines = {line.text: line.memory_id for line in taken if line.section == section}
            if lines:
                vectors = {text: known[i] for text, i in lines.items() if i in known}
                placed = start_file.in_their_places(list(lines), before, vectors)
                body += ["", f"## {section}", "", *start_file.later_word_first(placed, lines, above)]
        return "\n".join([*body, *(["", more] if more else [])])

    def _line(self, memory: Memory) -> str | None:
        """The memory as an entry, whole or as many statements or rows as are short enough; None if none is."""
        most = max(int(self.budget * _MOST_OF_BUDGET), 24)
        words = whole_part(worth.without_marks(worth.words_of(memory)))
        if words is None:
            return None
        if memory.token_count > 4 * most or self.count_tokens(words) > most:
            taken: list[str] = []
            start, end = words[: 40 * most], worth.ROW_END if worth.is_table(memory) else " "
            for statement in split_statements(start) if end == " " else start.split(end):
                if self.count_tokens(end.join([*taken, statement])) > most:
                    break
                taken.append(statement)
            if not taken:
                return None
            words = end.join(taken) + _CUT
        doubt = self.contents.doubts.get(memory.id)
        day = "" if memory.undated or f"{memory.day}" in words else f"{memory.day}: "
        return f"- {day}{plain(words)}{f' ({plain(doubt)})' if doubt else ''}"

    def _identities(self) -> dict[str, str]:
        texts = {}
        for name in _IDENTITY_FILES:
            file = self.directory / name
            if file.is_file() and file.stat().st_size < 1 << 20:
                texts[name] = file.read_text(encoding="utf-8", errors="replace")
        return texts

    def _more(self) -> str:
        beside = [f"{PLAYBOOK_FILE} (advice)"] if PLAYBOOK in self.names and self.contents.entries else []
        beside += [f"{SERIES_FILE} (readings)"] if SERIES in self.names and self.contents.series else []
        return f"More of it: {' and '.join(beside)}." if beside else ""

    def _series(self, present: str) -> str:
        before = _read_lines(present, SERIES)
        lines = [f"- {plain(worth.words_of(memory))}" for memory in self.contents.series]
        return "\n".join([self._head, "", *start_file.in_their_places(lines, before)]) if lines else ""


def _read_lines(present: str, name: str) -> Sequence[str]:
    """The lines of our block in a text."""
    return (block_in(present, name) or "").split("\n")


def _put_in_order(lines: Sequence[_Line], contents: Contents) -> list[_Line]:
    """The lines, those of the same words once, behind later ones that contradict them or give another value, and in the
    section of these; only what the human wants and forbids stays alone in its own."""
    first: dict[str, str] = {}
    told_by = {line.memory_id: first.setdefault(line.text, line.memory_id) for line in lines}
    memories = Counter(told_by.values())
    above, later = (_by_line(known, told_by) for known in (contents.above, contents.later))
    line_of, placed = {line.memory_id: line for line in lines}, dict[str, _Line]()
    for memory_id in put_later_first(list(above), above):
        line = line_of[memory_id]
        sections = {placed[other].section for other in above[memory_id] if other in placed} - {_RULES}
        below = max(sections, key=list(_SECTIONS).index, default=line.section)
        section = _RULES if line.section == _RULES else below
        placed[memory_id] = replace(
            line, section=section, above=above[memory_id], later=later[memory_id], memories=memories[memory_id]
        )
    return list(placed.values())


def _by_line(others: Mapping[str, Collection[str]], told_by: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """What is known of memories as of the lines that say them. `told_by`: by memory, the one whose line says it."""
    of_line: dict[str, tuple[str, ...]] = dict.fromkeys(told_by.values(), ())
    for memory_id, teller in told_by.items():
        of_line[teller] += tuple(told_by.get(other, other) for other in others.get(memory_id, ()))
    return of_line


def _section_of(memory: Memory) -> str:
    if binds(memory.tags):
        return _RULES
    if opens(memory):
        return _OPEN
    kind = worth.level_name(memory)
    return next((section for section, kinds in _SECTIONS.items() if kind in kinds), "Facts")
