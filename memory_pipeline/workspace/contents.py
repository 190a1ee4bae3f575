"""What an export may say: the memories of one project, with their lineage, playbook and series."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np

from memory_pipeline.errors import InputError
from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.reading.classifier import LASTING, NOISE, salience_by_id
from memory_pipeline.records import (
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    MADE,
    READING,
    UNDATED,
    LineageLink,
    Memory,
    PlaybookEntry,
    binds,
    matters_until,
)
from memory_pipeline.records.cluster import is_series, only_counts
from memory_pipeline.store import Store
from memory_pipeline.text.contradictions import clear_conflicts, superseded_ids
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.guidance import guidance_of
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.normalise import normalise, one_line, without_clock
from memory_pipeline.text.quoting import plain
from memory_pipeline.text.redaction import has_mask
from memory_pipeline.text.sentences import split_statements
from memory_pipeline.text.steering import may_guide
from memory_pipeline.text.subject import with_subject, words_alone
from memory_pipeline.text.threads import find_threads
from memory_pipeline.text.values import other_values
from memory_pipeline.text.whole import is_cut_off, is_temporary
from memory_pipeline.workspace.playbook_pages import playbook_in

_ITEM = re.compile(r"([ \t]{0,12})([-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
_ROW, _RULE = re.compile(r"[ \t]*\|[^\n]*\|[ \t]*"), re.compile(r":?-{2,}:?")
_TICKS = re.compile(r"`{3,}")
_BRACKETS = str.maketrans("[]", "()")
_NOT_PRINTED = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]")


def quoted(text: str) -> str:
    """A text with its paragraphs, lists and blocks of code; everything else in it is shown as it is."""
    return "\n".join(_lines(visible(text).strip().split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        fence = opening[1] if opening else None  # a block of code that nothing closes is none
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == fence), None) if fence else None
        if end is not None:
            inside = lines[at + 1 : end]
            longest = max((len(run) for line in inside for run in _TICKS.findall(line)), default=2)
            fence = "`" * (longest + 1)
            yield from (f"{fence}text", *inside, fence)
            at = end + 1
            continue
        item = _ITEM.match(lines[at])
        if _ROW.fullmatch(lines[at]):
            yield "|".join(_cell(cell) for cell in lines[at].strip().split("|"))
        elif item:
            yield f"{item[1].expandtabs(4)}{item[2]} {plain(lines[at][item.end() :])}"
        else:
            yield plain(lines[at])
        at += 1


def _cell(cell: str) -> str:
    flat = cell.strip()
    return f" {flat if _RULE.fullmatch(flat) else plain(flat, in_table=True)} " if flat else cell


def yaml_text(text: str) -> str:
    """A text on one line as a scalar of YAML."""
    flat = json.dumps(" ".join(visible(text).split()), ensure_ascii=False)
    return _NOT_PRINTED.sub(lambda found: json.dumps(found.group())[1:-1], flat)


def yaml_list(texts: Sequence[str]) -> str:
    """Texts as a list of YAML on one line."""
    return f"[{', '.join(map(yaml_text, texts))}]"


def link_text(text: str) -> str:
    """A title inside of a link: without what would end the link."""
    return " ".join(re.sub(r"[|`<>\\^#]", " ", visible(text).translate(_BRACKETS)).split()) or "Memory"


_TITLE = re.compile(r"^Title:[ \t]*(\S[^\n]*)", re.MULTILINE)
_LONGEST_TITLE = 80
_CURATE = "curate"
_MARK = re.compile(r"^\s*(?:\[(?:CURATE|TEMPORARY)\]\s*)+|\s*\[(?:CURATE|TEMPORARY)\](?=\W*$)", re.IGNORECASE)
#: Stores of agents, in which a memory is because somebody wanted it remembered.
_MEMORY_STORES = frozenset({"brain", "mem0", "mcp-memory", "langgraph", "letta"})
#: Importance from which a line of a log is worth an agent's attention.
_IMPORTANT = 2.0
#: What a flat line cannot show.
_BLOCK = re.compile(r"\s*(?:```|~~~|\|)")
#: Files in which an identity is kept; their agent reads them by itself.
IDENTITY_FILES = ("USER.md", "SOUL.md", "RELATIONAL.md", "IDENTITY.md")

#: What is said with what an agent said in a conversation.
BY_AGENT = "by the agent"
TURNS = "turns of conversations"
GONE = "memories whose words were removed from their source"
COUNTS = "series in which nothing varies"
STEERING = "memories that try to steer their reader"
TEMPORARY = "memories marked as temporary"
OVER = "memories of what is over"
SUPERSEDED = "memories that a newer one supersedes"
CUT_OFF = "notes that a program cut off"
OF_ONE_DAY = "memories of a day that has a third of the lines"
UNMARKED = "routine notes that nobody marked or used"
MINOR = "statements that few sessions need"
#: The part of a budget up to which these and routine notes are loaded, after everything else: a log would fill it all.
FOR_ROUTINE = 0.5
BLOCKS = "tables and blocks of code"
STANDING = "memories that stand there already"
CHANGED = "memories of a file that stands there in other words"
NO_ROOM = "memories for which there is no room"


@dataclass(frozen=True)
class Contents:
    """What is known in one project.

    `memories`: the active ones that may be exported, in order of creation and id; `sources`: archived memories behind
    them, by id; `links`: from each memory to its direct sources; `cases`: by memory of a principle, its patterns;
    `doubts`: what must be said with a memory: that another one contradicts it, where it applies, or the day of its
    last copy; `lasting`, `noise`: notes that the classifier takes for lasting, and those that are surely routine;
    `vectors`: of the active ones, by id, of the built-in model; `superseded`: those that say how things were, each with
    the newer one that says how they are; `done`: tasks that a later note ticks.
    """

    project: str
    memories: Sequence[Memory]
    sources: Mapping[str, Memory]
    links: Sequence[LineageLink]
    entries: Sequence[PlaybookEntry]
    cases: Mapping[str, Collection[str]]
    left_out: Counter[str] = field(default_factory=Counter)
    doubts: Mapping[str, str] = field(default_factory=dict)
    lasting: Collection[str] = frozenset()
    noise: Collection[str] = frozenset()
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    superseded: Mapping[str, str] = field(default_factory=dict)
    done: Collection[str] = frozenset()

    @cached_property
    def newest_day(self) -> date | None:
        """The day of the newest memory, by which is told what is over."""
        return max((memory.day for memory in self.memories if not is_undated(memory)), default=None)

    @property
    def notes(self) -> list[Memory]:
        """The memories that are no series."""
        return [memory for memory in self.memories if not is_series(memory)]

    @property
    def series(self) -> list[Memory]:
        """The series memories, by what they say."""
        return sorted(filter(is_series, self.memories), key=lambda memory: (memory.content, memory.id))


def project_named(store: Store, named: str | None) -> str:
    """The project to export: the one that is named, or the only one. Raises InputError for none, several, or an unknown
    one."""
    with store.reading() as tx:
        known = tx.memories.projects()
    if named is not None:
        if named not in known:
            raise InputError(f"there is no project '{named}' in the store; it has {', '.join(known) or 'none'}")
        return named
    if len(known) == 1:
        return known[0]
    if not known:
        raise InputError("the store has no memories yet; import some first")
    raise InputError(f"the store has several projects; name one with --project: {', '.join(known)}")


def contents_of(store: Store, project: str, *, with_sources: bool = False) -> Contents:
    """Everything of a project that may be exported, and what may not be."""
    with store.reading() as tx:
        every = tx.memories.all(project, include_archived=with_sources)
        gone = {entry.memory_id for entry in tx.sources.gone(None)}
        links = tx.lineage.of([memory.id for memory in every]) if with_sources else []
        entries, cases = playbook_in(tx, project)
        disputes = [conflict for conflict in tx.conflicts.open() if conflict.project_id == project]
        sides = tx.memories.read({side for one in disputes for side in (one.a, one.b)})
        disputes = clear_conflicts(disputes, sides)
        superseded = superseded_ids(disputes, sides)
        scopes = tx.conflicts.scopes_of([memory.id for memory in every])
        of_agent = tx.conversations.said_by_agent(project)
        # Of these a night took nothing that lasts: a reader left them, or a series names them as out of the usual.
        left = tx.readings.left_by_readers(project) | {i for one in tx.series.active() for i in one.facts.breaking_ids}
        unmarked = [
            one for one in every if one.archived_at is None and one.memory_type == "other" and one.id not in left
        ]
        ids = [one.id for one in every if one.archived_at is None]
        vectors = dict(zip(*tx.vectors.read(ids, MiniLM.name, MiniLM.dimension), strict=True))
        last_told = tx.memories.read_as_last_told(memory.id for memory in every if memory.archived_at is None)
    left_out: Counter[str] = Counter()
    active = []
    for memory in every:
        if memory.archived_at is None:
            reason = why_not_told(memory, gone)
            left_out.update([reason] if reason else [])
            active += [] if reason else [memory]
    sources = _behind(active, every, links) if with_sources else {}
    kept = {*sources, *(memory.id for memory in active)}
    doubts = {
        **dict.fromkeys(of_agent, BY_AGENT),
        **{
            side: "another note says otherwise"
            for one in disputes
            for side in (one.a, one.b)
            if superseded.keys().isdisjoint((one.a, one.b))
        },
        **{memory_id: f"applies to {'; '.join(told)}" for memory_id, told in scopes.items()},
    }
    for memory in active:
        # What is masked in two notes need not be the same.
        is_told_again = not is_undated(memory) and not has_mask(memory.content)
        if is_told_again and (day := last_told[memory.id].day) > memory.day:
            doubts[memory.id] = "; ".join(filter(None, (doubts.get(memory.id), f"told again {day}")))
    salience = salience_by_id(unmarked, vectors)
    lasting = {memory_id for memory_id, score in salience.items() if score >= LASTING}
    for memory_id, day in _days_of_later_values(active, lasting, vectors).items():
        if memory_id not in superseded:
            doubts[memory_id] = "; ".join(filter(None, (doubts.get(memory_id), f"another value on {day}")))
    return Contents(
        project=project,
        memories=active,
        sources=sources,
        links=[link for link in links if link.memory_id in kept and link.source_id in kept],
        entries=entries,
        cases=cases,
        left_out=left_out,
        lasting=lasting | _later_values(active, lasting, vectors),
        noise={memory_id for memory_id, score in salience.items() if score < NOISE},
        doubts=doubts,
        vectors=vectors,
        superseded=superseded,
        done={thread.memory.id for thread in find_threads(every, {}) if thread.closed_at},
    )


#: Two notes of at least this cosine may say something of one thing (as in `recall.ranking`); for so many pieces of
#: knowledge, as many as a page has room for, so many of the newest notes are compared.
_ONE_THING, _MOST_KNOWN, _MOST_NOTES, _MOST_COMPARED = 0.55, 500, 5_000, 20


def _later_values(active: Sequence[Memory], lasting: Collection[str], vectors: Mapping[str, Vectors]) -> set[str]:
    """The notes that would come last, and give another and later value for what is known: of each piece of knowledge
    the last one. A page that has the old value alone says what holds no more."""
    known = [one for one in active if one.id in vectors and is_promoted(one, lasting) and not is_series(one)]
    notes = [one for one in active if one.id in vectors and not is_promoted(one, lasting) and not is_undated(one)]
    if not known or not notes:
        return set()
    known = ranked(known)[:_MOST_KNOWN]
    notes = sorted(notes, key=lambda note: (note.effective_date, note.id))[-_MOST_NOTES:]
    beside = np.stack([vectors[one.id] for one in notes])
    found = set()
    for one in known:
        near = np.flatnonzero(np.einsum("ij,j->i", beside, vectors[one.id]) >= _ONE_THING)[-_MOST_COMPARED:]
        later = [notes[n] for n in near if is_undated(one) or notes[n].day > one.day]
        texts = [one.content, *(note.content for note in later)]
        changes = other_values(content_words(one.content), texts, content_words)[0, 1:]
        found.update([note.id for note, is_other in zip(later, changes, strict=True) if is_other][-1:])
    return found


#: Two notes give values of one thing from this part of their words, and this cosine, on: in shorter ones a word may be
#: another thing (`a ticket for adults`, `a ticket for children`).
_SAME_WORDS, _SAME_THING = 0.8, 0.8


def _days_of_later_values(
    active: Sequence[Memory], lasting: Collection[str], vectors: Mapping[str, Vectors]
) -> dict[str, date]:
    """Of what is known, what a later note says in the same words with another value; with the day of the last one."""
    dated = [one for one in active if one.id in vectors and not is_undated(one) and not is_series(one)]
    dated = sorted(dated, key=lambda note: (note.effective_date, note.id))[-_MOST_NOTES:]
    if not dated:
        return {}
    beside, found = np.stack([vectors[one.id] for one in dated]), dict[str, date]()
    words = [_subject_words(one) for one in dated]
    for one in ranked([one for one in dated if is_promoted(one, lasting)])[:_MOST_KNOWN]:
        own = _subject_words(one)
        for n in np.flatnonzero(np.einsum("ij,j->i", beside, vectors[one.id]) >= _SAME_THING):
            other = dated[n]
            if other.day <= one.day or len(own & words[n]) < _SAME_WORDS * len(own | words[n]):
                continue
            texts = [without_clock(one.content), without_clock(other.content)]
            if other_values(own, texts, content_words)[0, 1]:
                found[one.id] = max(other.day, found.get(one.id, other.day))
    return found


def _subject_words(memory: Memory) -> set[str]:
    """The words that carry meaning, without figures."""
    return {word for word in content_words(without_clock(memory.content)) if word.isalpha()}


def why_not_told(memory: Memory, gone: Collection[str]) -> str | None:
    """Why nothing that people or agents read may say a memory; None if it may. `gone`: those whose words have left
    their source."""
    if memory.memory_type == "conversation":
        return TURNS
    if memory.id in gone:
        return GONE
    if only_counts(memory):
        return COUNTS
    return None if may_guide(memory) else STEERING


def _behind(active: Sequence[Memory], every: Sequence[Memory], links: Sequence[LineageLink]) -> dict[str, Memory]:
    """The archived memories from which active ones were made, directly or through others."""
    archived = {memory.id: memory for memory in every if memory.archived_at is not None}
    made_from: dict[str, list[str]] = defaultdict(list)
    for link in links:
        made_from[link.memory_id].append(link.source_id)
    found: dict[str, Memory] = {}
    waiting = [memory.id for memory in active if not is_series(memory)]
    while waiting:
        for source in made_from[waiting.pop()]:
            memory = archived.get(source)
            if memory is not None and source not in found and not why_not_told(memory, ()):
                found[source] = memory
                waiting.append(source)
    return dict(sorted(found.items()))


def is_undated(memory: Memory) -> bool:
    """Whether nothing tells when it was noted but its file's time or its import."""
    return memory.created_at_quality in UNDATED


