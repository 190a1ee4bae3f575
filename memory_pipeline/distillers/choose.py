"""Selects the distillation model from the setting `model.provider`."""

from __future__ import annotations

from collections.abc import Callable

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.draft import DistillationModel
from memory_pipeline.distillers.extractive import Extractive
from memory_pipeline.models.choose import has_model


def choose_distiller(settings: Settings, count_tokens: Callable[[str], int]) -> DistillationModel:
    """The chosen model, or the extractive distiller if there is none.

    Raises ModelError or StrategyError for settings with which the model cannot be asked.
    """
    if not has_model(settings):
        return Extractive()
    from memory_pipeline.distillers.by_model import ModelDistiller

    return ModelDistiller(settings, count_tokens)
