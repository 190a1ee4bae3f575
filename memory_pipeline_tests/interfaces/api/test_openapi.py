"""The OpenAPI document: it names every route and field, and every answer is one that it describes."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_pipeline.interfaces.api.consolidations import Consolidations
from memory_pipeline.store import Store
from memory_pipeline_tests.build import fill, lesson, run, settings_for
from memory_pipeline_tests.interfaces.api.running import Client, running
from memory_pipeline_tests.interfaces.api.test_memories import told

PROMISED = {
    ("post", "/api/v1/admin/consolidate-memories"),
    ("get", "/api/v1/admin/consolidation-status/{job_id}"),
    ("get", "/api/v1/admin/consolidation-metrics/{project_id}"),
    ("post", "/api/v1/consolidated-memories/search"),
    ("get", "/api/v1/consolidated-memories/{id}"),
    ("get", "/api/v1/consolidated-memories/{id}/lineage"),
    ("post", "/api/v1/consolidated-context"),
    ("post", "/api/v1/ask"),
    ("post", "/api/v1/memories"),
    ("post", "/api/v1/memories/{id}/feedback"),
    ("post", "/api/v1/sessions/{session_id}/usage"),
}


@pytest.fixture(scope="module")
def described(client: Client) -> dict[str, Any]:
    return dict(told(client.get("/openapi.json")))


def test_every_promised_route_is_described(described: dict[str, Any]) -> None:
    routes = {(method, path) for path, methods in described["paths"].items() for method in methods}
    assert routes >= PROMISED


def test_every_field_has_a_meaning_and_every_error_one_form(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    for name, schema in schemas.items():
        for field, said in schema.get("properties", {}).items():
            assert said.get("description"), f"{name}.{field}"
    for methods in described["paths"].values():
        for route in methods.values():
            for status, answer in route["responses"].items():
                if int(status) >= 400 and status != "503":
                    assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/ApiError")


def test_what_needs_a_token_says_so(described: dict[str, Any]) -> None:
    for path, methods in described["paths"].items():
        for route in methods.values():
            assert bool(route.get("security")) == (path not in ("/health", "/ready"))


#: What the document cannot say of a value: two days in the wrong order, and a time that has not come yet.
EXPECTED = """
[[operations]]
include-name = "POST /api/v1/admin/consolidate-memories"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]
[[operations]]
include-path = ["/api/v1/memories", "/api/v1/consolidated-memories/search"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "422"]

[[operations]]
include-name = "POST /api/v1/consolidated-context"
# A task of invisible characters is long enough for the schema, and too short for a reader.
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "422"]

[[operations]]
include-name = "POST /api/v1/ask"
# No model is chosen here.
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "422"]
"""


@pytest.mark.slow
def test_every_answer_is_one_that_the_document_describes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All checks of schemathesis, with all kinds of right and wrong requests; only no job is really started."""
    monkeypatch.setattr(Consolidations, "_launch", lambda *_: None)
    monkeypatch.setattr(Consolidations, "_wait_for", lambda *_: "pending")
    monkeypatch.setattr(Consolidations, "_check_nothing_runs", lambda *_, **__: None)
    (tmp_path / "expected.toml").write_text(EXPECTED)
    fill(store, lesson(5))
    run(store, date(2026, 3, 3), settings_for(store, consolidation__confidence__min=0.5))
    with running(settings_for(store), store) as client:
        program = Path(sys.executable).with_name("schemathesis")
        words = ["--config-file", tmp_path / "expected.toml", "run", f"{client.url}/openapi.json", "--checks", "all"]
        # A memory is found in its own project alone, and a request may name another one.
        words += ["--exclude-checks", "ensure_resource_availability"]
        words += ["-H", f"Authorization: Bearer {client.token}", "--continue-on-failure", "-n", "15", "--seed", "3"]
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-8000:]
