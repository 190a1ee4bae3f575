"""Conflicts of ten kinds: something else in nearly the same words."""

from __future__ import annotations

import random
import re

from planting import SPELLED, STAMP, Planter, pairs_of, swap_one

_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_NAMES = "Priya Tomas Marco Elena Kofi Yuki Ingrid Omar Lucia Bjorn Hetzner Fastly Grafana Redis Kafka Lisbon".split()
_NUMBER = re.compile(r"(?<![\w./:#@-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w:/@.-]|\.\d)")


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
    for match in re.finditer(r"\b(?:" + "|".join(SPELLED[2:]) + r")\b", text, re.I):
        others = [word for word in SPELLED[2:] if word != match.group().lower()]
        word = rng.choice(others)
        options.append((match.start(), match.end(), word.capitalize() if match.group()[0].isupper() else word))
    ranges = re.finditer(r"(?<![\w.:-])(\d{1,3})-(\d{1,3})(?![\w.:-])", text)
    options += [(m.start(2), m.end(2), str(int(m[2]) + rng.randrange(1, 9))) for m in ranges]
    options = [o for o in options if not STAMP.match(text[: o[1]]) and o[0] > 2]
    if not options:
        return None
    start, end, new = rng.choice(options)
    return text[:start] + new + text[end:]


_UNITS = pairs_of(
    "seconds:minutes minutes:hours hours:days days:weeks weeks:months months:years second:minute minute:hour hour:day "
    "day:week week:month month:year gb:tb mb:gb kb:mb gigabytes:megabytes ms:seconds milliseconds:seconds thousand:million "
    "million:billion dollars:euros percent:points km:miles kg:grams"
)


def other_unit(text: str, rng: random.Random) -> str | None:
    """The same figure in another unit or magnitude, or another currency."""
    options = []
    table = dict(_UNITS)
    for match in re.finditer(r"(?<![\w.-])(\d[\d.,]*|" + "|".join(SPELLED[2:]) + r")(\s?)([A-Za-z]+)\b", text):
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
    body = 12 if STAMP.match(text) else 0
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


_ANTONYMS = pairs_of(
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
    return swap_one(text, rng, _ANTONYMS)


_STATUS = pairs_of(
    "passed:failed passing:failing passes:fails succeeded:failed success:failure successful:unsuccessful done:pending "
    "completed:pending complete:incomplete resolved:unresolved fixed:broken working:broken works:breaks online:offline "
    "running:stopped active:inactive approved:rejected merged:reverted green:red healthy:unhealthy available:unavailable "
    "ready:blocked shipped:postponed accepted:declined valid:invalid installed:uninstalled connected:disconnected "
    "up:down started:cancelled verified:unverified deployed:rolled_back stable:unstable clean:dirty finished:unfinished "
    "paid:unpaid solved:unsolved confirmed:denied present:missing"
)


def other_status(text: str, rng: random.Random) -> str | None:
    return swap_one(text, rng, _STATUS)


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
    return swap_one(text, rng, [("before", "after"), ("prior to", "following"), ("earlier than", "later than")])


_QUANTITIES = pairs_of(
    "all:some every:no each:no most:few many:few always:sometimes often:rarely usually:rarely both:neither everyone:nobody "
    "everything:nothing only:also completely:partly fully:partially any:no none:all never:sometimes several:no entire:half_the"
)


def other_quantity(text: str, rng: random.Random) -> str | None:
    return swap_one(text, rng, _QUANTITIES, both_ways=False)


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
