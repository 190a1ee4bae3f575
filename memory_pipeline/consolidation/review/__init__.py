"""Decisions by a person: proposals, conflicts, and rollbacks."""
