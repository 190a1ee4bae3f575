"""Processes of this machine: whether a known one still runs (process numbers are reused), and its name."""

from __future__ import annotations

from datetime import datetime

import psutil

#: The clock may have been set between the two times; a process that started this soon after counts as the same.
_SLACK_S = 60.0


def is_running(pid: int, seen_at: datetime) -> bool:
    """Whether the process that had this number at a time (aware) still runs on this machine.

    A process that started later has merely reused the number, after a restart of the machine or of a container. A
    zombie holds nothing any more and counts as ended.
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
