"""What the banner says of the source."""

from __future__ import annotations

import textwrap

import msgspec
import pytest
from msgspec.structs import replace

from ktui.contract.events import EtcdHealth, ServerInfo, TaskFailures
from ktui.core.reducer import apply
from ktui.core.state import Rewind, State
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.banner import REWIND_SECONDS, banner_of, is_stale

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
    state.health = EtcdHealth(ok=True, alarm="it is full; compact")
    assert banner_of(state, LIVE)[0].plain == "etcd rejects writes: it is full; compact — reads continue"
    state.health = EtcdHealth(ok=False, detail="gone")
    assert banner_of(state, LIVE)[1] == "etcd"


def test_background_tasks_are_shown_until_they_have_recovered() -> None:
    state = State()
    apply(state, [TaskFailures(failures=["the census failed, trying again every 1 s: E: \x1b[1m"])])
    content, kind = banner_of(state, LIVE)
    assert content.plain == (
        "a bug in the server: the census failed, trying again every 1 s: E: ␛[1m — its log has the details"
    )
    assert kind == "server"
    apply(state, [TaskFailures(failures=[])])
    assert banner_of(state, LIVE)[1] == ""


BROKEN = "etcd http://127.0.0.1:2379: the connection broke (Socket closed)"
ADVICE = "; has etcd been stopped there, does it speak gRPC at all?"


@pytest.mark.parametrize(
    ("detail", "width", "says", "lacks"),
    [
        (BROKEN + ADVICE, 115, BROKEN + ADVICE, "…"),
        (
            BROKEN + ADVICE,
            75,
            "answer: http://127.0.0.1:2379: the connection broke (Socket closed) — ",
            "gRPC",
        ),
        (
            f"none of the 3 endpoints answers. {BROKEN}{ADVICE}",
            75,
            "none of the 3 endpoints answers — ",
            "gRPC",
        ),
        ("x" * 300, 75, "xxx… — reads", "no reason"),
    ],
)
def test_a_dead_etcd_takes_two_lines_at_most(detail: str, width: int, says: str, lacks: str) -> None:
    state = State()
    state.health = EtcdHealth(ok=False, detail=detail)
    said = banner_of(state, LIVE, width)[0].plain
    assert len(textwrap.wrap(said, width, break_on_hyphens=False)) <= 2
    assert says in said and lacks not in said and said.endswith("everything else waits")


def test_what_was_never_reached_was_not_lost() -> None:
    attached = Link(Stage.STOPPED, "401: no", restartable=True, retries=True)
    own = Link(Stage.STOPPED, "no etcd", restartable=True)
    state = State()
    assert banner_of(state, attached)[0].plain.startswith("not attached: 401: no — retrying")
    assert banner_of(state, own)[0].plain == "the server did not start: no etcd — press r to try again"
    state.server = INFO
    assert banner_of(state, attached)[0].plain.startswith("connection lost: ")
    assert banner_of(state, own)[0].plain.startswith("the server has stopped: ")


def test_a_silent_server_is_not_shown_as_if_it_were_well() -> None:
    state = State()
    state.server = INFO
    silent = Link(Stage.SILENT, "no telemetry since 07:44:01", restartable=True)
    content, kind = banner_of(state, silent)
    assert content.plain.startswith("the server does not answer: no telemetry since 07:44:01")
    assert content.plain.endswith("press r to restart it") and kind == "stopped"
    assert is_stale(state, silent)
    assert banner_of(state, replace(silent, retries=True))[0].plain.endswith("press r to connect again")


def test_a_revision_that_went_back_is_told_for_a_while() -> None:
    state = State()
    state.now, state.rewind = 1_000.0, Rewind(990.0, 48_213, 7)
    said = banner_of(state, LIVE)[0].plain
    assert (
        said.startswith("etcd's revision went back from 48,213 to 7 at ") and "restored from a backup" in said
    )
    state.now += REWIND_SECONDS
    assert banner_of(state, LIVE)[1] == ""


def test_another_cluster_is_not_called_a_revision_that_went_back() -> None:
    state = State()
    state.now, state.rewind = 1_000.0, Rewind(990.0, 7, 48_213)
    said = banner_of(state, LIVE)[0].plain
    assert said.startswith("another etcd cluster answers, at revision 48,213 since ")
    assert "before at 7" in said and "went back" not in said
