"""Knowledge-base entries of the demo's agents, in groups that recommend one thing, and single ones."""

from __future__ import annotations

from typing import NamedTuple


class KnowledgeEntry(NamedTuple):
    """A title, a recommendation, and stories in which it proved right or was learned."""

    title: str
    recommendation: str
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The entry as it is written down."""
        lines = [f"Title: {self.title}", f"Recommendation: {self.recommendation}"]
        return "\n".join([*lines, "Examples:", *(f"- {story}" for story in self.examples)] if self.examples else lines)


#: By project, groups of entries; those of one group recommend the same.
KNOWLEDGE: tuple[tuple[str, tuple[KnowledgeEntry, ...]], ...] = (
    ("research", (
        KnowledgeEntry("Log the commit of every experiment", "Write the git commit into the result file of every experiment.",
            ("EXP-12: nobody could say which code gave the 84% any more.",)),
        KnowledgeEntry("Log the git commit with each experiment", "Write the git commit into each experiment's result file.",
            ("EXP-31: a rerun with other code looked like a regression.", "EXP-33: the table of February had to be redone.")),
        KnowledgeEntry("Commit hash belongs to the results", "Always store the hash of the commit beside the numbers of a run, or nobody can repeat it.",
            ("EXP-40: Tomas found the run again within a minute.",)))),
    ("research", (
        KnowledgeEntry("Pilot the questionnaire", "Try a questionnaire with three colleagues before it goes to participants.",
            ("STUDY-2: question 7 was read in two ways.",)),
        KnowledgeEntry("Pilot every questionnaire first", "Try each questionnaire with three colleagues before it goes to the participants.",
            ("STUDY-5: it took 25 minutes instead of the announced 10.",)))),
    ("research", (
        KnowledgeEntry("Deduplicate before splitting", "Remove near-duplicates from a corpus before it is split into train and test.",
            ("CORPUS-3: 4% of the test items were in the training set.",)),
        KnowledgeEntry("Leaks between train and test", "Near-duplicates have to be removed from the corpus before splitting it into train and test.",
            ("CORPUS-8: the leak made the model look three points better.",)))),
    ("research", (
        KnowledgeEntry("Name files by content", "Put the data set, the split and the date into the name of a result file.",
            ("EXP-19: results_final2.csv could not be told from results_final.csv.",)),)),
    ("research", (
        KnowledgeEntry("Ask for consent twice", "Ask participants for consent again when recordings are used for a new purpose.",
            ("STUDY-4: two participants said no the second time.",)),)),
    ("assistant", (
        KnowledgeEntry("Confirm appointments a day ahead", "Confirm every appointment with a craftsman by phone one day ahead.",
            ("HOME-4: the electrician had the wrong week.",)),
        KnowledgeEntry("Confirm craftsmen one day ahead", "Confirm each appointment with a craftsman by phone a day ahead.",
            ("HOME-9: the painter had forgotten us.",)),)),
    ("assistant", (
        KnowledgeEntry("Keep travel documents together", "Keep passports, tickets and insurance cards of a trip in one envelope.",
            ("TRIP-2: the insurance card was in the other suitcase.",)),
        KnowledgeEntry("One place for travel papers", "All papers for a journey, passports included, go into a single envelope.",
            ("TRIP-6: at the border it took two minutes.",)),)),
    ("assistant", (
        KnowledgeEntry("Birthday presents early", "Choose a present two weeks before the birthday and note the budget.",
            ("FAMILY-3: the book came three days late.",)),)),
    ("assistant", (
        KnowledgeEntry("Read contracts for notice periods", "Note the notice period of a contract in the calendar on the day of signing.",
            ("CONTRACT-1: the gym ran a year longer than wanted.",)),)),
)  # fmt: skip

#: Written on the last day, so that the demo's nights leave it for a later one; it recommends what the first group does.
LATE_ENTRY = (
    "research",
    KnowledgeEntry("Log the commit of each experiment", "Write the git commit into the result file of each experiment.",
        ("EXP-44: the reviewers asked for the exact code.",)),
)  # fmt: skip
