"""Renders reports, differences of two states and evaluations as Markdown and HTML with figures, and writes them.

Templates define the form. Every value is text: content of a memory is quoted with the memory's id, and nothing in it
has an effect in either format, unless a template says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_pipeline.files.writing import begins_with, directories, write_text
from memory_pipeline.recall.past import Difference, headline, replaced
from memory_pipeline.reporting.figures import bar_figure, line_figure
from memory_pipeline.reporting.model import (
    LARGEST,
    TITLES,
    ClusterReport,
    ConflictReport,
    NightFigures,
    PolicyReport,
    Report,
)
from memory_pipeline.reporting.summary import made_of, waiting
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.hidden import visible
from memory_pipeline.text.quoting import INERT_PAGE, clipped, code, named, plain

if TYPE_CHECKING:
    from jinja2 import Environment

    from memory_pipeline.recall.evaluation import Evaluation

#: The start of a report page; a page that starts otherwise belongs to someone else.
REPORT_MARK = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='generator' content='memory-pipeline'>"
#: The start of the page of a difference, and of that of an evaluation.
DIFFERENCE_MARK, EVALUATION_MARK = (
    f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="generator" content="memory-pipeline {command}">'
    for command in ("diff", "evaluate")
)
#: Shown even if they are zero.
_ALWAYS = frozenset(("memories_archived", "abstractions_created", "tokens_before", "tokens_after"))
_POLICY_COLUMNS = [name for name in PolicyReport.model_fields if name not in ("method", "group_by", "enabled")]
_MEMBERS = 8


def page_name(run_id: str) -> str:
    """The file name of a run's HTML page; of the id only letters, digits, hyphens and underscores."""
    return f"compression-{re.sub(r'[^A-Za-z0-9_-]', '_', run_id)[:100]}.html"


def as_markdown(report: Report, examples: int = LARGEST) -> str:
    """The report as Markdown: verdict, figures, the largest clusters, refusals, conflicts, errors."""
    rolled_back_at = report.rolled_back_at
    return _rendered(
        "report.md",
        **_of_report(report),
        seconds=f"{report.duration_ms / 1000:.1f}",
        rolled_back_at=f"{rolled_back_at:%Y-%m-%d %H:%M:%S}" if rolled_back_at else None,
        clusters=report.largest_clusters[:examples],
        further=_further(report, examples),
    )


def as_html(report: Report, history: Sequence[NightFigures]) -> str:
    """The report as one page without scripts or outside resources, with figures of `history`, oldest night first."""
    return _rendered(
        "report.html",
        mark=REPORT_MARK,
        **_of_report(report),
        became=made_of(report),
        left=[cluster for cluster in report.largest_clusters if cluster.status != "compressed"],
        waiting=list(waiting(report)),
        further=_further(report),
        plots=_plots(history),
    )


def difference_page(difference: Difference) -> str:
    """A difference as an HTML page; all content of memories is shown as text."""
    pairs = replaced(difference)
    paired = {memory.id for memory, _ in pairs}
    return _rendered(
        "difference.html",
        mark=DIFFERENCE_MARK,
        headline=headline(difference),
        difference=difference,
        pairs=pairs,
        gone=[memory for memory in difference.gone if memory.into not in paired],
    )


def evaluation_page(evaluation: Evaluation) -> str:
    """The evaluation of a memory as an HTML page: a line for each method by tokens, the table, the judged sample."""
    budgets = list(evaluation.rows[0].answered)
    lines = {row.method: [row.answered[budget] for budget in budgets] for row in evaluation.rows}
    plot = line_figure(
        "answered",
        f"Answered questions of {evaluation.questions}, by tokens",
        [f"{budget:,}" for budget in budgets],
        lines,
    )
    return _rendered("evaluation.html", mark=EVALUATION_MARK, evaluation=evaluation, budgets=budgets, plot=plot)


def _of_report(report: Report) -> dict[str, Any]:
    return {
        "report": report,
        "title": f"{TITLES[report.kind]} {report.partition}: {report.verdict}",
        "figures": list(_figures(report)),
        "policies": [policy for policy in report.policies if policy.clusters_found],
        "policy_columns": _POLICY_COLUMNS,
        "shown_members": _MEMBERS,
    }


def _figures(report: Report) -> Iterator[tuple[str, str]]:
    """The figures under their titles: those that say something, as zeros and what was not measured do not."""
    for name, field in Report.model_fields.items():
        value = getattr(report, name)
        if field.title and isinstance(value, int | float) and (value or name in _ALWAYS):
            yield field.title, f"{value:,}" if isinstance(value, int) else str(value)
    if report.facts_found:
        yield "Facts kept / attached / found", f"{report.facts_kept} / {report.facts_attached} / {report.facts_found}"
    if report.errors:
        yield "Errors", str(len(report.errors))


