"""The report for people and agents: Markdown, and an HTML page with plots.

Every word of a memory is quoted with the memory's id, and nothing of it acts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from memory_pipeline.reporting.model import ClusterReport, NightFigures, Report
from memory_pipeline.wording.quoting import INERT_PAGE, clipped, code, html_quote, html_text, named, plain

_FIGURES = (
    ("Memories scanned", "memories_scanned"),
    ("Clusters found", "clusters_found"),
    ("Clusters compressed", "clusters_compressed"),
    ("Clusters skipped", "clusters_skipped"),
    ("Exact duplicates archived", "duplicates_archived"),
    ("Proposals that await review", "proposals"),
    ("Memories archived", "memories_archived"),
    ("Abstractions created", "abstractions_created"),
    ("Active tokens before", "tokens_before"),
    ("Active tokens after", "tokens_after"),
    ("Token reduction %", "token_reduction_pct"),
    ("Average compression ratio", "avg_compression_ratio"),
    ("Facts kept / attached / found", None),
    ("Recall of what was archived", "recall_rate"),
    ("Conflicts kept apart", "conflicts_known"),
    ("Errors", None),
    ("Atoms created", "atoms_created"),
    ("Atoms strengthened", "atoms_enriched"),
    ("Playbook entries created", "playbook_created"),
    ("Playbook entries updated", "playbook_updated"),
    ("Model calls", "total_llm_calls"),
    ("Answers reused", "llm_answers_reused"),
    ("Cost (USD)", "estimated_cost_usd"),
)


def figures_of(report: Report) -> list[tuple[str, str]]:
    """The report's figures in reading order, as text."""
    rows = []
    for label, key in _FIGURES:
        if label == "Errors":
            value: object = len(report.errors)
        elif key is None:
            value = f"{report.facts_kept} / {report.facts_attached} / {report.facts_found}"
        else:
            value = getattr(report, key)
        rows.append((label, "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)))
    return rows


TITLES = {
    "night": "Night of",
    "duplicates": "Exact duplicates of",
    "job": "Consolidation job as of",
    "review": "Approved proposals, up to the night of",
    "canonical": "Knowledge base as of",
    "principles": "Principles of the week to",
}


def _title(report: Report) -> str:
    return f"{TITLES[report.kind]} {report.partition}: {report.verdict}"


def _undone(report: Report) -> list[str]:
    at = report.rolled_back_at
    return ["", f"**Rolled back at {at:%Y-%m-%d %H:%M:%S} UTC**: what it made is no longer in use."] if at else []


def as_markdown(report: Report, examples: int = 20) -> str:
    """The report as Markdown: verdict, figures, the largest clusters, refusals, conflicts, errors."""
    lines = [
        f"# {_title(report)}",
        "",
        f"{plain(report.verdict_reason)}. Run {code(report.run_id)}, {report.duration_ms / 1000:.1f} s"
        + (" (dry run: nothing was written)." if report.dry_run else "."),
        *_undone(report),
        "",
        "| | |",
        "|---|---:|",
        *(f"| {label} | {value} |" for label, value in figures_of(report)),
    ]
    lines += ["", "## Policies", "", *policy_lines(report)]
    if report.largest_clusters:
        lines += ["", "## Largest clusters", "", clusters_markdown(report.largest_clusters[:examples])]
    if report.atoms:
        lines += ["", "## What leads to what", "", *(f"- {line}" for line in atom_lines(report, plain, code))]
    if report.refusals:
        lines += ["", "## Left alone", ""]
        lines += [f"- {count} x {plain(reason)}" for reason, count in report.refusals.items()]
    if report.conflicts:
        lines += ["", "## Conflicts kept apart", ""]
        for what, *sides in conflicts_in_words(report):
            lines += [f"- {plain(what)}", *(f"  - “{plain(said)}” ({code(of)})" for of, said in sides)]
    if report.errors:
        lines += ["", "## Errors", ""]
        lines += [
            f"- {plain(e.stage)} {code(e.cluster_id) if e.cluster_id else ''}: {plain(e.error)}" for e in report.errors
        ]
    return "\n".join(lines) + "\n"


_POLICY_COLUMNS = (
    "policy",
    "threshold",
    "clusters_found",
    "compressed",
    "skipped",
    "failed",
    "proposed",
    "settled",
    "memories_archived",
    "tokens_before",
    "tokens_after",
)


_MEMBERS = 8


def policy_lines(report: Report) -> list[str]:
    """What each policy did, as a Markdown table."""
    head = [name.replace("_", " ") for name in _POLICY_COLUMNS]
    rows = [[plain(getattr(section, name), in_table=True) for name in _POLICY_COLUMNS] for section in report.policies]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _policies_html(report: Report) -> str:
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in _POLICY_COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(getattr(section, name)))}</td>" for name in _POLICY_COLUMNS) + "</tr>"
        for section in report.policies
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


