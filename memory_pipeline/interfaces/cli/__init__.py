"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli import (
    atoms,
    compaction,
    conversations,
    export_commands,
    forget,
    history,
    jobs,
    knowledge,
    mcp,
    model,
    recall,
    recovery,
    rollups,
    series,
    serve,
    settings,
    sources,
)
from memory_pipeline.interfaces.cli import export_commands as sync
from memory_pipeline.interfaces.cli import review as conflicts
from memory_pipeline.interfaces.cli import review as patterns
from memory_pipeline.interfaces.cli import review as quarantine
from memory_pipeline.interfaces.cli import serve as tokens
from memory_pipeline.interfaces.cli.app import main

__all__ = [
    "atoms",
    "compaction",
    "conflicts",
    "conversations",
    "export_commands",
    "forget",
    "history",
    "jobs",
    "knowledge",
    "main",
    "mcp",
    "model",
    "patterns",
    "quarantine",
    "recall",
    "recovery",
    "rollups",
    "series",
    "serve",
    "settings",
    "sources",
    "sync",
    "tokens",
]
