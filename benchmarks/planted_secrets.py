"""Made-up secrets of many providers in the forms in which an agent's notes carry them, each drawn from a seed.

Nothing here is a token: only shapes (prefix, alphabet, length) are written down, and the characters come from
the generator. A sample names the strings that must not survive masking.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
WIDE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, what it holds, and the secrets in it; a look-alike holds none and must stay as it is."""

    group: str
    kind: str
    form: str
    text: str
    secrets: tuple[str, ...] = ()

    @property
    def held_out(self) -> bool:
        """Half of all (kind, form) pairs, chosen by their names alone: never looked at while rules were written."""
        return hashlib.sha256(f"{self.kind}/{self.form}".encode()).digest()[0] % 2 == 1


Maker = Callable[[random.Random], str]


def draw(rng: random.Random, alphabet: str, length: int) -> str:
    """Random characters in which no kind that the alphabet has is missing, as in real tokens of some length."""
    while True:
        text = "".join(rng.choice(alphabet) for _ in range(length))
        kinds = (str.isdigit, str.islower, str.isupper)
        if length < 12 or all(any(map(k, text)) for k in kinds if any(map(k, alphabet))):
            return text


def shape(*parts: str | tuple[str, int]) -> Maker:
    """A maker from literal pieces and (alphabet, length) pairs."""
    return lambda rng: "".join(p if isinstance(p, str) else draw(rng, *p) for p in parts)


def _uuid(rng: random.Random) -> str:
    return "-".join(draw(rng, HEX, n) for n in (8, 4, 4, 4, 12))


def _url64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _jwt(rng: random.Random) -> str:
    claims = {"sub": draw(rng, string.digits, 10), "name": draw(rng, string.ascii_lowercase, 8), "iat": 1772352000}
    return f"{_url64({'alg': 'HS256', 'typ': 'JWT'})}.{_url64(claims)}.{draw(rng, WIDE, 43)}"


def _discord(rng: random.Random) -> str:
    number = base64.b64encode(draw(rng, string.digits, 18).encode()).decode().rstrip("=")
    return f"{number}.{draw(rng, WIDE, 6)}.{draw(rng, WIDE, 38)}"


def _pem(kind: str, lines: int = 6) -> Maker:
    def make(rng: random.Random) -> str:
        body = "\n".join(draw(rng, BASE64, 64) for _ in range(lines))
        return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"

    return make


