"""How near questions come to the memories of a store that have nothing to do with them: one that comes no nearer is not
answered there. No score of words or vectors tells more; whether a near memory answers, only reading it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.neighbours import Matrix
from memory_pipeline.text.normalise import embedding_text

#: Questions of thirty different fields. Of those about ten BEAM conversations 1 in 160 comes no nearer to its own one
#: than the third nearest of these does, and a quarter of those about the other nine conversations.
QUESTIONS = (
    "What is the boiling point of water at sea level?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How many moons does Jupiter have?",
    "Which team won the football world cup in 1998?",
    "How do I get a red wine stain out of a white shirt?",
    "What is the capital of Mongolia?",
    "When do tulip bulbs have to be planted?",
    "How long does a hard-boiled egg take?",
    "Why is the sky blue?",
    "What does a carburettor do in a motorbike?",
    "Which vitamins are in a kiwi?",
    "Who wrote the Brothers Karamazov?",
    "How is a bow tie tied?",
    "What is the highest mountain in Africa?",
    "How deep is the Mariana Trench?",
    "What are the rules of offside?",
    "Which instruments are there in a string quartet?",
    "How do bees find their way back to the hive?",
    "When did the Berlin Wall fall?",
    "What is the difference between a crocodile and an alligator?",
    "How do I prune an apple tree?",
    "What causes a solar eclipse?",
    "How many strings does a cello have?",
    "What is the recipe for pancakes?",
    "Which planet has rings?",
    "How do whales sleep?",
    "What was the name of Napoleon's horse?",
    "Why do leaves turn red in autumn?",
    "How much does an adult elephant weigh?",
    "Which language is spoken in Brazil?",
)
_NEAREST = 50


def nearest_of(matrix: Matrix, vector: Vectors) -> float:
    """The greatest cosine of a unit vector to any row; -1 of none."""
    rows = matrix.nearest(vector, _NEAREST)
    return float(matrix.cosines(rows, vector).max(initial=-1.0))


def nearest_unrelated(matrix: Matrix, embed: Callable[[Sequence[str]], Vectors]) -> float:
    """The greatest cosine that a question about something else has to any row, but for two, of which a store may know
    something after all."""
    return sorted(nearest_of(matrix, vector) for vector in embed(list(map(embedding_text, QUESTIONS))))[-3]
