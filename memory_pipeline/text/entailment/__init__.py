"""Whether the sources bear out what an abstraction says: statement by statement, as facts and not as likeness."""

from memory_pipeline.text.entailment.check import find_unborne, find_unborne_in
from memory_pipeline.text.entailment.evidence import Evidence
from memory_pipeline.text.entailment.figures import implied_facts, is_derived, ranged_facts

__all__ = [
    "Evidence",
    "find_unborne",
    "find_unborne_in",
    "implied_facts",
    "is_derived",
    "ranged_facts",
]
