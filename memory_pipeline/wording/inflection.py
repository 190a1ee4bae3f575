"""Forms of English verbs, made from their base form."""

from __future__ import annotations

import re

#: Verbs of two syllables whose last letter is doubled, because the second one is stressed.
_DOUBLED = frozenset(
    "commit submit admit omit permit begin prefer refer transfer occur control equip regret forget upset reset".split()
)
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
#: Short verbs after a prefix: `rerun`, `input`, `outbid`.
_PREFIXED = re.compile(r"(?:re|out|over|under|in|un|by)(?:set|put|cut|run|get|bid|plan|map|log|tag|stop|plug|pin)")
_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "doesn't": "don't"}


def gerund_of(verb: str) -> str:
    """The form in -ing: `update` gives `updating`, `run` gives `running`."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return f"{verb[:-1]}ing"
    if verb in _DOUBLED or _SHORT.fullmatch(verb) or _PREFIXED.fullmatch(verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb}ing"


def plural_verb_of(form: str, base: str) -> str:
    """The form of a verb that follows several things, from its form after one: `is` gives `are`, `keeps` gives
    `keep`."""
    low = form.lower()
    return _PLURAL.get(low, base if low.endswith("s") else form)
