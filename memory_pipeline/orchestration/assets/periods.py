"""The assets of weeks and months (principles, and the canonical knowledge base), and of what days, weeks, months and
years amount to, each made from the one below it through its partitions."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.conversations import bill_of
from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport, compress_knowledge_base
from memory_pipeline.consolidation.principles import misplaced_patterns
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.run import run_week
from memory_pipeline.models.choose import model_reads
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration import location, showing
from memory_pipeline.orchestration.partitions import DAILY, MONTHLY, WEEKLY, YEARLY
from memory_pipeline.orchestration.resources import NightResource, reporting, why_held
from memory_pipeline.periods.calendar import Period, period_of
from memory_pipeline.periods.in_short import SAID
from memory_pipeline.periods.making import rollup_id
from memory_pipeline.periods.running import MadeRollup, find_problems, finish_rollups, roll_up
from memory_pipeline.records import ROLLUP_LEVELS, PrincipleResult
from memory_pipeline.text.counts import how_many

#: The finer periods that a period is made of, as far as there are partitions of them.
_PARTS = dg.TimeWindowPartitionMapping(allow_nonexistent_upstream_partitions=True)
_OF_ENTRIES = {
    "every_entry_kept": "No cluster was refused for losing a recommendation, an example or a tag, and none failed."
}
_OF_PRINCIPLES = {
    "patterns_stay_active": "Every pattern behind a principle of this week is active, of level 2, and linked to it."
}


@location.documented(
    dg.asset,
    partitions_def=MONTHLY,
    io_manager_key=location.IO,
    deps=[dg.AssetDep("canonical_entries", partition_mapping=_PARTS)],
    dagster_type=dg.PythonObjectDagsterType(KnowledgeBaseReport, name="KnowledgeBaseReport"),
    output_required=False,
    check_specs=showing.specs_of(_OF_ENTRIES, "knowledge_base"),
    **showing.attributes(
        location.KNOWLEDGE_GROUP,
        {"duckdb", "yaml"},
        location.MONTHLY_FRESH,
        showing.schema_of_document(KnowledgeBaseReport, "What became of the entries of the month."),
    ),
)
def knowledge_base(context: dg.AssetExecutionContext, night: NightResource) -> Iterator[Any]:
    """Merges knowledge-base entries that say the same (cosine 0.9), as of a month's end, into one canonical entry with
    every recommendation, example and tag of its members, and archives the originals. Written to
    COMPRESSION-REPORT.yaml. Entries that the month's nights already merged are counted, not merged again."""
    last_day = _last_day(context, context.partition_key)
    month = night.canonical_night(context.run.run_id, context.log, day=last_day)
    if reason := why_held(context, month):
        yield showing.unchecked("every_entry_kept", reason)
        return
    report = compress_knowledge_base(month)
    context.log.info(report.line)
    check = dg.AssetCheckResult(
        check_name="every_entry_kept",
        passed=not report.losses and not report.failures and report.blocked is None,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"refused_for_loss": report.losses, "failed": report.failures},
    )
    yield dg.MaterializeResult(value=report, metadata=knowledge_base_metadata(report), check_results=[check])


def knowledge_base_metadata(report: KnowledgeBaseReport) -> dict[str, Any]:
    """The report of the knowledge base as figures and text."""
    metadata: dict[str, Any] = {"result": report.line, "report": dg.MetadataValue.path(report.report_file or "")}
    if not report.line.startswith("COMPRESSION COMPLETE"):
        return metadata
    rows = [f"- **{cluster.size}** {cluster.topic}" for cluster in report.clusters_created[:20]]
    return {
        **metadata,
        "clusters": len(report.clusters_created),
        "archived_entries": report.after.archived_entries,
        "total_entries": report.after.total_entries,
        "token_savings": report.compression.estimated_token_savings,
        "canonical_entries": dg.MetadataValue.md("\n".join(rows) or "None was made."),
    }


