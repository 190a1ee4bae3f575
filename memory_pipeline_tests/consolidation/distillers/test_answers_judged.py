"""What becomes of a model's answers: the good ones are kept, and no slip is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_pipeline.text.entailment import Evidence, find_unborne
from memory_pipeline.text.preservation import check_preservation, find_invention
from memory_pipeline_tests.build import FIRST
from memory_pipeline_tests.consolidation.distillers.answers import judged, read_cases

CASES = read_cases()


@pytest.mark.slow
def test_good_answers_are_kept_whole_and_no_slip_is(tmp_path: Path) -> None:
    verdicts = list(zip(CASES, judged(CASES, tmp_path), strict=True))
    good = [verdict.outcome != "refused" for case, verdict in verdicts if case.slip is None]
    assert sum(good) >= 0.85 * len(good)
    slipped = {case.key: verdict for case, verdict in verdicts if case.slip}
    assert not [key for key, verdict in slipped.items() if verdict.outcome == "accepted"]
    assert not [case.key for case, verdict in verdicts if verdict.keeps_slip(case)]
    attached = [verdict.text.partition("\nDetails: ")[2] for _, verdict in verdicts]
    quoted = [words for words in attached if words]
    assert all(words[0] + words[-1] == "“”" for words in quoted), "only orders of one source stand below"
    assert len(quoted) <= 0.1 * len(CASES)


RUNS = tuple(f"**ci**: run finished in {n}s, tests={t}" for n, t in ((31, 800), (33, 801), (36, 801), (34, 803)))
LAMPS = ("The kitchen lamp draws 9 W and the hallway lamp 12 W.", "Kitchen lamp 9 W, hallway lamp 12 W.")
ROUTER = ("The network was down because the router overheated.", "The router overheated, so the network was down.")
RENEW = ("Renew the certificate by DNS challenge, the HTTP challenge cannot reach the home network.",)


@pytest.mark.parametrize(
    ("sources", "statement"),
    [
        (RUNS, "Runs finished in 31s to 36s with tests=800 to 803."),
        (RUNS, "CI runs finished in 31s to 36s, once with tests=803."),
        (LAMPS, "The hallway lamp draws 12 W, and the kitchen lamp draws 9 W."),
        (ROUTER, "When the router overheats, the network goes down."),
        (ROUTER, "The overheating router took the network down."),
        (RENEW, "Renew the certificate by DNS challenge."),
        (RENEW, "The HTTP challenge cannot reach the home network."),
        (RENEW, "Renew the certificate by DNS challenge, because the HTTP challenge cannot reach the home network."),
        (("The shop ships on Monday.", "The shop ships on Monday."), "The shop always ships on Monday."),
    ],
)
def test_what_sources_bear_out_in_other_words_is_accepted(sources: tuple[str, ...], statement: str) -> None:
    assert find_unborne(statement, Evidence(sources)) == []


@pytest.mark.parametrize(
    ("sources", "statement", "problem"),
    [
        (RUNS, "Runs finished in 30s to 36s.", "no source has the number"),
        (RUNS, "Runs finished in 800s to 803s.", "no source has the number"),
        (RUNS, "The run finished six times.", "no source has the number"),
        (RENEW, "The HTTP challenge can reach the home network.", "a source denies"),
        (RENEW, "Never renew the certificate by DNS challenge.", "no source denies"),
        (("The dog waits for Marco.",), "The dog waits for Marcel.", "no source has the name 'Marcel'"),
    ],
)
def test_what_sources_do_not_bear_out_is_named(sources: tuple[str, ...], statement: str, problem: str) -> None:
    problems = find_unborne(statement, Evidence(sources))
    assert any(problem in one for one in problems), problems


def test_a_range_keeps_the_values_between_its_true_ends() -> None:
    assert check_preservation(RUNS, "CI runs finished in 31s to 36s, with tests=800 to 803.", ()).lost == ()
    lost = check_preservation(RUNS, "CI runs finished in 32s to 36s, with tests=800 to 803.", ()).lost
    assert {"33s", "34s"} <= {fact.text for fact in lost}


def test_a_date_beside_a_source_is_its_own() -> None:
    task = ("The boiler was repaired.", "The boiler was repaired again.")
    dates = [[FIRST.date()], [FIRST.date()]]
    assert find_unborne("The boiler was repaired on 1 March.", Evidence(task, dates)) == []
    assert find_unborne("The boiler was repaired on 2 March.", Evidence(task, dates))
    assert find_invention(task, "The boiler was repaired on 2026-03-01.", [FIRST.date()]) is None
    assert find_invention(task, "The boiler was repaired on 2026-03-22.", [FIRST.date()]) is not None
