"""What the Dagster UI shows of an asset's value: its figures, under the names of the report, and a preview in words.

Content of memories stands beside what became of it; a memory is never shown by its id alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
from dagster import MetadataValue

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.clustering import conflicts_in
from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.plan import NightPlan
from memory_pipeline.orchestration.sentences import Row, memories, plot, preview, table
from memory_pipeline.recall import read_state
from memory_pipeline.recall.series import show_series
from memory_pipeline.records import (
    DIGEST,
    ESTABLISHED,
    REPLACED,
    Archive,
    AtomDecision,
    Cluster,
    Contribution,
    Distillation,
    DuplicateGroup,
    EligibleMemory,
    Measured,
    Memory,
    PrincipleResult,
)
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped
from memory_pipeline.workspace import ExportResult
from memory_pipeline.workspace.places import PAGES

#: Rows of a preview, members that are quoted of each, and the longest quotations, in characters.
_ROWS, _MEMBERS, _LONGEST, _LONGEST_MADE = 8, 4, 240, 800
_STATEMENTS = 60


def eligible(found: Sequence[EligibleMemory]) -> dict[str, Any]:
    """The number of memories, by project, and their tokens."""
    projects = sorted({memory.project_id for memory in found})
    rows: list[Row] = [
        {
            "project": project,
            "memories": len(mine := [memory for memory in found if memory.project_id == project]),
            "tokens": sum(memory.token_count for memory in mine),
            "oldest": min(memory.created_at for memory in mine).date(),
            "newest": max(memory.created_at for memory in mine).date(),
        }
        for project in projects
    ]
    return {
        "memories_scanned": len(found),
        "tokens": sum(memory.token_count for memory in found),
        "projects": len(projects),
        **preview(rows, "Nothing is eligible tonight."),
    }


def pairs(night: Night, found: pa.Table) -> dict[str, Any]:
    """The number of pairs, and the most alike in words."""
    shown = found.sort_by([("score", "descending")]).slice(0, _ROWS).to_pylist() if found.num_rows else []
    texts = _texts(night, {row[side] for row in shown for side in ("a", "b")})
    rows: list[Row] = [
        {"one": texts.said(row["a"]), "the other": texts.said(row["b"]), "cosine": f"{row['score']:.3f}"}
        for row in shown
    ]
    return {
        "pairs": found.num_rows,
        "guarded": len(conflicts_in(found)),
        **preview(rows, "No two memories are alike tonight."),
    }


def duplicates(night: Night, groups: Sequence[DuplicateGroup]) -> dict[str, Any]:
    """The number of groups of exact duplicates, and of memories archived into their oldest."""
    shown = sorted(groups, key=lambda group: -len(group.duplicate_ids))[:_ROWS]
    texts = _texts(night, [group.survivor_id for group in shown])
    rows: list[Row] = [
        {
            "memory": texts.said(group.survivor_id),
            "copies": len(group.duplicate_ids),
            "project": group.project_id,
            "tonight": "proposed" if group.proposed else "archived",
        }
        for group in shown
    ]
    return {
        "groups": len(groups),
        "duplicates_archived": sum(len(group.duplicate_ids) for group in groups if not group.proposed),
        **preview(rows, "No exact duplicates."),
    }


def clusters(night: Night, found: Sequence[Cluster]) -> dict[str, Any]:
    """The number and sizes of clusters, and the members of the largest of them."""
    shown = sorted(found, key=lambda one: (one.settled is not None, -one.member_count, one.fingerprint))[:_ROWS]
    texts = _texts(night, _quoted(shown))
    rows = []
    for one in shown:
        about = f"{memories(one.member_count)} of {one.project_id}, cosine at least {one.min_similarity:.2f}"
        becomes = "to be distilled"
        if one.policy == ESTABLISHED:
            about, becomes = f"a statement of {one.project_id} that notes of several days say", "becomes a pattern"
        rows += _beside(texts.members(one), [about, one.settled or becomes], "cluster")
    return {
        "clusters_found": len(found),
        "members": sum(one.member_count for one in found),
        "largest": max((one.member_count for one in found), default=0),
        "clusters_settled": sum(one.settled is not None for one in found),
        **preview(rows, "No clusters tonight."),
    }


def distillations(night: Night, drafts: Sequence[Distillation]) -> dict[str, Any]:
    """The number of accepted drafts, what was preserved, and members and draft of the largest clusters."""
    accepted = [d for d in drafts if d.outcome == "accepted"]
    shown = sorted(drafts, key=lambda d: (-len(d.member_ids), d.cluster.fingerprint))[:_ROWS]
    texts = _texts(night, _quoted(shown))
    rows = []
    for draft in shown:
        outcome = f"{draft.outcome}: {draft.reason}" if draft.reason else draft.outcome
        told = f"({outcome}{_shorter(draft.cluster, draft.measured)})" if draft.content else f"({outcome})"
        rows += _beside(texts.members(draft.cluster), [clipped(draft.content, _LONGEST_MADE), told], "draft")
    return {
        "distillations": len(drafts),
        **{name: sum(d.outcome == name for d in drafts) for name in ("accepted", "refused", "deferred", "failed")},
        "facts_found": sum(d.measured.facts_found for d in accepted),
        "facts_kept": sum(d.measured.facts_kept for d in accepted),
        "facts_attached": sum(d.measured.facts_attached for d in accepted),
        **preview(rows, "Nothing to distil tonight."),
    }


def _shorter(cluster: Cluster, measured: Measured) -> str:
    """How much shorter what was made of a cluster is; an established statement keeps its words."""
    return "" if cluster.policy == ESTABLISHED else f", {measured.compression_ratio:.1f} times shorter"


def archives(night: Night, done: Sequence[Archive]) -> dict[str, Any]:
    """The results for the clusters in the store, and what the largest of them became."""
    shown = [archive for archive in done if archive.status != "settled"]
    shown.sort(key=lambda archive: (archive.status != "compressed", -len(archive.member_ids), archive.id))
    shown = shown[:_ROWS]
    texts = _texts(night, [*_quoted(shown), *(archive.abstraction_id for archive in shown if archive.abstraction_id)])
    rows = []
    for archive in shown:
        made = texts.said(archive.abstraction_id, _LONGEST_MADE) if archive.abstraction_id else ""
        saved = f"({archive.status}{_shorter(archive.cluster, archive.measured)})"
        left = f"({archive.status}: {archive.reason})" if archive.reason else f"({archive.status})"
        rows += _beside(texts.members(archive.cluster), [made, saved if made else left], "became")
    return {**_archived(done), **preview(rows, "Nothing was archived.")}


def _archived(done: Sequence[Archive]) -> dict[str, Any]:
    compressed = [archive for archive in done if archive.status == "compressed"]
    return {
        "clusters_found": len(done),
        "clusters_compressed": len(compressed),
        "clusters_skipped": sum(archive.status in ("skipped", "settled") for archive in done),
        "clusters_failed": sum(archive.status == "failed" for archive in done),
        "memories_archived": sum(len(archive.archived_ids) for archive in compressed),
        "tokens_saved": sum(one.measured.tokens_before - one.measured.tokens_after for one in compressed),
    }


def readings(night: Night, done: Sequence[Archive]) -> dict[str, Any]:
    """What a model kept of the notes, beside these, what it put away, and what it replaced."""
    made = sorted({archive.abstraction_id for archive in done if archive.abstraction_id})
    with night.store.reading() as tx:
        links = tx.lineage.of(made)
    replaced: dict[str, list[str]] = {}
    for link in links:
        if link.relation == REPLACED:
            replaced.setdefault(link.memory_id, []).append(link.source_id)
    texts = _texts(night, [*made, *(link.source_id for link in links)])
    rows: list[Row] = []
    for archive in done[:_STATEMENTS]:
        made_id = archive.abstraction_id or ""
        rows.append(
            {
                "statement": texts.said(made_id, _LONGEST_MADE) if made_id else f"({archive.status}: {archive.reason})",
                "from": " / ".join(texts.said(i) for i in archive.member_ids[:_MEMBERS]),
                "put away": len(archive.archived_ids),
                "in the place of": " / ".join(texts.said(i) for i in replaced.get(made_id, [])[:_MEMBERS]),
            }
        )
    digests = [archive for archive in done if archive.cluster.policy == DIGEST]
    return {
        "statements": len(done) - len(digests),
        "digests": len(digests),
        "routine": sum(len(archive.archived_ids) for archive in digests),
        "replaced": sum(map(len, replaced.values())),
        **_archived(done),
        **preview(rows, "Nothing was read: no model is chosen, or no note is new."),
    }


def series(store: Store, done: Sequence[Archive]) -> dict[str, Any]:
    """The series memories that were made or updated, each figure of them over time, and what breaks them."""
    made = {archive.abstraction_id for archive in done if archive.status == "compressed"}
    with store.reading() as tx:
        shown = [show_series(tx, one.id) for one in tx.series.active() if one.id in made] if made else []
    rows: list[Row] = [
        {
            "series": clipped(one.content, 60),
            "figure": figure.name or "value",
            "over time": figure.plot,
            "least": figure.least.value + figure.unit,
            "greatest": figure.greatest.value + figure.unit,
            "newest": figure.newest.value + figure.unit,
        }
        for one in shown
        for figure in one.figures
        if figure.least.value != figure.greatest.value
    ]
    said: list[Row] = [{"a series says": one.content, "readings": one.readings} for one in shown]
    return {
        **_archived(done),
        "readings_breaking": sum(len(one.breaking_ids) for one in shown),
        **preview(said, "No series has a new reading tonight."),
        "figures": MetadataValue.md(table(rows[: _ROWS * 4]) or "No figure moved."),
    }


def principles(night: Night, results: Sequence[PrincipleResult]) -> dict[str, Any]:
    """The rules that were found behind patterns, and what became of them."""
    shown = sorted(results, key=lambda one: one.status != "created")[:_ROWS]
    texts = _texts(night, _quoted([result.group for result in shown]))
    rows = []
    for result in shown:
        why = f"({result.status}: {result.reason})" if result.reason else f"({result.status})"
        rows += _beside(texts.members(result.group), [clipped(result.content, _LONGEST_MADE), why], "principle")
    statuses = ("created", "skipped", "failed")
    return {
        **{name: sum(result.status == name for result in results) for name in statuses},
        **preview(rows, "No rule that three patterns share was found, or no model is chosen."),
    }


def playbook(night: Night, settings: Settings, done: Sequence[Contribution]) -> dict[str, Any]:
    """The new contents of the playbook, and where it is."""
    texts = _texts(night, [one.memory_id for one in done[:_ROWS]])
    rows: list[Row] = [
        {
            "advice": clipped(one.guidance, _LONGEST),
            "of": texts.said(one.memory_id),
            "about": one.category,
            "entry": one.status,
            "confidence": f"{one.confidence:.2f}",
        }
        for one in done[:_ROWS]
    ]
    return {
        "playbook_created": sum(one.status == "created" for one in done),
        "playbook_updated": sum(one.status == "updated" for one in done),
        "directory": MetadataValue.path(str(Path(settings.store.path).with_suffix(PAGES))),
        **preview(rows, "Nothing new."),
    }


def atoms(night: Night, decisions: Sequence[AtomDecision]) -> dict[str, Any]:
    """The results of the causal findings, and the content of the first ones."""
    findings = [(decision, decision.causal) for decision in decisions if decision.causal][:_ROWS]
    texts = _texts(night, [decision.memory_id for decision, _ in findings])
    rows: list[Row] = [
        {
            "subject": causal.subject,
            "action": causal.action,
            "outcome": causal.outcome,
            "said by": texts.said(decision.memory_id),
            "became": decision.status + (f" ({decision.reason})" if decision.reason else ""),
        }
        for decision, causal in findings
    ]
    names = {"created": "created", "strengthened": "enriched", "skipped": "skipped", "not_causal": "not_causal"}
    counts = {f"atoms_{name}": sum(d.status == status for d in decisions) for status, name in names.items()}
    return {**counts, **preview(rows, "No causal findings tonight.")}


def report(made: Report, markdown: str, path: str, tokens: Sequence[int]) -> dict[str, Any]:
    """The figures that are plotted by day, the report page, and the paths of the files.

    `tokens`: the active tokens after each of the last nights, oldest first.
    """
    plotted = (
        "notes_read",
        "statements_made",
        "turns_read",
        "extractions_kept",
        "memories_scanned",
        "clusters_found",
        "clusters_compressed",
        "clusters_skipped",
        "memories_archived",
        "duplicates_archived",
        "abstractions_created",
        "active_memories",
        "tokens_before",
        "tokens_after",
        "token_reduction_pct",
        "avg_compression_ratio",
        "atoms_created",
        "atoms_enriched",
        "total_llm_calls",
        "total_llm_input_tokens",
        "total_llm_output_tokens",
        "estimated_cost_usd",
        "conflicts_known",
    )
    figures: dict[str, Any] = {name: getattr(made, name) for name in plotted}
    if made.recall_rate is not None:
        figures["recall_rate"] = made.recall_rate
    return {
        "verdict": MetadataValue.text(f"{made.verdict}: {made.verdict_reason}"),
        "read_by": MetadataValue.text(made.read_by),
        "active_tokens": plot(tokens, "Active tokens after each night"),
        **figures,
        "errors": len(made.errors),
        "report": MetadataValue.md(markdown),
        "files": MetadataValue.path(path),
    }


def difference(store: Store, plan: NightPlan, made: Report) -> dict[str, MetadataValue]:
    """What the run changed in the active memory: each memory of now beside those that it stands for."""
    nothing = "Nothing changed in the active memory."
    if not made.memories_archived:
        return {"diff": MetadataValue.md(nothing)}
    before, after = read_state(store, f"before:{plan.run_id}"), read_state(store, plan.run_id)
    old, new = before.active, after.active
    later = {memory.id: memory for memory in after.memories}
    groups: dict[str, list[Memory]] = {}
    for memory_id in sorted(old.keys() - new.keys(), key=lambda i: (old[i].effective_date, i)):
        groups.setdefault(_end(later, memory_id), []).append(old[memory_id])
    rows: list[Row] = []
    for end, gone in sorted(groups.items(), key=lambda one: (one[0] in old, -len(one[1]), one[0]))[: 2 * _ROWS]:
        words = _and_more([clipped(memory.content, _LONGEST) for memory in gone[:_MEMBERS]], len(gone))
        now = [
            clipped(later[end].content, _LONGEST_MADE) if end in later else "",
            "(there before)" if end in old else "",
        ]
        rows += _beside(words, now if end in new else ["(no longer in use)"], "now")
    count = sum(map(len, groups.values()))
    head = f"{memories(count)} archived, {how_many(len(new.keys() - old.keys()), 'new memory')}."
    shown = preview(rows, nothing)
    return {"changed": MetadataValue.text(head), **{name.replace("preview", "diff"): md for name, md in shown.items()}}


def _end(later: Mapping[str, Memory], memory_id: str) -> str:
    """The memory that stands for one in the end."""
    while memory_id in later and (into := later[memory_id].consolidated_into_id) is not None:
        memory_id = into
    return memory_id


class _Words:
    """The words of memories that a preview shows."""

    def __init__(self, found: Mapping[str, Memory]) -> None:
        self._found = found

    def said(self, memory_id: str, longest: int = _LONGEST) -> str:
        memory = self._found.get(memory_id)
        return clipped(memory.content, longest) if memory else "(a memory that is not in the store)"

    def members(self, cluster: Cluster) -> list[str]:
        """The first members in words, oldest first as they stand in the cluster, and how many more there are."""
        return _and_more([self.said(i) for i in cluster.member_ids[:_MEMBERS]], len(cluster.member_ids))


def _texts(night: Night, ids: Iterable[str]) -> _Words:
    wanted = set(ids)
    return _Words(night.reader.memories(wanted) if wanted else {})


def _quoted(groups: Iterable[Cluster | Distillation | Archive]) -> list[str]:
    return [memory_id for group in groups for memory_id in group.member_ids[:_MEMBERS]]


def _and_more(words: list[str], count: int) -> list[str]:
    return words if count <= len(words) else [*words, f"... and {count - len(words):,} more"]


def _beside(left: Sequence[str], right: Sequence[str], name: str) -> list[Row]:
    """Members, one a row, beside what they became: Markdown of tables has no lines within a cell."""
    told = [words for words in right if words]
    return [{"memories": one, name: other} for one, other in zip_longest(left, told, fillvalue="")]


def exports(results: Sequence[ExportResult]) -> dict[str, Any]:
    """What became of the exports, their files, and the tokens that agents load of them."""
    rows: list[dict[str, object]] = [
        {
            "export": one.name,
            "format": one.format,
            "status": one.status,
            "memories": one.exported,
            "files written": one.files_written,
            "unchanged": one.files_unchanged,
            "tokens": one.tokens,
            "problem": one.problem or "",
        }
        for one in results
    ]
    told = [f"{one.name} ({how_many(one.exported, 'memory')})" for one in results if one.status == "written"]
    names = ("files_written", "files_unchanged", "files_removed", "files_kept", "tokens")
    skipped = [one.name for one in results if one.status == "skipped"]
    return {
        **{name: sum(getattr(one, name) for one in results) for name in names},
        "written": ", ".join(told) or "none",
        "skipped": f"{', '.join(skipped)}: a later night has run, whose contents are newer" if skipped else "none",
        **preview(rows, "The settings name no export; `memory-pipeline exports add FORMAT PATH` adds one."),
    }
