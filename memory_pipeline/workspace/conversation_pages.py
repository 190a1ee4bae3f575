"""Pages of conversations: their blocks and their files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from memory_pipeline.config.exports import BUDGET_TOKENS, LOGS, RELATIONAL, SOUL, SUMMARIES, USER
from memory_pipeline.config.settings import Settings
from memory_pipeline.files.markers import HEAD, MADE_AGAIN
from memory_pipeline.killpoints import reached
from memory_pipeline.reading.extraction import MARKED, ROUTES
from memory_pipeline.reading.relationship_patterns import RelationshipPattern, Resolution, patterns_of
from memory_pipeline.reading.turns import MEND_SPEAKERS, NO_SPEAKER
from memory_pipeline.records import Destination, KeptExtraction, Speaker
from memory_pipeline.store import Store, Transaction
from memory_pipeline.text.counts import how_many
from memory_pipeline.text.quoting import plain
from memory_pipeline.workspace.directory import daily_log, daily_summary, pages_of, write_pages

#: English has about so many characters in a token.
CHARACTERS_PER_TOKEN = 4
#: What a line has beside its words: marks, kind and speaker, and a share of the heading of its day.
_BESIDE = 40
#: How much of its significance something loses in a week beside what is newer, and in the end.
_LOST_PER_WEEK, _MOST_LOST = 0.02, 0.2
#: Beside others, no day has more than this share, and no turn more lines than this: what has more was pasted.
_MOST_OF_DAY, _MOST_OF_TURN = 0.5, 40
#: The names of the blocks in USER.md, RELATIONAL.md and SOUL.md, in a daily log, and in the summary of a day.
CONVERSATIONS, DECISIONS, SUMMARY = "conversations", "decisions", "conversations"
#: So many of each destination are listed in the summary of a day: those that matter most.
_MOST_SHOWN = 40
#: The share of RELATIONAL.md's tokens that contradictions may take.
_OF_CONTRADICTIONS = 0.25
#: Of each destination, the heading in the summary of a day, and the words of the figures.
_WHERE = {
    "user": ("About the human", "to USER"),
    "relational": ("How the two work together", "to RELATIONAL"),
    "soul": ("About the agent", "to SOUL"),
    "memory": ("Memories", "to memory"),
    "drop": ("Kept nowhere", "nowhere"),
}
_RESOLVED: Mapping[Resolution, str] = {
    "corrected": "its speaker corrected it; the new one holds",
    "revoked": "revoked by the human; the new one holds",
    "noted": "said once; noted, and the previous one holds",
    "repeated": "said again; the new one holds",
    "review": "uncertain; `memory-pipeline patterns list` has it for review",
}
_BY: Mapping[Speaker, str] = {"human": "the human", "agent": "the agent"}


def standing_in(extractions: Iterable[KeptExtraction]) -> list[KeptExtraction]:
    """Those of all extractions of a project that no other withdraws, in order."""
    known = list(extractions)
    withdrawn = {old for extraction in known for old in extraction.withdraws}
    return [extraction for extraction in known if extraction.id not in withdrawn]


def user_block(project_id: str, extractions: Iterable[KeptExtraction], tokens: int = BUDGET_TOKENS) -> str:
    """The facts about the human, day by day: what was said, and what several sentences show; within some tokens."""
    lines: list[str] = []
    days, left_out = _group_by_day("user", extractions, tokens)
    for day, those in days:
        lines += ["", f"## Updates from {day}"]
        for name, is_inferred in (("Observed", False), ("Inferred", True)):
            if some := [e for e in those if ROUTES[e.kind, e.speaker].is_inferred == is_inferred]:
                lines += ["", f"**{name}:**", "", *_said_once(some)]
    return _block(project_id, "what its human said in conversations", [*lines, *left_out])


def relational_block(
    project_id: str,
    extractions: Iterable[KeptExtraction],
    patterns: Sequence[RelationshipPattern] = (),
    tokens: int = BUDGET_TOKENS,
) -> str:
    """How the two work together, day by day, but for what a person rejected, and what contradicted it lately."""
    rejected = {member for pattern in patterns for member in pattern.rejected}
    lines: list[str] = []
    seen_last, earlier = _list_contradictions(patterns, int(tokens * CHARACTERS_PER_TOKEN * _OF_CONTRADICTIONS))
    room = tokens - sum(map(len, seen_last)) // CHARACTERS_PER_TOKEN
    days, left_out = _group_by_day(
        "relational", (extraction for extraction in extractions if extraction.id not in rejected), room
    )
    for day, those in days:
        kinds: dict[tuple[str, Speaker], list[str]] = defaultdict(list)
        for extraction in those:
            kinds[_bullet(extraction), extraction.speaker].append(extraction.kind)
        lines += ["", f"### {day}", ""]
        lines += [f"{bullet} ({' and '.join(names)}, {_BY[speaker]})" for (bullet, speaker), names in kinds.items()]
    body = ["", "## Growth Markers", *lines, *left_out] if lines else []
    body += seen_last
    if earlier:
        body += ["", f"{how_many(earlier, 'earlier contradiction')}: `memory-pipeline patterns list`."]
    return _block(project_id, "how the two work together, in their own words", body)


def _list_contradictions(patterns: Sequence[RelationshipPattern], characters: int) -> tuple[list[str], int]:
    """The sections of the latest contradictions within a number of characters, and how many there are beside them;
    none of patterns that a person rejected."""
    standing = (pattern for pattern in patterns if pattern.decision is None or pattern.decision.decision != "rejected")
    observed = sorted((seen for pattern in standing for seen in pattern.observed), key=lambda seen: seen.new_day)
    sections: list[list[str]] = []
    for seen in reversed(observed):
        section = [
            "",
            "## Observed Contradiction",
            "",
            f"- Previous: {plain(seen.previous)} ({seen.previous_day})",
            f"- New: {plain(seen.new)} ({seen.new_day})",
            f"- Resolution: {_RESOLVED[seen.resolution]}",
            f"- Updated pattern: {plain(seen.updated)}",
        ]
        characters -= sum(map(len, section))
        if sections and characters < 0:
            break
        sections.append(section)
    return [line for section in reversed(sections) for line in section], len(observed) - len(sections)


def soul_block(project_id: str, extractions: Iterable[KeptExtraction], tokens: int = BUDGET_TOKENS) -> str:
    """The statements of the agent about itself, day by day; within some tokens."""
    days, left_out = _group_by_day("soul", extractions, tokens)
    lines = [line for day, those in days for line in ("", f"### {day}", "", *_said_once(those))]
    return _block(project_id, "what its agent said of itself", [*lines, *left_out], "## Communication Evolution")


def decisions_block(project_id: str, day: date, extractions: Iterable[KeptExtraction]) -> str:
    """The decisions of a day."""
    those = [
        extraction
        for extraction in extractions
        if extraction.day == day
        and extraction.destination != "drop"
        and ROUTES[extraction.kind, extraction.speaker].in_daily_log
    ]
    lines = [f"- {plain(e.text)} (by {_BY[e.speaker]}, {plain(place_of(e))})" for e in those]
    return _block(
        project_id, f"what was decided in conversations on {day}", ["", *lines] if lines else [], "## Decisions"
    )


def summary_block(project_id: str, night: date, coverage: Mapping[str, Any], those: Sequence[KeptExtraction]) -> str:
    """The outcome of a day's conversations: what was read, what was kept and where, and what was dropped and why."""
    lines = ["", f"## Conversations of {night}", "", *(f"- {line}" for line in coverage_in_words(coverage))]
    withdrawn = {old for extraction in those for old in extraction.withdraws}
    for destination, (heading, _) in _WHERE.items():
        some = [extraction for extraction in those if extraction.destination == destination]
        if some:
            most = sorted(some, key=lambda extraction: -extraction.significance)[:_MOST_SHOWN]
            shown_ids = {extraction.id for extraction in most}
            lines += ["", f"### {heading}", ""]
            lines += [
                f"- {plain(extraction.text)} ({extraction.kind}, {_BY[extraction.speaker]}, "
                f"{extraction.significance:.2f}"
                f"{', withdrawn' if extraction.id in withdrawn else ''}; {plain(place_of(extraction))})"
                for extraction in some
                if extraction.id in shown_ids
            ]
            if len(some) > len(shown_ids):
                lines.append(f"- and {len(some) - len(shown_ids):,} more, which matter less")
    return _block(project_id, f"what was kept of the conversations of {night} (UTC)", lines)


