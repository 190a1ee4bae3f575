"""A question with the schema of its answer goes to a language model; a checked answer comes back.

Everybody who asks a model asks through `ModelClient`: what is asked and how an answer is checked is theirs; calls,
batches, pace, prices, the cost cap, kept answers and the bill are the same for all.
"""

from memory_pipeline.llm.client import ModelClient
from memory_pipeline.llm.questions import Declined, Prompt, Question
from memory_pipeline.llm.session import AnswerBook, Session

__all__ = ["AnswerBook", "Declined", "ModelClient", "Prompt", "Question", "Session"]
