"""Made-up passwords in the forms that people write, and e-mail addresses and phone numbers as people group them."""

from __future__ import annotations

import base64
import random
import string

from planted_secrets import ALNUM, LOWER, Sample, draw

_WORDS = "correct horse battery staple maple otter quilt ember cobalt lantern pickle harbor velvet comet turnip saddle".split()
_NAMES = "dana mara jonas priya tomasz lucia wei amara".split()


def _strong(rng: random.Random) -> str:
    text = list(draw(rng, ALNUM, 8) + draw(rng, "!#%^*?", 1) + draw(rng, "+=~!", 1))
    return "".join([rng.choice(ALNUM), *rng.sample(text, len(text)), rng.choice(ALNUM)])


def _wordy(rng: random.Random) -> str:
    return f"{rng.choice(_WORDS)}{rng.randint(2, 9999)}"


def _season(rng: random.Random) -> str:
    return f"{rng.choice(_WORDS).capitalize()}{rng.randint(2019, 2026)}!"


def _hyphens(rng: random.Random) -> str:
    return "-".join(rng.sample(_WORDS, 4))


def _phrase(rng: random.Random) -> str:
    return " ".join(rng.sample(_WORDS, 4))


def _pin(rng: random.Random) -> str:
    return draw(rng, string.digits, rng.choice((4, 6)))


