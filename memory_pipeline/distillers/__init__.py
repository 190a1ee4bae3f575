"""How a cluster becomes one memory: models that propose a draft, and the judge that accepts or refuses it."""

from memory_pipeline.distillers.choose import choose_distiller
from memory_pipeline.distillers.draft import DistillationModel, Draft, Member
from memory_pipeline.distillers.judge import failed, judge, mean_similarities

__all__ = [
    "DistillationModel",
    "Draft",
    "Member",
    "choose_distiller",
    "failed",
    "judge",
    "mean_similarities",
]
