"""Finds, shows and erases what a person wants forgotten, and makes again what follows from the memories that stay."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from memory_pipeline.config.settings import Settings
from memory_pipeline.consolidation.report import render_changed_reports
from memory_pipeline.errors import InputError, MemoryPipelineError, OutputError, StoreError, in_words
from memory_pipeline.files.places import forgetting_mark, places_beside
from memory_pipeline.files.shared_blocks import SharedBlocks
from memory_pipeline.files.writing import directories, write_text
from memory_pipeline.forgetting.documents import AlikeMemory, ForgetPreview, Forgotten, MemoryToForget, shorten
from memory_pipeline.forgetting.files import clean_files, quotes, walk_files
from memory_pipeline.killpoints import reached
from memory_pipeline.periods.running import renew_stale
from memory_pipeline.records import EXTRACTED, MADE, Memory
from memory_pipeline.store import (
    Erased,
    Forgetting,
    Store,
    Transaction,
    copies_aside,
    create_snapshot,
    files_that_say,
    forget_in_copies,
    forget_in_store,
    list_snapshots,
    new_id_of,
    snapshot_directory,
)
from memory_pipeline.text.own_words import FORGOTTEN, OwnWords
from memory_pipeline.workspace.conversation_pages import write_files
from memory_pipeline.workspace.directory import PAGES, written_files


@dataclass(frozen=True, slots=True)
class Selection:
    """Exactly one of ids, words, a file and a conversation. `only`: of what is found, these places of the list."""

    memory_ids: tuple[str, ...] = ()
    search: str | None = None
    source: str | None = None
    conversation: str | None = None
    project: str | None = None
    only: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        given = [choice for choice in (self.memory_ids, self.search, self.source, self.conversation) if choice]
        if len(given) != 1:
            raise InputError("give ids of memories, or exactly one of --search, --source and --conversation")
        if self.search is not None and not self.search.split():
            raise InputError("--search needs words")
        if self.only and self.memory_ids:
            raise InputError("--only chooses among what was found; name the ids alone instead")

    def find(self, tx: Transaction) -> list[Memory]:
        """The memories, in the order in which they are listed. Raises InputError if there is none."""
        if self.memory_ids:
            memories = tx.memories.read(self.memory_ids)
            for memory_id in self.memory_ids:
                if memory_id not in memories:
                    raise InputError(_unknown(tx, memory_id))
            return [memories[memory_id] for memory_id in dict.fromkeys(self.memory_ids)]
        if self.search:
            return tx.erasure.saying(self.search.split(), self.project)
        if self.source:
            return tx.erasure.from_file(self.source, self.project)
        return tx.erasure.of_conversation(self.conversation or "", self.project)

    def choose(self, tx: Transaction) -> tuple[list[Memory], tuple[str, ...], tuple[tuple[str, int], ...]]:
        """The memories that match, the ids of the chosen ones, and the rejected rows by file and line.

        Raises InputError if there is nothing.
        """
        memories = self.find(tx)
        rejected = tx.erasure.rejected(self.source, (self.search or "").split()) if not self.only else []
        if not memories and not rejected:
            what = {"--search": self.search, "--source": self.source, "--conversation": self.conversation}
            name, value = next((name, value) for name, value in what.items() if value)
            raise InputError(f"nothing in the store matches {name} '{value}'")
        strange = [place for place in self.only if not 1 <= place <= len(memories)]
        if strange:
            raise InputError(f"--only {strange[0]} is not in the list, which has {len(memories)} memories")
        chosen = [memories[place - 1] for place in sorted(set(self.only))] if self.only else memories
        return memories, tuple(memory.id for memory in chosen), tuple(rejected)


def _unknown(tx: Transaction, memory_id: str) -> str:
    gone = tx.forgotten.find(memory_id)
    if gone is not None:
        return f"memory '{memory_id}' was forgotten on {gone.forgotten_at:%Y-%m-%d} by {gone.forgotten_by}"
    return f"there is no memory '{memory_id}'; 'memory-pipeline forget --search WORDS' lists memories with their ids"


def _renew_files(store: Store, settings: Settings, run_id: str) -> list[str]:
    """Make again the rollups that said it, and every file that says what the store holds; returns what could not be
    written, in sentences."""
    problems = [*write_files(store, settings, _HOLDER, run_id).problems]
    problems += renew_stale(store, settings, holder=_HOLDER, run_id=run_id)[1]
    try:
        render_changed_reports(store, settings.reports_path, FORGOTTEN)
    except (MemoryPipelineError, OSError, ValueError) as error:
        problems.append(f"{settings.reports_path}: {in_words(error)}")
    return problems


_HOLDER, _INDEX = "memory-pipeline forget", ".index"
#: From this likeness on, another memory is shown as one that says nearly the same.
_ALIKE = 0.9
_MOST_ALIKE = 20


def preview(store: Store, settings: Settings, selection: Selection) -> ForgetPreview:
    """Preview a forgetting; nothing is written.

    Raises InputError if there is nothing.
    """
    with store.reading() as tx:
        matches, chosen, rejected = selection.choose(tx)
        erased = tx.erasure.of(chosen)
        ids = erased.memory_ids
        words = _words(tx, erased, rejected).with_names(dict.fromkeys(ids, FORGOTTEN))
        restored = [memory_id for memory_id in erased.rollback.restored_ids if memory_id not in set(ids)]
        memories = tx.memories.read([*ids, *(memory.id for memory in matches)])
        alike = tx.erasure.alike(ids, _ALIKE)[:_MOST_ALIKE]
        others = tx.memories.read([memory_id for memory_id, _ in alike])
        hashes = {memories[i].content_hash for i in chosen}
        listed = [
            (memory, place, "chosen" if memory.id in chosen else "not chosen")
            for place, memory in enumerate(matches, 1)
        ]
        listed += [(memories[i], 0, _why(memories[i], hashes)) for i in ids if i not in chosen]
        periods = [f"{rollup.project_id} {rollup.period}" for rollup in tx.rollups.about(ids)]
        outside = _outside(tx, settings, erased)
    return ForgetPreview(
        code=_compute_code(erased, rejected),
        memories=tuple(
            MemoryToForget(
                place=place,
                id=memory.id,
                project=memory.project_id,
                day=f"{memory.day}",
                why=why,
                content=shorten(memory.content),
            )
            for memory, place, why in listed
        ),
        going=len(ids),
        rejected_rows=len(rejected),
        active_again=tuple(restored),
        made_again=tuple(periods),
        snapshots=len(list_snapshots(store)) + len(copies_aside(store)),
        files=tuple(str(path) for path in walk_files(_to_clean(store, settings)) if quotes(path, words)),
        alike=tuple(
            AlikeMemory(id=memory_id, similarity=round(score, 4), content=shorten(others[memory_id].content))
            for memory_id, score in alike
            if memory_id in others and others[memory_id].rolled_back_at is None
        ),
        outside=outside,
    )


def _compute_code(erased: Erased, rejected: Sequence[tuple[str, int]]) -> str:
    """The code that confirms a preview: another set has another one."""
    lines = [*erased.memory_ids, "", *erased.rollback.restored_ids, "", *(f"{row}" for row in rejected)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


def forget(store: Store, settings: Settings, selection: Selection, *, code: str, actor: str) -> Forgotten:
    """Forget exactly what a preview with this code has shown.

    Raises InputError if something else would go by now, StoreBusyError while a night runs or a file is in use: then the
    forgetting is completed by the next one.
    """
    complete_forgetting(store, settings)
    with store.reading() as tx:
        _, chosen, rejected = selection.choose(tx)
        erased = tx.erasure.of(chosen)
        if code != _compute_code(erased, rejected):
            raise InputError(
                f"something else would be forgotten by now than '{code}' confirms; look again without --yes"
            )
        key = tx.forgotten.key() or secrets.token_hex(32)
        intent = Forgetting(chosen, rejected, actor, datetime.now(UTC), key)
    return _forget(store, settings, intent, completed=False)


def complete_forgetting(store: Store, settings: Settings) -> Forgotten | None:
    """Complete a forgetting that was interrupted; None if there is none, or if the run that does it is alive."""
    intent = read_intent(store.path)
    if intent is None or not store.exists():
        return None
    return _forget(store, settings, intent, completed=True)


def _forget(store: Store, settings: Settings, intent: Forgetting, *, completed: bool) -> Forgotten:
    with store.leased(intent.id, _HOLDER):
        if not completed:
            with directories(store.path.parent):
                write_text(
                    forgetting_mark(store.path), _INTENTS.dump_json(intent).decode(), lambda _: True, private=True
                )
        reached("forget.begun")
        with store.reading() as tx:
            was_replaced = bool(tx.forgotten.of_forgetting(intent.id))
            erased = tx.erasure.of(intent.memory_ids)
            words = _words(tx, erased, intent.rejected)
            outside = _outside(tx, settings, erased) + ((_UNKNOWN_EXPORTS,) if was_replaced else ())
            stones = tuple(tx.forgotten.stones(erased.memory_ids, intent.key))
            forgetting = replace(intent, known=erased.memory_ids, stones=stones)
        words = words.with_names({old: new_id_of(intent.key, old) for old in erased.memory_ids})
        exported = _exports_that_say(store, words)  # before the list of them is cleaned: names of pages quote too
        files: list[str] = []
        changed: list[str] = []
        removed: list[str] = []
        if not was_replaced:
            shutil.rmtree(store.path.with_name(f"{store.path.stem}{_INDEX}"), ignore_errors=True)
            files = clean_files(_to_clean(store, settings), words)
            changed, removed = forget_in_copies(store, forgetting, words)
            forget_in_store(store, forgetting, words)
        reached("forget.replaced")
        problems = _renew_files(store, settings, intent.id)
        files += clean_files([store.path.with_suffix(PAGES)], words)
        SharedBlocks(store.path).forget_earlier_texts()
        store.settle()
        shutil.rmtree(store.path.with_name(f"{store.path.stem}{_INDEX}"), ignore_errors=True)
        snapshot = create_snapshot(
            store, "forget", datetime.now(UTC), settings.store.snapshots_kept, only_if_changed=False
        )
        reached("forget.renewed")
        searched, left = (0, []) if words.is_empty else _search(store, settings, words)
        exports = [str(path) for path in exported if path.is_file() and quotes(path, words)]
        with store.reading() as tx:
            tombstones = tx.forgotten.of_forgetting(intent.id)
        forgetting_mark(store.path).unlink(missing_ok=True)
        return Forgotten(
            forgetting=intent.id,
            memories=tuple(tombstones),
            completed=completed,
            snapshots=tuple(changed),
            removed=tuple(removed),
            files=tuple(files),
            searched=searched,
            left=tuple(left),
            exports=tuple(exports),
            problems=tuple(problems),
            snapshot=snapshot.name,
            outside=outside,
        )


def _words(tx: Transaction, erased: Erased, rejected: Sequence[tuple[str, int]]) -> OwnWords:
    excerpts = [excerpt for file, line, _, excerpt in tx.journal.quarantine() if (file, line) in set(rejected)]
    differing = tx.erasure.differences(erased.memory_ids)
    words = OwnWords(
        [*tx.erasure.texts(erased.memory_ids), *excerpts],
        {old: old for old in erased.memory_ids},
        # As records and reports of conflicts have them; figures of one side alone may be anything.
        wholes=(detail for detail in differing if " / " in detail),
        parts=(f": {detail} (cosine" for detail in differing),
    )
    words.leave(tx.erasure.texts_that_stay(erased.memory_ids))
    return words


def _places(store: Store, settings: Settings) -> list[Path]:
    """The places of this program beside the store whose files may quote memories; without the store and its copies."""
    excluded = (snapshot_directory(store), forgetting_mark(store.path))
    beside = [place for place in places_beside(store.path) if place not in excluded]
    dagster = os.environ.get("DAGSTER_HOME")
    others = [Path(dagster)] if dagster else []
    return [*beside, *(place for place in [*others, settings.reports_path] if place.exists())]


def _to_clean(store: Store, settings: Settings) -> list[Path]:
    """Those of these places in which words are replaced. The index and the pages are made again: a line that was
    replaced in a page would be taken for a person's."""
    return [place for place in _places(store, settings) if place.suffix not in (_INDEX, PAGES)]


