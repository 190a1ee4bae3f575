"""Any command with any arguments: no traceback, no changed store where it only reads, no file of anybody else's."""

from __future__ import annotations

import os
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.in_process import bytes_of, command

#: They become another program, serve standard input, or take no arguments and run for a minute.
_LEFT_OUT = {"ui", "mcp", "serve", "demo"}
#: They start Dagster, which takes seconds.
_LONG = {"night", "backfill", "kb-compress", "init", "jobs list", "jobs show", "jobs start", "jobs cancel"}
_READ_ONLY = {
    "report", "export", "check", "snapshot list", "snapshot verify", "config show", "history", "as-of", "diff",
    "proposals list", "proposals show", "conflicts list", "conflicts show", "playbook list",
    "jobs list", "jobs show", "metrics",
}  # fmt: skip

_TIMES = (
    "0001-01-01", "9999-12-31", "2026-02-30", "2026-03-02", "0001-01-01T00:00+14:00", "9999-12-31T23:59:59-12:00",
    "2026-03-02T09:30Z", "2026-W10-1", "now", "before:", "before:now", "night:2026-03-03", "night:9999-12-31", "night:",
    "before:night:2026-03-03", "2999-01-01",
)  # fmt: skip
_NUMBERS = ("-1", "0", "1", "0.9", "1e400", "nan", "inf", "-0.0", "9" * 400, "1_000", "0x10", "٣")
_ZONES = ("+25:00", "-14:00", "+99:99", "Europe/Lisbon", "Mars/Base", "../etc/passwd", "UTC")
_PATHS = (
    "letter.txt", "letter.txt/x", "agent", "agent/MEMORY.md", "circle", "circle/x", "soft", "hard", "a" * 300,
    "x\udcff", "data", "data/store.duckdb", "data/STORE.duckdb", "data/store.duckdb.wal", "data/store.snapshots",
    "data/store.dagster/dagster.yaml", "missing/x", "out.jsonl", "rows.jsonl", ".", "../up", "/dev/null",
    "~nobody-of-this-name/x", "memory_pipeline.toml",
)  # fmt: skip
_WORDS = (
    "", " ", "-", "p", "gateway", "jsonl", "csv", "parquet", "openclaw", "list", "search", "export", "number", "newer",
    "both", "subject", "latest", "'; drop table memories; --", "%s%n", "é☃\u202e", "\ud800", "\n", "lesson",
)  # fmt: skip
_ANY_TEXT = st.text(st.characters(codec=None, exclude_characters="/~.\0"), max_size=12)


