"""The conflict guard: what must never be merged, and what must not be kept apart."""

from __future__ import annotations

from collections import Counter

import pytest
from contradictions import labelled
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation.merging import says_again
from memory_pipeline.models import relations
from memory_pipeline.models.conflicts import find_conflict, says

VALUES = [
    ("number", "Postgres runs on port 5432.", "Postgres runs on port 5433."),
    ("number", "Keep five copies of each backup.", "Keep 6 copies of each backup."),
    ("unit", "The timeout is 30 s.", "The timeout is 30 ms."),
    ("date", "The audit is on 2026-03-12.", "The audit is on 2026-03-19."),
    ("date", "The audit is on Tuesday morning.", "The audit is on Thursday morning."),
    ("time", "The export starts at 02:30.", "The export starts at 03:30."),
    ("name", "Reviews are handled by Priya this month.", "Reviews are handled by Tomas this month."),
    ("identifier", "Call `make build` in the root.", "Call `make check` in the root."),
    ("identifier", "Set max_retries in the file.", "Set max_workers in the file."),
    ("number", "Requires version 3 of the API.", "Requires version 4 of the API."),
    ("number", "The queue keeps three retries.", "The queue keeps 5 retries."),
    ("number", "Ports 3000-3010 are open on the host.", "Ports 3000-3020 are open on the host."),
    ("number", "The shop has 1,200 products in stock.", "The shop has 1,300 products in stock."),
    ("identifier", "The image is built with version 2.4.1 today.", "The image is built with version 2.5.1 today."),
    ("unit", "The quota of the cluster is 500 GB.", "The quota of the cluster is 500 TB."),
    ("number", "Die Sicherung läuft um 3 Uhr auf nas.", "Die Sicherung läuft um 4 Uhr auf nas."),
]
#: What other words mean is the classifier's to say, which errs; the held-out pairs below say how often.
MEANINGS = [
    ("Customers may change the address after payment.", "Customers may not change the address after payment."),
    ("Use tabs in this repository.", "Never use tabs in this repository."),
    ("The import passed on the new feed.", "The import failed on the new feed."),
    ("Automatic updates are enabled there.", "Automatic updates are disabled there."),
    ("Run migrations before the deploy.", "Run migrations after the deploy."),
    ("Dana prefers CSV files.", "Marco prefers CSV files."),
    ("All tests need a database.", "Some tests need a database."),
    ("Billing depends on catalogue.", "Catalogue depends on billing."),
    ("The importer is running on the old feed.", "The importer is no longer running on the old feed."),
    ("All systems on the dashboard are green.", "All systems on the dashboard are red."),
    ("The index is stale after an import.", "The index is stale after an export."),
    ("The parser treats this as a valid date.", "The parser treats this as an invalid date."),
    ("The calendar often hides private entries.", "The calendar rarely hides private entries."),
    ("Copy the dump from staging to production.", "Copy the dump from production to staging."),
    ("The warehouse scanner jams in the cold.", "The warehouse conveyor jams in the cold."),
    ("Keep three copies of the search archive.", "Keep copies of the search archive."),
    ("The report was sent to Lena.", "The report should be sent to Lena."),
    ("We will migrate the database to Postgres.", "We migrated the database to Postgres."),
]


@pytest.mark.parametrize(("kind", "one", "other"), VALUES)
def test_other_values_in_nearly_the_same_words_conflict(kind: str, one: str, other: str) -> None:
    for finding in (find_conflict(one, other), find_conflict(other, one)):
        assert finding is not None and finding.kind == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Retry after 5 minutes.", "Retry after five min."),
        ("Reminder: resize images before upload.", "Lesson: resize images before upload."),
        ("Restart the gateway after rotating keys.", "Restart the gateway after rotating keys. It takes 15 minutes."),
        ("**Restart** the gateway", "restart the gateway."),
        ("The load is at 15% of the limit.", "The load is at 15 percent of the limit."),
    ],
)
def test_copies_do_not_conflict(one: str, other: str) -> None:
    assert find_conflict(one, other) is None


