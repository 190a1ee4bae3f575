"""The data types of the pipeline: what steps pass to each other, and what the store keeps.

All times are aware UTC datetimes. Every record is frozen, so that a step cannot change a decision of an earlier step.
"""

from memory_pipeline.records.atom import (
    Atom,
    AtomDecision,
    AtomStatus,
    Causal,
)
from memory_pipeline.records.cluster import (
    BATCH_EXPIRED,
    BATCH_UNDER_WAY,
    COST_CAP,
    DEFERRED_REASONS,
    NO_ANSWER,
    TIME_LIMIT,
    Archive,
    ArchiveStatus,
    Cluster,
    Decided,
    Disagreement,
    Distillation,
    LevelRelation,
    LogRow,
    Measured,
    Outcome,
)
from memory_pipeline.records.conflict import (
    Conflict,
    ConflictCase,
)
from memory_pipeline.records.conversation import (
    EXTRACTION_KINDS,
    Chunk,
    ConversationDay,
    Destination,
    Extraction,
    ExtractionFeedback,
    ExtractionKind,
    KeptExtraction,
    PatternDecision,
    Speaker,
    Turn,
)
from memory_pipeline.records.identifiers import (
    ID_NAMESPACE,
    derived_id,
    fingerprint_of,
)
from memory_pipeline.records.memory import (
    BESIDE,
    CONSOLIDATION_METHODS,
    EXTRACTED,
    LEVEL_MERGED,
    LEVEL_PATTERN,
    LEVEL_PRINCIPLE,
    LEVEL_RAW,
    MADE,
    MEMORY_TYPES,
    MOST_OFFSET,
    PATTERN_TYPES,
    RELATIONS,
    TIME_QUALITIES,
    DuplicateGroup,
    EligibleMemory,
    LineageLink,
    Memory,
    MemoryBase,
    Source,
    offset_of_newest,
)
from memory_pipeline.records.model import (
    CallMode,
    CallOutcome,
    ModelAnswer,
    ModelBatch,
    ModelCall,
)
from memory_pipeline.records.night import (
    NightError,
    Stage,
    Verdict,
)
from memory_pipeline.records.notice import (
    Notice,
    Priority,
)
from memory_pipeline.records.playbook import (
    Contribution,
    PlaybookEntry,
)
from memory_pipeline.records.principle import (
    PrincipleResult,
    PrincipleStatus,
)
from memory_pipeline.records.proposal import (
    Proposal,
)
from memory_pipeline.records.rollup import ROLLUP_LEVELS, Rollup
from memory_pipeline.records.series import SERIES, SeriesFacts
from memory_pipeline.records.session import SessionUsage
from memory_pipeline.records.source import SourceEntry, SourceFile, SourceReading, SourceStatus
from memory_pipeline.records.trigger import TriggerEvent

__all__ = [
    "BATCH_EXPIRED",
    "BATCH_UNDER_WAY",
    "BESIDE",
    "CONSOLIDATION_METHODS",
    "COST_CAP",
    "DEFERRED_REASONS",
    "EXTRACTED",
    "EXTRACTION_KINDS",
    "ID_NAMESPACE",
    "LEVEL_MERGED",
    "LEVEL_PATTERN",
    "LEVEL_PRINCIPLE",
    "LEVEL_RAW",
    "MADE",
    "MEMORY_TYPES",
    "MOST_OFFSET",
    "NO_ANSWER",
    "PATTERN_TYPES",
    "RELATIONS",
    "ROLLUP_LEVELS",
    "SERIES",
    "TIME_LIMIT",
    "TIME_QUALITIES",
    "Archive",
    "ArchiveStatus",
    "Atom",
    "AtomDecision",
    "AtomStatus",
    "CallMode",
    "CallOutcome",
    "Causal",
    "Chunk",
    "Cluster",
    "Conflict",
    "ConflictCase",
    "Contribution",
    "ConversationDay",
    "Decided",
    "Destination",
    "Disagreement",
    "Distillation",
    "DuplicateGroup",
    "EligibleMemory",
    "Extraction",
    "ExtractionFeedback",
    "ExtractionKind",
    "KeptExtraction",
    "LevelRelation",
    "LineageLink",
    "LogRow",
    "Measured",
    "Memory",
    "MemoryBase",
    "ModelAnswer",
    "ModelBatch",
    "ModelCall",
    "NightError",
    "Notice",
    "Outcome",
    "PatternDecision",
    "PlaybookEntry",
    "PrincipleResult",
    "PrincipleStatus",
    "Priority",
    "Proposal",
    "Rollup",
    "SeriesFacts",
    "SessionUsage",
    "Source",
    "SourceEntry",
    "SourceFile",
    "SourceReading",
    "SourceStatus",
    "Speaker",
    "Stage",
    "TriggerEvent",
    "Turn",
    "Verdict",
    "derived_id",
    "fingerprint_of",
    "offset_of_newest",
]
