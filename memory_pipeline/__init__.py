"""The night shift for an AI agent's memory: distil, verify, archive, and never lose a thing."""

__version__ = "0.1.0"
