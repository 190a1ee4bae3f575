"""Turns a cluster into one memory: models that propose a draft, and the judge that accepts or refuses it."""

from memory_pipeline.distillers.by_model import choose_distiller
from memory_pipeline.distillers.draft import DETAILS_LABEL, DistillationModel, Draft, Member, Task
from memory_pipeline.distillers.evidence import evidence_confidence, independent_witnesses
from memory_pipeline.distillers.extractive import Extractive
from memory_pipeline.distillers.injections.detect import STEERS, attempt_by, attempt_in, find_attempt, steering_draft
from memory_pipeline.distillers.judge import COMPRESSED_CATEGORY, judge, mean_similarities, similarities_of, undistilled
from memory_pipeline.distillers.orders import MARK, QUOTE, guiding_entries, marked, may_guide, single_orders
from memory_pipeline.distillers.preservation import check_preservation, find_contradiction, find_invention
from memory_pipeline.distillers.support import SHARED_WORDS, find_addition, find_clash

__all__ = [
    "COMPRESSED_CATEGORY",
    "DETAILS_LABEL",
    "MARK",
    "QUOTE",
    "SHARED_WORDS",
    "STEERS",
    "DistillationModel",
    "Draft",
    "Extractive",
    "Member",
    "Task",
    "attempt_by",
    "attempt_in",
    "check_preservation",
    "choose_distiller",
    "evidence_confidence",
    "find_addition",
    "find_attempt",
    "find_clash",
    "find_contradiction",
    "find_invention",
    "guiding_entries",
    "independent_witnesses",
    "judge",
    "marked",
    "may_guide",
    "mean_similarities",
    "similarities_of",
    "single_orders",
    "steering_draft",
    "undistilled",
]
