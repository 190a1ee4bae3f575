"""Dagster and nothing else: the night as assets, with their partitions, checks, jobs, schedules and sources."""
