"""Runs benchmarks, keeps what they print beside day, machine and versions, and makes docs/proof.md of it.

    python benchmarks/proof.py run [NAME ...] [--beam CHECKOUT]
    python benchmarks/proof.py page

Without names every benchmark of `MEASURED` runs, one after the other (about an hour on two cores). What one printed
stands in `results/NAME.json` until it runs again; a benchmark that fails leaves the earlier result. `page` writes
docs/proof.md and its plots of what is there, and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import Any

import psutil

from memory_pipeline.reporting.figures import bar_figure, line_figure

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULTS, PAGE, PLOTS = HERE / "results", ROOT / "docs" / "proof.md", ROOT / "docs" / "pictures"
_VERSIONS = ("memory_pipeline", "dagster", "duckdb", "numpy", "pyarrow")
#: What stands for a path in a command: a directory that is made for it, and the checkout of BEAM.
_SCRATCH, _BEAM = "{scratch}", "{beam}"
#: `2026-03-24 17:05:11 WARNING ...` and `  step: 3 of 7` are no results.
_NOISE = re.compile(r"^(?:\d{4}-\d\d-\d\d .*|\s+[\w ]+: [\d,]+ of [\d,]+|\s*)$")
_WIDTH = 128
_FIGURE = re.compile(r"-?\d[\d,]*(?:\.\d+)?%?$")


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing of a table that a benchmark prints: a line for each of its rows, or a bar if `column` is given.

    `rows`: the words with which they begin; `others`: bars of what others publish, by name.
    """

    caption: str
    rows: tuple[str, ...]
    labels: tuple[str, ...] = ()
    column: int | None = None
    others: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """A benchmark on the page. `command`: as it is run from the root of the repository; `hides`: what its figures do
    not show; `beside`: what others publish, with its source; `most_lines`: of what it prints, from its end; `part`: the
    words with which the part of it that is shown begins, and what follows that."""

    title: str
    command: tuple[str, ...]
    shows: str
    hides: str
    beside: str = ""
    plot: Plot | None = None
    most_lines: int = 40
    part: tuple[str, str] = ("", "")