Said = tuple[str, str]


def conflicts_in_words(report: Report) -> list[tuple[str, Said, Said]]:
    """For each conflict its id and kind, and what each side says, after its memory's id."""
    found = []
    for conflict in report.conflicts:
        alike = f"; {conflict.alike} more of these memories" if conflict.alike else ""
        what = (
            f"{conflict.id[:8]} {conflict.kind}: {conflict.detail} (cosine {conflict.score:.3f}, project "
            f"{conflict.project_id}){alike}"
        )
        sides = [(getattr(conflict, side), clipped(getattr(conflict, f"{side}_says"), 300)) for side in ("a", "b")]
        found.append((what, sides[0], sides[1]))
    return found


def atom_lines(report: Report, quoted: Callable[[str], str], source: Callable[[str], str]) -> list[str]:
    """The night's causal findings, a line each. `quoted` and `source` show words of a memory, and an id."""
    lines = []
    for atom in report.atoms:
        parts = [f"{quoted(atom.subject)}, {quoted(atom.action)} -> {quoted(atom.outcome)}"]
        parts += [quoted(atom.consequences)] if atom.consequences else []
        said_by = f" (from {source(atom.memory_id)})" if atom.memory_id else ""
        reason = f" ({quoted(atom.reason)})" if atom.reason else ""
        lines.append(f"{atom.status}: “{'; '.join(parts)}”{said_by}{reason}")
    return lines


def clusters_markdown(clusters: Sequence[ClusterReport]) -> str:
    """Clusters side by side with their abstraction, as Markdown that shows content and runs nothing."""
    parts = []
    for cluster in clusters:
        outcome = "compressed" if cluster.status == "compressed" else f"{cluster.status}: {cluster.reason}"
        parts += [
            f"**{cluster.member_count} memories, {plain(cluster.project_id)}** - "
            f"{plain(cluster.policy)}, {plain(outcome)}; "
            f"ratio {cluster.compression_ratio}, facts {cluster.facts}, "
            f"cosine {cluster.min_similarity}-{cluster.avg_similarity}",
            "",
        ]
        parts += [f"- “{plain(clipped(said, 300))}” ({code(of)})" for of, said in _members(cluster)]
        if cluster.member_count > _MEMBERS:
            parts.append(f"- and {cluster.member_count - _MEMBERS} more")
        if cluster.abstraction:
            stands_for = named(cluster.member_ids)
            parts += ["", f"> {plain(clipped(cluster.abstraction, 1500))}", "", f"Distilled from {stands_for}."]
        parts.append("")
    return "\n".join(parts)


