"""What the UI shows of the steps of a night: words, columns, figures, a sentence of the log, and checks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    PythonObjectDagsterType,
    TableColumn,
    TableSchema,
    TimeWindowPartitionMapping,
)

from memory_pipeline.consolidation.context import Night
from memory_pipeline.orchestration import previews, sentences
from memory_pipeline.orchestration.checks import (
    ARCHIVE_CHECKS,
    ATOM_CHECKS,
    CANONICAL_CHECKS,
    DISTILLATION_CHECKS,
    MERGE_CHECKS,
    READING_CHECKS,
    SERIES_CHECKS,
    check_archives,
    check_atoms,
    check_distillations,
    check_level,
    check_readings,
    check_series,
)
from memory_pipeline.orchestration.location import KNOWLEDGE_GROUP, NIGHT_GROUP
from memory_pipeline.records import Archive, AtomDecision, Cluster, Contribution, Distillation, EligibleMemory
from memory_pipeline.store import EDGE_SCHEMA

#: The principles that a night finds: those of the week that ended before its day.
_WEEK_BEFORE = TimeWindowPartitionMapping(-1, -1, allow_nonexistent_upstream_partitions=True)
RECORDS = PythonObjectDagsterType(list, name="Records")
_Lineage = dict[str, list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Shown:
    """What the UI shows of a step: its description, the columns of its value, figures, a sentence of the log, and
    checks."""

    description: str
    kinds: set[str]
    columns: TableSchema
    figures: Callable[[Night, Any], dict[str, Any]]
    sentence: Callable[[Night, Any, Mapping[str, Any]], str]
    lineage: _Lineage = field(default_factory=dict)
    check_specs: Sequence[AssetCheckSpec] = ()
    check: Callable[[Night, Any], list[AssetCheckResult]] = lambda night, value: []
    value_type: Any = RECORDS
    group: str = NIGHT_GROUP
    beside: Sequence[AssetDep] = ()


#: What the UI shows of the steps between the first one and the report, by name.
SHOWN: dict[str, Shown] = {
    "series": Shown(
        description=(
            "Lines that machinery writes again and again with other values (five or more on two days or more) become "
            "one memory in words: the newest values with their day, how many readings, from when, and between which "
            "values. Each night with new readings makes the next version from all readings; a reading that breaks the "
            "series stays active and is named. Found by the shape of the lines, before any pair is compared."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(Archive),
        figures=lambda night, value: previews.series(night.store, value),
        sentence=lambda night, value, given: sentences.of_series(value),
        check_specs=SERIES_CHECKS,
        check=lambda night, value: check_series(night.store, value),
    ),
    "readings": Shown(
        description=(
            "A model reads the notes that no night has read, and says what of them is worth keeping: statements that "
            "stand alone, with links to their notes; what they replace; and what is routine. Code checks every quote, "
            "figure, name and negation before anything is written. Notes that are wholly said by statements, or are "
            "routine, are archived into these, or into the digest of their day. Without a model nothing is read."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(Archive, ["cluster.member_ids"]),
        figures=lambda night, value: previews.readings(night, value),
        sentence=lambda night, value, given: sentences.of_readings(value),
        check_specs=READING_CHECKS,
        check=lambda night, value: check_readings(night.store, value),
    ),
    "eligible_memories": Shown(
        description=(
            "The memories that tonight may touch: at least 24 hours old as of the partition, importance below the "
            "critical floor, not pinned, not archived, raw or merged, with a vector. Memories without a vector are "
            "embedded first."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(EligibleMemory),
        figures=lambda night, value: previews.eligible(value),
        sentence=lambda night, value, given: sentences.of_eligible(value, night.plan),
    ),
    "similarity_batches": Shown(
        description=(
            "Every pair of eligible memories of one project whose cosine reaches the lowest threshold, computed "
            "exactly, with the result of the conflict guard. Only pairs with a memory that no earlier night has "
            "compared are computed."
        ),
        kinds={"numpy"},
        columns=TableSchema([TableColumn(column.name, str(column.type)) for column in EDGE_SCHEMA]),
        figures=lambda night, value: previews.pairs(night, value),
        sentence=lambda night, value, given: sentences.of_pairs(value, given["eligible_memories"], night.plan),
        lineage={"a": [("eligible_memories", "id")], "b": [("eligible_memories", "id")]},
        value_type=PythonObjectDagsterType(pa.Table, name="Pairs"),
    ),
    "merges": Shown(
        description=(
            "Merges near-copies (by default cosine 0.95 or more, within one project and memory type) into one memory "
            "that keeps every distinct piece of their content. Its vector is the normalised mean of theirs. A merged "
            "memory may be merged or distilled again, also tonight. One transaction writes each merge and archives its "
            "sources."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(Archive, ["cluster.member_ids"]),
        figures=lambda night, value: previews.archives(night, value),
        sentence=lambda night, value, given: sentences.of_archives(value),
        lineage={"cluster.member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")]},
        check_specs=MERGE_CHECKS,
        check=lambda night, value: check_level(night.reader, "merges", value),
    ),
    "canonical_entries": Shown(
        description=(
            "Merges knowledge-base entries (texts with a title and a recommendation) that say the same into one "
            "canonical entry: the most descriptive title, every recommendation once, examples by story, and all tags, "
            "with `role:all` instead of other roles. Before the entry is written, its text is parsed again and "
            "compared with its members."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(Archive, ["cluster.member_ids"]),
        figures=lambda night, value: previews.archives(night, value),
        sentence=lambda night, value, given: sentences.of_archives(value),
        lineage={"cluster.member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")]},
        check_specs=CANONICAL_CHECKS,
        check=lambda night, value: check_level(night.reader, "canonical_entries", value),
    ),
    "clusters": Shown(
        description=(
            "Groups the remaining memories by subject: every pair of a cluster reaches the threshold "
            "(complete linkage), and no pair is a conflict. Conflicts are linked in the store. A cluster "
            "that was decided within the last seven days is left alone. A statement that notes of three days say is a "
            "cluster of its own: it becomes a pattern in its own words."
        ),
        kinds={"python"},
        columns=sentences.schema_of(Cluster),
        figures=lambda night, value: previews.clusters(night, value),
        sentence=lambda night, value, given: sentences.of_clusters(value),
        lineage={
            "member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")],
            "min_similarity": [("similarity_batches", "score")],
            "avg_similarity": [("similarity_batches", "score")],
            "total_tokens": [("eligible_memories", "token_count")],
            "max_importance": [("eligible_memories", "importance")],
        },
    ),
    "distillations": Shown(
        description=(
            "Drafts one memory for each cluster and judges it: which facts of the sources it keeps, which it "
            "attaches, and how much shorter it is. A draft that loses or invents a fact or contradicts a source is "
            "refused, and its sources stay unchanged. Nothing is written to the store yet."
        ),
        kinds={"python"},
        columns=sentences.schema_of(
            Distillation,
            ["cluster.cluster_id", "cluster.member_ids", "measured.tokens_before"],
            without=("stays", "replaces"),
        ),
        figures=lambda night, value: previews.distillations(night, value),
        sentence=lambda night, value, given: sentences.of_distillations(value),
        lineage={
            "cluster.cluster_id": [("clusters", "cluster_id")],
            "cluster.member_ids": [("clusters", "member_ids")],
            "measured.tokens_before": [("clusters", "total_tokens")],
        },
        check_specs=DISTILLATION_CHECKS,
        check=lambda night, value: check_distillations(night.reader, value),
    ),
    "archives": Shown(
        description=(
            "Writes the accepted drafts to the store. One transaction writes each abstraction and archives its "
            "sources, so that a cluster is compressed as a whole or not at all. Sources are never deleted, and their "
            "words never change. A draft that does not pass the gates is refused, with the reason."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(Archive, ["cluster.cluster_id"]),
        figures=lambda night, value: previews.archives(night, value),
        sentence=lambda night, value, given: sentences.of_archives(value),
        lineage={
            "cluster.cluster_id": [("distillations", "cluster.cluster_id")],
            "archived_ids": [("distillations", "cluster.member_ids")],
        },
        check_specs=ARCHIVE_CHECKS,
        check=lambda night, value: check_archives(night.store),
    ),
    "atoms": Shown(
        description=(
            "Extracts causes and effects from the night's abstractions: subject, action, outcome. A known finding "
            "raises the confidence of its atom, a new one becomes an atom, and one that the sources do not support "
            "is skipped. Separate from the archive, so that an error here cannot stop a night."
        ),
        kinds={"duckdb", "python"},
        columns=sentences.schema_of(AtomDecision),
        figures=lambda night, value: previews.atoms(night, value),
        sentence=lambda night, value, given: sentences.of_atoms(value),
        lineage={"memory_id": [("archives", "abstraction_id")], "causal": [("distillations", "causal")]},
        check_specs=ATOM_CHECKS,
        group=KNOWLEDGE_GROUP,
        check=lambda night, value: check_atoms(night.store, night.errors, value),
    ),
    "playbook": Shown(
        description=(
            "Adds guidance from patterns and principles: the same guidance (cosine 0.95) updates its entry, other "
            "guidance creates one. An entry is derived from the memories behind it, and is removed when none is "
            "left. Exported as one Markdown file per project and category."
        ),
        kinds={"duckdb", "markdown"},
        columns=sentences.schema_of(Contribution),
        figures=lambda night, value: previews.playbook(night, night.settings, value),
        sentence=lambda night, value, given: sentences.of_playbook(value),
        group=KNOWLEDGE_GROUP,
        beside=[AssetDep("principles", partition_mapping=_WEEK_BEFORE)],
    ),
}
