"""The command line `memory-pipeline`."""

from memory_pipeline.faces.cli import conflicts, jobs, knowing, knowledge, recovering, undoing
from memory_pipeline.faces.cli.app import main

__all__ = ["conflicts", "jobs", "knowing", "knowledge", "main", "recovering", "undoing"]
