"""Measure the time from a key to the frame that shows its effect, during a storm of events."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from statistics import quantiles
from typing import NamedTuple

from benchmarks.figures import Figure
from benchmarks.ui.processes import on_cpu
from benchmarks.ui.program import dashboard
from benchmarks.ui.storm import storm
from benchmarks.ui.terminal import Terminal, plain
from ktui.config.places import shipped_themes
from ktui.tui.looks.themes import load_themes

EVENTS_A_SECOND = 2_000
P95_MS = 30.0
THEME = "ktui-dark"
WARM_UP_SECONDS = 8.0  # until the log of requests is full at this rate
_REQUESTS = "› Requests"  # text that only this screen shows
_UNHEARD_OF = b"zxzxzxzx"  # in no request
_MOVE = re.compile(rb"\x1b\[(\d+);(\d+)H")


def in_a_storm(
    environment: dict[str, str], presses: int, warm_up: float = WARM_UP_SECONDS
) -> Iterator[Figure]:
    """Measure the dashboard alone, with generated telemetry."""
    with (
        storm(EVENTS_A_SECOND) as server,
        dashboard(environment, "--attach", server, "--theme", THEME) as terminal,
    ):
        terminal.idle(warm_up)
        yield from measured(terminal, presses, f"{EVENTS_A_SECOND:,} events/s made up")


def measured(terminal: Terminal, presses: int, note: str) -> Iterator[Figure]:
    """Measure the cursor on the Overview, and typing a filter on Requests."""
    terminal.type("\x1b[Z\x1b[Z")  # to the prefixes, whose rows keep their order
    terminal.idle(1.0)
    yield from figures("cursor", moves(terminal, presses), note)
    yield from figures("filter", letters(terminal, presses), note)


class Answer(NamedTuple):
    """Milliseconds from a key to its frame: elapsed time, and ktui's CPU time meanwhile."""

    elapsed: float
    cpu: float


def figures(what: str, answers: list[Answer], note: str) -> Iterator[Figure]:
    elapsed, cpu = (quantiles(figures, n=20) for figures in zip(*answers, strict=True))
    yield Figure(f"key → frame, {what}, median", elapsed[9], "ms", note)
    yield Figure(f"key → frame, {what}, 95 %", elapsed[18], "ms", f"{len(answers)} keys", P95_MS)
    yield Figure("… processor time meanwhile, 95 %", cpu[18], "ms", f"median {cpu[9]:.1f} ms")


def moves(terminal: Terminal, presses: int, steps: int = 6) -> list[Answer]:
    """Move the cursor of the table `steps` times down, then up; measure until it is on another line."""
    colour = _cursor_colour()
    line = 0
    took: list[Answer] = []
    for press in range(presses):
        before = line

        def moved(output: bytes, before: int = before) -> bool:
            nonlocal line
            lines = _lines_in(output, colour)
            line = next((at for at in reversed(lines) if at != before), before)
            return line != before

        took.append(_press(terminal, "j" if press // steps % 2 == 0 else "k", moved))
    return took[1:]  # the cursor's line before the first key is unknown


def letters(terminal: Terminal, presses: int) -> list[Answer]:
    """Type letters into the filter of Requests; each filters all rows; measure until it is shown."""
    terminal.forget()
    terminal.type("2")
    terminal.wait_for(_REQUESTS)
    terminal.idle(1.0)
    took: list[Answer] = []
    while len(took) < presses:
        terminal.type("/")
        terminal.idle(1.0)
        for length in range(1, len(_UNHEARD_OF) + 1):
            took.append(_press(terminal, chr(_UNHEARD_OF[length - 1]), partial(_shows, _UNHEARD_OF[:length])))
        terminal.type("\x1b")
        terminal.idle(1.0)
    return took


def _shows(text: bytes, output: bytes) -> bool:
    return text in plain(output)


def _press(terminal: Terminal, key: str, answered: Callable[[bytes], bool]) -> Answer:
    """Press a key at a random moment, and measure until the frame that shows its effect."""
    terminal.idle(random.uniform(0.03, 0.15))
    terminal.forget()
    pressed, cpu = terminal.now(), on_cpu(terminal.pid)
    terminal.type(key)
    seen = terminal.wait_until(answered, f"an answer to {key!r}")
    return Answer((seen - pressed) * 1000, on_cpu(terminal.pid) - cpu)


def _cursor_colour() -> bytes:
    theme = load_themes(shipped_themes()).by_name[THEME]
    red, green, blue = bytes.fromhex(theme.variables["cursor"].removeprefix("#"))
    return b"48;2;%d;%d;%d" % (red, green, blue)


def _lines_in(output: bytes, colour: bytes) -> list[int]:
    """Return the screen lines that were painted with the background `colour`, in order."""
    parts = _MOVE.split(output)
    return [int(row) for row, painted in zip(parts[1::3], parts[3::3], strict=True) if colour in painted]
