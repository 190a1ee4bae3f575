"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli import knowing, undoing
from memory_pipeline.faces.cli.app import main

__all__ = ["knowing", "main", "undoing"]
