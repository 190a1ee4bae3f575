"""How fast a search is in a large project, beside a plain product, faiss and DuckDB on the same vectors.

    python benchmarks/search.py [--memories 100000] [--queries 300] [--texts FILE] [--template STORE]

The memories are combinations of the demo workspace's own sentences (or of the lines of --texts), each embedded once;
the vector of a combination is the normalised sum of those of its sentences. Queries are sentences of the demo that are
shortened by seed. Printed: milliseconds at the median and the 95th percentile, with the query embedded and without, of
searches in a process that opens the index as a server does, and the memory of that process; the time to make the index,
to add one memory and find it, and of `memory-pipeline search` from a shell. With `--template` the store is made once,
at that path.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import numpy as np
import psutil

from memory_pipeline.config.loading import load_settings
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo_workspace"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NEAREST = 10


def sentences(texts: Path | None) -> list[str]:
    """The different sentences that memories are put together from."""
    if texts is not None:
        lines = texts.read_text(encoding="utf-8").splitlines()
    else:
        lines = [json.loads(line).get("content", "") for file in DEMO.glob("*.jsonl") for line in file.open()]
        lines += [line.strip("- #*") for file in DEMO.rglob("*.md") for line in file.open()]
    found = (part.strip() for line in lines for part in re.split(r"(?<=[.!?])\s+", line))
    return [part for part in dict.fromkeys(found) if 20 <= len(part) <= 300]


def combinations(parts: Sequence[str], vectors: Vectors, count: int) -> Iterator[tuple[str, Vectors]]:
    """So many different texts of two sentences, with their vectors."""
    rng = random.Random(1)
    pairs = list(itertools.combinations(range(len(parts)), 2))
    rng.shuffle(pairs)
    if len(pairs) < count:
        raise SystemExit(f"{len(parts)} sentences make {len(pairs)} memories; give more with --texts")
    for one, other in pairs[:count]:
        vector = vectors[one] + vectors[other]
        yield f"{parts[one]} {parts[other]}", vector / np.linalg.norm(vector)


def make(path: Path, parts: Sequence[str], vectors: Vectors, count: int, model: str) -> None:
    """A store with these memories in one project."""
    settings = load_settings({"store.path": str(path)}, environment={}).values

    def candidates() -> Iterator[Candidate]:
        for number, (text, vector) in enumerate(combinations(parts, vectors, count)):
            at = FIRST + timedelta(seconds=number * 200)
            source = Source("jsonl", "made.jsonl", number)
            yield Candidate(
                content=text, created_at=at, source=source, embedding=tuple(vector.tolist()), embedding_model=model
            )

    import_memories(
        Store(path), candidates(), project="p", embedder=choose_embedder(settings), now=datetime.now(UTC), mask=False
    )


def timed(search: Callable[[int], object], count: int) -> tuple[float, float]:
    """Median and 95th percentile of a search in milliseconds."""
    took = []
    for number in range(count):
        began = time.perf_counter()
        search(number)
        took.append(1000 * (time.perf_counter() - began))
    return float(np.percentile(took, 50)), float(np.percentile(took, 95))


def main() -> None:
    """Make the store, search it in every way, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--template", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measure(args, Path(directory))


def measure(args: argparse.Namespace, directory: Path) -> None:
    """All measurements, each printed as it is known."""
    path = directory / "store.duckdb"
    settings = load_settings({"store.path": str(path)}, environment={}).values
    embedder = choose_embedder(settings)
    parts = sentences(args.texts)
    if args.template is None or not args.template.exists():
        made = args.template or path
        make(made, parts, embedder.embed(parts), args.memories, embedder.name)
    if args.template is not None:
        shutil.copyfile(args.template, path)
    rng = random.Random(2)
    queries = [
        " ".join(rng.sample(part.split(), min(6, len(part.split())))) for part in rng.choices(parts, k=args.queries)
    ]
    queries = [query if len(query) >= 3 else "deploy" for query in queries]

    print(f"index made and first search: {seconds_until_found(path):.2f} s", flush=True)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows, lines = pool.apply(as_a_server_does, (path, queries))
    print("\n".join(lines), flush=True)
    asked = embedder.embed(queries)
    with Store(path).reading() as tx:
        ids = [one.id for one in tx.memories.all("p")]
        vectors = tx.recallable.vectors(ids, embedder.name, embedder.dimension)
    rows |= beside(vectors, asked)
    print(f"{'milliseconds':34} {'median':>8} {'p95':>8}")
    for name, (median, high) in rows.items():
        print(f"{name:34} {median:8.1f} {high:8.1f}")
    program = Path(sys.executable).with_name("memory-pipeline")
    command = [str(program), "search", "deploy the shop", "--store", str(path)]
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        print(f"memory-pipeline search from a shell: {time.perf_counter() - began:.2f} s", flush=True)


def seconds_until_found(path: Path) -> float:
    """The time to open a project and search it once."""
    settings = load_settings({"store.path": str(path)}, environment={}).values
    memory = ProjectMemory(Store(path), settings, "p", actor="benchmark")
    began = time.perf_counter()
    memory.search("a first search")
    return time.perf_counter() - began


def as_a_server_does(path: Path, queries: Sequence[str]) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Search an index that is there already; run in a process of its own, whose memory is told."""
    settings = load_settings({"store.path": str(path)}, environment={}).values
    lines = [f"index opened and first search: {seconds_until_found(path):.2f} s"]
    memory = ProjectMemory(Store(path), settings, "p", actor="benchmark")
    rows = {
        name: timed(lambda n: memory.search(queries[n]), len(queries))
        for name in ("search, query embedded", "search, query known")
    }
    lines.append(f"memory of the process: {psutil.Process().memory_info().rss / 1e6:.0f} MB")
    began = time.perf_counter()
    told = memory.remember("The lighthouse keeper feeds the ferret at noon.")
    written = time.perf_counter()
    assert memory.search("ferret of the lighthouse keeper").results[0].id == told.id
    found = time.perf_counter()
    lines.append(f"remember: {1000 * (written - began):.0f} ms; found again: {1000 * (found - written):.0f} ms")
    return rows, lines


def beside(vectors: Vectors, asked: Vectors) -> dict[str, tuple[float, float]]:
    """The nearest ten by vector alone, in other ways."""
    rows: dict[str, tuple[float, float]] = {}

    def product(number: int) -> object:
        scores = vectors @ asked[number]
        best = np.argpartition(scores, -NEAREST)[-NEAREST:]
        return best[np.argsort(-scores[best])]

    rows["vectors alone: plain product"] = timed(product, len(asked))
    try:
        import faiss
    except ImportError:
        print("faiss is not installed (pip install -e '.[bench]')")
    else:
        flat = faiss.IndexFlatIP(vectors.shape[1])
        flat.add(vectors)
        rows["vectors alone: faiss, flat"] = timed(lambda n: flat.search(asked[n : n + 1], NEAREST), len(asked))
    connection = duckdb.connect()
    connection.execute(f"create table v (row integer, vector float[{vectors.shape[1]}])")
    import pyarrow as pa

    flat_values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    table = pa.table({"row": np.arange(len(vectors)), "vector": flat_values})
    connection.register("incoming", table)
    connection.execute("insert into v select * from incoming")
    statement = (
        f"select row from v order by array_inner_product(vector, $1::float[{vectors.shape[1]}]) desc limit {NEAREST}"
    )
    few = min(20, len(asked))
    rows["vectors alone: DuckDB"] = timed(lambda n: connection.execute(statement, [asked[n].tolist()]).fetchall(), few)
    return rows


if __name__ == "__main__":
    main()
