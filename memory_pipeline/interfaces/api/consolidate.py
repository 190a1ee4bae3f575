"""The process of a consolidation that the API starts: reads what to do from standard input, and runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from memory_pipeline.interfaces.cli.base import settings_of
from memory_pipeline.interfaces.cli.command_line import guarded
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.interfaces.cli.jobs import run_consolidation
from memory_pipeline.interfaces.cli.output import prepare_streams
from memory_pipeline.processes import end_process
from memory_pipeline.store import settle_stores


def consolidate() -> None:
    """Run the consolidation that standard input describes: its store, scope, run id, trigger and who asked for it."""
    asked = json.load(sys.stdin)
    settings = settings_of(Path(asked["store"]))
    with instance_of(settings) as instance:
        run_consolidation(
            instance, settings, asked["scope"], asked["by"], lambda *_: None, asked["run_id"], trigger=asked["trigger"]
        )


if __name__ == "__main__":
    prepare_streams()
    code = guarded(consolidate, ["jobs"])
    settle_stores(quietly=True)
    end_process(code)
