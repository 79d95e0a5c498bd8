"""Measure the time from starting the program to its first frame, and to its first live data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from statistics import median
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from benchmarks.figures import Figure
from benchmarks.ui import bare
from benchmarks.ui.processes import on_cpu
from benchmarks.ui.program import BARE, FOOTER, KTUI
from benchmarks.ui.storm import storm
from benchmarks.ui.terminal import Terminal, plain
from benchmarks.ui.traffic import events, opening
from ktui.contract.recording import encode_lines

FIRST_FRAME = 1.6  # target: times a bare Textual app's
FIRST_DATA_MS = 2500.0
_CLOCK_TIME = re.compile(rb"\d\d:\d\d:\d\d")  # only rows of requests contain one
BARE_WAY = "a bare Textual app"
_STARTED = 1_790_000_000.0


def first_frames(environment: dict[str, str], rounds: int) -> Iterator[Figure]:
    """Yield medians of `rounds` rounds; each round starts the bare app, and ktui in each way, once."""
    with NamedTemporaryFile(suffix=".ndjson") as recording, storm(100) as server:
        recording.write(encode_lines(opening(_STARTED)))
        coming = events(_STARTED, 100)
        recording.write(encode_lines(next(coming) for _ in range(2_000)))
        recording.flush()
        ways = {
            BARE_WAY: (BARE, bare.TEXT),
            "ktui": (KTUI, FOOTER),
            "ktui --attach": ((*KTUI, "--attach", server), FOOTER),
            "ktui --replay": ((*KTUI, "--replay", recording.name), FOOTER),
        }
        took: dict[str, list[Start]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, (words, text) in ways.items():
                took[way].append(_first(words, text, environment))
    bare_starts = took.pop(BARE_WAY)
    least, fastest = _typical(bare_starts), min(bare_starts).elapsed
    yield Figure(f"first frame, {BARE_WAY}", least.elapsed, "ms", f"fastest {fastest:.0f} ms")
    yield Figure("… processor time until then", least.cpu, "ms")
    for way, starts in took.items():
        typical, ratio = _typical(starts), min(starts).elapsed / fastest
        note = f"fastest {min(starts).elapsed:.0f} ms, {ratio:.2f} times the bare app's"
        yield Figure(f"first frame, {way}", typical.elapsed, "ms", note)
        yield Figure("… times the bare app's", typical.elapsed / least.elapsed, "×", "", FIRST_FRAME)
        yield Figure("… in processor time", typical.cpu / least.cpu, "×", f"{typical.cpu:.0f} ms")


class Start(NamedTuple):
    """Milliseconds from starting a program to its first frame: elapsed, and of processor time."""

    elapsed: float
    cpu: float


def _typical(starts: Iterable[Start]) -> Start:
    """Return the medians."""
    return Start(*map(median, zip(*starts, strict=True)))


def _first(words: tuple[str, ...], text: str, environment: dict[str, str]) -> Start:
    with Terminal(words, environment) as terminal:
        seen = terminal.wait_for(text)
        return Start(seen * 1000, on_cpu(terminal.pid))


def first_data(environment: dict[str, str], rounds: int) -> Iterator[Figure]:
    """Measure, with an embedded etcd, until the first request is listed."""
    took = []
    for _ in range(rounds):
        with Terminal(KTUI, environment) as terminal:
            seen = terminal.wait_until(lambda output: bool(_CLOCK_TIME.search(plain(output))), "a request")
            took.append(seen * 1000)
    spread = f"{min(took):.0f}–{max(took):.0f}"
    yield Figure("first live data, embedded etcd", median(took), "ms", spread, FIRST_DATA_MS)
