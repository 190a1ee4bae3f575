"""Every setting: dotted key, default, range, environment variables and meaning, in one place.

Values come from, first found wins: the run's own configuration, the environment,
`memory_pipeline.toml`, the default. A key nobody knows is an error, with the nearest known one named.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator

from memory_pipeline.config.cron import check_cron
from memory_pipeline.config.policies import Policy, in_order, read_policy, read_profile

_DURATION = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(s|m|h|d)\s*$")
_PRICE = re.compile(r"^[^=\s]+=\d+(?:\.\d+)?/\d+(?:\.\d+)?$")


def _setting(key: str, default: Any, meaning: str, *env: str, secret: bool = False, **limits: Any) -> Any:
    """A pydantic field that also knows its dotted key, its environment variables and whether to mask it.

    Every setting can be given as `MEMORY_PIPELINE_` + its key in capitals with `_` for dots; `env`
    lists the further names that the field already uses.
    """
    own = "MEMORY_PIPELINE_" + key.upper().replace(".", "_")
    extra: dict[str, Any] = {"key": key, "env": [own, *env], "secret": secret}
    return Field(default, description=meaning, json_schema_extra=extra, **limits)


#: Days that `night.first_partition` may be.
_FIRST_NIGHTS = (date(1970, 1, 1), date(2199, 12, 31))
#: The policies of requirement 4.5; the settings change them.
_BUILT_IN = {
    "merge": Policy("merge", "merge", 0.95, 2, "memory_type"),
    "canonical": Policy("canonical", "canonical", 0.90, 2, linkage="single"),
    "distill": Policy("distill", "distill", 0.82, 3),
}


class Settings(BaseModel):
    """All settings, validated. Read them with `load_settings`."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    store_path: str = _setting("store.path", "data/store.duckdb", "The store: one DuckDB file.")
    store_busy_timeout_s: float = _setting(
        "store.busy_timeout_s", 30.0, "How long to wait for a store that another process holds.", ge=0, le=600
    )
    store_snapshots_kept: int = _setting(
        "store.snapshots_kept", 7, "Snapshots kept; the oldest go first.", ge=1, le=365
    )
    lease_expiry_s: float = _setting(
        "store.lease_expiry_s", 60.0, "A night's lease without a heartbeat for so long is free.", ge=5, le=3600
    )

    import_timezone: str = _setting("import.timezone", "UTC", "Zone of times that name none.")
    import_redact: bool = _setting("import.redact", True, "Mask secrets, e-mail addresses and phones.")
    import_max_entry_tokens: int = _setting(
        "import.max_entry_tokens", 1000, "Longer entries are split at sentences.", ge=100, le=8000
    )
    import_max_line_bytes: int = _setting(
        "import.max_line_bytes", 4_000_000, "Longer input lines go to quarantine.", ge=10_000, le=1_000_000_000
    )

    embedding_model: str = _setting(
        "embedding.model",
        "minilm",
        "`minilm`, `lexical`, `sentence-transformers:NAME` or `openai:NAME` (any compatible endpoint).",
    )
    embedding_base_url: str = _setting(
        "embedding.base_url", "https://api.openai.com/v1", "Endpoint of an `openai:` model."
    )
    embedding_api_key: str = _setting("embedding.api_key", "", "Key for the endpoint.", "OPENAI_API_KEY", secret=True)
    embedding_threads: int = _setting("embedding.threads", 2, "Threads of the built-in model.", ge=1, le=64)

    similarity_threshold: float = _setting(
        "compression.similarity_threshold",
        0.82,
        "Cosine from which two memories may be distilled as one.",
        "COMPRESSION_SIMILARITY_THRESHOLD",
        ge=0.5,
        le=1.0,
    )
    min_cluster_size: int = _setting(
        "compression.min_cluster_size",
        3,
        "Smallest cluster that is distilled.",
        "COMPRESSION_MIN_CLUSTER_SIZE",
        ge=2,
        le=100,
    )
    freshness_hours: float = _setting(
        "compression.freshness_hours",
        24.0,
        "Memories younger than this are left alone.",
        "COMPRESSION_FRESHNESS_HOURS",
        ge=0,
        le=8760,
    )
    critical_floor: float = _setting(
        "compression.critical_floor",
        2.5,
        "Importance from which a memory is critical and never touched.",
        "COMPRESSION_CRITICAL_FLOOR",
        ge=2.0,
        le=3.0,
    )
    rate_limit_per_min: int = _setting(
        "compression.rate_limit_per_min",
        10,
        "Model calls in any minute.",
        "COMPRESSION_RATE_LIMIT_PER_MIN",
        ge=1,
        le=10_000,
    )
    min_ratio: float = _setting(
        "compression.min_ratio",
        1.5,
        "Least ratio of original to abstraction tokens.",
        "COMPRESSION_MIN_RATIO",
        "COMPRESSION_MAX_RATIO",
        ge=1.0,
        le=100,
    )
    fingerprint_ttl_days: int = _setting(
        "compression.fingerprint_ttl_days",
        7,
        "A cluster decided within so many days is skipped.",
        "COMPRESSION_FINGERPRINT_TTL_DAYS",
        ge=0,
        le=3650,
    )
    max_abstraction_tokens: int = _setting(
        "compression.max_abstraction_tokens",
        2000,
        "Longest abstraction accepted.",
        "COMPRESSION_MAX_ABSTRACTION_TOKENS",
        ge=50,
        le=100_000,
    )
    policies: tuple[str, ...] = _setting(
        "compression.policies",
        (),
        "Policies that are changed or added, as `NAME key=value ...` with the keys method, threshold, min_size, "
        "group_by, linkage, memory_types, projects and enabled: "
        "`fixes method=distill threshold=0.88 memory_types=error_fix`.",
    )
    profiles: tuple[str, ...] = _setting(
        "compression.profiles",
        (),
        "How `distill` differs in a project, as `PROJECT key=value ...` with the keys threshold, min_size, "
        "group_by and linkage: `webshop threshold=0.85 group_by=memory_type`.",
    )
    linkage: Literal["complete", "average", "single"] = _setting(
        "compression.linkage", "complete", "Linkage inside a component: `complete`, `average` or `single`."
    )
    block_size: int = _setting("compression.block_size", 2048, "Rows per similarity block.", ge=16, le=65_536)
    min_active_memories: int = _setting(
        "compression.min_active_memories", 10, "With fewer active memories a night is skipped.", ge=0, le=1_000_000
    )
    archived_weight: float = _setting(
        "compression.archived_weight", 0.5, "Weight of an archived memory in search.", ge=0, le=1
    )
    recall_sample: int = _setting(
        "compression.recall_sample", 50, "Newly archived memories that the recall check looks up.", ge=0, le=100_000
    )
    review: Literal["auto", "manual"] = _setting(
        "compression.review", "auto", "`manual`: nights leave proposals, and archive nothing that no person approved."
    )
    review_projects: tuple[str, ...] = _setting(
        "compression.review_projects", (), "Projects that are reviewed by hand although `compression.review` is `auto`."
    )
    trigger: Literal["time", "token", "both"] = _setting(
        "compression.trigger", "both", "What starts a compression of conversations. Not used by this version."
    )
    time_interval: str = _setting(
        "compression.time_interval", "2h", "Time between two compressions. Not used by this version."
    )
    token_threshold: float = _setting(
        "compression.token_threshold",
        0.7,
        "Share of the context window that triggers. Not used by this version.",
        gt=0,
        le=1,
    )
    destination_user: str = _setting(
        "compression.destinations.user", "USER.md", "File about the human. Not used by this version."
    )
    destination_relational: str = _setting(
        "compression.destinations.relational", "RELATIONAL.md", "File about working together. Not used by this version."
    )
    destination_soul: str = _setting(
        "compression.destinations.soul", "SOUL.md", "File about the agent. Not used by this version."
    )
    destination_embeddings: str = _setting(
        "compression.destinations.embeddings", "store", "Where general context goes. Not used by this version."
    )

    consolidation_schedule: str = _setting(
        "consolidation.schedule", "0 2 * * *", "Cron of the consolidation job, New York time."
    )
    consolidation_threshold: int = _setting(
        "consolidation.threshold",
        100,
        "Unconsolidated memories, old enough to be touched, that start a job.",
        ge=10,
        le=1000,
    )
    consolidation_similarity_merge: float = _setting(
        "consolidation.similarity.merge",
        0.95,
        "Cosine from which near-duplicates merge.",
        ge=0.90,
        le=0.99,
    )
    consolidation_similarity_pattern: float = _setting(
        "consolidation.similarity.pattern",
        0.82,
        "Cosine from which patterns form; once set, it stands for compression.similarity_threshold.",
        ge=0.75,
        le=0.95,
    )
    consolidation_min_group_size: int = _setting(
        "consolidation.min_group_size",
        3,
        "Least memories of a pattern; once set, it stands for compression.min_cluster_size.",
        ge=2,
        le=10,
    )
    consolidation_mode: Literal["automatic", "opt_in"] = _setting(
        "consolidation.mode",
        "automatic",
        "`automatic`: nights and jobs take every project; `opt_in`: only those of consolidation.projects.",
    )
    consolidation_projects: tuple[str, ...] = _setting("consolidation.projects", (), "Projects that have opted in.")
    consolidation_excluded: tuple[str, ...] = _setting(
        "consolidation.excluded", (), "Projects that are left alone in either mode."
    )
    canonical_threshold: float = _setting(
        "knowledge_base.threshold",
        0.90,
        "Cosine from which knowledge-base entries become one canonical entry.",
        ge=0.5,
        le=1.0,
    )
    canonical_min_entries: int = _setting(
        "knowledge_base.min_entries",
        10,
        "With fewer active entries the knowledge base is left as it is.",
        ge=0,
        le=1_000_000,
    )
    canonical_types: tuple[str, ...] = _setting(
        "knowledge_base.memory_types",
        (),
        "Memories of these types are entries too; by default only texts with the lines `Title:` and `Recommendation:`.",
    )
    principle_similarity: float = _setting(
        "principles.similarity", 0.55, "Cosine from which patterns are related.", ge=0.3, le=0.95
    )
    principle_patterns: int = _setting(
        "principles.min_patterns", 3, "Least related patterns that make a principle.", ge=3, le=20
    )
    confidence_min: float = _setting(
        "consolidation.confidence.min", 0.7, "Least confidence of a distillation.", ge=0.5, le=0.9
    )
    consolidation_timeout: int = _setting(
        "consolidation.timeout", 600, "Seconds a job may take; what it has done until then stays.", ge=60, le=3600
    )
    consolidation_retry_delay_s: float = _setting(
        "consolidation.retry_delay_s",
        5.0,
        "Seconds until a phase that failed is tried again; twice as long each further time.",
        ge=0,
        le=600,
    )

    distiller: Literal["auto", "extractive", "claude"] = _setting(
        "distillation.distiller", "auto", "`extractive`, `claude`, or `auto`: Claude when there is a key for it."
    )
    anthropic_api_key: str = _setting("distillation.api_key", "", "Key for Claude.", "ANTHROPIC_API_KEY", secret=True)
    model: str = _setting("distillation.model", "claude-haiku-5-5", "Model that distils when a model does.")
    base_url: str = _setting(
        "distillation.base_url",
        "https://api.anthropic.com",
        "Server of the model; any that speaks the Messages API.",
        "ANTHROPIC_BASE_URL",
    )
    calling: Literal["live", "batch"] = _setting(
        "distillation.calling",
        "live",
        "`live`: one call a cluster; `batch`: one Message Batch a night, at half the price.",
    )
    cost_cap_usd: float = _setting(
        "distillation.cost_cap_usd", 0.25, "What a run may spend, in USD, at most; 0 calls no model.", ge=0, le=10_000
    )
    prices: tuple[str, ...] = _setting(
        "distillation.prices",
        (),
        "Prices beside the built-in ones, as `MODEL=IN/OUT` in USD per million tokens: `my-model=0.10/0.50`.",
    )
    rate_burst: int = _setting(
        "distillation.burst", 10, "Model calls in a row before the rate limit holds.", ge=1, le=1000
    )
    rate_spacing_s: float = _setting("distillation.spacing_s", 0.1, "Seconds between two model calls.", ge=0, le=60)
    concurrency: int = _setting("distillation.concurrency", 4, "Model calls under way at one time.", ge=1, le=64)
    call_attempts: int = _setting("distillation.attempts", 5, "How often one call is tried.", ge=1, le=20)
    call_timeout_s: float = _setting("distillation.timeout_s", 120.0, "Seconds that one call may take.", gt=0, le=3600)
    call_longest_wait_s: float = _setting(
        "distillation.longest_wait_s", 120.0, "Longest wait that a busy server may ask for.", ge=0, le=3600
    )
    distillation_time_limit_s: float = _setting(
        "distillation.time_limit_s",
        7200.0,
        "Seconds that a night calls models or waits for a batch; what is left waits for the next night.",
        gt=0,
        le=86_400,
    )
    batch_poll_s: float = _setting(
        "distillation.batch_poll_s", 30.0, "Seconds between two looks at a batch.", gt=0, le=3600
    )
    answer_cache: bool = _setting("distillation.cache", True, "Use the answers that are kept, instead of asking again.")
    max_prompt_tokens: int = _setting(
        "distillation.max_prompt_tokens",
        60_000,
        "Largest cluster, in tokens, that is sent to a model.",
        ge=1000,
        le=900_000,
    )
    mask_personal: bool = _setting(
        "distillation.mask_personal", True, "Mask addresses and phone numbers before they are sent; secrets always are."
    )
    strategies: tuple[str, ...] = _setting(
        "distillation.strategies",
        (),
        "Strategies that are tried first: `trading`, `causal`, or your own as `package.module:Class`.",
    )
    atom_similarity: float = _setting(
        "atoms.similarity", 0.85, "Cosine from which two atoms speak of one subject.", ge=0.5, le=1.0
    )
    atom_action_similarity: float = _setting(
        "atoms.action_similarity",
        0.75,
        "Cosine from which two atoms of one subject speak of one action.",
        ge=0.5,
        le=1.0,
    )
    chain_similarity: float = _setting(
        "atoms.chain_similarity",
        0.6,
        "Cosine from which an outcome leads on to another atom's subject and action.",
        ge=0.3,
        le=1.0,
    )

    first_partition: str = _setting(
        "night.first_partition", "2024-01-01", "First day that a night can be run for, YYYY-MM-DD, 1970 to 2199."
    )
    strict_verdict: bool = _setting("report.strict_verdict", False, "Report FAIL where IDLE would stand.")
    reports_dir: str = _setting("report.directory", "", "Where reports go; empty means `reports` beside the store.")
    playbook_dir: str = _setting(
        "playbook.directory", "", "Where the playbook goes as Markdown; empty means `playbook` beside the store."
    )
    notice_urls: tuple[str, ...] = _setting(
        "notices.urls", (), "Where notices go besides the outbox, as Apprise URLs.", secret=True
    )
    helios_db_path: str = _setting(
        "connectors.helios_db_path",
        "~/.openclaw/workspace/brain.db",
        "Path of brain.db. Not used by this version.",
        "HELIOS_DB_PATH",
    )
    workspace: str = _setting("connectors.workspace", "", "The OpenClaw workspace that nights watch.")

    @field_validator("import_timezone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"no time zone is called {name!r}; use a name like Europe/Lisbon") from error
        return name

    @field_validator("consolidation_schedule")
    @classmethod
    def _is_cron(cls, value: str) -> str:
        return check_cron(value)

    @field_validator("prices")
    @classmethod
    def _are_prices(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if not _PRICE.match(value):
                raise ValueError(f"{value!r} is no price; write it as MODEL=IN/OUT, like my-model=0.10/0.50")
        return values

    @field_validator("policies")
    @classmethod
    def _are_policies(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        known = dict(_BUILT_IN)
        for value in values:
            policy = read_policy(value, known)
            known[policy.name] = policy
        return values

    @field_validator("profiles")
    @classmethod
    def _are_profiles(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            read_profile(value)
        return values

    @field_validator("first_partition")
    @classmethod
    def _is_day(cls, value: str) -> str:
        try:
            day = date.fromisoformat(value)
        except ValueError as error:
            raise ValueError(f"{value!r} is no day; write it as YYYY-MM-DD") from error
        if not _FIRST_NIGHTS[0] <= day <= _FIRST_NIGHTS[1]:
            raise ValueError(f"{value!r} lies outside {_FIRST_NIGHTS[0]} to {_FIRST_NIGHTS[1]}")
        return day.isoformat()

    @field_validator("time_interval")
    @classmethod
    def _is_duration(cls, value: str) -> str:
        if not _DURATION.match(value):
            raise ValueError(f"{value!r} is no duration; write a number and s, m, h or d, like 2h")
        return value

    def is_reviewed(self, project_id: str) -> bool:
        """Whether a person approves what nights make of a project."""
        return self.review == "manual" or project_id in self.review_projects

    def is_consolidated(self, project_id: str) -> bool:
        """Whether nights and scheduled jobs may touch a project."""
        if project_id in self.consolidation_excluded:
            return False
        return self.consolidation_mode == "automatic" or project_id in self.consolidation_projects

    def night_policies(self, distill_threshold: float | None = None) -> tuple[Policy, ...]:
        """The policies of a night, in the order in which they run.

        `distill_threshold` overrides that of `distill` for one run, projects' own included.
        """
        given = self.model_fields_set
        merge, canonical, distill = (_BUILT_IN[name] for name in ("merge", "canonical", "distill"))
        profiles = dict(read_profile(line) for line in self.profiles)
        distill = replace(
            distill,
            threshold=self.consolidation_similarity_pattern
            if "consolidation_similarity_pattern" in given
            else self.similarity_threshold,
            min_size=self.consolidation_min_group_size
            if "consolidation_min_group_size" in given
            else self.min_cluster_size,
            own=profiles,
        )
        merge = replace(merge, threshold=self.consolidation_similarity_merge)
        canonical = replace(canonical, threshold=self.canonical_threshold)
        merge, distill = replace(merge, linkage=self.linkage), replace(distill, linkage=self.linkage)
        known = {policy.name: policy for policy in (merge, canonical, distill)}
        for line in self.policies:
            policy = read_policy(line, known)
            known[policy.name] = policy
        if distill_threshold is not None:
            own = {project: {**values, "threshold": distill_threshold} for project, values in profiles.items()}
            known["distill"] = replace(known["distill"], threshold=distill_threshold, own=own)
        return in_order(known.values())

    @property
    def reports_path(self) -> Path:
        """Directory of the reports: the setting, else `reports` beside the store."""
        return Path(self.reports_dir) if self.reports_dir else Path(self.store_path).parent / "reports"

    @property
    def playbook_path(self) -> Path:
        """Directory of the playbook: the setting, else `playbook` beside the store."""
        return Path(self.playbook_dir) if self.playbook_dir else Path(self.store_path).parent / "playbook"
