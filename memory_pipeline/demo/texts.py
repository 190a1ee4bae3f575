"""The texts of the demo: notes, knowledge-base entries (`texts.json`), and what the machinery of its agents repeats."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Lesson(NamedTuple):
    """One lesson that was written down several times: its wordings, the details that single notes add, a question whose
    answer is in one of the details, and the rule that it shares with other lessons, if it does."""

    project: str
    wordings: tuple[str, ...]
    details: tuple[str, ...]
    question: str
    answer: str
    rule: str = ""


class KnowledgeEntry(NamedTuple):
    """A title, a recommendation, and stories in which it proved right or was learned."""

    title: str
    recommendation: str
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The entry as it is written down."""
        lines = [f"Title: {self.title}", f"Recommendation: {self.recommendation}"]
        return "\n".join([*lines, "Examples:", *(f"- {story}" for story in self.examples)] if self.examples else lines)


def _tuples(value: Any) -> Any:
    """A value of JSON with tuples in the place of lists."""
    if isinstance(value, dict):
        return {name: _tuples(part) for name, part in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


_TEXTS: dict[str, Any] = _tuples(json.loads((Path(__file__).parent / "texts.json").read_text("utf-8")))

LESSONS: tuple[Lesson, ...] = tuple(Lesson(*row) for row in _TEXTS["lessons"])
PREFIXES: tuple[str, ...] = _TEXTS["prefixes"]
#: A project and two notes of it.
CONTRADICTIONS: tuple[tuple[str, str, str], ...] = _TEXTS["contradictions"]
#: Six causes with their effects, each in several episodes that differ in figures and wording; by project.
CAUSAL: tuple[tuple[str, tuple[str, ...]], ...] = _TEXTS["causal"]
#: A project and its notes: each is like the next, and the first is not like the last.
CHAIN: tuple[str, tuple[str, ...]] = _TEXTS["chain"]
#: By project, notes that are critical.
CRITICAL: tuple[tuple[str, str], ...] = _TEXTS["critical"]
CURATED: tuple[str, ...] = _TEXTS["curated"]
TEMPORARY: tuple[str, ...] = _TEXTS["temporary"]
SECRETS: tuple[str, ...] = _TEXTS["secrets"]
PEOPLE: tuple[str, ...] = _TEXTS["people"]
#: What people did on plain days, by project; combined with a reason each, no two alike.
DOINGS: dict[str, tuple[str, ...]] = _TEXTS["doings"]
REASONS: tuple[str, ...] = _TEXTS["reasons"]
#: What came of it; the second sentence of a plain day.
OUTCOMES: tuple[str, ...] = _TEXTS["outcomes"]
#: By project, groups of entries; those of one group recommend the same.
KNOWLEDGE: tuple[tuple[str, tuple[KnowledgeEntry, ...]], ...] = tuple(
    (project, tuple(KnowledgeEntry(*entry) for entry in group)) for project, group in _TEXTS["knowledge"]
)
#: Written on the last day, so that the demo's nights leave it for a later one; it recommends what the first group does.
LATE_ENTRY: tuple[str, KnowledgeEntry] = (_TEXTS["late_entry"][0], KnowledgeEntry(*_TEXTS["late_entry"][1]))
#: By project, pairs that say the same in other words.
PARAPHRASES: dict[str, tuple[tuple[str, str], ...]] = _TEXTS["paraphrases"]


class Telemetry(NamedTuple):
    """Lines of one form in one project: how many, a writer of one line, and lines with a value far outside."""

    project: str
    lines: int
    write: Callable[[random.Random, int], str]
    breaks: tuple[str, ...] = ()


def _around(chance: random.Random, middle: float, spread: float) -> float:
    """A value near the middle, never further off than two spreads."""
    return middle + spread * max(-2.0, min(2.0, chance.gauss(0, 1)))


TELEMETRY = (
    Telemetry("webshop", 22, lambda c, n: f"**Orders**: {round(_around(c, 84, 12))} | **Revenue**: {_around(c, 4100, 500):.2f} EUR | **Returns**: {c.randint(2, 9)}",
        ("**Orders**: 311 | **Revenue**: 15820.40 EUR | **Returns**: 4",)),
    Telemetry("webshop", 18, lambda c, n: f"Checkout suite: {398 + 2 * n} passed, {c.choice((0, 0, 0, 1, 2))} failed in {_around(c, 362, 18):.1f}s",
        ("Checkout suite: 97 passed, 318 failed in 1204.7s",)),
    Telemetry("webshop", 17, lambda c, n: f"stock_sync finished: {round(_around(c, 2260, 40))} rows, {c.randint(0, 6)} skipped, {_around(c, 41, 4):.1f} s"),
    Telemetry("webshop", 16, lambda c, n: f"HEARTBEAT_OK {c.randint(0, 23):02}:{c.choice((0, 30)):02} mail queue {c.randint(0, 12)}, tickets {c.randint(1, 9)}"),
    Telemetry("homelab", 26, lambda c, n: f"Brain: {3187 + 17 * n + c.randint(0, 9)} memories | Phi {_around(c, 0.652, 0.011):.4f}"),
    Telemetry("homelab", 20, lambda c, n: f"NAS volume 1: {_around(c, 81, 1.6):.1f}% used, {round(_around(c, 742, 30))} GB free, disk {round(_around(c, 36, 1.5))} C",
        ("NAS volume 1: 96.8% used, 118 GB free, disk 51 C",)),
    Telemetry("homelab", 18, lambda c, n: f"restic: {c.getrandbits(32) % 900 + 100} files saved, {_around(c, 2.4, 0.5):.2f} GiB added in {round(_around(c, 13, 2))} min"),
    Telemetry("homelab", 16, lambda c, n: f"[{c.randint(0, 23):02}:{c.randint(0, 59):02}] zigbee: {c.choice((42, 43, 43, 43))} devices, {c.choice((0, 0, 1))} unreachable, link quality {round(_around(c, 171, 9))}"),
    Telemetry("research", 22, lambda c, n: f"Queue: {c.randint(3, 40)} pending, {120 + 6 * n} done, {c.randint(0, 3)} failed"),
    Telemetry("research", 20, lambda c, n: f"eval: dev accuracy {_around(c, 81.2, 0.6):.1f}%, loss {_around(c, 0.512, 0.02):.3f}",
        ("eval: dev accuracy 34.7%, loss 2.871",)),
    Telemetry("research", 18, lambda c, n: f"gpu-3 {round(_around(c, 67, 4))} C, {c.randint(71, 99)}% busy, {round(_around(c, 288, 15))} W"),
    Telemetry("research", 15, lambda c, n: f"Spent today: ${_around(c, 3.1, 0.6):.2f} for {round(_around(c, 1900, 220))} calls",
        ("Spent today: $41.87 for 26113 calls",)),
    Telemetry("assistant", 18, lambda c, n: f"Inbox check at {c.randint(6, 21):02}:{c.randint(0, 59):02}: {c.randint(0, 14)} unread, {c.randint(0, 3)} flagged"),
    Telemetry("assistant", 16, lambda c, n: f"Morning briefing: {'delivered' if c.random() > 0.2 else 'delayed'}, {c.randint(4, 7)} items, weather {round(_around(c, 9, 4))} C"),
    Telemetry("assistant", 13, lambda c, n: f"Session closed: {round(_around(c, 61000, 9000))} tokens, {c.randint(11, 34)} turns, {_around(c, 0.42, 0.08):.2f} EUR",
        ("Session closed: 189400 tokens, 121 turns, 3.86 EUR",)),
)  # fmt: skip
