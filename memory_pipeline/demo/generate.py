"""Generates the demo workspace, always identically: two OpenClaw workspaces, two JSONL files, and the truth file.

Run `python -m memory_pipeline.demo.generate DIRECTORY` to generate the shipped one again.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from memory_pipeline.demo import texts
from memory_pipeline.demo.texts import KNOWLEDGE, LATE_ENTRY, PARAPHRASES, TELEMETRY
from memory_pipeline.ingest.importer import entry_id
from memory_pipeline.text.redaction import redact

_ROLES = {"u": "user", "a": "assistant"}
SEED = 20260215
FIRST_DAY, LAST_DAY = date(2026, 2, 15), date(2026, 3, 31)
#: The day whose log of the homelab also has a block that another consolidator manages, from the first day on.
_MANAGED_DAY = 23
#: Notes of these projects are OpenClaw workspaces, in these zones; the others are JSONL files.
ZONES = {"webshop": "America/New_York", "homelab": "Europe/Lisbon"}
TABLES = ("research", "assistant")
PROJECTS = (*ZONES, *TABLES)
_EXACT, _NORMALISED, _FRESH, _TOTAL = 60, 60, 20, 860
#: Lessons that share a rule are all written by this day, so that a whole week lies between them and the demo's end.
_LAST_DAY_OF_RULES = 37
#: Lessons that are written three and two days before the last one, so that the last nights have something to show.
_LATE_LESSONS, _LATE_DAYS = (2, 24), (41, 42)
#: Notes of a lesson, by turns.
_SIZES = (4, 7, 5, 6, 9, 4, 5)
_COLUMNS = ("id", "project_id", "content", "created_at", "importance")
#: What is in words of the demo that are secrets.
_SECRETS = ("sk-ant", "ghp_", "demo-Only", "@example")


@dataclass(frozen=True)
class Note:
    """One memory of the demo, with the id that the import will give it."""

    id: str
    project: str
    text: str
    noted_at: datetime
    importance: float = 1.0


@dataclass
class Demo:
    """The notes in the order of writing, and the truth about them."""

    random: random.Random
    notes: list[Note] = field(default_factory=list)
    truth: dict[str, list[object]] = field(default_factory=lambda: defaultdict(list))
    _seen: set[str] = field(default_factory=set)

    def add(self, project: str, text: str, noted_at: datetime, importance: float = 1.0) -> Note:
        """Write a note; a second one with the same words on the same day moves to the next day."""
        while (note_id := self._id(project, text, noted_at)) in self._seen:
            noted_at += timedelta(days=1)
        self._seen.add(note_id)
        note = Note(note_id, project, text, noted_at, importance)
        self.notes.append(note)
        return note

    def moment(self, first: int = 0, last: int = 42) -> datetime:
        """A minute of waking time on one of the days `first` to `last`, UTC; day 44 is the last one."""
        day = FIRST_DAY + timedelta(days=self.random.randint(first, last))
        return datetime.combine(day, time(13, 0), UTC) + timedelta(minutes=5 * self.random.randint(0, 84))

    def _id(self, project: str, text: str, noted_at: datetime) -> str:
        if project in ZONES:
            return entry_id(project, f"memory/{_local(project, noted_at):%Y-%m-%d}.md", redact(text)[0])
        return f"{project}-{1 + sum(note.project == project for note in self.notes):04}"


def _local(project: str, moment: datetime) -> datetime:
    return moment.astimezone(ZoneInfo(ZONES.get(project, "UTC")))


def make_demo() -> Demo:
    """All notes of the 45 days, and the truth about them."""
    demo = Demo(random.Random(SEED))
    _lessons(demo)
    _groups(demo)
    _singles(demo)
    _telemetry(demo)
    for project, group in KNOWLEDGE:
        members = [demo.add(project, entry.text, demo.moment()).id for entry in group]
        demo.truth["knowledge"].append({"project": project, "members": members})
    plain = list(_plain_days())
    _fresh(demo, plain)
    originals = _paraphrases(demo)
    room = _TOTAL - len(demo.notes) - _EXACT - _NORMALISED  # plain days until the demo is full
    originals += [demo.add(project, sentence, demo.moment(0, 30)) for project, sentence in plain[:room]]
    demo.random.shuffle(originals)
    _copies(demo, "exact_duplicates", originals[:_EXACT], lambda text: text)
    disguised = originals[_EXACT : _EXACT + _NORMALISED]
    _copies(demo, "normalised_duplicates", disguised, lambda text: _disguise(demo.random, text))
    return demo


def _lessons(demo: Demo) -> None:
    rules: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for number, lesson in enumerate(texts.LESSONS):
        details = list(lesson.details)
        size = max(len(details) + 1, _SIZES[number % len(_SIZES)])
        members = []
        for turn in range(size):
            detail = f" {details[turn]}" if turn < len(details) else ""
            wording = lesson.wordings[turn % len(lesson.wordings)]
            text = texts.PREFIXES[(turn + number) % len(texts.PREFIXES)] + wording + detail
            moment = demo.moment(0, _LAST_DAY_OF_RULES) if lesson.rule else demo.moment()
            if number in _LATE_LESSONS:
                day = FIRST_DAY + timedelta(days=_LATE_DAYS[turn > 1])
                moment = datetime.combine(day, moment.time(), UTC)
            members.append(demo.add(lesson.project, text, moment))
        ids = [note.id for note in members]
        if lesson.rule:
            rules[lesson.project, lesson.rule].append(ids)
        if lesson.project in TABLES and len(demo.truth["critical"]) < 2:
            critical = demo.add(lesson.project, f"{lesson.wordings[0]} This one is vital.", demo.moment(), 2.8)
            demo.truth["critical"].append(critical.id)
        demo.truth["clusters"].append({"project": lesson.project, "members": ids})
        demo.truth["questions"].append(
            {
                "project": lesson.project,
                "question": lesson.question,
                "answer": lesson.answer,
                "evidence": [note.id for note in members if lesson.answer in note.text],
            }
        )
    demo.truth["rules"] += [
        {"project": project, "rule": rule, "lessons": lessons} for (project, rule), lessons in rules.items()
    ]


def _groups(demo: Demo) -> None:
    """Contradictions, the chain, and causes with their effects."""
    for project, older, newer in texts.CONTRADICTIONS:
        one, other = demo.add(project, older, demo.moment(0, 20)), demo.add(project, newer, demo.moment(21, 42))
        demo.truth["contradictions"].append([one.id, other.id])
    project, chain = texts.CHAIN
    demo.truth["chain"] = [demo.add(project, text, demo.moment()).id for text in chain]
    for project, episodes in texts.CAUSAL:
        members = [demo.add(project, text, demo.moment()).id for text in episodes]
        demo.truth["causal"].append({"project": project, "members": members})


def _singles(demo: Demo) -> None:
    for project, text in texts.CRITICAL:
        demo.truth["critical"].append(demo.add(project, text, demo.moment(), 2.9).id)
    for text in texts.CURATED:
        demo.truth["curate"].append(demo.add("webshop", f"[CURATE] {text}", demo.moment()).id)
    for text in texts.TEMPORARY:
        demo.truth["temporary"].append(demo.add("webshop", f"[TEMPORARY] {text}", demo.moment()).id)
    for text in texts.SECRETS:
        demo.add("webshop", text, demo.moment())
        demo.truth["secrets"].extend(
            word.strip(".,") for word in text.split() if any(mark in word for mark in _SECRETS)
        )


def _telemetry(demo: Demo) -> None:
    """Readings spread over all days but the last, in the order of their numbers, with the breaking ones among them."""
    for form in TELEMETRY:
        days = sorted(demo.random.sample(range(44), form.lines - len(form.breaks)))
        members = [
            demo.add(form.project, form.write(demo.random, number), demo.moment(day, day)).id
            for number, day in enumerate(days)
        ]
        breaks = [demo.add(form.project, text, demo.moment(14, 36)).id for text in form.breaks]
        demo.truth["series"].append({"project": form.project, "members": members, "breaks": breaks})


def _plain_days() -> Iterator[tuple[str, str]]:
    """Project and sentence: every activity with different people and reasons."""
    for turn in range(9):
        for project in PROJECTS:
            for place, doing in enumerate(texts.DOINGS[project]):
                person = texts.PEOPLE[(place * 5 + turn * 7) % len(texts.PEOPLE)]
                reason = texts.REASONS[(place * 3 + turn * 11 + len(project)) % len(texts.REASONS)]
                first = (place * 7 + turn * 4 + len(project)) % len(texts.OUTCOMES)
                outcome, further = texts.OUTCOMES[first], texts.OUTCOMES[(first + place + 5) % len(texts.OUTCOMES)]
                words = outcome if outcome == further else f"{outcome} {further}"
                yield project, f"{person} {doing} {reason}. {words}"


def _paraphrases(demo: Demo) -> list[Note]:
    """Notes that say one thing in two people's words; returns the earlier ones, each of which may be copied once."""
    earlier = []
    for project, pairs in PARAPHRASES.items():
        for one, other in pairs:
            earlier.append(demo.add(project, one, demo.moment(0, 20)))
            later = demo.add(project, other, demo.moment(21, 42))
            demo.truth["paraphrases"].append([earlier[-1].id, later.id])
    return earlier


