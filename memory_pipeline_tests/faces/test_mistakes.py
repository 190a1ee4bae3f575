"""Whatever a person types, names or sets: one sentence with the mend, told once, and nothing harmed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from memory_pipeline.faces.cli import base, failures
from memory_pipeline.store import Store, release_lease, take_lease
from memory_pipeline_tests.build import candidate, fill, lesson, run, settings_for
from memory_pipeline_tests.faces.in_process import bytes_of, command, no_room

DAY = "2026-03-03"


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a store with two nights, a pattern with its guidance, a conflict and a snapshot."""
    home = tmp_path_factory.mktemp("made") / "data"
    store = Store(home / "store.duckdb")
    port = "The staging database of the webshop listens for connections on port {} behind the proxy."
    fill(store, [*lesson(5), *(candidate(port.format(n), native_id=f"port-{n}") for n in (5432, 5433))])
    settings = settings_for(store, confidence_min=0.5)
    run(store, date(2026, 3, 3), settings)
    run(store, date(2026, 3, 4), settings)
    return home


@pytest.fixture
def data(made_once: Path, tmp_path: Path) -> Path:
    """A copy of it in the home of this test."""
    import shutil

    return shutil.copytree(made_once, tmp_path / "data")


@pytest.fixture(autouse=True)
def in_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "jsonl", "TARGET"),
        ("export", "parquet", "TARGET", "--all", "--force"),
        ("as-of", "2026-03-02", "export", "jsonl", "TARGET", "--force"),
        ("diff", "2026-03-02", "--html", "TARGET", "--force"),
    ],
)
def test_no_command_writes_over_the_store_or_what_belongs_to_it(
    data: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "soft").symlink_to("data/store.duckdb")
    os.link(data / "store.duckdb", tmp_path / "hard")
    snapshot = min((data / "store.snapshots").glob("*.duckdb")).name
    before = bytes_of(tmp_path)
    targets = [data / "store.duckdb", "data/store.duckdb", "data/../data/STORE.duckdb", "soft", "hard"]
    targets += ["data/store.duckdb.wal", "data/store.dagster/dagster.yaml", f"data/store.snapshots/{snapshot}"]
    for target in targets:
        done = command(*(str(target) if word == "TARGET" else word for word in arguments))
        assert done.code == 1 and ("is the store itself" in done.err or "belongs to the store" in done.err), target
    assert bytes_of(tmp_path) == before


def test_a_store_elsewhere_and_a_snapshot_that_was_moved_are_not_written_over(data: Path, tmp_path: Path) -> None:
    (tmp_path / "other.duckdb").write_bytes((data / "store.duckdb").read_bytes())
    done = command("export", "jsonl", "other.duckdb", "--force")
    assert done.code == 1 and "is a DuckDB database" in done.err


def test_a_file_that_we_did_not_make_is_replaced_only_with_force_and_one_of_ours_at_once(
    data: Path, tmp_path: Path
) -> None:
    (tmp_path / "letter.txt").write_text("Dear Dana")
    outputs: list[tuple[str, tuple[str, ...]]] = [
        ("letter.txt", ("export", "jsonl", "letter.txt")),
        ("letter.txt", ("export", "parquet", "letter.txt")),
        ("letter.txt", ("diff", "2026-03-02", "--html", "letter.txt")),
    ]
    for _, words in outputs:
        done = command(*words)
        assert done.code == 1 and "add --force" in done.err and (tmp_path / "letter.txt").read_text() == "Dear Dana"
    for words in (words for _, words in outputs):
        target = tmp_path / f"mine-{words[0]}-{words[1]}"
        mine = [str(target) if word == "letter.txt" else word for word in words]
        assert [command(*mine).code for _ in range(2)] == [0, 0]
        assert target.stat().st_size > 100
    assert command("export", "jsonl", "letter.txt", "--force").code == 0
    assert "Dear Dana" not in (tmp_path / "letter.txt").read_text()


def test_one_kind_of_ours_does_not_replace_another(data: Path) -> None:
    assert command("export", "jsonl", "out").code == 0
    for words in (("export", "parquet", "out"), ("diff", "2026-03-02", "--html", "out")):
        assert "was not made by this command" in command(*words).err


