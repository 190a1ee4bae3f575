"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli.app import main

__all__ = ["main"]
