"""Selects the distillation model; a language model as a distiller: every cluster is a question, and the checked answer
is the draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Literal

from pydantic import BaseModel, Field

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.distillers.extractive import NOTHING_SHARED, Extractive
from memory_pipeline.consolidation.distillers.judge import DistillationModel, Draft, Task, judge, why_unsure
from memory_pipeline.consolidation.distillers.prompts import VERSION
from memory_pipeline.consolidation.distillers.strategies import DistillationStrategy, choose_strategy, load_strategies
from memory_pipeline.errors import ModelError
from memory_pipeline.models import Declined, ModelClient, Question, Session, mask
from memory_pipeline.models.choose import has_model
from memory_pipeline.models.questions import ResultT
from memory_pipeline.reading.faithfulness import FaithfulnessAnswer, Unfaithful, faithfulness_question
from memory_pipeline.records import Causal, Disagreement, Memory
from memory_pipeline.text.entailment import Evidence, find_unborne, ranged_facts, read_statements
from memory_pipeline.text.facts import content_words
from memory_pipeline.text.preservation import check_preservation, unsaid_statements
from memory_pipeline.text.sentences import join_statements, split_statements
from memory_pipeline.text.subject import with_subject


class Claim(BaseModel, extra="forbid"):
    """One statement of the abstraction, and the numbers of the members that support it."""

    text: str = Field(max_length=4000)
    members: list[int]


class Contradiction(BaseModel, extra="forbid"):
    """Two members that cannot both be true, and about what."""

    members: list[int]
    about: str = Field(max_length=1000)


class Answer(BaseModel, extra="forbid"):
    """A model's proposal for one cluster. `confidence` and `compression_ratio` are its word, and prove nothing."""

    abstraction: str
    claims: list[Claim]
    contradictions: list[Contradiction]
    suspicious: list[int]
    is_causal: bool
    subject: str
    action: str
    outcome: str
    consequences: str
    pattern_type: Literal["success", "failure", "decision", "workflow", "gotcha"] | None
    confidence: float = Field(ge=0, le=1)
    compression_ratio: float


#: A claim is about a sentence that has at least this share of its words.
_CLAIM_SHARE = 0.5
#: A model is told of at most so many lost facts.
_MOST_FACTS = 20
PROMPT_VERSION = f"claude-{VERSION}"
_QUOTE = 200


def distillation_question(
    task: Task,
    strategy: DistillationStrategy,
    settings: Settings,
    model: DistillationModel,
    count_tokens: Callable[[str], int],
) -> Question[Answer, Draft]:
    """The question for a cluster's abstraction, which must pass the judge and the checks of its strategy.

    What is wrong with a first answer is told to the model. Of a second one, the sentences that the members do not bear
    out are dropped, and the rest is judged.
    """
    version = PROMPT_VERSION if strategy.name == "default" else f"{PROMPT_VERSION}-{strategy.name}"
    dates = [[memory.day for memory in member.witnesses] for member in task.members]
    evidence = Evidence([with_subject(member.memory) for member in task.members], dates)

    def check(answer: Answer, is_last: bool = False) -> Draft | Declined:
        if answer.suspicious:
            return Declined("the model found instructions in a member")
        if not answer.abstraction.strip():
            return Declined(NOTHING_SHARED)
        disagreements = _disagreements(task, answer)
        if isinstance(disagreements, Declined):
            return disagreements
        if unsure := why_unsure(answer.confidence, settings):  # nobody is asked to be surer
            return Declined(unsure)
        text, objections = _review(answer, evidence)
        if objections and not is_last:
            return _declined(f"unsupported: {objections[0]}", objections)
        draft = _draft(answer, text if is_last else answer.abstraction, disagreements, version)
        if not draft.text:
            return Declined(f"unsupported: {next(iter(objections), 'the abstraction says nothing')}")
        refused = strategy.validate(draft)
        if refused:
            return _declined(f"strategy {strategy.name}: {refused}", [refused])
        verdict = judge(task, draft, model, settings, count_tokens)
        if verdict.reason is None:
            return draft
        lost = check_preservation([with_subject(m.memory) for m in task.members], draft.text, draft.attached).lost
        if not lost:
            return _declined(verdict.reason, [verdict.reason])
        listed = ", ".join(f"the {fact.kind} '{fact.text}'" for fact in lost[:_MOST_FACTS])
        asked = "Keep each of these, or leave the whole cluster's point apart"
        return _declined(verdict.reason, [f"It leaves out what the members say: {listed}. {asked}"])

    members, masked = _masked_members(task, settings)
    return Question.about(
        # A strategy may write more than the contents (tags, categories) into the prompt, which is masked again.
        strategy.build_prompt(task.cluster, members),
        version=version,
        schema=Answer,
        check=check,
        last_check=partial(check, is_last=True),
        source_tokens=sum(member.memory.token_count for member in task.members),
        settings=settings,
        masked=masked,
    )