def _members(cluster: ClusterReport) -> list[Said]:
    """The first members as ids and words; reports of earlier versions have no ids."""
    said = cluster.members
    ids = cluster.member_ids or [f"member {n}" for n in range(1, len(said) + 1)]
    return list(zip(ids, said, strict=True))[:_MEMBERS]


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2330; }
h1 small { font-weight: 400; color: #5b6577; } table { border-collapse: collapse; }
td { padding: .15rem 1rem .15rem 0; border-bottom: 1px solid #e4e8ef; } td:last-child { text-align: right; }
th { text-align: left; font-weight: 500; padding-right: 1rem; }
.cluster { border-left: 4px solid #b7c3d7; padding: .2rem 1rem; margin: 1rem 0; }
.compressed { border-color: #2f8f5b; } .failed { border-color: #c0392b; } .skipped { border-color: #c28a1b; }
.cluster ul { color: #4a5568; margin: .3rem 0; } blockquote { margin: .4rem 0; font-weight: 500; }
.source { color: #5b6577; font-size: .8rem; } figure { margin: 1rem 0; }
figcaption { color: #5b6577; font-size: .9rem; }
"""


#: How a report page begins; a page that begins otherwise is somebody else's.
HTML_START = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='generator' content='memory-pipeline'>"


def as_html(report: Report, history: Sequence[NightFigures]) -> str:
    """The report as one HTML page without scripts or outside resources."""
    figures = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in figures_of(report))
    clusters = "".join(_cluster_html(cluster) for cluster in report.largest_clusters)
    conflicts = "".join(
        f"<li>{html_text(what)}" + "".join(f"<br>{html_quote(said, of)}" for of, said in sides) + "</li>"
        for what, *sides in conflicts_in_words(report)
    )
    errors = "".join(f"<li>{html_text(e.stage)}: {html_text(e.error)}</li>" for e in report.errors)
    refusals = "".join(f"<li>{n} × {html_text(reason)}</li>" for reason, n in report.refusals.items())
    atoms = "".join(f"<li>{line}</li>" for line in atom_lines(report, html_text, html_text))
    sections = [
        ("Policies", _policies_html(report)),
        ("Largest clusters", clusters),
        ("What leads to what", f"<ul>{atoms}</ul>" if atoms else ""),
        ("Left alone", f"<ul>{refusals}</ul>" if refusals else ""),
        ("Conflicts kept apart", f"<ul>{conflicts}</ul>" if conflicts else ""),
        ("Errors", f"<ul>{errors}</ul>" if errors else ""),
    ]
    body = "".join(f"<h2>{title}</h2>{content}" for title, content in sections if content)
    title = html_text(_title(report))
    return (
        f"{HTML_START}{INERT_PAGE}<title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title} <small>{html_text(report.verdict_reason)}</small></h1>"
        f"{_plots(history)}<table>{figures}</table>{body}</html>"
    )


def _cluster_html(cluster: ClusterReport) -> str:
    members = "".join(f"<li>{html_quote(clipped(said, 600), of)}</li>" for of, said in _members(cluster))
    outcome = cluster.status + (f": {cluster.reason}" if cluster.reason else "")
    stands_for = ", ".join(cluster.member_ids[:_MEMBERS])
    made = f"<blockquote>{html_quote(cluster.abstraction, f'distilled from {stands_for}')}</blockquote>"
    return (
        f"<div class='cluster {html_text(cluster.status)}'><b>{cluster.member_count} memories</b>, "
        f"{html_text(cluster.project_id)} - {html_text(cluster.policy)}, {html_text(outcome)}; "
        f"ratio {cluster.compression_ratio}, facts {html_text(cluster.facts)}<ul>{members}</ul>"
        f"{made if cluster.abstraction else ''}</div>"
    )


def _plots(history: Sequence[NightFigures]) -> str:
    if len(history) < 2:
        return ""
    days = [report.partition.isoformat() for report in history]
    tokens = [float(report.tokens_after) for report in history]
    archived = [float(report.memories_archived) for report in history]
    return bar_plot("Active tokens after each night", days, tokens) + bar_plot(
        "Memories archived each night", days, archived
    )


def bar_plot(caption: str, labels: Sequence[str], values: Sequence[float]) -> str:
    """A bar a value, as inline SVG with a tooltip each; first, last and highest value in the caption."""
    top = max(values, default=0.0) or 1.0
    width = 10
    bars = "".join(
        f"<rect x='{n * width}' y='{100 - 96 * value / top:.1f}' width='{width - 2}' height='{96 * value / top:.1f}'>"
        f"<title>{escape(label)}: {value:,.0f}</title></rect>"
        for n, (label, value) in enumerate(zip(labels, values, strict=True))
    )
    return (
        f"<figure><svg viewBox='0 0 {len(values) * width} 100' width='{min(900, 24 * len(values) + 100)}' height='120' "
        f"preserveAspectRatio='none' fill='#4a78b5' role='img' aria-label='{escape(caption)}'>{bars}</svg>"
        f"<figcaption>{escape(caption)}: {escape(labels[0])} to {escape(labels[-1])}, "
        f"highest {top:,.0f}, last {values[-1]:,.0f}</figcaption></figure>"
    )