def _fresh(demo: Demo, plain: list[tuple[str, str]]) -> None:
    """Write the notes of the last day: plain ones, a reading of some series, and an entry of the knowledge base."""
    project, entry = LATE_ENTRY
    written = [(project, entry.text)]
    written += [(form.project, form.write(demo.random, form.lines)) for form in TELEMETRY[::5]]
    written += [(owner, f"Today {text[0]}{text[1:]}") for owner, text in plain[len(written) - _FRESH :]]
    for project, text in written:
        moment = datetime.combine(LAST_DAY, time(14, 0), UTC) + timedelta(minutes=5 * demo.random.randint(0, 60))
        demo.truth["fresh"].append(demo.add(project, text, moment).id)


def _copies(demo: Demo, kind: str, originals: list[Note], change: Callable[[str], str]) -> None:
    for original in originals:
        days_left = (LAST_DAY - original.noted_at.date()).days - 2
        moment = original.noted_at + timedelta(days=demo.random.randint(1, max(1, days_left)))
        copy = demo.add(original.project, change(original.text), moment)
        demo.truth[kind].append([original.id, copy.id])


def _disguise(chance: random.Random, text: str) -> str:
    """The same words with different case, marks, spaces or a leading timestamp."""
    person, words = text.split(" ", 1)
    disguises = (
        text.upper(),
        f"**{person}** {words}",
        text.replace(" ", "  ", 3),
        text.rstrip("."),
        f"{chance.randint(8, 19):02}:{chance.randint(0, 59):02} UTC - {text}",
        f"_{person}_ {words.rstrip('.')}",
    )
    return chance.choice(disguises)


