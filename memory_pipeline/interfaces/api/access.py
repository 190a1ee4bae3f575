"""The rights of a request: the scopes and projects of its token, and the file of tokens beside the store.

The file keeps hashes alone, and no export, snapshot or report contains it. It is read for each request, so that a
revoked token is refused at once, by running servers too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

import portalocker
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError, MemoryPipelineError, NotFoundError
from memory_pipeline.files.writing import write_text
from memory_pipeline.ingest.candidates import RowError
from memory_pipeline.ingest.values import identifier
from memory_pipeline.store import Store
from memory_pipeline.store.rows import only_one

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
#: The key of an ASGI scope under which an authenticated request carries its `Access`.
ACCESS = "memory_pipeline.access"


class ForbiddenError(MemoryPipelineError):
    """The token of a request does not allow what it asks for."""


class ProjectNeededError(InputError):
    """A request names no project, and there is more than one that it could mean."""


@dataclass(frozen=True, slots=True)
class Access:
    """The one who asks, and what they may do.

    `actor`: the name for the audit log; `scopes`: none of them implies another; `projects`: None for all projects.
    """

    actor: str
    scopes: frozenset[Scope]
    projects: frozenset[str] | None = None

    def require(self, scope: Scope) -> None:
        """Raises ForbiddenError if the token does not have the scope."""
        if scope not in self.scopes:
            has = " and ".join(scope for scope in SCOPES if scope in self.scopes)
            raise ForbiddenError(f"this needs a token with the scope '{scope}'; yours has {has}")

    def allows(self, project: str) -> bool:
        return self.projects is None or project in self.projects

    def choose_project(
        self, store: Store, named: str | None, *, may_be_new: bool = False, known_to_exist: Container[str] = ()
    ) -> str:
        """The project of a request: the named one, else the token's only one, else the store's only one. The store is
        not read for a project that is `known_to_exist`.

        Raises ForbiddenError for a project that the token is not good for, NotFoundError for one that the store does
        not have (unless it `may_be_new`), and ProjectNeededError if none is named and several are possible.
        """
        if named is None and self.projects is not None and len(self.projects) == 1:
            (named,) = self.projects
        if named is not None:
            if not self.allows(named):  # whether or not it exists
                raise ForbiddenError(f"your token is not good for the project '{named}'")
            if named in known_to_exist:
                return named
            if may_be_new and _can_name_a_project(named):
                return named
        known = self._known_projects(store)
        if named is None:
            if len(known) != 1:
                raise ProjectNeededError(f"name a project: {', '.join(known) or 'the store has none yet'}")
            return known[0]
        if named not in known:
            mend = f"use {', '.join(known)}" if known else "it begins with the first memory that is remembered"
            if not _can_name_a_project(named):
                mend = "its name has control characters, or white space at an end, so that none can begin with it"
            raise NotFoundError(f"there is no project '{named}'; {mend}")
        return named

    def may_begin(self, store: Store) -> bool:
        """True if a memory for a project that the store does not have may begin it unasked: for a token that is bound
        to projects, and in an empty store. Otherwise a mistyped name would begin one beside the others."""
        return self.projects is not None or not self._known_projects(store)

    def _known_projects(self, store: Store) -> list[str]:
        if not store.exists():
            return []
        with store.reading() as tx:
            return [project for project in tx.memories.projects() if self.allows(project)]


def _can_name_a_project(name: str) -> bool:
    try:
        return identifier(name, "the project") is not None
    except RowError:
        return False


#: What every token begins with, so that people and scanners recognise one.
PREFIX = "mpt_"
_RANDOM_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LOCK_WAIT_S = 10.0


class DescribedToken(Document):
    """A token as `token list` shows it."""

    id: str = Field(description="Its id, which is no secret.")
    name: str = Field(description="Who uses it; stands in the audit log as `token:NAME`.")
    scopes: tuple[Scope, ...] = Field(description="What it allows: `read`, `write`, `admin`.")
    projects: tuple[str, ...] | None = Field(description="The projects it is good for; null for all.")
    created_at: Moment = Field(description="When it was created.")
    expires_at: Moment | None = Field(description="When it ends; null for never.")
    revoked_at: Moment | None = Field(description="When it was revoked; null if it was not.")

    def is_good(self, now: datetime) -> bool:
        """True if it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class CreatedToken(DescribedToken):
    """A new token; its secret is shown this once."""

    token: str = Field(description="The token itself, for the header `Authorization: Bearer TOKEN`.")


