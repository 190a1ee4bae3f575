"""Forgetting: a person's way to have the words of memories erased wherever they are, with a tombstone for each."""

from memory_pipeline.forgetting.forget import Selection, complete_forgetting, forget, preview

__all__ = ["Selection", "complete_forgetting", "forget", "preview"]
