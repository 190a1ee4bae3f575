"""Corrections, and which earlier extractions they withdraw."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice

from memory_pipeline.conversations.forms import form, stated
from memory_pipeline.conversations.own_words import Said
from memory_pipeline.conversations.reversals import reversals_of, subject_of
from memory_pipeline.records import Extraction
from memory_pipeline.wording.facts import content_words, find_facts, stem

_ENDS = r"(?=\s*(?:[,.;:!)—–-]|$|\bfor\b|\bbecause\b|\bat all\b|\bagain\b|\band\b|\bbut\b|\bthe\b))"
_UNDOING = (
    r"(?:scrap|forget(?: about)?|drop|ditch|disregard|undo|revert|never mind|nevermind|cancel|ignore|take back|strike)"
)
_CORRECTION = form(
    rf"(?:that|this|it)(?:'s| is| was|s) (?:just |simply |completely |plain |totally |still |all |also )?(?:wrong|incorrect|false|not (?:right|correct|true|accurate)){_ENDS}",
    r"(?:that|this|it)(?:'s| is| was|s) not what i (?:asked|said|meant|wanted|told)\b",
    r"i meant (?!to\b|that\b|it\b|no\b|well\b|what\b|every\b|a lot\b|come on|like\b|the world|really\b|who\b|how\b|if\b|i\b|you\b|yes\b|yeah\b|,)\w[\w' -]{0,60}(?:,| and| -|;|\.|!|$)",
    r"i (?:(?:didn't|did not|didnt|never) (?:say|mean|ask for|ask you)|never (?:said|meant|asked for)) (?!to\b|that i\b|anything|it like|goodbye|hello|hi\b|thank|yes\b|no\b|a word|much|so\b|never\b)\w",
    r"(?:that's|thats|that is|this is|it's|you(?:'ve| have)? (?:got |have |used |sent |picked |took )?) ?(?:the )wrong [\w'-]+(?: [\w'-]+)?[,;:.–—-]+ (?:it's|it is|the|mine|mine's|ours|that's|i|we|use|take)\b",
    r"you(?:'ve| have)? (?:got|get) (?:that|it|this|the [\w ]{2,30}?|my [\w ]{2,30}?) (?:completely |all |totally )?(?:wrong|mixed up|backwards)\b",
    r"you(?:'re| are| were) (?:wrong|mistaken|incorrect)(?=\s*(?:[,.;:!]|$|there\b|here\b|about\b|on that\b|again\b))",
    r"i(?:'ve| have)? (?:already )?told you (?:already|before|twice|several times|\w+ times|yesterday|that (?:the|my|our|it|we|i)\b(?! (?:love|like|feel|think|want|need|hate|miss|hope|believe|would|could|might|will)\b))",
    r"you(?:'ve| have)? (?:misunderstood|misread|misheard|mixed up|confused)\b",
    r"(?:small |quick |one |a |another )*correction\s*(?::|—|–| - )",
    r"i(?:'m| am| was) (?:talking about|referring to) (?!you\b|it\b|how\b|what\b)(?=[^.!?]{2,80}$|[^.!?]{2,80}[.!])\w",
    r"(?:that's|thats|that is) not how (?:you|it|we|i|my|the)\b",
    r"(?!if\b|when\b)[\w' -]{2,60}\d[\w' .]{0,20}, (?:but )?you (?:wrote|said|put|typed|booked|entered|used|have) \w",
    r"(?:my mistake|my bad|oops|typo|whoops)[\s,.:;!—–-]+(?:it's|it is|it was|that's|i meant|it should|the|should be)\b",
    r"(?:it|that|this) should (?:be|say|read|have been) [\w' :.-]{1,40},? (?:and )?not \w",
    r"(?:it's|it is|it was) [\w' -]{0,30}\d[\w']{0,10} not \w",
    r"(?:small |quick |one |a |another )*correction (?:to|of|on|about|for) [\w' -]{2,60}\s*[:,—–]",
    r"i said (?!that\b|to\b|i\b|no\b|yes\b|so\b|it\b|hi\b)[\w' -]{1,40},? not \w",
    r"i (?:misspoke|mistyped|stand corrected|misremembered)\b",
    r"i (?:was wrong|made a mistake|made an error|got (?:it|that) wrong)(?: (?:earlier|before|there|about [\w ]{2,30}|in [\w ]{2,20}))?\s*[:,;—–.]",
    r"(?:no|nope|nah|sorry|wait|actually)[\s,.!:—–-]+(?:it|that|the|this|they|he|she|we|there|my|our|i)\b[\w' :.-]{1,60},\s*(?:and )?not\s+\w",
    r"(?:no|nope|nah|sorry|wait|actually)[\s,.!:—–-]+not\s+[\w' -]{1,40},?\s*(?:but|it was|it's|it is|that was|i meant|rather)\b",
    r"(?:no|nope|nah|wrong)[\s,.!:—–-]+not\s+(?!now\b|yet\b|today\b|really\b|quite\b|sure\b|at all\b|bad\b|exactly\b|anymore\b|necessarily\b)[\w' -]{1,40},\s*(?:the|my|our|his|her|their|we|they) \w",
    r"actually,?\s+(?:i|my|we|our|the)\b[^.!?]{2,80}\b(?:any ?more|no longer|and not|not in|not on|not at)\b",
    r"not (?=(?-i:[A-Z])|\d|the |in |on |at |my |our |for )[\w' .:-]{2,40}, (?:it|the|my|our|his|her|their|that|this|he|she|they|we|i)(?:'s|'re|\b)[\w' -]{0,40}\b(?:is|are|was|were|has|have|said|meant|want|wanted|goes|comes|'s)\b",
    r"(?:it's|it is|that's|that is|her name is|his name is|my name is|the name is) (?:spelled|spelt|pronounced|written (?=with|as|without))\b ?\w",
    r"(?:once )?again\s*[:,—–-]\s*[^.!?]{3,80}?,? (?:and )?not \w",
    r"(?:that|this|it) (?:cannot|can't|can not|couldn't) (?:be|have been) (?:right|true|correct|so|it)\b",
    r"(?:that|this|it)(?:'s| is| was) not (?:the |a |an |my |our |his |her |their |in |on |at |from )(?!point\b|problem\b|issue\b|case\b|question\b|same\b|end\b|time\b|way\b|first\b|only\b|best\b|good\b|bad\b|big\b)[\w' -]{2,50}[,;:–—-]\s*(?:but |it's|it is|that's|that is|it was|this is|they're|we|i)\b",
    r"(?:that's|that is|that was|it's|it is|it was|those are|these are|they are|they're) (?:the |a |an |my |our |in |on |at |from |for )(?![\w' -]{2,30} that (?:counts|matters)\b)[\w' -]{2,50}, (?:and )?not (?:the |a |an |my |our |in |on |at |from |for )?(?!very\b|that\b|so\b|bad\b|too\b|really\b|even\b|sure\b|to\b|only\b|just\b|because\b)\w",
    r"(?:you(?:'ve| have)?|i(?:'ve| have)?) (?:had )?(?:mixed up|swapped|confused) (?:the|my|our|two|these|those|it with)\b",
    r"i(?:'ve| have)? (?:already )?(?:told|said to|wrote to|mentioned to) you(?: (?:in|on|at|last|this|before|earlier|back in|the other)[\w ]{0,20}?)? that (?:the|my|our|it|we|i|this|these|those|all|no)\b(?! (?:love|like|feel|think|want|need|hate|miss|hope|believe|would|could|might|will)\b)",
    r"(?:way |far |much |a bit |still )?too (?:much|many|high|low|long|short|little|few|late|early|big|small|expensive|slow|fast|loud)\s*[,;:.!–—-]+\s*(?:please |just |so |then |better )?(?:make|set|put|use|try|take|cut|raise|lower|change|go|bring|keep|reduce|i said)\b",
    rf"{_UNDOING} (?!about it\b|to\b)(?:that|this|it|those|these|the|my|our|what i (?:said|wrote|told you|asked)|all that|everything)\b[^,;:.–—-]{{0,60}}[,;:–—-]+\s*(?!if\b|it's (?:ok|fine|nothing)|i (?:found|got|figured)|thanks|thank|sorry|please\b$|ok\b|okay\b|then\b$)(?:\w+[ ,']+){{2,}}\w+",
    r"(?:it|that|this)(?:'s| is| was) (?:actually [\w' :.-]{1,40}|[\w' :.-]{0,30}\d[\w' :.-]{0,20}),\s*not\s+\w",
)  # fmt: skip
_OWN_CORRECTION = form(
    r"i was (?:wrong|mistaken|incorrect)(?: (?:earlier|before|there|about [\w ]{2,30}))?\s*[:,;—–.]",
    r"i (?:made|had) (?:a |an )?(?:mistake|error|typo)(?: (?:earlier|before|there|above|in [\w ]{2,30}))?\s*[:,;—–.]",
    r"i (?:gave|told|sent|showed|named|quoted|used|picked|wrote|read|took|opened|changed) (?:you )?(?:the|a) wrong \w+",
    r"i (?:wrongly|mistakenly|incorrectly|falsely) (?:told|said|wrote|gave|assumed|named|reported|stated|put|listed|marked|counted)\b",
    r"i (?:had|have) (?:mixed up|confused|misread|misunderstood|swapped|misstated|miscounted) \w",
    r"i (?:misread|misspoke|mixed up|misstated|misremembered|misunderstood|confused) \w",
    r"(?:small |quick |one |a )*correction\s*(?::|—|–| - )",
    r"i (?:have to|need to|must|should) correct (?:myself|that|what i (?:said|wrote|told you)|my (?:answer|last))\b",
    r"i (?:said|wrote|told you|gave you) [^.!?]{2,60}(?:, but|; but|, which|; it|, it)\b[^.!?]{0,40}\b(?:is|was|wrong)\b",
)  # fmt: skip
#: `No no, the other Anna. Anna Berg, not Anna Lind.` and `I said Thursday!! Not Tuesday`.
_DENIES = re.compile(r"\W*(?:no|nope|nah|wrong|sorry|wait|not quite)\b", re.IGNORECASE)
_CONTRAST = re.compile(r"[\w' :.-]{2,60}, not \w", re.IGNORECASE)
_NOT_THE = re.compile(
    r"\W*(?:(?:that|this|it)(?:'s| is| was) not (?:the|my|our|what|where|how|who)\b|(?:no|nope|nah|wrong)[\s,.!:—–-]+not (?:the |a |my |our )?(?!now\b|yet\b|today\b|really\b|quite\b|sure\b|at all\b|bad\b|exactly\b|necessarily\b|that\b))[\w' .-]{2,60}\W*$",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"\W*(?:it|that|the [\w' -]{2,40}?|we|i|they|our [\w' -]{2,40}?|my [\w' -]{2,40}?|he|she)(?:'s|'re| is| was| are| were| use| have| said| wanted| meant| want)\b(?! (?:not|ok|okay|fine|sure|sorry|just)\b)",
    re.IGNORECASE,
)
_I_SAID = re.compile(r"\W*(?:no,? )?i said \w+", re.IGNORECASE)
_NOT_AFTER = re.compile(r"\W*not \w", re.IGNORECASE)
_NO_CORRECTION = re.compile(
    r"\bwhat (?:went|is|was) wrong\b|\bwrong with\b|\bnot (?:to )?(?:worry|sure)\b|\bno problem\b|\bsounds\b",
    re.IGNORECASE,
)
_LEAST_WORDS, _LEAST_OWN = 3, 6
_WORD = re.compile(r"\w[\w'.-]*")
#: What a correction names as wrong: `not 5432`, `instead of Lisbon`, `not in Lisbon anymore`.
_REJECTED = re.compile(
    r"\b(?:not|instead of|rather than|no longer|didn't (?:say|mean|ask for)|never (?:said|meant))\s+(?:in |on |at |to |for |from |the |an? |my |by )*([^,.;!?]{1,60})",
    re.IGNORECASE,
)
_LEFT = re.compile(r"\b(?:any ?more|now|longer|today|please)\b", re.IGNORECASE)
#: Says that what was so before is not so now.
_CHANGES = re.compile(
    r"\b(?:now|any ?more|no longer|moved|changed|instead|switched|stopped|these days|nowadays)\b", re.IGNORECASE
)
#: Words of corrections that say nothing about what is corrected, as stems.
_OF_CORRECTIONS = frozenset(map(stem, (
    "wrong incorrect false correct right true accurate mistake mistaken error sorry wait actually correction nope nah yes "
    "misspoke mistyped completely totally again misunderstood misread simply plain earlier got get said asked meant "
    "that's it's wasn't isn't you're i'm"
).split()))  # fmt: skip
#: Kinds of facts of which a correction can name the wrong one: `not 5432`, `not 07:30`, `not 5 May`.
_FIGURES = frozenset(("number", "time", "date"))
#: What a human has one of at a time.
_ONLY_ONE = (
    ("home", re.compile(r"\b(?:i|we)(?:'m| am)? (?:\w+ )?(?:live|living|based|moved)\b", re.IGNORECASE)),
    ("name", re.compile(r"\bmy (?:\w+ )?name(?:'s| is)\b|\bcall me\b", re.IGNORECASE)),
    ("birthday", re.compile(r"\bmy birthday\b|\bi was born\b", re.IGNORECASE)),
    ("work", re.compile(r"\bi(?:'m| am)? work(?:ing)? (?:as|at|for|in)\b|\bmy job\b", re.IGNORECASE)),
    ("time zone", re.compile(r"\bmy time ?zone\b", re.IGNORECASE)),
)
_SHARED = 0.5
#: Lines before a correction among which it corrects the nearest statement on its subject, though it names none.
_NEAR_LINES = 30
#: Lines before a decision that begins with a denial (`No, let's use Postgres`), among which it takes back another one.
_DIRECTLY = 3
_INSTEAD = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well),? )*(?:no|nope|nah|on second thoughts?|scratch that|scrap that|change of plans?)\b"
    r"(?! (?:problem|worr|doubt|matter|more|longer)\w*)",
    re.IGNORECASE,
)
#: A human takes back what an agent said directly before, and says nothing else.
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:actually|hmm+|wait|sorry|oh|well|but|please|pls),? )*(?:(?:no|nope|nah)[\s,.!:—–-]+)?(?:please )?"
    r"(?:(?:revert|undo|scrap|forget|drop|cancel|remove|take back|scratch) (?:that|it|this)(?: again| please)?|(?:please )?don't(?: do (?:that|it|this))?|do not do (?:that|it|this))"
    r"(?:,? please)?\W*",
    re.IGNORECASE,
)
#: The newest statements among which the one is looked for that a correction withdraws.
_MOST_LOOKED_AT = 500


def correction_in(said: Said) -> re.Match[str] | None:
    """Where a human corrects what was said."""
    if _NO_CORRECTION.search(said.read) or len(_WORD.findall(said.read)) < _LEAST_WORDS:
        return None
    if _DENIES.match(said.before) and (contrast := _CONTRAST.match(said.read)):
        return contrast
    if _NOT_AFTER.match(said.after) and (repeats := _I_SAID.match(said.read)):
        return repeats
    if _IT_IS.match(said.after) and (denies := _NOT_THE.match(said.read)):
        return denies
    return stated(said, _CORRECTION)


def takes_back(words: str) -> bool:
    """Whether a human's turn takes back what was said directly before, and says nothing else: `No, revert that.`"""
    return bool(_TAKEN_BACK.fullmatch(words.strip()))


