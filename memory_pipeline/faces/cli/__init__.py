"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli import conflicts, knowing, knowledge, undoing
from memory_pipeline.faces.cli.app import main

__all__ = ["conflicts", "knowing", "knowledge", "main", "undoing"]
