"""Which lines hold readings and which name things: a labelled set of shapes in several languages.

Each is a pattern and the values of its lines, one a day; `READINGS` form a series, `NAMES` do not.
"""
# ruff: noqa: E501 (a line for each shape)

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_pipeline.consolidation.series import join_shapes
from memory_pipeline.store import LEAST_TEXTS, Shape
from memory_pipeline.text.normalise import line_shape, normalise
from memory_pipeline.text.place_names import holds_readings, is_closed_set
from memory_pipeline.text.readings import read_memory, series_of
from memory_pipeline_tests.build import FIRST

Shapes = tuple[str, Sequence[object]]

READINGS: tuple[Shapes, ...] = (
    ("Pre-flight complete in {}s", (33.0, 33.6, 31.2, 105.5, 30.1, 29.9)),
    ("**Brain**: {} memories | **Phi**: {}", [(3382, 0.65), (3564, 0.64), (3187, 0.66), (3200, 0.65), (3300, 0.67)]),
    ("Disk usage: {}%", (71, 72, 72, 74, 73, 78)),
    ("NAS volume 1: {}% used, {} GB free, disk {} C", [(81, 742, 36), (82, 730, 35), (80, 750, 36), (83, 700, 37), (84, 690, 36)]),
    ("Spent today: ${} for {} calls", [("3.10", 1800), ("3.45", 1915), ("2.24", 1464), ("4.01", 2135), ("3.20", 1830)]),
    ("Suite: {} passed, {} failed in {}s", [(398, 0, 360.1), (400, 1, 350.2), (399, 0, 361.4), (402, 2, 340), (398, 0, 362)]),
    ("HEARTBEAT_OK {}:30 mail queue {}, tickets {}", [("08", 3, 4), ("09", 2, 6), ("08", 0, 5), ("11", 7, 4), ("12", 3, 9)]),
    ("[{}:15] zigbee: {} devices", [("08", 43), ("09", 42), ("10", 43), ("11", 43), ("12", 41)]),
    ("Orders: {}, Revenue {} EUR", [(95, "4779.90"), (81, "4100.10"), (90, "4302.00"), (77, "3990.50"), (84, "4200.00")]),
    ("Inbox check: {} unread, {} flagged", [(4, 0), (9, 1), (2, 0), (11, 3), (7, 0)]),
    ("retrieval usefulness={}% ({}/16)", [(94, 15), (88, 14), (94, 15), (81, 13), (100, 16)]),
    ("Queue: {} pending, {} done", [(12, 120), (9, 126), (33, 132), (8, 138), (21, 144)]),
    ("feedback kept, EMA={}, total={}", [(0.55, 3), (0.91, 61), (0.99, 133), (0.96, 180), (0.83, 223)]),
    ("Battery {}% after {} h", [(91, 3), (85, 5), (77, 8), (92, 2), (60, 11)]),
    ("room temperature 21.{} °C, humidity {}%", [(4, 40), (1, 42), (9, 45), (2, 41), (5, 39)]),
    ("latency p50={}ms p95={}ms", [(2, 300), (1, 280), (2, 331), (3, 290), (2, 310)]),
    ("backup finished, {} MB in {} min", [(510, 3), (523, 4), (498, 3), (530, 4), (541, 5)]),
    ("Battery: {}V", ("12.6", "12.4", "12.7", "12.5", "12.2")),
    ("Steps today: {}", (8123, 10456, 3400, 9120, 7777)),
    ("weight: {} kg", ("81.2", "81.0", "80.7", "81.1", "80.4")),
    ("outcome: {} (exit={}, took {}s)", [("success", 0, 31), ("success", 0, 29), ("failure", 1, 3), ("success", 0, 33), ("success", 0, 30), ("failure", 1, 4)]),
    ("Nightly: outcome of the run, task={}, {} files", [("success", 4), ("failed", 5), ("success", 6), ("failed", 7), ("success", 4)]),
    ("Bridge open ({}): {} notes", [("DEEP", 4), ("LIGHT", 5), ("DEEP", 6), ("LIGHT", 7), ("DEEP", 9)]),
    ("Deploy gate is [{}] after {} checks", [("OK", 4), ("WARN", 5), ("OK", 6), ("OK", 7), ("WARN", 9), ("OK", 5)]),
    ("Analysis done: {{'trend': '{}', 'delta': {}}}", [("rising", 0.1), ("falling", 0.2), ("rising", 0.4), ("falling", 0.3), ("rising", 0.2)]),
    ("Gate: suppressing {}", ["['goals', 'metrics']", "['metrics', 'goals']", "['goals']", "['metrics', 'goals']", "['metrics']"]),
    ("Prüfung abgeschlossen in {} Sekunden", (30, 31, 33, 29, 32)),
    ("Speicher: {} GB frei, Auslastung {}%", [(120, 71), (118, 72), (119, 70), (110, 75), (101, 79)]),
    ("Zustand der Sicherung: {} ({} MB)", [("ok", 510), ("ok", 523), ("fehler", 2), ("ok", 530), ("ok", 541), ("fehler", 3)]),
    ("Sauvegarde terminée : {} Mo en {} s", [(510, 33), (523, 31), (498, 35), (530, 30), (541, 36)]),
    ("Copia completada en {} s, {} archivos", [(33, 510), (31, 523), (35, 498), (30, 530), (36, 541)]),
    ("Проверка заняла {} с, осталось {} задач", [(30, 4), (31, 7), (33, 2), (29, 9), (32, 4)]),
    ("检查完成,用时{}秒,状态=正常", (30, 31, 33, 29, 32)),
    ("バックアップ完了:{}秒", (30, 31, 33, 29, 32)),
    ("백업 완료: {}개, {}초", [(30, 4), (31, 7), (33, 2), (29, 9), (32, 4)]),
    ("اكتمل الفحص: {} ثانية", (30, 31, 33, 29, 32)),
)  # fmt: skip

