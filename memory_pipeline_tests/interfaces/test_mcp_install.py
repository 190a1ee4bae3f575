"""The entry of the MCP server in the files of clients: only it changes, and nothing is lost."""

from __future__ import annotations

import json
import stat
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.files.json_editing import with_value
from memory_pipeline.interfaces.mcp.install import CLIENTS
from memory_pipeline_tests.interfaces.in_process import Done, command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the files of clients lie elsewhere there")


def install(client: str, *options: str) -> Done:
    return command("mcp", "install", client, *options, MEMORY_PIPELINE_HOME=str(Path.cwd()))


def file_of(client: str) -> Path:
    return CLIENTS[client].file()


def servers_in(client: str) -> Any:
    found = json.loads(file_of(client).read_text())
    for name in CLIENTS[client].servers:
        found = found[name]
    return found


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("client", CLIENTS)
def test_the_entry_starts_this_program_with_whole_paths(client: str) -> None:
    assert install(client, "--write", "--project", "shop").code == 0
    entry = servers_in(client)["memory"]
    assert Path(entry["command"]).is_absolute() and Path(entry["command"]).name == "memory-pipeline"
    assert entry["args"] == ["mcp", "--store", str(Path.cwd() / "data" / "store.duckdb"), "--project", "shop"]
    assert entry["env"] == {"MEMORY_PIPELINE_HOME": str(Path.cwd())}
    assert stat.S_IMODE(file_of(client).stat().st_mode) & 0o022 == 0


@pytest.mark.usefixtures("home")
def test_the_files_are_those_that_the_clients_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert file_of("claude-code") == Path.home() / ".claude.json"
    assert file_of("cursor") == Path.home() / ".cursor" / "mcp.json"
    assert file_of("openclaw") == Path.home() / ".openclaw" / "openclaw.json"
    assert file_of("claude-desktop").name == "claude_desktop_config.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", "/there/claw.json")
    assert file_of("claude-code") == Path("/elsewhere/.claude.json")
    assert file_of("openclaw") == Path("/there/claw.json")


@pytest.mark.usefixtures("home")
def test_without_write_nothing_is_written() -> None:
    shown = install("openclaw")
    assert '"servers": {' in shown.out and "openclaw mcp set memory" in shown.out
    assert not file_of("openclaw").exists()


KEPT = (
    '{\r\n\t"numStartups": 1e3,  "theme" : "\\u00e4",\r\n\t"mcpServers": {"other": {"command": "x"}},\r\n\t"z": 1.10}'
)


@pytest.mark.usefixtures("home")
def test_every_other_byte_stays_and_the_file_as_it_was_is_kept() -> None:
    file = file_of("claude-code")
    file.write_bytes(KEPT.encode())
    file.chmod(0o600)
    done = json.loads(install("claude-code", "--write", "--json").out)
    after = file.read_bytes().decode()
    begin, _, rest = after.partition('"x"}')
    assert KEPT.startswith(begin)
    assert rest.endswith('},\r\n\t"z": 1.10}')
    assert "\n" not in after.replace("\r\n", "")
    assert Path(done["backup"]).read_bytes() == KEPT.encode()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, Path(done["backup"]))] == [0o600, 0o600]
    assert set(servers_in("claude-code")) == {"other", "memory"}


@pytest.mark.usefixtures("home")
def test_installing_again_changes_nothing_and_another_store_replaces_the_entry() -> None:
    install("cursor", "--write")
    before = file_of("cursor").read_bytes()
    assert "already" in install("cursor", "--write").out
    assert file_of("cursor").read_bytes() == before
    assert install("cursor", "--write", "--store", "other.duckdb").code == 0
    assert servers_in("cursor")["memory"]["args"][-1].endswith("/other.duckdb")
    assert len(list(file_of("cursor").parent.iterdir())) == 2


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "text",
    [
        "{mcp: {servers: {}}} // JSON5",
        '{"a": 1,}',
        "[]",
        '{"mcp": []}',
        '{"mcp": {"servers": 1}}',
        "\xff",
        '{"mcp": nul',
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone(text: str) -> None:
    file = file_of("openclaw")
    file.parent.mkdir()
    file.write_bytes(text.encode("latin-1"))
    done = install("openclaw", "--write")
    assert done.code == 1 and "nothing was changed" in done.err
    assert file.read_bytes() == text.encode("latin-1")
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.usefixtures("home")
def test_a_client_that_does_not_exist_is_told_with_those_that_do() -> None:
    assert "one of claude-code, claude-desktop, cursor, openclaw" in install("emacs").err


def test_a_file_that_its_client_changes_meanwhile_is_left_to_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_pipeline.files import json_editing as module

    file = file_of("cursor")
    file.parent.mkdir()
    file.write_text("{}")
    made = module.directories

    def meanwhile(*paths: Path) -> AbstractContextManager[None]:
        file.write_text('{"new": 1}')
        return made(*paths)

    monkeypatch.setattr(module, "directories", meanwhile)
    assert "has just changed" in install("cursor", "--write").err
    assert file.read_text() == '{"new": 1}'


_NAMES = st.text(max_size=4)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(_NAMES, _VALUES, max_size=4),
    st.lists(_NAMES, min_size=1, max_size=3),
    st.sampled_from([None, 1, 2, "\t"]),
    _VALUES,
)
def test_a_value_is_set_in_any_json_text(whole: Any, path: list[str], indent: Any, value: Any) -> None:
    text = json.dumps(whole, indent=indent)
    expected: Any = json.loads(text)
    inner = expected
    for name in path[:-1]:
        if not isinstance(inner.setdefault(name, {}), dict):
            with pytest.raises(ValueError, match="is no object"):
                with_value(text, path, value)
            return
        inner = inner[name]
    inner[path[-1]] = value
    made = with_value(text, path, value)
    assert json.loads(made) == expected
    assert list(json.loads(made)) == list(expected)
    assert with_value(made, path, value) == made
