"""What the sentences of a session say of the work: settings, what is done, open or given up, where things are to be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_pipeline.compaction.choices import is_limit
from memory_pipeline.compaction.kept import NOTED, SAID_BY_AGENT, Kept, keep, with_reply
from memory_pipeline.compaction.reports import is_failed_try, is_report, lacks
from memory_pipeline.compaction.tasks import (
    is_agents_next,
    is_only_acknowledged,
    is_order,
    is_order_for_later,
    takes_act_on,
)
from memory_pipeline.compaction.told import (
    configs_in,
    is_dead_end,
    is_done,
    is_finding,
    is_open,
    is_placement,
    is_role,
    is_rule,
    is_statement,
    takes_on,
    value_in,
    with_what_it_is_of,
)
from memory_pipeline.conversations.forms import is_question
from memory_pipeline.conversations.offers import is_plan
from memory_pipeline.conversations.own_words import Said, own_sentences
from memory_pipeline.conversations.surroundings import announces_cause
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import content_words

_MOST_WORDS = 60
#: A human may give a value for what was set in so many turns before, without its name: `Make it 3.`
_MOST_TURNS_TO_NAME = 2
_POINTS = re.compile(r"\b(?:that|this|it|them|those|these)\b", re.IGNORECASE)
_FEW_WORDS = 2
#: What an agent says in so many turns at the end that it will do, is not done yet.
_LAST_TURNS = 2


def spoken_in(turns: Sequence[Turn]) -> Iterator[Kept]:
    """What the sentences of some turns say of the work, in order."""
    last_set = (-_MOST_TURNS_TO_NAME - 1, "")
    for number, turn in enumerate(turns):
        sentences = own_sentences(turn.words)
        for place, said in enumerate(sentences):
            if is_question(said) or len(said.quote.split()) > _MOST_WORDS:
                continue
            changed = configs_in(said)
            of_human = turn.speaker == "human"
            if of_human and not changed and number - last_set[0] <= _MOST_TURNS_TO_NAME and (value := value_in(said)):
                changed = [(last_set[1], value)]
            if changed:
                last_set = (number, changed[0][0]) if len(changed) == 1 else (-_MOST_TURNS_TO_NAME - 1, "")
            for key, value in changed:
                yield keep(turn, "config", key, value=value)
            is_last = number >= len(turns) - _LAST_TURNS
            told = (
                _by_human(turn, said, turns[number - 1] if number else None)
                if of_human
                else _by_agent(turn, said, sentences, place, is_last=is_last)
            )
            if is_dead_end(said, of_agent=not of_human) and (told is None or told.kind not in ("rule", "decision")):
                yield keep(turn, "dead_end", _failed_part(said) or with_what_it_is_of(said, sentences, place))
            elif of_human and told is None and is_role(said):
                yield keep(turn, "fact", with_what_it_is_of(said, sentences, place), confidence=NOTED)
            elif told is not None:
                yield told
            elif of_human and is_order(said) and not changed and _is_noted(turns, number):
                yield keep(turn, "open", said.quote)
    last = turns[-1] if turns else None
    if last is not None and last.speaker == "human":  # nobody has answered it
        own = own_sentences(last.words)
        asked = [said for said in own if is_question(said)] or [said for said in own if is_order(said)]
        if asked and not takes_on(asked[-1]):
            yield keep(last, "open", asked[-1].quote)


def _failed_part(said: Said) -> str:
    """The part of an agent's sentence that says what did not work, if it is one of several: `The mail is ready; the
    import failed because ...`"""
    parts = [part.strip() for part in said.quote.split(";")]
    failed = [part for part in parts if is_dead_end(Said.alone(part))]
    return failed[0] if len(failed) == 1 < len(parts) else ""


def _is_noted(turns: Sequence[Turn], number: int) -> bool:
    """Whether the agent's answer to a turn only says that it heard it."""
    following = turns[number + 1] if number + 1 < len(turns) else None
    return following is not None and following.speaker == "agent" and is_only_acknowledged(following.words)


def _by_human(turn: Turn, said: Said, before: Turn | None) -> Kept | None:
    if is_rule(said):
        return keep(turn, "rule", said.quote)
    if takes_on(said) or takes_act_on(said):
        return keep(turn, "open", _of_what(said, before), is_humans=True)
    if is_placement(said) and not is_limit(said):
        return keep(turn, "decision", said.quote)
    return keep(turn, "open", said.quote) if is_order_for_later(said) else None


def _of_what(said: Said, before: Turn | None) -> str:
    """What a human takes on, with what the agent said of it if he or she only points at it: `Leave that to me.`"""
    told = own_sentences(before.words)[-1:] if before is not None and before.speaker == "agent" else ()
    if not told or not _POINTS.search(said.read) or len(content_words(said.quote)) > _FEW_WORDS:
        return said.quote
    return with_reply(told[0].quote, said.quote)


def _by_agent(turn: Turn, said: Said, sentences: Sequence[Said], place: int, *, is_last: bool) -> Kept | None:
    if place and announces_cause(sentences[place - 1]) and not is_plan(said) and is_statement(said):
        return keep(turn, "fact", said.quote, confidence=SAID_BY_AGENT)
    if is_failed_try(said):
        return keep(turn, "dead_end", said.quote)
    if is_open(said) or lacks(said) or is_agents_next(said, is_last=is_last):
        return keep(turn, "open", said.quote)
    if is_done(said) or is_report(said):
        return keep(turn, "done", said.quote)
    return keep(turn, "fact", said.quote, confidence=SAID_BY_AGENT) if is_finding(said) else None
