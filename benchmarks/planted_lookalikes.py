"""Texts that look as if they held a secret, an address or a phone number, and hold none."""

from __future__ import annotations

import base64
import random
import string

from planted_secrets import ALNUM, BASE64, HEX, LOWER, UPPER, Sample, draw


def _uuid(rng: random.Random) -> str:
    return "-".join(draw(rng, HEX, n) for n in (8, 4, 4, 4, 12))


def _picture(rng: random.Random) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + rng.randbytes(150)).decode()


#: Kind -> how many random pieces stand for {h7} {h40} ... in its forms; every form is one sample a seed.
_TEXTS: dict[str, tuple[str, ...]] = {
    "commit": ("fixed in {h7}", "commit {h40}", "Reverted {h10} and cherry-picked {h8}", "merge-base is `{h40}`", "HEAD is now at {h7} Fix the build",
               "https://github.com/acme/shop/commit/{h40}", "index {h7}..{h7} 100644", "pin: acme/action@{h40}"),
    "checksum": ("sha256:{h64}", "MD5 {h32} matches", "the file's sha1 is {h40}", "etag: \"{h32}\"", "integrity: sha512-{b86}==",
                 "{h64}  backup.tar.gz", "--hash=sha256:{h64}", "content_hash={h64}", "cache key: {h32}", "blake3 {h64} ok"),
    "digest": ("postgres@sha256:{h64}", "image: ghcr.io/acme/shop:1.4.2@sha256:{h64}", "docker rm {h12}", "layer {h12} is 80 MB"),
    "uuid": ("request {u} timed out", "run_id: {u}", "/items/{u}/edit", "session {u} ended", "deployment id = {u}", "urn:uuid:{u}", "trace_id={h32} span_id={h16}"),
    "git address": ("git@github.com:acme/shop.git", "git clone git@gitlab.example.com:infra/dns.git", "origin\tgit@bitbucket.org:acme/app.git (fetch)",
                    "ssh://git@git.example.com:2222/acme/shop.git", "git+ssh://git@github.com/acme/shop.git@v1.2", "scp backup.tgz deploy@web1.example.com:/srv/backup/",
                    "rsync -a site/ www@host.example.com:/var/www"),
    "version": ("upgraded to 3.12.4", "react@18.2.0 and vite@5.4.0", "@types/node@^20.11.5", "v1.234.567.8901", "python==3.11.9", "10.15.7-rc.2+build.5114", "numpy 2.2.0.dev0+git20260301.{h7}",
                "claude-sonnet-4-20250514 is the model", "gpt-4o-2024-08-06", "uses: actions/checkout@v4", "npm i lodash@next"),
    "path": ("/srv/app/releases/20260301123456/current", "C:\\Users\\dana\\AppData\\Local\\Temp\\{h8}", "see docs/api/tokens.md", "~/.ssh/id_ed25519.pub", "/etc/secrets/db-password is mounted",
             "memory_pipeline/text/redaction.py:17", "s3://acme-backups/2026/03/01/dump-{h8}.sql.gz", "node_modules/.pnpm/react@18.2.0/node_modules/react", "/var/lib/docker/overlay2/{h64}/merged", "./scripts/rotate-api-key.sh", "secrets/prod/token.enc"),
    "address": ("10.0.0.12:5432", "192.168.178.100-150", "http://127.0.0.1:8080/health", "fe80::1ff:fe23:4567:890a", "00:1A:2B:3C:4D:5E", "2001:db8:85a3::8a2e:370:7334/64", "listen 0.0.0.0:443", "203.0.113.17 - - [01/Mar/2026:08:00:01 +0000]",
                "https://x.com/@acme/status/1893749273645182934", "https://medium.com/@dana.writes/why-{h12}"),
    "time": ("2026-03-01 08:00", "2026-11-22T02:41:59Z", "1772352000", "at 1772352000123 ms", "20260301-123456", "01.03.2026 14:00-15:30", "2026-03-01T08:00:00.123+01:00", "Mon 2 Mar 2026 08:15:30 +0100", "03/01/2026 10:15", "20260301T081530Z"),
    "number": ("order 2024-000123-4567", "ISBN 978-3-16-148410-0", "1,234,567,890 rows", "12 345 678,90 EUR", "lat 52.520008, lon 13.404954", "0.8083 0.8091 0.8102", "PID 12345, took 67890 ms", "tracking 1Z999AA10123456784",
               "invoice INV-2026-0301-0042", "ticket #4815162342", "+15% over 2024", "grew from 100 200 to 300 400", "ports 8000-8010 8080 9090", "pages 100-120, 130-145", "score 92 = SAFE", "3.141592653589793", "1-800 rows", "sizes 320 480 768 1024 1280",
               "+1 234 lines, -567 lines", "rate 1e-05 after 10000 steps", "account 1000200030004000 closed?", "0 3 * * 1-5", "GTIN 4006381333931", "12:34:56:78:90"),
    "colour": ("background: #1a2b3c;", "--accent: #ff8800cc", "rgb(12, 34, 56)", "color: #ABCDEF", "hsl(210 50% 40%)"),
    "file name": ("logo@2x.png", "icons/app-icon@3x.webp", "IMG_20260301_123456.jpg", "report-2026-03-01.final.v2.docx", "photo@1.5x.jpeg", "Screenshot 2026-03-01 at 08.15.30.png", "bundle.{h8}.js", "chunk-{B8}.css", "id_rsa.pub", "password-reset.html", "api_key.py"),
    "picture": ("![dot](data:image/png;base64,{png})", '<img src="data:image/png;base64,{png}">', "background:url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7)"),
    "public key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} dana", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{b86} ci", "-----BEGIN PUBLIC KEY-----\n{b64}\n{b64}\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\n{b64}\n{b64}\n-----END CERTIFICATE-----",
                   "SHA256:{b43}", "age1{l58}", "fingerprint {h8} {h8}"),
    "id": ("pod api-7d9f8b6c5d-{l5} restarted", "arn:aws:iam::123456789012:role/deploy", "i-0{h16} stopped", "channel C0{U9}", "message ts 1772352000.123456", "cus_{a14} paid", "pi_{a24} failed", "vpc-{h8}", "run dagster-{h8}", "proj_{a24}", "#incident-{h6}", "ACME-1234",
           "thread_{a24}", "msg_01{a22}", "video dQw4w9WgXcQ", "claude --resume {u}", "zone Z0{U12}", "task {l8} done"),
    "talk": ("the password reset flow was fixed", "the password policy: at least 12 characters", "password: required", "password is stored in 1Password", "password: see the vault", "The password field is empty by default", "Passwords must be rotated every 90 days",
             "password rotated, tell Dana", "the token is expired", "tokens: 128000 left", "token count: 4096", "max_tokens=4096", "the secret is patience", "Secret Santa is on Friday", "our secret sauce: caching", "api key rotation is due", "API keys: never commit them",
             "The API key is read from the environment", "the API key is invalid", "the key is to start small", "key: user:42:profile", "primary key: user_id", "keyboard shortcut: ctrl+shift+p", "Bearer token expired after an hour", "token refresh: every 30 minutes",
             "token usage: 12,345 in / 678 out", "The PIN pad is broken", "pin: numpy to 2.2.0", "pass: 14, fail: 2", "tests pass 100%", "pass the salt", "status code: 404", "exit code 137", "zip code 10115", "error code: 0x80070057", "error code 500123 again",
             "Passwort vergessen: neuer Ablauf", "Das Passwort ist abgelaufen", "la contraseña es obligatoria", "mot de passe oublié : nouveau parcours", "senha incorreta", "пароль изменён", "密码错误", "login: works again / slow", "login with Google / GitHub",
             "user: dana / role: admin", "password strength: weak", "password manager: Bitwarden", "credentials: missing", "passphrase is optional", "Password: (leave empty)", "password hashing: argon2id", "auth: oauth2", "password authentication: disabled",
             "password_hash column was added", "password last changed: 2026-03-01", "session token lifetime = 3600", "secret: none", "secret: true", "token: null", "the password was wrong", "We set the password to expire after 90 days", "Password length: 16",
             "client secret expires on 2026-05-01", "the webhook secret is missing", "access key: missing", "Private key: rotated yesterday", "user and pass are in the vault", "password protected PDF", "password, username and host are read from .env", "token limit: 200k", "secret scanning: enabled",
             "semantic key: title", "the public key is in the repo", "the password is the same as before", "the password is not in this file", "password is too short", "the password is in Bitwarden", "the password is correct", "Passkeys replace passwords: finally"),
    "placeholder": ("password: ${DB_PASSWORD}", "password=<your-password>", "password: ********", "DB_PASSWORD=$DB_PASSWORD", "api_key: YOUR_API_KEY", "token: {{ vault_token }}", 'password = os.environ["DB_PASSWORD"]', "password=password", "api_key: str | None = None", "def login(user, password):",
                    "password = getpass.getpass()", "export GITHUB_TOKEN=$(gh auth token)", 'curl -u "$USER:$TOKEN" https://api.example.com', "postgres://user:password@localhost/db", "postgres://$USER:$PASS@db/shop", "https://user:***@host/", "--password-stdin", "password: string", "token: ...", "secretKeyRef: db-credentials",
                    "password: null", "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "api_key=settings.api_key", "token = request.headers.get('X-Token')", "if password != confirmed:", "password: Optional[str]", "process.env.API_KEY", "OPENAI_API_KEY=sk-...", "key: sk-xxxxxxxxxxxxxxxxxxxx",
                    "secret: !vault |", "password: changeme?", "password: [REDACTED]", "api_key: xxxxxxxx"),
    "command": ("mysql -p shop", "ssh -p 2222 host", "docker run -p 8080:80 nginx", "mkdir -p src/app", "cp -a old new", "tar -xzpf a.tgz", "pg_dump -U app shop", "kubectl get secret db -o yaml", "curl -u dana https://nas.local", "git commit -am 'Rotate token'", "psql -p 5433 -h db1", "grep -rn password src/",
                "redis-cli -a", "nmap -p1-1024 host", "python -m pip install -U pip", "pass show shop/db"),
    "words": ("sk-learn beats sk-image here", "the sk-SK locale", "task-force-one-two-three-four-five", "risk-adjusted-return-of-the-portfolio", "disk-usage-analyzer-for-large-drives", "key-value-store-with-long-hyphenated-name", "npm_config_registry is set", "hf_hub_download failed", "pypi-server on port 8080",
              "ghp_ is the prefix of such tokens", "AKIA is where AWS ids begin", "eyJ is how a JWT begins", "SG.1 and SG.2 are groups", "pat-downs and pat-on-the-back", "re_compile_all_of_the_patterns_here", "xoxo-kisses-and-hugs-forever", "sl.us.nearest", "secret_santa_organiser_of_the_whole_office_party", "hvs.core", "dapi is an API of ours",
              "pul-down", "whsec_ comes first", "com.example.token.TokenService", "Lopado­temacho­selacho­galeo", "rnd_seed_for_all_the_simulations_here", "figd_ or not", "thequickbrownfoxjumpsoverthelazydogandrunsaway", "CONSTANT_NAMES_THAT_ARE_VERY_LONG_INDEED_42", "getServerSidePropsWithAuthentication2"),
}  # fmt: skip


