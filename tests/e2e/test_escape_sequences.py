"""Foreign text never controls the terminal: hostile strings in every field, read back from a real terminal.

Every text field of every telemetry event (by the struct definitions, so new fields are covered)
holds control sequences; the dashboard replays them through all of its screens.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ktui.contract.events import AnyEvent
from tests.e2e.terminal import HANGS

pytestmark = pytest.mark.terminal

DEMO = Path(__file__).parents[1] / "tui" / "data" / "demo.ndjson"
SEEN = "PWNED"  # plain letters of the hostile text: proof that it reached the screen
HOSTILE = (
    f"{SEEN}\x1b]52;c;{SEEN}\x07\x1b]8;;http://evil.example\x1b\\\x1b[31337m\x1b[2J\x1bP{SEEN}\x1b\\"
    "\x9b31337m\x9d0;title\x9c\u202e\u2066\u200b\u200d\x7f\x00\x08\r\n"
)
FORBIDDEN = {
    "OSC 52 (clipboard)": b"\x1b]52",
    "OSC 8 (link)": b"\x1b]8;;http",
    "CSI of the text": b"\x1b[31337m",
    "OSC of the text (title)": b"\x1b]0;title",
    "DCS": b"\x1bP" + SEEN.encode(),
    "C1 CSI": "\x9b".encode(),
    "C1 OSC": "\x9d".encode(),
    "right-to-left override": "\u202e".encode(),
    "isolate": "\u2066".encode(),
    "zero width space": "\u200b".encode(),
    "zero width joiner": "\u200d".encode(),
    "DEL": b"\x7f",
    "NUL": b"\x00",
}
# What routes an event through the reducer: kept in half of the events, hostile in the others.
CONTROLS = {"state", "route", "verb", "change", "op", "reason_id", "etcd_kind", "progress", "wait"}
KEYS = ("2", "t", "escape", "3", "4", "5", "6", "8", "1", "question_mark", "escape", "i", "o", "escape")


def text_fields(event: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(event) if field.type is str]


EVENTS = {event.__struct_config__.tag: event for event in typing.get_args(AnyEvent)}


def poisoned(value: Any) -> Any:
    """`value` with hostile text in every text in it."""
    if isinstance(value, str):
        return value[:8] + HOSTILE + value[8:]
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value


def hostile_recording(path: Path) -> Path:
    """The demo's recording, hostile in every text field of every event, those it leaves out included."""
    lines = []
    for number, line in enumerate(DEMO.read_text(encoding="utf-8").splitlines()):
        event = json.loads(line)
        kept = {"type"} | (CONTROLS if number % 2 or event["type"] == "cache" else set())
        for name in text_fields(EVENTS[event["type"]]):
            event.setdefault(name, "")
        lines.append(json.dumps({name: v if name in kept else poisoned(v) for name, v in event.items()}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def bytes_of(command: list[str], home: Path) -> bytes:
    """All that a program writes to a terminal of 120×40 while the KEYS are pressed, until it has left."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    own = {
        "XDG_CONFIG_HOME": str(home),
        "XDG_STATE_HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("TEXTUAL", "KTUI"))
    }
    program = subprocess.Popen(
        [sys.executable, "-m", "ktui", *command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**inherited, **own},
    )
    os.close(slave)
    got = b""
    try:
        got += quiet(master, until=SEEN.encode())
        names = {"escape": b"\x1b", "question_mark": b"?"}
        for key in KEYS:
            os.write(master, names.get(key, key.encode()))
            got += quiet(master)
        os.write(master, b"q")
        got += quiet(master)
    finally:
        program.send_signal(signal.SIGTERM)
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
        os.close(master)
    return got


def quiet(master: int, until: bytes = b"") -> bytes:
    """What comes until `until` was among it and nothing follows for a moment; what a key paints later
    is read after the next one."""
    got, deadline = b"", time.monotonic() + HANGS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.4)
        if ready:
            try:
                got += os.read(master, 65536)
            except OSError:  # the program has left
                return got
        elif until in got:
            return got
    return got


def test_every_event_has_a_text_field_to_poison() -> None:
    assert {"server", "request_started", "cache", "prefix", "watcher_opened"} <= EVENTS.keys()
    assert "etcd_prefix" in text_fields(EVENTS["server"])


def test_no_field_of_a_recording_reaches_the_terminal_as_a_control(tmp_path: Path) -> None:
    recording = hostile_recording(tmp_path / "hostile.ndjson")
    got = bytes_of(["--replay", str(recording), "--speed", "1000"], tmp_path)
    assert SEEN.encode() in got, got[-3000:]
    found = [name for name, sequence in FORBIDDEN.items() if sequence in got]
    assert found == []
