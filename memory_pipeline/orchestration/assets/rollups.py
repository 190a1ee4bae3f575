"""The assets of rollups: days, weeks, months and years, each made from the one below it through its partitions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    BackfillPolicy,
    FreshnessPolicy,
    MaterializeResult,
    MetadataValue,
    TimeWindowPartitionMapping,
    TimeWindowPartitionsDefinition,
    asset,
)

from memory_pipeline.consolidation.context import Night
from memory_pipeline.consolidation.conversations import bill_of
from memory_pipeline.models.choose import model_reads
from memory_pipeline.moments import latest_complete_day
from memory_pipeline.orchestration.location import (
    DAILY_SUMMED,
    MONTHLY_FRESH,
    OWNERS,
    ROLLUPS_GROUP,
    WEEKLY_FRESH,
    YEARLY_SUMMED,
)
from memory_pipeline.orchestration.partitions import EVERY_DAY, EVERY_WEEK, MONTHLY, YEARLY
from memory_pipeline.orchestration.resources import NightResource, why_held
from memory_pipeline.orchestration.showing import Found, Row, preview, result_of, schema_of_rows, specs_of, unchecked
from memory_pipeline.periods.calendar import Period, period_of
from memory_pipeline.periods.days import best_of_each_kind, from_json
from memory_pipeline.periods.in_short import SAID
from memory_pipeline.periods.making import rollup_id
from memory_pipeline.periods.running import MadeRollup, find_problems, finish_rollups, roll_up
from memory_pipeline.records.night import ROLLUP_LEVELS
from memory_pipeline.text.counts import how_many

DAYS, WEEKS, MONTHS, YEARS = "daily_summaries", "weekly_rollups", "monthly_rollups", "yearly_rollups"
#: The periods of which a finer one is a part, as far as there are partitions of them.
_PARTS = TimeWindowPartitionMapping(allow_nonexistent_upstream_partitions=True)
_CHECKS = {
    "budget_kept": "No rollup has more tokens than the settings give its level.",
    "entries_stand": "Every entry is the words of a memory that is in the store, and every rollup below is there too.",
    "files_written": "Every rollup stands in its file, between our markers.",
}
_LINK = re.compile(r"\[([^\[\]]+)\]\(\.\./[^()\s]*\)")
#: Rollups whose words are shown of a run of many partitions.
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Level:
    name: str
    level: str
    partitions: TimeWindowPartitionsDefinition
    deps: Sequence[str]
    fresh: FreshnessPolicy
    description: str


_LEVELS = (
    _Level(
        DAYS, "day", EVERY_DAY, ("reports",), DAILY_SUMMED,
        "What each day amounts to, by project: decisions, what nights made of it, facts and lessons, threads that were "
        "opened or closed, and the figures of its series, within 600 tokens. Told as of the day's end.",
    ),
    _Level(
        WEEKS, "week", EVERY_WEEK, (DAYS,), WEEKLY_FRESH,
        "What each week (Sunday to Saturday, UTC) amounts to, made from its days: what was archived into something "
        "else is told by that, and every thread that is open at its end, since when.",
    ),
    _Level(
        MONTHS, "month", MONTHLY, (WEEKS, DAYS), MONTHLY_FRESH,
        "What each month amounts to, made from the weeks that lie in it and the days beside them.",
    ),
    _Level(YEARS, "year", YEARLY, (MONTHS,), YEARLY_SUMMED, "What each year amounts to, made from its months."),
)  # fmt: skip


def _asset_of(one: _Level) -> AssetsDefinition:
    @asset(
        name=one.name,
        partitions_def=one.partitions,
        deps=[AssetDep(name, partition_mapping=_PARTS) for name in one.deps],
        group_name=ROLLUPS_GROUP,
        owners=OWNERS,
        kinds={"duckdb", "markdown"},
        freshness_policy=one.fresh,
        backfill_policy=BackfillPolicy.single_run(),
        output_required=False,
        check_specs=specs_of(_CHECKS, one.name),
        metadata={"dagster/column_schema": schema_of_rows(MadeRollup)},
        description=one.description,
    )
    def rollup(context: AssetExecutionContext, night: NightResource) -> Iterator[Any]:
        yield from _make(context, night, one.level)

    return rollup


def _make(context: AssetExecutionContext, night: NightResource, level: str) -> Iterator[Any]:
    last_days = {key: _last_day(context, key) for key in context.partition_keys}
    newest = max(last_days.values())
    tonight = night.open(context.run.run_id, newest.isoformat(), context.log)
    if held := why_held(context, tonight):
        yield from (unchecked(name, held) for name in _CHECKS)
        return
    periods = _periods(level, sorted(last_days.values()))
    made = roll_up(
        tonight.store,
        tonight.settings,
        periods,
        holder=tonight.holder,
        run_id=context.run.run_id,
        progress=tonight.progress,
    )
    is_newest = level == "day" and newest == latest_complete_day(datetime.now(UTC))  # `MEMORY.md` is of now
    problems = finish_rollups(tonight.store, tonight.settings, made, is_newest=is_newest)
    for key, day in last_days.items():
        context.add_asset_metadata(_metadata(tonight, period_of(level, day), made), partition_key=key)
    if model_reads(tonight.settings):
        bill = bill_of(tonight)
        context.log.info(f"{how_many(bill.calls, 'call')} to the model, {bill.cost_usd:.4f} USD")
    told = [one for one in made if one.level == level and one.status != "empty"]
    context.log.info(f"{how_many(len(told), 'rollup')} of {how_many(len(last_days), level)}")
    found = find_problems(tonight.store, made)
    failures = (found.over_budget, found.without_memory, [*found.not_written, *problems])
    checks = zip(_CHECKS, failures, strict=True)
    yield MaterializeResult(check_results=[result_of(name, Found(failed, len(made))) for name, failed in checks])


def _periods(level: str, last_days: Sequence[date]) -> list[Period]:
    """The periods of a run, after the last day of each and the finer periods that end with it: what a week's or a
    month's last steps made is of that day, which was summed up before them."""
    finer = ROLLUP_LEVELS[: ROLLUP_LEVELS.index(level)]
    ending = [(one, period_of(one, day)) for one in finer for day in last_days]
    return [
        *(period for _, period in ending if period.last in last_days),
        *(period_of(level, day) for day in last_days),
    ]


