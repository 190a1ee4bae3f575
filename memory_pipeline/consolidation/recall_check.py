"""Checks after a night: was anything lost, and is what was archived still found?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_pipeline.consolidation.context import Night
from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall import SearchIndex, question_for, word_frequencies
from memory_pipeline.records import DIGEST, MADE, Archive
from memory_pipeline.reporting.model import MissedReport
from memory_pipeline.store import Store, Text
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.preservation import Preservation, what_is_kept
from memory_pipeline.text.series_words import line_in

TOP = 10
#: Newly archived memories that are searched for: so many show a loss of one in twenty.
MOST_ASKED = 50
#: A replacement answers a question if it has this share of its words, or this cosine to it. Of 250 archived memories of
#: a real workspace 246 were found again by this measure, 250 if any replacement counted.
_SHARE_OF_WORDS, _NEAR = 0.5, 0.5


@dataclass(frozen=True, slots=True)
class RecallCheck:
    """The result of the sample: how many were found, of how many, and which were not."""

    found: int = 0
    asked: int = 0
    missed: tuple[MissedReport, ...] = ()


def check_recall(night: Night, archived_ids: Sequence[str]) -> RecallCheck:
    """Search for a sample of newly archived memories.

    A memory counts as found if it is among the first ten results, or a replacement that answers the question too. The
    sample is derived from the night, so that a preview asks what the night will ask. A memory without a usable word is
    omitted, and so is what a reader found to hold nothing for a later day: nobody asks for it, and its digest lists
    it.
    """
    if not archived_ids:
        return RecallCheck()
    with night.store.reading() as tx:
        everything = tx.memories.texts(created_by=night.as_of)
    by_id = {memory.id: memory for memory in everything}
    projects: dict[str, list[Text]] = {}
    for memory in everything:
        projects.setdefault(memory.project_id, []).append(memory)
    touched = sorted({by_id[i].project_id for i in archived_ids if i in by_id})
    frequencies = {project: word_frequencies(m.content for m in projects[project]) for project in touched}
    with night.store.reading() as tx:
        replacements = tx.lineage.replacements_of(set(archived_ids) & by_id.keys())

    def drawn(memory_id: str) -> bytes:
        return hashlib.sha256(f"{night.as_of.isoformat()}\0{memory_id}".encode()).digest()

    questions: dict[str, str] = {}
    for memory_id in sorted(set(archived_ids) & by_id.keys(), key=drawn):
        if len(questions) == MOST_ASKED:
            break
        memory, stand_in = by_id[memory_id], by_id.get(replacements[memory_id])
        if _find_maker(stand_in) == DIGEST:
            continue
        series_text = stand_in.content if stand_in and _find_maker(stand_in) == "series" else None
        question = question_for(line_in(memory.content), frequencies[memory.project_id], series_text)
        if question is not None:
            questions[memory_id] = question
    found_ids: set[str] = set()
    missed: list[MissedReport] = []
    try:
        for project in touched:
            asked = {i: question for i, question in questions.items() if by_id[i].project_id == project}
            if not asked:
                continue
            here = _find_recalled(night, projects[project], asked, replacements)
            found_ids |= here
            missed += [
                MissedReport(memory_id=i, question=words, content=by_id[i].content, replaced_by=replacements[i])
                for i, words in asked.items()
                if i not in here
            ]
    except EmbeddingError as error:
        night.note_error("", "recall", error)
    return RecallCheck(len(found_ids), len(questions), tuple(missed))


def _find_maker(stand_in: Text | None) -> str | None:
    """The part of the night that made a replacement. A person asks for a reading by the words by which its series is
    known."""
    return stand_in.source.file if stand_in and stand_in.source.connector == MADE else None


def _find_recalled(
    night: Night, memories: Sequence[Text], asked: dict[str, str], replacements: Mapping[str, str]
) -> set[str]:
    """The memories that are found by their question, or of which a replacement is found and answers it."""
    ids, rows = night.vectors_of([memory.id for memory in memories])
    vectors = dict(zip(ids, rows, strict=True))
    embed, language = night.embedder.embed, night.settings.recall.language
    index = SearchIndex(memories, vectors, embed, language=language)
    texts = {memory.id: memory.content for memory in memories}
    asked_for = embed([embedding_text(question) for question in asked.values()])
    found_ids = set()
    for (memory_id, question), vector in zip(asked.items(), asked_for, strict=True):
        hits = {hit.memory.id for hit in index.search(question, TOP, query_vector=vector)}
        into = replacements[memory_id]
        if memory_id in hits or (into in hits and _answers(texts[into], vectors.get(into), question, vector)):
            found_ids.add(memory_id)
        else:
            night.log.debug("'%s' is not found by '%s'", memory_id, question)
    return found_ids


def _answers(content: str, vector: Vectors | None, question: str, asked: Vectors) -> bool:
    """True if a replacement is about what a question asks: it stands high in a search because of the words of what it
    replaced, and these alone would make every answer right."""
    words = set(content_words(question))
    shared = words & set(content_words(content))
    return len(shared) >= _SHARE_OF_WORDS * len(words) or (vector is not None and float(vector @ asked) >= _NEAR)


#: Links to memories that an abstraction says again in other words; the others are copies, or stay active.
_SAID_AGAIN = frozenset(("distilled", "merged", "canonical"))


def measure_preservation(store: Store, archives: Sequence[Archive]) -> tuple[Preservation, list[str]]:
    """Counts the facts of their sources that the abstractions of these archives keep, attach and have lost, with each
    loss in words."""
    made = sorted({archive.abstraction_id for archive in archives if archive.abstraction_id})
    with store.reading() as tx:
        sources: dict[str, list[str]] = {memory_id: [] for memory_id in made}
        again = {link.memory_id for link in tx.lineage.of(made) if link.relation in _SAID_AGAIN}
        sources.update(tx.lineage.told_by(again))
        memories = tx.memories.read({*made, *(i for ids in sources.values() for i in ids)})
    total = kept = attached = 0
    lost: list[str] = []
    for name in made:
        if name not in memories:
            continue
        source_texts = [memories[i].content for i in sorted(sources[name]) if i in memories]
        preservation = what_is_kept(source_texts, memories[name].content)
        total, kept, attached = total + preservation.found, kept + preservation.kept, attached + preservation.attached
        lost += [f"'{name}' lacks the {fact.kind} '{fact.text}'" for fact in preservation.lost]
    return Preservation(total, kept, attached, ()), lost
