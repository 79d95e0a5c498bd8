"""Measure the time from starting the program to its first frame, its panels, and its first live data.

The first frame has header, banner and footer; the Overview's panels follow with the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from statistics import median
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from benchmarks.figures import Figure
from benchmarks.ui import bare
from benchmarks.ui.processes import children, on_cpu, reading
from benchmarks.ui.program import BARE, FOOTER, KTUI
from benchmarks.ui.storm import storm
from benchmarks.ui.terminal import Terminal, plain
from benchmarks.ui.traffic import events, opening
from ktui.contract.recording import encode_lines

FIRST_FRAME = 1.4  # target: times a bare Textual app's
LIVE_MS, RANKED_MS = 3_000.0, 5_000.0  # targets
# Texts of the Overview that only live data have.
LIVE = {
    "keys": re.compile(rb"pods +[\d.]+k? +~?[\d.]+"),
    "caches": re.compile(rb"pods +\d+ +[\d.]+k?"),
    "a request": re.compile(rb"\d\d:\d\d:\d\d"),
}
PANELS = "watch caches"  # a title of the Overview
RANKED = re.compile(rb"%  +[\d.,]+ [kMG]?B .*\xe2\x86\x92 \w")  # a share, bytes, and advice after an arrow
_WAIT_SECONDS = 120.0  # on a busy machine
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
                took[way].append(_first(words, (text, text if way == BARE_WAY else PANELS), environment))
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
        yield Figure("… its panels", typical.panels, "ms", f"{typical.panels_cpu:.0f} ms of processor time")


class Start(NamedTuple):
    """Milliseconds from starting a program to its first frame and to its panels: elapsed, processor time."""

    elapsed: float
    cpu: float
    panels: float
    panels_cpu: float


def _typical(starts: Iterable[Start]) -> Start:
    """Return the medians."""
    return Start(*map(median, zip(*starts, strict=True)))


def _first(words: tuple[str, ...], texts: Iterable[str], environment: dict[str, str]) -> Start:
    with Terminal(words, environment) as terminal:
        return Start(*(figure for text in texts for figure in _until(text, terminal)))


def _until(text: str, terminal: Terminal) -> tuple[float, float]:
    return terminal.wait_for(text) * 1000, on_cpu(terminal.pid)


def first_data(environment: dict[str, str], rounds: int) -> Iterator[Figure]:
    """Measure, with an embedded etcd and the demo, until live data and until ranked reads are shown."""
    took: dict[str, list[float]] = {name: [] for name in (*LIVE, "ranked")}
    cpu: list[float] = []
    for _ in range(rounds):
        with Terminal(KTUI, environment) as terminal:
            for name, at in _appearing({**LIVE, "ranked": RANKED}, terminal):
                took[name].append(at * 1000)
            cpu.append(_cpu_seconds(terminal.pid))
    live = [max(times) for times in zip(*(took[name] for name in LIVE), strict=True)]
    each = ", ".join(f"{name} {median(took[name]):.0f}" for name in LIVE)
    yield Figure("live keys, caches and requests", median(live), "ms", each, LIVE_MS)
    spread = f"{min(took['ranked']):.0f}–{max(took['ranked']):.0f}"
    yield Figure("ranked reads with advice", median(took["ranked"]), "ms", spread, RANKED_MS)
    yield Figure("… processor time until then", median(cpu) * 1000, "ms", "dashboard, server, etcd, clients")


def _appearing(wanted: dict[str, re.Pattern[bytes]], terminal: Terminal) -> Iterator[tuple[str, float]]:
    """Yield each text, and the seconds since the start, once it has been painted."""
    left = dict(wanted)

    def any_seen(output: bytes) -> bool:
        text = plain(output)
        return any(pattern.search(text) for pattern in left.values())

    while left:
        at = terminal.wait_until(any_seen, " or ".join(left), _WAIT_SECONDS)
        text = plain(terminal.output)
        for name in [name for name, pattern in left.items() if pattern.search(text)]:
            del left[name]
            yield name, at


def _cpu_seconds(pid: int) -> float:
    """Return the processor time so far of a process and of its descendants."""
    return reading(pid).cpu + sum(_cpu_seconds(child) for child in children(pid))
