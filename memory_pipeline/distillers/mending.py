"""Mends a model's answer: what the sources do not bear out is dropped, and what is then missing is said in the sources'
own sentences.

The smallest part is dropped that leaves a whole sentence that they bear out: a word, a bracket, an aside, a clause. A
sentence of which nothing can stay gives way to the model's own claims, as far as the sources bear these out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_pipeline.distillers.answer import Answer
from memory_pipeline.distillers.attachments import SAID_SHARE
from memory_pipeline.distillers.entailment import Evidence, find_unborne, ranged_facts
from memory_pipeline.distillers.entailment.evidence import Source, has_values, weighs
from memory_pipeline.distillers.entailment.vocabulary import ALWAYS, ORDER, QUANTIFIERS
from memory_pipeline.distillers.preservation import check_preservation
from memory_pipeline.wording.clauses import Statement, Word, is_content, read_statement
from memory_pipeline.wording.facts import fact_keys
from memory_pipeline.wording.normalise import normalise
from memory_pipeline.wording.sentences import join_statements, split_statements, strip_lead_in

#: A claim may take the place of a sentence that has at least this share of its words.
_CLAIM_SHARE = 0.5
_MOST_CUTS, _MOST_TRIED = 4, 60
#: A statement of at most this many words with a meaning is short.
_SHORT = 2
_PART_OF = re.compile(
    r"\b(?:an?|the|some)\s+(?:[\w-]+\s+){0,2}(?:share|part|portion|number|majority|minority|amount|fraction|handful|lot)\s+of\s+",
    re.IGNORECASE,
)
_TO_IT = re.compile(r"\s+(?:in\s+order\s+)?to\s+\w+\s+(?:it|them|him|her|us)\b")
_LINKING = re.compile(
    r"(?:,\s+as|,?\s+(?:and\s+)?(?:because|since|so|therefore|hence|thus))\s+(?!of\b)(?=\w)", re.IGNORECASE
)
_LIST_GOES_ON = re.compile(r"\s*(?:,\s*)?(?:(?:and|or)\s|[\d$€£])", re.IGNORECASE)
_PRONOUN = re.compile(r"\s*(?:it|its|they|their|he|his|she|her|this|these)\b", re.IGNORECASE)
_ARTICLES = frozenset("a an the this that these those its their his her our my".split())
#: Words of quantity that a sentence is whole without; `all` and `each` are not among them.
_ADVERBS = (
    QUANTIFIERS - frozenset("all every each both most some many several everyone everywhere majority".split())
) | {"mostly"}


@dataclass(frozen=True, slots=True)
class Mended:
    """The text that is left of an answer, what was dropped from it, and the sentences of sources that were added."""

    text: str
    dropped: tuple[str, ...]
    added: tuple[str, ...]


def mend(answer: Answer, evidence: Evidence, beside: Sequence[str] = ()) -> Mended | str:
    """The abstraction as far as the sources bear it out, complete; or why nothing is left of it. `beside`: what will
    stand beside the text, so that it does not have to be in it."""
    claims, problem = _borne_claims(answer, evidence)
    if not claims:
        return problem
    kept: list[str] = []
    dropped: list[str] = []
    missing: list[Statement] = []
    before: Statement | None = None
    first = ""
    for sentence in split_statements(answer.abstraction) or [answer.abstraction]:
        mended, problems = _mended(sentence, evidence, before)
        first = first or next(iter(problems), "")
        if mended != sentence:
            dropped.append(sentence)
        if mended:
            kept.append(mended)
            before = read_statement(mended)
        if not fact_keys(sentence) <= fact_keys(mended) or not mended:
            missing.append(read_statement(sentence))
    kept += _claims_for(missing, claims, kept)
    if not any(re.search(r"\w", sentence) for sentence in kept):
        return first or "the abstraction says nothing"
    added = _left_out(kept, evidence, beside)
    added += _count_of(join_statements([*kept, *added]), evidence)
    return Mended(join_statements([*kept, *added]), tuple(dropped), tuple(added))


def _borne_claims(answer: Answer, evidence: Evidence) -> tuple[list[str], str]:
    """The claims that the members they name bear out, and what is wrong with the first of the others."""
    known = range(1, len(evidence.sources) + 1)
    borne, problem = [], "the answer makes no claim"
    for number, claim in enumerate(answer.claims, start=1):
        named = sorted(set(claim.members))
        if not named or any(member not in known for member in named):
            wrong = ["it names no member that exists"]
        else:
            wrong = _wrong_claim(claim.text, evidence.only(member - 1 for member in named))
        if not wrong:
            borne.append(claim.text)
        elif problem == "the answer makes no claim":
            problem = f"claim {number}: {wrong[0]}"
    return borne, problem


def _wrong_claim(text: str, evidence: Evidence) -> list[str]:
    """What the members that a claim names do not bear out: what one of them says whole, each of them has to say."""
    problems = find_unborne(text, evidence)
    statement = read_statement(text)
    words = [word for clause in statement.clauses for word in clause.content if weighs(word) and evidence.knows(word)]
    hard = [word for word in words if word.is_name]
    whole = [source for source in evidence.sources if all(map(source.says, words)) and has_values(source, statement)]
    if problems or not whole:
        return problems
    for source in evidence.sources:
        if source not in whole and not (all(map(source.says, hard)) and has_values(source, statement)):
            return ["one of the members that it names does not say so"]
    return []


def _mended(sentence: str, evidence: Evidence, before: Statement | None) -> tuple[str, list[str]]:
    """A sentence without what the sources do not bear out, or nothing, and what that was."""
    found = problems = find_unborne(sentence, evidence, before)
    text = sentence
    for _ in range(_MOST_CUTS):
        if not problems:
            return text, found
        tried = []
        for number, candidate in enumerate(_cuts(text, evidence)):
            if number >= _MOST_TRIED:
                break
            if any(len(_content(part)) < _SHORT for part in split_statements(candidate) or [candidate]):
                continue  # no sentence
            left = [
                problem
                for part in split_statements(candidate) or [candidate]
                for problem in find_unborne(part, evidence, before)
            ]
            gone = len(read_statement(text).values) - len(read_statement(candidate).values)
            tried.append((len(left), gone, -len(candidate), number, candidate, left))
            if not left and not gone:
                break
        if not tried or min(tried)[0] >= len(problems):
            return "", found
        *_, text, problems = min(tried)
    return (text if not problems else ""), found


def _cuts(text: str, evidence: Evidence) -> Iterator[str]:
    """The sentence without one of its parts, the smallest parts first; or in two, without the link between them."""
    statement = read_statement(text)
    if statement.text != text:
        text = statement.text
    spans: list[tuple[int, int]] = []
    replaced: list[tuple[int, int, str]] = []
    words = statement.words
    is_log = any(source.is_log for source in evidence.sources)
    for place, word in enumerate(words):
        novel = is_content(word.low) and not evidence.knows(word)
        following = words[place + 1] if place + 1 < len(words) else None
        describes = novel and weighs(word) and following is not None and following.start == word.end + 1
        previous = words[place - 1].low if place else ""
        adverb = word.low in _ADVERBS or word.low in ORDER or (word.low.endswith("ly") and novel)
        adverb = adverb and previous not in _ARTICLES and not (word.low in ALWAYS and is_log)
        if word.low in _ADVERBS and is_log:
            replaced.append((word.start, word.end, "once"))
        if novel and text[: word.start].endswith(" and ") and (last := text.rfind(", ", 0, word.start)) > 0:
            replaced.append((last, word.end, f" and {text[last + 2 : word.start - 5]}"))  # the last item of a list
        if adverb or (describes and (previous in _ARTICLES or not place) and following and weighs(following)):
            spans.append((word.start, word.end + 1))
            if text[: word.start].endswith("in ") or (following and following.low in ("cases", "case", "times")):
                spans.append((word.start - 3, (following.end if following else word.end)))
    spans += [match.span() for match in _PART_OF.finditer(text)]
    spans += [match.span() for match in _TO_IT.finditer(text)]
    links = [match.span() for match in _LINKING.finditer(text)]
    brackets = [match.span() for match in re.finditer(r"\s*\([^()]*\)", text)]
    commas = [match.start() for match in re.finditer(r"[,;](?=\s)", text)]
    end = len(text.rstrip(" ."))
    asides = [(one, other) for one, other in zip(commas, [*commas[1:], end], strict=False)]
    clauses = [
        (clause.start, min(clause.end, end)) for clause in statement.clauses if clause.start and clause.depth == 0
    ]
    asides += [(one, other + 1) for one, other in asides if text[other : other + 1] == ","]
    spans += sorted({*brackets, *asides, *clauses}, key=lambda span: span[1] - span[0])
    spans += [(comma, end) for comma in reversed(commas)]
    for start, stop, instead in replaced:
        yield _tidy(text[:start] + instead + text[stop:])
    for start, stop in links:
        yield _tidy(f"{text[:start]}. {text[stop : stop + 1].upper()}{text[stop + 1 :]}")
    for start, stop in dict.fromkeys(spans):
        if _LIST_GOES_ON.match(text, stop):
            continue
        yield _tidy(f"{text[:start]} {text[stop:]}")
    for comma in commas:  # what comes first may be what is wrong
        if text[comma] == ";" and not _PRONOUN.match(text, comma + 1):
            yield _tidy(text[comma + 1 :])


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,;:.)])", r"\1", text)
    text = re.sub(r"[,;:]+(?=[,;:.])|\(\s*\)|(?<=[,;]) *(?:and|or|but)(?=[,;.]|$)", "", text).strip(" ,;:")
    text = text[:1].upper() + text[1:] if text[:1].islower() and text.split(" ", 1)[0].isalpha() else text
    return text if text.endswith((".", "!", "?", ")", "`")) else f"{text}."


def _claims_for(missing: Sequence[Statement], claims: Sequence[str], kept: Sequence[str]) -> list[str]:
    """The claims that say what dropped sentences said, without those that the kept sentences say."""
    chosen: list[str] = []
    for statement in missing:
        for claim in claims:
            inside = Source(statement.text)
            if _share(claim, inside) >= _CLAIM_SHARE and not _is_said(claim, " ".join([*kept, *chosen])):
                chosen.append(claim)
    return chosen


def _left_out(kept: Sequence[str], evidence: Evidence, beside: Sequence[str]) -> list[str]:
    """Whole sentences of the sources that say what the kept sentences do not say, or hold a fact that they lack."""
    added: list[str] = []
    texts = [source.text for source in evidence.sources]

    def add(source: Source, statement: str) -> None:
        if normalise(statement) in map(normalise, added):
            return
        statements = _statements(source)
        place = statements.index(statement)
        if (
            place
            and _PRONOUN.match(statement)
            and not all(_says_all(one, statements[place - 1]) for one in evidence.sources)
        ):
            add(source, statements[place - 1])  # of several subjects, the one that it speaks of
        added.append(statement)

    for source in evidence.sources:
        for statement in _statements(source):
            text = join_statements([*kept, *added])
            if not source.is_log and not _is_told(statement, "\n".join((text, *beside))):
                add(source, statement)
    for source in evidence.sources:
        for statement in _statements(source):
            text = join_statements([*kept, *added])
            lost = {fact.key for fact in check_preservation(texts, text, beside).lost}
            if lost & fact_keys(statement):
                add(source, statement)
    return added


def _says_all(source: Source, statement: str) -> bool:
    return all(map(source.says, _content(statement)))


def _is_told(statement: str, text: str) -> bool:
    """Whether a text has most words of a statement; of a short one, its facts are enough."""
    if _share(statement, Source(text)) >= SAID_SHARE:
        return True
    facts = fact_keys(statement)
    words = _content(statement)
    return bool(facts) and len(words) <= _SHORT and facts <= fact_keys(text)


def _statements(source: Source) -> list[str]:
    """Its statements; a line of a log is one, because its parts are no sentences."""
    if source.is_log:
        return [" ".join(source.text.split())]
    statements = [strip_lead_in(written) for written in split_statements(source.text) or [source.text.strip()]]
    return [statement[:1].upper() + statement[1:] for statement in statements]


def _share(text: str, inside: Source) -> float:
    content = [word for word in _content(text) if word.text.isalpha()]
    return sum(inside.says(word) for word in content) / len(content) if content else 1.0


def _content(text: str) -> list[Word]:
    return [word for clause in read_statement(text).clauses for word in clause.content if weighs(word)]


def _is_said(claim: str, text: str) -> bool:
    return _share(claim, Source(text)) >= 1.0 and fact_keys(claim) <= fact_keys(text)


def _count_of(text: str, evidence: Evidence) -> list[str]:
    """How many sources a range is over, as a sentence, if the text has a range and does not say."""
    total = len(evidence.sources)
    if not ranged_facts(text, evidence) or any(value.value == str(total) for value in read_statement(text).values):
        return []
    return [f"Recorded {total} times."]
