"""The night as eleven daily-partitioned assets, in the order of the data. Each calls one step of `night/`."""

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any

import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetsDefinition,
    MaterializeResult,
    Output,
    PythonObjectDagsterType,
    TableColumn,
    TableSchema,
    asset,
)

from memory_pipeline.night.archive import archive_distillations
from memory_pipeline.night.atoms import grow_atoms
from memory_pipeline.night.clustering import cluster_memories, conflicts_in
from memory_pipeline.night.context import Night
from memory_pipeline.night.distillation import distill_clusters
from memory_pipeline.night.duplicates import archive_duplicates
from memory_pipeline.night.eligibility import select_eligible
from memory_pipeline.night.levels import consolidate, what_is_left
from memory_pipeline.night.playbook import update_playbook
from memory_pipeline.night.run import report_failure, take_snapshot
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.orchestration import describe
from memory_pipeline.orchestration.asset_defaults import DUPLICATES_JOB, GROUP, IO, NIGHTLY, OWNERS
from memory_pipeline.orchestration.checks import (
    ARCHIVE_CHECKS,
    ATOM_CHECKS,
    CANONICAL_CHECKS,
    DISTILLATION_CHECKS,
    MERGE_CHECKS,
    REPORT_CHECKS,
    check_archives,
    check_atoms,
    check_distillations,
    check_level,
    check_report,
)
from memory_pipeline.orchestration.held import why_held
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.records import (
    Archive,
    AtomDecision,
    Cluster,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
)
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.reporting.report import Kind, NightOutcome, Report, report_night, report_run, safe_name
from memory_pipeline.store import EDGE_SCHEMA

RECORDS = PythonObjectDagsterType(list, name="Records")


def _night_asset(**extra: Any) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of the night: what all eleven share, and `extra`. One that breaks is reported at once, by its rows."""
    decorate: Callable[[Callable[..., Any]], AssetsDefinition] = asset(
        partitions_def=DAILY,
        group_name=GROUP,
        owners=OWNERS,
        io_manager_key=IO,
        freshness_policy=NIGHTLY,
        **extra,
    )
    return lambda step: decorate(_reported(step))


def _reported(step: Callable[..., Any]) -> Callable[..., Any]:
    if isgeneratorfunction(step):  # it reports for itself
        return step

    @wraps(step)
    def run(context: AssetExecutionContext, night: NightResource, **given: Any) -> Any:
        try:
            return step(context, night, **given)
        except Exception as error:
            report_failure(_open(context, night), error, night.started_at(context.run.run_id))
            raise

    return run


def _open(context: AssetExecutionContext, night: NightResource) -> Night:
    return night.open(context.run.run_id, context.partition_key, context.log)


@_night_asset(
    deps=["memory_workspace", "memory_store"],
    kinds={"duckdb", "python"},
    output_required=False,
    dagster_type=RECORDS,
    metadata={"dagster/column_schema": describe.schema_of(DuplicateGroup)},
    description=(
        "Memories of one project whose words are the same once case, white space, Markdown marks and leading "
        "clock stamps are folded. The oldest stays; the copies are archived into it. A snapshot of the store "
        "is taken first. The 03:00 schedule runs this asset alone. Where another run holds the store, this and "
        "all that follows is skipped, with a warning that names the holder."
    ),
)
def exact_duplicates(context: AssetExecutionContext, night: NightResource) -> Iterator[Output[list[DuplicateGroup]]]:
    tonight = _open(context, night)
    if why_held(context, tonight):
        return
    started = night.started_at(context.run.run_id)
    try:
        snapshot = take_snapshot(tonight)
        groups = archive_duplicates(tonight)
        if context.job_name == DUPLICATES_JOB:
            report_run(tonight, "duplicates", started, NightOutcome(duplicates=groups))
    except Exception as error:
        kind: Kind = "duplicates" if context.job_name == DUPLICATES_JOB else "night"
        report_failure(tonight, error, started, kind=kind)
        raise
    yield Output(groups, metadata={**describe.duplicates_metadata(groups), "snapshot": snapshot})


@_night_asset(
    kinds={"duckdb", "python"},
    metadata={"dagster/column_schema": describe.schema_of(EligibleMemory)},
    description=(
        "The memories that tonight may touch: at least 24 hours old as of the partition, importance under the "
        "critical floor, not pinned, not archived, raw or merged, with a vector. What has no vector yet is "
        "embedded first."
    ),
)
def eligible_memories(
    context: AssetExecutionContext, night: NightResource, exact_duplicates: list[DuplicateGroup]
) -> list[EligibleMemory]:
    tonight = _open(context, night)
    eligible = select_eligible(tonight, exact_duplicates)
    context.add_output_metadata(describe.eligible_metadata(eligible))
    return eligible


@_night_asset(
    kinds={"numpy"},
    metadata={
        "dagster/column_schema": TableSchema([TableColumn(field.name, str(field.type)) for field in EDGE_SCHEMA]),
        "dagster/column_lineage": describe.lineage_of_columns(
            {"a": [("eligible_memories", "id")], "b": [("eligible_memories", "id")]}
        ),
    },
    description=(
        "Every pair of eligible memories of one project whose cosine reaches the threshold, exact to the last "
        "bit, with the conflict guard's finding. Only pairs with a memory that no earlier night compared are "
        "computed."
    ),
)
def similarity_batches(
    context: AssetExecutionContext, night: NightResource, eligible_memories: list[EligibleMemory]
) -> pa.Table:
    tonight = _open(context, night)
    edges = find_similar(tonight, eligible_memories)
    context.add_output_metadata({"pairs": edges.num_rows, "guarded": len(conflicts_in(edges))})
    return edges


def _level_asset(**extra: Any) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of what one method made of the pairs."""
    return _night_asset(
        kinds={"duckdb", "python"},
        dagster_type=RECORDS,
        metadata={
            "dagster/column_schema": describe.schema_of(Archive),
            "dagster/column_lineage": describe.lineage_of_columns(
                {"member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")]}
            ),
        },
        **extra,
    )


