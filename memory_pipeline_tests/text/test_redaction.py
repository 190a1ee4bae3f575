"""Masking: planted secrets go, look-alikes stay, and masking twice is masking once."""

from __future__ import annotations

import time
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from masking import is_right, plant_all
from planted_lookalikes import hostile_lines, plant_lookalikes
from planted_passwords import plant_passwords
from planted_secrets import DISTINCTIVE, NAMED, plant_secrets

from memory_pipeline.text.redaction import redact

SEED = 11
_PIECES = st.sampled_from(
    [text.text for text in (*plant_secrets(5, 1)[::3], *plant_passwords(5, 1)[::2], *plant_lookalikes(5)[::4])]
    + ["password: ", "token=", "[REDACTED:secret]", "[REDACTED:", "dana@example.com", "+1 555 123 4567"]
    + ["\n", " is ", ": ", "|", "/"]
)


def test_the_planted_corpus_is_large_and_of_many_providers() -> None:
    samples = plant_all(SEED)
    assert len(DISTINCTIVE) + len(NAMED) >= 100
    assert sum(bool(s.secrets) for s in samples) >= 700 and sum(not s.secrets for s in samples) >= 300
    assert all(secret in s.text for s in samples for secret in s.secrets)


@pytest.mark.parametrize("held_out", [False, True])
def test_secrets_are_masked_and_look_alikes_are_not(held_out: bool) -> None:
    results: dict[str, list[bool]] = defaultdict(list)
    for sample in plant_all(SEED):
        if sample.held_out is held_out:
            results[sample.group].append(is_right(sample))
    shares = {group: sum(right) / len(right) for group, right in results.items()}
    assert min(shares[group] for group in ("secret", "password", "email", "phone")) >= 0.95, shares
    assert shares["look-alike"] >= 0.98, shares


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("The pw is hunter2, ask Mara.", "The pw is [REDACTED:secret], ask Mara."),
        ("password: correct horse battery staple", "password: [REDACTED:secret]"),
        ("Password of the panel: Kelpã-2026-moss! (ask Rui)", "Password of the panel: [REDACTED:secret] (ask Rui)"),
        ("password: moss-Kelp-2026ã", "password: [REDACTED:secret]"),
        ("パスワードはkelp12345Xです", "パスワードは[REDACTED:secret]です"),
        ("mysql -uroot -phunter2x shop", "mysql -uroot -p[REDACTED:secret] shop"),
        ("curl -u dana:hunter2 https://a.example/x?y=1", "curl -u dana:[REDACTED:secret] https://a.example/x?y=1"),
        ("postgres://app:pa55w/rd@db", "postgres://app:[REDACTED:secret]@db"),
        ("http://localhost:8080/@fs/app/main.ts", "http://localhost:8080/@fs/app/main.ts"),
        ('DB_PASSWORD="p@ss w0rd9!"', 'DB_PASSWORD="[REDACTED:secret]"'),
        ('"password": "Enter your password"', '"password": "Enter your password"'),
        ("echo 'Kelp9,moss' | sudo -S reboot", "echo '[REDACTED:secret]' | sudo -S reboot"),
        ("cache key user:42:profile:v3", "cache key user:42:profile:v3"),
        ("The desk's key was rotated: Kq7mossZ2kelp9Xv41Tr", "The desk's key was rotated: [REDACTED:secret]"),
        ("the desk's key, now kelp_live_Kq7mossZ2kelp9Xv", "the desk's key, now [REDACTED:secret]"),
        ("cache key: 9f86d081884c7d659a2feaa0c55ad015", "cache key: 9f86d081884c7d659a2feaa0c55ad015"),
        ("object key: uploads/2026/IMG_4512_kelp.HEIC", "object key: uploads/2026/IMG_4512_kelp.HEIC"),
        ("run load_test_20261024T101500abcd", "run load_test_20261024T101500abcd"),
        ("(the shop, tel 555-0233)", "(the shop, tel [REDACTED:phone])"),
        (
            "bot NDg4MTIzNDU2Nzg5MDEyMzQ.GaXk2P.x8Jk2LmQ0vRtYw7ZbNc4DfGh1Us",
            "bot [REDACTED:secret]",
        ),
        (
            "see https://dana:pa55word@git.example.com/a.git.",
            "see https://dana:[REDACTED:secret]@git.example.com/a.git.",
        ),
        ('{"password":"hunter2","port":1}', '{"password":"[REDACTED:secret]","port":1}'),
        ("host=a;password=hunter2;port=1", "host=a;password=[REDACTED:secret];port=1"),
        ("密码：hunter2，请勿外传", "密码：[REDACTED:secret]，请勿外传"),
        ("Call +55 11 9 1234-5678 today", "Call [REDACTED:phone] today"),
        ("The accountant is Karel Mertens, 09 555 01 44.", "The accountant is Karel Mertens, [REDACTED:phone]."),
        ("044 668 18 00 or 0475 12 34 56", "[REDACTED:phone] or [REDACTED:phone]"),
        ("Level 09 555 01 of 44", "Level 09 555 01 of 44"),
        ("- dana@example.com: admin", "- [REDACTED:email]: admin"),
        ("Passwort fürs WLAN: Sonnenblume77!", "Passwort fürs WLAN: [REDACTED:secret]"),
        ("IBAN DE89 3704 0044 0532 0130 00 of the rent", "IBAN [REDACTED:secret] of the rent"),
        ("part DE89ABCD00000000000000 is no account", "part DE89ABCD00000000000000 is no account"),
        ("password from hunter2 to hunter3x", "password from [REDACTED:secret] to [REDACTED:secret]"),
    ],
)
def test_only_the_secret_goes_and_the_sentence_stays(text: str, masked: str) -> None:
    assert redact(text)[0] == masked


