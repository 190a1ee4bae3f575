"""Positions in a text, and the judgements about values that several finders share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from memory_pipeline.text.facts import NEGATORS, STOP_WORDS
from memory_pipeline.text.languages import FUNCTION_WORDS

Span = tuple[int, int]

#: What stands in for a value: references to a variable, an example, a type, a call, a mask of somebody else's.
_STAND_IN = re.compile(
    r"""(?ix) \$ [\w({] | \{ | %[\w({]+ | < | \[ | \( | ! [a-z]+ $ | \* | [x*•.\-_#]{3,} $ | (?:sk|pk)?-?(?:x{4,}|\.{3}|…)
      | your[\s_-] | my[_-]?(?:api|secret|pass|token|key) | (?:the|a|an|insert|enter|put|replace|add|some)[_-]
      | (?:os|process|env|settings|config|cfg|self|this|args|request|req|secrets|vars|var|local|data|module)[.\[]
      | (?:str|string|int|bool|bytes|optional|none|null|nil|true|false|undefined|any|text|varchar|secretstr)\b (?![\w!@#$%^&*-])
      | (?:https?|file|op|vault|arn|ssm|keyring|env):  | [./~]{1,3}/ | [a-z]:\\ | \.\.\. | … | 0x[0-9a-f]{1,8}$
      | (?:change[_-]?me|replace[_-]?me|example|placeholder|redacted|hidden|masked|todo|tbd|n/a|example_?key)\b
    """
)
_CALL = re.compile(r"[A-Za-z_.]+[(\[]|\w+\(\)")
_NAME_PATH = re.compile(r"[A-Za-z_]+(?:(?:\.|::|->)[A-Za-z_]+)+(?:\[.*\])?$")
_VERSION = re.compile(r"[v^~=<>]*\d+(?:\.\d+){1,4}(?:[-+.][\w.]+)?$")
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}\S*)?$|\d{1,2}[./]\d{1,2}[./]\d{2,4}$|\d{1,2}:\d{2}(?::\d{2})?$"
)
_FILE = re.compile(
    r"[\w.@/\\-]*\.(?:md|txt|py|js|ts|tsx|json|ya?ml|toml|env|enc|pem|key|pub|sh|html?|css|go|rs|sql|conf|ini)$"
)
_MEASURE = re.compile(
    r"[\d.,]+(?:th|st|nd|rd|x|k|m|g|b|kb|mb|gb|ms|s|sec|min|h|d|days?|bits?|bytes?|chars?|%|px|usd|eur)$", re.I
)
_ATTRIBUTE = re.compile(r"[A-Za-z_.-]+=(?:[\"'{]|[\d./,]*$)")
_MARKS = frozenset("!@#$%^&*+=?~")
_WORD = r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[a-zA-Z]|\d{1,4})"
_WORDS = re.compile(rf"[-_./:]*{_WORD}(?:[-_./:]+{_WORD})*[-_./:]*")
_ODD_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


def is_stand_in(value: str) -> bool:
    """A reference, placeholder, type, call, address or path instead of a value."""
    forms = (_STAND_IN, _CALL, _ATTRIBUTE, _NAME_PATH, _VERSION, _DATE, _FILE, _MEASURE)
    return any(form.match(value) for form in forms)


def has_letters_and_digits(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def is_machine_made(value: str) -> bool:
    """Characters that nobody would choose: letters and digits that do not form words and small numbers, or odd case."""
    if _WORDS.fullmatch(value):
        return False
    if has_letters_and_digits(value):
        return True
    return len(_ODD_CASE.findall(value)) >= max(2, len(value) // 8)


def is_random(value: str, shortest: int) -> bool:
    """A machine-made value of at least `shortest` characters that stands alone."""
    return len(value) >= shortest and value.isascii() and not is_stand_in(value) and is_machine_made(value)


def is_strong(value: str) -> bool:
    """Text that only a password looks like: letters with digits, or with marks in between, or four words joined."""
    if len(value) < 4 or is_stand_in(value) or value.lower().strip("!?.") in SAID_OF_ONE:
        return False
    if value.count("-") >= 3 and all(part.isalpha() for part in value.split("-")):
        return not any(part in OF_A_SENTENCE for part in value.lower().split("-"))
    if has_letters_and_digits(value):
        return True
    inner = value.rstrip("!?*")
    return any(c.isalnum() for c in value) and (
        sum(c in _MARKS for c in inner) >= 1 or (len(value) >= 6 and value[-1] in "!?" and value[-2] in _MARKS)
    )


def is_strong_phrase(value: str) -> bool:
    """At most four parts with a digit and a mark, as a password that holds a space: `p@ss w0rd9!`."""
    return (
        1 < len(value.split()) <= 4
        and not is_stand_in(value)
        and any(c.isdigit() for c in value)
        and any(c in _MARKS for c in value)
    )


def small_letters(text: str) -> str:
    """The text in lower case with unchanged positions: letters that would become two stay as they are."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _either(words: Iterable[str]) -> str:
    """One pattern for all words, by their first letters: an alternation of hundreds is slow, one of a few is not."""
    by_letter: dict[str, list[str]] = defaultdict(list)
    for word in sorted(set(words), key=len, reverse=True):
        by_letter[word[0]].append(word[1:].replace("_", r"[\s_-]?"))
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items())


#: Names of a password that are clear wherever they stand, even within `dbPassword`.
PASSWORDS = _either(
    "password passwd passwrd passphrase pass_phrase passcode pass_code passwort kennwort contraseña contrasenya mot_de_passe"
    " motdepasse senha palavra_passe palavra_chave пароль пароля паролем паролі пароли парола 密码 密碼 口令 パスワード"
    " 暗証番号 비밀번호 암호 hasło wachtwoord lösenord adgangskode passord salasana şifre jelszó heslo geslo lozinka"
    " лозинка κωδικός סיסמה סיסמא كلمة_المرور كلمة_السر رمز_عبور گذرواژه पासवर्ड รหัสผ่าน mật_khẩu kata_sandi parolă"
    " slaptažodis wlan_schlüssel netzwerkschlüssel wlan_key wifi_key wi-fi_key wpa_key wpa2_key community_string".split()
)
#: Short ones, only as words of their own.
SHORT_PASSWORDS = _either(
    "pw pwd psw pswd rootpw pass creds mdp contrasena clave parola parool parole haslo losenord sifre sandi".split()
)
_KINDS_OF_KEY = (
    "api access auth secret private app application admin master encryption signing service account license deploy project"
    " server user shared consumer client webhook storage write ingest integration subscription provisioning rest live test"
    " prod production staging read rw preshared pre_shared host function functions search management"
).split()
#: What names a token or key that a machine made.
TOKENS = _either(
    [
        *(f"{kind}_key" for kind in _KINDS_OF_KEY),
        *"apikey authkey secretkey appkey token secret credential auth bearer dsn api_schlüssel zugangsschlüssel clé_api"
        " clé_d['’]api clave_api clave_de_api clave_secreta chave_api chave_de_api chave_da_api chave_secreta jeton api_ключ"
        " ключ_api токен токена секрет api_密钥 密钥 密鑰 令牌 api_キー トークン シークレット api_키 토큰 klucz_api api_sleutel"
        " webhook_url".split(),
    ]
)
#: Makers of keys whose name before `key` says what it is.
MAKERS = _either(
    "openai anthropic claude google gemini azure aws stripe slack discord telegram twilio sendgrid npm pypi groq replicate"
    " supabase vercel netlify railway digitalocean cloudflare linear notion airtable shopify square mailgun mailchimp"
    " databricks datadog new_relic sentry grafana vault pulumi terraform doppler mistral cohere elevenlabs algolia okta"
    " pagerduty snyk auth0 reddit spotify twitter github gitlab bitbucket huggingface hugging_face hetzner ovh linode"
    " render heroku mapbox openweather deepl deepgram assemblyai stability together fireworks perplexity deepseek xai"
    " openrouter pinecone weaviate qdrant firebase voyage tavily serper serpapi brave exa jina postmark resend brevo"
    " intercom hubspot zendesk jira confluence asana trello figma miro zoom dropbox plaid paypal coinbase binance kraken"
    " alpaca polygon finnhub tmdb giphy unsplash pexels pusher ably segment mixpanel amplitude posthog launchdarkly"
    " honeycomb dynatrace rollbar bugsnag logtail axiom neon planetscale upstash redis fly wandb comet".split()
)
_TUER, _SCHLUESSEL = "t(?:ü|ue)r", "schl(?:ü|ue)ssel"
_OPENED = (
    "alarm door gate garage shed entrance lobby elevator lock padlock lockbox locker safe vault keypad key_safe key_box"
    f" tor hoftor gartentor garagentor {_TUER} haus{_TUER} keller{_TUER} garagen{_TUER} alarmanlage tresor schloss"
    f" zahlenschloss {_SCHLUESSEL}safe {_SCHLUESSEL}box {_SCHLUESSEL}tresor {_SCHLUESSEL}kasten"
).split()
_KINDS_OF_CODE = (
    "entry unlock access security verification one_time 2fa mfa sms login buzzer confirmation auth authentication backup puk"
    " recovery garagen eingangs zugangs zutritts sicherheits bestätigungs entsperr freischalt zahlen"
).split()
#: What a number opens.
OPENED = _either(_OPENED)
#: Numbers that open something.
CODES = _either(
    [
        *(f"{kind}_{infix}code" for kind in (*_OPENED, *_KINDS_OF_CODE) for infix in ("", "key_")),
        *"lock_combination safe_combination padlock_combination locker_combination".split(),
        *"pin pin_code pin_number passcode puk otp cvv cvc geheimzahl code_pin código_pin пин пин_код".split(),
    ]
)
#: Verbs between the name and the value.
COPULAS = (
    r"(?:(?:(?:has\s+been|have\s+been|was|is|got|gets|wurde)\s+)?(?:(?:re)?set|changed|reset|updated|rotated|switched)?\s*"
    r"(?:from\s+(?P<old>\S{4,80})\s+)?(?:to|into|auf)(?:\s+be)?:?\s+"
    r"|(?:is|c['’]est|was|ist|lautet|war|es|est|è|é|eh|är|er|on|jest|є|это|він|olarak|adalah)"
    r"(?:\s+(?:now|still|currently|just|simply|always|jetzt|ahora|maintenant))?\s*:?\s+)"
)
#: The same in scripts that leave no spaces.
TIGHT_COPULAS = r"(?:是|为|為|就是|は|が|는|은|이|を|已改为|改为|改成|هي|هو)"
#: Between the name and the sign of equality: `password (prod):`, `Kennwort für das NAS:`, `root password on web1:`.
PREPOSITIONS = (
    "for of on at to in from für fürs des der vom von zum zur im am beim ins ans para del de da do du pour sur dla do na för till voor van"
    " від от для к на в per di sul"
).replace(" ", "|")
#: Endings of a name after which comes something else than the secret: `password_hash`, `token_limit`, `secretName`.
OTHER_THINGS = (
    "name|names|id|ids|type|types|url|uri|path|file|files|ref|refs|len|length|count|counts|limit|limits|expiry|expires|"
    "expiration|ttl|policy|field|fields|column|reset|manager|age|budget|usage|used|window|rate|cost|price|hint|label|"
    "lifetime|version|source|provider|store|class|index|kind|format|prefix|suffix|required|enabled|rotation|scope|scopes|"
    "bucket|buckets|size|max|min|total|per|input|output"
)
#: Words that are said of a password and are none: they stand where one could stand.
SAID_OF_ONE = frozenset(
    """required optional missing empty blank none null nil default weak strong wrong right correct incorrect invalid valid
    unknown unchanged changed updated rotated expired expires reset lost forgotten found stored saved hidden masked
    redacted removed deleted hashed encrypted encoded protected disabled enabled set unset given provided see same
    similar different secret private public confidential shared unique random generated temporary bitwarden keepass
    keepassxc lastpass vault keychain onepassword dashlane proton passbolt argon bcrypt scrypt plaintext cleartext
    string text integer number boolean bool true false yes no not never always here there below above elsewhere somewhere
    todo pending unavailable available needed necessary mandatory ok okay okey fine good bad broken leaked compromised
    exposed rejected accepted refused denied allowed forbidden blocked locked unlocked login logout policy policies
    manager reuse reused again works failed failing fails tested testing fixed done open closed case-sensitive
    passwordless passkey passkeys oauth saml ldap kerberos sso mfa totp basic digest bearer user username email name
    password passwort passphrase token key keys value values field fields input output prompt interactive hardcoded
    enter type confirm confirmation repeat choose new old current rotation length strength expiry minimum maximum
    monthly weekly yearly quarterly daily annually soon later today tomorrow yesterday now immediately
    erforderlich vergessen abgelaufen falsch richtig geändert gesetzt leer fehlt unbekannt obligatoria olvidada
    incorrecta requerida cambiada oublié incorrect requis changé modifié obligatoire incorreta esquecida obrigatória
    errata dimenticata richiesta изменён изменен неверный забыт обязателен сменён
    base64 sha1 sha256 sha512 md5 utf8 utf-8 oauth2 argon2 argon2id argon2i pbkdf2 1password x509 2fa aes256 aes-256
    rsa2048 rsa4096 ed25519 hs256 rs256 es256 http2 ipv4 ipv6 s3 k8s ec2 saml2 webauthn fido2""".split()
)
#: Words of a sentence; a passphrase has none of them.
OF_A_SENTENCE = (
    STOP_WORDS
    | NEGATORS
    | FUNCTION_WORDS
    | frozenset(
        "use used uses using every least stays kept should must see ask please leave left until aber kein als wenn wir".split()
    )
)
