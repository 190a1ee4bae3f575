"""The import formats by name, each a reader from a path to candidates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files import cause_and_mend
from memory_pipeline.ingest.candidates import Candidate, Rejected, Skipped
from memory_pipeline.ingest.full_import import FullExport, is_full_export
from memory_pipeline.ingest.openclaw import read_openclaw
from memory_pipeline.ingest.parquet import read_parquet
from memory_pipeline.ingest.tables import read_csv, read_jsonl

_TABLES = {"jsonl": read_jsonl, "csv": read_csv, "parquet": read_parquet}
IMPORT_FORMATS = ("openclaw", *_TABLES)


def read_format(
    name: str, path: Path, default_zone: tzinfo, now: datetime, settings: Settings, skipped: Skipped
) -> Iterable[Candidate | Rejected]:
    """Open `path` as format `name`. Raises InputError for an unknown format or a path of the wrong kind."""
    if name not in IMPORT_FORMATS:
        raise InputError(f"no format is called '{name}'; use one of {', '.join(IMPORT_FORMATS)}")
    try:
        found, is_directory = path.exists(), path.is_dir()
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {cause_and_mend(error)}") from error
    if not found:
        raise InputError(f"'{path}' does not exist; check the path")
    if name == "openclaw":
        if not is_directory:
            raise InputError(f"'{path}' is a file; format openclaw takes a workspace directory")
        return read_openclaw(
            path, default_zone, now, settings.import_max_entry_tokens, skipped, mask=settings.import_redact
        )
    if is_directory:
        raise InputError(f"'{path}' is a directory; format {name} takes a file")
    if is_full_export(path, name):
        return FullExport(path, name, default_zone, now, settings.import_max_line_bytes)
    return _TABLES[name](path, default_zone, now, settings.import_max_line_bytes)
