"""The verdict of a run and the line that the command line ends with, from figures that were read from its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_pipeline.records import Verdict

_KINDS_TOLD = 3


def decide_verdict(
    *,
    compressed: int,
    copies: int,
    found: int,
    settled: int,
    errors: int,
    eligible: int,
    strict: bool,
    proposed: int = 0,
    refusals: Mapping[str, int] | None = None,
    fatal: str | None = None,
) -> tuple[Verdict, str]:
    """PASS, PARTIAL, FAIL or IDLE, and why (requirement 7.2).

    `copies`: exact duplicates archived, which count as something compressed. `settled` clusters were decided on an
    earlier night and count as not found; `proposed` ones wait for a person. `refusals`: how often each kind of
    reason left a cluster alone; being declined is no error. `fatal`: what ended the run before its end.
    """
    done = _done(compressed, copies)
    if fatal:
        return "FAIL", f"fatal error: {fatal}"[:500]
    if compressed or copies:
        return ("PARTIAL", f"{done}, {_count(errors, 'error')}") if errors else ("PASS", done)
    if errors:
        return "FAIL", f"no cluster compressed, {_count(errors, 'error')}"
    return ("FAIL" if strict else "IDLE"), _idle(found, settled, eligible, proposed, refusals or {})


def _idle(found: int, settled: int, eligible: int, proposed: int, refusals: Mapping[str, int]) -> str:
    if proposed:
        return f"{_count(proposed, 'proposal')} await{'s' if proposed == 1 else ''} review"
    if found > settled:
        told = sorted(refusals.items(), key=lambda item: (-item[1], item[0]))
        words = ", ".join(f"{kind} ({number})" for kind, number in told[:_KINDS_TOLD])
        more = f" and {len(told) - _KINDS_TOLD} other reasons" if len(told) > _KINDS_TOLD else ""
        return f"{_count(found - settled, 'cluster')} declined: {words or 'no reason was given'}{more}"
    if settled:
        which = "the only cluster was" if settled == 1 else f"all {settled} clusters were"
        return f"{which} decided on an earlier night"
    return "no memory was eligible" if not eligible else "no cluster was found"


def _done(compressed: int, copies: int) -> str:
    parts = [_count(compressed, "cluster") + " compressed"] if compressed else []
    parts += [_count(copies, "exact duplicate") + " archived"] if copies else []
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def closing_line(report: Mapping[str, Any]) -> str:
    """The last line that the command line prints (requirement 7.5)."""
    if report["verdict"] == "FAIL":
        return f"COMPRESSION BLOCKED: {report['verdict_reason']}"
    if report["dry_run"] and (report["clusters_found"] or report["memories_archived"]):
        return (
            f"COMPRESSION COMPLETE (DRY RUN): {report['clusters_compressed']} potential clusters, "
            f"{report['memories_archived']} entries would be archived"
        )
    if report["verdict"] == "IDLE":
        return f"COMPRESSION SKIPPED: {report['verdict_reason']}"
    return (
        f"COMPRESSION COMPLETE: {report['abstractions_created']} clusters, {report['memories_archived']} archived, "
        f"{report['tokens_before'] - report['tokens_after']} tokens saved"
    )
