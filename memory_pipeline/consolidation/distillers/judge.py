"""The judge: measures a draft against its sources, and accepts it or refuses it with a reason.

A model's claims about itself do not count; ratios, facts and lengths are measured. The confidence in what a draft says
is based on its witnesses: never on how alike wordings are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

import numpy as np

from memory_pipeline.config.settings import Settings
from memory_pipeline.models import Declined, Session
from memory_pipeline.models.conflicts import find_contradiction
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.records import (
    COMPRESSED_CATEGORY,
    DETAILS_LABEL,
    QUOTE,
    Causal,
    Cluster,
    Disagreement,
    Distillation,
    Measured,
    Memory,
    Outcome,
    offset_of_newest,
    tags_of_all,
)
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.entailment import Evidence, find_unborne_in
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.normalise import normalise
from memory_pipeline.text.orders import tells_reader
from memory_pipeline.text.preservation import SAID_SHARE, check_preservation, find_invention
from memory_pipeline.text.sameness import reaches
from memory_pipeline.text.sentences import join_statements, split_statements
from memory_pipeline.text.steering import steering_draft
from memory_pipeline.text.subject import with_subject
from memory_pipeline.text.whole import TEMPORARY, is_temporary


@dataclass(frozen=True, slots=True)
class Member:
    """One memory of a cluster, with its mean cosine to the other members, and, for a merged memory, the raw memories
    it was made from."""

    memory: Memory
    centrality: float
    made_from: tuple[Memory, ...] = ()

    @property
    def witnesses(self) -> tuple[Memory, ...]:
        """The witnesses: the memory, or the raw memories it was made from."""
        return self.made_from or (self.memory,)


@dataclass(frozen=True, slots=True)
class Task:
    """One cluster to distil, with its members by effective date and id."""

    cluster: Cluster
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed abstraction: its statements as one text, and facts attached below it word for word.

    `contradictions` are members that disagree, `causal` the cause and effect. `prompt_version` changes whenever the
    same cluster could give a different draft; it is part of the abstraction's id.
    """

    text: str
    prompt_version: str
    attached: tuple[str, ...] = ()
    pattern_type: str | None = None
    confidence: float = 0.0
    causal: Causal | None = None
    contradictions: tuple[Disagreement, ...] = ()

    @property
    def content(self) -> str:
        """The memory as it would be written: the text, then the attached facts on a line of their own."""
        return f"{self.text}\n{DETAILS_LABEL} {'; '.join(self.attached)}" if self.attached else self.text


class DistillationModel(Protocol):
    """The interface of models that turn clusters into memories."""

    @property
    def method(self) -> str:
        """`llm`, `heuristic` or `hybrid`."""

    @property
    def prompt_version(self) -> str:
        """The prompt version recorded for a cluster without a draft."""

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """The proposal for each task, in order; an exception fails only its own cluster.

        Raises ModelError if the model cannot be used at all; earlier proposals stay valid.
        """


#: Two texts are copies of each other from this share of common runs of words on, and a run has so many words: the
#: resemblance of Broder (1997) with the values of Manning, Raghavan and Schuetze, Introduction to Information
#: Retrieval (2008), 19.6.
COPY_RESEMBLANCE = 0.9
_RUN = 4
_WORD = re.compile(r"\w+")
#: Of more different texts than this, only equal ones are taken for copies.
_MOST_COMPARED = 400


def evidence_confidence(witnesses: Iterable[Memory]) -> float:
    """Between 0 and 1: (k + 1) / (k + 2), Laplace's rule of succession (1774) for k witnesses.

    k counts independent witnesses: the mean of the number of different texts and the number of their days, so that one
    event recorded three times on the same day counts less than one seen on three days. Copies and near-copies of one
    text count once, on the day of the first. One witness gives 0.67, three on one day 0.75, three on three days 0.80,
    ten on ten days 0.92; nothing is ever certain.
    """
    first = independent_witnesses(witnesses)
    days = len({memory.day for memory in first})
    borne_out = (len(first) + days) / 2
    return (borne_out + 1) / (borne_out + 2)


