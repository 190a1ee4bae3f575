"""What says a sentence again, word for word: only fillers are left out, and only whole clauses are joined."""

from __future__ import annotations

import pytest

from memory_pipeline.wording.retelling import is_without_fillers, joins_clauses_of

#: A sentence, and other ones of its words that say something else.
TURNED = [
    ("Alice reports to Bob in the Oslo office.", "Bob reports to Alice in the Oslo office."),
    ("Marek pays Ola 300 euros a month.", "Ola pays Marek 300 euros a month."),
    ("Port 5432 is for staging and 5433 is for production.", "Port 5433 is for staging and 5432 is for production."),
    ("We use Postgres instead of Mongo for labels.", "We use Mongo instead of Postgres for labels."),
    ("We chose Redis over RabbitMQ for the queue.", "We chose RabbitMQ over Redis for the queue."),
    ("The cause was the proxy and not the cache.", "The cause was the cache and not the proxy."),
    ("The parser fails before the writer starts.", "The writer fails before the parser starts."),
    ("Deploys are slow but tests are fast.", "Deploys are fast but tests are slow."),
    ("Never run migrate without a snapshot first.", "Never run a snapshot without migrate first."),
    ("Never run migrate without a snapshot first.", "Run migrate without a snapshot first."),
    ("Staging is called heron and production kite.", "Staging is called kite and production heron."),
    ("Backups run hourly, on weekends daily.", "Backups run daily, on weekends hourly."),
    ("The API increased latency and reduced cost.", "The API reduced latency and increased cost."),
    ("The API increased latency and reduced cost.", "The API increased cost."),
    ("Let's keep the old API and drop the new one.", "Let's drop the old API and keep the new one."),
    ("The invoice moved from Oslo to Bergen.", "The invoice moved to Oslo from Bergen."),
    ("The invoice moved from Oslo to Bergen.", "The invoice moved to Bergen from Oslo."),
    ("Alice reports to Bob and Bob pays Carol.", "Alice pays Carol."),
    ("The gate opens for Bob's sister.", "The gate opens for Bob."),
    ("Dana thinks Bob pays for the van.", "Bob pays for the van."),
    ("I think the limit is 40 requests.", "The limit is 40 requests."),
    ("Maybe the limit is 40 requests.", "The limit is 40 requests."),
    ("No, the limit is 40 requests.", "The limit is 40 requests."),
    ("The key rotates each Monday unless Ola is away.", "The key rotates each Monday."),
    ("Just two of the nodes are in Oslo.", "Two of the nodes are in Oslo."),
    ("The ER diagram is in the wiki.", "The diagram is in the wiki."),
    ("Well water goes into tank 3.", "Water goes into tank 3."),
    ("Ana, Ola and Jan have the keys.", "Ola and Jan have the keys."),
    ("Well-known hosts are in the list.", "Known hosts are in the list."),
    ("So, -5 degrees is the limit.", "5 degrees is the limit."),
    ("The valve is at -5 degrees.", "The valve is at 5 degrees."),
    ("The fee is 300 euros.", "The fee is 300 euros, honestly."),
]


@pytest.mark.parametrize(("sentence", "other"), TURNED)
def test_the_same_words_in_other_places_do_not_say_it_again(sentence: str, other: str) -> None:
    assert not is_without_fillers(other, sentence)
    assert other == "The fee is 300 euros, honestly." or not joins_clauses_of(other, [sentence])


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Well, the export writes to bucket-7, not to bucket-9.", "The export writes to bucket-7, not to bucket-9."),
        ("Hey Claude, so the gateway is called heron!", "The gateway is called heron."),
        ("Ok, um, note that the fee is 300 euros, thanks.", "The fee is 300 euros."),
        ("The gate, as you know, opens at 6.", "The gate opens at 6."),
        ("The gate opens at 6 :)", "The gate opens at 6."),
        ("The gate basically opens at 6.", "The gate opens at 6."),
        ("By the way, Ola keeps the keys.", "Ola keeps the keys."),
    ],
)
def test_fillers_may_be_left_out(quote: str, text: str) -> None:
    assert is_without_fillers(text, quote)


BOTH = ["We keep PostgreSQL for the orders service.", "Staging is called heron; production is called kite."]


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("We keep PostgreSQL for the orders service, and production is called kite.", True),
        ("We keep PostgreSQL for orders service.", True),
        ("Staging is called heron, while we keep PostgreSQL for the orders service.", True),
        ("We keep heron for the orders service.", False),
        ("We keep PostgreSQL, and production is called kite.", False),
        ("Production is called heron.", False),
        ("We keep PostgreSQL for the orders service because production is called kite.", False),
        ("We keep PostgreSQL for the orders service production is called kite.", False),
        ("", False),
    ],
)
def test_a_sentence_over_two_texts_is_whole_clauses_of_each(text: str, is_said: bool) -> None:
    assert joins_clauses_of(text, BOTH) is is_said


def test_a_clause_is_not_told_without_what_narrows_it() -> None:
    source = "Restart the gateway (only at night): the sync fails otherwise."
    assert not joins_clauses_of("Restart the gateway.", [source])
    assert joins_clauses_of("Restart the gateway (only at night).", [source])
