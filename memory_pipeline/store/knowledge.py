"""Knowledge that grows out of memories: atoms (causal findings with the memories that support them) and the playbook.

Everything in an entry of the playbook, its dates included, is computed from the patterns and principles that contribute
to it, so that it does not matter which run held a memory against it, or when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.records import BESIDE, Atom, AtomDecision, Causal, Contribution, Memory, PlaybookEntry
from memory_pipeline.store.decisions import AWAITS_DECISION
from memory_pipeline.store.memories import MEMORIES
from memory_pipeline.store.rows import RowsOf, Statements, put_values
from memory_pipeline.store.vectors import keep_vectors

#: The initial confidence of an atom, and the increase for each further memory.
FIRST_CONFIDENCE, STRENGTHENED_BY = 0.7, 0.1
_ATOMS = RowsOf(Atom, "atoms")


class Atoms(Statements):
    """The atoms, the findings that may become atoms, and the atoms' vectors."""

    def note_candidates(self, candidates: Sequence[tuple[str, str, Causal | None]], run_id: str, at: datetime) -> None:
        """Store the causal findings of abstractions for the atoms step: memory id, project, and finding or None."""
        if not candidates:
            return
        rows = [
            {
                "memory_id": memory_id,
                "project_id": project_id,
                **asdict(causal or Causal("", "", "")),
                "status": "pending" if causal else "not_causal",
                "run_id": run_id,
                "found_at": at,
                **dict.fromkeys(("reason", "atom_id", "decided_at")),
            }
            for memory_id, project_id, causal in candidates
        ]
        put_values(self._sql, "atom_candidates", rows)

    def pending_candidates(self, before: datetime) -> list[tuple[str, str, Causal]]:
        """Memory id, project and finding of every waiting candidate that was found up to a time."""
        rows = self._sql(before).rows("""
            select memory_id, project_id, subject, action, outcome, consequences
            from atom_candidates
            where status = 'pending' and found_at <= $1
            order by found_at, memory_id
            """)
        return [(row[0], row[1], Causal(*row[2:])) for row in rows]

    def decide(self, decision: AtomDecision, run_id: str, at: datetime) -> None:
        """Record the result for a candidate."""
        self._sql(decision.memory_id, decision.status, decision.atom_id, decision.reason, run_id, at).run("""
            update atom_candidates
            set status = $2, atom_id = $3, reason = $4, run_id = $5, decided_at = $6
            where memory_id = $1
            """)

    def decisions_of(self, run_id: str) -> list[AtomDecision]:
        """The decisions of a run about causal findings, in the order of their memories."""
        rows = self._sql(run_id).rows("""
            select memory_id, project_id, status, atom_id, reason, subject, action, outcome, consequences
            from atom_candidates
            where run_id = $1 and status <> 'pending'
            order by memory_id
            """)
        return [
            AtomDecision(row[0], row[1], row[2], row[3], row[4], Causal(*row[5:]) if row[2] != "not_causal" else None)
            for row in rows
        ]

    def read(self, project_id: str | None = None, *, retracted: bool = False) -> list[Atom]:
        """The atoms of a project (or of all), oldest first; retracted ones only if requested."""
        return _ATOMS(self._sql(project_id, retracted)).select("""
            where ($1 is null or project_id = $1) and (retracted_at is null or $2)
            order by created_at, id
            """)

    def write(self, atom: Atom, vectors: NDArray[np.float32], fields: Sequence[str], model: str) -> None:
        """Write a new atom with its vectors, float32 (len(fields), dimension); if a retracted one has its id, that
        one becomes active again."""
        _ATOMS(self._sql).put([atom])
        self.keep_vectors([(atom.id, field) for field in fields], vectors, model)

    def strengthen(self, atom_id: str, source_ids: Sequence[str], at: datetime) -> None:
        """Add memories that support an atom; its confidence rises once, up to 1.0."""
        self._sql(atom_id, source_ids, STRENGTHENED_BY, at).run("""
            update atoms
            set source_ids = list_sort(list_distinct(list_concat(source_ids, $2::text[]))),
                confidence = round(least(1.0, confidence + $3), 6), strengthened_at = $4
            where id = $1
            """)

    def vectors(
        self, ids: Sequence[str], fields: Sequence[str], model: str
    ) -> dict[tuple[str, str], NDArray[np.float32]]:
        """The vectors of atoms' fields by this model, by atom and field."""
        rows = self._sql(model, ids, fields).rows("""
            select atom_id, field, vector
            from atom_embeddings
            where model = $1 and atom_id in (select unnest($2::text[])) and field in (select unnest($3::text[]))
            """)
        return {(row[0], row[1]): np.asarray(row[2], dtype=np.float32) for row in rows}

    def keep_vectors(self, keys: Sequence[tuple[str, str]], vectors: NDArray[np.float32], model: str) -> None:
        """Store vectors, float32 (len(keys), dimension), by atom and field."""
        columns = {"atom_id": [atom_id for atom_id, _ in keys], "field": [field for _, field in keys]}
        keep_vectors(self._sql, "atom_embeddings", columns, vectors, model)

    def withdraw(self, retired_ids: Sequence[str], run_ids: Sequence[str], at: datetime) -> None:
        """Undo what retired abstractions, and the decisions of these runs, contributed to atoms.

        An atom loses their share of its confidence, and is retracted if no other memory supports it; atoms that
        someone stated stay. A finding of an abstraction that stays active waits for its atom again.
        """
        rows = self._sql(retired_ids, run_ids).rows("""
            select memory_id, atom_id
            from atom_candidates
            where memory_id in (select unnest($1::text[]))
               or (run_id in (select unnest($2::text[])) and status in ('created', 'strengthened', 'skipped'))
            """)
        withdrawn = [str(row[0]) for row in rows]
        self._sql(withdrawn, retired_ids).run("""
            update atom_candidates
            set atom_id = null, reason = null, decided_at = null,
                status = case when memory_id in (select unnest($2::text[])) then 'withdrawn' else 'pending' end
            where memory_id in (select unnest($1::text[])) and status <> 'not_causal'
            """)
        self._sql(withdrawn, [row[1] for row in rows if row[1]], FIRST_CONFIDENCE, STRENGTHENED_BY, at).run("""
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
            """)


