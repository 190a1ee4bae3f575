"""Notices of a night: always to the outbox in the store and a JSONL file, and to any configured URLs."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_pipeline.errors import OutputError
from memory_pipeline.files.writing import append_line, directories
from memory_pipeline.killpoints import reached
from memory_pipeline.records import Notice, Priority, derived_id
from memory_pipeline.text.counts import how_many

if TYPE_CHECKING:
    from memory_pipeline.consolidation.context import Night
    from memory_pipeline.reporting.model import Report

RECIPIENT = "all"
LONG_RUN_MS = 30 * 60 * 1000
_log = logging.getLogger(__name__)


def priority_of(report: Report) -> Priority:
    """`action` if the night requires action, else `info`."""
    grew = report.token_reduction_pct < 0 and not report.turns_read  # what is kept of turns stands beside them
    needs_action = report.errors or report.verdict == "FAIL" or grew or report.duration_ms > LONG_RUN_MS
    return "action" if needs_action else "info"


def subject_of(report: Report) -> str:
    """The subject line of a notice."""
    return (
        f"COMPRESSION RUN {report.verdict}: {report.abstractions_created} abstractions, "
        f"{report.token_reduction_pct}% token reduction"
    )


def make_notice(report: Report, at: datetime) -> Notice:
    """The notice of a night."""
    return Notice(
        id=derived_id("notice", report.run_id, report.verdict),
        run_id=report.run_id,
        recipient=RECIPIENT,
        priority=priority_of(report),
        subject=subject_of(report),
        body=f"{report.verdict_reason}. {report.read_by} Partition {report.partition}, "
        f"{report.memories_archived} memories archived, {len(report.errors)} errors."
        + (f" The first: {report.errors[0].stage}: {report.errors[0].error[:500]}" if report.errors else ""),
        created_at=at,
    )


def announce_failed_run(night: Night, name: str, message: str) -> bool:
    """Announce a failed run that is not a night; returns False if it was already announced."""
    with night.store.reading() as tx:
        if tx.journal.report(night.options.run_id) is not None:
            return False
    at, text = datetime.now(UTC), message[:1000]
    notice = Notice(
        id=derived_id("notice", night.options.run_id, "failed"),
        run_id=night.options.run_id,
        recipient=RECIPIENT,
        priority="action",
        subject=f"RUN FAILED: {name}",
        body=f"{text}. What it had committed stays; see the run in Dagster.",
        created_at=at,
    )
    with night.writing() as tx:
        is_new = tx.journal.keep_notice(notice)
    if is_new:
        deliver_notice(night, notice)
    return is_new


def deliver_notice(night: Night, notice: Notice) -> None:
    """Add a notice from the outbox to the file, then try the URLs; a failed delivery never fails the night."""
    line = json.dumps({**asdict(notice), "created_at": notice.created_at.isoformat()}, sort_keys=True)
    path, problems = night.settings.reports_path / "notices.jsonl", []
    try:
        with directories(path.parent):
            append_line(path, line)
    except OutputError as error:  # the notice stays in the outbox, with the reason
        problems.append(str(error))
        night.log.warning("the notice is only in the store's outbox: %s", error)
    reached("notice.written")
    if night.settings.notices.urls:
        problems += filter(None, [_deliver(night.settings.notices.urls, notice)])
    if problems or night.settings.notices.urls:
        with night.store.writing(night.holder, notice.run_id) as tx:
            tx.journal.note_delivery(notice.id, datetime.now(UTC), "; ".join(problems) or None)


def _deliver(urls: tuple[str, ...], notice: Notice) -> str | None:
    """Why the notice was not delivered, or None. URLs may contain secrets, so they are never repeated here."""
    import apprise

    channel = apprise.Apprise()
    refused = sum(not channel.add(url) for url in urls)
    sent = bool(len(channel)) and channel.notify(title=notice.subject, body=notice.body)
    if sent and not refused:
        return None
    why, mend = "a channel did not accept it", "check the setting notices.urls and the channel itself"
    if refused:
        why, mend = f"invalid: {refused} of {how_many(len(urls), 'URL')}", "check the setting notices.urls"
    error = f"the notice was not delivered everywhere ({why}); {mend}"
    _log.warning("%s", error)
    return error