_ONE_WORD = (_strong, _wordy, _season, _hyphens)
#: Form -> text with {p}, and the passwords that people would put there.
_FORMS = {
    "colon": "password: {p}",
    "equals": "Password = {p}",
    "pw is": "The router's pw is {p}, as printed on the lid.",
    "my password is": "my password is {p}",
    "wifi password is": "The wifi password is {p}.",
    "quoted": 'The staging password is "{p}" until Monday.',
    "backticks": "Admin password: `{p}` (change it after the demo)",
    "env": 'DB_PASSWORD="{p}"',
    "env bare": "SMTP_PASS={p}",
    "json": '{{"user": "app", "password": "{p}", "port": 5432}}',
    "yaml": "database:\n  user: app\n  password: '{p}'\n  port: 5432",
    "ini": "[client]\nuser = app\npassword = {p}\nhost = db1",
    "dotted": "spring.datasource.password={p}",
    "camel": 'const cfg = {{ dbPassword: "{p}", retries: 3 }};',
    "python": "conn = connect(host='db1', user='app', password='{p}')",
    "mysql -p": "mysql -u root -p{p} shop < dump.sql",
    "mysql --password": "mysql --user=root --password={p} shop",
    "cli password": "acme login --user dana --password {p}",
    "curl -u": "curl -u admin:{p} https://nas.local/api",
    "curl --user": "curl -sS --user 'admin:{p}' https://nas.local/api/v2",
    "basic url": "git clone https://dana:{p}@git.example.com/shop/app.git",
    "postgres url": "DATABASE_URL=postgres://app:{p}@db1:5432/shop",
    "redis url": "redis://:{p}@cache:6379/0",
    "mongodb url": 'uri = "mongodb+srv://app:{p}@cluster0.ab1cd.mongodb.net/shop"',
    "amqp url": "The broker is amqps://events:{p}@mq.example.com/vhost now.",
    "ado": "Server=db1;Database=shop;User Id=sa;Password={p};Encrypt=true",
    "jdbc": "jdbc:mysql://db1/shop?user=app&password={p}&useSSL=true",
    "table": "| setting | value |\n|---|---|\n| host | db1 |\n| password | {p} |",
    "table column": "| user | password | host |\n| --- | --- | --- |\n| dana | {p} | nas |",
    "xml": "<server><user>app</user><password>{p}</password></server>",
    "pgpassword": "PGPASSWORD={p} psql -h db1 -U app shop",
    "sshpass": "sshpass -p '{p}' ssh pi@192.168.1.20",
    "docker login": "docker login -u dana -p {p} registry.example.com",
    "redis-cli": "redis-cli -h cache -a {p} ping",
    "requirepass": "requirepass {p}",
    "netrc": "machine git.example.com login dana password {p}",
    "sql": "CREATE USER app IDENTIFIED BY '{p}';",
    "alter role": "ALTER ROLE app WITH LOGIN PASSWORD '{p}';",
    "passin": "openssl rsa -in key.pem -passin pass:{p} -out plain.pem",
    "login slash": "Login for the NAS: admin / {p}",
    "user pass": "user admin, pass {p}",
    "username password": "username: admin password: {p}",
    "credentials": "Credentials: dana:{p}",
    "set to": "I set the admin password to {p} today.",
    "changed to": "The root password was changed to {p} after the audit.",
    "possessive": "root's password: {p}",
    "in brackets": "The default password ({p}) must be changed.",
    "qualified": "Password (prod): {p}",
    "wifi code": "WIFI:S:Kestrel;T:WPA;P:{p};;",
    "wifi key": "Wi-Fi: SSID Kestrel, key {p}",
    "bold": "- **Password:** {p}",
    "bold inside": "* **password**: {p}",
    "arrow": "password -> {p}",
    "use": "Log in as dana with password {p} please.",
    "client secret": "client_secret: {p}",
    "htaccess": "AuthPassword {p}",
    "German": "Passwort: {p}",
    "German is": "Das Passwort lautet {p}.",
    "German Kennwort": "Kennwort für das NAS: {p}",
    "Spanish": "contraseña: {p}",
    "Spanish is": "La contraseña es {p}",
    "French": "mot de passe : {p}",
    "French is": "Le mot de passe est {p}.",
    "Portuguese": "senha: {p}",
    "Italian": "La password è {p}",
    "Russian": "пароль: {p}",
    "Chinese": "密码：{p}",
    "Chinese is": "密码是{p}",
    "Japanese": "パスワードは「{p}」です",
    "Korean": "비밀번호: {p}",
    "Polish": "hasło: {p}",
    "Dutch": "wachtwoord: {p}",
    "Swedish": "lösenord: {p}",
    "Turkish": "şifre: {p}",
    "Arabic": "كلمة المرور: {p}",
    "Ukrainian": "Пароль від сервера - {p}",
}  # fmt: skip
_PHRASES = {
    "colon": "password: {p}",
    "passphrase": "The passphrase for the backup key is {p}",
    "quoted": 'Vault passphrase: "{p}"',
    "master": "Master password = {p}",
    "bold": "**Password:** {p}",
    "German": "Passwort: {p}",
    "env": "RESTIC_PASSWORD='{p}'",
    "seed": "seed phrase: {p} {p}",
}
_PINS = {
    "PIN": "The PIN is {p}.",
    "colon": "PIN: {p}",
    "passcode": "passcode {p}",
    "card": "alarm code: {p}",
    "otp": "Your verification code is {p}",
    "German": "PIN des Tablets: {p}",
}
_PHONES = (
    "+55 11 9 1234-5678", "+1 555 123 4567", "+1 (555) 123-4567", "+1-555-123-4567", "+1.555.123.4567", "(555) 123-4567",
    "555-123-4567", "555.123.4567", "+49 30 1234567", "+49 (0)30 1234567", "+49 171 2345678", "+49-171-2345678",
    "+49 89/1234567", "+44 20 7946 0123", "+44 7700 900123", "+44 (0)20 7946 0123", "+33 6 12 34 56 78",
    "+33612345678", "+34 612 345 678", "+39 06 1234 5678", "+31 6 12345678", "+41 44 123 45 67", "+43 1 12345678",
    "+48 601 234 567", "+46 70 123 45 67", "+47 912 34 567", "+45 12 34 56 78", "+358 40 123 4567", "+7 912 345-67-89",
    "+7 (912) 345-67-89", "+380 44 123 4567", "+90 532 123 45 67", "+91 98765 43210", "+91-98765-43210",
    "+86 138 0013 8000", "+81 3-1234-5678", "+81 90-1234-5678", "+82 10-1234-5678", "+61 412 345 678", "+61 2 9123 4567",
    "+64 21 123 4567", "+27 82 123 4567", "+234 803 123 4567", "+254 712 345678", "+20 10 1234 5678", "+971 50 123 4567",
    "+972 54-123-4567", "+65 9123 4567", "+52 55 1234 5678", "+54 9 11 1234-5678", "+56 9 1234 5678", "+5511912345678",
    "+14155550123", "0049 171 2345678", "06 12 34 56 78", "0171/2345678", "07700 900123", "(11) 91234-5678",
    "0351 555 0199", "0221/555 0134",
)  # fmt: skip
_PHONE_FORMS = {
    "call": "Call Dana on {p} before noon.",
    "label": "- Phone: {p}",
    "plain": "Dana's number is {p}",
    "table": "| Dana | {p} | Lisbon |",
    "link": "[call](tel:{p})",
}
_EMAILS = (
    "{n}@example.com", "{n}.{m}@mail.example.co.uk", "{n}+alerts@example.org", "{n}_{m}@sub.example.io",
    "{n}-{m}@example.museum", "{n}.{m}2026@example.de", "{n}%{m}@example.com", "{n}@exämple.de", "o'{n}@example.com",
)  # fmt: skip
_EMAIL_FORMS = {
    "ask": "Ask {p} about it.",
    "angle": "From: Dana <{p}>",
    "mailto": "[write](mailto:{p}?subject=hi)",
    "code": "`{p}` gets the bill",
    "end": "The bill goes to {p}.",
    "colon": "{p}: please answer",
    "table": "| Dana | {p} | Lisbon |",
    "listed": "to:{p},cc:",
}


