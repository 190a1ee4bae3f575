"""Selects the distillation model from the setting `distillation.distiller`."""

from __future__ import annotations

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.draft import DistillationModel
from memory_pipeline.distillers.extractive import Extractive


def asks_claude(settings: Settings) -> bool:
    """Whether the settings choose Claude: by name, or with `auto` and a key, even one that must not be sent."""
    return settings.distillation.distiller == "claude" or (
        settings.distillation.distiller == "auto"
        and bool(settings.distillation.api_key or "distillation.api_key" in settings.withheld_keys)
    )


def choose_distiller(settings: Settings) -> DistillationModel:
    """The configured distiller; with `auto`, Claude if there is an API key for it.

    Raises ModelError or StrategyError if Claude is requested and its settings are invalid.
    """
    if not asks_claude(settings):
        return Extractive()
    from memory_pipeline.distillers.claude import Claude

    return Claude(settings)