def independent_tellings(statement: str, witnesses: Iterable[Memory]) -> int:
    """Counts the sources that say a statement independently: in words of their own, and on days of their own. The same
    words again, on whatever day and with whatever small word put in, are a copy."""
    meant = set(content_words(statement))
    wordings: dict[tuple[str, ...], date] = {}
    for memory in sorted(witnesses, key=lambda memory: (memory.effective_date, memory.id)):
        parts = split_statements(memory.content) or [memory.content]
        nearest = max(parts, key=lambda part: len(meant & set(content_words(part))))
        words = _split_words(nearest)
        if len(meant & set(content_words(nearest))) >= SAID_SHARE * len(meant) and not any(
            reaches(words, wording, COPY_RESEMBLANCE) for wording in wordings
        ):
            wordings[words] = memory.day
    return min(len(wordings), len(set(wordings.values())))


def independent_witnesses(witnesses: Iterable[Memory]) -> list[Memory]:
    """The first memory of each text, in order of time, copies of an earlier one left out."""
    first: dict[str, Memory] = {}
    for memory in sorted(witnesses, key=lambda memory: (memory.effective_date, memory.id)):
        first.setdefault(memory.content_hash, memory)
    if len(first) > _MOST_COMPARED:
        return list(first.values())
    independent: list[tuple[Memory, frozenset[tuple[str, ...]]]] = []
    for memory in first.values():
        runs = _find_runs(memory.content)
        if not any(len(runs & others) >= COPY_RESEMBLANCE * len(runs | others) for _, others in independent):
            independent.append((memory, runs))
    return [memory for memory, _ in independent]


def _find_runs(content: str) -> frozenset[tuple[str, ...]]:
    words = _split_words(content)
    return frozenset(words[n : n + _RUN] for n in range(max(1, len(words) - _RUN + 1)))


def _split_words(content: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(normalise(content)))


#: Sources that an order needs to be guidance.
_LEAST_SOURCES = 2


def single_orders(text: str, witnesses: Sequence[Memory]) -> list[str]:
    """The statements of a text that tell its reader what to do, and that fewer than two of the raw memories behind it
    say independently."""
    return [
        statement
        for statement in split_statements(text)
        if tells_reader(statement) and independent_tellings(statement, witnesses) < _LEAST_SOURCES
    ]


def with_quotes(draft: Draft, witnesses: Sequence[Memory]) -> Draft:
    """The draft with such statements attached as quotations instead; its text is empty if it has no others."""
    alone = single_orders(draft.text, witnesses)
    if not alone:
        return draft
    rest = [statement for statement in split_statements(draft.text) if statement not in alone]
    quoted = tuple(f"{QUOTE}{statement}”" for statement in alone)
    return replace(draft, text=join_statements(rest), attached=(*draft.attached, *quoted))


#: The pattern that memories of a type make together.
_PATTERN_OF = {
    "error_fix": "failure",
    "warning": "gotcha",
    "decision": "decision",
    "lesson": "workflow",
    "learning": "workflow",
    "feedback": "workflow",
}


def judge(
    task: Task, draft: Draft, model: DistillationModel, settings: Settings, count_tokens: Callable[[str], int]
) -> Distillation:
    """The distillation with its measured figures, accepted or refused."""
    cluster, members = task.cluster, task.members
    draft = with_quotes(draft, [witness for member in members for witness in member.witnesses])
    sources = [member.memory.content for member in members]
    before = sum(member.memory.token_count for member in members)
    after = count_tokens(draft.content) if draft.content.strip() else 0
    preserved = check_preservation(sources, draft.text, draft.attached)
    source_texts = [with_subject(member.memory) for member in members]
    reason = _refusal(task, draft, before, after, settings) or _wrong_content(task, source_texts, draft, model)
    if reason is None and preserved.lost:
        first = preserved.lost[0]
        reason = f"preservation: {how_many(len(preserved.lost), 'fact')} lost, first the {first.kind} '{first.text}'"
    types = Counter(member.memory.memory_type for member in members)
    memory_type = min(types, key=lambda kind: (-types[kind], kind))
    return Distillation(
        cluster=cluster,
        similarities=similarities_of(cluster, {m.memory.id: m.centrality for m in members}),
        content=draft.content,
        attached=draft.attached,
        outcome="refused" if reason else "accepted",
        reason=reason,
        measured=Measured.of(cluster.total_tokens, after, preserved.found, preserved.kept, preserved.attached),
        method=model.method,
        prompt_version=draft.prompt_version,
        memory_type=memory_type,
        categories=(*cluster.top_categories, COMPRESSED_CATEGORY),
        importance=max(1.0, cluster.max_importance),
        effective_date=max(member.memory.effective_date for member in members),
        oldest_source_at=min(member.memory.effective_date for member in members),
        utc_offset=offset_of_newest([member.memory for member in members]),
        pattern_type=draft.pattern_type or _PATTERN_OF.get(memory_type),
        confidence=draft.confidence,
        causal=draft.causal,
        contradictions=draft.contradictions,
        tags=(
            *((TEMPORARY,) if any(is_temporary(m.memory.content, m.memory.tags) for m in members) else ()),
            *tags_of_all(member.memory.tags for member in members),
        ),
    )


