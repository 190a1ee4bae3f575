"""The pages: figures that everybody can read and that are the same each time, and nothing that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, timedelta

import pytest

from memory_pipeline.recall.past import CameMemory, Difference, WentMemory
from memory_pipeline.reporting.figures import bar_figure
from memory_pipeline.reporting.model import NightFigures, SeriesReport
from memory_pipeline.reporting.pages import as_html, as_markdown, difference_page
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run

DAY = date(2026, 3, 3)


def test_a_figure_is_the_same_each_time_and_says_what_it_shows() -> None:
    days = [(DAY + timedelta(days=n)).isoformat() for n in range(40)]
    figure = bar_figure("tokens", "Active tokens after each night", days, list(range(1000, 1040)))
    assert figure == bar_figure("tokens", "Active tokens after each night", days, list(range(1000, 1040)))
    assert 'role="img"' in figure and "<title>Active tokens after each night</title>" in figure
    assert "<title>2026-03-03: 1,000</title>" in figure and figure.count("<rect") >= 40
    assert not re.search(r"<script|<!--|onload|https?://(?!www\.w3\.org/)", figure)
    assert date.today().isoformat() not in figure


def test_a_figure_shows_a_name_and_values_of_nothing() -> None:
    figure = bar_figure("archived", "<b>Archived</b> & more", ["<i>a</i>", "b"], [0, 0])
    assert "<b>" not in figure and "<i>" not in figure and "&lt;b&gt;Archived&lt;/b&gt; &amp; more" in figure


def test_the_page_of_a_night_draws_the_nights_before_it(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY)
    nights = [NightFigures(partition=DAY - timedelta(days=n), tokens_after=n, memories_archived=0) for n in (2, 1, 0)]
    page = as_html(report, nights)
    assert (
        page.count("<svg") == 2
        and "Tokens that the agent carries, after each night: 2026-03-01 to 2026-03-03, highest 2, last 0" in page
    )
    assert "<svg" not in as_html(report, nights[:1])
    assert "<script" not in page and "<!--" not in page and "Content-Security-Policy" in page
    assert f"<q><bdi>{report.largest_clusters[0].members[0]}" in page
    assert "and 1 more" not in page
    (cluster,) = report.largest_clusters
    grown = cluster.model_copy(update={"member_count": 9})
    assert "<li>and 1 more</li>" in as_html(report.model_copy(update={"largest_clusters": (grown,)}), nights)
    assert as_markdown(report).startswith(f"# Night of {DAY}: PASS\n\n1 cluster compressed. Run `run-{DAY}`, ")


def test_a_page_of_a_preview_says_would_of_series_and_nothing_of_a_draft_that_is_not_there(store: Store) -> None:
    fill(store, lesson(4))
    report = run(store, DAY, dry_run=True)
    series = SeriesReport(
        memory_id="s",
        project_id="p",
        content="Load 3.",
        updated=False,
        readings=5,
        archived=5,
        breaking=(),
        breaking_ids=(),
    )
    (cluster,) = report.largest_clusters
    left = cluster.model_copy(
        update={"compression_ratio": 0.0, "facts": "0+0/0", "status": "skipped", "abstraction": ""}
    )
    kept = cluster.model_copy(update={"compression_ratio": 2.5, "facts": "2+1/3"})
    shown = report.model_copy(update={"series": (series,), "largest_clusters": (left, kept)})
    for page in (as_html(shown, []), as_markdown(shown)):
        assert "5 readings would be archived" in page and "0.0 times" not in page and "0+0/0" not in page
        assert "2.5 times shorter, keeps 2 of 3 facts and has 1 of them attached" in page


def test_a_page_says_how_many_clusters_it_does_not_show(store: Store) -> None:
    fill(store, [*lesson(5), *lesson(4, topic="scanner")])
    report = run(store, DAY)
    assert report.clusters_found == 2 and "more cluster" not in as_markdown(report) + as_html(report, [])
    assert "\nand 1 more cluster, none of them larger." in as_markdown(report, examples=1)
    crowd = report.model_copy(update={"clusters_found": 25, "clusters_settled": 1})
    assert "\nand 22 more clusters, none of them larger." in as_markdown(crowd)
    assert "<p>and 22 more clusters, none of them larger." in as_html(crowd, [])


@pytest.mark.usefixtures("judged")
def test_a_page_opens_with_what_the_agent_carries_and_leaves_zeros_out(store: Store) -> None:
    ports = [f"The staging database of the web shop listens on port {port}." for port in (5432, 5433)]
    fill(store, [*lesson(4), *map(candidate, ports)])
    report = run(store, DAY)
    page = as_html(report, [])
    opening = page[: page.index("What the agent now knows")]
    assert f"The agent carries <b>{report.tokens_after:,} tokens</b> in 3 memories" in opening
    assert f"without consolidation it would carry {report.tokens_without:,}" in opening
    assert "Waiting for you:</b> 1 contradiction" in opening and report.tokens_without == report.tokens_before
    assert "Memories archived" in page and "Atoms strengthened" not in page and "Cost (USD)" not in page


def test_a_difference_pairs_what_came_with_what_it_replaced() -> None:
    old = [WentMemory(id=f"m{n}", content=f"note {n}", why="archived into new", into="new") for n in range(2)]
    lost = WentMemory(id="x", content="a rolled back one", why="no longer in use", into=None)
    difference = Difference(
        **{"from": "a", "to": "b"},
        added=(CameMemory(id="alone", content="came alone"), CameMemory(id="new", content="both notes")),
        gone=(*old, lost),
        changed=(),
        tokens_before=9,
        tokens_after=5,
    )
    page = difference_page(difference)
    row = page[page.index("note 0") : page.index("came alone")]
    assert "note 1" in row and "both notes" in row and "a rolled back one" in page[page.index("came alone") :]


@pytest.mark.slow
def test_nothing_of_pages_and_figures_is_loaded_before_a_page_is_made() -> None:
    """The command line starts, and a night begins, without the templates and the plotting library."""
    code = (
        "import sys, memory_pipeline.interfaces.cli.app, memory_pipeline.consolidation.report; "
        "print(*sorted({'pygal', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
