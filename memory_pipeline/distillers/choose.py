"""From the setting `distillation.distiller` to a distillation model."""

from __future__ import annotations

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.draft import DistillationModel
from memory_pipeline.distillers.extractive import Extractive


def choose_distiller(settings: Settings) -> DistillationModel:
    """The distiller that the setting names; with `auto`, Claude when there is a key for it.

    Raises ModelError or StrategyError when Claude is wanted and its settings do not do.
    """
    wants_claude = settings.distillation.distiller == "claude" or (
        settings.distillation.distiller == "auto" and settings.distillation.api_key
    )
    if not wants_claude:
        return Extractive()
    from memory_pipeline.distillers.claude import Claude

    return Claude(settings)
