"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli import (
    atoms,
    compaction,
    conflicts,
    export_commands,
    history,
    jobs,
    knowledge,
    mcp,
    model,
    quarantine,
    recall,
    recovery,
    series,
    serve,
    sources,
    sync,
    tokens,
)
from memory_pipeline.interfaces.cli.app import main

__all__ = [
    "atoms",
    "compaction",
    "conflicts",
    "export_commands",
    "history",
    "jobs",
    "knowledge",
    "main",
    "mcp",
    "model",
    "quarantine",
    "recall",
    "recovery",
    "series",
    "serve",
    "sources",
    "sync",
    "tokens",
]
