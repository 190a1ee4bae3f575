"""Atoms: causal findings, the memories that support them, and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memory_pipeline.records import Atom, AtomDecision, Causal
from memory_pipeline.store.rows import RowsOf, Sql, to_utc
from memory_pipeline.store.vectors import vector_table

#: The initial confidence of an atom, and the increase for each further memory.
FIRST_CONFIDENCE, STRENGTHENED_BY = 0.7, 0.1
_ATOMS = RowsOf(Atom, "atoms")


class Candidate(NamedTuple):
    """The causal finding of an abstraction; None if it is not causal."""

    memory_id: str
    project_id: str
    causal: Causal | None


class Atoms:
    """The atoms, the findings that may become atoms, and the atoms' vectors."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def note_candidates(self, candidates: Sequence[Candidate], run_id: str, at: datetime) -> None:
        """Store the causal findings of abstractions for the atoms step, or that they have none."""
        if not candidates:
            return
        rows = [
            {
                "memory_id": candidate.memory_id,
                "project_id": candidate.project_id,
                **asdict(candidate.causal or Causal("", "", "")),
                "status": "pending" if candidate.causal else "not_causal",
            }
            for candidate in candidates
        ]
        with self._sql.given(incoming=pa.Table.from_pylist(rows)):
            self._sql.run(
                """
                update atom_candidates c
                set subject = i.subject, action = i.action, outcome = i.outcome, consequences = i.consequences,
                    status = i.status, run_id = $1, found_at = $2, reason = null, atom_id = null, decided_at = null
                from incoming i
                where c.memory_id = i.memory_id
                """,
                [run_id, to_utc(at)],
            )
            self._sql.run(
                """
                insert into atom_candidates by name
                select *, $1 as run_id, $2 as found_at
                from incoming
                on conflict do nothing
                """,
                [run_id, to_utc(at)],
            )

    def pending_candidates(self, before: datetime) -> list[tuple[str, str, Causal]]:
        """Memory id, project and finding of every waiting candidate that was found up to a time."""
        rows = self._sql.rows(
            """
            select memory_id, project_id, subject, action, outcome, consequences
            from atom_candidates
            where status = 'pending' and found_at <= $1
            order by found_at, memory_id
            """,
            [to_utc(before)],
        )
        return [(row[0], row[1], Causal(*row[2:])) for row in rows]

    def decide(self, decision: AtomDecision, run_id: str, at: datetime) -> None:
        """Record the result for a candidate."""
        self._sql.run(
            """
            update atom_candidates
            set status = $2, atom_id = $3, reason = $4, run_id = $5, decided_at = $6
            where memory_id = $1
            """,
            [decision.memory_id, decision.status, decision.atom_id, decision.reason, run_id, to_utc(at)],
        )

    def decisions_of(self, run_id: str) -> list[AtomDecision]:
        """The decisions of a run about causal findings, in the order of their memories."""
        rows = self._sql.rows(
            """
            select memory_id, project_id, status, atom_id, reason, subject, action, outcome, consequences
            from atom_candidates
            where run_id = $1 and status <> 'pending'
            order by memory_id
            """,
            [run_id],
        )
        return [
            AtomDecision(row[0], row[1], row[2], row[3], row[4], Causal(*row[5:]) if row[2] != "not_causal" else None)
            for row in rows
        ]

    def read(self, project_id: str | None = None, *, retracted: bool = False) -> list[Atom]:
        """The atoms of a project (or of all), oldest first; retracted ones only if requested."""
        return _ATOMS.select(
            self._sql,
            """
            where ($1 is null or project_id = $1) and (retracted_at is null or $2)
            order by created_at, id
            """,
            [project_id, retracted],
        )

    def write(self, atom: Atom, vectors: NDArray[np.float32], fields: Sequence[str], model: str) -> None:
        """Write a new atom with its vectors, float32 (len(fields), dimension); if a retracted one has its id, that
        one becomes active again."""
        _ATOMS.put(self._sql, [atom])
        self.keep_vectors([(atom.id, field) for field in fields], vectors, model)

    def strengthen(self, atom_id: str, source_ids: Sequence[str], at: datetime) -> None:
        """Add memories that support an atom; its confidence rises once, up to 1.0."""
        self._sql.run(
            """
            update atoms
            set source_ids = list_sort(list_distinct(list_concat(source_ids, $2::text[]))),
                confidence = round(least(1.0, confidence + $3), 6), strengthened_at = $4
            where id = $1
            """,
            [atom_id, list(source_ids), STRENGTHENED_BY, to_utc(at)],
        )

    def vectors(
        self, ids: Sequence[str], fields: Sequence[str], model: str
    ) -> dict[tuple[str, str], NDArray[np.float32]]:
        """The vectors of atoms' fields by this model, by atom and field."""
        rows = self._sql.rows(
            """
            select atom_id, field, vector
            from atom_embeddings
            where model = $1 and atom_id in (select unnest($2::text[])) and field in (select unnest($3::text[]))
            """,
            [model, list(ids), list(fields)],
        )
        return {(row[0], row[1]): np.asarray(row[2], dtype=np.float32) for row in rows}

    def keep_vectors(self, keys: Sequence[tuple[str, str]], vectors: NDArray[np.float32], model: str) -> None:
        """Store vectors, float32 (len(keys), dimension), by atom and field."""
        if not keys:
            return
        ids, fields = [atom_id for atom_id, _ in keys], [field for _, field in keys]
        with self._sql.given(incoming=vector_table({"atom_id": ids, "field": fields}, vectors)):
            self._sql.run(
                """
                insert into atom_embeddings
                select atom_id, field, $1, $2, vector::float[]
                from incoming
                on conflict do nothing
                """,
                [model, int(vectors.shape[1])],
            )

    def withdraw(self, retired_ids: Sequence[str], run_ids: Sequence[str], at: datetime) -> None:
        """Undo what retired abstractions, and the decisions of these runs, contributed to atoms.

        An atom loses their share of its confidence, and is retracted if no other memory supports it; atoms that
        someone stated stay. A finding of an abstraction that stays active waits for its atom again.
        """
        rows = self._sql.rows(
            """
            select memory_id, atom_id
            from atom_candidates
            where memory_id in (select unnest($1::text[]))
               or (run_id in (select unnest($2::text[])) and status in ('created', 'strengthened', 'skipped'))
            """,
            [list(retired_ids), list(run_ids)],
        )
        withdrawn = [str(row[0]) for row in rows]
        self._sql.run(
            """
            update atom_candidates
            set atom_id = null, reason = null, decided_at = null,
                status = case when memory_id in (select unnest($2::text[])) then 'withdrawn' else 'pending' end
            where memory_id in (select unnest($1::text[])) and status <> 'not_causal'
            """,
            [withdrawn, list(retired_ids)],
        )
        self._sql.run(
            """
            update atoms
            set source_ids = list_filter(source_ids, lambda s: not list_contains($1::text[], s)),
                confidence = case
                    when stated_by is null and n.contributions > 0
                    then round(least(1.0, $3 + $4 * (n.contributions - 1)), 6)
                    else confidence end,
                retracted_at = case when stated_by is null and n.contributions = 0 then $5 else retracted_at end
            from (
                select a.id as atom_id, count(c.memory_id) as contributions
                from atoms a
                left join atom_candidates c on c.atom_id = a.id
                where a.id in (select unnest($2::text[]))
                group by a.id
            ) n
            where atoms.id = n.atom_id
            """,
            [withdrawn, [row[1] for row in rows if row[1]], FIRST_CONFIDENCE, STRENGTHENED_BY, to_utc(at)],
        )
