"""The jobs: a whole night, the duplicates alone, and a preview that writes nothing."""

from dagster import (
    AssetSelection,
    JobDefinition,
    MetadataValue,
    OpExecutionContext,
    Output,
    define_asset_job,
    in_process_executor,
    job,
    op,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from memory_pipeline.night.pages import as_markdown
from memory_pipeline.night.report import closing_line
from memory_pipeline.night.run import run_night
from memory_pipeline.orchestration.assets.night import NIGHT_ASSETS, exact_duplicates
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource

night_job = define_asset_job(
    "night",
    selection=AssetSelection.assets(*NIGHT_ASSETS),
    executor_def=in_process_executor,
    description="One night, end to end: duplicates, clusters, distillation, archive, report.",
)

duplicates_job = define_asset_job(
    "duplicates",
    selection=AssetSelection.assets(exact_duplicates),
    executor_def=in_process_executor,
    description="The exact duplicates of a day alone.",
)


@op(description="Everything through distillation and the report; the store stays byte for byte the same.")
def preview_night(context: OpExecutionContext, night: NightResource) -> Output[dict]:  # type: ignore[type-arg]
    report = run_night(night.open(context.run_id, context.partition_key, context.log, dry_run=True))
    line = closing_line(report)
    context.log.info(line)
    return Output(report, metadata={"result": line, "report": MetadataValue.md(as_markdown(report))})


@job(
    name="night_preview",
    partitions_def=DAILY,
    executor_def=in_process_executor,
    description="A dry run of a night: shows the clusters it would make, and writes nothing to the store.",
)
def preview_job() -> None:
    preview_night()


JOBS: list[JobDefinition | UnresolvedAssetJobDefinition] = [night_job, duplicates_job, preview_job]
