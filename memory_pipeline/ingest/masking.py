"""Masks every secret in a candidate, in any field: content, ids, tags, categories, file names.

An id is always masked the same way, and different ids stay different through a digest of the whole id. With the
digest, a guess at the masked part can be verified, so only ids have one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

from memory_pipeline.ingest.candidates import Candidate, Rejected
from memory_pipeline.ingest.values import MAX_ID
from memory_pipeline.wording.normalise import clean_text
from memory_pipeline.wording.redaction import redact

#: The digests at the end of ids that this program generates.
_DIGESTS = re.compile(r"(?:[:#@][0-9a-f]{12,64}|~\d+)+$")


def mask_candidate(candidate: Candidate) -> tuple[Candidate, Counter[str]]:
    """The candidate with its secrets masked, and their counts by kind."""
    before = clean_text(candidate.content)
    content, counts = redact(before)
    small, small_before = content.casefold(), before.casefold()
    source = candidate.source
    masked = replace(
        candidate,
        content=content,
        source=replace(source, connector=_short(source.connector, counts), file=_optional(source.file, counts)),
        native_id=_id(candidate.native_id, counts),
        project_id=_id(candidate.project_id, counts),
        # Hashtags are in lower case, in which a token is not always recognised again.
        tags=tuple(
            _short(tag, counts)
            for tag in candidate.tags
            if tag.casefold() not in small_before or tag.casefold() in small
        ),
        categories=tuple(_short(category, counts) for category in candidate.categories),
        headings=tuple(_short(heading, counts) for heading in candidate.headings),
        lead_in=_short(candidate.lead_in, counts),
        own_words=_optional(candidate.own_words, counts),
        created_at_quality=_short(candidate.created_at_quality, counts),
        archived_by=_id(candidate.archived_by, counts),
        consolidated_into_id=_id(candidate.consolidated_into_id, counts),
        compressed_from=_json(candidate.compressed_from, counts),
        source_links=tuple((mask_id(link), _short(how, counts), score) for link, how, score in candidate.source_links),
        embedding_model=_optional(candidate.embedding_model, counts),
    )
    return masked, counts


def mask_rejected(rejected: Rejected) -> Rejected:
    """Mask secrets in the file name, the reason (which may quote a value) and the excerpt."""
    file, reason, excerpt = (redact(clean_text(part))[0] for part in (rejected.file, rejected.reason, rejected.excerpt))
    return replace(rejected, file=file, reason=reason, excerpt=excerpt)


def mask_id(name: str) -> str:
    """An id with its secrets masked and a digest of the whole id; an id without secrets is unchanged."""
    return _masked_id(name)[0]


def _id(name: str | None, counts: Counter[str]) -> str | None:
    if name is None:
        return None
    masked, found = _masked_id(name)
    counts.update(found)
    return masked


@lru_cache(maxsize=4096)
def _masked_id(name: str) -> tuple[str, Counter[str]]:
    digests = _DIGESTS.search(name)
    head = name[: digests.start()] if digests else name
    # `row:token:1a2b...` is named after a project; a name indicates a secret only where the id reads like text.
    masked, counts = redact(head, by_name=" " in head or "=" in head)
    if not counts:
        return name, counts
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{masked[: MAX_ID - 13]}#{digest}", counts


def _short(text: str, counts: Counter[str]) -> str:
    masked, found = _masked_short(text)
    counts.update(found)
    return masked


def _optional(text: str | None, counts: Counter[str]) -> str | None:
    return None if text is None else _short(text, counts)


@lru_cache(maxsize=4096)
def _masked_short(text: str) -> tuple[str, Counter[str]]:
    return redact(text)


def _json(text: str | None, counts: Counter[str]) -> str | None:
    """A JSON object with masked strings; strings that are ids stay valid ids."""
    if text is None:
        return None

    def masked(value: Any) -> Any:
        if isinstance(value, dict):
            return {_short(key, counts): masked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [masked(item) for item in value]
        return _id(value, counts) if isinstance(value, str) else value

    return json.dumps(masked(json.loads(text)), sort_keys=True)
