"""What makes one memory rank above another: words in their basic forms, neighbours, named days, weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from memory_pipeline.errors import EmbeddingError
from memory_pipeline.models.embedders.choose import Lexical
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.catalogue import Beside, Catalogue
from memory_pipeline.recall.documents import Mode
from memory_pipeline.recall.neighbours import PLACE, neighbours_in
from memory_pipeline.recall.search import SearchIndex, named_times
from memory_pipeline.recall.words import query_terms
from memory_pipeline.records import Memory, Source
from memory_pipeline.store import memory_table
from memory_pipeline_tests.build import FIRST, memory


def index_of(memories: list[Memory], language: str = "english") -> SearchIndex:
    embedder = Lexical()
    vectors = dict(zip([m.id for m in memories], embedder.embed([m.content for m in memories]), strict=True))
    return SearchIndex(memories, vectors, embedder.embed, language=language)


def found(memories: list[Memory], query: str, mode: Mode = "hybrid", language: str = "english") -> list[str]:
    return [hit.memory.id for hit in index_of(memories, language).search(query, mode=mode)]


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("english", "The deployments were failing again.", "why does a deployment fail"),
        ("german", "Die Sicherungen wurden abgeschlossen.", "Ist die Sicherung fertig?"),
        ("french", "Les sauvegardes sont terminées.", "la sauvegarde"),
        ("russian", "Резервные копии созданы.", "резервная копия"),
        ("english", "東京の倉庫で在庫を確認した。", "東京 倉庫"),
        ("english", "서울 창고의 재고를 확인했다.", "창고 재고"),
        ("none", "Uppercase NAMES count.", "names"),
    ],
)
def test_words_are_found_in_other_forms(language: str, text: str, query: str) -> None:
    memories = [memory("a", text), memory("b", "Nothing of the kind.")]
    assert found(memories, query, "bm25", language=language) == ["a"]


def test_stop_words_find_nothing() -> None:
    assert query_terms("is it for the and or not", "english") == []
    assert found([memory("a", "It is for the others.")], "is it for", "bm25") == []


def turns(*texts: str, file: str = "chat.jsonl", apart: timedelta = timedelta(minutes=1)) -> list[Memory]:
    return [
        memory(f"t{n}", text, FIRST + n * apart, memory_type="conversation", source=Source("jsonl", file, n + 1))
        for n, text in enumerate(texts)
    ]


def test_an_answer_is_found_through_the_question_before_it() -> None:
    talk = turns("Where do you go on holiday?", "To Lisbon, with Dana.", "Nice!", "The weather is fine.", "Bye.")
    asked = "holiday destination"
    assert found(talk, asked)[:2] == ["t0", "t1"]


def places(rows: list[Memory]) -> tuple[list[int], list[int]]:
    table = memory_table(rows).select(PLACE.names)
    before, after = neighbours_in(table)
    return before.tolist(), after.tolist()


def test_turns_have_neighbours_in_the_order_of_their_file_whatever_the_order_of_rows() -> None:
    one, two, three = turns("a", "b", "c")
    assert places([three, one, two]) == ([2, -1, 1], [-1, 2, 0])


def test_turns_far_apart_in_time_or_of_other_files_are_no_neighbours() -> None:
    assert places(turns("a", "b", apart=timedelta(hours=7))) == ([-1, -1], [-1, -1])
    assert places([*turns("a"), *turns("b", file="other.jsonl")]) == ([-1, -1], [-1, -1])


def test_facts_have_no_neighbours_and_entries_of_a_daily_log_have() -> None:
    facts = [memory(f"f{n}", f"Fact {n}.", source=Source("jsonl", "facts.jsonl", n)) for n in range(3)]
    log = [memory(f"l{n}", f"Entry {n}.", source=Source("openclaw", "memory/2026-03-01.md", n)) for n in range(2)]
    made = [memory(f"m{n}", f"Made {n}.", source=Source("night", "distill")) for n in range(2)]
    assert places([*facts, *log, *made]) == ([-1, -1, -1, -1, 3, -1, -1], [-1, -1, -1, 4, -1, -1, -1])


def below(headings: tuple[str, ...], *texts: str, file: str = "MEMORY.md", first: int = 0) -> list[Memory]:
    return [
        memory(f"{file}{n}", text, headings=headings, source=Source("openclaw", file, n))
        for n, text in enumerate(texts, first)
    ]


def test_entries_have_neighbours_below_the_same_headings_and_those_of_a_log_below_any() -> None:
    people = [*below(("People", "Ilka"), "a", "b"), *below(("People", "Jan"), "c", "d", first=2)]
    assert places(people) == ([-1, 0, -1, 2], [1, -1, 3, -1])
    assert places([*below(("Ilka",), "a"), *below(("Ilka",), "b", file="other.md")]) == ([-1, -1], [-1, -1])
    log = [replace(entry, headings=(f"Turn {n}",)) for n, entry in enumerate(below((), *"ab", file="2026-03-01.md"))]
    assert places(log) == ([-1, 0], [1, -1]), "a log may have a heading for each turn"


def test_an_entry_is_found_by_its_words_and_its_heading_together() -> None:
    said = [
        *below(("People", "Ilka Sommer"), "Allergic to walnuts", "Plays the violin"),
        *below(("People", "Jan Busch"), "Allergic to bees", first=2),
        *below((), "Ilka Sommer brought cake", "Ilka Sommer laughed about the puppet", file="2026-03-01.md"),
    ]
    assert found(said, "what is Ilka Sommer allergic to", "dense")[0] == "MEMORY.md0"
    assert found(said, "what is Jan Busch allergic to", "dense")[0] == "MEMORY.md2"


def test_entries_are_found_without_their_headings_where_these_cannot_be_embedded() -> None:
    said = below(("Ilka",), "Allergic to walnuts")
    query = Lexical().embed(["allergic to walnuts"])[0]

    def fails(texts: Sequence[str]) -> Vectors:
        raise EmbeddingError("away")

    index = SearchIndex(said, {said[0].id: query}, fails)
    assert [hit.memory.id for hit in index.search("allergic to walnuts", query_vector=query)] == [said[0].id]


def test_a_file_of_speakers_in_turn_is_a_conversation() -> None:
    names = ("Ana", "Ben")
    spoken = [memory(f"s{n}", f"{names[n % 2]}: words {n}", source=Source("jsonl", "talk.jsonl", n)) for n in range(6)]
    assert places(spoken)[0] == [-1, 0, 1, 2, 3, 4]
    notes = [memory(f"n{n}", f"Note {n}: words", source=Source("jsonl", "notes.jsonl", n)) for n in range(6)]
    assert places(notes)[0] == [-1] * 6


DAYS = np.array([date(2026, 4, 2), date(2026, 5, 2), date(2025, 5, 2), date(2026, 5, 3)], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("query", "rows", "is_day"),
    [
        ("What did I read on May 2nd?", [1, 2], True),
        ("what happened on 2026-05-02", [1], True),
        ("the meeting of 2 May 2025", [2], True),
        ("what did we do in May 2026", [1, 3], False),
        ("plans of 2026-05", [1, 3], False),
    ],
)
def test_days_and_months_that_a_query_names_are_known(query: str, rows: list[int], is_day: bool) -> None:
    (time,) = named_times(query, DAYS, np.ones(len(DAYS), dtype=bool))
    assert (time.rows.tolist(), time.is_day) == (rows, is_day)


@pytest.mark.parametrize("query", ["may I deploy", "march on", "version 2.5.2 of the tool", "12 items"])
def test_other_words_name_no_time(query: str) -> None:
    assert named_times(query, DAYS, np.ones(len(DAYS), dtype=bool)) == ()


def test_a_memory_of_the_named_day_is_found_first() -> None:
    visits = [
        memory(str(n), "We visited the museum and saw paintings.", datetime(2026, 5, n, tzinfo=UTC))
        for n in range(1, 6)
    ]
    assert found(visits, "which museum did we visit on May 4th")[0] == "4"


def catalogue_of(memories: list[Memory]) -> Catalogue:
    table = memory_table(memories)
    return Catalogue.of([m.id for m in memories], table, Beside({}, {}, {}))


def test_use_raises_a_rank_a_little_and_never_above_a_better_answer() -> None:
    used = ((0, 0), (1000, 3), (10**9, 10**9))
    rows = [memory(f"m{n}", "It rains.", reuse_count=r, useful_count=u) for n, (r, u) in enumerate(used)]
    weight = catalogue_of(rows).weight
    assert weight[0] == 1.0
    assert 1.0 < weight[1] <= weight[2] == pytest.approx(1.1)


def test_chains_of_replacements_end_at_the_active_memory_and_circles_end_nowhere() -> None:
    into = ("m1", "m2", None, "m4", "m3", None)
    archived = (True, True, False, True, True, True)
    rows = [
        memory(f"m{n}", "It rains.", consolidated_into_id=end, archived_at=FIRST if gone else None)
        for n, (end, gone) in enumerate(zip(into, archived, strict=True))
    ]
    assert catalogue_of(rows).stands_for_it.tolist() == [2, 2, 2, -1, -1, -1]


def test_a_question_about_now_prefers_what_is_newer() -> None:
    sizes = [
        memory(str(n), f"The brain has {words} thousand memories.", datetime(2026, 4, n, tzinfo=UTC))
        for n, words in ((1, "three"), (2, "four"), (28, "five"))
    ]
    assert found(sizes, "how many memories does the brain have now")[0] == "28"
    assert found(sizes, "how many memories did the brain have on April 2nd")[0] == "2"


def test_the_day_of_what_a_night_made_is_not_the_day_that_is_meant() -> None:
    days = np.array(["2026-05-04", "2026-05-04"], dtype="datetime64[D]")
    (time,) = named_times("what went wrong on 4 May", days, np.array([False, True]))
    assert time.rows.tolist() == [1]


OLD = memory("old", "The staging database of the webshop listens on port 5432.", FIRST)
NEW = memory(
    "new", "The staging database of the webshop listens behind the proxy on port 5433.", FIRST + timedelta(days=9)
)
OTHER = memory("other", "The greenhouse pump needs a new filter in spring.", FIRST + timedelta(days=20))


def test_of_two_that_say_something_of_one_thing_the_later_one_stands_first() -> None:
    question = "staging database of the webshop listens on port"
    assert found([OLD, NEW, OTHER], question)[:2] == ["new", "old"]
    assert found([replace(OLD, effective_date=NEW.effective_date), NEW, OTHER], question)[0] == "old", "of one day"
    gone = replace(NEW, archived_at=FIRST + timedelta(days=10))
    assert found([OLD, gone, OTHER], question)[0] == "old", "what is archived is not lifted"
    assert found([OLD, NEW, OTHER], f"{question} on 1 March 2026")[0] == "old", "a day is named"


def test_what_answers_much_better_stays_first() -> None:
    assert found([OLD, NEW, OTHER], "5432")[0] == "old"


def test_what_answers_little_worse_and_is_lifted_says_so() -> None:
    hits = index_of([OLD, NEW, OTHER]).search("staging database of the webshop listens on port")
    assert [(hit.memory.id, hit.newer) for hit in hits[:2]] == [("new", True), ("old", False)]
    assert hits[0].score < hits[1].score


def test_what_a_newer_one_supersedes_is_not_lifted() -> None:
    embedder, notes = Lexical(), [OLD, NEW, OTHER]
    vectors = dict(zip([m.id for m in notes], embedder.embed([m.content for m in notes]), strict=True))
    index = SearchIndex(notes, vectors, embedder.embed, superseded={"new": "other"})
    assert index.search("staging database of the webshop listens on port")[0].memory.id == "old"


def test_a_file_saved_today_makes_no_dated_note_less_new() -> None:
    """The day of an undated line is that of its file."""
    sizes = [
        memory(str(n), f"The brain has {words} thousand memories.", datetime(2026, 4, n, tzinfo=UTC))
        for n, words in ((1, "three"), (28, "five"))
    ]
    file = memory("file", "The brain is a store.", datetime(2026, 11, 29, tzinfo=UTC), created_at_quality="mtime")
    question = "how many memories does the brain have now"
    of_dated, with_file = (
        {hit.memory.id: hit.score for hit in index_of(some).search(question)} for some in (sizes, [*sizes, file])
    )
    assert of_dated["1"] < of_dated["28"] and with_file["1"] < with_file["28"] - 0.1


def test_a_named_day_finds_nothing_by_the_time_of_its_file() -> None:
    saved = memory("file", "The greenhouse is warm.", FIRST, created_at_quality="mtime")
    noted = memory("noted", "The filter was changed.", FIRST)
    assert found([saved, noted], "what happened on 1 March 2026") == ["noted"]
