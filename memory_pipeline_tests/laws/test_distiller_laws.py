"""Law 9 for the extractive distiller: whatever it is given, it loses no fact and invents none."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_pipeline.consolidation.distillers.extractive import Extractive
from memory_pipeline.consolidation.distillers.judge import Member, Task
from memory_pipeline.demo import texts
from memory_pipeline.models import Declined
from memory_pipeline.records import Cluster, fingerprint_of
from memory_pipeline.text.preservation import check_preservation, find_invention
from memory_pipeline_tests.build import FIRST, memory

EPISODES = [episode for _, episodes in texts.CAUSAL for episode in episodes]
SENTENCES = [
    *EPISODES,
    *(wording for lesson in texts.LESSONS for wording in lesson.wordings),
    *(detail for lesson in texts.LESSONS for detail in lesson.details),
    *(f"**autonomous**: POSTFLIGHT: outcome success (exit={n % 2}, duration={n * 37}s)" for n in range(9)),
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```\nx = 41\n```",
    "Heartbeat: Gateway=running, self-assessment=9/10",
]


NOTES = st.lists(st.lists(st.sampled_from(SENTENCES), min_size=0, max_size=3), min_size=2, max_size=7)


@given(st.sampled_from([*(lesson.wordings for lesson in texts.LESSONS), *(told for _, told in texts.CAUSAL)]), NOTES)
@settings(max_examples=40, deadline=None)
def test_no_fact_is_lost_or_invented(shared: tuple[str, ...], asides: list[list[str]]) -> None:
    """Each note says the shared thing in one of its wordings, and something else."""
    notes = [[shared[n % len(shared)], *aside] for n, aside in enumerate(asides)]
    contents = ["\n".join(note) for note in notes]
    members = [Member(memory(f"m{n}", text, FIRST + timedelta(hours=n)), 0.9) for n, text in enumerate(contents)]
    ids = tuple(member.memory.id for member in members)
    cluster = Cluster(
        "c", fingerprint_of(ids), "distill", "p", ids, len(ids), 0.9, 0.85, "x", ("x",), 100, 1.0, FIRST, FIRST
    )
    task = Task(cluster, tuple(members))
    draft = Extractive().draft(task)
    assert draft == Extractive().draft(task)
    if isinstance(draft, Declined):
        return
    assert check_preservation(contents, draft.text, draft.attached).lost == ()
    assert find_invention(contents, draft.content, [FIRST.date()]) is None
