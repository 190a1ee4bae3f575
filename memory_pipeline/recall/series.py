"""Series: what is known of readings, for people, programs and files."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from memory_pipeline.documents import Document, Moment
from memory_pipeline.errors import InputError
from memory_pipeline.files.places import check_is_free
from memory_pipeline.files.writing import begins_with, writing_whole
from memory_pipeline.store import SeriesMemory, Store, Transaction
from memory_pipeline.store.rows import only_one
from memory_pipeline.text.place_names import PlaceName, names_of
from memory_pipeline.text.readings import Figure, Series

SERIES_FORMATS = ("csv", "json", "parquet")
#: The columns of a row and their meanings, in order.
SERIES_COLUMNS = {
    "series_id": "The series memory.",
    "project_id": "Its project.",
    "memory_id": "The memory with the reading.",
    "at": "The time of the reading, ISO 8601 in UTC.",
    "place": "The place in the line, from 1.",
    "name": "What the place is called; empty without a name.",
    "value": "The value as it was written.",
    "breaks": "Whether the reading breaks the series.",
}
#: The columns of a plot in text.
_WIDTH = 40
_LEVELS = "▁▂▃▄▅▆▇█"


class DescribedSeries(Document):
    """A series memory and how much it stands for."""

    id: str = Field(description="The series memory.")
    project_id: str = Field(description="Its project.")
    content: str = Field(description="What it says.")
    readings: int = Field(
        description="How many readings it tells of, including those that break it or have another outcome."
    )
    first_at: Moment = Field(description="The time of its oldest reading.")
    newest_at: Moment = Field(description="The time of its newest reading.")
    breaking_ids: tuple[str, ...] = Field(description="Readings that break the series and stay active.")


class ValueOfFigure(Document):
    """A value with its time."""

    value: str = Field(description="The value as it was written.")
    at: Moment = Field(description="The time of the reading.")


class DescribedFigure(Document):
    """One figure of a series over time."""

    name: str = Field(description="The words that stand next to it; empty if there are none.")
    unit: str = Field(description="Its unit; empty if there is none.")
    newest: ValueOfFigure = Field(description="The newest value.")
    first: ValueOfFigure = Field(description="The oldest value.")
    least: ValueOfFigure = Field(description="The least value.")
    greatest: ValueOfFigure = Field(description="The greatest value.")
    median: str = Field(description="The median.")
    plot: str = Field(description="The values over time, oldest first, as a line of blocks.")


class DescribedReading(Document):
    """One reading of a series."""

    memory_id: str = Field(description="The memory with the line.")
    at: Moment = Field(description="The time that it refers to.")
    values: tuple[str, ...] = Field(description="The value in each place of the line, in their order.")
    breaks: bool = Field(description="Whether it breaks the series.")


class CountedWord(Document):
    """A word in a place of a series."""

    place: str = Field(description="What the place is called; empty without a name.")
    word: str = Field(description="The word.")
    count: int = Field(description="How many readings have it there.")


class ShownSeries(DescribedSeries):
    """A series with its figures and every reading."""

    places: tuple[str, ...] = Field(description="What each place of the line is called; empty without a name.")
    figures: tuple[DescribedFigure, ...] = Field(description="Each figure over time.")
    words: tuple[CountedWord, ...] = Field(description="How often each word stands in a place of words or lists.")
    values: tuple[DescribedReading, ...] = Field(description="Every reading, oldest first.")


def list_series(tx: Transaction, project: str | None = None) -> list[DescribedSeries]:
    """Every active series memory, by project and id."""
    return [
        _describe(memory, tx.series.series_of(memory))
        for memory in tx.series.active()
        if project in (None, memory.project_id)
    ]


def show_series(tx: Transaction, series_id: str) -> ShownSeries:
    """The series memory with an id or handle, or the only active one whose id starts with it. Raises InputError for
    none or several."""
    by_id = {memory.id: memory for memory in tx.series.active()}
    memory = only_one(by_id, series_id, "active series", "'memory-pipeline series list' shows every series")
    series = tx.series.series_of(memory)
    named = names_of(series)
    names = tuple(name.name for name in named)
    breaking = series.breaking_ids.union(memory.facts.breaking_ids)
    return ShownSeries(
        **_describe(memory, series).model_dump(),
        places=names,
        figures=tuple(_describe_figure(figure, named[figure.place]) for figure in series.figures),
        words=tuple(
            CountedWord(place=names[number], word=word, count=count)
            for number, place in enumerate(series.places)
            if place.kind in ("word", "list")
            for word, count in series.counts(number)
        ),
        values=tuple(
            DescribedReading.of_record(reading, breaks=reading.memory_id in breaking) for reading in series.every
        ),
    )


def series_text(series: ShownSeries) -> str:
    """A series as plain text: its words, each figure over time, and every reading."""
    lines = [f"{series.id}  project {series.project_id}", "", series.content, ""]
    for figure in series.figures:
        if figure.least.value != figure.greatest.value:
            lines.append(f"{figure.name or 'value'}: {figure.least.value} to {figure.greatest.value}{figure.unit}")
            lines.append(f"  {figure.plot}")
    if series.words:
        lines.append("words: " + ", ".join(f"{word.word} {word.count}" for word in series.words))
    lines.append("")
    for reading in series.values:
        mark = "  breaks the series" if reading.breaks else ""
        lines.append(f"{reading.at:%Y-%m-%d %H:%M}  {'  '.join(reading.values)}{mark}  ({reading.memory_id})")
    return "\n".join(lines)


def series_rows(tx: Transaction, series_ids: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Every value of every reading as a row: of these series (or starts of their ids), or of all."""
    ids = list(series_ids) or [memory.id for memory in tx.series.active()]
    rows = []
    for series_id in ids:
        series = show_series(tx, series_id)
        for reading in series.values:
            for place, (name, value) in enumerate(zip(series.places, reading.values, strict=True), start=1):
                values = (reading.memory_id, reading.at.isoformat(), place, name, value, reading.breaks)
                rows.append(dict(zip(SERIES_COLUMNS, (series.id, series.project_id, *values), strict=True)))
    return rows


