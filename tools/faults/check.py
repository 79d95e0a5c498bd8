"""The offline check: every answer has to follow from etcd's history.

- A write that was acknowledged is in the history once, at the resourceVersion that was answered;
  a refused write is not; compare-and-swap writes follow each other; no patch is lost;
  a DELETE bound to a resourceVersion deletes that one.
- A consistent read is not older than any write acknowledged before it began. Every LIST, all its
  pages together, is the state at its resourceVersion.
- A WATCH shows the events of the history after its start, each once, in order, none left out;
  initial events are the state at their bookmark; no bookmark comes before what it covers.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from tools.faults.history import Change, Event, History
from tools.faults.objects import COUNTER, PATCHED, SHARED, key_of
from tools.faults.records import Got, Listed, Records, Seen, Violations, Watched, Write


def check(records: Records, history: History, violations: Violations) -> Counter[str]:
    """Add violations to `violations`; return how many answers were checked, by kind."""
    _check_writes(records.writes, history, violations)
    _check_deletions(records.writes, history, violations)
    _check_counter(records.writes, history, violations)
    _check_patches(records.writes, history, violations)
    verified: Counter[str] = Counter(writes=len(records.writes))
    for listed in records.lists:
        _check_list(listed, history, violations)
    _check_lists_of_any(records.lists, violations)
    for got in records.gets:
        _check_get(got, history, violations)
    verified.update(lists=len(records.lists), gets=len(records.gets))
    for watched in records.watches:
        if watched.status == 200:
            _check_watch(watched, history, violations)
            verified["events"] += len(watched.events)
    return verified


# Writes.


def _check_writes(writes: list[Write], history: History, violations: Violations) -> None:
    made: dict[int, Change] = {}
    for change in history.changes:
        if change.mark is not None:
            if change.mark.id in made:
                violations.add("a write was made twice", change=change, before=made[change.mark.id])
            made[change.mark.id] = change
    for write in writes:
        found = made.get(write.id)
        if write.acknowledged and write.rv:
            if found is None:
                violations.add("an acknowledged write is not in etcd", write=write)
            elif found.revision != write.rv:
                violations.add("a write was acknowledged with another revision", write=write, change=found)
        elif write.status in (400, 404, 409, 422) and found is not None:
            violations.add("a refused write was made", write=write, change=found)


def _check_deletions(writes: list[Write], history: History, violations: Violations) -> None:
    deleted = Counter(change.key for change in history.changes if change.mark is None)
    bound = [write for write in writes if write.op == "delete_bound" and write.acknowledged]
    plain = [write for write in writes if write.op == "delete" and write.acknowledged]
    for key, number in Counter(write.key for write in (*bound, *plain)).items():
        if number > deleted[key]:
            violations.add("more deletions were acknowledged than made", key=key, acknowledged=number)
    for write in bound:
        changes = history.of(write.key)
        pairs = pairwise(changes)
        if not any(before.revision == write.base and after.mark is None for before, after in pairs):
            violations.add("a DELETE deleted another revision than it was bound to", write=write)


def _check_counter(writes: list[Write], history: History, violations: Violations) -> None:
    """Check that each write of the counter was bound to the newest revision, and added one to its value."""
    counted = {write.id: write for write in writes if write.op == "count"}
    before, last = 0, None
    for change in history.of(key_of("configmaps", SHARED, COUNTER)):
        write = counted.get(change.mark.id) if change.mark is not None else None
        if write is not None:
            if last is not None and write.value != last + 1:
                violations.add("the counter skipped or repeated", write=write, last=last)
                return
            if write.base != before:
                violations.add("a compare-and-swap succeeded on another revision", write=write, before=before)
        before, last = change.revision, write.value if write is not None else None


def _check_patches(writes: list[Write], history: History, violations: Violations) -> None:
    changes = history.of(key_of("configmaps", SHARED, PATCHED))
    value = changes[-1].value if changes else b""
    for name in {write.op for write in writes if write.op.startswith("patcher")}:
        own = [write for write in writes if write.op == name]
        last = max((write.value for write in own if write.acknowledged), default=0)
        # Protobuf: the key, then a field number and a length; JSON if it was written past the API.
        found = re.search(rb"%b(?:\x12.|\": ?\")(\d+)" % name.encode(), value, re.DOTALL)
        stored = int(found[1]) if found else 0
        if stored < last or stored > max(write.value for write in own):
            violations.add("a patch was lost", name=name, acknowledged=last, stored=stored)


# Reads.


def _check_list(listed: Listed, history: History, violations: Violations) -> None:
    about = {key: value for key, value in asdict(listed).items() if key != "items"}
    rv = listed.rvs[0]
    if any(other != rv for other in listed.rvs):
        violations.add("pages of several revisions", listed=about)
        return
    if listed.kind in ("consistent", "paged") and rv < listed.floor:
        violations.add("a stale consistent LIST", listed=about, behind=listed.floor - rv)
    if listed.kind == "not_older" and rv < listed.asked:
        violations.add("a LIST older than asked for", listed=about)
    if listed.kind in ("exact", "paged_exact") and rv != listed.asked:
        violations.add("a LIST of another revision than asked for", listed=about)
    found = {key: (revision, mark) for key, revision, mark in listed.items}
    if len(found) != len(listed.items):
        violations.add("an object twice in a LIST", listed=about)
    expected = history.state(listed.selection, rv)
    if found != expected:
        violations.add(
            "a LIST is not the state at its revision", listed=about, **_differences(found, expected)
        )


def _check_lists_of_any(lists: list[Listed], violations: Violations) -> None:
    """Check that the answers of one process at resourceVersion=0 never go back."""
    newest: dict[tuple[int, str], list[Listed]] = {}
    for listed in sorted((one for one in lists if one.kind == "any"), key=lambda one: one.ended):
        before = newest.setdefault((listed.server, listed.selection.resource), [])
        ended = [one for one in before[-50:] if one.ended <= listed.began]
        if ended and max(one.rvs[0] for one in ended) > listed.rvs[0]:
            violations.add("a LIST at resourceVersion=0 went back", url=listed.url, rv=listed.rvs[0])
        before.append(listed)


def _check_get(got: Got, history: History, violations: Violations) -> None:
    changes = history.of(got.key)
    if got.status == 200:
        at = next((n for n, change in enumerate(changes) if change.revision == got.rv), None)
        if at is None or str(changes[at].mark) != got.mark:
            violations.add("a GET of what never was", got=got)
        elif got.kind == "consistent" and at + 1 < len(changes) and changes[at + 1].revision <= got.floor:
            violations.add("a stale consistent GET", got=got, newer=changes[at + 1])
    elif got.kind == "consistent":
        then = history.at(got.key, got.floor)
        later = any(change.mark is None and change.revision > got.floor for change in changes)
        if then is not None and then.mark is not None and not later:
            violations.add("a GET did not find what is there", got=got, then=then)


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    return {
        "missing": sorted(expected.keys() - found.keys())[:4],
        "extra": sorted(found.keys() - expected.keys())[:4],
        "other": [key for key in found.keys() & expected.keys() if found[key] != expected[key]][:4],
    }


# Watches.


def caught_up(watched: Watched, history: History) -> bool:
    """True if an open WATCH has shown all events."""
    start = _start(watched)
    if start is None:
        return watched.kind in ("any", "unset")  # it is unknown at which revision these begin
    since, events = start
    shown = sum(seen.type not in ("BOOKMARK", "ERROR") for seen in events)
    return shown >= len(history.events(watched.selection, since))


def _start(watched: Watched) -> tuple[int, list[Seen]] | None:
    """Return the revision from which events count, and the events after it; None if it is unknown."""
    if watched.kind == "known":
        return watched.since, watched.events
    for at, seen in enumerate(watched.events):
        if seen.ends_initial:
            return seen.rv, watched.events[at + 1 :]
    return None


def _check_watch(watched: Watched, history: History, violations: Violations) -> None:
    start = _start(watched)
    if watched.kind in ("any", "unset"):
        _check_watch_from_anywhere(watched, history, violations)
    elif start is None:
        if any(seen.type not in ("ADDED", "BOOKMARK") for seen in watched.events):
            violations.add("initial events that are not ADDED", url=watched.url)
    else:
        since, events = start
        if watched.kind != "known":
            _check_initial(watched, since, len(watched.events) - len(events) - 1, history, violations)
        _check_stream(watched, since, events, history, violations)


def _check_initial(watched: Watched, rv: int, number: int, history: History, violations: Violations) -> None:
    initial = watched.events[:number]
    if any(seen.type != "ADDED" for seen in initial):
        violations.add("initial events that are not ADDED", url=watched.url)
    found = {seen.key: (seen.rv, seen.mark) for seen in initial}
    expected = history.state(watched.selection, rv)
    if found != expected or len(found) != len(initial):
        details = _differences(found, expected)
        violations.add(
            "initial events are not the state at their bookmark", url=watched.url, rv=rv, **details
        )
    if watched.kind == "initial" and rv < watched.floor:
        violations.add("stale initial events", url=watched.url, rv=rv, floor=watched.floor)


def _check_stream(
    watched: Watched, since: int, events: list[Seen], history: History, violations: Violations
) -> None:
    expected = history.events(watched.selection, since)
    about = {"url": watched.url, "since": since, "end": watched.end}
    rv, shown = since, []
    for seen in events:
        if seen.rv < rv:
            violations.add("a WATCH went back", seen=seen, rv=rv, **about)
            return
        rv = seen.rv
        if seen.type != "BOOKMARK":
            shown.append(_event(seen))
        elif len(shown) < len(expected) and expected[len(shown)].revision <= seen.rv:
            violations.add(
                "a bookmark came before its events", seen=seen, missing=expected[len(shown)], **about
            )
            return
    at = _first_difference(shown, expected)
    if at is not None:
        details = {"shown": shown[at : at + 2], "expected": expected[at : at + 2]}
        violations.add("a WATCH differs from the history", at=at, **details, **about)


def _first_difference(shown: list[Event], expected: list[Event]) -> int | None:
    """Return the first index where `shown` differs from `expected`; any order within a revision is valid."""
    at = 0
    while at < len(shown):
        if at >= len(expected):
            return at
        revision, end = expected[at].revision, at
        while end < len(expected) and expected[end].revision == revision:
            end += 1
        these = shown[at:end]
        if len(set(these)) != len(these) or not set(these) <= set(expected[at:end]):
            return at
        at = end
    return None


def _check_watch_from_anywhere(watched: Watched, history: History, violations: Violations) -> None:
    """Check a WATCH that begins at an unknown revision: some revision has to explain all its events."""
    shown = [_event(seen) for seen in watched.events if seen.type != "BOOKMARK"]
    if not shown:
        return
    # The revision is before the first event that is not ADDED, and at most 1 before the oldest object shown.
    latest = next((event.revision for event in shown if event.type != "ADDED"), history.revision + 1)
    earliest = shown[0].revision
    changed = {change.revision for change in history.changes if earliest <= change.revision < latest}
    for revision in sorted({earliest - 1, *changed}, reverse=True):
        state = {(key, *found) for key, found in history.state(watched.selection, revision).items()}
        initial = {(event.key, event.revision, event.mark) for event in shown[: len(state)]}
        if any(event.type != "ADDED" for event in shown[: len(state)]):
            continue
        if len(shown) < len(state):
            if initial <= state:  # it ended before its initial state was complete
                return
        elif initial == state:
            after = history.events(watched.selection, revision)
            if _first_difference(shown[len(state) :], after) is None:
                return
    violations.add("no revision explains a WATCH", url=watched.url, shown=shown[:3], number=len(shown))


def _event(seen: Seen) -> Event:
    return Event(seen.type, seen.key, seen.rv, seen.mark)
