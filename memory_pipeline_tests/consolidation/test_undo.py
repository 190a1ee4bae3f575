"""Rolling back: what comes back, what refuses, what stays on record, and how a night goes on from there."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_pipeline.consolidation.review.decisions import approve_proposals
from memory_pipeline.consolidation.review.rollback import RollbackScope, as_text, preview_rollback, roll_back
from memory_pipeline.errors import InputError, StoreBusyError
from memory_pipeline.recall.past import read_state
from memory_pipeline.records import MADE, Conflict
from memory_pipeline.reporting.model import Report
from memory_pipeline.reporting.pages import as_markdown
from memory_pipeline.store import Store, list_snapshots
from memory_pipeline_tests.build import FIRST, NOW, candidate, fill, lesson, run, settings_for, slowly, sql_rows
from memory_pipeline_tests.interfaces.in_process import command

DAY = date(2026, 3, 3)
RUN = RollbackScope(run_id=f"run-{DAY}")


def active_hash(store: Store) -> str:
    with store.reading() as tx:
        assert tx.integrity.check(deep=True) == []
        return tx.contents.digest(active_only=True)


def with_a_night(store: Store) -> str:
    """A lesson and two exact copies, and one night over them; returns the active hash before it."""
    copies = [candidate("Copied  words", FIRST + timedelta(hours=n), native_id=f"copy-{n}") for n in range(2)]
    fill(store, [*lesson(5), *copies])
    before = active_hash(store)
    assert run(store, DAY).memories_archived == 6
    return before


def abstraction_of(store: Store) -> str:
    with store.reading() as tx:
        (found,) = [m.id for m in tx.memories.all() if m.compressed_from and m.archived_at is None]
    return found


@pytest.mark.slow
def test_a_rolled_back_run_leaves_the_active_store_as_before_it(store: Store) -> None:
    before = with_a_night(store)
    result = roll_back(store, settings_for(store), RUN)
    assert active_hash(store) == before == result.active_hash
    assert len(result.restored) == 6 and len(result.retired) == 1


@pytest.mark.slow
def test_a_run_is_found_by_how_its_id_begins_and_rolled_back_once(store: Store) -> None:
    with_a_night(store)
    roll_back(store, settings_for(store), RollbackScope(run_id=f"run-{DAY}"[:-3]))
    for again in (roll_back, preview_rollback):
        with pytest.raises(InputError, match=rf"run 'run-{DAY}' was already rolled back on 20\d\d-.* UTC"):
            again(store, settings_for(store), RUN)


def with_copies(store: Store, number: int = 3) -> None:
    fill(store, [candidate(f"Copied {' ' * n}words", FIRST, native_id=f"copy-{n}") for n in range(number)])
    run(store, DAY)


@pytest.mark.slow
def test_a_run_is_found_by_the_day_of_its_night(store: Store) -> None:
    with_copies(store)
    run(store, DAY, run_id="again")  # finds nothing to do
    with store.reading() as tx:
        events = tx.history.of_runs(tx.runs.on(str(DAY)))
    assert {event.run_id for event in events} == {f"run-{DAY}", "again"}
    assert sum(event.table == "memories" and event.action == "update" for event in events) == 2
    day = RollbackScope(run_id=str(DAY))
    assert roll_back(store, settings_for(store), day).run_ids == (f"run-{DAY}",)
    with pytest.raises(InputError, match=rf"the night of {DAY} was already rolled back on 20\d\d-"):
        roll_back(store, settings_for(store), day)


def test_a_night_that_changed_nothing_cannot_be_undone(store: Store) -> None:
    with_copies(store, 1)
    with pytest.raises(InputError, match=f"no run of the night of {DAY} has archived a memory"):
        roll_back(store, settings_for(store), RollbackScope(run_id=str(DAY)))


@pytest.mark.parametrize("first", [None, *slowly("again", f"run-{DAY}")])
def test_a_night_that_ran_twice_is_undone_as_a_whole(store: Store, first: str | None) -> None:
    """`first`: the run that was undone by its id before."""
    fill(store, lesson(4))
    with_copies(store)
    fill(store, [candidate("Copied words.", FIRST, native_id="late"), *lesson(4, topic="printer")])
    with store.reading() as tx:
        everything = {memory.id for memory in tx.memories.all() if memory.source.connector != MADE}
    assert run(store, DAY, run_id="again").memories_archived == 5
    if first:
        roll_back(store, settings_for(store), RollbackScope(run_id=first), cascade=True)
    told = command("undo", str(DAY), "--dry-run", "--store", store.path).out.splitlines()[0]
    both = f"the night of {DAY} (2 runs, newest first: again (night), run-{DAY} (night))"
    left = "again" if first == f"run-{DAY}" else f"run-{DAY}"
    assert told == f"Rollback of {f'run {left}' if first else both} (dry run)"
    assert command("undo", str(DAY), "--store", store.path).code == 0
    active_hash(store)
    with store.reading() as tx:
        assert {memory.id for memory in tx.memories.all(include_archived=False)} == everything
    again = command("undo", str(DAY), "--store", store.path)
    assert again.code == 1 and f"the night of {DAY} was already rolled back on" in again.err


@pytest.mark.slow
def test_a_night_that_was_killed_before_its_report_is_undone_with_those_of_its_day(store: Store) -> None:
    with_copies(store)
    with store.writing("test") as tx:
        sql_rows(tx, "delete from night_reports")
    fill(store, [candidate("Copied words  ", FIRST, native_id="late")])
    run(store, DAY, run_id="again")
    result = roll_back(store, settings_for(store), RollbackScope(run_id=str(DAY)))
    assert result.run_ids == ("again", f"run-{DAY}") and len(result.restored) == 3
    assert f"again (night), run-{DAY} (unreported)" in result.scope


@pytest.mark.parametrize("killed", [True, *slowly(False)])
def test_what_a_person_approved_is_not_undone_with_the_night_of_its_day(store: Store, killed: bool) -> None:
    """`killed`: before the approval was reported."""
    fill(store, [candidate(f"Copied {' ' * n}words", FIRST, native_id=f"copy-{n}") for n in range(2)])
    run(store, DAY, settings_for(store, compression__review="manual"))
    day = str(DAY)
    (decided,) = approve_proposals(store, settings_for(store, compression__review="manual"), [], "dana")
    if killed:
        with store.writing("test") as tx:
            sql_rows(tx, "delete from night_reports where run_id = $1", [decided.run_id])
    kind = "unreported" if killed else "review"
    other = rf"other runs of that day, each undone by its id: {decided.run_id} \({kind}\)"
    with pytest.raises(InputError, match=other):
        roll_back(store, settings_for(store), RollbackScope(run_id=day))
    fill(store, [candidate("Copied words  ", FIRST, native_id="late")])
    run(store, DAY, run_id="again")
    result = roll_back(store, settings_for(store), RollbackScope(run_id=day))
    assert (result.run_ids, result.other_runs) == (("again",), (f"{decided.run_id} ({kind})",))
    assert f"{decided.run_id} ({kind})" in as_text(result)
    assert roll_back(store, settings_for(store), RollbackScope(run_id=decided.run_id)).restored


@pytest.mark.parametrize("kind", ["principles", *slowly("canonical", "job")])
def test_what_a_schedule_ran_beside_the_night_is_undone_with_it(store: Store, kind: str) -> None:
    with_copies(store)
    fill(store, [candidate("Copied words  ", FIRST, native_id="late")])
    run(store, DAY, run_id="scheduled")
    with store.writing("test") as tx:
        changed = f'json_merge_patch(report, \'{{"kind": "{kind}"}}\')'
        sql_rows(tx, f"update night_reports set report = {changed} where run_id = 'scheduled'")
    result = roll_back(store, settings_for(store), RollbackScope(run_id=str(DAY)))
    assert result.run_ids == ("scheduled", f"run-{DAY}") and not result.other_runs


def test_a_day_without_a_night_cannot_be_undone(store: Store) -> None:
    with_copies(store)
    with pytest.raises(InputError, match="no night of 2031-01-01 was run"):
        preview_rollback(store, settings_for(store), RollbackScope(run_id="2031-01-01"))


@pytest.mark.slow
def test_a_person_sees_that_a_rollback_is_exact(store: Store) -> None:
    def hashes() -> list[str]:
        return re.findall(r"[0-9a-f]{16}", command("check", "--store", store.path).told)

    fill(store, [candidate("Copied words", FIRST, native_id="a")])
    fill(store, [candidate("Copied  words", FIRST, native_id="b")])
    before = hashes()
    run(store, DAY)
    after = hashes()
    assert after[0] != before[0]
    assert before[0] in command("rollback", str(DAY), "--store", store.path).out
    assert hashes()[0] == before[0]
    assert f"in run run-{DAY}: was archived into" in command("history", str(DAY), "--store", store.path).out


@pytest.mark.slow
def test_how_several_runs_begin_names_none_of_them(store: Store) -> None:
    with_a_night(store)
    run(store, DAY + timedelta(days=1))
    with pytest.raises(InputError, match="2 runs have ids that start with 'run-'"):
        preview_rollback(store, settings_for(store), RollbackScope(run_id="run-"))


@pytest.mark.slow
def test_the_report_of_a_run_that_was_rolled_back_says_so(store: Store) -> None:
    with_a_night(store)
    for is_undone in (False, True):
        with store.reading() as tx:
            report = tx.journal.report(f"run-{DAY}")
        assert report is not None and report["verdict"] == "PASS"
        assert (report["rolled_back_at"] is not None) == is_undone
        assert ("**Rolled back at 20" in as_markdown(Report.read_kept(report))) == is_undone
        if not is_undone:
            roll_back(store, settings_for(store), RUN)


@pytest.mark.slow
def test_a_preview_lists_what_would_come_back_and_writes_nothing(store: Store) -> None:
    with_a_night(store)
    bytes_before = store.path.read_bytes()
    shown = preview_rollback(store, settings_for(store), RUN)
    assert {row.id for row in shown.restored} == {"copy-1", *(f"gateway-{n}" for n in range(5))}
    assert "6 memories would be restored" in as_text(shown)
    assert store.path.read_bytes() == bytes_before


@pytest.mark.slow
def test_what_was_rolled_back_stays_on_record_and_out_of_use(store: Store) -> None:
    with_a_night(store)
    made = abstraction_of(store)
    roll_back(store, settings_for(store), RUN)
    with store.reading() as tx:
        retired = tx.memories.read([made])[made]
        assert retired.rolled_back_at is not None and retired.content
        assert made not in {memory.id for memory in tx.memories.all()}
        assert (tx.contents.facts()["abstractions"], tx.contents.facts()["archived"]) == (0, 0)
        assert tx.journal.settled_fingerprints(datetime(2026, 3, 9, tzinfo=UTC), 7) == {}
        assert len(tx.journal.log_of(f"run-{DAY}")) == 2
        assert [event.action for event in tx.history.of("gateway-0") if event.table == "memories"] == [
            "insert",
            "update",
            "update",
        ]


@pytest.mark.slow
def test_the_next_night_may_form_the_same_clusters_again(store: Store) -> None:
    with_a_night(store)
    first, after_first = abstraction_of(store), active_hash(store)
    roll_back(store, settings_for(store), RUN)
    assert run(store, DAY, run_id="again").verdict == "PASS"
    assert abstraction_of(store) == first and active_hash(store) == after_first
    roll_back(store, settings_for(store), RollbackScope(run_id="again"))
    assert run(store, DAY + timedelta(days=2), run_id="later").verdict == "PASS"
    assert abstraction_of(store) != first, "made on another night, it is another memory"


@pytest.mark.slow
def test_a_memory_that_came_while_others_were_archived_is_compared_after_a_rollback(store: Store) -> None:
    with_a_night(store)
    words = f"{lesson(1)[0].content} That was on a Friday."
    fill(store, [candidate(words, FIRST + timedelta(days=1), native_id="gateway-5")])
    run(store, DAY + timedelta(days=1))
    roll_back(store, settings_for(store), RUN, cascade=True)  # the second night made the pattern's next version
    run(store, DAY + timedelta(days=2))
    with store.reading() as tx:
        gateway = list(tx.memories.read([f"gateway-{n}" for n in range(6)]).values())
        assert len({tx.lineage.replacement_of(m.id) for m in gateway}) == 1 and all(m.archived_at for m in gateway)


@pytest.mark.slow
def test_one_abstraction_is_undone_alone(store: Store) -> None:
    fill(store, [*lesson(4), *lesson(4, topic="printer")])
    run(store, DAY)
    with store.reading() as tx:
        target = tx.memories.read(["printer-0"])["printer-0"].consolidated_into_id
    roll_back(store, settings_for(store), RollbackScope(abstraction=target))
    active_hash(store)
    with store.reading() as tx:
        found = tx.memories.read(["printer-0", "gateway-0"])
    assert found["printer-0"].archived_at is None and found["gateway-0"].archived_at is not None


@pytest.mark.slow
def test_dependents_are_named_and_go_only_with_cascade(store: Store) -> None:
    before = with_a_night(store)
    made = abstraction_of(store)
    with store.reading() as tx:
        words = tx.memories.read(["gateway-0"])["gateway-0"].content
    late = candidate(words, FIRST + timedelta(days=2, hours=3), native_id="late-copy")
    fill(store, [late])
    run(store, DAY + timedelta(days=2), snapshot=True)
    with store.reading() as tx:
        assert tx.memories.read(["late-copy"])["late-copy"].consolidated_into_id == made
    taken = list_snapshots(store)
    with pytest.raises(InputError, match=r"'late-copy' was archived into .* add --cascade"):
        roll_back(store, settings_for(store), RUN)
    assert list_snapshots(store) == taken
    assert len(preview_rollback(store, settings_for(store), RUN).dependents) == 1
    result = roll_back(store, settings_for(store), RUN, cascade=True)
    assert "late-copy" in {row.id for row in result.restored}
    active = read_state(store, "now").active
    assert active_hash(store) != before and set(active) >= {"late-copy", "gateway-0", "copy-1"} and made not in active


@pytest.mark.slow
def test_since_undoes_every_run_from_then_on(store: Store) -> None:
    before = with_a_night(store)
    fill(store, lesson(4, FIRST + timedelta(days=1), topic="printer"))
    with_printer = read_state(store, "now").active.keys() | {"x"}
    between = datetime.now(UTC)
    run(store, DAY + timedelta(days=1))
    roll_back(store, settings_for(store), RollbackScope(since=between))
    assert read_state(store, "now").active.keys() | {"x"} == with_printer
    roll_back(store, settings_for(store), RollbackScope(since=datetime(2020, 1, 1, tzinfo=UTC)))
    assert {i for i in read_state(store, "now").active if i.startswith(("gateway", "copy"))} == {
        "copy-0",
        "copy-1",
        *(f"gateway-{n}" for n in range(5)),
    }
    assert before


@pytest.mark.slow
def test_a_snapshot_is_taken_first_and_wrong_names_cost_none(store: Store) -> None:
    with_a_night(store)
    for scope in (RollbackScope(run_id="nowhere"), RollbackScope(abstraction="gateway-0")):
        with pytest.raises(InputError, match=r"no run has an id that starts with 'nowhere'|was made from nothing else"):
            roll_back(store, settings_for(store), scope)
    taken = len(list_snapshots(store))
    roll_back(store, settings_for(store), RUN)
    assert [snapshot.label for snapshot in list_snapshots(store)][taken:] == ["rollback"]


def test_exactly_one_scope_is_named() -> None:
    with pytest.raises(InputError, match="exactly one"):
        RollbackScope()
    with pytest.raises(InputError, match="exactly one"):
        RollbackScope(run_id="a", abstraction="b")


@pytest.mark.slow
def test_an_abstraction_is_rolled_back_once(store: Store) -> None:
    with_a_night(store)
    made = abstraction_of(store)
    roll_back(store, settings_for(store), RollbackScope(abstraction=made))
    with pytest.raises(InputError, match="was already rolled back on"):
        roll_back(store, settings_for(store), RollbackScope(abstraction=made))


@pytest.mark.slow
def test_a_rollback_waits_for_no_night(store: Store) -> None:
    with_a_night(store)
    store.take_lease("other", "night")
    with pytest.raises(StoreBusyError, match=r"is in use by night on .*; try again when it has ended"):
        roll_back(store, settings_for(store), RUN)
    store.release_lease("other")


@pytest.mark.slow
def test_pinning_survives_a_rollback(store: Store) -> None:
    with_a_night(store)
    with store.writing("agent") as tx:
        sql_rows(tx, "update memories set reuse_count = 7 where id = 'gateway-1'")
    roll_back(store, settings_for(store), RUN)
    with store.reading() as tx:
        assert tx.memories.read(["gateway-1"])["gateway-1"].reuse_count == 7


@pytest.mark.slow
def test_a_contradiction_of_what_was_rolled_back_waits_until_it_is_made_again(store: Store) -> None:
    with_a_night(store)
    fill(store, [candidate("The gateway needs no restart", native_id="other")])
    sides = sorted((abstraction_of(store), "other"))
    with store.writing("test") as tx:
        tx.conflicts.record([Conflict("p", sides[0], sides[1], "contradiction", "1 / 2", 0.9)], NOW)
        assert tx.conflicts.open()
    roll_back(store, settings_for(store), RUN)
    with store.reading() as tx:
        assert not tx.conflicts.open() and not tx.conflicts.cases()
    run(store, DAY, run_id="again")
    with store.reading() as tx:
        (case,) = tx.conflicts.cases()
    assert abstraction_of(store) in (case.conflict.a, case.conflict.b)
