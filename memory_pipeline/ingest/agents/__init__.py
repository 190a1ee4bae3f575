"""Importers of what agents keep of themselves: their transcripts and their own memory files."""
