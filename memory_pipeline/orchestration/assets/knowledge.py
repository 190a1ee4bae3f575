"""What is made of the nights' results by the week and by the month: principles, and the canonical knowledge base."""

from datetime import timedelta
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    MaterializeResult,
    MetadataValue,
    PythonObjectDagsterType,
    TimeWindowPartitionMapping,
    asset,
)

from memory_pipeline.night.knowledge_base import compress_knowledge_base
from memory_pipeline.orchestration.partitions import MONTHLY
from memory_pipeline.orchestration.policy import IO, KNOWLEDGE_GROUP, OWNERS
from memory_pipeline.orchestration.resources import NightResource

REPORT = PythonObjectDagsterType(dict, name="Report")


@asset(
    partitions_def=MONTHLY,
    group_name=KNOWLEDGE_GROUP,
    owners=OWNERS,
    io_manager_key=IO,
    kinds={"duckdb", "yaml"},
    deps=[AssetDep("canonical_entries", partition_mapping=TimeWindowPartitionMapping())],
    dagster_type=REPORT,
    check_specs=[
        AssetCheckSpec(
            "every_entry_kept",
            asset="knowledge_base",
            description="No cluster was refused for losing a recommendation, an example or a tag, and none failed.",
        )
    ],
    description=(
        "The knowledge base as of a month's end: entries that say the same (cosine 0.9) as one canonical entry with "
        "every recommendation, example and tag of its members; the originals archived. Reported as "
        "COMPRESSION-REPORT.yaml. What the month's nights have made canonical already is counted, not made again."
    ),
)
def knowledge_base(context: AssetExecutionContext, night: NightResource) -> MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class only
    last_day = (context.partition_time_window.end - timedelta(days=1)).date()
    report = compress_knowledge_base(night.canonical_night(context.run.run_id, context.log, day=last_day))
    context.log.info(report["line"])
    lost = [case for case in report.get("left_alone", []) if "preservation" in (case["reason"] or "")]
    failed = [case for case in report.get("left_alone", []) if case["status"] == "failed"]
    check = AssetCheckResult(
        check_name="every_entry_kept",
        passed=not lost and not failed and "blocked" not in report,
        metadata={"refused_for_loss": len(lost), "failed": len(failed)},
    )
    return MaterializeResult(value=report, metadata=knowledge_base_metadata(report), check_results=[check])


def knowledge_base_metadata(report: dict[str, Any]) -> dict[str, Any]:
    """The report of the knowledge base in figures and words."""
    shown: dict[str, Any] = {"result": report["line"]}
    if "after" not in report:
        return shown
    rows = [f"- **{c['size']}** {c['topic']}" for c in report["clusters_created"][:20]]
    return {
        **shown,
        "clusters": len(report["clusters_created"]),
        "archived_entries": report["after"]["archived_entries"],
        "total_entries": report["after"]["total_entries"],
        "token_savings": report["compression"]["estimated_token_savings"],
        "report": MetadataValue.path(report["report_file"]),
        "canonical_entries": MetadataValue.md("\n".join(rows) or "None was made."),
    }


KNOWLEDGE_ASSETS = [knowledge_base]
