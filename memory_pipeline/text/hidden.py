"""Finds what is hidden in a text, and what programs put around what somebody says."""

from __future__ import annotations

import re
import unicodedata

from memory_pipeline.text.memo import remembered

#: Tag characters and direction marks: only a disguise in a memory.
DISGUISE = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef\u202a-\u202e\u2066-\u2069]")
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\uffa0\ufe00-\ufe0d\ufff0-\ufffb"
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_FORMATS = "\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000110bd\U0001bca0-\U0001bca3"
_ASTRAL = "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
#: Never displayed: control characters, blanks that are letters, and marks without a shape.
UNSEEN = re.compile(f"[{_CONTROLS}{_FORMATS}{_BLANK}{_ASTRAL}]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile("[\\s\u2800]")
#: Legitimate uses: flags of countries within a country, and telephone numbers as address books copy them.
_HONEST = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f|\u202a[+\\d ()./-]{4,24}\u202c")
_DEPENDENT = re.compile(f"[{_JOINERS}{_SELECTORS}]")
#: Marks that split a word, so that a search for it fails; a typesetter may leave a few.
_SPLITTERS = re.compile(f"(?<=[A-Za-z])[{_FORMATS[1:]}{_BLANK}{_ASTRAL}](?=[A-Za-z])")
_MOST_SPLITS = 2

#: Letters of other scripts that look like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁгпвмтквнһԛԝАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧαερορτυνικıɡ",
    "aeopcyxijsdrnbmtkbhhqwABEKMHOPCTYXIJSABEZHIKMNOPTYXaepoptuvikig",
)


def visible(text: str) -> str:
    """The text without invisible characters. Joiners and selectors stay where a script or a symbol needs them; tabs
    and line breaks stay, every kind of line break as the same one."""
    text = UNSEEN.sub("", _BREAKS.sub("\n", text))
    if not _DEPENDENT.search(text):
        return text
    return "".join(
        char for place, char in enumerate(text) if char not in _JOINERS + _SELECTORS or _is_needed(text, place)
    )


def is_blank(text: str) -> bool:
    """True if a person sees nothing of a text: only blanks and invisible characters."""
    return re.search("[!-~]", text) is None and not _SPACE.sub("", visible(text))


def hides_words(text: str) -> bool:
    """True if invisible characters carry a message or split words, which no honest text needs."""
    text = _HONEST.sub("", text)
    return bool(DISGUISE.search(text)) or len(_SPLITTERS.findall(text)) > _MOST_SPLITS


def as_read(text: str) -> str:
    """A text as a reader sees it: compatibility forms and look-alike letters folded, hidden characters removed."""
    folded = unicodedata.normalize("NFKC", visible(text))
    if not re.search(r"[A-Za-z]", folded):
        return folded
    pairs = ((word, word.translate(_LOOK_ALIKES)) for word in folded.split(" "))
    # A word of only look-alikes is read as Latin if no other letters are left in it.
    return " ".join(latin if re.search(r"[A-Za-z]", word) or latin.isascii() else word for word, latin in pairs)


def _is_needed(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    if text[place] in _SELECTORS:
        return unicodedata.category(before) in ("So", "Sm", "Sk", "Po") or before in "0123456789#*"
    after = text[place + 1 : place + 2] or " "
    symbols = unicodedata.category(before) in ("So", "Sk", "Mn") or before in _SELECTORS
    joins_emoji = text[place] == "\u200d" and symbols and unicodedata.category(after) == "So"
    return joins_emoji or (_joins_letters(before) and _joins_letters(after))


def _joins_letters(char: str) -> bool:
    """True if a letter belongs to a script in which joiners change the shape of words: Arabic to Khmer."""
    return "\u0600" <= char <= "\u17ff" and unicodedata.category(char)[0] in "LM"


#: Longer texts are documents; in them nothing is looked for.
_LONGEST = 50_000
#: What a text must contain for any of these to find something in it.
_HINT = re.compile(
    r"untrusted|message_id|system-reminder|local-command|command-name|@[\w.-]+:|^\s*(?:PS [A-Z]:\\|➜)|id:", re.M
)
#: `Conversation info (untrusted metadata):` with the JSON after it, fenced or bare.
METADATA = re.compile(
    r"^[ \t]*[A-Z][\w ,'-]{2,60}\(untrusted[^)\n]{0,40}\):?[ \t]*\n?"
    r"(?:[ \t]*```(?:json)?[^\n]*\n.{0,4000}?\n[ \t]*```[ \t]*|[ \t]*\{.{0,4000}?\n?[ \t]*\})[ \t]*$\n?",
    re.MULTILINE | re.DOTALL,
)
_TAGGED = re.compile(r"<(system-reminder|local-command-\w+|command-\w+)>.{0,8000}?</\1>\s*", re.DOTALL)
_MESSAGE_ID = re.compile(r"[ \t]*\[?\bmessage_id:[ \t]*[^\]\n]{1,200}\]?[ \t]*")
#: `[Telegram Bob id:123 2026-05-01 10:00] `: the channel, who and when, before a message.
_ENVELOPE = re.compile(r"^[ \t]*\[[A-Z][\w ]{1,30}[^\]\n]{0,120}\bid:[^\]\n]{1,80}\][ \t]*", re.MULTILINE)
#: The day and time before a message, in brackets, with or without the channel.
_STAMPED = re.compile(r"\s*\[[^\]\n]{0,200}\d{4}-\d{2}-\d{2}[^\]\n]{0,80}\][ \t]*")
#: The last characters of a message, in which its id may stand.
_END = 300
_LAST_ID = re.compile(r"\n?\[message_id:[^\]\n]{0,200}\]\s*\Z")
#: From a prompt to the next empty line: what was pasted from a terminal.
_TERMINAL = re.compile(
    r"^[ \t]*(?:[\w.-]+@[\w.-]+:[^\n$#]{0,120}[$#]|PS [A-Z]:\\[^\n>]{0,120}>|➜)[ \t][^\n]*(?:\n(?![ \t]*\n)[^\n]+)*\n?",
    re.MULTILINE,
)


@remembered
def without_scaffolding(text: str) -> str:
    """The text without the scaffolding around what is said; a text of nothing else stays as it is."""
    if len(text) > _LONGEST or not _HINT.search(text):
        return text
    left = text
    for pattern in (METADATA, _TAGGED, _MESSAGE_ID, _ENVELOPE, _TERMINAL):
        left = pattern.sub("", left)
    return left.strip("\n") if left.strip() and left != text else text


def unwrapped(message: str) -> str:
    """A message as it was sent: without blocks about its sender, the envelope before it and its id at its end."""
    start = 0
    while match := METADATA.match(message, start):
        start = match.end()
        while start < len(message) and message[start] in "\r\n":
            start += 1
    envelope = _STAMPED.match(message, start) or _ENVELOPE.match(message, start)
    words = message[envelope.end() if envelope else start :]
    return words[:-_END] + _LAST_ID.sub("", words[-_END:])
