"""First light, as a person has it: it opens, rows move, screens answer their numbers, `q` leaves nothing."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal, eventually, processes_of

pytestmark = [pytest.mark.terminal, pytest.mark.etcd, pytest.mark.timeout(180)]

KTUI = f"{sys.executable} -m ktui"
SMALL = "--pods 40 --nodes 4 --namespaces 6"
HEAD = re.compile(r"rev ([\d,]+)")


def head_revision(screen: str) -> int:
    found = HEAD.search(screen)
    return int(found[1].replace(",", "")) if found else 0


def opened(terminal: Terminal, home: Home) -> str:
    terminal.run(f"{KTUI} {SMALL}", home.environment)
    return terminal.wait_for(lambda screen: head_revision(screen) > 100 and "pods" in screen, "live data", 60)


def server_pid(home: Home) -> int:
    return int(next((home.path / "state" / "ktui" / "servers").iterdir()).name)


def etcds(home: Home) -> list[str]:
    return [line for line in processes_of(home.marker) if "--data-dir" in line]


def test_open_walk_and_leave(terminal: Terminal, home: Home) -> None:
    first = opened(terminal, home)
    terminal.wait_for(lambda screen: head_revision(screen) > head_revision(first), "revisions that move")
    for key, title in (
        ("2", "requests"),
        ("3", "watch cache"),
        ("4", "/registry"),
        ("5", "Lab"),
        ("1", "rv progress"),
    ):
        terminal.type(key)
        terminal.wait_for(
            lambda screen, title=title: title.lower() in screen.lower(), f"screen {key} ({title})"
        )
    terminal.type("?")
    terminal.wait_for(lambda screen: "help" in screen.lower(), "help")
    terminal.type("Escape")
    terminal.type("q")
    left = terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt again")
    assert "Traceback" not in left
    assert processes_of(home.marker) == []


def test_a_killed_server_is_reported_and_restarted(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    os.kill(server_pid(home), signal.SIGKILL)
    terminal.wait_for(
        lambda screen: "server has stopped" in screen and "SIGKILL" in screen, "the server's end"
    )
    assert eventually(lambda: not etcds(home)), etcds(home)
    terminal.type("r")
    terminal.wait_for(
        lambda screen: "server has stopped" not in screen and head_revision(screen) > 100, "a new server"
    )
    terminal.type("q")
    terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt again")
    assert processes_of(home.marker) == []


def test_a_killed_dashboard_leaves_no_process(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    dashboards = [line for line in processes_of(home.marker) if "-m ktui --pods" in line]
    assert len(dashboards) == 1
    terminal.close()  # the terminal is closed under it: SIGHUP
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