def _last_day(context: AssetExecutionContext, key: str) -> date:
    partitions = context.assets_def.partitions_def
    assert isinstance(partitions, TimeWindowPartitionsDefinition)
    return (partitions.time_window_for_partition_key(key).end - timedelta(days=1)).date()


def _metadata(tonight: Night, period: Period, made: Sequence[MadeRollup]) -> dict[str, Any]:
    """The counts of a partition, its rollups as a table, and their words."""
    mine = [one for one in made if one.period == period.key and one.level == period.level and one.status != "empty"]
    rows: list[Row] = [
        {"project": one.project, "notes": one.notes, "entries": one.entries, "tokens": f"{one.tokens} of {one.budget}",
         "status": one.status, "file": "/".join(Path(one.file).parts[-2:]) if one.file else "none"}
        for one in mine
    ]  # fmt: skip
    texts: list[str] = []
    first: list[Row] = []
    with tonight.store.reading() as tx:
        for one in mine[:_MOST_SHOWN]:
            for row in tx.rollups.read(one.project, [rollup_id(one.project, period)]).values():
                texts.append(row.content)
                first += [
                    {"project": one.project, "kind": e.kind, "of": str(e.day), "words": e.words}
                    for e in best_of_each_kind(from_json(row.entries))
                ]
    shown = "\n\n".join(_LINK.sub(r"\1", text) for text in texts)
    return {
        "period": period.name,
        "rollups": len(mine),
        "notes": sum(one.notes for one in mine),
        "entries": sum(one.entries for one in mine),
        "tokens": sum(one.tokens for one in mine),
        "said_in_short": sum(one.in_short == SAID for one in mine),
        "rollup": MetadataValue.md(shown or "There is nothing to say of it."),
        "counts": preview(rows, "There is nothing to say of it.")["preview"],
        **preview(first, "There is nothing to say of it."),
    }


ROLLUP_ASSETS = [_asset_of(one) for one in _LEVELS]