_A40, _A32H = (ALNUM, 40), (HEX, 32)
#: Provider -> environment variable and maker. These can be told by their own shape.
DISTINCTIVE: dict[str, tuple[str, Maker]] = {
    "GitHub classic": ("GITHUB_TOKEN", shape("ghp_", (ALNUM, 36))),
    "GitHub fine-grained": ("GH_PAT", shape("github_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    "GitHub app": ("GITHUB_APP_TOKEN", shape("ghs_", (ALNUM, 36))),
    "GitLab": ("GITLAB_TOKEN", shape("glpat-", (WIDE, 20))),
    "GitLab runner": ("RUNNER_TOKEN", shape("glrt-", (WIDE, 20))),
    "OpenAI project": ("OPENAI_API_KEY", shape("sk-proj-", (WIDE, 74), "T3Blbk", "FJ", (WIDE, 74))),
    "OpenAI legacy": ("OPENAI_API_KEY", shape("sk-", (ALNUM, 20), "T3Blbk", "FJ", (ALNUM, 20))),
    "OpenAI service account": ("OPENAI_API_KEY", shape("sk-svcacct-", (WIDE, 58), "T3Blbk", "FJ", (WIDE, 58))),
    "Anthropic": ("ANTHROPIC_API_KEY", shape("sk-ant-api03-", (WIDE, 93), "AA")),
    "Anthropic admin": ("ANTHROPIC_ADMIN_KEY", shape("sk-ant-admin01-", (WIDE, 93), "AA")),
    "OpenRouter": ("OPENROUTER_API_KEY", shape("sk-or-v1-", (HEX, 64))),
    "DeepSeek": ("DEEPSEEK_API_KEY", shape("sk-", _A32H)),
    "Google API": ("GOOGLE_API_KEY", shape("AIza", (WIDE, 35))),
    "Google OAuth": ("GOOGLE_CLIENT_SECRET", shape("GOCSPX-", (WIDE, 28))),
    "Google access": ("GOOGLE_ACCESS_TOKEN", shape("ya29.a0", (WIDE, 120))),
    "Google refresh": ("GOOGLE_REFRESH_TOKEN", shape("1//0", (WIDE, 98))),
    "Azure AD": ("AZURE_CLIENT_SECRET", shape((ALNUM, 3), "8Q~", (ALNUM, 34))),
    "Azure storage": ("AZURE_STORAGE_CONNECTION_STRING", shape("DefaultEndpointsProtocol=https;AccountName=shopdata;AccountKey=", (BASE64, 86), "==;EndpointSuffix=core.windows.net")),
    "AWS id": ("AWS_ACCESS_KEY_ID", shape("AKIA", (string.ascii_uppercase + "234567", 16))),
    "AWS temporary id": ("AWS_ACCESS_KEY_ID", shape("ASIA", (string.ascii_uppercase + "234567", 16))),
    "Stripe": ("STRIPE_SECRET_KEY", shape("sk_live_51", (ALNUM, 97))),
    "Stripe restricted": ("STRIPE_RESTRICTED_KEY", shape("rk_live_", (ALNUM, 24))),
    "Stripe webhook": ("STRIPE_WEBHOOK_SECRET", shape("whsec_", (ALNUM, 32))),
    "Slack bot": ("SLACK_BOT_TOKEN", shape("xoxb-", (string.digits, 12), "-", (string.digits, 13), "-", (ALNUM, 24))),
    "Slack app": ("SLACK_APP_TOKEN", shape("xapp-1-A", (UPPER, 10), "-", (string.digits, 13), "-", (HEX, 64))),
    "Slack webhook": ("SLACK_WEBHOOK_URL", shape("https://hooks.slack.com/services/T", (UPPER, 10), "/B", (UPPER, 10), "/", (ALNUM, 24))),
    "Discord bot": ("DISCORD_TOKEN", _discord),
    "Discord webhook": ("DISCORD_WEBHOOK", shape("https://discord.com/api/webhooks/", (string.digits, 19), "/", (WIDE, 68))),
    "Teams webhook": ("TEAMS_WEBHOOK", lambda r: f"https://contoso.webhook.office.com/webhookb2/{_uuid(r)}@{_uuid(r)}/IncomingWebhook/{draw(r, HEX, 32)}/{_uuid(r)}"),
    "Zapier webhook": ("ZAPIER_HOOK", shape("https://hooks.zapier.com/hooks/catch/", (string.digits, 8), "/", (LOWER, 7))),
    "Telegram": ("TELEGRAM_BOT_TOKEN", shape((string.digits[1:], 10), ":AA", (WIDE, 33))),
    "Twilio key": ("TWILIO_API_KEY", shape("SK", _A32H)),
    "SendGrid": ("SENDGRID_API_KEY", shape("SG.", (WIDE, 22), ".", (WIDE, 43))),
    "Mailgun": ("MAILGUN_API_KEY", shape("key-", _A32H)),
    "Mailchimp": ("MAILCHIMP_API_KEY", shape(_A32H, "-us12")),
    "Brevo": ("BREVO_API_KEY", shape("xkeysib-", (HEX, 64), "-", (ALNUM, 16))),
    "Resend": ("RESEND_API_KEY", shape("re_", (ALNUM, 8), "_", (ALNUM, 24))),
    "npm": ("NPM_TOKEN", shape("npm_", (ALNUM, 36))),
    "PyPI": ("TWINE_PASSWORD", shape("pypi-AgEIcHlwaS5vcmc", (WIDE, 150))),
    "RubyGems": ("GEM_HOST_API_KEY", shape("rubygems_", (HEX, 48))),
    "NuGet": ("NUGET_API_KEY", shape("oy2", (LOWER, 43))),
    "Docker Hub": ("DOCKER_PAT", shape("dckr_pat_", (WIDE, 27))),
    "Hugging Face": ("HF_TOKEN", shape("hf_", (string.ascii_letters, 34))),
    "Groq": ("GROQ_API_KEY", shape("gsk_", (ALNUM, 52))),
    "Replicate": ("REPLICATE_API_TOKEN", shape("r8_", (ALNUM, 37))),
    "xAI": ("XAI_API_KEY", shape("xai-", (ALNUM, 80))),
    "Perplexity": ("PPLX_API_KEY", shape("pplx-", (ALNUM, 48))),
    "Tavily": ("TAVILY_API_KEY", shape("tvly-dev-", (ALNUM, 32))),
    "LangSmith": ("LANGSMITH_API_KEY", shape("lsv2_pt_", _A32H, "_", (HEX, 10))),
    "Pinecone": ("PINECONE_API_KEY", shape("pcsk_", (ALNUM, 6), "_", (ALNUM, 63))),
    "Supabase": ("SUPABASE_ACCESS_TOKEN", shape("sbp_", (HEX, 40))),
    "Supabase secret": ("SUPABASE_SECRET_KEY", shape("sb_secret_", (WIDE, 31))),
    "Vercel blob": ("BLOB_READ_WRITE_TOKEN", shape("vercel_blob_rw_", (ALNUM, 16), "_", (ALNUM, 30))),
    "Netlify": ("NETLIFY_AUTH_TOKEN", shape("nfp_", (ALNUM, 40))),
    "Fly": ("FLY_API_TOKEN", shape("FlyV1 fm2_", (BASE64, 160))),
    "Render": ("RENDER_API_KEY", shape("rnd_", (ALNUM, 28))),
    "DigitalOcean": ("DIGITALOCEAN_TOKEN", shape("dop_v1_", (HEX, 64))),
    "Linear": ("LINEAR_API_KEY", shape("lin_api_", _A40)),
    "Notion": ("NOTION_TOKEN", shape("ntn_", (ALNUM, 46))),
    "Notion internal": ("NOTION_KEY", shape("secret_", (ALNUM, 43))),
    "Airtable": ("AIRTABLE_PAT", shape("pat", (ALNUM, 14), ".", (HEX, 64))),
    "Shopify": ("SHOPIFY_TOKEN", shape("shpat_", _A32H)),
    "Square": ("SQUARE_ACCESS_TOKEN", shape("EAAAl", (WIDE, 59))),
    "Square OAuth": ("SQUARE_SECRET", shape("sq0csp-", (WIDE, 43))),
    "Databricks": ("DATABRICKS_TOKEN", shape("dapi", _A32H, "-2")),
    "New Relic": ("NEW_RELIC_API_KEY", shape("NRAK-", (UPPER, 27))),
    "Sentry user": ("SENTRY_AUTH_TOKEN", shape("sntryu_", (HEX, 64))),
    "Sentry org": ("SENTRY_ORG_TOKEN", shape("sntrys_eyJpYXQiOjE3", (BASE64, 100), "_", (BASE64, 43))),
    "Grafana": ("GRAFANA_TOKEN", shape("glsa_", (ALNUM, 32), "_", (HEX, 8))),
    "Grafana Cloud": ("GRAFANA_CLOUD_TOKEN", shape("glc_eyJv", (BASE64, 100), "=")),
    "Vault": ("VAULT_TOKEN", shape("hvs.", (WIDE, 92))),
    "Pulumi": ("PULUMI_ACCESS_TOKEN", shape("pul-", (HEX, 40))),
    "Terraform": ("TFE_TOKEN", shape((ALNUM, 14), ".atlasv1.", (WIDE, 67))),
    "Doppler": ("DOPPLER_TOKEN", shape("dp.st.prd.", (ALNUM, 43))),
    "Figma": ("FIGMA_TOKEN", shape("figd_", (WIDE, 40))),
    "Postman": ("POSTMAN_API_KEY", shape("PMAK-", (HEX, 24), "-", (HEX, 34))),
    "PlanetScale": ("PLANETSCALE_TOKEN", shape("pscale_tkn_", (WIDE, 43))),
    "Atlassian": ("JIRA_API_TOKEN", shape("ATATT3xFf", (WIDE, 170), "=", (UPPER, 8))),
    "Asana": ("ASANA_PAT", shape("2/", (string.digits, 16), "/", (string.digits, 16), ":", _A32H)),
    "Dynatrace": ("DT_API_TOKEN", shape("dt0c01.", (UPPER, 24), ".", (UPPER, 64))),
    "CircleCI": ("CIRCLE_TOKEN", shape("CCIPAT_", (ALNUM, 22), "_", (HEX, 40))),
    "Buildkite": ("BUILDKITE_TOKEN", shape("bkua_", (HEX, 40))),
    "HubSpot": ("HUBSPOT_TOKEN", lambda r: f"pat-eu1-{_uuid(r)}"),
    "Heroku": ("HEROKU_API_KEY", shape("HRKU-AA", (WIDE, 58))),
    "Mapbox": ("MAPBOX_TOKEN", lambda r: f"sk.{_url64({'u': 'shop', 'a': draw(r, LOWER, 25)})}.{draw(r, WIDE, 22)}"),
    "Facebook": ("FB_ACCESS_TOKEN", shape("EAAC", (ALNUM, 160))),
    "Tailscale": ("TS_AUTHKEY", shape("tskey-auth-", (ALNUM, 17), "-", (ALNUM, 32))),
    "1Password": ("OP_SERVICE_ACCOUNT_TOKEN", shape("ops_eyJ", (BASE64, 250))),
    "SonarQube": ("SONAR_TOKEN", shape("squ_", (HEX, 40))),
    "PostHog": ("POSTHOG_KEY", shape("phx_", (ALNUM, 43))),
    "Plaid": ("PLAID_ACCESS_TOKEN", lambda r: f"access-production-{_uuid(r)}"),
    "Contentful": ("CONTENTFUL_PAT", shape("CFPAT-", (WIDE, 43))),
    "Dropbox": ("DROPBOX_TOKEN", shape("sl.u.", (WIDE, 140))),
    "Flutterwave": ("FLW_SECRET", shape("FLWSECK-", _A32H, "-X")),
    "Sourcegraph": ("SRC_ACCESS_TOKEN", shape("sgp_", (HEX, 16), "_", (HEX, 40))),
    "JWT": ("SESSION_JWT", _jwt),
    "age": ("SOPS_AGE_KEY", shape("AGE-SECRET-KEY-1", (UPPER, 58))),
    "RSA key": ("DEPLOY_KEY", _pem("RSA PRIVATE KEY")),
    "OpenSSH key": ("SSH_KEY", _pem("OPENSSH PRIVATE KEY")),
    "PKCS 8 key": ("SIGNING_KEY", _pem("PRIVATE KEY", 3)),
    "PGP key": ("GPG_KEY", _pem("PGP PRIVATE KEY BLOCK")),
}  # fmt: skip
#: These are random characters that only their name tells.
NAMED: dict[str, tuple[str, Maker]] = {
    "AWS secret": ("AWS_SECRET_ACCESS_KEY", shape((BASE64, 40))),
    "Twilio": ("TWILIO_AUTH_TOKEN", shape(_A32H)),
    "Datadog": ("DD_API_KEY", shape(_A32H)),
    "Datadog app": ("DATADOG_APP_KEY", shape((HEX, 40))),
    "Cloudflare": ("CLOUDFLARE_API_TOKEN", shape((WIDE, 40))),
    "Railway": ("RAILWAY_TOKEN", _uuid),
    "Vercel": ("VERCEL_TOKEN", shape((ALNUM, 24))),
    "Azure OpenAI": ("AZURE_OPENAI_API_KEY", shape(_A32H)),
    "Mistral": ("MISTRAL_API_KEY", shape((ALNUM, 32))),
    "Cohere": ("COHERE_API_KEY", shape(_A40)),
    "ElevenLabs": ("ELEVENLABS_API_KEY", shape(_A32H)),
    "Algolia": ("ALGOLIA_ADMIN_KEY", shape(_A32H)),
    "Okta": ("OKTA_API_TOKEN", shape("00", (WIDE, 40))),
    "PagerDuty": ("PAGERDUTY_API_KEY", shape("u+", (ALNUM, 18))),
    "Snyk": ("SNYK_TOKEN", _uuid),
    "Auth0": ("AUTH0_CLIENT_SECRET", shape((WIDE, 64))),
    "Reddit": ("REDDIT_CLIENT_SECRET", shape((WIDE, 27))),
    "Spotify": ("SPOTIFY_CLIENT_SECRET", shape(_A32H)),
    "Twitter": ("TWITTER_ACCESS_TOKEN_SECRET", shape((ALNUM, 45))),
    "Django": ("DJANGO_SECRET_KEY", shape((LOWER + "!@#$%^&*(-_=+)", 50))),
    "Wireguard": ("WG_PRIVATE_KEY", shape((BASE64, 43), "=")),
    "Home Assistant webhook": ("HA_WEBHOOK_SECRET", shape((HEX, 64))),
    "Laravel": ("APP_KEY", shape("base64:", (BASE64, 43), "=")),
    "OpenWeather": ("OPENWEATHER_API_KEY", shape(_A32H)),
}  # fmt: skip

#: Forms for any token: {t} the token, {p} the provider, {e} its variable, {l} the variable in small letters.
_ANY = {
    "env": "{e}={t}",
    "export": 'export {e}="{t}"  # until May',
    "json": '{{"region": "eu-west-1", "{l}": "{t}", "retries": 3}}',
    "yaml": "deploy:\n  {l}: {t}\n  retries: 3",
    "code": "```python\nclient = Client(api_key='{t}')\nclient.ping()\n```",
    "bearer": 'curl -H "Authorization: Bearer {t}" https://api.example.com/v1/items',
    "header": "curl -s -H 'X-Api-Key: {t}' https://api.example.com/v1/items",
    "query": "GET https://api.example.com/v1/items?api_key={t}&page=2 answered 200",
    "is": "The {p} API key is {t} and it expires in May.",
    "bold": "- **{p} API key:** `{t}` (Mara has the rights)",
    "table": "| {p} API token | {t} | prod |",
}
#: Forms that only a token of its own shape can be told in.
_BARE = {
    "sentence": "Rotated {p} to {t} on Friday, Mara knows.",
    "bullet": "- {p}: {t}",
    "backticks": "For {p} we now use `{t}` everywhere.",
    "row": "| {p} | {t} | prod |",
    "arrow": "{p} -> {t}",
}


def plant_secrets(seed: int, forms_each: int = 4) -> list[Sample]:
    """Every provider's secret in some of the forms that fit it, new characters each time."""
    samples = []
    for table, forms in ((DISTINCTIVE, {**_ANY, **_BARE}), (NAMED, _ANY)):
        for kind, (variable, make) in table.items():
            rng = random.Random(f"{seed} {kind}")
            for form in sorted(rng.sample(sorted(forms), forms_each)):
                token = make(rng)
                values = {"t": token, "p": kind, "e": variable, "l": variable.lower()}
                samples.append(Sample("secret", kind, form, forms[form].format(**values), parts_of(token)))
    return samples


def parts_of(token: str) -> tuple[str, ...]:
    """What of a token must go: the body of a key, the key of a connection string, the path of a webhook."""
    if "-----BEGIN" in token:
        return tuple(token.split("\n")[1:-1])
    if "AccountKey=" in token:
        return (token.split("AccountKey=")[1].split(";")[0],)
    if token.startswith("https://"):
        return (token.rsplit("/", 1)[1],)
    return (token.rsplit(" ", 1)[-1],)
