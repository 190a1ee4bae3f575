"""Policies and profiles as settings: what a user writes, in which order a night runs them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import SettingError


def with_file(path: Path, text: str, **environment: str) -> Settings:
    path.write_text(text)
    return load_settings(environment=environment, config_file=path).values


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory_pipeline.toml"


def test_the_three_policies_are_those_of_the_requirement_in_their_order(file: Path) -> None:
    policies = with_file(file, "").night_policies()
    assert [(p.name, p.threshold, p.min_size, p.group_by, p.method, p.level) for p in policies] == [
        ("merge", 0.95, 2, "memory_type", "merge", 1),
        ("canonical", 0.90, 2, "project", "canonical", 1),
        ("distill", 0.82, 3, "project", "distill", 2),
    ]


def test_a_project_has_a_threshold_and_a_grouping_of_its_own(file: Path) -> None:
    settings = with_file(file, '[compression.profiles."my.shop"]\nthreshold = 0.85\ngroup_by = "memory_type"\n')
    (distill,) = [policy for policy in settings.night_policies() if policy.name == "distill"]
    mine, other = distill.of_project("my.shop"), distill.of_project("blog")
    assert mine and (mine.threshold, mine.group_by) == (0.85, "memory_type")
    assert other and (other.threshold, other.group_by) == (0.82, "project")


FIXES = """
[compression.policies.fixes]
method = "distill"
threshold = 0.88
memory_types = ["error_fix", "warning"]
projects = ["webshop"]
"""


def test_an_added_policy_runs_before_the_built_in_one_of_its_method(file: Path) -> None:
    policies = with_file(file, FIXES).night_policies()
    assert [policy.name for policy in policies] == ["merge", "canonical", "fixes", "distill"]
    assert policies[2].memory_types == ("error_fix", "warning") and policies[2].min_size == 3
    assert policies[2].of_project("blog") is None


def test_a_built_in_policy_can_be_changed_or_switched_off(file: Path) -> None:
    text = "[compression.policies]\ncanonical = {enabled = false}\nmerge = {min_size = 3, threshold = 0.97}\n"
    merge, canonical, _ = with_file(file, text).night_policies()
    assert (merge.threshold, merge.min_size) == (0.97, 3)
    assert canonical.of_project("p") is None


def test_tables_of_a_variable_go_before_those_of_the_file_name_by_name(file: Path) -> None:
    given = {"fixes": {"threshold": 0.9}, "merge": {"enabled": False}}
    settings = with_file(file, FIXES, MEMORY_PIPELINE_COMPRESSION_POLICIES=json.dumps(given))
    merge, _, fixes, _ = settings.night_policies()
    assert not merge.enabled and (fixes.threshold, fixes.projects) == (0.9, ("webshop",))


@pytest.mark.parametrize(
    ("text", "threshold", "least"),
    [
        ("[consolidation]\nmin_group_size = 4\nsimilarity = {pattern = 0.9}\n", 0.9, 4),
        ("[compression.policies.distill]\nthreshold = 0.6\nmin_size = 12\n", 0.6, 12),
        ("[compression]\nsimilarity_threshold = 0.6\nmin_cluster_size = 12\n", 0.6, 12),
        ("[compression]\nsimilarity_threshold = 0.9\n[consolidation.similarity]\npattern = 0.90\n", 0.9, 3),
    ],
)
def test_every_name_of_a_threshold_sets_the_one_value(file: Path, text: str, threshold: float, least: int) -> None:
    settings = with_file(file, text)
    assert (settings.compression.similarity_threshold, settings.compression.min_cluster_size) == (threshold, least)
    distill = settings.night_policies()[-1]
    assert (distill.threshold, distill.min_size) == (threshold, least)


def test_the_threshold_of_merge_has_two_names_too(file: Path) -> None:
    tables = "[compression.policies]\nmerge = {threshold = 0.97}\n"
    keys = "[consolidation.similarity]\nmerge = 0.97\n"
    assert with_file(file, tables) == with_file(file, keys) != with_file(file, "")


def test_a_variable_goes_before_the_file_whatever_name_they_use(file: Path) -> None:
    text = "[consolidation.similarity]\npattern = 0.9\n"
    file.write_text(text)
    loaded = load_settings(environment={"COMPRESSION_SIMILARITY_THRESHOLD": "0.7"}, config_file=file)
    assert loaded.values.compression.similarity_threshold == 0.7
    assert loaded.origins["compression.similarity_threshold"] == "environment COMPRESSION_SIMILARITY_THRESHOLD"
    assert load_settings(environment={}, config_file=file).origins["compression.similarity_threshold"] == (
        f"{file}, consolidation.similarity.pattern"
    )


def test_two_names_with_different_values_are_an_error_that_names_both(file: Path) -> None:
    with pytest.raises(SettingError) as raised:
        with_file(file, "[compression]\nsimilarity_threshold = 0.8\n[consolidation.similarity]\npattern = 0.9\n")
    assert str(raised.value) == (
        "'compression.similarity_threshold' and 'consolidation.similarity.pattern' are two names of one setting and "
        "are 0.8 and 0.9; leave one of them"
    )
    with pytest.raises(
        SettingError,
        match=r"'\w+_CONSOLIDATION_MIN_GROUP_SIZE' and '\w+_COMPRESSION_MIN_CLUSTER_SIZE' are two names",
    ):
        with_file(
            file, "", MEMORY_PIPELINE_CONSOLIDATION_MIN_GROUP_SIZE="4", MEMORY_PIPELINE_COMPRESSION_MIN_CLUSTER_SIZE="5"
        )


def test_two_variables_of_one_setting_are_the_same_or_an_error_that_names_both(file: Path) -> None:
    ratio = {"COMPRESSION_MAX_RATIO": "1.5", "COMPRESSION_MIN_RATIO": "2.5"}
    with pytest.raises(SettingError, match=r"'COMPRESSION_M.._RATIO' and 'COMPRESSION_M.._RATIO' are two names"):
        with_file(file, "", **ratio)
    ratio["COMPRESSION_MAX_RATIO"] = "2.50"
    assert with_file(file, "", **ratio).compression.min_ratio == 2.5
    keys = {"ANTHROPIC_API_KEY": "of-all-programs", "MEMORY_PIPELINE_ANTHROPIC_API_KEY": "of-this-one"}
    assert load_settings(environment=keys).values.anthropic.api_key == "of-this-one"


def test_every_documented_name_of_a_setting_is_shown() -> None:
    shown = {setting.key: setting for setting in load_settings(environment={}).shown()}
    assert shown["consolidation.min_group_size"].value == 3 and shown["consolidation.similarity.pattern"].value == 0.82
    assert shown["consolidation.min_group_size"].meaning == "Another name of `compression.min_cluster_size`."


def test_a_threshold_for_one_run_overrides_projects_too(file: Path) -> None:
    settings = with_file(file, "[compression.profiles.webshop]\nthreshold = 0.85\n")
    distill = settings.night_policies(0.9)[-1].of_project("webshop")
    assert distill and distill.threshold == 0.9


POLICIES, PROFILES = "setting 'compression.policies", "setting 'compression.profiles"


@pytest.mark.parametrize(
    ("text", "names", "says"),
    [
        ("policies.mine = {threshold = 0.9}", f"{POLICIES}'", "is a new policy without method; add a line like method"),
        ('policies.mine = {method = "distill"}', f"{POLICIES}'", "without threshold; add a line like threshold = 0.88"),
        (
            'policies.mine = {method = "burn", threshold = 0.9}',
            f"{POLICIES}.mine.method'",
            "is 'burn': Input should be 'merge', 'canonical' or 'distill'",
        ),
        (
            'policies.mine = {method = "merge", threshold = 1.5}',
            f"{POLICIES}.mine.threshold'",
            "is 1.5: Input should be less than or equal to 1",
        ),
        ('policies.merge = {method = "distill"}', f"{POLICIES}'", "the method of 'merge' cannot change"),
        ("policies.merge = {min_size = 1}", f"{POLICIES}.merge.min_size'", "greater than or equal to 2"),
        ('policies.mine = {threshold = "high"}', f"{POLICIES}.mine.threshold'", "valid number"),
        ("policies.merge = {threshold = 0.8}", "setting 'consolidation.similarity.merge'", "policies.merge.threshold"),
        (
            "policies.merge = {linkag = 1}",
            "unknown setting 'compression.policies.merge.linkag'",
            "policies.merge.linkage'",
        ),
        ('policies.merge = {memory_types = ["poem"]}', f"{POLICIES}.merge.memory_types'", "no memory type 'poem'"),
        ('policies = ["merge threshold=0.97"]', f"{POLICIES}'", "[compression.policies.NAME]"),
        ("profiles.webshop = {threshold = 0.5}", f"{PROFILES}.webshop.threshold'", "greater than or equal to 0.75"),
        ("profiles.webshop = {}", f"{PROFILES}.webshop'", "changes nothing; write a threshold"),
        ('profiles.webshop = {group_by = "mood"}', f"{PROFILES}.webshop.group_by'", "'project' or 'memory_type'"),
    ],
)
def test_a_table_that_is_wrong_names_the_key_and_the_mend(file: Path, text: str, names: str, says: str) -> None:
    with pytest.raises(SettingError) as raised:
        with_file(file, f"[compression]\n{text}\n")
    assert names in str(raised.value) and says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[consolidation.similarity]\npattern = 0.6\n", "setting 'consolidation.similarity.pattern'"),
        ("[consolidation]\nmin_group_size = 11\n", "is 11: use 2 to 10"),
        ("[consolidation]\nmin_group_size = 'many'\n", "memory_pipeline.toml, consolidation.min_group_size) is 'many'"),
    ],
)
def test_an_alias_keeps_its_own_range(file: Path, text: str, says: str) -> None:
    with pytest.raises(SettingError) as raised:
        with_file(file, text)
    assert says in str(raised.value)


@pytest.mark.parametrize("text", ["{", "5", '["merge threshold=0.97"]'])
def test_a_variable_that_is_no_table_in_json_says_how_to_write_one(file: Path, text: str) -> None:
    with pytest.raises(SettingError, match=r"setting 'compression.policies'.*(JSON table|write a table)"):
        with_file(file, "", MEMORY_PIPELINE_COMPRESSION_POLICIES=text)
