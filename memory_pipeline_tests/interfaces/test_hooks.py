"""The hooks of hosts: with the input that hosts really give, in the time that they leave, in files that are theirs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.files.json_editing import with_item, without_items
from memory_pipeline.interfaces.hooks import settings_file
from memory_pipeline.store import Store
from memory_pipeline_tests.build import candidate, fill
from memory_pipeline_tests.ingest.bring import lines as transcript
from memory_pipeline_tests.interfaces.in_process import SETTINGS, Done, bytes_of, command
from memory_pipeline_tests.sessions.a_session import rows, session_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the files of hosts lie elsewhere there")
SESSION = "5f0e8400-e29b-41d4-a716-446655440000"


def hooks(*words: str) -> Done:
    return command("hooks", *words, MEMORY_PIPELINE_HOME=str(Path.cwd()))


def installed(event: str) -> str:
    """The command that stands in Claude Code's settings for an event."""
    (*_, item) = json.loads(settings_file("claude-code").read_text())["hooks"][event]
    return str(item["hooks"][0]["command"])


def run_hook(words: str, told: Mapping[str, Any], *, closes: bool = True) -> tuple[int, str, str, float]:
    """Run a hook as a host does: by a shell, with the event on standard input, which it may leave open."""
    import os

    began = time.monotonic()
    process = subprocess.Popen(
        ["sh", "-c", words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
        env={**os.environ, **SETTINGS},
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdin.write(json.dumps(told))
    process.stdin.flush()
    if closes:
        process.stdin.close()
    code = process.wait(60)
    took = time.monotonic() - began
    out, err = process.stdout.read(), process.stderr.read()
    if not closes:
        process.stdin.close()
    process.stdout.close()
    process.stderr.close()
    return code, out, err, took


def pre_compact(path: str, **fields: str) -> dict[str, Any]:
    """What Claude Code gives a hook before a compaction."""
    return {
        "session_id": SESSION,
        "transcript_path": path,
        "cwd": "/home/dana/app",
        "permission_mode": "default",
        "hook_event_name": "PreCompact",
        "trigger": "auto",
        "custom_instructions": "",
        **fields,
    }


def waited_for(file: Path, seconds: float = 30) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not file.exists():
        time.sleep(0.05)
    return file.exists()


@pytest.mark.slow
def test_before_a_compaction_the_session_is_compacted_and_nothing_is_printed(home: Path) -> None:
    fill(Store(home / "data" / "store.duckdb"), [candidate("x y z")])
    assert hooks("install", "claude-code", "--write").code == 0
    code, out, err, _ = run_hook(installed("PreCompact"), pre_compact(str(session_file(home))))
    assert (code, out, err) == (0, "", "")
    assert "Never touch the production" in (home / "data" / "store.pages" / "app" / "MEMORY.md").read_text()
    with Store(home / "data" / "store.duckdb").reading() as tx:
        (event,) = tx.triggers.newest(9)
    assert (event.kind, event.action, event.outcome, event.session_id) == ("hook", "compact", "done", SESSION)
    assert event.reason == "PreCompact (auto)" and event.share > 0.9


@pytest.mark.slow
def test_a_store_that_a_night_holds_delays_a_host_by_seconds_alone(home: Path) -> None:
    store = Store(home / "data" / "store.duckdb")
    fill(store, [candidate("x y z")])
    path = session_file(home / ".claude")
    source = f'[[sources]]\nname = "cc"\nformat = "claude-code"\npath = "{path.parent.parent}"\n'
    (home / "memory_pipeline.toml").write_text(source)
    hooks("install", "claude-code", "--write")
    with store.held(shared=False):
        code, out, _, took = run_hook(installed("PreCompact"), pre_compact(str(path)))
    assert (code, out) == (0, "") and took < 40
    assert "Never touch the production" in (home / "data" / "store.pages" / "app" / "MEMORY.md").read_text()


@pytest.mark.slow
def test_a_version_that_names_no_transcript_is_found_by_its_session(home: Path) -> None:
    hooks("install", "claude-code", "--write")
    shutil.move(session_file(home).parent.parent, home / ".claude" / "projects")
    assert run_hook(installed("PreCompact"), pre_compact(""))[:3] == (0, "", "")
    assert (home / "data" / "store.pages" / "app" / "MEMORY.md").exists()


@pytest.mark.slow
def test_at_the_end_of_a_session_the_host_goes_on_at_once_though_it_never_closes_the_input(home: Path) -> None:
    hooks("install", "claude-code", "--write")
    told = pre_compact(str(session_file(home)), hook_event_name="SessionEnd", reason="prompt_input_exit")
    code, out, err, took = run_hook(installed("SessionEnd"), told, closes=False)
    assert (code, out, err) == (0, "", "") and took < 1.0
    memory = home / "data" / "store.pages" / "app" / "MEMORY.md"
    assert waited_for(memory)
    until = time.monotonic() + 30
    while time.monotonic() < until and any(
        str(home) in " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ):
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    "told", [pre_compact("/nowhere.jsonl", session_id="../../etc/passwd"), {"hook_event_name": "PreCompact"}, {}]
)
def test_an_event_that_says_nothing_is_told_and_never_blocks_the_host(home: Path, told: dict[str, Any]) -> None:
    hooks("install", "claude-code", "--write")
    code, out, err, _ = run_hook(installed("PreCompact"), told)
    assert code == 1 and out == "" and err.startswith("memory-pipeline: ")


@pytest.mark.slow
def test_no_input_at_all_ends_after_a_second(home: Path) -> None:
    hooks("install", "claude-code", "--write")
    process = subprocess.Popen(["sh", "-c", installed("PreCompact")], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.wait(5) == 1
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="OpenClaw runs its hooks in node")
@pytest.mark.parametrize("of_before", [False, True])
def test_openclaws_handler_compacts_the_session_of_its_event(home: Path, of_before: bool) -> None:
    assert hooks("install", "openclaw", "--write").code == 0
    lines = [{"type": "session", "version": 3, "id": "a", "cwd": "/w/app", "timestamp": "2026-03-01T09:00:00.000Z"}]
    lines += [
        {"type": "message", "id": row["uuid"], "timestamp": row["timestamp"], "message": row["message"]}
        for row in rows()
    ]
    transcript(home / ".openclaw" / "agents" / "main" / "sessions" / "a.jsonl", *lines)
    event: dict[str, Any] = {"type": "session", "action": "compact:before", "sessionKey": "agent:main:main"}
    event["context"] = {"sessionId": "a", "messageCount": 9, "tokenCount": 9}
    if of_before:
        event |= {"type": "command", "action": "reset", "context": {"previousSessionEntry": {"sessionId": "a"}}}
    handler = home / ".openclaw" / "hooks" / "memory-pipeline" / "handler.js"
    (handler.parent / "package.json").write_text('{"type": "module"}')
    script = f"import('{handler}').then(async (hook) => {{ await hook.default({json.dumps(event)}); }});"
    subprocess.run(["node", "-e", script], check=True, timeout=60)
    assert waited_for(home / "data" / "store.pages" / "app" / "MEMORY.md")


SETTINGS_OF_A_PERSON = (
    "{}",
    '{\n  "model": "opus"\n}\n',
    '{"hooks":{"PreCompact":[{"matcher":"auto","hooks":[{"type":"command","command":"my.sh"}]}]},"n":1.50}',
    '{\r\n\t"hooks": {\r\n\t\t"SessionEnd": [\r\n\t\t\t{"hooks": []},\r\n\t\t\t{"hooks": []}\r\n\t\t]\r\n\t}\r\n}',
    '\ufeff{ "a": "ü" , "hooks" : { "Stop" : [ ] } }\n\n',
)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("text", SETTINGS_OF_A_PERSON)
def test_hooks_that_are_removed_again_leave_every_byte_as_it_was(text: str) -> None:
    file = settings_file("claude-code")
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    before = bytes_of(Path.cwd() / ".claude")
    assert hooks("install", "claude-code").code == 0 and bytes_of(Path.cwd() / ".claude") == before
    assert json.loads(hooks("install", "claude-code", "--write", "--json").out)["outcome"] == "installed"
    told = json.loads(file.read_text("utf-8-sig"))
    whole = json.loads(text.removeprefix("\ufeff"))
    assert {name: one for name, one in told.items() if name != "hooks"} == {
        k: v for k, v in whole.items() if k != "hooks"
    }
    for event, items in whole.get("hooks", {}).items():
        assert told["hooks"][event][: len(items)] == items
    kept = file.read_bytes()
    assert (
        json.loads(hooks("install", "claude-code", "--write", "--json").out)["outcome"] == "unchanged"
        and file.read_bytes() == kept
    )
    assert json.loads(hooks("remove", "claude-code", "--json").out)["outcome"] == "removed"
    assert file.read_bytes().decode() == text
    assert json.loads(hooks("remove", "claude-code", "--json").out)["outcome"] == "unchanged"


@pytest.mark.usefixtures("home")
def test_hooks_beside_which_a_person_changed_something_go_alone() -> None:
    file = settings_file("claude-code")
    file.parent.mkdir(parents=True)
    file.write_text('{"hooks": {}}')
    hooks("install", "claude-code", "--write")
    file.write_text(file.read_text().replace('{"hooks": {', '{"model": "opus", "hooks": {', 1))
    assert hooks("remove", "claude-code").code == 0
    assert json.loads(file.read_text()) == {"model": "opus"}


@pytest.mark.usefixtures("home")
def test_a_command_of_a_person_that_runs_the_hook_stays() -> None:
    file = settings_file("claude-code")
    file.parent.mkdir(parents=True)
    own = "my-log.sh && python -m memory_pipeline.interfaces.hooked claude-code"
    text = json.dumps({"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": own}]}]}})
    file.write_text(text)
    hooks("install", "claude-code", "--write")
    assert len(json.loads(file.read_text())["hooks"]["PreCompact"]) == 2
    hooks("remove", "claude-code")
    assert file.read_text() == text


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "text", ['{"hooks": {"Stop": []}, "hooks": {}}', '{"hooks": {"PreCompact": [], "PreCompact": [1]}}']
)
def test_settings_with_a_key_twice_are_refused(text: str) -> None:
    file = settings_file("claude-code")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    for action in ("install", "remove"):
        done = hooks(action, "claude-code")
        assert done.code == 1 and "stands in it 2 times" in done.err and file.read_text() == text


