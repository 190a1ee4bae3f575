"""What the importers of other programs' files share: ids from native ones, names of projects, times of files."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_pipeline.files import real_path
from memory_pipeline.ingest.gate import NEVER_ARCHIVED
from memory_pipeline.ingest.values import MAX_ID
from memory_pipeline.moments import FIRST_MEMORY
from memory_pipeline.records import EXPIRED

_DIGEST = 32


def foreign_id(format_name: str, *native: object) -> str:
    """The id of what another program calls by `native`: `<format>:<native id>`, in a form that every import takes."""
    told = ":".join([format_name, *(str(part) for part in native)])
    kept = "".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "_" for c in told).strip()
    if kept == told and len(told) <= MAX_ID:
        return told
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{kept[: MAX_ID - _DIGEST - 1]}~{digest}"


def project_name(name: str) -> str:
    """A directory's name as that of a project: in lower case, with hyphens; `default` if nothing is left of it."""
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "default"


def project_of_directory(path: Path) -> str:
    """The project that a directory is named after."""
    return project_name(real_path(path).name)


def part_name(file: str, part: str) -> str:
    """The name of one conversation in a file of several, as the sources of its memories give it."""
    return f"{file}#{part}"


def file_of_part(name: str) -> str:
    """The file that holds a part."""
    return name.rpartition("#")[0] or name


def file_time(path: Path, now: datetime, zone: tzinfo) -> tuple[datetime, str]:
    """When a file was last changed, in a zone, and the quality of that time; the time of the import if the file's is
    none."""
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)
    except (OSError, OverflowError, ValueError):  # removed since, or a time beyond the calendar
        return now, "import"
    return (written.astimezone(zone), "mtime") if FIRST_MEMORY <= written <= now else (now, "import")


def archive_expired(
    until: datetime | None, created: datetime | None, now: datetime, importance: float = 1.0
) -> dict[str, Any]:
    """The archive fields of a memory of this importance whose time was over then; none if it is not over. What is
    critical does not expire."""
    if until is None or until > now or importance >= NEVER_ARCHIVED:
        return {}
    return {
        "archived_by": EXPIRED,
        "archived_at": max(until, created or now).astimezone(UTC),
        "importance_before": importance,
        "importance": min(importance, 0.5),
    }