def _declined(reason: str, objections: Sequence[str]) -> Declined:
    """A refusal, with what the model is told of it."""
    return Declined(reason, objection="; ".join(objections) + ".")


def _masked_members(task: Task, settings: Settings) -> tuple[list[Memory], Counter[str]]:
    """The members with their secrets masked, and the counts of secrets and personal data."""
    memories = [member.memory for member in task.members]
    texts, masked = mask((text for m in memories for text in (m.content, m.lead_in, *m.headings)), settings)
    left = iter(texts)
    return [
        replace(m, content=next(left), lead_in=next(left), headings=tuple(islice(left, len(m.headings))))
        for m in memories
    ], masked


def _disagreements(task: Task, answer: Answer) -> list[tuple[Disagreement, str]] | Declined:
    """The contradictions between members that an answer names, each with both sides word for word."""
    members = [member.memory for member in task.members]
    text = " ".join(answer.abstraction.split())
    pairs = []
    for contradiction in answer.contradictions:
        numbers = sorted(set(contradiction.members))
        if len(numbers) < 2 or any(number not in range(1, len(members) + 1) for number in numbers):
            return Declined("malformed answer: a contradiction names no two members")
        pairs += [(members[numbers[0] - 1], members[number - 1]) for number in numbers[1:]]
    return [
        (Disagreement(*sorted((a.id, b.id))), f"contradiction: {_quote(text, a.content)} / {_quote(text, b.content)}")
        for a, b in pairs
    ]


def _draft(answer: Answer, abstraction: str, disagreements: list[tuple[Disagreement, str]], version: str) -> Draft:
    """The draft that an answer proposes, with the contradictions that it found attached."""
    causal = Causal(answer.subject, answer.action, answer.outcome, answer.consequences)
    return Draft(
        text=" ".join(abstraction.split()),
        prompt_version=version,
        attached=tuple(quote for _, quote in disagreements),
        pattern_type=answer.pattern_type,
        confidence=answer.confidence,
        causal=causal if answer.is_causal and causal.subject.strip() and causal.outcome.strip() else None,
        contradictions=tuple(disagreement for disagreement, _ in disagreements),
    )


def _quote(text: str, source: str) -> str:
    """The words of a source that go beyond the abstraction's text; all of them if the text adds nothing."""
    flat = " ".join(" ".join(unsaid_statements(text, source) or [source]).split())
    return f"'{flat}'" if len(flat) <= _QUOTE else f"'{flat[: _QUOTE - 1].rstrip()}…'"


def _review(answer: Answer, evidence: Evidence) -> tuple[str, list[str]]:
    """The sentences of an answer's abstraction that the members bear out, and an objection for each of the others."""
    wrong_claims = list(_wrong_claims(answer, evidence))
    objections = [problem for _, problem in wrong_claims]
    if len(wrong_claims) == len(answer.claims):
        return "", [*objections, "it makes no claim that the members bear out"]
    faithful: list[str] = []
    for sentence in _split_sentences(answer.abstraction):
        problems = find_unborne(sentence, evidence)
        objections += [f"'{sentence}': {problem}" for problem in problems[:1]]
        if not problems and not any(_is_about(claim, sentence) for claim, _ in wrong_claims):
            faithful.append(sentence)
    text = join_statements(faithful)
    total = str(len(evidence.sources))
    numbers = {value.key for statement in read_statements(text) for value in statement.values}
    if ranged_facts(text, evidence) and total not in numbers:
        objections.append(f"A range stands for several members: say that there are {total}")
    return text, objections


def _wrong_claims(answer: Answer, evidence: Evidence) -> list[tuple[str, str]]:
    """The claims that the members they name do not bear out, each with what is wrong."""
    known = range(1, len(evidence.sources) + 1)
    wrong = []
    for number, claim in enumerate(answer.claims, start=1):
        named = sorted(set(claim.members))
        if not named or any(member not in known for member in named):
            problem = "it names no member that exists"
        else:
            problem = next(iter(find_unborne(claim.text, evidence.only(member - 1 for member in named))), "")
        if problem:
            wrong.append((claim.text, f"claim {number}: {problem}"))
    return wrong


