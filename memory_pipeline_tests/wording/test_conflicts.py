"""The conflict guard: what must never be merged, and what must not be kept apart."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.conflicts import find_conflict

CONFLICTS = [
    ("number", "Postgres runs on port 5432.", "Postgres runs on port 5433."),
    ("number", "Keep five copies of each backup.", "Keep 6 copies of each backup."),
    ("unit", "The timeout is 30 s.", "The timeout is 30 ms."),
    ("date", "The audit is on 2026-03-12.", "The audit is on 2026-03-19."),
    ("date", "The audit is on Tuesday morning.", "The audit is on Thursday morning."),
    ("time", "The export starts at 02:30.", "The export starts at 03:30."),
    (
        "negation",
        "Customers may change the address after payment.",
        "Customers may not change the address after payment.",
    ),
    ("negation", "Use tabs in this repository.", "Never use tabs in this repository."),
    ("opposite", "The import passed on the new feed.", "The import failed on the new feed."),
    ("opposite", "Automatic updates are enabled there.", "Automatic updates are disabled there."),
    ("opposite", "Run migrations before the deploy.", "Run migrations after the deploy."),
    ("name", "Reviews are handled by Priya this month.", "Reviews are handled by Tomas this month."),
    ("name", "Dana prefers CSV files.", "Marco prefers CSV files."),
    ("identifier", "Call `make build` in the root.", "Call `make check` in the root."),
    ("identifier", "Set max_retries in the file.", "Set max_workers in the file."),
    ("quantifier", "All tests need a database.", "Some tests need a database."),
    ("order", "Billing depends on catalogue.", "Catalogue depends on billing."),
    ("number", "Requires version 3 of the API.", "Requires version 4 of the API."),
]


@pytest.mark.parametrize(("kind", "one", "other"), CONFLICTS)
def test_different_things_in_nearly_the_same_words_conflict(kind: str, one: str, other: str) -> None:
    finding = find_conflict(one, other)
    assert finding is not None and finding.kind == kind
    back = find_conflict(other, one)
    assert back is not None and back.kind == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Retry after 5 minutes.", "Retry after five min."),
        ("The cache is warm and fast on startup.", "On startup the cache is fast and warm."),
        ("After editing templates clear the cache.", "Clear the cache after editing templates."),
        ("Reminder: resize images before upload.", "Lesson: resize images before upload."),
        ("Restart the gateway after rotating keys.", "Restart the gateway after rotating keys. It takes 15 minutes."),
        ("**Restart** the gateway", "restart the gateway."),
        ("The meeting is on March 3rd 2026.", "The meeting is on 2026-03-03."),
    ],
)
def test_the_same_thing_in_other_words_does_not_conflict(one: str, other: str) -> None:
    assert find_conflict(one, other) is None


def test_episodes_written_afresh_may_differ_in_their_figures() -> None:
    one = "The deploy took 14 minutes because the build cache was cold."
    assert find_conflict(one, "Since the build cache was cold again, this deploy took as long as 19 minutes.") is None


def test_an_event_copied_with_another_figure_is_still_a_conflict() -> None:
    one = "The deploy took 14 minutes because the build cache was cold."
    finding = find_conflict(one, one.replace("14", "41"))
    assert finding is not None and finding.kind == "number"
