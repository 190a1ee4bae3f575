"""Loads the definitions again when the partitions do not begin with the store's first memory: after the first import,
or after one of older notes. Dagster reads the partitions once, when it loads the code location."""

from threading import Timer

from dagster import DefaultSensorStatus, SensorEvaluationContext, SkipReason, sensor
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin

from memory_pipeline.errors import StoreError
from memory_pipeline.orchestration.home import load_project_settings
from memory_pipeline.orchestration.location import LOCATION
from memory_pipeline.orchestration.partitions import FIRST_DAY, first_day_of

#: Seconds until the code server, which answers this tick, is asked to start anew, and the longest that it may take.
_DELAY_S, _LONGEST_S = 2, 120


@sensor(
    minimum_interval_seconds=60,
    default_status=DefaultSensorStatus.RUNNING,
    description="Loads the definitions again when the store has older memories, so that partitions begin with them.",
)
def earlier_memories(context: SensorEvaluationContext) -> SkipReason:
    if LOCATION.night.first_partition:
        return SkipReason("the setting night.first_partition names the first partition")
    try:
        first = first_day_of(load_project_settings().values)
    except StoreError as error:
        return SkipReason(str(error))
    if first is None or first == FIRST_DAY:
        return SkipReason(f"the partitions begin on {FIRST_DAY}, with the first memory if there is one")
    origin = context.code_location_origin
    if not isinstance(origin, GrpcServerCodeLocationOrigin):
        return SkipReason(f"the first memory is of {first}, the first partition of {FIRST_DAY}: reload the definitions")
    reload = Timer(_DELAY_S, origin.create_client().reload_code, kwargs={"timeout": _LONGEST_S})
    reload.daemon = True
    reload.start()
    return SkipReason(f"the first memory is of {first}: loading the definitions with the partitions from that day on")
