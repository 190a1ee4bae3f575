"""Runs, the lease by which nights exclude each other, and the sessions of agents with what has started their flushes
and compactions."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

from memory_pipeline.errors import InputError
from memory_pipeline.processes import is_running
from memory_pipeline.records import SessionUsage, TriggerEvent, TriggerOutcome
from memory_pipeline.store.rows import Row, RowsOf, Statements, only_one

#: Seconds without a heartbeat after which the lease of a run on another machine is free: long enough for a machine
#: that is busy, short enough that a night after a crash is not missed.
LEASE_EXPIRY_S = 60.0

#: Who writes in a run that applies what a person approved, in a job that a person asked for, and in `kb-compress`.
REVIEW_ACTOR, JOB_ACTOR, KB_ACTOR = "memory-pipeline proposals", "memory-pipeline jobs", "memory-pipeline kb-compress"


class Runs(Statements):
    """The runs that have written to the store."""

    def archived_by(self, run_id: str) -> list[tuple[str, str]]:
        """Every memory that a run archived, including memories that it made itself, in order: each with its relation to
        what replaced it, which is empty if nothing did."""
        return self._sql(run_id).rows("""
            with gone as (
                select sequence, row_id, after_state ->> 'consolidated_into_id' as into_id
                from audit_log
                where run_id = $1 and table_name = 'memories' and action = 'update'
                  and (before_state ->> 'archived_at') is null and (after_state ->> 'archived_at') is not null
            )
            select g.row_id, coalesce(l.relation, '')
            from gone g
            left join lineage l on l.memory_id = g.into_id and l.source_id = g.row_id
            order by g.sequence, g.row_id
            """)

    def tokens_without(self) -> int:
        """Tokens of everything that was read and never made: the active memories if no night had archived one."""
        return self._sql.count(
            "select coalesce(sum(token_count), 0) from memories "
            "where source_connector not in ('night', 'conversations')"
        )

    def tokens_around(self, run_id: str) -> tuple[int, int]:
        """Active tokens of the store before and after a run, computed from the current store.

        Before: the current active memories, minus those that the run made, plus those that it archived. Memories
        that others write meanwhile count on both sides, because the run neither saved nor cost them.
        """
        now, gone, made = self._sql(run_id).counts("""
            with touched as (
                select row_id,
                       min_by(action, sequence) <> 'insert'
                           and (min_by(before_state, sequence) ->> 'archived_at') is null as was_active,
                       (max_by(after_state, sequence) ->> 'archived_at') is null as is_active
                from audit_log
                where run_id = $1 and table_name = 'memories' and after_state is not null
                group by 1
            )
            select coalesce(sum(m.token_count) filter (where m.archived_at is null), 0),
                   coalesce(sum(m.token_count) filter (where t.was_active and not t.is_active), 0),
                   coalesce(sum(m.token_count) filter (
                       where t.is_active and not t.was_active
                         and m.source_connector in ('night', 'conversations')), 0)
            from memories m
            left join touched t on t.row_id = m.id
            """)
        return now + gone - made, now

    def rolled_back_at(self, run_id: str) -> datetime | None:
        """The time at which a run was last rolled back, or None."""
        return self._sql(run_id).moment("select max(rolled_back_at) from rollbacks where list_contains(run_ids, $1)")

    def whole_id(self, beginning: str) -> str:
        """The run in the audit log with an id, or the only one whose id starts so. Raises InputError if there is none
        or several."""
        return only_one(
            {i: i for i in self.starting(beginning)}, beginning, "run", "'memory-pipeline report' names the latest"
        )

    def starting(self, beginning: str) -> list[str]:
        """The runs in the audit log whose id starts so, in order."""
        return self._sql(beginning).strings(
            "select distinct run_id from audit_log where starts_with(run_id, $1) order by 1"
        )

    def span(self, run_id: str) -> tuple[int, int]:
        """The audit log entry before a run's first one, and its last one. Raises InputError as `whole_id` does."""
        whole = self.whole_id(run_id)
        before, last = self._sql(whole).counts(
            "select min(sequence) - 1, max(sequence) from audit_log where run_id = $1"
        )
        return before, last

    def on(self, day: str) -> dict[str, str]:
        """Every run as of the night of a day (YYYY-MM-DD) with its kind, oldest first; none for another text.

        A run that was killed has no report, and its kind is `unreported`: it is known by what it archived, which is as
        of the end of its day.
        """
        return self._sql(day).mapping("""
            select run_id, kind
            from (
                select run_id, report ->> 'kind' as kind, written_at as ended_at
                from night_reports
                where cast(partition_date as text) = $1
                union all
                select l.run_id, 'unreported', max(a.happened_at)
                from compression_log l
                join audit_log a on a.run_id = l.run_id and a.table_name = 'compression_log' and a.row_id = l.id
                where l.created_at = try_cast($1 as date) + interval 1 day and l.status = 'compressed'
                  and l.run_id not in (select run_id from night_reports)
                group by 1
            )
            order by ended_at, run_id
            """)

    def asked_for(self, run_ids: Iterable[str]) -> frozenset[str]:
        """Those of these runs that apply what a person approved, or that a person asked for beside the nights."""
        found = self._sql(list(run_ids), [REVIEW_ACTOR, JOB_ACTOR, KB_ACTOR]).strings("""
            select distinct run_id
            from audit_log
            where run_id in (select unnest($1::text[])) and actor in (select unnest($2::text[]))
            """)
        return frozenset(found)

    def of_night(self, day: date) -> str:
        """The newest run of a night. Raises InputError if that night was never run."""
        nights = [run_id for run_id, kind in self.on(f"{day}").items() if kind == "night"]
        if not nights:
            raise InputError(f"the night of {day} has not been run on this store")
        return nights[-1]


