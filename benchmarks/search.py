"""How fast a search is in a large project, beside a plain product, faiss and DuckDB on the same vectors.

    python benchmarks/search.py [--memories 100000] [--queries 300] [--texts FILE] [--template STORE]

The memories are pairs of the demo workspace's own sentences (or of those of --texts; a million pairs take 1,500), each
embedded once; the vector of a pair is the normalised sum of the two. Queries are sentences that are shortened by seed.
Printed: milliseconds at the median and the 95th percentile of embedding a query and of a search for one that is
embedded, in a process that opens the index as a server does, and the memory of that process; the time to make the
index, to add a memory and to find it, and of `memory-pipeline search` from a shell; and how many of the nearest ten the
signs of vectors find. With `--template` the store is made once, at that path.
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
from memory_pipeline.models.embedders import Embedder, choose_embedder
from memory_pipeline.models.embedders.model import Vectors
from memory_pipeline.recall.neighbours import Matrix
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store
from memory_pipeline.text.normalise import embedding_text

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

    store = Store(path)
    import_memories(
        store, candidates(), project="p", embedder=choose_embedder(settings), now=datetime.now(UTC), mask=False
    )
    store.fold()  # the file is copied without its log


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
        ids = tx.recallable.memories("p")["id"].to_pylist()
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
    embedder = Remembering(choose_embedder(settings))
    memory = ProjectMemory(Store(path), settings, "p", actor="benchmark", embedder=embedder)
    began = time.perf_counter()
    memory.search("a first search")
    lines = [f"index opened and first search: {time.perf_counter() - began:.2f} s"]
    rows = {
        "embedding a query": timed(lambda n: embedder.embed([embedding_text(queries[n])]), len(queries)),
        "search, query embedded": timed(lambda n: memory.search(queries[n]), len(queries)),
    }
    lines.append(f"memory of the process: {psutil.Process().memory_info().rss / 1e6:.0f} MB")
    for keeper in ("first", "second", "third"):
        began = time.perf_counter()
        told = memory.remember(f"The {keeper} lighthouse keeper feeds the ferret at noon.")
        written = time.perf_counter()
        assert told.id in {one.id for one in memory.search("ferret of the lighthouse keeper").results}
        found = time.perf_counter()
        lines.append(f"remember: {1000 * (written - began):.0f} ms; found again: {1000 * (found - written):.0f} ms")
    return rows, lines


class Remembering:
    """An embedder that embeds no text twice, so that a search can be timed without it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[str, Vectors]()
        self.name, self.dimension = embedder.name, embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in texts if text not in self._known]
        self._known |= dict(zip(new, self._embedder.embed(new), strict=True)) if new else {}
        return np.stack([self._known[text] for text in texts])

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)


def beside(vectors: Vectors, asked: Vectors) -> dict[str, tuple[float, float]]:
    """The nearest ten by vector alone, in other ways."""
    rows: dict[str, tuple[float, float]] = {}

    def product(number: int) -> object:
        scores = vectors @ asked[number]
        best = np.argpartition(scores, -NEAREST)[-NEAREST:]
        return best[np.argsort(-scores[best])]

    rows["vectors alone: plain product"] = timed(product, len(asked))
    matrix = Matrix.of(vectors, len(vectors))
    rows["vectors alone: signs, then product"] = timed(lambda n: matrix.nearest(asked[n], NEAREST), len(asked))
    tenth = [np.partition(vectors @ one, -NEAREST)[-NEAREST] - 1e-6 for one in asked]
    found = [
        (vectors[matrix.nearest(one, NEAREST)] @ one >= least).sum() for one, least in zip(asked, tenth, strict=True)
    ]
    print(f"of the nearest {NEAREST}, signs find {np.mean(found) / NEAREST:.3f}, {min(found)} at least", flush=True)
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
