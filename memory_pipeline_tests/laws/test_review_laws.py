"""Approving every proposal of every night leaves the store that the same nights leave without a person, by hash."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memory_pipeline.consolidation.review.decisions import approve_proposals
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline_tests.build import fill, run, settings_for
from memory_pipeline_tests.laws.test_night_laws import DAYS, SLOW, histories, temporary_store, whole_hash


@pytest.mark.slow
@given(histories())
@settings(SLOW, max_examples=4, derandomize=True)
def test_nights_whose_proposals_are_all_approved_equal_automatic_ones(notes: list[Candidate]) -> None:
    with temporary_store() as reviewed, temporary_store() as automatic:
        for store in (reviewed, automatic):
            fill(store, notes)
        for day in DAYS:
            run(automatic, day)
            values = settings_for(reviewed, compression__review="manual")
            run(reviewed, day, values)
            outcomes = {result.outcome for result in approve_proposals(reviewed, values, [], "dana")}
            assert outcomes <= {"approved"}
            assert whole_hash(reviewed) == whole_hash(automatic), day
