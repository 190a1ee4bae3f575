"""From the setting `distillation.distiller` to a distillation model."""

from __future__ import annotations

from memory_pipeline.distillers.draft import DistillationModel
from memory_pipeline.distillers.extractive import Extractive
from memory_pipeline.errors import StrategyError
from memory_pipeline.settings import Settings

DISTILLERS = {"extractive": Extractive}


def choose_distiller(settings: Settings) -> DistillationModel:
    """The distiller that the setting names. Raises StrategyError for a name that does not exist."""
    try:
        return DISTILLERS[settings.distiller]()
    except KeyError:
        raise StrategyError(
            f"distillation.distiller is '{settings.distiller}'; use one of: {', '.join(sorted(DISTILLERS))}"
        ) from None
