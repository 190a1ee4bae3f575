"""The conversations of a day as four assets of one step: turns, chunks, extractions, and where these went.

One step, because a day without conversations should cost next to nothing, and a day is written as a whole.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.conversations import DayOfProject, ModelBill, bill_of, read_conversations
from memory_pipeline.consolidation.run import take_snapshot
from memory_pipeline.models.choose import model_reads
from memory_pipeline.orchestration import showing
from memory_pipeline.orchestration.location import CONVERSATIONS_GROUP, NIGHTLY
from memory_pipeline.orchestration.partitions import DAILY
from memory_pipeline.orchestration.resources import NightResource, reporting, why_held
from memory_pipeline.reading.conversation_day import has_known_route
from memory_pipeline.records import Chunk, ConversationDay, KeptExtraction, Turn
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import clipped
from memory_pipeline.workspace.conversation_pages import place_of

LOGS, CHUNKS, EXTRACTIONS, ROUTED = "conversation_logs", "conversation_chunks", "extractions", "routed_updates"
_QUIET = "Nothing was said on this day."
#: Of each check, the asset and what it says.
_CHECKS = {
    "turns_covered": (
        LOGS,
        "Every memory of a conversation is a turn of somebody, or was left out for a reason that is told.",
    ),
    "turns_whole": (CHUNKS, "Every turn is in one chunk, whole, with its speaker."),
    "quotes_true": (EXTRACTIONS, "Every extraction quotes words that its speaker said in its turn."),
    "routes_true": (
        ROUTED,
        "USER.md has facts of the human's own words alone, RELATIONAL.md how the two work together, SOUL.md what "
        "the agent said of itself: recomputed from the store by the decision table.",
    ),
    "files_written": (ROUTED, "Every file of every project says what the store holds."),
}
_CHECK_SPECS = [spec for name, (asset, text) in _CHECKS.items() for spec in showing.specs_of({name: text}, asset)]


#: Of each asset, the one before it, what it is, its kinds, its records, and the column that comes from the one before.
_ASSETS: dict[str, tuple[str, str, set[str], type, showing.Lineage]] = {
    LOGS: (
        "imported_notes",
        "The turns of the day's conversations (by UTC), from the memories that imports made of them, by conversation "
        "and order. Words of the system, of tools and of programs are nobody's, and are counted. Days before it that "
        "were never read, or to which turns came late, are read too.",
        {"duckdb", "python"}, Turn, {},
    ),
    CHUNKS: (
        LOGS,
        "Turns that belong together. A chunk ends with its conversation, after a pause, at its number of tokens, and "
        "where the human brings up something new; a turn is never split from its speaker.",
        {"python"}, Chunk, {"turns": [(LOGS, "memory_id")]},
    ),
    EXTRACTIONS: (
        CHUNKS,
        "What is worth keeping, with speaker, line and significance: the statements of a model that reads, each "
        "checked against its turns and withdrawing what it replaces; or else the sentences that a classifier keeps, "
        "and what speakers marked. What was told before is counted.",
        {"duckdb", "python"}, KeptExtraction, {"turn_id": [(CHUNKS, "turns")]},
    ),
    ROUTED: (
        EXTRACTIONS,
        "Where it went by the decision table: blocks in USER.md, RELATIONAL.md and SOUL.md, memories with a link to "
        "their turns, decisions also in the daily log, and a summary of the day with its coverage. A day that is read "
        "again replaces its own part, and nothing else.",
        {"duckdb", "markdown"}, ConversationDay, {"coverage": [(EXTRACTIONS, "destination")]},
    ),
}  # fmt: skip
_SPECS = [
    dg.AssetSpec(
        name,
        deps=[before],
        description=description,
        partitions_def=DAILY,
        skippable=True,
        **showing.attributes(CONVERSATIONS_GROUP, kinds, NIGHTLY, showing.schema_of(record), lineage),
    )
    for name, (before, description, kinds, record, lineage) in _ASSETS.items()
]


@dg.multi_asset(name="conversations", specs=_SPECS, check_specs=_CHECK_SPECS)
def conversations(
    context: dg.AssetExecutionContext, night: NightResource
) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
    tonight = night.open(context.run.run_id, context.partition_key, context.log)
    if reason := why_held(context, tonight):
        yield from (showing.unchecked(name, reason, asset) for name, (asset, _) in _CHECKS.items())
        return
    known = len(tonight.errors)
    bill = bill_of(tonight) if model_reads(tonight.settings) else None
    with reporting(tonight):
        take_snapshot(tonight)
        days = read_conversations(tonight)
    problems = [error.error for error in tonight.errors[known:] if error.stage == "conversations"]
    if days:
        context.log.info(in_words(days))
    figures = _figures(days, tonight)
    if bill is not None:
        unasked = [error.error for error in tonight.errors[known:] if error.stage == "extraction"]
        figures[EXTRACTIONS] |= _model_figures(days, bill_of(tonight).since(bill), unasked)
    for name, metadata in figures.items():
        yield dg.MaterializeResult(asset_key=name, metadata=metadata)
    for (name, (asset, _)), outcome in zip(_CHECKS.items(), _failures(days, problems), strict=True):
        yield showing.result_of(name, outcome, asset=asset)


def in_words(days: Sequence[DayOfProject]) -> str:
    """The turns that were read and what was kept, as one sentence."""
    turns = sum(len(day.found.read.turns) for day in days)
    went = Counter(extraction.destination for day in days for extraction in day.extractions)
    where = ", ".join(f"{count} to {name}" for name, count in sorted(went.items()) if name != "drop")
    projects = {day.project_id for day in days}
    return (
        f"{how_many(turns, 'turn')} of {how_many(len(projects), 'project')} on "
        f"{how_many(len({day.night for day in days}), 'day')}: {where or 'nothing to keep'}"
    )


def _figures(days: Sequence[DayOfProject], night: Night) -> dict[str, dict[str, Any]]:
    turns = [turn for day in days for turn in day.found.read.turns]
    chunks = [chunk for day in days for chunk in day.found.chunks]
    extractions = [extraction for day in days for extraction in day.extractions]
    went = Counter(extraction.destination for extraction in extractions)
    late = sorted({day.night.isoformat() for day in days if day.night != night.options.partition})
    turn_rows: list[showing.Row] = [
        {"conversation": t.conversation, "line": t.line, "speaker": t.speaker, "words": clipped(t.words, 160)}
        for t in turns
    ]
    chunk_rows: list[showing.Row] = [
        {
            "turns": len(c.turns),
            "tokens": c.token_count,
            "topics": ", ".join(c.topics),
            "from": f"{c.turns[0].conversation}:{c.turns[0].line}",
        }
        for c in chunks
    ]
    extraction_rows: list[showing.Row] = [
        {"kind": e.kind, "speaker": e.speaker, "text": e.text, "significance": e.significance, "where": place_of(e)}
        for e in extractions
    ]
    routed_rows: list[showing.Row] = [{"to": e.destination, "kind": e.kind, "text": e.text} for e in extractions]
    return {
        LOGS: {
            "memories": sum(day.found.memories for day in days),
            "turns": len(turns),
            "by_human": sum(turn.speaker == "human" for turn in turns),
            "by_agent": sum(turn.speaker == "agent" for turn in turns),
            "left_out": _sum_in_words(day.found.read.dropped for day in days),
            "other_days": ", ".join(late) or "none",
            **showing.preview(turn_rows[:50], _QUIET),
        },
        CHUNKS: {
            "chunks": len(chunks),
            "tokens": sum(chunk.token_count for chunk in chunks),
            **showing.preview(chunk_rows[:50], _QUIET),
        },
        EXTRACTIONS: {
            "sentences": sum(day.found.extracted.sentences for day in days),
            "extractions": len(extractions),
            "by_kind": _sum_in_words([Counter(extraction.kind for extraction in extractions)]),
            "marked": sum(extraction.priority for extraction in extractions),
            "corrections": sum(extraction.kind == "correction" for extraction in extractions),
            "withdrawn": sum(len(extraction.withdraws) for extraction in extractions),
            "left_out": _sum_in_words(day.found.extracted.dropped for day in days),
            **showing.preview(extraction_rows[:50], "Nothing was extracted."),
        },
        ROUTED: {
            **{f"to_{name}": went[name] for name in ("user", "relational", "soul", "memory")},
            "dropped": _sum_in_words(day.found.unrouted for day in days),
            "turns_with_something_kept": len({e.turn_id for e in extractions if e.destination != "drop"}),
            "changed_days": sum(day.is_changed for day in days),
            **showing.preview(routed_rows[:50], "Nothing went anywhere."),
        },
    }


def _model_figures(days: Sequence[DayOfProject], bill: ModelBill, problems: Sequence[str]) -> dict[str, Any]:
    """The questions to a model, what came of them, and what they cost."""
    findings = [day.found.found for day in days]
    return {
        "model_questions": sum(finding.questions for finding in findings),
        "model_calls": bill.calls,
        "model_answers_reused": bill.reused,
        "model_cost_usd": bill.cost_usd,
        "extracted_by_model": sum(day.found.extracted.by_model for day in days),
        "not_borne_out": _sum_in_words(finding.refused for finding in findings),
        "questions_open": sum(finding.waiting for finding in findings),
        "model_problems": "; ".join(problems) or "none",
    }


def _sum_in_words(counts: Iterable[Mapping[Any, int]]) -> str:
    """Counts of several days together, as words."""
    total = sum(map(Counter, counts), Counter[Any]())
    return "; ".join(f"{why}: {count:,}" for why, count in total.most_common()) or "none"


def _failures(days: Sequence[DayOfProject], problems: list[str]) -> Iterator[showing.Found]:
    """The failures of each check, and how much it looked at."""
    lost, split, untrue, astray = [], [], [], []
    for day in days:
        turns = {turn.memory_id: turn for turn in day.found.read.turns}
        left_out = sum(day.found.read.dropped.values())
        if len(turns) + left_out != day.found.memories:
            lost.append(f"{day.project_id}, {day.night}: {day.found.memories - len(turns) - left_out} without a reason")
        chunked = Counter(turn for chunk in day.found.chunks for turn in chunk.turns)
        split += [f"{turn.memory_id}: in {chunked[turn]} chunks" for turn in day.found.read.turns if chunked[turn] != 1]
        words = dict.fromkeys(turns, "")
        for turn in day.found.read.turns:
            words[turn.memory_id] += f"\n{turn.speaker}\n{turn.words}"
        untrue += [
            extraction.id for extraction in day.extractions if extraction.quote not in words.get(extraction.turn_id, "")
        ]
        astray += [
            f"{extraction.id}: a {extraction.kind} of the {extraction.speaker} went to {extraction.destination}"
            for extraction in day.extractions
            if not has_known_route(extraction, extraction.destination)
        ]
    count = sum(len(day.extractions) for day in days)
    yield showing.Found(lost, sum(day.found.memories for day in days))
    yield showing.Found(split, sum(len(day.found.read.turns) for day in days))
    yield showing.Found(untrue, count)
    yield showing.Found(astray, count)
    yield showing.Found(problems, len(days))
