"""The tables of the store: their keys, what the audit log records of them, and how they are exported and recovered.
Their columns are in `schema/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory_pipeline.records import (
    Atom,
    ConflictCase,
    Contribution,
    ConversationDay,
    ExtractionFeedback,
    KeptExtraction,
    LineageLink,
    LogRow,
    Memory,
    ModelAnswer,
    ModelBatch,
    ModelCall,
    PatternDecision,
    PlaybookEntry,
    Rollup,
    SessionUsage,
    TriggerEvent,
)

Write = Literal["insert", "update", "delete"]
_NEW: tuple[Write, ...] = ("insert",)
_NEW_AND_CHANGED: tuple[Write, ...] = ("insert", "update")
_ANY: tuple[Write, ...] = ("insert", "update", "delete")
_WORDS = "made again from the words"


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    `key`: the columns that identify a row; in the log they are joined with `between`. `logged`: the writes for which
    the audit log has an entry, with a hash of the row and its `state`: some of its columns, or the whole row.
    `columns`: the record whose fields its columns are; a table may have more. `record`: the name of its rows in an
    export. `left_behind`: why an export of everything omits it. `made_again`: a
    night rebuilds its rows, so that nothing is lost with them.
    """

    name: str
    key: tuple[str, ...]
    between: str = ""
    logged: tuple[Write, ...] = ()
    state: tuple[str, ...] = ()
    record: str = ""
    left_behind: str = ""
    made_again: bool = False
    columns: type | None = None


MEMORIES, LINEAGE, EMBEDDINGS, AUDIT_LOG = "memories", "lineage", "embeddings", "audit_log"
MIGRATIONS = "schema_migrations"

#: Every table. Writes to memories and embeddings are logged in their own ways (audit.py).
TABLES = (
    Table(MEMORIES, ("id",), left_behind="written as rows of their own form", columns=Memory),
    Table(EMBEDDINGS, ("memory_id", "model"), left_behind=_WORDS, made_again=True),
    Table(LINEAGE, ("memory_id", "source_id"), " <- ", ("insert", "delete"),
          left_behind="stands in the rows of the memories, as `sources`", columns=LineageLink),
    Table("conflicts", ("a", "b"), " ~ ", _NEW_AND_CHANGED, record="conflict", columns=ConflictCase),
    Table("compression_log", ("id",), logged=_NEW_AND_CHANGED, record="decision", columns=LogRow),
    Table("atoms", ("id",), logged=_NEW_AND_CHANGED, record="atom", columns=Atom),
    Table("atom_candidates", ("memory_id",), logged=_NEW_AND_CHANGED, state=("status", "atom_id"), record="finding"),
    Table("atom_embeddings", ("atom_id", "field", "model"), left_behind=_WORDS, made_again=True),
    Table("playbook_entries", ("id",), logged=_NEW_AND_CHANGED, record="playbook_entry", columns=PlaybookEntry),
    Table("playbook_contributions", ("memory_id",), logged=_NEW_AND_CHANGED, state=("status", "entry_id"),
          record="contribution", columns=Contribution),
    Table("playbook_embeddings", ("entry_id", "model"), left_behind=_WORDS, made_again=True),
    Table("proposals", ("id",), logged=_NEW_AND_CHANGED, state=("status", "reason"), record="proposal"),
    Table("rollbacks", ("id",), logged=_NEW, record="rollback"),
    Table("model_answers", ("prompt_hash",), logged=_NEW_AND_CHANGED, state=("model", "stop_reason"),
          record="model_answer", columns=ModelAnswer),
    Table("model_calls", ("id",), logged=_NEW, record="model_call", columns=ModelCall),
    Table("model_batches", ("id",), logged=_NEW_AND_CHANGED, state=("status", "batch_id"),
          record="model_batch", columns=ModelBatch),
    Table("night_reports", ("run_id",), logged=_NEW_AND_CHANGED, state=("partition_date", "verdict"), record="report"),
    Table("night_errors", ("run_id", "cluster_id"), record="night_error"),
    Table("notices", ("id",), record="notice"),
    Table("quarantine", ("file", "line"), ":", _NEW, state=("reason",), record="quarantine"),
    Table("comparison_cells", ("memory_id", "model", "kind"), record="comparison_cells", made_again=True),
    Table("line_shapes", ("memory_id",), left_behind=_WORDS, made_again=True),
    Table("similarity_edges", ("a", "b", "model"), left_behind="found again by the next night", made_again=True),
    Table("compared", ("memory_id", "model"), left_behind="found again by the next night", made_again=True),
    Table("source_files", ("source", "file"), left_behind="read again by the next night", made_again=True),
    Table("source_pending", ("source", "memory_id"), left_behind="read again by the next night", made_again=True),
    Table("source_readings", ("run_id", "source"), record="source_reading"),
    Table("source_entries", ("source", "memory_id"), ":", ("update",), record="source_entry"),
    Table("conversation_days", ("project_id", "night", "run_id"), ":", _ANY, record="conversation_day",
          state=("digest", "is_written", "gone_at", "gone_by", "basis", "is_taken_back"), columns=ConversationDay),
    Table("extraction_feedback", ("id",), logged=_NEW, record="extraction_feedback", columns=ExtractionFeedback),
    Table("relationship_patterns", ("id",), logged=_NEW_AND_CHANGED, record="relationship_pattern",
          columns=PatternDecision),
    Table("extractions", ("id", "run_id"), ":", _ANY, record="extraction",
          state=("kind", "destination", "memory_id", "gone_at", "gone_by"), columns=KeptExtraction),
    Table("session_usage", ("project_id", "session_id"), ":", _NEW_AND_CHANGED,
          left_behind="says how full the contexts of live sessions are", columns=SessionUsage),
    Table("trigger_events", ("id",), logged=_NEW_AND_CHANGED, state=("kind", "action", "outcome"),
          record="trigger_event", columns=TriggerEvent),
    Table("rollups", ("id",), logged=("insert", "update", "delete"), state=("level", "period"), record="rollup",
          made_again=True, columns=Rollup),
    Table("forgotten", ("memory_id",), logged=_NEW, record="forgotten"),
    Table("forgotten_key", ("key",), record="forgotten_key"),
    Table("stale_pages", ("project_id", "level", "period"), left_behind="made again before", made_again=True),
    Table("lease", ("name",), left_behind="says who works on this file now"),
    Table(MIGRATIONS, ("number",), left_behind="the program's own"),
    Table(AUDIT_LOG, ("sequence",), record="audit"),
)  # fmt: skip
