"""Dagster's run history of a store in SQLite files that stay open: runs, one event log for all runs, schedules.

Dagster's own SQLite storage reopens a file for every statement, so that SQLAlchemy prepares each statement again,
and creates a file for every run: five sixths of the CPU time of a night that finds nothing to do.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import portalocker
from dagster import StringSource
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.event_log.base import EventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.base import RunStorage
from dagster._core.storage.runs.schema import RunStorageSqlMetadata
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.base import ScheduleStorage
from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import create_db_conn_string
from dagster._serdes import ConfigurableClass, ConfigurableClassData

from memory_pipeline.errors import SettingError
from memory_pipeline.orchestration.event_log import Events, KeptOpen, complete, is_complete
from memory_pipeline.orchestration.guard import guard_webserver
from memory_pipeline.orchestration.home import load_project_settings

#: Seconds to wait for another process that creates the files.
_LONGEST_OPENING_S = 60


class _Runs(KeptOpen, SqliteRunStorage):
    """The runs, in a file that stays open."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> Self:
        """Open the runs in `base_dir`, or create what is missing of them."""
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        address = create_db_conn_string(base_dir, "runs")
        opened = cls(address, inst_data)
        if is_complete(address) or complete(
            address, RunStorageSqlMetadata, SqliteRunStorage, [opened.migrate, opened.optimize]
        ):
            return opened
        return super().from_local(base_dir, inst_data)

    def optimize_for_webserver(self, *given: Any, **named: Any) -> None:
        """Dagster calls this in its web server alone, before it starts. No setting may keep the UI from starting,
        which is where a person sees what is wrong with it."""
        try:
            hosts = load_project_settings().values.ui.allowed_hosts
        except SettingError:
            hosts = ()
        guard_webserver(hosts)
        super().optimize_for_webserver(*given, **named)


class _Schedules(KeptOpen, SqliteScheduleStorage):
    """Ticks of schedules and sensors, in a file that stays open."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> SqliteScheduleStorage:
        """Open the ticks in `base_dir`, or create what is missing of them."""
        Path(base_dir).mkdir(parents=True, exist_ok=True)
        address = create_db_conn_string(base_dir, "schedules")
        opened = cls(address, inst_data)
        if is_complete(address) or complete(
            address, ScheduleStorageSqlMetadata, SqliteScheduleStorage, [opened.migrate, opened.optimize]
        ):
            return opened
        return super().from_local(base_dir, inst_data)


class RunHistory(DagsterStorage, ConfigurableClass):
    """The storage of a Dagster instance, as named in its `dagster.yaml`.

    Except for the events, its files have the locations and schemas of Dagster's own SQLite storage. An existing
    history with one event file per run keeps that layout.
    """

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        """Open the history in `base_dir`, or create what is missing of it."""
        history = Path(base_dir) / "history"
        file_by_run = history / "runs"
        self._inst_data = inst_data
        history.mkdir(parents=True, exist_ok=True)
        # Dagster's processes start at the same time. Two that create the tables of one file would leave it unreadable.
        with portalocker.Lock(history / "opening.lock", timeout=_LONGEST_OPENING_S):
            self._open(history, file_by_run, Path(base_dir) / "schedules")
        super().__init__()  # type: ignore[no-untyped-call]

    def _open(self, history: Path, file_by_run: Path, schedules: Path) -> None:
        self._runs = _Runs.from_local(str(history))
        begun_by_run = (file_by_run / "index.db").exists()
        self._events = SqliteEventLogStorage(str(file_by_run)) if begun_by_run else Events(str(history))
        self._schedules = _Schedules.from_local(str(schedules))

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        """The configuration that Dagster passed."""
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """The configuration has one field: the directory."""
        return {"base_dir": StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "RunHistory":
        """The constructor that Dagster calls."""
        return cls(inst_data=inst_data, **config_value)

    def register_instance(self, instance: Any) -> None:
        """Dagster calls this to give storages their instance."""
        super().register_instance(instance)
        for part in (self._runs, self._events, self._schedules):
            if not part.has_instance:
                part.register_instance(instance)

    @property
    def event_log_storage(self) -> EventLogStorage:
        """The events."""
        return self._events

    @property
    def run_storage(self) -> RunStorage:
        """The runs."""
        return self._runs

    @property
    def schedule_storage(self) -> ScheduleStorage:
        """The schedules and sensors."""
        return self._schedules