@location.documented(
    dg.asset,
    partitions_def=WEEKLY,
    io_manager_key=location.IO,
    deps=[dg.AssetDep("archives", partition_mapping=_PARTS)],
    dagster_type=dg.PythonObjectDagsterType(list, name="Principles"),
    output_required=False,
    check_specs=showing.specs_of(_OF_PRINCIPLES, "principles"),
    **showing.attributes(
        location.KNOWLEDGE_GROUP, {"duckdb", "python"}, location.WEEKLY_FRESH, showing.schema_of(PrincipleResult)
    ),
)
def principles(context: dg.AssetExecutionContext, night: NightResource) -> Iterator[Any]:
    """A model reads the patterns of each project, and says which rules at least three of them bear out: these become
    principles. The patterns stay active and are linked both ways; contradicting patterns are linked as conflicts
    instead. Principles enter the playbook immediately. Runs after the last night of the week."""
    last_day = _last_day(context, context.partition_key)
    week = night.open(context.run.run_id, last_day.isoformat(), context.log)
    if reason := why_held(context, week):
        yield showing.unchecked("patterns_stay_active", reason)
        return
    with reporting(week, "principles"):
        results = run_week(week)
    report_run(week, "principles", week.started_at)
    figures = _figures(week, results)
    showing.log_news(context.log, figures)
    broken = misplaced_patterns(week.store, results)
    check = showing.result_of("patterns_stay_active", showing.Found(broken, len(results)))
    yield dg.MaterializeResult(value=results, metadata=figures, check_results=[check])


def _figures(night: Night, results: Sequence[PrincipleResult]) -> dict[str, Any]:
    """The rules that were found behind patterns, and what became of them."""
    rows = showing.rows_of(
        night,
        sorted(results, key=lambda result: result.status != "created"),
        patterns=lambda result: result.group.member_ids,
        principle=lambda result: result.content,
        status=lambda result: f"{result.status}: {result.reason}" if result.reason else result.status,
    )
    counts = showing.by_status(results, ("created", "skipped", "failed"))
    return {**counts, **showing.preview(rows, "No rule that three patterns share was found, or no model is chosen.")}


KNOWLEDGE_ASSETS = [principles, knowledge_base]


DAYS, WEEKS, MONTHS, YEARS = "daily_summaries", "weekly_rollups", "monthly_rollups", "yearly_rollups"
_CHECKS = {
    "budget_kept": "No rollup has more tokens than the settings give its level.",
    "entries_stand": "Every entry is the words of a memory that is in the store, and every rollup below is there too.",
    "files_written": "Every rollup stands in its file, between our markers.",
}
_LINK = re.compile(r"\[([^\[\]]+)\]\(\.\./[^()\s]*\)")
#: Rollups whose words are shown of a run of many partitions.
_MOST_SHOWN = 12


def _rollup(
    name: str,
    level: str,
    partitions: dg.TimeWindowPartitionsDefinition,
    deps: Sequence[str],
    fresh: dg.FreshnessPolicy,
    description: str,
) -> dg.AssetsDefinition:
    def rollup(context: dg.AssetExecutionContext, night: NightResource) -> Iterator[Any]:
        last_days = {key: _last_day(context, key) for key in context.partition_keys}
        newest = max(last_days.values())
        tonight = night.open(context.run.run_id, newest.isoformat(), context.log)
        if reason := why_held(context, tonight):
            yield from (showing.unchecked(check, reason) for check in _CHECKS)
            return
        made = roll_up(
            tonight.store,
            tonight.settings,
            _periods(level, sorted(last_days.values())),
            holder=tonight.holder,
            run_id=context.run.run_id,
            progress=tonight.progress,
        )
        is_newest = level == "day" and newest == latest_complete_day(datetime.now(UTC))  # `MEMORY.md` is of now
        problems = finish_rollups(tonight.store, tonight.settings, made, is_newest=is_newest)
        for key, day in last_days.items():
            context.add_asset_metadata(_metadata(tonight, period_of(level, day), made), partition_key=key)
        if model_reads(tonight.settings):
            bill = bill_of(tonight)
            context.log.info(f"{how_many(bill.calls, 'call')} to the model, {bill.cost_usd:.4f} USD")
        rollups = [rollup for rollup in made if rollup.level == level and rollup.status != "empty"]
        context.log.info(f"{how_many(len(rollups), 'rollup')} of {how_many(len(last_days), level)}")
        over_budget, without_memory, not_written = find_problems(tonight.store, made)
        failures = zip(_CHECKS, (over_budget, without_memory, [*not_written, *problems]), strict=True)
        results = [showing.result_of(check, showing.Found(failed, len(made))) for check, failed in failures]
        yield dg.MaterializeResult(check_results=results)

    asset: dg.AssetsDefinition = dg.asset(
        name=name,
        partitions_def=partitions,
        deps=[dg.AssetDep(dep, partition_mapping=_PARTS) for dep in deps],
        backfill_policy=dg.BackfillPolicy.single_run(),
        output_required=False,
        check_specs=showing.specs_of(_CHECKS, name),
        description=description,
        **showing.attributes(location.ROLLUPS_GROUP, {"duckdb", "markdown"}, fresh, showing.schema_of_rows(MadeRollup)),
    )(rollup)
    return asset


