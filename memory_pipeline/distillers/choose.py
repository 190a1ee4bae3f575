"""Selects the distillation model from the setting `distillation.distiller`."""

from __future__ import annotations

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.draft import DistillationModel
from memory_pipeline.distillers.extractive import Extractive


def choose_distiller(settings: Settings) -> DistillationModel:
    """The configured distiller; with `auto`, Claude if there is an API key for it.

    Raises ModelError or StrategyError if Claude is requested and its settings are invalid.
    """
    wants_claude = settings.distillation.distiller == "claude" or (
        settings.distillation.distiller == "auto" and settings.distillation.api_key
    )
    if not wants_claude:
        return Extractive()
    from memory_pipeline.distillers.claude import Claude

    return Claude(settings)
