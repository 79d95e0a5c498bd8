"""A Dask cluster of a real scheduler and two workers reads what one process reads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.tally import Tally
from ktui.audit.workers import ClusterError, read_on_dask
from tests.unit.audit.carriers import CARRIERS, joined, plain_log
from tests.unit.audit.test_partials import NOW, report_of

pytestmark = pytest.mark.slow


@pytest.fixture
def scheduler() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def tallies(paths: list[Path], address: str) -> tuple[Tally, Tally]:
    here, there = Tally(NOW), Tally(NOW)
    with open_logs([str(path) for path in paths]) as logs:
        read_logs(logs, here, lambda name, taken: None)
        read_on_dask(address, logs, there, lambda name, taken: None)
    return here, there


@pytest.mark.filterwarnings("default")  # Dask's own
def test_two_workers_read_what_one_process_reads(scheduler: str, tmp_path: Path) -> None:
    lines = plain_log(200)
    paths = [tmp_path / f"{number}.log" for number in range(4)]
    for number, path in enumerate(paths):
        part = lines[number * 60 : number * 60 + 90]
        path.write_bytes(CARRIERS["gzip"](part) if number % 2 else joined(part))
    here, there = tallies(paths, scheduler)
    assert report_of(there) == report_of(here)
    assert report_of(there).lines.duplicates > 0


@pytest.mark.filterwarnings("default")
def test_no_scheduler_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("ktui.audit.workers._ANSWERS", "200ms")
    path = tmp_path / "a.log"
    path.write_bytes(joined(plain_log(5)))
    with pytest.raises(ClusterError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        tallies([path], "tcp://127.0.0.1:9")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install .*\[dask\]"):
        read_on_dask("tcp://127.0.0.1:9", [], Tally(NOW), lambda name, taken: None)
