"""Forgetting: a person's way to have the words of memories erased wherever they are, with a tombstone for each."""
