"""Errors of a night."""

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
    "distill",
    "write",
    "archive",
    "enrich",
    "recall",
    "export",
    "report",
    "night",
]


@dataclass(frozen=True, slots=True)
class NightError:
    """An error in one cluster, which did not stop the others."""

    cluster_id: str
    stage: Stage
    error: str
    timestamp: datetime
