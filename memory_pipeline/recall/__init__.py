"""Finding memories again: hybrid search over one project."""

from memory_pipeline.recall.search import Hit, SearchIndex, fit_budget

__all__ = ["Hit", "SearchIndex", "fit_budget"]
