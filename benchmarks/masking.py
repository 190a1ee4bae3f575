"""How many planted secrets, addresses and phone numbers are masked, and how many look-alikes wrongly, by kind.

    python benchmarks/masking.py [--seeds 3] [--group GROUP] [--misses] [--workspace DIRECTORY]

`seen` are the (kind, form) pairs that could be looked at while the rules were written, `held out` the other half
(planted_secrets.py). `--misses` shows those that were seen and went wrong; `--workspace` shows what is masked in
files of your own, and how long it takes. Goals: secrets and passwords >= 0.95, look-alikes <= 0.02.

It is not called secrets.py: a module of that name beside the other scripts would hide Python's own.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter, defaultdict
from pathlib import Path

from planted_lookalikes import plant_lookalikes
from planted_passwords import plant_passwords, plant_personal
from planted_secrets import Sample, plant_secrets

from memory_pipeline.text.redaction import redact

_MASK = re.compile(r"\[REDACTED:\w+\]")
_WINDOW = 8


def plant_all(seed: int) -> list[Sample]:
    """Every sample of a seed."""
    return [*plant_secrets(seed), *plant_passwords(seed), *plant_personal(seed), *plant_lookalikes(seed)]


def is_right(sample: Sample) -> bool:
    """Whether a look-alike stayed as it is, or nothing of eight characters is left of a secret."""
    masked, _ = redact(sample.text)
    if not sample.secrets:
        return masked == sample.text
    left = _MASK.sub("\n", masked)
    windows = (s[at : at + _WINDOW] for s in sample.secrets for at in range(max(1, len(s) - _WINDOW + 1)))
    return not any(window in left for window in windows)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--group", default="")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--workspace", type=Path)
    chosen = parser.parse_args()
    totals: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    kinds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for seed in range(1, chosen.seeds + 1):
        for sample in plant_all(seed):
            if not sample.group.startswith(chosen.group):
                continue
            correct = is_right(sample)
            part = "held out" if sample.held_out else "seen"
            totals[sample.group, part] += 1
            right[sample.group, part] += correct
            kinds[sample.group, sample.kind].append(correct)
            if chosen.misses and not correct and not sample.held_out:
                print(f"{sample.group} | {sample.kind} | {sample.form} | {sample.text[:160]!r}")
    print(f"{'kind':<44}{'samples':>8}{'masked':>9}")
    for (group, kind), results in sorted(kinds.items()):
        masked = sum(results) if group != "look-alike" else len(results) - sum(results)
        print(f"{group + ': ' + kind:<44}{len(results):>8}{masked / len(results):>9.3f}")
    print()
    for group, part in sorted(totals):
        number, good = totals[group, part], right[group, part]
        masked = good if group != "look-alike" else number - good
        print(f"{group + ', ' + part:<44}{number:>8}{masked / number:>9.4f}")
    if chosen.workspace:
        show_workspace(chosen.workspace)


def show_workspace(root: Path) -> None:
    """What is masked in the paragraphs of a directory's notes, and the time it takes."""
    texts = [part for path in sorted(root.rglob("*.md")) for part in path.read_text("utf-8", "replace").split("\n\n")]
    redact("the scanner is compiled before the clock starts")
    began = time.perf_counter()
    masked = [redact(text) for text in texts]
    took = time.perf_counter() - began
    for text, (result, counts) in zip(texts, masked, strict=True):
        if counts:
            at = result.index("[REDACTED")
            print(f"{dict(counts)} {result[max(0, at - 60) : at + 40]!r} was {text[max(0, at - 10) : at + 50]!r}")
    print(f"{len(texts)} texts, {sum(map(len, texts))} characters, {took / len(texts) * 1e6:.0f} microseconds each")


if __name__ == "__main__":
    main()
