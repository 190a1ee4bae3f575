"""What `ask` answers, and what it says it does not know: questions of BEAM, 100K, by the model that is chosen.

    python benchmarks/ask.py CHECKOUT [--half even] [--out FILE] [--answers FILE]

All turns of a chat are memories, without nights. Of each chat the two questions for a fact, the two for a value that
changed, and the two that its makers call unanswerable are asked (`ask`: 1,500 tokens of memories). Printed: how many
were answered, by kind; `--out` writes each with the answer that BEAM calls right, for somebody to judge. The model is
that of your environment (`MEMORY_PIPELINE_MODEL_PROVIDER`, ...), or `--answers`, a file of recorded ones.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from beam import turns_of

from memory_pipeline.config.loading import load_settings
from memory_pipeline.errors import ModelError
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.store import Store

KINDS = ("information_extraction", "knowledge_update", "abstention")
_AT_ONCE, _WITHIN_S = 16, 7200.0


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--half", choices=("odd", "even"), default="even")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--answers", type=Path)
    args = parser.parse_args()
    files = (args.checkout / "chats" / "100K").glob("*/chat.json")
    chats = sorted((file.parent for file in files), key=lambda chat: int(chat.name))
    chats = [chat for chat in chats if int(chat.name) % 2 == (args.half == "odd")]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        recorded = {"model.provider": "recorded", "model.answers": str(args.answers)} if args.answers else {}
        settings = load_settings({"store.path": str(path), **recorded}, environment=dict(os.environ)).values
        store, embedder, now = Store(path), choose_embedder(settings), datetime.now(UTC)
        asked: list[tuple[ProjectMemory, str, dict[str, Any]]] = []
        for chat in chats:
            import_memories(store, turns_of(chat, with_agent=True), project=chat.name, embedder=embedder, now=now)
            memory = ProjectMemory(store, settings, chat.name, actor="benchmark", embedder=embedder)
            rows = json.loads((chat / "probing_questions" / "probing_questions.json").read_text("utf-8"))
            asked += [(memory, kind, row) for kind in KINDS for row in rows[kind]]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            answered = list(pool.map(_ask, asked))
    known, count = Counter(one["kind"] for one in answered if one["answer"]), Counter(one["kind"] for one in answered)
    for kind in KINDS:
        print(f"{kind:26}{count[kind]:6} asked{known[kind]:6} answered")
    if failed := [one["error"] for one in answered if one["error"]]:
        print(f"{len(failed)} failed, the first: {failed[0]}")
    if args.out:
        args.out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in answered), "utf-8")


def _ask(asked: tuple[ProjectMemory, str, dict[str, Any]]) -> dict[str, Any]:
    memory, kind, row = asked
    told = {"project": memory.project, "kind": kind, "question": row["question"], "right": row.get("answer")}
    try:
        return {**told, "answer": memory.ask(row["question"], within_s=_WITHIN_S).answer, "error": ""}
    except ModelError as error:
        return {**told, "answer": "", "error": str(error)}


if __name__ == "__main__":
    main()