def _leaves(group: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, child in group.commands.items():
        full = f"{prefix} {name}".strip()
        found |= _leaves(child, full) if hasattr(child, "commands") else {full: child}
    return found


COMMANDS = {name: leaf for name, leaf in _leaves(typer.main.get_command(app)).items() if name not in _LEFT_OUT}
SHORT = {name: leaf for name, leaf in COMMANDS.items() if name not in _LONG}


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """A home with a store, and files of somebody else; with the ids that the store knows."""
    home = tmp_path_factory.mktemp("any") / "home"
    store = Store(home / "data" / "store.duckdb")
    port = "The staging database of the webshop listens for connections on port {} behind the proxy."
    fill(store, [*lesson(5), *(candidate(port.format(n), native_id=f"port-{n}") for n in (5432, 5433))])
    report = run(store, date(2026, 3, 3), settings_for(store, consolidation__confidence__min=0.5), snapshot=True)
    (home / "letter.txt").write_text("Dear Dana")
    (home / "rows.jsonl").write_text('{"content": "The mail relay restarts at noon."}\n{"content": 5}\nnonsense\n')
    (home / "agent").mkdir()
    (home / "agent" / "MEMORY.md").write_text("- The cellar floods in March.\n")
    (home / "memory_pipeline.toml").write_text("[compression]\nmin_cluster_size = 3\n")
    with store.reading() as tx:
        ids = [memory.id for memory in tx.memories.all()] + [case.id for case in tx.conflicts.cases(settled=True)]
    return home, (*ids[:2], ids[-1], str(report.run_id))


def _words(draw: Any, name: str, ids: tuple[str, ...]) -> list[str]:
    """A command line for a command: some of its arguments and options, sensible or not."""
    value = st.one_of(st.sampled_from([*_TIMES, *_NUMBERS, *_ZONES, *_PATHS, *_WORDS, *ids]), _ANY_TEXT)
    words = name.split()
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "argument":
            fitting = _fitting(parameter.name, ids)
            many = 3 if parameter.nargs != 1 else 1
            for _ in range(draw(st.integers(0 if many == 3 else 1, many))):
                words.append(_value(draw, fitting, value))
        elif parameter.name not in ("help",) and draw(st.integers(0, 4)) == 4:
            words.append(parameter.opts[0])
            if not parameter.is_flag:
                words.append(_value(draw, _fitting(parameter.name, ids) or _NUMBERS, value))
    return words


def _value(draw: Any, fitting: tuple[str, ...], anything: st.SearchStrategy[str]) -> str:
    """Mostly what fits, so that commands are reached beyond their first check."""
    return str(draw(st.sampled_from(fitting) if fitting and draw(st.integers(0, 3)) else anything))


def _fitting(name: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Values that get a command past its first check."""
    kinds = {"format_": ("jsonl", "parquet", "csv", "openclaw"), "action": ("list", "search", "export")}
    kinds |= dict.fromkeys(("path", "html", "to", "directory", "workspace", "store"), _PATHS)
    kinds |= dict.fromkeys(("when", "from_", "since", "day"), _TIMES) | {"tz": _ZONES, "project": ("p",)}
    kinds |= dict.fromkeys(("run_id", "memory_id", "conflict_id", "abstraction", "job_id", "ids"), ids)
    return kinds.get(name, ())


def _try(draw: Any, commands: dict[str, Any], made: tuple[Path, tuple[str, ...]], place: Path) -> None:
    name = draw(st.sampled_from(sorted(commands)))
    words = _words(draw, name, made[1])
    home = place / "home"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(made[0], home)
    (home / "circle").symlink_to("circle")
    (home / "soft").symlink_to("data/store.duckdb")
    os.link(home / "data" / "store.duckdb", home / "hard")
    theirs, settings = [home / "letter.txt", home / "rows.jsonl", home / "agent"], home / "memory_pipeline.toml"
    stores = [home / "data" / "store.duckdb", home / "data" / "store.snapshots"]
    before, held, written = bytes_of(*theirs), bytes_of(*stores), settings.read_text()
    old = Path.cwd()
    os.chdir(home)
    try:
        done = command(*words, MEMORY_PIPELINE_HOME=str(home), HOME=str(home))
    finally:
        os.chdir(old)
    event(f"{name}: {done.code}")
    assert done.code in (0, 1, 2), (words, done)
    assert "Traceback" not in done.err and "a bug in this program" not in done.out + done.err, (words, done)
    after = bytes_of(*theirs)
    assert "--force" in words or {path: after.get(path) for path in before} == before, words
    # Commands may add tables to the settings; what a person has written there stays.
    assert settings.read_text().startswith(written), words
    if name in _READ_ONLY:
        assert bytes_of(*stores) == held, words
    assert stores[0].read_bytes()[8:12] == b"DUCK", words


_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_no_arguments_break_a_command_or_harm_a_file(
    made_once: tuple[Path, tuple[str, ...]], tmp_path: Path, data: st.DataObject
) -> None:
    _try(data.draw, SHORT, made_once, tmp_path / "trial")


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_no_arguments_break_a_command_that_starts_dagster(
    made_once: tuple[Path, tuple[str, ...]], tmp_path: Path, data: st.DataObject
) -> None:
    _try(data.draw, {name: COMMANDS[name] for name in _LONG}, made_once, tmp_path / "trial")


def test_every_command_is_tried() -> None:
    assert COMMANDS.keys() >= _READ_ONLY | _LONG and len(SHORT) > 20
