"""The command line `memory-pipeline`."""

from memory_pipeline.interfaces.cli import (  # noqa: F401 - each registers its commands
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

__all__ = ["main"]
