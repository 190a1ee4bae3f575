"""The display of each step of a night in the UI: its words, its figures with a preview, a line of the log, and its
checks. `consolidation/run.py` defines what it does."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.gates import LOST_IN_LEVELS_MEND, lost_in_levels, problems_of
from memory_pipeline.orchestration.assets.conversations import conversations
from memory_pipeline.orchestration.assets.night import exact_duplicates, exports, reports, step_asset
from memory_pipeline.orchestration.assets.sources import imported_notes
from memory_pipeline.orchestration.location import KNOWLEDGE_GROUP
from memory_pipeline.orchestration.showing import ROWS, WARN, Found, Row, Seen, by_status, preview, rows_of, schema_of
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
    EligibleMemory,
)
from memory_pipeline.store import EDGE_SCHEMA
from memory_pipeline.workspace.directory import PAGES

#: The principles that a night finds: those of the week that ended before its day.
_WEEK_BEFORE = dg.TimeWindowPartitionMapping(-1, -1, allow_nonexistent_upstream_partitions=True)
_OF_PAIRS = {"cluster.member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")]}


@step_asset(
    "series",
    kinds={"duckdb", "python"},
    columns=schema_of(Archive),
    checks={
        "series_true": "Recomputed from the store: every series memory of tonight says what its readings amount to."
    },
)
def series(night: Night, done: Sequence[Archive]) -> Seen:
    """Lines that machinery writes again and again with other values (five or more on two days or more) become one
    memory in words: the newest values with their day, how many readings, from when, and between which values. Each
    night with new readings makes the next version from all readings; a reading that breaks the series stays active and
    is named. Found by the shape of the lines, before any pair is compared."""
    compressed = _compressed(done)
    made = {archive.abstraction_id for archive in compressed}
    with night.store.reading() as tx:
        renewed = [show_series(tx, row.id) for row in tx.series.active() if row.id in made] if made else []
        untrue = tx.integrity.untrue_series(made) if made else []
    rows = rows_of(night, renewed, series=lambda row: row.content, readings=lambda row: row.readings)
    figures = {
        **_archived(done),
        "readings_breaking": sum(len(row.breaking_ids) for row in renewed),
        **preview(rows, "No series has a new reading tonight."),
    }
    wrong = [f"{finding.where}: {finding.problem}" for finding in untrue]
    return Seen(figures, [Found(wrong, len(made))])


@step_asset(
    "readings",
    kinds={"duckdb", "python"},
    columns=schema_of(Archive, ["cluster.member_ids"]),
    checks={
        "statements_linked": """Recomputed from the store: every statement of tonight has its notes, every note that was
        put away is archived into it, and nothing critical or pinned was."""
    },
)
def readings(night: Night, done: Sequence[Archive]) -> Seen:
    """A model reads the notes that no night has read, and says what of them is worth keeping: statements that stand
    alone, with links to their notes; what they replace; and what is routine. Code checks every quote, figure, name and
    negation before anything is written. Notes that are wholly said by statements, or are routine, are archived into
    these, or into the digest of their day. Without a model nothing is read."""
    made = sorted({archive.abstraction_id for archive in done if archive.abstraction_id})
    with night.store.reading() as tx:
        links = tx.lineage.of(made)
        put_away = tx.memories.read({i for archive in done for i in archive.archived_ids})
    replaced: dict[str, list[str]] = {}
    for link in links:
        if link.relation == REPLACED:
            replaced.setdefault(link.memory_id, []).append(link.source_id)
    rows = rows_of(
        night,
        done,
        statement=lambda archive: (
            (archive.abstraction_id,) if archive.abstraction_id else f"({archive.status}: {archive.reason})"
        ),
        notes=lambda archive: archive.member_ids,
        put_away=lambda archive: len(archive.archived_ids),
        replaces=lambda archive: tuple(replaced.get(archive.abstraction_id or "", ())),
    )
    digests = [archive for archive in done if archive.cluster.policy == DIGEST]
    figures = {
        "statements": len(done) - len(digests),
        "digests": len(digests),
        "routine": sum(len(archive.archived_ids) for archive in digests),
        "replaced": sum(map(len, replaced.values())),
        **_archived(done),
        **preview(rows, "Nothing was read: no model is chosen, or no note is new."),
    }
    linked, failures = {(link.memory_id, link.source_id) for link in links}, []
    for archive in (compressed := _compressed(done)):
        failures += [
            f"'{archive.abstraction_id}' has no link to '{i}'"
            for i in archive.member_ids
            if (archive.abstraction_id, i) not in linked
        ]
        for memory_id in archive.archived_ids:
            memory = put_away.get(memory_id)
            if memory is None or memory.archived_at is None or memory.pinned:
                failures.append(f"'{memory_id}' is not archived as it should be")
    return Seen(figures, [Found(failures, len(compressed))])


@step_asset("eligible_memories", kinds={"duckdb", "python"}, columns=schema_of(EligibleMemory))
def eligible(night: Night, memories: Sequence[EligibleMemory]) -> Seen:
    """The memories that tonight may touch: at least 24 hours old as of the partition, importance below the critical
    floor, not pinned, not archived, raw or merged, with a vector. Memories without a vector are embedded first."""
    projects = Counter(memory.project_id for memory in memories)
    rows: list[Row] = [{"project": name, "memories": count} for name, count in sorted(projects.items())]
    figures = {
        "memories_scanned": len(memories),
        "tokens": sum(memory.token_count for memory in memories),
        "projects": len(projects),
        **preview(rows, "Nothing is eligible tonight."),
    }
    return Seen(figures)


@step_asset(
    "similarity_batches",
    kinds={"numpy"},
    columns=dg.TableSchema([dg.TableColumn(column.name, str(column.type)) for column in EDGE_SCHEMA]),
    lineage={"a": [("eligible_memories", "id")], "b": [("eligible_memories", "id")]},
    value_type=dg.PythonObjectDagsterType(pa.Table, name="Pairs"),
)
def pairs(night: Night, table: pa.Table) -> Seen:
    """Every pair of eligible memories of one project whose cosine reaches the lowest threshold, computed exactly, with
    the result of the conflict guard. Only pairs with a memory that no earlier night has compared are computed."""
    nearest = table.sort_by([("score", "descending")]).slice(0, ROWS).to_pylist() if table.num_rows else []
    rows = rows_of(
        night,
        nearest,
        one=lambda row: (row["a"],),
        the_other=lambda row: (row["b"],),
        cosine=lambda row: f"{row['score']:.3f}",
    )
    guarded = table["conflict_kind"].length() - table["conflict_kind"].null_count
    shown = preview(rows, "No two memories are alike tonight.")
    return Seen({"pairs": table.num_rows, "guarded": guarded, **shown})


@step_asset(
    "merges",
    kinds={"duckdb", "python"},
    columns=schema_of(Archive, ["cluster.member_ids"]),
    lineage=_OF_PAIRS,
    checks={
        "merged_content_kept": "Recomputed from the store: every merged memory contains every statement of its sources."
    },
    severity=WARN,
)
def merges(night: Night, done: Sequence[Archive]) -> Seen:
    """Merges near-copies (by default cosine 0.95 or more, within one project and memory type) into one memory that
    keeps every distinct piece of their content. Its vector is the normalised mean of theirs. A merged memory may be
    merged or distilled again, also tonight. One transaction writes each merge and archives its sources."""
    return _level(night, done)


@step_asset(
    "canonical_entries",
    kinds={"duckdb", "python"},
    columns=schema_of(Archive, ["cluster.member_ids"]),
    lineage=_OF_PAIRS,
    checks={
        "entries_kept": """Recomputed from the store: every canonical entry contains every recommendation, example and
        tag of its members, and names all of them."""
    },
    severity=WARN,
)
def canonical(night: Night, done: Sequence[Archive]) -> Seen:
    """Merges knowledge-base entries (texts with a title and a recommendation) that say the same into one canonical
    entry: the most descriptive title, every recommendation once, examples by story, and all tags, with `role:all`
    instead of other roles. Before the entry is written, its text is parsed again and compared with its members."""
    return _level(night, done)


def _level(night: Night, done: Sequence[Archive]) -> Seen:
    """Checks that every memory merged tonight contains everything that its sources say, recomputed from the store."""
    compressed = _compressed(done)
    lost: list[str] = []
    if made := {archive.abstraction_id for archive in compressed if archive.abstraction_id}:
        with night.store.reading() as tx:
            lost = [f"'{loss.where}' {loss.problem}" for loss in lost_in_levels(tx, made)]
    return Seen(_put_away(night, done), [Found(lost, len(compressed), LOST_IN_LEVELS_MEND)])


@step_asset(
    "clusters",
    kinds={"python"},
    columns=schema_of(Cluster),
    lineage={
        "member_ids": [("similarity_batches", "a"), ("similarity_batches", "b")],
        "min_similarity": [("similarity_batches", "score")],
        "avg_similarity": [("similarity_batches", "score")],
        "total_tokens": [("eligible_memories", "token_count")],
        "max_importance": [("eligible_memories", "importance")],
    },
)
def clusters(night: Night, groups: Sequence[Cluster]) -> Seen:
    """Groups the remaining memories by subject: every pair of a cluster reaches the threshold (complete linkage), and
    no pair is a conflict. Conflicts are linked in the store. A cluster that was decided within the last seven days is
    left alone. A statement that notes of three days say is a cluster of its own: it becomes a pattern in its own
    words."""
    rows = rows_of(
        night,
        sorted(groups, key=lambda cluster: (cluster.settled is not None, -cluster.member_count, cluster.fingerprint)),
        memories=lambda cluster: cluster.member_ids,
        project=lambda cluster: cluster.project_id,
        cosine=lambda cluster: f"{cluster.min_similarity:.2f}",
        becomes=lambda cluster: (
            cluster.settled or ("a pattern" if cluster.policy == ESTABLISHED else "to be distilled")
        ),
    )
    return Seen(
        {
            "clusters_found": len(groups),
            "members": sum(cluster.member_count for cluster in groups),
            "largest": max((cluster.member_count for cluster in groups), default=0),
            "clusters_settled": sum(cluster.settled is not None for cluster in groups),
            **preview(rows, "No clusters tonight."),
        }
    )


@step_asset(
    "distillations",
    kinds={"python"},
    columns=schema_of(
        Distillation,
        ["cluster.cluster_id", "cluster.member_ids", "measured.tokens_before"],
        without=("stays", "replaces"),
    ),
    lineage={
        "cluster.cluster_id": [("clusters", "cluster_id")],
        "cluster.member_ids": [("clusters", "member_ids")],
        "measured.tokens_before": [("clusters", "total_tokens")],
    },
    checks={
        "nothing_lost": """Separate code, not that of the judge, checks that every accepted draft keeps or attaches
        every fact of its sources and is shorter than they are.""",
        "sources_intact": """No accepted draft uses a memory that is critical, pinned, archived, too recent or of
        another project.""",
        "conflicts_kept_apart": "No two memories that contradict each other are sources of the same accepted draft.",
    },
    severity=WARN,
)
def distillations(night: Night, drafts: Sequence[Distillation]) -> Seen:
    """Drafts one memory for each cluster and judges it: which facts of the sources it keeps, which it attaches, and how
    much shorter it is. A draft that loses or invents a fact or contradicts a source is refused, and its sources stay
    unchanged. Nothing is written to the store yet."""
    accepted = [d for d in drafts if d.outcome == "accepted"]
    rows = rows_of(
        night,
        sorted(drafts, key=lambda d: (-len(d.member_ids), d.cluster.fingerprint)),
        memories=lambda d: d.member_ids,
        draft=lambda d: d.content,
        outcome=lambda d: _outcome(d.outcome, d),
    )
    figures = {
        "distillations": len(drafts),
        **by_status(drafts, ("accepted", "refused", "deferred", "failed"), "outcome"),
        "facts_found": sum(d.measured.facts_found for d in accepted),
        "facts_kept": sum(d.measured.facts_kept for d in accepted),
        "facts_attached": sum(d.measured.facts_attached for d in accepted),
        **preview(rows, "Nothing to distil tonight."),
    }
    problems = problems_of(night, drafts)
    checks = [Found(problems[name], len(drafts)) for name in ("losses", "unsafe_members", "conflicts_inside")]
    return Seen(figures, checks)


@step_asset(
    "archives",
    kinds={"duckdb", "python"},
    columns=schema_of(Archive, ["cluster.cluster_id"]),
    lineage={
        "cluster.cluster_id": [("distillations", "cluster.cluster_id")],
        "archived_ids": [("distillations", "cluster.member_ids")],
    },
    checks={"store_sound": "The store is consistent: links, hashes of sources, vectors, log and audit trail."},
)
def archives(night: Night, done: Sequence[Archive]) -> Seen:
    """Writes the accepted drafts to the store. One transaction writes each abstraction and archives its sources, so
    that a cluster is compressed as a whole or not at all. Sources are never deleted, and their words never change. A
    draft that does not pass the gates is refused, with the reason."""
    with night.store.reading() as tx:
        findings = tx.integrity.check(deep=True)
    wrong = [f"{finding.rule}: {finding.where} ({finding.problem})" for finding in findings]
    return Seen(_put_away(night, done), [Found(wrong, 1)])


def _put_away(night: Night, done: Sequence[Archive]) -> dict[str, Any]:
    """The results for the clusters in the store, and what the largest of them became."""
    decided = [archive for archive in done if archive.status != "settled"]
    decided.sort(key=lambda archive: (archive.status != "compressed", -len(archive.member_ids), archive.id))
    rows = rows_of(
        night,
        decided,
        memories=lambda archive: archive.member_ids,
        became=lambda archive: (archive.abstraction_id,) if archive.abstraction_id else "",
        status=lambda archive: _outcome(archive.status, archive),
    )
    return {**_archived(done), **preview(rows, "Nothing was archived.")}


def _compressed(done: Sequence[Archive]) -> list[Archive]:
    return [archive for archive in done if archive.status == "compressed"]


def _archived(done: Sequence[Archive]) -> dict[str, Any]:
    compressed = _compressed(done)
    return {
        "clusters_found": len(done),
        "clusters_compressed": len(compressed),
        "clusters_skipped": sum(archive.status in ("skipped", "settled") for archive in done),
        "clusters_failed": sum(archive.status == "failed" for archive in done),
        "memories_archived": sum(len(archive.archived_ids) for archive in compressed),
        "tokens_saved": sum(archive.measured.tokens_before - archive.measured.tokens_after for archive in compressed),
    }


def _outcome(status: str, made: Distillation | Archive) -> str:
    """A status with its reason, or with how many times shorter what was made of a cluster is; an established statement
    keeps its words."""
    if made.reason:
        return f"{status}: {made.reason}"
    return (
        status
        if made.cluster.policy == ESTABLISHED
        else f"{status}, {made.measured.compression_ratio:.1f} times shorter"
    )


@step_asset(
    "atoms",
    kinds={"duckdb", "python"},
    columns=schema_of(AtomDecision),
    lineage={"memory_id": [("archives", "abstraction_id")], "causal": [("distillations", "causal")]},
    checks={
        "atoms_supported": """Every causal finding that was used names an existing atom that it supports, and none
        failed."""
    },
    severity=WARN,
    group=KNOWLEDGE_GROUP,
)
def atoms(night: Night, decisions: Sequence[AtomDecision]) -> Seen:
    """Extracts causes and effects from the night's abstractions: subject, action, outcome. A known finding raises the
    confidence of its atom, a new one becomes an atom, and one that the sources do not support is skipped. Separate from
    the archive, so that an error here cannot stop a night."""
    rows = rows_of(
        night,
        (decision for decision in decisions if decision.causal),
        subject=lambda decision: decision.causal.subject,
        action=lambda decision: decision.causal.action,
        outcome=lambda decision: decision.causal.outcome,
        said_by=lambda decision: (decision.memory_id,),
        became=lambda decision: decision.status + (f" ({decision.reason})" if decision.reason else ""),
    )
    counts = by_status(decisions, ("created", "strengthened", "skipped", "not_causal"))
    figures = {
        "atoms_created": counts["created"],
        "atoms_enriched": counts["strengthened"],
        "atoms_skipped": counts["skipped"],
        "atoms_not_causal": counts["not_causal"],
        **preview(rows, "No causal findings tonight."),
    }
    used = [decision for decision in decisions if decision.status in ("created", "strengthened")]
    return Seen(figures, [Found(_unsupported(night, used), len(used))])


def _unsupported(night: Night, used: Collection[AtomDecision]) -> list[str]:
    """The failures, and those of the night's atoms that are not the ones in the store."""
    failures = [error.error for error in night.errors if error.stage == "enrich"]
    if used:
        with night.store.reading() as tx:
            standing = {atom.id: atom for atom in tx.atoms.read()}
        for decision in used:
            atom = standing.get(decision.atom_id or "")
            if atom is None or decision.memory_id not in atom.source_ids or atom.project_id != decision.project_id:
                failures.append(f"the atom of '{decision.memory_id}' is not supported by it")
    return failures


