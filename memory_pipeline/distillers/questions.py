"""Questions to a model about a cluster, and the checks of its answers: distillation, and principles.

A further kind of question consists of a prompt file, a schema and a check, like these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.answer import Answer
from memory_pipeline.distillers.attachments import unsaid_statements
from memory_pipeline.distillers.draft import Draft, Task
from memory_pipeline.distillers.entailment import Evidence
from memory_pipeline.distillers.mending import mend
from memory_pipeline.distillers.prompts import VERSION
from memory_pipeline.distillers.strategies import DistillationStrategy, PrincipleStrategy
from memory_pipeline.distillers.support import find_unshared
from memory_pipeline.llm import Declined, Question
from memory_pipeline.records import Causal, Disagreement, Memory
from memory_pipeline.wording.redaction import redact
from memory_pipeline.wording.subject import with_subject

PROMPT_VERSION = f"claude-{VERSION}"
_QUOTE = 200


def distillation_question(task: Task, strategy: DistillationStrategy, settings: Settings) -> Question[Answer, Draft]:
    """The question for a cluster's abstraction. What its members do not bear out is dropped, what it omits is added in
    their own sentences, and it must pass the checks of its strategy."""
    version = PROMPT_VERSION if strategy.name == "default" else f"{PROMPT_VERSION}-{strategy.name}"

    def check(answer: Answer, members: Sequence[str]) -> Draft | Declined:
        disagreements = _disagreements(task, answer)
        if isinstance(disagreements, Declined):
            return disagreements
        dates = [[memory.day for memory in member.witnesses] for member in task.members]
        mended = mend(
            answer,
            Evidence([with_subject(m.memory) for m in task.members], dates),
            beside=[quote for _, quote in disagreements],
        )
        if isinstance(mended, str):
            return Declined(f"unsupported: {mended}")
        draft = _draft(answer, mended.text, disagreements, version)
        refused = strategy.validate(draft)
        return Declined(f"strategy {strategy.name}: {refused}") if refused else draft

    return _question(task, strategy, version, check, settings)


def principle_question(task: Task, settings: Settings) -> Question[Answer, Draft]:
    """The question for a rule that enough patterns of a group share. The patterns stay, so it does not have to
    repeat what they say; an empty abstraction means that they share none."""
    strategy = PrincipleStrategy(settings.principles.min_patterns)
    version = f"{PROMPT_VERSION}-{strategy.name}"

    def check(answer: Answer, patterns: Sequence[str]) -> Draft | Declined:
        shared = answer.abstraction.strip()
        problem = find_unshared(answer, patterns, settings.principles.min_patterns) if shared else None
        if problem:
            return Declined(f"unsupported: {problem}")
        disagreements = _disagreements(task, answer)
        return disagreements if isinstance(disagreements, Declined) else _draft(answer, shared, disagreements, version)

    return _question(task, strategy, version, check, settings)


def _question(
    task: Task,
    strategy: DistillationStrategy,
    version: str,
    check: Callable[[Answer, Sequence[str]], Draft | Declined],
    settings: Settings,
) -> Question[Answer, Draft]:
    """The question with everything masked that must not leave the machine. `check` receives the members as they were
    sent, member 1 first; it receives no answer that found instructions in one of them."""
    members, secrets, personal = _masked_members(task, settings)
    sent = [member.content for member in members]

    def believed(answer: Answer) -> Draft | Declined:
        if answer.suspicious:
            return Declined("the model found instructions in a member")
        return check(answer, sent)

    return Question.about(
        # A strategy may write more than the contents (tags, categories) into the prompt, so the prompt is masked
        # again.
        strategy.build_prompt(task.cluster, members),
        version=version,
        schema=Answer,
        check=believed,
        source_tokens=sum(member.memory.token_count for member in task.members),
        settings=settings,
        masked_secrets=secrets,
        masked_personal=personal,
    )


def _masked_members(task: Task, settings: Settings) -> tuple[list[Memory], int, int]:
    """The members with their secrets masked, and the counts of secrets and personal data."""
    memories: list[Memory] = []
    counts: Counter[str] = Counter()

    def masked(text: str) -> str:
        words, found = redact(text, personal=settings.distillation.mask_personal)
        counts.update(found)
        return words

    for member in task.members:
        memory = member.memory
        headings = tuple(map(masked, memory.headings))
        memories.append(
            replace(memory, content=masked(memory.content), headings=headings, lead_in=masked(memory.lead_in))
        )
    return memories, counts["secret"], counts["email"] + counts["phone"]


def _disagreements(task: Task, answer: Answer) -> list[tuple[Disagreement, str]] | Declined:
    """The contradictions between members that an answer names, each with both sides word for word."""
    members = [member.memory for member in task.members]
    text = " ".join(answer.abstraction.split())
    pairs = []
    for contradiction in answer.contradictions:
        between = sorted(set(contradiction.members))
        if len(between) < 2 or any(number not in range(1, len(members) + 1) for number in between):
            return Declined("malformed answer: a contradiction names no two members")
        pairs += [(members[between[0] - 1], members[other - 1]) for other in between[1:]]
    return [
        (Disagreement.between(a.id, b.id), f"contradiction: {_quote(text, a.content)} / {_quote(text, b.content)}")
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
    """What a source says beyond the abstraction's text, in its own words; all of it if the text adds nothing."""
    flat = " ".join(" ".join(unsaid_statements(text, source) or [source]).split())
    return f"'{flat}'" if len(flat) <= _QUOTE else f"'{flat[: _QUOTE - 1].rstrip()}…'"
