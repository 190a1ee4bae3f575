"""The contents of the store as a whole: row counts, and the digest by which two stores are compared."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from memory_pipeline.moments import FIRST_MEMORY, LAST_MEMORY
from memory_pipeline.store.rows import Row, Sql, from_utc, to_utc

#: Columns that came later are left out where they say nothing, so that earlier stores keep their digests. No text can
#: hold these words: JSON escapes its quotation marks.
_MEMORIES = """
    select sha256(coalesce(string_agg(sha256(regexp_replace(
        to_json(m)::text, ',"(?:utc_offset":0|headings":\\[\\]|lead_in":"")', '', 'g'
    )), '' order by id), ''))
    from (
        select * exclude (updated_at) replace (
            if($1, 0, reuse_count) as reuse_count, if($1, 0, useful_count) as useful_count
        )
        from memories
        where not $1 or archived_at is null
    ) m
    """
_LINEAGE = """
    select sha256(coalesce(string_agg(sha256(to_json(l)::text), '' order by memory_id, source_id), ''))
    from lineage l
    where not $1 or memory_id in (select id from memories where archived_at is null)
    """
_LOG = """
    select sha256(coalesce(string_agg(sha256(to_json(g)::text), '' order by id), ''))
    from (select * exclude (run_id) from compression_log) g
    """
_CONFLICTS = """
    select sha256(coalesce(string_agg(sha256(to_json(c)::text), '' order by a, b), ''))
    from conflicts c
    """
#: These give nothing, instead of a digest of nothing, if there are no rows.
_ATOMS = """
    select sha256(string_agg(sha256(to_json(a)::text), '' order by id))
    from atoms a
    where retracted_at is null
    having count(*) > 0
    """
_PLAYBOOK = """
    select sha256(string_agg(sha256(to_json(p)::text), '' order by id))
    from playbook_entries p
    where retracted_at is null
    having count(*) > 0
    """
_EXTRACTIONS = """
    select sha256(string_agg(sha256(to_json(e)::text), '' order by id))
    from (select * exclude (run_id) from extractions where gone_at is null) e
    having count(*) > 0
    """
_PAGE = 5000
#: Changes with any change of a row of these tables, whatever the order of the rows.
_ROWS = " union all ".join(
    f"select '{table}', count(*), bit_xor(hash(t)), sum(hash(t) % 4294967296) from {table} t"
    for table in ("memories", "lineage", "compression_log", "conflicts", "atoms", "playbook_entries", "extractions")
)
#: Digests that this process has computed, by these rows: the snapshots of a backfill are of the same contents.
_known: dict[tuple[Row, ...], str] = {}


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Memories and tokens of a project. `made`: active memories that nights made; `raw_tokens`: tokens of everything
    that was read and never made."""

    active: int
    archived: int
    made: int
    active_tokens: int
    archived_tokens: int
    raw_tokens: int
    by_type: dict[str, int]
    by_level: dict[int, int]