def _plots(history: Sequence[NightFigures]) -> list[dict[str, str]]:
    if len(history) < 2:
        return []
    days = [night.partition.isoformat() for night in history]
    tokens = [night.tokens_after for night in history]
    archived = [night.memories_archived for night in history]
    lines: dict[str, Sequence[float | None]] = {
        "with consolidation": tokens,
        "without it": [night.tokens_without for night in history],
    }
    carried, moved = "Tokens that the agent carries, after each night", "Memories archived each night"
    return [
        {
            "caption": caption,
            "svg": svg,
            "summary": f"{days[0]} to {days[-1]}, highest {max(values):,}, last {values[-1]:,}",
        }
        for caption, svg, values in (
            (carried, line_figure("tokens", carried, days, lines), tokens),
            (moved, bar_figure("archived", moved, days, archived), archived),
        )
    ]


def _further(report: Report, most: int = LARGEST) -> str:
    """The number of clusters that a page does not show, and where they can be seen; empty if it shows all."""
    series = {row.memory_id for row in report.series}
    listed = [cluster for cluster in report.largest_clusters[:most] if cluster.abstraction_id not in series]
    number = report.clusters_found - report.clusters_settled - len(series) - len(listed)
    if number <= 0:
        return ""
    return (
        f"and {how_many(number, 'more cluster')}, none of them larger. To see every cluster before "
        "anything is archived, set compression.review to manual; 'memory-pipeline proposals show' then shows them all."
    )


def _members(cluster: ClusterReport) -> list[tuple[str, str]]:
    """The first members as ids and content; reports of earlier versions have no ids."""
    ids = cluster.member_ids or [f"member {n}" for n in range(1, len(cluster.members) + 1)]
    return list(zip(ids, cluster.members, strict=True))[:_MEMBERS]


def _outcome(cluster: ClusterReport) -> str:
    return f"{cluster.status}: {cluster.reason}" if cluster.reason else cluster.status


def _measured(cluster: ClusterReport) -> str:
    """The end of a sentence about a cluster: how much shorter its draft is, and its facts; nothing without one."""
    if not cluster.compression_ratio:
        return ""
    preserved, _, remainder = cluster.facts.partition("+")
    attached, _, total = remainder.partition("/")
    facts = f", keeps {preserved} of {total} facts" if total not in ("", "0") else ""
    facts += f" and has {attached} of them attached" if facts and attached != "0" else ""
    ratio = cluster.compression_ratio
    return f"; {ratio} times shorter{facts}" if ratio > 1 else facts.replace(", ", "; ", 1)


def _difference(conflict: ConflictReport) -> str:
    alike = f"; {conflict.alike} more between these memories" if conflict.alike else ""
    newer = f"; {conflict.newer} is newer" if conflict.newer else ""
    return (
        f"{conflict.id[:8]} {conflict.kind}: {conflict.detail} (cosine {conflict.score:.3f}, project "
        f"{conflict.project_id}){newer}{alike}"
    )


def _rendered(template: str, **values: Any) -> str:
    return _environment(template.rpartition(".")[2]).get_template(template).render(values)


@cache
def _environment(kind: str) -> Environment:
    """Template environments for HTML or Markdown, in which a value is escaped unless it is marked as safe."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    is_html = kind == "html"
    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=is_html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=lambda value: (
            value if hasattr(value, "__html__") else visible(str(value)) if is_html else plain(value)
        ),
    )
    made.filters |= {
        "clipped": clipped,
        "members": _members,
        "measured": _measured,
        "outcome": _outcome,
        "what_differs": _difference,
        "code": lambda text: Markup(code(text)),
        "named": lambda ids: Markup(named(ids)),
        "cell": lambda value: Markup(plain(value, in_table=True)),
    }
    made.globals["inert_page"] = Markup(INERT_PAGE)
    return made


def write_report_files(directory: Path, report: Report, history: Sequence[NightFigures]) -> None:
    """Write the report as JSON, Markdown and HTML, each completely or not at all."""
    stem = page_name(report.run_id).removesuffix(".html")
    files = {
        f"{stem}.json": (json.dumps(report.as_json(), indent=2, sort_keys=True, ensure_ascii=False), _is_report),
        f"{stem}.md": (as_markdown(report), begins_with(*(f"# {title} " for title in TITLES.values()))),
        f"{stem}.html": (as_html(report, history), begins_with(REPORT_MARK)),
    }
    with directories(directory):
        for name, (text, is_ours) in files.items():
            write_text(directory / name, text, is_ours, place="report.written")


def report_page(directory: Path, run_id: str) -> Path | None:
    """The page of a run's report, if it was written."""
    page = directory / page_name(run_id)
    return page if page.exists() else None


def _is_report(path: Path) -> bool:
    """True if a file is the JSON of an earlier report."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"run_id", "verdict"} <= document.keys()
