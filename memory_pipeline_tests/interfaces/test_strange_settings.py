"""Settings that somebody else has put into the directory in which a user works: what is obeyed of them, and where keys
are sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import memory_pipeline
from memory_pipeline.config.described import describe_settings
from memory_pipeline.config.sources import from_file
from memory_pipeline.config.trust import trust_list
from memory_pipeline.orchestration import home
from memory_pipeline.orchestration.home import home_environment, load_project_settings
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson
from memory_pipeline_tests.interfaces.in_process import Done, bytes_of, command

KEYS = {"ANTHROPIC_API_KEY": "sk-the-users-own", "OPENAI_API_KEY": "sk-the-other-one"}


@dataclass
class Listener:
    """A server that notes what reaches it, and answers embeddings; `leads_to` sends its callers on to another one."""

    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    leads_to: str = ""

    @property
    def keys(self) -> set[str]:
        """The keys that arrived."""
        return {key for headers in self.headers for key in KEYS.values() if key in json.dumps(headers)}


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            listener.headers.append(dict(self.headers))
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}").get("input", [])
            rows = [{"index": n, "embedding": [1.0, float(n + 1)]} for n in range(len(texts))]
            body = json.dumps({"data": rows}).encode()
            self.send_response(307 if listener.leads_to else 200)
            if listener.leads_to:
                self.send_header("Location", listener.leads_to)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.headers["Content-Length"] = "0"
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    listener.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield listener
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as made:
        yield made


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_made_once: Path) -> Path:
    """A directory of somebody else's with a store in it, which the user works in."""
    monkeypatch.delenv("MEMORY_PIPELINE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user" / "share"))
    place = tmp_path / "strange"
    fill(Store(place / "notes.duckdb"), lesson(5))
    monkeypatch.chdir(place)
    home._warn_once.cache_clear()
    return place


def write(place: Path, text: str) -> Path:
    file = place / "memory_pipeline.toml"
    file.write_text(text)
    return file


def hostile(listener: Listener, place: Path) -> str:
    elsewhere = place.parent / "elsewhere"
    return f"""
[store]
path = "notes.duckdb"
[embedding]
model = "openai:any"
base_url = "{listener.url}"
[distillation]
base_url = "{listener.url}"
strategies = ["os:system"]
[notices]
urls = ["json://{listener.url.removeprefix("http://")}"]
[[sources]]
name = "keys"
format = "jsonl"
path = "{place.parent / "private"}"
[[exports]]
name = "out"
format = "jsonl"
path = "{elsewhere / "out.jsonl"}"
"""


def run(*words: str, **environment: str) -> Done:
    return command(*words, **{"MEMORY_PIPELINE_EMBEDDING_MODEL": "", **KEYS, **environment})


@pytest.mark.slow
def test_a_strange_file_names_a_store_and_nothing_else(strange: Path, listener: Listener) -> None:
    write(strange, hostile(listener, strange))
    (strange.parent / "private").write_text('{"content": "The password of the bank is hunter2."}\n')
    with_words = run("search", "gateway key", MEMORY_PIPELINE_EMBEDDING_MODEL="lexical")
    assert with_words.code == 0 and "gateway" in with_words.out
    asked = run("night", "2026-03-03", MEMORY_PIPELINE_EMBEDDING_MODEL="lexical").out
    assert "https://api.anthropic.com cannot be reached" in " ".join(asked.split())
    assert listener.headers == []
    assert not (strange.parent / "elsewhere").exists()
    assert "hunter2" not in str(bytes_of(strange))


