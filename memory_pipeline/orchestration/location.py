"""What the code location itself is made with: its partitions and its ticks.

Dagster reads both when it loads the location, once; they are the project's, whatever store a run works on. Everything
else comes from the configuration of the run.
"""

from memory_pipeline.orchestration.home import load_project_settings

LOCATION = load_project_settings().values