def coverage_in_words(coverage: Mapping[str, Any]) -> list[str]:
    """The figures of a day as sentences."""
    turns, routed = coverage["turns"], coverage["routed"]
    spoken = ", ".join(f"{count:,} by {_BY[speaker]}" for speaker, count in turns.items())
    sentences = [
        f"{how_many(sum(turns.values()), 'turn')} read{f' ({spoken})' if spoken else ''} in "
        f"{how_many(coverage['chunks'], 'chunk')}, of {how_many(coverage['memories'], 'memory')}; something "
        f"was kept of {how_many(coverage['turns_with_something_kept'], 'turn')}."
    ]
    went = ", ".join(f"{routed[name]} {words}" for name, (_, words) in _WHERE.items() if routed.get(name))
    kinds = ", ".join(f"{count} {kind}" for kind, count in coverage["extracted"].items())
    extracted = sum(coverage["extracted"].values())
    sentences.append(
        f"{how_many(coverage['sentences'], 'sentence')}, {how_many(extracted, 'extraction')}"
        f"{f' ({kinds}): {went}' if extracted else ''}."
    )
    for name, noun in (
        ("memories_dropped", "memories that are no turn"),
        ("sentences_dropped", "sentences and turns that gave nothing"),
        ("extractions_dropped", "extractions that went nowhere"),
    ):
        if coverage[name]:
            reasons = "; ".join(f"{why}: {count:,}" for why, count in coverage[name].items())
            sentences.append(f"Dropped, {noun}: {reasons}.")
    if unknown := without_speaker(coverage):
        names = ", ".join(coverage.get("unknown_speakers", ()))
        sentences.append(
            f"Nobody knows who speaks in {how_many(unknown, 'memory')}{f' ({plain(names)})' if names else ''}: "
            f"{MEND_SPEAKERS}."
        )
    if "model" in coverage:
        sentences.append(_describe_model(coverage["model"]))
    return sentences


