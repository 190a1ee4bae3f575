"""The docs say what is true: the reference is the code's own, every command and setting stands in it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from memory_pipeline.config.described import describe_settings
from memory_pipeline.interfaces.cli.app import app
from memory_pipeline.reporting.model import Report
from memory_pipeline_tests.build import fill, lesson, run, settings_for

ROOT = Path(__file__).parents[1]


def loaded(path: Path) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # its dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def reference_module() -> Any:
    """The module that writes the reference page."""
    return loaded(ROOT / "docs" / "make_reference.py")


def written_reference() -> str:
    """The reference page as the code would write it now."""
    return str(reference_module().reference())


def test_the_reference_is_up_to_date() -> None:
    assert (ROOT / "docs" / "reference.md").read_text() == written_reference(), "run python docs/make_reference.py"


def test_the_reference_is_the_same_whichever_commands_were_imported_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for declared in ("registered_commands", "registered_groups"):
        monkeypatch.setattr(app, declared, getattr(app, declared)[::-1])
    test_the_reference_is_up_to_date()


def test_the_routes_of_the_api_are_up_to_date() -> None:
    assert (ROOT / "docs" / "api.md").read_text() == reference_module().api_page(), "run python docs/make_reference.py"


def test_the_architecture_names_the_packages_that_there_are() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert page == reference_module().architecture_page(), "run python docs/make_reference.py"
    packages = {path.parent.name for path in (ROOT / "memory_pipeline").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == packages


def test_the_page_of_proof_says_what_benchmarks_printed() -> None:
    proof = loaded(ROOT / "benchmarks" / "proof.py")
    results = proof.kept_results()
    assert results.keys() <= proof.MEASURED.keys(), "a result has no benchmark"
    for path, text in proof.pages(results).items():
        assert path.read_text() == text, "run python benchmarks/proof.py page"


def test_a_plot_is_drawn_of_the_figures_of_a_table() -> None:
    proof = loaded(ROOT / "benchmarks" / "proof.py")
    assert proof.figures_in("all    0.731   1,200  95% (3 of 40) x9") == [0.731, 1200, 95, 3, 40]
    plot = proof.Plot("Passed", ("passed",), column=0, others={"vectors": 11})
    drawn = proof.drawing("p", plot, ["passed    40 of 77", "precision 0.767"])
    assert "40" in drawn and "vectors" in drawn and drawn.startswith("<svg")
    assert proof.drawing("p", plot, ["nothing"]) == ""


def test_every_command_that_the_docs_name_exists() -> None:
    command = typer.main.get_command(app)
    known = set(command.commands)  # type: ignore[attr-defined]
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    named = {word for page in pages for word in re.findall(r"memory-pipeline ([a-z][a-z-]*)", page.read_text())}
    assert named and named <= known


def test_every_setting_has_a_meaning_and_an_environment_name() -> None:
    for info in describe_settings():
        assert info.meaning.endswith(".") and info.env[0] == "MEMORY_PIPELINE_" + info.key.upper().replace(".", "_")


def test_every_report_field_is_documented(store) -> None:  # type: ignore[no-untyped-def]
    fill(store, lesson(3))
    from datetime import date

    report = run(store, date(2026, 3, 3), settings_for(store))
    assert list(report.as_json()) == [name for name in Report.described_fields() if "." not in name]


def test_every_promise_names_tests_that_exist() -> None:
    named = set(re.findall(r"`(test_\w+|Test\w+)`", (ROOT / "docs" / "what-can-go-wrong.md").read_text()))
    tests = "\n".join(path.read_text() for path in (ROOT / "memory_pipeline_tests").rglob("test_*.py"))
    assert len(named) > 30
    assert not {name for name in named if not re.search(rf"(def|class) {name}\b", tests)}


def test_promises_say_which_of_their_tests_are_long() -> None:
    tests = "\n".join(path.read_text() for path in (ROOT / "memory_pipeline_tests").rglob("test_*.py"))
    slow = set(re.findall(r"@pytest\.mark\.slow\n(?:@[^\n]*\n|    [^\n]*\n|\)\n|\]\n)*(?:def|class) (\w+)", tests))
    assert len(slow) > 10
    for line in (ROOT / "docs" / "what-can-go-wrong.md").read_text().splitlines():
        quick, _, long = line.rpartition("|")[0].rpartition("|")[2].partition("*long*:")
        assert not slow & set(re.findall(r"`(\w+)`", quick)), line
        assert set(re.findall(r"`(\w+)`", long)) <= slow, line


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
