"""Test the check: plant each kind of violation in correct records, and see that it is found."""

from __future__ import annotations

import copy
import pickle  # copies everything, for each plant, in a fraction of the time of copy.deepcopy
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ktui.etcd.binary import Binary
from tools.faults.bench import Bench
from tools.faults.check import check
from tools.faults.history import History
from tools.faults.objects import NAMES, NAMESPACES, key_of
from tools.faults.records import Got, Listed, Records, Violations, Watched, Write
from tools.faults.schedule import Outcome, schedule

Plant = Callable[[Records, History], None]
T = TypeVar("T")
TRIES = 5  # schedules, until one allows every kind of violation


class NothingToSpoilError(Exception):
    """The schedule has no record in which this violation could be planted."""


def _first(found: Iterator[T]) -> T:
    for one in found:
        return one
    raise NothingToSpoilError


def _watch(records: Records) -> Watched:
    """Return a WATCH with enough events."""
    return _first(one for one in records.watches if one.kind == "known" and len(_events(one)) > 4)


def _shown(watched: Watched) -> int:
    return sum(seen.type != "BOOKMARK" for seen in watched.events)


def _events(watched: Watched) -> list[int]:
    """Return indexes of events that are the only ones of their revision."""
    rvs = [seen.rv for seen in watched.events]
    return [n for n, seen in enumerate(watched.events) if seen.type != "BOOKMARK" and rvs.count(seen.rv) == 1]


def lose_an_event(records: Records, history: History) -> None:
    """Without the bookmarks behind it, of which the first would be found to come before its events."""
    watched = _watch(records)
    at = _events(watched)[3]
    watched.events[at:] = [seen for seen in watched.events[at + 1 :] if seen.type != "BOOKMARK"]


def repeat_an_event(records: Records, history: History) -> None:
    watched = _watch(records)
    at = _events(watched)[3]
    watched.events.insert(at, copy.copy(watched.events[at]))


def swap_events(records: Records, history: History) -> None:
    watched = _watch(records)
    a, b = _events(watched)[2:4]
    watched.events[a], watched.events[b] = watched.events[b], watched.events[a]


def change_an_events_type(records: Records, history: History) -> None:
    watched = _watch(records)
    seen = watched.events[_events(watched)[3]]
    seen.type = "ADDED" if seen.type == "MODIFIED" else "MODIFIED"


def promise_too_early(records: Records, history: History) -> None:
    watched = _watch(records)
    at = _events(watched)[3]
    early = copy.copy(watched.events[at])
    early.type, early.key = "BOOKMARK", ""
    watched.events.insert(at, early)


def _list(records: Records, *kinds: str) -> Listed:
    return _first(one for one in records.lists if one.kind in kinds and len(one.items) > 2)


def answer_a_stale_list(records: Records, history: History) -> None:
    listed = _list(records, "consistent", "paged")
    listed.floor = listed.rvs[0] + 1


def leave_an_object_out(records: Records, history: History) -> None:
    _list(records, "consistent").items.pop()


def list_an_object_twice(records: Records, history: History) -> None:
    items = _list(records, "consistent").items
    items.append(items[0])


def change_revision_between_pages(records: Records, history: History) -> None:
    _list(records, "paged").rvs.append(_list(records, "paged").rvs[0] + 1)


def answer_older_than_asked(records: Records, history: History) -> None:
    listed = _list(records, "not_older")
    listed.asked = listed.rvs[0] + 1


def go_back_at_any_version(records: Records, history: History) -> None:
    listed = _list(records, "any")
    before = copy.copy(listed)
    before.rvs, before.began, before.ended = [listed.rvs[0] + 1], listed.began - 2, listed.began - 1
    records.lists.append(before)


def _get(records: Records, status: int) -> Got:
    return _first(one for one in records.gets if one.kind == "consistent" and one.status == status)


def answer_a_stale_get(records: Records, history: History) -> None:
    for got in records.gets:
        changes = history.of(got.key)
        if got.kind == "consistent" and got.status == 200 and changes[-1].revision > got.rv:
            got.floor = changes[-1].revision
            return
    raise NothingToSpoilError


def get_what_never_was(records: Records, history: History) -> None:
    _get(records, 200).mark = "m#0#red##"


def miss_what_is_there(records: Records, history: History) -> None:
    keys = (key_of("pods", namespace, name) for namespace in NAMESPACES for name in NAMES)
    key = _first(key for key in keys if (changes := history.of(key)) and changes[-1].mark is not None)
    records.gets.append(Got("consistent", key, history.revision, 404))


def lose_a_write(records: Records, history: History) -> None:
    records.writes.append(Write("put", key_of("configmaps", "a", "o1"), 10**9, 200, 7))


def acknowledge_another_revision(records: Records, history: History) -> None:
    _first(write for write in records.writes if write.op == "put" and write.acknowledged).rv += 1


def make_a_refused_write(records: Records, history: History) -> None:
    write = _first(write for write in records.writes if write.op == "put" and write.acknowledged)
    write.status = 409


