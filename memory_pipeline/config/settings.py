"""Every setting, grouped as in `memory_pipeline.toml`: one section per subject, each setting defined once.

Values come from these sources, in order of precedence: the run's own configuration, the environment,
`memory_pipeline.toml`, the defaults. An unknown key is an error that names the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, field_validator

from memory_pipeline.config.exports import BrokenSource, ExportTable, NamedTable, SourceTable, check_tables, check_zone
from memory_pipeline.config.models import AnthropicSection, DistillationSection, Embedding, ModelSection, OpenAISection
from memory_pipeline.config.night import Compaction, Compression, Consolidation, Conversations, ReadingSection
from memory_pipeline.config.policies import Policy, changed_policies
from memory_pipeline.config.section import Section, any_value, setting, store_file


class StoreSection(Section):
    """`store`: the file, and its snapshots."""

    path: str = setting("data/store.duckdb", "The store: one DuckDB file.", safe=store_file)
    snapshots_kept: int = setting(
        7, "Number of snapshots of nights to keep; the oldest are removed first.", ge=1, le=365
    )


class Import(Section):
    """`import`: what is imported, and how."""

    timezone: str = setting(
        "UTC", "Time zone of times that name none, and of the days in texts about them.", safe=any_value
    )
    redact: bool = setting(True, "Mask secrets, e-mail addresses and phone numbers.")

    _zone_exists = field_validator("timezone")(check_zone)


class Report(Section):
    """`report`: the report files of a night."""

    strict_verdict: bool = setting(False, "Report FAIL instead of IDLE.")


#: The threshold of the policy `canonical`, which `compression.policies.canonical.threshold` changes.
CANONICAL_THRESHOLD = 0.90


class Notices(Section):
    """`notices`: who is notified of a night."""

    urls: tuple[str, ...] = setting((), "Recipients of notices besides the outbox, as Apprise URLs.", secret=True)


class Connectors(Section):
    """`connectors`: other programs' files; nights read `sources`."""

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


class Server(Section):
    """`server`: the HTTP API and Dagster's web server."""

    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Names under which browsers and clients may reach the UI and the API, besides `localhost` and addresses in "
        "numbers; for a proxy or a name of the local network.",
    )


class Settings(Section, validate_by_name=True):
    """All settings, validated. Read them with `load_settings`; an instance that is created directly has the defaults,
    and reads neither the environment nor a file."""

    store: StoreSection = StoreSection()
    import_: Import = Field(Import(), alias="import")
    embedding: Embedding = Embedding()
    compression: Compression = Compression()
    consolidation: Consolidation = Consolidation()
    reading: ReadingSection = ReadingSection()
    conversations: Conversations = Conversations()
    compaction: Compaction = Compaction()
    model: ModelSection = ModelSection()
    anthropic: AnthropicSection = AnthropicSection()
    openai: OpenAISection = OpenAISection()
    distillation: DistillationSection = DistillationSection()
    report: Report = Report()
    notices: Notices = Notices()
    connectors: Connectors = Connectors()
    recall: Recall = Recall()
    server: Server = Server()
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

    _broken: tuple[BrokenSource, ...] = PrivateAttr(())
    _withheld: Mapping[str, str] = PrivateAttr({})

    _tables_differ = field_validator("sources", "exports")(check_tables)

    def with_values(self, changes: Mapping[str, object]) -> Settings:
        """A copy with other values for the settings with these dotted keys; the values are not validated."""
        changed = self
        for key, value in changes.items():
            changed = _replaced(changed, ["import_" if part == "import" else part for part in key.split(".")], value)
        return changed

    def broken(self, kind: str) -> tuple[BrokenSource, ...]:
        """The tables of `sources` or of `exports` that cannot be used and are left out."""
        return tuple(broken for broken in self._broken if broken.kind == kind)

    @property
    def withheld_keys(self) -> Mapping[str, str]:
        """The API keys that belong to another address and are not used, by dotted key, with reason and mend."""
        return self._withheld

    def without(self, broken: Sequence[BrokenSource], withheld: Mapping[str, str] | None = None) -> Settings:
        """A copy that also knows of these tables that cannot be used, and of these keys."""
        changed = self.model_copy()
        changed._broken = (*self._broken, *broken)
        changed._withheld = {**self._withheld, **(withheld or {})}
        return changed

    @property
    def exports_of_store(self) -> tuple[ExportTable, ...]:
        """The enabled exports that are made of the store."""
        return tuple(filter(self._is_of_store, self.exports))

    @property
    def sources_of_store(self) -> tuple[SourceTable, ...]:
        """The enabled sources that feed the store."""
        return tuple(filter(self._is_of_store, self.sources))

    def _is_of_store(self, table: NamedTable) -> bool:
        return table.enabled and (not table.store or Path(table.store) == Path(self.store.path))

    def is_reviewed(self, project_id: str) -> bool:
        """True if a person approves what nights propose for a project."""
        return self.compression.review == "manual" or project_id in self.compression.review_projects

    def is_consolidated(self, project_id: str) -> bool:
        """True if nights and scheduled jobs may touch a project."""
        named = self.consolidation.projects
        chosen = [project for project in named if not project.startswith("!")]
        return f"!{project_id}" not in named and (not chosen or project_id in chosen)

    def night_policies(self, distill_threshold: float | None = None) -> tuple[Policy, ...]:
        """The policies of a night, in the order in which they run.

        `distill_threshold` overrides the threshold of `distill` for one run, including those of single projects.
        """
        rules, profiles = self.compression, self.compression.profiles
        threshold = rules.similarity_threshold
        if distill_threshold is not None:
            threshold = distill_threshold
            profiles = {
                project: table.model_copy(update={"threshold": threshold}) for project, table in profiles.items()
            }
        merge = self.consolidation.similarity.merge
        built_in = (
            Policy("merge", "merge", merge, 2, group_by="memory_type"),
            Policy("canonical", "canonical", CANONICAL_THRESHOLD, 2, linkage="single"),
            Policy("distill", "distill", threshold, rules.min_cluster_size, own=profiles),
        )
        return changed_policies(built_in, rules.policies)

    @property
    def canonical_threshold(self) -> float:
        """Minimum cosine at which knowledge-base entries become one canonical entry."""
        return next(policy.threshold for policy in self.night_policies() if policy.name == "canonical")

    @property
    def reports_path(self) -> Path:
        """Directory of the reports: `reports` next to the store."""
        return Path(self.store.path).parent / "reports"


_Model = TypeVar("_Model", bound=BaseModel)


def _replaced(model: _Model, path: list[str], value: object) -> _Model:
    """A copy with another value of the field at the end of the path. Raises AttributeError for an unknown field."""
    inner = getattr(model, path[0])
    return model.model_copy(update={path[0]: _replaced(inner, path[1:], value) if path[1:] else value})
