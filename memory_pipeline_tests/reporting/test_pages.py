"""The pages: figures that everybody can read and that are the same each time, and nothing that runs."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date, timedelta

from memory_pipeline.reporting.figures import bar_figure
from memory_pipeline.reporting.model import NightFigures
from memory_pipeline.reporting.pages import as_html, as_markdown
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, run

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
        and "Active tokens after each night: 2026-03-01 to 2026-03-03, highest 2, last 0" in page
    )
    assert "<svg" not in as_html(report, nights[:1])
    assert "<script" not in page and "<!--" not in page and "Content-Security-Policy" in page
    assert f"<q><bdi>{report.largest_clusters[0].members[0]}" in page
    assert "and 1 more" not in page
    (cluster,) = report.largest_clusters
    grown = cluster.model_copy(update={"member_count": 9})
    assert "<li>and 1 more</li>" in as_html(report.model_copy(update={"largest_clusters": (grown,)}), nights)
    assert as_markdown(report).startswith(f"# Night of {DAY}: PASS\n\n1 cluster compressed. Run `run-{DAY}`, ")


def test_a_page_says_how_many_clusters_it_does_not_show(store: Store) -> None:
    fill(store, [*lesson(5), *lesson(4, topic="scanner")])
    report = run(store, DAY)
    assert report.clusters_found == 2 and "more cluster" not in as_markdown(report) + as_html(report, [])
    assert "\nand 1 more cluster, none of them larger." in as_markdown(report, examples=1)
    crowd = report.model_copy(update={"clusters_found": 25, "clusters_settled": 1})
    assert "\nand 22 more clusters, none of them larger." in as_markdown(crowd)
    assert "<p>and 22 more clusters, none of them larger." in as_html(crowd, [])


def test_nothing_of_pages_and_figures_is_loaded_before_a_page_is_made() -> None:
    """The command line starts, and a night begins, without the templates and the plotting library."""
    code = (
        "import sys, memory_pipeline.interfaces.cli.app, memory_pipeline.reporting.report; "
        "print(*sorted({'pygal', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
