"""What an agent should know from the start lasts: it is no log of changes, no test result and no reading."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.lasting import is_passing
from memory_pipeline.wording.whole import is_cut_off, whole_part


@pytest.mark.parametrize(
    "text",
    [
        "Committed and pushed",
        "Fixed the flaky import of the parser.",
        "**README.md updated** — added the new badge",
        "Fix: renamed the helper to `load_all`",
        "**Fixes applied:** 1. **Cron path**: used a relative path. Fixed to an absolute one.",
        "Test `test_orders::test_refund` now passes.",
        "All checks: **212 passed, 0 failures** (was 211+1 fail).",
        "`tools/report.py` — new (48 lines)",
        "**`tools/report.py`** (+12 lines): stabilized the clock",
        "The export job was broken since Monday — now works.",
        "✅ parser.py: built by the worker",
        "`a.py`: `from x import y` → `from z import y`",
        "**Hit rate dropped from 0.91 to 0.76** — needs attention",
        "Domains: Memory 0.90, Planning 0.67, Coding 0.83, Reasoning 1.00.",
        "Source: https://example.org/notes",
        "The soak test should start counting from tomorrow's 04:45 run.",
        "Now shows the task ids",
        "Three orphaned sessions cleaned up — moved to /tmp/orphans",
    ],
)
def test_what_was_done_once_passes(text: str) -> None:
    assert is_passing(text)


@pytest.mark.parametrize(
    "text",
    [
        "The backup host is restic-02, on port 8443.",
        "Never restart the gateway from inside of its own process tree.",
        "Root cause: the update script ran inside the gateway, so that stopping it killed the script.",
        "Fixed the login loop: the root cause was a clock that ran ahead.",
        "User prefers short answers, and wants figures with their source.",
        "We moved the export to fsn1-b because nbg1 was full.",
        "Each worker has its own database and shares nothing with the core.",
        "Key insight: retrieval is fine, and holistic questions fail.",
        "`cron_report.sh` needs the full path, since cron has no PATH.",
        "The queue is a log of tasks with states; QUEUE.md is only its printout.",
        "Old sessions keep the old model; changes work for new sessions.",
        "Lesson: verify with a real call, not with the status command.",
        "`agent promote <name>` distils results to `digest.md`",
    ],
)
def test_what_holds_lasts(text: str) -> None:
    assert not is_passing(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("The port is 5432. It moved to `clarvis/context", "The port is 5432."),
        ("**Files changed**: `clarvis/context/assembly", None),
        ("(+19 lines): stabilised the clock by", None),
        ("Both papers were read, and both", None),
        ('The 27" monitor is on the left.', 'The 27" monitor is on the left.'),
        ("Use pnpm. Never npm", "Use pnpm. Never npm"),
    ],
)
def test_no_cut_word_is_told(text: str, whole: str | None) -> None:
    assert whole_part(text) == whole
    assert whole is None or not is_cut_off(whole.replace('"', ""))
