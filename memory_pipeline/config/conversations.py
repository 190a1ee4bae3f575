"""Settings of conversations: how they are read."""

from __future__ import annotations

from memory_pipeline.config.section import Section, setting


class Conversations(Section):
    """`conversations`: how what was said is read."""

    chunk_tokens: int = setting(
        800, "Maximum tokens of the turns that are read together, as one chunk of a conversation.", ge=100, le=8000
    )
