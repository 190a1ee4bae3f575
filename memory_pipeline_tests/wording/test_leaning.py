"""Which sentences lean on the one before them, and how closely."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.leaning import ON_ALL, ON_PART, ON_SOMETHING, ON_SUBJECT, leaning_of


@pytest.mark.parametrize(
    ("sentence", "leaning"),
    [
        ("The release notes say so.", ON_ALL),
        ("That is why nobody noticed.", ON_ALL),
        ("Because of that the job was skipped.", ON_ALL),
        ("This happened twice in May.", ON_ALL),
        ("The exit code is 0 even then.", ON_ALL),
        ("Dana lost two test orders to this.", ON_ALL),
        ("Reviewer 2 asked for exactly this.", ON_ALL),
        ("The footer reads the same cache.", ON_SOMETHING),
        ("Both were made in the same week of May.", None),
        ("It needs 310 GB.", ON_SUBJECT),
        ("She refuses the fish flavour.", ON_SOMETHING),
        ("In summer it is 13 hours.", ON_SUBJECT),
        ("Its cover is in the cellar.", ON_SUBJECT),
        ("Only the mobile network shows it.", ON_SOMETHING),
        ("Lena's notebook does it in cell 12.", ON_SOMETHING),
        ("nginx needs a reload afterwards.", ON_ALL),
        ("Then nginx needs a reload.", ON_SOMETHING),
        ("Priya has a script for it.", ON_SUBJECT),
        ("The index has an entry for it.", None),
        ("Take the box and put the key in it.", None),
        ("Two of them were blue.", ON_PART),
        ("The lucky one was seed 17.", ON_PART),
        ("Version 7 broke the photo index.", None),
        ("The setting is in wg0.conf.", None),
        ("The term ends on 2027-02-17.", None),
        ("Keep a copy of coordinator_backup.json.", None),
        ("The page loads when you reload it.", None),
        ("Fold the paper before you cut it.", None),
    ],
)
def test_a_sentence_leans_on_the_one_before_it_or_not(sentence: str, leaning: int | None) -> None:
    assert leaning_of(sentence) == leaning
