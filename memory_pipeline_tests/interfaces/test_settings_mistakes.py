"""A settings file, a variable or a Dagster home that cannot be used is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline_tests.interfaces.in_process import command

pytestmark = pytest.mark.usefixtures("in_home")


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
        (b"[compression]\nmin_clustr_size = 4", "did you mean 'compression.min_cluster_size'"),
        (b"[consolidation]\nschedule = '99 99 * * *'", "its minute is '99'"),
        (b"[distillation]\ncost_cap_usd = inf", "finite"),
        (b"[compression.policies]\nmerge = 'threshold=0.97'", "a line [compression.policies.merge], and below it"),
        (b"[compression.profiles]\nwebshop = 0.9", "write it as a table: a line [compression.profiles.webshop]"),
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
    ("line", "words"),
    [
        ("compression.linkage = 'average'", "unknown setting 'compression.linkage'"),
        ("model.temperature = 0", "unknown setting 'model.temperature'"),
        ("api.port = 8000", "unknown setting 'api.port'"),
    ],
)
def test_a_setting_that_nothing_is_near_to_has_no_suggestion(tmp_path: Path, line: str, words: str) -> None:
    named = tmp_path / "settings.toml"
    named.write_text(f"{line}\n")
    done = command("config", "show", MEMORY_PIPELINE_CONFIG=str(named))
    assert done.code == 1 and words in done.err and "did you mean" not in done.err


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("COMPRESSION_FOO", "1", "unknown environment variable COMPRESSION_FOO; unset it"),
        ("COMPRESSION_CRITICAL_FLOOR", "1.5", "greater than or equal to 2"),
        ("COMPRESSION_SIMILARITY_THRESHOLD", "high", "compression.similarity_threshold"),
        ("COMPRESSION_MIN_CLUSTER_SIZ", "4", "did you mean COMPRESSION_MIN_CLUSTER_SIZE"),
        ("MEMORY_PIPELINE_NONSENSE", "1", "unknown environment variable MEMORY_PIPELINE_NONSENSE"),
        ("MEMORY_PIPELINE_CONFIG", "missing.toml", "'missing.toml' does not exist"),
        ("CONSOLIDATION_THRESHOLD", "50", "did you mean MEMORY_PIPELINE_CONSOLIDATION_THRESHOLD?"),
        ("MEMORY_PIPELINE_HOME", "nowhere", "MEMORY_PIPELINE_HOME is 'nowhere', which is not a directory"),
        (
            "MEMORY_PIPELINE_COMPRESSION_POLICIES",
            '{"fixes": {"method": "distill", "threshold": 0.9, "threshold": 0.8}}',
            "setting 'compression.policies' has the key 'threshold' twice; leave one of them",
        ),
        (
            "MEMORY_PIPELINE_COMPRESSION_POLICIES",
            '{"fixes": {"method": "distill"}, "fixes": {"method": "merge"}}',
            "setting 'compression.policies' has the key 'fixes' twice; leave one of them",
        ),
        ("MEMORY_PIPELINE_STORE_PATH", "~nobody-of-this-name/x", "setting 'store.path'"),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str, words: str) -> None:
    done = command("config", "show", **{name: value})
    assert done.code == 1 and words in done.told


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("relative", "a relative path; write an absolute one"),
        ("/no/such/directory", "is not a directory; create that directory"),
    ],
)
def test_a_dagster_home_that_cannot_be_used_is_named(data: Path, value: str, words: str) -> None:
    done = command("jobs", "list", DAGSTER_HOME=value)
    assert done.code == 1 and words in done.told


def test_a_broken_dagster_yaml_is_one_sentence(data: Path) -> None:
    (data / "store.dagster").mkdir(exist_ok=True)
    (data / "store.dagster" / "dagster.yaml").write_text("telemetry: [unclosed")
    done = command("jobs", "list")
    assert done.code == 1 and "fix its dagster.yaml" in done.told and "Traceback" not in done.err


@pytest.mark.parametrize("variable", ["MODEL_PROVIDER", "MODEL_NAME", "IMPORT_TIMEZONE"])
def test_a_key_that_was_written_into_another_setting_is_printed_nowhere(variable: str) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 11 + "AA"
    done = command("config", "show", **{f"MEMORY_PIPELINE_{variable}": key})
    assert "[REDACTED:secret]" in done.out + done.err and key not in done.out + done.err
