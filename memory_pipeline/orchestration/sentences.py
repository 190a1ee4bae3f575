"""What Dagster shows of a step: its result as tables, and what it has done as one sentence of the run's log; nothing if
it found nothing to do, so that the log of a quiet night stays short."""

from __future__ import annotations

import types
import typing
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa
from dagster import AssetKey, MetadataValue, TableColumn, TableColumnDep, TableColumnLineage, TableSchema

from memory_pipeline.consolidation.clustering import conflicts_in
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.documents import Document
from memory_pipeline.records import (
    DIGEST,
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
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped, plain


def memories(count: int) -> str:
    """`1 memory`, `2 memories`."""
    return how_many(count, "memory")


def of_duplicates(groups: Sequence[DuplicateGroup]) -> str:
    """Copies and the memories that they went into."""
    copies = sum(len(group.duplicate_ids) for group in groups if not group.proposed)
    waiting = sum(len(group.duplicate_ids) for group in groups if group.proposed)
    done = sum(not group.proposed for group in groups)
    parts = [f"{how_many(copies, 'exact copy')} archived into {memories(done)}"] if copies else []
    parts += [f"{how_many(waiting, 'exact copy')} proposed for approval"] if waiting else []
    return _sentence(parts)


def of_eligible(eligible: Sequence[EligibleMemory], plan: NightPlan) -> str:
    """What the night may touch, if some of it has come of age since the night before."""
    new = _come_of_age(eligible, plan)
    projects = len({memory.project_id for memory in eligible})
    told = f"{memories(len(eligible))} of {how_many(projects, 'project')} may be touched, {new:,} for the first time"
    return _sentence([told] if new else [])


def of_pairs(pairs: pa.Table, eligible: Sequence[EligibleMemory], plan: NightPlan) -> str:
    """Pairs that are alike, and those that only seem so, if there are memories that no earlier night has compared."""
    if not pairs.num_rows or not _come_of_age(eligible, plan):
        return ""
    apart = len(conflicts_in(pairs))
    guarded = f", {apart:,} of them kept apart because they contradict each other" if apart else ""
    return f"{how_many(pairs.num_rows, 'pair')} of memories alike{guarded}."


def _come_of_age(eligible: Sequence[EligibleMemory], plan: NightPlan) -> int:
    """How many memories the night before could not touch yet."""
    return sum(memory.created_at > plan.fresh_after - timedelta(days=1) for memory in eligible)


def of_clusters(clusters: Sequence[Cluster]) -> str:
    """How many clusters, where, and how large."""
    settled = sum(cluster.settled is not None for cluster in clusters)
    if settled == len(clusters):
        return ""
    projects = len({cluster.project_id for cluster in clusters})
    largest = max(cluster.member_count for cluster in clusters)
    known = f"; {settled:,} of them decided on an earlier night" if settled else ""
    return (
        f"{how_many(len(clusters), 'cluster')} found in {how_many(projects, 'project')}, the largest of "
        f"{memories(largest)}{known}."
    )


def of_distillations(drafts: Sequence[Distillation]) -> str:
    """Drafts and their outcomes."""
    counts = {name: sum(d.outcome == name for d in drafts) for name in ("accepted", "refused", "deferred", "failed")}
    return f"{how_many(len(drafts), 'draft')}: {_counted(counts)}." if drafts else ""


def of_archives(archives: Sequence[Archive]) -> str:
    """What was written, and what was left."""
    done = [archive for archive in archives if archive.status == "compressed"]
    archived = sum(len(archive.archived_ids) for archive in done)
    saved = sum(archive.measured.tokens_before - archive.measured.tokens_after for archive in done)
    parts = []
    if done:
        parts.append(f"{memories(archived)} archived into {len(done):,}, {saved:,} tokens saved")
    left = {name: sum(a.status == name for a in archives) for name in ("skipped", "failed", "proposed")}
    if words := _counted(left):
        parts.append(f"clusters left as they were: {words}")
    return _sentence(parts)


def of_readings(archives: Sequence[Archive]) -> str:
    """Statements, and the notes that were put away."""
    statements = sum(archive.cluster.policy != DIGEST for archive in archives)
    archived = sum(len(archive.archived_ids) for archive in archives)
    told = f"{how_many(statements, 'statement')} kept of the notes, {memories(archived)} put away"
    return _sentence([told] if archives else [])


def of_series(archives: Sequence[Archive]) -> str:
    """Series and their readings."""
    done = [archive for archive in archives if archive.status == "compressed"]
    archived = sum(len(archive.archived_ids) for archive in done)
    told = f"{len(done):,} series brought up to date, {memories(archived)} archived into them"
    return _sentence([told] if done else [])


def of_atoms(decisions: Sequence[AtomDecision]) -> str:
    """Causes and effects, and what became of them."""
    words = {"created": "new", "strengthened": "strengthened", "skipped": "skipped"}
    counts = {word: sum(d.status == status for d in decisions) for status, word in words.items()}
    found = sum(counts.values())
    return f"{how_many(found, 'cause and effect', 'causes and effects')} found: {_counted(counts)}." if found else ""


def of_playbook(done: Sequence[Contribution]) -> str:
    """Advice that entered the playbook."""
    counts = {name: sum(one.status == name for one in done) for name in ("created", "updated")}
    return f"{how_many(len(done), 'piece')} of advice: {_counted(counts)}." if done else ""


def of_principles(results: Sequence[PrincipleResult]) -> str:
    """Rules behind patterns, and what became of them."""
    names = ("created", "skipped", "failed", "settled")
    counts = {name: sum(one.status == name for one in results) for name in names}
    return f"{how_many(len(results), 'rule')} behind patterns: {_counted(counts)}." if results else ""


def of_phase(phase: str, figures: Mapping[str, int]) -> str:
    """The figures of a phase of a consolidation job that are not zero."""
    told = [f"{value:,} {name.removeprefix(f'{phase}_').replace('_', ' ')}" for name, value in figures.items() if value]
    return f"{phase}: {', '.join(told)}." if told else ""


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _sentence(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts)}." if parts else ""


