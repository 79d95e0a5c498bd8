"""The dashboard and its child: whichever process is killed, none is left over, and the state stays shown."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal, eventually, processes_of

pytestmark = [pytest.mark.terminal, pytest.mark.etcd, pytest.mark.timeout(600)]

KTUI = f"{sys.executable} -m ktui"
SMALL = "--pods 40 --nodes 4 --namespaces 6"
HEAD = re.compile(r"rev ([\d,]+)")


def head_revision(screen: str) -> int:
    found = HEAD.search(screen)
    return int(found[1].replace(",", "")) if found else 0


def opened(terminal: Terminal, home: Home) -> None:
    terminal.run(f"{KTUI} {SMALL}", home.environment)
    first = terminal.wait_for(lambda screen: head_revision(screen) > 100 and "● pods" in screen, "live data")
    terminal.wait_for(lambda screen: head_revision(screen) > head_revision(first), "revisions that move")


def server_pid(home: Home) -> int:
    return int(next((home.path / "state" / "ktui" / "servers").iterdir()).name)


def etcds(home: Home) -> list[str]:
    return [line for line in processes_of(home.marker) if "--data-dir" in line]


def test_a_killed_server_is_reported_and_restarted(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    terminal.type("6")
    terminal.wait_for(lambda screen: "kube-scheduler" in screen, "the demo's WATCHes, once it is filled")
    terminal.type("1")
    os.kill(server_pid(home), signal.SIGKILL)
    terminal.wait_for(
        lambda screen: all(text in screen for text in ("server has stopped", "SIGKILL", "as of", "● pods")),
        "the server's end, and what was known",
    )
    assert eventually(lambda: not etcds(home)), etcds(home)
    terminal.type("6")
    terminal.wait_for(lambda screen: "kube-scheduler" in screen and "as of" in screen, "watches as of then")
    terminal.type("1", "r")
    terminal.wait_for(
        lambda screen: "server has stopped" not in screen and head_revision(screen) > 100, "a new server"
    )
    terminal.type("q")
    terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt again")
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)


def test_a_killed_dashboard_leaves_no_process(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    dashboards = [line for line in processes_of(home.marker) if "-m ktui --pods" in line]
    assert len(dashboards) == 1
    terminal.close()  # the terminal is closed under it: SIGHUP
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
