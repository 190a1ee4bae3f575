"""Records what nights have read of their sources: the state of each file, and the memories that came from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from memory_pipeline.records import Memory, SourceEntry, SourceFile, SourceReading
from memory_pipeline.store.forgotten import Forgotten
from memory_pipeline.store.rows import RowsOf, Statements
from memory_pipeline.text.normalise import has_done

_FILES, _ENTRIES = RowsOf(SourceFile, "source_files"), RowsOf(SourceEntry, "source_entries")
_READINGS = RowsOf(SourceReading, "source_readings")
#: What a memory says: its project, the hash of its content, and whether a task in it is done, of which no hash tells.
Words = tuple[str, str, bool]


def words_of(memory: Memory) -> Words:
    return memory.project_id, memory.content_hash, has_done(memory.content)


class Sources(Statements):
    """Files of sources and the memories from them."""

    def files(self, source: str) -> dict[str, SourceFile]:
        """The files of a source as they were last read, by name."""
        return {state.file: state for state in _FILES(self._sql(source)).select("where source = $1")}

    def contents_of(self, project_id: str, connector: str, files: Sequence[str]) -> list[tuple[str, str]]:
        """The file and the words of the active memories that a connector brought from files of these names."""
        return self._sql(project_id, connector, files).rows("""
            select source_file, content
            from memories
            where project_id = $1 and source_connector = $2 and source_file in (select unnest($3::text[]))
              and archived_at is null
            order by source_file, source_line, id
            """)

    def projects(self) -> dict[str, list[str]]:
        """The projects of the memories that each source brought."""
        return self._sql.mapping("""
            select e.source, list(distinct m.project_id order by m.project_id)
            from source_entries e
            join memories m on m.id = e.memory_id
            group by 1
            """)

    def last_read(self) -> dict[str, datetime]:
        """As of when each source was last read."""
        return self._sql.mapping("select source, max(read_as_of) from source_files group by 1")

    def keep_reading(self, run_id: str, reading: SourceReading) -> None:
        self._sql(run_id, reading.source).run("delete from source_readings where run_id = $1 and source = $2")
        _READINGS(self._sql).insert([reading], run_id=run_id)

    def readings(self, run_id: str) -> list[SourceReading]:
        """The readings of each source by a run, by name."""
        return _READINGS(self._sql(run_id)).select("where run_id = $1 order by source")

    def keep_files(self, files: Sequence[SourceFile]) -> None:
        """Record the state in which files were read."""
        _FILES(self._sql).put(files)

    def pending(self, source: str) -> dict[str, datetime]:
        """The entries that a night saw and left for a later one, by the id that they will have, with their time."""
        return self._sql(source).mapping("select memory_id, counts_from from source_pending where source = $1")

    def keep_pending(self, source: str, pending: Mapping[str, datetime]) -> None:
        """Record entries that were left for a later night; those that are memories by now, or that a person had
        forgotten, are not."""
        gone = Forgotten(self._sql).ids_among(pending)
        pending = {memory_id: moment for memory_id, moment in pending.items() if memory_id not in gone}
        times = pa.array(pending.values(), pa.timestamp("us"))
        self._sql(source, waiting=pa.table({"id": pa.array(list(pending), pa.string()), "since": times})).run(
            "insert or replace into source_pending select $1, id, since from waiting"
        )
        self._sql(source).run("delete from source_pending where source = $1 and memory_id in (select id from memories)")

    def forget_files(self, source: str, files: Sequence[str]) -> None:
        """Forget files that no longer exist; the memories from them stay."""
        self._sql(source, files).run(
            "delete from source_files where source = $1 and file in (select unnest($2::text[]))"
        )

    def keep_entries(self, entries: Sequence[SourceEntry]) -> None:
        """Record the memories that a source brought; known ones stay as they are."""
        _ENTRIES(self._sql).put(entries, only_new=True)

    def entries(self, source: str, files: Sequence[str]) -> list[SourceEntry]:
        """The memories from these files, in the order of their files, times and lines."""
        return _ENTRIES(self._sql(source, files)).of(f"""
            select {_ENTRIES.selected_from("e")}
            from source_entries e
            join memories m on m.id = e.memory_id
            where e.source = $1 and e.file in (select unnest($2::text[]))
            order by e.file, m.created_at, m.source_line, e.memory_id
            """)

    def standing_elsewhere(
        self, memory_ids: Sequence[str], sources: Sequence[str], source: str, files: Sequence[str]
    ) -> set[Words]:
        """The words of these memories, and those that differ from them only in what is done, that stand in one of the
        sources, not counting these files of one of them."""
        rows = self._sql(memory_ids, sources, source, files).rows("""
            select distinct m.project_id, m.content_hash, m.content
            from source_entries e
            join memories m on m.id = e.memory_id
            semi join (select project_id, content_hash from memories where id in (select unnest($1::text[]))) w
              on w.project_id = m.project_id and w.content_hash = m.content_hash
            semi join source_files f on f.source = e.source and f.file = e.file
            where e.gone_at is null and e.source in (select unnest($2::text[]))
              and not (e.source = $3 and e.file in (select unnest($4::text[])))
            """)
        return {(project, digest, has_done(content)) for project, digest, content in rows}

    def moved(self, source: str, memory_ids: Sequence[str]) -> dict[Words, list[str]]:
        """By the words of these memories, and those that differ from them only in what is done, the memories of the
        source with these words that are marked as gone and that nothing has replaced."""
        rows = self._sql(source, memory_ids).rows("""
            select m.project_id, m.content_hash, m.content, e.memory_id
            from source_entries e
            join memories m on m.id = e.memory_id
            semi join (select project_id, content_hash from memories where id in (select unnest($2::text[]))) w
              on w.project_id = m.project_id and w.content_hash = m.content_hash
            where e.source = $1 and e.gone_at is not null and e.superseded_by is null
            order by e.memory_id
            """)
        ids_by_words: dict[Words, list[str]] = {}
        for project, digest, content, memory_id in rows:
            ids_by_words.setdefault((project, digest, has_done(content)), []).append(memory_id)
        return ids_by_words

    def mark_gone(self, source: str, gone: Mapping[str, str | None], at: datetime, run_id: str) -> None:
        """Record memories whose words are no longer in the source as of a time, each with the memory of the words that
        replaced them, if any did."""
        self._sql(
            source, at, run_id, gone=pa.table({"id": list(gone), "by": pa.array(list(gone.values()), pa.string())})
        ).run("""
            update source_entries e
            set gone_at = $2, superseded_by = gone.by, run_id = $3
            from gone
            where e.source = $1 and e.memory_id = gone.id
            """)

    def mark_back(self, source: str, ids: Sequence[str], run_id: str) -> None:
        """Record memories whose words are in the source again."""
        self._sql(source, ids, run_id).run("""
            update source_entries
            set gone_at = null, superseded_by = null, run_id = $3
            where source = $1 and memory_id in (select unnest($2::text[]))
            """)

    def gone(self, as_of: datetime | None = None) -> list[SourceEntry]:
        """Every memory whose words are no longer in its source, now or as of a time, by memory; not those whose words
        stand in another place of a source since."""
        return _ENTRIES(self._sql(as_of)).of(f"""
            select {_ENTRIES.selected_from("e")}
            from source_entries e
            join memories m on m.id = e.memory_id
            where e.gone_at <= coalesce($1, e.gone_at)
              and not exists (
                  select 1
                  from memories other
                  join source_entries there on there.memory_id = other.id
                  where other.project_id = m.project_id and other.content_hash = m.content_hash and other.id <> m.id
                    and (there.gone_at is null or there.gone_at > $1))
            order by e.memory_id, e.source
            """)

    def withdraw(self, run_ids: Sequence[str]) -> None:
        """Take back what runs found gone. Their files, also those that no longer exist, are looked at again by the next
        night, which finds it anew: words that replaced others are new to it, too, so that it pairs them again."""
        self._sql(run_ids).run("""
            delete from source_entries
            where (source, memory_id) in (
                select e.source, e.superseded_by from source_entries e where e.run_id in (select unnest($1::text[])))
            """)
        self._sql(run_ids).run("""
            update source_files
            set digest = ''
            where (source, file) in (
                select (source, file) from source_entries where run_id in (select unnest($1::text[])))
            """)
        self._sql(run_ids).run("""
            insert into source_files by name
            select e.source, e.file, 0 as size, 0 as modified_ns, '' as digest, max(e.gone_at) as read_as_of
            from source_entries e
            anti join source_files f on f.source = e.source and f.file = e.file
            where e.gone_at is not null and e.run_id in (select unnest($1::text[]))
            group by e.source, e.file
            """)
        self._sql(run_ids).run("""
            update source_entries
            set gone_at = null, superseded_by = null, run_id = null
            where run_id in (select unnest($1::text[]))
            """)
