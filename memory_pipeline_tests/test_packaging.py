"""What is shipped: a wheel with every file that the program reads, and the files for containers."""

from __future__ import annotations

import fnmatch
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SERVICES = {"code", "daemon", "webserver"}


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package_and_the_licence(tmp_path: Path) -> None:
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*wheel, str(copy_of_sources(tmp_path / "sources"))], check=True)
    (built,) = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(built).namelist())
    assert sources("memory_pipeline") <= shipped
    assert any(name.endswith("licenses/LICENSE") for name in shipped)
    assert not any(name.startswith(("memory_pipeline_tests", "data", "benchmarks")) for name in shipped)


def test_every_service_runs_a_program_that_an_installation_has() -> None:
    from importlib.metadata import entry_points

    programs = {point.name for point in entry_points(group="console_scripts")}
    for name, service in compose()["services"].items():
        words = service.get("command") or image_command()
        assert words[0] in programs, name


def test_the_services_share_one_image_and_one_volume() -> None:
    services = compose()["services"]
    assert set(services) == SERVICES
    assert {service["image"] for service in services.values()} == {"memory-pipeline:local"}
    assert all(service["volumes"] == ["data:/app/data"] for service in services.values())


def test_the_daemon_and_the_ui_wait_for_the_code_location_and_find_it() -> None:
    services = compose()["services"]
    for name in SERVICES - {"code"}:
        assert services[name]["depends_on"] == {"code": {"condition": "service_healthy"}}
    (entry,) = yaml.safe_load((ROOT / "docker" / "workspace.yaml").read_text())["load_from"]
    command = services["code"]["command"]
    assert command[command.index("--port") + 1] == str(entry["grpc_server"]["port"])
    assert all(service["environment"][entry["grpc_server"]["host"]["env"]] == "code" for service in services.values())


def test_nothing_in_the_image_runs_as_root_and_every_service_tells_its_health() -> None:
    steps = dockerfile()
    words = [step for step, _ in steps]
    assert dict(steps)["USER"] == "memory" and words.index("USER") < words.index("CMD")
    assert "HEALTHCHECK" in words
    services = compose()["services"]
    assert all("healthcheck" in services[name] for name in SERVICES - {"webserver"})


def test_the_image_is_built_from_files_that_are_there_and_that_docker_is_given() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in ("", "#")]
    assert ignored[0] == "*"
    for step, rest in dockerfile():
        for name in rest.split()[:-1] if step == "COPY" else ():
            assert (ROOT / name).exists(), name
            assert any(fnmatch.fnmatch(name.removeprefix("./"), kept[1:]) for kept in ignored if kept[0] == "!"), name


def compose() -> dict[str, Any]:
    """compose.yaml with its merge keys applied."""
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text()))


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each with its arguments on one line."""
    text = "\n".join(line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#"))
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(line.split()[0], " ".join(shlex.split(line, posix=False)[1:])) for line in lines]


def image_command() -> list[str]:
    """What the image runs by itself."""
    return list(json.loads(dict(dockerfile())["CMD"]))


def sources(directory: str) -> set[str]:
    """Files of a directory that git has."""
    listed = subprocess.run(["git", "ls-files", directory], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def copy_of_sources(target: Path) -> Path:
    """What git has of the project, so that nothing that was built earlier gets into a wheel."""
    for name in sources("."):
        if name.startswith(("memory_pipeline/", "pyproject.toml", "README.md", "LICENSE")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((ROOT / name).read_bytes())
    return target
