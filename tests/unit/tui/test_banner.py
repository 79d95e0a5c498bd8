"""What the banner says of the source."""

from __future__ import annotations

import msgspec

from ktui.telemetry.events import EtcdHealth, ServerInfo
from ktui.tui.model.state import State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.banner import banner_of

INFO = ServerInfo(
    ktui_version="0",
    kube_version="1.36",
    etcd_version="3.5.1",
    etcd_kind="snapshot",
    endpoints=[],
    writable=False,
    progress="assumed",
)
LIVE = Link(Stage.LIVE)


def test_warnings_about_the_source_are_said_unless_something_worse_is() -> None:
    state = State()
    state.server = INFO
    assert banner_of(state, LIVE)[1] == ""
    state.server = msgspec.structs.replace(INFO, warnings=["db has no hash", "x[red]\x1b"])
    content, kind = banner_of(state, LIVE)
    assert (content.plain, kind) == ("careful: db has no hash; x[red]␛", "source")
    state.health = EtcdHealth(ok=False, detail="gone")
    assert banner_of(state, LIVE)[1] == "etcd"
