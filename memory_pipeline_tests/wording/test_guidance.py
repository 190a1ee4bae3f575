"""Which sentences advise something, and the clauses that this is read from."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.grammar import clauses_of, words_of
from memory_pipeline.wording.guidance import guidance_in

ADVICE = """
do: Water the tomatoes in the evening, because the leaves burn in the midday sun.
do: Always mount the backup disk read-only before you compare checksums.
do: If the pump is louder than usual, bleed the radiator first.
do: Tax receipts belong in the blue folder and must be kept for ten years.
do: Ask Priya before you change the survey, since she has promised it to the ethics board.
do: Rotate the logs weekly or the small disk fills up.
do: Charts should start at zero so that differences do not look larger than they are.
do: Before a long trip, empty the mailbox.
do: After editing the templates clear the cache.
do: Before updating the NAS always take a backup, it refuses to go back to the old version.
do: Before dropping a feature run three seeds, single runs differ by two points.
do: When travelling take the small charger.
do: Because the oven runs hot, set it twenty degrees lower.
do: Update the stick only with the coordinator stopped, else all lamps must be paired again.
do: Label every cable on both ends before unplugging it.
do: Pull the plug of the router for a minute if the phone is dead.
do: Gotcha: containers keep the old image after a pull, so recreate them.
avoid: Don't merge on green alone; the integration tests only run at night.
avoid: Avoid renaming columns in the export, the accountant's macro reads them by name.
avoid: Never store the access token in the repository.
avoid: The staging database should never be copied to laptops.
avoid: **Quality over quantity** - Don't slim the index down for speed.
prefer: Grandma prefers phone calls to text messages.
prefer: Tom likes the numbers in the first line of the mail.
prefer: Invoices go to the accounting inbox, not to the private address.
prefer: Screenshots are better than descriptions in bug reports.
expect: The printer jams whenever the paper is thicker than 120 g.
expect: Large uploads time out when the proxy buffers the whole request.
expect: Migrations cannot be rolled back once the old column is gone.
expect: The importer skips rows silently if the price column holds a comma.
"""

NONE = """
The printer jammed twice on Tuesday.
Deployed version 2.3.1 to staging.
Fixed the login bug in auth.py.
All 214 tests passed in 31 s.
Implement pagination for the orders endpoint.
Investigate why the nightly job is slow.
Refactor the parser into three modules.
CPU usage is at 43%, memory at 61%.
The order page has two columns.
The oven was repaired because the fan was loud.
The network was down for 50 minutes (28 February 2026), 35 minutes (5 March) and 20 minutes (11 March).
The router overheated in the cupboard, and the network was down.
Next: write the tests for the importer.
NEXT: Run the live evaluation to get first scores.
Output: always check the logs before a release.
Status: waiting for the review of the second draft.
The meeting with the landlord is on 12 May at 10:00.
Submit the grant report before 2026-05-31.
Restart the gateway today because the key was rotated.
Backup finished without errors after 14 minutes.
Should we move the database to another host?
We should add tests for the importer.
I executed the task: run all checks before every release.
are never suppressed regardless of
Skips gracefully when the queue is empty.
Test suite passes in 6 minutes.
Report sent to Dana.
- [ ] always check the export
While speed is excellent, the system fails on its most important job.
Only summaries flow back to the hub (never raw memories).
Immer zuerst ein Backup machen, bevor das NAS aktualisiert wird.
"""


@pytest.mark.parametrize("line", ADVICE.strip().split("\n"))
def test_a_sentence_that_advises_something_says_what_kind(line: str) -> None:
    kind, sentence = line.split(": ", 1)
    assert guidance_in(sentence) == kind


@pytest.mark.parametrize("sentence", NONE.strip().split("\n"))
def test_reports_states_tasks_and_descriptions_advise_nothing(sentence: str) -> None:
    assert guidance_in(sentence) is None


@pytest.mark.parametrize(
    "text", ["", "a" * 60_000, "Restart " * 8_000, "(" * 60_000, "Use " + "a." * 20_000, "Never " + "ab_" * 20_000]
)
def test_hostile_text_is_no_advice(text: str) -> None:
    assert guidance_in(text) is None


def test_a_sentence_is_read_as_its_clauses() -> None:
    clauses = clauses_of("Restart the gateway after rotating its key, otherwise it keeps using the old one.")
    assert [(clause.opener, clause.text, clause.order) for clause in clauses] == [
        ("", "restart the gateway", 0),
        ("after", "rotating its key", None),
        ("otherwise", "it keeps using the old one", None),
    ]
    assert [word.text for word in words_of("A **bold** claim, it's `code`.")] == [
        "A", "bold", "claim", ",", "it's", "code", "."
    ]  # fmt: skip
