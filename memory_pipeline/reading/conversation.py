"""The questions about what a human and an agent say to each other: a day of it, and a session that still goes on."""

from __future__ import annotations

from memory_pipeline.reading.instructions import CHECKS, STATEMENTS

#: Change with the instructions, the fields of the answer, and the check.
VERSION, SESSION_VERSION = "conversation-9", "session-9"
_SPOKEN = f"""\
{STATEMENTS}

Whose words they are matters. What is about the human (`fact`, `preference`, `emotion`, `trust`, `boundary`) must rest \
on the human's own turn, never on what the agent says of the human. An agent's offers, advice, explanations, plans and \
kind words are routine unless the human adopts them; then the human's turn is the source, and the agent's turn may be \
a second one. Both may give decisions, causes, corrections, lessons and context of the work. Leave out questions, \
wishes, guesses, conditions of which nothing is known, jokes and role-play, what is quoted or pasted, what others said \
or want (except what somebody waits for or has to keep to: a deadline, a budget, a client's demand), and tasks for now \
(`fix the test`), which are done when they are done; what they leave broken or open is a thread. What holds for today \
only is not kept. If a later turn takes something back, keep only what stands in the end. If the human settles a \
question about the work in a word or two (`yes`, `the second`), that turn is a source with all its words as the quote, \
and the turn that it answers is another one. What is about the human needs words of the human's that say it."""

_EXAMPLES = """\
Examples:
- human: `can you look why the checkout is slow today` -> nothing. agent: `I could add an index on orders.user_id` -> \
nothing. human: `yes do that, and never touch prod without asking me` -> boundary, both: `The agent must never touch \
prod without asking the human first.`
- human: `we moved to Porto in May, so use Lisbon time still` -> fact, human: `The human moved to Porto in May 2026.` \
and preference, human: `The human wants Lisbon time to be used.`
- human: `no, the rent is 980 now, not 940` -> correction, human: `The human's rent is 980, not 940.`, replaces the \
given statement that says 940.
- agent: `The import failed because the CSV has a BOM` / human: `good catch` -> cause, work: `The import failed \
because the CSV has a BOM.`
- human: `let's take sqlite, postgres is too much for one user` -> decision, work: `SQLite was chosen over Postgres, \
which is too much for one user.`
- human: `I hate it when you apologise` -> dynamic, both: `The human hates it when the agent apologises.`
- human: `du kannst Termine ohne Rückfrage verschieben` -> trust, both: `Der Agent darf Termine ohne Rückfrage \
verschieben.`
- human: `should we maybe switch to bun?` -> nothing. human: `my sister thinks we should sell` -> nothing.
- human: `I'm exhausted, the audit starts Monday` on Friday 2026-05-08 -> emotion, human: `The human was exhausted on \
2026-05-08 before an audit that starts on 2026-05-11.`
- human: `thanks!` -> nothing."""

INSTRUCTIONS = f"""\
You keep the memory of an AI agent. You are given turns of a conversation between a human and that agent, as numbered \
items in order; a line without a number says of which day the turns below it are. You write down in statements what \
will matter for months: about the human, about how the two work together, and what the work depends on.

{_SPOKEN}

Leave `routine` and `digests` empty here: turns are never put away.

{_EXAMPLES}

{CHECKS}"""

SESSION_INSTRUCTIONS = f"""\
You keep the memory of an AI agent whose context is about to be cleared. You are given the turns of its session since \
the last time, as numbered items in order; a line without a number says of which day the turns below it are. You \
write down in statements what it must still know when it goes on \
tomorrow: decisions with their reasons, what was found out, values that were set, what the human wants and forbids, \
what did not work, and what is open (`thread`: the next step, and who waits for whom).

{_SPOKEN}

In a session also keep tasks that are not finished (`thread`), values that were changed (`fact`, with name and value), \
and dead ends (`lesson`: what was tried and why it failed). Under `digests` say in at most 160 characters what was \
done on each day; leave `routine` empty.

{_EXAMPLES}

{CHECKS}"""
