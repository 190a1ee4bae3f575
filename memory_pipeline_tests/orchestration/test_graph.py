"""The assets as the UI shows them: a graph without shortcuts, and each asset described."""

from __future__ import annotations

from itertools import pairwise

from dagster import (
    AssetKey,
)

from memory_pipeline.definitions import defs
from memory_pipeline_tests.orchestration.test_dagster import ASSETS


def test_no_check_blocks_a_night() -> None:
    graph = defs.resolve_asset_graph()
    keys = list(graph.asset_check_keys)
    assert len(keys) > 10 and not [key.name for key in keys if graph.get(key).blocking]


def test_every_asset_has_a_group_an_owner_kinds_a_description_columns_and_freshness() -> None:
    graph = defs.resolve_asset_graph()
    groups: dict[str, set[str]] = {}
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        groups.setdefault(node.group_name, set()).add(key.path[-1])
        assert node.owners == ["team:memory"] and node.kinds and node.description, key
        assert node.freshness_policy is not None and node.metadata["dagster/column_schema"].columns, key
    knowledge = {"atoms", "playbook", "principles", "knowledge_base"}
    assert groups["knowledge"] == knowledge and groups["reporting"] == {"reports", "exports"}
    said = {"conversation_logs", "conversation_chunks", "extractions", "routed_updates"}
    assert groups["conversations"] >= said
    assert groups["night"] == {*ASSETS} - knowledge - said - {"reports", "exports", "imported_notes"}
    assert groups["sources"] >= {"memory_store", "imported_notes"}


def test_the_columns_of_an_asset_are_few_and_those_that_lineage_names() -> None:
    graph = defs.resolve_asset_graph()
    columns = {
        key.path[-1]: {column.name for column in graph.get(key).metadata["dagster/column_schema"].columns}
        for key in graph.get_all_asset_keys()
    }
    assert max(len(names) for asset, names in columns.items() if asset != "memory_store") <= 27
    for key in graph.get_all_asset_keys():
        lineage = graph.get(key).metadata.get("dagster/column_lineage")
        for column, sources in lineage.deps_by_column.items() if lineage else ():
            assert column in columns[key.path[-1]]
            assert all(source.column_name in columns[source.asset_key.path[-1]] for source in sources)


def test_the_graph_is_the_way_of_the_data_without_shortcuts() -> None:
    graph = defs.resolve_asset_graph()
    parents = {key.path[-1]: {p.path[-1] for p in graph.get(key).parent_keys} for key in graph.get_all_asset_keys()}
    order = [name for name in ASSETS if graph.get(AssetKey(name)).group_name == "night"]
    assert all(parents[later] == {earlier} for earlier, later in pairwise(order))
    said = ("imported_notes", "conversation_logs", "conversation_chunks", "extractions", "routed_updates", order[0])
    assert all(parents[later] == {earlier} for earlier, later in pairwise(said))
    assert parents["imported_notes"] == {"memory_store"}
    assert parents["atoms"] == {"archives"} and parents["playbook"] == {"archives", "principles"}
    assert parents["reports"] == {"atoms", "playbook"}
