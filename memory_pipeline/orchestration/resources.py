"""The resources of runs: the store, the settings, and how a run differs from the default; and a store that another
process holds, which makes a run wait or skip."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime
from typing import Any, Self

import dagster as dg
from pydantic import Field, PrivateAttr, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.knowledge_base import knowledge_base_night
from memory_pipeline.consolidation.plan import NightOptions
from memory_pipeline.consolidation.run import report_failure
from memory_pipeline.errors import MemoryPipelineError, SettingError, StoreBusyError
from memory_pipeline.moments import latest_complete_day, read_day
from memory_pipeline.orchestration.home import complete_forgetting, load_project_settings
from memory_pipeline.processes import is_running
from memory_pipeline.records import MEMORY_TYPES
from memory_pipeline.reporting.model import Kind
from memory_pipeline.store import Store

#: Tag of a run with the name of its lease holder, which others see.
HOLDER_TAG = "memory_pipeline/holder"
#: Additional listeners for progress: the command line that runs a night in its own process.
listeners: list[Callable[[str, int, int], None]] = []
#: Fields of a night's resource that are options of the night as they are.
_OF_NIGHT = ("threshold", "days", "cluster_id", "no_cache", "unconsolidated_only")


class StoreResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The store and the settings of a run. What the launchpad of a job shows of a resource, a person may set."""

    settings: dict[str, Any] = Field(
        default={},
        description="Settings that differ for this run alone, by dotted key, for example "
        '{"compression.review": "manual"}. Left empty, the project\'s own settings count; \'memory-pipeline config '
        "show' lists them.",
    )

    _holder: str = PrivateAttr(default="dagster")
    _nights: dict[tuple[str, str], Night] = PrivateAttr(default_factory=dict)
    _opened: ExitStack = PrivateAttr(default_factory=ExitStack)

    @classmethod
    def of_run(cls, run: dg.DagsterRun) -> Self:
        """The resource as configured for a launched run, so that messages about the run refer to its own store.

        Fields that other jobs have, or earlier versions had, are left out.
        """
        configured: Any = run.run_config
        given = configured.get("resources", {}).get("night", {}).get("config", {})
        made = cls(**{name: value for name, value in given.items() if name in cls.model_fields})
        made._holder = run.tags.get(HOLDER_TAG, made._holder)
        return made

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Take the name of the lease holder from the run."""
        if context.run is not None:
            self._holder = context.run.tags.get(HOLDER_TAG, self._holder)

    def effective_settings(self) -> Settings:
        """The settings of this run: its own overrides on top of the project's."""
        return load_project_settings(self.settings).values

    def store(self) -> Store:
        return Store.of(self.effective_settings())

    def canonical_night(self, run_id: str, log: Any, **options: Any) -> Night:
        """The night in which the knowledge base is made canonical. `options`: as `knowledge_base_night` takes them."""
        settings = self.effective_settings()
        night = knowledge_base_night(Store.of(settings), settings, run_id, holder=self._holder, **options)
        night.log, night.progress = log, _Progress(log)
        self._nights[run_id, "knowledge base"] = night
        return night

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """However the run ended, release its lease on the store and leave the store as one file."""
        written = [night for night in self._nights.values() if not night.options.dry_run and night.store.exists()]
        for night in written:
            night.store.release_lease(night.options.run_id)
        self._nights.clear()
        self._opened.close()
        for night in written:
            night.store.settle(quietly=True)


class NightResource(StoreResource):
    """Opens the night of a run's partition."""

    threshold: float | None = Field(default=None, description="Cosine from which memories are similar, for this run.")
    days: int | None = Field(default=None, description="Only memories of the last N days; empty: of any age.")
    cluster_id: str | None = Field(
        default=None, description="Only the cluster with this id or fingerprint; empty: all."
    )
    no_cache: bool = Field(default=False, description="Ask the model again instead of using cached answers.")
    projects: list[str] = Field(default=[], description="Only these projects, also those that nights leave alone.")
    memory_types: list[str] = Field(
        default=[],
        description=f"Only memories of these types, of {', '.join(sorted(MEMORY_TYPES))}; empty: of every type.",
    )
    first_day: str | None = Field(default=None, description="Only memories created on or after this day (YYYY-MM-DD).")
    last_day: str | None = Field(default=None, description="Only memories created on or before this day (YYYY-MM-DD).")
    unconsolidated_only: bool = Field(default=False, description="Only raw memories, no merged ones.")
    up_to_now: bool | None = Field(
        default=None, description="For the sources: read what is dated up to now, not only up to the partition's end."
    )

    def open(
        self, run_id: str, partition_key: str, log: Any = None, *, dry_run: bool = False, whole_weeks: bool = False
    ) -> Night:
        """The night of a partition; the same object for every step of a run, so that models load once."""
        key = (run_id, partition_key)
        if key not in self._nights:
            settings = self.effective_settings()
            logger = log or logging.getLogger("memory_pipeline.consolidation")
            if not dry_run:
                complete_forgetting(Store.of(settings), settings, logger.warning)
            night = Night(
                store=Store.of(settings),
                settings=settings,
                options=NightOptions(
                    partition=date.fromisoformat(partition_key),
                    run_id=run_id,
                    dry_run=dry_run,
                    **{name: getattr(self, name) for name in _OF_NIGHT},
                    projects=tuple(self.projects),
                    memory_types=tuple(self.memory_types),
                    first_day=as_day(self.first_day, "first_day"),
                    last_day=as_day(self.last_day, "last_day"),
                    whole_weeks=whole_weeks,
                    moment=datetime.now(UTC) if self.up_to_now else None,
                ),
                holder=self._holder,
                progress=_Progress(logger),
                log=logger,
            )
            self._nights[key] = self._opened.enter_context(night.on_its_store())
            self._opened.enter_context(self._nights[key].store.kept_open())
        elif log is not None:  # what a step says stands under its own name in the run's log
            self._nights[key].log, self._nights[key].progress = log, _Progress(log)
        return self._nights[key]