@step_asset(
    "playbook",
    kinds={"duckdb", "markdown"},
    columns=schema_of(Contribution),
    group=KNOWLEDGE_GROUP,
    beside=[dg.AssetDep("principles", partition_mapping=_WEEK_BEFORE)],
)
def playbook(night: Night, done: Sequence[Contribution]) -> Seen:
    """Adds guidance from patterns and principles: the same guidance (cosine 0.95) updates its entry, other guidance
    creates one. An entry is derived from the memories behind it, and is removed when none is left. Exported as one
    Markdown file per project and category."""
    rows = rows_of(
        night,
        done,
        advice=lambda contribution: contribution.guidance,
        of=lambda contribution: (contribution.memory_id,),
        about=lambda contribution: contribution.category,
        entry=lambda contribution: contribution.status,
        confidence=lambda contribution: f"{contribution.confidence:.2f}",
    )
    counts = by_status(done, ("created", "updated"))
    figures = {
        "playbook_created": counts["created"],
        "playbook_updated": counts["updated"],
        "directory": dg.MetadataValue.path(str(Path(night.settings.store.path).with_suffix(PAGES))),
        **preview(rows, "Nothing new."),
    }
    return Seen(figures)


NIGHT_ASSETS = [
    imported_notes, conversations, exact_duplicates, series, readings, eligible, pairs, merges, canonical, clusters,
    distillations, archives, atoms, playbook, reports, exports,
]  # fmt: skip