class _StoredToken(DescribedToken):
    model_config = ConfigDict(extra="ignore")  # what other versions keep beside it

    sha256: str = Field(description="SHA-256 of the token.", min_length=64, max_length=64, exclude=True, repr=False)


class _TokenFile(BaseModel):
    tokens: tuple[_StoredToken, ...] = ()


def token_path(store: Path) -> Path:
    """The file of a store's tokens."""
    return store.with_name(f"{store.stem}.tokens.json")


class Tokens:
    """The tokens of one store. Safe to use from several threads and processes."""

    def __init__(self, store: Path) -> None:
        self._path = token_path(store)

    def all(self) -> Sequence[DescribedToken]:
        """All tokens, revoked ones included, oldest first."""
        return self._read()

    def any_good(self, now: datetime) -> bool:
        """True if there is a token that a request could use."""
        return any(token.is_good(now) for token in self._read())

    def create(
        self,
        name: str,
        scopes: Collection[str],
        projects: Collection[str] | None,
        now: datetime,
        expires_at: datetime | None = None,
    ) -> CreatedToken:
        """Make a token. Raises InputError for a name that another one has, and for a scope that does not exist."""
        if not _NAME.fullmatch(name):
            raise InputError(f"the name is '{name}'; use up to 64 letters, digits, dots, dashes and underscores")
        strange = sorted(set(scopes) - set(SCOPES))
        if strange or not scopes:
            raise InputError(f"there is no scope '{strange[0] if strange else ''}'; use {', '.join(SCOPES)}")
        if projects is not None and not projects:
            raise InputError("name the projects that the token is good for")
        if expires_at is not None and expires_at <= now:
            raise InputError(f"the token would have expired at {expires_at.isoformat()}; choose a later time")
        secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        made = _StoredToken(
            id=secrets.token_hex(4),
            name=name,
            scopes=tuple(scope for scope in SCOPES if scope in scopes),
            projects=None if projects is None else tuple(sorted(set(projects))),
            created_at=now,
            expires_at=expires_at,
            revoked_at=None,
            sha256=_hash(secret),
        )
        with self._changing() as tokens:
            if any(token.name == name and token.is_good(now) for token in tokens):
                raise InputError(f"there is a token '{name}' already; choose another name, or revoke that one first")
            tokens.append(made)
        return CreatedToken.of_record(made, token=secret)

    def revoke(self, name_or_id: str, now: datetime) -> DescribedToken:
        """End a token, by name (of several, the one that is still good) or id. Raises InputError if none stands."""
        with self._changing() as tokens:
            standing = {token.id: token for token in tokens if token.revoked_at is None}
            named = sorted(
                (token for token in standing.values() if token.name == name_or_id),
                key=lambda token: not token.is_good(now),
            )
            mend = "'memory-pipeline token list' shows all"
            chosen = named[0] if named else only_one(standing, name_or_id, "token", mend)
            revoked = chosen.model_copy(update={"revoked_at": now})
            tokens[tokens.index(chosen)] = revoked
        return revoked

    def access(self, secret: str, now: datetime) -> Access | None:
        """The access that a token gives; None for one that is unknown, revoked or expired."""
        given = _hash(secret)
        matching = [token for token in self._read() if hmac.compare_digest(token.sha256, given)]
        if not matching or not matching[0].is_good(now):
            return None
        token = matching[0]
        projects = None if token.projects is None else frozenset(token.projects)
        return Access(f"token:{token.name}", frozenset(token.scopes), projects)

    def _read(self) -> tuple[_StoredToken, ...]:
        try:
            if self._path.stat().st_mode & 0o022:
                raise InputError(f"'{self._path}' can be changed by other users; run 'chmod 600' on it")
            return _TokenFile.model_validate_json(self._path.read_bytes()).tokens
        except FileNotFoundError:
            return ()
        except ValidationError:
            raise InputError(
                f"'{self._path}' is not a file of tokens, or was damaged; remove it and create the tokens again"
            ) from None

    @contextmanager
    def _changing(self) -> Iterator[list[_StoredToken]]:
        """The tokens to be changed in place, written when the block ends without an error."""
        lock = self._path.with_suffix(".lock")
        with portalocker.Lock(lock, "a", timeout=_LOCK_WAIT_S, opener=lambda path, mode: os.open(path, mode, 0o600)):
            tokens = list(self._read())
            yield tokens
            rows = [{**token.as_json(), "sha256": token.sha256} for token in tokens]
            text = json.dumps({"memory_pipeline_tokens": 1, "tokens": rows}, indent=1) + "\n"
            write_text(self._path, text, lambda _: True, private=True)  # it was read just now


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
