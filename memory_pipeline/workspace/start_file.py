"""The file that an agent loads at its start: why a memory may not stand there, and in which order lines stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import Memory, matters_until
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.subject import words_alone
from memory_pipeline.text.superseding import put_later_first
from memory_pipeline.text.threads import is_ticked, opens
from memory_pipeline.text.whole import is_temporary
from memory_pipeline.workspace.contents import Contents
from memory_pipeline.workspace.worth import is_wanted

TEMPORARY = "memories marked as temporary"
OVER = "memories of what is over"
SUPERSEDED = "memories that a newer one supersedes"
CONTRADICTED = "memories that a later one contradicts which is left out, too"
UNMARKED = "routine notes that nobody marked or used"
#: The part of a budget up to which these and routine notes are loaded, after everything else: a log would fill it all.
FOR_ROUTINE = 0.5
STANDING = "memories that stand there already"
CHANGED = "memories of a file that stands there in other words"
NO_ROOM = "memories for which there is no room"
#: What is left out for these is told elsewhere or holds for a while, and what it contradicts stands without it.
LEAVES_EARLIER = frozenset({TEMPORARY, OVER, STANDING, CHANGED})


def why_not_loaded(memory: Memory, contents: Contents, standing: Standing) -> str | None:
    """Why an agent should not load a memory at its start; None if it may."""
    if is_temporary(memory.content, memory.tags):
        return TEMPORARY
    last = matters_until(memory.tags)
    has_ended = bool(last and contents.newest_day and last < contents.newest_day)
    if memory.id in contents.done or is_ticked(memory.content) or (has_ended and not is_wanted(memory)):
        return OVER
    if memory.id in contents.superseded:
        return SUPERSEDED
    if memory.id in contents.noise and not is_wanted(memory) and not opens(memory):
        return UNMARKED
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
    note_ids: set[str] = set()
    for name, notes in of_file.items():
        there = Standing([files[name]])
        if name in named_alike or any(there.says(memory) for memory in notes):
            note_ids.update(memory.id for memory in notes)
    return note_ids


class Standing:
    """The words that stand in texts of others, so that they are not said twice. `changed`: ids of notes of these texts,
    whatever the texts say of them now."""

    def __init__(self, texts: Sequence[str], changed: Collection[str] = ()) -> None:
        self._text = "\n".join(map(normalise, texts))
        self.changed = changed

    def says(self, memory: Memory) -> bool:
        """True if all that a memory says stands there, word for word."""
        words = normalise(words_alone(memory.lead_in, memory.content))
        return bool(words) and words in self._text


#: Lines of at least this cosine stand beside each other.
_BESIDE = 0.5


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


def later_word_first(lines: Sequence[str], id_of: Mapping[str, str], above: Mapping[str, Collection[str]]) -> list[str]:
    """The lines, directly before each of which stand those of a later day that contradict it or give another value.
    `id_of`: the memory of each; `above`: of each memory, those that stand before it."""
    line_of = {id_of[line]: line for line in lines}
    moved = {other for memory_id in line_of for other in above.get(memory_id, ())}
    behind = sorted(line_of, key=moved.__contains__)  # from where they are put before what they contradict
    return [line_of[memory_id] for memory_id in put_later_first(behind, above)]


def _nearest_place(line: str, placed: Sequence[str], vector_of: Mapping[str, Vectors]) -> int | None:
    if line not in vector_of:
        return None
    cosines = [
        (float(vector_of[other] @ vector_of[line]), place) for place, other in enumerate(placed) if other in vector_of
    ]
    cosine, place = max(cosines, default=(0.0, 0))
    return place if cosine >= _BESIDE else None
