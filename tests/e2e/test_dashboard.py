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
# What is on one screen and on no other; the last one leads back to the first.
SEEN_ON = {"2": "phases", "3": "window", "4": "─ keys", "5": "foreseen by the rules", "1": "rv progress"}
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
    for key, seen in SEEN_ON.items():
        terminal.type(key)
        terminal.wait_for(lambda screen, seen=seen: seen in screen, f"screen {key} ({seen})")
    terminal.type("?")
    terminal.wait_for(lambda screen: "esc closes" in screen, "help")
    terminal.type("?")  # not Escape: with the next key it would be one Alt key to a terminal
    terminal.wait_for(lambda screen: "rv progress" in screen, "the Overview again")
    terminal.type("q")
    left = terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt again")
    assert "Traceback" not in left
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)


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
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)


def test_a_killed_dashboard_leaves_no_process(terminal: Terminal, home: Home) -> None:
    opened(terminal, home)
    dashboards = [line for line in processes_of(home.marker) if "-m ktui --pods" in line]
    assert len(dashboards) == 1
    terminal.close()  # the terminal is closed under it: SIGHUP
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
