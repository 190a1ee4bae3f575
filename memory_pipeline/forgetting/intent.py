"""The intent of a forgetting, beside the store until it is done: ids and no words. A killed one is completed by it."""

from __future__ import annotations

import json
import secrets
import uuid
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_pipeline.errors import OutputError, StoreError
from memory_pipeline.files import directories, write_text
from memory_pipeline.places import forgetting_mark
from memory_pipeline.store import Chosen, Forgetting


@dataclass(frozen=True, slots=True)
class Intent:
    """What a person has confirmed. `periods`: by project, the rollups that say it, which are made again."""

    memory_ids: tuple[str, ...]
    rejected: tuple[tuple[str, int], ...]
    actor: str
    at: str
    periods: dict[str, list[str]]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    key: str = field(default_factory=lambda: secrets.token_hex(32))

    @property
    def forgetting(self) -> Forgetting:
        """The same, as the store takes it."""
        chosen = Chosen(self.memory_ids, self.rejected)
        return Forgetting(self.id, chosen, self.key, datetime.fromisoformat(self.at), self.actor)

    def with_key(self, key: str | None) -> Intent:
        """The intent with the key that the store has, if it has one."""
        return self if key is None else replace(self, key=key)

    def keep(self, store: Path) -> None:
        """Write it beside the store, durably. Raises OutputError."""
        with directories(store.parent):
            write_text(forgetting_mark(store), json.dumps(asdict(self)), lambda _: True, private=True)


def read_intent(store: Path) -> Intent | None:
    """The intent beside a store; None if nothing is unfinished. Raises StoreError for a file that is not one."""
    path = forgetting_mark(store)
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Intent(
            memory_ids=tuple(kept["memory_ids"]),
            rejected=tuple((str(file), int(line)) for file, line in kept["rejected"]),
            actor=kept["actor"],
            at=datetime.fromisoformat(kept["at"]).isoformat(),
            periods=dict(kept["periods"]),
            id=kept["id"],
            key=bytes.fromhex(kept["key"]).hex(),
        )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"'{path}' is damaged, so that a forgetting cannot be completed; remove it, and run 'forget' again"
        ) from error
