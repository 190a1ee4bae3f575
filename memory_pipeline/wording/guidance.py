"""Whether a sentence gives guidance: what to do, to avoid, to prefer or to expect. Reports of what happened, states,
readings, descriptions and tasks that are done once give none. And whether a sentence limits what another one advises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from memory_pipeline.wording.facts import find_facts
from memory_pipeline.wording.grammar import PAST, PRESENT, Clause, Word, can_be_order, clauses_of, words_of
from memory_pipeline.wording.languages import is_english
from memory_pipeline.wording.memo import remembered
from memory_pipeline.wording.normalise import plain_text
from memory_pipeline.wording.sentences import strip_lead_in

Guidance = Literal["do", "avoid", "prefer", "expect"]

#: Fewer words say nothing, more are pasted text.
_FEWEST_WORDS, _MOST_WORDS, _MOST_CHARACTERS = 2, 45, 600
_CONDITIONS = frozenset("when whenever while if unless once until till after before where wherever whether".split())
_REASONS = frozenset("because since otherwise else so or".split())
#: Verbs of orders that hold from now on.
_LASTING = frozenset(
    "use keep prefer avoid ask leave skip expect treat trust respect reply answer remember ensure assume rely beware "
    "stick greet stay".split()
)
#: Verbs of tasks that are done once, whatever the occasion: they are advice only with a reason or a word that lasts.
_ONCE = frozenset(
    "build create add fix refactor decompose wire push commit migrate audit review test run extract replace rewrite "
    "design draft finish complete address harden port merge expand".split()
)
#: Verbs of tasks, plans and thoughts.
_NO_ADVICE = frozenset(
    "consider investigate implement solve explore research need have seem mean see hope plan think evaluate".split()
)
_LASTING_WORDS = frozenset(
    "always never only every everything anything whenever unless daily weekly monthly nightly approval "
    "permission".split()
)
_DUTY = frozenset("must should shall ought".split())
_LIKING = frozenset("prefer like dislike hate want expect".split())
#: Verbs of liking that only people are said to do.
_TASTES = frozenset("prefer dislike hate".split())
_PEOPLE = frozenset(
    "user users customer customers client clients owner operator boss manager team everyone everybody nobody people "
    "reader readers reviewer reviewers teacher doctor family kids children guest guests mother father he she they i we "
    "you".split()
)
_BETTER = re.compile(
    r"\b(?:works?|reads?|sells?|goes) (?:best|better|well)\b|\b(?:is|are) (?:best|better|safer|preferred)\b"
)
_NOT_THAT = re.compile(r"\b(to|by|in|on|from|with|as|at|for) [^,;]{3,80}, not \1 ")
_AVOIDING = re.compile(
    r"\b(?:never|avoid|do not|don't|must not|mustn't|should not|shouldn't|should never|may not|cannot)\b"
)
_RATHER = re.compile(r"\b(?:instead of|rather than)\b|, not ", re.IGNORECASE)
#: What goes wrong; what a sentence about such a thing says is to be expected.
_TROUBLE = re.compile(
    r"\b(?:fail|break|crash|drop|los[et]|hang|reject|refus|ignor|miss|leak|corrupt|overwr|overheat|freez|stall|block|"
    r"reset|expire|diverg|dominat|inflat|slow|stale|stuck|wrong|error|timeout|time[sd]? out|unreadable|empty|silent|"
    r"duplicat|jam|truncat|delet|wip|forget|disagree|collid|conflict|die|throw|rais|stop|ban|caus|denied|full|"
    r"keeps? (?:the|its|their) old|not work|no longer|cannot|can't|won't|never)",
    re.IGNORECASE,
)
#: About one moment: how things are or what is to be done now, not what holds.
_MOMENT = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this (?:morning|afternoon|evening|week|month|time|round|session|run)|"
    r"last (?:night|week)|so far|currently|at the moment|right now|for now|(?<!from )now|next (?:step|week|session)|"
    r"previously|in progress|wip|to-?do|still open|pending|remaining|not yet)\b|^\s*\[[ xX]\]|[✅☑❌🔄]|\(new\)",
    re.IGNORECASE,
)
#: A label before what is said: `Output: ...`, `**Growth** - ...`.
_LABEL = re.compile(r"^[\W_]{0,4}([A-Za-z][\w '/()-]{0,40}?)(?:[\W_]{0,4}:(?=\s|\*)|\*\*\s*(?:[-–—:]|\([^)]*\):)\s)")
_GUIDING = frozenset(
    "rule policy preference preferences lesson advice warning tip note important gotcha caution takeaway reminder "
    "convention guideline workaround beware".split()
)
#: Number of words from which on what stands before a colon may be a clause of its own.
_LONG_LABEL = 3
_PLAIN_ADVICE = re.compile(r"^(?:never|always|don't|do not|avoid|prefer)\b", re.IGNORECASE)
#: Marks of code, paths, tables and cut text.
_CODE = re.compile(r"[{}<>|§\[\]]|\w\(|[=→]|\w/\w+/\w|\.{3}|…|\b\d{4,}\b|::")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_VAGUE = frozenset("it this that these those they he she there here".split())
#: What a sentence starts with that limits the one before it.
_LIMIT = re.compile(
    r"(?:(?:and|so|also|please|then)\s+)?(?:not|only|except|excepting|excluding|unless|never|but|however|although|though|"
    r"yet|nor|neither|do not|don't|does not|doesn't|must not|no longer|no more|no need|not any ?more|since|as of|"
    r"(?:starting|beginning) (?:in|with|from|on)|from now on|"
    r"(?:in|with|after|before|from|up to) (?:version|release|v\.?\d)|now|nowadays|meanwhile|until|till|unlike|"
    r"other than|apart from|aside from|with the exception|with one exception|exceptions?|instead|otherwise|provided|"
    r"as long as|in (?:that|this|which) case)\b",
    re.IGNORECASE,
)
#: What a sentence says, wherever it says it, about a rule that has an end, an exception or a limited range.
_RANGE = re.compile(
    r"\bno longer (?:need|necessary|requir|appl|tru|valid|hold|recommend|supported)|"
    r"(?:\b(?:not|never)|n't) (?:(?:be|been|really|actually|strictly) )?"
    r"(?:need|necessary|requir|appl(?:y|ies)|hold|true for|valid|allowed|permitted|recommended)|"
    r"\b(?:need not|no need|needs no|unnecessary|exempt|exempted|obsolete|outdated|deprecated|superseded|revoked|"
    r"(?:is|are) (?:an exception|exceptions|excluded|out of scope))\b|"
    r"\b(?:applies|apply|holds|hold|valid|counts|meant|true|needed|required|necessary) only\b|"
    r"\bonly (?:applies|apply|holds|hold|valid|counts|meant|true|needed|required|necessary)\b|"
    r"\bcan (?:now )?be (?:skipped|left out|ignored|omitted|dropped)\b|"
    r"\b(?:is|are|was|were|has been|have been) (?:reversed|reverted|lifted|abolished|withdrawn|overruled)\b",
    re.IGNORECASE,
)
#: Prepositions of the case that an order is for.
_CASES = frozenset("on in at for during with within outside inside from under over by".split())
_BEFORE_OBJECT = frozenset("AT0 DPS DT0 PNP CRD".split())
_WITHIN_PHRASE = frozenset("AT0 DPS DT0 AJ0 PNP TO0 VM0 PRP PRF".split())
_OF_IT = frozenset("it this that these those them they".split())
_AGAINST = re.compile(
    r"\b(?:not|never|no|none|nothing|cannot|without|except|unless|only|wrong|harm\w*|instead|optional|skip|stop|"
    r"leave|(?:stopped|ended|ends) (?=with|in|on|at|after)|"
    r"(?:is|are|was|were|been|being) (?:stopped|ended|changed|replaced|removed|dropped|forbidden))\b|n't\b",
    re.IGNORECASE,
)
#: The rule by its name, and what is said of one that has ended or has another side.
_RULE = re.compile(
    r"\b(?:reverse|opposite|contrary)\b|\b(?:dropped|changed|replaced|ended|removed|lifted|relaxed|gave up|stopped) "
    r"(?:the|this|that) (?:rule|advice|policy|practice|procedure|requirement|step)\b|"
    r"\b(?:rule|advice|policy|practice|procedure|requirement|step) (?:was|has been|ended|ends|changed|stopped)\b",
    re.IGNORECASE,
)
_SUFFICES = re.compile(r"\b(?:(?:is|are) (?:not )?enough|suffices?|works? (?:well|best|too))\b")
#: Words among which the pronoun stands that speaks of what was said before.
_FIRST_WORDS = 6


@remembered
def guidance_in(sentence: str) -> Guidance | None:
    """What a sentence advises: what to `do`, to `avoid`, to `prefer` or to `expect`; None if it advises nothing.

    Advice is an order that holds from now on (it says why or when, or its verb is one of habit), a duty, what somebody
    prefers in the present, or what goes wrong in the present under a condition. Precision goes before recall: a
    sentence that may as well be a report or a task gives none. English only.
    """
    text = _unlabelled(plain_text(strip_lead_in(sentence)).strip(), strip_lead_in(sentence))
    if text is None or len(text) > _MOST_CHARACTERS or not text[:1].isupper() or "?" in text or not is_english(text):
        return None
    if _MOMENT.search(text) or len(_CODE.findall(text)) > 1 or _is_cut(text) or _is_dated(text):
        return None
    text = _ASIDE.sub("", text)
    clauses = clauses_of(text)
    words = [word for clause in clauses for word in clause.words]
    if not _FEWEST_WORDS <= sum(not word.is_mark for word in words) <= _MOST_WORDS or words[0].tag == "VVZ":
        return None
    if _tells_what_happened(clauses):
        return None
    advice = _advice(clauses)
    if advice is None:
        return _preference(clauses, text) or _expectation(clauses)
    return "avoid" if _AVOIDING.search(advice.text) or _RATHER.search(text) else "do"


@remembered
def is_limit(sentence: str) -> bool:
    """Whether a sentence narrows, excepts, reverses or ends what another one says: `Not on staging.`, `Except for
    exports.`, `This is no longer needed since version 4.`, `On staging use the red pool.`

    Recall goes before precision: advice without its exception is worse than a sentence too many. Reports of what
    happened limit nothing, unless they say that a rule ended. English only.
    """
    text = plain_text(strip_lead_in(sentence)).strip()
    if not text or len(text) > _MOST_CHARACTERS or text.endswith("?"):
        return False
    if _RANGE.search(text) or _RULE.search(text):
        return True
    clauses = clauses_of(text)
    words = [word for word in words_of(text) if not word.is_mark]
    if not words or len(words) > _MOST_WORDS:
        return False
    opens = refers_back(text) or words[0].low in _CASES or words[0].tag == "AV0"
    if opens and any(word.low in _OF_IT for word in words[:_FIRST_WORDS]) and _AGAINST.search(text):
        return True
    if any(word.low in ("only", "except") for word in words) and not any(word.is_verb for word in words):
        return True
    if _LIMIT.match(text):
        return not _tells_what_happened(clauses)
    return _is_order_for_a_case(words_of(text))


@remembered
def _is_remedy(sentence: str) -> bool:
    """Whether a sentence that stands beside an expectation says what to do about it: a plain order."""
    text = plain_text(strip_lead_in(sentence)).strip()
    if not text or len(text) > _MOST_CHARACTERS or not text[:1].isupper() or not is_english(text):
        return False
    if _MOMENT.search(text) or _is_cut(text) or _is_dated(text) or _LABEL.match(strip_lead_in(sentence)):
        return False
    first = next(iter(clauses_of(_ASIDE.sub("", text))), None)
    if first is None or first.order is None or first.opener:
        return False
    return first.words[first.order].base not in _NO_ADVICE


@remembered
def is_detail(sentence: str) -> bool:
    """Whether a sentence beside advice gives what is needed to follow it: a plain order, a value, a name, what is
    enough or works: `The limit is 8 MB per file.`, `Use worker_init_fn.` Reports of what happened and dates give
    nothing of the kind. English only."""
    text = plain_text(strip_lead_in(sentence)).strip()
    if _is_remedy(sentence):
        return True
    if not text or len(text) > _MOST_CHARACTERS or not is_english(text) or _is_cut(text) or _is_dated(text):
        return False
    clauses = clauses_of(text)
    if any(word.tag in PAST for clause in clauses for word in clause.words):
        return False
    return bool(_SUFFICES.search(text)) or any(fact.kind in ("number", "identifier") for fact in find_facts(text))


def refers_back(sentence: str) -> bool:
    """Whether a sentence speaks of something that it does not name: a pronoun comes before any noun."""
    for word in words_of(sentence):
        if word.is_noun or word.tag == "NP0":
            return False
        if word.low in ("it", "them", "this", "these", "that", "those", "they"):
            return True
    return False


def has_no_subject(sentence: str) -> bool:
    """Whether a sentence is about what was said before it: it refers back, or has neither a verb nor an order."""
    clauses = clauses_of(sentence)
    return refers_back(sentence) or not any(
        clause.order is not None or (clause.verb is not None and not clause.opener) for clause in clauses
    )


def _is_order_for_a_case(words: Sequence[Word]) -> bool:
    """Whether an order follows the case that it is for: `on staging use the red pool`."""
    if not words or words[0].low not in _CASES:
        return False
    for before, word, after in zip(words[1:], words[2:], words[3:], strict=False):
        if before.is_verb and before.tag in PAST:
            return False
        if not word.text.islower() or word.tag in PAST or not can_be_order(word.low):
            continue
        if before.low == ",":
            return not after.is_verb and not after.is_mark
        if before.tag not in _WITHIN_PHRASE and after.tag in _BEFORE_OBJECT:
            return True
    return False


def _unlabelled(text: str, marked: str) -> str | None:
    """What stands after a label that announces guidance, or the text if it has none. After another label only plain
    advice counts: None for other items of forms and lists. `marked`: the text with its Markdown marks."""
    match = _LABEL.match(marked)
    if match is None:
        return text
    label = match.group(1)
    rest = plain_text(marked[match.end() :]).strip(" *")
    words = label.lower().split()
    if {*words} & _GUIDING or (_PLAIN_ADVICE.match(rest) and ":" not in match.group()):
        return rest[:1].upper() + rest[1:]
    is_clause = any(clause.order is not None or clause.verb for clause in clauses_of(label))
    return text if is_clause and len(words) >= _LONG_LABEL else None


def _is_dated(text: str) -> bool:
    """Whether a day of the calendar is named: an event, or a task with its date."""
    return any(fact.kind == "date" and any(c.isdigit() for c in fact.value) for fact in find_facts(text))


def _is_cut(text: str) -> bool:
    """Whether a bracket or a quotation is not closed: a piece of a longer text."""
    return text.count("(") != text.count(")") or text.count('"') % 2 > 0 or text.count("`") % 2 > 0


def _tells_what_happened(clauses: Sequence[Clause]) -> bool:
    """Whether the first clause that depends on nothing is in the past, and nothing follows from it."""
    first = next((clause for clause in clauses if not clause.opener), None)
    if first is None or first.order is not None or not any(word.tag in PAST for word in first.words):
        return False
    return not any(clause.opener == "so" and clause.order is not None for clause in clauses)


_END = Word("", "", "PUN", 0)


def _advice(clauses: Sequence[Clause]) -> Clause | None:
    """The clause that says what to do."""
    lasting = any(
        word.low in _LASTING_WORDS and not (word.low.endswith("ly") and following.is_noun)
        for clause in clauses
        for word, following in pairwise((*clause.words, _END))
    )
    lasting |= any(_openers_of(clause) & _LASTING_WORDS for clause in clauses)
    for n, clause in enumerate(clauses):
        others = [other for other in clauses if other is not clause]
        reason = any(_is_reason(other) for other in others)
        occasion = any(_openers_of(other) & _CONDITIONS for other in others)
        reason |= any(map(_comes_again, others))
        if clause.order is not None:
            if _is_advice(clause, reason=reason, occasion=occasion, lasting=lasting) and _stands(clauses, n):
                return clause
        elif not _openers_of(clause) - {"so"} and _is_duty(clause, grounded=reason or occasion or lasting):
            return clause
    return None


def _is_advice(order: Clause, *, reason: bool, occasion: bool, lasting: bool) -> bool:
    verb = order.words[order.order or 0]
    if verb.base in _NO_ADVICE:
        return False
    following = order.words[(order.order or 0) + 1]
    if any(word.low in ("instead", "rather") for word in order.words):
        return True
    if lasting or verb.low in ("do", "don't") or (verb.base in _LASTING and following.tag != "NN1"):
        return True
    return reason if verb.base in _ONCE else reason or occasion


def _stands(clauses: Sequence[Clause], n: int) -> bool:
    """Whether an order is one by itself: not what a label or a description before it is about."""
    clause, before = clauses[n], clauses[:n]
    if clause.opener and not _openers_of(clause) <= {"so", "if"}:
        return False
    return not before or (clause.mark != ":" and all(c.verb or c.order is not None or c.opener for c in before))


def _openers_of(clause: Clause) -> set[str]:
    return set(clause.opener.split())


def _is_reason(clause: Clause) -> bool:
    """Whether a clause says why another one holds: in the present, what is so or happens otherwise."""
    if clause.order is not None or _openers_of(clause) & _CONDITIONS or clause.verb is None:
        return False
    return bool(_openers_of(clause) & _REASONS) or clause.verb.tag in PRESENT


def _comes_again(clause: Clause) -> bool:
    """Whether a clause names an occasion of a kind, and not one event: `before choosing a rate`, `when it rains`."""
    if not _openers_of(clause) & {"before", "after", "when", "whenever", "if", "unless"}:
        return False
    first = clause.words[0]
    return first.tag == "VVG" or first.low in ("a", "an", "each", "every", "any", "you", "you're", "it")


def _is_duty(clause: Clause, *, grounded: bool) -> bool:
    words = clause.words
    vague = any(word.low in ("i", "we") for word in words[:3]) or words[0].low in _VAGUE
    for n, word in enumerate(words):
        if word.low in _DUTY:
            limited = any(other.low in ("without", "only") for other in words[n:])
            return grounded if vague else word.low == "must" or grounded or limited
        if word.base == "need" and word.tag in PRESENT and n > 0:
            return grounded and not vague and (clause.opener == "so" or words[-1].low in _LASTING_WORDS)
        if word.low in ("has", "have") and n + 1 < len(words) and words[n + 1].low == "to":
            return grounded and not vague
    return False


def _preference(clauses: Sequence[Clause], text: str) -> Guidance | None:
    if _NOT_THAT.search(text):
        return "prefer"
    for clause in clauses:
        verb = clause.verb
        if verb is None or clause.opener or verb.tag not in PRESENT:
            continue
        subject = [word for word in clause.words if word.start < verb.start]
        someone = any(word.low in _PEOPLE or word.tag == "NP0" for word in subject)
        plain = subject and all(word.text.isalpha() for word in subject)
        if (verb.base in _LIKING and (someone or (plain and verb.base in _TASTES))) or _BETTER.search(clause.text):
            return "prefer"
    return None


def _expectation(clauses: Sequence[Clause]) -> Guidance | None:
    """What goes wrong in the present, under a condition or for good, with something that is named."""
    main = next((c for c in clauses if not c.opener and c.verb is not None), None)
    if main is None or main.verb is None or main.verb.tag not in PRESENT or main.words[0].low in _VAGUE:
        return None
    if main.order is not None or any(word.low in ("i", "we") for word in main.words[:3]):
        return None
    conditions = [
        c
        for c in clauses
        if _openers_of(c) & _CONDITIONS and (c.opener != "while" or c.words[0].start > main.words[0].start)
    ]
    if any(word.tag in PAST for clause in conditions for word in clause.words):
        return None
    holds = bool(conditions) or any(word.low in ("cannot", "can't", "always", "never") for word in main.words)
    return "expect" if holds and _TROUBLE.search(main.text) else None