_BUDGETS = ("150", "300", "600", "1,000", "2,000")
MEASURED: Mapping[str, Measured] = {
    "demo": Measured(
        "What nights make of 45 days",
        ("memory-pipeline", "demo", "--store", f"{_SCRATCH}/demo.duckdb"),
        "The demo's notes were written with a file of truth: which of them say the same, contradict each other, must "
        "not be touched. The left column is a night without a model, the right one with recorded answers of a "
        "language model that was given the questions and nothing else.",
        "The notes were planted by a script, so that real ones are harder; the answers are those of one model.",
        part=("Score card", "Principles:"),
    ),
    "conversations": Measured(
        "What is kept of conversations",
        ("python", "benchmarks/read_conversations.py"),
        "Of 14 labelled conversations in five languages: how much of what is worth keeping is found, how much of what "
        "is kept is labelled so, and what was replaced later and still stands. The answers are recorded ones.",
        "What is kept of a sentence without a label counts as wrong, though a person might keep it too. The "
        "conversations were written for the purpose.",
    ),
    "precision": Measured(
        "Few, right hits: PrecisionMemBench",
        ("python", "benchmarks/precision.py"),
        "77 single-turn cases of `tenurehq/precisionMemBench` (MIT). A case passes if all that must be found is found, "
        "and nothing that must not.",
        "Small stores of a few dozen beliefs; the share of the best score that a hit needs was looked at once here.",
        "Its README gives 77 for its vendor's own product, then 36 (precision .47), 21 (.22) and, for plain vectors, "
        "11 (.09); 34 need nothing to be found.",
        Plot(
            "Cases of 77 that pass",
            ("passed",),
            column=0,
            others={"its vendor": 77, "second there": 36, "third there": 21, "vectors": 11},
        ),
    ),
    "beam": Measured(
        "Evidence in long conversations: BEAM",
        ("python", "benchmarks/beam.py", _BEAM, "--half", "even"),
        "BEAM's chats of 100,000 tokens, each turn of the human a memory: the share of the turns that a question names "
        "as its evidence, among the memories of a search that fit into so many tokens. Weights were chosen on the ten "
        "chats with odd numbers; these are the ten others.",
        "No model and no night: how well a search finds. Order of events and summaries need many turns at once.",
        "The benchmark's own scores are judged by models and are not comparable.",
        Plot("Share of the evidence within so many tokens, %", ("all",), _BUDGETS),
    ),
    "beam_500k": Measured(
        "The same in chats of 500,000 tokens",
        ("python", "benchmarks/beam.py", _BEAM, "--size", "500K", "--half", "even"),
        "As above, in the 17 chats of 500,000 tokens with even numbers, each turn of the human a memory.",
        "As above. Which of two values stands first was looked at in these chats, too.",
    ),
    "contradictions": Measured(
        "Contradictions, without a model",
        ("python", "benchmarks/contradictions.py"),
        "800 pairs of notes that people might write, labelled by their writers after the model was made: what a night "
        "would ask about, what is kept from being merged, and how well the model ranks them. Below, neighbours in "
        "made-up logs, which it was trained on.",
        "In a store nearly all pairs of neighbours are compatible, so that most of what is asked about may be wrong "
        "where little changes; contradictions in notes that are not near each other are not looked for.",
    ),
    "beam_agent": Measured(
        "The same with the agent's long answers",
        ("python", "benchmarks/beam.py", _BEAM, "--half", "even", "--agent"),
        "As above, with the agent's answers of some thousand tokens each among the memories.",
        "As above.",
    ),
    "beam_context": Measured(
        "What a context has of them",
        ("python", "benchmarks/beam.py", _BEAM, "--half", "even", "--agent", "--context"),
        "As above, in contexts of so many tokens, which may have of a long turn only the statements nearest to the "
        "question; and (`words`) the share of the words of the right answer, without those of the question, that such "
        "a context has.",
        "As above; that a word stands there does not show that the answer does.",
    ),
    "recall": Measured(
        "The demo's questions",
        ("python", "benchmarks/recall.py"),
        "28 questions, by words, vectors and both, before the demo's nights.",
        "The questions were written with the notes.",
    ),
    "recall_notes": Measured(
        "Questions about notes below headings",
        ("python", "benchmarks/recall.py", "--workspaces"),
        "90 questions each about made-up notes of a bakery and of a developer, most of which say what they are about "
        "in their headings alone. Of a search (as printed, and the words of its hits alone) and of a context: how many "
        "questions they answer within so many tokens.",
        "What a heading weighs was chosen on the bakery's; the questions were written with the notes.",
    ),
    "changes": Measured(
        "What was changed in other words",
        ("python", "benchmarks/changes.py"),
        "Two made-up logs of 45 days with 45 changes each, few of which name the earlier value: how many of 45 "
        "questions about what holds now find the later note and both within ten hits, and put the later one first; and "
        "how many pairs the nights linked as likely changes.",
        "The least probability of a link was chosen on the theatre, nothing on the farmhouse. No model took part: with "
        "one, what is replaced is archived.",
    ),
    "masking": Measured(
        "Secrets are masked",
        ("python", "benchmarks/masking.py", "--seeds", "3"),
        "Planted keys of some eighty providers, passwords, addresses and phone numbers, and look-alikes that have to "
        "stay. `held out`: forms that were not looked at while the patterns were written.",
        "The secrets are made by a script; those of a provider that nobody knows are found by their mark alone.",
        most_lines=8,
    ),
    "duplicates": Measured(
        "What nights join, and what they keep apart",
        ("python", "benchmarks/duplicates.py"),
        "Planted copies with changed words that a night should join, and planted conflicts that it must not.",
        "Planted changes are of nine and ten kinds; a person's rewording has more. No model took part.",
        "No other memory program publishes how often it joins what does not belong together (graphiti#1771, mem0#7002, "
        "cognee#4532 ask for it).",
    ),
    "judge": Measured(
        "A model's abstractions, judged by code and a second question",
        ("python", "benchmarks/judge.py", "--half", "held_out"),
        "Answers of a model to clusters, half of them with a planted slip: accepted, mended or refused. What a second "
        "question says of their sentences is recorded.",
        "24 clusters; whether mended words are free of their slip is for a reader.",
    ),
    "similarity": Measured(
        "A similarity pass",
        ("python", "benchmarks/similarity.py"),
        "All pairs of 20,000 vectors above a threshold, and the pairs of new vectors alone, beside plain numpy and "
        "faiss in the same run.",
        "Machines are noisy: read the ratios.",
    ),
    "search": Measured(
        "A search among 100,000 memories",
        ("python", "benchmarks/search.py"),
        "Milliseconds of a search in a process that holds its index, beside a plain product, faiss and DuckDB.",
        "Sentences are combined from the demo's; the machine is shared.",
    ),
    "large_store": Measured(
        "A night over 40,000 memories",
        ("python", "benchmarks/large_store.py"),
        "Seconds and CPU seconds of each step: of a first night, of one on which nothing is new, and of one with "
        "1,000 new memories.",
        "Words drawn by seed, without a model; what a model costs is in docs/models.md.",
        most_lines=60,
    ),
    "quiet_days": Measured(
        "A day on which nothing is new",
        ("python", "benchmarks/quiet_days.py", "--days", "6"),
        "CPU seconds of a night from the command line, and of a day of a backfill.",
        "Most of it is Dagster: its imports and its run.",
    ),
}  # fmt: skip


