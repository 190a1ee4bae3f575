"""Law 1 under fire, whatever is at work: a process may die at any instant, and the store is whole for the next one."""

from __future__ import annotations

import sys

import pytest

from memory_pipeline_tests import processes
from memory_pipeline_tests.laws import kills

#: As many as an hour of continuous integration leaves room for.
MANY = {"lease": 200, "import": 40, "night": 20, "rollback": 20, "restore": 40, "kb-compress": 20, "job": 15}


def killed(kind: str, number: int) -> str:
    """Kills in a process of their own: its workers are forked, and a fork of this one would have half an engine."""
    done = processes.run(_kill, kind, number, timeout_s=1200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


def _kill(kind: str, number: int) -> None:
    sys.exit(kills.main(kind, str(number), "7"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lease"])
def test_a_few_kills_cost_nothing_that_was_acknowledged(kind: str) -> None:
    assert "killed=5" in killed(kind, 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", kills.KINDS)
def test_many_kills_leave_a_whole_store_each(kind: str) -> None:
    assert "problems=[]" in killed(kind, MANY[kind])