def _is_about(claim: str, sentence: str) -> bool:
    words = set(content_words(claim))
    return bool(words) and len(words & set(content_words(sentence))) >= _CLAIM_SHARE * len(words)


def choose_distiller(settings: Settings, count_tokens: Callable[[str], int]) -> DistillationModel:
    """The chosen model, or the extractive distiller if there is none.

    Raises ModelError or StrategyError for settings with which the model cannot be asked.
    """
    if not has_model(settings):
        return Extractive()
    return ModelDistiller(settings, count_tokens)


class ModelDistiller:
    """Distils with the model that is chosen."""

    method = "llm"
    prompt_version = PROMPT_VERSION

    def __init__(self, settings: Settings, count_tokens: Callable[[str], int]) -> None:
        """Raises ModelError if the model cannot be asked, StrategyError for a strategy that cannot be loaded."""
        self._settings, self._count = settings, count_tokens
        self._client = ModelClient(settings)
        self._strategies = load_strategies(settings)

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """Ask about all tasks at once, then about the sentences of all drafts, and yield these in order, after those
        that could not be asked about."""
        questions: dict[str, Question[Answer, Draft]] = {}
        asked: dict[str, Task] = {}
        for task in tasks:
            try:
                strategy = choose_strategy(self._strategies, task.cluster)
                question = distillation_question(task, strategy, self._settings, self, self._count)
                # A draft is shorter than its members, so that asking about it costs no more than this.
                words = " ".join(member.memory.content for member in task.members)
                check = _faithfulness(task, words, self._settings).request
                request = replace(question.request, then=(check.tokens_in, check.max_tokens))
                question = replace(question, request=request)
                questions[task.cluster.cluster_id] = question
                asked[task.cluster.cluster_id] = task
            except Exception as error:  # a user-defined strategy may fail on one cluster
                yield task, error
        answers = self._client.ask(questions, session, "distillation")
        proposed, hopeless = _collect(answers)
        checks = {
            cluster_id: _faithfulness(asked[cluster_id], draft.text, self._settings)
            for cluster_id, draft in proposed.items()
            if isinstance(draft, Draft)
        }
        readings = self._client.ask(checks, session, "faithfulness")
        verdicts, none_left = _collect(readings) if checks else ({}, None)
        for cluster_id, draft in proposed.items():
            if not isinstance(draft, Draft):
                yield asked[cluster_id], draft
            elif cluster_id in verdicts:
                yield asked[cluster_id], self._borne_out(asked[cluster_id], draft, verdicts[cluster_id])
        if why := hopeless or none_left:
            raise why

    def _borne_out(
        self, task: Task, draft: Draft, verdict: Unfaithful | Declined | Exception
    ) -> Draft | Declined | Exception:
        """The draft without the sentences that its members do not bear out; why there is none, if the rest cannot stand
        for the cluster, or nobody has read it."""
        if isinstance(verdict, Declined | Exception):
            return verdict
        if not verdict:
            return draft
        sentences = _split_sentences(draft.text)
        number = min(verdict)
        reason = f"unsupported: '{sentences[number]}': {verdict[number]}"
        faithful = [sentence for place, sentence in enumerate(sentences) if place not in verdict]
        rest = replace(draft, text=join_statements(faithful), causal=None)
        if not faithful or judge(task, rest, self, self._settings, self._count).reason is not None:
            return Declined(reason)
        return rest


def _collect(results: Iterator[tuple[str, ResultT]]) -> tuple[dict[str, ResultT], ModelError | None]:
    """The results by cluster, and why a model could not give all."""
    collected: dict[str, ResultT] = {}
    try:
        collected.update(results)
    except ModelError as error:
        return collected, error
    return collected, None


def _faithfulness(task: Task, text: str, settings: Settings) -> Question[FaithfulnessAnswer, Unfaithful]:
    """The question whether the members bear a draft's sentences out."""
    sources = [([witness.day for witness in member.witnesses], with_subject(member.memory)) for member in task.members]
    return faithfulness_question(_split_sentences(text), sources, settings)


def _split_sentences(text: str) -> list[str]:
    return split_statements(text) or [text]
