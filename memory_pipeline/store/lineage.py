"""The links between memories: what each one was made from, and what replaced it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from memory_pipeline.records import BESIDE, LineageLink
from memory_pipeline.store.rows import RowsOf, Statements

LINKS = RowsOf(LineageLink, "lineage")
#: From each of some memories (`start`) along its replacements, with the steps to each (`depth`).
_CHAIN = """
    with recursive chain(start, id, next, depth) as (
        select id, id, consolidated_into_id, 0
        from memories
        where id in (select unnest($1::text[]))
        union all
        select c.start, m.id, m.consolidated_into_id, c.depth + 1
        from memories m
        join chain c on m.id = c.next
        where c.depth < 100
    )
    """


class Lineage(Statements):
    """The links from memories to their sources, and the chains of replacements."""

    def add(self, links: Sequence[LineageLink]) -> None:
        """Add links from a memory to its direct sources."""
        LINKS(self._sql).insert(links)

    def replaced_by_words(self, memory_ids: Iterable[str]) -> dict[str, str]:
        """By memory that newer words of its source have superseded, the memory of these."""
        return self._sql.about(memory_ids).mapping("""
            select m.id, m.consolidated_into_id
            from memories m
            semi join lineage l
              on l.memory_id = m.consolidated_into_id and l.source_id = m.id and l.relation = 'superseded'
            where m.id in (select unnest($1::text[])) and m.archived_at is not null and m.rolled_back_at is null
            """)

    def active_versions(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Each of these ids with each active memory that has it, or is a version of it, by both."""
        return self._sql.about(ids).rows("""
            with asked as (select unnest($1::text[]) as own)
            select own, id from asked join memories on id = own where archived_at is null
            union all
            select own, id
            from asked
            join (select id from memories where archived_at is null and id like '%@____________') versions
              on id[:-14] = own
            order by own, id
            """)

    def of(self, memory_ids: Iterable[str]) -> list[LineageLink]:
        """The direct sources of these memories, by memory and source id."""
        return LINKS(self._sql.about(memory_ids)).select("""
            where memory_id in (select unnest($1::text[]))
            order by memory_id, source_id
            """)

    def made_by(self, relations: Sequence[str], memory_ids: Iterable[str] | None = None) -> dict[str, list[str]]:
        """By memory (of these, where given) that such links made, its direct sources."""
        return self._sql(relations, memory_ids).mapping("""
            select memory_id, list(source_id order by source_id)
            from lineage
            where relation in (select unnest($1::text[]))
              and ($2 is null or memory_id in (select unnest($2::text[])))
            group by 1
            order by 1
            """)

    def principles_on(self, pattern_ids: Iterable[str]) -> list[LineageLink]:
        """All links of the active principles that were made from one of these patterns, by principle and pattern."""
        return LINKS(self._sql.about(pattern_ids)).select("""
            where relation = 'principle' and memory_id in (
                select l.memory_id
                from lineage l
                join memories m on m.id = l.memory_id
                where l.relation = 'principle' and m.archived_at is null and m.rolled_back_at is null
                  and l.source_id in (select unnest($1::text[])))
            order by memory_id, source_id
            """)

    def raw_sources_of(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """By memory, the sorted ids at the bottom of its lineage, which were not made from anything. Memories
        without sources are omitted."""
        return self._raw_behind(ids, ("superseded", "extracted", "replaced"))

    def witnesses_of(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """By memory, the ids of the raw memories it was made from, without copies; memories without sources are
        omitted."""
        return self._raw_behind(ids, BESIDE)

    def _raw_behind(self, ids: Iterable[str], beside: tuple[str, ...]) -> dict[str, list[str]]:
        return self._sql.about(ids).mapping(f"""
            with recursive made as (select memory_id, source_id from lineage where relation not in {beside}),
            walk(top, id) as (
                select memory_id, source_id from made where memory_id in (select unnest($1::text[]))
                union
                select w.top, l.source_id from walk w join made l on l.memory_id = w.id
            )
            select top, list(walk.id order by walk.id)
            from walk
            join memories m on m.id = walk.id
            where m.source_connector <> 'night'
            group by 1
            """)

    def replaced_by(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """By statement, the sorted ids of those that it replaced, directly or through others."""
        replaced = self._sql.about(ids).mapping("""
            with recursive walk(top, id) as (
                select memory_id, source_id
                from lineage
                where relation = 'replaced' and memory_id in (select unnest($1::text[]))
                union
                select w.top, l.source_id from walk w join lineage l on l.memory_id = w.id and l.relation = 'replaced'
            )
            select top, list(distinct id order by id) from walk group by 1
            """)
        return {i: replaced.get(i, []) for i in ids}

    def told_by(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """By abstraction, the sorted ids of the memories whose words it has to keep: its direct sources, but for a
        pattern among them, whose next version it is, the raw memories behind that pattern."""
        wanted = list(ids)
        direct = self._sql.about(wanted).rows(f"""
            select l.memory_id, l.source_id, l.relation = 'distilled' and s.abstraction_level = 2 as is_version
            from lineage l
            join memories s on s.id = l.source_id
            where l.memory_id in (select unnest($1::text[])) and l.relation not in {BESIDE}
            """)
        behind = self.witnesses_of({str(source) for _, source, is_version in direct if is_version})
        sources_of: dict[str, set[str]] = {}
        for memory_id, source, is_version in direct:
            sources_of.setdefault(str(memory_id), set()).update(behind.get(source, []) if is_version else [str(source)])
        return {memory_id: sorted(sources) for memory_id, sources in sources_of.items()}

    def replacements_of(self, memory_ids: Iterable[str]) -> dict[str, str]:
        """By memory, the active one at the end of its chain of replacements (itself if it is active or unknown)."""
        wanted = list(memory_ids)
        query = f"{_CHAIN} select start, max_by(id, depth) from chain group by start"
        return {i: i for i in wanted} | self._sql.about(wanted).mapping(query)

    def replaced_since(self, memory_ids: Iterable[str]) -> list[tuple[str, str, str]]:
        """Of some statements, those that a later one stands for: each with that one and what archived its sources."""
        return self._sql.about(memory_ids).rows("""
            select l.source_id, l.memory_id, min(a.archived_by)
            from lineage l
            join memories m on m.id = l.memory_id and m.rolled_back_at is null
            join memories a on a.consolidated_into_id = m.id and a.archived_by is not null
            where l.relation = 'replaced' and l.source_id in (select unnest($1::text[]))
            group by 1, 2
            order by 1, 2
            """)

    def turned_at(self, memory_ids: Iterable[str]) -> dict[str, datetime]:
        """Of those of some memories that stand no more because something else holds since, the time of what took their
        place first: a newer statement, or the side of a contradiction that a person kept."""
        return self._sql.about(memory_ids).mapping(f"""
            {_CHAIN}
            select c.start, min(n.effective_date)
            from chain c
            join lineage l on l.source_id = c.id and l.memory_id = c.next
            join memories n on n.id = c.next
            where l.relation in ('superseded', 'replaced')
            group by c.start
            """)

    def replacement_of(self, memory_id: str) -> str:
        """The active memory at the end of a chain of replacements (the memory itself if it is active)."""
        return self.replacements_of([memory_id])[memory_id]
