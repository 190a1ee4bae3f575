"""Knowledge-base entries: parsed from a memory's text, united into one canonical entry, and checked for loss.

An entry has the lines `Title:` and `Recommendation:`, and optionally `Examples:` with `- STORY: context` lines below
it. A canonical entry has the same form, so that it can be parsed and united again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.records import Memory
from memory_pipeline.text.facts import content_words, find_facts
from memory_pipeline.text.normalise import normalise, strip_leading
from memory_pipeline.text.sentences import split_statements, strip_lead_in

CANONICAL_TAG = "canonical"
#: A canonical entry is for all roles.
ROLE_TAG = "role:all"
_LONGEST_TITLE = 80
_FIELD = re.compile(r"^[*_#>\s]*(title|recommendations?|examples?|merged from \d+ entries)\s*:[*_\s]*(.*)$", re.I)
_EXAMPLE = re.compile(r"^\s*[-*+•]\s+(?:\*\*)?([^:\n]{1,120}?)(?:\*\*)?:\s+(.*\S)\s*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """The contents of one entry. `examples`: (story, context) pairs; `merged_from`: the ids it was united from."""

    title: str
    recommendations: tuple[str, ...]
    examples: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    merged_from: tuple[str, ...] = ()


def is_entry(content: str) -> bool:
    """True if a text has the form of an entry: a title and a recommendation, each on a line of its own."""
    names = {match.group(1).lower().rstrip("s") for line in content.split("\n") if (match := _FIELD.match(line))}
    return {"title", "recommendation"} <= names


def claim_of(content: str) -> str:
    """The claim of a text, as the conflict guard compares it: for an entry only its recommendations, because two
    entries may tell different stories."""
    return "\n".join(_formed(content, (), "").recommendations) if is_entry(content) else content


def read_entry(memory: Memory) -> Entry:
    """The entry in a memory.

    A plain text becomes one too: its first statement is the title, its recommendations (or else all of it) the
    recommendation, and the rest an example, with the memory's source or day as the story.
    """
    story = (memory.source.file or memory.day.isoformat()).replace(":", "-")
    return _formed(memory.content, memory.tags, story) if is_entry(memory.content) else _plain(memory, story)


def _formed(content: str, tags: tuple[str, ...], story: str) -> Entry:
    section = "title"
    sections: dict[str, list[str]] = {"title": [], "recommendation": [], "example": [], "merged": []}
    for line in content.split("\n"):
        match = _FIELD.match(line)
        if match:
            section = match.group(1).lower().split()[0].rstrip("s")
            if match.group(2).strip():
                sections[section].append(match.group(2).strip())
        elif line.strip():
            sections[section].append(line.strip())
    matches = [(line, _EXAMPLE.match(line)) for line in sections["example"]]
    examples = [(match[1].strip(), match[2]) if match else (story, strip_leading(line)) for line, match in matches]
    recommendations = [strip_leading(line) for line in sections["recommendation"]]
    title = " ".join(sections["title"])
    return Entry(title, _unique(recommendations), tuple(dict.fromkeys(examples)), tags, tuple(sections["merged"]))


def _plain(memory: Memory, story: str) -> Entry:
    statements = [strip_lead_in(text) for text in split_statements(memory.content)] or [memory.content.strip()]
    advice = [s for s in statements if any(f.kind in ("recommendation", "negation") for f in find_facts(s))]
    advice = advice or statements[:1]
    rest = [(story, statement) for statement in statements if statement not in advice]
    return Entry(_short_title(advice[0]), tuple(advice), tuple(rest), memory.tags)


def _short_title(statement: str) -> str:
    words = " ".join(statement.split())
    return words if len(words) <= _LONGEST_TITLE else words[:_LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") + " ..."


def unite_entries(members: Sequence[tuple[str, Entry]]) -> Entry:
    """One canonical entry from (memory id, entry) pairs, in their order.

    The title is the most descriptive one: most distinct content words, then the shortest. Recommendations and contexts
    that are equal after folding appear once; examples of one story are grouped.
    """
    entries = [entry for _, entry in members]
    title = min((e.title for e in entries), key=lambda t: (-len(set(content_words(t))), len(t), t))
    recommendations = _unique([text for entry in entries for text in entry.recommendations])
    stories: dict[str, dict[str, tuple[str, str]]] = {}
    for entry in entries:
        for story, context in entry.examples:
            stories.setdefault(normalise(story), {}).setdefault(normalise(context), (story, context))
    examples = tuple(pair for contexts in stories.values() for pair in contexts.values())
    tags = tuple(sorted({tag for entry in entries for tag in entry.tags if not tag.startswith("role:")}))
    tags = tuple(dict.fromkeys((*tags, CANONICAL_TAG, ROLE_TAG)))
    return Entry(title, recommendations, examples, tags, tuple(memory_id for memory_id, _ in members))


def entry_text(entry: Entry) -> str:
    """A canonical entry in its text form."""
    first, *more = entry.recommendations or ("",)
    lines = [f"Title: {entry.title}".rstrip(), f"Recommendation: {first}", *(f"- {text}" for text in more)]
    if entry.merged_from:
        lines.append(f"Merged from {len(entry.merged_from)} entries: {', '.join(entry.merged_from)}")
    if entry.examples:
        lines += ["Examples:", *(f"- {story}: {context}" for story, context in entry.examples)]
    return "\n".join(lines)


def find_loss(members: Sequence[tuple[str, Entry]], text: str, tags: Sequence[str]) -> list[str]:
    """Says in words what a canonical entry, parsed from its text, lacks of its members."""
    problems = []
    canonical = _formed(text, tuple(tags), "")
    advised = set(map(normalise, canonical.recommendations))
    examples = Counter((normalise(story), normalise(context)) for story, context in canonical.examples)
    for memory_id, entry in members:
        problems += [
            f"'{memory_id}': the recommendation '{_short_title(advice)}' is missing"
            for advice in entry.recommendations
            if normalise(advice) not in advised
        ]
        problems += [
            f"'{memory_id}': the example '{story}: {_short_title(context)}' is missing"
            for story, context in entry.examples
            if (normalise(story), normalise(context)) not in examples
        ]
        missing = [tag for tag in entry.tags if tag not in tags and not tag.startswith("role:")]
        problems += [f"'{memory_id}': the tag '{tag}' is missing" for tag in missing]
    expected = ", ".join(memory_id for memory_id, _ in members)
    if canonical.merged_from != (expected,):
        problems.append(f"merged_from does not name the {len(members)} members of the cluster")
    return problems


def _unique(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple({normalise(text): text for text in reversed(texts) if text.strip()}.values())[::-1]
