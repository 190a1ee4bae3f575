"""`check`: is the store consistent? Verifies links, hashes of sources, vectors, the log, and the laws.

Each finding names a memory or a row, the problem, and how to fix it.
"""

from __future__ import annotations

import math
from collections import deque

from pydantic import Field

from memory_pipeline.documents import Document
from memory_pipeline.store.rules import DEEP_RULES, RESTORE, RULES
from memory_pipeline.store.sql import Row, Sql
from memory_pipeline.wording.normalise import hashes_of
from memory_pipeline.wording.witness import what_is_kept

_MAX_PER_RULE = 20
_HASHED_AT_ONCE, _READ_AT_ONCE = 2000, 500
_HASHED = "id, content, content_hash, shape_hash, importance"
_WHAT_IS_HASHED = f"""
    select count(*), bit_xor(hash({_HASHED})), sum(hash({_HASHED}) % 4294967296)
    from memories
    """
#: What was hashed again in this process and found right: a backfill looks at the same memories day after day.
_found_right: deque[Row] = deque(maxlen=16)


class Finding(Document):
    """One problem: the violated rule, where, and the fix."""

    rule: str = Field(description="The rule that is violated.")
    where: str = Field(description="The memory or the row.")
    problem: str = Field(description="What is wrong with it.")
    mend: str = Field(description="How to fix it.")


def _finding(rule: str, where: str, problem: str, mend: str) -> Finding:
    return Finding(rule=rule, where=where, problem=problem, mend=mend)


class Integrity:
    """Whether the contents of the store are sound."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def check(self, *, deep: bool = False, facts: bool = False) -> list[Finding]:
        """All problems of the store, at most twenty per rule; empty if it is sound.

        Contents are hashed again; `deep` also recomputes ratios, sources, chains and the audit log, and `facts`
        compares every abstraction with its sources.
        """
        findings = []
        for rule in (*RULES, *(DEEP_RULES if deep else ())):
            rows = self._sql.rows(f"select * from ({rule.query}) order by 1 limit {_MAX_PER_RULE}")
            findings += [_finding(rule.name, str(where), str(problem), rule.mend) for where, problem in rows]
        return findings + self._wrong_hashes() + (self._lost_facts() if facts else [])

    def _lost_facts(self) -> list[Finding]:
        """Facts that abstractions lack of their direct sources, found by `wording.witness`, which made none of them."""
        found = []
        pages = self._sql.pages(
            """
            select m.id, any_value(m.content), list(s.content order by s.id)
            from memories m
            join lineage l on l.memory_id = m.id and l.relation in ('distilled', 'merged', 'canonical')
            join memories s on s.id = l.source_id
            where m.source_connector = 'night' and m.rolled_back_at is null
            group by m.id
            order by m.id
            """,
            _READ_AT_ONCE,
        )
        for rows in pages:
            for memory_id, content, sources in rows:
                lost = what_is_kept(sources, content).lost
                if lost:
                    words = ", ".join(f"the {said.kind} '{said.words}'" for said in lost[:3])
                    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
                    mend = f"its sources are archived whole: 'memory-pipeline rollback --abstraction {memory_id}'"
                    found.append(
                        _finding("abstractions say what their sources say", memory_id, f"lacks {words}{more}", mend)
                    )
                if len(found) >= _MAX_PER_RULE:
                    return found
        return found

    def _wrong_hashes(self) -> list[Finding]:
        looked_at = self._sql.row(_WHAT_IS_HASHED)
        if looked_at in _found_right:
            return []
        found = self._hashed_again()
        if not found and looked_at is not None:
            _found_right.append(looked_at)
        return found

    def _hashed_again(self) -> list[Finding]:
        found = []
        pages = self._sql.pages(f"select {_HASHED} from memories order by id", _HASHED_AT_ONCE)
        for rows in pages:
            for memory_id, content, recorded, shape, importance in rows:
                if hashes_of(content) != (recorded, shape):
                    problem = "the content is not what was imported"
                    found.append(_finding("content matches its hashes", memory_id, problem, RESTORE))
                if not math.isfinite(importance):
                    problem = f"importance is {importance}"
                    found.append(_finding("importance is a number", memory_id, problem, RESTORE))
                if len(found) >= _MAX_PER_RULE:
                    return found
        return found
