"""Does a memory try to steer whoever reads it? What looks like an attempt is flagged, and its cluster left alone.

This is the first of three walls. The second is the prompt, in which memories stand as JSON data; the third is
the judge, which believes nothing that the sources do not say. So a pattern that is missing here costs
nothing but a refused draft, and one that fires too often costs a cluster that stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

#: Characters that no reader sees: tags, direction marks, zero-width marks. Joiners are left out: scripts need them.
_HIDDEN = re.compile(
    "[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u00ad\u180e\u3164\uffa0]"
)
_MARKED_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
#: Letters of other scripts that pass for Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁгпвмтквнАВЕКМНОРСТУХІЈЅαεορτυνικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdrnbmtkbhABEKMHOPCTYXIJSaeoptuvikABEZHIKMNOPTYX",
)

_OBEY = r"(?:instructions?|prompts?|rules?|guidelines?|directions?|system\s+messages?|context)"
_WHO = r"(?:ai|llm|model|assistant|summari[sz]er|distiller|consolidator|pipeline|archiver|reader\s+model)"
_MEMORY = r"(?:memory|memories|entry|entries|note|notes|member|members|cluster|clusters)"

_ATTEMPTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for kind, pattern in (
        ("tells the reader to ignore its instructions",
         rf"\b(?:ignore|disregard|forget|override|bypass|discard|drop)\b[^.\n]{{0,40}}\b(?:previous|prior|above|earlier|"
         rf"preceding|all|any|every|your|these|those|system|original|other)\b[^.\n]{{0,30}}\b{_OBEY}\b"),
        ("tells the reader to ignore its instructions",
         r"\b(?:ignorier\w*|vergiss|missachte\w*)\b[^.\n]{0,40}\b(?:anweisung\w*|regeln|vorgaben)\b|"
         r"\b(?:ignora|olvida|omite)\b[^.\n]{0,40}\b(?:instrucciones|indicaciones|reglas)\b|"
         r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.\n]{0,40}\b(?:instructions|consignes|règles)\b|"
         r"忽略[^。\n]{0,12}(?:指令|指示|提示)|игнорир\w*[^.\n]{0,40}инструкци\w*"),
        ("gives new instructions",
         rf"\b(?:new|updated|revised|real|actual|true|hidden|secret)\s+{_OBEY}\s*(?:[:=]|are\b|follow|for\b)|"
         rf"\b(?:here\s+are|follow(?:ing)?|obey)\b[^.\n]{{0,20}}\b(?:these|this|my|the\s+following)\b[^.\n]{{0,12}}\b{_OBEY}\b"),
        ("poses as the system",
         r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)[^|]{0,20}\|>|<<\s*/?SYS\s*>>|"
         r"\[/?INST\]|</?(?:system|instructions?|assistant|human|memory|memories|members|cluster|prompt|tool_result|"
         r"function_results?)>|\[\s*system\s*\]|(?:^|\W)human\s*:.*\n+\s*assistant\s*:|"
         r"(?:^|\W)(?:system|developer)\W{0,4}\s*(?:message|prompt|override|notice|note|instruction|update|command)s?\s*[:=>\]]|"
         r"(?:^|\W)system\W{0,4}:\W{0,4}\s*(?:you|ignore|from\s+now|new|the\s+user|override|please|do|set|mark|merge|delete|"
         r"output|respond|answer|always|never|all|this|maintenance|treat)\b|\b(?:begin|end)\s+(?:of\s+)?system\s+prompt|"
         r"\b(?:reveal|print|repeat|show|output|leak|reproduce)\b[^.\n]{0,30}\b(?:system|your|initial|original)\s+prompt"),
        ("gives the reader another role",
         rf"\byou\s+are\s+(?:now|no\s+longer|actually|henceforth)\b|\bfrom\s+now\s+on\b[,:]?\s+(?:you|the\s+{_WHO})\b|"
         rf"\b(?:act|behave|respond|answer)\s+as\s+(?:if\s+you\s+(?:are|were)|an?|the)\s+[^.\n]{{0,30}}\b{_WHO}\b|"
         r"\bpretend\s+(?:to\s+be|that\s+you|you)\b|\b(?:developer|debug|god|dan|admin|root|jailbreak)\s+mode\b|"
         rf"\bas\s+an?\s+(?:ai|{_WHO}|language\s+model)\b[^.\n]{{0,20}}\byou\s+(?:must|should|will|have)\b"),
        ("speaks to the model",
         rf"\b(?:note|message|instruction|memo|attention|dear|hey|hello|hi|reminder|warning|important)s?\b[\s,:!-]*"
         rf"(?:to|for)?[\s,:!-]*\b(?:the|any|all|every|an|our|whichever)?\s*(?:other\s+|large\s+|language\s+)*{_WHO}s?\b\s*(?:[:,!-]|(?:that|who|which)\b|"
         rf"reading|processing)|\b(?:if|when)\s+you\s+are\s+(?:an?\s+)?{_WHO}\b|"
         rf"\bany(?:one|thing)?\s+{_WHO}\s+(?:that\s+|who\s+)?read"),
        ("dictates the answer",
         r"[\"']?(?:abstraction|claims|is_causal|compression_ratio|pattern_type|suspicious|contradictions)[\"']?\s*[:=]\s*"
         r"(?:[\"'\[{\d]|true|false|null)|"
         r"\b(?:set|make|give|put|use|report|return|output|write|choose|fill)\b[^.\n]{0,40}\b(?:abstraction|is_causal|"
         r"pattern_type|compression_ratio)\b|"
         r"\b(?:respond|reply|answer|output|return|print)\s+(?:only\s+)?(?:with\s+)?(?:exactly|only|verbatim|nothing\s+but|just)"
         r"(?:\s+with)?\s*[:\"'“`{\[]|\byour\s+(?:answer|output|response|summary|abstraction|reply)\s+(?:must|should|shall|has\s+to|will|is)\b"),
        ("claims a rank of its own",
         rf"\b(?:this|the\s+present)\s+{_MEMORY}\s+(?:is|has|must|should|shall|may|can|overrides?|takes?|deserves?|outranks?|"
         rf"supersedes?)\b[^.\n]{{0,50}}\b(?:important|importance|critical|priority|highest|pinned|never|always|precedence|"
         rf"authoritative|only\s+one|others?|keep|kept|confidence|override)\b|"
         rf"\b(?:mark|treat|flag|rate|rank|score|pin|store|save|keep|classify)\b[^.\n]{{0,20}}\bthis\b[^.\n]{{0,30}}\b(?:critical|"
         rf"pinned|most\s+important|highest|maximum|importance|priority|permanent|forever|canonical|authoritative|confidence)|"
         rf"\b(?:importance|confidence|priority)(?:_score)?[\"']?\s*(?:[:=]|is|to|of|must\s+be|should\s+be)\s*[\"']?(?:3(?:\.0)?\b|"
         rf"max(?:imum)?\b|critical\b|highest\b|1\.0\b|100\s?%)|\bdo\s+not\s+(?:summari[sz]e|merge|compress|distil+|archive|"
         rf"consolidate|delete|touch)\b[^.\n]{{0,20}}\b(?:this|these|me|it)\b"),
        ("would decide about other memories",
         rf"\b(?:ignore|discard|delete|drop|archive|merge|skip|remove|overwrite|erase|exclude|suppress|replace|purge|wipe)\b"
         rf"[^.\n]{{0,30}}\b(?:(?:all|every|any|the)\s+)?(?:other|others|remaining|previous|rest\s+of\s+the|existing|older)\b"
         rf"[^.\n]{{0,20}}\b{_MEMORY}\b|"
         rf"\b(?:the\s+)?(?:other|remaining|previous|rest\s+of\s+the)\s+{_MEMORY}\s+(?:is|are|was|were|must|should)\b[^.\n]{{0,30}}"
         rf"\b(?:wrong|false|fake|obsolete|ignored|deleted|invalid|archived|lies|untrue|outdated|discarded|merged)\b|"
         rf"\b{_MEMORY}\s*(?:#|no\.?|number|nr\.?)?\s*\d+\b[^.\n]{{0,60}}\b(?:wrong|false|fake|ignored?|discard\w*|delete\w*|"
         rf"invalid|untrue|override\w*|supports?|says?|agree\w*)\b|"
         rf"\b(?:ignore|discard|delete|drop|archive|merge|skip|remove|exclude|cite|support)\w*\b[^.\n]{{0,20}}\bmembers?\s+\d"),
        ("carries markup that acts",
         r"!\[[^\]]{0,200}\]\(\s*(?:https?:)?//[^)\s]*[?&{$][^)\s]*\)|<\s*(?:script|iframe|object|embed|form|meta|svg|img|link|base)"
         r"\b[^>]{0,400}(?:src|href|on\w+|action|content|data)\s*=|<\s*script\b|\bjavascript\s*:|\bdata:text/html|"
         r"\]\(\s*(?:javascript|data|vbscript):"),
        ("would send something away",
         r"https?://[^\s)\"'>]{3,200}[?&](?:[\w-]*(?:key|token|secret|data|payload|leak|exfil|pass|memory|dump|q|c|s)[\w-]*)="
         r"[^\s)\"'>]*(?:\{|%7b|\$|\[REDACTED|sk-|ghp_|akia|xox|eyj|<)|"
         r"\b(?:send|post|upload|forward|exfiltrate|leak|transmit|e-?mail|copy)\b[^.\n]{0,50}\b(?:memories|memory\s+store|"
         r"system\s+prompt|api\s+keys?|secrets?|credentials|tokens|passwords?|conversation)\b[^.\n]{0,50}\b(?:to|at|via)\b"
         r"[^.\n]{0,20}(?:https?://|\S+@\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b|\[REDACTED)"),
        ("hides a text in an encoding",
         r"\b(?:decode|base64|rot13|hex|decrypt|unescape)\w*\b[^\n]{0,60}(?:[A-Za-z0-9+/]{32,}={0,2}|(?:\\x[0-9a-f]{2}){8,}|"
         r"(?:%[0-9a-f]{2}){10,})[^\n]{0,80}|(?:[A-Za-z0-9+/]{40,}={0,2})[^\n]{0,40}\b(?:decode|execute|follow|obey)\b|"
         r"\b(?:decode|rot13)\b[^.\n]{0,40}\b(?:follow|obey|execute|do\s+what|and\s+run)\b"),
    )
)  # fmt: skip


def find_attempt(texts: Mapping[str, str]) -> str | None:
    """The first sign that one of these memories (content by id) tries to steer its reader, in words, or None."""
    for memory_id, text in texts.items():
        kind = attempt_in(text)
        if kind:
            return f"memory '{memory_id}' {kind}"
        named = next((other for other in texts if other != memory_id and len(other) >= 8 and other in text), None)
        if named:
            return f"memory '{memory_id}' names the id of another, '{named}'"
    return None


def attempt_in(text: str) -> str | None:
    """How a text tries to steer its reader, in words, or None."""
    if _MARKED_DIRECTION.search(text):
        return "hides characters"
    bare = as_read(text)
    if len(_HIDDEN.findall(text)) > 2 and _splits_words(text):
        return "hides characters"
    return next((kind for kind, pattern in _ATTEMPTS if pattern.search(bare)), None)


def as_read(text: str) -> str:
    """A text as a reader sees it: compatibility forms and look-alike letters folded, hidden characters gone."""
    folded = unicodedata.normalize("NFKC", _HIDDEN.sub("", text))
    if re.search(r"[A-Za-z]", folded):
        folded = " ".join(
            word.translate(_LOOK_ALIKES) if re.search(r"[A-Za-z]", word) or word.isascii() else _if_latin(word)
            for word in folded.split(" ")
        )
    return folded


def _if_latin(word: str) -> str:
    """A word of look-alikes alone reads as Latin when nothing else is left in it."""
    mapped = word.translate(_LOOK_ALIKES)
    return mapped if mapped.isascii() else word


def _splits_words(text: str) -> bool:
    """Whether hidden characters stand between letters, where they keep a word from being found."""
    return bool(re.search(rf"[A-Za-z]{_HIDDEN.pattern}[A-Za-z]", text))
