"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli import (
    atoms,
    conflicts,
    history,
    jobs,
    knowledge,
    model,
    recall,
    recovery,
    series,
    sources,
    tokens,
)
from memory_pipeline.interfaces.cli.app import main

__all__ = [
    "atoms",
    "conflicts",
    "history",
    "jobs",
    "knowledge",
    "main",
    "model",
    "recall",
    "recovery",
    "series",
    "sources",
    "tokens",
]
