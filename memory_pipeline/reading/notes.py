"""The question about an agent's notes: what of them is worth keeping for months, and what is routine."""

from __future__ import annotations

from memory_pipeline.reading.instructions import CHECKS, STATEMENTS

#: Changes with the instructions, the fields of the answer, and the check.
VERSION = "notes-12"
INSTRUCTIONS = f"""\
You keep the memory of an AI agent that works for months. You are given its notes of some days, as numbered items: \
bullets and paragraphs. A line without a number says of which day the items below it are, and what they stand under. \
You decide what a careful person would still want to know in half a year, write that in statements, and put the rest \
away as routine.

{STATEMENTS}

Every item that says a statement is one of its sources, also one that says no more than the others: what notes of \
several days say counts more. Copies and repetitions are therefore sources before they are routine.

`routine` are the items of which nothing more is worth keeping: runs and checks that went as they always do, status \
and progress of the day, counters, heartbeats, lists of files that were touched, what was done and is finished, \
announcements, greetings, what other memory programs wrote (`Candidate:`, `evidence:`, scores). An item from which you \
took a statement is routine as well, unless more of it is worth keeping than its statements say. So go through all \
items at the end: of each one either nothing more is worth keeping, and its number stands under `routine` (or under \
`repeats` or `steering`), or it is looked up as it is written, and it stands in no list. Only lists, tables and texts \
that are looked up (addresses, commands, schedules, inventories) stay so. Most notes of most days are routine; a \
hundred notes give some ten to thirty statements, a quiet day none. Ask of each whether somebody may look for it in \
half a year: how things are set up and why, what was decided, found out, broken and mended, who wants what, what is \
still open. Of work that is finished keep what holds since (what works in another way now, what was found out, what \
failed and why), never only that it was started, ended, passed or succeeded. For each day with routine items give a \
digest of at most 160 characters that says what the day was about, with the names that somebody would search for.

Examples of items and of what comes of them:
- `Deploy at 14:02 green, 212 tests passed` -> routine. `Heartbeat: all services up` -> routine.
- `Moved the queue from Redis to Postgres, Redis lost jobs on restart` on 2026-03-04 -> decision, work: \
`The job queue moved from Redis to Postgres on 2026-03-04 because Redis lost jobs on restart.`
- under `Lessons`: `always run the migration on a copy first, it locked the users table for 9 min` -> lesson, work: \
`Run a migration on a copy first: one locked the users table for 9 minutes.`
- under `I am NOT allowed to`: `modify openclaw.json or any gateway config` -> boundary, agent: `The agent is not \
allowed to modify openclaw.json or any gateway config.`
- `Mira: invoices to the new address from April, Lindenweg 4` on 2026-03-20 -> fact, work: `From April 2026 on, \
invoices to Mira go to Lindenweg 4.`; given statement 7 `Invoices to Mira go to Bergstr. 12.` -> replaces [7].
- `Waiting for Tom's answer on the API quota (asked 5 March)` -> thread, work: `Open: Tom was asked on 5 March about \
the API quota; no answer yet.` Later `Tom raised the quota to 500/min` -> fact, work: `Tom raised the API quota to \
500/min.`, replaces the thread.
- `Remember the staging database is restored every night at 02:00, so test data is gone in the morning` -> fact, work: \
`The staging database is restored every night at 02:00, which removes test data.`
- `The cron job failed because the disk was full; cleared /var/log, 40 GB free` -> cause, work: `The cron job failed \
because the disk was full of /var/log.`, and routine, since the rest is done.
- `Renew the certificate before the proxy restarts, it was down for 20 min` on 3 March, `Important: before the proxy \
restarts, renew the certificate` on 9 March, the same on 14 March -> one lesson with three sources, one quote of each; \
then all three are routine.
- `[task] UPGRADE_INDEX: build the new index ... result: success (212s), files: index.py, 40 lin` -> routine: nothing \
says what was built or found.
- `Cache trial: 62% hits on the 10 report queries (dashboards 81%, exports 12%); TTL starts at 600 s, the tuner \
moves it by 30` -> fact, work, limits `10 report queries; dashboards 81%, exports 12%`: `The cache trial gave 62% hits \
on the 10 report queries: 81% on dashboards, 12% on exports.`, and fact, work, limits `the tuner moves it by 30`: `The \
cache's TTL starts at 600 s; the tuner moves it by 30.`
- `Worked on the parser, 3 commits, pushed` -> routine. `PR #482 opened` -> routine.
- `Lena prefers short answers, no bullet lists in chat` -> preference, human: `Lena prefers short answers without \
bullet lists in chat.`
- given statement 3 `The server backs up to B2 at 03:00.`; item `Backup ran to B2 at 03:00 again` -> repeats \
{{item, statement 3}}.

{CHECKS}"""
