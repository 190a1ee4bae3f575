"""Tokens with a recognisable shape: the prefixes, alphabets and lengths that providers use.

Sources of the shapes: the providers' documentation. Most tokens are one run without spaces, so the patterns are only
tried within long runs, of which ordinary prose has few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_pipeline.text.redaction.spans import Span, is_machine_made

#: Prefixes that nothing but a token begins with, and how many characters of [A-Za-z0-9_-] follow at least.
_PREFIXES = {
    10: "xox[abceoprs]- xoxe\\.xox[bp]- xapp- EZ[AT]K",
    16: "gh[pousr]_ glpat- gl(?:rt|dt|soat|ft|ptt|agent|oas|cbt|imt)- sk-ant- sk-(?:proj|svcacct|admin|or|None|lf)- "
    "(?:sk|rk|pk_secret)_(?:live|test|prod)_ whsec_ AGE-SECRET-KEY-1 shp(?:at|ca|pa|ss|tk)_ sq0(?:atp|csp|idp)- r8_ "
    "NRAK- NRAA- NRII- NRIQ- tvly- re_\\w{6,10}_ rnd_ sgp_ pnu_ phx_ CFPAT- figd_ bkua_ jina_ fw_ "
    "shippo_(?:live|test)_ (?:live|test)_sk_ rzp_(?:live|test)_ FLWSECK(?:_TEST)?- tfp_ e2b_ fc- nvapi- fal_ "
    "hvb\\. hvr\\. pscale_(?:tkn|pw|oauth)_ lin_(?:api|oauth)_ vc[pikr]_ dckr_(?:pat|oat)_ cio aio_ glc_ napi_ apify_api_ "
    "sl\\.(?:u\\.)? waka_ zpka_ ico- pypi-AgE rpa_ hcaptcha_ csk- ollama_ agp_ secret_[a-z]{4}_",
    20: "github_pat_ hf_ npm_ AIza GOCSPX- gsk_ pplx- xai- sbp_ sb_secret_ sbs_ nfp_ nfo_ nfc_ dop_v1_ doo_v1_ dor_v1_ "
    "rubygems_ glsa_ hvs\\. pul- dp\\.(?:pt|st|ct|sa|scim|audit)\\. ntn_ lsv2_(?:pt|sk)_ pcsk_ vercel_ "
    "squ_ sqp_ sqa_ tskey-[a-z]+- CCIPAT_ CCIPRJ_ ATATT3x ATBB ATCTT3x HRKU- ya29\\. dt0[a-z]\\d\\d\\. "
    "sntrys_ sntryu_ pat-(?:na|eu)\\d- PMAK- xkeysib- xsmtpsib- ops_eyJ AKCp[58] oy2 1//0 sk\\.eyJ EAA[A-Za-z]{2} "
    "access-(?:production|development|sandbox)- lip_ key-[0-9a-f]{8} dapi[0-9a-f]{12} "
    "AccountKey= SharedAccessKey= FlyV1 fm[12][a-z]?_ fo1_ cfat_ cfut_ cfk_ duffel_(?:live|test)_ ghu_ "
    "LTAI[A-Za-z0-9]{2} AKID[A-Za-z0-9]{2} p8e- sdk-[0-9a-f]{8} api-[0-9a-f]{8}- mob-[0-9a-f]{8}- prefect_ ey_ "
    "ABSK bedrock-api-key- snyk_(?:uat|sat)\\. u_[0-9a-f]{16} cnvca nx\\. b10b QVNC",
}  # fmt: skip
_BODY = r"[\w+/=.~%:-]"


_FAMILY = "|".join(
    rf"(?:{'|'.join(prefixes.split())}){_BODY}{{{least},}}"
    for least, prefixes in sorted(_PREFIXES.items(), reverse=True)
)
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    + _FAMILY
    + r"""
