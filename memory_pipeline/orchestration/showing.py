"""The display in Dagster of what a step did: columns and their lineage, tables in Markdown, words of memories beside
what became of them, and the results of checks.

Content of memories stands beside what became of it; a memory is never shown by its id alone.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any

import dagster as dg

from memory_pipeline.consolidation.context import Night
from memory_pipeline.documents import Document
from memory_pipeline.orchestration.location import OWNERS
from memory_pipeline.records import Memory
from memory_pipeline.records.columns import columns_of
from memory_pipeline.text.quoting import clipped, plain

Row = dict[str, object]
#: By column, the assets and columns that it comes from.
Lineage = Mapping[str, Sequence[tuple[str, str]]]
NO_LINEAGE: Lineage = {}
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
RECORDS = dg.PythonObjectDagsterType(list, name="Records")
#: Rows of a preview, memories that are quoted in a cell, and the longest quotation, in characters.
ROWS, MEMBERS, LONGEST = 8, 4, 400


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a check. `failures`: in words; `looked_at`: how much was checked; `mend`: what a person can do."""

    failures: Sequence[str]
    looked_at: int
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The display of a run of a step. `figures`: under the names of the report, with a preview in words; `checks`: the
    outcome of each of its checks."""

    figures: Mapping[str, Any]
    checks: Sequence[Found] = ()


def attributes(
    group: str, kinds: set[str], fresh: dg.FreshnessPolicy, columns: dg.TableSchema, lineage: Lineage = NO_LINEAGE
) -> dict[str, Any]:
    """What every asset has, as Dagster takes it. `lineage`: the origins of columns."""
    metadata: dict[str, Any] = {"dagster/column_schema": columns}
    if lineage:
        deps = {column: [dg.TableColumnDep(*origin) for origin in origins] for column, origins in lineage.items()}
        metadata["dagster/column_lineage"] = dg.TableColumnLineage(deps)
    return {
        "group_name": group, "owners": OWNERS, "kinds": kinds, "freshness_policy": fresh, "metadata": metadata
    }  # fmt: skip


def specs_of(checks: Mapping[str, str], asset: str) -> list[dg.AssetCheckSpec]:
    """The checks of an asset, by name with what each says."""
    return [dg.AssetCheckSpec(name, asset=asset, description=" ".join(text.split())) for name, text in checks.items()]


def result_of(
    name: str, outcome: Found, severity: dg.AssetCheckSeverity = WARN, asset: str | None = None
) -> dg.AssetCheckResult:
    """The result of a check. None blocks: a cluster with a problem is refused before it is written
    (`consolidation/gates.py`)."""
    failures = outcome.failures
    metadata: dict[str, Any] = {
        "looked_at": outcome.looked_at,
        "failures": len(failures),
        "first": "; ".join(failures[:5]) or "none",
        **({"mend": outcome.mend} if failures and outcome.mend else {}),
    }
    return dg.AssetCheckResult(
        asset_key=asset, check_name=name, passed=not failures, severity=severity, metadata=metadata
    )


def unchecked(name: str, reason: str, asset: str | None = None) -> dg.AssetCheckResult:
    """The result of a check that a skipped run could not make, because Dagster requires one."""
    return dg.AssetCheckResult(
        asset_key=asset, check_name=name, passed=False, severity=WARN, metadata={"skipped": reason}
    )


#: Figures of steps that have done something; what they only looked at, or left as it was, is no news.
_NEWS = (
    "duplicates_archived", "duplicates_proposed", "statements", "digests", "accepted", "refused", "deferred", "failed",
    "clusters_compressed", "clusters_failed", "memories_archived", "tokens_saved", "atoms_created", "atoms_enriched",
    "playbook_created", "playbook_updated", "created",
)  # fmt: skip


def log_news(log: Any, figures: Mapping[str, Any], names: Iterable[str] = _NEWS) -> None:
    """One line of a run's log for a step that has done something, so that the log of a quiet night stays short."""
    if words := [f"{name.replace('_', ' ')}: {figures[name]:,}" for name in names if figures.get(name)]:
        log.info(f"{', '.join(words)}.")


def by_status(records: Iterable[Any], names: Sequence[str], attribute: str = "status") -> dict[str, int]:
    """Counts the records of each status, or of another attribute."""
    known = [getattr(record, attribute) for record in records]
    return {name: known.count(name) for name in names}


