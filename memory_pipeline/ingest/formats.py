"""The import formats by name. To add one, write a file with its `Importer` and add it to the list here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from difflib import get_close_matches
from pathlib import Path

from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import InputError
from memory_pipeline.files import check_has_contents
from memory_pipeline.ingest.agents.chatgpt import ChatGptImporter
from memory_pipeline.ingest.agents.claude_code import ClaudeCodeImporter
from memory_pipeline.ingest.agents.codex import CodexImporter
from memory_pipeline.ingest.agents.openclaw_sessions import OpenClawSessionsImporter
from memory_pipeline.ingest.candidates import Item, Skipped
from memory_pipeline.ingest.file_choice import ALL_FILES, FileChoice
from memory_pipeline.ingest.full_import import FullExport, is_full_export
from memory_pipeline.ingest.importer import Importer
from memory_pipeline.ingest.openclaw import OpenClawImporter
from memory_pipeline.ingest.parquet import ParquetImporter
from memory_pipeline.ingest.stores.basic_memory import BasicMemoryImporter
from memory_pipeline.ingest.stores.brain import BrainImporter
from memory_pipeline.ingest.stores.langgraph import LangGraphImporter
from memory_pipeline.ingest.stores.letta import LettaImporter
from memory_pipeline.ingest.stores.mcp_memory import McpMemoryImporter
from memory_pipeline.ingest.stores.mem0 import Mem0Importer
from memory_pipeline.ingest.tables import CsvImporter, JsonlImporter
from memory_pipeline.ingest.values import MAX_LINE_BYTES

#: In the order in which they are shown to users.
IMPORTERS: Mapping[str, Importer] = {
    importer.name: importer
    for importer in (
        OpenClawImporter(),
        JsonlImporter(),
        CsvImporter(),
        ParquetImporter(),
        BrainImporter(),
        Mem0Importer(),
        McpMemoryImporter(),
        LettaImporter(),
        LangGraphImporter(),
        BasicMemoryImporter(),
        ClaudeCodeImporter(),
        OpenClawSessionsImporter(),
        CodexImporter(),
        ChatGptImporter(),
    )
}


def importer_of(name: str) -> Importer:
    """The importer of a format. Raises InputError for an unknown one."""
    if name not in IMPORTERS:
        meant = get_close_matches(name, IMPORTERS, 1)
        guess = f"did you mean {meant[0]}? " if meant else ""
        raise InputError(f"no format is called '{name}'; {guess}use auto, or one of {', '.join(IMPORTERS)}")
    return IMPORTERS[name]


def read_format(
    name: str,
    path: Path,
    default_zone: tzinfo,
    now: datetime,
    settings: Settings,
    skipped: Skipped,
    choice: FileChoice = ALL_FILES,
) -> Iterable[Item]:
    """Open `path` as format `name`. Raises InputError for an unknown format or a path of the wrong kind."""
    importer = importer_of(name)
    check_path(importer, path)
    if importer.takes_directory is False and is_full_export(path, name):
        return FullExport(path, name, default_zone, now, MAX_LINE_BYTES)
    return importer.read_chosen(path, default_zone, now, settings, skipped, choice)


def check_path(importer: Importer, path: Path) -> None:
    """Raises InputError unless the path is a directory or a file, as the format takes it."""
    if importer.takes_address(path):
        return
    check_has_contents(path)
    if importer.takes_directory not in (None, is_directory := path.is_dir()):
        what = "directory" if is_directory else "file"
        raise InputError(f"'{path}' is a {what}; format {importer.name} takes {importer.takes}")
