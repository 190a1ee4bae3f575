"""Settings of a night: what it may touch, its thresholds and policies; and of conversations and live contexts: how they
are read, how full a context may be, where what is kept goes."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import Literal

from pydantic import field_validator, model_validator

from memory_pipeline.config.policies import PolicyTable, ProfileTable, check_policies
from memory_pipeline.config.section import Section, setting

#: Each field: its name, its lowest and highest value, and the words that represent values from the lowest on.
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of the month", 1, 31, []),
    ("month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec".split()),
    ("day of the week", 0, 7, "sun mon tue wed thu fri sat".split()),
)
_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PART = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,3}))?", re.ASCII)
#: The first night there can be: no agent is older.
EARLIEST_NIGHT = date(2000, 1, 1)
#: The share of the memories asked for that the recall check must find again.
RECALL_FLOOR = 0.95
_INTERVAL = re.compile(r"(\d{1,4})\s?(m|h|d)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
#: The next larger window that is in use.
_MILLION = 1_000_000


def check_cron(line: str) -> str:
    """The expression. Raises ValueError if it is not a cron expression of five fields, or never matches."""
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{line!r} is not a cron line of five fields; write it like 0 2 * * *")
    _, _, days, months, _ = (_values(line, field, *limits) for field, limits in zip(fields, _FIELDS, strict=True))
    if fields[4] == "*" and not any(day <= _LONGEST_MONTH[month - 1] for month in months for day in days):
        raise ValueError(f"{line!r} never comes due: no such month has such a day")
    return line


def _values(line: str, field: str, name: str, least: int, greatest: int, words: list[str]) -> set[int]:
    numbers: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        first = _number(match["first"], least, words) if match and match["first"] else least
        last = _number(match["last"], least, words) if match and match["last"] else first
        if match and (not match["first"] or (match["step"] and not match["last"])):
            last = greatest
        step = int(match["step"]) if match and match["step"] else 1
        if first is None or last is None or not match or not least <= first <= last <= greatest or step < 1:
            raise ValueError(f"{line!r} is not a cron line: its {name} is {part!r}; write {least} to {greatest}, or *")
        numbers |= set(range(first, last + 1, step))
    return numbers


def _number(text: str, least: int, words: list[str]) -> int | None:
    if text.isdigit():
        return int(text[:4])
    return words.index(text.lower()) + least if text.lower() in words else None


class Destinations(Section):
    """`compression.destinations`: where what is kept of conversations goes."""

    user: str = setting("USER.md", "Page for what is about the human; if empty, none is written.")
    relational: str = setting("RELATIONAL.md", "Page for how the two work together; if empty, none is written.")
    soul: str = setting("SOUL.md", "Page for what is about the agent; if empty, none is written.")
    embeddings: Literal["memories", ""] = setting(
        "memories", "Where what the work depends on goes: `memories`, in the store; if empty, nowhere."
    )

    @field_validator("user", "relational", "soul")
    @classmethod
    def _is_in_the_workspace(cls, name: str) -> str:
        if not name:
            return name
        parts = PurePosixPath(name).parts
        if PureWindowsPath(name).is_absolute() or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name:
            raise ValueError("write a path inside of the pages, like USER.md or notes/USER.md")
        if not name.endswith(".md") or parts[-1] == ".md":
            raise ValueError("name a file of Markdown, like USER.md")
        return name


class Compression(Section):
    """`compression`: what a night may touch, and what it accepts."""

    similarity_threshold: float = setting(
        0.82,
        "Minimum cosine at which two memories may be distilled as one.",
        "COMPRESSION_SIMILARITY_THRESHOLD",
        aliases={"consolidation.similarity.pattern": (0.75, 0.95), "compression.policies.distill.threshold": None},
        ge=0.5,
        le=1.0,
    )
    min_cluster_size: int = setting(
        3,
        "Minimum size of a cluster that is distilled.",
        "COMPRESSION_MIN_CLUSTER_SIZE",
        aliases={"consolidation.min_group_size": (2, 10), "compression.policies.distill.min_size": None},
        ge=2,
        le=100,
    )
    freshness_hours: float = setting(
        24.0, "Memories younger than this number of hours are left alone.", "COMPRESSION_FRESHNESS_HOURS", ge=0, le=8760
    )
    critical_floor: float = setting(
        2.5,
        "Importance at or above which a memory is critical and never touched.",
        "COMPRESSION_CRITICAL_FLOOR",
        ge=2.0,
        le=3.0,
    )
    rate_limit_per_min: int = setting(
        10, "Maximum number of model calls in any minute.", "COMPRESSION_RATE_LIMIT_PER_MIN", ge=1, le=10_000
    )
    min_ratio: float = setting(
        1.5,
        "Minimum accepted ratio of original to abstraction tokens.",
        "COMPRESSION_MIN_RATIO",
        "COMPRESSION_MAX_RATIO",
        ge=1.0,
        le=100,
    )
    fingerprint_ttl_days: int = setting(
        7,
        "A cluster that was decided within this number of days is skipped.",
        "COMPRESSION_FINGERPRINT_TTL_DAYS",
        ge=0,
        le=3650,
    )
    max_abstraction_tokens: int = setting(
        2000,
        "Maximum number of tokens of an accepted abstraction.",
        "COMPRESSION_MAX_ABSTRACTION_TOKENS",
        ge=50,
        le=100_000,
    )
    policies: dict[str, PolicyTable] = setting(
        {},
        "Changed or added policies, as tables `[compression.policies.NAME]` with the keys method, threshold, "
        "min_size, group_by, linkage, memory_types, projects and enabled; in an environment variable, as JSON: "
        '`{"fixes": {"method": "distill", "threshold": 0.88, "memory_types": ["error_fix"]}}`.',
    )
    profiles: dict[str, ProfileTable] = setting(
        {},
        "Project-specific values for `distill`, as tables `[compression.profiles.PROJECT]` with the keys threshold, "
        'min_size, group_by and linkage; in an environment variable, as JSON: `{"webshop": {"threshold": 0.85}}`.',
    )
    block_size: int = setting(2048, "Rows per block of the similarity computation.", ge=16, le=65_536)
    min_active_memories: int = setting(
        10, "With fewer active memories a night clusters nothing; a model reads them all the same.", ge=0, le=1_000_000
    )
    review: Literal["auto", "manual"] = setting(
        "auto", "`manual`: nights leave proposals and archive nothing without a person's approval."
    )
    review_projects: tuple[str, ...] = setting(
        (), "Projects that a person reviews even if `compression.review` is `auto`."
    )
    destinations: Destinations = Destinations()
    trigger: Literal["time", "token", "both"] = setting(
        "both", "What starts a compaction of a session: the time since the last one, its tokens, or either."
    )
    time_interval: str = setting("2h", "Time after which a compaction is due, as in `90m`, `2h` or `1d`.")
    token_threshold: float = setting(0.7, "Share of the window at which a compaction is due.", gt=0, le=1)

    @field_validator("time_interval")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        check_interval(text)
        return text

    _are_whole = field_validator("policies")(check_policies)


class Similarity(Section):
    """`consolidation.similarity`."""

    merge: float = setting(
        0.95,
        "Minimum cosine at which near-duplicates merge.",
        aliases={"compression.policies.merge.threshold": None},
        ge=0.90,
        le=0.99,
    )


class Confidence(Section):
    """`consolidation.confidence`."""

    min: float = setting(0.7, "Minimum accepted confidence of a distillation.", ge=0.5, le=0.9)


class Consolidation(Section):
    """`consolidation`: the job that processes what nights have left, and the projects that it may touch."""

    schedule: str = setting("0 2 * * *", "Cron schedule of the consolidation job, New York time.")
    threshold: int = setting(
        100, "Number of unconsolidated memories, old enough to be touched, that starts a job.", ge=10, le=1000
    )
    similarity: Similarity = Similarity()
    projects: tuple[str, ...] = setting(
        (), "The only projects that nights and jobs process; if empty, all. One with `!` before it is left alone."
    )
    confidence: Confidence = Confidence()
    timeout: int = setting(600, "Time limit of a job in seconds; what it has done until then stays.", ge=60, le=3600)

    _is_cron = field_validator("schedule")(check_cron)


class ReadingSection(Section):
    """`reading`: how a model reads."""

    ask_model: bool = setting(
        True,
        "Let the model that is chosen read notes, conversations, sessions and periods; else it distils clusters alone.",
    )
    question_tokens: int = setting(
        6_000, "Maximum tokens of the notes in one question; a smaller context takes fewer.", ge=200, le=50_000
    )
    routine: Literal["archive", "keep"] = setting(
        "archive", "What becomes of routine notes: `archive` (into the digest of their day), or `keep` (they stay)."
    )


class Conversations(Section):
    """`conversations`: how what was said is read."""

    human_names: tuple[str, ...] = setting(
        (), "Names of the human, where turns begin with names; beside those that USER.md tells."
    )
    agent_names: tuple[str, ...] = setting(
        (), "Names of the agent, where turns begin with names; beside those that SOUL.md and IDENTITY.md tell."
    )


class Compaction(Section):
    """`compaction`: how full the context of a session may be, and what is kept of it before it is compacted."""

    window_tokens: int = setting(
        200_000, "Context window of a model of which nothing else is known, in tokens.", ge=1000, le=1_000_000_000
    )
    warning: float = setting(0.80, "Share of the window at which a session is flushed.", gt=0, le=1)
    threshold: float = setting(0.90, "Share of the window at which a session is compacted.", gt=0, le=1)
    emergency: float = setting(0.975, "Share of the window at which a session is flushed at once.", gt=0, le=1)
    usage_files: tuple[str, ...] = setting((), "Files in which agents report how full the contexts of sessions are.")

    @model_validator(mode="after")
    def _rise(self) -> Compaction:
        if not self.warning <= self.threshold <= self.emergency:
            raise ValueError(
                f"warning {self.warning:g}, threshold {self.threshold:g} and emergency {self.emergency:g} must rise"
            )
        return self

    def window_of(self, model: str, tokens: int = 0) -> int:
        """The context window of a model: a million for a name with `[1m]`, else `window_tokens`. A context that holds
        more `tokens` than that has a larger one."""
        window = _MILLION if "[1m]" in model else self.window_tokens
        return window if tokens <= window else max(tokens, _MILLION)


def check_interval(text: str) -> timedelta:
    """A time such as `90m`, `2h` or `1d`. Raises ValueError for anything else, and for less than a minute."""
    match = _INTERVAL.fullmatch(text.strip())
    if not match or not int(match[1]):
        raise ValueError("write a number with m, h or d, such as 90m, 2h or 1d")
    return int(match[1]) * _UNITS[match[2]]
