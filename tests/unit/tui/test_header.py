"""The top line, cell by cell: what must not be overlooked shows in any width."""

from __future__ import annotations

import pytest

from ktui.contract.events import CacheStatus, EtcdProgress, EtcdUsage, ServerInfo
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.header import header_line

CRUMBS = ["Cache", "pods", "kube-system/coredns-7db6d8ff4d-2xk9p"]


def busy() -> State:
    state = State()
    server = ServerInfo(
        at=1.0, ktui_version="0", kube_version="1.36", etcd_version="3.5.1", etcd_kind="external",
        endpoints=[], writable=True, progress="supported", name="https://10.0.0.1:2379",
    )  # fmt: skip
    usage = EtcdUsage(at=1.0, rpcs=12_345, sent_bytes=1, received_bytes=620_000_000)
    apply(state, [server, EtcdProgress(at=1.0, head=1_048_213), usage])
    state.dropped = 1_234_567
    return state


@pytest.mark.parametrize("width", range(40, 200, 7))
def test_flags_show_in_any_width(width: int) -> None:
    text = header_line(busy(), Link(Stage.LIVE), True, width, "● rec 0:12", CRUMBS).plain
    assert len(text) <= width
    assert ("paused" in text or "‖" in text) and "● rec 0:12" in text
    assert "1,234,567 events dropped" in text or "1.2M dropped" in text


@pytest.mark.parametrize("width", range(40, 200, 7))
def test_the_past_is_never_shown_as_the_present(width: int) -> None:
    text = header_line(busy(), Link(Stage.STOPPED, "gone"), False, width, "", CRUMBS).plain
    assert "as of " in text and len(text) <= width
    assert "replay" in header_line(busy(), Link(Stage.REPLAY, "demo.gz"), False, width, "", CRUMBS).plain


def test_the_revision_is_the_newest_that_a_cache_has_had() -> None:
    state = busy()
    apply(state, [CacheStatus(at=1.5, resource="pods", state="ready", rv=1_048_225)])
    assert "1,048,225" in header_line(state, Link(Stage.LIVE), False, 199).plain
    apply(state, [CacheStatus(at=1.6, resource="pods", state="cold", rv=0)])
    assert "1,048,213" in header_line(state, Link(Stage.LIVE), False, 199).plain


def test_without_flags_the_revision_stays() -> None:
    state = busy()
    state.dropped = 0
    assert "rev 1,048,213" in header_line(state, Link(Stage.LIVE), False, 60, "", CRUMBS).plain
