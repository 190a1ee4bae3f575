"""Writes what the store knows where agents and people read it: OpenClaw, Claude Code, Obsidian, and rows."""

from memory_pipeline.workspace.exporting import (
    DIRECTORY_FORMATS,
    EXPORT_NAMES,
    Exported,
    ExportResult,
    export_to,
    run_exports,
)

__all__ = ["DIRECTORY_FORMATS", "EXPORT_NAMES", "ExportResult", "Exported", "export_to", "run_exports"]
