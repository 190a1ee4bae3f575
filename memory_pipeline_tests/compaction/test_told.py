"""What sentences tell of the work, beside sentences that look like it."""

from __future__ import annotations

import pytest

from memory_pipeline.compaction.noted import Noted, noted_in
from memory_pipeline.compaction.told import configs_in, is_dead_end, is_done, is_open, is_rule
from memory_pipeline.conversations.own_words import own_sentences
from memory_pipeline.records import Speaker
from memory_pipeline_tests.conversations.saying import turn

TOLD = {
    "I've updated the Dockerfile to use python:3.12-slim.": "done",
    "All 31 tests pass now.": "done",
    "Created `src/auth/session.ts` and wired it into the router.": "done",
    "The fix in PR #482 is merged.": "done",
    "Let me now run the tests.": "open",
    "Next step: write the migration for the users table.": "open",
    "I still need to update the docs.": "open",
    "The migration is still running.": "open",
    "Waiting for the CI to finish.": "open",
    "That didn't work because the lock file is stale.": "dead end",
    "I tried pinning numpy to 1.26, but the wheel is missing for 3.13.": "dead end",
    "I reverted the change to the parser.": "dead end",
    "Rolled back the deployment to v2.3.1.": "dead end",
    "The proxy is not the problem.": "dead end",
    "`git bisect` failed because the history is shallow.": "dead end",
    "I set `max_connections` to 200 in postgresql.conf.": "max_connections = 200",
    "The API timeout is now 30 s.": "API timeout = 30 s",
    "I increased the TTL from 3600 to 7200 seconds.": "TTL = 7200 seconds",
    "Bumped `axios` from 1.6.0 to 1.7.2.": "axios = 1.7.2",
    "Please set the region to eu-central-1.": "region = eu-central-1",
    "I exported EXPORT_RETRIES=5 in the unit file.": "EXPORT_RETRIES = 5",
    "Reverted: STRIPE_TIMEOUT is 10 again in config/prod.env.": "STRIPE_TIMEOUT = 10",
    "The pool size is back to 5.": "pool size = 5",
    "Changed: max_connections = 120 in postgresql.conf on fsn1-b.": "max_connections = 120",
    "You could set max_connections to 200.": "",
    "Setting LOG_LEVEL=debug showed nothing new.": "",
    "If you want, I can set DEBUG=true.": "",
    "Don't set the region to eu-central-1.": "",
    "We lowered the price to 20 euros.": "",
    "I was able to set the alarm to 7.": "",
    "The retry limit is still 3.": "",
    "This would fix the issue if the cache were warm.": "",
    "Reverting would lose data.": "",
    "Should I revert the change?": "",
    "I think the problem is not the proxy.": "",
    "Never mind, that worked.": "",
    "I would suggest adding an index.": "",
    "The user asked to change the port from 8080 to 9090.": "",
}


@pytest.mark.parametrize("sentence", TOLD)
def test_a_sentence_tells_what_it_tells_and_nothing_else(sentence: str) -> None:
    (said,) = own_sentences(sentence)
    found = [f"{key} = {value}" for key, value in configs_in(said)]
    if not found:
        kinds = (("dead end", is_dead_end), ("open", is_open), ("done", is_done))
        found = [kind for kind, tells in kinds if tells(said)][:1]
    assert found == ([TOLD[sentence]] if TOLD[sentence] else [])


def test_of_what_a_human_tells_only_attempts_are_dead_ends() -> None:
    (said,) = own_sentences("My car broke because of the cold.")
    assert is_dead_end(said) and not is_dead_end(said, of_agent=False)


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("I prefer that we never delete files in /srv/export/archive.", True),
        ("Always move them to /mnt/cold instead.", True),
        ("The migration must never run on Fridays.", True),
        ("Backups must always be encrypted.", True),
        ("I want you to always answer in French.", True),
        ("I always feel tired on Mondays.", False),
        ("We always go to Spain in summer.", False),
        ("You always forget the header.", False),
        ("Always a pleasure!", False),
        ("It has always been slow.", False),
        ("Should we always use tabs?", False),
    ],
)
def test_what_is_always_or_never_to_be_done_is_a_rule(sentence: str, is_one: bool) -> None:
    (said,) = own_sentences(sentence)
    assert is_rule(said) is is_one


def notes(words: str, speaker: Speaker = "agent") -> list[Noted]:
    return list(noted_in(turn(words, speaker=speaker)))


def test_what_is_written_down_is_read_by_its_tag_label_heading_or_box() -> None:
    words = (
        "Some words.\n\n## Lessons learned\n\n- Rotate the key first.\n1. Then restart.\n\nMore words.\n- no lesson\n\n"
        "**Decisions:**\n* use DuckDB | Rationale: one file\n\n[curate] Dana likes CSV.\n"
        "- [x] moved it\n- [ ] write it up\nDecision: keep it.\n"
        "Important: read this."
    )
    assert [(one.section, one.text) for one in notes(words)] == [
        ("fact", "Rotate the key first."),
        ("fact", "Then restart."),
        ("decision", "use DuckDB"),
        ("fact", "Dana likes CSV."),
        ("done", "moved it"),
        ("open", "write it up"),
        ("decision", "keep it."),
    ]
    assert [one.rationale for one in notes(words) if one.rationale] == ["one file"]


def test_code_quotations_and_what_a_human_pasted_are_no_notes() -> None:
    assert notes("```\n[CURATE] a\n- [x] b\n```\n> Decision: c") == []
    assert notes("Summarize this: the minutes\n\n## Decisions\n\n- sell the house\n[CURATE] a", "human") == []
