"""What an agent is told that writes a flush itself, in a turn that nobody sees."""

from __future__ import annotations

from datetime import datetime

#: What an agent is told that writes the flush itself, in a turn that nobody sees.
INSTRUCTION = """\
Before the context is compacted, write down what must not be lost. Append to DailyLogs/{day}.md, in this form, and
write nothing else to it. Leave out a section without entries.

## Memory Flush: {at}

### Decisions Made

- DEC-001: <the decision> | Rationale: <why; "not stated" if nobody said>

### Standing Rules

- RULE-001: <what the human said is always, never or from now on to be done, word for word>

### Dead Ends

- DEAD-001: <what was tried and did not work, and why>

### Facts Learned

- FACT-001: <the fact> | Source: <who said it, or the file> | Confidence: <0.00 to 1.00>

### Configurations Changed

- CONFIG-001: <setting> = <value>

### Session Progress

Completed:

- <what is done>

In Progress:

- <what is open, with the next step>

Keep identifiers, paths, numbers, commands and rules word for word. Keep what is marked [CURATE], and leave out what is
marked [TEMPORARY], passwords and keys. Do not change existing lines, and not what stands between memory-pipeline
marks. If there is nothing to keep, write nothing. Then answer with NO_REPLY alone."""


def instruction(now: datetime) -> str:
    """The instruction for an agent's silent turn."""
    return INSTRUCTION.format(day=now.date(), at=now.isoformat(timespec="seconds"))
