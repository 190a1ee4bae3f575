"""The asset of compactions: what triggers started for live sessions, with the gates as asset checks."""

from collections.abc import Sequence
from datetime import timedelta

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    Config,
    FreshnessPolicy,
    MaterializeResult,
    MetadataValue,
    asset,
)
from pydantic import Field

from memory_pipeline.orchestration.location import OWNERS
from memory_pipeline.orchestration.resources import NightResource
from memory_pipeline.orchestration.sentences import schema_of_document
from memory_pipeline.sessions.documents import CompactedSession

GROUP = "conversations"
NAME = "session_compactions"
#: Agents that work every day are compacted at least once a month.
_MONTHLY = FreshnessPolicy.time_window(fail_window=timedelta(days=31))
_GATES = {
    "curated_captured": "Every note marked [CURATE] is among what is kept; else nothing is written.",
    "no_open_decisions": "No question about what is to be decided is the last word on it.",
    "no_contradicting_facts": "What is kept contradicts neither itself nor what stands in MEMORY.md.",
    "memory_parses": "MEMORY.md has our block once, as it was written; else every file has its bytes back.",
    "index_refreshed": "Every turn of a session of a source is in the store and can be searched; else it is imported.",
    "reduction": "What is kept is shorter than what was said by the share that the settings ask for.",
}


class CompactionConfig(Config):
    """What started a run."""

    events: list[str] = Field(default=[], description="Ids of trigger events; empty: compact every live session.")


@asset(
    name=NAME,
    group_name=GROUP,
    owners=OWNERS,
    kinds={"markdown"},
    freshness_policy=_MONTHLY,
    check_specs=[AssetCheckSpec(name, asset=NAME, description=text) for name, text in _GATES.items()],
    metadata={"dagster/column_schema": schema_of_document(CompactedSession, "What was kept of each session.")},
    description=(
        "What must not be lost of live sessions, written to their daily logs and MEMORY.md before their agents forget "
        "it. The sensors of contexts start it; started by hand, it compacts every live session."
    ),
)
def session_compactions(
    context: AssetExecutionContext, config: CompactionConfig, night: NightResource
) -> MaterializeResult:  # type: ignore[type-arg]
    from memory_pipeline.sessions.acting import act_on, compact_live
    from memory_pipeline.workspace.pages import token_counter

    settings, store = night.effective_settings(), night.store()
    count = token_counter(settings)
    if config.events:
        acted = list(act_on(settings, store, config.events, count))
    else:
        acted = list(compact_live(settings, "dagster", count))
    lines, gates = [], []
    for one in acted:
        lines.append(
            f"| {one.event.session_id} | {one.event.kind} | {one.event.action} | {one.event.share:.0%} "
            f"| {one.outcome} | {one.problem or one.event.reason} |"
        )
        context.log.info(f"{one.event.action} of session {one.event.session_id}: {one.outcome} {one.problem}".rstrip())
        if one.done is not None and one.done.model:
            context.log.info(f"the model, for session {one.event.session_id}: {one.done.model}")
        if isinstance(one.done, CompactedSession):
            gates.append(one.done)
    failed = [one for one in acted if one.outcome == "failed"]
    table = ["| session | trigger | action | window | outcome | why |", "| --- | --- | --- | --- | --- | --- |", *lines]
    return MaterializeResult(
        metadata={
            "sessions": len(acted),
            "done": sum(one.outcome == "done" for one in acted),
            "failed": len(failed),
            "late": sum(one.outcome == "late" for one in acted),
            "kept": sum(one.kept for one in gates),
            "promoted": sum(len(one.promoted) for one in gates),
            "tokens_before": sum(one.tokens_before for one in gates),
            "tokens_after": sum(one.tokens_after for one in gates),
            "model": "; ".join(one.done.model for one in acted if one.done and one.done.model) or "not asked",
            "preview": MetadataValue.md("\n".join(table)),
        },
        check_results=[_check(name, gates) for name in _GATES],
    )


def _check(name: str, done: Sequence[CompactedSession]) -> AssetCheckResult:
    found = [(one, gate) for one in done for gate in one.gates if gate.name == name]
    failed = [(one, gate) for one, gate in found if not gate.passed]
    rolls_back = any(gate.severity == "rolls back" for _, gate in failed)
    told = "; ".join(f"{one.session}: {gate.found}" for one, gate in (failed or found)) or "nothing was compacted"
    return AssetCheckResult(
        check_name=name,
        passed=not failed,
        severity=AssetCheckSeverity.ERROR if rolls_back else AssetCheckSeverity.WARN,
        metadata={"sessions": len(found), "found": told},
    )
