"""Logs that grow: files through rotations, and an apiserver's webhook; what changes is named."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ktui.audit import growing_logs as module
from ktui.audit.build import Wish
from ktui.audit.comparison import FIRST, Trends
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.growing_logs import LiveTally, audit_activity, follow, listening
from ktui.audit.reading.record_framing import Block
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.cli.main import main
from ktui.contract.events.live import ResourceAsked
from tests.etcd.certificates import Authority
from tests.unit.audit.carriers import batches, compact, event_list, joined, plain_log
from tests.unit.audit.logs import audit_event, copies
from tests.unit.audit.test_report import listed
from tests.unit.ports import silent_port

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 20, tzinfo=UTC)


class Watched(LiveTally):
    """Signals each block that was fed."""

    def __init__(self) -> None:
        super().__init__(Tally(NOW))
        self.changed = threading.Condition()

    def feed(self, block: Block) -> None:
        super().feed(block)
        with self.changed:
            self.changed.notify_all()

    def wait_for(self, lines: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.tally.lines >= lines, timeout=60)

    def report(self) -> Report:
        with self.lock:
            return Wish("1.30").report(self.tally)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(module, "_LOOK", 0.01)
    return Watched()


@pytest.fixture
def following(watched: Watched) -> Iterator[Callable[[Path], None]]:
    threads: list[threading.Thread] = []

    def start(path: Path) -> None:
        threads.append(threading.Thread(target=follow, args=(str(path), watched)))
        threads[-1].start()

    yield start
    watched.ended.set()
    for thread in threads:
        thread.join()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_that_are_written_later_are_counted(
    watched: Watched, following: Callable[[Path], None], tmp_path: Path
) -> None:
    path, lines = tmp_path / "audit.log", plain_log(30)
    path.write_bytes(joined(lines[:10]))
    following(path)
    watched.wait_for(10)
    assert watched.caught_up.wait(60)
    half = len(lines[10]) // 2
    append(path, lines[10][:half])
    append(path, lines[10][half:] + b"\n" + joined(lines[11:]))
    watched.wait_for(len(lines))
    assert watched.report().lines.audit == 30


@pytest.mark.parametrize("how", ["renamed", "cut"])
def test_a_rotated_file_is_followed(
    how: str, watched: Watched, following: Callable[[Path], None], tmp_path: Path
) -> None:
    path, lines = tmp_path / "audit.log", plain_log(60)
    path.write_bytes(joined(lines[:40]))
    following(path)
    watched.wait_for(40)
    if how == "renamed":
        path.rename(tmp_path / "audit-1.log")
        append(tmp_path / "audit-1.log", joined(lines[40:50]))
        watched.wait_for(50)
        path.write_bytes(joined(lines[50:]))
    else:
        os.truncate(path, 0)
        append(path, joined(lines[40:60]))  # less than what was there before
        watched.wait_for(60)
        append(path, joined(lines[60:]))
    watched.wait_for(len(lines))
    assert watched.report().lines.audit == 60


def test_a_line_cut_by_a_rotation_is_not_joined_with_the_next_file(
    following: Callable[[Path], None], watched: Watched, tmp_path: Path
) -> None:
    path = tmp_path / "audit.log"
    event = audit_event(listed("/api/v1/pods"))
    append(path, event + b"\n" + event[:200])
    following(path)
    assert watched.caught_up.wait(60)
    path.rename(tmp_path / "audit-1.log")
    append(path, event.replace(b'"auditID":"', b'"auditID":"7') + b"\n")
    watched.wait_for(3)
    report = watched.report()
    assert (report.lines.audit, report.lines.malformed) == (2, 1)


def test_a_fifo_is_not_followed(watched: Watched, tmp_path: Path) -> None:
    """Neither at first nor after a rotation: opening one waits for a writer."""
    path = tmp_path / "audit.log"
    path.write_bytes(b"x\n")
    file = module._GrowingFile(str(path), watched)
    assert file.read1() == b"x\n"
    path.rename(tmp_path / "old.log")
    os.mkfifo(path)
    assert [file._reopened() for _ in range(3)] == [False] * 3
    file.close()
    with pytest.raises(OSError, match="it is a FIFO, not a log"):
        follow(str(path), watched)


def post(url: str, body: bytes, path: str = "") -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.request("POST", path or parts.path, body)
    status = connection.getresponse().status
    connection.close()
    return status


def test_an_apiserver_sends_its_events(watched: Watched) -> None:
    lines = plain_log(60)
    with listening(("127.0.0.1", 0), "s3cret", watched) as url:
        assert post(url, compact(event_list(lines[:50]))) == 200
        assert post(url, json.dumps(event_list(lines[50:]), indent=1).encode()) == 200
        assert post(url, compact(event_list(lines)), "/other") == 404
        assert post(url, b"{not json") == 200
    report = watched.report()
    assert (report.lines.audit, report.lines.malformed) == (60, 1)
    assert report.carriers == {"EventList": len(lines)}


def test_an_apiserver_sends_batches_over_tls(tmp_path: Path) -> None:
    """As kube-apiserver's webhook backend in batch mode: one connection, POSTs of EventLists, a timeout."""
    authority, lines = Authority(tmp_path / "ca"), plain_log(900)
    cert, key = authority.issue("webhook")
    command = [sys.executable, "-m", "ktui", "audit", "--listen", "127.0.0.1:0", "--listen-secret", "s3cret",
               "--tls-cert", str(cert), "--tls-key", str(key), "--json"]  # fmt: skip
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trust.load_verify_locations(authority.file)
    headers = {"Content-Type": "application/json", "Accept": "application/json, */*",
               "User-Agent": "kube-apiserver/v1.36.0"}  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        url = urlsplit(process.stderr.readline().split()[-1].decode())
        assert (url.scheme, url.hostname, url.path) == ("https", "127.0.0.1", "/s3cret")
        port = url.port
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"POST /s3cret HTTP/1.1\r\n\r\n")  # no TLS: no other client is harmed
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=trust)
            for part in batches(lines, 400):
                connection.request("POST", "/s3cret?timeout=30s", compact(event_list(part)), headers)
                response = connection.getresponse()
                assert (response.status, response.read()) == (200, b"")
            connection.request("POST", "/guessed", b"{}", headers)
            assert connection.getresponse().status == 404
        with pytest.raises(ssl.SSLCertVerificationError):
            http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context()).connect()
        process.terminate()
        report = json.loads(process.stdout.read().splitlines()[-1])
    assert process.returncode == 0
    assert (report["lines"]["audit"], report["lines"]["malformed"]) == (900, 0)
    assert report["carriers"] == {"EventList": len(lines)}


