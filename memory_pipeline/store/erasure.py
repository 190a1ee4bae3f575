"""Everything that goes with memories that are forgotten: memories that say their words, what else is known of these,
and what is active again without them.

Read from the store as it is. `rewriting` then writes a store without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from memory_pipeline.records import IN_OTHER_WORDS, MADE, Memory
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rollbacks import RollbackPlan, Rollbacks
from memory_pipeline.store.rows import Statements
from memory_pipeline.text.own_words import FORGOTTEN

#: Every link there is or ever was: a rollback removes those of what it retires, and the words of that stay on record.
_LINKS = """
    select memory_id, source_id, relation from lineage
    union
    select state ->> 'memory_id', state ->> 'source_id', state ->> 'relation'
    from (
        select coalesce(after_state, before_state) as state from audit_log where table_name = 'lineage'
    )
    """
#: Texts that say what memories say, beside their contents, each with a memory.
_TOLD = """
    select coalesce(memory_id, turn_id) as id, turn_id, unnest([text, quote, rationale]) as said from extractions
    union all
    select memory_id, null, unnest([subject, action, outcome, consequences]) from atom_candidates
    union all
    select memory_id, null, guidance from playbook_contributions
    """


@dataclass(frozen=True, slots=True)
class Erased:
    """The memories that go, and what a rollback of those among them that nights made would do."""

    memory_ids: tuple[str, ...]
    made_ids: tuple[str, ...]
    rollback: RollbackPlan


class Erasure(Statements):
    """Finds what would go with chosen memories."""

    def of(self, chosen: Collection[str], known: Collection[str] = ()) -> Erased:
        """All memories that say the words of chosen ones, these included, as far as the store has them. `known`: of an
        earlier state of a store, what is known to say them from a later one.

        These are copies, what was made or extracted from them, the turn from which something was extracted, and of what
        a night made the notes behind it.
        """
        ids = set(self._sql(list(chosen)).strings("select id from memories where id in (select unnest($1::text[]))"))
        ids |= set(self._behind(ids))
        ids |= set(self._sql(list(known)).strings("select id from memories where id in (select unnest($1::text[]))"))
        while more := self._find_next(sorted(ids)) - ids:
            ids |= more
        rows = self._sql(sorted(ids), MADE).rows("""
            select id, rolled_back_at is null
            from memories
            where source_connector = $2 and id in (select unnest($1::text[]))
            order by id
            """)
        standing = [str(memory_id) for memory_id, stands in rows if stands]
        plan = Rollbacks(self._sql).plan_without("what was made of forgotten memories", sorted(ids), standing)
        return Erased(tuple(sorted(ids)), tuple(str(row[0]) for row in rows), plan)

    def texts(self, ids: Sequence[str]) -> list[str]:
        """The words of these memories, and those about them elsewhere."""
        texts = self._sql(ids).strings(f"""
            select content from memories where id in (select unnest($1::text[]))
            union all
            select said from ({_TOLD}) where id in (select unnest($1::text[])) or turn_id in (select unnest($1::text[]))
            """)
        return [text for text in texts if text and text != FORGOTTEN]

    def texts_that_stay(self, ids: Sequence[str]) -> Iterator[str]:
        """The words of every other memory, and those about them elsewhere."""
        gone = set(ids)
        rows = self._sql.stream(f"select id, null, content from memories union all {_TOLD}")
        return (str(text) for memory_id, turn_id, text in rows if text and not gone.intersection((memory_id, turn_id)))

    def differences(self, ids: Sequence[str]) -> list[str]:
        """The words in which these memories differ from those that they contradict, which only their conflicts have."""
        return self._sql(ids, IN_OTHER_WORDS).strings("""
            select detail
            from (
                select detail, a in (select unnest($1::text[])) or b in (select unnest($1::text[])) as goes
                from conflicts
                where detail <> $2
            )
            group by detail
            having bool_and(goes)
            order by detail
            """)

    def alike(self, ids: Sequence[str], least: float) -> list[tuple[str, float]]:
        """Other memories that say nearly the same as one of these, as nights have compared them, with the likeness."""
        return self._sql(ids, least).rows("""
            with pairs as (
                select a, b, score from similarity_edges
                union all
                select b, a, score from similarity_edges
                union all
                select x.source_id, y.source_id, least(x.similarity, y.similarity)
                from lineage x
                join lineage y on y.memory_id = x.memory_id and y.source_id <> x.source_id
                where x.relation in ('merged', 'duplicate') and y.relation in ('merged', 'duplicate')
            )
            select b, max(score)
            from pairs
            where a in (select unnest($1::text[])) and b not in (select unnest($1::text[])) and score >= $2
            group by b
            order by 2 desc, 1
            """)

    def saying(self, words: Sequence[str], project_id: str | None) -> list[Memory]:
        """Every memory that was read, in any state, that has all of these words in any case, by creation and id."""
        which = "list_bool_and(list_transform($1::text[], lambda w: contains(lower(content), lower(w))))"
        return self._read_memories(f"{which} and content <> '{FORGOTTEN}'", words, project_id)

    def from_file(self, file: str, project_id: str | None) -> list[Memory]:
        """Every memory that was read from a file: its name as memories have it, or the end of it."""
        which = """
            source_file = $1 or ends_with(source_file, '/' || $1) or starts_with(source_file, $1 || '/')
            or ends_with($1, '/' || source_file)
            """
        return self._read_memories(which, file, project_id)

    def of_conversation(self, name: str, project_id: str | None) -> list[Memory]:
        """Every turn of a conversation: its file, or that with its connector, or the end or the stem of its name."""
        which = """
            memory_type = 'conversation' and (
                source_file = $1 or source_connector || ':' || source_file = $1 or ends_with(source_file, '/' || $1)
                or regexp_replace(regexp_replace(source_file, '^.*/', ''), '\\.[A-Za-z0-9.]+$', '') = $1)
            """
        return self._read_memories(which, name, project_id)

    def _read_memories(self, which: str, wanted: object, project_id: str | None) -> list[Memory]:
        return MEMORIES(self._sql(wanted, project_id, MADE)).select(f"""
            where source_connector <> $3 and ($2 is null or project_id = $2) and ({which})
            order by created_at, id
            """)

    def rejected(self, file: str | None, words: Sequence[str]) -> list[tuple[str, int]]:
        """The rejected rows of a file, or those whose excerpt contains all of these words."""
        return self._sql(file, words).rows("""
            select distinct file, line
            from quarantine
            where ($1 is not null and (file = $1 or ends_with(file, '/' || $1) or ends_with($1, '/' || file)))
               or ($1 is null and len($2::text[]) > 0
                   and list_bool_and(list_transform($2::text[], lambda w: contains(lower(excerpt), lower(w)))))
            order by 1, 2
            """)

    def _behind(self, ids: Collection[str]) -> list[str]:
        """The notes from which those of these were made that nights made, through all levels."""
        return self._sql(sorted(ids), MADE).strings(f"""
            with recursive links as ({_LINKS}),
            walk(id) as (
                select id from memories where source_connector = $2 and id in (select unnest($1::text[]))
                union
                select l.source_id
                from links l
                join walk w on w.id = l.memory_id
                where l.relation not in ('duplicate', 'superseded', 'extracted', 'replaced')
            )
            select walk.id from walk join memories m on m.id = walk.id where m.source_connector <> $2
            """)

    def _find_next(self, ids: Sequence[str]) -> set[str]:
        """The memories one step away that say the words of these."""
        next_ids = self._sql(ids, MADE, FORGOTTEN).string_set(f"""
            with gone as (select unnest($1::text[]) as id),
            links as ({_LINKS})
            select memory_id from links join gone on source_id = gone.id
            where relation not in ('duplicate', 'superseded')
            union
            select source_id from links join gone on memory_id = gone.id where relation = 'extracted'
            union
            select turn_id from extractions join gone on memory_id = gone.id
            union
            select memory_id from extractions join gone on turn_id = gone.id where memory_id is not null
            union
            select m.id
            from memories m
            join gone on list_contains(
                from_json(case when json_valid(m.compressed_from)
                               then m.compressed_from -> 'series' -> 'breaking_ids' end, '["VARCHAR"]'), gone.id)
            union
            select m.id
            from gone
            join memories g on g.id = gone.id and g.source_connector <> $2
            join memories m on m.project_id = g.project_id and m.content_hash = g.content_hash
            where m.source_connector <> $2 and g.content <> $3
              and (m.memory_type <> 'conversation' or m.created_at = g.created_at)
            """)
        return next_ids & self._sql.string_set("select id from memories")
