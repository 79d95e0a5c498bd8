"""The audit's screens, as a person has them: piped, stopped, walked through, left."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal
from tests.unit.audit.logs import traffic

pytestmark = [pytest.mark.terminal, pytest.mark.timeout(600)]

KTUI = f"{sys.executable} -m ktui"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    path.write_bytes(b"\n".join(islice(traffic(1), 1_000)) + b"\n")
    return path


def test_a_file_is_read_walked_through_and_left(terminal: Terminal, home: Home, log: Path) -> None:
    terminal.run(f"{KTUI} audit {log} -i --kube-version 1.30; echo left $?", home.environment)
    terminal.wait_for(lambda screen: "moves" in screen and "later" in screen, "the groups")
    terminal.type("Enter")
    terminal.wait_for(lambda screen: "latency and errors" in screen, "one group")
    terminal.type("v")
    terminal.wait_for(lambda screen: "what changes from 1.30" in screen, "all versions")
    terminal.type("q")
    terminal.wait_for(lambda screen: "left 0" in screen, "the shell again")


def test_keys_work_while_a_pipe_stays_open(terminal: Terminal, home: Home, log: Path) -> None:
    fifo = log.with_name("fifo")
    command = f"mkfifo {fifo}; (cat {log}; exec cat {fifo}) | {KTUI} audit - -i; echo left $?"
    terminal.run(command, home.environment)
    terminal.wait_for(lambda screen: "1,000 lines" in screen and "x stops" in screen, "all lines so far")
    terminal.type("x")
    terminal.wait_for(lambda screen: "reading was stopped" in screen, "what was read")
    terminal.type("q")
    # The pipeline ends when its first half does: it is let go now.
    terminal.wait_for(lambda screen: "reading was stopped" not in screen, "the screen gone")
    with fifo.open("w"):
        pass
    terminal.wait_for(lambda screen: "left 0" in screen, "the shell again")
