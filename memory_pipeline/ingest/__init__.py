"""Imports memories and exports them again: one file per format, and one gate that all candidates pass."""
