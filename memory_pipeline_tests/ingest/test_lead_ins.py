"""A bullet keeps what it hangs on: its heading and the words that lead in to it, in any language."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_pipeline.ingest.gate import version_id
from memory_pipeline.ingest.markdown import parse_note
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.records import Memory, Source
from memory_pipeline.store import Store
from memory_pipeline.text.subject import shared_headings, subject_beside, with_subject, words_alone
from memory_pipeline_tests.build import candidate, fill, memory
from memory_pipeline_tests.ingest.bring import bring, memories_of, read, write


def contents(text: str) -> list[str]:
    return [entry.content for entry in parse_note(text).entries]


def workspace(tmp_path: Path, text: str, file: str = "memory/2026-05-04.md") -> Path:
    return write(tmp_path / "agent", file, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I must NOT change these. That means:\n- the gateway\n", ["I must NOT change these. That means: the gateway"]),
        ("Ich darf das nicht ändern:\n\n- DNS\n- Mail\n", [f"Ich darf das nicht ändern: {x}" for x in ("DNS", "Mail")]),
        ("未经许可，我不得修改：\n- 网关\n", ["未经许可，我不得修改：网关"]),
        ("Où aller ?\n- Lyon\n", ["Où aller ? Lyon"]),
        ("**Zum Adler**\n- Preis: 45 Euro\n", ["Zum Adler: Preis: 45 Euro"]),
        ("**Wichtig:**\n\nDer Server geht aus.\n", ["Wichtig: Der Server geht aus."]),
        ("Nicht anfassen.\n- config.json\n", ["Nicht anfassen.", "Nicht anfassen. config.json"]),
        ("- **Avis :**\n- la pluie\n- le vent\n", ["Avis : la pluie", "Avis : le vent"]),
        ("Steps:\n1. open\n2. close\n", ["Steps:\n1. open\n2. close"]),
        ("Do not:\n- [ ] call Dana\n- [CURATE] mail\n", ["[ ] Do not: call Dana", "[CURATE] Do not: mail"]),
    ],
)
def test_a_list_says_what_leads_in_to_it(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_a_short_item_stays_one_entry_and_a_long_one_leads_in_to_its_own_items() -> None:
    long = "Wir nehmen PostgreSQL, weil die Replikation ohne fremde Werkzeuge geht und das Team sie seit Jahren kennt"
    text = (
        f"- Utrecht abgelehnt\n  - **Grund**: zu klein\n- Umzug\n  - {long}\n  - {long} und mag\n  - {long} und hat\n"
    )
    assert contents(text) == [
        "Utrecht abgelehnt\n- **Grund**: zu klein",
        *(f"Umzug: {long}{end}" for end in ("", " und mag", " und hat")),
    ]


@pytest.mark.parametrize("line", ["10:40 The rent of 850 euros is due on the 5th.", "07:58 fridge 4.0 C"])
def test_a_log_line_leads_in_to_nothing_without_a_colon(line: str) -> None:
    told = contents(f"{line}\n\n- [ ] call Ana\n- 11:00 heartbeat ok, queue 4")
    assert told == [line, "[ ] call Ana", "11:00 heartbeat ok, queue 4"]
    assert contents("10:40 to do:\n- call Ana") == ["10:40 to do: call Ana"]


def test_a_long_introduction_stands_beside_and_stays_an_entry() -> None:
    text = "La cuisine était bonne, mais très bruyante. Sans réservation on attend.\n\n- prix : 45 euros\n"
    whole, item = parse_note(text).entries
    assert (whole.content, item.content) == (text.split("\n")[0], "prix : 45 euros")
    assert item.lead.words == whole.content and not item.lead.joins


@pytest.mark.parametrize(
    "text",
    [
        "08:05 started\n- 08:06 loaded\n",  # lines of one log
        "Summary:\n\n## Next\n- call Dana\n",  # a heading stands between
        "Done.\n\n---\n\n- call Dana\n",
    ],
)
def test_what_stands_apart_leads_in_to_nothing(text: str) -> None:
    assert all(not entry.lead.words for entry in parse_note(text).entries)


def test_first_items_within_a_paragraph_are_no_part_of_what_leads_in() -> None:
    text = "Fait hier. Résumé: - un café\n- deux thés\n"
    assert contents(text) == ["Fait hier. Résumé: - un café", "Fait hier. Résumé: deux thés"]


def test_headings_and_lead_in_are_kept_as_they_are_written(tmp_path: Path) -> None:
    text = "# 2026-05-04\n## Restaurants\n### Da Gino (14:00)\n**Preise:**\n- Mittag: 12 Euro\n"
    (found,) = read(workspace(tmp_path, text), "openclaw").candidates
    assert found.headings == ("Restaurants", "Da Gino (14:00)") and found.lead_in == "Preise:"
    assert found.content == "Preise: Mittag: 12 Euro" and found.own_words == "Mittag: 12 Euro"


@pytest.mark.parametrize(
    ("headings", "lead_in", "content", "shown"),
    [
        (("Restaurants", "Da Gino"), "", "Preis: 45", "Restaurants › Da Gino: Preis: 45"),
        (("Never do these at night",), "", "Restart the relay.", "Never do these at night: Restart the relay."),
        (("⚡ Autonome Arbeit — 07:05 UTC",), "", "Fertig.", "Autonome Arbeit: Fertig."),
        (("2026-05-04",), "", "Fertig.", "Fertig."),
        (("IIT 4.0 (2026-03-01, refined)",), "", "Five axioms.", "IIT 4.0 (2026-03-01, refined): Five axioms."),
        (("Stapel 4 (2026-03-12 ~17:00 UTC)",), "", "Fertig.", "Stapel 4: Fertig."),
        (("绝对不要做",), "", "删除备份。", "绝对不要做: 删除备份。"),
        (("The relay",), "", "The relay is up.", "The relay is up."),
        ((), "Pas avant mardi.", "appeler Zoé", "Pas avant mardi. appeler Zoé"),
        ((), "Not yet:", "Not yet: call Zoé", "Not yet: call Zoé"),
    ],
)
def test_what_a_memory_hangs_on_stands_beside_it_once(
    headings: tuple[str, ...], lead_in: str, content: str, shown: str
) -> None:
    assert with_subject(memory("m", content, headings=headings, lead_in=lead_in)) == shown


def test_what_was_made_of_several_memories_hangs_on_nothing_but_what_they_share() -> None:
    one, other = (
        memory("m", "x", headings=("Mail", f"Lauf {at} UTC", end)) for at, end in (("07:05", "a"), ("09:10", "b"))
    )
    assert shared_headings([one, other]) == one.headings[:2]
    assert subject_beside(replace(one, abstraction_level=2)) == ""


@pytest.mark.parametrize(
    ("lead_in", "content"),
    [("Zum Adler", "Zum Adler: offen"), ("不得：", "不得：offen"), ("No:", "[ ] No: offen"), ("", "offen")],
)
def test_the_own_words_of_an_entry_are_found_again(lead_in: str, content: str) -> None:
    assert words_alone(lead_in, content).removeprefix("[ ] ") == "offen"


def as_read_before(store: Store, words: str, file: str = "memory/2026-05-04.md") -> Memory:
    """A memory that an earlier version read: of its own words, with the id that follows from these."""
    from memory_pipeline.ingest.importer import entry_id

    native = entry_id("agent", file, words)
    at = datetime(2026, 5, 4, tzinfo=UTC)
    fill(
        store, [replace(candidate(words, at, native_id=native, project_id="agent"), source=Source("openclaw", file, 3))]
    )
    with store.reading() as tx:
        return tx.memories.read([native])[native]


def test_a_store_of_an_earlier_version_gets_what_its_memories_hang_on_and_nothing_twice(
    store: Store, tmp_path: Path
) -> None:
    before = as_read_before(store, "DNS")
    root = workspace(tmp_path, "# 2026-05-04\n## Regeln\nIch darf das nicht ändern:\n- DNS\n")
    done = bring(store, root, "openclaw")
    assert (done.imported, done.unchanged, done.new_versions) == (0, 1, 0)
    (after,) = memories_of(store)
    assert (after.id, after.content, after.created_at) == (before.id, "DNS", before.created_at)
    assert with_subject(after) == "Regeln › Ich darf das nicht ändern: DNS"
    assert bring(store, root, "openclaw").unchanged == 1


def test_another_lead_in_is_a_new_version_of_the_same_entry(store: Store, tmp_path: Path) -> None:
    bring(store, workspace(tmp_path, "Offen:\n- Kabel\n"), "openclaw")
    done = bring(store, workspace(tmp_path, "Erledigt:\n- Kabel\n"), "openclaw")
    assert (done.new_versions, done.replaced) == (1, 1)
    with store.reading() as tx:
        (now,) = tx.memories.all(include_archived=False)
        (old,) = (one for one in tx.memories.all() if one.id != now.id)
    assert now.content == "Erledigt: Kabel" and now.id == version_id(replace(now, id=old.id))
    assert now.day == date(2026, 5, 4)


def test_a_vector_is_that_of_an_entrys_own_words(store: Store, tmp_path: Path) -> None:
    bring(store, workspace(tmp_path, "Nicht anfassen:\n- config.json im Keller\n"), "openclaw")
    with store.reading() as tx:
        (memory_id,) = [one.id for one in tx.memories.all()]
        vectors = tx.recallable.vectors([memory_id], Lexical.name, Lexical.dimension)
    assert np.allclose(vectors, Lexical().embed(["config.json im Keller"]))


def test_a_paragraph_with_a_colon_leads_in_to_what_stands_under_the_headings_below_its_own() -> None:
    note = parse_note(
        "## Limits\n\nI am NOT allowed to do any of these:\n\n### Config\n\n- edit openclaw.json\n\n### Network\n\n"
        "- open a port\n\n## Tools\n\n- rg is installed\n"
    )
    assert [entry.content for entry in note.entries] == [
        "I am NOT allowed to do any of these: edit openclaw.json",
        "I am NOT allowed to do any of these: open a port",
        "rg is installed",
    ]


def test_a_label_at_the_top_leads_in_to_no_heading() -> None:
    note = parse_note("Changes:\n\n## Version 2\n\n- faster\n")
    assert [entry.content for entry in note.entries] == ["faster"]


@pytest.mark.parametrize("shown", ["| who | what |\n|---|---|\n| Bo | tea |", "```\nport = 80\n```", "> Bo has tea."])
def test_the_last_item_of_a_list_is_the_label_of_what_is_shown_below_it(shown: str) -> None:
    note = parse_note(f"- Tea is out.\n- Minutes of the board:\n\n{shown}\n\n- Bo left.\n")
    assert [entry.content for entry in note.entries] == ["Tea is out.", f"Minutes of the board:\n\n{shown}", "Bo left."]
