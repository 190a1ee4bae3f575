"""The Dagster layer: the night as assets, with their partitions, checks, jobs, schedules, sensors and sources."""
