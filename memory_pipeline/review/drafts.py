"""What a proposal would do, read from the JSON in which it is kept."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from memory_pipeline.records import Distillation, DuplicateGroup, Proposal

DUPLICATE_POLICY = "duplicate"

_Record = TypeVar("_Record", Distillation, DuplicateGroup)


def drafted(proposal: Proposal) -> Distillation | DuplicateGroup:
    """The distillation or group of duplicates that a proposal holds."""
    if proposal.policy == DUPLICATE_POLICY:
        return _from_json(DuplicateGroup, proposal.draft)
    return _from_json(Distillation, proposal.draft)


def _from_json(record: type[_Record], text: str) -> _Record:
    hints = typing.get_type_hints(record)
    loaded = json.loads(text)
    return record(**{field.name: _as(hints[field.name], loaded[field.name]) for field in fields(record)})


def _as(hint: Any, value: Any) -> Any:
    if isinstance(hint, types.UnionType):
        return None if value is None else _as(hint.__args__[0], value)
    if hint is datetime:
        return datetime.fromisoformat(value)
    return tuple(value) if isinstance(value, list) else value


def members_of(proposal: Proposal) -> tuple[str, ...]:
    """The memories that a proposal would archive."""
    draft = drafted(proposal)
    return draft.duplicate_ids if isinstance(draft, DuplicateGroup) else draft.member_ids
