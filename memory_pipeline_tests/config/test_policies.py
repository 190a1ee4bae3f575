"""Policies and profiles as settings: what a user writes, in which order a night runs them, and what is refused."""

from __future__ import annotations

import pytest

from memory_pipeline.config.loading import load_settings
from memory_pipeline.config.settings import Settings
from memory_pipeline.errors import SettingError


def with_settings(**given: object) -> Settings:
    return load_settings({name.replace("__", "."): value for name, value in given.items()}, environment={}).values


def test_the_three_policies_are_those_of_the_requirement_in_their_order() -> None:
    rows = [(p.name, p.threshold, p.min_size, p.group_by, p.method, p.level) for p in with_settings().night_policies()]
    assert rows == [
        ("merge", 0.95, 2, "memory_type", "merge", 1),
        ("canonical", 0.90, 2, "project", "canonical", 1),
        ("distill", 0.82, 3, "project", "distill", 2),
    ]


def test_a_project_has_a_threshold_and_a_grouping_of_its_own() -> None:
    settings = with_settings(compression__profiles=["webshop threshold=0.85 group_by=memory_type"])
    (distill,) = [policy for policy in settings.night_policies() if policy.name == "distill"]
    mine, other = distill.of_project("webshop"), distill.of_project("blog")
    assert mine and (mine.threshold, mine.group_by) == (0.85, "memory_type")
    assert other and (other.threshold, other.group_by) == (0.82, "project")


def test_an_added_policy_runs_before_the_built_in_one_of_its_method() -> None:
    settings = with_settings(
        compression__policies=["fixes method=distill threshold=0.88 memory_types=error_fix+warning projects=webshop"]
    )
    policies = settings.night_policies()
    assert [policy.name for policy in policies] == ["merge", "canonical", "fixes", "distill"]
    assert policies[2].memory_types == ("error_fix", "warning") and policies[2].min_size == 3
    assert policies[2].of_project("blog") is None


def test_a_built_in_policy_can_be_changed_or_switched_off() -> None:
    settings = with_settings(
        consolidation__similarity__merge=0.97, compression__policies=["canonical enabled=false", "merge min_size=3"]
    )
    merge, canonical, _ = settings.night_policies()
    assert (merge.threshold, merge.min_size) == (0.97, 3)
    assert canonical.of_project("p") is None


def test_the_names_of_the_other_specification_stand_for_ours_once_they_are_set() -> None:
    settings = with_settings(consolidation__similarity__pattern=0.9, consolidation__min_group_size=4)
    distill = settings.night_policies()[-1]
    assert (distill.threshold, distill.min_size) == (0.9, 4)


def test_a_threshold_for_one_run_overrides_projects_too() -> None:
    settings = with_settings(compression__profiles=["webshop threshold=0.85"])
    distill = settings.night_policies(0.9)[-1].of_project("webshop")
    assert distill and distill.threshold == 0.9


@pytest.mark.parametrize(
    ("key", "line", "says"),
    [
        ("compression.policies", "mine threshold=0.9", "is a new policy without method"),
        ("compression.policies", "mine method=distill", "is a new policy without threshold"),
        ("compression.policies", "mine method=burn threshold=0.9", "method is 'burn'; use merge, canonical, distill"),
        ("compression.policies", "mine method=merge threshold=1.5", "threshold is 1.5; use 0.5 to 1.0"),
        ("compression.policies", "merge method=distill", "the method of 'merge' cannot change"),
        ("compression.policies", "merge min_size=1", "min_size is '1'; write a number from 2"),
        ("compression.policies", "merge threshold=high", "threshold is 'high'; write a number"),
        ("compression.policies", "merge colour=red", "'colour=red' is not understood"),
        ("compression.policies", "merge memory_types=poem", "there is no memory type 'poem'"),
        ("compression.policies", " ", "neither a policy nor a profile"),
        ("compression.profiles", "webshop threshold=0.5", "a project's own lies in 0.75 to 0.95"),
        ("compression.profiles", "webshop", "changes nothing"),
        ("compression.profiles", "webshop group_by=mood", "group_by is 'mood'; use project, memory_type"),
    ],
)
def test_a_line_that_is_wrong_says_how_to_write_it(key: str, line: str, says: str) -> None:
    with pytest.raises(SettingError, match=f"setting '{key}'") as raised:
        load_settings({key: [line]}, environment={})
    assert says in str(raised.value)