NAMES: tuple[Shapes, ...] = (
    ("Commit {}", ("3f2a9c1e", "77ab01cd", "9e8d7c6b", "12ab34cd", "deadbee1", "0a1b2c3d")),
    ("Commit {} broke the build", ("3f2a9c1", "77ab01c", "9e8d7c6", "12ab34c", "deadbe1")),
    ("Reasoning chain chain_2026030{} closed (success)", [f"{n}_190021" for n in range(1, 8)]),
    ("recorded success outcome → learnings_2026030{}_190950", range(1, 7)),
    ("Trace {} finished in {} s", [(f"{n}e8400-e29b-41d4-a716-446655440000".rjust(36, "a"), 30 + n) for n in range(1, 7)]),
    ("restic: snapshot {} saved, {} GiB added", [("1a2b3c4d", 2.4), ("9f8e7d6c", 2.1), ("0b1c2d3e", 2.9), ("7a7b7c7d", 2.2), ("4e5f6a7b", 2.0)]),
    ("eval #{}: dev accuracy {}%", [(201, 81.2), (202, 80.9), (203, 81.4), (204, 82.0), (205, 81.7)]),
    ("Issue #{} was closed", (812, 790, 815, 733, 901)),
    ("Server {} has {} GB of RAM", [(n, 8 * n) for n in range(1, 8)]),
    ("Customer {} pays {} EUR per month", [(4000 + 7 * n, 99 + 13 * n) for n in range(6)]),
    ("Rule {}: never store more than {} backups", [(n, 3 * n) for n in range(1, 7)]),
    ("Ticket {}: do not restart node {}", [(700 + n, n) for n in range(6)]),
    ("Always deploy with {} replicas", range(3, 9)),
    ("Kunde {} zahlt {} Euro", [(4000 + 7 * n, 99 + 13 * n) for n in range(6)]),
    ("Kapitel {} handelt von {} Dingen", [(n, n + 3) for n in range(1, 7)]),
    ("Host 10.0.{}.5 must never be rebooted", range(6)),
    ("ALLOW 10.0.0.{} port {}", [(n, 22 + n) for n in range(6)]),
    ("Upgrade to 2.{}.1 breaks the login", range(6)),
    ("Customer id 49151123{} is blocked", range(10, 16)),
    ("Order {} was shipped to Berlin", (48213377, 20193311, 73920144, 11839200, 99120377)),
    ("Confluence page {} was read", (48213377, 20193311, 73920144, 11839200, 99120377)),
    ("The port of {} is {}", [("alpha", 5432), ("beta", 5433), ("gamma", 5434), ("delta", 5435), ("omega", 5436)]),
    ("host={} port={} role=db", [("alpha", 5432), ("beta", 5433), ("eps", 5434)] * 3),
    ("Service: {}, port {}", [("mail", 25), ("web", 443), ("mail", 25), ("web", 443), ("mail", 25), ("web", 443)]),
    ("User {} is {} on host {}", [(100 + n, ("denied", "allowed")[n % 2], 7 + n) for n in range(6)] * 3),
    ("Book read: {}", ("Dune", "Emma", "Ulysses", "Momo", "Faust", "Heidi")),
    ("Book read: {} (done)", ("Dune", "Emma", "Ulysses", "Momo", "Faust", "Heidi")),
    ("Gelesen: {}", ("Der Prozess", "Die Blechtrommel", "Momo", "Faust", "Heidi", "Effi Briest")),
    ("Seen in the sources: {}", ["['Dune Messiah']", "['Emma']", "['Ulysses', 'Emma']", "['Momo']", "['Faust']"]),
    ("Pages: {}", ["['Team Handbook', 'Release Notes']", "['Release Notes', 'Team Handbook']"] * 3 + ["['On-call Guide']"]),
    ("File {} was changed", ("src/app.py", "src/db.py", "README.md", "docs/a.md", "tests/t.py")),
    ("Opened https://example.org/{}", ("a", "b", "c", "d", "e")),
    ("Opened https://example.org/items/2026{}", ("ab1", "cd2", "ef3", "gh4", "ij5")),
    ("Mail from {}@example.org", ("ann", "bob", "cem", "dia", "eli")),
    ("Assigned PROJ-{} to Mia", (1234, 2345, 3456, 4567, 5678)),
    ("Deployed: {} (done)", ("alpha", "beta", "gamma", "delta", "omega", "sigma")),
    ("Invoice of Ann, due on 2026-05-1{}", range(5)),
    ("Задача #{} закрыта", (812, 790, 815, 733, 901)),
    ("提交 {} 已合并", ("3f2a9c1e", "77ab01cd", "9e8d7c6b", "12ab34cd", "deadbee1")),
    ("Lu : {}", ("Candide", "Germinal", "Nana", "Cyrano", "Bel-Ami")),
)  # fmt: skip