def test_the_file_that_memories_came_from_is_never_written_over(tmp_path: Path) -> None:
    row = json.dumps({"id": "m", "content": "Restart the mail relay after changing its rules."})
    (tmp_path / "notes.jsonl").write_text(row)
    assert command("import", "jsonl", "notes.jsonl").code == 0
    done = command("export", "jsonl", "notes.jsonl", "--force")
    assert done.code == 1 and "came from a file named 'notes.jsonl'" in done.err
    assert (tmp_path / "notes.jsonl").read_text() == row


def test_settings_dagster_and_the_workspace_are_not_written_over(tmp_path: Path, data: Path) -> None:
    (tmp_path / "memory_pipeline.toml").write_text(f'[connectors]\nworkspace = "{tmp_path / "agent"}"\n')
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "MEMORY.md").write_text("- a note")
    (tmp_path / "history").mkdir()
    for target in ("memory_pipeline.toml", "agent/MEMORY.md", "history/x.jsonl"):
        done = command("export", "jsonl", target, "--force", DAGSTER_HOME=str(tmp_path / "history"))
        assert done.code == 1 and "no command writes over" in done.err, target
    assert (tmp_path / "agent" / "MEMORY.md").read_text() == "- a note"
    assert command("export", "jsonl", "agent/new.jsonl").code == 0


def test_a_playbook_replaces_its_own_files_and_leaves_those_of_others(data: Path, tmp_path: Path) -> None:
    written = command("playbook", "export", "book")
    assert written.code == 0 and command("playbook", "export", "book").out == written.out
    page = tmp_path / written.out.splitlines()[0]
    (page.parent / "gone.md").write_text("# Playbook: a category that is no more\n")
    (page.parent / "mine.md").write_text("# My own notes\n")
    os.mkfifo(page.parent / "pipe.md")
    assert command("playbook", "export", "book").code == 0
    assert not (page.parent / "gone.md").exists() and (page.parent / "mine.md").exists()
    page.write_text("My own words")
    assert "add --force" in command("playbook", "export", "book").err and page.read_text() == "My own words"
    assert command("playbook", "export", "book", "--force").code == 0 and page.read_text().startswith("# Playbook: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("as-of", "9999-12-31"), "at the end of the calendar"),
        (("as-of", "0001-01-01"), "at the end of the calendar"),
        (("as-of", "9999-12-31T23:59:59-05:00"), "at the end of the calendar"),
        (("as-of", "2999-01-01"), "has not come yet; use 'now'"),
        (("as-of", "2026-03-02", "--project", "nowhere"), "there is no project 'nowhere' in the store; it has p"),
        (("as-of", "2026-03-02", "list", "export"), "did you mean search or export?"),
        (("diff", "now", "--html", "."), "it is a directory"),
        (("diff", "now", "--html", "data/store.duckdb/x"), "belongs to the store"),
        (("rollback", "--since", "0001-01-01T00:00+14:00"), "--since is '0001-01-01T00:00+14:00', at the end"),
        (("rollback", "--since", "9999-12-31T23:00-12:00"), "at the end of the calendar"),
        (("rollback", "--since", ""), "--since is '', no time"),
        (("rollback", "--since", "2999-01-01"), "has not come yet"),
        (("conflicts", "list", "--kind", "nonsense"), "there is no conflict of kind 'nonsense'; the store has number"),
        (("conflicts", "list", "--project", "nowhere"), "there is no project 'nowhere'"),
        (("playbook", "list", "--project", "nowhere"), "there is no project 'nowhere'"),
        (("playbook", "list", "--category", "nonsense"), "there is no category 'nonsense' in the playbook; it has"),
        (("import", "jsonl", "x.jsonl", "--tz", "+25:00"), "no time zone is called '+25:00'"),
        (("import", "jsonl", "x.jsonl", "--tz", "+05:75"), "no time zone is called '+05:75'"),
        (("import", "jsonl", "x.jsonl", "--tz", ""), "no time zone is called ''"),
        (("import", "jsonl", "x.jsonl", "--project", " "), "--project is empty"),
        (("import", "jsonl", "~nobody-of-this-name/x.jsonl"), "does not exist"),
        (("import", "jsonl", "a" * 300), "its name is too long"),
        (("night", "9999-12-30"), "there is no night of 9999-12-30"),
        (("night", DAY, "--days", "999999999"), "--days is 999999999; use 1 to"),
        (("backfill", "--from", DAY, "--to", "9999-12-30"), "there is no night of 9999-12-30"),
        (("kb-compress", "--days", "999999999"), "--days is 999999999; use 1 to"),
        (("jobs", "start", "--from", "0001-01-01"), "at the end of the calendar"),
        (("check", "--store", "bad\udcff.duckdb"), "which is not UTF-8; rename the file"),
        (("snapshot", "restore", "x", "--to", "data/store.duckdb.wal"), "belongs to the store"),
    ],
)
def test_a_mistake_is_one_sentence_told_once(data: Path, arguments: tuple[str, ...], words: str) -> None:
    before = bytes_of(data / "store.duckdb")
    done = command(*arguments)
    assert done.code == 1 and words in done.told
    assert (done.out + done.err).count(words) == 1 and "Traceback" not in done.err
    assert done.told.startswith("COMPRESSION BLOCKED: " if done.out else "Error: ")
    assert bytes_of(data / "store.duckdb") == before


