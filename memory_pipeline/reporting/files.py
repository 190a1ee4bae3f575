"""The files of a report: JSON for programs, Markdown and a page for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from memory_pipeline.files import begins_with, directories, write_text
from memory_pipeline.reporting import rendering
from memory_pipeline.reporting.model import NightFigures, Report


def write_report_files(directory: Path, report: Report, history: Sequence[NightFigures]) -> Path:
    """Write the report as JSON, Markdown and HTML, each whole or not at all; return the JSON's path."""
    stem = f"compression-{safe_name(report.run_id)}"
    files = {
        f"{stem}.json": (json.dumps(report.as_json(), indent=2, sort_keys=True, ensure_ascii=False), _is_report),
        f"{stem}.md": (
            rendering.as_markdown(report),
            begins_with(*(f"# {title} " for title in rendering.TITLES.values())),
        ),
        f"{stem}.html": (rendering.as_html(report, history), begins_with(rendering.HTML_START)),
    }
    with directories(directory):
        for name, (text, is_ours) in files.items():
            write_text(directory / name, text, is_ours, place="report.written")
    return directory / f"{stem}.json"


def _is_report(path: Path) -> bool:
    """Whether a file is the JSON of an earlier report."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"run_id", "verdict"} <= found.keys()


def safe_name(run_id: str) -> str:
    """A run id as part of a file name: letters, digits, hyphens and underscores only."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "-_" else "_" for c in run_id)[:100]
