"""Passwords in commands, addresses and protocols (`mysql -pX`, `curl -u a:X`, `https://a:X@host`), and next to the name
of a user or network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.text.redaction.spans import Span, is_machine_made, is_random, is_stand_in, is_strong, small_letters

_CODE_LIST = re.compile(
    r"(?i)\b(?:recovery|backup|rescue|emergency|scratch|wiederherstellungs|einmal)[\s-]?codes?\b[^\n:]{0,40}:\s*"
    r"(?P<codes>[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}(?:[\s,;*•`-]{1,5}[a-z0-9]{4,12}(?:-[a-z0-9]{3,12}){0,4}){0,30})"
)
_ONE_CODE = re.compile(r"[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,4}")
_SEED = re.compile(
    r"(?i)\b(?:seed|recovery|mnemonic|backup|secret)(?:[\s-](?:phrase|words?|seed))?\b[^\n:]{0,30}(?::|=|\bis\b)\s*[\"'`]?"
    r"(?P<seed>[a-z]{3,8}(?:[\s,]{1,3}[a-z]{3,8}){11,23})\b"
)
_WIFI = re.compile(
    r"(?i)\b(?:wi-?fi|wlan|ssid|wpa[23]?|hotspot)\b[^\n]{0,60}?\b(?:key|pass|code|schlüssel|psk)\b\s{0,2}[:=]?\s{0,2}(?:is\s)?[\"'`]?(?P<key>[^\s\"'`|,]{8,63})"
)
_PAIR = re.compile(
    r"(?i)\b(?:credentials?|creds|log[\s-]?ins?|logged\s+in|sign[\s-]?in|zugangsdaten|anmeldung|identifiants|credenciales|"
    r"credenciais|credenziali|логин|accounts?|user(?:name)?|авторизация)\b[^\n:=/|]{0,40}?(?::|=|\b(?:with|as|mit|con|com|avec|is|are)\b|\s)\s*"
    r"[\"'`]?(?P<user>[\w.@+-]{2,60})[\"'`]?(?:\s/\s|/|:|\s\|\s)[\"'`]?(?P<pair>[^\s\"'`|,/]{5,80})"
)
#: `admin/Xk29!fq` without any word about it.
_ROOT = re.compile(
    r"(?<![\w/.@-])(?:admin|root|administrator|sysadmin|pi|guest)(?:\s/\s|[/:]|\s\|\s)[\"'`]?(?P<root>[^\s\"'`|,/:]{6,80})"
)
#: `name:password@host` without a scheme.
_AT_HOST = re.compile(
    r"(?<![\w/:@.-])(?!(?i:mailto|to|cc|bcc|from|e-?mail|mail|reply-to|sips?|xmpp|acct|ssh|scp|by|author|user):)[\w.-]{2,40}:(?P<host>[^\s\"'`/@:]{4,80})@(?=\d{1,3}(?:\.\d{1,3}){3}\b|[\w-]+\.[\w.-]*[a-z]{2})"
)
_CONSTANT = re.compile(
    r"(?<![A-Za-z0-9_])(?![A-Z0-9_]{0,60}(?:PUBLIC|CACHE|PRIMARY|SORT|PARTITION|FOREIGN|ROW_|OBJECT|S3_|HOT))"
    r"[A-Z][A-Z0-9_]{0,60}_(?:KEY|KEYS|SALT|PEPPER|CREDS|PAT)\s?=\s?[\"']?(?P<constant>[^\s\"'`,;]{16,500})"
)
_IN_SENTENCES = (
    (("wi-fi", "wifi", "wlan", "ssid", "wpa", "hotspot"), _WIFI, "key"),
    (("admin", "root", "pi", "guest"), _ROOT, "root"),
    (("@",), _AT_HOST, "host"),
    (("cred", "log", "sign", "zugang", "anmeldung", "ident", "логин", "account", "user", "авториз"), _PAIR, "pair"),
)
_COOKIES = re.compile(r"(?i)\b(?:set-)?cookie[\"']?\s?[:=]\s?(?P<cookies>[^\n]{8,4000})")
_COOKIE = re.compile(r"[\w.-]{1,60}=(?P<cookie>[\w.%+/-]{16,2000})")
#: A value in quotes, or up to the next space.
_VALUE = r"(?:'(?P<single>[^'\n]{3,200})'|\"(?P<double>[^\"\n]{3,200})\"|(?P<bare>[^\s'\"`|<>]{3,200}))"
_REST = r"[^\n|;&]{0,200}?"
_COMMANDS = tuple(
    (words, re.compile(pattern + _VALUE))
    for words, pattern in (
        (("mysql", "mariadb"), rf"\b(?:mysql\w*|mariadb[\w-]*)\s{_REST}(?<=\s)-p"),
        (("sshpass",), r"\bsshpass\s+-p\s*"),
        (("login",), rf"\b(?:docker|podman|helm|oc|az|buildah|skopeo|crane|ibmcloud)\s{_REST}\blogin\s{_REST}(?<=\s)-p\s+"),
        (("mongo",), rf"\bmongo(?:sh|dump|restore|export|import)?\s{_REST}(?<=\s)-p\s+"),
        (("redis-cli",), rf"\bredis-cli\s{_REST}(?<=-a)\s+"),
        (("requirepass", "masterauth"), r"\b(?:requirepass|masterauth)\s+"),
        (("ldap",), rf"\bldap(?:search|modify|add|whoami|passwd|delete)\s{_REST}(?<=\s)-w\s+"),
        (("7z", "zip", "rar"), rf"\b(?:7z[ar]?|rar|unrar)\s{_REST}(?<=\s)-h?p"),
        (("zip",), rf"\b(?:un)?zip\s{_REST}(?<=\s)-P\s*"),
        (("htpasswd",), r"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+"),
        (("pass:",), r"-pass(?:in|out)?\s+pass:"),
        (("net use",), rf"\bnet use\s{_REST}/user:\S+\s+"),
        (("user",), r"\b(?:rabbitmqctl\s+(?:add_user|change_password)|useradd)\s+\S+\s+"),
        (("--",), r"(?<!\S)--?(?:[a-z]+-)*(?:password|passwd|passphrase|pass|secret|token|api-?key|access-?key|secret-?key)(?:=|\s+)"),
        (("identified",), r"(?i:\bidentified\s+(?:with\s+\S+\s+)?by\s+(?=[\"']))"),
        (("sudo",), r"\becho\s+(?=[^\n|]{1,200}\|\s*sudo\s+(?:-\S+\s+)*-\w*S)"),
        (("wifi:",), r"WIFI:[^\s]{0,100}?;P:(?=\S)"),
    )
)  # fmt: skip
#: `-u name:secret` and its like: only what follows the colon goes.
_PAIRS = tuple(
    (words, re.compile(pattern + r"['\"]?(?P<user>[^\s:'\"$<>/]{1,80})[:%](?!//)" + _VALUE))
    for words, pattern in (
        (("curl", "http", "wget", "xh"), rf"\b(?:curl|https?|xh|xhs|wget|httpie)\s{_REST}(?<=\s)(?:-u\s*|-a\s+|--(?:proxy-)?user(?:=|\s+)|--auth(?:=|\s+))"),
        (("smbclient", "rpcclient"), rf"\b(?:smbclient|rpcclient|smbmap)\s{_REST}(?<=\s)-U\s*"),
        (("chpasswd",), r"\becho\s+(?=[^\n|]{1,200}\|\s*(?:sudo\s+)?chpasswd)"),
    )
)  # fmt: skip
#: With a slash only where no port can be meant: `host:8080/path@2`.
_URL_PASSWORD = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,30}://(?P<user>[^\s:/@\"'<>]{0,100}):"
    r"(?P<bare>[^\s/\"'<>]{1,200}|(?!\d{1,5}/)[^\s\"'<>]{1,200})@(?=[\w\[.%$-])",
    re.IGNORECASE,
)
_URL_TOKEN = re.compile(r"\bhttps?://(?P<bare>[A-Za-z0-9_-]{20,200})@(?=[\w.-]+\.\w)")
_HEADER = re.compile(
    r"(?i)\bauthorization['\"]?\s*[:=]\s*['\"]?(?:basic|bearer|token|bot|digest|apikey|key|negotiate|sso-key|genie\s?key|api-?key)\s+"
    r"(?P<bare>[\w.~+/=:-]{8,4000})"
    r"|\bbearer\s+(?P<bearer>[\w.~+/-]{16,4000}=*)"
)
_NETRC = re.compile(r"\blogin\s+\S{1,80}\s+password\s+(?P<bare>\S{3,200})")


#: Where an address, a header or a file of logins has them.
_ELSEWHERE = (
    (("://",), _URL_PASSWORD),
    (("://",), _URL_TOKEN),
    (("bearer", "authorization"), _HEADER),
    (("login",), _NETRC),
)


def find_in_commands(text: str) -> Iterator[Span]:
    """Values at the positions where a command line, an address or a header takes a password or token."""
    low = text.lower()
    for words, pattern in (*_COMMANDS, *_PAIRS, *_ELSEWHERE):
        for match in pattern.finditer(text) if any(word in low for word in words) else ():
            is_example = pattern is _URL_PASSWORD and match["bare"].strip("*").lower() in _EXAMPLES
            is_word = pattern is _HEADER and len(match[0]) <= 40 and not any(c.isdigit() for c in match[0])
            if not (is_example or is_word):
                yield from _find_value(match)


#: What tutorials put where a password stands.
_EXAMPLES = frozenset("password pass passwd pwd pw secret token user username your-password yourpassword ...".split())


def _find_value(match: re.Match[str]) -> Iterator[Span]:
    group = next(name for name in ("single", "double", "bare", "bearer") if match.groupdict().get(name))
    start, end = match.span(group)
    value = match[group]
    if match[0].startswith("WIFI:"):
        value = value.split(";")[0]
    elif group == "bare":
        value = value.rstrip(").,;")
    end = start + len(value)
    if value and not is_stand_in(value) and value.lower() not in _EXAMPLES and not value.startswith("-"):
        yield start, end


def find_pairs(text: str) -> Iterator[Span]:
    """Values that are identified by their neighbours."""
    low = small_letters(text)
    for hints, pattern, group in _IN_SENTENCES:
        if any(hint in low for hint in hints):
            for match in pattern.finditer(text):
                value = match[group].rstrip(".,;:)")
                if (
                    is_strong(value)
                    and any(c.islower() for c in value)
                    and (_is_mixed(value) or (group != "root" and ":" not in value))
                ):
                    yield match.start(group), match.start(group) + len(value)
    if "_" in text and "=" in text:
        for match in _CONSTANT.finditer(text):
            if is_random(match["constant"], 16):
                yield match.span("constant")
    if "code" in low:
        for match in _CODE_LIST.finditer(text):
            for code in _ONE_CODE.finditer(text, *match.span("codes")):
                if any(c.isdigit() for c in code[0]):
                    yield code.span()
    if any(hint in low for hint in ("seed", "phrase", "mnemonic", "words")):
        for match in _SEED.finditer(text):
            yield match.span("seed")
    if "cookie" in low:
        for line in _COOKIES.finditer(text):
            for cookie in _COOKIE.finditer(text, *line.span("cookies")):
                if is_machine_made(cookie["cookie"]):
                    yield cookie.span("cookie")


def _is_mixed(value: str) -> bool:
    """Capitals, or marks that no path has."""
    return any(c.isupper() for c in value) or any(c in "!@#$%^&*+=?~" for c in value)
