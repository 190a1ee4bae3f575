"""Finds memories again: hybrid search in one project, past states, and differences."""

from memory_pipeline.recall.past import Difference, PastState, diff_states, diff_text, read_state, search_state
from memory_pipeline.recall.questions import question_for, word_frequencies
from memory_pipeline.recall.search import Hit, SearchIndex, fit_budget

__all__ = [
    "Difference",
    "Hit",
    "PastState",
    "SearchIndex",
    "diff_states",
    "diff_text",
    "fit_budget",
    "question_for",
    "read_state",
    "search_state",
    "word_frequencies",
]