def test_a_cluster_that_does_not_exist_is_told(data: Path) -> None:
    unknown = command("night", DAY, "--cluster-id", "nonsense")
    assert unknown.code == 1 and "no cluster of the night of 2026-03-03 has the id or fingerprint" in unknown.told


@pytest.mark.slow
def test_a_cluster_that_exists_is_processed(tmp_path: Path) -> None:
    store = Store(tmp_path / "data" / "store.duckdb")
    fill(store, lesson(5))
    (cluster,) = run(store, date(2026, 3, 3), dry_run=True)["largest_clusters"]
    done = command("night", DAY, "--cluster-id", cluster["cluster_id"])
    assert done.code == 0 and done.told.startswith("COMPRESSION COMPLETE: 1 clusters, 5 archived")


@pytest.mark.parametrize("name", ["night", "backfill", "kb-compress", "check"])
def test_an_unexpected_error_shows_its_traceback_and_is_told_as_a_fault(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    done = _guarded(lambda: 1 // 0, [name], monkeypatch)
    assert done.code == 1 and "ZeroDivisionError" in done.err and "Traceback" in done.err
    assert "a fault of this program and not yours" in done.told
    assert done.out.startswith("COMPRESSION BLOCKED: ") == (name != "check")


def test_ctrl_c_is_told_and_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    assert _guarded(stopped, ["check"], monkeypatch).code == 130
    done = _guarded(stopped, ["night"], monkeypatch)
    assert done.told.startswith("COMPRESSION BLOCKED: stopped by Ctrl-C")


def test_an_error_of_the_disk_names_the_file_and_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device", "/some/file")

    done = _guarded(full, ["check"], monkeypatch)
    assert done.told == "Error: '/some/file': the disk is full; free some space and run again"


def _guarded(body, arguments: list[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    import io
    import sys

    from memory_pipeline_tests.faces.in_process import Done

    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = failures.guarded(body, arguments)
    return Done(code, out.getvalue(), err.getvalue())


def test_a_blocked_run_with_json_is_one_document(data: Path) -> None:
    done = command("night", "2999-01-01", "--json")
    said = json.loads(done.out)
    assert said["result"] == f"COMPRESSION BLOCKED: {said['error']}" and not done.err


def test_a_held_store_is_told_once_and_exits_0(data: Path) -> None:
    store = Store(data / "store.duckdb")
    take_lease(store, "other", "the daemon", 60)
    done = command("night", DAY)
    assert done.code == 0 and done.told.startswith("COMPRESSION BLOCKED: another night is running")
    assert "another night" not in done.err
    release_lease(store, "other")


def test_a_user_without_a_name_is_named_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert base.current_user() == f"user {os.getuid()}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "it is a directory"),
        (b"\xff\xfe = 1", "is not valid TOML"),
        (b"[store\npath", "is not valid TOML"),
        (b"a = " + b"[" * 5000, "is not valid TOML"),
        (b"#" * 1_100_000, "is larger than 1 MB"),
        (b"[store]\npath = 5", "setting 'store.path'"),
        (b"[store]\npath = ''", "names no file"),
        (b"store = 5", "unknown setting 'store'"),
        (b"[consolidation]\nschedule = '99 99 * * *'", "its minute is '99'"),
        (b"[night]\nfirst_partition = '9999-12-31'", "lies outside"),
        (b"[distillation]\ncost_cap_usd = inf", "finite"),
    ],
)
def test_a_settings_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, content: bytes | None, words: str) -> None:
    named = tmp_path / "settings.toml"
    if content is None:
        named.mkdir()
    else:
        named.write_bytes(content)
    done = command("config", "show", MEMORY_PIPELINE_CONFIG=str(named))
    assert done.code == 1 and words in done.told and len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("COMPRESSION_FOO", "1", "unknown environment variable COMPRESSION_FOO; unset it"),
        ("CONSOLIDATION_THRESHOLD", "50", "did you mean MEMORY_PIPELINE_CONSOLIDATION_THRESHOLD?"),
        ("MEMORY_PIPELINE_HOME", "nowhere", "MEMORY_PIPELINE_HOME is 'nowhere', no directory"),
        ("MEMORY_PIPELINE_STORE_PATH", "~nobody-of-this-name/x", "setting 'store.path'"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str, words: str) -> None:
    done = command("config", "show", **{name: value})
    assert done.code == 1 and words in done.told


@pytest.mark.parametrize(
    ("value", "words"),
    [("relative", "a relative path; write an absolute one"), ("/no/such/directory", "no directory; create it")],
)
def test_a_dagster_home_that_cannot_be_used_is_named(data: Path, value: str, words: str) -> None:
    done = command("jobs", "list", DAGSTER_HOME=value)
    assert done.code == 1 and words in done.told


def test_a_broken_dagster_yaml_is_one_sentence(data: Path) -> None:
    (data / "store.dagster").mkdir(exist_ok=True)
    (data / "store.dagster" / "dagster.yaml").write_text("telemetry: [unclosed")
    done = command("jobs", "list")
    assert done.code == 1 and "mend its dagster.yaml" in done.told and "Traceback" not in done.err


def test_an_empty_dagster_yaml_of_a_full_disk_is_written_anew(data: Path) -> None:
    config = data / "store.dagster" / "dagster.yaml"
    config.parent.mkdir()
    config.write_text("")
    assert command("jobs", "list").code == 0
    assert "telemetry:\n  enabled: false" in config.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "jsonl", "out.jsonl"),
        ("export", "parquet", "out.parquet"),
        ("as-of", "2026-03-02", "export", "jsonl", "out.jsonl"),
        ("diff", "2026-03-02", "--html", "out.html"),
        ("playbook", "export", "book/deep"),
        ("night", DAY),
        ("jobs", "start"),
        ("jobs", "list"),
        ("kb-compress",),
    ],
)
def test_a_full_disk_is_one_sentence_and_nothing_is_left_behind(
    data: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    before = bytes_of(tmp_path)
    with no_room():
        done = command(*arguments)
    assert done.code == 1 and "the disk is full" in done.told and "Traceback" not in done.err
    after = bytes_of(tmp_path)
    made = {name for name in after.keys() - before.keys() if not name.endswith((".dagster", "/history", "/schedules"))}
    assert not made and {name: after[name] for name in before} == before


def test_a_disk_that_is_full_once_dagster_has_begun_is_one_sentence(data: Path) -> None:
    assert command("jobs", "list").code == 0
    with no_room():
        done = command("night", DAY)
    assert done.code == 1 and done.told.startswith("COMPRESSION BLOCKED: Dagster's history")
    assert "the disk is full or broken" in done.told and "Traceback" not in done.err
    assert command("check", "--deep").told.startswith("SOUND")
