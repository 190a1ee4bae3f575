"""Writes what the store knows where agents and people read it: OpenClaw, Claude Code, Obsidian, and rows."""

from memory_pipeline.exports.documents import Exported
from memory_pipeline.exports.exporting import DIRECTORY_FORMATS, EXPORT_NAMES, export_to
from memory_pipeline.exports.nightly import ExportResult, run_exports

__all__ = ["DIRECTORY_FORMATS", "EXPORT_NAMES", "ExportResult", "Exported", "export_to", "run_exports"]
