"""Writes a store anew without the words of some memories: into a fresh file, from a copy.

This is the one exception of the first law, and the one way around its triggers: they are dropped in a copy that is no
store, never in one. The copy is changed, read into a fresh file (DuckDB leaves freed blocks in a file as they were),
compared with it, and only then moved to where the store or a snapshot was. The audit log has an entry for each memory.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import duckdb
import pyarrow as pa
from pydantic import Field

from memory_pipeline.errors import DamagedStoreError, StoreError
from memory_pipeline.files.writing import sync
from memory_pipeline.killpoints import reached
from memory_pipeline.store import engine
from memory_pipeline.store.folding import contents_digest, remove_database, said_by, verify_whole
from memory_pipeline.store.forgotten import Stone, new_id_of, rejected_hash
from memory_pipeline.store.migrations import create_schema, create_triggers, drop_triggers, memory_state, migrate
from memory_pipeline.store.rows import AUDIT_LOG, EMBEDDINGS, KEYS, LINEAGE, MEMORIES, MIGRATIONS, TABLES, Sql
from memory_pipeline.store.transaction import Transaction
from memory_pipeline.text.normalise import hashes_of
from memory_pipeline.text.own_words import FORGOTTEN, OwnWords

#: That a column has one of the memories: those that go stand in the table `gone` with their new ids.
_GONE = "in (select old from gone)"
#: Rows that go with the memories, in this order: table and condition. A rollup is made from those below it.
_GO_WITH = (
    *(
        (table, f"{column} in (select id from extractions where turn_id {_GONE} or memory_id {_GONE})")
        for table, column in (("extraction_feedback", "extraction_id"), ("relationship_patterns", "id"))
    ),
    ("extractions", f"turn_id {_GONE} or memory_id {_GONE}"),
    ("proposals", "exists (select 1 from gone where contains(draft, to_json(old)::text))"),
    ("source_files", f"(source, file) in (select (source, file) from source_entries where memory_id {_GONE})"),
    (
        "rollups",
        """
        id in (
            with recursive up(id) as (
                select id from rollups where list_has_any(memory_ids, (select list(old) from gone))
                union
                select r.id from rollups r join up on list_contains(r.below_ids, up.id)
            )
            select id from up)
        """,
    ),
    *((table, f"a {_GONE} or b {_GONE}") for table in ("similarity_edges", "conflicts")),
    *(
        (table, f"memory_id {_GONE}")
        for table in (
            EMBEDDINGS, "compared", "comparison_cells", "line_shapes", "source_pending", "source_entries",
            "atom_candidates", "playbook_contributions", LINEAGE,
        )
    ),
)  # fmt: skip
#: Tables of which the audit log keeps nothing that was said.
_NOTHING_SAID = (MEMORIES, LINEAGE, EMBEDDINGS, "source_entries")
#: Tables without a text that may quote something. What a memory that stays says is left as it is.
_WITHOUT_TEXTS = (MEMORIES, EMBEDDINGS, LINEAGE, AUDIT_LOG, MIGRATIONS, "forgotten", "forgotten_key", "lease")


@dataclass(frozen=True, slots=True)
class Forgetting:
    """An order to forget that a person has confirmed: memories by id, and rejected rows by file and line.

    `key`: that of the hashes. `known`: all that goes from the store; a snapshot has some of it without the links by
    which it was found. `stones`: the tombstones, by new id with the project and the hash of the words; every file gets
    all of them, so that none of them brings it back when it is restored.
    """

    memory_ids: tuple[str, ...]
    rejected: tuple[tuple[str, int], ...]
    actor: str
    at: datetime
    key: Annotated[str, Field(pattern="^([0-9a-f]{2})+$")]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    known: tuple[str, ...] = ()
    stones: tuple[Stone, ...] = ()


def rewrite_without(source: Path, target: Path, forgetting: Forgetting, words: OwnWords) -> None:
    """Write the database file `source`, which nobody else uses and which is changed, to `target` without the words and
    with the tombstones.

    Raises StoreError if that does not succeed.
    """
    remove_database(target)
    try:
        with engine.attached_copy(source, read_only=False) as connection:
            migrate(connection, source)
            _Erasing(connection, forgetting, words).run()
            before = contents_digest(connection)
        _copy_tables(source, target)
        if verify_whole(target) != before:
            raise StoreError(f"'{target}' differs from what it was written from; nothing was replaced")
    except (duckdb.Error, DamagedStoreError) as error:
        reason = said_by(error) if isinstance(error, duckdb.Error) else str(error)
        raise StoreError(f"'{source}' could not be written anew, and was left as it is: {reason}") from error
    reached("forget.rewritten")


class _Erasing:
    """Changes a copy of a store: what was made of the memories is rolled back, and then their words are taken out."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, forgetting: Forgetting, words: OwnWords) -> None:
        self._connection, self._forgetting, self._words = connection, forgetting, words
        self._sql, self._tx = Sql(connection), Transaction(connection)

    def run(self) -> None:
        now = self._forgetting
        with self._transaction():
            erased = self._tx.erasure.of(now.memory_ids, now.known)
            rejected = self._find_rejected()
            ids = list(erased.memory_ids)
            self._tx.rollups.mark_stale(ids)
            if not erased.rollback.is_empty:
                self._tx.rollbacks.apply(erased.rollback, now.id, now.at, now.actor)
        with self._transaction():
            drop_triggers(self._connection)
            self._keep_tombstones(ids, rejected)
            renamed = self._make_new_ids(ids, list(erased.made_ids))
            with self._sql.given(gone=_names({old: renamed[old] for old in (*self._words.renamed, *ids)})):
                self._leave_out_derived()
                self._empty()
            self._rename_and_rewrite(renamed)
        # Every entry of the log gets the next number: whoever knows a state of the store by its last entry sees that it
        # is another one. DuckDB takes a key that was given up in the same transaction for taken.
        for change in (
            f"update {AUDIT_LOG} set sequence = -sequence - 1",
            f"update {AUDIT_LOG} set sequence = -sequence",
        ):
            with self._transaction():
                self._sql.run(change)
        with self._transaction():
            self._note_in_log(ids, renamed)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.begin()
        self._sql(self._forgetting.actor).run("set variable audit_actor = $1")
        self._sql(self._forgetting.id).run("set variable audit_run = $1")
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def _find_rejected(self) -> list[tuple[str, int, str, str]]:
        """The rejected rows that go: chosen ones, and those that quote what goes."""
        rows = self._tx.journal.quarantine()
        return [
            row for row in rows if row[:2] in self._forgetting.rejected or self._words.quoted_in(f"{row[2]}\n{row[3]}")
        ]

    def _keep_tombstones(self, ids: Sequence[str], rejected: Sequence[tuple[str, int, str, str]]) -> None:
        now = self._forgetting
        if self._tx.forgotten.key() is None:
            self._sql(now.key).run("insert into forgotten_key values ($1)")
        known = {stone[0] for stone in now.stones}
        rows = [*now.stones]
        rows += [stone for stone in self._tx.forgotten.stones(ids, now.key) if stone[0] not in known]
        for file, line, reason, excerpt in rejected:
            digest = rejected_hash(now.key, file, excerpt)
            rows.append((digest, "", digest))
            self._sql(file, line, reason).run("delete from quarantine where file = $1 and line = $2 and reason = $3")
        for row in rows:
            self._sql(*row, now.at, now.actor, now.id).run(
                "insert into forgotten values ($1, $2, $3, $4, $5, $6) on conflict do nothing"
            )

    def _make_new_ids(self, ids: Sequence[str], made: Sequence[str]) -> dict[str, str]:
        """By old id, the new one: of the memories, and of what is derived from ids of theirs (clusters, decisions)."""
        derived = self._sql(made, ids).strings("""
            select unnest([id, cluster_fingerprint])
            from compression_log
            where compressed_memory_id in (select unnest($1::text[]))
            union
            select after_state ->> 'archived_by'
            from audit_log
            where table_name = 'memories' and after_state ->> 'consolidated_into_id' in (select unnest($1::text[]))
              and after_state ->> 'archived_by' is not null
            union
            select unnest([p.id, p.cluster_fingerprint])
            from proposals p, (select unnest($2::text[]) as gone)
            where contains(p.draft, to_json(gone)::text)
            """)
        # What archived a memory may also be a memory that stays, or a person.
        in_use = set(self._sql.strings("select id from memories union select run_id from audit_log")) - set(ids)
        new = {
            old: new_id_of(self._forgetting.key, old) for old in dict.fromkeys((*ids, *derived)) if old not in in_use
        }
        return {**self._words.renamed, **new}

    def _leave_out_derived(self) -> None:
        """Delete what is known of the memories, and what a night makes again."""
        days = self._sql.strings(f"""
            update conversation_days
            set digest = '', topics = [], is_written = false
            where (project_id, night) in (
                select (project_id, night) from extractions where turn_id {_GONE} or memory_id {_GONE}
                union
                select (d.project_id, d.night)
                from conversation_days d
                join memories m on m.project_id = d.project_id and m.memory_type = 'conversation' and m.id {_GONE}
                  and d.night between m.effective_date::date - 1 and m.effective_date::date + 1)
            returning project_id || ':' || night::text || ':' || run_id
            """)
        conflicts = self._sql.strings(f"select a || ' ~ ' || b from conflicts where a {_GONE} or b {_GONE}")
        self._silence_log(("conversation_days", "conflicts"), [*days, *conflicts])
        self._leave_out_knowledge()
        self._forget_answers()
        for table, which in _GO_WITH:
            self._sql.run(f"delete from {table} where {which}")

    def _leave_out_knowledge(self) -> None:
        """Atoms and playbook entries in which the memories had a part; what else speaks for them has its turn again."""
        atoms = self._sql.strings(f"""
            select id
            from atoms
            where list_has_any(source_ids, (select list(old) from gone))
               or id in (select atom_id from atom_candidates where memory_id {_GONE})
            union
            select unnest([before_state ->> 'atom_id', after_state ->> 'atom_id'])
            from audit_log
            where table_name = 'atom_candidates' and row_id {_GONE}
            """)
        self._sql(atoms).run("""
            update atom_candidates
            set status = 'pending', atom_id = null, reason = null, decided_at = null
            where atom_id in (select unnest($1::text[]))
            """)
        entries = self._sql(self._forgetting.at).strings(f"""
            update playbook_contributions
            set status = 'withdrawn', decided_at = $1
            where entry_id in (select entry_id from playbook_contributions where memory_id {_GONE})
            returning entry_id
            """)
        for table, column, ids in (
            ("atom_embeddings", "atom_id", atoms),
            ("atoms", "id", atoms),
            ("playbook_embeddings", "entry_id", entries),
            ("playbook_entries", "id", entries),
        ):
            self._sql(ids).run(f"delete from {table} where {column} in (select unnest($1::text[]))")
        self._silence_log(("atoms", "playbook_entries"), [*atoms, *entries])
        self._sql.run(f"update compression_log set reason = null where compressed_memory_id {_GONE}")

    def _silence_log(self, tables: Sequence[str], row_ids: Sequence[str]) -> None:
        """Take out of the log what these rows said."""
        self._sql(tables, row_ids).run(f"""
            update {AUDIT_LOG}
            set before_state = null, after_state = null, before_hash = null, after_hash = null
            where table_name in (select unnest($1::text[])) and row_id in (select unnest($2::text[]))
            """)

    def _forget_answers(self) -> None:
        """Answers of models that quote the words or were given to runs that worked on the memories; the hashes of their
        questions with them."""
        quoting = [
            str(digest)
            for digest, answer in self._sql.stream("select prompt_hash, answer from model_answers")
            if self._words.stands_in(str(answer))
        ]
        hashes = self._sql(quoting).strings(f"""
            select prompt_hash
            from (select prompt_hash, run_id from model_answers union select prompt_hash, run_id from model_calls)
            where run_id in (select run_id from audit_log where table_name = 'memories' and row_id {_GONE})
            union
            select unnest($1::text[])
            """)
        self._sql(hashes).run("delete from model_answers where prompt_hash in (select unnest($1::text[]))")
        self._sql(hashes).run(
            f"update model_calls set prompt_hash = '{FORGOTTEN}' where prompt_hash in (select unnest($1::text[]))"
        )
        self._sql(hashes).run("""
            update model_batches
            set prompt_hashes = list_filter(prompt_hashes, lambda h: not list_contains($1::text[], h))
            """)
        self._sql(self._forgetting.at).run(
            "update model_batches set status = 'lost', settled_at = $1 where status in ('sending', 'sent')"
        )
        self._sql(hashes, FORGOTTEN).run("""
            update audit_log
            set row_id = $2, before_state = null, after_state = null, before_hash = null, after_hash = null
            where table_name in ('model_answers', 'model_calls', 'model_batches')
              and (row_id in (select unnest($1::text[]))
                   or (table_name <> 'model_answers'
                       and exists (select 1 from (select unnest($1::text[]) as h)
                                   where contains(coalesce(after_state, before_state, ''), h))))
            """)

    def _empty(self) -> None:
        """Take everything out of the rows of the memories but that they were there."""
        content, shape = hashes_of(FORGOTTEN)
        now = self._forgetting
        self._sql(FORGOTTEN, content, shape, f"forget:{now.id}", now.at).run(f"""
            update {MEMORIES}
            set content = $1, content_hash = $2, shape_hash = $3, memory_type = 'other', categories = [], tags = [],
                importance = 0.5, importance_before = 1.0, pattern_type = null, confidence_score = null,
                consolidation_method = null, token_count = 1, effective_date = created_at, source_file = null,
                source_line = null, archived_by = $4, archived_at = $5, consolidated_into_id = null,
                compressed_from = null, is_canonical = false, pinned = false, reuse_count = 0, useful_count = 0,
                rolled_back_at = $5, updated_at = $5
            where id {_GONE}
            """)

    def _rename_and_rewrite(self, renamed: dict[str, str]) -> None:
        """Give every table the new ids, and take what quotes the words out of every text."""
        words = self._words.with_names(renamed)
        columns = self._tx.transfer.text_columns()
        with self._sql.given(gone=_names(renamed)):
            for table, column, kind in columns:
                if kind == "VARCHAR[]":
                    self._sql(renamed, renamed.values()).run(f"""
                        update {table}
                        set {column} = list_transform(
                            {column}, lambda each: coalesce(map($1::text[], $2::text[])[each], each))
                        where list_has_any({column}, $1::text[])
                        """)
                elif (table, column) != (MEMORIES, "content"):
                    self._sql.run(f"update {table} t set {column} = g.new from gone g where t.{column} = g.old")
        for table, column, kind in columns:
            if kind == "VARCHAR" and table not in _WITHOUT_TEXTS and column not in KEYS[table]:
                self._change(
                    table,
                    [
                        {"at": rowid, column: new}
                        for rowid, text in self._sql.stream(f"select rowid, {column} from {table}")
                        if text is not None and (new := words.rewritten(text)) != text
                    ],
                )
        self._rewrite_log(words)

    def _rewrite_log(self, words: OwnWords) -> None:
        """Change the entries of the audit log that name or quote what goes. Those of memories and links keep hashes of
        their states, by which the log is checked; the others lose theirs with the words."""
        names = OwnWords((), words.renamed)
        changed: list[dict[str, Any]] = []
        with self._sql.given(gone=_names(words.renamed)):
            rows = self._sql.stream(f"""
                select rowid, table_name, row_id, before_state, after_state
                from {AUDIT_LOG} a
                where table_name not in {_NOTHING_SAID}
                   or exists (select 1 from gone where contains(concat_ws(' ', row_id, before_state, after_state), old))
                """)
            for rowid, table, row_id, *states in rows:
                change = (names if table in _NOTHING_SAID else words).rewritten
                before, after = (state if state is None else change(state) for state in states)
                key = _rename_key(row_id, words)
                if [key, before, after] != [row_id, *states]:
                    hashes = map(_sha256, (before, after)) if table in (MEMORIES, LINEAGE) else (None, None)
                    entry = {"at": rowid, "row_id": key, "before_state": before, "after_state": after}
                    changed.append({**entry, **dict(zip(("before_hash", "after_hash"), hashes, strict=True))})
        self._change(AUDIT_LOG, changed)

    def _change(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Write these values into the rows of a table that lie `at` these places."""
        if rows:
            assigned = ", ".join(f"{name} = c.{name}" for name in rows[0] if name != "at")
            self._sql(changed=pa.Table.from_pylist(list(rows))).run(
                f"update {table} t set {assigned} from changed c where t.rowid = c.at"
            )

    def _note_in_log(self, ids: Sequence[str], renamed: dict[str, str]) -> None:
        """One entry for each memory."""
        state = memory_state("m")
        now = self._forgetting
        self._sql([renamed[old] for old in ids], now.actor, now.id).run(f"""
            insert into {AUDIT_LOG}
            select (select coalesce(max(sequence), 0) from {AUDIT_LOG}) + row_number() over (order by m.id),
                   now() at time zone 'UTC', $2, $3, '{MEMORIES}', m.id, 'forget', last.hash, sha256({state}),
                   last.state, {state}
            from {MEMORIES} m
            left join (
                select row_id, max_by(after_hash, sequence) as hash, max_by(after_state, sequence) as state
                from {AUDIT_LOG}
                where table_name = '{MEMORIES}'
                group by 1
            ) last on last.row_id = m.id
            where m.id in (select unnest($1::text[]))
            """)


def _copy_tables(source: Path, target: Path) -> None:
    """Write every row of a database into a fresh file, with its schema, its triggers and its place in the log."""
    with engine.attached_copy(source, read_only=True) as old, engine.attached_copy(target, read_only=False) as new:
        (alias,) = old.execute("select current_database()").fetchone() or ("",)
        (last,) = old.execute(f"select coalesce(max(sequence), 0) from {AUDIT_LOG}").fetchone() or (0,)
        new.begin()
        create_schema(new, first_entry=int(last) + 1)
        for table in TABLES:
            new.execute(f"insert into {table.name} by name select * from {alias}.{table.name}")
        create_triggers(new)
        new.commit()
        new.execute("force checkpoint")
    sync(target)


def _rename_key(row_id: str, words: OwnWords) -> str:
    """The key of a row in the log, with new ids in it: of links and conflicts two, of others at its end."""
    for separator in (" <- ", " ~ "):
        parts = row_id.split(separator)
        if len(parts) == 2:
            return separator.join(words.renamed.get(part, part) for part in parts)
    source, separator, memory_id = row_id.partition(":")
    if memory_id in words.renamed:
        return f"{source}{separator}{words.renamed[memory_id]}"
    return words.rewritten(row_id)


def _sha256(state: str | None) -> str | None:
    return hashlib.sha256(state.encode()).hexdigest() if state is not None else None


def _names(renamed: dict[str, str]) -> pa.Table:
    return pa.table({"old": pa.array(list(renamed), pa.string()), "new": pa.array(list(renamed.values()), pa.string())})
