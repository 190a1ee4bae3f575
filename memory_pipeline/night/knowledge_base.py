"""Makes the knowledge base canonical: monthly, and on request. Preflight, clusters, verification, report.

It applies the `canonical` policy of a night to all entries, and has its own report. Entries that a night has already
made canonical are counted, not made again. If later nights have already processed days after a month, that month is
only counted: they had every entry of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Any

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError, InputError, OutputError, StoreBusyError, StoreError
from memory_pipeline.night.context import Night
from memory_pipeline.night.eligibility import as_eligible, is_entry_of
from memory_pipeline.night.knowledge_base_report import (
    REPORT_FILE,
    KnowledgeBaseReport,
    blank_report,
    report_of,
    write_kb_report,
)
from memory_pipeline.night.order import run_level
from memory_pipeline.night.plan import NightOptions, NightPlan
from memory_pipeline.night.run import report_failure, take_snapshot
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.records import LEVEL_MERGED, EligibleMemory, Memory
from memory_pipeline.reporting.report import NightOutcome, report_run
from memory_pipeline.store import EDGE_SCHEMA, Store

UNAVAILABLE = "KB unavailable"
#: Fewer active entries are left as they are: there is nothing to be lost in them.
LEAST_ENTRIES = 10
#: Settings for the command `kb-compress`: on request, fresh entries are included.
_ON_DEMAND = {"compression.freshness_hours": 0.0}


def knowledge_base_night(
    store: Store,
    settings: Settings,
    run_id: str,
    *,
    day: date | None = None,
    threshold: float | None = None,
    days: int | None = None,
    dry_run: bool = False,
    holder: str = "kb-compress",
) -> Night:
    """The night whose entries are made canonical: of `day` (the last one of a month), or as of now on request.
    `threshold` and `days` override the settings for this run. Raises InputError for invalid values."""
    if threshold is not None and not 0.5 <= threshold <= 1.0:
        raise InputError(f"--threshold is {threshold}; use a cosine between 0.5 and 1.0")
    changes: dict[str, Any] = {} if day else dict(_ON_DEMAND)
    if threshold is not None:
        changes["knowledge_base.threshold"] = threshold
    now = datetime.now(UTC)
    options = NightOptions(
        day or now.date(), run_id, dry_run=dry_run, days=days, moment=None if day else now.replace(microsecond=0)
    )
    return Night(store, settings.with_values(changes), options, holder=holder)


def compress_knowledge_base(night: Night) -> KnowledgeBaseReport:
    """Make the knowledge base canonical, write the report and return it.

    If the store cannot be reached or has too few entries, nothing is changed and the report's line says so. Raises
    StoreBusyError while a night runs.
    """
    with ExitStack() as opened:
        try:
            tonight = opened.enter_context(night.on_its_store())
            entries, eligible = _read(tonight)
        except StoreBusyError:
            raise
        except (StoreError, EmbeddingError) as error:
            night.log.error("the knowledge base cannot be read: %s", error)
            line = f"COMPRESSION BLOCKED: {UNAVAILABLE}"
            return _written(night, blank_report(night.plan).model_copy(update={"line": line, "blocked": str(error)}))
        opened.callback(tonight.store.release_lease, tonight.options.run_id)
        if len(entries) < LEAST_ENTRIES:
            line = f"COMPRESSION SKIPPED: Insufficient entries (min {LEAST_ENTRIES}, found {len(entries)})"
            return _written(tonight, blank_report(tonight.plan, entries).model_copy(update={"line": line}))
        opened.enter_context(tonight.store.kept_open())
        return _compress(tonight, entries, eligible)


def _compress(night: Night, entries: Sequence[Memory], eligible: list[EligibleMemory]) -> KnowledgeBaseReport:
    started = datetime.now(UTC)
    try:
        take_snapshot(night)
        edges = EDGE_SCHEMA.empty_table() if _is_past(night.store, night.plan) else find_similar(night, eligible)
        archives = run_level(night, "canonical", eligible, edges)
        report = _written(night, report_of(night.reader, entries, eligible, archives))
        report_run(night, "canonical", started, NightOutcome(eligible=eligible, archives=archives))
    except StoreBusyError:
        raise
    except Exception as error:
        report_failure(night, error, started, kind="canonical")
        raise
    return report


def _written(night: Night, report: KnowledgeBaseReport) -> KnowledgeBaseReport:
    """The report with the path of its file, or with the reason why it could not be written."""
    try:
        path = str(write_kb_report(night.settings.reports_path, report))
    except (OSError, OutputError) as error:
        path = f"not written: {error}"
        if report.blocked is None:
            night.note_error("", "report", f"{REPORT_FILE} cannot be written: {error}")
    return report.model_copy(update={"report_file": path})


def _is_past(store: Store, plan: NightPlan) -> bool:
    """Whether a night of a later day has run. Results of this run would then precede those of that night."""
    with store.reading() as tx:
        newest = tx.journal.newest_reported_day()
    return newest is not None and newest >= plan.as_of.date()


def _read(night: Night) -> tuple[list[Memory], list[EligibleMemory]]:
    """The active entries, and those that may become part of a canonical one."""
    with night.store.reading() as tx:
        active = tx.memories.all(include_archived=False, created_by=night.as_of)
    entries = [m for m in active if m.abstraction_level <= LEVEL_MERGED and is_entry_of(night.settings, m)]
    night.embed_missing()
    since = night.as_of - timedelta(days=night.options.days) if night.options.days else None
    free = [
        m
        for m in entries
        if m.importance < night.settings.compression.critical_floor
        and not m.pinned
        and night.plan.may_touch(m.project_id)
        and (since is None or m.created_at >= since)
        and not night.plan.is_fresh(m)
    ]
    with night.store.reading() as tx:
        embedded = night.reader.with_vector(tx, [memory.id for memory in free])
        stands_for = tx.lineage.count_raw_sources([memory.id for memory in free])
    return entries, [as_eligible(night.settings, m, stands_for.get(m.id, 1)) for m in free if m.id in embedded]
