"""Duplicates of nine kinds: the same thing said again."""

from __future__ import annotations

import random
import re

from planting import SPELLED, STAMP, Planter, is_prose, pairs_of, swap_one


def exact_copy(text: str, rng: random.Random) -> str | None:
    return text


def other_typography(text: str, rng: random.Random) -> str | None:
    """Case, emphasis, list marks, spaces and the full stop at the end."""
    styles = [
        lambda t: f"- {t}",
        lambda t: f"**{t.rstrip('.')}**",
        lambda t: t.upper() if len(t) < 60 else t[:1].lower() + t[1:],
        lambda t: re.sub(r" ", "  ", t) + " ",
        lambda t: t.rstrip(".") + ("" if t.endswith(".") else "."),
    ]
    return rng.choice(styles)(text)


def leading_stamp(text: str, rng: random.Random) -> str | None:
    if STAMP.match(text):
        return None
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
    return rng.choice(
        [f"[{clock} UTC] {text}", f"{clock} - {text}", f"2026-03-{rng.randrange(10, 28)} {clock} UTC - {text}"]
    )


def lead_in(text: str, rng: random.Random) -> str | None:
    """A phrase in front that says nothing: a reminder, a note."""
    return f"{rng.choice(['Reminder', 'Note', 'Lesson learned', 'Remember', 'Noted again', 'Tip', 'FYI'])}: {text}"


def other_number_form(text: str, rng: random.Random) -> str | None:
    """The same number written otherwise: in words, with separators, its unit in full."""
    changed = re.sub(
        r"(?<![\w.,:/-])(\d{1,2})(?= [a-z])",
        lambda m: SPELLED[int(m[1])] if 2 <= int(m[1]) <= 12 else m[0],
        text,
        count=1,
    )
    if changed == text:
        changed = re.sub(r"(?<![\w.,:/-])([1-9]\d)(\d{3})(?![\w.,:/-])", r"\1,\2", text, count=1)
    for short, full in (
        ("min", "minutes"),
        ("ms", "milliseconds"),
        ("GB", "gigabytes"),
        ("MB", "megabytes"),
        ("%", " percent"),
        ("h", "hours"),
        ("s", "seconds"),
    ):
        if changed == text:
            changed = re.sub(rf"(?<![\w.:/-])(\d+) ?{short}(?!\w)", rf"\1 {full.strip()}", text, count=1)
    return changed if changed != text else None


def turned_round(text: str, rng: random.Random) -> str | None:
    """Clauses in the other order: `When A, B.` and `B when A.`"""
    match = re.fullmatch(
        r"((?:After|Before|When|If|While|Because|Since|Once|Whenever|For|On|In) [^,.:;]{8,90}), ([^,;:.]{10,120})\.?",
        text.strip(),
    )
    if match:
        first, then = match.groups()
        return f"{then[:1].upper() + then[1:]} {first[:1].lower() + first[1:]}."
    match = re.fullmatch(
        r"([^,;:.]{12,120}) ((?:after|before|when|if|while|because|since|once|whenever) [^,;:.]{8,90})\.?", text.strip()
    )
    if match and not re.search(r"\b(?:not|never|no)\b", match[1]):
        then, first = match.groups()
        return f"{first[:1].upper() + first[1:]}, {then[:1].lower() + then[1:]}."
    parts = text.strip().rstrip(".").split(". ")
    if (
        2 <= len(parts) <= 3
        and all(len(part) > 15 for part in parts)
        and not re.search(r"\b(?:it|this|that|they|then)\b", text, re.I)
    ):
        return ". ".join([*parts[1:], parts[0]]) + "."
    return None


_SYNONYMS = pairs_of(
    "begins:starts fixed:repaired uses:employs big:large small:little quickly:fast buy:purchase needs_to:has_to "
    "must:has_to about:roughly shows:displays happens:occurs usually:normally ask:request error:fault helps:assists "
    "wrong:incorrect keep:retain get:obtain whole:entire often:frequently also:too start:begin finish:end build:construct "
    "check:verify use:employ makes:produces created:made added:put_in updated:refreshed removed:taken_out moved:shifted "
    "tried:attempted noticed:saw needs:requires wants:would_like likes:is_fond_of each:every job:task quick:rapid "
    "issue:problem choose:pick gives:provides run:execute running:executing clean:tidy simple:plain mistake:slip "
    "complete:full writes:stores improved:bettered several:a_number_of"
)


def synonym(text: str, rng: random.Random) -> str | None:
    return swap_one(text, rng, _SYNONYMS, both_ways=False)


_EXPANSIONS = pairs_of(
    "don't:do_not doesn't:does_not can't:cannot isn't:is_not won't:will_not it's:it_is didn't:did_not config:configuration "
    "db:database repo:repository env:environment docs:documentation prod:production dev:development auth:authentication "
    "info:information app:application admin:administrator perf:performance stats:statistics max:maximum min:minimum "
    "avg:average msg:message deps:dependencies param:parameter params:parameters temp:temporary spec:specification "
    "we're:we_are you're:you_are that's:that_is wasn't:was_not haven't:have_not"
)


def abbreviation(text: str, rng: random.Random) -> str | None:
    return swap_one(text, rng, _EXPANSIONS)


def filler(text: str, rng: random.Random) -> str | None:
    """Words that say nothing, put in."""
    words = text.split(" ")
    places = [n for n in range(1, len(words)) if words[n].islower() and words[n - 1][-1:].isalpha()]
    if len(places) < 3:
        return None
    place = rng.choice(places)
    extra = rng.choice(["basically", "actually", "really", "in fact", "as mentioned", "of course", "simply"])
    return " ".join([*words[:place], extra, *words[place:]])


def one_more_sentence(text: str, rng: random.Random) -> str | None:
    """All of it and something more."""
    if len(text) < 40:
        return None
    more = [
        "Worth keeping in mind.",
        "Seen again today.",
        "Came up in the review.",
        "Good to know for later.",
        "Confirmed once more.",
    ]
    return f"{text.rstrip('.')}. {rng.choice(more)}"


def typing_slip(text: str, rng: random.Random) -> str | None:
    """Two letters of a plain word swapped."""
    found = [m for m in re.finditer(r"(?<![\w./_`-])[a-z]{6,}(?![\w/_`-]|\.\w)", text) if is_prose(text, m.start())]
    if not found:
        return None
    match = rng.choice(found)
    word, place = match.group(), rng.randrange(1, len(match.group()) - 2)
    if word[place] == word[place + 1]:
        return None
    slipped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return text[: match.start()] + slipped + text[match.end() :]


DUPLICATES: dict[str, Planter] = {
    "exact copy": exact_copy,
    "typography": other_typography,
    "leading stamp or lead-in": lambda text, rng: rng.choice([leading_stamp, lead_in])(text, rng),
    "number form": other_number_form,
    "turned round": turned_round,
    "synonym": synonym,
    "abbreviation": abbreviation,
    "filler or one more sentence": lambda text, rng: rng.choice([filler, one_more_sentence])(text, rng),
    "typing slip": typing_slip,
}
