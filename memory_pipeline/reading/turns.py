"""Turns of conversations, and the names by which their speakers go."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from memory_pipeline.files.markers import without_blocks
from memory_pipeline.reading.marks import is_nobodys
from memory_pipeline.records import Memory, Speaker, Turn
from memory_pipeline.text.whole import blank_temporary

_ROLES: Mapping[str, Speaker] = {
    **dict.fromkeys(("user", "human"), "human"),
    **dict.fromkeys(("assistant", "agent", "ai", "model", "bot"), "agent"),
}
_NOBODY = frozenset("system tool toolresult developer function observation context critic".split())
#: A turn may begin with the role or the name of its speaker, with a time before or behind it: `[10:02] Dana: ...`,
#: `**Dana (10:02):** ...`.
_CLOCK = r"(?:[*_]{0,2}[ \t]*[(\[][^)\]\n]{0,30}\d[^)\]\n]{0,10}[)\]])?"
_NAMED = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?[*_]{0,2}([^\W\d_][\w .'-]{0,30}?)"
    rf"{_CLOCK}[*_]{{0,2}}[ \t]*:[*_]{{0,2}}(?=\s)"
)
_LEAST_NAMED = 2
_MOST_NAMES = 5
#: A memory of more turns is a log that somebody pasted.
MOST_TURNS = 1_000
#: How to mend turns of which nobody knows who speaks.
MEND_SPEAKERS = "name the human in the setting conversations.human_names, and the agent in conversations.agent_names"

NO_SPEAKER = "no known speaker"
TOO_MANY = f"beyond the first {MOST_TURNS:,} turns of one memory"
NOBODYS = "words of the system, a tool or a program"


@dataclass(frozen=True, slots=True)
class ReadTurns:
    """The turns of some memories by conversation and order, and how many memories gave none, by reason. `unknown`: the
    names with which turns begin whose speaker is not known, the most frequent first."""

    turns: tuple[Turn, ...]
    dropped: Mapping[str, int]
    unknown: tuple[str, ...] = ()


def turns_of(memories: Iterable[Memory], names: Mapping[str, Speaker] | None = None) -> ReadTurns:
    """The turns in memories of the type `conversation`.

    The speaker is told by the tag `human` or `agent`, by the tag `role:...`, or by the role or name that the content
    begins with. A name is a human's if it is in `names`, or if it recurs in its conversation and only roles of agents
    speak beside it. Parts of a long turn stay in the order in which they are given.
    """
    spoken = [memory for memory in memories if memory.memory_type == "conversation"]
    known = {name.casefold(): speaker for name, speaker in (names or {}).items()}
    by_place: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in spoken:
        by_place[memory.project_id, f"{memory.source.connector}:{memory.source.file or ''}"].append(memory)
    turns: list[Turn] = []
    dropped: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for place in sorted(by_place):
        known_here = known | _find_names_beside_agents(by_place[place], known)
        divides = _compile_next_speaker(frozenset(known_here))
        place_turns: list[Turn] = []
        for memory in by_place[place]:
            own = list(_split_turns(memory, place[1], known_here, divides))
            if len(own) > MOST_TURNS:
                dropped[TOO_MANY] += len(own) - MOST_TURNS
                own = own[:MOST_TURNS]
            of_people = [turn for turn in own if not is_nobodys(turn.words)]
            place_turns += of_people
            if not of_people:
                label = _NAMED.match(memory.content)
                name = label[1].strip() if label else ""
                is_nobodys_own = bool(own) or _role_tag(memory.tags) in _NOBODY or name.casefold() in _NOBODY
                dropped[NOBODYS if is_nobodys_own else NO_SPEAKER] += 1
                if name and not is_nobodys_own and _tagged(memory.tags) is None and name.casefold() not in _ROLES:
                    unknown[name] += 1
        turns += sorted(place_turns, key=lambda turn: (turn.line, turn.said_at))
    unknown_names = tuple(name for name, _ in unknown.most_common(_MOST_NAMES))
    return ReadTurns(tuple(turns), dropped, unknown_names)


def needs_names(memories: Iterable[Memory]) -> bool:
    """True if the speaker of some turn is told by nothing but perhaps a name."""
    return any(
        memory.memory_type == "conversation" and _tagged(memory.tags) is None and not _role_tag(memory.tags)
        for memory in memories
    )


@cache
def _compile_next_speaker(names: frozenset[str]) -> re.Pattern[str]:
    """The next speaker, if one memory holds several turns: a role, or one of some names."""
    speakers = "|".join(["user|human|assistant|agent|ai|bot|system|tool", *map(re.escape, sorted(names))])
    return re.compile(
        rf"\n[ \t]*(?:\[[^\]\n]{{1,40}}\][ \t]*)?[*_]{{0,2}}(?:{speakers}){_CLOCK}[*_]{{0,2}}[ \t]*:[*_]{{0,2}}(?=\s)",
        re.IGNORECASE,
    )


def _split_turns(
    memory: Memory, conversation: str, names: Mapping[str, Speaker], divides: re.Pattern[str]
) -> Iterator[Turn]:
    """The turns of a memory: one, or several if its lines begin with several roles.

    Where its program has told who speaks, nobody else does: a line of it that begins with another role was pasted or
    fetched, and from there on it is nobody's. Otherwise any page that an agent reads could speak as the human.
    """
    starts = [0, *(match.start() + 1 for match in divides.finditer(memory.content)), len(memory.content)]
    tagged = _tagged(memory.tags)
    if _role_tag(memory.tags) in _NOBODY:
        return
    for start, end in pairwise(starts):
        piece = memory.content[start:end]
        name = _NAMED.match(piece)
        label = name[1].strip().casefold() if name else ""
        speaker = _ROLES.get(label) or names.get(label)
        if tagged is not None and (start or speaker not in (None, tagged) or label in _NOBODY):
            return
        if speaker is None and label not in _NOBODY and not start:
            speaker, name = tagged, name if label and label in names else None
        words, _ = blank_temporary(piece[name.end() if name else 0 :])
        if speaker is None or not words.strip():
            continue
        yield Turn(
            memory_id=memory.id,
            project_id=memory.project_id,
            conversation=conversation,
            line=memory.source.line or 0,
            speaker=speaker,
            said_at=memory.said_at,
            words=words,
            token_count=max(1, round(memory.token_count * len(words) / len(memory.content))),
            offset=start + len(piece) - len(words),
        )


def _tagged(tags: Sequence[str]) -> Speaker | None:
    if "human" in tags:
        return "human"
    if "agent" in tags:
        return "agent"
    return _ROLES.get(_role_tag(tags))


def _role_tag(tags: Sequence[str]) -> str:
    return next((tag[5:].strip().lower().replace("_", "") for tag in tags if tag.startswith("role:")), "")


def _find_names_beside_agents(memories: Sequence[Memory], known: Mapping[str, Speaker]) -> dict[str, Speaker]:
    """The name of the human of a conversation: the only one that recurs where otherwise agents speak. `known`: whose
    names are known."""
    counts = Counter(
        name[1].strip().casefold() for memory in memories if (name := _NAMED.match(memory.content)) is not None
    )
    speakers = {_ROLES.get(name) or known.get(name) for name in counts}
    if "agent" not in speakers or "human" in speakers:
        return {}
    others = [name for name in counts if name not in {*_ROLES, *known, *_NOBODY}]
    return {others[0]: "human"} if len(others) == 1 and counts[others[0]] >= _LEAST_NAMED else {}


#: Which file tells whose name.
_SPEAKER_OF: Mapping[str, Speaker] = {"IDENTITY.md": "agent", "SOUL.md": "agent", "USER.md": "human"}
FILES_WITH_NAMES = tuple(_SPEAKER_OF)
_MOST_CHARACTERS = 20_000
_A_NAME = r"(?P<name>[^\W\d_a-z][\w'’-]{1,29}(?: [^\W\d_a-z][\w.'’-]{0,29}){0,2})"
_FIELD = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}(?i:(?:full |first |preferred )?(?:name|nickname|what to call them))"
    rf"[*_]{{0,2}}[ \t]*:[*_]{{0,2}}[ \t]*{_A_NAME}",
    re.MULTILINE,
)
_AFTER = r"(?=\s*(?:[,.;:!(—–-]|$|\b(?:and|who|the|an?)\b))"
_TOLD: Mapping[Speaker, re.Pattern[str]] = {
    "agent": re.compile(
        r"\b(?:[Yy]ou are|[Yy]ou're|I am|I'm|(?:[Yy]our|[Mm]y|[Tt]he agent's) name is)(?: called| named)? "
        rf"{_A_NAME}{_AFTER}",
        re.MULTILINE,
    ),
    "human": re.compile(
        r"\b(?:(?:[Tt]he|[Yy]our) (?:user|human|owner|person)(?:'s name)? is|I am|I'm|[Mm]y name is|"
        r"[Yy]ou (?:are talking|talk|speak|are speaking) (?:to|with)|[Cc]all (?:me|him|her|them))(?: called| named)? "
        rf"{_A_NAME}{_AFTER}",
        re.MULTILINE,
    ),
}
#: Words that stand where a name would.
_NO_NAME = frozenset(
    "the a an my your user human agent assistant ai bot not here claude's tbd none unknown name todo you they".split()
)


def speakers_named(
    human: Iterable[str], agent: Iterable[str], workspace: Path | None = None, imported: Iterable[tuple[str, str]] = ()
) -> dict[str, Speaker]:
    """Whose name each name is, in lower case: those that are given, and those that a workspace's files tell, or what
    was imported of such files (the name of each, and what it says).

    The first name of a longer one counts too. A name that would be of both is of nobody.
    """
    of_files: dict[Speaker, set[str]] = {"human": set(), "agent": set()}
    there = [(file, _read_beginning(workspace / file)) for file in _SPEAKER_OF] if workspace else []
    for file, text in (*there, *imported):
        speaker = _SPEAKER_OF[file]
        patterns = (_FIELD, _TOLD[speaker])
        names = (match["name"] for told in patterns for match in told.finditer(text[:_MOST_CHARACTERS]))
        of_files[speaker] |= set(_known_as(names))
    given_human, given_agent = set(_known_as(human)), set(_known_as(agent))
    humans = (of_files["human"] - given_agent) | given_human
    agents = (of_files["agent"] - given_human) | given_agent
    named: dict[str, Speaker] = dict.fromkeys(sorted(humans - agents), "human")
    return named | dict.fromkeys(sorted(agents - humans), "agent")


def _known_as(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        whole = " ".join(name.split()).casefold().rstrip(".")
        first = whole.split(" ")[0] if whole else ""
        yield from {form for form in (whole, first) if len(form) > 1 and form not in _NO_NAME}


def _read_beginning(file: Path) -> str:
    """What a file says, without the blocks of programs; empty if it cannot be read."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            text = opened.read(4 * _MOST_CHARACTERS).decode("utf-8", "replace")[:_MOST_CHARACTERS]
    except OSError:
        return ""
    return without_blocks(text.replace("\r\n", "\n"))