def schema_of(record: type, inner: Collection[str] = (), without: Collection[str] = ()) -> dg.TableSchema:
    """The columns of a record class, with their types and, if given, their meanings: a field shared with a memory has
    the same one. A nested record is one column, so that no page begins with a long table; its `inner` fields follow
    under the names of lineage, as `cluster.member_ids`. `without`: fields that it never fills."""
    columns = [column for column in _columns(record) if "." not in column.name or column.name in inner]
    return dg.TableSchema(columns=[column for column in columns if column.name not in without])


def schema_of_document(document: type[Document], meaning: str) -> dg.TableSchema:
    """The one column of an asset that is a document; the reference lists its fields."""
    return dg.TableSchema([dg.TableColumn(document.__name__.lower(), "json", meaning)])


def schema_of_rows(document: type[Document]) -> dg.TableSchema:
    """The columns of an asset whose rows are documents: their fields."""
    return dg.TableSchema(
        [
            dg.TableColumn(field.alias or name, _type_name(field.annotation), field.description)
            for name, field in document.model_fields.items()
        ]
    )


def _columns(record: type, prefix: str = "") -> Iterator[dg.TableColumn]:
    hints = typing.get_type_hints(record)
    meanings = {column.name: column.meaning for column in (*columns_of(Memory), *columns_of(record))}
    for attribute in fields(record):
        hint = hints[attribute.name]
        yield dg.TableColumn(prefix + attribute.name, _type_name(hint), meanings.get(attribute.name))
        inner = next((part for part in typing.get_args(hint) if is_dataclass(part)), hint)
        if is_dataclass(inner) and typing.get_origin(hint) is not tuple:
            yield from _columns(typing.cast(type, inner), f"{prefix}{attribute.name}.")


def _type_name(hint: Any) -> str:
    if isinstance(hint, types.UnionType):
        return " or ".join(_type_name(part) for part in hint.__args__ if part is not type(None)) + "?"
    if typing.get_origin(hint) is tuple:
        return f"list of {_type_name(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is typing.Literal:
        return "str"
    return str(getattr(hint, "__name__", hint))


#: Characters below which Dagster shows Markdown in its place, and of a cell of such a preview.
INLINE, _CELL = 1000, 130


def preview(rows: Sequence[Row], empty: str) -> dict[str, dg.MetadataValue]:
    """Rows as a Markdown table `preview`, or a sentence if there are none.

    Dagster shows Markdown in its place only below a length, and otherwise a link: so the first rows, their cells
    clipped, are the preview, and `all_shown` is the whole table if there is more.
    """
    full = table(rows)
    if len(full) < INLINE:
        return {"preview": dg.MetadataValue.md(full or empty)}
    lines = table([{name: clipped(value, _CELL) for name, value in row.items()} for row in rows]).split("\n")
    while len("\n".join(lines)) >= INLINE:
        lines.pop()
    return {"preview": dg.MetadataValue.md("\n".join(lines)), "all_shown": dg.MetadataValue.md(full)}


def table(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table; nothing without rows."""
    if not rows:
        return ""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(row[name], in_table=True) for name in head) + " |" for row in rows]
    return "\n".join(lines)


def rows_of(night: Night, records: Iterable[Any], **cells: Callable[[Any], object]) -> list[Row]:
    """The first records as rows of a preview. `cells`: by heading, what is shown of a record; of a tuple of ids, the
    words of the first memories."""
    rows = [{name: read(record) for name, read in cells.items()} for record in islice(records, ROWS)]
    ids = {i for row in rows for cell in row.values() if isinstance(cell, tuple) for i in cell[:MEMBERS]}
    known = night.memories(ids) if ids else {}

    def words(cell: object) -> object:
        if not isinstance(cell, tuple):
            return cell
        missing = "(a memory that is not in the store)"
        contents = [clipped(known[i].content, LONGEST) if i in known else missing for i in cell[:MEMBERS]]
        return " / ".join([*contents, f"... and {len(cell) - MEMBERS:,} more"] if len(cell) > MEMBERS else contents)

    return [{name: words(cell) for name, cell in row.items()} for row in rows]