def make_a_write_twice(records: Records, history: History) -> None:
    history.add(_first(change for change in reversed(history.changes) if change.mark is not None))


def acknowledge_a_deletion_too_many(records: Records, history: History) -> None:
    done = _first(write for write in records.writes if write.op == "delete" and write.acknowledged)
    records.writes += [copy.copy(done) for _ in history.of(done.key)]


def delete_another_revision(records: Records, history: History) -> None:
    _first(w for w in records.writes if w.op == "delete_bound" and w.acknowledged).base -= 1


def _third_count(records: Records) -> Write:
    done = [write for write in records.writes if write.op == "count" and write.acknowledged]
    return _first(iter(done[2:]))


def skip_a_count(records: Records, history: History) -> None:
    _third_count(records).value += 1


def swap_on_another_revision(records: Records, history: History) -> None:
    _third_count(records).base -= 1


def lose_a_patch(records: Records, history: History) -> None:
    done = [write for write in records.writes if write.op.startswith("patcher") and write.acknowledged]
    _first(reversed(done)).value += 10**6


def show_a_state_that_never_was(records: Records, history: History) -> None:
    watched = _first(one for one in records.watches if one.kind in ("any", "unset") and _shown(one) > 8)
    watched.events[0].rv += 1


def show_initial_events_of_another_state(records: Records, history: History) -> None:
    streamed = (one for one in records.watches if one.kind.startswith("initial") and _shown(one) > 2)
    watched = _first(one for one in streamed if any(seen.ends_initial for seen in one.events[1:]))
    del watched.events[0]


# Function that plants a violation, and the kind that the check has to report.
PLANTS: dict[Plant, str] = {
    lose_an_event: "a WATCH differs from the history",
    repeat_an_event: "a WATCH differs from the history",
    swap_events: "a WATCH went back",
    change_an_events_type: "a WATCH differs from the history",
    promise_too_early: "a bookmark came before its events",
    show_a_state_that_never_was: "no revision explains a WATCH",
    show_initial_events_of_another_state: "initial events are not the state at their bookmark",
    answer_a_stale_list: "a stale consistent LIST",
    leave_an_object_out: "a LIST is not the state at its revision",
    list_an_object_twice: "an object twice in a LIST",
    change_revision_between_pages: "pages of several revisions",
    answer_older_than_asked: "a LIST older than asked for",
    go_back_at_any_version: "a LIST at resourceVersion=0 went back",
    answer_a_stale_get: "a stale consistent GET",
    get_what_never_was: "a GET of what never was",
    miss_what_is_there: "a GET did not find what is there",
    lose_a_write: "an acknowledged write is not in etcd",
    acknowledge_another_revision: "a write was acknowledged with another revision",
    make_a_refused_write: "a refused write was made",
    make_a_write_twice: "a write was made twice",
    acknowledge_a_deletion_too_many: "more deletions were acknowledged than made",
    delete_another_revision: "a DELETE deleted another revision than it was bound to",
    skip_a_count: "the counter skipped or repeated",
    swap_on_another_revision: "a compare-and-swap succeeded on another revision",
    lose_a_patch: "a patch was lost",
}


def missed(records: Records, history: History) -> list[str]:
    """Plant each violation separately; return the names of those that were not found."""
    names, pristine = [], pickle.dumps((records, history))
    for plant, kind in PLANTS.items():
        (planted, changed), violations = pickle.loads(pristine), Violations()
        plant(planted, changed)
        check(planted, changed, violations)
        if kind not in violations.kinds:
            names.append(f"{plant.__name__} (found instead: {dict(violations.kinds)})")
    return names


async def clean_schedule(bench: Bench, seconds: float) -> Records:
    """Return records of a schedule without faults in which every violation can be planted.

    Raises ValueError.
    """
    for seed in range(1, TRIES + 1):
        outcome = Outcome(bench.violations)
        await schedule(bench, seed, seconds, outcome, faulty=False, restarts=False)
        if bench.violations.all:
            raise ValueError(f"a schedule without faults: {dict(bench.violations.kinds)}")
        try:
            pristine = pickle.dumps((outcome.records, bench.history))
            for plant in PLANTS:
                plant(*pickle.loads(pristine))
            return outcome.records
        except NothingToSpoilError:
            continue
    raise ValueError(f"none of {TRIES} schedules had something of everything")


async def self_test(etcd: Binary, seconds: float = 8.0) -> int:
    """Run the self-test; return the exit status: 0 if every planted violation is found."""
    with tempfile.TemporaryDirectory(prefix="ktui-faults-") as directory:
        bench = Bench(1, "1.36", etcd.path, Path(directory), Violations())
        try:
            await bench.start()
            records = await clean_schedule(bench, seconds)
        finally:
            await bench.close()
    names = missed(records, bench.history)
    print(f"{len(PLANTS) - len(names)} of {len(PLANTS)} planted violations found")
    for name in names:
        print(f"  not found: {name}")
    return 1 if names else 0
