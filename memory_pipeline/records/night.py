"""Errors of a night, and what else a person should know of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Verdict = Literal["PASS", "PARTIAL", "FAIL", "IDLE"]
Stage = Literal[
    "sources",
    "conversations",
    "extraction",
    "embed",
    "read",
    "distill",
    "write",
    "archive",
    "enrich",
    "recall",
    "export",
    "report",
    "night",
    "moved",
]
#: The stage of what is no error: where lines of a person stand now.
MOVED: Stage = "moved"


@dataclass(frozen=True, slots=True)
class NightError:
    """An error in one cluster, which did not stop the others."""

    cluster_id: str
    stage: Stage
    error: str
    timestamp: datetime
