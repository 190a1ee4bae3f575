"""Whose names stand before the turns of a project."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory_pipeline.consolidation.conversation_runs import list_days, run_conversations
from memory_pipeline.store import Store
from memory_pipeline_tests.build import settings_for
from memory_pipeline_tests.ingest.bring import bring

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def test_a_workspace_that_was_only_imported_tells_its_names_too(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "home"
    (place / "raw").mkdir(parents=True)
    (place / "USER.md").write_text("# User\n\n- **Name:** Ines\n- Likes tea.\n")
    (place / "SOUL.md").write_text("# Soul\n\nYou are Pip, and you keep the books.\n")
    (place / "raw" / "2026-03-02.md").write_text("Ines: I live in Lisbon with my wife.\n\nPip: Noted.\n")
    bring(store, place, "openclaw", now=NOW)
    settings = settings_for(store)
    run_conversations(store, settings, None, now=NOW)
    (listed,) = list_days(store, None, NOW.date(), settings)
    assert (listed.state, listed.kept, listed.without_speaker) == ("read", 1, 0)