def plot_line(figure: Figure) -> str:
    """The values of a figure over time as a line of blocks, the oldest first; of many, the newest of each stretch."""
    numbers = [value.number for value in figure.values]
    if len(numbers) > _WIDTH:
        numbers = [numbers[(step + 1) * len(numbers) // _WIDTH - 1] for step in range(_WIDTH)]
    low, high = figure.least.number, figure.greatest.number
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[round((number - low) / (high - low) * top) if high > low else 0] for number in numbers)


def _describe(memory: SeriesMemory, series: Series) -> DescribedSeries:
    return DescribedSeries.of_record(
        memory,
        readings=len(series.every),
        first_at=series.every[0].at,
        newest_at=series.newest.at,
        breaking_ids=memory.facts.breaking_ids,
    )


def _describe_figure(figure: Figure, name: PlaceName) -> DescribedFigure:
    values = {each: getattr(figure, each) for each in ("newest", "first", "least", "greatest")}
    described = {each: ValueOfFigure(value=value.text, at=value.at) for each, value in values.items()}
    return DescribedFigure(name=name.name, unit=name.unit, median=figure.median, plot=plot_line(figure), **described)


_MARK = {b"memory_pipeline": b"series"}
_JSON_START = '{\n "series": ['


def export_series(store: Store, name: str, path: Path, series_ids: Sequence[str] = (), *, force: bool = False) -> int:
    """Write the values of these series, or of all, to `path`, completely or not at all; return the number of rows.

    Raises InputError for an unknown format or series, and OutputError for a path that cannot or must not be written
    and for a full disk. An existing file is replaced if it is an earlier export of series, or with `force`.
    """
    if name not in SERIES_FORMATS:
        raise InputError(f"no format for series is called '{name}'; use one of {', '.join(SERIES_FORMATS)}")
    check_is_free(path, store.path)
    with store.reading() as tx:
        rows = series_rows(tx, series_ids)
    with writing_whole(path, lambda file: _is_export(name, file), force=force) as file:
        file.write(_WRITERS[name](rows))
    return len(rows)


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    import pandas as pd

    text: str = pd.DataFrame.from_records(rows, columns=list(SERIES_COLUMNS)).to_csv(index=False, lineterminator="\r\n")
    return text.encode()


def _json(rows: Sequence[dict[str, Any]]) -> bytes:
    return (json.dumps({"series": list(rows)}, ensure_ascii=False, indent=1) + "\n").encode()


def _parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"place": pa.int32(), "breaks": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in SERIES_COLUMNS], metadata=_MARK)
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), target)
    return target.getvalue()


_WRITERS = {"csv": _csv, "json": _json, "parquet": _parquet}


def _is_export(name: str, path: Path) -> bool:
    """True if a file is an earlier export of series in this format."""
    if name == "parquet":
        from memory_pipeline.ingest.exporting import has_mark  # the importers, which a night needs not

        return has_mark(path, _MARK)
    return begins_with(_csv([]).decode() if name == "csv" else _JSON_START)(path)
