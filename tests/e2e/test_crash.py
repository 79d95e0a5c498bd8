"""A mistake of ktui's own: the terminal is given back, one message is left, nothing runs on."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal, eventually, processes_of

pytestmark = [pytest.mark.terminal, pytest.mark.etcd, pytest.mark.timeout(600)]

BROKEN = f"{sys.executable} {Path(__file__).with_name('broken.py')}"
SMALL = "--pods 40 --nodes 4 --namespaces 6"


def crashed(terminal: Terminal, home: Home, key: str, options: str = "") -> str:
    """The shell's screen after `key` has broken the program."""
    terminal.run(f"clear; {BROKEN} {SMALL} {options}; echo left $?", home.environment)
    terminal.wait_for(lambda screen: "● pods" in screen and "kubelet" in screen, "live data")
    terminal.type(key)
    screen = terminal.wait_for(lambda screen: screen.rstrip().endswith("ready$"), "the shell's prompt")
    assert terminal.modes() == {"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0"}
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
    assert "left 70" in screen
    assert not re.search("Traceback|locals|hunter2|╭", screen), screen
    return re.sub(r"\s+", "", screen)  # a long path is broken into lines


def test_a_handler_that_raises(terminal: Terminal, home: Home) -> None:
    screen = crashed(terminal, home, "?")
    assert "(abuginktui):RuntimeError:deliberately[b]broken[/b]␛[31mwith7letters" in screen
    log = home.path / "state" / "ktui" / "crash.log"
    assert f"thetracebackisin{log}" in screen
    assert "in help_that_raises" in log.read_text()
    assert "hunter2" not in log.read_text().replace('password = "hunter2"', "")


def test_a_worker_that_raises_is_reported_and_the_dashboard_goes_on(terminal: Terminal, home: Home) -> None:
    log = home.path / "log"
    terminal.run(f"clear; {BROKEN} {SMALL} --log-file {log}; echo left $?", home.environment)
    terminal.wait_for(lambda screen: "● pods" in screen and "kubelet" in screen, "live data")
    terminal.type("8")
    terminal.wait_for(lambda screen: "LookupError" in screen, "the report of the failure")
    terminal.type("q")
    assert "left 0" in interrupted(terminal, home)
    assert "in work_that_raises" in log.read_text()


def test_ctrl_c_while_a_server_starts(terminal: Terminal, home: Home) -> None:
    terminal.run(f"clear; {sys.executable} -m ktui serve --demo {SMALL}; echo left $?", home.environment)
    assert eventually(lambda: any("etcd" in line for line in processes_of(home.marker)))
    terminal.type("C-c")
    interrupted(terminal, home)


@pytest.mark.parametrize("after", ["starting", "● pods"], ids=["starting", "live"])
def test_ctrl_c_in_the_dashboard_leaves_and_says_so(terminal: Terminal, home: Home, after: str) -> None:
    hold = {"KTUI_TEST_ENDLESS_START": "1"} if after == "starting" else {}  # until it was seen
    terminal.run(f"clear; {BROKEN} {SMALL}; echo left $?", home.environment | hold)
    terminal.wait_for(lambda screen: after in screen, after)
    terminal.type("C-c")
    screen = interrupted(terminal, home)
    assert re.search(r"^ktui: ended by Ctrl-C\s*\nleft 0\s*$", screen, re.MULTILINE), screen
    assert terminal.modes() == {"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0"}


def interrupted(terminal: Terminal, home: Home) -> str:
    ended = re.compile(r"^left \d", re.MULTILINE)
    screen = terminal.wait_for(lambda screen: bool(ended.search(screen)), "the shell's prompt")
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
    assert not re.search("Traceback|crashed", screen), screen
    return screen


def test_a_hangup_while_it_starts(terminal: Terminal, home: Home) -> None:
    terminal.run(f"{BROKEN} {SMALL}", home.environment)
    assert eventually(lambda: bool(processes_of(home.marker)))
    terminal.close()
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)
