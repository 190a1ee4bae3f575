"""Forgetting: a person's way to have the words of memories erased wherever they are, with a tombstone for each."""

from memory_pipeline.forgetting.forget import complete_forgetting, forget, preview
from memory_pipeline.forgetting.selection import Selection

__all__ = ["Selection", "complete_forgetting", "forget", "preview"]