def test_near_copies_that_contradict_each_other_are_kept_apart() -> None:
    apart = [pair for pair in MEANINGS if find_conflict(*pair) and not says_again(*pair)]
    assert len(apart) >= 0.85 * len(MEANINGS), set(MEANINGS) - set(apart)


@pytest.mark.slow
def test_of_pairs_that_nobody_trained_on_copies_are_joined_and_few_others() -> None:
    pairs = [pair for pair in labelled("near_copies") if pair["set"] in ("T6", "T7")]
    joined = Counter(pair["label"] for pair in pairs if says_again(pair["a"], pair["b"]))
    apart = Counter(pair["label"] for pair in pairs if find_conflict(pair["a"], pair["b"]))
    count = Counter(pair["label"] for pair in pairs)
    assert joined["same"] >= 0.38 * count["same"], joined
    assert joined["contradicts"] <= 0.035 * count["contradicts"] and joined["compatible"] <= 0.05 * count["compatible"]
    assert apart["contradicts"] >= 0.84 * count["contradicts"], apart


@pytest.mark.slow
@pytest.mark.parametrize("about", ["T11", "T12"])
def test_of_pairs_that_differ_in_status_or_roles_few_are_joined(about: str) -> None:
    pairs = [pair for pair in labelled("near_copies") if pair["set"] == about]
    joined = Counter(pair["label"] for pair in pairs if says(pair["a"], pair["b"]) or says(pair["b"], pair["a"]))
    assert joined["contradicts"] <= 8 and joined["same"] >= 17, joined


@pytest.mark.slow
def test_a_note_that_takes_another_back_seldom_takes_its_place_and_one_that_adds_to_it_does() -> None:
    pairs = [pair for pair in labelled("near_copies") if pair["set"] == "T13"]
    replaced = Counter(pair["label"] for pair in pairs if says(pair["a"], pair["b"]) or says(pair["b"], pair["a"]))
    count = Counter(pair["label"] for pair in pairs)
    assert replaced["contradicts"] <= 0.3 * count["contradicts"], replaced
    assert replaced["compatible"] >= 0.65 * count["compatible"] and replaced["same"] >= 0.75 * count["same"], replaced


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn the extractor fan off after closing the kiln.", "The fan must be turned on before the kiln is opened."),
        ("Close the chimney after the firing.", "The chimney must be opened before the firing."),
        ("[ ] Pay the invoice before Friday.", "The invoice can be paid until Friday."),
        ("- [ ] Pay the invoice before Friday.", "Pay the invoice before Friday."),
        ("Alert the team if the queue is > 500.", "Alert the team if the queue is < 500."),
        ("The bot may post in the channel.", "The bot must post in the channel."),
        ("Deploy of the shop ✅", "Deploy of the shop ❌"),
        ("Marta is coming to the dinner?", "Marta is coming to the dinner."),
        ("The slice is items[1:] in the exporter.", "The slice is items[:1] in the exporter."),
        ("Run the script with --force on the replica", "Run the script with force on the replica"),
        ("if !ready then abort the deployment", "if ready then abort the deployment"),
        ("Ο διακομιστής δεν είναι ασφαλής.", "Ο διακομιστής είναι ασφαλής."),
        ("The backup is n\u200bot complete.", "The backup is complete."),
        ("The backup is n\u043et complete.", "The backup is complete."),
        ("चाबी दीदी के पास है।", "चाबी दादा के पास है।"),
        ("服务器上的自动更新已启用。", "服务器上的自动更新已禁用。"),
        ("the backup of the amberford archive is weekly", "the backup of the emberwick archive is weekly"),
    ],
)
def test_what_a_night_must_never_join(one: str, other: str) -> None:
    assert not says_again(one, other) and not says_again(other, one)


def test_without_the_classifier_only_copies_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "is_installed", lambda: False)
    for one, other in MEANINGS:
        assert not says_again(one, other) and find_conflict(one, f"- **{one}**") is None


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


@settings(deadline=None)  # the first call reads the weights
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


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_the_guard_is_symmetric(one: str, other: str) -> None:
    found, back = find_conflict(one, other), find_conflict(other, one)
    assert (found and found.kind) == (back and back.kind)
    assert says_again(one, other) == says_again(other, one)


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