@_level_asset(
    check_specs=MERGE_CHECKS,
    description=(
        "Near-copies (cosine 0.95, same project and memory type) as one memory that keeps every distinct piece of "
        "their content. Its vector is the mean of theirs, normalised again. A merged memory may be merged or "
        "distilled again, tonight too. Each merge is one transaction with the archive of its sources."
    ),
)
def merges(
    context: AssetExecutionContext,
    night: NightResource,
    eligible_memories: list[EligibleMemory],
    similarity_batches: pa.Table,
) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    done = consolidate(tonight, "merge", eligible_memories, similarity_batches)
    return MaterializeResult(
        value=done, metadata=describe.archives_metadata(done), check_results=check_level(tonight, "merges", done)
    )


@_level_asset(
    check_specs=CANONICAL_CHECKS,
    description=(
        "Entries of the knowledge base (texts with a title and a recommendation) that say the same, as one "
        "canonical entry: the most descriptive title, every recommendation once, examples by story, all tags. It "
        "is read back and compared with its members before it is written."
    ),
)
def canonical_entries(
    context: AssetExecutionContext,
    night: NightResource,
    eligible_memories: list[EligibleMemory],
    similarity_batches: pa.Table,
    merges: list[Archive],
) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    done = consolidate(tonight, "canonical", eligible_memories, similarity_batches, merges)
    results = check_level(tonight, "canonical_entries", done)
    return MaterializeResult(value=done, metadata=describe.archives_metadata(done), check_results=results)


@_night_asset(
    kinds={"python"},
    metadata={
        "dagster/column_schema": describe.schema_of(Cluster),
        "dagster/column_lineage": describe.lineage_of_columns(
            {
                "member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")],
                "min_similarity": [("similarity_batches", "score")],
                "avg_similarity": [("similarity_batches", "score")],
                "total_tokens": [("eligible_memories", "token_count")],
                "max_importance": [("eligible_memories", "importance")],
            }
        ),
    },
    description=(
        "Of what merging left, memories on one subject: every pair of a cluster reaches the threshold "
        "(complete linkage), and no pair is a conflict. Conflicts are linked in the store. A cluster "
        "that was decided within the last seven days is left alone."
    ),
)
def clusters(
    context: AssetExecutionContext,
    night: NightResource,
    eligible_memories: list[EligibleMemory],
    similarity_batches: pa.Table,
    merges: list[Archive],
    canonical_entries: list[Archive],
) -> list[Cluster]:
    tonight = _open(context, night)
    left, pairs = what_is_left(tonight, eligible_memories, similarity_batches, [*merges, *canonical_entries])
    found = cluster_memories(tonight, left, pairs)
    context.add_output_metadata(describe.clusters_metadata(found))
    return found


@_night_asset(
    kinds={"python"},
    check_specs=DISTILLATION_CHECKS,
    dagster_type=RECORDS,
    metadata={
        "dagster/column_schema": describe.schema_of(Distillation),
        "dagster/column_lineage": describe.lineage_of_columns(
            {
                "cluster_id": [("clusters", "cluster_id")],
                "member_ids": [("clusters", "member_ids")],
                "tokens_before": [("clusters", "total_tokens")],
            }
        ),
    },
    description=(
        "One proposed memory for each cluster, judged: what it keeps of its sources' facts, what it attaches, "
        "how much shorter it is. A draft that loses a fact, invents one or contradicts a source is refused and "
        "its sources stay untouched. Nothing is written to the store yet."
    ),
)
def distillations(context: AssetExecutionContext, night: NightResource, clusters: list[Cluster]) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    drafts = distill_clusters(tonight, clusters)
    results = check_distillations(tonight, drafts)
    return MaterializeResult(value=drafts, metadata=describe.distillations_metadata(drafts), check_results=results)


