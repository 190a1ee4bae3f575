"""The display of a night's report and of its exports by their assets: figures, which Dagster plots by day, and checks
with the bands of health."""

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.consolidation.context import Night
from memory_pipeline.orchestration.showing import ERROR, WARN, Found, Row, Seen, preview
from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.pages import as_markdown, page_name
from memory_pipeline.text.counts import how_many
from memory_pipeline.workspace.exporting import ExportResult

Band = Callable[[float], int]

#: Check name, measured figure, and its band: 0 good, 1 warning, 2 bad.
_BANDS: tuple[tuple[str, str, Callable[[Report], float | None], Band], ...] = (
    (
        "token_reduction",
        "Active tokens saved, in percent: good above 15, warning from 5 to 15, bad below 5.",
        lambda r: r.token_reduction_pct if r.clusters_compressed else None,
        lambda v: 0 if v > 15 else 1 if v >= 5 else 2,
    ),
    (
        "compression_ratio",
        "Average ratio of original to abstraction tokens: good above 2.5, warning from 1.5 to 2.5, bad below 1.5.",
        lambda r: r.avg_compression_ratio or None,
        lambda v: 0 if v > 2.5 else 1 if v >= 1.5 else 2,
    ),
    (
        "skipped_clusters",
        "Share of tonight's clusters that were skipped (not counting clusters decided on earlier nights): good below "
        "20%, warning to 50%, bad above.",
        lambda r: (
            100 * (r.clusters_skipped - r.clusters_settled) / tonight
            if (tonight := r.clusters_found - r.clusters_settled)
            else None
        ),
        lambda v: 0 if v < 20 else 1 if v <= 50 else 2,
    ),
    (
        "errors",
        "Number of errors: none is good, one or two a warning, more is bad.",
        lambda r: float(len(r.errors)),
        lambda v: 0 if v == 0 else 1 if v <= 2 else 2,
    ),
    (
        "cost",
        "Estimated cost in USD: good below 0.10, warning up to 0.25, bad above.",
        lambda r: float(r.estimated_cost_usd),
        lambda v: 0 if v < 0.10 else 1 if v <= 0.25 else 2,
    ),
)
#: Figures whose bad band is a failure. A night that had little to do saves little: that is a warning at most.
_FAILING = ("errors", "cost")

REPORT_CHECKS = {
    "archived_still_found": """For a sample of the archived memories, a search that asks as a person would finds at
    least 95% (the memory or its replacement) among the first ten results.""",
    "facts_preserved": """Recomputed from the store: every number, date, name, identifier, negation and recommendation
    of the memories archived tonight is in the memory that replaced them.""",
    **{name: text for name, text, _, _ in _BANDS},
}
EXPORT_CHECKS = {"exports_written": "Every export that the settings name was written, or stands as it should."}


def figures_of_report(night: Night, made: Report) -> dict[str, Any]:
    """The figures that Dagster plots by day, the report page, and the paths of the files."""
    numbers = {
        name: value
        for name, value in made
        if isinstance(value, int | float) and (Report.model_fields[name].title or name in _PLOTTED)
    }
    return {
        "verdict": dg.MetadataValue.text(f"{made.verdict}: {made.verdict_reason}"),
        "read_by": dg.MetadataValue.text(made.read_by),
        **numbers,
        "errors": len(made.errors),
        "report": dg.MetadataValue.md(as_markdown(made, examples=8)),
        "files": dg.MetadataValue.path(str(night.settings.reports_path / page_name(made.run_id))),
    }


#: Numbers that are plotted by day, besides the figures that a page shows.
_PLOTTED = ("active_memories", "total_llm_input_tokens", "total_llm_output_tokens")


def seen_of_exports(results: Sequence[ExportResult]) -> Seen:
    """The outcome of the exports, their files, and the tokens that agents load of them."""
    rows: list[Row] = [
        {
            "export": result.name,
            "format": result.format,
            "status": result.status,
            "memories": result.exported,
            "files written": result.files_written,
            "unchanged": result.files_unchanged,
            "tokens": result.tokens,
            "problem": result.problem or "",
        }
        for result in results
    ]
    written = [
        f"{result.name} ({how_many(result.exported, 'memory')})" for result in results if result.status == "written"
    ]
    names = ("files_written", "files_unchanged", "files_removed", "files_kept", "tokens")
    skipped = [result.name for result in results if result.status == "skipped"]
    figures = {
        **{name: sum(getattr(result, name) for result in results) for name in names},
        "written": ", ".join(written) or "none",
        "skipped": f"{', '.join(skipped)}: a later night has run, whose contents are newer" if skipped else "none",
        **preview(rows, "The settings name no export; `memory-pipeline exports add FORMAT PATH` adds one."),
    }
    failed = [f"{result.name}: {result.problem}" for result in results if result.problem]
    return Seen(figures, checks=[Found(failed, len(results))])


def check_report(report: Report) -> list[dg.AssetCheckResult]:
    """Recall and preservation of the archived memories, and the health bands."""
    rate = report.recall_rate
    recall = dg.AssetCheckResult(
        check_name="archived_still_found",
        passed=rate is None or rate >= RECALL_FLOOR,
        severity=WARN,
        metadata={"found": report.recall_found, "sampled": report.recall_sampled},
    )
    preserved = dg.AssetCheckResult(
        check_name="facts_preserved",
        passed=not report.facts_lost,
        severity=WARN,
        metadata={"rate": str(report.preservation_rate), "first": "; ".join(report.facts_lost[:5]) or "none"},
    )
    return [recall, preserved, *(_in_band(name, measure(report), band) for name, _, measure, band in _BANDS)]


def _in_band(name: str, value: float | None, band: Band) -> dg.AssetCheckResult:
    level = 0 if value is None else band(value)
    return dg.AssetCheckResult(
        check_name=name,
        passed=level == 0,
        severity=ERROR if level == 2 and name in _FAILING else WARN,
        metadata={
            "value": "nothing to measure" if value is None else round(value, 4),
            "band": ("good", "warning", "bad")[level],
        },
    )
