"""What happens when a run fails: the night still gets its FAIL report and its notice."""

from datetime import UTC, datetime

from dagster import DefaultSensorStatus, RunFailureSensorContext, run_failure_sensor

from memory_pipeline.night.report import failed_night
from memory_pipeline.orchestration.jobs import duplicates_job, night_job
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.store import read_report


@run_failure_sensor(
    monitored_jobs=[night_job, duplicates_job],
    default_status=DefaultSensorStatus.RUNNING,
    description="A failed night is reported as FAIL and announced; what it had archived stays archived.",
)
def failed_night_notice(context: RunFailureSensorContext) -> None:
    run = context.dagster_run
    partition = run.tags.get("dagster/partition")
    night = NightResource()
    store = night.store()
    if partition is None or not store.exists():
        return
    with store.reading() as tx:
        if read_report(tx, run.run_id) is not None:
            return
    failed_night(night.open(run.run_id, partition, context.log), context.failure_event.message or "", datetime.now(UTC))


SENSORS = [failed_night_notice]
