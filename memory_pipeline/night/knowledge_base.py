"""The knowledge base made canonical: monthly, and whenever a person asks. Preflight, clusters, verification, report.

It is the `canonical` policy of a night over all entries, with a report of its own; what a night has made
canonical already is counted, not made again. A month that later nights have gone beyond is only counted: they had
every entry of it in hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import EmbeddingError, InputError, OutputError, StoreBusyError, StoreError
from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.knowledge.entries import read_entry
from memory_pipeline.night.context import Night
from memory_pipeline.night.eligibility import as_eligible, is_entry_of
from memory_pipeline.night.order import run_level
from memory_pipeline.night.plan import NightOptions, NightPlan
from memory_pipeline.night.reading import NightReader
from memory_pipeline.night.run import report_failure, take_snapshot
from memory_pipeline.night.similarity import find_similar
from memory_pipeline.records import LEVEL_MERGED, Archive, EligibleMemory, Memory
from memory_pipeline.reporting.report import NightOutcome, report_run
from memory_pipeline.store import EDGE_SCHEMA, Store
from memory_pipeline.wording.hidden import visible

REPORT_FILE = "COMPRESSION-REPORT.yaml"
#: The first line of the report, by which the next one knows what it may replace.
_MARK = "# Written by memory-pipeline kb-compress; the next run replaces it."
UNAVAILABLE = "KB unavailable"
#: Where an entry has no token count.
TOKENS_OF_AN_ENTRY = 500
#: Entries that the command `kb-compress` may take: a person who asks for it waits for no freshness.
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
    """The night whose entries are made canonical: of `day` (the last one of a month), or as of now when a person
    asks. `threshold` and `days` override for this run. Raises InputError for values that cannot be."""
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


def compress_knowledge_base(night: Night) -> dict[str, Any]:
    """Make the knowledge base canonical, write the report, and return it with its closing `line`.

    Nothing is done where the store cannot be reached or has too few entries; the line says so. Raises
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
            return {"line": f"COMPRESSION BLOCKED: {UNAVAILABLE}", "blocked": str(error)}
        opened.callback(tonight.store.release_lease, tonight.options.run_id)
        least = tonight.settings.knowledge_base.min_entries
        if len(entries) < least:
            return {"line": f"COMPRESSION SKIPPED: Insufficient entries (min {least}, found {len(entries)})"}
        opened.enter_context(tonight.store.kept_open())
        return _compress(tonight, entries, eligible)


def _compress(night: Night, entries: Sequence[Memory], eligible: list[EligibleMemory]) -> dict[str, Any]:
    started = datetime.now(UTC)
    try:
        take_snapshot(night)
        edges = EDGE_SCHEMA.empty_table() if _is_past(night.store, night.plan) else find_similar(night, eligible)
        archives = run_level(night, "canonical", eligible, edges)
        report = _report(night.reader, entries, eligible, archives)
        try:
            path = str(write_kb_report(night.settings.reports_path, report))
        except (OSError, OutputError) as error:
            path = f"not written: {error}"
            night.note_error("", "report", f"{REPORT_FILE} cannot be written: {error}")
        report_run(night, "canonical", started, NightOutcome(eligible=eligible, archives=archives))
    except StoreBusyError:
        raise
    except Exception as error:
        report_failure(night, error, started, kind="canonical")
        raise
    return {**report, "line": _closing_line(report), "report_file": path}


def _is_past(store: Store, plan: NightPlan) -> bool:
    """Whether a night of a later day has run. What this one made now would stand before what that one has made."""
    with store.reading() as tx:
        newest = tx.journal.newest_reported_day()
    return newest is not None and newest >= plan.as_of.date()


def _read(night: Night) -> tuple[list[Memory], list[EligibleMemory]]:
    """The active entries, and those of them that may become part of a canonical one."""
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
        and m.created_at <= night.plan.fresh_after
    ]
    with night.store.reading() as tx:
        embedded = night.reader.with_vector(tx, [memory.id for memory in free])
        stands_for = tx.lineage.count_raw_sources([memory.id for memory in free])
    return entries, [as_eligible(night.settings, m, stands_for.get(m.id, 1)) for m in free if m.id in embedded]


def _report(
    reader: NightReader, entries: Sequence[Memory], eligible: Sequence[EligibleMemory], archives: Sequence[Archive]
) -> dict[str, Any]:
    done = [archive for archive in archives if archive.status == "compressed"]
    made = reader.memories({archive.abstraction_id for archive in done if archive.abstraction_id})
    words = {memory.id: memory for memory in entries}
    archived = {memory_id for archive in done for memory_id in archive.archived_ids}
    before = sum(words[i].token_count or TOKENS_OF_AN_ENTRY for i in archived if i in words)
    after = sum(memory.token_count or TOKENS_OF_AN_ENTRY for memory in made.values())
    left = len(entries) - len(archived) + len(made)
    clustered = {memory_id for archive in archives for memory_id in archive.member_ids}
    types = [memory.memory_type for memory in entries]
    counted = {name: types.count(kind) for name, kind in (("lessons", "lesson"), ("decisions", "decision"))}
    counted["feedback"] = types.count("feedback")
    others = [archive for archive in archives if archive.status not in ("compressed", "settled")]
    return {
        "run_id": reader.plan.options.run_id,
        "run_date": reader.plan.as_of.date().isoformat(),
        "threshold": reader.plan.settings.knowledge_base.threshold,
        "dry_run": reader.plan.options.dry_run,
        "before": {"total_entries": len(entries), **counted, "other": len(entries) - sum(counted.values())},
        "after": {
            "total_entries": left,
            "canonical_entries": len(made) + sum(m.is_canonical for m in entries if m.id not in archived),
            "archived_entries": len(archived),
        },
        "compression": {
            "ratio": round(len(entries) / left, 2) if left else 0.0,
            "estimated_token_savings": before - after,
        },
        "clusters_created": [
            {
                "id": archive.abstraction_id,
                "size": len(archive.member_ids),
                "topic": visible(read_entry(made[archive.abstraction_id or ""]).title),
                "members": list(archive.member_ids),
            }
            for archive in done
        ],
        "no_cluster": {
            "count": len(entries) - len(clustered & words.keys()),
            "reason": f"no other entry reaches the threshold of {reader.plan.settings.knowledge_base.threshold:g}",
        },
        "left_alone": [
            {"members": list(archive.member_ids), "status": archive.status, "reason": archive.reason}
            for archive in others
        ],
        "not_eligible": len(entries) - len(eligible),
    }


def _closing_line(report: Mapping[str, Any]) -> str:
    """The last line that the command line prints."""
    clusters, archived = len(report["clusters_created"]), report["after"]["archived_entries"]
    if report["dry_run"]:
        return f"COMPRESSION COMPLETE (DRY RUN): {clusters} potential clusters, {archived} entries would be archived"
    saved = report["compression"]["estimated_token_savings"]
    return f"COMPRESSION COMPLETE: {clusters} clusters, {archived} archived, {saved} tokens saved"


def write_kb_report(directory: Path, report: Mapping[str, Any]) -> Path:
    """Write the report as YAML, whole or not at all, in the place of the one before; return its path.

    Raises OutputError where it cannot be, or where a file of this name is not a report of ours.
    """
    path = directory / REPORT_FILE
    text = yaml.safe_dump(dict(report), sort_keys=False, allow_unicode=True)
    with directories(directory):
        write_text(path, f"{_MARK}\n{text}", begins_with(_MARK), place="report.written")
    return path
