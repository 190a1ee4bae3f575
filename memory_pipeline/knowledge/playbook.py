"""The playbook: the guidance of a pattern or principle, and its category."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Self

from pydantic import Field

from memory_pipeline.distillers import COMPRESSED_CATEGORY, DETAILS_LABEL, QUOTE
from memory_pipeline.documents import Document, Moment
from memory_pipeline.records import Memory, PlaybookEntry
from memory_pipeline.records.columns import columns_of
from memory_pipeline.wording.grammar import Word, clauses_of
from memory_pipeline.wording.guidance import guidance_in, has_no_subject, is_detail, is_limit, refers_back
from memory_pipeline.wording.sentences import join_statements, split_statements, strip_lead_in

GENERAL = "general"
#: Connectors whose categories are the headings of a file.
_BY_HEADINGS = frozenset(("openclaw",))
#: A label or a noun is shared if this part of the sources has it.
_MOST = 0.5
#: Words of times, and of labels that name a place in a log or how something is kept, and no subject.
_TIMES = frozenset(
    "morning noon afternoon evening night midnight am pm today yesterday tomorrow tonight day days week weeks weekend "
    "weekends month months year years hour hours minute minutes second seconds monday tuesday wednesday thursday "
    "friday saturday sunday january february march april may june july august september october november december time "
    "times daily weekly monthly".split()
)
_NO_LABELS = frozenset(
    f"{COMPRESSED_CATEGORY} log logs note notes journal diary heading section summary general misc miscellaneous other "
    "entry entries memory memories curate temporary canonical role inbox session sessions conversation heartbeat "
    "progress status update updates lesson lessons learned facts fact rule rules preference preferences thing things "
    "project everything".split()
)
#: Nouns that say little without the word before them.
_LIGHT_NOUNS = frozenset(
    "number copy kind sort lot part side piece bit list set way difference point line item name value case change use "
    "text file end top bottom start front back default one result reason problem issue state type form group amount "
    "order step percent something anything everything nobody everybody everyone nothing".split()
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

    @classmethod
    def of(cls, entry: PlaybookEntry) -> Self:
        """An entry of the playbook."""
        return cls(**asdict(entry))


def guidance_of(memory: Memory) -> str:
    """The text of a pattern or principle, without the attached facts of single sources."""
    return memory.content.split(f"\n{DETAILS_LABEL}", 1)[0].strip() or memory.content


def advice_of(memory: Memory) -> str | None:
    """What a pattern or principle says to do, to avoid, to prefer or to expect, with the reasons; None if it says
    nothing of the kind.

    Whatever narrows, excepts, reverses or ends advice stands with it, from the attached facts too, and so does what
    to do about a thing that fails, and the values and names that are needed to follow it. What else the memory knows
    stays in the memory, which the entry names.
    """
    statements = _statements_of(memory)
    advice = _advice_in(statements)
    if not advice:
        return None
    kept = _with_limits(statements, advice)
    attached = memory.content[len(guidance_of(memory)) :].strip().removeprefix(DETAILS_LABEL).split("; ")
    limits = [fact[:1].upper() + fact[1:] for fact in map(str.strip, attached) if is_limit(fact) and fact[0] != QUOTE]
    return join_statements([*(statements[n] for n in sorted(kept)), *limits])


def _statements_of(memory: Memory) -> list[str]:
    return [strip_lead_in(statement) for statement in split_statements(guidance_of(memory))]


def _advice_in(statements: Sequence[str]) -> list[int]:
    """The places of the statements that advise something by themselves, or that go on where one does."""
    advice = [n for n, statement in enumerate(statements) if guidance_in(statement)]
    return [n for n in advice if not refers_back(statements[n]) or (n - 1 in advice)]


def _with_limits(statements: Sequence[str], advice: Collection[int]) -> set[int]:
    """The places of the advice, of what limits it, of what to do about a thing that fails, and of details.

    A limit that says nothing by itself (`Not on staging.`) brings the statement that it is about with it.
    """
    kept: set[int] = set()
    for n, statement in enumerate(statements):
        goes_on = n - 1 in kept and guidance_in(statement) is not None
        if n in advice or goes_on or is_detail(statement):
            kept.add(n)
        elif is_limit(statement):
            kept.add(n)
            about = n
            while about > 0 and about not in kept - {n} and has_no_subject(statements[about]):
                about -= 1
            kept.add(about)
    return kept


def category_of(memory: Memory, sources: Sequence[Memory], known: Collection[str]) -> str:
    """The subject of guidance: the tag, or the category that its data named, that most of its sources share; else the
    noun that they share, one of the `known` categories of the project first, then the one that the advice is about;
    else the type of the pattern, or `general`.

    Headings of files are no subjects, nor are times of day. `sources`: the raw
    memories behind it; none if it was imported.
    """
    told = sources or [memory]
    for labels in ([source.tags for source in told], [_categories_of(source) for source in told]):
        shared = _shared_by_most([[label for label in some if _is_subject(label)] for some in labels])
        if shared:
            return shared[0]
    statements = _statements_of(memory)
    advice = [statements[n] for n in _advice_in(statements)]
    nouns = _nouns_of(join_statements(advice) if advice else guidance_of(memory))
    common = set(_shared_by_most([_nouns_of(source.content) for source in told]))
    ours = [noun for noun in nouns if noun in common and noun != memory.project_id.lower()] if sources else nouns
    return next((noun for noun in ours if noun in known), next(iter(ours), memory.pattern_type or GENERAL))


def _categories_of(source: Memory) -> tuple[str, ...]:
    return () if source.source.connector in _BY_HEADINGS else source.categories


def _is_subject(label: str) -> bool:
    words = {*re.findall(r"[^\W\d_]+", label.lower())}
    return bool(words) and not words & (_TIMES | _NO_LABELS)


def _shared_by_most(labels: Sequence[Sequence[str]]) -> list[str]:
    """The labels that at least _MOST of the sources have, most frequent first."""
    counts = Counter(label for some in labels for label in dict.fromkeys(some))
    return [label for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            if count >= _MOST * len(labels)]  # fmt: skip


def _nouns_of(text: str) -> list[str]:
    """What a text is about, in its order, but orders and main clauses before conditions and reasons: the last noun of
    each run of them (`gateway` of `the payment gateway`), with the one before it if it says little alone."""
    found: dict[str, int] = {}
    for statement in split_statements(text):
        for clause in clauses_of(statement):
            rank = 0 if clause.order is not None else 1 if clause.opener in ("", "so") else 2
            words = [*clause.words]
            for n, word in enumerate(words):
                if n == clause.order or not _names_something(word) or _TIMES & {word.low, word.base}:
                    continue
                if n + 1 < len(words) and words[n + 1].is_noun:
                    continue
                if word.base in _LIGHT_NOUNS:
                    if not (n and words[n - 1].is_noun and words[n - 1].low.isalpha()):
                        continue
                    found.setdefault(f"{words[n - 1].low} {word.low}", rank)
                else:
                    found.setdefault(word.base, rank)
    return sorted(found, key=lambda noun: found[noun])


def _names_something(word: Word) -> bool:
    """Whether a word is a common noun or an abbreviation: `gateway`, `VPN`."""
    return (word.is_noun or (word.tag == "NP0" and word.text.isupper())) and word.text.isalpha() and len(word.text) > 1
