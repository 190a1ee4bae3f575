"""The weekly and monthly assets: principles, and the canonical knowledge base."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetDep,
    AssetExecutionContext,
    MaterializeResult,
    MetadataValue,
    PythonObjectDagsterType,
    TimeWindowPartitionMapping,
    asset,
)

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport, compress_knowledge_base
from memory_pipeline.consolidation.principles import misplaced_patterns
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.run import report_failure, run_week
from memory_pipeline.orchestration.location import IO, KNOWLEDGE_GROUP, MONTHLY_FRESH, OWNERS, WEEKLY_FRESH
from memory_pipeline.orchestration.partitions import MONTHLY, WEEKLY
from memory_pipeline.orchestration.resources import NightResource, why_held
from memory_pipeline.orchestration.showing import (
    LONGEST_MADE,
    ROWS,
    Found,
    Seen,
    beside,
    by_status,
    log_news,
    preview,
    quoted,
    result_of,
    schema_of,
    schema_of_document,
    specs_of,
    texts_of,
    unchecked,
)
from memory_pipeline.records import PrincipleResult
from memory_pipeline.text.quoting import clipped

#: The days of a week or month, of which those before the first memory have no night.
_OF_ITS_DAYS = TimeWindowPartitionMapping(allow_nonexistent_upstream_partitions=True)
_OF_ENTRIES = {
    "every_entry_kept": "No cluster was refused for losing a recommendation, an example or a tag, and none failed."
}
_OF_PRINCIPLES = {
    "patterns_stay_active": "Every pattern behind a principle of this week is active, of level 2, and linked to it."
}
REPORT = PythonObjectDagsterType(KnowledgeBaseReport, name="KnowledgeBaseReport")


@asset(
    partitions_def=MONTHLY,
    group_name=KNOWLEDGE_GROUP,
    owners=OWNERS,
    io_manager_key=IO,
    kinds={"duckdb", "yaml"},
    freshness_policy=MONTHLY_FRESH,
    deps=[AssetDep("canonical_entries", partition_mapping=_OF_ITS_DAYS)],
    dagster_type=REPORT,
    metadata={
        "dagster/column_schema": schema_of_document(KnowledgeBaseReport, "What became of the entries of the month.")
    },
    output_required=False,
    check_specs=specs_of(_OF_ENTRIES, "knowledge_base"),
    description=(
        "Merges knowledge-base entries that say the same (cosine 0.9), as of a month's end, into one canonical entry "
        "with every recommendation, example and tag of its members, and archives the originals. Written to "
        "COMPRESSION-REPORT.yaml. Entries that the month's nights already merged are counted, not merged again."
    ),
)
def knowledge_base(context: AssetExecutionContext, night: NightResource) -> Iterator[Any]:
    last_day = (context.partition_time_window.end - timedelta(days=1)).date()
    month = night.canonical_night(context.run.run_id, context.log, day=last_day)
    if held := why_held(context, month):
        yield unchecked("every_entry_kept", held)
        return
    report = compress_knowledge_base(month)
    context.log.info(report.line)
    check = AssetCheckResult(
        check_name="every_entry_kept",
        passed=not report.losses and not report.failures and report.blocked is None,
        severity=AssetCheckSeverity.WARN,
        metadata={"refused_for_loss": report.losses, "failed": report.failures},
    )
    yield MaterializeResult(value=report, metadata=knowledge_base_metadata(report), check_results=[check])


def knowledge_base_metadata(report: KnowledgeBaseReport) -> dict[str, Any]:
    """The report of the knowledge base as figures and text."""
    shown: dict[str, Any] = {"result": report.line, "report": MetadataValue.path(report.report_file or "")}
    if not report.line.startswith("COMPRESSION COMPLETE"):
        return shown
    rows = [f"- **{cluster.size}** {cluster.topic}" for cluster in report.clusters_created[:20]]
    return {
        **shown,
        "clusters": len(report.clusters_created),
        "archived_entries": report.after.archived_entries,
        "total_entries": report.after.total_entries,
        "token_savings": report.compression.estimated_token_savings,
        "canonical_entries": MetadataValue.md("\n".join(rows) or "None was made."),
    }


@asset(
    partitions_def=WEEKLY,
    group_name=KNOWLEDGE_GROUP,
    owners=OWNERS,
    io_manager_key=IO,
    kinds={"duckdb", "python"},
    freshness_policy=WEEKLY_FRESH,
    deps=[AssetDep("archives", partition_mapping=_OF_ITS_DAYS)],
    dagster_type=PythonObjectDagsterType(list, name="Principles"),
    output_required=False,
    check_specs=specs_of(_OF_PRINCIPLES, "principles"),
    metadata={"dagster/column_schema": schema_of(PrincipleResult)},
    description=(
        "A model reads the patterns of each project, and says which rules at least three of them bear out: these "
        "become principles. The patterns stay active and are linked both ways; contradicting patterns are linked as "
        "conflicts instead. Principles enter the playbook immediately. Runs after the last night of the week."
    ),
)
def principles(context: AssetExecutionContext, night: NightResource) -> Iterator[Any]:
    last_day = (context.partition_time_window.end - timedelta(days=1)).date()
    week = night.open(context.run.run_id, last_day.isoformat(), context.log)
    if held := why_held(context, week):
        yield unchecked("patterns_stay_active", held)
        return
    started = night.started_at(context.run.run_id)
    try:
        results = run_week(week)
    except Exception as error:
        report_failure(week, error, started, kind="principles")
        raise
    report_run(week, "principles", started)
    seen = _seen(week, results)
    log_news(context.log, seen.figures)
    broken = misplaced_patterns(week.store, results)
    check = result_of("patterns_stay_active", Found(broken, len(results)))
    yield MaterializeResult(value=results, metadata=seen.figures, check_results=[check])


def _seen(night: Night, results: Sequence[PrincipleResult]) -> Seen:
    """The rules that were found behind patterns, and what became of them."""
    shown = sorted(results, key=lambda one: one.status != "created")[:ROWS]
    texts = texts_of(night, quoted([result.group for result in shown]))
    rows = []
    for result in shown:
        why = f"({result.status}: {result.reason})" if result.reason else f"({result.status})"
        rows += beside(texts.members(result.group), [clipped(result.content, LONGEST_MADE), why], "principle")
    counts = by_status(results, ("created", "skipped", "failed"))
    return Seen({**counts, **preview(rows, "No rule that three patterns share was found, or no model is chosen.")})


KNOWLEDGE_ASSETS = [principles, knowledge_base]
