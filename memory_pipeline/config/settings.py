"""Every setting, grouped as in `memory_pipeline.toml`: one section per subject, each setting defined once.

Values come from these sources, in order of precedence: the run's own configuration, the environment,
`memory_pipeline.toml`, the defaults. An unknown key is an error that names the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memory_pipeline.config.broken_sources import BrokenSource
from memory_pipeline.config.compaction import Compaction, Conversations
from memory_pipeline.config.exports import ExportTable, SourceTable, check_exports, check_names, check_zone
from memory_pipeline.config.models import AnthropicSection, DistillationSection, Embedding, ModelSection, OpenAISection
from memory_pipeline.config.night import (
    Compression,
    Consolidation,
    KnowledgeBase,
    NightSection,
    ReadingSection,
)
from memory_pipeline.config.policies import Policy, changed_policies
from memory_pipeline.config.section import Section, any_value, setting, store_file


class StoreSection(Section):
    """`store`: the file, and how long to wait for it."""

    path: str = setting("data/store.duckdb", "The store: one DuckDB file.", safe=store_file)
    busy_timeout_s: float = setting(30.0, "Seconds to wait for a store that another process holds.", ge=0, le=600)
    snapshots_kept: int = setting(
        7, "Number of snapshots of nights to keep; the oldest are removed first.", ge=1, le=365
    )


class Import(Section):
    """`import`: what is imported, and how."""

    timezone: str = setting(
        "UTC", "Time zone of times that name none, and of the days in texts about them.", safe=any_value
    )
    redact: bool = setting(True, "Mask secrets, e-mail addresses and phone numbers.")
    scripted_sessions: bool = setting(
        False,
        "Read the sessions of Claude Code that a program ran (`claude -p`, the SDK): the prompts and the answers; "
        "otherwise neither.",
    )

    @field_validator("timezone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        return check_zone(name)


class Report(Section):
    """`report`: the report files of a night."""

    strict_verdict: bool = setting(False, "Report FAIL instead of IDLE.")
    directory: str = setting("", "Directory for reports; if empty, `reports` next to the store.")


#: Default of `export.budget_tokens`.
BUDGET_TOKENS = 4_000


class Export(Section):
    """`export`: what is written for agents and people to read."""

    budget_tokens: int = setting(
        BUDGET_TOKENS,
        "Maximum tokens of the block in each of an OpenClaw workspace's `MEMORY.md`, `USER.md`, `RELATIONAL.md` and "
        "`SOUL.md`; what matters most and is newest stands there, and the store has the rest.",
        ge=200,
        le=100_000,
    )


class Notices(Section):
    """`notices`: who is notified of a night."""

    urls: tuple[str, ...] = setting((), "Recipients of notices besides the outbox, as Apprise URLs.", secret=True)


class Connectors(Section):
    """`connectors`: other programs' files; nights read `sources`."""

    workspace: str = setting(
        "",
        "An OpenClaw workspace whose files no command overwrites, and which tells names; nights read `sources`.",
    )
    brain: str = setting(
        "~/.openclaw/workspace/brain.db", "The `brain.db` of `import brain` and `sync brain` without a path.",
        "HELIOS_DB_PATH",
    )  # fmt: skip


class Recall(Section):
    """`recall`: how memories are found."""

    language: Literal[
        "english", "arabic", "danish", "dutch", "finnish", "french", "german", "greek", "hungarian", "italian",
        "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish", "none",
    ] = setting(
        "english",
        "Language of the stemmer and the stop words of full-text search; `none` compares words as they are. Chinese, "
        "Japanese, Korean and Thai are found with each of them.",
        safe=any_value,
    )  # fmt: skip


class Ui(Section):
    """`ui`: Dagster's web server."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Names under which browsers may reach the UI, besides `localhost` and addresses in numbers; for a proxy or a "
        "name of the local network.",
    )


class Api(Section):
    """`api`: the HTTP API."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Names under which clients may reach the API, besides `localhost` and addresses in numbers; for a proxy or a "
        "name of the local network.",
    )


