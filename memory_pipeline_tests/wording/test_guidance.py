"""Which sentences advise something, and the clauses that this is read from."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.grammar import clauses_of, words_of
from memory_pipeline.wording.guidance import guidance_in, is_detail, is_limit

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

LIMITS = """
Not on staging.
Only in the EU region.
Weekdays only.
Except for exports, which need the green pool.
Unless the queue is empty.
But not for tenants with a contract.
Never do this during business hours.
Do not use it for exports.
On staging use the red pool.
At home use the small disk.
In the test lab, skip the backup.
On staging this is not needed.
For exports it is forbidden.
Outside the EU this is optional.
This is no longer needed since version 4.
No longer needed since version 4.
Since version 4 the cache clears itself.
In version 4 the cache clears itself.
Since May it restarts itself, so do not do this.
Docs-only changes are exempt.
It does not apply to hotfixes.
Hotfixes don't need it.
The lab needs no backup, the step was dropped there.
We dropped the rule in May.
That was removed in May.
Exception: the lab.
The reverse holds for the lab.
"""

NO_LIMITS = """
It logs to worker.log.
It takes 40 seconds.
It happened after the supplier changed their export.
It is cheaper at night.
Ben found this out on the third outage.
Never happened again.
Not a single order failed on Monday.
But nobody noticed.
Only two hosts were affected.
In March demand grew by 4%.
In summer it is 13 hours.
On Mondays Ann reads the report.
The preview does not use the cache, so it looks fine.
An alert at 85% was set up.
Is this no longer needed?
"""


@pytest.mark.parametrize("line", ADVICE.strip().split("\n"))
def test_a_sentence_that_advises_something_says_what_kind(line: str) -> None:
    kind, sentence = line.split(": ", 1)
    assert guidance_in(sentence) == kind


@pytest.mark.parametrize("sentence", NONE.strip().split("\n"))
def test_reports_states_tasks_and_descriptions_advise_nothing(sentence: str) -> None:
    assert guidance_in(sentence) is None


@pytest.mark.parametrize("sentence", LIMITS.strip().split("\n"))
def test_what_narrows_excepts_reverses_or_ends_a_rule_is_a_limit(sentence: str) -> None:
    assert is_limit(sentence)


@pytest.mark.parametrize("sentence", NO_LIMITS.strip().split("\n"))
def test_details_and_reports_are_no_limits(sentence: str) -> None:
    assert not is_limit(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Trim the file with the script in tools/trim_csv.py.",
        "Pay within 14 days.",
        "The limit is 8 MB per file.",
        "At most 7 bullets.",
        "1380 works well.",
        "A reload signal is not enough.",
        "The job is called stock_sync.",
    ],
)
def test_orders_values_and_names_are_details_of_advice(sentence: str) -> None:
    assert is_detail(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Trim the file today.",
        "Investigate the importer.",
        "Fixed.",
        "Orders were wrong for 3 hours.",
        "Dana lost two test orders to this.",
        "The invite was wrong on 2026-03-09.",
        "Marketing noticed it first.",
    ],
)
def test_reports_and_tasks_of_the_moment_are_no_details(sentence: str) -> None:
    assert not is_detail(sentence)


@pytest.mark.parametrize(
    "text", ["", "a" * 60_000, "Restart " * 8_000, "(" * 60_000, "Use " + "a." * 20_000, "Never " + "ab_" * 20_000]
)
def test_hostile_text_is_no_advice(text: str) -> None:
    assert guidance_in(text) is None
    is_detail(text)
    is_limit(text)


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
