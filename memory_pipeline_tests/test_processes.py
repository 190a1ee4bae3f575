"""Is a process still the one that was seen?"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

from memory_pipeline.processes import is_running


def test_a_process_runs_until_it_ends_and_a_zombie_has_ended() -> None:
    now = datetime.now(UTC)
    assert is_running(os.getpid(), now)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(child.pid, now)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is dead, and nobody has collected it
    assert not is_running(child.pid, now)
    child.communicate()
    assert not is_running(child.pid, now)


def test_a_process_that_began_later_has_only_come_by_the_number() -> None:
    assert not is_running(os.getpid(), datetime.now(UTC) - timedelta(days=1))
