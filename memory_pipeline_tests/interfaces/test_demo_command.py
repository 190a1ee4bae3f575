"""The main job: the demo, run from the command line, leaves everything that its pages in the UI show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from dagster import AssetKey

from memory_pipeline.definitions import defs
from memory_pipeline.interfaces.cli.instances import instance_of
from memory_pipeline.store import Store
from memory_pipeline_tests.build import settings_for

#: No year has ended in the demo, and none of its sessions is still running.
NOTHING_TO_DO = {"yearly_rollups", "session_compactions"}


@pytest.mark.slow
def test_the_demo_leaves_every_asset_materialized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("MEMORY_PIPELINE_HOME", str(Path(__file__).parents[2]))
    store = tmp_path / "demo" / "store.duckdb"
    done = subprocess.run(
        [Path(sys.executable).with_name("memory-pipeline"), "demo", "--quiet", "--json", "--store", store],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    plain, read = card["without_model"], card["with_model"]
    assert plain["missed"] == read["missed"] == []
    found = [{line["label"]: line["found"] for line in one["lines"]} for one in (plain, read)]
    assert found[1]["Active tokens"] < found[0]["Active tokens"]
    assert found[1]["Paraphrases found"] > 4 * found[0]["Paraphrases found"]
    with Store(store).reading() as tx:
        nights = [row for row in tx.journal.reports() if row.get("kind", "night") == "night"]
    assert len(nights) == 7 and not any(night["notes_waiting"] + night["turns_waiting"] for night in nights), (
        "a question of the demo has no recorded answer"
    )
    with instance_of(settings_for(Store(store))) as instance:
        keys = set(defs.resolve_asset_graph().materializable_asset_keys)
        without = {key.to_user_string() for key in keys if instance.get_latest_materialization_event(key) is None}
        weeks = instance.get_materialized_partitions(AssetKey("weekly_rollups"))
    assert without <= NOTHING_TO_DO
    assert len(weeks) >= 6
