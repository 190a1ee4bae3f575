"""The program with all of its commands."""

from memory_pipeline.interfaces.cli.base import app
from memory_pipeline.interfaces.cli.command_line import load

load()
__all__ = ["app"]
