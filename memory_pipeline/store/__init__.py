"""The DuckDB store and the only package with SQL: transactions, schema, snapshots, lease and integrity check."""

from memory_pipeline.store.connection import Store
from memory_pipeline.store.contents import FOLLOWING_TABLES, RECORD_NAMES
from memory_pipeline.store.decisions import AWAITS_REVIEW, REJECTED
from memory_pipeline.store.erasure import Erased
from memory_pipeline.store.folding import settle_stores
from memory_pipeline.store.forgetting import copies_aside, files_that_say, forget_in_copies, forget_in_store
from memory_pipeline.store.forgotten import FORGOTTEN_ID, new_id_of
from memory_pipeline.store.history import Event
from memory_pipeline.store.integrity import Finding
from memory_pipeline.store.knowledge import FIRST_CONFIDENCE
from memory_pipeline.store.memories import Replacement, SameContent, memory_table
from memory_pipeline.store.migrations import schema_number
from memory_pipeline.store.recallable import Generation, memory_of
from memory_pipeline.store.recovery import Recovery, put_in_blank_place, recover_store, remove_store
from memory_pipeline.store.rewriting import Forgetting
from memory_pipeline.store.rollbacks import RollbackPlan
from memory_pipeline.store.rows import AUDIT_LOG
from memory_pipeline.store.series import LEAST_TEXTS, SeriesMemory, Shape, facts_in, reading_in, wrong_in_series
from memory_pipeline.store.snapshots import (
    Snapshot,
    create_snapshot,
    list_snapshots,
    restore_snapshot,
    snapshot_directory,
    snapshot_path,
    verify_snapshot,
)
from memory_pipeline.store.transaction import Transaction
from memory_pipeline.store.vectors import EDGE_SCHEMA, SAID_AGAIN, Cell