def _describe_model(model: Mapping[str, Any]) -> str:
    """One sentence on what a model was asked about a day, and what came of it."""
    words = (
        f"The model was asked {how_many(model['questions'], 'question')}; {model['extracted']:,} extractions are its"
    )
    if model["refused"]:
        words += f"; left out: {', '.join(f'{why}: {count:,}' for why, count in model['refused'].items())}"
    if model.get("waiting"):
        words += f"; {how_many(model['waiting'], 'question')} without an answer yet"
    return f"{words}."


def without_speaker(coverage: Mapping[str, Any]) -> int:
    """Of how many memories of conversations nobody knows who speaks."""
    return int(coverage["memories_dropped"].get(NO_SPEAKER, 0))


def place_of(extraction: KeptExtraction) -> str:
    """The place of the words of an extraction: the file of the conversation, and the line."""
    _, _, file = extraction.conversation.partition(":")
    return f"{file or extraction.conversation}:{extraction.line}"


def _group_by_day(
    destination: Destination, extractions: Iterable[KeptExtraction], tokens: int
) -> tuple[list[tuple[date, list[KeptExtraction]]], list[str]]:
    """The extractions of a page within some tokens, by day, marked ones first; and lines on how many do not fit."""
    those = [extraction for extraction in extractions if extraction.destination == destination]
    chosen = fitting(those, tokens)
    of_day: dict[date, list[KeptExtraction]] = defaultdict(list)
    for extraction in chosen:
        of_day[extraction.day].append(extraction)
    days = [(day, sorted(of_day[day], key=lambda extraction: not extraction.priority)) for day in sorted(of_day)]
    left = len(those) - len(chosen)
    remainder = f"{left:,} earlier or less significant: `memory-pipeline conversations show DAY` has them."
    return days, ["", remainder] if left else []


def _bullet(extraction: KeptExtraction) -> str:
    """A line; in quotation marks are words as they were said, not what a model or the routing says of them."""
    is_said = not extraction.proposed_by and not ROUTES[extraction.kind, extraction.speaker].is_inferred
    words = f"“{plain(extraction.text)}”" if is_said else plain(extraction.text)
    return f"- {'**Important:** ' if extraction.priority else ''}{words}"


def _said_once(those: Iterable[KeptExtraction]) -> list[str]:
    """The lines of extractions; a sentence of two kinds has one."""
    return list(dict.fromkeys(map(_bullet, those)))


def _block(project_id: str, about: str, lines: Sequence[str], heading: str = "") -> str:
    """A block with its first line; nothing if there is nothing to say."""
    if not lines:
        return ""
    head = f"{HEAD}{plain(project_id)}: {about}. Every night {MADE_AGAIN}"
    return "\n".join([head, *(["", heading] if heading else []), *lines])


