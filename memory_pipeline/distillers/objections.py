"""What is wrong with a model's answer about a cluster, sentence by sentence, in words that the model is told; and what
is left of the answer without it.

A sentence that nothing supports is dropped as a whole. It is never cut: a part of a sentence says something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_pipeline.distillers.answer import Answer
from memory_pipeline.distillers.entailment import Evidence, find_unborne, ranged_facts
from memory_pipeline.distillers.entailment.evidence import has_values, weighs
from memory_pipeline.wording.clauses import Statement, read_statement
from memory_pipeline.wording.facts import Fact, content_words
from memory_pipeline.wording.sentences import join_statements, split_statements

#: A claim is about a sentence that has at least this share of its words.
_CLAIM_SHARE = 0.5
#: A model is told of at most so many lost facts.
_MOST_FACTS = 20


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An abstraction as far as the members bear it out, and what is wrong with the rest of it."""

    text: str
    objections: tuple[str, ...]


def review_answer(answer: Answer, evidence: Evidence) -> Reviewed:
    """The sentences of an answer's abstraction that the members bear out, and an objection for each of the others."""
    wrong_claims = list(_wrong_claims(answer, evidence))
    objections = [problem for _, problem in wrong_claims]
    if len(wrong_claims) == len(answer.claims):
        none = "it makes no claim that the members bear out"
        return Reviewed("", (*objections, none) if objections else (none,))
    kept: list[str] = []
    before: Statement | None = None
    for sentence in split_statements(answer.abstraction) or [answer.abstraction]:
        problems = find_unborne(sentence, evidence, before)
        objections += [f"'{sentence}': {problem}" for problem in problems[:1]]
        if not problems and not any(_is_about(claim, sentence) for claim, _ in wrong_claims):
            kept.append(sentence)
            before = read_statement(sentence)
    text = join_statements(kept)
    total = str(len(evidence.sources))
    if ranged_facts(text, evidence) and all(value.value != total for value in read_statement(text).values):
        objections.append(f"A range stands for several members: say that there are {total}")
    return Reviewed(text, tuple(objections))


def ask_for_facts(lost: Sequence[Fact]) -> str:
    """An objection to an abstraction that leaves facts out."""
    listed = ", ".join(f"the {fact.kind} '{fact.text}'" for fact in lost[:_MOST_FACTS])
    return f"It leaves out what the members say: {listed}. Keep each of these, or leave the whole cluster's point apart"


def _wrong_claims(answer: Answer, evidence: Evidence) -> list[tuple[str, str]]:
    """The claims that the members they name do not bear out, each with what is wrong."""
    known = range(1, len(evidence.sources) + 1)
    wrong = []
    for number, claim in enumerate(answer.claims, start=1):
        named = sorted(set(claim.members))
        if not named or any(member not in known for member in named):
            problem = "it names no member that exists"
        else:
            problem = _wrong_claim(claim.text, evidence.only(member - 1 for member in named))
        if problem:
            wrong.append((claim.text, f"claim {number}: {problem}"))
    return wrong


def _wrong_claim(text: str, evidence: Evidence) -> str:
    """What the members that a claim names do not bear out: what one of them says whole, each of them has to say."""
    problems = find_unborne(text, evidence)
    statement = read_statement(text)
    words = [word for clause in statement.clauses for word in clause.content if weighs(word) and evidence.knows(word)]
    hard = [word for word in words if word.is_name]
    whole = [source for source in evidence.sources if all(map(source.says, words)) and has_values(source, statement)]
    if problems or not whole:
        return problems[0] if problems else ""
    for source in evidence.sources:
        if source not in whole and not (all(map(source.says, hard)) and has_values(source, statement)):
            return "one of the members that it names does not say so"
    return ""


def _is_about(claim: str, sentence: str) -> bool:
    words = set(content_words(claim))
    return bool(words) and len(words & set(content_words(sentence))) >= _CLAIM_SHARE * len(words)