def _search(store: Store, settings: Settings, words: OwnWords) -> tuple[int, list[str]]:
    """The number of files that were searched, and those that still say any of it."""
    files = list(walk_files(_places(store, settings)))
    searched, saying = files_that_say(store, words)
    return searched + len(files), [*saying, *(str(path) for path in files if quotes(path, words))]


def _exports_that_say(store: Store, words: OwnWords) -> list[Path]:
    """Files of exports that say it: those that no setting names are not made again, nor are lines of a person."""
    ours = set(walk_files(places_beside(store.path)))
    return [path for path in written_files(store.path) if path not in ours and quotes(path, words)]


def _why(memory: Memory, hashes: Collection[str]) -> str:
    """The reason why a memory goes with chosen ones, which have these hashes."""
    if memory.source.connector in (MADE, EXTRACTED):
        return "made from it"
    return "the same words" if memory.content_hash in hashes else "behind it"


_UNKNOWN_EXPORTS = (
    "Exports: the words had left the store before this was interrupted, so that nobody knows any more which of your "
    "exports still have them; look through these yourself, or export again."
)


def _outside(tx: Transaction, settings: Settings, erased: Erased) -> tuple[str, ...]:
    """The places that may have the words and that this program does not reach, in sentences."""
    sentences = []
    files = sorted(
        {
            m.source.file
            for m in tx.memories.read(erased.memory_ids).values()
            if m.source.file and m.source.connector != MADE
        }
    )
    named = [
        str(path)
        for source in settings.sources
        for file in files
        if (path := Path(source.path) / file).is_file() or ((path := Path(source.path)).is_file() and path.name == file)
    ]
    if named:
        sentences.append(
            f"Your own files, which this program only reads, may still say it: {', '.join(dict.fromkeys(named))}. Edit "
            "them yourself; no night brings it back from there."
        )
    sentences.append(
        "Copies that you made: exports that were moved, backups, files that a command printed to, and what was sent to "
        "a model's provider or synced into another database (in a brain.db, remove the row of the abstraction)."
    )
    return tuple(sentences)


_INTENTS = TypeAdapter(Forgetting)


def read_intent(store: Path) -> Forgetting | None:
    """The intent beside a store; None if nothing is unfinished. Raises StoreError for a file that is not one."""
    path = forgetting_mark(store)
    try:
        return _INTENTS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"'{path}' cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise StoreError(
            f"'{path}' is damaged, so that a forgetting cannot be completed; remove it, and run 'forget' again"
        ) from error
