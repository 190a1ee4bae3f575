"""The playbook: the guidance of a pattern or principle, and its category."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from pydantic import Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.records import COMPRESSED_CATEGORY, DETAILS_LABEL, LEVEL_PRINCIPLE, QUOTE, Memory, PlaybookEntry
from memory_pipeline.records.columns import columns_of
from memory_pipeline.text.days import DAYS_OF_WEEK, MONTHS
from memory_pipeline.text.facts import content_words, find_facts

GENERAL = "general"
#: Connectors whose categories are the headings of a file.
_BY_HEADINGS = frozenset(("openclaw",))
#: A label or a noun is shared if this part of the sources has it.
_MOST = 0.5
#: Words of times, and of labels that name a place in a log or how something is kept, and no subject.
_TIMES = frozenset(map(str.lower, (*DAYS_OF_WEEK, *MONTHS))).union(
    "morning noon afternoon evening night midnight am pm today yesterday tomorrow tonight day days week weeks weekend "
    "weekends month months year years hour hours minute minutes second seconds time times daily weekly monthly".split()
)
_NO_LABELS = frozenset(
    f"{COMPRESSED_CATEGORY} log logs note notes journal diary heading section summary general misc miscellaneous other "
    "entry entries memory memories curate temporary canonical role inbox session sessions conversation heartbeat "
    "progress status update updates lesson lessons learned facts fact rule rules preference preferences thing things "
    "project everything".split()
)

_MEANINGS = {column.name: column.meaning for column in columns_of(PlaybookEntry)}


class DescribedGuidance(Document):
    """A piece of guidance, as a list shows it."""

    id: str = Field(description=_MEANINGS["id"])
    project_id: str = Field(description=_MEANINGS["project_id"])
    category: str = Field(description=_MEANINGS["category"])
    content: str = Field(description=_MEANINGS["content"])
    confidence: float = Field(description=_MEANINGS["confidence"])
    source_ids: tuple[str, ...] = Field(description=_MEANINGS["source_ids"])
    created_at: Moment = Field(description=_MEANINGS["created_at"])
    updated_at: Moment = Field(description=_MEANINGS["updated_at"])


def guidance_of(memory: Memory) -> str:
    """The text of a pattern or principle, without the attached facts of single sources."""
    return memory.content.split(f"\n{DETAILS_LABEL}", 1)[0].strip() or memory.content


def advice_of(memory: Memory) -> str | None:
    """The advice of a pattern or principle; None if it is guidance of no kind.

    All of it stands in the playbook, with the attached facts: what narrows, excepts or ends advice must not get lost.
    What is only quoted of one source (always the last of what is attached) stays in the memory.
    """
    if memory.pattern_type is None and memory.abstraction_level < LEVEL_PRINCIPLE:
        return None
    guidance = guidance_of(memory)
    attached = memory.content[len(guidance) :].strip().removeprefix(DETAILS_LABEL).partition(QUOTE)[0].strip(" ;")
    return f"{guidance} {DETAILS_LABEL} {attached}" if attached else guidance


def category_of(memory: Memory, sources: Sequence[Memory], known: Collection[str]) -> str:
    """The subject of guidance: the tag, or the category that its data named, that most of its sources share; else the
    name or identifier that all of them have, or the word that most have, one of the `known` categories of the project
    first; else the type of the pattern, or `general`.

    Headings of files are no subjects, nor are times. `sources`: the raw memories behind it; none if imported.
    """
    notes = sources or [memory]
    categories = [() if source.source.connector in _BY_HEADINGS else source.categories for source in notes]
    for labels in ([source.tags for source in notes], categories):
        shared = _find_common_labels([[label for label in some if _is_subject(label)] for some in labels])
        if shared:
            return shared[0]
    named = [
        [fact.value for fact in find_facts(source.content) if fact.kind in ("name", "identifier")] for source in notes
    ]
    names = [name for name in named[0] if all(name in others for others in named)]
    names += _find_common_words(guidance_of(memory), [source.content for source in notes])
    return next((name for name in names if name in known), next(iter(names), memory.pattern_type or GENERAL))


def _find_common_words(text: str, texts: Sequence[str]) -> list[str]:
    """The longer words of a text that most of some others have in some form, those of most first, and of these the
    longest: long words are rare (Zipf, 1935), and say more of the subject."""
    counts = Counter(stem for source in texts for stem in set(content_words(source)))
    words = {
        word.lower(): max((counts[stem] for stem in content_words(word)), default=0)
        for word in re.findall(r"[^\W\d_]{5,}", text)
        if _is_subject(word)
    }
    shared = [word for word, count in words.items() if count > _MOST * len(texts)]
    return sorted(shared, key=lambda word: (-words[word], -len(word), word))


def _is_subject(label: str) -> bool:
    words = {*re.findall(r"[^\W\d_]+", label.lower())}
    return bool(words) and ":" not in label and not words & (_TIMES | _NO_LABELS)


def _find_common_labels(labels: Sequence[Sequence[str]]) -> list[str]:
    """The labels that at least _MOST of the sources have, most frequent first."""
    counts = Counter(label for some in labels for label in dict.fromkeys(some))
    return [label for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            if count >= _MOST * len(labels)]  # fmt: skip
