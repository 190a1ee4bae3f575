"""A transaction on the store: all queries and writes, by subject."""

from __future__ import annotations

import duckdb

from memory_pipeline.store.contents import Contents, Transfer
from memory_pipeline.store.conversations import Conversations
from memory_pipeline.store.decisions import Conflicts, Opinions, Proposals
from memory_pipeline.store.erasure import Erasure
from memory_pipeline.store.forgotten import Forgotten
from memory_pipeline.store.history import History
from memory_pipeline.store.integrity import Integrity
from memory_pipeline.store.journal import Journal
from memory_pipeline.store.knowledge import Atoms, Playbook
from memory_pipeline.store.lineage import Lineage
from memory_pipeline.store.memories import Memories
from memory_pipeline.store.readings import Models, Readings
from memory_pipeline.store.recallable import Recallable
from memory_pipeline.store.rollbacks import Rollbacks
from memory_pipeline.store.rollups import Rollups
from memory_pipeline.store.rows import Sql
from memory_pipeline.store.runs import Lease, Runs, Sessions, Triggers
from memory_pipeline.store.series import SeriesMemories
from memory_pipeline.store.sources import Sources
from memory_pipeline.store.vectors import Vectors


class Transaction:
    """One consistent view of the store; writes through it are committed as a whole or not at all.

    It ends with the `with` block of `Store.reading` or `Store.writing` that returned it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        sql = Sql(connection)
        self.memories = Memories(sql)
        self.lineage = Lineage(sql)
        self.vectors = Vectors(sql)
        self.recallable = Recallable(sql)
        self.series = SeriesMemories(sql)
        self.conflicts = Conflicts(sql)
        self.proposals = Proposals(sql)
        self.atoms = Atoms(sql)
        self.playbook = Playbook(sql)
        self.models = Models(sql)
        self.runs = Runs(sql)
        self.sources = Sources(sql)
        self.sessions = Sessions(sql)
        self.triggers = Triggers(sql)
        self.conversations = Conversations(sql)
        self.opinions = Opinions(sql)
        self.readings = Readings(sql)
        self.journal = Journal(sql)
        self.history = History(sql)
        self.rollups = Rollups(sql)
        self.rollbacks = Rollbacks(sql)
        self.forgotten = Forgotten(sql)
        self.erasure = Erasure(sql)
        self.contents = Contents(sql)
        self.integrity = Integrity(sql)
        self.transfer = Transfer(sql)
        self.lease = Lease(sql)
        self._sql = sql

    def facts(self) -> dict[str, int]:
        """Counts for display: those of `Contents.facts`, and the open conflicts."""
        return {**self.contents.facts(), "conflicts": self.conflicts.count_open()}
