"""What the Dagster UI shows of an asset's value: counts, Markdown previews, column schemas and lineage."""

import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from dagster import (
    AssetKey,
    MetadataValue,
    TableColumn,
    TableColumnDep,
    TableColumnLineage,
    TableSchema,
)

from memory_pipeline.config.settings import Settings
from memory_pipeline.documents import Document
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.recall import diff_states, diff_text, read_state
from memory_pipeline.recall.series import show_series
from memory_pipeline.records import (
    Archive,
    AtomDecision,
    Cluster,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    Memory,
    PrincipleResult,
)
from memory_pipeline.records.columns import columns_of
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store
from memory_pipeline.wording.quoting import clipped, named, plain

_PREVIEW = 8


def schema_of(record: type) -> TableSchema:
    """The columns of a record class, with their types and, if given, their meanings: a field that a record shares
    with a memory has the same meaning. A nested record is a column, and its fields follow as `cluster.member_ids`."""
    return TableSchema(columns=list(_columns(record)))


def schema_of_document(document: type[Document]) -> TableSchema:
    """The fields of a document as columns, with their types and meanings."""
    meanings = document.described_fields()
    return TableSchema(
        [
            TableColumn(name, _type_name(field.annotation), meanings[name])
            for name, field in document.model_fields.items()
        ]
    )


def _columns(record: type, prefix: str = "") -> Iterator[TableColumn]:
    hints = typing.get_type_hints(record)
    meanings = {column.name: column.meaning for column in (*columns_of(Memory), *columns_of(record))}
    for field in fields(record):
        hint = hints[field.name]
        yield TableColumn(prefix + field.name, _type_name(hint), meanings.get(field.name))
        inner = next((part for part in typing.get_args(hint) if is_dataclass(part)), hint)
        if is_dataclass(inner) and typing.get_origin(hint) is not tuple:
            yield from _columns(typing.cast(type, inner), f"{prefix}{field.name}.")


def _type_name(hint: Any) -> str:
    if isinstance(hint, types.UnionType):
        return " or ".join(_type_name(part) for part in hint.__args__ if part is not type(None)) + "?"
    if typing.get_origin(hint) is tuple:
        return f"list of {_type_name(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is typing.Literal:
        return "str"
    return str(getattr(hint, "__name__", hint))


def lineage_of_columns(mapping: dict[str, list[tuple[str, str]]]) -> TableColumnLineage:
    """Column lineage from `{column: [(asset, column), ...]}`."""
    return TableColumnLineage(
        {
            column: [TableColumnDep(asset_key=AssetKey(asset), column_name=source) for asset, source in sources]
            for column, sources in mapping.items()
        }
    )


def table(rows: Sequence[dict[str, object]], empty: str) -> MetadataValue:
    """Rows as a Markdown table, or a sentence if there are none."""
    if not rows:
        return MetadataValue.md(empty)
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(row[name], in_table=True) for name in head) + " |" for row in rows]
    return MetadataValue.md("\n".join(lines))


def eligible_metadata(eligible: Sequence[EligibleMemory]) -> dict[str, Any]:
    """The number of memories, by project, and their tokens."""
    projects = sorted({memory.project_id for memory in eligible})
    rows = [
        {
            "project": project,
            "memories": len(mine := [memory for memory in eligible if memory.project_id == project]),
            "tokens": sum(memory.token_count for memory in mine),
            "oldest": min(memory.created_at for memory in mine).date(),
            "newest": max(memory.created_at for memory in mine).date(),
        }
        for project in projects
    ]
    return {
        "memories": len(eligible),
        "tokens": sum(memory.token_count for memory in eligible),
        "projects": len(projects),
        "preview": table(rows, "Nothing is eligible tonight."),
    }


def duplicates_metadata(groups: Sequence[DuplicateGroup]) -> dict[str, Any]:
    """The number of groups of exact duplicates, and of memories archived into their oldest."""
    rows: list[dict[str, object]] = [
        {"project": group.project_id, "survivor": group.survivor_id, "copies": len(group.duplicate_ids)}
        for group in sorted(groups, key=lambda group: -len(group.duplicate_ids))[:_PREVIEW]
    ]
    return {
        "groups": len(groups),
        "archived": sum(len(group.duplicate_ids) for group in groups),
        "preview": table(rows, "No exact duplicates."),
    }


