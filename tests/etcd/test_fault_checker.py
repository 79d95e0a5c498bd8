"""The fault checker itself: a schedule without faults is clean, and everything planted in it is found."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ktui.etcd.binary import packaged_binary
from ktui.etcd.injection import Proxy
from tools.faults import schedule as schedules
from tools.faults.bench import Bench
from tools.faults.records import Violations
from tools.faults.schedule import Plan, run
from tools.faults.selftest import PLANTS, clean_schedule, missed
from tools.faults.soak import Sample, growth

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is promised within 30 s may take a machine that is busy with other tests longer."""
    monkeypatch.setattr(schedules, "RECOVERY_SECONDS", 90.0)
    monkeypatch.setattr(schedules, "CATCH_UP_SECONDS", 90.0)


@pytest.mark.timeout(300)
async def test_what_is_planted_is_found(tmp_path: Path) -> None:
    etcd = packaged_binary()
    assert etcd is not None
    bench = Bench(1, "1.36", etcd.path, tmp_path, Violations())
    try:
        await bench.start()
        records = await clean_schedule(bench, 1.0)  # several, until one has something of everything
    finally:
        await bench.close()
    assert missed(records, bench.history) == []
    assert len(PLANTS) == 25 and not bench.violations.all


@pytest.mark.timeout(300)
async def test_a_schedule_with_faults_recovers(tmp_path: Path) -> None:
    etcd = packaged_binary()
    assert etcd is not None
    outcome = await run(Plan(7, 1, "1.36", 4.0), etcd.path, tmp_path)
    assert not outcome.harness and outcome.faults and outcome.recovered is not None
    assert outcome.violations.all == []
    assert outcome.verified["writes"] and outcome.verified["events"] and outcome.verified["lists"]


def test_growth_is_told() -> None:
    flat = [Sample(200.0 + n % 3, 60) for n in range(20)]
    assert growth(flat) == [] and growth(flat[:7]) == []
    assert growth([Sample(200.0 + 10 * n, 60 + 5 * n) for n in range(20)]) == [
        "memory grew from 270 to 370 MB",
        "open descriptors grew from 105 to 135",
    ]


async def test_connections_that_die_silently_stay_dead_and_new_ones_work() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(100):
            writer.write(piece)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = Proxy(0, server.sockets[0].getsockname()[1])
    await proxy.start()
    assert proxy._server is not None
    port = proxy._server.sockets[0].getsockname()[1]
    old_reader, old = await asyncio.open_connection("127.0.0.1", port)
    old.write(b"a")
    assert await old_reader.read(1) == b"a"
    proxy.kill_silently()
    old.write(b"b")
    silent = asyncio.create_task(old_reader.read(1))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(20):  # the old one would have had its turn as well
        writer.write(b"c")
        assert await reader.read(1) == b"c"
    assert not silent.done()
    proxy.cut()
    assert await asyncio.gather(silent, return_exceptions=True)
    writer.close()
    await proxy.close()
    server.close()