def plant_lookalikes(seed: int) -> list[Sample]:
    """Every look-alike once, alone or within a sentence, with new random pieces."""
    samples = []
    for kind, texts in _TEXTS.items():
        for number, text in enumerate(texts):
            rng = random.Random(f"{seed} {kind} {text}")
            filled = _fill(text, rng)
            carried = rng.choice(("{}", "- {}", "Noted today: {}", "{}", "> {}"))
            if "\n" in filled:
                carried = "{}"
            samples.append(Sample("look-alike", kind, str(number), carried.format(filled)))
    return samples


def _fill(text: str, rng: random.Random) -> str:
    alphabets = {"h": HEX, "b": BASE64, "l": LOWER, "U": UPPER, "a": ALNUM, "B": ALNUM}
    while (start := text.find("{")) >= 0:
        end = text.index("}", start)
        mark = text[start + 1 : end]
        if mark == "u":
            piece = _uuid(rng)
        elif mark == "png":
            piece = _picture(rng)
        elif mark[:1] in alphabets and mark[1:].isdigit():
            piece = draw(rng, alphabets[mark[0]], int(mark[1:]))
        else:
            return text  # a brace of the text's own
        text = text[:start] + piece + text[end + 1 :]
    return text


def hostile_lines(length: int) -> list[str]:
    """Long lines that a pattern with nested repeats would take minutes over."""
    units = ("a", "a-", "1 ", "+1 ", "1-", "a@", "a.", "a@a.", "password ", "password: ", "eyJ", "eyJa.", "://a:", "://", "-----BEGIN RSA PRIVATE KEY-----", "A", "=", "/", "-p", "| ",
             "key=", "sk-", "x_", "\\", '"', "'", " is ", "user:", "密码", "+", "(", "(1) ", "%", "curl -u ", "| password |\n", "[", "$", "\n", " ", string.printable)  # fmt: skip
    return [(unit * (length // len(unit) + 1))[:length] for unit in units]
