"""The distiller without a model: it selects and joins the sources' own sentences, and says nothing else.

Statements that say the same form a group; the best wording of each group is kept, with the most widely shared group
first. Facts and clauses of the others that this wording lacks are attached word for word. So near-copies become
their best wording, and episodes become what they share plus the figures in which they differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from memory_pipeline.distillers.attachments import fragment_around, trim_piece
from memory_pipeline.distillers.causality import shared_cause
from memory_pipeline.distillers.draft import Draft, Member, Task
from memory_pipeline.distillers.evidence import evidence_confidence
from memory_pipeline.llm import Declined, Session
from memory_pipeline.wording.conflicts import find_conflict
from memory_pipeline.wording.facts import content_words, fact_keys, find_facts
from memory_pipeline.wording.normalise import normalise, shape_hash
from memory_pipeline.wording.sentences import join_statements, split_statements, strip_lead_in

#: Two statements say the same if this share of the shorter one's content words is in the other one
SAME_STATEMENT_SHARE = 0.6
#: and this share of the longer one's, so that a side remark about one of its words does not count as the same.
SAME_STATEMENT_OVERLAP = 0.35
#: Whole memories that consist of one statement each count as the same statement at or above this cosine.
SAME_STATEMENT_COSINE = 0.9
#: This many consecutive content words that the chosen wording lacks form a separate clause;
CLAUSE_WORDS = 2
#: between near-copies, which share this much of their words, a single word is enough.
NEAR_COPY_SHARE = 0.5
_BARE_FIGURES = 3
_FIGURES = ("number", "date", "time")
_AROUND_FIGURE = " ,;:.|()[]{}\"'*"
#: Kinds of conflict that do not concern a different figure or word.
_CONTRADICTING = frozenset(("opposite", "negation", "quantifier", "order"))
_PATTERN_OF_TYPE = {"error_fix": "failure", "warning": "gotcha", "decision": "decision"}


@dataclass(slots=True)
class _Statement:
    member: int
    place: int
    text: str
    words: Counter[str]
    facts: frozenset[tuple[str, str]]
    shape: str
    alone: bool


@dataclass(slots=True)
class _Group:
    statements: list[_Statement] = field(default_factory=list)

    @property
    def support(self) -> int:
        return len({statement.member for statement in self.statements})


class Extractive:
    """Deterministic, offline, and honest: every word of a draft is in one of its sources."""

    name = "extractive"
    method = "heuristic"
    prompt_version = "extractive-2"

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """One draft per task, one after the other."""
        for task in tasks:
            session.keep_alive()
            try:
                yield task, self.draft(task)
            except Exception as error:  # one failing cluster leaves the others
                yield task, error

    def draft(self, task: Task) -> Draft:
        """The best wording of every distinct statement, with the facts that it lacks attached."""
        members, similarities = task.members, task.similarities
        statements = _statements_of(members)
        centrality = [member.centrality for member in members]
        groups = _group(statements, centrality, similarities)
        groups.sort(key=lambda group: (-group.support, min((s.place, s.member) for s in group.statements)))
        chosen: list[_Statement] = []
        for group in groups:
            best = _best_wording(group, centrality)
            if not _is_covered(best, chosen):
                chosen.append(best)
        text = join_statements([statement.text for statement in chosen])
        attached = _missing_pieces(text, chosen, groups)
        return Draft(
            text=text,
            prompt_version=self.prompt_version,
            attached=tuple(attached),
            pattern_type=_pattern_type(members),
            confidence=_confidence(groups, members, centrality),
            causal=shared_cause([member.memory.content for member in members], centrality),
        )


def _confidence(groups: list[_Group], members: Sequence[Member], centrality: list[float]) -> float:
    """The `evidence_confidence` of every distinct statement, weighted by its words.

    It decreases with the share of statements that only one member makes (0.67). A cluster of three on one day falls
    below the default floor of 0.7 if less than two fifths of it is said by all members, and one on three days if
    less than a quarter is.
    """
    best = [_best_wording(group, centrality) for group in groups]
    sure = whole = 0.0
    for group, statement in zip(groups, best, strict=True):
        inside = {one.member for one in group.statements}
        against = {one.member for one in best if one.member not in inside and _speaks_against(one, statement)}
        weight = max(1, statement.words.total())
        whole += weight
        sure += weight * evidence_confidence((m for i in sorted(inside) for m in members[i].witnesses), len(against))
    return round(sure / whole, 4)


def _speaks_against(one: _Statement, other: _Statement) -> bool:
    shared = (one.words & other.words).total()
    if shared < SAME_STATEMENT_SHARE * min(one.words.total(), other.words.total()):
        return False
    finding = find_conflict(one.text, other.text)
    return finding is not None and finding.kind in _CONTRADICTING


def _statements_of(members: Sequence[Member]) -> list[_Statement]:
    statements = []
    for index, member in enumerate(members):
        texts = [strip_lead_in(text) for text in split_statements(member.memory.content)]
        texts = texts or [member.memory.content.strip()]
        for place, text in enumerate(texts):
            words = Counter(content_words(text))
            statements.append(_Statement(index, place, text, words, fact_keys(text), shape_hash(text), len(texts) == 1))
    return statements


def _group(statements: list[_Statement], centrality: list[float], similarities: NDArray[np.float64]) -> list[_Group]:
    """Statements that say the same, in groups that start with the most central one."""
    groups: list[_Group] = []
    for statement in sorted(statements, key=lambda s: (-centrality[s.member], s.member, s.place)):
        for group in groups:
            if _says_the_same(statement, group.statements[0], similarities):
                group.statements.append(statement)
                break
        else:
            groups.append(_Group([statement]))
    return groups


def _says_the_same(a: _Statement, b: _Statement, similarities: NDArray[np.float64]) -> bool:
    if a.shape == b.shape:
        return True
    fewer = min(a.words.total(), b.words.total())
    shared = (a.words & b.words).total()
    more = max(a.words.total(), b.words.total())
    near = a.alone and b.alone and similarities[a.member, b.member] >= SAME_STATEMENT_COSINE
    alike = fewer >= 2 and shared >= SAME_STATEMENT_SHARE * fewer and shared >= SAME_STATEMENT_OVERLAP * more
    if not near and not alike:
        return False
    return find_conflict(a.text, b.text) is None


def _best_wording(group: _Group, centrality: list[float]) -> _Statement:
    """The wording with most of the group's facts; then the most central; then the shortest."""
    return min(
        group.statements,
        key=lambda s: (-len(s.facts), -centrality[s.member], len(s.text), s.text),
    )


