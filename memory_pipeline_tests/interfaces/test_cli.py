"""The command line as scripts see it: names, exit codes, last lines, one clear sentence for every mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer

from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.interfaces.cli.command_line import MODULES
from memory_pipeline.records import Conflict
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson
from memory_pipeline_tests.messages_server import MessagesServer, faithful
from memory_pipeline_tests.processes import program

DAY = "2026-03-03"


def cli(*arguments: str | Path, home: Path, **environment: str) -> CompletedProcess[str]:
    """Run the program in a process of its own, in an empty home."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMORY_PIPELINE_", "COMPRESSION_", "DAGSTER_"))
    }
    clean |= {
        "MEMORY_PIPELINE_HOME": str(home),
        "MEMORY_PIPELINE_EMBEDDING_MODEL": "lexical",
        "MEMORY_PIPELINE_COMPRESSION_MIN_ACTIVE_MEMORIES": "0",
        **environment,
    }
    return program(*map(str, arguments), environment=clean, cwd=home)


def last(done: CompletedProcess[str]) -> str:
    return done.stdout.strip().splitlines()[-1]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "agent"
    (root / "memory").mkdir(parents=True)
    text = "\n".join(f"- {c.content}" for c in lesson(5))
    (root / "memory" / "2026-03-01.md").write_text(f"# 2026-03-01\n## Lessons - 09:00 EST\n{text}\n")
    return root


@pytest.mark.slow
def test_a_night_is_looked_back_on_taken_back_and_reviewed(tmp_path: Path, workspace: Path) -> None:
    assert cli("import", "openclaw", workspace, "--tz", "America/New_York", home=tmp_path).returncode == 0
    run_id = json.loads(cli("night", DAY, "--json", home=tmp_path).stdout)["run_id"]
    assert "1 added, 5 removed" in cli("diff", f"before:{run_id}", run_id, "--html", "d.html", home=tmp_path).stdout
    assert "class='went'" in (tmp_path / "d.html").read_text()
    assert cli("as-of", "2026-03-02", home=tmp_path).stdout.startswith("5 memories at the end of 2026-03-02")
    found = json.loads(cli("as-of", f"before:{run_id}", "search", "gateway key", "--json", home=tmp_path).stdout)
    assert len(found["results"]) == 5 and not any(hit["archived"] for hit in found["results"])
    assert "Exported 5" in cli("as-of", "2026-03-02", "export", "jsonl", "then.jsonl", home=tmp_path).stdout

    source = found["results"][0]["id"]
    dry = cli("rollback", "--run-id", run_id, "--dry-run", home=tmp_path)
    assert "5 memories would be restored" in dry.stdout and "1 memory would be retired" in dry.stdout
    assert "5 memories restored" in cli("rollback", "--run-id", run_id, home=tmp_path).stdout
    lines = cli("history", source, home=tmp_path).stdout.splitlines()
    assert len(lines) == 5 and ": was archived into " in lines[1] and "memory-pipeline rollback" in lines[3]
    assert last(cli("check", "--deep", home=tmp_path)).startswith("SOUND: 5 active, 0 archived")

    manual = {"MEMORY_PIPELINE_COMPRESSION_REVIEW": "manual"}
    night = cli("night", DAY, home=tmp_path, **manual)
    assert night.returncode == 0 and last(night) == "COMPRESSION SKIPPED: 1 proposal awaits review"
    (waiting,) = json.loads(cli("proposals", "list", "--json", home=tmp_path).stdout)
    assert len(waiting["members"]) == 5 and "=> " in cli("proposals", "show", waiting["id"][:8], home=tmp_path).stdout
    assert "approved" in cli("proposals", "approve", "--all", home=tmp_path, **manual).stdout
    assert last(cli("check", "--deep", home=tmp_path)).startswith("SOUND: 1 active, 5 archived")
    assert "approved already" in cli("proposals", "reject", waiting["id"], home=tmp_path).stdout