def similarities_of(cluster: Cluster, means: Mapping[str, float]) -> tuple[float, ...]:
    """Each member's mean cosine to the others, in the order of the cluster's member ids. `means`: by member;
    the previous version of a pattern, whose sources are the members instead, has that of the pairs."""
    return tuple(round(means.get(memory_id, cluster.avg_similarity), 6) for memory_id in cluster.member_ids)


def undistilled(cluster: Cluster, why: Declined | Exception, model: DistillationModel) -> Distillation:
    """The record of a cluster without a draft: refused, deferred to the next night, or failed with an error."""
    outcome: Outcome = "failed"
    reason = f"{type(why).__name__}: {why}"
    if isinstance(why, Declined):
        outcome, reason = ("deferred" if why.again else "refused"), why.reason
    return Distillation(
        cluster=cluster,
        similarities=(),
        content="",
        outcome=outcome,
        reason=reason[:500],
        measured=Measured(tokens_before=cluster.total_tokens),
        method=model.method,
        prompt_version=model.prompt_version,
        memory_type="other",
        importance=cluster.max_importance,
        effective_date=cluster.newest_member_at,
        oldest_source_at=cluster.oldest_member_at,
    )


def why_unsure(confidence: float, settings: Settings) -> str | None:
    """The reason to refuse a draft of this confidence, or None."""
    least = settings.consolidation.confidence.min
    return f"confidence {confidence:.2f} is below {least:g}" if confidence < least else None


def _refusal(task: Task, draft: Draft, before: int, after: int, settings: Settings) -> str | None:
    if not draft.text.strip():
        return "all that it says are orders of one source" if draft.attached else "empty abstraction"
    if after > settings.compression.max_abstraction_tokens:
        return f"abstraction has {after} tokens; the maximum is {settings.compression.max_abstraction_tokens}"
    witness_tokens = sum(witness.token_count for member in task.members for witness in member.witnesses)
    before = max(before, witness_tokens)  # what was said twice and merged earlier was said all the same
    if before < settings.compression.min_ratio * after:
        return f"compression ratio {before / after:.2f} is below {settings.compression.min_ratio:g}"
    if unsure := why_unsure(draft.confidence, settings):
        return unsure
    if any(member_id in draft.content for member_id in task.cluster.member_ids if len(member_id) >= 6):
        return "abstraction contains a member's id"
    return steering_draft(draft.content)


def _wrong_content(task: Task, sources: Sequence[str], draft: Draft, model: DistillationModel) -> str | None:
    """Says in words what a draft says beyond its sources or against them; None if nothing. What a model wrote is read
    statement by statement; the other methods only repeat words of their sources."""
    dates = [[memory.day for memory in (member.memory, *member.made_from)] for member in task.members]
    invented = find_invention(sources, draft.content, [day for days in dates for day in days])
    if invented:
        return f"invented: no source has the {invented.kind} '{invented.text}'"
    if model.method == "llm":
        problem = find_unborne_in(draft.text, Evidence(sources, dates))
        return f"unsupported: {problem}" if problem else None
    contradiction = find_contradiction(sources, draft.text)
    return f"contradicts a source: {contradiction}" if contradiction else None


def mean_cosines(vectors: Vectors) -> list[float]:
    """The mean cosine of each row to the others; 1 for a row alone. Vectors: float32 (n, dimension), unit length."""
    if len(vectors) < 2:
        return [1.0] * len(vectors)
    wide = vectors.astype(np.float64)
    means = (np.einsum("ij,j->i", wide, wide.sum(axis=0)) - 1.0) / (len(wide) - 1)
    return [round(float(mean), 9) for mean in means]
