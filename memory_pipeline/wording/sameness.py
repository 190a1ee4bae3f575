"""Whether two English words may be forms of one: plural, tense, agent and action nouns, and known synonyms."""

from __future__ import annotations

from functools import lru_cache

from memory_pipeline.wording.facts import stem
from memory_pipeline.wording.lexicon import are_opposites, mean_the_same

_IRREGULAR = (
    "be am is are was were been being|have has had having|do does did done doing|go goes went gone going|take takes "
    "took taken taking|come comes came coming|get gets got gotten getting|make makes made making|leave leaves left "
    "leaving|run runs ran running|lose loses lost losing loss|fall falls fell fallen falling|rise rises rose risen "
    "rising|begin begins began begun beginning|break breaks broke broken breaking|keep keeps kept keeping|send sends "
    "sent sending|say says said saying|see sees saw seen seeing|sing sings sang sung singing|draw draws drew drawn "
    "drawing|sleep sleeps slept sleeping asleep|sell sells sold selling sale|buy buys bought buying|write writes "
    "wrote written writing|read reads reading|hold holds held holding|stand stands stood standing|find finds found "
    "finding|know knows knew known|think thinks thought|give gives gave given giving|grow grows grew grown growing "
    "growth|drive drives drove driven driving|freeze freezes froze frozen freezing|eat eats ate eaten eating|drink "
    "drinks drank drunk drinking|build builds built building|spend spends spent spending|pay pays paid paying "
    "payment|meet meets met meeting|set sets setting|put puts putting|cut cuts cutting|shut shuts shutting|hit hits "
    "hitting|let lets letting|speak speaks spoke spoken speaking|choose chooses chose chosen choosing choice|wear "
    "wears wore worn|tear tears tore torn|throw throws threw thrown|blow blows blew blown|fly flies flew flown "
    "flight|ride rides rode ridden|steal steals stole stolen|hang hangs hung hanging|feel feels felt|mean means "
    "meant|bring brings brought bringing|catch catches caught|teach teaches taught teacher|feed feeds fed "
    "feeding|bleed bleeds bled|lead leads led leading|forget forgets forgot forgotten|swim swims swam swum|sink sinks "
    "sank sunk|shrink shrinks shrank shrunk|good well|bad badly worse worst|man men|woman women|child children|foot "
    "feet|tooth teeth|mouse mice|person people|die dies died dying death dead|expire expires expired expiry "
    "expiration|fail fails failed failure|succeed succeeds succeeded success successful successfully|die dead|think "
    "thought|use uses used using usage|diverge diverges diverged divergence|lie lies lay lain lying|win wins "
    "won|shoot shoots shot|stick sticks stuck|wake wakes woke woken|dry dries dried|reply replies replied reply|half "
    "halves"
)
_IRREGULAR_OF = {word: group.split()[0] for group in _IRREGULAR.split("|") for word in group.split()}
_ENDINGS = tuple(
    sorted(
        "ational ation ations ition ition tion tions sion sions ment ments ness ity ities er ers or ors ing ings ed "
        "es s al als ally ly able ible ive ance ances ence ences ant ants ent ure ures age ages ise ises ised ising "
        "ize izes ized izing ify ifies ified y ies ic ical ically ous ful e".split(),
        key=len,
        reverse=True,
    )
)
_SHORTEST = 4
#: Words that a model puts for each other in a report, beyond the synonyms that may replace each other in a memory.
_PARAPHRASES = (
    "down outage downtime offline|late delay delayed|skip suppress omit leave|forbid prohibit ban disallow|refuse "
    "reject deny decline|restart reboot|undefined unspecified|silently quietly|again repeatedly repeat|stored located "
    "live reside kept|cost price expense|go return|back return|take bring|ask request want|finish complete end|wrong "
    "incorrect false|must require need|cannot unable impossible|unless except|overheat hot|write address use|reply "
    "answer|drink take|location place|weakest weak"
)


@lru_cache(maxsize=50_000)
def forms_of(word: str) -> frozenset[str]:
    """What a lower-case word may be looked up by: itself, its stem, and its family (`annotat` for `annotators`)."""
    base = _IRREGULAR_OF.get(word, word)
    return frozenset((word, base, stem(base).rstrip("e"), _family(base)))


def _family(word: str) -> str:
    shortened = True
    while shortened:
        shortened = False
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                word, shortened = word[: -len(ending)], True
                break
    return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] else word


@lru_cache(maxsize=1)
def _paraphrases() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, group in enumerate(_PARAPHRASES.split("|")):
        for form in {form for word in group.split() for form in forms_of(word)}:
            groups.setdefault(form, set()).add(number)
    return {form: frozenset(numbers) for form, numbers in groups.items()}


def _groups_of(word: str) -> frozenset[int]:
    return frozenset[int]().union(*(_paraphrases().get(form, frozenset()) for form in forms_of(word)))


@lru_cache(maxsize=200_000)
def same_word(one: str, other: str) -> bool:
    """Whether two lower-case words may stand for each other."""
    if one == other or forms_of(one) & forms_of(other):
        return not are_opposites(one, other)
    alike = mean_the_same(one, other) or bool(_groups_of(one) & _groups_of(other))
    return alike and not are_opposites(one, other)