def forms_series(text: str, values: Sequence[object]) -> bool:
    """Whether a night would make a series of these lines, by what they look like alone."""
    told = [text.format(*(value if isinstance(value, tuple) else (value,))) for value in values]
    by_shape: dict[str, list[str]] = {}
    for line in told:
        by_shape.setdefault(line_shape(line), []).append(line)
    shapes = [
        Shape("p", shape, len(lines), len({*map(normalise, lines)}), lines[0]) for shape, lines in by_shape.items()
    ]
    for group in join_shapes(shapes):
        mine = {shape.shape for shape in group}
        lines = [(n, line) for n, line in enumerate(told) if line_shape(line) in mine]
        is_enough = len(lines) >= 5 and (len(group) > 1 or group[0].texts >= LEAST_TEXTS)
        if is_enough:
            one = series_of(read_memory(f"r{n:02}", FIRST + timedelta(days=n), line) for n, line in lines)
            dates = any(place.kind == "date" for place in one.places)
            if holds_readings(one) and not dates:
                return True
    return False


def test_the_set_is_large_and_of_several_languages() -> None:
    assert len(READINGS) + len(NAMES) >= 60 and min(len(READINGS), len(NAMES)) >= 25


@pytest.mark.parametrize(("text", "values"), READINGS)
def test_readings_form_a_series(text: str, values: Sequence[object]) -> None:
    assert forms_series(text, values)


@pytest.mark.parametrize(("text", "values"), NAMES)
def test_names_of_things_form_none(text: str, values: Sequence[object]) -> None:
    assert not forms_series(text, values)


def test_a_few_words_that_return_are_states_and_many_or_rare_ones_are_names() -> None:
    assert is_closed_set([20, 1]) and is_closed_set([4, 3, 2]) and is_closed_set([3, 2])
    assert not is_closed_set([1, 1]) and not is_closed_set([2, 2, 2]) and not is_closed_set([9] * 9)
