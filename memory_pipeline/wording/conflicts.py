"""The conflict guard: do two memories say different things in nearly the same words?

Cosine cannot tell `passed` from `failed` or 5432 from 5433 (both score above 0.95), so every pair that
similarity proposes passes here before it may be merged. Where in doubt the guard says *conflict*:
two memories left apart cost a few tokens, two contradictory ones merged cost the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from memory_pipeline.wording.facts import NEGATORS, STOP_WORDS, content_words, find_facts, stem
from memory_pipeline.wording.normalise import embedding_text
from memory_pipeline.wording.sentences import split_statements

#: Two sentences are *nearly the same words* when, of the content words of the one with fewer words of
#: its own, at most this share is missing from the other.
SAME_WORDS_SHARE = 0.25
#: For opposites and negations a looser likeness is enough: half of the words shared.
ALIKE_SHARE = 0.5
#: Two events that were written down afresh (word sequences, figures masked, less alike than this) are
#: episodes: their figures may differ. One copied with another figure in it stays a conflict.
EPISODE_LIKENESS = 0.8
_MAX_SENTENCES = 16
_PAST_VERBS = frozenset(
    "took went came fell made saw lost cost began ran got said found broke sent left rose became was were had did gave "
    "grew held kept led met paid put sold spent stood taught told thought won wrote shown seen gone taken".split()
)
_STATE_WORDS = frozenset("is are be been being has have am".split())
_RULE_WORDS = frozenset("must should shall always never may can cannot".split())

_OPPOSITES = """
pass:fail success:failure succeed:fail succeeded:failed enable:disable enabled:disabled allow:deny allow:forbid
allow:block allowed:denied allowed:forbidden accept:reject accepted:rejected approve:reject approved:rejected
increase:decrease increased:decreased increase:reduce raise:lower raised:lowered rise:fall rose:fell grow:shrink
up:down on:off open:closed open:close opened:closed start:stop started:stopped running:stopped active:inactive
online:offline available:unavailable valid:invalid true:false yes:no correct:incorrect correct:wrong right:wrong
before:after first:last early:late earlier:later faster:slower fast:slow high:low higher:lower max:min maximum:minimum
maximal:minimal above:below over:under more:less most:least greater:smaller larger:smaller big:small add:remove
added:removed install:uninstall create:delete keep:drop keep:delete include:exclude included:excluded with:without
public:private internal:external local:remote read:write client:server input:output upload:download push:pull
encrypt:decrypt lock:unlock locked:unlocked mount:unmount connect:disconnect connected:disconnected
required:optional mandatory:optional safe:unsafe stable:unstable healthy:unhealthy works:broken working:broken
complete:incomplete completed:pending done:pending finished:pending resolved:unresolved fixed:broken open:resolved
always:never all:none all:some everyone:nobody everything:nothing like:dislike likes:dislikes love:hate loves:hates
prefer:avoid prefers:avoids prefers:dislikes good:bad better:worse best:worst cheap:expensive light:dark
ascending:descending horizontal:vertical left:right top:bottom north:south east:west morning:evening day:night
sync:async synchronous:asynchronous blocking:nonblocking manual:automatic manually:automatically
positive:negative profit:loss win:lose won:lost buy:sell bullish:bearish long:short hot:cold warm:cold
present:absent visible:hidden show:hide shown:hidden strict:lenient recommended:discouraged mutable:immutable
inbound:outbound incoming:outgoing ingress:egress primary:secondary primary:replica master:slave
daily:weekly weekly:monthly daily:hourly hourly:daily
"""
_OPPOSITE_OF: dict[str, set[str]] = {}
for _pair in _OPPOSITES.split():
    _one, _other = _pair.split(":")
    for _left, _right in ((_one, _other), (stem(_one), stem(_other))):
        _OPPOSITE_OF.setdefault(_left, set()).add(_right)
        _OPPOSITE_OF.setdefault(_right, set()).add(_left)

_QUANTIFIERS = frozenset("all every each any some most many few several none both either neither only".split())
_DIRECTION = frozenset(
    "before after depends depend calls call blocks block over than instead from to follows follow precedes precede "
    "replaces replace requires require triggers trigger causes cause reports owns imports sends".split()
)


@dataclass(frozen=True, slots=True)
class ConflictFinding:
    """Why two texts conflict: the kind (`number`, `unit`, `date`, `time`, `name`, `identifier`,
    `negation`, `opposite`, `quantifier`, `order`) and the words that differ."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    words: Counter[str]
    plain: Counter[str]
    sequence: tuple[str, ...]
    facts: dict[str, dict[str, str]]
    negated: int
    masked: tuple[str, ...]
    is_event: bool
    labelled: bool