@_night_asset(
    kinds={"duckdb", "python"},
    check_specs=ARCHIVE_CHECKS,
    dagster_type=RECORDS,
    metadata={
        "dagster/column_schema": describe.schema_of(Archive),
        "dagster/column_lineage": describe.lineage_of_columns(
            {
                "cluster_id": [("distillations", "cluster_id")],
                "archived_ids": [("distillations", "member_ids")],
            }
        ),
    },
    description=(
        "What became of each proposal in the store. The abstraction is written and its sources are archived in "
        "one transaction, so that a cluster is either wholly compressed or untouched. Sources are never "
        "deleted; their words never change. A proposal that does not pass the gates is refused, with the reason."
    ),
)
def archives(
    context: AssetExecutionContext, night: NightResource, distillations: list[Distillation]
) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    results = archive_distillations(tonight, distillations)
    soundness = check_archives(tonight)
    return MaterializeResult(value=results, metadata=describe.archives_metadata(results), check_results=soundness)


@_night_asset(
    kinds={"duckdb", "python"},
    check_specs=ATOM_CHECKS,
    dagster_type=RECORDS,
    metadata={
        "dagster/column_schema": describe.schema_of(AtomDecision),
        "dagster/column_lineage": describe.lineage_of_columns(
            {"memory_id": [("archives", "abstraction_id")], "causal": [("distillations", "causal")]}
        ),
    },
    description=(
        "What the night's abstractions say about causes: subject, action, outcome. A finding that is known makes "
        "its atom surer; a new one becomes an atom; one that the sources do not bear out is skipped. Written "
        "apart from the archive, so that nothing here can stop a night."
    ),
)
def atoms(
    context: AssetExecutionContext,
    night: NightResource,
    distillations: list[Distillation],
    archives: list[Archive],
) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    decisions = grow_atoms(tonight)
    return MaterializeResult(
        value=decisions, metadata=describe.atoms_metadata(decisions), check_results=check_atoms(tonight, decisions)
    )


@_night_asset(
    kinds={"duckdb", "markdown"},
    dagster_type=RECORDS,
    deps=["archives"],
    metadata={"dagster/column_schema": describe.schema_of(Contribution)},
    description=(
        "Guidance from patterns and principles: the same guidance (cosine 0.95) updates its entry, anything else "
        "makes one. An entry follows from the memories that stand behind it, and goes when none does. Exported as "
        "one Markdown file a project and category."
    ),
)
def playbook(context: AssetExecutionContext, night: NightResource) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    done = update_playbook(tonight)
    return MaterializeResult(value=done, metadata=describe.playbook_metadata(tonight, done))


@_night_asset(
    kinds={"json", "markdown"},
    check_specs=REPORT_CHECKS,
    dagster_type=PythonObjectDagsterType(Report),
    description=(
        "What the night did, computed from the rows it wrote: verdict, tokens before and after, facts kept, "
        "whether what was archived can still be found, the largest clusters in words. Also written as JSON, "
        "Markdown and HTML, kept in the store, and announced."
    ),
)
def reports(
    context: AssetExecutionContext,
    night: NightResource,
    exact_duplicates: list[DuplicateGroup],
    eligible_memories: list[EligibleMemory],
    merges: list[Archive],
    canonical_entries: list[Archive],
    clusters: list[Cluster],
    distillations: list[Distillation],
    archives: list[Archive],
    atoms: list[AtomDecision],
    playbook: list[Contribution],
) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    tonight = _open(context, night)
    outcome = NightOutcome(
        exact_duplicates,
        eligible_memories,
        clusters,
        distillations,
        [*merges, *canonical_entries, *archives],
        atoms,
        playbook,
    )
    report = report_night(tonight, outcome, night.started_at(context.run.run_id))
    path = tonight.settings.reports_path / f"compression-{safe_name(context.run.run_id)}.html"
    return MaterializeResult(
        value=report,
        metadata={
            **describe.report_metadata(report, as_markdown(report, examples=8), str(path)),
            "diff": describe.difference_of(tonight, report),
        },
        check_results=check_report(report),
    )


NIGHT_ASSETS = [
    exact_duplicates,
    eligible_memories,
    similarity_batches,
    merges,
    canonical_entries,
    clusters,
    distillations,
    archives,
    atoms,
    playbook,
    reports,
]
