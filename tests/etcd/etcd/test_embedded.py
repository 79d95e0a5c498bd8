"""The embedded etcd: quick to start, clear when it cannot, gone when ktui is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.etcd import binary as binaries
from ktui.etcd import embedded
from ktui.etcd.binary import find_binary, packaged_binary
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import EmbeddedEtcdError
from ktui.etcd.temporary_etcd import PREFIX, sweep
from ktui.etcd.warden import KILL, PAUSE, START
from ktui.telemetry.bus import Bus
from tests.etcd.ports import reserved_ports

pytestmark = pytest.mark.anyio

# Starts an embedded etcd, tells its pids and directory, then does as it is told by its first argument.
PROGRAM = """
import asyncio, os, pathlib, signal, sys, threading, uvloop
from ktui.etcd.embedded import EmbeddedEtcd

async def main():
    if sys.argv[1] == "wait":
        # With a handler for any signal asyncio's loop is woken up by all of them. Without one it sleeps
        # on for ever when a signal comes just before it falls asleep.
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, id)
    etcd = await EmbeddedEtcd.start()
    children = pathlib.Path(f"/proc/{etcd.pid}/task/{etcd.pid}/children").read_text().split()
    if sys.argv[1] == "fork" and os.fork() == 0:
        signal.pause()  # a child that holds all our descriptors open
    print(etcd.pid, children[0], etcd.data_dir.parent, flush=True)
    if sys.argv[1] == "raise":
        raise RuntimeError("ktui has a fault")
    await asyncio.Event().wait()

if sys.argv[1] == "thread":
    threading.Thread(target=asyncio.run, args=(main(),), daemon=True).start()
    signal.pause()
else:
    (uvloop.run if sys.argv[1] == "uvloop" else asyncio.run)(main())
"""


def _mind_all_signals() -> None:
    """Undo what the parent of the tests may have set: `nohup` ignores SIGHUP, a shell's `&` SIGINT."""
    for one in (signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


@contextlib.contextmanager
def running_program(how: str, said: Path) -> Iterator[tuple[subprocess.Popen[str], int, int, Path]]:
    """The program, its warden's and its etcd's pid and its directory; its standard error goes to `said`."""
    with said.open("w") as stderr:
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, how],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
            preexec_fn=_mind_all_signals,
        )
    with program:
        try:
            assert program.stdout is not None
            told = program.stdout.readline().split()
            assert len(told) == 3, said.read_text()
            yield program, int(told[0]), int(told[1]), Path(told[2])
        finally:
            with contextlib.suppress(ProcessLookupError):  # it, and the child that it may have forked
                os.killpg(program.pid, signal.SIGKILL)