def test_the_log_says_what_is_not_obeyed_and_what_to_run(
    strange: Path, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(strange, hostile(listener, strange))
    run("config", "show")
    run("config", "show")
    (warning,) = [record.message for record in caplog.records if "not trusted" in record.message]
    for key in (
        "embedding.model",
        "openai.base_url",
        "distillation.strategies",
        "notices.urls",
        "sources",
        "exports",
    ):
        assert key in warning
    assert "store.path" not in warning and f"memory-pipeline config trust {file}" in warning


def test_python_obeys_no_more_than_the_command_line(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PIPELINE_EMBEDDING_MODEL", "lexical")
    write(strange, hostile(listener, strange))
    assert "gateway" in str(memory_pipeline.open().search("gateway key"))
    assert load_project_settings().values.sources == () and listener.headers == []


def test_every_setting_is_refused_unless_its_declaration_calls_it_safe(strange: Path) -> None:
    safe = {info.key for info in describe_settings() if info.safe}
    assert safe == {
        "store.path", "import.timezone", "embedding.model", "recall.language",
    }  # fmt: skip
    file = write(strange, '[store]\npath = "notes.duckdb"\nsnapshots_kept = 1\n[embedding]\nmodel = "lexical"\n')
    assert from_file(file).refused == ["store.snapshots_kept"]


def test_a_strange_file_names_no_new_store_outside_of_its_directory(strange: Path) -> None:
    for path in ("../new.duckdb", "/new.duckdb", "~/new.duckdb", "~nobody/x", "x\0y"):
        assert from_file(write(strange, f"[store]\npath = {json.dumps(path)}\n")).refused == ["store.path"], path
    Store(strange.parent / "there.duckdb")
    fill(Store(strange.parent / "there.duckdb"), lesson(3))
    assert from_file(write(strange, '[store]\npath = "../there.duckdb"\n')).refused == []
    (strange / "link").symlink_to(strange.parent / "user")
    assert from_file(write(strange, '[store]\npath = "link/new.duckdb"\n')).refused == ["store.path"]


def test_a_file_is_trusted_by_its_contents_until_it_changes(strange: Path, listener: Listener) -> None:
    file = write(strange, hostile(listener, strange))
    done = run("config", "trust", "--json")
    assert done.code == 0 and "notices.urls" in json.loads(done.out)["settings"]
    assert trust_list().stat().st_mode & 0o077 == 0
    assert [source.name for source in load_project_settings().values.sources] == ["keys"]
    file.write_text(file.read_text() + "\n")
    assert load_project_settings().values.sources == ()
    assert run("config", "trust").code == 0 and load_project_settings().values.sources
    assert run("config", "untrust").code == 0 and load_project_settings().values.sources == ()
    assert run("config", "untrust").code == 1


@pytest.mark.parametrize("below", [".", "deep/down"])
def test_a_link_and_a_file_further_up_are_strange_too(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    trusted = strange.parent / "trusted"
    trusted.mkdir()
    assert run("config", "trust", str(write(trusted, hostile(listener, strange)))).code == 0
    (strange / "memory_pipeline.toml").symlink_to(trusted / "memory_pipeline.toml")
    (strange / below).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(strange / below)
    assert load_project_settings().values.sources == ()


def test_a_list_that_others_can_write_is_not_believed(strange: Path, listener: Listener) -> None:
    write(strange, hostile(listener, strange))
    assert run("config", "trust").code == 0
    trust_list().chmod(0o666)
    done = run("config", "show")
    assert done.code == 1 and "others can change" in done.told


@pytest.mark.parametrize(
    ("variable", "value"), [("MEMORY_PIPELINE_HOME", "."), ("MEMORY_PIPELINE_CONFIG", "memory_pipeline.toml")]
)
def test_the_environment_trusts_a_place_by_a_whole_path_alone(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    file = write(strange, hostile(listener, strange))
    monkeypatch.setenv(variable, value)
    assert load_project_settings().values.sources == ()
    monkeypatch.setenv(variable, str(strange if value == "." else file))
    assert [source.name for source in load_project_settings().values.sources] == ["keys"]


@pytest.mark.parametrize("config", ["", "memory_pipeline.toml"])
def test_processes_of_our_own_trust_no_more(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    write(strange, hostile(listener, strange))
    monkeypatch.setenv("MEMORY_PIPELINE_CONFIG", config)
    given = home_environment()
    monkeypatch.chdir(strange.parent)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert load_project_settings().values.store.path == str(strange / "notes.duckdb")
    assert load_project_settings().values.sources == ()
    assert home_environment() == given


def test_a_home_named_elsewhere_is_not_mixed_with_the_file_of_the_working_directory(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(strange, hostile(listener, strange))
    own = strange.parent / "own"
    own.mkdir()
    monkeypatch.setenv("MEMORY_PIPELINE_HOME", str(own))
    assert load_project_settings().values.sources == ()
    assert load_project_settings().values.store.path == str(own / "data" / "store.duckdb")


def test_what_the_program_writes_for_the_user_is_trusted_and_no_more(
    strange: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    (strange.parent / "rows.jsonl").write_text('{"content": "The gateway listens on port 5432."}\n')
    own = strange.parent / "own"
    own.mkdir()
    added = run("sources", "add", "../rows.jsonl", MEMORY_PIPELINE_HOME=str(own))
    assert added.code == 0, added.err
    monkeypatch.chdir(own)
    assert [source.name for source in load_project_settings().values.sources] == ["rows"]
    assert run("exports", "add", "jsonl", "out.jsonl").code == 0
    assert [export.name for export in load_project_settings().values.exports] == ["jsonl"]

    monkeypatch.chdir(strange)
    file = write(strange, hostile(listener, strange))
    before = file.read_bytes()
    for words in (("sources", "add", "../rows.jsonl"), ("exports", "add", "jsonl", "mine.jsonl")):
        done = run(*words)
        assert done.code == 1 and "config trust" in done.told
    assert file.read_bytes() == before and load_project_settings().values.sources == ()


@pytest.mark.parametrize("section", ["embedding", "distillation"])
def test_a_key_of_the_environment_is_not_sent_where_a_trusted_file_says(
    strange: Path, listener: Listener, section: str
) -> None:
    model = 'model = "openai:any"' if section == "embedding" else ""
    write(strange, f'[store]\npath = "notes.duckdb"\n[{section}]\nbase_url = "{listener.url}"\n{model}\n')
    assert run("config", "trust").code == 0
    arguments = ("search", "gateway key") if section == "embedding" else ("night", "2026-03-03")
    environment = {} if section == "embedding" else {"MEMORY_PIPELINE_EMBEDDING_MODEL": "lexical"}
    done = run(*arguments, MEMORY_PIPELINE_COMPRESSION_FRESHNESS_HOURS="0", **environment)
    assert listener.headers == []
    words = " ".join(f"{done.out} {done.err}".split())
    assert done.code == 1 and f"is not sent to '{listener.url}'" in words
    assert f"set {'OPENAI' if section == 'embedding' else 'ANTHROPIC'}_BASE_URL" in words


def test_a_key_goes_to_the_address_beside_it(strange: Path, listener: Listener) -> None:
    model = {
        "MEMORY_PIPELINE_EMBEDDING_MODEL": "openai:any",
        "MEMORY_PIPELINE_STORE_PATH": str(strange / "new.duckdb"),
    }
    rows = strange / "rows.jsonl"
    rows.write_text('{"content": "The gateway listens on port 5432."}\n')
    assert run("import", "jsonl", "rows.jsonl", OPENAI_BASE_URL=listener.url, **model).code == 0
    assert listener.keys == {KEYS["OPENAI_API_KEY"]}
    write(strange, f'[embedding]\nbase_url = "{listener.url}"\napi_key = "sk-of-the-file"\n')
    assert run("config", "trust").code == 0
    listener.headers.clear()
    rows.write_text('{"content": "The gateway listens on port 5433 now."}\n')
    assert run("import", "jsonl", "rows.jsonl", **model).code == 0
    assert {headers.get("Authorization") for headers in listener.headers} == {"Bearer sk-of-the-file"}


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("https://api.anthropic.com/", True),
        ("https://API.anthropic.com:443", True),
        ("http://api.anthropic.com", False),
        ("https://api.anthropic.com.example.org", False),
        ("https://api.anthropic.com@example.org", False),
        ("https://example.org\\@api.anthropic.com", False),
        ("https://api.anthropic.com:444", False),
    ],
)
def test_the_providers_own_address_is_known_by_scheme_host_and_port(strange: Path, url: str, is_sent: bool) -> None:
    write(strange, f"[distillation]\nbase_url = {json.dumps(url)}\n")
    assert run("config", "trust").code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "sk-own")
        values = load_project_settings().values
    assert values.anthropic.api_key == ("sk-own" if is_sent else "")
    assert ("anthropic.api_key" in values.withheld_keys) is not is_sent


@pytest.mark.slow
def test_a_key_does_not_follow_a_server_to_another_one(tmp_path: Path, listener: Listener) -> None:
    with listening() as other:
        listener.leads_to = other.url
        fill(Store(tmp_path / "data" / "store.duckdb"), lesson(5))
        done = run("night", "2026-03-03", ANTHROPIC_BASE_URL=listener.url, MEMORY_PIPELINE_EMBEDDING_MODEL="lexical")
        assert listener.keys == {KEYS["ANTHROPIC_API_KEY"]} and other.headers == [] and done.code == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dagster.yaml", "run_launcher:\n  module: evil\n  class: Launcher\n"),
        ("dagster.yaml", "python_logs:\n  dagster_handler_config: {}\n"),
        ("dagster.yaml", "telemetry: [unclosed"),
        ("workspace.yaml", "load_from:\n  - python_file: evil.py\n"),
        (".env", "ANTHROPIC_BASE_URL=http://evil.example.org\n"),
    ],
)
def test_files_that_dagster_would_obey_are_not_taken_from_whoever_made_the_store(
    strange: Path, name: str, text: str
) -> None:
    place = strange / "notes.dagster"
    place.mkdir()
    (place / name).write_text(text)
    done = run("jobs", "list", "--store", "notes.duckdb")
    assert done.code == 1 and f"'{place / name}' was not written by this program" in done.told
    if name == ".env":
        assert run("config", "trust", str(place / name)).code == 0
        assert run("jobs", "list", "--store", "notes.duckdb").code == 0


def test_the_dagster_files_of_an_earlier_version_are_taken(strange: Path) -> None:
    (strange / "notes.dagster").mkdir()
    (strange / "notes.dagster" / "dagster.yaml").write_text(
        "concurrency:\n  runs:\n    max_concurrent_runs: 1\nfreshness:\n  enabled: true\ntelemetry:\n  enabled: false\n"
    )
    assert run("jobs", "list", "--store", "notes.duckdb").code == 0
