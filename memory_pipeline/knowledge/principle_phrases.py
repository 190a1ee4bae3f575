"""The phrases of a principle: the occasions and things that its rules name, as lists that can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_pipeline.wording.facts import value_of
from memory_pipeline.wording.grammar import Clause, Word
from memory_pipeline.wording.inflection import gerund_of

DETERMINERS = frozenset("a an the".split())
#: More subjects than this make a list, and no sentence.
_MOST_SUBJECTS = 8


def phrases_of(occasions: Sequence[Clause]) -> list[str] | None:
    """What differs between occasions, as phrases that can be listed: `updating the NAS`, or clauses; None if one kind
    does not go with another."""
    found = [_phrase(occasion) for occasion in occasions]
    kinds = {kind for kind, _ in found}
    if "clause" in kinds and len(kinds) > 1:
        return None
    return [phrase for _, phrase in found]


def _phrase(occasion: Clause) -> tuple[str, str]:
    words = list(occasion.words)
    if words[0].tag == "VVG":
        return "thing", text_of(words, capital=False)
    if words[0].low in ("you", "we", "i", "one") and len(words) > 1 and words[1].tag != "VM0":
        rest = text_of(words[2:], capital=False)
        return "thing", f"{gerund_of(words[1].base)} {rest}".strip()
    if occasion.verb is not None:
        return "clause", text_of(words, capital=False)
    return "thing", text_of(words, capital=False)


def are_subjects(phrases: Sequence[str], least: int) -> bool:
    """Whether phrases name enough different things, and are short and plain enough for a list."""
    different = {phrase.lower() for phrase in phrases}
    return (
        least <= len(different) <= _MOST_SUBJECTS
        and not any("," in phrase or ";" in phrase or " or " in phrase for phrase in phrases)
        and not any(all(value_of(word) for word in phrase.lower().split()) for phrase in phrases)
    )


def listed(phrases: Sequence[str], conjunction: str, behind: Mapping[str, str] | None = None) -> str:
    """Phrases as a list, what they begin with said once: `updating Home Assistant, the router or the NAS`; with what
    stands behind each."""
    parts = [phrase.split() for phrase in dict.fromkeys(phrases)]
    shared = 0
    while all(len(part) > shared + 1 for part in parts) and len({part[shared] for part in parts}) == 1:
        shared += 1
    while shared and parts[0][shared - 1].lower() in DETERMINERS:
        shared -= 1
    ends = [
        f"{' '.join(part[shared:])} {(behind or {}).get(phrase, '')}".rstrip()
        for phrase, part in zip(dict.fromkeys(phrases), parts, strict=True)
    ]
    text = f"{', '.join(ends[:-1])} {conjunction} {ends[-1]}" if len(ends) > 1 else ends[0]
    return " ".join([*parts[0][:shared], text])


def text_of(words: Sequence[Word], *, capital: bool = True) -> str:
    """Words as a text. Without `capital`, a word that is only written with one because it begins a sentence is not."""
    parts: list[str] = []
    for n, word in enumerate(words):
        text = word.text
        if n == 0 and not capital and word.tag != "NP0" and text[1:].lower() == text[1:]:
            text = text[:1].lower() + text[1:]
        glued = n > 0 and (word.start == words[n - 1].end or (word.is_mark and word.text in ",.;:!?)"))
        parts.append(text if glued or not parts else f" {text}")
    return "".join(parts)
