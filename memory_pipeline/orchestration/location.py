"""The settings of the code location itself: its partitions and its ticks.

Dagster reads both once, when it loads the location; they are the project's, whatever store a run works on.
Everything else comes from the configuration of the run.
"""

from memory_pipeline.orchestration.home import load_project_settings

LOCATION = load_project_settings().values
