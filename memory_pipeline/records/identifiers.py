"""Deterministic ids, derived from what they identify, so that a re-run finds its own work."""

from __future__ import annotations

import hashlib
import uuid

#: Namespace of every derived id.
ID_NAMESPACE = uuid.UUID("6f1d3e0a-8d2c-5b7e-9c41-2f6a0b9d4e55")


def fingerprint_of(member_ids: tuple[str, ...] | list[str]) -> str:
    """SHA-256 over the sorted member ids, one per line: the same members give the same fingerprint."""
    return hashlib.sha256("\n".join(sorted(member_ids)).encode()).hexdigest()


def derived_id(*parts: str) -> str:
    """UUIDv5 of the parts: a deterministic id, so that a re-run finds what an earlier run wrote."""
    return str(uuid.uuid5(ID_NAMESPACE, "\x1f".join(parts)))
