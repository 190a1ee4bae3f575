"""Few, right hits: the 77 single-turn cases of PrecisionMemBench, as a search answers them.

    python benchmarks/precision.py [--show]

The beliefs and the cases are those of `tenurehq/precisionMemBench` (MIT, `precision_mem_bench/`, revision 18c7955), and
so is what passes: what its runner does around a provider is done here in the same order, as its wrapper of agentmemory
does it. A belief is imported as one memory of its names, its words and why it matters, into the project of its user and
scope; one that was superseded or resolved is archived, as a night leaves it. A question is searched for in the project
of its first scope, at most 20 hits, without a filter. Pinned beliefs are given anyway, and a relation brings what takes
part in it. Nothing in the package knows of this set; the share of the best score that a hit has at least was chosen on
other texts, with one look at this set (`recall/ranking.py`). `--show` prints what failed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_pipeline.config.loading import load_settings
from memory_pipeline.ingest.candidates import Candidate
from memory_pipeline.ingest.importing import import_memories
from memory_pipeline.models.embedders import choose_embedder
from memory_pipeline.recall.project import ProjectMemory
from memory_pipeline.records import Source
from memory_pipeline.store import Store

HERE = Path(__file__).parent / "precision_mem_bench"
_USER, _MOST_BELIEFS, _MOST_QUESTIONS = "test-user", 20, 15
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """What a case is given: ids of pinned beliefs, of those that were found, and of pinned open questions."""

    pinned: list[str]
    found: list[str]
    questions: list[str]


def words_of(belief: Row) -> str:
    """What a belief says, as the runner hands it to a provider."""
    parts = [belief["canonical_name"], *belief["aliases"], belief["content"], belief["why_it_matters"]]
    return " ".join(filter(None, parts))


def bring_in(store: Store, beliefs: Sequence[Row], embedder: Any) -> None:
    """Import the beliefs of every user and scope as a project."""
    for project in sorted({project_of(belief["user_id"], belief["scope"]) for belief in beliefs}):
        rows = []
        for number, belief in enumerate(beliefs):
            if project_of(belief["user_id"], belief["scope"]) != project:
                continue
            at = datetime.fromisoformat(belief["updated_at"].replace("Z", "+00:00"))
            is_past = bool(belief.get("superseded_by") or belief.get("resolved_at"))
            rows.append(
                Candidate(
                    content=words_of(belief),
                    native_id=belief["_id"],
                    source=Source("jsonl", "beliefs.jsonl", number),
                    created_at=at,
                    archived_at=at if is_past else None,
                    archived_by="seed" if is_past else None,
                    consolidated_into_id=belief.get("superseded_by"),
                )
            )
        import_memories(store, rows, project=project, embedder=embedder, now=datetime(2026, 11, 1, tzinfo=UTC))


def project_of(user: str, scope: Sequence[str]) -> str:
    """The project of a user and the first of some scopes."""
    return f"{user}-{scope[0].replace(':', '-')}"


def is_given(belief: Row, case: Row) -> bool:
    """Whether a belief is the user's, in a scope of the case, and holds."""
    return (
        belief["user_id"] == case.get("userId", _USER)
        and not set(belief["scope"]).isdisjoint(case["scope"])
        and not belief.get("superseded_by")
        and not belief.get("resolved_at")
    )


def give(case: Row, beliefs: Mapping[str, Row], memories: Mapping[str, ProjectMemory]) -> Given:
    """What a case is given within its budget."""
    budget = case.get("budget", {})
    most = budget.get("maxBeliefs", _MOST_BELIEFS)
    pinned = [i for i, belief in beliefs.items() if belief["pinned"] and is_given(belief, case)]
    questions = [i for i in pinned if beliefs[i]["type"] == "open_question"]
    pinned = [i for i in pinned if i not in questions]
    memory, query = memories.get(project_of(case.get("userId", _USER), case["scope"])), case["query"]
    hits = memory.search(query, most).results if memory and query.strip() and most else ()
    found = [hit.id for hit in hits if hit.id not in pinned]
    for relation in [i for i in found if beliefs[i]["type"] == "relation"]:
        for other in beliefs[relation].get("participants") or ():
            if other in beliefs and other not in (*found, *pinned) and is_given(beliefs[other], case):
                found.append(other)
    pinned = pinned[:most]
    return Given(pinned, found[: max(0, most - len(pinned))], questions[: budget.get("maxQuestions", _MOST_QUESTIONS)])


def failures(case: Row, given: Given) -> list[str]:
    """What a case is given too much, lacks, or has in another order."""
    wanted, found = case["expect"].get("relevantBeliefs", {}), given.found
    both = {*given.pinned, *found}
    only = wanted.get("shouldOnlyInclude")
    wrong = [f"lacks {i}" for i in (*wanted.get("mustInclude", ()), *wanted.get("shouldInclude", ())) if i not in both]
    wrong += [f"has {i}" for i in wanted.get("mustExclude", ()) if i in both]
    if only is not None:
        wrong += [f"has {i}" for i in found if i not in only] + [f"lacks {i}" for i in only if i not in found]
    if not wanted.get("minCount", 0) <= len(found) <= wanted.get("maxCount", len(found)):
        wrong.append(f"finds {len(found)}")
    for first, then in wanted.get("orderedBefore", ()):
        if first not in found or then not in found or found.index(first) > found.index(then):
            wrong.append(f"has {then} before {first}")
    for name, ids in (("pinnedFacts", given.pinned), ("openQuestions", given.questions)):
        part = case["expect"].get(name, {})
        wrong += [f"lacks {i}" for i in part.get("mustInclude", ()) if i not in ids]
        wrong += [f"has {i}" for i in part.get("mustExclude", ()) if i in ids]
    return wrong


def wanted_of(case: Row, beliefs: Mapping[str, Row]) -> set[str]:
    """What a search has to find for a case; empty for one about something else."""
    wanted = case["expect"].get("relevantBeliefs", {})
    alone = [i for i in wanted.get("mustInclude", ()) if not beliefs.get(i, {}).get("pinned")]
    return set(wanted.get("shouldOnlyInclude", alone))


def main() -> None:
    """Import, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    show = parser.parse_args().show
    rows = json.loads((HERE / "beliefs.seed.json").read_text("utf-8"))
    cases = json.loads((HERE / "retrieval.cases.json").read_text("utf-8"))
    beliefs = {row["_id"]: row for row in rows}
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "store.duckdb"
        settings = load_settings({"store.path": str(path)}, environment={}).values
        store, embedder = Store(path), choose_embedder(settings)
        bring_in(store, rows, embedder)
        projects = {project_of(row["user_id"], row["scope"]) for row in rows}
        memories = {one: ProjectMemory(store, settings, one, actor="benchmark", embedder=embedder) for one in projects}
        passed = active = 0
        precision: list[float] = []
        recall: list[float] = []
        for case in cases:
            given, wanted = give(case, beliefs, memories), wanted_of(case, beliefs)
            wrong = failures(case, given)
            passed += not wrong
            if wanted:
                right = len(wanted & set(given.found))
                active += not wrong
                recall.append(right / len(wanted))
                precision.append(right / len(given.found) if given.found else 0.0)
            if show and wrong:
                print(f"  {case['caseId']}: {', '.join(wrong)}")
        for memory in memories.values():
            memory.close()
    count = len(precision)
    print(f"passed    {passed} of {len(cases)}, {active} of the {count} in which something has to be found")
    print(f"precision {sum(precision) / count:.3f}, recall {sum(recall) / count:.3f}, means over these {count}")


if __name__ == "__main__":
    main()