def await_end(*pids: int) -> None:
    """Wait until the processes are gone (60 s at most, then fail)."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([descriptor], [], [], 60)[0], f"process {pid} is still there"
        os.close(descriptor)


FULL_DISK = '{"level":"fatal","msg":"cannot write","error":"write /x: no space left on device"}'

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and uses pidfd")


@linux
@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("wait", signal.SIGKILL),
        ("wait", signal.SIGTERM),
        ("wait", signal.SIGINT),
        ("wait", signal.SIGHUP),
        ("uvloop", signal.SIGKILL),
        ("thread", signal.SIGKILL),
        ("fork", signal.SIGKILL),
        ("raise", None),
    ],
)
def test_etcd_does_not_outlive_its_parent(how: str, end: signal.Signals | None, tmp_path: Path) -> None:
    with running_program(how, tmp_path / "said") as (program, warden, etcd, directory):
        if end is not None:
            program.send_signal(end)
        program.wait(60)
        await_end(warden, etcd)
        assert not directory.exists()


@linux
def test_killing_everything_at_once_leaves_only_rubbish_that_the_next_start_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Elsewhere, another start of an etcd would remove it first.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with running_program("wait", tmp_path / "said") as (program, warden, etcd, directory):
        os.kill(warden, signal.SIGKILL)
        os.kill(program.pid, signal.SIGKILL)
        program.wait(60)
        # The warden too: etcd may end before it, of a line that it logs without a reader, and then the warden
        # still holds the lock.
        await_end(warden, etcd)
        assert directory in sweep() and not directory.exists()


async def test_ready_at_once_and_stopped_without_a_trace(bus: Bus) -> None:
    etcd = await EmbeddedEtcd.start()
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)
    assert client.version == etcd.binary.version and etcd.endpoint.startswith("http://127.0.0.1:")
    directory = etcd.data_dir.parent
    assert directory.name.startswith(PREFIX) and directory not in sweep()
    await client.close()
    await etcd.stop()
    await etcd.stop()
    assert not directory.exists() and not etcd.failed.done()


@linux
async def test_an_order_is_carried_out_when_it_returns() -> None:
    etcd = await EmbeddedEtcd.start()
    children = Path(f"/proc/{etcd.pid}/task/{etcd.pid}/children")
    threads = Path(f"/proc/{children.read_text().strip()}/task")
    await etcd.order(PAUSE)
    stats = [(thread / "stat").read_text() for thread in threads.iterdir()]
    assert {stat.rpartition(")")[2].split()[0] for stat in stats} == {"T"}
    await etcd.order(KILL)
    assert not threads.exists() and not children.read_text()
    await etcd.order(START)
    assert children.read_text()
    await etcd.stop()
    with pytest.raises(EmbeddedEtcdError, match="does not run"):
        await etcd.order(PAUSE)


async def test_a_data_directory_keeps_its_data_and_is_locked(tmp_path: Path, bus: Bus) -> None:
    for expected in (0, 1):
        etcd = await EmbeddedEtcd.start(data_dir=tmp_path / "data")
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), bus)
        assert (await client.range(b"/k")).count == expected
        await client.create(b"/k", b"v")
        with pytest.raises(EmbeddedEtcdError, match="in use by another etcd"):
            await EmbeddedEtcd.start(data_dir=tmp_path / "data")
        await client.close()
        await etcd.stop()


async def test_a_port_in_use_is_said(bus: Bus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedEtcdError, match=f"port {port} is in use"):
            await EmbeddedEtcd.start(port=port)


async def test_the_port_asked_for_is_used() -> None:
    with reserved_ports(1) as (port,):
        etcd = await EmbeddedEtcd.start(port=port)
        assert etcd.endpoint == f"http://127.0.0.1:{port}"
        await etcd.stop()


async def test_an_etcd_whose_disk_is_full_is_started_again_when_there_is_space(
    tmp_path: Path, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real etcd, killed with a line about the disk while the file `full` exists."""
    monkeypatch.setattr(embedded, "SPACE_SECONDS", 0.01)
    full, binary, started = tmp_path / "full", tmp_path / "etcd", asyncio.Queue[str]()
    end = f"echo '{FULL_DISK}' >&2; exit 1"
    run = f'{(await find_binary(None)).path} "$@" & trap "kill $!" TERM'
    wait = f"while [ -d /proc/$! ]; do if [ -e {full} ]; then kill -9 $!; {end}; fi; sleep 0.02; done"
    binary.write_text(f"#!/bin/sh\nif [ -e {full} ]; then {end}; fi\n{run}\n{wait}\n")
    binary.chmod(0o755)
    etcd = await EmbeddedEtcd.start(data_dir=tmp_path / "data", binary=binary)
    etcd.on_problem = started.put_nowait
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), bus)
    await client.create(b"/k", b"v")
    async with asyncio.timeout(60):
        full.touch()
        assert "no space is left on the disk" in await started.get()
        assert "started again when there is space" in etcd.problem
        full.unlink()
        assert "etcd runs again" in await started.get()
        assert not etcd.problem and not etcd.failed.done()
        await client.close()
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)
        assert (await client.range(b"/k")).count == 1
    await client.close()
    await etcd.stop()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        ("#!/bin/sh\necho 'no libc here' >&2\nexit 1\n", "no libc here"),
        ("not a program at all", "cannot start|does not start"),
        (f"#!/bin/sh\necho '{FULL_DISK}' >&2\nexit 1\n", "no space is left on the disk"),
    ],
)
async def test_a_binary_that_does_not_start_is_quoted(tmp_path: Path, content: str | None, says: str) -> None:
    binary = tmp_path / "etcd"
    if content is not None:
        binary.write_text(content)
        binary.chmod(0o755)
    with pytest.raises(EmbeddedEtcdError, match=says):
        await EmbeddedEtcd.start(binary=binary)


async def test_a_file_that_may_not_be_run(tmp_path: Path) -> None:
    (tmp_path / "etcd").write_text("")
    with pytest.raises(EmbeddedEtcdError, match="not executable"):
        await EmbeddedEtcd.start(binary=tmp_path / "etcd")


async def test_a_flag_that_a_later_etcd_has_dropped_is_left_out(tmp_path: Path) -> None:
    packaged = packaged_binary()
    assert packaged is not None
    binary = tmp_path / "etcd"
    binary.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--snapshot-count*)\n'
        '  echo "flag provided but not defined: -snapshot-count" >&2; exit 2;; esac\n'
        f'exec {packaged.path} "$@"\n'
    )
    binary.chmod(0o755)
    etcd = await EmbeddedEtcd.start(binary=binary)
    await etcd.stop()


async def test_a_newer_etcd_on_path_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_VERSION_TIMEOUT", 60.0)
    for version, chosen in (("99.0.0", True), ("3.4.0", False)):
        (tmp_path / "etcd").write_text(f"#!/bin/sh\necho 'etcd Version: {version}'\n")
        (tmp_path / "etcd").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        found = await find_binary()
        assert (found.path == tmp_path / "etcd") is chosen


async def test_word_of_the_end_that_comes_late_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that stalls just then: the warden has ended when its time is up."""
    etcd = await EmbeddedEtcd.start()
    monkeypatch.setattr(embedded, "STOP_TIMEOUT", 0.0)
    assert etcd._process is not None

    def kill() -> None:
        raise ProcessLookupError

    monkeypatch.setattr(etcd._process, "kill", kill)
    await etcd.stop()
    assert not etcd.data_dir.parent.exists()


@linux
async def test_an_etcd_that_ends_by_itself_is_reported() -> None:
    etcd = await EmbeddedEtcd.start()
    children = Path(f"/proc/{etcd.pid}/task/{etcd.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    async with asyncio.timeout(60):
        error = await etcd.failed
    assert str(error).startswith("etcd was killed by SIGKILL; unless a person did that")
    await etcd.stop()
