"""After the archive: can what was archived still be found, itself or through what replaced it?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.night.context import Night
from memory_pipeline.recall import SearchIndex
from memory_pipeline.store import all_memories, replacement_of

TOP = 10


def check_recall(night: Night, archived_ids: Sequence[str]) -> tuple[int, int]:
    """Search for a sample of newly archived memories by their own words; return (found, sampled).

    Found: the memory, or the memory that replaced it, is among the first ten. The sample is the same
    whenever the night is run.
    """
    sample = sorted(archived_ids, key=lambda i: hashlib.sha256(i.encode()).digest())[: night.settings.recall_sample]
    if not sample or night.options.dry_run:
        return 0, 0
    found = 0
    with night.store.reading() as tx:
        everything = all_memories(tx, created_by=night.as_of)
        replacements = {memory_id: replacement_of(tx, memory_id) for memory_id in sample}
    by_id = {memory.id: memory for memory in everything}
    try:
        for project in sorted({by_id[memory_id].project_id for memory_id in sample}):
            memories = [memory for memory in everything if memory.project_id == project]
            ids, vectors = night.vectors_of([memory.id for memory in memories])
            known = dict(zip(ids, vectors, strict=True))
            index = SearchIndex(memories, known, night.embedder.embed, night.settings.archived_weight)
            for memory_id in (i for i in sample if by_id[i].project_id == project):
                query = by_id[memory_id].content
                if len(query.strip()) < 3:
                    found += 1
                    continue
                hits = {hit.memory.id for hit in index.search(query, TOP, query_vector=known.get(memory_id))}
                found += bool(hits & {memory_id, replacements[memory_id]})
    except EmbeddingError as error:
        night.note_error("", "recall", error)
    return found, len(sample)
