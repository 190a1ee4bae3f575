"""Sends a question with the schema of its answer to a language model, and returns a checked answer.

Every caller uses `ModelClient`. The caller provides the question and the check of the answer; calls, batches,
pacing, prices, the cost cap, the answer cache and the bill are shared.
"""

from memory_pipeline.models.client import ModelClient
from memory_pipeline.models.questions import Declined, Prompt, Question, mask
from memory_pipeline.models.session import Session

__all__ = ["Declined", "ModelClient", "Prompt", "Question", "Session", "mask"]
