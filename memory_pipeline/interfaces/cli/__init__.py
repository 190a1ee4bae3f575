"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli.command_line import main

__all__ = ["main"]
