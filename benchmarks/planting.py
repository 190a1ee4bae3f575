"""Plants duplicates of nine kinds and conflicts of ten kinds: each takes a text and returns a changed copy.

The word lists here are the benchmark's own and are not those of the guard. A function returns None for a
text in which there is nothing to change, so that every planted pair is what its kind says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Planter = Callable[[str, random.Random], str | None]

_SPELLED = "zero one two three four five six seven eight nine ten eleven twelve".split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_NAMES = "Priya Tomas Marco Elena Kofi Yuki Ingrid Omar Lucia Bjorn Hetzner Fastly Grafana Redis Kafka Lisbon".split()
_NUMBER = re.compile(r"(?<![\w./:#@-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/@.-]|\.\d)")
_STAMP = re.compile(r"^\s*[-*\d.\s\[(]*(?:\d{4}-\d\d-\d\d|\d\d:\d\d)")


def _swap_one(text: str, rng: random.Random, pairs: list[tuple[str, str]], *, both_ways: bool = True) -> str | None:
    """One word (or phrase) of a pair replaced by the other, keeping its capital."""
    table = dict(pairs) | ({b: a for a, b in pairs} if both_ways else {})
    pattern = re.compile(
        r"(?<![\w/.`-])(" + "|".join(map(re.escape, sorted(table, key=len, reverse=True))) + r")(?![\w`/-]|\.\w)", re.I
    )
    found = [
        m
        for m in pattern.finditer(text)
        if _is_prose(text, m.start()) and not text[: m.start()].rstrip()[-1:].isdigit()
    ]
    if not found:
        return None
    match = rng.choice(found)
    new = table[match.group().lower()]
    new = new.capitalize() if match.group()[:1].isupper() else new
    return text[: match.start()] + new + text[match.end() :]


def _is_prose(text: str, place: int) -> bool:
    """Whether a place lies outside of code."""
    return text[:place].count("`") % 2 == 0


def _pairs(words: str) -> list[tuple[str, str]]:
    return [(a.replace("_", " "), b.replace("_", " ")) for a, b in (pair.split(":") for pair in words.split())]


# Duplicates: the same thing said again.


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
    if _STAMP.match(text):
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
        lambda m: _SPELLED[int(m[1])] if 2 <= int(m[1]) <= 12 else m[0],
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


_SYNONYMS = _pairs(
    "begins:starts fixed:repaired uses:employs big:large small:little quickly:fast buy:purchase needs_to:has_to "
    "must:has_to about:roughly shows:displays happens:occurs usually:normally ask:request error:fault helps:assists "
    "wrong:incorrect keep:retain get:obtain whole:entire often:frequently also:too start:begin finish:end build:construct "
    "check:verify use:employ makes:produces created:made added:put_in updated:refreshed removed:taken_out moved:shifted "
    "tried:attempted noticed:saw needs:requires wants:would_like likes:is_fond_of each:every job:task quick:rapid "
    "issue:problem choose:pick gives:provides run:execute running:executing clean:tidy simple:plain mistake:slip "
    "complete:full writes:stores improved:bettered several:a_number_of"
)


def synonym(text: str, rng: random.Random) -> str | None:
    return _swap_one(text, rng, _SYNONYMS, both_ways=False)


_EXPANSIONS = _pairs(
    "don't:do_not doesn't:does_not can't:cannot isn't:is_not won't:will_not it's:it_is didn't:did_not config:configuration "
    "db:database repo:repository env:environment docs:documentation prod:production dev:development auth:authentication "
    "info:information app:application admin:administrator perf:performance stats:statistics max:maximum min:minimum "
    "avg:average msg:message deps:dependencies param:parameter params:parameters temp:temporary spec:specification "
    "we're:we_are you're:you_are that's:that_is wasn't:was_not haven't:have_not"
)


def abbreviation(text: str, rng: random.Random) -> str | None:
    return _swap_one(text, rng, _EXPANSIONS)


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
    found = [m for m in re.finditer(r"(?<![\w./_`-])[a-z]{6,}(?![\w/_`-]|\.\w)", text) if _is_prose(text, m.start())]
    if not found:
        return None
    match = rng.choice(found)
    word, place = match.group(), rng.randrange(1, len(match.group()) - 2)
    if word[place] == word[place + 1]:
        return None
    slipped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return text[: match.start()] + slipped + text[match.end() :]


# Conflicts: something else in nearly the same words.


def other_number(text: str, rng: random.Random) -> str | None:
    """Another number: plain, spelled out, with separators, a version, a port, the end of a range."""
    options: list[tuple[int, int, str]] = []
    for match in _NUMBER.finditer(text):
        digits = match.group()
        place = rng.choice([n for n, c in enumerate(digits) if c.isdigit()])
        other = rng.choice([c for c in "123456789" if c != digits[place]])
        options.append((match.start(), match.end(), digits[:place] + other + digits[place + 1 :]))
    for match in re.finditer(r"\bv?\d+\.\d+\.\d+\b", text):
        parts = match.group().split(".")
        parts[rng.randrange(1, 3)] = str(rng.randrange(20, 40))
        options.append((match.start(), match.end(), ".".join(parts)))
    for match in re.finditer(r"\b(?:" + "|".join(_SPELLED[2:]) + r")\b", text, re.I):
        others = [word for word in _SPELLED[2:] if word != match.group().lower()]
        word = rng.choice(others)
        options.append((match.start(), match.end(), word.capitalize() if match.group()[0].isupper() else word))
    ranges = re.finditer(r"(?<![\w.:-])(\d{1,3})-(\d{1,3})(?![\w.:-])", text)
    options += [(m.start(2), m.end(2), str(int(m[2]) + rng.randrange(1, 9))) for m in ranges]
    options = [o for o in options if not _STAMP.match(text[: o[1]]) and o[0] > 2]
    if not options:
        return None
    start, end, new = rng.choice(options)
    return text[:start] + new + text[end:]


_UNITS = _pairs(
    "seconds:minutes minutes:hours hours:days days:weeks weeks:months months:years second:minute minute:hour hour:day "
    "day:week week:month month:year gb:tb mb:gb kb:mb gigabytes:megabytes ms:seconds milliseconds:seconds thousand:million "
    "million:billion dollars:euros percent:points km:miles kg:grams"
)


def other_unit(text: str, rng: random.Random) -> str | None:
    """The same figure in another unit or magnitude, or another currency."""
    options = []
    table = dict(_UNITS)
    for match in re.finditer(r"(?<![\w.-])(\d[\d.,]*|" + "|".join(_SPELLED[2:]) + r")(\s?)([A-Za-z]+)\b", text):
        if match[3].lower() in table:
            options.append((match.start(3), match.end(3), table[match[3].lower()]))
    for short, other in (("s", "ms"), ("min", "h"), ("h", "min"), ("k", "M"), ("%", "x"), ("USD", "EUR")):
        for match in re.finditer(rf"(?<![\w.:/-])\d[\d.]*\s?({re.escape(short)})(?![\w%/-])", text):
            options.append((match.start(1), match.end(1), other))
    options += [(m.start(), m.end(), "€") for m in re.finditer(r"\$(?=\d)", text)]
    if not options:
        return None
    start, end, new = rng.choice(options)
    return text[:start] + new + text[end:]


def other_date(text: str, rng: random.Random) -> str | None:
    """Another day, weekday, month or hour."""
    options: list[tuple[int, int, str]] = []
    body = 12 if _STAMP.match(text) else 0
    for match in re.finditer(r"\b(\d{4}-\d\d-)(\d\d)\b", text):
        options.append((match.start(2), match.end(2), f"{(int(match[2]) + rng.randrange(1, 20)) % 28 + 1:02}"))
    for names in (_WEEKDAYS, _MONTHS):
        for match in re.finditer(r"\b(?:" + "|".join(names) + r")\b", text):
            options.append((match.start(), match.end(), rng.choice([n for n in names if n != match.group()])))
    for match in re.finditer(r"(?<![\d:.])(\d\d):(\d\d)(?![\d:])", text):
        options.append((match.start(1), match.end(1), f"{(int(match[1]) + rng.randrange(1, 12)) % 24:02}"))
    for one, other in (
        ("today", "yesterday"),
        ("tomorrow", "next month"),
        ("morning", "evening"),
        ("spring", "autumn"),
    ):
        options += [(m.start(), m.end(), other) for m in re.finditer(rf"\b{one}\b", text)]
    options = [o for o in options if o[0] >= body]
    options = [o for o in options if text[o[0] : o[1]] != o[2]]
    if not options:
        return None
    start, end, new = rng.choice(options)
    return text[:start] + new + text[end:]


def negated(text: str, rng: random.Random) -> str | None:
    """A negation put in or taken out, in one of its forms."""
    removals = [
        (r"\bdo not ", ""),
        (r"\bdon't ", ""),
        (r"\bnever ", ""),
        (r" not\b", ""),
        (r"\bcannot\b", "can"),
        (r"\bcan't\b", "can"),
        (r"\bisn't\b", "is"),
        (r"\bwithout\b", "with"),
        (r"\bno longer ", ""),
    ]
    for pattern, new in removals:
        if re.search(pattern, text):
            changed = re.sub(pattern, new, text, count=1)
            return changed[:1].upper() + changed[1:] if text[:1].isupper() else changed
    forms = ["{} not", "{} never", "{} no longer"]
    match = re.search(r"\b(is|are|was|were|can|may|should|must|will|has|have)\b(?! been| to)", text)
    if match:
        new = rng.choice(forms if match[1] not in ("can",) else ["cannot", "can never"]).format(match[1])
        return text[: match.start()] + new + text[match.end() :]
    match = re.match(
        r"(Use|Run|Keep|Set|Add|Check|Ask|Put|Start|Restart|Wait|Send|Take|Make|Write|Call|Turn|Clear|Give)\b", text
    )
    if match:
        return (
            rng.choice(["Do not {}", "Don't {}", "Never {}", "Avoid: {}"]).format(match[1].lower())
            + text[match.end() :]
        )
    match = re.search(r"\b(works|needs|uses|wants|likes|prefers|supports|requires|runs|keeps|contains)\b", text)
    if match:
        verb = match[1][:-1]
        return (
            text[: match.start()]
            + rng.choice([f"doesn't {verb}", f"does not {verb}", f"never {match[1]}"])
            + text[match.end() :]
        )
    return None


_ANTONYMS = _pairs(
    "increase:decrease increased:decreased increases:decreases higher:lower high:low faster:slower fast:slow bigger:smaller "
    "large:tiny longer:shorter long:brief more:fewer better:worse best:worst above:below inside:outside allow:forbid "
    "allowed:forbidden add:remove added:removed adds:removes enable:disable enables:disables enabled:disabled open:close "
    "opens:closes lock:unlock accept:refuse accepts:refuses remember:forget love:hate loves:hates easy:hard early:late "
    "strong:weak wide:narrow hot:cold warm:cool dry:wet light:dark cheap:expensive gain:loss raise:lower raised:lowered "
    "push:pull import:export encrypt:decrypt public:private internal:external manual:automatic manually:automatically "
    "read:write reads:writes include:exclude includes:excludes start:stop starts:stops first:last maximum:minimum "
    "local:remote new:old synchronous:asynchronous improves:worsens improved:worsened reduces:raises reduced:raised "
    "safe:dangerous full:empty clean:dirty useful:useless simple:complicated sharp:blunt deep:shallow left:right"
)


def antonym(text: str, rng: random.Random) -> str | None:
    return _swap_one(text, rng, _ANTONYMS)


_STATUS = _pairs(
    "passed:failed passing:failing passes:fails succeeded:failed success:failure successful:unsuccessful done:pending "
    "completed:pending complete:incomplete resolved:unresolved fixed:broken working:broken works:breaks online:offline "
    "running:stopped active:inactive approved:rejected merged:reverted green:red healthy:unhealthy available:unavailable "
    "ready:blocked shipped:postponed accepted:declined valid:invalid installed:uninstalled connected:disconnected "
    "up:down started:cancelled verified:unverified deployed:rolled_back stable:unstable clean:dirty finished:unfinished "
    "paid:unpaid solved:unsolved confirmed:denied present:missing"
)


def other_status(text: str, rng: random.Random) -> str | None:
    return _swap_one(text, rng, _STATUS)


def other_name(text: str, rng: random.Random) -> str | None:
    """Somebody or something else, by name."""
    found = [
        m
        for m in re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?!['’.]\w)", text)
        if m.group() not in (*_WEEKDAYS, *_MONTHS)
    ]
    found += list(
        re.finditer(r"^[A-Z][a-z]{2,}(?= (?:prefers|likes|wants|asked|said|lives|works|owns|decided|reads) )", text)
    )
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + rng.choice([n for n in _NAMES if n != match.group()]) + text[match.end() :]


def other_identifier(text: str, rng: random.Random) -> str | None:
    """Another file, flag, variable, ticket, host or key."""
    pattern = r"`[^`\s]{3,60}`|(?<![\w/.])[\w-]+(?:/[\w.-]+)+|\b[a-z]+(?:_[a-z0-9]+)+\b|\b[A-Z]+(?:_[A-Z0-9]+)+\b|\b[A-Z]{2,}-\d+\b|#\d+\b|--[a-z-]{3,}|\b[\w-]+\.(?:py|md|sh|json|yaml|toml|ts|js|sql)\b"
    found = [m for m in re.finditer(pattern, text) if not re.fullmatch(r"[\d/.]+", m.group())]
    if not found:
        return None
    match = rng.choice(found)
    word = match.group()
    runs = list(re.finditer(r"[A-Za-z]{3,}|\d+", word))
    if not runs:
        return None
    run = rng.choice(runs)
    new = (
        str(int(run.group()) + 1)
        if run.group().isdigit()
        else rng.choice(["alpha", "spare", "legacy", "tmp2", "other"])
    )
    new = new.upper() if run.group().isupper() else new
    changed = word[: run.start()] + new + word[run.end() :]
    return text[: match.start()] + changed + text[match.end() :] if changed != word else None


def other_order(text: str, rng: random.Random) -> str | None:
    """What comes first, what depends on what, from where to where: turned round."""
    word = r"((?:the |a |an )?(?!(?:and|but|with|for|that|which|were|was|are|not|all|has|have|only|very)\b)[\w/`-]{3,})"
    for pattern, new in (
        (rf"\bfrom {word} to {word}\b", r"from \2 to \1"),
        (rf"\b{word} (depends on|imports|owns|beats|feeds|overrides|instead of|rather than) {word}\b", r"\3 \2 \1"),
        (r"(?<![\w.`] )(?<!\w)([\w./`-]{3,}) (->|→) ([\w./`-]{3,})(?! \w)", r"\3 \2 \1"),
    ):
        changed = re.sub(pattern, new, text, count=1)
        if changed != text and sorted(changed.lower().split()) == sorted(text.replace("→", "->").lower().split()):
            return changed
    return _swap_one(text, rng, [("before", "after"), ("prior to", "following"), ("earlier than", "later than")])


_QUANTITIES = _pairs(
    "all:some every:no each:no most:few many:few always:sometimes often:rarely usually:rarely both:neither everyone:nobody "
    "everything:nothing only:also completely:partly fully:partially any:no none:all never:sometimes several:no entire:half_the"
)


def other_quantity(text: str, rng: random.Random) -> str | None:
    return _swap_one(text, rng, _QUANTITIES, both_ways=False)


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
CONFLICTS: dict[str, Planter] = {
    "number": other_number,
    "unit": other_unit,
    "date": other_date,
    "negation": negated,
    "antonym": antonym,
    "status": other_status,
    "name": other_name,
    "identifier": other_identifier,
    "order": other_order,
    "quantifier": other_quantity,
}
