"""Foreign text never controls the terminal: hostile strings in every field, read back from a real terminal.

Every text field of every telemetry event and of every document of `/ktui/v1` (by the struct definitions,
so new fields are covered) holds control sequences; the dashboard shows them on all of its screens.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest

from ktui.contract.cache_documents import ConsistencyCheck, EventPage, ObjectPage
from ktui.contract.etcd_documents import Churn, KeyDetail, KeyPage, PrefixPage, SurveyPage
from tests.e2e.conftest import Home
from tests.e2e.hostile import (
    EVENTS,
    SEEN,
    controls_in,
    documents,
    hostile_recording,
    hostile_server,
    mark_of,
    text_fields,
)
from tests.e2e.terminal import Terminal, eventually

pytestmark = pytest.mark.terminal

# Keys, and what is then on the screen: a word, or the mark of a document.
STEPS_OF_A_RECORDING = (
    (("2",), "ktui › Requests"),
    (("t",), "Requests › most expensive"),
    (("Escape",), "ktui › Requests"),
    (("3",), "watch caches"),
    (("4",), "a recording has decisions"),
    (("5",), "resourceVersionMatch"),
    (("6",), "ktui › Watches"),
    (("8",), "ktui › Versions"),
    (("1",), "ktui › Overview"),
    (("?",), "everywhere"),
    (("Escape",), "no reads answered yet"),
    (("i", "2"), "ktui › Requests"),
    (("o",), "open related"),
    (("Escape",), "RBAC: allowed by"),  # behind the dialog
    (("i", "1"), "ktui › Overview"),
)
STEPS = (
    (("3",), "watch caches"),
    (("Enter",), mark_of(ObjectPage)),
    ((), mark_of(EventPage)),
    (("4",), mark_of(PrefixPage)),
    ((), mark_of(KeyPage)),
    ((), mark_of(KeyDetail)),
    (("Right", "Enter", "v"), '"kind": '),
    (("p",), "revisions · all 2"),  # of KeyHistory
    (("5",), "resourceVersionMatch"),
    (("f",), "14 reads in 7 RPCs"),  # of RequestFinished
    (("=",), mark_of(ConsistencyCheck)),
    (("Escape",), "results · 1"),
    (("7",), "faults "),
    (("f",), "inject a fault"),
    (("s",), "fault: slow 10s"),  # of ActiveFaults
    (("1", "v"), "LISTs that anyone could send"),
    (("x",), mark_of(SurveyPage)),
    (("t", "t"), "not watched yet"),
    (("x",), mark_of(Churn)),  # by resource
    (("t",), "hottest keys · stopped"),
    ((), mark_of(Churn)),  # by key
    (("5", "V"), "gates"),
)


def test_every_event_has_a_text_field_to_poison() -> None:
    assert {"server", "request_started", "cache", "prefix", "watcher_opened"} <= EVENTS.keys()
    assert "etcd_prefix" in text_fields(EVENTS["server"])


def test_no_field_of_a_recording_reaches_the_terminal_as_a_control(terminal: Terminal, home: Home) -> None:
    recording, raw = hostile_recording(home.path / "hostile.ndjson"), home.path / "raw"
    command = f"{sys.executable} -m ktui --replay {recording} --speed 1000"
    terminal.run(command, home.environment, raw)
    go(terminal, STEPS_OF_A_RECORDING)
    leave(terminal)
    assert controls_in(raw.read_bytes()) == []


def test_no_field_of_a_document_reaches_the_terminal_as_a_control(terminal: Terminal, home: Home) -> None:
    raw = home.path / "raw"
    with hostile_server() as server:
        command = f"{sys.executable} -m ktui --attach {server.url}"
        terminal.run(command, home.environment, raw)
        go(terminal, STEPS)
        terminal.type("Enter")
        assert eventually(lambda: "Rules" in server.asked)
        leave(terminal)
        names = {document.__name__ for document in documents()}
        assert server.asked == names - {"ServerInfo"}  # which comes with the telemetry
    assert controls_in(raw.read_bytes()) == []


def go(terminal: Terminal, steps: Iterable[tuple[tuple[str, ...], str]]) -> None:
    """Press the keys of each step, and wait for its word, once the hostile text is on the Overview."""
    terminal.wait_for(lambda screen: SEEN in screen, "the Overview")
    for keys, word in steps:
        if keys:
            terminal.type(*keys)
        terminal.wait_for(lambda screen, word=word: word in screen, f"{word} after {keys}")


def leave(terminal: Terminal) -> None:
    terminal.type("q")
    terminal.wait_for(lambda screen: "ready$" in screen, "the shell's prompt")
