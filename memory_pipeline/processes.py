"""Processes of this machine: whether one that was seen still runs (their numbers are used again), and its name."""

from __future__ import annotations

from datetime import datetime

import psutil

#: A clock may have been set between the two times; what began so soon after is taken for the same process.
_SLACK_S = 60.0


def is_running(pid: int, seen_at: datetime) -> bool:
    """Whether the process that had this number at a time (aware) still runs on this machine.

    A process that began later has only come by the same number, after a restart of the machine or of a container.
    A zombie holds nothing any more and counts as gone.
    """
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= seen_at.timestamp() + _SLACK_S
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def program_of(pid: int) -> str:
    """The name of a running process, or 'ended'."""
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return "ended"
