"""Finds memories again: hybrid search in one project, past states, and differences."""