def _periods(level: str, last_days: Sequence[date]) -> list[Period]:
    """The periods of a run, after the last day of each and the finer periods that end with it: what a week's or a
    month's last steps made is of that day, which was summed up before them."""
    finer = ROLLUP_LEVELS[: ROLLUP_LEVELS.index(level)]
    ending = [(finer_level, period_of(finer_level, day)) for finer_level in finer for day in last_days]
    return [
        *(period for _, period in ending if period.last in last_days),
        *(period_of(level, day) for day in last_days),
    ]


def _last_day(context: dg.AssetExecutionContext, key: str) -> date:
    partitions = context.assets_def.partitions_def
    assert isinstance(partitions, dg.TimeWindowPartitionsDefinition)
    return (partitions.time_window_for_partition_key(key).end - timedelta(days=1)).date()


def _metadata(tonight: Night, period: Period, made: Sequence[MadeRollup]) -> dict[str, Any]:
    """The counts of a partition, its rollups as a table, and their words."""
    rollups = [
        rollup
        for rollup in made
        if rollup.period == period.key and rollup.level == period.level and rollup.status != "empty"
    ]
    rows: list[showing.Row] = [
        {"project": rollup.project, "notes": rollup.notes, "entries": rollup.entries,
         "tokens": f"{rollup.tokens} of {rollup.budget}", "status": rollup.status,
         "file": "/".join(Path(rollup.file).parts[-2:]) if rollup.file else "none"}
        for rollup in rollups
    ]  # fmt: skip
    with tonight.store.reading() as tx:
        read = [
            tx.rollups.read(rollup.project, [rollup_id(rollup.project, period)]) for rollup in rollups[:_MOST_SHOWN]
        ]
    words = "\n\n".join(_LINK.sub(r"\1", row.content) for by_id in read for row in by_id.values())
    return {
        "period": period.name,
        "rollups": len(rollups),
        "notes": sum(rollup.notes for rollup in rollups),
        "entries": sum(rollup.entries for rollup in rollups),
        "tokens": sum(rollup.tokens for rollup in rollups),
        "said_in_short": sum(rollup.in_short == SAID for rollup in rollups),
        "rollup": dg.MetadataValue.md(words or "There is nothing to say of it."),
        **showing.preview(rows, "There is nothing to say of it."),
    }


ROLLUP_ASSETS = [
    _rollup(
        DAYS, "day", DAILY, ("reports",), location.DAILY_SUMMED,
        "What each day amounts to, by project: decisions, what nights made of it, facts and lessons, threads that were "
        "opened or closed, and the figures of its series, within 600 tokens. Told as of the day's end.",
    ),
    _rollup(
        WEEKS, "week", WEEKLY, (DAYS,), location.WEEKLY_FRESH,
        "What each week (Sunday to Saturday, UTC) amounts to, made from its days: what was archived into something "
        "else is told by that, and every thread that is open at its end, since when.",
    ),
    _rollup(
        MONTHS, "month", MONTHLY, (WEEKS, DAYS), location.MONTHLY_FRESH,
        "What each month amounts to, made from the weeks that lie in it and the days beside them.",
    ),
    _rollup(
        YEARS, "year", YEARLY, (MONTHS,), location.YEARLY_SUMMED,
        "What each year amounts to, made from its months.",
    ),
]  # fmt: skip