_NAME = "night"


class Lease(Statements):
    """The holder of the lease."""

    def take(self, run_id: str, holder: str) -> str | None:
        """Take or renew the lease for a run. If another live run has it, return a description of that run.

        Taking it again within the same run is a heartbeat. A holder is replaced if its process on this machine is
        gone, if its process number was reused, or if its heartbeat on another machine is older than LEASE_EXPIRY_S.
        """
        now = datetime.now(UTC)
        row = self._read()
        if row and row[3] != run_id and _is_alive(row, now):
            return _words(row)
        if row and row[3] == run_id and row[2] == os.getpid():
            self._sql(_NAME, now).run("update lease set heartbeat_at = $2 where name = $1")
        else:
            self._sql(_NAME, holder, socket.gethostname(), os.getpid(), run_id, now).run(
                "insert or replace into lease values ($1, $2, $3, $4, $5, $6, $6)"
            )
        return None

    def release(self, run_id: str) -> None:
        """Release the lease, if this run still has it."""
        self._sql(_NAME, run_id).run("delete from lease where name = $1 and run_id = $2")

    def drop(self) -> None:
        """Remove the lease, whoever has it; for a store that was copied from elsewhere."""
        self._sql.run("delete from lease")

    def is_taken(self) -> bool:
        """True if anybody has the lease, alive or not."""
        return self._read() is not None

    def holder(self) -> str | None:
        """A description of the live holder of the lease, or None."""
        row = self._read()
        return _words(row) if row and _is_alive(row, datetime.now(UTC)) else None

    def run(self) -> str | None:
        """The live run that holds the lease, or None."""
        row = self._read()
        return str(row[3]) if row and _is_alive(row, datetime.now(UTC)) else None

    def _read(self) -> Row | None:
        return self._sql(_NAME).row(
            "select holder, host, pid, run_id, acquired_at, heartbeat_at from lease where name = $1"
        )


def _words(row: Row) -> str:
    return f"{row[0]} on {row[1]} (process {row[2]}, run {row[3]}) since {row[4]:%Y-%m-%d %H:%M:%S} UTC"


def _is_alive(row: Row, now: datetime) -> bool:
    """For another machine, or this one's process number, the heartbeat decides; otherwise the process itself."""
    _, host, pid, _, _, heartbeat_at = row
    if host != socket.gethostname() or pid == os.getpid():
        return bool(now - heartbeat_at < timedelta(seconds=LEASE_EXPIRY_S))
    return is_running(pid, heartbeat_at)


_USAGE = RowsOf(SessionUsage, "session_usage")


class Sessions(Statements):
    """The usage that sessions have reported."""

    def keep(self, usage: SessionUsage) -> None:
        """Record what a session reports; it replaces what the session reported before."""
        _USAGE(self._sql).put([usage])

    def usage(self, project_id: str, session_id: str) -> SessionUsage | None:
        """The last report of a session; None if it never made one."""
        return _USAGE(self._sql(project_id, session_id)).first("where project_id = $1 and session_id = $2")

    def reported_since(self, moment: datetime) -> list[SessionUsage]:
        """The reports of sessions since a moment, by project and session."""
        return _USAGE(self._sql(moment)).select("where reported_at >= $1 order by project_id, session_id")


_EVENTS = RowsOf(TriggerEvent, "trigger_events")


class Triggers(Statements):
    """The times that triggers fired."""

    def keep(self, event: TriggerEvent) -> None:
        """Record that a trigger fired, or fired again."""
        _EVENTS(self._sql).put([event])

    def end(self, event_id: str, outcome: TriggerOutcome, now: datetime) -> None:
        """Record what became of an event."""
        self._sql(event_id, outcome, now).run("update trigger_events set outcome = $2, done_at = $3 where id = $1")

    def read(self, ids: Sequence[str]) -> list[TriggerEvent]:
        """The events with these ids, in the order in which they fired."""
        return _EVENTS(self._sql([*ids])).select("where list_contains($1, id) order by fired_at, id")

    def of_sessions(self, sessions: Sequence[str]) -> list[TriggerEvent]:
        """Every event of some sessions, in the order in which they fired."""
        return _EVENTS(self._sql([*sessions])).select("where list_contains($1, session_id) order by fired_at, id")

    def newest(self, most: int) -> list[TriggerEvent]:
        """The last events, the newest first."""
        return _EVENTS(self._sql(most)).select("order by fired_at desc, id limit $1")
