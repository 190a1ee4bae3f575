"""Writes what the store knows where agents and people read it: OpenClaw, Claude Code, Obsidian, and rows."""

from memory_pipeline.workspace.exporting import DIRECTORY_FORMATS, EXPORT_NAMES, Exported, export_to
from memory_pipeline.workspace.nightly import ExportResult, run_exports

__all__ = ["DIRECTORY_FORMATS", "EXPORT_NAMES", "ExportResult", "Exported", "export_to", "run_exports"]