def plant_passwords(seed: int, each: int = 2) -> list[Sample]:
    """Passwords, passphrases and PINs in every form."""
    samples = []
    for form, text in _FORMS.items():
        rng = random.Random(f"{seed} {form}")
        for make in rng.sample(_ONE_WORD, each):
            password = make(rng)
            samples.append(Sample("password", make.__name__.strip("_"), form, text.format(p=password), (password,)))
    for kind, forms, maker in (("phrase", _PHRASES, _phrase), ("pin", _PINS, _pin)):
        for form, text in forms.items():
            password = maker(random.Random(f"{seed} {kind} {form}"))
            samples.append(Sample("password", kind, form, text.format(p=password), (password,)))
    rng = random.Random(f"{seed} basic")
    basic = base64.b64encode(f"admin:{_strong(rng)}".encode()).decode()
    samples.append(Sample("password", "basic", "header", f"Authorization: Basic {basic}", (basic,)))
    digest = f"$apr1${draw(rng, ALNUM, 8)}${draw(rng, ALNUM, 22)}"
    samples.append(Sample("password", "digest", "htpasswd", f"dana:{digest}", (digest,)))
    crypted = f"$6${draw(rng, ALNUM, 16)}${draw(rng, ALNUM + './', 86)}"
    samples.append(Sample("password", "digest", "shadow", f"root:{crypted}:19700:0:99999:7:::", (crypted,)))
    codes = [f"{draw(rng, LOWER, 5)}-{draw(rng, LOWER, 5)}" for _ in range(4)]
    samples.append(Sample("password", "codes", "recovery", "Recovery codes: " + ", ".join(codes), tuple(codes)))
    return samples


def plant_personal(seed: int) -> list[Sample]:
    """Phone numbers in every grouping, and e-mail addresses."""
    samples = []
    rng = random.Random(f"{seed} personal")
    for example in _PHONES:
        # The first digits name a country or network; the last ones are anybody's.
        head, tail = example[:-4], example[-4:]
        number = head + "".join(rng.choice(string.digits) if c.isdigit() else c for c in tail)
        form = rng.choice(sorted(_PHONE_FORMS))
        samples.append(Sample("phone", example, form, _PHONE_FORMS[form].format(p=number), (number,)))
    for example in _EMAILS:
        for form in sorted(rng.sample(sorted(_EMAIL_FORMS), 4)):
            address = example.format(n=rng.choice(_NAMES), m=rng.choice(_NAMES))
            samples.append(Sample("email", example, form, _EMAIL_FORMS[form].format(p=address), (address,)))
    return samples
