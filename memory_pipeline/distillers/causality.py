"""Finds causes and effects by the words that state them: `because`, `so`, `when ..., ...`, `caused`.

Without a model, only explicit statements can be found, in the sources' own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_pipeline.records import Causal
from memory_pipeline.wording.sentences import split_statements, strip_lead_in

#: This many members, and this share of them, must state a cause before a cluster counts as causal.
_LEAST_MEMBERS, _LEAST_SHARE = 2, 0.5
_LONGEST_CLAUSE = 200

_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<advice>.+?)(?:,|;)\s+(?:otherwise|or\s+else|or)\s+(?P<effect>.+)$",
        r"^(?P<cause>.+?)\s*[:;,]\s*(?:and\s+)?because\s+of\s+(?:that|this|it),?\s+(?P<effect>.+)$",
        r"^(?P<cause>.+?),?\s+and\s+(?P<effect>.+?)\s+because\s+of\s+(?:that|this|it)$",
        r"^(?P<effect>.+?),?\s+(?:because\s+of|due\s+to|owing\s+to|caused\s+by|as\s+a\s+result\s+of)\s+(?P<cause>.+)$",
        r"^(?:because|since)\s+(?P<cause>[^,]+),\s+(?P<effect>.+)$",
        r"^(?P<effect>.+?),?\s+because\s+(?P<cause>.+)$",
        r"^(?P<effect>.+?)\s+when(?:ever)?\s+(?P<cause>[^,]+),\s+so\s+.+$",
        r"^(?P<cause>.+?)(?:,|;)?\s+(?:and\s+)?(?:so(?!\s+that\b)|therefore|hence|thus|consequently|as\s+a\s+result),?\s+"
        r"(?P<effect>.+)$",
        r"^(?P<cause>.+?),?\s+(?:which|that)\s+(?:caused|made|led\s+to|resulted\s+in|triggered|broke)\s+(?P<effect>.+)$",
        r"^(?P<cause>.+?)\s+(?:causes?|caused|made|makes|leads?\s+to|led\s+to|results?\s+in|resulted\s+in|triggers?|"
        r"triggered)\s+(?P<effect>.+)$",
        r"^(?P<effect>.+?),\s+(?:the\s+)?(?:reason|cause)\s+(?:was|is|being)\s+(?P<cause>.+)$",
        r"^(?P<effect>.+?)\s+after\s+(?P<cause>\w+ing\b.+)$",
        r"^(?:when(?:ever)?|if|once|after)\s+(?P<cause>[^,]+),\s+(?P<effect>.+)$",
    )
)  # fmt: skip
_VERB = re.compile(
    r"(?:was|were|is|are|went|goes|go|had|has|have|came|comes|began|begins|left|leaves|ran|runs|lost|loses|got|gets|"
    r"became|becomes|fell|falls|rose|rises|does|did|do|can|cannot|could|will|would|must|should|keeps?|kept|stays?|jams?|"
    r"fails?|breaks?|broke|stops?|\w{3,}ed|\w{3,}(?:izes|ises|ates))$",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"^\w+\s+(?:(?:the|a|an|its|our)\s+)?(?P<object>[\w' -]+?)"
    r"(?:\s+(?:to|from|with|in|on|at|by|for|of|after|before|when|until|every|and)\b|,|$)"
)
_ARTICLE = re.compile(r"^(?:the|a|an|its|our|their|this|that|these|those|some|any)\s+", re.IGNORECASE)


def shared_cause(contents: Sequence[str], centrality: Sequence[float]) -> Causal | None:
    """The cause and effect that most of a cluster's members state, in the words of the most central of them."""
    found = [(place, causal) for place, text in enumerate(contents) if (causal := find_cause(text))]
    if len(found) < _LEAST_MEMBERS or len(found) < _LEAST_SHARE * len(contents):
        return None
    return min(found, key=lambda item: (-centrality[item[0]], item[0]))[1]


def find_cause(text: str) -> Causal | None:
    """The first statement of a text with a cause and an effect, or None."""
    for written in split_statements(text):
        statement = strip_lead_in(written).strip().rstrip(".!")
        match = next((found for form in _FORMS if (found := form.match(statement))), None)
        if match is None:
            continue
        advice = match.groupdict().get("advice")
        cause, effect = _clause(advice or match["cause"]), _clause(match["effect"])
        if cause and effect:
            subject, action = _split(cause, is_advice=advice is not None)
            return Causal(subject, action, f"otherwise {effect}" if advice else effect)
    return None


def _clause(text: str) -> str:
    flat = " ".join(text.split()).strip(" ,;:.")
    return flat if len(flat.split()) >= 2 and len(flat) <= _LONGEST_CLAUSE else ""


def _split(cause: str, *, is_advice: bool) -> tuple[str, str]:
    """The subject and the action of a cause; the whole cause is the action if no verb divides it.

    Advice and a gerund start with the verb: their subject follows it.
    """
    doing = _DOING.match(cause)
    if doing and (is_advice or cause.split()[0].lower().endswith("ing")):
        return doing["object"].strip(), cause
    words = cause.split()
    for place, word in enumerate(words):
        subject = _ARTICLE.sub("", " ".join(words[:place])).strip(" ,")
        following = words[place + 1] if place + 1 < len(words) else ""
        third_person = word.endswith("s") and not word.endswith("ss") and word.isalpha() and not _VERB.match(following)
        if subject and not _ARTICLE.match(f"{subject} ") and (_VERB.match(word) or (third_person and following)):
            return subject, " ".join(words[place:])
    return _ARTICLE.sub("", cause), cause
