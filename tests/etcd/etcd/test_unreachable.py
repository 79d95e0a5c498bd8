"""Every way in which a connection does not come about, tried on real sockets and real etcds."""

from __future__ import annotations

import contextlib
import datetime
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ktui.etcd import endpoints
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.endpoints import GREETING
from ktui.etcd.errors import UnreachableError
from ktui.telemetry.bus import Bus
from tests.etcd.cacher.shot_etcd import ShotEtcd
from tests.etcd.certificates import Authority
from tests.etcd.conftest import connecting_within
from tests.etcd.members import cluster_of, server_flags
from tests.etcd.ports import reserved_ports

pytestmark = pytest.mark.anyio


@pytest.fixture
def patient_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """An etcd that answers at all is waited for, however slow the machine is."""
    monkeypatch.setattr(endpoints, "STEP_SECONDS", 60.0)
    monkeypatch.setattr(endpoints, "ALERT_SECONDS", 60.0)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port without a listener, now and later."""
    with reserved_ports(1) as (port,):
        yield port


@pytest.fixture
def black_hole() -> Iterator[str]:
    """A port whose backlog is full: a connection to it is never answered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}"
        for filler in fillers:
            filler.close()


class Deaf:
    """Ends every TLS greeting, with a FIN or a reset; answers HTTP/2's with `answer`."""

    def __init__(self, answer: bytes, reset: bool) -> None:
        self._answer, self._reset = answer, reset
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Deaf:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes its accept
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # gRPC goes on trying beside the probe, and may break an attempt off at any moment.
            with connection, contextlib.suppress(ConnectionError):
                self._meet(connection)

    def _meet(self, connection: socket.socket) -> None:
        plain = connection.recv(4096).startswith(GREETING[:24])
        if plain and self._answer:
            connection.sendall(self._answer)
        elif self._reset:  # closed without lingering
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def failure(config: EtcdConfig, bus: Bus) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        await EtcdClient.connect(config, bus)
    assert all(endpoint in str(caught.value) for endpoint in config.endpoints)
    return caught.value


@pytest.mark.usefixtures("patient_probe")
async def test_names_and_ports(bus: Bus, closed_port: int) -> None:
    for endpoint, step, says in (
        ("http://no-such-host.invalid:2379", "DNS", "cannot be resolved; check the name"),
        (f"http://127.0.0.1:{closed_port}", "TCP", "connection refused; is etcd running there"),
        (f"https://127.0.0.1:{closed_port}", "TCP", "connection refused; is etcd running there"),
    ):
        error = await failure(EtcdConfig((endpoint,)), bus)
        assert error.step == step and says in str(error) and f"({step})" in str(error)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no answer, and that is all that time shows."""
    monkeypatch.setattr(endpoints, "_OPTIONS", connecting_within(1_000))
    monkeypatch.setattr(endpoints, "STEP_SECONDS", 1.0)


@pytest.mark.usefixtures("impatient")
async def test_a_black_hole(bus: Bus, black_hole: str) -> None:
    error = await failure(EtcdConfig((black_hole,)), bus)
    assert error.step == "TCP" and "firewall" in str(error)


@pytest.mark.usefixtures("impatient")
async def test_an_etcd_that_is_stopped(bus: Bus) -> None:
    """The kernel connects for it; gRPC waits for its first word and calls that a failed connection."""
    etcd = await ShotEtcd.start()
    etcd.pause()
    try:
        error = await failure(EtcdConfig((etcd.endpoint,)), bus)
    finally:
        await etcd.close()
    assert error.step == "etcd" and "can be connected to and does not answer" in str(error), str(error)


@pytest.mark.usefixtures("patient_probe")
async def test_the_wrong_scheme(bus: Bus, etcd: EmbeddedEtcd, secured: str, authority: Authority) -> None:
    error = await failure(EtcdConfig((secured.replace("https", "http"),)), bus)
    assert error.step == "TLS" and "write https://" in str(error)
    error = await failure(EtcdConfig((etcd.endpoint.replace("http", "https"),), ca_file=authority.file), bus)
    assert error.step == "TLS" and "write http://" in str(error)


@pytest.mark.usefixtures("patient_probe")
@pytest.mark.parametrize(
    ("answer", "reset", "says"),
    [
        (GREETING[24:], False, "write http://"),
        (GREETING[24:], True, "write http://"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True, "write http://"),
        (b"", False, "breaks the handshake off"),
        (b"", True, "breaks the handshake off"),
    ],
)
async def test_a_handshake_broken_off(bus: Bus, answer: bytes, reset: bool, says: str) -> None:
    """A FIN and a reset are the same to us: whether plain HTTP is spoken there is asked, not guessed."""
    with Deaf(answer, reset) as deaf:
        error = await failure(EtcdConfig((f"https://127.0.0.1:{deaf.port}",)), bus)
    assert error.step == "TLS" and says in str(error), str(error)


@pytest.mark.usefixtures("patient_probe")
async def test_our_side_of_tls(bus: Bus, secured: str, authority: Authority, tmp_path: Path) -> None:
    good, stranger = authority.issue("client"), Authority(tmp_path / "stranger")
    foreign = stranger.issue("foreign")
    for config, says in (
        (EtcdConfig((secured,), True, stranger.file, *good), "another CA of the same name; check --cacert"),
        (EtcdConfig((secured,), True, None, *good), "check --cacert"),
        (EtcdConfig((secured,), True, authority.file), "wants a client certificate"),
        (EtcdConfig((secured,), True, authority.file, *foreign), "does not accept our client certificate"),
        (
            EtcdConfig((secured,), True, authority.file, *good, server_name="other.test"),
            "for another host name; use one of its names or --server-name",
        ),
        (EtcdConfig((secured,), True, authority.file, good[0], foreign[1]), "do not match"),
    ):
        error = await failure(config, bus)
        assert error.step == "TLS" and says in str(error), str(error)


@pytest.mark.usefixtures("patient_probe")
@pytest.mark.parametrize(
    ("age", "address", "says"),
    [
        (datetime.timedelta(days=3), "127.0.0.1", "has expired"),
        (datetime.timedelta(days=-3), "127.0.0.1", "is not valid yet"),
        (datetime.timedelta(hours=1), "10.0.0.9", "is for another address"),
    ],
)
async def test_the_servers_certificate(
    bus: Bus, authority: Authority, tmp_path: Path, age: datetime.timedelta, address: str, says: str
) -> None:
    flags = server_flags(authority, authority.issue("server", age=age, address=address), wants_client=False)
    async with cluster_of(1, tmp_path, scheme="https", flags=flags) as (member,):
        error = await failure(EtcdConfig((member.endpoint,), ca_file=authority.file), bus)
    assert error.step == "TLS" and says in str(error), str(error)


@pytest.mark.usefixtures("patient_probe")
async def test_a_certificate_that_signs_itself(bus: Bus, authority: Authority, tmp_path: Path) -> None:
    flags = ["--auto-tls"]
    async with cluster_of(1, tmp_path, scheme="https", flags=flags) as (member,):
        error = await failure(EtcdConfig((member.endpoint,), ca_file=authority.file), bus)
    assert error.step == "TLS" and "is self-signed" in str(error), str(error)


@pytest.mark.usefixtures("patient_probe")
async def test_each_endpoint_is_reported(bus: Bus, closed_port: int) -> None:
    endpoints = (f"http://127.0.0.1:{closed_port}", "http://no-such-host.invalid")
    error = await failure(EtcdConfig(endpoints), bus)
    assert "none of the 2 endpoints answers" in str(error)
    assert "refused" in str(error) and "resolved" in str(error)