def test_an_address_that_is_taken_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with silent_port() as port:
        assert main(["audit", "--listen", f"127.0.0.1:{port}", "--json"]) == 2
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in capsys.readouterr().err


def test_a_body_that_is_too_large_is_refused(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BODY", 10)
    with listening(("127.0.0.1", 0), "s", watched) as url:
        assert post(url, b"x" * 11) == 413
    assert watched.tally.lines == 0


def test_trends_name_new_offenders() -> None:
    tally, trends = Tally(NOW), Trends()
    tally.open_file("a")

    def lines(now: float) -> list[str]:
        report = Wish("1.30").report(tally)
        return trends.lines(report, now)

    tally.feed(copies(audit_event(listed()), 60))
    assert "following" in lines(0)[0]
    tally.feed(copies(audit_event(listed(id="first")), 120)[60:])
    lines(FIRST)
    tally.feed(copies(audit_event(listed("/api/v1/nodes", agent="storm/1")), 300))
    first, offender = lines(FIRST + 60)
    assert "5.0/s LISTs" in first and "30/min" in first
    assert offender == "storm/1 (alice) LIST nodes: 5.0/s (new)"


# Who asks for what, by a log that grows.

READ = LoggedRequest(
    "list", "/api/v1/pods?limit=500", "inventory/2.0", "system:serviceaccount:ops:inventory",
    1_787_000_060_000_000, 240_000, 200,
)  # fmt: skip


@pytest.mark.slow
async def test_a_log_is_counted_as_it_grows(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    lines = list(islice(copies(audit_event(READ), 12), 12))
    log.write_bytes(b"\n".join(lines[:7]) + b"\n")
    found: list[ResourceAsked] = []
    async with aclosing(audit_activity(str(log))) as batches:
        async for batch in batches:
            found += [event for event in batch if isinstance(event, ResourceAsked)]
            if found[-1].requests == 7:
                with log.open("ab") as file:
                    file.write(b"\n".join(lines[7:]) + b"\n")
            if found[-1].requests == 12:
                break
    assert (found[-1].resource, found[-1].lists) == ("pods", 12)
    assert [(item.client, item.requests) for item in found[-1].clients] == [
        ("inventory/2.0 ops/inventory", 12)
    ]


async def test_a_log_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"gone\.log"):
        async for _ in audit_activity(str(tmp_path / "gone.log")):
            pass