#: By file and name of the block, its body.
Blocks = dict[tuple[str, str], str]
CONTENTS = (USER, RELATIONAL, SOUL, LOGS, SUMMARIES)


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The outcome of writing the files, in sentences: `problems`: what could not be written; `moved`: what a person
    wrote between our marks, and where it stands now, and what else a person should know of the files."""

    problems: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def write_files(store: Store, settings: Settings, holder: str, run_id: str | None) -> WrittenFiles:
    """Write the pages of every project of which conversations were read.

    The three files are compared on every call, those of single days only while they may be out of date, and if the
    project has no pages yet.
    """
    with store.reading() as tx:
        projects = tx.conversations.projects()
        if not projects:
            return WrittenFiles()
        waiting: dict[str, list[date]] = defaultdict(list)
        for project_id, night in tx.conversations.unwritten():
            waiting[project_id].append(night)
    problems: list[str] = []
    moved: list[str] = []
    for project_id in projects:
        root = pages_of(store.path, project_id)
        with store.reading() as tx:
            nights = set(waiting[project_id])
            if not (root / "daily").is_dir():  # of a store that was imported whole, or whose pages somebody removed
                nights.update(row.night for row in tx.conversations.days(project_id))
            blocks = conversation_blocks(tx, project_id, settings, CONTENTS, sorted(nights))
        done = write_pages(root, blocks, store.path)
        problems += [f"{project_id}: {problem}" for problem in done.problems.values()]
        moved += done.told
        reached("conversations.files")
        if waiting[project_id] and not done.problems:
            with store.writing(holder, run_id) as tx:
                tx.conversations.note_written({(project_id, night) for night in waiting[project_id]})
    return WrittenFiles(tuple(problems), tuple(dict.fromkeys(moved)))


def conversation_blocks(
    tx: Transaction,
    project_id: str,
    settings: Settings,
    contents: Collection[str],
    nights: Sequence[date] | None = None,
) -> Blocks:
    """The blocks in the files of a project about its conversations; of its days, those of these nights, or all. What
    goes into one file shares its budget."""
    everything = tx.conversations.standing(project_id)
    standing = standing_in(everything)
    blocks: Blocks = {}
    patterns = patterns_in(tx, project_id, everything) if RELATIONAL in contents else []
    names = settings.compression.destinations
    made = [
        (name, block)
        for content, name, block in (
            (USER, names.user, user_block),
            (RELATIONAL, names.relational, partial(relational_block, patterns=patterns)),
            (SOUL, names.soul, soul_block),
        )
        if name and content in contents
    ]
    files = [name for name, _ in made]
    for name, block in made:
        added = block(project_id, standing, tokens=BUDGET_TOKENS // files.count(name))
        before = blocks.get((name, CONVERSATIONS), "")
        blocks[name, CONVERSATIONS] = "\n\n".join(part for part in (before, added) if part)
    if nights is None:
        nights = tx.conversations.nights(project_id)
    for night in nights if LOGS in contents else ():
        ever = tx.conversations.of_night(project_id, night, also_gone=True)
        for day in sorted({extraction.day for extraction in ever}):
            # the log is of its day
            then = {old for extraction in everything if extraction.day <= day for old in extraction.withdraws}
            of_day = [extraction for extraction in everything if extraction.id not in then]
            blocks[daily_log(day), DECISIONS] = decisions_block(project_id, day, of_day)
    for night in nights if SUMMARIES in contents else ():
        row = tx.conversations.day(project_id, night)
        those = [extraction for extraction in everything if extraction.night == night]
        body = summary_block(project_id, night, json.loads(row.coverage), those) if row else ""
        blocks[daily_summary(night), SUMMARY] = body
    return blocks


def patterns_in(
    tx: Transaction, project_id: str, standing: Sequence[KeptExtraction] | None = None
) -> list[RelationshipPattern]:
    """The patterns of a project, of what stands, what was told again, and what people decided."""
    known = tx.conversations.standing(project_id) if standing is None else standing
    extractions = [
        extraction for extraction in known if extraction.destination != "drop" or extraction.kind == "correction"
    ]
    return patterns_of(extractions, tx.conversations.told_again(project_id), tx.opinions.decisions(project_id))


def fitting(those: Sequence[KeptExtraction], tokens: int) -> list[KeptExtraction]:
    """Those that matter most within a number of tokens, in their order: what was marked and what is newer matters more.
    As long as there is anything else, no day takes more than a half, and no turn more than forty lines."""
    if sum(map(_cost, those)) <= tokens:
        return list(those)
    newest = max(extraction.day for extraction in those)
    of_turn: Counter[object] = Counter()
    of_day: Counter[date] = Counter()

    def value(extraction: KeptExtraction) -> float:
        marked = MARKED if extraction.priority else 0.0
        lost = min(_MOST_LOST, _LOST_PER_WEEK * ((newest - extraction.day).days // 7))
        return round(extraction.significance + marked - lost, 3)

    def turn(extraction: KeptExtraction) -> int:
        """The round in which it is taken: 0 at once, 1 after those of other days, 2 last, as pasted."""
        place = (extraction.conversation, extraction.line, extraction.day) if extraction.line else extraction.turn_id
        of_turn[place] += 1
        if of_turn[place] > _MOST_OF_TURN:
            return 2
        cost = round(_cost(extraction))
        if of_day[extraction.day] + cost > tokens * _MOST_OF_DAY:
            return 1
        of_day[extraction.day] += cost
        return 0

    chosen: set[str] = set()
    room = float(tokens)
    ranked = sorted(
        those, key=lambda extraction: (-value(extraction), -extraction.day.toordinal(), -extraction.line, extraction.id)
    )
    for extraction in sorted(ranked, key=turn):
        room -= _cost(extraction)
        if room < 0:
            break
        chosen.add(extraction.id)
    return [extraction for extraction in those if extraction.id in chosen]


def _cost(extraction: KeptExtraction) -> float:
    return (len(extraction.text) + _BESIDE) / CHARACTERS_PER_TOKEN
