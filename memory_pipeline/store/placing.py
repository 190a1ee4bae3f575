"""Replaces an empty store with one that was built elsewhere, for example by an import of everything."""

from __future__ import annotations

from pathlib import Path

from memory_pipeline.errors import StoreError
from memory_pipeline.store import engine
from memory_pipeline.store.connection import Store
from memory_pipeline.store.folding import copy_files, put_in_place, remove_database
from memory_pipeline.store.lock import lock_path
from memory_pipeline.store.seal import log_path
from memory_pipeline.store.transaction import Transaction


def put_in_blank_place(store: Store, incoming: Store) -> bool:
    """Move a whole store to the place of an empty one, or of none; returns False if the store is no longer empty.

    Raises StoreError if the directory does not allow it.
    """
    incoming.fold()  # no part of it may be left in a log next to it
    try:
        with store.held(shared=False) as lock:
            if store.exists() and not _lies_blank(store.path):
                return False
            if not store.exists() and log_path(store.path).exists():
                return False  # a log without its store may contain someone's last changes
            put_in_place(incoming.path, store.path, lock)
    except OSError as error:
        raise StoreError(f"the store '{store.path}' cannot be written: {error.strerror or error}") from error
    return True


def remove_store(store: Store) -> None:
    """Remove a store that was only temporary, with its lock."""
    remove_database(store.path)
    lock_path(store.path).unlink(missing_ok=True)


def _lies_blank(path: Path) -> bool:
    """Whether a held store is empty, and no night works on it; checked in a copy."""
    copy = path.with_name(f".{path.name}.blank")
    try:
        copy_files(path, copy)
        with engine.attached_copy(copy, read_only=True) as connection:
            tx = Transaction(connection)
            return tx.transfer.is_blank() and not tx.lease.is_taken()
    finally:
        remove_database(copy)
