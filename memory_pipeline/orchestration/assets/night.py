"""The night as fourteen daily-partitioned assets, in the order of the data.

`night/order.py` defines what each step does; this file defines what the UI shows of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import isgeneratorfunction
from typing import Any

import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    MaterializeResult,
    Output,
    PythonObjectDagsterType,
    ResourceParam,
    TableColumn,
    TableSchema,
    TimeWindowPartitionMapping,
    asset,
)

from memory_pipeline.exports import ExportResult, run_exports
from memory_pipeline.night.context import Night
from memory_pipeline.night.order import ORDER, STEPS, Step, last_of
from memory_pipeline.night.run import report_failure, take_snapshot
from memory_pipeline.orchestration import describe, previews, sentences
from memory_pipeline.orchestration.asset_defaults import (
    DUPLICATES_JOB,
    IO,
    KNOWLEDGE_GROUP,
    NIGHT_GROUP,
    NIGHTLY,
    OWNERS,
    REPORTING_GROUP,
)
from memory_pipeline.orchestration.assets.imported_notes import imported_notes
from memory_pipeline.orchestration.checks import (
    ARCHIVE_CHECKS,
    ATOM_CHECKS,
    CANONICAL_CHECKS,
    DISTILLATION_CHECKS,
    EXPORT_CHECKS,
    MERGE_CHECKS,
    REPORT_CHECKS,
    SERIES_CHECKS,
    check_archives,
    check_atoms,
    check_distillations,
    check_exports,
    check_level,
    check_report,
    check_series,
)
from memory_pipeline.orchestration.held import why_held
from memory_pipeline.orchestration.io import ParquetByPartition
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
from memory_pipeline.reporting.report import (
    Kind,
    NightOutcome,
    Report,
    closing_line,
    report_night,
    report_run,
    safe_name,
)
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


def _night_asset(
    needs: Sequence[str] = (),
    after: Sequence[str] = (),
    beside: Sequence[str | AssetDep] = (),
    group: str = NIGHT_GROUP,
    **extra: Any,
) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of the night: what they all share, and `extra`. One that breaks is reported at once, by its rows.

    `needs`: the assets whose values of the night it is given by their names. They are no inputs of Dagster's, which
    would read each back from its file, with two events of the log, though the run itself has just made it. Of them
    and of `after`, the graph has an edge from the last ones only: the others lie on the way to these.
    """
    decorate: Callable[[Callable[..., Any]], AssetsDefinition] = asset(
        partitions_def=DAILY,
        deps=[*last_of(dict.fromkeys([*needs, *after])), *beside],
        group_name=group,
        owners=OWNERS,
        io_manager_key=IO,
        freshness_policy=NIGHTLY,
        **extra,
    )
    return lambda step: decorate(_reported(step, needs))


def _reported(step: Callable[..., Any], needs: Sequence[str]) -> Callable[..., Any]:
    if isgeneratorfunction(step):  # it reports itself
        return step

    def run(
        context: AssetExecutionContext, night: NightResource, night_files: ResourceParam[ParquetByPartition]
    ) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
        given = {name: night_files.value_of(name, context.partition_key) for name in needs}
        try:
            result: MaterializeResult[Any] = step(context, night, **given)
            return result
        except Exception as error:
            report_failure(_open(context, night), error, night.started_at(context.run.run_id))
            raise

    return run


def _open(context: AssetExecutionContext, night: NightResource) -> Night:
    return night.open(context.run.run_id, context.partition_key, context.log)


def _tell(context: AssetExecutionContext, sentence: str) -> None:
    """One line of the log for a step that has done something."""
    if sentence:
        context.log.info(sentence)


@_night_asset(
    after=["imported_notes"],
    kinds={"duckdb", "python"},
    output_required=False,
    dagster_type=RECORDS,
    metadata={"dagster/column_schema": describe.schema_of(DuplicateGroup)},
    description=(
        "Archives exact duplicates: memories of one project with the same words after folding case, white space, "
        "Markdown marks and leading timestamps. The oldest stays, and the copies are archived into it. A snapshot "
        "of the store is taken first. The 03:00 schedule runs only this asset. If another run holds the store, this "
        "asset and all later ones are skipped, with a warning that names the holder."
    ),
)
def exact_duplicates(context: AssetExecutionContext, night: NightResource) -> Iterator[Output[list[DuplicateGroup]]]:
    tonight = _open(context, night)
    if why_held(context, tonight):
        return
    started = night.started_at(context.run.run_id)
    try:
        snapshot = take_snapshot(tonight)
        groups = STEPS["exact_duplicates"].run(tonight)
        if context.job_name == DUPLICATES_JOB:
            report_run(tonight, "duplicates", started, NightOutcome(duplicates=groups))
    except Exception as error:
        kind: Kind = "duplicates" if context.job_name == DUPLICATES_JOB else "night"
        report_failure(tonight, error, started, kind=kind)
        raise
    _tell(context, sentences.of_duplicates(groups))
    yield Output(groups, metadata={**previews.duplicates(tonight, groups), "snapshot": snapshot})


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
        columns=describe.schema_of(Archive),
        figures=lambda night, value: previews.series(night.store, value),
        sentence=lambda night, value, given: sentences.of_series(value),
        check_specs=SERIES_CHECKS,
        check=lambda night, value: check_series(night.store, value),
    ),
    "eligible_memories": Shown(
        description=(
            "The memories that tonight may touch: at least 24 hours old as of the partition, importance below the "
            "critical floor, not pinned, not archived, raw or merged, with a vector. Memories without a vector are "
            "embedded first."
        ),
        kinds={"duckdb", "python"},
        columns=describe.schema_of(EligibleMemory),
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
        columns=describe.schema_of(Archive, ["cluster.member_ids"]),
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
        columns=describe.schema_of(Archive, ["cluster.member_ids"]),
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
            "that was decided within the last seven days is left alone."
        ),
        kinds={"python"},
        columns=describe.schema_of(Cluster),
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
        columns=describe.schema_of(
            Distillation, ["cluster.cluster_id", "cluster.member_ids", "measured.tokens_before"]
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
        columns=describe.schema_of(Archive, ["cluster.cluster_id"]),
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
        columns=describe.schema_of(AtomDecision),
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
        columns=describe.schema_of(Contribution),
        figures=lambda night, value: previews.playbook(night, night.settings, value),
        sentence=lambda night, value, given: sentences.of_playbook(value),
        group=KNOWLEDGE_GROUP,
        beside=[AssetDep("principles", partition_mapping=_WEEK_BEFORE)],
    ),
}


