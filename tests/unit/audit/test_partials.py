"""What several processes have read, added up, is what one has read."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import zlib
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.audit import partial_tally, workers
from ktui.audit.build import Wish
from ktui.audit.partial_tally import PartialError
from ktui.audit.reading.files import Stopped, open_logs
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.audit.workers import read_all
from tests.unit.audit import carriers
from tests.unit.audit.carriers import CARRIERS, joined
from tests.unit.audit.logs import traffic

NOW = datetime(2026, 11, 20, tzinfo=UTC)
LINES = list(islice(traffic(5, malformed=0.02), 1_200))
ROOT = Path(__file__).parents[3]


def report_of(tally: Tally) -> Report:
    return Wish("1.30").report(tally, 1000)


def passed_on(tally: Tally) -> partial_tally.PartialTally:
    return partial_tally.read(partial_tally.written(tally))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1_200), st.integers(0, 400)), min_size=1, max_size=5), st.data())
def test_parts_add_up_to_the_whole(spans: list[tuple[int, int]], data: st.DataObject) -> None:
    """Files that may overlap, each read by itself or together with others."""
    files = [LINES[start : start + size] for start, size in spans]
    whole = Tally(NOW)
    for number, lines in enumerate(files):
        whole.open_file(f"file-{number}")
        whole.feed(lines)
    merged, current = Tally(NOW), Tally(NOW)
    for number, lines in enumerate(files):
        current.open_file(f"file-{number}")
        current.feed(lines)
        if data.draw(st.booleans()):
            partial_tally.add(merged, passed_on(current))
            current = Tally(NOW)
    partial_tally.add(merged, passed_on(current))
    assert report_of(merged) == report_of(whole)


def test_a_partial_of_partials_is_one_too() -> None:
    tallies = []
    for number in range(3):
        tally = Tally(NOW)
        tally.open_file(f"{number}")
        tally.feed(LINES[number * 400 : number * 400 + 500])
        tallies.append(tally)
    flat, first, nested = Tally(NOW), Tally(NOW), Tally(NOW)
    for tally in tallies:
        partial_tally.add(flat, passed_on(tally))
    for tally in tallies[:2]:
        partial_tally.add(first, passed_on(tally))
    for tally in (first, tallies[2]):
        partial_tally.add(nested, passed_on(tally))
    assert report_of(nested) == report_of(flat)


def test_folded_groups_and_lost_requests_are_added_too() -> None:
    tally = Tally(NOW, most_groups=8, most_requests=100)
    tally.open_file("a")
    tally.feed(LINES)
    merged = Tally(NOW, most_groups=8, most_requests=150)
    for _ in range(2):
        partial_tally.add(merged, passed_on(tally))
    once, twice = report_of(tally), report_of(merged)
    assert twice.others.groups_folded == once.others.groups_folded > 0  # the same groups
    assert merged.journal.lost == 2 * tally.journal.lost + 50 > 0
    assert twice.lines.total == 2 * once.lines.total


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_partial_is_refused_or_read(seed: int) -> None:
    tally = Tally(NOW)
    tally.open_file("a")
    tally.feed(LINES[:200])
    content = bytearray(zlib.decompress(partial_tally.written(tally)[len(partial_tally.HEADER) :]))
    chance = random.Random(seed)
    for _ in range(3):
        content[chance.randrange(len(content))] = chance.randrange(256)
    try:
        part = partial_tally.read(partial_tally.HEADER + zlib.compress(content))
    except PartialError as error:
        assert str(error)
        return
    merged = Tally(NOW)
    partial_tally.add(merged, part)
    report_of(merged)


@pytest.mark.parametrize(
    "data", [b"", b"{}", partial_tally.HEADER, partial_tally.HEADER + zlib.compress(b"x"), b"x" * 99]
)
def test_what_is_no_partial(data: bytes) -> None:
    with pytest.raises(PartialError):
        partial_tally.read(data)


# Processes.


@pytest.fixture
def ranged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are divided too."""
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(workers, "_SMALLEST", 20_011)


def read_by(processes: int, *paths: Path) -> Report:
    tally, seen = Tally(NOW), list[int]()
    with open_logs([str(path) for path in paths]) as logs:
        read_all(logs, tally, lambda name, taken: seen.append(taken), processes)
        if processes > 1:
            assert seen[-1] == sum(log.size for log in logs)
    return report_of(tally)


def test_two_processes_read_what_one_reads(ranged: None, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.log", "b.log.gz", "c.json")]
    paths[0].write_bytes(joined(LINES))
    paths[1].write_bytes(CARRIERS["gzip"](carriers.plain_log(100)))
    paths[2].write_bytes(CARRIERS["filter-log-events"](carriers.plain_log(50)))
    assert read_by(2, *paths) == read_by(1, *paths)


@pytest.mark.parametrize("ended", [b"\n", b""])
@pytest.mark.parametrize("size", [1, 7, 100, 1_000])
def test_ranges_divide_a_file_at_its_lines(size: int, ended: bytes, tmp_path: Path) -> None:
    chance = random.Random(size)
    lines = [b"x" * chance.randrange(0, 30) for _ in range(40)] + [b"last"]
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(lines) + ended)
    with open_logs([str(path)]) as [log]:
        found = []
        for start in range(0, log.size, size):
            with log.open() as file:
                stream = workers._Range(file, start, min(log.size, start + size))
                while chunk := stream.read1(11):
                    found.append(chunk)
        assert b"".join(found) == path.read_bytes()


def test_stopping_keeps_what_was_read(ranged: None, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(joined(LINES * 4))
    tally = Tally(NOW)

    def stop(name: str, taken: int) -> None:
        if taken:
            raise Stopped

    with open_logs([str(path)]) as logs, pytest.raises(Stopped):
        read_all(logs, tally, stop, 2)
    assert 0 < tally.lines <= len(LINES) * 4


def test_ctrl_c_prints_what_was_read(tmp_path: Path) -> None:
    """A log that never ends, on standard input."""
    command = [sys.executable, "-m", "ktui", "audit", "-", "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        data = joined(carriers.plain_log(400))
        written = 0
        while written < 4 << 20:  # more than pipes hold: some of it was read
            written += os.write(process.stdin.fileno(), data)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert process.returncode == 130
    report = json.loads(out)
    assert any("reading was stopped" in note for note in report["notes"])
    assert report["requests"]["list"] > 0
