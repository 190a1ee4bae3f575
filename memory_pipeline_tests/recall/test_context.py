"""The context of a task: what a search finds and guidance, within a budget of tokens."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_pipeline.errors import InputError
from memory_pipeline.ingest.openclaw_files import is_written_by_program
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.recall.context import build_context
from memory_pipeline.recall.documents import Mode
from memory_pipeline.recall.pieces import Piece
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Conflict
from memory_pipeline.store import Store
from memory_pipeline_tests.build import FIRST, candidate, fill, lesson, run, settings_for, slowly

DAY = date(2026, 3, 3)


def counted(text: str) -> int:
    return len(text.split())


def piece(name: str, content: str, relevance: float = 0.9, *, kind: str = "memory", **more: object) -> Piece:
    handle = "" if kind in ("playbook", "atom") else f"{name}{name}{name}{name}"[:4]
    fields = {"day": DAY, "source": "notes.md:3", "confidence": None, "handle": handle, **more}
    return Piece(kind=kind, id=name, content=content, relevance=relevance, **fields)  # type: ignore[arg-type]


def given_for(pieces: list[Piece], budget: int = 1000, task: str = "the gateway") -> list[str]:
    return [item.id for item in build_context("p", task, budget, pieces, counted).items]


def test_a_context_says_a_day_once_and_each_memory_with_its_handle() -> None:
    pieces = [
        piece("a", "The **gateway** runs `gate --key`\nand **kwargs of *.py."),
        piece("b", "Measure first.", kind="principle", day=DAY - timedelta(days=1)),
        piece("c", "Restart it.", kind="playbook"),
        piece("d", "It is slow.", speaker="human"),
        piece("e", "It was slow.", speaker="Dana", day=DAY - timedelta(days=90)),
    ]
    context = build_context("p", "the gateway", 1000, pieces, counted)
    assert context.text == (
        "# Memory\n\n"
        "3 Mar 2026\n- The gateway runs gate --key and **kwargs of *.py. ^aaaa\n- Human: It is slow. ^dddd\n\n"
        "2 Mar\n- Measure first. ^bbbb\n\n"
        "Guidance\n- Restart it.\n\n"
        "3 Dec 2025\n- Dana: It was slow. ^eeee"
    )
    assert [item.id for item in context.items] == ["a", "d", "b", "c", "e"]
    assert context.items[0].content == pieces[0].content, "the fields of an item are not shortened"
    assert context.tokens == counted(context.text)


def test_a_context_says_where_its_memories_were_read_if_that_is_asked_for() -> None:
    pieces = [piece("a", "It is slow.")]
    assert "- It is slow. (notes.md:3) ^aaaa" in build_context("p", "it", 100, pieces, counted, with_sources=True).text


def test_memories_in_a_row_below_one_heading_stand_below_it_once() -> None:
    pieces = [
        piece("a", "Hall: It is cold.", subject="Hall"),
        piece("b", "[ ] Hall: Ask for the key", subject="Hall"),
        piece("c", "Never in the Hall: Smoke.", subject="Never in the Hall:"),
        piece("d", "Hall: It is dark.", subject="Hall"),
        piece("e", "Nobody is there.", subject=""),
        piece("f", "It is shut.", subject=""),
    ]
    context = build_context("p", "the hall", 1000, pieces, counted)
    assert context.text == (
        "# Memory\n\n3 Mar 2026\n- Hall:\n  - It is cold. ^aaaa\n  - [ ] Ask for the key ^bbbb\n"
        "- Never in the Hall: Smoke. ^cccc\n- Hall: It is dark. ^dddd\n- Nobody is there. ^eeee\n- It is shut. ^ffff"
    )
    assert [item.content for item in context.items] == [one.content for one in pieces]


def test_under_one_heading_it_is_said_who_speaks() -> None:
    pieces = [
        piece(name, f"Hall: {name}", subject="Hall", speaker=who)
        for name, who in zip("abc", ("agent", "human", "human"), strict=True)
    ]
    text = build_context("p", "the hall", 1000, pieces, counted).text
    assert "- Agent: Hall: a ^aaaa\n- Human: Hall:\n  - b ^bbbb\n  - c ^cccc" in text


@pytest.mark.parametrize("guides", [[], [piece("g", "Restart it.", kind="playbook")]])
def test_a_reader_of_workspaces_knows_a_context_for_ours(guides: list[Piece]) -> None:
    text = build_context("p", "it", 100, [piece("a", "It is slow."), *guides], counted).text
    assert is_written_by_program(f"\n{text}\n")
    assert is_written_by_program(build_context("p", "it", 100, [*guides, piece("a", "It is slow.")], counted).text)
    for name in ("undated", "binds"):
        row = [piece(one, f"Hall: {one}", subject="Hall", **{name: True}) for one in "ab"]
        assert is_written_by_program(build_context("p", "it", 100, [*guides, *row], counted).text)
    assert not is_written_by_program("# Memory\n\n3 Mar 2026\n- It is slow.\n- It was ^slow\n")
    assert is_written_by_program("## Notes\n- It is slow. (2026-03-03, notes.md:3) [a]\n"), "as it was once written"


def test_the_archived_words_that_a_memory_was_found_through_stand_behind_its_own() -> None:
    found = piece("a", "40 to 60 orders a day.", kind="series", found_through=(FIRST.date(), "Orders: **57**"))
    text = build_context("p", "57 orders", 100, [found], counted).text
    assert "- 40 to 60 orders a day. (1 Mar: Orders: 57) ^aaaa" in text


def test_the_most_relevant_piece_comes_first_whatever_its_level() -> None:
    pieces = [
        piece("note", "The port is 5433."),
        piece("rule", "Check ports.", 0.8, kind="principle", day=FIRST.date()),
    ]
    assert given_for(pieces) == ["note", "rule"]


def test_the_same_words_are_given_once() -> None:
    assert given_for([piece("a", "The port is 5433."), piece("b", "The port is 5433."), piece("c", "5434")]) == [
        "a",
        "c",
    ]


def test_guidance_is_not_given_beside_a_memory_that_it_comes_from() -> None:
    pattern = piece("a", "Restart the gateway.", kind="pattern")
    entry = piece("e", "Restart it.", kind="playbook", stands_for=("a",))
    assert given_for([pattern, entry]) == ["a"]
    assert given_for([piece("note", "It is slow."), entry, pattern]) == ["note", "a"]


def test_guidance_takes_no_room_from_memories_but_what_handles_save() -> None:
    entry = piece("e", "one two three", kind="playbook")
    with_long_ids = [piece(f"{n} {'x ' * 9}", f"note {n}") for n in range(3)]
    assert "e" in given_for([entry, *with_long_ids], 21)
    assert "e" not in given_for([entry, *(piece(f"m{n}", f"note {n}") for n in range(3))], 18)
    assert "e" in given_for([entry, piece("m", "note")], 100), "room that nothing else needs is free"


def test_of_a_memory_that_is_too_long_the_statements_nearest_to_the_task_are_given() -> None:
    others = (
        "The vault holds the key. Dana lost two orders. Nobody knows why the lights in the hall stayed on all night."
    )
    long = piece("a", f"{others} Restart the gateway after the key changes.")
    context = build_context("p", "restart the gateway", 28, [long], counted)
    assert context.items[0].content == (
        "The vault holds the key. Dana lost two orders. Restart the gateway after the key changes."
    )
    assert "changes. … ^aaaa" in context.text, "the text shows that it is a part"
    beside = [piece("b", "It is slow."), piece("c", f"{'Restart the gateway ' * 9}. Nobody knows why. {others}")]
    assert given_for(beside, 34, "restart the gateway") == ["b"], "a part without its best statement says nothing"


def test_a_contradiction_is_said() -> None:
    """Whether or not there is room for the other side."""
    pieces = [
        piece("a", "30 cm", doubt=(None, "bbbb")),
        piece("c", "15 kg", doubt=(date(2026, 4, 1), "dddd")),
        piece("b", "30 mm " * 30, doubt=(None, "aaaa")),
    ]
    text = build_context("p", "it", 40, pieces, counted).text
    assert "- 30 cm (another note says otherwise: ^bbbb) ^aaaa" in text and "mm" not in text
    assert "- 15 kg (a later note of 1 Apr says otherwise: ^dddd) ^cccc" in text


@given(
    st.lists(st.tuples(st.text("ab cd.", min_size=1, max_size=80), st.floats(0, 1), st.booleans()), max_size=12),
    st.integers(1, 120),
)
def test_a_context_never_takes_more_tokens_than_it_may(rows: list[tuple[str, float, bool]], budget: int) -> None:
    pieces = [
        piece(f"m{n}", text, score, kind="atom" if guides else "memory") for n, (text, score, guides) in enumerate(rows)
    ]
    context = build_context("p", "ab cd", budget, pieces, counted)
    assert counted(context.text) == context.tokens <= budget


@pytest.fixture
def mine(tmp_path: Path) -> ProjectMemory:
    store = Store(tmp_path / "store.duckdb")
    fill(store, [*lesson(4), candidate("The gateway has two nodes.", native_id="nodes")])
    run(store, DAY)
    return ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())


def test_an_abstraction_is_given_and_its_archived_sources_are_not(mine: ProjectMemory) -> None:
    items = mine.context("restart the payment gateway", 500).items
    assert [item.kind for item in items if item.kind in ("pattern", "memory")] == ["pattern", "memory"]
    assert not {item.id for item in items} & {f"gateway-{n}" for n in range(4)}


@pytest.mark.parametrize("budget", [49, *slowly(100_001)])
def test_a_budget_out_of_range_is_refused(mine: ProjectMemory, budget: int) -> None:
    with pytest.raises(InputError, match="50 to 100000"):
        mine.context("the gateway", budget)


@pytest.mark.usefixtures("judged")
def test_a_value_that_a_newer_one_supersedes_is_not_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    notes = [
        candidate(f"The billing service uses PostgreSQL {version}.", FIRST + timedelta(days=days), native_id=version)
        for days, version in ((0, "15"), (6, "16"))
    ]
    fill(store, notes)
    run(store, date(2026, 3, 9))
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    found = {one.id: one.superseded_by for one in mine.search("which PostgreSQL does billing use").results}
    assert found == {"16": None, "15": "16"}
    assert [item.id for item in mine.context("which PostgreSQL does billing use").items] == ["16"]


def test_of_values_that_superseded_each_other_the_newest_alone_is_given(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    days = {"15": 0, "16": 6, "17": 9}
    notes = [
        candidate(f"The billing service uses PostgreSQL {v}.", FIRST + timedelta(days=days[v]), native_id=v)
        for v in days
    ]
    fill(store, notes)
    with store.writing("test") as tx:
        pairs = [
            Conflict("p", old, new, "contradiction", f"{old} / {new}", 0.9) for old, new in (("15", "16"), ("16", "17"))
        ]
        tx.conflicts.record(pairs, FIRST + timedelta(days=10))
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    assert [item.id for item in mine.context("which PostgreSQL does billing use").items] == ["17"]


def test_a_task_is_not_given_beside_its_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    task = "- [ ] write the runbook for the restore of the shop database"
    end = "- [x] write the runbook for the restore of the shop database"
    fill(store, [candidate(task, FIRST), candidate(end, FIRST + timedelta(days=1))])
    found = ProjectMemory(store, settings_for(store), "p", actor="agent").context("restore the shop database")
    assert "[x] write the runbook" in found.text and "[ ]" not in found.text


@pytest.mark.usefixtures("judged")
def test_a_contradiction_that_nobody_settled_is_said(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    said = "The housing application is {} according to the portal."
    fill(store, [candidate(said.format(word), FIRST, native_id=word) for word in ("accepted", "rejected")])
    run(store, DAY)
    text = ProjectMemory(store, settings_for(store), "p", actor="agent").context("the housing application").text
    assert "accepted" in text and "rejected" in text and text.count("(another note says otherwise: ^") == 2


def test_the_later_side_of_a_contradiction_stands_first_and_nothing_else_moves(tmp_path: Path) -> None:
    """Although it has no figure, and answers worse than the earlier one and others."""
    store = Store(tmp_path / "store.duckdb")
    texts = {
        "old": "The key to the shed is under the flowerpot by the gate.",
        "near": "The flowerpot by the gate holds rosemary.",
        "new": "Ilse has the key to the shed now.",
    }
    fill(store, [candidate(text, FIRST + timedelta(n), native_id=i) for n, (i, text) in enumerate(texts.items())])
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    query = "is the key to the shed under the flowerpot by the gate"
    assert [hit.id for hit in mine.search(query).results] == ["old", "near", "new"]
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", "new", "old", "contradiction", "in other words", 0.6)], FIRST)
    hits = mine.search(query).results
    assert [(hit.id, hit.newer) for hit in hits] == [("new", True), ("old", False), ("near", False)]
    assert [(hit.contradicted_by, hit.contradicted_on) for hit in hits[:2]] == [(None, None), ("new", date(2026, 3, 3))]
    assert [item.id for item in mine.context(query).items] == ["new", "old", "near"]
    named = mine.search(f"{query} on 1 March 2026").results
    assert named[0].id == "old" and not named[0].newer, "who names a day asks for that day"


@pytest.mark.parametrize("between", [2, 12])
def test_what_is_likely_the_later_word_stands_first_among_the_first_few(tmp_path: Path, between: int) -> None:
    store = Store(tmp_path / "store.duckdb")
    texts = ["Ilse has the key to the shed now.", "The key to the shed is under the flowerpot by the gate."]
    texts += [f"The flowerpot by the gate holds plant {n}, the key to the music." for n in range(between)]
    days = [1, *(0 for _ in texts[1:])]
    fill(store, [candidate(text, FIRST + timedelta(day)) for text, day in zip(texts, days, strict=True)])
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    query = "is the key to the shed under the flowerpot by the gate"
    before = [hit.content for hit in mine.search(query, 20).results]
    assert (before[0], before.index(texts[0])) == (texts[1], between + 1)
    with store.writing("test") as tx:
        ids = {memory.content: memory.id for memory in tx.memories.all()}
        a, b = sorted(ids[text] for text in texts[:2])
        tx.conflicts.record([Conflict("p", a, b, "likely", "in other words", 0.6)], FIRST)
    hits = mine.search(query, 20).results
    lifted = [texts[0], *(text for text in before if text != texts[0])]
    assert [hit.content for hit in hits] == (lifted if between == 2 else before)
    assert not any(hit.contradicted_by for hit in hits)
    assert "otherwise" not in mine.context(query).text


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_the_later_side_stands_first_however_many_memories_stand_between(tmp_path: Path, mode: Mode) -> None:
    store = Store(tmp_path / "store.duckdb")
    between = [candidate(f"The shed has no electricity in its wing {n}.", FIRST, native_id=f"n{n}") for n in range(26)]
    old = candidate("The shed has no electricity.", native_id="old")
    new = candidate(
        "Electricity came to the shed on Tuesday, by a cable of Ilse and her brother.",
        FIRST + timedelta(1),
        native_id="new",
    )
    fill(store, [old, new, *between])
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    query = "has the shed no electricity"
    ids = [hit.id for hit in mine.search(query, 30, mode=mode).results]
    assert (ids.index("old"), ids.index("new")) == (0, 27)
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", "new", "old", "contradiction", "in other words", 0.6)], FIRST)
    assert [hit.id for hit in mine.search(query, 30, mode=mode).results] == ["new", *ids[:-1]]


def test_a_day_stands_above_one_that_it_contradicts_also_if_a_later_one_does_that_was_not_found(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.duckdb")
    texts = {"a": ("The shed has no electricity.", 0), "top": ("The key to the shed is under the pot.", 0)}
    texts |= {"b": ("There is light in the shed.", 1), "c": ("Elektrik ist da.", 4)}
    fill(store, [candidate(text, FIRST + timedelta(n), native_id=i) for i, (text, n) in texts.items()])
    with store.writing("test") as tx:
        pairs = [("b", "a"), ("c", "a")]
        tx.conflicts.record([Conflict("p", *pair, "contradiction", "in other words", 0.6) for pair in pairs], FIRST)
    mine = ProjectMemory(store, settings_for(store), "p", actor="test", embedder=Lexical())
    context = mine.context("where is the key to the shed under the pot")
    assert [item.id for item in context.items] == ["b", "top", "a"]
    assert "no electricity. (a later note of 5 Mar says otherwise: ^" in context.text


def test_a_day_stands_above_one_with_an_earlier_value_of_the_same_thing() -> None:
    """Although another line of the earlier day is what answers best; and no token more is needed for it."""
    other = piece("other", "The wheel workshop takes place on Thursdays.", 0.9)
    older = piece("older", "09:30 Glaze price is 14 EUR.", 0.5)
    newer = piece("newer", "09:00 Glaze price is 16 EUR.", 0.5, day=DAY + timedelta(days=7))
    file = piece("file", "Glaze price is 11 EUR.", 0.8, undated=True)
    task = "workshop on Thursdays: what costs the glaze"
    assert given_for([other, file, newer, older], task=task) == ["newer", "other", "older", "file"]
    assert given_for([other, older, newer], task=task) == ["other", "older", "newer"], "as a search puts them"
    kiln = replace(newer, content="The kiln is cool.")
    doubted = replace(older, content="The kiln is hot.", doubt=(kiln.day, "elsewhere"), later=("elsewhere", "newer"))
    assert given_for([other, kiln, doubted], task=task) == ["newer", "other", "older"], "it contradicts it"
    cooler = replace(newer, content="The kiln is cool.")
    assert given_for([other, cooler, older], task=task) == ["other", "older", "newer"], "it says nothing of it"


def test_of_three_values_each_day_stands_above_the_earlier_ones() -> None:
    other = piece("other", "The wheel workshop takes place on Thursdays.")
    hours = [
        piece(f"h{n}", f"The shop opens at {9 + n}.", 0.5, day=DAY + timedelta(days=n), handle=f"h{n}")
        for n in range(3)
    ]
    assert given_for([other, *hours[::-1]], task="workshop; when does the shop open") == ["h2", "h1", "other", "h0"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=9), st.integers(1, 60))
def test_no_earlier_value_stands_above_the_one_that_a_search_puts_first(
    rows: list[tuple[int, int]], budget: int
) -> None:
    pieces = [
        piece(f"m{n}", f"The price is {price} EUR.", day=DAY + timedelta(days=day))
        for n, (day, price) in enumerate(rows)
    ]
    context = build_context("p", "what is the price", budget, pieces, counted)
    place = {item.id: number for number, item in enumerate(context.items)}
    given_pieces = [one for one in pieces if one.id in place]
    assert context.tokens <= budget
    for number, one in enumerate(given_pieces):
        for later in given_pieces[number + 1 :]:
            assert later.day >= one.day or later.content == one.content or place[one.id] < place[later.id]
