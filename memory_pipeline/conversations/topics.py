"""What sentences are about: their nouns and names; and topics to which a human returns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_pipeline.conversations.own_words import own_sentences
from memory_pipeline.records import Turn
from memory_pipeline.wording.facts import STOP_WORDS, content_words, stem
from memory_pipeline.wording.grammar import words_of
from memory_pipeline.wording.normalise import normalise

_TOPIC = re.compile(r"[^\W\d_][\w-]{2,40}")
_MOST_TOPICS = 6
#: Nouns that are no topic.
_EMPTY = frozenset(
    "thing things something anything nothing everything someone anyone everyone time times day days week weeks "
    "month months year years way ways lot lots bit people person man woman guy guys today tonight tomorrow "
    "yesterday morning afternoon evening night weekend question questions idea ideas help advice suggestion "
    "suggestions recommendation recommendations thanks thank hello hi hey friend friends companion assistant part "
    "parts kind sort type example problem problems issue issues point points reason reasons fact case cases "
    "moment while place places side end start beginning number numbers word words answer answers one ones two "
    "three first second last next ok okay yes yeah no please pls plz sorry haha lol wow oh great good nice well "
    "thought thoughts feeling feelings matter matters stuff sense chance mind life world experience rest goodbye "
    "bye hand hands head face name names minute minutes hour hours result results step steps line lines reply "
    "user goal goals need needs look talk chat conversation topic topics monday tuesday wednesday thursday friday "
    "saturday sunday january february march april may june july august september october november december again "
    "really maybe very much more most many some information detail details activity activities function functions "
    "concept concepts opinion opinions interest interests effort state attention support plan plans change "
    "changes choice order".split()
)
LEAST_TURNS, LEAST_AGAIN = 3, 2
#: A name comes up whenever its bearer does something: more turns make it a topic.
_MORE_OF_NAME = 2
#: What stems keep of one form and not of another.
_ENDING = re.compile(r"(?:ie|y|e)$")
_LEAST_STEM = 3
_MOST_REPEATED = 3


@dataclass(frozen=True, slots=True)
class Repeated:
    """A topic to which a human returned: as it was written most, and the turns that name it, with their sentences."""

    topic: str
    turns: tuple[Turn, ...]
    last_quote: str
    last_start: int
    days_before: int


def topics_in(sentence: str) -> tuple[str, ...]:
    """The nouns and names of a sentence in lower case, each once, in order."""
    found = [
        word.low.removesuffix("'s")
        for word in words_of(sentence)
        if word.tag in ("NN1", "NN2", "NN0", "NP0") and _TOPIC.fullmatch(word.low.removesuffix("'s"))
    ]
    return tuple(dict.fromkeys(one for one in found if one not in _EMPTY and one not in STOP_WORDS))[:_MOST_TOPICS]


def repeated_topics(
    turns: Sequence[Turn], days_of: Mapping[str, Sequence[date]], of_life: Collection[str] = ()
) -> list[Repeated]:
    """The topics that a human brings up, and names in three turns of a day, or in two of them and on an earlier day; a
    name, in two turns more.

    `turns`: those of one conversation and day, in order. `days_of`: by the stem of a topic, the days on which the
    human named it. `of_life`: the words of what is known of the human's life and work, as `topic_key` gives them: who
    runs a clinic names it every day. A sentence that is told again counts once; what the agent named first is no topic
    of the human.
    """
    named: dict[str, list[tuple[Turn, str, int]]] = defaultdict(list)
    written: dict[str, list[str]] = defaultdict(list)
    told: set[str] = set()
    by_agent: set[str] = set()
    is_name: dict[str, bool] = {}
    for turn in turns:
        if turn.speaker != "human":
            by_agent.update(set(map(_ending_less, content_words(turn.words))) - named.keys())
            continue
        seen: set[str] = set()
        for said in own_sentences(turn.words):
            normal = normalise(said.quote)
            if normal in told:
                continue
            told.add(normal)
            as_written = set(_TOPIC.findall(said.read))
            for topic in topics_in(said.read):
                key = topic_key(topic)
                is_name[key] = is_name.get(key, True) and topic not in as_written
                written[key].append(topic)
                if key not in seen and key not in by_agent:
                    seen.add(key)
                    named[key].append((turn, said.quote, said.start))
    found = []
    for key, places in named.items():
        before = len({day for day in days_of.get(key, ()) if day < places[-1][0].day})
        more = _MORE_OF_NAME if is_name[key] else 0
        if key in of_life:
            continue
        if len(places) >= LEAST_TURNS + more or (len(places) >= LEAST_AGAIN + more and before):
            turn, quote, start = places[-1]
            forms = written[key]
            topic = max(forms, key=lambda one: (forms.count(one), -forms.index(one)))
            found.append(Repeated(topic, tuple(place[0] for place in places), quote, start, before))
    return sorted(found, key=lambda one: (-len(one.turns), one.topic))[:_MOST_REPEATED]


def topics_of_day(turns: Sequence[Turn]) -> frozenset[str]:
    """The stems of the topics that a human names: what `repeated_topics` of a later day asks for."""
    return frozenset(
        topic_key(topic)
        for turn in turns
        if turn.speaker == "human"
        for said in own_sentences(turn.words)
        for topic in topics_in(said.read)
    )


def topic_key(topic: str) -> str:
    """What the forms of a topic share: `movie` and `movies`, `recipe` and `recipes`."""
    return _ending_less(stem(topic))


def _ending_less(stemmed: str) -> str:
    return _ENDING.sub("", stemmed) if len(stemmed) > _LEAST_STEM else stemmed
