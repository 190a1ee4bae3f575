"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli import conflicts, knowing, undoing
from memory_pipeline.faces.cli.app import main

__all__ = ["conflicts", "knowing", "main", "undoing"]