@pytest.mark.parametrize(
    "text",
    [
        "gate key code {}#", "the gate key code is {}", "door code *{}#", "garage code {}", "key safe code: {}",
        "gate: {}#", "code for the side gate: {}", "lock combination {}", "Tor-Code {}#", "Haustürcode {}",
        "Zugangscode: {}", "Code für das Tor {}", "PIN vom Tresor: {}", "Schlüsselsafe-Code {}",
        "The key box at the side entrance has a new code, {}.", "the locker has a lock, its code is {}",
    ],
)  # fmt: skip
def test_a_number_that_opens_something_is_masked_with_or_without_a_colon(text: str) -> None:
    assert "4471" not in redact(text.format(4471))[0]


@pytest.mark.parametrize(
    "text",
    [
        "error code {}", "exit code {}", "country code {}", "area code {}", "the error code of the gate: {}",
        "Fehlercode {}", "product code of the lock {}", "gate {}", "door #{}", "Tor {}", "alarm at {}", "locker: {}",
        "key codes {}", "the door broke, with the error code {}", "the gate has a code review, {}",
    ],
)  # fmt: skip
def test_a_number_that_names_something_stays(text: str) -> None:
    assert redact(text.format(4471))[0] == text.format(4471)


@given(st.lists(_PIECES, max_size=5).map("".join) | st.text(alphabet="abAB1@.:+=-_ 0[]RED/|'\"\n", max_size=80))
@settings(deadline=None)
def test_masking_twice_is_masking_once_and_the_count_is_that_of_the_masks(text: str) -> None:
    once, counts = redact(text)
    again, more = redact(once)
    assert again == once and not more
    for kind in ("secret", "email", "phone"):
        mark = f"[REDACTED:{kind}]"
        assert counts[kind] >= once.count(mark) - text.count(mark) >= 0 or mark in text


@given(st.lists(_PIECES, max_size=4).map("".join))
@settings(deadline=None, max_examples=30)
def test_masking_that_keeps_lines_keeps_their_number(text: str) -> None:
    assert redact(text, keep_lines=True)[0].count("\n") == text.count("\n")


def test_personal_data_can_be_left_while_secrets_go() -> None:
    text = "dana@example.com has password: hunter2 and +1 555 123 4567"
    masked, counts = redact(text, personal=False)
    assert masked == "dana@example.com has password: [REDACTED:secret] and +1 555 123 4567"
    assert dict(counts) == {"secret": 1}


def test_a_hostile_line_takes_time_in_proportion_to_its_length() -> None:
    redact("the scanner is compiled before the clock starts")
    for short, long in zip(hostile_lines(1_500), hostile_lines(12_000), strict=True):
        began = time.process_time()
        redact(short)
        middle = time.process_time()
        redact(long)
        # Eight times as long: a quadratic pattern takes 64 times as long, an exponential one never ends.
        assert time.process_time() - middle < 30 * (middle - began) + 0.25, long[:20]