def find_conflict(a: str, b: str) -> ConflictFinding | None:
    """The first conflict between two texts, or None when one may stand for the other.

    Sentences are matched to the sentence of the other text that shares most words; facts are compared
    only between matched sentences, so that two long notes may differ in details that do not touch.
    Symmetric: swapping the texts finds the same kind.
    """
    if embedding_text(a).casefold() == embedding_text(b).casefold():
        return None
    left, right = _sentences(a), _sentences(b)
    if len(left) == 1 and len(right) == 1:
        return _compare(left[0], right[0])
    for mine, theirs in sorted(set(_matches(left, right)) | {(i, j) for j, i in _matches(right, left)}):
        finding = _compare(left[mine], right[theirs])
        if finding:
            return finding
    return None


def _matches(of: tuple[_Sentence, ...], among: tuple[_Sentence, ...]) -> Iterable[tuple[int, int]]:
    for index, sentence in enumerate(of):
        scored = [(_jaccard(sentence.words, other.words), -place) for place, other in enumerate(among)]
        score, place = max(scored)
        if score >= ALIKE_SHARE:
            yield index, -place


def _jaccard(a: Counter[str], b: Counter[str]) -> float:
    union = (a | b).total()
    return (a & b).total() / union if union else 0.0


@lru_cache(maxsize=50_000)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    statements = split_statements(text) or [text]
    if len(statements) > _MAX_SENTENCES:
        statements = [text]
    return tuple(_read(statement) for statement in statements)


def _read(statement: str) -> _Sentence:
    facts: dict[str, dict[str, str]] = {}
    for fact in find_facts(statement):
        facts.setdefault(fact.kind, {})[fact.value] = fact.text
    lowered = [word.strip(".,;:!?()[]\"'").lower().replace("’", "'") for word in embedding_text(statement).split()]
    sequence = tuple(stem(word) for word in lowered if word)
    valued = {
        word
        for kind in ("number", "date", "time", "name", "identifier")
        for text in facts.get(kind, {}).values()
        for word in content_words(text)
    }
    words = Counter(content_words(statement))
    plain = Counter({word: n for word, n in words.items() if word not in valued and word not in NEGATORS})
    negated = sum(word in NEGATORS or word.endswith("n't") for word in lowered)
    raw = embedding_text(statement).split()
    return _Sentence(
        words=words,
        plain=plain,
        sequence=sequence,
        facts=facts,
        negated=negated,
        masked=tuple("#" if any(c.isdigit() for c in word) else word for word in lowered if word),
        is_event=_tells_an_event(lowered),
        labelled=bool(raw) and raw[0].endswith(":"),
    )


def _tells_an_event(words: list[str]) -> bool:
    """Whether a sentence tells what happened once: a verb in the past, and no rule or standing state."""
    if _RULE_WORDS & set(words):
        return False
    return any(
        word in _PAST_VERBS
        or (len(word) > 4 and word.endswith("ed") and not _STATE_WORDS & set(words[max(0, n - 2) : n]))
        for n, word in enumerate(words)
    )


