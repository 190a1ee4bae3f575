"""Law 9 for statements: what a source says is always borne out, and never with another number, name or negation."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memory_pipeline.demo import texts
from memory_pipeline.text.entailment import Evidence, find_unborne
from memory_pipeline.text.sentences import split_statements
from memory_pipeline_tests.consolidation.distillers.answers import read_cases

CLUSTERS = [
    *(episodes for _, episodes in texts.CAUSAL),
    *(tuple(f"{wording} {detail}" for wording in one.wordings for detail in one.details) for one in texts.LESSONS),
    *(case.members for case in read_cases()),
]
_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:\.\d+)?(?![\w.:/-]*\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|must|should|will)\b(?! not)")
_NOT = re.compile(r"\b(?:does not |do not |did not |is not |not |never |Never |cannot )")
_AFFIRMED = {"cannot ": "can ", "is not ": "is ", "Never ": "Always "}


@st.composite
def sentences(draw: st.DrawFn) -> tuple[tuple[str, ...], str]:
    """A cluster, and a sentence of one of its texts."""
    members = draw(st.sampled_from(CLUSTERS))
    return members, draw(st.sampled_from(split_statements(draw(st.sampled_from(members)))))


#: Small numbers are also written as words: `three seeds`.
SPELT = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))


@given(sentences())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_sentence_of_a_source_is_borne_out(case: tuple[tuple[str, ...], str]) -> None:
    members, sentence = case
    assert find_unborne(sentence, Evidence(members)) == []


@given(sentences(), st.integers(2, 99_999), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_another_number_is_never_borne_out(case: tuple[tuple[str, ...], str], number: int, data: st.DataObject) -> None:
    members, sentence = case
    found = list(_NUMBER.finditer(sentence))
    sources = " ".join(members).casefold()
    assume(found and str(number) not in sources and SPELT.get(number, "\0") not in sources)
    place = data.draw(st.sampled_from(found))
    changed = f"{sentence[: place.start()]}{number}{sentence[place.end() :]}"
    assert find_unborne(changed, Evidence(members)), changed


@given(sentences(), st.sampled_from(["Zebulon", "Aurelia", "Kyoto", "Nextcloud"]), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_another_name_is_never_borne_out(case: tuple[tuple[str, ...], str], name: str, data: st.DataObject) -> None:
    members, sentence = case
    found = list(_NAME.finditer(sentence))
    assume(found)
    place = data.draw(st.sampled_from(found))
    changed = f"{sentence[: place.start()]}{name}{sentence[place.end() :]}"
    assert find_unborne(changed, Evidence(members)), changed


@given(sentences(), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_negation_that_no_source_has_is_never_borne_out(
    case: tuple[tuple[str, ...], str], data: st.DataObject
) -> None:
    members, sentence = case
    found = list(_AUXILIARY.finditer(sentence))
    assume(found)
    place = data.draw(st.sampled_from(found))
    changed = f"{sentence[: place.end()]} not{sentence[place.end() :]}"
    assert find_unborne(changed, Evidence(members)), changed


@given(sentences(), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_sentence_without_its_negation_is_never_borne_out(
    case: tuple[tuple[str, ...], str], data: st.DataObject
) -> None:
    members, sentence = case
    found = list(_NOT.finditer(sentence))
    assume(found)
    place = data.draw(st.sampled_from(found))
    changed = sentence[: place.start()] + _AFFIRMED.get(place.group(), "") + sentence[place.end() :]
    assert find_unborne(changed, Evidence(members)), changed