def is_promoted(memory: Memory, lasting: Collection[str]) -> bool:
    """Whether an agent should know it from the start: what is lasting, or what somebody marked, pinned or used. A line
    of a log comes after these. `lasting`: notes that are taken for lasting."""
    return (
        memory.abstraction_level >= LEVEL_PATTERN
        or memory.memory_type != "other"
        or memory.id in lasting
        or is_wanted(memory)
        or is_series(memory)
    )


#: Importance from which a statement of a reader is for every session: 0.6, which all of them have, and 0.6 of
#: significance. Of the 80 lines of a start file a stranger called 43 of these 58 useful, and 9 of the 22 others.
_FOR_EVERY_SESSION = 1.2


def is_minor(memory: Memory) -> bool:
    """Whether it is a statement of a reader that few sessions need."""
    is_statement = memory.source.connector == MADE and memory.source.file == READING
    return is_statement and memory.importance < _FOR_EVERY_SESSION and not binds(memory.tags)


#: What was recalled so often is in use; a search brings up things that nobody asked for.
_OFTEN = 5


def is_wanted(memory: Memory) -> bool:
    """Whether somebody wants it to be known, by a mark, by its use, or by its place in a memory store of an agent."""
    return (
        memory.pinned
        or memory.importance >= _IMPORTANT
        or memory.useful_count > 0
        or memory.reuse_count >= _OFTEN
        or _CURATE in memory.tags
        or memory.source.connector in _MEMORY_STORES
    )


