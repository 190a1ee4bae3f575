"""Settings of rollups: what days, weeks, months and years amount to."""

from __future__ import annotations

from memory_pipeline.config.section import Section, setting


class RollupSettings(Section):
    """`rollups`: how long the summaries of periods are."""

    day_tokens: int = setting(600, "Maximum tokens of the summary of a day.", ge=100, le=20_000)
    week_tokens: int = setting(1000, "Maximum tokens of the summary of a week.", ge=100, le=20_000)
    month_tokens: int = setting(1500, "Maximum tokens of the summary of a month.", ge=100, le=20_000)
    year_tokens: int = setting(2500, "Maximum tokens of the summary of a year.", ge=100, le=50_000)
    ask_model: bool = setting(
        True,
        "Ask the model that distils to say weeks, months and years in short, above their lists, if there is a model.",
    )

    def budget_of(self, level: str) -> int:
        """The most tokens of a rollup of this level."""
        return {"day": self.day_tokens, "week": self.week_tokens, "month": self.month_tokens}.get(
            level, self.year_tokens
        )