|sk-[A-Za-z0-9_-]{20,}
|[a-z]{2,12}_(?:live|prod)_[A-Za-z0-9]{16,}(?![\w-])
|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])
|A3T[A-Z0-9][A-Z0-9]{16}(?![A-Za-z0-9])
|eyJ[\w-]{8,1500}\.eyJ[\w-]{8,}\.[\w-]{4,}
|eyJ[\w-]{16,1500}\.[\w-]{0,800}\.[\w-]{10,40}\.[\w-]{10,}\.[\w-]{10,}
|\d{8,10}:[A-Za-z0-9_-]{35}(?![\w-])
|(?:SK|AC)[0-9a-f]{32}(?!\w)
|SG\.[\w-]{16,}\.[\w-]{16,}
|[MNO][A-Za-z\d_-]{22,27}\.[\w-]{6}\.[\w-]{27,}
|[\w~.-]{3}[78]Q~[\w~.-]{31,34}
|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
|secret_[A-Za-z0-9]{40,}
|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}
|[0-9a-f]{32}-us\d{1,2}(?!\w)
|\d/\d{10,}(?:/\d{10,})?:[0-9a-f]{32}
|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}
|EAAA[A-Za-z][\w-]{50,}
|AAAAAAAAAAAAAAAAAAAA[\w%]{40,}
|s-s4t2(?:ud|af)-[0-9a-f]{64}
|amzn\.mws\.[0-9a-f-]{36}
|(?:r|s)k[_-][A-Za-z0-9]{40,}
|xprv[a-zA-Z0-9]{100,}
|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![\w+/=])
)""".replace("\n", "")
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_+/=.~%:@-]{14,}")
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S]){0,20000}-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s|\\n|[A-Za-z0-9+/=]{16,}|[A-Za-z-]{4,20}: [\w,-]{1,60}\n){0,600})"
)
#: Addresses to which anybody may post, or whose last part is the key.
_CAPABILITY_URLS = re.compile(
    r"""(?ix) https?:// (?:
      hooks\.slack\.com/(?:services|workflows|triggers)/ (?P<slack>[\w/-]{10,})
    | (?:[a-z]+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/ (?P<discord>\d+/[\w-]{20,})
    | [\w.-]+\.webhook\.office\.com/webhookb2/ (?P<teams>[\w@/-]{20,})
    | outlook\.office(?:365)?\.com/webhook/ (?P<outlook>[\w@/-]{20,})
    | hooks\.zapier\.com/hooks/(?:catch|standard)/ (?P<zapier>[\w/-]{6,})
    | hooks\.airtable\.com/workflows/v1/genericWebhook/ (?P<airtable>[\w/-]{10,})
    | maker\.ifttt\.com/(?:trigger|use)/ (?P<ifttt>[\w/-]{10,})
    | hook\.[a-z0-9.]{0,12}(?:make|integromat)\.com/ (?P<make>[a-z0-9]{10,})
    | (?:open\.feishu\.cn|open\.larksuite\.com)/open-apis/bot/(?:v2/)?hook/ (?P<lark>[\w-]{10,})
    | qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key= (?P<wecom>[\w-]{10,})
    | hc-ping\.com/ (?P<healthchecks>[\w/-]{10,})
    | api\.telegram\.org/bot (?P<telegram>\d{6,12}:[\w-]{20,})
    | [\w.-]{1,80}/hooks/ (?P<mattermost>[a-z0-9]{26}|[A-Za-z0-9]{17}/[A-Za-z0-9]{40,})(?![\w-])
    | (?P<sentry>[0-9a-f]{32})(?::[0-9a-f]{32})?@[\w.-]{1,80}/\d
    )
    | [?&](?:sig|signature|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)= (?P<signed>[\w%+/=-]{16,})
    """
)
_DIGEST = re.compile(
    r"(?<![\w$])(?:\$(?:2[abxy]|apr1|1|5|6|7|y|argon2(?:id|i|d)|pbkdf2[\w-]{0,12}|scrypt)\$[\w./+=,$-]{20,}"
    r"|pbkdf2_sha\d+\$\d+\$[\w./+=$-]{20,}|\{S?SHA(?:256|512)?\}[\w+/=]{20,})"
)


#: The secret half beside the id of an AWS key.
_AWS_PAIR = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9+]{1,12}(?:[A-Za-z_ -]{0,40}[^A-Za-z0-9+/]{1,8})?(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])"
)
_SPACED = re.compile(r"\bFlyV1 (?P<token>[\w+/=,-]{40,})")
#: What stands in a text that may hold one of these, and what is masked of it: the named part, or all.
_WHOLE = (
    (("PRIVATE KEY",), _PEM),
    (("://", "="), _CAPABILITY_URLS),
    (("$", "SHA"), _DIGEST),
    (("AKIA", "ASIA"), _AWS_PAIR),
    (("FlyV1",), _SPACED),
)


def find_tokens(text: str) -> Iterator[Span]:
    """Private keys, addresses that are keys, digests of passwords, and tokens of known shape."""
    for hints, pattern in _WHOLE:
        for match in pattern.finditer(text) if any(hint in text for hint in hints) else ():
            if pattern is not _AWS_PAIR or is_machine_made(match["secret"]):
                yield match.span(match.lastgroup or 0)
    for run in _LONG_RUN.finditer(text):
        if text.endswith("base64,", 0, run.start()):
            continue  # a picture within the text
        for match in _SHAPES.finditer(text, run.start(), run.end()):
            start, end = _trimmed(match)
            if is_machine_made(text[start:end]):
                yield start, end


def _trimmed(match: re.Match[str]) -> Span:
    """Without the full stop at the end of the sentence, or the rest of the address that the token starts."""
    token = match[0]
    for mark in "@&":
        token = token.partition(mark)[0]
    return match.start(), match.start() + len(token.rstrip(".:%-/"))