class JobResource(NightResource):
    """Opens the night of a consolidation job, which has a day instead of a partition."""

    day: str | None = Field(default=None, description="The day as of which it works; by default, the last one.")
    whole_weeks: bool = Field(
        default=False, description="Form principles as of the last whole week instead of the day."
    )
    dry_run: bool = Field(default=False, description="Write nothing.")

    def open_job(self, run_id: str, log: Any) -> Night:
        """The night of a consolidation job: as of `day`, by default the last complete one."""
        day = as_day(self.day, "day") or latest_complete_day(datetime.now(UTC))
        return self.open(run_id, day.isoformat(), log, dry_run=self.dry_run, whole_weeks=self.whole_weeks)


@contextmanager
def reporting(night: Night, kind: Kind = "night") -> Iterator[None]:
    """Report a run that breaks at once, by its rows; the UI shows the sentence with the mend above the stack."""
    try:
        yield
    except Exception as error:
        report_failure(night, error, night.started_at, kind=kind)
        if isinstance(error, MemoryPipelineError):
            raise dg.Failure(description=str(error)) from error
        raise


def as_day(text: str | None, name: str) -> date | None:
    """Parse a configured day. Raises InputError for an invalid one."""
    return read_day(text, name) if text else None


class _Progress:
    """Progress of long work as log lines: the step, its progress and the estimated remaining time, every 2 s."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self._step = ""
        self._began = self._logged_at = datetime.now(UTC)

    def __call__(self, step: str, done: int, total: int) -> None:
        for listener in listeners:
            listener(step, done, total)
        now = datetime.now(UTC)
        if step != self._step:
            self._step, self._began, self._logged_at = step, now, now
        if (now - self._logged_at).total_seconds() < 2:
            return
        self._logged_at = now
        passed = (now - self._began).total_seconds()
        left = f", about {passed / done * (total - done):.0f} s left" if 0 < done < total else ""
        self._log.info(f"{step}: {done}{f' of {total}' if total else ''}{left}")


#: Tag of a skipped run, with the reason.
SKIPPED_TAG = "memory_pipeline/skipped"


def why_held(context: dg.AssetExecutionContext | dg.OpExecutionContext, night: Night) -> str | None:
    """Take the store for a run. If another has it, log a warning, mark the run as skipped, and return the holder."""
    try:
        night.hold_lease()
    except StoreBusyError as held:
        context.log.warning(f"skipped: {held}")
        context.instance.add_run_tags(night.options.run_id, {SKIPPED_TAG: str(held)})
        return str(held)
    return None


def skipped_reason(instance: dg.DagsterInstance, run_id: str) -> str | None:
    """The reason why a run was skipped, or None if it was not."""
    run = instance.get_run_by_id(run_id)
    return run.tags.get(SKIPPED_TAG) if run else None


_UNDER_WAY = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


def end_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark runs whose process is gone as failed, or as cancelled if that was requested; returns their ids.

    A run that holds the lease of the store that it was configured for is alive, wherever its process is.
    """
    ended = []
    for record in instance.get_run_records(dg.RunsFilter(statuses=_UNDER_WAY)):
        run = record.dagster_run
        starts = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_START)
        pid = next((entry.dagster_event.pid for entry in starts if entry.dagster_event), None)
        if pid is None or record.start_time is None or is_running(pid, datetime.fromtimestamp(record.start_time, UTC)):
            continue
        now = instance.get_run_by_id(run.run_id)  # one that ended well meanwhile wrote so before its process was gone
        if now is None or now.status not in _UNDER_WAY or _holds_lease(run):
            continue
        message = (
            f"Its process ({pid}) ended unexpectedly. What it had committed stays; the next run continues from there."
        )
        if run.status == dg.DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, message=message)
        else:
            instance.report_run_failed(run, message=message)
        ended.append(run.run_id)
    return ended


def _holds_lease(run: dg.DagsterRun) -> bool:
    try:
        settings = NightResource.of_run(run).effective_settings()
    except (SettingError, ValidationError):  # a run that was launched with invalid settings never opened a store
        return False
    store = Store.of(settings)
    if not store.exists():
        return False
    with store.reading() as tx:
        return tx.lease.run() == run.run_id
