"""The files that gave no memory, as lines for a screen: by reason, with what reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_pipeline.wording.counts import how_many

_MOST_NAMED = 3


def silent_lines(files: Mapping[str, Sequence[str]], *, verbose: bool) -> list[str]:
    """The files by reason, most first: a few of each by name, or with `verbose` all."""
    count = sum(map(len, files.values()))
    if not count:
        return []
    more = "" if verbose or all(len(names) <= _MOST_NAMED for names in files.values()) else " (--verbose names all)"
    lines = [f"{how_many(count, 'file')} gave no memory{more}:"]
    for why, names in sorted(files.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"  {len(names)}: {why}")
        if verbose:
            lines += [f"    {name}" for name in names]
        else:
            rest = len(names) - _MOST_NAMED
            lines.append("    " + ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else ""))
    return lines
