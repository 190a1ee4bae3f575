"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli import undoing
from memory_pipeline.faces.cli.app import main

__all__ = ["main", "undoing"]
