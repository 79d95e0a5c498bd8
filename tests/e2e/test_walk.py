"""Every screen by its keys in a real terminal, live and in the recording made meanwhile; nothing is left."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Home
from tests.e2e.terminal import Terminal, eventually, processes_of
from tests.e2e.walker import Walker

pytestmark = [pytest.mark.terminal, pytest.mark.etcd, pytest.mark.timeout(600)]

KTUI = f"{sys.executable} -m ktui"
SMALL = "--pods 20 --nodes 3 --namespaces 3"
SIZES = pytest.mark.parametrize("terminal", [(120, 40), (80, 24)], ids=["120x40", "80x24"], indirect=True)


@SIZES
def test_every_screen_by_its_keys(terminal: Terminal, home: Home) -> None:
    terminal.run(f"cd {home.path}; {KTUI} {SMALL} --log-file log; echo left $?", home.environment)
    terminal.wait_for(lambda screen: "● pods" in screen and "kubelet" in screen, "live data")
    walker = Walker(terminal)
    walker.press("R", sees="● REC")  # the file that is played at the end
    # The lines before the first notification, which would cover the filter of a small screen.
    for walk in (overview, requests, lines, table, cache, etcd, lab, watches, versions, mark, everywhere):
        walk(walker)
    walker.press("R", sees="recording ended")
    leave(terminal, home)
    (csv,) = home.path.glob("ktui-requests-*.csv")
    assert csv.read_text().startswith("route,time,client,request,")
    assert not re.search("Traceback|MarkupError| ERROR | CRITICAL ", (home.path / "log").read_text())
    (recording,) = home.path.glob("ktui-*.ndjson.gz")
    terminal.type("clear", "Enter")
    play(terminal, home, recording)


# Screens.


def overview(walker: Walker) -> None:
    walker.press("t", sees=("Requests › most expensive", "processed", "/min"))
    walker.press("Enter", sees="scanned", loses="/min")
    walker.press("Escape", sees="/min")
    walker.press("1", sees="RV progress")


def requests(walker: Walker) -> None:
    walker.press("2", sees="› most expensive")
    walker.press("t", sees="phases")
    walker.press("Enter", sees="open related")
    walker.press("Escape", loses="open related")


def cache(walker: Walker) -> None:
    walker.press("3", sees="what it does")
    walker.press("Enter", loses="what it does")
    walker.press("Escape", sees="what it does")


def etcd(walker: Walker) -> None:
    walker.press("4", sees="▸ pods/")
    walker.press("End", sees="services/ · ")
    walker.press("Right", sees="▾ services/")
    walker.press("Right", sees="etcd › services")
    walker.press("v", sees="value · json")
    walker.press("p", sees="› revisions")
    walker.press("Escape", loses="› revisions")


def lab(walker: Walker) -> None:
    walker.press("5", sees="f sends the LIST above")
    walker.press("f", sees="C→C 1 ")
    walker.press("a", sees="C→C 2 ")
    walker.press("r", sees="C→C 10 ")
    walker.press("y", sees="client-go")
    walker.press("Escape", loses="client-go")


def watches(walker: Walker) -> None:
    walker.press("6", sees="fan-out of one event")
    walker.press("o", sees="open related")
    walker.press("v", sees="1.19 to 1.38")
    walker.press("[", sees="fan-out of one event")
    walker.press("]", sees="1.19 to 1.38")
    walker.press("6", sees="fan-out of one event")
    walker.press("Enter", sees="phases")


def versions(walker: Walker) -> None:
    walker.press("8", sees="1.19 to 1.38")
    walker.press("Enter", sees="1.20 – 1.")
    walker.press("Escape", loses="1.20 – 1.")
    walker.press("V", sees="kube 1.36, its default gates")
    walker.press("Up", "Up", "Up", "Up", "Up", "Up", sees="kube 1.30, its default gates")
    walker.press("Enter", sees="kube 1.30 ")


# What every screen has.


def mark(walker: Walker) -> None:
    walker.press("m", sees="what happened at")
    walker.type("so far so good", sees="so far so good")
    walker.press("Enter", sees="marked so far so good")


def table(walker: Walker) -> None:
    walker.press("s", sees="sort by")
    walker.press("m", sees="ms▾")
    walker.press("C", sees="■ route")
    walker.press("Space", sees="□ route")
    walker.press("r", sees="■ route")
    walker.press("q", loses="■ route")
    walker.press("c", sees="to the clipboard")
    walker.press("e", sees="export to ktui-requests-")
    walker.press("Enter", sees=" rows written to", loses="export to ktui-requests-")
    walker.press("y", sees='"type":')
    walker.press("Escape", loses='"type":')


def lines(walker: Walker) -> None:
    walker.press("/", sees="? explains")
    walker.type("client~kube", sees="client~kubelet")
    walker.press("Enter", loses="client~kubelet")
    walker.press("Escape", loses=" shown, ")
    walker.press(":", sees="tab completes")
    walker.type("theme ktui-l", sees="theme ktui-light")
    walker.press("Tab", sees=":theme ktui-light")
    walker.press("Enter", loses="tab completes")
    walker.recolour("T")


def everywhere(walker: Walker) -> None:
    walker.press("?", sees="this screen")
    walker.press("?", loses="this screen")
    walker.press("C-p", sees=("Search for commands", "Go to Lab"))  # the whole list is painted
    walker.type("Go to Cache", sees="Go to Cache", loses="Go to Lab")
    walker.press("Enter", sees="what it does")
    walker.press("Space", sees="paused")
    walker.press("Space", loses="paused")


def leave(terminal: Terminal, home: Home) -> None:
    """`q` gives the terminal back as it was, and leaves no process."""
    terminal.type("q")
    terminal.wait_for(lambda screen: screen.rstrip().endswith("left 0\nready$"), "the shell's prompt again")
    assert terminal.modes() == {"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0"}
    assert eventually(lambda: processes_of(home.marker) == []), processes_of(home.marker)


# Its recording.


def play(terminal: Terminal, home: Home, recording: Path) -> None:
    terminal.type(f"{KTUI} --replay {recording.name}; echo left $?", "Enter")
    terminal.wait_for(lambda screen: "▶ ×1" in screen, "the scrub bar")
    walker = Walker(terminal)
    walker.press("Space", sees="‖ ×1")
    walker.press(">", sees="‖ ×2")
    walker.press("S-End", sees="■ end")
    walker.press("S-Home", sees="00:00 /", loses="■ end")
    walker.press("S-End", "N", sees="so far so good")
    walker.press("2", sees="phases")
    leave(terminal, home)
