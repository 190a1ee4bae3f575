"""Makes the knowledge base canonical: monthly, and on request. Preflight, clusters, verification, report.

It applies the `canonical` policy of a night to all entries, and has its own report. Entries that a night has already
made canonical are counted, not made again. If later nights have already processed days after a month, that month is
only counted: they had every entry of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from typing import Any

import yaml
from pydantic import Field

from memory_pipeline.config.policies import PolicyTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.counting import NightOutcome
from memory_pipeline.consolidation.eligibility import select_eligible
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.report import report_run
from memory_pipeline.consolidation.run import report_failure, run_level, take_snapshot
from memory_pipeline.consolidation.similarity import find_similar
from memory_pipeline.documents import KeptDocument, optional
from memory_pipeline.errors import EmbeddingError, InputError, OutputError, StoreBusyError, StoreError
from memory_pipeline.files.writing import begins_with, directories, write_text
from memory_pipeline.records import LEVEL_MERGED, Archive, EligibleMemory, Memory
from memory_pipeline.store import AWAITS_REVIEW, EDGE_SCHEMA, Store
from memory_pipeline.text.entries import is_entry, read_entry
from memory_pipeline.text.hidden import visible

REPORT_FILE = "COMPRESSION-REPORT.yaml"
#: The first line of the report, by which the next one knows what it may replace.
_MARK = "# Written by memory-pipeline kb-compress; the next run replaces it."
#: Where an entry has no token count.
TOKENS_OF_AN_ENTRY = 500
UNAVAILABLE = "KB unavailable"
#: Fewer active entries are left as they are: there is nothing to be lost in them.
LEAST_ENTRIES = 10


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
    """The night whose entries are made canonical: of `day`, the last one of a month, or as of now, with fresh entries
    too. `threshold` and `days` override the settings for this run. Raises InputError for invalid values."""
    if threshold is not None and not 0.5 <= threshold <= 1.0:
        raise InputError(f"--threshold is {threshold}; use a cosine between 0.5 and 1.0")
    changes: dict[str, Any] = {"compression.min_active_memories": 0}  # it has a least number of entries instead
    if not day:
        changes["compression.freshness_hours"] = 0.0
    if threshold is not None:
        policies = settings.compression.policies
        table = policies.get("canonical", PolicyTable()).model_copy(update={"threshold": threshold})
        changes["compression.policies"] = {**policies, "canonical": table}
    now = datetime.now(UTC)
    options = NightOptions(day or now.date(), run_id, dry_run=dry_run, days=days, moment=None if day else now)
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
            return _written(night, report_of(night, line=line).model_copy(update={"blocked": str(error)}))
        opened.callback(tonight.store.release_lease, tonight.options.run_id)
        if len(entries) < LEAST_ENTRIES:
            line = f"COMPRESSION SKIPPED: Insufficient entries (min {LEAST_ENTRIES}, found {len(entries)})"
            return _written(tonight, report_of(tonight, entries, line=line))
        opened.enter_context(tonight.store.kept_open())
        return _compress(tonight, entries, eligible)


def _compress(night: Night, entries: Sequence[Memory], eligible: list[EligibleMemory]) -> KnowledgeBaseReport:
    started = datetime.now(UTC)
    try:
        take_snapshot(night)
        with night.store.reading() as tx:
            newest = tx.journal.newest_reported_day()
        # After a night of a later day, results of this run would precede those of that night.
        is_past = newest is not None and newest >= night.as_of.date()
        edges = EDGE_SCHEMA.empty_table() if is_past else find_similar(night, eligible)
        archives = run_level(night, eligible, edges, method="canonical")
        report = _written(night, report_of(night, entries, eligible, archives))
        report_run(night, "canonical", started, NightOutcome(eligible=eligible, archives=archives))
    except StoreBusyError:
        raise
    except Exception as error:
        report_failure(night, error, started, kind="canonical")
        raise
    return report


def _written(night: Night, report: KnowledgeBaseReport) -> KnowledgeBaseReport:
    """The report with the path of its file, as YAML, in place of the one before; or with the reason why it could not be
    written, as if a file of this name is not a report of this program."""
    path = night.settings.reports_path / REPORT_FILE
    text = yaml.safe_dump(report.as_json(), sort_keys=False, allow_unicode=True)
    try:
        with directories(path.parent):
            write_text(path, f"{_MARK}\n{text}", begins_with(_MARK), place="report.written")
        where = str(path)
    except (OSError, OutputError) as error:
        where = f"not written: {error}"
        if report.blocked is None:
            night.note_error("", "report", f"{REPORT_FILE} cannot be written: {error}")
    return report.model_copy(update={"report_file": where})


def _read(night: Night) -> tuple[list[Memory], list[EligibleMemory]]:
    """The active entries, and those that may become part of a canonical one."""
    with night.store.reading() as tx:
        active = tx.memories.all(include_archived=False, created_by=night.as_of)
    entries = [m for m in active if m.abstraction_level <= LEVEL_MERGED and is_entry(m.content)]
    night.embed_missing()
    ids = {memory.id for memory in entries}
    return entries, [memory for memory in select_eligible(night, []) if memory.id in ids]


class EntriesBefore(KeptDocument):
    """The active entries before the run, by type."""

    total_entries: int = Field(default=0, description="All active entries.")
    lessons: int = Field(default=0, description="Those of type `lesson`.")
    decisions: int = Field(default=0, description="Those of type `decision`.")
    feedback: int = Field(default=0, description="Those of type `feedback`.")
    other: int = Field(default=0, description="Those of any other type.")


class EntriesAfter(KeptDocument):
    """The active entries after the run."""

    total_entries: int = Field(default=0, description="All active entries.")
    canonical_entries: int = Field(default=0, description="Canonical entries, earlier ones included.")
    archived_entries: int = Field(default=0, description="Entries that this run archived.")


class EntryCompression(KeptDocument):
    """The savings of the run."""

    ratio: float = Field(default=1.0, description="Entries after divided by entries before.")
    estimated_token_savings: int = Field(
        default=0, description=f"Tokens saved; an entry without a token count is counted as {TOKENS_OF_AN_ENTRY}."
    )


class CanonicalCluster(KeptDocument):
    """Entries that became one canonical entry."""

    id: str = Field(description="The canonical entry.")
    size: int = Field(description="The number of entries.")
    topic: str = Field(description="The title of the canonical entry.")
    members: tuple[str, ...] = Field(description="The entries.")


class NoCluster(KeptDocument):
    """Entries that are in no cluster."""

    count: int = Field(default=0, description="The number of entries.")
    reason: str = Field(default="", description="Why they are in no cluster.")


class LeftAlone(KeptDocument):
    """A cluster that did not become a canonical entry."""

    members: tuple[str, ...] = Field(description="The entries.")
    status: str = Field(description="`skipped`, `failed` or `proposed`.")
    reason: str | None = Field(description="Why.")


class KnowledgeBaseReport(KeptDocument):
    """A knowledge-base compression, or the reason why there was none."""

    run_id: str = Field(description="The run.")
    run_date: date = Field(description="The day of the run, or the last day of the month: UTC.")
    threshold: float = Field(description="The minimum cosine at which entries become one.")
    dry_run: bool = Field(description="Whether the store was left unchanged; a report file is written all the same.")
    before: EntriesBefore = Field(default=EntriesBefore(), description="The active entries before the run.")
    after: EntriesAfter = Field(default=EntriesAfter(), description="The active entries after the run.")
    compression: EntryCompression = Field(default=EntryCompression(), description="What the run saved.")
    clusters_created: tuple[CanonicalCluster, ...] = Field(default=(), description="The canonical entries made.")
    no_cluster: NoCluster = Field(default=NoCluster(), description="Entries that are in no cluster.")
    left_alone: tuple[LeftAlone, ...] = Field(default=(), description="Clusters that were not made canonical.")
    not_eligible: int = Field(
        default=0, description="Entries that are critical, pinned, too fresh, too old or of another project."
    )
    line: str = Field(default="", description="The result in one line.")
    blocked: str | None = optional("Why the store could not be read; omitted otherwise.")
    report_file: str | None = optional(f"The path of {REPORT_FILE}, or why it was not written.")

    @property
    def losses(self) -> int:
        """Clusters refused because the canonical entry would have lost something."""
        return sum("preservation" in (case.reason or "") for case in self.left_alone)

    @property
    def failures(self) -> int:
        """Clusters that failed with an error."""
        return sum(case.status == "failed" for case in self.left_alone)


def report_of(
    night: Night,
    entries: Sequence[Memory] = (),
    eligible: Sequence[EligibleMemory] = (),
    archives: Sequence[Archive] = (),
    line: str | None = None,
) -> KnowledgeBaseReport:
    """The report on the entries. `line`: why the run ended early, without looking at them."""
    done = [archive for archive in archives if archive.status == "compressed" and archive.abstraction_id]
    made = night.memories({archive.abstraction_id or "" for archive in done}) if done else {}
    known = {memory.id: memory for memory in entries}
    archived = {memory_id for archive in done for memory_id in archive.archived_ids}
    before = sum(known[i].token_count or TOKENS_OF_AN_ENTRY for i in archived if i in known)
    saved = before - sum(memory.token_count or TOKENS_OF_AN_ENTRY for memory in made.values())
    left = len(entries) - len(archived) + len(made)
    clustered = {memory_id for archive in archives for memory_id in archive.member_ids}
    types = Counter(memory.memory_type for memory in entries)
    named = {"lessons": types["lesson"], "decisions": types["decision"], "feedback": types["feedback"]}
    threshold, dry_run = night.settings.canonical_threshold, night.options.dry_run
    summary = f"COMPRESSION COMPLETE: {len(done)} clusters, {len(archived)} archived, {saved} tokens saved"
    if dry_run:
        summary = f"COMPRESSION COMPLETE (DRY RUN): {len(done)} potential clusters, "
        summary += f"{len(archived)} entries would be archived"
    return KnowledgeBaseReport(
        run_id=night.run_id,
        run_date=night.as_of.date() if night.options.moment else night.options.partition,
        threshold=threshold,
        dry_run=dry_run,
        before=EntriesBefore(total_entries=len(entries), other=len(entries) - sum(named.values()), **named),
        after=EntriesAfter(
            total_entries=left,
            canonical_entries=len(made) + sum(m.is_canonical for m in entries if m.id not in archived),
            archived_entries=len(archived),
        ),
        compression=EntryCompression(
            ratio=round(left / len(entries), 2) if entries else 1.0, estimated_token_savings=saved
        ),
        clusters_created=tuple(
            CanonicalCluster(
                id=archive.abstraction_id or "",
                size=len(archive.member_ids),
                topic=visible(read_entry(made[archive.abstraction_id or ""]).title),
                members=archive.member_ids,
            )
            for archive in done
        ),
        no_cluster=NoCluster(
            count=len(entries) - len(clustered & known.keys()),
            reason="" if line else f"no other entry reaches the threshold of {threshold:g}",
        ),
        left_alone=tuple(
            LeftAlone(
                members=archive.member_ids,
                status="proposed" if archive.reason == AWAITS_REVIEW else archive.status,
                reason=archive.reason,
            )
            for archive in archives
            if archive.status not in ("compressed", "settled") or archive.reason == AWAITS_REVIEW
        ),
        not_eligible=0 if line else len(entries) - len(eligible),
        line=line or summary,
    )
