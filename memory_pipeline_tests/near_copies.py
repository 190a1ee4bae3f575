"""Texts of all kinds, and near-copies of them with small edits of the kinds that real logs are full of."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

#: Sentences whose statements stand in each other, end early, or hang on a mark.
TEXTS = (
    "Score 92 = SAFE (wrong!)",
    "Check 3 of the keys = FAIL. See `run --all` (again).",
    "Done. Grow and shrink.",
    "Reminder: 6. **Restored** origin remote.",
    "Restart the gateway after rotating keys! It keeps the old one for 15 minutes (or 20 min).",
    "preflight complete in 32.27s; 4 of 5 collections OK",
    "Never deploy on Friday. Deploy on Monday, e.g. at 09:30 UTC.",
    "| host | state |\n|---|---|\n| alpha | up |",
    "```sh\nmake build && make test\n```",
    "Title: Rotate keys\nRecommendation: Restart it.\nExamples:\n- S-1: orders lost",
    "Ключ истёк. Перезапустите шлюз!",
    "网关需要重启。旧密钥会保留十五分钟。",
    "مفتاح البوابة قديم. أعد التشغيل.",
    "🧬 Evolution — 06:00 UTC → done ✅ (ok",
    "see https://example.org/a_(b)?q=1#frag, v2.4.1-rc.1 and ./data/x.json",
    "user@host:~$ rm -rf ./cache # cleared 1,024 MB",
    'He said "do it" ... and it was done?! No. Yes.',
    "2026-03-01: moved to 5432/5433; it's 0.95 not .9",
    "a. b. c. d. e. f. g. h. i. j.",
    "()[]{}**__``~~ = = = ...",
)
_MARKS = (".", ",", ";", ":", "!", "?", ")", '"', " -", " —", "...")
_OPENERS = ("- ", "* ", "> ", "[06:00 UTC] ", "Reminder: ", "# ", "Noted again: ", "3. ")
_WORDS = ("Done.", "also", "OK", "-", "really", "the", "Note:", "not", "=", "only", "e.g.")


def make_text(rng: random.Random) -> str:
    """One or two of the texts, or letters of any kind."""
    if rng.random() < 0.2:
        return "".join(chr(rng.choice((rng.randrange(32, 127), rng.randrange(160, 0x2FFF)))) for _ in range(40))
    return " ".join(rng.sample(TEXTS, rng.choice((1, 1, 2))))


def near_copy(rng: random.Random, text: str) -> str:
    """The text with one to three small edits: punctuation, spacing, marks, order, case, words, numbers, units."""
    for _ in range(rng.randrange(1, 4)):
        text = rng.choice(_EDITS)(rng, text) or text
    return text


def _at_a_word(change: Callable[[random.Random, str], str]) -> Callable[[random.Random, str], str]:
    def edit(rng: random.Random, text: str) -> str:
        words = text.split(" ")
        place = rng.randrange(len(words))
        words[place] = change(rng, words[place])
        return " ".join(word for word in words if word)

    return edit


def _swapped(rng: random.Random, text: str) -> str:
    words = text.split(" ")
    place = rng.randrange(max(1, len(words) - 1))
    return " ".join([*words[:place], *reversed(words[place : place + 2]), *words[place + 2 :]])


def _reordered(rng: random.Random, text: str) -> str:
    sentences = re.split(r"(?<=[.!?])\s+", text)
    rng.shuffle(sentences)
    return " ".join(sentences)


def _renumbered(rng: random.Random, text: str) -> str:
    return re.sub(r"\d+", lambda found: str(int(found.group()) + rng.choice((0, 1))), text, count=1)


_EDITS: tuple[Callable[[random.Random, str], str], ...] = (
    _at_a_word(lambda rng, word: word + rng.choice(_MARKS)),
    _at_a_word(lambda rng, word: f"({word})"),
    _at_a_word(lambda rng, word: f"**{word}**"),
    _at_a_word(lambda rng, word: f"`{word}`"),
    _at_a_word(lambda rng, word: word.swapcase()),
    _at_a_word(lambda rng, word: f"{rng.choice(_WORDS)} {word}"),
    _at_a_word(lambda rng, word: ""),
    _swapped,
    _reordered,
    _renumbered,
    lambda rng, text: text.replace("!", "", 1),
    lambda rng, text: text.replace(" = ", rng.choice(("=", " ", ": ")), 1),
    lambda rng, text: text.replace("(", "", 1).replace(")", "", 1),
    lambda rng, text: text.replace(". ", rng.choice((".\n", "; ", "  ", ".\n- ")), 1),
    lambda rng, text: re.sub(r"(\d) ?(s|min|minutes|MB)\b", r"\1\2", text, count=1),
    lambda rng, text: rng.choice(_OPENERS) + text,
)
