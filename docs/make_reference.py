"""Generates docs/reference.md from the code (commands, settings, row columns, report fields), the routes in api.md, and
the packages in architecture.md.

Run `python docs/make_reference.py` after changing any of them; a test fails if the page is out of date.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import typer

from memory_pipeline.config.described import describe_settings, own_variable
from memory_pipeline.config.loading import ShownSetting
from memory_pipeline.consolidation.audit import Audit
from memory_pipeline.consolidation.conversation_runs import ConversationRun, ListedDay, ShownDay
from memory_pipeline.consolidation.knowledge_base import KnowledgeBaseReport
from memory_pipeline.consolidation.review.conflicts import DescribedConflict
from memory_pipeline.consolidation.review.decisions import DecidedExtraction, DecidedProposal, Inbox
from memory_pipeline.consolidation.review.patterns import DescribedPattern
from memory_pipeline.consolidation.review.proposals import DescribedProposal
from memory_pipeline.consolidation.review.rollback import RollbackResult
from memory_pipeline.consolidation.source_checks import CheckedSource
from memory_pipeline.demo.scoring import DemoResult
from memory_pipeline.documents import Document
from memory_pipeline.forgetting.documents import ForgetPreview, Forgotten
from memory_pipeline.ingest.candidates import ImportSummary
from memory_pipeline.ingest.exporting import (
    FIRST,
    FORMAT,
    LAST,
    MEMORY,
    VERSION,
    columns_of_everything,
    export_columns,
)
from memory_pipeline.ingest.formats import IMPORTERS
from memory_pipeline.ingest.formats.brain_sync import BrainSync
from memory_pipeline.ingest.values import (
    MAX_CONTENT,
    MAX_DEPTH,
    MAX_ID,
    MAX_LABELS,
    MAX_LINE_BYTES,
    MAX_NAME,
    MAX_SOURCES,
)
from memory_pipeline.interfaces.api.access import CreatedToken, DescribedToken
from memory_pipeline.interfaces.api.app import described
from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.interfaces.cli.base import ExportedFile
from memory_pipeline.interfaces.cli.command_line import MODULES
from memory_pipeline.interfaces.cli.exports import DescribedExport
from memory_pipeline.interfaces.cli.nights import BackfillResult, NightResult
from memory_pipeline.interfaces.cli.recovery import CheckResult, RecoveryResult, RestoredSnapshot, VerifiedSnapshot
from memory_pipeline.interfaces.cli.review import QuarantinedRow
from memory_pipeline.interfaces.cli.serve import Address
from memory_pipeline.interfaces.cli.settings import ModelChoice, TrustedSettings
from memory_pipeline.interfaces.cli.setup import InitResult
from memory_pipeline.interfaces.cli.sources import DescribedSource, GoneMemory
from memory_pipeline.interfaces.hooks import InstalledHooks
from memory_pipeline.interfaces.mcp.install import InstalledServer
from memory_pipeline.models.check import FoundModel, ModelCheck
from memory_pipeline.models.embedders.choose import InstalledModel
from memory_pipeline.models.embedders.missing import EmbeddedStore
from memory_pipeline.orchestration.consolidation import JobRecord
from memory_pipeline.periods.running import ListedRollup, MadeRollup, ShownRollup
from memory_pipeline.recall.asking import Reply
from memory_pipeline.recall.atoms import DescribedAtom
from memory_pipeline.recall.documents import (
    Context,
    Feedback,
    MemoryLineage,
    Metrics,
    Remembered,
    SearchResults,
    ShownMemory,
)
from memory_pipeline.recall.evaluation import Evaluation
from memory_pipeline.recall.past import Difference, StateListing, StateSearch
from memory_pipeline.recall.series import DescribedSeries, ShownSeries
from memory_pipeline.records.columns import flat_columns_of
from memory_pipeline.reporting.model import Report
from memory_pipeline.sessions.documents import CompactedSession, EventShown, FlushedSession, TriggerShown
from memory_pipeline.store import Event, Snapshot
from memory_pipeline.store.contents import LEFT_BEHIND, RECORD_NAMES
from memory_pipeline.store.migrations import known_migrations
from memory_pipeline.store.rows import RECORDS, TABLES
from memory_pipeline.text.guidance import DescribedGuidance
from memory_pipeline.workspace.exporting import Exported

#: A comment and the table that it stands above.
_CREATED = re.compile(r"((?:^--.*\n)+)create table if not exists (\w+)", re.MULTILINE)
TARGET, API = Path(__file__).with_name("reference.md"), Path(__file__).with_name("api.md")
ARCHITECTURE = Path(__file__).with_name("architecture.md")
#: What stands before the packages in architecture.md.
PACKAGES = "| package | what it is for |\n| --- | --- |\n"
#: What stands before the generated part of api.md.
MARK = "<!-- From here on, docs/make_reference.py writes this page. -->\n"
#: How the descriptions of parameters and fields begin that api.md explains once, for all routes.
_SAID_ONCE = ("The project; may be left out", "The memory's id")


def reference() -> str:
    """The whole page."""
    return "\n".join(["# Reference", "", *_commands(), *_settings(), *_formats(), *_rows(), *_tables(), *_documents()])


def _commands() -> list[str]:
    lines = [
        "## Commands",
        "",
        "`COMMAND --help` describes the options. All accept `--json`, and those of a store `--store FILE`.",
        "",
    ]
    names = [name for some in MODULES.values() for name in some]
    program = typer.main.get_command(app)
    # Whatever was imported first: the modules of commands declare them when they are.
    program.commands = dict(sorted(program.commands.items(), key=lambda pair: names.index(pair[0])))
    for name, command in _walk(program, ""):
        usage = " ".join(
            parameter.metavar or parameter.name.upper()
            for parameter in command.params
            if parameter.param_type_name == "argument"
        )
        options = ", ".join(
            f"`{parameter.opts[0]}`"
            for parameter in command.params
            if parameter.param_type_name == "option" and parameter.opts[0] not in ("--store", "--json", "--help")
        )
        help_text = " ".join((command.help or "").split("\n\n")[0].split())
        lines.append(
            f"- **`{f'{name} {usage}'.strip()}`** - {help_text}" + (f" Options: {options}." if options else "")
        )
    return [*lines, ""]


def _walk(command: Any, prefix: str) -> list[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None or (prefix and command.invoke_without_command):  # what `review` holds has names of its own
        return [(prefix.strip(), command)]
    return [found for name, child in children.items() for found in _walk(child, f"{prefix} {name}")]


def _settings() -> list[str]:
    lines = [
        "## Settings",
        "",
        "Set them in `memory_pipeline.toml` under their dotted keys, or as environment variables. A setting with",
        "several names has one value; giving two of its names different values in one place is an error.",
        "",
        "| key | default | range | environment | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for info in describe_settings():
        default = "" if info.default in ("", (), {}) else f"`{info.default}`"
        names = ", ".join(f"`{name}`" for name in info.env)
        lines.append(f"| `{info.key}` | {default} | {info.limits} | {names} | {info.meaning} |")
        for alias, limits in info.aliases.items():
            allowed = f"ge {limits[0]}, le {limits[1]}" if limits else info.limits
            lines.append(f"| `{alias}` | | {allowed} | `{own_variable(alias)}` | {info.another_name} |")
    lines += [
        "",
        "`MEMORY_PIPELINE_CONFIG` names a different configuration file, and `MEMORY_PIPELINE_HOME` the directory that",
        "relative paths start from. With `MEMORY_PIPELINE_FORGET=allow`, `forget --yes` needs no terminal.",
        "",
        "Of a settings file that you have not [trusted](start.md#whose-settings-count), these alone are obeyed: "
        + ", ".join(f"`{info.key}`" for info in describe_settings() if info.safe)
        + "; of `embedding.model` the built-in models, of `store.path` a store in the directory of the file or one "
        "that exists.",
        "",
    ]
    return lines


def _formats() -> list[str]:
    lines = [
        "## Import formats",
        "",
        "`import FORMAT PATH` reads these formats:",
        "",
        "| format | path | content |",
        "| --- | --- | --- |",
    ]
    return [*lines, *(f"| `{name}` | {one.takes} | {one.about} |" for name, one in IMPORTERS.items()), ""]


def _rows() -> list[str]:
    return [
        "## Rows",
        "",
        "JSONL and Parquet exports have these columns. Imports accept any subset that includes `content`, and also",
        "`embedding` with `embedding_model`:",
        "",
        "| column | meaning |",
        "| --- | --- |",
        *(f"| `{column.name}` | {column.meaning} |" for column in export_columns()),
        "",
        "A row that cannot be imported goes to quarantine with its line and the reason. Limits: "
        f"content {MAX_CONTENT:,} characters (and {MAX_LINE_BYTES:,} bytes a line), an id {MAX_ID}, a tag {MAX_NAME}, "
        f"{MAX_LABELS} tags and {MAX_LABELS} categories, {MAX_SOURCES:,} sources, `compressed_from` {MAX_DEPTH} levels "
        "deep, times from 2000 on.",
        "",
        "A row may describe what nights did to it (`archived_*`, `consolidated_into_id`, `sources`, `compressed_from`,",
        "`rolled_back_at`) if the same file or the store confirms it. A source that does not exist is omitted; a row",
        "that is archived into a memory that does not name it as a source is refused.",
        "",
        "### An export of everything",
        "",
        "`export --all` writes records, each with its kind in `record`. An import into an empty store checks the file",
        "and then gives the same store. An import into a store with memories adds what is new and reports clashes.",
        "",
        "| `record` | content |",
        "| --- | --- |",
        f"| `{FIRST}` | the first: `format` (`{FORMAT}`), `version` ({VERSION}), `schema` of the store |",
        f"| `{MEMORY}` | a memory: the columns above, "
        f"{' and '.join(f'`{name}`' for name in columns_of_everything())} |",
        *(
            f"| `{kind}` | a row of `{table}` |"
            for table, kind in sorted(RECORD_NAMES.items(), key=lambda pair: pair[1])
        ),
        f"| `{LAST}` | the last: how many `records` of each kind; in JSONL the `sha256` of all lines before it |",
        "",
        "The records of any other table have the name of the table. In Parquet, memories are stored in their columns",
        "and every other record as JSON in `payload`. These tables are not exported because they can be rebuilt: "
        + ", ".join(f"`{table}`" for table in sorted(LEFT_BEHIND) if table not in ("memories", "lineage"))
        + ".",
        "",
    ]


def _tables() -> list[str]:
    """Every table of a store, from the schema that the migrations give."""
    connection = duckdb.connect()
    about: dict[str, str] = {}
    for _, _, sql in known_migrations():
        connection.execute(sql)
        for said, name in _CREATED.findall(sql):
            about[name] = " ".join(line.removeprefix("--").strip() for line in said.strip().splitlines())
    columns = connection.execute(
        "select table_name, column_name, lower(data_type), is_nullable from duckdb_columns() where not internal "
        "order by table_name, column_index"
    ).fetchall()
    lines = [
        "## Tables",
        "",
        "A store is one DuckDB file, and these are its tables. Times are UTC. Read it while nothing writes to it, or",
        "read a copy from `snapshot create`. Write to it with this program only: triggers guard what may change, and",
        "keep the audit log.",
        "",
    ]
    for table in TABLES:
        known = flat_columns_of(RECORDS[table.name]) if table.name in RECORDS else ()
        meanings = {column.name: column.meaning for column in known}
        lines += [f"### `{table.name}`", "", *([about[table.name], ""] if about.get(table.name) else [])]
        lines += ["| column | type | meaning |", "| --- | --- | --- |"]
        for name, column, kind, nullable in columns:
            if name == table.name:
                key = "key" if column in table.key else ""
                optional = "may be null" if nullable and not key else ""
                told = "; ".join(part for part in (key, meanings.get(column, "").rstrip("."), optional) if part)
                lines.append(f"| `{column}` | {kind} | {told} |")
        lines.append("")
    return lines


#: What `--json` prints, by heading, with the commands that print it.
DOCUMENTS: dict[str, tuple[str, type[Document]]] = {
    "Report fields": ("Printed by `report`, and in the JSON file of each report.", Report),
    "Nights": ("`night` prints one object: the [fields of a report](#report-fields), and", NightResult),
    "Backfills": ("`backfill` prints one object. `reports` holds [reports](#report-fields).", BackfillResult),
    "Imports": ("`import` prints one object.", ImportSummary),
    "Write-backs": ("`sync brain` prints one object.", BrainSync),
    "First imports": (
        "`init` prints one object, of an [import](#imports) and a [report](#report-fields).",
        InitResult,
    ),
    "Sources": (
        "`sources list` prints a list; `sources add` and `sources remove` print one object.",
        DescribedSource,
    ),
    "Rows in quarantine": ("`quarantine` prints a list.", QuarantinedRow),
    "Words that are gone": ("`sources gone` prints a list.", GoneMemory),
    "Checked sources": (
        "`sources check` prints a list. `import` is the result of an [import](#imports).",
        CheckedSource,
    ),
    "Exports": ("`export` prints one object.", Exported),
    "Exports of nights": (
        "`exports list` prints a list; `exports add` and `exports remove` print one object.",
        DescribedExport,
    ),
    "Files of past states and of readings": (
        "`as-of WHEN export` and `series export` print one object.",
        ExportedFile,
    ),
    "Checks": ("`check` prints one object.", CheckResult),
    "Snapshots": ("`snapshot list` prints a list, `snapshot create` one object.", Snapshot),
    "Restored snapshots": ("`snapshot restore` prints one object.", RestoredSnapshot),
    "Verified snapshots": ("`snapshot verify` prints one object.", VerifiedSnapshot),
    "Recoveries": ("`recover` prints one object.", RecoveryResult),
    "Settings and their origins": ("`config show` prints a list.", ShownSetting),
    "Settings that are trusted": ("`config trust` and `config untrust` print one object.", TrustedSettings),
    "Guidance": ("`playbook list` prints a list.", DescribedGuidance),
    "Audits": ("`audit` prints one object.", Audit),
    "Evaluations": ("`evaluate` prints one object.", Evaluation),
    "Answers": ("`ask` prints one object.", Reply),
    "Inbox": ("`review` prints one object.", Inbox),
    "Memories with their past": ("`show` prints one object.", ShownMemory),
    "Proposals": ("`proposals list` and `proposals show` print a list.", DescribedProposal),
    "Decisions": ("`proposals approve` and `proposals reject` print a list.", DecidedProposal),
    "Conflicts": (
        "`conflicts list` prints a list; `conflicts show` and `conflicts resolve` print one object.",
        DescribedConflict,
    ),
    "Jobs": (
        "`jobs list` prints a list; `jobs show` and `jobs start` print one object, `jobs cancel` too, without verdict.",
        JobRecord,
    ),
    "Previews of forgetting": ("`forget` prints one object.", ForgetPreview),
    "Forgettings": ("`forget --yes` prints one object.", Forgotten),
    "Rollbacks": ("`undo`, `rollback` and `conflicts reopen` print one object.", RollbackResult),
    "Knowledge-base reports": ("Printed by `kb-compress`, and in COMPRESSION-REPORT.yaml.", KnowledgeBaseReport),
    "Histories": ("`history` prints a list.", Event),
    "Differences": ("`diff` prints one object.", Difference),
    "Past states": ("`as-of WHEN list` prints one object.", StateListing),
    "Searches of past states": ("`as-of WHEN search` prints one object.", StateSearch),
    "Atoms": (
        "`atoms search` prints a list, `atoms chain` a list of lists, and `atoms add` one object.",
        DescribedAtom,
    ),
    "Searches": ("`search` prints one object.", SearchResults),
    "Contexts": ("`context` prints one object.", Context),
    "Memories that were told": ("`remember` prints one object.", Remembered),
    "Feedback": ("`feedback` prints one object.", Feedback),
    "Lineages": ("`lineage` prints one object.", MemoryLineage),
    "Figures of a project": ("`metrics` prints one object.", Metrics),
    "MCP servers in clients": ("`mcp install` prints one object.", InstalledServer),
    "Rollups that were made": ("`rollups run` prints a list: the fields of a [rollup](#rollups), and", MadeRollup),
    "Rollups": ("`rollups list` prints a list.", ListedRollup),
    "Rollups with their words": (
        "`rollups show` prints a list, one for each project: the fields of a [rollup](#rollups), and",
        ShownRollup,
    ),
    "Series": (
        "`series list` prints a list.",
        DescribedSeries,
    ),
    "Series with their readings": (
        "`series show` prints one object: the fields of a [series](#series), and",
        ShownSeries,
    ),
    "Patterns of working together": (
        "`patterns list` prints a list; `patterns confirm` and `patterns reject` print one object.",
        DescribedPattern,
    ),
    "Days of conversations": ("`conversations list` prints a list.", ListedDay),
    "What was kept of a day": ("`conversations show` prints a list.", ShownDay),
    "What a person says is not so": (
        "`conversations reject` and `conversations accept` print one object.",
        DecidedExtraction,
    ),
    "Runs of conversations": (
        "`conversations run` prints one object. `days` holds [days](#what-was-kept-of-a-day).",
        ConversationRun,
    ),
    "Flushed sessions": ("`flush` prints a list; with `--instruction`, an object with that field.", FlushedSession),
    "Compacted sessions": ("`compact` prints a list.", CompactedSession),
    "Triggers": ("`triggers check` prints a list.", TriggerShown),
    "Trigger events": ("`triggers list` prints a list.", EventShown),
    "Hooks of hosts": ("`hooks install` and `hooks remove` print one object.", InstalledHooks),
    "Score cards": ("`demo` prints one object.", DemoResult),
    "The default model": ("`model install` prints one object.", InstalledModel),
    "A check of a model": ("`model check` prints one object.", ModelCheck),
    "Models on this machine": ("`model list` prints a list.", FoundModel),
    "The model that reads": ("`model use` prints one object.", ModelChoice),
    "Another model": ("`embed` prints one object.", EmbeddedStore),
    "Tokens": ("`token list` prints a list; `token revoke` prints one object.", DescribedToken),
    "New tokens": ("`token create` prints one object: the fields of a [token](#tokens), and", CreatedToken),
    "Servers": ("`serve` and `ui` print one object before they answer.", Address),
}


def _documents() -> list[str]:
    lines = [
        "## What `--json` prints",
        "",
        "`a.b` is the field `b` of the object `a`, and `a[].b` the field `b` of each object in the list `a`. Times are",
        "ISO 8601 in UTC. A report that an earlier version stored is shown with all fields: a field that it did not",
        "have is empty (zero, empty text, an empty list, `null`), and a field that no longer exists is omitted.",
        "",
    ]
    listed = [document for _, document in DOCUMENTS.values()]
    for heading, (commands, document) in DOCUMENTS.items():
        lines += [f"### {heading}", "", commands, "", "| field | meaning |", "| --- | --- |"]
        lines += [f"| `{name}` | {meaning} |" for name, meaning in document.described_fields(listed).items()]
        lines.append("")
    return lines


def api_page() -> str:
    """The page about the HTTP API, with its routes as the code has them."""
    return API.read_text("utf-8").partition(MARK)[0] + MARK + "\n".join(["", *_routes()])


def architecture_page() -> str:
    """The page about the architecture, with its packages by layer, the lowest first, in their own words."""
    before, _, rest = ARCHITECTURE.read_text("utf-8").partition(PACKAGES)
    project = ARCHITECTURE.parents[1]
    contracts = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    named = [module.strip() for layer in reversed(layers) for module in re.split(r"[|:]", layer)]
    rows = []
    for module in named:
        start = project / "memory_pipeline" / module / "__init__.py"
        if start.exists():
            told = (ast.get_docstring(ast.parse(start.read_text("utf-8"))) or "").partition("\n\n")[0]
            rows.append(f"| `{start.parent.name}` | {' '.join(told.split())} |")
    return before + PACKAGES + "\n".join(rows) + "\n\n" + rest.partition("\n\n")[2]


def _routes() -> list[str]:
    document = described()
    lines = [
        "## Routes",
        "",
        "`project_id` is the project, of a POST in its body, of a GET in the query; it may be left out where the token "
        "is good for one",
        "alone, or the store has only one. So may be whatever is not required; it is then empty. A `memory_id` in a",
        "path is percent-encoded, or its handle in a context. The OpenAPI document says which [errors](#errors) each",
        "route has.",
        "",
    ]
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            lines += [f"### `{method.upper()} {path}`", "", route["description"], ""]
            parameters = (one for one in route.get("parameters", ()) if not one["description"].startswith(_SAID_ONCE))
            named = [f"`{one['name']}`: {one['description']}" for one in parameters]
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            fields = _fields(document, body) if body else []
            answers = {status: answer for status, answer in route["responses"].items() if status < "300"}
            lines += [*(f"- {one}" for one in named), *fields, ""] if named or fields else []
            told = ", ".join(_answer_fields(document, next(iter(answers.values()))))
            lines += [f"Answers {' or '.join(answers)}{f': {told}' if told else ''}.", ""]
    return lines


def _answer_fields(document: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    known = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], {})
    return [f"`{name}`" for name in known.get("properties", {})]


def _fields(document: dict[str, Any], schema: dict[str, Any], prefix: str = "") -> list[str]:
    """The fields of a body, one line each, those that it must have first; those of an object in it as `name.field`."""
    known = document["components"]["schemas"]
    body = known[schema["$ref"].rpartition("/")[2]]
    required = body.get("required", ())
    lines = []
    for name, field in sorted(body["properties"].items(), key=lambda one: one[0] not in required):
        if field.get("description", "").startswith(_SAID_ONCE):
            continue
        inner = known[field["$ref"].rpartition("/")[2]]["properties"] if "$ref" in field else {}
        if inner and not inner.keys() <= body["properties"].keys():
            lines += _fields(document, field, f"{prefix}{name}.")
            continue
        default = None if inner else field.get("default")
        need = " (required)" if name in required else f" (default `{json.dumps(default)}`)" if default else ""
        lines.append(f"- `{prefix}{name}`{need}: {field['description']}")
    return lines


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    API.write_text(api_page(), encoding="utf-8")
    ARCHITECTURE.write_text(architecture_page(), encoding="utf-8")
