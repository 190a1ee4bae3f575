"""The import formats by name, each a reader from a path to candidates."""

from __future__ import annotations

from datetime import datetime, tzinfo
from pathlib import Path

from memory_pipeline.errors import InputError
from memory_pipeline.intake.candidates import Reading, Skipped
from memory_pipeline.intake.openclaw import read_openclaw
from memory_pipeline.intake.tables import read_csv, read_jsonl, read_parquet
from memory_pipeline.settings import Settings

_TABLES = {"jsonl": read_jsonl, "csv": read_csv, "parquet": read_parquet}
IMPORT_FORMATS = ("openclaw", *_TABLES)


def read_format(
    name: str, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped
) -> Reading:
    """Open `path` as format `name`. Raises InputError for an unknown format or a path of the wrong kind."""
    if name not in IMPORT_FORMATS:
        raise InputError(f"no format is called '{name}'; use one of {', '.join(IMPORT_FORMATS)}")
    if not path.exists():
        raise InputError(f"'{path}' does not exist; check the path")
    if name == "openclaw":
        if not path.is_dir():
            raise InputError(f"'{path}' is a file; format openclaw takes a workspace directory")
        return read_openclaw(
            path, default_zone, now, settings.import_max_entry_tokens, skipped, mask=settings.import_redact
        )
    if path.is_dir():
        raise InputError(f"'{path}' is a directory; format {name} takes a file")
    return _TABLES[name](path, default_zone, now, settings.import_max_line_bytes)