def clusters_metadata(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """The number and sizes of clusters, and the largest of them."""
    rows: list[dict[str, object]] = [
        {
            "cluster": cluster.cluster_id,
            "project": cluster.project_id,
            "category": cluster.dominant_category,
            "members": cluster.member_count,
            "tokens": cluster.total_tokens,
            "min cosine": f"{cluster.min_similarity:.3f}",
            "tonight": cluster.settled or "to be distilled",
        }
        for cluster in clusters[:_PREVIEW]
    ]
    return {
        "clusters": len(clusters),
        "members": sum(cluster.member_count for cluster in clusters),
        "largest": max((cluster.member_count for cluster in clusters), default=0),
        "settled": sum(cluster.settled is not None for cluster in clusters),
        "preview": table(rows, "No clusters tonight."),
    }


def distillations_metadata(distillations: Sequence[Distillation]) -> dict[str, Any]:
    """The number of accepted drafts, what was preserved, and the content of the largest abstractions."""
    accepted = [d for d in distillations if d.outcome == "accepted"]
    largest = sorted(distillations, key=lambda d: (-len(d.member_ids), d.cluster.fingerprint))[:_PREVIEW]
    preview = "\n\n".join(
        f"**{len(d.member_ids)} memories, {d.outcome}**"
        + (f" ({plain(d.reason)})" if d.reason else f", ratio {d.measured.compression_ratio:.1f}")
        + (f"\n\n> {plain(clipped(d.content, 800))}\n\nFrom {named(d.member_ids)}." if d.content else "")
        for d in largest
    )
    return {
        "distillations": len(distillations),
        "accepted": len(accepted),
        "refused": sum(d.outcome == "refused" for d in distillations),
        "deferred": sum(d.outcome == "deferred" for d in distillations),
        "failed": sum(d.outcome == "failed" for d in distillations),
        "facts_found": sum(d.measured.facts_found for d in accepted),
        "facts_kept": sum(d.measured.facts_kept for d in accepted),
        "facts_attached": sum(d.measured.facts_attached for d in accepted),
        "preview": MetadataValue.md(preview or "Nothing to distil tonight."),
    }


def archives_metadata(archives: Sequence[Archive]) -> dict[str, Any]:
    """The results for the clusters in the store."""
    done = [archive for archive in archives if archive.status == "compressed"]
    rows: list[dict[str, object]] = [
        {
            "cluster": archive.id,
            "status": archive.status,
            "archived": len(archive.archived_ids),
            "ratio": f"{archive.measured.compression_ratio:.2f}",
            "reason": archive.reason or "",
        }
        for archive in archives[:_PREVIEW]
    ]
    return {
        "compressed": len(done),
        "skipped": sum(archive.status == "skipped" for archive in archives),
        "failed": sum(archive.status == "failed" for archive in archives),
        "memories_archived": sum(len(archive.archived_ids) for archive in done),
        "tokens_saved": sum(archive.measured.tokens_before - archive.measured.tokens_after for archive in done),
        "preview": table(rows, "Nothing was archived."),
    }


def series_metadata(store: Store, archives: Sequence[Archive]) -> dict[str, Any]:
    """The series memories that were made or updated, each figure of them over time, and what breaks them."""
    done = {archive.abstraction_id for archive in archives if archive.status == "compressed"}
    with store.reading() as tx:
        shown = [show_series(tx, one.id) for one in tx.series.active() if one.id in done]
    rows: list[dict[str, object]] = [
        {
            "series": clipped(one.content, 60),
            "figure": figure.name or "value",
            "over time": figure.plot,
            "least": figure.least.value + figure.unit,
            "greatest": figure.greatest.value + figure.unit,
            "newest": figure.newest.value + figure.unit,
        }
        for one in shown
        for figure in one.figures
        if figure.least.value != figure.greatest.value
    ]
    said = "\n".join(f"- {plain(one.content)}" for one in shown)
    return {
        **{name: value for name, value in archives_metadata(archives).items() if name != "preview"},
        "readings_breaking": sum(len(one.breaking_ids) for one in shown),
        "preview": MetadataValue.md(said or "No series has a new reading tonight."),
        "figures": table(rows[: _PREVIEW * 4], "No figure moved."),
    }


def principles_metadata(results: Sequence[PrincipleResult]) -> dict[str, Any]:
    """The results for the groups of related patterns."""
    rows: list[dict[str, object]] = [
        {
            "status": result.status,
            "patterns": len(result.pattern_ids),
            "principle": clipped(result.content, 300),
            "from": ", ".join(result.pattern_ids[:3]),
            "reason": result.reason or "",
        }
        for result in results[:_PREVIEW]
    ]
    return {
        "created": sum(result.status == "created" for result in results),
        **{status: sum(result.status == status for result in results) for status in ("skipped", "failed", "deferred")},
        "preview": table(rows, "No three patterns are related."),
    }


def playbook_metadata(settings: Settings, done: Sequence[Contribution]) -> dict[str, Any]:
    """The new contents of the playbook, and where it is."""
    rows: list[dict[str, object]] = [
        {
            "status": c.status,
            "category": c.category,
            "guidance": clipped(c.guidance, 200),
            "from": c.memory_id,
            "confidence": f"{c.confidence:.2f}",
        }
        for c in done[:_PREVIEW]
    ]
    return {
        "created": sum(c.status == "created" for c in done),
        "updated": sum(c.status == "updated" for c in done),
        "directory": MetadataValue.path(str(settings.playbook_path)),
        "preview": table(rows, "Nothing new."),
    }


def atoms_metadata(decisions: Sequence[AtomDecision]) -> dict[str, Any]:
    """The results of the causal findings, and the content of the first ones."""
    findings = [(decision, decision.causal) for decision in decisions if decision.causal]
    rows: list[dict[str, object]] = [
        {
            "subject": causal.subject,
            "action": causal.action,
            "outcome": causal.outcome,
            "from": decision.memory_id,
            "became": decision.status + (f" ({decision.reason})" if decision.reason else ""),
        }
        for decision, causal in findings[:_PREVIEW]
    ]
    counts = {
        status: sum(decision.status == status for decision in decisions)
        for status in ("created", "strengthened", "skipped", "not_causal")
    }
    return {**counts, "preview": table(rows, "No causal findings tonight.")}


def difference_of(store: Store, plan: NightPlan, report: Report) -> MetadataValue:
    """What the run changed in the active memory, with the first changes of each kind."""
    if not report.memories_archived:
        return MetadataValue.md("Nothing changed in the active memory.")
    run_id = plan.run_id
    before, after = read_state(store, f"before:{run_id}"), read_state(store, run_id)
    text = diff_text(diff_states(before, after), most=_PREVIEW)
    return MetadataValue.md("\n".join(f"    {line}" for line in text.splitlines()))


def report_metadata(report: Report, markdown: str, path: str) -> dict[str, Any]:
    """The figures that are plotted by day, the report page, and the paths of the files."""
    plotted = (
        "memories_scanned",
        "clusters_found",
        "clusters_compressed",
        "clusters_skipped",
        "memories_archived",
        "duplicates_archived",
        "abstractions_created",
        "active_memories",
        "tokens_before",
        "tokens_after",
        "token_reduction_pct",
        "avg_compression_ratio",
        "atoms_created",
        "atoms_enriched",
        "total_llm_calls",
        "total_llm_input_tokens",
        "total_llm_output_tokens",
        "estimated_cost_usd",
        "conflicts_known",
    )
    figures: dict[str, Any] = {name: getattr(report, name) for name in plotted}
    if report.recall_rate is not None:
        figures["recall_rate"] = report.recall_rate
    return {
        **figures,
        "verdict": MetadataValue.text(f"{report.verdict}: {report.verdict_reason}"),
        "errors": len(report.errors),
        "report": MetadataValue.md(markdown),
        "files": MetadataValue.path(path),
    }