class Settings(BaseSettings):
    """All settings, validated. Read them with `load_settings`; an instance that is created directly has the defaults,
    and reads neither the environment nor a file."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", validate_default=True, case_sensitive=True, validate_by_name=True
    )

    store: StoreSection = StoreSection()
    import_: Import = Field(Import(), alias="import")
    embedding: Embedding = Embedding()
    compression: Compression = Compression()
    consolidation: Consolidation = Consolidation()
    knowledge_base: KnowledgeBase = KnowledgeBase()
    reading: ReadingSection = ReadingSection()
    conversations: Conversations = Conversations()
    compaction: Compaction = Compaction()
    model: ModelSection = ModelSection()
    anthropic: AnthropicSection = AnthropicSection()
    openai: OpenAISection = OpenAISection()
    distillation: DistillationSection = DistillationSection()
    night: NightSection = NightSection()
    report: Report = Report()
    export: Export = Export()
    notices: Notices = Notices()
    connectors: Connectors = Connectors()
    recall: Recall = Recall()
    ui: Ui = Ui()
    api: Api = Api()
    sources: tuple[SourceTable, ...] = setting(
        (),
        "What nights read first, one table `[[sources]]` each: "
        + "; ".join(f"`{name}`: {field.description}" for name, field in SourceTable.model_fields.items()),
    )

    exports: tuple[ExportTable, ...] = setting(
        (),
        "What may be written into directories of agents and people, one table `[[exports]]` each: "
        + "; ".join(f"`{name}`: {field.description}" for name, field in ExportTable.model_fields.items()),
    )

    _broken_sources: tuple[BrokenSource, ...] = PrivateAttr(())
    _broken_exports: tuple[BrokenSource, ...] = PrivateAttr(())
    _withheld: Mapping[str, str] = PrivateAttr({})

    @field_validator("sources")
    @classmethod
    def _sources_differ(cls, sources: tuple[SourceTable, ...]) -> tuple[SourceTable, ...]:
        check_names(sources)
        return sources

    @field_validator("exports")
    @classmethod
    def _exports_differ(cls, exports: tuple[ExportTable, ...]) -> tuple[ExportTable, ...]:
        check_exports(exports)
        return exports

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only the values that it is created with; `load_settings` adds the other sources."""
        return (init_settings,)

    def with_values(self, changes: Mapping[str, object]) -> Settings:
        """A copy with other values for the settings with these dotted keys; the values are not validated."""
        changed = self
        for key, value in changes.items():
            changed = _replaced(changed, ["import_" if part == "import" else part for part in key.split(".")], value)
        return changed

    @property
    def broken_sources(self) -> tuple[BrokenSource, ...]:
        """The tables of `sources` that cannot be used and are left out."""
        return self._broken_sources

    def with_broken_sources(self, broken: tuple[BrokenSource, ...]) -> Settings:
        """A copy that knows of these tables that cannot be used."""
        changed = self.model_copy()
        changed._broken_sources = broken
        return changed

    @property
    def broken_exports(self) -> tuple[BrokenSource, ...]:
        """The tables of `exports` that cannot be used and are left out."""
        return self._broken_exports

    def with_broken_exports(self, broken: tuple[BrokenSource, ...]) -> Settings:
        """A copy that knows of these tables that cannot be used."""
        changed = self.model_copy()
        changed._broken_exports = broken
        return changed

    @property
    def withheld_keys(self) -> Mapping[str, str]:
        """The API keys that are not used because they belong to another address, by dotted key, each with the
        reason and the mend."""
        return self._withheld

    def with_withheld_keys(self, withheld: Mapping[str, str]) -> Settings:
        """A copy that knows of these keys."""
        changed = self.model_copy()
        changed._withheld = withheld
        return changed

    @property
    def exports_of_store(self) -> tuple[ExportTable, ...]:
        """The enabled exports that are made of the store."""
        return tuple(
            export
            for export in self.exports
            if export.enabled and (not export.store or Path(export.store) == Path(self.store.path))
        )

    @property
    def sources_of_store(self) -> tuple[SourceTable, ...]:
        """The enabled sources that feed the store."""
        return tuple(
            source
            for source in self.sources
            if source.enabled and (not source.store or Path(source.store) == Path(self.store.path))
        )

    def is_reviewed(self, project_id: str) -> bool:
        """Whether a person approves what nights propose for a project."""
        return self.compression.review == "manual" or project_id in self.compression.review_projects

    def is_consolidated(self, project_id: str) -> bool:
        """Whether nights and scheduled jobs may touch a project."""
        chosen = self.consolidation.projects
        return project_id not in self.consolidation.excluded and (not chosen or project_id in chosen)

    def night_policies(self, distill_threshold: float | None = None) -> tuple[Policy, ...]:
        """The policies of a night, in the order in which they run.

        `distill_threshold` overrides the threshold of `distill` for one run, including those of single projects.
        """
        rules, own = self.compression, self.compression.profiles
        threshold = rules.similarity_threshold
        if distill_threshold is not None:
            threshold = distill_threshold
            own = {project: table.model_copy(update={"threshold": threshold}) for project, table in own.items()}
        merge = self.consolidation.similarity.merge
        built_in = (
            Policy("merge", "merge", merge, 2, group_by="memory_type", linkage=rules.linkage),
            Policy("canonical", "canonical", self.knowledge_base.threshold, 2, linkage="single"),
            Policy("distill", "distill", threshold, rules.min_cluster_size, linkage=rules.linkage, own=own),
        )
        return changed_policies(built_in, rules.policies)

    @property
    def reports_path(self) -> Path:
        """Directory of the reports: the setting, else `reports` next to the store."""
        return Path(self.report.directory or Path(self.store.path).parent / "reports")


_Model = TypeVar("_Model", bound=BaseModel)


def _replaced(model: _Model, path: list[str], value: object) -> _Model:
    """A copy of the model in which the field at the end of the path has another value. Raises AttributeError for an
    unknown field."""
    inner = getattr(model, path[0])
    return model.model_copy(update={path[0]: _replaced(inner, path[1:], value) if path[1:] else value})