def run(name: str, beam: str | None) -> bool:
    """Run one benchmark and keep what it prints; whether it ended well."""
    measured = MEASURED[name]
    if _BEAM in measured.command and beam is None:
        print(f"{name}: left out, as it needs --beam CHECKOUT")
        return True
    with tempfile.TemporaryDirectory() as scratch:
        command = [part.replace(_SCRATCH, scratch).replace(_BEAM, beam or "") for part in measured.command]
        bin_ = Path(sys.executable).parent
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
        began = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        lines = [line.replace(scratch, "DIRECTORY").rstrip() for line in done.stdout.splitlines()]
    if done.returncode:
        print(f"{name} failed after {seconds:.0f} s:\n{done.stderr[-2000:]}")
        return False
    result = {
        "command": " ".join(measured.command).replace(_SCRATCH, "DIRECTORY").replace(_BEAM, "CHECKOUT"),
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in _VERSIONS},
        "seconds": round(seconds),
        "output": lines,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{name}: {seconds:.0f} s")
    return True


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    file = Path("/proc/cpuinfo")
    cpus = file.read_text("utf-8") if file.is_file() else ""
    return {
        "processor": next(iter(re.findall(r"model name\s*: (.+)", cpus)), platform.machine()),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
    }


def pages(results: Mapping[str, Mapping[str, Any]]) -> dict[Path, str]:
    """The page and its plots, by path, from what benchmarks printed by name."""
    files: dict[Path, str] = {}
    lines = [
        "# Proof",
        "",
        "What was measured, on which day and machine, how to measure it again, what it does not show, and what others",
        "publish beside it. Made of `benchmarks/results/` by `python benchmarks/proof.py page`; run one yourself with",
        "`python benchmarks/proof.py run NAME`. What your own memory answers: `memory-pipeline evaluate --page FILE`.",
        "",
    ]
    for name, measured in MEASURED.items():
        if (result := results.get(name)) is None:
            continue
        shown = _shown(measured, result["output"])
        lines += [f"## {measured.title}", "", fill(measured.shows, _WIDTH), "", "```", *shown, "```", ""]
        if measured.plot and (drawn := drawing(name, measured.plot, shown)):
            path = PLOTS / f"proof-{name}.svg"
            files[path] = drawn
            lines += [f"![{measured.plot.caption}](pictures/{path.name})", ""]
        lines += [fill(f"*Not shown:* {measured.hides}", _WIDTH), ""]
        lines += [fill(f"*Beside it:* {measured.beside}", _WIDTH), ""] if measured.beside else []
        at, versions = result["machine"], result["versions"]
        measured_on = f"{at['system']}, {at['processor']}, {at['cores']} cores, {at['memory_gb']} GB"
        used = ", ".join(f"{what} {which}" for what, which in versions.items())
        lines += [
            f"`{result['command']}`",
            fill(f"(`{name}`), {result['day']}, {result['seconds']:,} s; {measured_on}; {used}", _WIDTH),
            "",
        ]
    files[PAGE] = "\n".join(lines)
    return files


def _shown(measured: Measured, printed: Sequence[str]) -> list[str]:
    """The lines of what a benchmark printed that stand on the page."""
    first, after = measured.part
    start = next((n for n, line in enumerate(printed) if first and line.startswith(first)), 0)
    end = next((n for n, line in enumerate(printed) if after and line.startswith(after)), len(printed))
    return [line for line in printed[start:end] if not _NOISE.match(line)][-measured.most_lines :]


def drawing(name: str, plot: Plot, lines: Sequence[str]) -> str:
    """The plot of a table as SVG; empty if the table is not there."""
    rows = {row: figures_in(line.removeprefix(row)) for row in plot.rows for line in lines if line.startswith(row)}
    if not rows:
        return ""
    if plot.column is not None:
        bars = {("this" if len(rows) == 1 else row): values[plot.column] for row, values in rows.items()} | plot.others
        return str(bar_figure(name, plot.caption, list(bars), list(bars.values())))
    shown = {row: [100 * value for value in values[: len(plot.labels)]] for row, values in rows.items()}
    return str(line_figure(name, plot.caption, plot.labels, shown))


def figures_in(line: str) -> list[float]:
    """The figures of a line that are words of their own."""
    words = (word.strip("():;").rstrip(",") for word in line.split())
    return [float(word.rstrip("%").replace(",", "")) for word in words if _FIGURE.match(word)]


def kept_results() -> dict[str, Mapping[str, Any]]:
    """What benchmarks printed when they last ran, by name."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))}


def main() -> int:
    """Run benchmarks, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "page"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--beam", metavar="CHECKOUT")
    args = parser.parse_args()
    if unknown := sorted(set(args.names) - MEASURED.keys()):
        parser.error(f"there is no benchmark '{unknown[0]}'; there are {', '.join(MEASURED)}")
    if args.what == "run":
        ended = [run(name, args.beam) for name in args.names or MEASURED]
        return 0 if all(ended) else 1
    for path, text in pages(kept_results()).items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
