"""The names of a project's human and agent: from the settings, and from the files of its workspace that tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from memory_pipeline.markers import without_blocks
from memory_pipeline.records import Speaker

#: Which file tells whose name.
_FILES: tuple[tuple[str, Speaker], ...] = (("IDENTITY.md", "agent"), ("SOUL.md", "agent"), ("USER.md", "human"))
_SPEAKER_OF = dict(_FILES)
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
    human: Iterable[str],
    agent: Iterable[str],
    workspace: Path | None = None,
    imported: Iterable[tuple[str, str]] = (),
) -> dict[str, Speaker]:
    """Whose name each name is, in lower case: those that are given, and those that a workspace's files tell, or what
    was imported of such files (the name of each, and what it says).

    The first name of a longer one counts too. A name that would be of both is of nobody.
    """
    of_files: dict[Speaker, set[str]] = {"human": set(), "agent": set()}
    if workspace is not None:
        for file, speaker in _FILES:
            of_files[speaker] |= _names_in(workspace / file, speaker)
    for file, text in imported:
        of_files[_SPEAKER_OF[file]] |= _names_told(text[:_MOST_CHARACTERS], _SPEAKER_OF[file])
    given_human, given_agent = set(_known_as(human)), set(_known_as(agent))
    humans = (of_files["human"] - given_agent) | given_human
    agents = (of_files["agent"] - given_human) | given_agent
    named: dict[str, Speaker] = dict.fromkeys(sorted(humans - agents), "human")
    return named | dict.fromkeys(sorted(agents - humans), "agent")


def _known_as(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        whole = " ".join(name.split()).casefold().rstrip(".")
        first = whole.split(" ")[0] if whole else ""
        yield from {one for one in (whole, first) if len(one) > 1 and one not in _NO_NAME}


def _names_in(file: Path, speaker: Speaker) -> set[str]:
    """The names that a file tells; none if it cannot be read."""
    try:
        if not file.is_file():
            return set()
        with file.open("rb") as opened:
            text = opened.read(4 * _MOST_CHARACTERS).decode("utf-8", "replace")[:_MOST_CHARACTERS]
    except OSError:
        return set()
    return _names_told(without_blocks(text.replace("\r\n", "\n")), speaker)


def _names_told(text: str, speaker: Speaker) -> set[str]:
    said = [match["name"] for pattern in (_FIELD, _TOLD[speaker]) for match in pattern.finditer(text)]
    return set(_known_as(said))
