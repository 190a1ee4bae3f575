"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli import (
    atoms,
    compaction,
    conversations,
    everyday,
    export_commands,
    history,
    jobs,
    knowledge,
    model,
    recall,
    recovery,
    review,
    rollups,
    serve,
    settings,
    sources,
)
from memory_pipeline.interfaces.cli.app import main

__all__ = [
    "atoms",
    "compaction",
    "conversations",
    "everyday",
    "export_commands",
    "forget",
    "history",
    "jobs",
    "knowledge",
    "main",
    "mcp",
    "model",
    "recall",
    "recovery",
    "review",
    "rollups",
    "series",
    "serve",
    "settings",
    "sources",
]
