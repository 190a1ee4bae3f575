"""Reads the knowledge graph of the MCP reference memory server: entities with observations, and relations, as lines.

The server writes neither ids nor dates, and the whole file anew with each change: an observation is known by its words
and its entity, and as old as its first reading.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_pipeline.ingest import values
from memory_pipeline.ingest.candidates import Candidate, Reading, Rejected, RowError, Skipped
from memory_pipeline.ingest.importer import Importer, OneFile
from memory_pipeline.ingest.text_files import first_objects, json_records, opened
from memory_pipeline.ingest.values import MAX_LINE_BYTES, MAX_PATH
from memory_pipeline.records import Source

_ENTITY = {"type", "name", "entityType", "observations"}
_RELATION = {"type", "from", "to", "relationType"}
_FIRST_LINES, _LONGEST = 20, 1 << 20


class McpMemoryImporter(Importer):
    """The file of the MCP memory server."""

    name = "mcp-memory"
    about = "The file of the MCP reference memory server (`memory.jsonl`): one memory an observation or relation."

    def read_file(self, file: OneFile) -> Reading:
        """Every observation and every relation, each said about its entity."""
        with opened(file.path) as text:
            for record in json_records(text, file.name, MAX_LINE_BYTES, file.skipped, grows=False):
                if isinstance(record, Rejected):
                    yield record
                    continue
                line, row = record
                try:
                    if row.get("type") == "entity":
                        yield from _observations(row, file.name, line, file.skipped)
                    elif row.get("type") == "relation":
                        yield _relation(row, file.name, line)
                    else:
                        stated = values.shown(row.get("type"))
                        raise RowError(f"type is {stated}; the server writes entity and relation")
                except RowError as error:
                    yield Rejected.of(file.name, line, str(error), json.dumps(row, ensure_ascii=False))

    def sign_of(self, path: Path) -> str | None:
        """Entities or relations as the server writes them."""
        rows = first_objects(path, _FIRST_LINES, _LONGEST)
        is_graph = any(row.keys() >= _ENTITY or row.keys() >= _RELATION for row in rows)
        return "entities and relations of a knowledge graph, one a line" if is_graph else None


def _observations(row: Mapping[str, Any], name: str, line: int, skipped: Skipped) -> Reading:
    entity = values.text_value(row, "name", MAX_PATH)
    kind = values.text_value(row, "entityType")
    observations = row.get("observations")
    if not entity or not isinstance(observations, list):
        raise RowError("the entity has no name or no list of observations")
    if not observations:
        skipped.add("entities without observations")
    for observation in observations:
        if not isinstance(observation, str):
            yield Rejected.of(name, line, f"an observation is {values.shown(observation)}, which is not text", "")
            continue
        if not observation.strip():
            skipped.add("observations without words")
            continue
        about = observation if entity.casefold() in observation.casefold() else f"{entity}: {observation}"
        yield _memory(about, ("observation", entity, observation), kind, name, line)


def _relation(row: Mapping[str, Any], name: str, line: int) -> Candidate:
    parts = [values.text_value(row, part, MAX_PATH) for part in ("from", "relationType", "to")]
    if not all(parts):
        raise RowError("the relation lacks from, relationType or to")
    first, how, second = (str(part) for part in parts)
    words = f"{first} {how.replace('_', ' ')} {second}"
    return _memory(words, ("relation", first, how, second), "relation", name, line)


def _memory(words: str, key: tuple[str, ...], kind: str | None, name: str, line: int) -> Candidate:
    digest = hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return Candidate(
        content=words,
        source=Source(McpMemoryImporter.name, name, line),
        native_id=f"{McpMemoryImporter.name}:{digest}",
        typed_under=(kind,) if kind else (),
        categories=(kind,) if kind else (),
        created_at_quality="import",
    )
