"""Writes reports as JSON, Markdown and HTML, and differences as HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.files.writing import begins_with, check_output, directories, write_text
from memory_pipeline.recall.past import Difference
from memory_pipeline.reporting.model import TITLES, NightFigures, Report
from memory_pipeline.reporting.pages import (
    DIFFERENCE_MARK,
    REPORT_MARK,
    as_html,
    as_markdown,
    difference_page,
    link_to,
    neighbours,
    page_name,
    safe_name,
)


def write_report_files(directory: Path, report: Report, history: Sequence[NightFigures]) -> Path:
    """Write the report as JSON, Markdown and HTML, each completely or not at all; return the path of the JSON file."""
    stem = f"compression-{safe_name(report.run_id)}"
    files = {
        f"{stem}.json": (json.dumps(report.as_json(), indent=2, sort_keys=True, ensure_ascii=False), _is_report),
        f"{stem}.md": (
            as_markdown(report),
            begins_with(*(f"# {title} " for title in TITLES.values())),
        ),
        f"{stem}.html": (as_html(report, history), begins_with(REPORT_MARK)),
    }
    with directories(directory):
        for name, (text, is_ours) in files.items():
            write_text(directory / name, text, is_ours, place="report.written")
        for which, night in zip(("following", "previous"), neighbours(report, history), strict=True):
            if night is not None:
                _link(directory / page_name(night.run_id), which, report)
    return directory / f"{stem}.json"


def _link(page: Path, which: str, report: Report) -> None:
    """Let the page of a neighbouring night lead to that of this one; a page that is gone is left alone."""
    try:
        before = page.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    after = link_to(before, which, report)
    if after != before:
        write_text(page, after, begins_with(REPORT_MARK))


def report_page(directory: Path, run_id: str) -> Path | None:
    """The page of a run's report, if it was written."""
    page = directory / page_name(run_id)
    return page if page.exists() else None


def _is_report(path: Path) -> bool:
    """Whether a file is the JSON of an earlier report."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"run_id", "verdict"} <= found.keys()


def check_page(path: Path, *, force: bool = False) -> None:
    """Raises OutputError, before any work is done, for a file to which the page of a difference cannot or must not
    be written."""
    check_output(path, begins_with(DIFFERENCE_MARK), force=force)


def write_page(path: Path, difference: Difference, *, force: bool = False) -> None:
    """Write a difference as an HTML page, completely or not at all; errors as in `check_page`."""
    write_text(path, difference_page(difference), begins_with(DIFFERENCE_MARK), force=force)