def write_demo(directory: Path) -> None:
    """Write the workspace, its JSONL files and `truth.json` into a directory."""
    demo = make_demo()
    for project in ZONES:
        _write_workspace(demo, directory / project, project)
    for project in TABLES:
        notes = sorted((n for n in demo.notes if n.project == project), key=lambda n: n.noted_at)
        values = ((n.id, project, n.text, n.noted_at.isoformat(), n.importance) for n in notes)
        rows = (json.dumps(dict(zip(_COLUMNS, row, strict=True)), ensure_ascii=False) for row in values)
        _write(directory / f"{project}.jsonl", "".join(f"{row}\n" for row in rows))
    _write(directory / "truth.json", json.dumps(demo.truth, indent=1, ensure_ascii=False) + "\n")


def _write_workspace(demo: Demo, root: Path, project: str) -> None:
    written = [note for note in demo.notes if note.project == project]
    by_day: dict[date, dict[str, list[Note]]] = defaultdict(lambda: defaultdict(list))
    for note in sorted(written, key=lambda note: (note.noted_at, note.id)):
        at = _local(project, note.noted_at)
        part = "Morning" if at.hour < 12 else "Afternoon" if at.hour < 17 else "Evening"
        by_day[at.date()][part].append(note)
    for day, parts in sorted(by_day.items()):
        lines = [f"# {day}", ""]
        for part, notes in parts.items():
            head = f"## {part} - {_local(project, notes[0].noted_at):%H:%M %Z}"
            lines += [head, *(f"- {note.text}" for note in notes), ""]
        if project == "homelab" and day == FIRST_DAY + timedelta(days=_MANAGED_DAY):
            of_day = (note for note in written if _local(project, note.noted_at).date() == day)
            repeated = [f"- {note.text}" for note in islice(of_day, 4)]
            lines += [
                "<!-- openclaw:dreaming:light:start -->", "## Light Sleep", *repeated,
                "<!-- openclaw:dreaming:light:end -->", "",
            ]  # fmt: skip
        _write(root / "memory" / f"{day}.md", "\n".join(lines))
    _write(
        root / "MEMORY.md",
        f"# Long-term memory\n\n## People\n- {texts.PEOPLE[0]} and {texts.PEOPLE[1]} run the {project} together\n",
    )
    _write(root / "USER.md", "# User\n\n- Likes short answers with the result first\n")
    for owner, day_of_talk, turns in conversations():
        if owner == project:
            _write(root / "raw" / f"{day_of_talk}.md", f"# Conversation {day_of_talk}\n\n{turns}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def conversations() -> Iterator[tuple[str, str, str]]:
    """Project, day and words of each conversation; those of the last day are left for a later night."""
    for talk in (Path(__file__).parent / "talks.txt").read_text("utf-8").strip().split("\n\n"):
        head, _, turns = talk.partition("\n")
        _, project, day = head.split()
        apart = re.sub(r"\n(?=[ua]: )", "\n\n", turns)
        yield project, day, re.sub(r"^([ua])(?=: )", lambda turn: _ROLES[turn[1]], apart, flags=re.MULTILINE)


if __name__ == "__main__":
    write_demo(Path(sys.argv[1]))