def _compare(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    own_a, own_b, shared = a.plain - b.plain, b.plain - a.plain, (a.plain & b.plain).total()
    fewer = min(own_a.total(), own_b.total())
    same_words = fewer <= SAME_WORDS_SHARE * (shared + fewer)
    alike = shared >= ALIKE_SHARE * (shared + fewer)
    if alike:
        finding = _opposites(a, b) or _negation(a, b)
        if finding:
            return finding
    if same_words:
        finding = _values(a, b) or _quantifiers(a, b) or _order(a, b)
        if finding:
            return finding
    return _swapped_subject(a, b, own_a, own_b)


def _opposites(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    mine, theirs = set(a.sequence) - set(b.sequence), set(b.sequence) - set(a.sequence)
    for word in sorted(mine):
        against = sorted(_OPPOSITE_OF.get(word, set()) & theirs)
        if against:
            return ConflictFinding("opposite", f"{word} / {against[0]}")
    return None


def _negation(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    if (a.negated == 0) == (b.negated == 0):
        return None
    facts = (a if a.negated else b).facts.get("negation", {})
    return ConflictFinding("negation", next(iter(facts.values()), "not"))


def _values(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    episodes = a.is_event and b.is_event and _likeness(a.masked, b.masked) < EPISODE_LIKENESS
    for kind in ("number", "date", "time", "identifier", "name"):
        if episodes and kind in ("number", "date", "time"):
            continue
        mine, theirs = a.facts.get(kind, {}), b.facts.get(kind, {})
        only_a = [mine[value] for value in mine if value not in theirs]
        only_b = [theirs[value] for value in theirs if value not in mine]
        if kind == "date" and only_a and only_b and _dates_agree(mine, theirs):
            continue
        if only_a and only_b:
            found = _unit_kind(mine, theirs) if kind == "number" else kind
            return ConflictFinding(found, f"{', '.join(only_a[:3])} / {', '.join(only_b[:3])}")
    return None


def _likeness(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _unit_kind(mine: Iterable[str], theirs: Iterable[str]) -> str:
    """`unit` when the bare figures agree and only their units differ."""
    return "unit" if {m.split(" ")[0] for m in mine} == {t.split(" ")[0] for t in theirs} else "number"


def _dates_agree(mine: Iterable[str], theirs: Iterable[str]) -> bool:
    """Whether the dates differ only in that one side leaves out the year."""
    return {value.replace("----", "")[-6:] for value in mine} == {value.replace("----", "")[-6:] for value in theirs}


def _quantifiers(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    mine, theirs = set(a.sequence) & _QUANTIFIERS, set(b.sequence) & _QUANTIFIERS
    if mine - theirs and theirs - mine:
        return ConflictFinding("quantifier", f"{min(mine - theirs)} / {min(theirs - mine)}")
    return None


def _order(a: _Sentence, b: _Sentence) -> ConflictFinding | None:
    """Same words, but what follows a word of direction in one stands before it in the other.

    `A depends on B` against `B depends on A`. Clauses that are merely turned round keep what follows.
    """
    if Counter(a.sequence) != Counter(b.sequence) or a.sequence == b.sequence:
        return None
    for pivot in sorted({stem(word) for word in _DIRECTION} & set(a.sequence)):
        here, there = a.sequence.index(pivot), b.sequence.index(pivot)
        after_a, after_b = _next_word(a.sequence, here), _next_word(b.sequence, there)
        if after_a != after_b and after_a in b.sequence[:there] and after_b in a.sequence[:here]:
            return ConflictFinding("order", f"what stands before and after '{pivot}'")
    return None


def _next_word(sequence: tuple[str, ...], place: int) -> str:
    """The first word after a place that carries meaning."""
    return next((word for word in sequence[place + 1 :] if word not in STOP_WORDS), "")


def _swapped_subject(a: _Sentence, b: _Sentence, own_a: Counter[str], own_b: Counter[str]) -> ConflictFinding | None:
    """One word swapped at the very start of otherwise equal sentences: most often another subject."""
    if own_a.total() == own_b.total() == 1 and a.sequence and b.sequence and len(a.sequence) == len(b.sequence):
        one, other = next(iter(own_a)), next(iter(own_b))
        starts = a.sequence[0] == one and b.sequence[0] == other and not (a.labelled or b.labelled)
        if starts and a.sequence[1:] == b.sequence[1:]:
            return ConflictFinding("name", f"{one} / {other}")
    return None
