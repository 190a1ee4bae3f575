"""The gates and health bands as asset checks, evaluated in the step of their asset.

None blocks: a cluster with a problem is refused before it is written (`consolidation/gates.py`), and a check that fails
afterwards is a warning. A check in its own step would add a second per night.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dagster import AssetCheckResult, AssetCheckSeverity, AssetCheckSpec

from memory_pipeline.config.night import RECALL_FLOOR
from memory_pipeline.consolidation.gates import LOST_IN_LEVELS_MEND, lost_in_levels, problems_of
from memory_pipeline.consolidation.reading import NightReader
from memory_pipeline.records import Archive, AtomDecision, Distillation, NightError
from memory_pipeline.reporting.model import Report
from memory_pipeline.store import Store
from memory_pipeline.workspace import ExportResult

_WARN = AssetCheckSeverity.WARN

DISTILLATION_CHECKS = [
    AssetCheckSpec(
        "nothing_lost",
        asset="distillations",
        description=(
            "Separate code, not that of the judge, checks that every accepted draft keeps or attaches every fact of "
            "its sources and is shorter than they are."
        ),
    ),
    AssetCheckSpec(
        "sources_intact",
        asset="distillations",
        description="No accepted draft uses a memory that is critical, pinned, archived, too recent or of "
        "another project.",
    ),
    AssetCheckSpec(
        "conflicts_kept_apart",
        asset="distillations",
        description="No two memories that contradict each other are sources of the same accepted draft.",
    ),
]
MERGE_CHECKS = [
    AssetCheckSpec(
        "merged_content_kept",
        asset="merges",
        description="Recomputed from the store: every merged memory contains every statement of its sources.",
    )
]
SERIES_CHECKS = [
    AssetCheckSpec(
        "series_true",
        asset="series",
        description="Recomputed from the store: every series memory of tonight says what its readings amount to.",
    )
]
READING_CHECKS = [
    AssetCheckSpec(
        "statements_linked",
        asset="readings",
        description=(
            "Recomputed from the store: every statement of tonight has its notes, every note that was put away is "
            "archived into it, and nothing critical or pinned was."
        ),
    )
]
CANONICAL_CHECKS = [
    AssetCheckSpec(
        "entries_kept",
        asset="canonical_entries",
        description=(
            "Recomputed from the store: every canonical entry contains every recommendation, example and tag of its "
            "members, and names all of them."
        ),
    )
]
ARCHIVE_CHECKS = [
    AssetCheckSpec(
        "store_sound",
        asset="archives",
        description="The store is consistent: links, hashes of sources, vectors, log and audit trail.",
    )
]
ATOM_CHECKS = [
    AssetCheckSpec(
        "atoms_supported",
        asset="atoms",
        description="Every causal finding that was used names an existing atom that it supports, and none failed.",
    )
]


def check_distillations(reader: NightReader, distillations: Sequence[Distillation]) -> list[AssetCheckResult]:
    """The findings of the gates. The archive refuses a draft that does not pass and writes the others."""
    looked_at, problems = len(distillations), problems_of(reader, distillations)
    return [
        _gate("nothing_lost", problems["losses"], looked_at, _WARN),
        _gate("sources_intact", problems["unsafe_members"], looked_at, _WARN),
        _gate("conflicts_kept_apart", problems["conflicts_inside"], looked_at, _WARN),
    ]


def check_level(reader: NightReader, asset: str, archives: Sequence[Archive]) -> list[AssetCheckResult]:
    """Whether every memory merged tonight contains everything that its sources say, recomputed from the store."""
    done = [archive for archive in archives if archive.status == "compressed"]
    name = MERGE_CHECKS[0].name if asset == "merges" else CANONICAL_CHECKS[0].name
    return [_gate(name, lost_in_levels(reader, done), len(done), _WARN, mend=LOST_IN_LEVELS_MEND)]


def check_series(store: Store, archives: Sequence[Archive]) -> list[AssetCheckResult]:
    """Whether every series memory made tonight says what its readings amount to, recomputed from the store."""
    done = {archive.abstraction_id for archive in archives if archive.status == "compressed"}
    wrong = []
    if done:
        with store.reading() as tx:
            wrong = [f"{finding.where}: {finding.problem}" for finding in tx.integrity.untrue_series(done)]
    return [_gate(SERIES_CHECKS[0].name, wrong, len(done))]


def check_readings(store: Store, archives: Sequence[Archive]) -> list[AssetCheckResult]:
    """Whether tonight's statements have their notes, and what was put away stands behind them."""
    done = [archive for archive in archives if archive.status == "compressed"]
    made = [archive.abstraction_id for archive in done if archive.abstraction_id]
    failures = []
    with store.reading() as tx:
        linked = {(link.memory_id, link.source_id) for link in tx.lineage.of(made)}
        memories = tx.memories.read({i for archive in done for i in archive.archived_ids})
    for archive in done:
        failures += [
            f"'{archive.abstraction_id}' has no link to '{i}'"
            for i in archive.member_ids
            if (archive.abstraction_id, i) not in linked
        ]
        for memory_id in archive.archived_ids:
            memory = memories.get(memory_id)
            if memory is None or memory.archived_at is None or memory.pinned:
                failures.append(f"'{memory_id}' is not archived as it should be")
    return [_gate(READING_CHECKS[0].name, failures, len(done))]


def check_archives(store: Store) -> list[AssetCheckResult]:
    """The integrity of the store after the archive, with every hash and figure recomputed."""
    with store.reading() as tx:
        findings = tx.integrity.check(deep=True)
    words = [f"{finding.rule}: {finding.where} ({finding.problem})" for finding in findings]
    return [_gate("store_sound", words, 1)]


