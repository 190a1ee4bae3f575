"""Claude as a distiller: kept answers first, then the rest within the cap, and nothing believed unchecked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from memory_pipeline.config.policies import PRINCIPLE
from memory_pipeline.config.settings import Settings
from memory_pipeline.distillers.answer import Answer, MalformedAnswerError, parse_answer
from memory_pipeline.distillers.attachments import left_out_of, unsaid_statements
from memory_pipeline.distillers.batches import BatchCalls
from memory_pipeline.distillers.calls import Connection, Question, Reply, hash_prompt, output_room
from memory_pipeline.distillers.draft import Declined, Draft, Task
from memory_pipeline.distillers.live import LiveCalls
from memory_pipeline.distillers.pricing import Ledger, price_of
from memory_pipeline.distillers.prompts import VERSION
from memory_pipeline.distillers.session import Session
from memory_pipeline.distillers.strategies import DistillationStrategy, choose_strategy, load_strategies
from memory_pipeline.distillers.support import find_unshared, find_unsupported
from memory_pipeline.errors import DistillerError
from memory_pipeline.records import BATCH_EXPIRED, COST_CAP, NO_ANSWER, Causal, ModelAnswer
from memory_pipeline.wording.redaction import redact

_QUOTE = 200


@dataclass(frozen=True, slots=True)
class _Asked:
    task: Task
    strategy: DistillationStrategy
    question: Question


class Claude:
    """Distils over the Messages API, or any server that speaks it."""

    name = "claude"
    method = "llm"
    prompt_version = f"claude-{VERSION}"

    def __init__(self, settings: Settings) -> None:
        """Raises DistillerError without a price, StrategyError for a strategy that cannot be loaded."""
        self._settings = settings
        self._price = price_of(settings)
        self._strategies = load_strategies(settings)

    def drafts(self, tasks: Iterable[Task], session: Session) -> Iterator[tuple[Task, Draft | Declined | Exception]]:
        """Asks about all tasks at once, and yields their drafts in order."""
        session.answers.take_over_previews()
        asked = [self._ask_about(task) for task in tasks]
        questions = {item.question.prompt_hash: item.question for item in asked if isinstance(item, _Asked)}
        kept = session.answers.find(list(questions.values())) if session.use_cache else {}
        for prompt, answer in kept.items():
            session.answers.record(_kept_reply(questions[prompt], answer), "cache", 0.0, "1")
        replies = {prompt: _kept_reply(questions[prompt], answer) for prompt, answer in kept.items()}
        hopeless: DistillerError | None = None
        try:
            for reply in self._ask([q for prompt, q in questions.items() if prompt not in kept], session):
                replies[reply.question.prompt_hash] = reply
                session.progress("distillation", len(replies), len(questions))
        except DistillerError as error:
            hopeless = error
        for item in asked:
            if isinstance(item, tuple):
                yield item
                continue
            prompt = item.question.prompt_hash
            if prompt in replies:
                yield item.task, self._read(item, replies[prompt])
            elif hopeless is None:
                yield item.task, Declined(NO_ANSWER, again=True)
        if hopeless:
            raise hopeless

    def _ask_about(self, task: Task) -> _Asked | tuple[Task, Declined | Exception]:
        try:
            return self._question_about(task)
        except Exception as error:  # a strategy of somebody's own may break on one cluster
            return task, error

    def _question_about(self, task: Task) -> _Asked | tuple[Task, Declined | Exception]:
        """The question about a cluster, with everything masked that must not leave the machine."""
        tokens = sum(member.memory.token_count for member in task.members)
        if tokens > self._settings.max_prompt_tokens:
            return task, Declined(
                f"too long for one prompt: {tokens} tokens, at most {self._settings.max_prompt_tokens} are sent"
            )
        strategy = choose_strategy(self._strategies, task.cluster)
        memories, secrets, personal = [], 0, 0
        for member in task.members:
            text, counts = redact(member.memory.content, personal=self._settings.mask_personal)
            secrets += counts["secret"]
            personal += counts["email"] + counts["phone"]
            memories.append(replace(member.memory, content=text.encode("utf-8", "replace").decode()))
        prompt = strategy.build_prompt(task.cluster, memories)
        # A strategy may write out what stands beside the contents (tags, categories), or join what was apart.
        user, counts = redact(prompt.user, personal=self._settings.mask_personal)
        secrets += counts["secret"]
        personal += counts["email"] + counts["phone"]
        version = self._version(strategy)
        room = output_room(tokens)
        question = Question(
            hash_prompt(self._settings.model, version, prompt.system, user, room),
            self._settings.model,
            version,
            prompt.system,
            user,
            room,
            secrets,
            personal,
        )
        return _Asked(task, strategy, question)

    def _version(self, strategy: DistillationStrategy) -> str:
        return self.prompt_version if strategy.name == "default" else f"{self.prompt_version}-{strategy.name}"

    def _ask(self, questions: Sequence[Question], session: Session) -> Iterator[Reply]:
        earlier = [] if session.preview else session.answers.batches()
        if not questions and not earlier:
            return
        if self._settings.cost_cap_usd <= 0:
            yield from (Reply(question, "failed", deferred=COST_CAP) for question in questions)
            return
        connection = Connection(self._settings, session.log)
        connection.check_model()
        ledger = Ledger(self._price, self._settings.cost_cap_usd)
        most = sum(self._price.cost(q.tokens_in, q.max_tokens) for q in questions)
        session.log.info(
            "%d questions to %s, at most %.4f USD; the cap is %.2f USD",
            len(questions),
            self._settings.model,
            most,
            ledger.cap,
        )
        in_batch = self._settings.calling == "batch" and not session.preview
        left = {question.prompt_hash: question for question in questions}
        if earlier:
            batches = BatchCalls(connection, self._settings, ledger, session)
            for reply in batches.collect_earlier(questions, wait=in_batch):
                if reply.deferred == BATCH_EXPIRED or left.pop(reply.question.prompt_hash, None) is None:
                    continue
                yield reply
        if not left:
            return
        if in_batch:
            yield from BatchCalls(connection, self._settings, ledger, session).ask(list(left.values()))
        else:
            yield from LiveCalls(connection, self._settings, ledger, session).ask(list(left.values()))

    def _read(self, item: _Asked, reply: Reply) -> Draft | Declined | Exception:
        """A reply as a draft, or the reason why it is none. Nothing here trusts what the model says of itself."""
        if reply.deferred:
            return Declined(reply.deferred, again=True)
        if reply.text is None:
            return DistillerError(reply.error or "the model gave no answer")
        if reply.stop_reason == "refusal":
            return Declined("the model declined to answer")
        if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            return Declined("the model's answer was cut short")
        try:
            answer = parse_answer(reply.text)
        except MalformedAnswerError as error:
            return Declined(f"malformed answer: {error}")
        draft = self._draft(item, answer)
        if isinstance(draft, Declined):
            return draft
        try:
            problem = item.strategy.validate(draft)
        except Exception as error:  # as above
            return error
        return Declined(f"strategy {item.strategy.name}: {problem}") if problem else draft

    def _draft(self, item: _Asked, answer: Answer) -> Draft | Declined:
        members = [member.memory for member in item.task.members]
        masked = [redact(memory.content, personal=self._settings.mask_personal)[0] for memory in members]
        numbers = range(1, len(members) + 1)
        if answer.suspicious:
            return Declined("the model found instructions in a member")
        if item.task.cluster.policy != PRINCIPLE:
            problem = find_unsupported(answer, masked)
        elif answer.abstraction.strip():
            problem = find_unshared(answer, masked, self._settings.principle_patterns)
        else:
            problem = None  # there is none; its caller says so
        if problem:
            return Declined(f"unsupported: {problem}")
        pairs = []
        for contradiction in answer.contradictions:
            between = sorted(set(contradiction.members))
            if len(between) < 2 or any(number not in numbers for number in between):
                return Declined("malformed answer: a contradiction names no two members")
            pairs += [(members[between[0] - 1], members[other - 1]) for other in between[1:]]
        text = " ".join(answer.abstraction.split())
        quotes = tuple(f"contradiction: {_quote(text, a.content)} / {_quote(text, b.content)}" for a, b in pairs)
        left_out = left_out_of("\n".join((text, *quotes)), [memory.content for memory in members])
        causal = Causal(answer.subject, answer.action, answer.outcome, answer.consequences)
        return Draft(
            text=text,
            prompt_version=item.question.prompt_version,
            attached=(*quotes, *left_out),
            pattern_type=answer.pattern_type,
            confidence=answer.confidence,
            causal=causal if answer.is_causal and causal.subject.strip() and causal.outcome.strip() else None,
            contradictions=tuple((a.id, b.id) for a, b in pairs),
        )


def _kept_reply(question: Question, answer: ModelAnswer) -> Reply:
    return Reply(question, "answered", text=answer.answer, stop_reason=answer.stop_reason)


def _quote(text: str, source: str) -> str:
    """What a source says beyond the abstraction's text, in its own words; all of it when that says everything."""
    flat = " ".join(" ".join(unsaid_statements(text, source) or [source]).split())
    return f"'{flat}'" if len(flat) <= _QUOTE else f"'{flat[: _QUOTE - 1].rstrip()}…'"
