"""Whether two texts say the same, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory_pipeline.text.lexicon import FILLERS
from memory_pipeline.text.memo import remembered
from memory_pipeline.text.normalise import embedding_text
from memory_pipeline.text.sentences import strip_lead_in

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


def base_of(word: str) -> str:
    """The first form of an irregular word: `keep` for `kept`; any other word as it is."""
    return _IRREGULAR_OF.get(word, word)


_TOKEN = re.compile(
    r"https?://\S+|[$€£](?=\d)|\d[\d,]*(?:\.\d+)*(?:[:/–-]\d[\d.,]*)*|->|→|[^\W\d_][\w'’]*(?:[./_-][\w'’]+)*|\w+|[%°]"
)
_CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "let's": "let us"}
#: Maximum number of pairs of equal words in an alignment: some thousand words of ordinary text, or one word two
#: hundred times on both sides.
_MOST_MATCHES = 40_000
_PRONOUNS = frozenset("it that there what he she who here".split())
_SHORT_FORMS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'m": "am", "'d": "would"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two sentences: the words of each; one side may be empty."""

    left: tuple[str, ...]
    right: tuple[str, ...]


@remembered
def tokens_of(sentence: str) -> tuple[str, ...]:
    """Lower-case words, numbers and arrows of a sentence, with contractions expanded and fillers removed."""
    found: list[str] = []
    for match in _TOKEN.finditer(embedding_text(strip_lead_in(sentence))):
        word = match.group().lower().replace("’", "'").rstrip(".,'")
        found.extend(_written_out(word))
    return tuple(word for word in found if word not in FILLERS)


def _written_out(word: str) -> Iterator[str]:
    if word in _CONTRACTIONS:
        yield from _CONTRACTIONS[word].split()
        return
    for ending, full in _SHORT_FORMS.items():
        if word.endswith(ending) and len(word) > len(ending):
            yield word.removesuffix(ending)
            yield full
            return
    if word.endswith("'s"):
        yield word.removesuffix("'s")
        if word.removesuffix("'s") in _PRONOUNS:
            yield "is"
        return
    if "-" in word and not any(c.isdigit() for c in word) and len(word) > 3:
        yield from (part for part in word.split("-") if part)
        return
    yield "->" if word == "→" else word


def likeness(left: Sequence[str], right: Sequence[str]) -> float:
    """Share of words that two sentences have in common, in order, 0-1 (Ratcliff and Obershelp). For texts that are
    too long to be aligned, in any order."""
    if left == right:
        return 1.0
    if _too_many_matches(left, right):
        return 2.0 * _shared(left, right) / (len(left) + len(right))
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def reaches(left: Sequence[str], right: Sequence[str], least: float) -> bool:
    """Whether the similarity of two sentences is at least `least`; usually decided without aligning them."""
    if left == right:
        return True
    if not left or not right or 2 * _shared(left, right) < least * (len(left) + len(right)):
        return False  # no order of words can raise the similarity above the shared words
    return likeness(left, right) >= least


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    return (Counter(left) & Counter(right)).total()


def _too_many_matches(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether an alignment has too many pairs of equal words."""
    if len(left) * len(right) <= _MOST_MATCHES:
        return False
    theirs = Counter(right)
    return sum(count * theirs[word] for word, count in Counter(left).items()) > _MOST_MATCHES


def differences(left: Sequence[str], right: Sequence[str], least: float) -> list[Difference] | None:
    """The differences of two sentences, in order, or None if they are less similar than `least`. Moved words are not
    a difference.

    Texts that are too long to be aligned have one difference: the words that one of them has more often.
    """
    if left == right and left:
        return []
    if not left or not right or 2 * _shared(left, right) < least * (len(left) + len(right)):
        return None
    if _too_many_matches(left, right):
        gone, come = Counter(left) - Counter(right), Counter(right) - Counter(left)
        return [Difference(tuple(gone.elements()), tuple(come.elements()))] if gone or come else []
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < least:
        return None
    found = [(tuple(left[i:j]), tuple(right[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
    moved = {word for gone, _ in found for word in gone} & {word for _, come in found for word in come}
    kept = [
        Difference(tuple(w for w in gone if w not in moved), tuple(w for w in come if w not in moved))
        for gone, come in found
    ]
    return [difference for difference in kept if difference.left or difference.right]
