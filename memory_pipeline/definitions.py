"""The code location that Dagster loads: assets, checks, jobs, schedules, sensors and resources."""

import dagster as dg

from memory_pipeline.orchestration.assets.compactions import session_compactions
from memory_pipeline.orchestration.assets.periods import KNOWLEDGE_ASSETS, ROLLUP_ASSETS
from memory_pipeline.orchestration.assets.sources import SOURCES
from memory_pipeline.orchestration.assets.steps import NIGHT_ASSETS
from memory_pipeline.orchestration.io import night_files
from memory_pipeline.orchestration.jobs import JOBS
from memory_pipeline.orchestration.location import IO
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.orchestration.schedules import SCHEDULES
from memory_pipeline.orchestration.sensors import SENSORS

# The run's own configuration names the store, and the files between the assets are stored next to it.
night = NightResource.configure_at_launch()

defs = dg.Definitions(
    assets=[*SOURCES, *NIGHT_ASSETS, *KNOWLEDGE_ASSETS, *ROLLUP_ASSETS, session_compactions],
    jobs=JOBS,
    schedules=SCHEDULES,
    sensors=SENSORS,
    resources={"night": night, IO: night_files},
    # One process per run: the store has one writer, and a process per step would cost seconds.
    executor=dg.in_process_executor,
)
