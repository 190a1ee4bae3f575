"""Which model reads, as the commands say it: by its address, and by its name."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from memory_pipeline.config.loading import load_settings
from memory_pipeline.errors import ModelError
from memory_pipeline.models import check
from memory_pipeline.models.check import find_models
from memory_pipeline.models.choose import endpoint_of, make_provider
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.interfaces.in_process import command


class _Tags(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"models": [{"name": "small"}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on a port of its own, which is looked at as the usual one of Ollama."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Tags)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    found = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(check, "_SERVERS", (check._Server("ollama", "Ollama", found, "/api/tags"),))
    monkeypatch.setattr(check, "_PROGRAMS", ())
    yield found
    server.shutdown()
    server.server_close()


def test_a_server_reads_only_if_it_is_the_one_that_was_chosen(tmp_path: Path, address: str) -> None:
    chosen = {"model__provider": "ollama", "model__name": "small"}
    (here,) = find_models(settings_for(tmp_path / "s.duckdb", **chosen, model__base_url=address))
    (elsewhere,) = find_models(settings_for(tmp_path / "s.duckdb", **chosen, model__base_url="http://127.0.0.1:1"))
    assert here.chosen and not elsewhere.chosen


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_provider_that_has_several_models_wants_a_name(provider: str, tmp_path: Path) -> None:
    done = command("model", "use", provider, MEMORY_PIPELINE_HOME=str(tmp_path))
    assert done.code == 1 and f"model use {provider} MODEL" in done.err
    assert not (tmp_path / "memory_pipeline.toml").exists()


def test_the_address_of_a_server_is_kept_until_another_provider_is_chosen(tmp_path: Path) -> None:
    def address(*arguments: str) -> str:
        assert command("model", "use", *arguments, MEMORY_PIPELINE_HOME=str(tmp_path)).code == 0
        written = tomllib.loads((tmp_path / "memory_pipeline.toml").read_text(encoding="utf-8"))
        return str(written["model"].get("base_url", ""))

    assert address("ollama", "small", "--base-url", "http://127.0.0.1:9") == "http://127.0.0.1:9"
    assert address("ollama", "large") == "http://127.0.0.1:9"
    assert address("openai", "large") == ""


@pytest.mark.parametrize(
    ("arguments", "stays"),
    [
        (("openai", "large"), True),
        (("openai", "large", "--base-url", "http://127.0.0.1:8/v1"), False),
        (("ollama", "large"), False),
        (("none",), False),
    ],
)
def test_a_key_in_the_file_goes_with_the_server_that_it_belongs_to(
    tmp_path: Path, arguments: tuple[str, ...], stays: bool
) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text('[model]\nprovider = "openai"\nname = "a"\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "key-9"\n')
    done = command("model", "use", *arguments, MEMORY_PIPELINE_HOME=str(tmp_path))
    assert done.code == 0 and ("is taken out" in done.out) is not stays
    assert ("key-9" in file.read_text()) is stays


@pytest.mark.parametrize(
    ("named", "key", "sent"),
    [
        ("http://127.0.0.1:9/v2", None, "key-9"),
        ("http://127.0.0.1:8/v1", None, ""),
        ("http://127.0.0.1:8/v1", "key-8", "key-8"),
    ],
)
def test_a_key_of_one_server_is_not_sent_to_another_one_that_the_environment_names(
    tmp_path: Path, named: str, key: str | None, sent: str
) -> None:
    file = tmp_path / "memory_pipeline.toml"
    file.write_text('[model]\nprovider = "openai"\nname = "a"\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "key-9"\n')
    variables = {"MEMORY_PIPELINE_MODEL_BASE_URL": named}
    variables |= {"MEMORY_PIPELINE_MODEL_API_KEY": key} if key else {}
    settings = load_settings(environment=variables, config_file=file).values
    assert endpoint_of(settings).key == sent
    if not sent:
        with pytest.raises(ModelError, match=r"'model.api_key' .* is not sent to"):
            make_provider(settings)
