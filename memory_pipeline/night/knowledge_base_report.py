"""The report of a knowledge-base compression: what `kb-compress --json` prints and COMPRESSION-REPORT.yaml holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import yaml
from pydantic import Field

from memory_pipeline.documents import KeptDocument
from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.knowledge.entries import read_entry
from memory_pipeline.night.plan import NightPlan
from memory_pipeline.night.reading import NightReader
from memory_pipeline.records import Archive, EligibleMemory, Memory
from memory_pipeline.store import AWAITS_REVIEW
from memory_pipeline.wording.hidden import visible

REPORT_FILE = "COMPRESSION-REPORT.yaml"
#: The first line of the report, by which the next one knows what it may replace.
_MARK = "# Written by memory-pipeline kb-compress; the next run replaces it."
#: Where an entry has no token count.
TOKENS_OF_AN_ENTRY = 500


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
    """What the run saved."""

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
    blocked: str | None = Field(
        default=None,
        exclude_if=lambda reason: reason is None,
        description="Why the store could not be read; omitted otherwise.",
    )
    report_file: str | None = Field(
        default=None,
        exclude_if=lambda path: path is None,
        description=f"The path of {REPORT_FILE}, or why it was not written.",
    )

    @property
    def losses(self) -> int:
        """Clusters refused because the canonical entry would have lost something."""
        return sum("preservation" in (case.reason or "") for case in self.left_alone)

    @property
    def failures(self) -> int:
        """Clusters that failed with an error."""
        return sum(case.status == "failed" for case in self.left_alone)


def blank_report(plan: NightPlan, entries: Sequence[Memory] = ()) -> KnowledgeBaseReport:
    """The report of a run that changes none of these entries."""
    return KnowledgeBaseReport(
        run_id=plan.run_id,
        run_date=plan.as_of.date() if plan.options.moment else plan.options.partition,
        threshold=plan.settings.knowledge_base.threshold,
        dry_run=plan.options.dry_run,
        before=_before(entries),
        after=EntriesAfter(
            total_entries=len(entries), canonical_entries=sum(memory.is_canonical for memory in entries)
        ),
        no_cluster=NoCluster(count=len(entries)),
    )


def report_of(
    reader: NightReader, entries: Sequence[Memory], eligible: Sequence[EligibleMemory], archives: Sequence[Archive]
) -> KnowledgeBaseReport:
    """What became of the entries, with the closing line."""
    done = [archive for archive in archives if archive.status == "compressed"]
    made = reader.memories({archive.abstraction_id for archive in done if archive.abstraction_id})
    known = {memory.id: memory for memory in entries}
    archived = {memory_id for archive in done for memory_id in archive.archived_ids}
    before = sum(known[i].token_count or TOKENS_OF_AN_ENTRY for i in archived if i in known)
    after = sum(memory.token_count or TOKENS_OF_AN_ENTRY for memory in made.values())
    left = len(entries) - len(archived) + len(made)
    clustered = {memory_id for archive in archives for memory_id in archive.member_ids}
    threshold = reader.plan.settings.knowledge_base.threshold
    report = blank_report(reader.plan, entries).model_copy(
        update={
            "after": EntriesAfter(
                total_entries=left,
                canonical_entries=len(made) + sum(m.is_canonical for m in entries if m.id not in archived),
                archived_entries=len(archived),
            ),
            "compression": EntryCompression(
                ratio=round(left / len(entries), 2) if entries else 1.0, estimated_token_savings=before - after
            ),
            "clusters_created": tuple(
                CanonicalCluster(
                    id=archive.abstraction_id,
                    size=len(archive.member_ids),
                    topic=visible(read_entry(made[archive.abstraction_id]).title),
                    members=archive.member_ids,
                )
                for archive in done
                if archive.abstraction_id
            ),
            "no_cluster": NoCluster(
                count=len(entries) - len(clustered & known.keys()),
                reason=f"no other entry reaches the threshold of {threshold:g}",
            ),
            "left_alone": tuple(
                LeftAlone(
                    members=archive.member_ids,
                    status="proposed" if archive.reason == AWAITS_REVIEW else archive.status,
                    reason=archive.reason,
                )
                for archive in archives
                if archive.status not in ("compressed", "settled") or archive.reason == AWAITS_REVIEW
            ),
            "not_eligible": len(entries) - len(eligible),
        }
    )
    return report.model_copy(update={"line": _closing_line(report)})


def _before(entries: Sequence[Memory]) -> EntriesBefore:
    types = [memory.memory_type for memory in entries]
    lessons, decisions, feedback = (types.count(kind) for kind in ("lesson", "decision", "feedback"))
    return EntriesBefore(
        total_entries=len(entries),
        lessons=lessons,
        decisions=decisions,
        feedback=feedback,
        other=len(entries) - lessons - decisions - feedback,
    )


def _closing_line(report: KnowledgeBaseReport) -> str:
    """The last line that the command line prints."""
    clusters, archived = len(report.clusters_created), report.after.archived_entries
    if report.dry_run:
        return f"COMPRESSION COMPLETE (DRY RUN): {clusters} potential clusters, {archived} entries would be archived"
    saved = report.compression.estimated_token_savings
    return f"COMPRESSION COMPLETE: {clusters} clusters, {archived} archived, {saved} tokens saved"


def write_kb_report(directory: Path, report: KnowledgeBaseReport) -> Path:
    """Write the report as YAML, whole or not at all, in place of the one before; return its path.

    Raises OutputError if it cannot be written, or if a file of this name is not a report of this program.
    """
    path = directory / REPORT_FILE
    text = yaml.safe_dump(report.as_json(), sort_keys=False, allow_unicode=True)
    with directories(directory):
        write_text(path, f"{_MARK}\n{text}", begins_with(_MARK), place="report.written")
    return path
