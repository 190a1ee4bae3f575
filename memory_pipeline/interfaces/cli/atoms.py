"""The commands about causal atoms, which nights learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memory_pipeline.config.settings import Settings
from memory_pipeline.interfaces.cli.base import Answer, group
from memory_pipeline.interfaces.cli.recall import ProjectOption, opened_memory
from memory_pipeline.records import Causal
from memory_pipeline.store import Store

if TYPE_CHECKING:
    from memory_pipeline.recall.atoms import DescribedAtom

atoms_app = group("atoms", "Causes and effects: search, follow and add causal atoms.")


@atoms_app.command(
    "search",
    epilog="Examples: memory-pipeline atoms search 'build cache' --project webshop; atoms search --field outcome",
)
def atoms_search(
    settings: Settings,
    store: Store,
    query: Annotated[
        str | None,
        typer.Argument(help="What to search for; without it, the atoms with the highest confidence are shown."),
    ] = None,
    field: Annotated[str | None, typer.Option(help="Only this field: subject, action or outcome.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of atoms.")] = 10,
    project: ProjectOption = None,
) -> Answer:
    """Find atoms by meaning and field, nearest first."""
    with opened_memory(settings, store, project) as memory:
        found = memory.atoms(query, field, limit).atoms
    return Answer(found, [_line(row) for row in found] or "No atoms.")


@atoms_app.command("chain", epilog="Example: memory-pipeline atoms chain 'build cache was cold' --project webshop")
def atoms_chain(
    settings: Settings,
    store: Store,
    query: Annotated[str, typer.Argument(help="The start of the chains: a subject, an action, or both.")],
    limit: Annotated[int, typer.Option(min=1, max=20, help="Maximum number of chains.")] = 3,
    project: ProjectOption = None,
) -> Answer:
    """Follow causes and effects: the outcome of one atom is the start of the next one."""
    with opened_memory(settings, store, project) as memory:
        chains = memory.atom_chains(query, limit)
    text = "\n\n".join("\n".join("  " * depth + _line(row) for depth, row in enumerate(chain)) for chain in chains)
    return Answer(chains, text or "No atoms.")


@atoms_app.command(
    "add",
    epilog="Example: memory-pipeline atoms add --project webshop --subject 'build cache' --action 'is cold' "
    "--outcome 'deploys take 20 minutes'",
)
def atoms_add(
    settings: Settings,
    store: Store,
    subject: Annotated[str, typer.Option(help="What the action is applied to.")],
    action: Annotated[str, typer.Option(help="What is done or happens.")],
    outcome: Annotated[str, typer.Option(help="What follows.")],
    consequences: Annotated[str, typer.Option(help="What follows further on.")] = "",
    source: Annotated[list[str] | None, typer.Option(help="A memory that supports it; may be repeated.")] = None,
    project: ProjectOption = None,
) -> Answer:
    """Add an atom yourself, with confidence 1.0. Adding it again changes nothing."""
    with opened_memory(settings, store, project) as memory:
        made = memory.state_atom(Causal(subject, action, outcome, consequences), source or [])
    return Answer(made, _line(made))


def _line(row: DescribedAtom) -> str:
    further = f"; {row.consequences}" if row.consequences else ""
    return f"{row.confidence:.1f}  {row.subject} | {row.action} -> {row.outcome}{further}  ({row.score:.2f}, {row.id})"
