"""Processes of this machine: whether a known one still runs (process numbers are reused), its name, and the end of
this one."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from datetime import datetime
from typing import NoReturn

import psutil

#: The clock may have been set between the two times; a process that started this soon after counts as the same.
_SLACK_S = 60.0


def available_processors() -> int:
    """The number of processors that this process may use: those of its affinity where the system has one, else all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_running(pid: int, seen_at: datetime) -> bool:
    """True if the process that had this number at a time (aware) still runs on this machine.

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


def end_process(code: int) -> NoReturn:
    """End this process with an exit code, as `sys.exit` does, but leave its memory to the operating system.

    Python would take every object apart first, which after Dagster has been loaded costs a second of CPU. What was
    registered for the end (files to remove, logs to flush) is done before. If other threads still run, the process
    ends in Python's own way, which waits for them.
    """
    if threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
