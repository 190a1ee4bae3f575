"""What of a session is to be remembered, and goes into `MEMORY.md`."""

from __future__ import annotations

from memory_pipeline.compaction.flush import Flush
from memory_pipeline.compaction.kept import Kept
from memory_pipeline.workspace.contents import BY_AGENT
from memory_pipeline.workspace.promotions import DECISIONS, FACTS, RULES, Promotion


def promoted_of(flush: Flush, confidence: float) -> list[Promotion]:
    """What of a flush is to be remembered: standing rules, what has the tag `[CURATE]`, decisions with their reasons
    (a reader says the reason in the statement), and facts that are sure enough."""
    return [promotion_of(one) for one in flush.kept if _is_promoted(one, confidence)]


def _is_promoted(one: Kept, confidence: float) -> bool:
    return (
        one.kind == "rule"
        or one.is_curated
        or (one.kind == "decision" and (bool(one.rationale) or one.is_proposed))
        or (one.kind == "fact" and one.confidence >= confidence)
    )


def promotion_of(one: Kept) -> Promotion:
    """Something that is kept as it stands in the block."""
    section = {"rule": RULES, "decision": DECISIONS}.get(one.kind, FACTS)
    why = f" ({one.rationale})" if one.rationale and one.rationale not in one.text else ""
    by = f" ({BY_AGENT})" if one.speaker == "agent" else ""
    return Promotion.of(section, one.day, f"{one.text}{why}{by}", one.confidence, is_curated=one.is_curated)
