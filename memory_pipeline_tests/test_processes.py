"""Is a process still the one that was seen?"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

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


_ENDS = """
import atexit, sys, threading
from memory_pipeline.processes import end_process

class Late:
    def __del__(self):
        print("taken apart")

late = Late()
atexit.register(print, "registered")
{before}
sys.stdout.write("written ")
end_process(3)
"""


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "written registered\n"),
        ("threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()",
         "written thread\nregistered\ntaken apart\n"),
    ],
)  # fmt: skip
def test_a_process_ends_with_what_was_registered_and_waits_for_its_threads(before: str, said: str) -> None:
    ended = subprocess.run([sys.executable, "-c", _ENDS.format(before=before)], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, said, "")


_CONVERTS = """
import sys
from memory_pipeline.interfaces.cli.command_line import _spare_pandas
_spare_pandas()
import pyarrow as pa
rows = [{"at": None, "words": ["a"], "n": 1.5}, {"at": None, "words": [], "n": None}]
table = pa.Table.from_pylist(rows)
assert table.to_pylist() == rows and "pandas" not in sys.modules
import pandas
print(len(pandas.DataFrame(rows)))
"""


@pytest.mark.slow
def test_arrow_converts_without_pandas_and_pandas_can_still_be_imported() -> None:
    ended = subprocess.run([sys.executable, "-c", _CONVERTS], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")
