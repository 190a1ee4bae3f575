"""`check`: is the store consistent? Verifies links, hashes of sources, vectors, the log, and the laws.

Each finding names a memory or a row, the problem, and how to fix it. Most rules are queries, in `rules.sql`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from functools import cache, partial
from importlib import resources
from typing import NamedTuple

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.store.lineage import Lineage
from memory_pipeline.store.memories import Memories
from memory_pipeline.store.migrations import memory_state
from memory_pipeline.store.rows import LINEAGE, MEMORIES, TABLES, Row, Statements, rows_digest
from memory_pipeline.store.series import SeriesMemories, wrong_in_series
from memory_pipeline.text.normalise import hashes_of
from memory_pipeline.text.preservation import what_is_kept

_RESTORE = "restore a snapshot from before ('memory-pipeline snapshot list')"
_RULE = re.compile(
    r"-- (?P<deep>deep )?rule: (?P<name>[^\n]+)\n(?:-- mend: (?P<mend>[^\n]+)\n)?(?P<query>.+);\s*", re.DOTALL
)
_MAX_PER_RULE = 20
_READ_AT_ONCE = 500
#: By rule, the contents of its tables in which this process last found nothing wrong: a backfill looks at the same rows
#: day after day.
_found_right: dict[str, list[Row]] = {}


class _Rule(NamedTuple):
    """One rule of `rules.sql`: its query returns one row per violation, with its location and problem."""

    name: str
    query: str
    mend: str
    is_deep: bool

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that its query names."""
        words = set(re.findall(r"\w+", self.query))
        return tuple(table.name for table in TABLES if table.name in words)


@cache
def _rules() -> tuple[_Rule, ...]:
    text = (resources.files("memory_pipeline.store") / "rules.sql").read_text("utf-8")
    _, *blocks = text.replace("{memory_state}", memory_state("m")).split("\n\n")
    rules = []
    for block in blocks:
        rule = _RULE.fullmatch(block)
        assert rule is not None, f"rules.sql has a block that is no rule: {block}"
        rules.append(_Rule(rule["name"], rule["query"], rule["mend"] or _RESTORE, bool(rule["deep"])))
    return tuple(rules)


class Finding(Document):
    """One problem: the violated rule, where, and the fix."""

    rule: str = Field(description="The rule that is violated.")
    where: str = Field(description="The memory or the row.")
    problem: str = Field(description="What is wrong with it.")
    mend: str = Field(description="How to fix it.")


def _finding(rule: str, where: str, problem: str, mend: str) -> Finding:
    return Finding(rule=rule, where=where, problem=problem, mend=mend)


class Integrity(Statements):
    """Checks that the contents of the store are sound."""

    def check(self, *, deep: bool = False, facts: bool = False) -> list[Finding]:
        """All problems of the store, at most twenty per rule; empty if it is sound.

        Contents are hashed again; `deep` also recomputes ratios, sources, chains, series and the audit log, and
        `facts` compares every abstraction with its sources.
        """
        looks: list[tuple[str, tuple[str, ...], Callable[[], list[Finding]]]] = [
            (rule.name, rule.tables, partial(self._broken, rule)) for rule in _rules() if deep or not rule.is_deep
        ]
        looks.append(("hashes", (MEMORIES,), self._find_wrong_hashes))
        if deep:
            looks.append(("series", (MEMORIES, LINEAGE), self.untrue_series))
        tables = sorted({table for _, names, _ in looks for table in names})
        contents = {str(row[0]): row for row in self._sql.rows(" union all ".join(map(rows_digest, tables)))}
        findings = []
        for name, names, look in looks:
            seen = [contents[table] for table in names]
            if _found_right.get(name) != seen:
                problems = look()
                findings += problems
                if not problems:
                    _found_right[name] = seen
        return findings + (self._find_lost_facts() if facts else [])

    def _broken(self, rule: _Rule) -> list[Finding]:
        rows = self._sql.rows(f"select * from ({rule.query}) order by 1 limit {_MAX_PER_RULE}")
        return [_finding(rule.name, str(where), str(problem), rule.mend) for where, problem in rows]

    def untrue_series(self, ids: Collection[str | None] | None = None) -> list[Finding]:
        """Active series memories (of these ids, when given) that do not say what their readings amount to, computed
        again from the readings."""
        findings = []
        series = SeriesMemories(self._sql)
        for memory in (memory for memory in series.active() if ids is None or memory.id in ids):
            wrong = wrong_in_series(memory.content, memory.facts, series.readings_of(memory))
            if wrong is not None:
                mend = f"its readings are archived whole: 'memory-pipeline rollback --abstraction {memory.id}'"
                findings.append(_finding("series say what their readings say", memory.id, wrong, mend))
        return findings[:_MAX_PER_RULE]

    def _find_lost_facts(self) -> list[Finding]:
        """Facts that abstractions lack of their direct sources."""
        findings = []
        made = self._sql.strings(
            "select id from memories where source_connector = 'night' and rolled_back_at is null order by id"
        )
        for start in range(0, len(made), _READ_AT_ONCE):
            rows = self._sql(made[start : start + _READ_AT_ONCE]).rows("""
                select m.id, any_value(m.content), list(s.content order by s.id), bool_or(s.abstraction_level = 2)
                from memories m
                join lineage l on l.memory_id = m.id
                join memories s on s.id = l.source_id
                  and (l.relation in ('distilled', 'merged', 'canonical')
                       -- Notes behind earlier statements may say more, which other statements have.
                       or (l.relation = 'established' and s.consolidated_into_id = m.id))
                where m.id in (select unnest($1::text[]))
                group by m.id
                order by m.id
                """)
            grown = Lineage(self._sql).told_by([memory_id for memory_id, _, _, is_version in rows if is_version])
            behind = Memories(self._sql).contents({i for ids in grown.values() for i in ids})
            contents = {memory_id: [behind[i][1] for i in ids if i in behind] for memory_id, ids in grown.items()}
            for memory_id, content, direct, _ in rows:
                lost = what_is_kept(contents.get(memory_id) or direct, content).lost
                if lost:
                    words = ", ".join(f"the {fact.kind} '{fact.text}'" for fact in lost[:3])
                    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
                    mend = f"its sources are archived whole: 'memory-pipeline rollback --abstraction {memory_id}'"
                    findings.append(
                        _finding("abstractions say what their sources say", memory_id, f"lacks {words}{more}", mend)
                    )
                if len(findings) >= _MAX_PER_RULE:
                    return findings
        return findings

    def _find_wrong_hashes(self) -> list[Finding]:
        findings = []
        rows = self._sql.stream("select id, content, content_hash, shape_hash, importance from memories order by id")
        for memory_id, content, recorded, shape, importance in rows:
            if hashes_of(content) != (recorded, shape):
                problem = "the content is not what was imported"
                findings.append(_finding("content matches its hashes", memory_id, problem, _RESTORE))
            if not math.isfinite(importance):
                findings.append(_finding("importance is a number", memory_id, f"importance is {importance}", _RESTORE))
            if len(findings) >= _MAX_PER_RULE:
                break
        return findings