def schema_of(record: type, inner: Collection[str] = (), without: Collection[str] = ()) -> TableSchema:
    """The columns of a record class, with their types and, if given, their meanings: a field that a record shares
    with a memory has the same meaning. A nested record is one column, so that a page does not begin with a long table;
    of its fields, those `inner` ones follow that lineage names, as `cluster.member_ids`. `without`: fields that it
    never fills."""
    columns = [column for column in _columns(record) if "." not in column.name or column.name in inner]
    return TableSchema(columns=[column for column in columns if column.name not in without])


def schema_of_document(document: type[Document], meaning: str) -> TableSchema:
    """The one column of an asset that is a document; the reference lists its fields."""
    return TableSchema([TableColumn(document.__name__.lower(), "json", meaning)])


def schema_of_rows(document: type[Document]) -> TableSchema:
    """The columns of an asset whose rows are documents: their fields."""
    hints = document.model_fields
    return TableSchema(
        [
            TableColumn(field.alias or name, _type_name(field.annotation), field.description)
            for name, field in hints.items()
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


Row = dict[str, object]
#: Characters below which Dagster shows Markdown in its place, and of a cell of such a preview.
INLINE, _CELL = 1000, 130
#: A plot in pixels.
_WIDE, _HIGH = 320, 60


def preview(rows: Sequence[Row], empty: str) -> dict[str, MetadataValue]:
    """Rows as a Markdown table `preview`, or a sentence if there are none.

    Dagster shows Markdown in its place only below a length, and otherwise a link: so the first rows, their cells
    clipped, are the preview, and `all_shown` is the whole table if there is more.
    """
    whole = table(rows)
    if len(whole) < INLINE:
        return {"preview": MetadataValue.md(whole or empty)}
    lines = table([{name: clipped(value, _CELL) for name, value in row.items()} for row in rows]).split("\n")
    while len("\n".join(lines)) >= INLINE:
        lines.pop()
    return {"preview": MetadataValue.md("\n".join(lines)), "all_shown": MetadataValue.md(whole)}


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; nothing without rows."""
    if not rows:
        return ""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(row[name], in_table=True) for name in head) + " |" for row in rows]
    return "\n".join(lines)


def plot(values: Sequence[int], caption: str) -> MetadataValue:
    """Values, oldest first, as a line in a drawing that is small enough to be shown in its place."""
    if len(values) < 2:
        told = f"{values[0]:,}; a plot is drawn from the second night on" if values else "no night yet"
        return MetadataValue.md(f"{caption}: {told}.")
    least, greatest = min(values), max(values)
    scale = _HIGH / ((greatest - least) or 1)
    step = _WIDE / (len(values) - 1)
    points = " ".join(f"{n * step:.0f},{_HIGH - (v - least) * scale:.0f}" for n, v in enumerate(values))
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{_HIGH + 4}">'
        f'<polyline points="{points}" fill="none" stroke="#4a78b5" stroke-width="2"/></svg>'
    )
    image = b64encode(drawing.encode()).decode()
    return MetadataValue.md(
        f"![{caption}](data:image/svg+xml;base64,{image})\n\n{caption}: {values[0]:,} to {values[-1]:,}"
    )
