"""Confidence in a statement, based on its witnesses: never on the similarity of wordings."""

from __future__ import annotations

from collections.abc import Iterable

from memory_pipeline.records import Memory


def evidence_confidence(witnesses: Iterable[Memory], against: int = 0) -> float:
    """Between 0 and 1: (k + 1) / (k + against + 2), Laplace's rule of succession (1774) for k supporting and
    `against` contradicting witnesses.

    k counts independent witnesses: the mean of the number of different texts and the number of days, so that one
    event recorded three times on the same day counts less than one seen on three days. One witness gives 0.67, three
    on one day 0.75, three on three days 0.80, ten on ten days 0.92; nothing is ever certain.
    """
    memories = list(witnesses)
    texts = len({memory.content_hash for memory in memories})
    days = len({memory.effective_date.date() for memory in memories})
    borne_out = (texts + days) / 2
    return (borne_out + 1) / (borne_out + against + 2)
