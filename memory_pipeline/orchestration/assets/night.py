"""The night as daily-partitioned assets: how they are declared, its copies, its report and its exports.

`consolidation/run.py` defines what each step does, `steps.py` what the UI shows of the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isgeneratorfunction
from typing import Any

import dagster as dg

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.counting import NightOutcome
from memory_pipeline.consolidation.report import closing_line, report_run
from memory_pipeline.consolidation.run import ORDER, STEPS, find_last_steps, take_snapshot
from memory_pipeline.orchestration import showing
from memory_pipeline.orchestration.assets.reporting import (
    EXPORT_CHECKS,
    REPORT_CHECKS,
    check_report,
    figures_of_report,
    seen_of_exports,
)
from memory_pipeline.orchestration.io import ParquetByPartition
from memory_pipeline.orchestration.location import DUPLICATES_JOB, IO, NIGHT_GROUP, NIGHTLY, REPORTING_GROUP, described
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource, reporting, why_held
from memory_pipeline.records import DuplicateGroup
from memory_pipeline.reporting.model import Kind, Report
from memory_pipeline.workspace.exporting import ExportResult, run_exports

#: Tags of a run of a night, for the list of runs: its verdict, and its closing line.
VERDICT_TAG, RESULT_TAG = "memory_pipeline/verdict", "memory_pipeline/result"
#: Characters of a tag's value.
_LONGEST_TAG = 250
NO_CHECKS: Mapping[str, str] = {}


def _night_asset(
    needs: Sequence[str] = (),
    after: Sequence[str] = (),
    beside: Sequence[str | dg.AssetDep] = (),
    group: str = NIGHT_GROUP,
    *,
    kinds: set[str],
    columns: dg.TableSchema,
    lineage: showing.Lineage = showing.NO_LINEAGE,
    **extra: Any,
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """An asset of the night: what they all share, and `extra`. One that breaks is reported at once, by its rows.

    `needs`: the assets whose values of the night it is given by their names. They are no inputs of Dagster's, which
    would read each back from its file, with two events of the log, though the run itself has just made it. Of them
    and of `after`, the graph has an edge from the last ones only: the others lie on the way to these.
    """

    def declare(step: Callable[..., Any]) -> dg.AssetsDefinition:
        def run(
            context: dg.AssetExecutionContext, night: NightResource, night_files: dg.ResourceParam[ParquetByPartition]
        ) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
            given = {name: night_files.value_of(name, context.partition_key) for name in needs}
            with reporting(_open(context, night)):
                result: dg.MaterializeResult[Any] = step(context, night, **given)
            return result

        made: dg.AssetsDefinition = dg.asset(
            partitions_def=DAILY,
            deps=[*find_last_steps(dict.fromkeys([*needs, *after])), *beside],
            io_manager_key=IO,
            description=described(step),
            **showing.attributes(group, kinds, NIGHTLY, columns, lineage),
            **extra,
        )(step if isgeneratorfunction(step) else run)  # a generator reports itself
        return made

    return declare


def _open(context: dg.AssetExecutionContext, night: NightResource) -> Night:
    return night.open(context.run.run_id, context.partition_key, context.log)


@_night_asset(
    after=["routed_updates"],
    kinds={"duckdb", "python"},
    output_required=False,
    dagster_type=showing.RECORDS,
    columns=showing.schema_of(DuplicateGroup),
)
def exact_duplicates(
    context: dg.AssetExecutionContext, night: NightResource
) -> Iterator[dg.Output[list[DuplicateGroup]]]:
    """Archives exact duplicates: memories of one project with the same words after folding case, white space, Markdown
    marks and leading timestamps. The oldest stays, and the copies are archived into it. A snapshot of the store is
    taken first. The 03:00 schedule runs only this asset. If another run holds the store, this asset and all later ones
    are skipped, with a warning that names the holder."""
    tonight = _open(context, night)
    if why_held(context, tonight):
        return
    kind: Kind = "duplicates" if context.job_name == DUPLICATES_JOB else "night"
    with reporting(tonight, kind):
        snapshot = take_snapshot(tonight)
        groups = STEPS["exact_duplicates"].run(tonight)
        if kind == "duplicates":
            report_run(tonight, kind, tonight.started_at, NightOutcome(duplicates=groups))
    rows = showing.rows_of(
        tonight,
        sorted(groups, key=lambda group: -len(group.duplicate_ids)),
        memory=lambda group: (group.survivor_id,),
        copies=lambda group: len(group.duplicate_ids),
        project=lambda group: group.project_id,
        tonight=lambda group: "proposed" if group.proposed else "archived",
    )
    copies = [sum(len(group.duplicate_ids) for group in groups if group.proposed is waits) for waits in (False, True)]
    figures = dict(zip(("duplicates_archived", "duplicates_proposed"), copies, strict=True))
    showing.log_news(context.log, figures)
    metadata = {"groups": len(groups), **figures, **showing.preview(rows, "No exact duplicates."), "snapshot": snapshot}
    yield dg.Output(groups, metadata=metadata)


def step_asset(
    name: str,
    *,
    checks: Mapping[str, str] = NO_CHECKS,
    severity: dg.AssetCheckSeverity = showing.ERROR,
    value_type: Any = showing.RECORDS,
    **asked: Any,
) -> Callable[[Callable[[Night, Any], showing.Seen]], dg.AssetsDefinition]:
    """Declare what is seen of a run of a step, of the night and the value, as the asset of that step; its docstring
    describes it. `checks`: by name, what each says; `asked`: further arguments of `_night_asset`."""
    step = STEPS[name]

    def declare(see: Callable[[Night, Any], showing.Seen]) -> dg.AssetsDefinition:
        def run(context: dg.AssetExecutionContext, night: NightResource, **given: Any) -> dg.MaterializeResult[Any]:
            tonight = _open(context, night)
            value = step.run(tonight, *(given[needed] for needed in step.needs))
            seen = see(tonight, value)
            showing.log_news(context.log, seen.figures)
            checked = zip(checks, seen.checks, strict=True)
            results = [showing.result_of(check, outcome, severity) for check, outcome in checked]
            return dg.MaterializeResult(value=value, metadata=seen.figures, check_results=results)

        run.__doc__ = see.__doc__
        return _night_asset(
            name=name,
            needs=step.needs,
            after=step.after,
            check_specs=showing.specs_of(checks, name),
            dagster_type=value_type,
            **asked,
        )(run)

    return declare


@_night_asset(
    name="reports",
    needs=[step.name for step in ORDER if step.name not in ("imported_notes", "routed_updates", "similarity_batches")],
    group=REPORTING_GROUP,
    kinds={"json", "markdown"},
    check_specs=showing.specs_of(REPORT_CHECKS, "reports"),
    columns=showing.schema_of_document(Report, "The night's figures, clusters, errors and verdict."),
    dagster_type=dg.PythonObjectDagsterType(Report),
)
def reports(context: dg.AssetExecutionContext, night: NightResource, **values: Any) -> dg.MaterializeResult[Report]:
    """Reports the night, computed from the rows it wrote: verdict, tokens before and after, facts kept, whether the
    archived memories can still be found, and the largest clusters. Written as JSON, Markdown and HTML, stored in the
    store, and announced."""
    tonight = _open(context, night)
    report = report_run(tonight, "night", tonight.started_at, NightOutcome.of(values))
    if report.verdict != "IDLE":
        context.log.info(f"{report.verdict}: {closing_line(report)}")
    context.instance.add_run_tags(
        context.run.run_id, {VERDICT_TAG: report.verdict, RESULT_TAG: closing_line(report)[:_LONGEST_TAG]}
    )
    return dg.MaterializeResult(
        value=report, metadata=figures_of_report(tonight, report), check_results=check_report(report)
    )


@_night_asset(
    name="exports",
    beside=["reports"],
    group=REPORTING_GROUP,
    kinds={"markdown"},
    check_specs=showing.specs_of(EXPORT_CHECKS, "exports"),
    columns=showing.schema_of_rows(ExportResult),
)
def exports(context: dg.AssetExecutionContext, night: NightResource) -> dg.MaterializeResult[None]:
    """Writes the exports that the settings name (`[[exports]]`): the workspace of an OpenClaw agent, a memory directory
    of Claude Code, a vault of Obsidian, or rows. Only the newest night of the store writes: a past day that runs again
    never puts older contents over newer ones. An export that fails costs only itself."""
    tonight = _open(context, night)
    written = run_exports(tonight.store, tonight.settings, tonight.options.partition)
    for result in written:
        if result.problem:
            context.log.warning("export '%s': %s", result.name, result.problem)
    seen = seen_of_exports(written)
    checks = [
        showing.result_of(name, outcome, showing.ERROR)
        for name, outcome in zip(EXPORT_CHECKS, seen.checks, strict=True)
    ]
    return dg.MaterializeResult(metadata=seen.figures, check_results=checks)
