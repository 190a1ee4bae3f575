"""The values of a night between its steps: files of each asset and partition, whole or not there."""

from __future__ import annotations

from typing import Any

import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
)

from memory_pipeline.consolidation import run
from memory_pipeline.definitions import defs
from memory_pipeline.orchestration import io
from memory_pipeline.records import (
    Archive,
    AtomDecision,
    Causal,
    Cluster,
    DuplicateGroup,
    EligibleMemory,
    Measured,
)
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, fill, lesson
from memory_pipeline_tests.orchestration.test_dagster import DAY, launch


@pytest.mark.slow
def test_a_run_reads_no_file_that_it_has_made_and_an_asset_alone_reads_those_of_earlier_runs(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(5))
    read: list[str] = []
    from_table = io.from_table
    monkeypatch.setattr(io, "from_table", lambda *given: (read.append("a file"), from_table(*given))[1])
    assert launch(instance).success and not read
    again = defs.resolve_job_def("night").execute_in_process(
        instance=instance, partition_key=DAY, asset_selection=[AssetKey("clusters")]
    )
    needs = run.STEPS["clusters"].needs
    assert len(read) == len(needs) and {e.asset_key.path[-1] for e in again.get_asset_materialization_events()} == {
        "clusters"
    }


def test_values_survive_the_way_through_parquet() -> None:
    eligible = [EligibleMemory("m", "p", "other", ("a", "b"), 1.0, 5, FIRST, FIRST)]
    cluster = Cluster("c", "f", "distill", "p", ("m", "n"), 2, 0.9, 0.8, "a", ("a",), 9, 1.0, FIRST, FIRST, None)
    nested = [Archive(cluster, "compressed", None, "made", ("m", "n"), Measured(9, 3, 3.0, 2, 1, 1))]
    decided = AtomDecision("m", "p", "created", "atom", None, Causal("the cache", "was cold", "the deploy took long"))
    values: dict[str, Any] = {
        "eligible_memories": eligible,
        "clusters": [cluster],
        "archives": nested,
        "atoms": [decided],
        "exact_duplicates": [DuplicateGroup("p", "h", "m", ("n",))],
        "merges": [],
    }
    for asset, value in values.items():
        assert io.from_table(io.to_table(value), asset) == value
    with pytest.raises(TypeError, match="returned dict"):
        io.to_table({"a": [1, {"b": None}]})


@pytest.mark.slow
def test_a_half_written_file_is_never_read(
    instance: DagsterInstance, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, lesson(5))
    assert launch(instance).success
    folder = store.path.with_suffix(".night") / "clusters"
    before = (folder / f"{DAY}.parquet").read_bytes()

    def torn(table: object, file: Any) -> None:
        file.write(b"PAR1 half")
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(io.pq, "write_table", torn)
        assert not launch(instance).success
    assert (folder / f"{DAY}.parquet").read_bytes() == before
    assert launch(instance).success