def check_atoms(
    store: Store, errors: Sequence[NightError], decisions: Sequence[AtomDecision]
) -> list[AssetCheckResult]:
    """Whether the night's atoms are those in the store, recomputed from the store."""
    used = [decision for decision in decisions if decision.status in ("created", "strengthened")]
    failures = [error.error for error in errors if error.stage == "enrich"]
    if used:
        with store.reading() as tx:
            standing = {atom.id: atom for atom in tx.atoms.read()}
        for decision in used:
            atom = standing.get(decision.atom_id or "")
            if atom is None or decision.memory_id not in atom.source_ids or atom.project_id != decision.project_id:
                failures.append(f"the atom of '{decision.memory_id}' is not supported by it")
    return [_gate("atoms_supported", failures, len(used), _WARN)]


def _gate(
    name: str,
    failures: list[str],
    looked_at: int,
    severity: AssetCheckSeverity = AssetCheckSeverity.ERROR,
    mend: str | None = None,
) -> AssetCheckResult:
    shown: dict[str, Any] = {
        "looked_at": looked_at,
        "failures": len(failures),
        "first": "; ".join(failures[:5]) or "none",
    }
    if failures and mend:
        shown["mend"] = mend
    return AssetCheckResult(check_name=name, passed=not failures, severity=severity, metadata=shown)


Band = Callable[[float], int]

#: Check name, measured figure, and its band: 0 good, 1 warning, 2 bad.
_BANDS: tuple[tuple[str, str, Callable[[Report], float | None], Band], ...] = (
    (
        "token_reduction",
        "Active tokens saved, in percent: good above 15, warning from 5 to 15, bad below 5.",
        lambda r: r.token_reduction_pct if r.clusters_compressed else None,
        lambda v: 0 if v > 15 else 1 if v >= 5 else 2,
    ),
    (
        "compression_ratio",
        "Average ratio of original to abstraction tokens: good above 2.5, warning from 1.5 to 2.5, bad below 1.5.",
        lambda r: r.avg_compression_ratio or None,
        lambda v: 0 if v > 2.5 else 1 if v >= 1.5 else 2,
    ),
    (
        "skipped_clusters",
        "Share of tonight's clusters that were skipped (not counting clusters decided on earlier nights): good below "
        "20%, warning to 50%, bad above.",
        lambda r: (
            100 * (r.clusters_skipped - r.clusters_settled) / tonight
            if (tonight := r.clusters_found - r.clusters_settled)
            else None
        ),
        lambda v: 0 if v < 20 else 1 if v <= 50 else 2,
    ),
    (
        "errors",
        "Number of errors: none is good, one or two a warning, more is bad.",
        lambda r: float(len(r.errors)),
        lambda v: 0 if v == 0 else 1 if v <= 2 else 2,
    ),
    (
        "cost",
        "Estimated cost in USD: good below 0.10, warning up to 0.25, bad above.",
        lambda r: float(r.estimated_cost_usd),
        lambda v: 0 if v < 0.10 else 1 if v <= 0.25 else 2,
    ),
)


#: Figures whose bad band is a failure. A night that had little to do saves little: that is a warning at most.
_FAILING = ("errors", "cost")

REPORT_CHECKS = [
    AssetCheckSpec(
        "archived_still_found",
        asset="reports",
        description=(
            "For a sample of the archived memories, a search that asks as a person would finds at least 95% (the "
            "memory or its replacement) among the first ten results."
        ),
    ),
    AssetCheckSpec(
        "facts_preserved",
        asset="reports",
        description=(
            "Recomputed from the store by an independent reader: every number, date, name, identifier, negation and "
            "recommendation of the memories archived tonight is in the memory that replaced them."
        ),
    ),
    *(AssetCheckSpec(name, asset="reports", description=text) for name, text, _, _ in _BANDS),
]


EXPORT_CHECKS = [
    AssetCheckSpec(
        "exports_written",
        asset="exports",
        description="Every export that the settings name was written, or stands as it should.",
    )
]


def check_exports(results: Sequence[ExportResult]) -> AssetCheckResult:
    """Whether no export failed, and no table of the settings could not be used."""
    failed = [f"{result.name}: {result.problem}" for result in results if result.problem]
    return _gate(EXPORT_CHECKS[0].name, failed, len(results))


def check_report(report: Report) -> list[AssetCheckResult]:
    """Recall and preservation of the archived memories, and the health bands."""
    rate = report.recall_rate
    recall = AssetCheckResult(
        check_name="archived_still_found",
        passed=rate is None or rate >= RECALL_FLOOR,
        severity=AssetCheckSeverity.WARN,
        metadata={"found": report.recall_found, "sampled": report.recall_sampled},
    )
    preserved = AssetCheckResult(
        check_name="facts_preserved",
        passed=not report.facts_lost,
        severity=AssetCheckSeverity.WARN,
        metadata={"rate": str(report.preservation_rate), "first": "; ".join(report.facts_lost[:5]) or "none"},
    )
    return [recall, preserved, *(_in_band(name, measure(report), band) for name, _, measure, band in _BANDS)]


def _in_band(name: str, value: float | None, band: Band) -> AssetCheckResult:
    level = 0 if value is None else band(value)
    return AssetCheckResult(
        check_name=name,
        passed=level == 0,
        severity=AssetCheckSeverity.ERROR if level == 2 and name in _FAILING else AssetCheckSeverity.WARN,
        metadata={
            "value": "nothing to measure" if value is None else round(value, 4),
            "band": ("good", "warning", "bad")[level],
        },
    )
