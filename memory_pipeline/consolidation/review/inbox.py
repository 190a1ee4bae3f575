"""Everything that waits for a person's decision, in one list."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from memory_pipeline.consolidation.review.conflicts import list_conflicts
from memory_pipeline.consolidation.review.patterns import list_patterns
from memory_pipeline.consolidation.review.proposals import describe_proposals
from memory_pipeline.documents import Document
from memory_pipeline.store import Store


class Waiting(Document):
    """Something that waits for a decision."""

    kind: str = Field(description="`proposal`, `conflict` or `pattern`.")
    id: str = Field(description="Its id.")
    project: str = Field(description="Its project.")
    text: str = Field(description="What it is about.")
    decide: str = Field(description="The command that decides it.")


class Inbox(Document):
    """Everything that waits for a decision."""

    count: int = Field(description="How much that is.")
    waiting: tuple[Waiting, ...] = Field(description="What it is: proposals, then conflicts, then patterns.")
    quarantined: int = Field(description="Rows that no import could take; they stay listed after they were mended.")


def read_inbox(opened: Store, project: str | None, today: date) -> Inbox:
    """What waits in one project, or in all (None). `today`: the day for which the confidence of patterns is told."""
    with opened.reading() as tx:
        proposals = describe_proposals(tx, tx.proposals.list("pending"))
        quarantined = len(tx.journal.rejected())
    conflicts = list_conflicts(opened, project=project)
    patterns = list_patterns(opened, project, today)
    command = "memory-pipeline review"
    waiting = [
        *(
            Waiting(
                kind="proposal",
                id=one.id,
                project=one.project_id,
                text=" ".join(one.abstraction.split()),
                decide=f"{command} proposals approve {one.id[:8]}",
            )
            for one in proposals
            if project in (None, one.project_id)
        ),
        *(
            Waiting(
                kind="conflict",
                id=one.id,
                project=one.project_id,
                text=" / ".join(
                    f"{side.day or 'undated'}: {' '.join(side.content.split())}" for side in (one.a, one.b)
                ),
                decide=f"{command} conflicts resolve {one.id[:8]} --keep {'newer' if one.newer_id else 'b'}",
            )
            for one in conflicts
        ),
        *(
            Waiting(
                kind="pattern",
                id=one.id,
                project=one.project_id,
                text=one.text,
                decide=f"{command} patterns confirm {one.id[:8]}",
            )
            for one in patterns
        ),
    ]
    return Inbox(count=len(waiting), waiting=tuple(waiting), quarantined=quarantined)