def is_block(memory: Memory) -> bool:
    """Whether it is a table or a block of code, which no line can show."""
    return _BLOCK.match(memory.content) is not None


def without_marks(text: str) -> str:
    """A text without the marks that tell a program what to do with it."""
    return _MARK.sub("", text)


def words_of(memory: Memory) -> str:
    """What a memory says; of a pattern or principle without the attached facts of single sources."""
    return guidance_of(memory) if memory.abstraction_level >= LEVEL_PATTERN else told_alone(memory)


def told_alone(memory: Memory) -> str:
    """The content as it may stand alone: a note with its heading and its lead-in."""
    return with_subject(memory, memory.content)


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


def why_not_loaded(memory: Memory, contents: Contents, standing: Standing) -> str | None:
    """Why an agent should not load a memory at its start; None if it may."""
    if is_temporary(memory.content, memory.tags):
        return TEMPORARY
    last = matters_until(memory.tags)
    has_ended = bool(last and contents.newest_day and last < contents.newest_day)
    if memory.id in contents.done or (has_ended and not is_wanted(memory)):
        return OVER
    if memory.id in contents.superseded:
        return SUPERSEDED
    if standing.says(memory):
        return STANDING
    return CHANGED if memory.id in standing.changed else None


def notes_of_files(
    memories: Sequence[Memory], connector: str, files: Mapping[str, str], named_alike: Collection[str] = ()
) -> set[str]:
    """The ids of notes that were read from files which stand there, by file name. What such a file says today is the
    newer word, also where a note was edited or removed since it was read.

    A file of this name is the one that was read if it still says one of its notes; `named_alike`: those that are known
    by their name alone.
    """
    of_file: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        name = (memory.source.file or "").rpartition("/")[2]
        if memory.source.connector == connector and name in files:
            of_file[name].append(memory)
    found: set[str] = set()
    for name, notes in of_file.items():
        there = Standing([files[name]])
        if name in named_alike or any(there.says(memory) for memory in notes):
            found.update(memory.id for memory in notes)
    return found