def _is_covered(statement: _Statement, chosen: list[_Statement]) -> bool:
    """Whether the chosen statements already contain all of its words and facts."""
    said = Counter[str]()
    for other in chosen:
        said |= other.words
    facts = frozenset[tuple[str, str]]().union(*(other.facts for other in chosen))
    return bool(chosen) and not (statement.words - said) and statement.facts <= facts


def _missing_pieces(text: str, chosen: list[_Statement], groups: list[_Group]) -> list[str]:
    """Clauses and facts of the omitted statements, word for word, each once."""
    chosen_texts = {statement.text for statement in chosen}
    have_facts = set(fact_keys(text))
    have_words = set(content_words(text))
    pieces: dict[str, str] = {}

    def attach(piece: str) -> None:
        piece = trim_piece(piece)
        if piece:
            pieces.setdefault(normalise(piece), piece)
            have_facts.update(fact_keys(piece))
            have_words.update(content_words(piece))

    for group in groups:
        best = next((s for s in group.statements if s.text in chosen_texts), group.statements[0])
        episodes = [statement for statement in group.statements if statement.shape == best.shape]
        slots = _varying_slots([_figures_in(statement.text) for statement in episodes])
        for statement in sorted(group.statements, key=lambda s: (s.member, s.place)):
            if statement.text in chosen_texts:
                continue
            if statement.shape == best.shape:
                attach(_episode(statement.text, slots))
            else:
                shared, union = (statement.words & best.words).total(), (statement.words | best.words).total()
                least = 1 if shared >= NEAR_COPY_SHARE * union else CLAUSE_WORDS
                for clause in _new_clauses(best.text, statement.text, have_words, least):
                    attach(clause)
            says_nothing_new = len(set(statement.words) - have_words) <= 1
            for fact in find_facts(statement.text):
                if fact.key not in have_facts:
                    bare = says_nothing_new and fact.kind in _FIGURES
                    attach(fact.text if bare else fragment_around(statement.text, fact))
                if fact.key not in have_facts:
                    attach(statement.text)
    return list(pieces.values())


def _figures_in(text: str) -> list[str]:
    return [word.strip(_AROUND_FIGURE) for word in text.split() if any(c.isdigit() for c in word)]


def _varying_slots(rows: list[list[str]]) -> list[int]:
    """Positions at which texts of one shape have different figures; all of them if the texts do not align."""
    if len({len(row) for row in rows}) != 1:
        return list(range(max(len(row) for row in rows)))
    return [slot for slot, values in enumerate(zip(*rows, strict=True)) if len(set(values)) > 1]


def _episode(text: str, slots: list[int]) -> str:
    """The figures in which one episode differs: a few without context, in order; many with the preceding word each."""
    words = text.split()
    places = [place for place, word in enumerate(words) if any(c.isdigit() for c in word)]
    chosen = [places[slot] for slot in slots if slot < len(places)]
    if len(chosen) <= _BARE_FIGURES:
        return ", ".join(words[place].strip(_AROUND_FIGURE) for place in chosen)
    return ", ".join(" ".join(words[max(0, place - 1) : place + 1]).strip(_AROUND_FIGURE) for place in chosen)


def _new_clauses(best: str, other: str, have_words: set[str], least: int) -> list[str]:
    """Runs of words in `other` that `best` lacks and that have at least this many new content words.

    A single word says little alone, so the word before it is included.
    """
    ours, theirs = best.split(), other.split()
    matcher = SequenceMatcher(
        None, [w.lower().strip(".,;:") for w in ours], [w.lower().strip(".,;:") for w in theirs], autojunk=False
    )
    clauses = []
    for tag, _, _, start, end in matcher.get_opcodes():
        new = [word for word in content_words(" ".join(theirs[start:end])) if word not in have_words]
        if tag in ("insert", "replace") and len(new) >= least:
            if end - start == 1:
                start, end = (start - 1, end) if start else (start, end + 1)
            clauses.append(_whole_facts(theirs, start, end))
    return [clause for clause in clauses if clause]


def _whole_facts(words: list[str], start: int, end: int) -> str:
    """The words from `start` to `end`, and up to two more if a fact would otherwise be split (`20` of `20 minutes`)."""
    facts = fact_keys(" ".join(words))
    for last in (end, end + 1, end + 2):
        clause = " ".join(words[start:last])
        if fact_keys(clause) <= facts:
            return clause
    return ""


def _pattern_type(members: Sequence[Member]) -> str | None:
    counts = Counter(member.memory.memory_type for member in members)
    kind, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return _PATTERN_OF_TYPE.get(kind) if count * 2 > len(members) else None
