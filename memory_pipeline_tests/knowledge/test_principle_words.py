"""Principles in words: the rule that patterns share, in one sentence."""

from __future__ import annotations

import pytest

from memory_pipeline.knowledge.principles import Principle, find_principles
from memory_pipeline.wording.inflection import gerund_of, plural_verb_of

FAMILIES = {
    "Take a backup before updating Home Assistant (the February release broke two automations), the router firmware "
    "(last time it forgot every port forwarding) or the NAS (there is no way back to the old version).": """
        Take a backup before updating Home Assistant, the February release broke two automations. It takes 4 minutes.
        Before you update the router firmware, take a backup: last time it forgot every port forwarding.
        Always take a backup before updating the NAS; there is no way back to the old version.""",
    "Clear the template cache after editing e-mail templates (or customers receive the old text), the CDN cache after "
    "replacing product images (otherwise the old pictures stay for a day) and the menu cache after renaming a category "
    "(or the navigation shows the old name).": """
        After editing e-mail templates clear the template cache, or customers receive the old text.
        After replacing product images, clear the CDN cache, otherwise the old pictures stay for a day.
        After renaming a category clear the menu cache, or the navigation shows the old name.""",
    "Run three seeds before choosing a learning rate (one lucky seed misled us), dropping a feature (single runs "
    "differ by two points) or reporting a gain on the dev set (the first gain was noise).": """
        Before choosing a learning rate, run three seeds: one lucky seed misled us.
        Run three seeds before dropping a feature, single runs differ by two points.
        Before reporting a gain on the dev set, run three seeds: the first gain was noise.""",
    "Empty the ash box before lighting the stove (it smokes otherwise), calling the sweep (he asks for it) or leaving "
    "the hut (mice nest in it).": """
        Empty the ash box before lighting the stove; it smokes otherwise (the manual says so).
        Before calling the sweep, empty the ash box: he asks for it.
        Empty the ash box before leaving the hut, mice nest in it (three in May alone).""",
    "Turn off the grow lamp when the room is hotter than thirty degrees (the seedlings wilt), the fan is broken "
    "(otherwise the leaves burn) or nobody is at home (it once scorched the shelf).": """
        Turn off the grow lamp when the room is hotter than thirty degrees, the seedlings wilt.
        When the fan is broken, turn off the grow lamp, otherwise the leaves burn.
        Turn off the grow lamp when nobody is at home, it once scorched the shelf.""",
    "Rinse the brushes right after oiling a table (dried oil ruins them), varnishing a chair or painting a door.": """
        Rinse the brushes right after oiling a table, dried oil ruins them.
        Rinse the brushes right after you varnish a chair.
        After painting a door rinse the brushes right away.""",
    "Never book a flight, a hotel or a restaurant without asking Ines first.": """
        Never book a flight without asking Ines first, she plans the shifts.
        Do not book a hotel without asking Ines first.
        Never book a restaurant without asking Ines first, because she is allergic to nuts.""",
    "Invoices, contracts and bank statements must never be deleted, the tax office keeps asking for them.": """
        Invoices must never be deleted, the tax office keeps asking for them.
        Contracts must never be deleted, the tax office keeps asking for them.
        Bank statements must never be deleted, the tax office keeps asking for them.""",
    "Never trust a single run.": """
        Never trust a single run, the seeds differ by two points. The learning rate was 3e-4.
        Never trust a single run: irony was undefined. Annotators disagreed.
        Pruning helped once only. Never trust a single run.""",
}

TRAPS = {
    "advice on one thing": """
        Descale the coffee machine every month, the water here is hard.
        Use filtered water in the coffee machine, it tastes better.
        Switch the coffee machine off in the evening, otherwise it draws 4 watts.""",
    "one verb": """
        Use tabs in the Makefile, because make refuses spaces.
        Use the second printer for labels, the first one jams.
        Use metric units in the reports, the board reads nothing else.""",
    "one says the opposite": """
        Archive the chat before deleting an account, the history is needed.
        Archive the chat before merging two accounts.
        Archive the chat before closing a channel.
        Never archive the chat before closing a ticket, it hides the attachments.""",
    "an exception": """
        Rinse the pan with hot water after frying fish.
        Rinse the pan with hot water after frying onions.
        Rinse the pan with hot water after frying eggs.
        Do not rinse the pan with hot water after frying eggs, the protein sets.""",
    "before and after": """
        Restart the indexer before importing a catalogue, or it locks the file.
        Restart the indexer after importing a catalogue, or the search is stale.
        Restart the indexer after changing the synonyms.
        Restart the indexer after adding a language.""",
    "other figures": """
        Keep 3 backups of the photos, the disk is small.
        Keep 10 backups of the ledger, the auditor wants them.
        Keep 5 backups of the router settings, just in case.""",
    "only two": """
        Ask Noor before ordering stock, she knows the space.
        Ask Noor before ordering pallets.
        Ask Emil about the heating, he has the manual.""",
    "events": """
        The mill stopped because the belt was worn.
        The mill stopped because the fuse had blown.
        The mill stopped because the hopper was empty.""",
    "no statement": "ok\n17/17\nyes",
}


def patterns_of(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


@pytest.mark.parametrize("rule", FAMILIES)
def test_a_rule_for_several_things_is_one_sentence(rule: str) -> None:
    assert find_principles(patterns_of(FAMILIES[rule]), least=3) == [Principle(rule, (0, 1, 2))]


@pytest.mark.parametrize("trap", TRAPS)
def test_related_patterns_without_one_rule_make_no_principle(trap: str) -> None:
    assert find_principles(patterns_of(TRAPS[trap]), least=3) == []


def test_several_rules_are_found_in_one_project_and_no_pattern_is_in_two() -> None:
    backup, cache, *_ = FAMILIES
    patterns = [*patterns_of(FAMILIES[backup]), "Water the plants on Monday.", *patterns_of(FAMILIES[cache])]
    found = find_principles(patterns, least=3)
    assert {(one.text, one.supporters) for one in found} == {(backup, (0, 1, 2)), (cache, (4, 5, 6))}
    assert find_principles(patterns, least=4) == []


def test_a_shared_reason_is_said_once_and_other_reasons_are_left_to_the_patterns() -> None:
    rule = "Restart the {} after changing its configuration file, because it reads the settings only once."
    services = ("gateway", "mail relay", "label printer")
    (found,) = find_principles([rule.format(service) for service in services], least=3)
    assert found.text == rule.format("gateway, the mail relay or the label printer")


def test_verbs_are_inflected() -> None:
    verbs = "update run stop commit visit rerun die see open delete".split()
    assert [gerund_of(verb) for verb in verbs] == (
        "updating running stopping committing visiting rerunning dying seeing opening deleting".split()
    )
    assert [plural_verb_of(*forms) for forms in (("is", "be"), ("keeps", "keep"), ("must", "must"))] == [
        "are", "keep", "must"
    ]  # fmt: skip
