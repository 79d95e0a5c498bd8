"""What watchers received becomes the audiences of the fan-out rules."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import msgspec
import pytest

from ktui.kube.fanout import ChangeRecipients
from ktui.kube.gates import NEWEST_MINOR
from ktui.workloads.behaviours.event_audiences import (
    PLAIN,
    SELECTING,
    TABLE,
    EventAudiences,
    Written,
    timed,
    work_by_version,
)
from ktui.workloads.behaviours.watch_events import watch_lines

WATCHERS = {PLAIN: 6, SELECTING: 3, TABLE: 1}
ALL = sum(WATCHERS.values())


def line(type_: str, version: int, label: str, name: str = "a-0", *, table: bool = False) -> bytes:
    meta = {"name": name, "resourceVersion": str(version), "labels": {"l": label}}
    found = {"rows": [{"object": {"metadata": meta}}]} if table else {"metadata": meta, "data": {"k": "v"}}
    return msgspec.json.encode({"type": type_, "object": found}) + b"\n"


def deliver(seen: EventAudiences, version: int, label: str, **types: str) -> None:
    for group, type_ in types.items():
        for _ in range(WATCHERS[group]):
            seen.received(group, line(type_, version, label, table=group == TABLE), "a-")


@pytest.mark.parametrize(
    ("change", "types", "audience"),
    [
        ("ADDED", {PLAIN: "ADDED", TABLE: "ADDED"}, ChangeRecipients("ADDED", ALL, plain=6, tables=1)),
        ("MODIFIED", {PLAIN: "MODIFIED", SELECTING: "ADDED"}, ChangeRecipients("MODIFIED", ALL, plain=9)),
        (
            "MODIFIED",
            {PLAIN: "MODIFIED", SELECTING: "DELETED", TABLE: "MODIFIED"},
            ChangeRecipients("MODIFIED", ALL, plain=6, tables=1, leaving=3),
        ),
        ("DELETED", {PLAIN: "DELETED", SELECTING: "DELETED"}, ChangeRecipients("DELETED", ALL, plain=9)),
    ],
)
def test_who_received_a_change(change: str, types: dict[str, str], audience: ChangeRecipients) -> None:
    seen = EventAudiences("l")
    if change == "DELETED":
        seen.deleting(Written("step", change, "a-0", "", ALL))
    else:
        seen.written(Written("step", change, "a-0", "7", ALL))
    deliver(seen, 7, "in", **types)
    seen.fold(0.0)
    figures = seen.steps["step"]
    assert dict(figures.audiences) == {audience: 1}
    assert figures.last[0] == "7" and figures.last[1][PLAIN, types[PLAIN]] == (6, "in")
    assert seen.strays == 0
    work = work_by_version(seen.steps)
    assert work["≤ 1.16"].encodings == work["≤ 1.16"].copies == sum(WATCHERS[group] for group in types)
    assert 0 < work[f"1.29 – 1.{NEWEST_MINOR}"].encoded_bytes < work["≤ 1.16"].encoded_bytes


def test_an_event_with_another_resource_version_is_a_stray() -> None:
    seen = EventAudiences("l")
    seen.written(Written("leaves", "MODIFIED", "a-0", "9", ALL))
    deliver(seen, 8, "in", selecting="DELETED")
    seen.received(PLAIN, line("ADDED", 5, "in", name="another"), "a-")
    seen.received(PLAIN, line("BOOKMARK", 5, "in"), "a-")
    seen.fold(0.0)
    seen.received(PLAIN, line("MODIFIED", 10, "in"), "a-")  # of a write whose answer has not come
    seen.fold(0.0)
    assert (seen.strays, seen.steps) == (3, {})


def test_an_event_after_its_change_was_added_up_is_late() -> None:
    seen = EventAudiences("l")
    seen.written(Written("leaves", "MODIFIED", "a-0", "9", ALL))
    for _ in range(2):
        deliver(seen, 9, "in", selecting="DELETED")
        seen.fold(0.0)
    assert (seen.strays, seen.late, seen.steps["leaves"].events) == (0, WATCHERS[SELECTING], 1)


def test_what_has_just_come_is_not_folded_yet() -> None:
    seen = EventAudiences("l")
    seen.written(Written("created", "ADDED", "a-0", "7", ALL))
    deliver(seen, 7, "out", plain="ADDED")
    seen.fold(3_600.0)
    assert seen.steps == {}


def test_copies_and_encodings_are_timed_on_the_object() -> None:
    copied, encoded = timed(line("ADDED", 1, "in"))
    assert copied > 0 and encoded > 0
    assert timed(b"") == (0.0, 0.0)


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_lines_of_a_stream_however_it_is_cut(size: int) -> None:
    content = b"one\ntwo\n\nfour\nno end"

    async def pieces() -> AsyncGenerator[bytes, None]:
        for at in range(0, len(content), size):
            yield content[at : at + size]

    assert [found async for found in watch_lines(pieces())] == [b"one\n", b"two\n", b"\n", b"four\n"]