class Standing:
    """The words that stand in texts of others, so that they are not said twice. `changed`: ids of notes of these texts,
    whatever the texts say of them now."""

    def __init__(self, texts: Sequence[str], changed: Collection[str] = ()) -> None:
        self._text = "\n".join(map(normalise, texts))
        self.changed = changed

    def says(self, memory: Memory) -> bool:
        """Whether all that a memory says stands there, word for word."""
        words = normalise(words_alone(memory.lead_in, memory.content))
        return bool(words) and words in self._text


#: Lines of at least this cosine stand beside each other.
_BESIDE = 0.5
#: How much importance, confidence, recency and use count; together 1.
_IMPORTANCE, _CONFIDENCE, _RECENCY, _USE = 0.35, 0.25, 0.2, 0.2
#: Confidence of a memory that states none.
_UNTOLD = 0.5
#: Days after which half of the recency is gone, and uses after which half of what they count is reached.
_HALF_AS_NEW, _HALF_AS_USED = 60.0, 3.0
#: What a memory counts beside others of the same rank: what its writer marked to be kept, what is only a line of a log,
#: and what a program has cut off.
_CURATED, _OTHER, _CUT_OFF = 1.25, 0.6, 0.4


def ranked(memories: Sequence[Memory]) -> list[Memory]:
    """The memories, what the human wants or forbids first, then the one that is most worth knowing; equal ones by id.

    Recency is measured from the newest of them, so that the order does not depend on the clock.
    """
    newest = max((memory.effective_date for memory in memories), default=None)

    def worth(memory: Memory) -> float:
        age = (newest - memory.effective_date).total_seconds() / 86_400 if newest else 0.0
        age = max(age, _HALF_AS_NEW) if is_undated(memory) else age
        uses = memory.reuse_count + 2 * memory.useful_count
        return worth_of(memory, newness=0.5 ** (age / _HALF_AS_NEW), use=1 - 0.5 ** (uses / _HALF_AS_USED))

    return sorted(memories, key=lambda memory: (not binds(memory.tags), -worth(memory), memory.id))


