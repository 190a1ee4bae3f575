"""Compaction of live contexts: how full they are, what is kept of a session before its agent forgets it, and when."""