class Contents:
    """Counts and digests over all tables."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def facts(self) -> dict[str, int]:
        """Row counts for display: active, archived, abstractions, conflicts, quarantine, tokens."""
        row = self._sql.row(
            """
            select count(*) filter (where archived_at is null),
                   count(*) filter (where archived_at is not null and rolled_back_at is null),
                   count(*) filter (where source_connector = 'night' and rolled_back_at is null),
                   coalesce(sum(token_count) filter (where archived_at is null), 0),
                   (select count(*) from conflicts where resolution is null),
                   (select count(*) from quarantine)
            from memories
            """
        )
        assert row is not None
        names = ("active", "archived", "abstractions", "active_tokens", "conflicts", "quarantined")
        return dict(zip(names, (int(value) for value in row), strict=True))

    def of_project(self, project_id: str) -> ProjectCounts:
        """The counts of one project; rolled-back memories are left out."""
        row = self._sql.row(
            """
            select count(*) filter (where archived_at is null),
                   count(*) filter (where archived_at is not null),
                   count(*) filter (where archived_at is null and source_connector = 'night'),
                   coalesce(sum(token_count) filter (where archived_at is null), 0),
                   coalesce(sum(token_count) filter (where archived_at is not null), 0),
                   coalesce(sum(token_count) filter (where source_connector <> 'night'), 0)
            from memories
            where project_id = $1 and rolled_back_at is null
            """,
            [project_id],
        )
        assert row is not None
        groups = self._sql.rows(
            """
            select memory_type, abstraction_level, count(*)
            from memories
            where project_id = $1 and archived_at is null
            group by 1, 2
            order by 1, 2
            """,
            [project_id],
        )
        types, levels = Counter[str](), Counter[int]()
        for memory_type, level, count in groups:
            types[memory_type] += count
            levels[level] += count
        active, archived, made, active_tokens, archived_tokens, raw_tokens = (int(value) for value in row)
        return ProjectCounts(
            active,
            archived,
            made,
            active_tokens,
            archived_tokens,
            raw_tokens,
            dict(types),
            dict(sorted(levels.items())),
        )

    def first_moment(self) -> datetime | None:
        """When the first memory was created, of those with a time that a memory can have; None if there is none."""
        first = self._sql.value("select min(created_at) from memories where created_at >= $1", [to_utc(FIRST_MEMORY)])
        return from_utc(first) if first is not None else None

    def last_noted(self) -> datetime | None:
        """When the newest note or turn was written, of those that say so; None if none does."""
        last = self._sql.value(
            """
            select max(created_at)
            from memories
            where created_at <= $1 and created_at_quality in ('exact', 'date')
              and source_connector not in ('night', 'conversations')
            """,
            [to_utc(LAST_MEMORY)],
        )
        return from_utc(last) if last is not None else None

    def of_impossible_days(self) -> dict[str, datetime]:
        """When the memories were created that have a time that no memory can have, by id."""
        rows = self._sql.rows(
            "select id, created_at from memories where created_at < $1 or created_at > $2 order by created_at, id",
            [to_utc(FIRST_MEMORY), to_utc(LAST_MEMORY)],
        )
        return {memory_id: from_utc(created) for memory_id, created in rows}

    def digest(self, *, active_only: bool = False, with_log: bool = False, playbook: bool = True) -> str:
        """SHA-256 over all memories and their lineage, in id order; only over the active ones if requested, then
        without the counts of their use, so that a search between a run and its undoing changes nothing.

        It does not depend on row order, on when a run happened, or on its id. `with_log` adds the compression log,
        the conflicts and, if there are any, the atoms, the playbook and what was extracted from conversations (without
        `playbook`: as before the playbook was included).
        """
        digests = [self._sql.value(part, [active_only]) for part in (_MEMORIES, _LINEAGE)]
        if with_log:
            knowledge = (_ATOMS, _PLAYBOOK) if playbook else (_ATOMS,)
            digests += [self._sql.value(part) for part in (_LOG, _CONFLICTS, *knowledge, _EXTRACTIONS)]
        combined = self._sql.value("select sha256($1)", ["".join(part for part in digests if part)])
        return str(combined)

    def knowledge_digest(self) -> str:
        """The digest with the log, computed once in this process for the same contents."""
        rows = tuple(sorted(self._sql.rows(_ROWS)))
        if rows not in _known:
            _known.clear()
            _known[rows] = self.digest(with_log=True)
        return _known[rows]

    def sources_fingerprint(self) -> str:
        """SHA-256 over id, content, categories and creation time of every raw memory: the fields that never change."""
        digest = hashlib.sha256()
        pages = self._sql.pages(
            """
            select id, content, array_to_string(categories, ','), created_at::text
            from memories
            where source_connector not in ('night', 'conversations')
            order by id
            """,
            _PAGE,
        )
        for rows in pages:
            for row in rows:
                digest.update("\x1f".join(str(part) for part in row).encode() + b"\x1e")
        return digest.hexdigest()