_ENTRIES, _CONTRIBUTIONS = RowsOf(PlaybookEntry, "playbook_entries"), RowsOf(Contribution, "playbook_contributions")


class Playbook(Statements):
    """The entries, what each memory contributes to them, and the entries' vectors."""

    def read(self, project_id: str | None = None) -> list[PlaybookEntry]:
        """The entries that stand, by project, category, confidence (surest first) and id."""
        return _ENTRIES(self._sql(project_id)).select("""
            where retracted_at is null and ($1 is null or project_id = $1)
            order by project_id, category, confidence desc, id
            """)

    def pending_contributors(self, as_of: datetime) -> list[Memory]:
        """Active patterns and principles, created by a time, that have not been compared with the playbook yet (or
        were withdrawn since), in order of creation, level and id."""
        return MEMORIES(self._sql(as_of)).select("""
            where abstraction_level >= 2 and archived_at is null and rolled_back_at is null and created_at <= $1
              and id not in (select memory_id from playbook_contributions where status <> 'withdrawn')
            order by created_at, abstraction_level, id
            """)

    def reopen_later(self, before: Sequence[str], at: datetime) -> dict[str, str]:
        """Take back, in each project, what was held against the playbook before its turn: the active memories that
        count after one of `before`. Their ids with the runs that had decided about them.

        Which entry a memory joins depends on those that are there. So what comes late (a week's principles after the
        next week's nights, a pattern that is brought back) has its turn first, and then the later ones again.
        """
        rows = self._sql.about(before).rows("""
            with firsts as (
                select project_id, min((created_at, abstraction_level, id)) as first
                from memories
                where id in (select unnest($1::text[]))
                group by project_id
            )
            select c.memory_id, c.run_id
            from playbook_contributions c
            join memories m on m.id = c.memory_id
            join firsts f on f.project_id = m.project_id
            where c.status <> 'withdrawn' and m.archived_at is null
              and (m.created_at, m.abstraction_level, m.id) > f.first
            order by 1
            """)
        reopened = {str(memory_id): str(run_id) for memory_id, run_id in rows}
        if reopened:
            self.withdraw(list(reopened), at)
        return reopened

    def contribute(self, said: Contribution, project_id: str, run_id: str, made_at: datetime) -> PlaybookEntry:
        """Note what a memory that was made at a time says in an entry, and return that entry brought up to date; one
        that does not exist is made."""
        put_values(self._sql, "playbook_contributions", [{**asdict(said), "run_id": run_id, "decided_at": made_at}])
        words = (said.category, said.guidance, said.confidence)
        new = PlaybookEntry(said.entry_id, project_id, *words, (said.memory_id,), made_at, made_at)
        _ENTRIES(self._sql).put([new], only_new=True)
        self.refresh(made_at, [new.id])
        return _ENTRIES(self._sql(new.id)).select("where id = $1")[0]

    def refresh(self, at: datetime, entry_ids: Sequence[str] | None = None) -> None:
        """Make these entries (or all) follow from their contributions again.

        Of the contributing memories that are active, the highest level and then the surest one speaks. An entry
        that none stands behind any more is retracted, and comes back when one does. It was created when the first of
        its memories was, and last changed when one was made or archived.

        n open conflicts of a memory, or of those that it was made from, lower its confidence from c to
        c / (1 + n (1 - c)): Laplace's rule of succession with n witnesses against.
        """
        if not self._sql.value("select exists (from playbook_entries)"):
            return
        changed = self._sql(at, entry_ids, BESIDE).strings(f"""
            with recursive disputed as (
                select unnest([c.a, c.b]) as memory_id, c.a, c.b
                from conflicts c
                where {AWAITS_DECISION}
                union
                select l.memory_id, d.a, d.b
                from disputed d
                join lineage l on l.source_id = d.memory_id
                where l.relation not in (select unnest($3::text[]))
            ),
            against as (
                select memory_id, count(distinct (a, b)) as n from disputed group by memory_id
            ),
            given as (
                select c.* replace (round(c.confidence / (1 + coalesce(n, 0) * (1 - c.confidence)), 4) as confidence),
                       m.created_at as made_at, m.archived_at as gone_at, m.archived_at is null as stands
                from playbook_contributions c
                join memories m on m.id = c.memory_id
                left join against a on a.memory_id = c.memory_id
                where c.status <> 'withdrawn' and m.rolled_back_at is null
            ),
            wanted as (
                select e.id, min(made_at) as first_at, max(greatest(made_at, coalesce(gone_at, made_at))) as last_at,
                       list(memory_id order by memory_id) filter (where stands) as sources,
                       max(g.confidence) filter (where stands) as confidence,
                       first(guidance order by level desc, g.confidence desc, made_at, memory_id)
                           filter (where stands) as guidance,
                       first(g.category order by level desc, g.confidence desc, made_at, memory_id)
                           filter (where stands) as category
                from playbook_entries e
                left join given g on g.entry_id = e.id
                where $2 is null or list_contains($2::text[], e.id)
                group by e.id
            )
            update playbook_entries e
            set content = coalesce(w.guidance, e.content), category = coalesce(w.category, e.category),
                confidence = coalesce(w.confidence, e.confidence), source_ids = coalesce(w.sources, e.source_ids),
                created_at = coalesce(w.first_at, e.created_at), updated_at = coalesce(w.last_at, e.updated_at),
                retracted_at = case when w.sources is null then $1 end
            from wanted w
            where w.id = e.id
              and ((w.sources is null) <> (e.retracted_at is not null)
                   or (w.sources is not null
                       and (w.guidance, w.category, w.confidence, w.sources, w.first_at, w.last_at)
                           is distinct from
                           (e.content, e.category, e.confidence, e.source_ids, e.created_at, e.updated_at)))
            returning e.id
            """)
        self._sql.about(changed).run("delete from playbook_embeddings where entry_id in (select unnest($1::text[]))")

    def withdraw(self, memory_ids: Sequence[str], at: datetime) -> None:
        """Take back what these memories say in the playbook."""
        self._sql(memory_ids, at).run("""
            update playbook_contributions
            set status = 'withdrawn', decided_at = $2
            where memory_id in (select unnest($1::text[])) and status <> 'withdrawn'
            """)
        self.refresh(at)

    def contributions_of(self, run_id: str) -> list[Contribution]:
        """The contributions of one run to the playbook, by memory."""
        return _CONTRIBUTIONS(self._sql(run_id)).select("where run_id = $1 order by memory_id")

    def vectors(self, model: str, dimension: int) -> dict[str, NDArray[np.float32]]:
        """The vectors of the entries that have one of this model, float32 (dimension,), by entry id."""
        rows = self._sql(model, dimension).rows(
            "select entry_id, vector from playbook_embeddings where model = $1 and dimension = $2"
        )
        return {str(row[0]): np.asarray(row[1], dtype=np.float32) for row in rows}

    def keep_vectors(self, ids: Sequence[str], vectors: NDArray[np.float32], model: str) -> None:
        """Store vectors, float32 (n, dimension), of these entries."""
        keep_vectors(self._sql, "playbook_embeddings", {"entry_id": ids}, vectors, model)
