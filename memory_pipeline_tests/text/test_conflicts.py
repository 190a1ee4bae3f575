"""The conflict guard: what must never be merged, and what must not be kept apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.text.conflicts import find_conflict
from memory_pipeline.text.merging import says_again

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
    ("number", "The queue keeps three retries.", "The queue keeps 5 retries."),
    ("number", "Ports 3000-3010 are open on the host.", "Ports 3000-3020 are open on the host."),
    ("number", "The shop has 1,200 products in stock.", "The shop has 1,300 products in stock."),
    ("identifier", "The image is built with version 2.4.1 today.", "The image is built with version 2.5.1 today."),
    ("unit", "The quota of the cluster is 500 GB.", "The quota of the cluster is 500 TB."),
    ("date", "The newsletter goes out on Monday at noon.", "The newsletter goes out on Friday at noon."),
    ("date", "The banner is up until tomorrow in the shop.", "The banner is up until next month in the shop."),
    ("negation", "The importer is running on the old feed.", "The importer is no longer running on the old feed."),
    ("opposite", "Never spend credits without asking Dana.", "Never spend credits with asking Dana."),
    ("opposite", "All systems on the dashboard are green.", "All systems on the dashboard are red."),
    ("opposite", "The index is stale after an import.", "The index is stale after an export."),
    ("opposite", "The parser treats this as a valid date.", "The parser treats this as an invalid date."),
    ("opposite", "The calendar often hides private entries.", "The calendar rarely hides private entries."),
    ("quantifier", "The job copies the files to the mirror.", "The job copies only half the files to the mirror."),
    ("order", "Copy the dump from staging to production.", "Copy the dump from production to staging."),
    ("order", "gateway -> billing on every order", "billing -> gateway on every order"),
    ("wording", "The warehouse scanner jams in the cold.", "The warehouse conveyor jams in the cold."),
    (
        "wording",
        "Recorded success q=0.7 for variant approach=incremental.",
        "Recorded success for variant approach=incremental.",
    ),
    (
        "wording",
        "Restart the gateway after rotating the keys of web-01.",
        "Restart the gateway after rotating the keys.",
    ),
    ("wording", "Keep three copies of the search archive.", "Keep copies of the search archive."),
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
        ("The backup begins at noon each day.", "The backup starts at noon every day."),
        ("Don't restart the server, it's slow.", "Do not restart the server, it is slow."),
        ("Update the config of the repo first.", "Update the configuration of the repository first."),
        ("The colour of the label is organised by team.", "The color of the label is organized by team."),
        ("Clear the cache of the gateway first.", "Clear the cache of the gatweay first."),
        ("The cache is actually warm on startup.", "The cache is warm on startup."),
        ("The load is at 15% of the limit.", "The load is at 15 percent of the limit."),
    ],
)
def test_the_same_thing_in_other_words_does_not_conflict(one: str, other: str) -> None:
    assert find_conflict(one, other) is None


def test_a_short_sentence_is_compared_by_itself() -> None:
    one = "Summaries for the morning briefing should be short bullet points without any greeting."
    assert find_conflict(f"{one} Weather comes first.", f"{one} No emojis.") is None


def test_episodes_written_afresh_may_differ_in_their_figures() -> None:
    one = "The deploy took 14 minutes because the build cache was cold."
    assert find_conflict(one, "Since the build cache was cold again, this deploy took as long as 19 minutes.") is None


def test_an_event_copied_with_another_figure_is_still_a_conflict() -> None:
    one = "The deploy took 14 minutes because the build cache was cold."
    finding = find_conflict(one, one.replace("14", "41"))
    assert finding is not None and finding.kind == "number"


_SENTENCES = st.sampled_from(
    [
        "The timeout of the {} gateway is {} seconds after {} retries.",
        "Keep {} copies of the {} archive for {} days.",
        "Run the {} job {} times before step {}.",
        "The {} database has {} replicas in {} zones.",
    ]
)
_NAMES = st.sampled_from("billing search export staging".split())
_FIGURES = st.integers(2, 999)


@given(_SENTENCES, _NAMES, _FIGURES, _FIGURES, _FIGURES, st.integers(0, 1))
def test_a_changed_figure_never_merges(text: str, name: str, first: int, second: int, changed: int, place: int) -> None:
    figures = [first, second]
    others = [changed if n == place else figure for n, figure in enumerate(figures)]
    if figures == others:
        return
    one, other = _filled(text, name, figures), _filled(text, name, others)
    assert find_conflict(one, other) is not None and find_conflict(other, one) is not None
    assert not says_again(one, other) and not says_again(other, one)


def _filled(text: str, name: str, figures: list[int]) -> str:
    """The name in its place, before or after the first figure."""
    first_is_figure = text.startswith(("Keep",))
    return text.format(*([figures[0], name, figures[1]] if first_is_figure else [name, *figures]))


@given(st.sampled_from([one for _, one, _ in CONFLICTS]), st.sampled_from(["not", "never", "no longer"]))
def test_a_negation_put_in_never_merges(one: str, negator: str) -> None:
    for verb in ("is", "are", "runs", "need", "handled", "needs"):
        if f" {verb} " in one:
            other = one.replace(f" {verb} ", f" {verb} {negator} ", 1)
            assert find_conflict(one, other) is not None and not says_again(one, other)


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_guard_is_symmetric(one: str, other: str) -> None:
    found, back = find_conflict(one, other), find_conflict(other, one)
    assert (found and found.kind) == (back and back.kind)
    assert says_again(one, other) == says_again(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Restart the mail server after you change its certificate.",
            "After changing the certificate of the mail server, restart it.",
        ),
        ("Keep the heating at 14 degrees.", "Keep the heating at 14 degrees. Worth keeping in mind."),
        ("He renewed the library card.", "He renewed the lirbary card."),
        ("The network was down because the router overheated.", "The network was down becuase the router overheated."),
        ("Each Tuesday at 10:00 the team meets.", "The team meets every Tuesday at 10:00."),
        ("The temporary password can't be used twice.", "The temp password cannot be used twice."),
    ],
)
def test_synonyms_order_and_one_further_sentence_say_again(one: str, other: str) -> None:
    assert says_again(one, other) and says_again(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dana pays Marco for the garden.", "Marco pays Dana for the garden."),
        ("Keep the heating at 14 degrees.", "Keep the heating at 14 degrees. The old valve leaks. Call Omar about it."),
        ("The report is pending.", "The report is done."),
    ],
)
def test_other_roles_and_more_sentences_do_not(one: str, other: str) -> None:
    assert not says_again(one, other) and not says_again(other, one)