def _asset_of(step: Step) -> AssetsDefinition:
    shown = SHOWN[step.name]
    lineage = {"dagster/column_lineage": describe.lineage_of_columns(shown.lineage)} if shown.lineage else {}

    def run(context: AssetExecutionContext, night: NightResource, **given: Any) -> MaterializeResult[Any]:
        tonight = _open(context, night)
        value = step.run(tonight, *(given[name] for name in step.needs))
        _tell(context, shown.sentence(tonight, value, given))
        return MaterializeResult(
            value=value, metadata=shown.figures(tonight, value), check_results=shown.check(tonight, value)
        )

    return _night_asset(
        name=step.name,
        needs=step.needs,
        after=step.after,
        beside=shown.beside,
        group=shown.group,
        kinds=shown.kinds,
        check_specs=shown.check_specs,
        dagster_type=shown.value_type,
        metadata={"dagster/column_schema": shown.columns, **lineage},
        description=shown.description,
    )(run)


@_night_asset(
    name="reports",
    needs=[step.name for step in ORDER if step.name not in ("imported_notes", "similarity_batches")],
    group=REPORTING_GROUP,
    kinds={"json", "markdown"},
    check_specs=REPORT_CHECKS,
    metadata={
        "dagster/column_schema": describe.schema_of_document(
            Report, "The night's figures, clusters, errors and verdict."
        )
    },
    dagster_type=PythonObjectDagsterType(Report),
    description=(
        "Reports the night, computed from the rows it wrote: verdict, tokens before and after, facts kept, "
        "whether the archived memories can still be found, and the largest clusters. Written as JSON, Markdown and "
        "HTML, stored in the store, and announced."
    ),
)
def reports(context: AssetExecutionContext, night: NightResource, **values: Any) -> MaterializeResult[Report]:
    tonight = _open(context, night)
    report = report_night(tonight, NightOutcome.of(values), night.started_at(context.run.run_id))
    _tell(context, "" if report.verdict == "IDLE" else f"{report.verdict}: {closing_line(report)}")
    with tonight.store.reading() as tx:
        tokens = tx.journal.tokens_by_night()
    path = tonight.settings.reports_path / f"compression-{safe_name(context.run.run_id)}.html"
    return MaterializeResult(
        value=report,
        metadata={
            **previews.report(report, as_markdown(report, examples=8), str(path), tokens),
            **previews.difference(tonight.store, tonight.plan, report),
        },
        check_results=check_report(report),
    )


@_night_asset(
    name="exports",
    beside=["reports"],
    group=REPORTING_GROUP,
    kinds={"markdown"},
    check_specs=EXPORT_CHECKS,
    metadata={"dagster/column_schema": describe.schema_of_document(ExportResult, "What became of an export.")},
    description=(
        "Writes the exports that the settings name (`[[exports]]`): the workspace of an OpenClaw agent, a memory "
        "directory of Claude Code, a vault of Obsidian, or rows. Only the newest night of the store writes: a past "
        "day that runs again never puts older contents over newer ones. An export that fails costs only itself."
    ),
)
def exports(context: AssetExecutionContext, night: NightResource) -> MaterializeResult[None]:
    tonight = _open(context, night)
    results = run_exports(tonight.store, tonight.settings, tonight.options.partition)
    for result in results:
        if result.problem:
            context.log.warning("export '%s': %s", result.name, result.problem)
    return MaterializeResult(metadata=previews.exports(results), check_results=[check_exports(results)])


NIGHT_ASSETS = [
    imported_notes,
    exact_duplicates,
    *(_asset_of(step) for step in ORDER if step.name in SHOWN),
    reports,
    exports,
]
