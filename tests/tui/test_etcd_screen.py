"""How the etcd screen looks."""

from __future__ import annotations

from typing import Any

import pytest

from .asking import PICTURED, SIZES, Snap, asking_app
from .etcd import FAILING, open_past, open_pods, show_first_key
from .fake_server import FakeServer
from .still import NORMAL, SMALL, WIDE

pytestmark = pytest.mark.starts_on("etcd")

POD = ("/registry/", "team-00/web-0000", "kind: Pod")


@SIZES
def test_past(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("revisions · all 3", "change · +7 −1 line", "+   phase: Running")
    assert snap_compare(asking_app(), says=says, run_before=open_past, terminal_size=size)


@SIZES
def test_sizes(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def to_sizes(pilot: Any) -> None:
        await show_first_key(pilot, "pods/")
        await pilot.press("v", "v", "v")

    says = ("value · sizes", "2,447    managedFields")
    assert snap_compare(asking_app(), says=says, run_before=to_sizes, terminal_size=size)


@PICTURED
def test_pods(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(asking_app(), says=POD, run_before=open_pods, terminal_size=size)


def test_bytes_at_80_columns(snap_compare: Snap) -> None:
    async def to_bytes(pilot: Any) -> None:
        await show_first_key(pilot, "events/")
        await pilot.press("v", "v")

    says = "00000000  6b 38 73 00"
    assert snap_compare(asking_app(), says=says, run_before=to_bytes, terminal_size=SMALL)


def test_wide(snap_compare: Snap) -> None:
    assert snap_compare(asking_app(), says=POD, run_before=open_pods, terminal_size=WIDE)


def test_redacted(snap_compare: Snap) -> None:
    async def to_secret(pilot: Any) -> None:
        await show_first_key(pilot, "secrets/")

    says = ("<redacted: 12 bytes>", "R reveal")
    assert snap_compare(asking_app(), says=says, run_before=to_secret, terminal_size=NORMAL)


def test_failing(snap_compare: Snap) -> None:
    server = FakeServer()
    server.failing = FAILING

    async def fail(pilot: Any) -> None:
        await pilot.press("4")

    says = ("could not be read", FAILING[:30])
    assert snap_compare(asking_app(server), says=says, run_before=fail, terminal_size=SMALL)