@pytest.mark.slow
def test_a_closed_input_and_an_endless_path_are_told_in_a_sentence(home: Path) -> None:
    hooks("install", "claude-code", "--write")
    words = installed("PreCompact")
    closed = subprocess.run(["sh", "-c", f"{words} <&-"], capture_output=True, text=True, timeout=20, check=False)
    assert (closed.returncode, closed.stderr) == (1, "memory-pipeline: the hook got no event that can be read\n")
    code, out, err, _ = run_hook(words, pre_compact("/x" * 200_000, session_id="none"))
    assert (code, out) == (1, "") and len(err) < 1200


@pytest.mark.usefixtures("home")
def test_a_file_that_is_not_json_stays_as_it_is() -> None:
    file = settings_file("claude-code")
    file.parent.mkdir(parents=True)
    for text in ("// mine\n{}", '{"hooks": []}', '{"hooks": {"PreCompact": {}}}', "[]"):
        file.write_text(text)
        done = hooks("install", "claude-code", "--write")
        assert done.code == 1 and "cannot be edited" in done.err and file.read_text() == text


@pytest.mark.usefixtures("home")
def test_openclaws_hook_is_a_directory_of_its_own_and_goes_again() -> None:
    config = settings_file("openclaw")
    config.parent.mkdir(parents=True)
    text = '{\n  "hooks": {"internal": {"entries": {"session-memory": {"enabled": true}}}}\n}\n'
    config.write_text(text)
    assert hooks("install", "openclaw", "--write").code == 0
    entries = json.loads(config.read_text())["hooks"]["internal"]["entries"]
    assert entries == {"session-memory": {"enabled": True}, "memory-pipeline": {"enabled": True}}
    assert (config.parent / "hooks" / "memory-pipeline" / "HOOK.md").exists()
    assert hooks("remove", "openclaw").code == 0
    assert config.read_text() == text and not (config.parent / "hooks" / "memory-pipeline").exists()
    config.write_text("// with comments\n{}\n")
    done = hooks("install", "openclaw", "--write")
    assert done.code == 0 and "openclaw hooks enable memory-pipeline" in done.out


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda one: st.lists(one, max_size=3), max_leaves=5
)


@given(
    st.dictionaries(st.text(max_size=4), JSON, max_size=4),
    st.lists(st.integers(), min_size=1, max_size=3) | st.none(),
    st.sampled_from((None, 1, 2, "\t")),
)
def test_an_item_that_goes_again_leaves_the_text_as_it_was(
    tree: dict[str, Any], items: list[int] | None, indent: int | str | None
) -> None:
    if items is not None:
        tree["list"] = {"of": items}
    else:
        tree.pop("list", None)
    text = json.dumps(tree, indent=indent)
    ours = {"ours": True}
    grown = with_item(text, ("list", "of"), ours, lambda one: one == ours)
    assert json.loads(grown)["list"]["of"] == [*(items or []), ours]
    assert with_item(grown, ("list", "of"), ours, lambda one: one == ours) == grown
    assert without_items(grown, ("list", "of"), lambda one: one == ours) == text