def worth_of(memory: Memory, *, newness: float = 0.0, use: float = 0.0) -> float:
    """What a memory is worth knowing. `newness`, `use`: from 0 to 1; without them, it is the same at every time."""
    score = (
        _IMPORTANCE * memory.importance / 3
        + _CONFIDENCE * (_UNTOLD if memory.confidence_score is None else memory.confidence_score)
        + _RECENCY * newness
        + _USE * use
    )
    score *= _CURATED if _CURATE in memory.tags else 1.0
    score *= _CUT_OFF if is_cut_off(memory.content) else 1.0
    return float(score) * (_OTHER if level_name(memory) == "note" else 1.0)


def in_their_places(
    lines: Sequence[str], before: Sequence[str], vector_of: Mapping[str, Vectors] | None = None
) -> list[str]:
    """The lines in the order in which they stood before; new ones follow in their own order.

    `vector_of`: by line, float32 (d,), unit length. With it, a new line stands behind the one that is nearest to it, if
    one is near, so that what is said of one thing stands together.
    """
    known = {line: place for place, line in enumerate(before)}
    placed = sorted({line for line in lines if line in known}, key=known.__getitem__)
    for line in dict.fromkeys(lines):
        if line not in known:
            near = _nearest_place(line, placed, vector_of or {})
            placed.insert(len(placed) if near is None else near + 1, line)
    return placed


def _nearest_place(line: str, placed: Sequence[str], vector_of: Mapping[str, Vectors]) -> int | None:
    if line not in vector_of:
        return None
    cosines = [
        (float(vector_of[other] @ vector_of[line]), place) for place, other in enumerate(placed) if other in vector_of
    ]
    cosine, place = max(cosines, default=(0.0, 0))
    return place if cosine >= _BESIDE else None
