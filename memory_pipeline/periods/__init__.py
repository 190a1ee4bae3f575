"""Rollups of days, weeks, months and years: decisions, patterns, facts, open threads and figures, each level made from
the one below it."""
