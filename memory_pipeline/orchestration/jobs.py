"""The jobs: a whole night, only exact duplicates, a preview that writes nothing, principles, and the knowledge
base."""

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from pydantic import Field

from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport, compress_knowledge_base
from memory_pipeline.consolidation.report import closing_line
from memory_pipeline.consolidation.run import run_night
from memory_pipeline.orchestration.assets import periods
from memory_pipeline.orchestration.assets.compactions import compaction_job
from memory_pipeline.orchestration.assets.night import exact_duplicates
from memory_pipeline.orchestration.assets.sources import imported_notes
from memory_pipeline.orchestration.assets.steps import NIGHT_ASSETS
from memory_pipeline.orchestration.consolidation import consolidation_job
from memory_pipeline.orchestration.location import DUPLICATES_JOB, SOURCES_JOB, documented, job_of_assets
from memory_pipeline.orchestration.partitions import DAILY, MONTHLY, WEEKLY, YEARLY
from memory_pipeline.orchestration.resources import NightResource, StoreResource
from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.pages import as_markdown

night_job = job_of_assets(
    "night",
    "Runs one night from start to end: sources, conversations, exact duplicates, merges, canonical entries, clusters, "
    "distillation, archive, atoms, playbook and report.",
    *NIGHT_ASSETS,
)
sources_job = job_of_assets(
    SOURCES_JOB, "Only reads the sources; the sensor starts it when their files change.", imported_notes
)
duplicates_job = job_of_assets(DUPLICATES_JOB, "Archives only the exact duplicates of one day.", exact_duplicates)
knowledge_base_job = job_of_assets(
    "monthly_knowledge_base",
    "Makes the knowledge base canonical as of a month's end: entries that say the same become one canonical entry.",
    periods.knowledge_base,
)
principles_job = job_of_assets(
    "weekly_principles",
    "Makes the principles of a week: the common rule of three or more related patterns.",
    periods.principles,
)
daily_rollups_job, *_longer = (
    job_of_assets(f"sum_up_{period}s", f"Sums up a {period}, from what is below it.", asset)
    for period, asset in zip(("day", "week", "month", "year"), periods.ROLLUP_ASSETS, strict=True)
)


@documented(dg.op)
def preview_night(context: dg.OpExecutionContext, night: NightResource) -> dg.Output[Report]:
    """The same steps on a temporary copy of the store, through to the report; the store stays byte for byte the
    same."""
    report = run_night(night.open(context.run_id, context.partition_key, context.log, dry_run=True))
    line = closing_line(report)
    context.log.info(line)
    return dg.Output(report, metadata={"result": line, "report": dg.MetadataValue.md(as_markdown(report))})


@documented(dg.job, name="night_preview", partitions_def=DAILY, executor_def=dg.in_process_executor)
def preview_job() -> None:
    """A dry run of a night: shows the clusters it would make, and writes nothing to the store."""
    preview_night()


class KbCompressConfig(dg.Config):
    """The options for making the knowledge base canonical as of now."""

    threshold: float | None = Field(default=None, description="Similarity threshold for this run.")
    days: int | None = Field(default=None, description="Only entries of the last N days.")
    dry_run: bool = Field(
        default=True, description="Only show which entries would become one; set to false to merge them."
    )


@documented(dg.op)
def compress_entries(
    context: dg.OpExecutionContext, config: KbCompressConfig, night: StoreResource
) -> dg.Output[KnowledgeBaseReport]:
    """Makes one canonical entry of entries that say the same, as of now; a dry run unless `dry_run` is false."""
    report = compress_knowledge_base(night.canonical_night(context.run_id, context.log, **dict(config)))
    context.log.info(report.line)
    return dg.Output(report, metadata=periods.knowledge_base_metadata(report))


@documented(
    dg.job,
    name="kb_compress",
    executor_def=dg.in_process_executor,
    resource_defs={"night": StoreResource.configure_at_launch()},
)
def kb_compress_job() -> None:
    """Makes the knowledge base canonical as of now; a dry run unless `dry_run` is false."""
    compress_entries()


#: The jobs that run after the last night of a week and of a month.
PERIOD_JOBS = {WEEKLY: principles_job, MONTHLY: knowledge_base_job}
#: The jobs that sum up what ends with a day.
ROLLUP_JOBS = dict(zip((WEEKLY, MONTHLY, YEARLY), _longer, strict=True))

JOBS: list[dg.JobDefinition | UnresolvedAssetJobDefinition] = [
    night_job, sources_job, duplicates_job, preview_job, principles_job, knowledge_base_job, daily_rollups_job,
    *ROLLUP_JOBS.values(), kb_compress_job, consolidation_job, compaction_job,
]  # fmt: skip
