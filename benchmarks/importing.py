"""How much memory and time an import takes: large files, and many short entries beside the embedding model alone.

    python benchmarks/importing.py rows [--megabytes 1000] [--row-bytes 20000]
    python benchmarks/importing.py chatgpt [--megabytes 300]
    python benchmarks/importing.py short [--memories 100000]

`rows` and `chatgpt` import a generated file (JSON lines; one line that is a whole ChatGPT export) through the command
line and print the peak of the process's memory and the time; then they import it again in a process that is killed
half-way, and once more to its end, and compare what the two stores hold. `short` prints the time of importing short
notes beside that of embedding the same texts alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil

from memory_pipeline.models.embedders.minilm import MiniLM
from memory_pipeline.store import Store

WORDS = (
    "gateway restart cache stock export nightly deploy printer label invoice tax supplier courier key rotate backup "
    "router firmware index search queue worker retry timeout schema migration column order customer refund report "
    "because otherwise before after while never always only when unless since until"
).split()
FIRST = datetime(2025, 1, 1, tzinfo=UTC)
PAGE = 500


def sentence(rng: random.Random, words: int) -> str:
    """A sentence of so many words."""
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def text_of(rng: random.Random, size: int) -> str:
    """Sentences of about `size` characters."""
    made, length = [], 0
    while length < size:
        made.append(sentence(rng, 12))
        length += len(made[-1]) + 1
    return " ".join(made)


def rows(rng: random.Random, size: int, row_bytes: int) -> Iterator[str]:
    """Lines of JSON, about `size` bytes in all."""
    written, number = 0, 0
    while written < size:
        at = FIRST + timedelta(minutes=number)
        line = json.dumps({"id": f"m{number}", "content": text_of(rng, row_bytes), "created_at": at.isoformat()})
        yield line + "\n"
        written, number = written + len(line) + 1, number + 1


def conversations(rng: random.Random, size: int) -> Iterator[str]:
    """One line: a list of conversations as ChatGPT exports them, about `size` bytes in all."""
    yield "["
    written, number = 0, 0
    while written < size:
        at = FIRST.timestamp() + 3600.0 * number
        mapping: dict[str, object] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
        for turn in range(20):
            mapping[f"n{turn}"] = {
                "id": f"n{turn}",
                "parent": f"n{turn - 1}" if turn else "root",
                "children": [f"n{turn + 1}"] if turn < 19 else [],
                "message": {
                    "id": f"c{number}-{turn}",
                    "author": {"role": "assistant" if turn % 2 else "user"},
                    "create_time": at + turn,
                    "content": {"content_type": "text", "parts": [text_of(rng, 1500 if turn % 2 else 200)]},
                    "metadata": {},
                    "weight": 1.0,
                },
            }
        one = {
            "id": f"c{number}",
            "title": sentence(rng, 3),
            "create_time": at,
            "update_time": at,
            "current_node": "n19",
            "mapping": mapping,
        }
        text = json.dumps(one)
        yield ("," if number else "") + text
        written, number = written + len(text), number + 1
    yield "]"


def short_notes(rng: random.Random, count: int) -> Iterator[str]:
    """Short notes, all different."""
    return (f"{sentence(rng, rng.randint(4, 12))} Note {number}." for number in range(count))


def write(path: Path, parts: Iterator[str]) -> None:
    """Write a file part by part."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(parts)


def importing(name: str, path: Path, store: Path, model: str) -> subprocess.Popen[bytes]:
    """Start an import on the command line."""
    program = "import memory_pipeline.interfaces.cli as c; c.main()"
    command = [sys.executable, "-c", program, "import", name, str(path), "--store", str(store)]
    setting = {"MEMORY_PIPELINE_EMBEDDING_MODEL": model, "MEMORY_PIPELINE_HOME": str(store.parent)}
    return subprocess.Popen(
        [*command, "--quiet"], env={**os.environ, **setting}, stdout=subprocess.PIPE, start_new_session=True
    )


def watched(process: subprocess.Popen[bytes], until: Callable[[float], bool] = lambda _: False) -> tuple[float, float]:
    """Seconds that a process ran and the peak of its memory in MB; it is killed when `until` says so of the seconds."""
    began, peak = time.perf_counter(), 0.0
    while process.poll() is None:
        try:
            peak = max(peak, psutil.Process(process.pid).memory_info().rss / 1e6)
        except psutil.Error:
            break
        if until(time.perf_counter() - began):
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.02)
    process.wait()
    return time.perf_counter() - began, peak


def contents(store: Path) -> tuple[int, str]:
    """The number of memories, and the hash of what the store knows."""
    with Store(store).reading() as tx:
        return tx.memories.count(), tx.contents.digest()


def large(name: str, path: Path, home: Path) -> None:
    """Import a file whole, then killed half-way and again."""
    stores = [home / "whole" / "store.duckdb", home / "killed" / "store.duckdb"]
    for store in stores:
        store.parent.mkdir()
    took, peak = watched(importing(name, path, stores[0], "minilm"))
    count, digest = contents(stores[0])
    size = path.stat().st_size / 1e6
    print(f"{name}, {size:.0f} MB: {count:,} memories in {took:.0f} s ({size / took:.1f} MB/s), peak {peak:.0f} MB")
    watched(importing(name, path, stores[1], "minilm"), lambda seconds: seconds > took / 2)
    there, _ = contents(stores[1])
    again, peak = watched(importing(name, path, stores[1], "minilm"))
    same = contents(stores[1]) == (count, digest)
    print(
        f"killed half-way: {there:,} memories there; again: {again:.0f} s, peak {peak:.0f} MB, the same store: {same}"
    )


def short(home: Path, count: int, seed: int) -> None:
    """Import short notes with the built-in model, beside embedding them alone."""
    notes = list(short_notes(random.Random(seed), count))
    path, store = home / "notes.jsonl", home / "store.duckdb"
    write(path, (json.dumps({"content": note, "created_at": FIRST.isoformat()}) + "\n" for note in notes))
    model = MiniLM()
    model.embed(notes[:PAGE])
    began = time.perf_counter()
    for start in range(0, count, PAGE):
        model.embed(notes[start : start + PAGE])
    alone = time.perf_counter() - began
    took, peak = watched(importing("jsonl", path, store, "minilm"))
    print(f"{count:,} short notes: embedded alone in {alone:.0f} s ({count / alone:.0f}/s), imported in {took:.0f} s")
    print(
        f"import beside the model alone: {took / alone:.2f} times, peak {peak:.0f} MB, {contents(store)[0]:,} memories"
    )


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rows", "chatgpt", "short"])
    parser.add_argument("--megabytes", type=int)
    parser.add_argument("--row-bytes", type=int, default=20_000)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        if given.what == "short":
            short(home, given.memories, given.seed)
            return
        rng = random.Random(given.seed)
        if given.what == "rows":
            path = home / "rows.jsonl"
            write(path, rows(rng, (given.megabytes or 1000) * 1_000_000, given.row_bytes))
            large("jsonl", path, home)
        else:
            path = home / "conversations.json"
            write(path, conversations(rng, (given.megabytes or 300) * 1_000_000))
            large("chatgpt", path, home)


if __name__ == "__main__":
    main()
