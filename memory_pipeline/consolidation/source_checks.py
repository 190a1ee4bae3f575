"""Checks what sources would bring if they were read now: they are read into a copy of the store that is thrown away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field

from memory_pipeline.config.exports import BrokenSource, SourceTable
from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.imported_notes import edits_of
from memory_pipeline.consolidation.plan import news_in_words, next_night, night_of, waiting_in_words
from memory_pipeline.documents import Document
from memory_pipeline.errors import MemoryPipelineError
from memory_pipeline.ingest.candidates import ImportSummary, Skipped, in_numbers
from memory_pipeline.ingest.formats import importer_of
from memory_pipeline.ingest.sources import SourceContents, check_not_ours, find_files, read_source
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders.missing import Progress
from memory_pipeline.moments import end_of
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many

_MOST_NAMED = 3
_SOONER = "; new entries come sooner where the sensor changed_sources is on"
#: Of more bytes than this, reading takes longer than a person waits without a word.
_MUCH = 10_000_000


class CheckedSource(Document):
    """The news that a source would bring if it were read now; nothing was written."""

    name: str = Field(description="The name of the source.")
    path: str = Field(description="The workspace directory, or the file.")
    error: str | None = Field(description="Why it, or which of its files, cannot be read.")
    files: int = Field(default=0, description="Files that it has.")
    edits_waiting: int = Field(
        default=0, description="Edits and removals that a night would take: the old words give way."
    )
    next_edits: int = Field(default=0, description="Of these, what the next night takes.")
    next_entries: int = Field(
        default=0, description="New entries that the next night takes; the others are of a later time."
    )
    next_night: date = Field(description="The night that runs next.")
    waits_for: date | None = Field(
        default=None, description="The night that takes all of it at the latest; null if nothing waits."
    )
    warnings: tuple[str, ...] = Field(default=(), description="What to know of files that no night has read.")
    import_: ImportSummary = Field(alias="import", description="What an import would do, as of now.")


def checked_broken(broken: BrokenSource, settings: Settings) -> CheckedSource:
    """The check of a source whose table in the settings cannot be used."""
    following = next_night(Store.of(settings), datetime.now(UTC))
    path = broken.given.get("path")
    return CheckedSource(
        name=broken.name,
        path=path if isinstance(path, str) else "",
        error=broken.problem,
        next_night=following,
        import_=ImportSummary(),
    )


def check_sources(
    settings: Settings,
    sources: tuple[SourceTable, ...],
    progress: Progress,
    say: Callable[[str], None] = lambda _: None,
) -> list[CheckedSource]:
    """Read sources into a copy of the store, or an empty one, that is removed afterwards. `say`: tells a person that
    something takes a while."""
    store = Store.of(settings)
    with ExitStack() as stack:
        if store.exists():
            scratch = stack.enter_context(store.thrown_away())
        else:
            scratch = Store(Path(stack.enter_context(TemporaryDirectory())) / "store.duckdb")
            with scratch.writing("sources check"):
                pass
        return [_check_source(scratch, settings, source, progress, say) for source in sources]


def _check_source(
    scratch: Store, settings: Settings, source: SourceTable, progress: Progress, say: Callable[[str], None]
) -> CheckedSource:
    now = datetime.now(UTC)
    following = next_night(scratch, now)
    checked: dict[str, Any] = {"error": None, "import_": ImportSummary()}
    try:
        check_not_ours(source)
        found_files = find_files(source, settings, Skipped())
        checked["files"] = len(found_files)
        with scratch.reading() as tx:
            known = tx.sources.files(source.name)
        unread = {
            file.name: datetime.fromtimestamp(file.modified_ns / 1e9, UTC)
            for file in found_files
            if file.name not in known
        }
        checked["warnings"] = tuple(importer_of(source.format).warnings(unread, now))
        if (size := sum(file.size for file in found_files)) > _MUCH:
            number = how_many(len(found_files), "file")
            say(f"  {source.name}: {number} of {size / 1e6:,.0f} MB together; this takes a while")
        contents = read_source(
            scratch,
            settings,
            source,
            as_of=now,
            now=now,
            embedder=lambda: choose_embedder(settings),
            embed=False,
            progress=lambda _, done, total: progress(f"entries of {source.name}", done, total),
        )
        summary = contents.summary or ImportSummary()
        if summary.read:
            progress(f"entries of {source.name}", summary.read, summary.read)
        waiting = edits_of(scratch, settings, source, contents, now)
        edits = waiting.waiting + waiting.changed
        times = _read_new_times(Store.of(settings), scratch, contents)
        ends = end_of(following)
        later_edits = edits_of(scratch, settings, source, contents, now, ends).waiting
        later_edits += sum(by in times and times[by] >= ends for by in waiting.gone.values())
        last = max([*times.values(), *(waiting.open_since.values() if waiting.waiting else ())], default=None)
        checked |= {
            "error": "; ".join(f"{file}: {why}" for file, why in sorted(contents.unreadable.items())) or None,
            "edits_waiting": edits,
            "next_edits": edits - later_edits,
            # An entry that a source before this one brings is new to the store, and not brought by this one.
            "next_entries": min(summary.imported, sum(moment.date() <= following for moment in times.values())),
            "waits_for": night_of(last, following) if last else following if edits else None,
            "import_": summary,
        }
    except MemoryPipelineError as problem:
        checked["error"] = str(problem)
    return CheckedSource(name=source.name, path=source.path, next_night=following, **checked)


def _read_new_times(store: Store, scratch: Store, contents: SourceContents) -> dict[str, datetime]:
    """The times of the entries that were imported into the scratch store and that the store does not have, by id."""
    ids = list({memory_id for standing in contents.standing.values() for memory_id in standing})
    known: Mapping[str, object] = {}
    if store.exists():
        with store.reading() as tx:
            known = tx.memories.existing(ids)
    with scratch.reading() as tx:
        read = tx.memories.read([memory_id for memory_id in ids if memory_id not in known])
    return {memory_id: memory.created_at for memory_id, memory in read.items()}


def checked_text(source: CheckedSource, *, verbose: bool = False) -> str:
    """The result of a check as text; with `verbose`, every file that gives nothing is named."""
    report = source.import_
    lines = [f"{source.name} ({source.path}): " + (f"PROBLEM: {source.error}" if source.error else "readable")]
    if source.files:
        lines.append(
            f"  {how_many(source.files, 'file')}; {how_many(report.read, 'entry')} in those with something new: "
            f"{report.imported:,} would be imported, {report.unchanged:,} known already, {report.quarantined:,} "
            "quarantined."
        )
    later = report.imported - source.next_entries
    lines += [f"  Warning: {problem}." for problem in source.warnings]
    later_edits = source.edits_waiting - source.next_edits
    if (taken := news_in_words(source.next_edits, source.next_entries)) and (later or later_edits):
        lines.append(
            f"  The night of {source.next_night} takes {taken}; "
            f"{waiting_in_words(later_edits, later, str(source.waits_for))} at the latest{_SOONER if later else ''}."
        )
    elif waits := waiting_in_words(source.edits_waiting, report.imported, str(source.waits_for)):
        lines.append(f"  {waits}{_SOONER if report.imported else ''}.")
    lines += [f"  {line}" for line in list_not_taken(report, 10, verbose=verbose)]
    return "\n".join(lines)


def list_not_taken(report: ImportSummary, rows: int, *, verbose: bool) -> list[str]:
    """Lines on what an import masked, left out and split, with the first rows that it could not take; with `verbose`,
    every file that gave nothing is named."""
    lines = []
    if report.masked:
        lines.append("Masked: " + ", ".join(f"{n} {kind}" for kind, n in sorted(report.masked.items())) + ".")
    if report.skipped:
        lines.append(f"Left out: {in_numbers(report.skipped)}.")
    lines += silent_lines(report.silent_files, verbose=verbose)
    if report.split:
        lines.append(f"Split between sentences: {how_many(report.split, 'long entry')}.")
    return [*lines, *(f"quarantined {row.file}:{row.line}: {row.reason}" for row in report.rejected[:rows])]


def silent_lines(files: Mapping[str, Sequence[str]], *, verbose: bool) -> list[str]:
    """The files by reason, most first: a few of each by name, or with `verbose` all."""
    count = sum(map(len, files.values()))
    if not count:
        return []
    more = "" if verbose or all(len(names) <= _MOST_NAMED for names in files.values()) else " (--verbose names all)"
    lines = [f"{how_many(count, 'file')} gave no memory{more}:"]
    for why, names in sorted(files.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {len(names)}: {why}")
        if verbose:
            lines += [f"    {name}" for name in names]
        else:
            rest = len(names) - _MOST_NAMED
            lines.append("    " + ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else ""))
    return lines
