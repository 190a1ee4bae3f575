"""Passwords in commands, addresses and protocols: `mysql -pX`, `curl -u a:X`, `https://a:X@host`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.wording.redaction.spans import Span, is_stand_in

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


def find_in_commands(text: str) -> Iterator[Span]:
    """Values at the positions where a command line, an address or a header takes a password or token."""
    low = text.lower()
    for words, pattern in (*_COMMANDS, *_PAIRS):
        if any(word in low for word in words):
            for match in pattern.finditer(text):
                yield from _value_of(match)
    if "@" in text and "://" in text:
        for match in _URL_PASSWORD.finditer(text):
            if match["bare"].strip("*").lower() not in _EXAMPLES:
                yield from _value_of(match)
        for match in _URL_TOKEN.finditer(text):
            yield from _value_of(match)
    if "bearer" in low or "authorization" in low:
        for match in _HEADER.finditer(text):
            if any(c.isdigit() for c in match[0]) or len(match[0]) > 40:
                yield from _value_of(match)
    if "password" in low and "login" in low:
        for match in _NETRC.finditer(text):
            yield from _value_of(match)


#: What tutorials put where a password stands.
_EXAMPLES = frozenset("password pass passwd pwd pw secret token user username your-password yourpassword ...".split())


def _value_of(match: re.Match[str]) -> Iterator[Span]:
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
