"""How a cluster becomes one memory: models that propose a draft, and the judge that accepts or refuses it."""

from memory_pipeline.distillers.choose import choose_distiller
from memory_pipeline.distillers.draft import Declined, DistillationModel, Draft, Member, Task
from memory_pipeline.distillers.hostile import find_attempt
from memory_pipeline.distillers.judge import judge, mean_similarities, undistilled
from memory_pipeline.distillers.preservation import check_preservation
from memory_pipeline.distillers.session import AnswerBook, Session
from memory_pipeline.distillers.support import find_addition, find_clash

__all__ = [
    "AnswerBook",
    "Declined",
    "DistillationModel",
    "Draft",
    "Member",
    "Session",
    "Task",
    "check_preservation",
    "choose_distiller",
    "find_addition",
    "find_attempt",
    "find_clash",
    "judge",
    "mean_similarities",
    "undistilled",
]
