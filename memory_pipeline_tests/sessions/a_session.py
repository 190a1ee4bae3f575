"""A working session as people have them, with something of each kind that a flush keeps, and much that it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory_pipeline_tests.ingest.bring import lines as transcript
from memory_pipeline_tests.sessions.sessions import said

TURNS: tuple[tuple[str, str], ...] = (
    ("user", "Our nightly export fails since Tuesday. The staging database listens on port 5433. Can you find out why?"),
    ("assistant", "Let me look at the logs and at `export/run.py`."),
    ("assistant", "I found that the export times out because `pg_dump` waits for a lock of the VACUUM job. I tried a larger "
     "statement_timeout of 90 s, but it still timed out after 90 s."),
    ("user", "Never touch the production database without asking me first. We've decided to run the export at 02:30 UTC "
     "because VACUUM is done by then."),
    ("assistant", "Moved the nightly export to 02:30 UTC in `deploy/cron.d/export`. I set EXPORT_RETRIES=5 and changed "
     "`pool.max_size` from 10 to 25.\n\n```bash\nexport EXPORT_RETRIES=5\n```\n\nAll 214 tests pass."),
    ("user", "I think it might rain. [CURATE] Dana prefers CSV over XLSX for the weekly numbers.\n"
     "[CURATE] Dana prefers CSV over XLSX for the weekly numbers.\n[TEMPORARY] The staging password was rotated, tell Dana."),
    ("assistant", "## Decisions\n\n- DEC-014: keep DuckDB for reports | Rationale: one file, no server\n\n## Dead ends\n\n"
     "- Raising work_mem to 512MB did not change the plan.\n\n## Next steps\n\n- [x] Move the export\n"
     "- [ ] Write the runbook in docs/runbooks/export.md\n"),
    ("user", "No, not port 5433, the staging database listens on port 5434. From now on, answer in short bullet points."),
    ("assistant", "Noted. Next: document the rollback in docs/runbooks/export.md."),
    ("user", "My daughter Mia has her birthday on 4 May. Could you also check the certificate of api.example.org?"),
)  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """The lines of its transcript; each answer says a little more of the context is in use."""
    return [
        said(number, role, words, 150_000 + 4_000 * number if role == "assistant" else 0)
        for number, (role, words) in enumerate(TURNS, start=1)
    ]


def session_file(directory: Path) -> Path:
    """Its transcript, where Claude Code would keep it."""
    return transcript(directory / "projects" / "-home-dana-app" / "5f0e8400-e29b-41d4-a716-446655440000.jsonl", *rows())