@pytest.mark.slow
def test_import_night_report_export_check_and_snapshots(tmp_path: Path, workspace: Path) -> None:
    done = cli("import", "openclaw", workspace, "--tz", "America/New_York", home=tmp_path)
    assert done.returncode == 0 and "5 imported" in done.stdout
    again = cli("import", "openclaw", workspace, home=tmp_path).stdout
    assert "Read 5 entries: 0 imported; 5 known already" in again

    dry = cli("night", DAY, "--dry-run", "--verbose", home=tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert last(dry) == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 5 entries would be archived"
    assert "keeps using the old key" in dry.stdout

    real = cli("night", DAY, home=tmp_path)
    assert real.returncode == 0 and last(real).startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived, ")
    again = cli("night", DAY, "--json", home=tmp_path)
    assert json.loads(again.stdout)["result"].startswith("COMPRESSION SKIPPED: ")

    report = json.loads(cli("report", "--json", home=tmp_path).stdout)
    assert report["partition"] == DAY and report["verdict"] == "IDLE"
    assert cli("export", "jsonl", tmp_path / "all.jsonl", "--all", home=tmp_path).returncode == 0
    records = [json.loads(line)["record"] for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert (records[0], records.count("memory"), records[-1]) == ("export", 6, "end")
    assert last(cli("check", home=tmp_path)).startswith("SOUND: 1 active, 5 archived")

    snapshots = json.loads(cli("snapshot", "list", "--json", home=tmp_path).stdout)
    assert cli("snapshot", "verify", snapshots[0]["name"], home=tmp_path).returncode == 0
    assert cli("snapshot", "restore", snapshots[0]["name"], home=tmp_path).returncode == 0
    assert last(cli("check", home=tmp_path)).startswith("SOUND: 5 active, 0 archived")


@pytest.mark.slow
def test_backfill_runs_days_in_order_and_sums_them_up(tmp_path: Path, workspace: Path) -> None:
    cli("import", "openclaw", workspace, home=tmp_path)
    done = cli("backfill", "--from", "2026-03-01", "--to", DAY, "--json", home=tmp_path)
    summary = json.loads(done.stdout)
    assert done.returncode == 0 and [r["partition"] for r in summary["reports"]] == ["2026-03-01", "2026-03-02", DAY]
    assert summary["result"].startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived")


@pytest.mark.slow
def test_init_imports_remembers_and_previews(tmp_path: Path, workspace: Path) -> None:
    done = cli("init", workspace, "--tz", "Europe/Lisbon", home=tmp_path)
    assert "which runs a night at 03:30" in done.stdout
    assert done.returncode == 0, done.stderr
    assert last(done) == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 5 entries would be archived"
    assert (
        f'[[sources]]\nname = "{workspace.name}"\npath = "{workspace}"'
        in (tmp_path / "memory_pipeline.toml").read_text()
    )
    assert last(cli("check", home=tmp_path)).startswith("SOUND: 5 active, 0 archived")


@pytest.mark.slow
def test_a_night_that_declines_its_clusters_and_a_night_that_is_held_exit_0(tmp_path: Path, workspace: Path) -> None:
    cli("import", "openclaw", workspace, home=tmp_path)
    Store(tmp_path / "data" / "store.duckdb").take_lease("other", "the daemon")
    held = cli("night", DAY, home=tmp_path)
    assert held.returncode == 0 and last(held).startswith("COMPRESSION BLOCKED: '")
    assert "store.duckdb' is in use by the daemon on" in last(held)

    Store(tmp_path / "data" / "store.duckdb").release_lease("other")
    declined = cli("night", DAY, home=tmp_path, COMPRESSION_MIN_RATIO="90")
    assert declined.returncode == 0
    assert last(declined) == "COMPRESSION SKIPPED: 1 cluster declined: compression ratio too low (1)"
    assert cli("report", home=tmp_path).stdout.startswith(f"Night of {DAY}: IDLE")
    wrong = cli("report", "--kind", "diary", home=tmp_path)
    assert wrong.returncode == 1 and "--kind is 'diary'; use night, duplicates, job" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", [f"asset.written#{number}" for number in range(1, 9)])
def test_a_night_killed_inside_dagster_is_completed_by_the_next(tmp_path: Path, workspace: Path, place: str) -> None:
    """Between the assets, and while the file of one is written; the same day run again ends where it would have."""
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    hashes = []
    for home in (undisturbed, tmp_path):
        cli("import", "openclaw", workspace, "--tz", "America/New_York", home=home)
        if home == tmp_path:
            assert cli("night", DAY, home=home, KILL_POINT=place).returncode == -signal.SIGKILL
        done = cli("night", DAY, home=home)
        assert last(done).startswith("COMPRESSION ") and done.returncode == 0
        checked = json.loads(cli("check", "--deep", "--json", home=home).stdout)
        assert checked["sound"]
        hashes.append(checked["hash"])
    assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_atoms_are_stated_found_and_followed(tmp_path: Path, workspace: Path) -> None:
    cli("import", "openclaw", workspace, home=tmp_path)
    words = ("--subject", "build cache", "--action", "is cold", "--outcome", "deploys take long")
    stated = json.loads(cli("atoms", "add", *words, "--json", home=tmp_path).stdout)
    assert stated["confidence"] == 1.0 and stated["project_id"] == "agent"
    cli("atoms", "add", "--subject", "deploys", "--action", "take long", "--outcome", "Dana waits", home=tmp_path)
    found = cli("atoms", "search", "cold build cache", home=tmp_path)
    assert found.stdout.startswith("1.0  build cache | is cold -> deploys take long")
    chains = json.loads(cli("atoms", "chain", "build cache is cold", "--limit", "1", "--json", home=tmp_path).stdout)
    assert [[atom["subject"] for atom in chain] for chain in chains] == [["build cache", "deploys"]]
    wrong = cli("atoms", "search", "--project", "nowhere", home=tmp_path)
    assert wrong.returncode == 1 and "there is no project 'nowhere'; name one with --project: agent" in wrong.stderr


@pytest.mark.slow
def test_a_night_with_claude_asks_again_only_when_told(tmp_path: Path, workspace: Path) -> None:
    cli("import", "openclaw", workspace, "--tz", "America/New_York", home=tmp_path)
    with MessagesServer(faithful).running() as server:
        claude = {"ANTHROPIC_API_KEY": server.key, "MEMORY_PIPELINE_DISTILLATION_BASE_URL": server.url}
        claude["MEMORY_PIPELINE_READING_ASK_MODEL"] = "false"
        preview = json.loads(cli("night", DAY, "--dry-run", "--json", home=tmp_path, **claude).stdout)
        assert preview["total_llm_calls"] == 2 and preview["clusters_compressed"] == 1
        again = json.loads(cli("night", DAY, "--dry-run", "--no-cache", "--json", home=tmp_path, **claude).stdout)
        assert again["total_llm_calls"] == 2 and len(server.requests) == 2
        done = cli("night", DAY, home=tmp_path, **claude)
        assert last(done).startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived") and len(server.requests) == 2
    shown = json.loads(cli("config", "show", "--json", home=tmp_path, **claude).stdout)
    assert [row["value"] for row in shown if row["key"] == "anthropic.api_key"] == ["***"]


@pytest.mark.slow
def test_a_night_that_breaks_is_reported_and_exits_1(tmp_path: Path, workspace: Path) -> None:
    cli("import", "openclaw", workspace, home=tmp_path)
    broken = cli("night", DAY, home=tmp_path, MEMORY_PIPELINE_EMBEDDING_MODEL="oracle")
    assert broken.returncode == 1 and "oracle" in last(broken)
    assert last(broken).startswith("COMPRESSION BLOCKED: ")
    assert json.loads(cli("report", "--json", home=tmp_path).stdout)["verdict"] == "FAIL"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import", "openclaw", "nowhere"], "'nowhere' does not exist"),
        (["import", "xml", "."], "no format is called 'xml'"),
        (["import", "chatgtp", "."], "did you mean chatgpt?"),
        (["import", "openclaw", ".", "--tz", "Mars/Base"], "no time zone is called 'Mars/Base'"),
        (["night"], "there is no store at"),
        (["night", "yesterday"], "DATE is 'yesterday', which is not a date"),
        (["backfill", "--from", "2026-03-04", "--to", "2026-03-01"], "swap them"),
        (["report"], "there is no store at"),
        (["check"], "there is no store at"),
        (["snapshot", "verify", "x"], "there is no store at"),
        (["export", "jsonl", "missing/x.jsonl"], "directory that exists"),
        (["init", "nowhere"], "'nowhere' does not exist"),
    ],
)
def test_a_mistake_is_one_sentence_and_a_non_zero_exit(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = cli(*arguments, home=tmp_path)
    told = [line for line in (done.stdout + done.stderr).splitlines() if words in line]
    assert done.returncode != 0 and len(told) == 1 and "Traceback" not in done.stderr
    if arguments[0] in ("night", "backfill", "kb-compress"):
        assert last(done) == told[0] and told[0].startswith("COMPRESSION BLOCKED: ")
    else:
        assert not done.stdout and told[0].startswith("Error: ")


@pytest.mark.slow
def test_a_night_of_a_day_that_has_not_ended_is_refused(tmp_path: Path) -> None:
    fill(Store(tmp_path / "data" / "store.duckdb"), lesson(3))
    done = cli("night", "2999-01-01", home=tmp_path)
    assert done.returncode == 1 and "the last day that has ended" in last(done)


def test_config_show_says_where_each_value_came_from_and_masks_secrets(tmp_path: Path) -> None:
    (tmp_path / "memory_pipeline.toml").write_text("[compression]\nmin_cluster_size = 4\nreview = 'manual'\n")
    done = cli("config", "show", "--json", home=tmp_path, COMPRESSION_MIN_CLUSTER_SIZE="5", ANTHROPIC_API_KEY="sk-x")
    rows = {row["key"]: row for row in json.loads(done.stdout)}
    assert (rows["compression.min_cluster_size"]["value"], rows["compression.min_cluster_size"]["from"]) == (
        5,
        "environment COMPRESSION_MIN_CLUSTER_SIZE",
    )
    assert rows["compression.review"]["from"].endswith("memory_pipeline.toml")
    assert rows["compression.fingerprint_ttl_days"]["from"] == "default"
    assert rows["anthropic.api_key"]["value"] == "***" and "sk-x" not in done.stdout
    told = cli("config", "show", home=tmp_path, COMPRESSION_MIN_CLUSTER_SIZE="5").stdout
    assert "compression.min_cluster_size = 5  [environment COMPRESSION_MIN_CLUSTER_SIZE]" in told.splitlines()
    assert max(len(line) for line in told.splitlines() if line.startswith(" ")) <= 100


@pytest.mark.slow
def test_conflicts_jobs_playbook_and_the_knowledge_base_from_the_command_line(tmp_path: Path) -> None:
    port = "The staging database of the webshop listens for connections on port {} behind the proxy."
    old, day = {"created_at": "2026-03-01T09:00:00Z"}, "2026-03-0{}T09:00:00Z"
    entry = {"title": "Rotate keys", "recommendation": "Restart it after every rotation", "memory_type": "lesson"}
    rows = [{"id": f"p{n}", "content": port.format(n), "created_at": day.format(n % 9)} for n in (5432, 5433)]
    rows += [{"id": f"l{n}", "content": c.content, "memory_type": "lesson", **old} for n, c in enumerate(lesson(4))]
    rows += [{"id": f"k{n}", **entry} for n in range(10)]
    (tmp_path / "m.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert cli("import", "jsonl", "m.jsonl", "--project", "web", home=tmp_path).returncode == 0

    dry = cli("kb-compress", "--dry-run", home=tmp_path)
    assert last(dry) == "COMPRESSION COMPLETE (DRY RUN): 1 potential clusters, 10 entries would be archived"
    done = cli("kb-compress", "--threshold", "0.9", home=tmp_path)
    assert done.returncode == 0 and last(done).startswith("COMPRESSION COMPLETE: 1 clusters, 10 archived, ")
    assert "dry_run: false" in (tmp_path / "data" / "reports" / "COMPRESSION-REPORT.yaml").read_text()
    assert last(cli("kb-compress", home=tmp_path)) == "COMPRESSION SKIPPED: Insufficient entries (min 10, found 1)"
    blocked = cli("kb-compress", "--store", "none.duckdb", home=tmp_path)
    assert (blocked.returncode, last(blocked)) == (1, "COMPRESSION BLOCKED: KB unavailable")

    job = json.loads(cli("jobs", "start", "--project", "web", "--to", "2026-03-31", "--json", home=tmp_path).stdout)
    assert job["status"] == "completed" and job["scope"] == {"date_range": [None, "2026-03-31"], "projects": ["web"]}
    assert job["metrics"]["pattern_archived"] == 4 and job["triggered_by"]
    assert "completed" in cli("jobs", "list", home=tmp_path).stdout
    shown = cli("jobs", "show", job["job_id"][:8], home=tmp_path).stdout
    assert "scope: to 2026-03-31, project web" in shown and "0 of 3 retries used" in shown
    ended = cli("jobs", "cancel", job["job_id"][:8], home=tmp_path)
    assert ended.returncode == 1 and "has ended (completed)" in ended.stderr
    unknown = cli("jobs", "start", "--project", "nowhere", home=tmp_path)
    assert unknown.returncode == 1 and "there is no project 'nowhere'" in unknown.stderr

    (entry,) = json.loads(cli("playbook", "list", "--json", home=tmp_path).stdout)
    assert entry["project_id"] == "web" and "gateway" in entry["content"]
    written = cli("export", "openclaw", "book", "--project", "web", "--contents", "playbook", home=tmp_path).stdout
    assert "created: memory/playbook.md (lines +" in written
    assert entry["content"].split(".")[0] in (tmp_path / "book" / "memory" / "playbook.md").read_text()

    store = Store(tmp_path / "data" / "store.duckdb")
    with store.writing("test") as tx:
        sides = sorted(one.id for one in tx.memories.all("web") if "staging database" in one.content)
        tx.conflicts.record([Conflict("web", *sides, "contradiction", "5432 / 5433", 0.9)], datetime.now(UTC))
    store.settle()
    (found,) = json.loads(cli("conflicts", "list", "--json", home=tmp_path).stdout)
    assert found["kind"] == "contradiction" and found["id"][:8] in cli("conflicts", "list", home=tmp_path).stdout
    assert "port 5433" in cli("conflicts", "show", found["id"][:8], home=tmp_path).stdout
    refused = cli("conflicts", "resolve", found["id"][:8], "--keep", "both", "--scope-a", "here", home=tmp_path)
    assert refused.returncode == 1 and "give --scope-a and --scope-b, or neither" in refused.stderr
    assert "settled by" in cli("conflicts", "resolve", found["id"][:8], "--keep", "newer", home=tmp_path).stdout
    assert "No conflict awaits" in cli("conflicts", "list", home=tmp_path).stdout
    assert "open again" in cli("conflicts", "reopen", found["id"][:8], home=tmp_path).stdout
    assert last(cli("check", "--deep", home=tmp_path)).startswith("SOUND")


@pytest.mark.slow
def test_a_night_is_loaded_without_importers_and_masking() -> None:
    """They take a third of a second, and a night that finds nothing new uses neither."""
    code = (
        "import sys, memory_pipeline.definitions, memory_pipeline.interfaces.cli.nights; "
        "print(*sorted(name for name in sys.modules if 'pipeline.ingest' in name or 'redaction.' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.slow
def test_the_command_line_starts_without_what_few_commands_need() -> None:
    """With Dagster and the server stack, every command would take seconds."""
    heavy = "{'dagster', 'fastapi', 'uvicorn', 'pandas', 'anthropic', 'sentencex'}"
    code = f"import sys, memory_pipeline.interfaces.cli; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_command_is_declared_by_the_module_that_is_loaded_for_it() -> None:
    declared: dict[str, set[str]] = {}
    for name, one in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        first = one if one.callback else next(iter(one.commands.values()))
        declared.setdefault(first.callback.__module__.rpartition(".")[2], set()).add(name)
    assert declared == {module: set(names) for module, names in MODULES.items()}
