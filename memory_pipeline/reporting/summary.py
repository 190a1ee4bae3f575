"""A report as a screenful of plain text: what the agent now carries, what says the same thing, what was left alone, and
what a person has to decide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.records import READING
from memory_pipeline.reporting.model import TITLES, ClusterReport, Report
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped

#: How many clusters, series, reasons and memories that were not found again are shown.
CLUSTERS, SERIES, REASONS, MISSED = 5, 3, 3, 3
_WIDTH = 100


class Heading(str):
    """A line that begins a section; a terminal shows it in bold."""

    __slots__ = ()


def summary(report: Report, page: Path | None = None) -> list[str]:
    """The lines of a summary. `page`: the file with the whole report, if it was written."""
    lines: list[str] = [Heading(f"{TITLES[report.kind]} {report.partition}: {report.verdict}"), *_what_happened(report)]
    lines += ["", *_figures(report)]
    if report.read_by:
        lines += ["", *textwrap.wrap(report.read_by, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    for note in report.lines_moved:
        lines += _indented(f"Note: {note}.", 2)
    for title, section in (
        (_says_the_same(report), list(_clusters(report))),
        ("What machinery writes again and again", list(_series(report))),
        ("Left alone", list(_left_alone(report))),
        ("Not found again", list(_not_found(report))),
    ):
        if section:
            lines += ["", Heading(title), *section]
    return [*lines, "", f"Everything: {page}"] if page else lines


def _what_happened(report: Report) -> Iterator[str]:
    reason = report.verdict_reason
    yield f"{reason[:1].upper()}{reason[1:]}."
    if report.errors:
        yield from _indented(f"The first error: {report.errors[0].error}.", 2, lines=6)
    if report.rolled_back_at:
        yield f"Rolled back at {report.rolled_back_at:%Y-%m-%d %H:%M} UTC: none of this is in use any more."
    elif report.dry_run:
        yield "A preview: nothing was written to the store."


def _figures(report: Report) -> Iterator[str]:
    """Three headline figures: tokens, memories, decisions."""
    would = "would be " if report.dry_run else ""
    saved = f" ({-report.token_reduction_pct:+.1f} %)" if report.tokens_before != report.tokens_after else ""
    yield f"  Active memory   {report.tokens_before:,} -> {report.tokens_after:,} tokens{saved}"
    yield f"  Memories        {_archived(report, would)}"
    if report.recall_sampled > report.recall_found and not _missed(report):
        share = f"{report.recall_found} of {report.recall_sampled} archived memories that were asked for"
        yield f"  Found again     {share}; enough, nothing needs doing"
    if read := ", ".join(_read(report)):
        yield f"  Sources         {read}"
    if report.notes_read:
        left_out = f", {report.statements_refused:,} left out by the check" if report.statements_refused else ""
        statements = f"{how_many(report.statements_made, 'statement')} {would}kept{left_out}"
        yield f"  Notes           {report.notes_read:,} read, {statements}"
    if report.patterns_created:
        made = how_many(report.patterns_created, "pattern")
        guides = f", {how_many(report.playbook_created, 'piece')} of guidance" if report.playbook_created else ""
        yield f"  New             {made}{guides} (memory-pipeline playbook list)"
    if report.turns_read:
        by_model = f", {report.extractions_by_model:,} found by the model" if report.extractions_by_model else ""
        which = "list" if report.conversation_days_again else f"show {report.partition}"
        extractions = f"{report.extractions_kept:,} kept{by_model} (memory-pipeline conversations {which})"
        yield f"  Conversations   {how_many(report.turns_read, 'turn')} read, {extractions}"
    if report.conversation_days_again:
        again = how_many(
            report.conversation_days_again, "earlier day of conversations", "earlier days of conversations"
        )
        yield f"  Read too        {again}, which were open"
    if report.turns_without_speaker:
        unknown = f"{how_many(report.turns_without_speaker, 'memory')} of conversations: nobody knows who speaks"
        yield f"  Not read        {unknown}; name the human in conversations.human_names"
    if report.conversation_days_left:
        left = how_many(report.conversation_days_left, "day of conversations", "days of conversations")
        yield f"  Taken back      {left}, as a rollback left them; 'conversations run --date DAY' reads one"
    yield f"  For you         {', '.join(waiting(report)) or 'nothing to decide'}"


def _archived(report: Report, would: str) -> str:
    """The numbers of memories that were archived into new ones, and as copies of others."""
    copies = report.duplicates_archived
    alike = report.memories_archived - copies
    into = f" into {how_many(report.abstractions_created, 'new one')}" if report.abstractions_created else ""
    parts = [f"{alike:,} {would}archived{into}"] if alike or not copies else []
    if copies:
        originals = "the one that it repeats" if copies == 1 else "those they repeat"
        parts.append(f"{how_many(copies, 'exact copy')} {'' if parts else f'{would}archived '}into {originals}")
    return ", ".join(parts)


def _read(report: Report) -> Iterator[str]:
    """The changes that the sources brought."""
    if report.entries_new:
        yield f"{report.entries_new:,} new"
    if report.entries_changed:
        yield f"{report.entries_changed:,} edited (the new words supersede the old)"
    if gone := report.entries_gone - report.entries_changed:
        yield f"{gone:,} gone (memory-pipeline sources gone)"
    failed = [source.source for source in report.sources if source.status == "failed"]
    if failed:
        yield f"{', '.join(failed)} could not be read (memory-pipeline sources check)"


def waiting(report: Report) -> Iterator[str]:
    """The decisions that wait for a person, each with the command that shows it."""
    if report.conflicts_known:
        when = "after the night itself: " if report.dry_run else ""
        yield f"{how_many(report.conflicts_known, 'contradiction')} ({when}memory-pipeline conflicts list)"
    if report.proposals:
        yield f"{how_many(report.proposals, 'proposal')} (memory-pipeline proposals list)"
    if rejected := sum(source.quarantined for source in report.sources):
        yield f"{how_many(rejected, 'row')} that could not be imported (memory-pipeline quarantine)"
    if report.errors:
        shows = "night --dry-run" if report.dry_run else "report"
        yield f"{how_many(len(report.errors), 'error')} (memory-pipeline {shows} --verbose)"
    if missed := _missed(report):
        archived = how_many(missed, "archived memory", "archived memories")
        yield f"{archived} that a search did not bring back (below, under 'Not found again')"


def made_of(report: Report) -> list[ClusterReport]:
    """The clusters that became, would become or may become one memory, the largest first."""
    return [
        cluster
        for cluster in report.largest_clusters
        if cluster.abstraction and cluster.status in ("compressed", "proposed")
    ]


def _says_the_same(report: Report) -> str:
    """The title above the clusters, with how many of them are shown."""
    made = made_of(report)
    is_read = any(cluster.policy == READING for cluster in made)
    title = "What was read, and what says the same thing" if is_read else "What says the same thing"
    return f"{title} (the {CLUSTERS} largest)" if len(made) > CLUSTERS else title


def _clusters(report: Report) -> Iterator[str]:
    for cluster in made_of(report)[:CLUSTERS]:
        verb = "would become" if report.dry_run or cluster.status == "proposed" else "became"
        yield f"  {how_many(cluster.member_count, 'memory')} of {cluster.project_id} {verb}:"
        yield from _indented(cluster.abstraction, 4)


def _series(report: Report) -> Iterator[str]:
    for row in report.series[:SERIES]:
        yield from _indented(row.content, 2)
    if len(report.series) > SERIES:
        yield f"  and {len(report.series) - SERIES} more (memory-pipeline series list)"


def _not_found(report: Report) -> Iterator[str]:
    """The meaning of a recall check below its floor, and what a person can do."""
    if not _missed(report):
        return
    would = "would not bring" if report.dry_run else "did not bring"
    yield f"  A question made of a few words of each {would} these back, nor what stands for them."
    yield "  They stay in the store; 'history MEMORY_ID' shows each. If the rest reads well, nothing needs doing."
    for missed in report.recall_missed[:MISSED]:
        yield f"  {clipped(missed.content, _WIDTH)}"
        yield f"    asked: {clipped(missed.question, _WIDTH)}"
    if (more := _missed(report) - MISSED) > 0:
        yield f"  and {more} more (memory-pipeline report --json)"
    if report.dry_run:
        yield "  To decide yourself what is archived, set compression.review to manual before the night."
    else:
        yield "  To take one back: memory-pipeline rollback --abstraction ID (of what stands for it)."


def _left_alone(report: Report) -> Iterator[str]:
    refusals = sorted(report.refusals.items(), key=lambda item: (-item[1], item[0]))
    for reason, number in refusals[:REASONS]:
        yield f"  {how_many(number, 'cluster')}: {clipped(reason, _WIDTH)}"
    if len(refusals) > REASONS:
        others = sum(number for _, number in refusals[REASONS:])
        yield f"  {how_many(others, 'cluster')} for other reasons"
    if report.readings_breaking:
        yield f"  {how_many(report.readings_breaking, 'reading')} out of the usual, which the series name"


def _missed(report: Report) -> int:
    """The number of memories that the recall check missed, if they are so many that a person should look at them."""
    if report.recall_rate is None or report.recall_rate >= RECALL_FLOOR:
        return 0
    return report.recall_sampled - report.recall_found


def _indented(text: str, spaces: int, lines: int = 2) -> list[str]:
    """A text on at most so many lines."""
    return textwrap.wrap(
        clipped(text, 10 * _WIDTH),
        _WIDTH,
        initial_indent=" " * spaces,
        subsequent_indent=" " * spaces,
        max_lines=lines,
        placeholder=" ...",
    )