def says_what(said: Said) -> bool:
    """Whether a correction says by itself what it corrects, and what is right: `That's wrong.` and `No, not Anna.` do
    not."""
    if _NOT_THE.match(said.read) and _IT_IS.match(said.after):
        return False
    return len(set(content_words(said.read)) - _OF_CORRECTIONS) > 1


def own_correction_in(said: Said) -> re.Match[str] | None:
    """Where an agent corrects itself, and says what is right."""
    if len(_WORD.findall(said.read)) < _LEAST_OWN:
        return None
    return stated(said, _OWN_CORRECTION)


class Earlier:
    """What was said before and stands, in the order in which it was said, to find what a new extraction withdraws.

    A correction withdraws the newest statement that has what it rejects (`not Lisbon`) or, in its own conversation and
    shortly before it, the newest on its subject. A fact that says that something changed (`I live in Porto now`)
    withdraws the one that it replaces; what a human takes back in so many words withdraws all that says it. Nothing withdraws what is not of its project.
    """

    def __init__(self, extractions: Iterable[Extraction] = ()) -> None:
        self._gone: set[str] = set()
        self._by_token: dict[tuple[str, str], list[Extraction]] = defaultdict(list)
        self._by_subject: dict[tuple[str, str], list[Extraction]] = defaultdict(list)
        self._by_talk: dict[tuple[str, str, date], list[Extraction]] = defaultdict(list)
        self._by_slot: dict[tuple[str, str, str, str], list[Extraction]] = defaultdict(list)
        for one in extractions:
            self.add(one)

    def add(self, one: Extraction) -> None:
        """Note what was said last."""
        if one.kind == "correction":
            return
        for word in subject_of(one.quote):
            self._by_subject[one.project_id, word].append(one)
        for token in _tokens(one.quote):
            self._by_token[one.project_id, token].append(one)
        self._by_talk[one.project_id, one.conversation, one.day].append(one)
        if slot := _slot(one):
            self._by_slot[one.project_id, one.kind, one.speaker, slot].append(one)

    def forget(self, ids: Iterable[str]) -> None:
        """Leave out what was withdrawn."""
        self._gone.update(ids)

    def withdrawn_by(self, new: Extraction, *, by_model: bool = False) -> tuple[str, ...]:
        """The ids of the extractions that a new one withdraws.

        `by_model`: a model proposed it, so that it may be called a correction and be none. It withdraws only what it
        rejects in words (`not Lisbon`) or replaces, and an agent's nothing that the human said.
        """
        taken_back = tuple(one.id for one in self.taken_back_by(new, by_model=by_model))
        if new.kind == "correction":
            of_agent = by_model and new.speaker == "agent"
            named = self._rejected(new, of_agent=of_agent)
            return _each(named + taken_back) or (() if by_model else self._on_its_subject(new))
        if new.kind in ("fact", "preference") and _CHANGES.search(new.quote):
            return _each(self._replaced(new) + taken_back)
        if new.kind == "decision" and new.speaker == "human" and _INSTEAD.match(new.quote):
            return _each(self._decided_before(new) + taken_back)
        return taken_back

    def taken_back_by(self, new: Extraction, *, by_model: bool = False) -> tuple[Extraction, ...]:
        """What a human takes back in so many words, the newest first: `You may no longer restart the workers`. Of what a
        model proposed, its kind takes nothing back."""
        if new.speaker != "human":
            return ()
        found: dict[str, Extraction] = {}
        for reversal in reversals_of(new, by_kind=not by_model):
            said_of_it = [self._by_subject.get((new.project_id, word), []) for word in reversal.subject]
            rarest = min(said_of_it, key=len, default=[])
            found |= {one.id: one for one in self._newest(rarest, new) if reversal.takes_back(one)}
        return tuple(found.values())

    def _newest(self, those: Sequence[Extraction], new: Extraction, *, of_agent: bool = False) -> Iterator[Extraction]:
        """The newest of some extractions first, or of an agent's alone; not those that are gone, and no more than can be
        looked at."""
        standing = (one for one in reversed(those) if one.id not in self._gone and one.id != new.id)
        return islice((one for one in standing if not of_agent or one.speaker == "agent"), _MOST_LOOKED_AT)

    def _rejected(self, new: Extraction, *, of_agent: bool) -> tuple[str, ...]:
        named = [_LEFT.sub(" ", match[1]) for match in _REJECTED.finditer(new.quote)]
        values = {word for text in named for word in _tokens(text)}
        if not values:
            return ()
        about = set(content_words(new.quote)) - values
        rarest = min((self._by_token.get((new.project_id, value), []) for value in values), key=len)
        for one in self._newest(rarest, new, of_agent=of_agent):
            if values <= _tokens(one.quote) and (
                about & set(content_words(one.quote)) or _is_near(new, one) or _slot(new) == _slot(one) != ""
            ):
                return (one.id,)
        return ()

    def _on_its_subject(self, new: Extraction) -> tuple[str, ...]:
        words = set(content_words(new.quote))
        for one in self._newest(self._by_talk.get((new.project_id, new.conversation, new.day), []), new):
            if new.line - one.line > _NEAR_LINES:
                return ()
            theirs = set(content_words(one.quote))
            if _is_near(new, one) and theirs and len(words & theirs) >= _SHARED * min(len(words), len(theirs)) > 0:
                return (one.id,)
        return ()

    def _decided_before(self, new: Extraction) -> tuple[str, ...]:
        for one in self._newest(self._by_talk.get((new.project_id, new.conversation, new.day), []), new):
            if new.line - one.line > _DIRECTLY:
                return ()
            if one.kind == "decision" and one.line < new.line:
                return (one.id,)
        return ()

    def _replaced(self, new: Extraction) -> tuple[str, ...]:
        slot = _slot(new)
        same = self._by_slot.get((new.project_id, new.kind, new.speaker, slot), []) if slot else []
        last = next(self._newest(same, new), None)
        return (last.id,) if last is not None and _tokens(last.quote) != _tokens(new.quote) else ()


def withdrawn_by(new: Extraction, earlier: Sequence[Extraction]) -> tuple[str, ...]:
    """The ids of the extractions that a new one withdraws, of those that were said before it, in order."""
    return Earlier(earlier).withdrawn_by(new)


def _each(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _slot(one: Extraction) -> str:
    return next(
        (name for name, pattern in _ONLY_ONE if one.kind in ("fact", "correction") and pattern.search(one.quote)), ""
    )


def _is_near(new: Extraction, one: Extraction) -> bool:
    return new.conversation == one.conversation and new.day == one.day and 0 <= new.line - one.line <= _NEAR_LINES


def _tokens(text: str) -> set[str]:
    """Words with a meaning, and figures, times and days: a figure also without what it counts (`not 40`)."""
    found: set[str] = set()
    for fact in find_facts(text):
        if fact.kind in _FIGURES:
            found |= {fact.value.lower(), fact.value.partition(" ")[0].lower()}
    return found | set(content_words(text))
