"""Imports memories and exports them again: one file per format, and one gate that all candidates pass."""

from memory_pipeline.config.exports import EXPORT_FORMATS
from memory_pipeline.ingest.candidates import ImportSummary
from memory_pipeline.ingest.exporting import check_export, export_memories, write_rows
from memory_pipeline.ingest.formats import IMPORTERS, importer_of, read_format, recognise, the_format_of
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.text.redaction import redact

__all__ = [
    "EXPORT_FORMATS",
    "IMPORTERS",
    "ImportSummary",
    "check_export",
    "export_memories",
    "import_memories",
    "importer_of",
    "read_format",
    "recognise",
    "redact",
    "the_format_of",
    "write_rows",
]
