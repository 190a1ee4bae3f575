"""Judges words by code alone: sentences, facts, conflicts, secrets, attempts to steer a reader, and whether a text is
borne out by others. Pure functions of text."""
