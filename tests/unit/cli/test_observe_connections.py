"""`ktui observe` by every way to a server, and over what goes wrong on it; one TLS server for all."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.main import main
from ktui.client import exec_plugin
from tests.etcd.certificates import DAY, Authority
from tests.unit.live.bad_pages import FORBIDDEN, UNUSABLE, odd
from tests.unit.live.recorded import LAST, Answer, Recorded, metrics, serving

pytestmark = pytest.mark.slow

V1 = "client.authentication.k8s.io/v1"
KUBECTL = shutil.which("kubectl")


class TlsServer:
    """Recorded pages over TLS; its certificate names `etcd.test`, not its address."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.recorded = Recorded(moment=LAST)
        self.named = self.context("named", address="10.9.9.9")

    def context(self, name: str, **more: Any) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.authority.issue(name, **more))
        context.load_verify_locations(self.authority.file)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    server = TlsServer(tmp_path_factory.mktemp("tls"))
    with serving(server.recorded, server.named):
        yield server


@pytest.fixture
def observe(tls: TlsServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs it with a user and more of the cluster; gives status, the document, and standard error."""

    def run(user: dict[str, Any], *, url: str = "", **cluster: Any) -> tuple[int, dict[str, Any], str]:
        named = {
            "server": url or tls.recorded.url, "certificate-authority": str(tls.authority.file),
            "tls-server-name": "etcd.test", **cluster,
        }  # fmt: skip
        document = {
            "current-context": "recorded",
            "clusters": [{"name": "c", "cluster": {key: value for key, value in named.items() if value}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "recorded", "context": {"cluster": "c", "user": "u"}}],
        }
        path = tmp_path / "config"
        path.write_text(json.dumps(document))
        status = main(["observe", "--kubeconfig", str(path), "--for", "10ms", "--json"])
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else {}, err

    return run


def reached(found: tuple[int, dict[str, Any], str]) -> bool:
    status, document, _ = found
    return status == 0 and document["replicas"]["reached"] == 2


def test_a_token_file(observe: Any, tls: TlsServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("admin\n")
    assert reached(observe({"tokenFile": "token"}))
    assert tls.recorded.headers[-1]["Authorization"] == "Bearer admin"


def test_a_client_certificate(observe: Any, tls: TlsServer) -> None:
    certificate, key = tls.authority.issue("jane")
    assert reached(observe({"client-certificate": str(certificate), "client-key": str(key)}))
    assert tls.recorded.certificates[-1]


def test_a_program_for_credentials(observe: Any, tls: TlsServer) -> None:
    answer = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "from-a-program"}})
    plugin = {"command": sys.executable, "args": ["-c", f"print({answer!r})"], "apiVersion": V1}
    found = observe({"exec": plugin})
    assert reached(found)
    assert tls.recorded.headers[-1]["Authorization"] == "Bearer from-a-program"
    assert f"by running '{sys.executable} -c print(" in found[2]  # announced


def test_a_program_that_hangs(observe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "SECONDS", 0.3)
    status, _, err = observe({"exec": {"command": "sleep", "args": ["300"], "apiVersion": V1}})
    assert status == 3
    assert "gets its credentials from the program 'sleep', which gave none within 0 s" in err


def test_tls_server_name(observe: Any) -> None:
    status, _, err = observe({"token": "admin"}, **{"tls-server-name": ""})
    assert status == 3
    assert "is not trusted: IP address mismatch" in err
    assert reached(observe({"token": "admin"}))


def test_an_expired_certificate(observe: Any, tls: TlsServer) -> None:
    with serving(Recorded(), tls.context("old", age=3 * DAY)) as expired:
        status, _, err = observe({"token": "admin"}, url=expired.url)
    assert status == 3
    assert f"the certificate of {expired.url} is not trusted: certificate has expired" in err


def test_a_proxy(observe: Any) -> None:
    with connect_proxy() as (address, asked):
        assert reached(observe({"token": "admin"}, **{"proxy-url": f"http://{address}"}))
        assert asked and all(line.startswith("CONNECT 127.0.0.1:") for line in asked)
    status, _, err = observe({"token": "admin"}, **{"proxy-url": f"http://{address}"})
    assert (status, "no server answers" in err) == (3, True)  # the proxy is gone


@pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl on PATH")
def test_kubectl_proxy(observe: Any, tls: TlsServer, tmp_path: Path) -> None:
    observe({"token": "admin"})  # writes the kubeconfig
    words = [str(KUBECTL), "proxy", "--port=0", f"--kubeconfig={tmp_path / 'config'}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        try:
            address = proxy.stdout.readline().rpartition(" ")[2].strip()
            tls_names = {"certificate-authority": "", "tls-server-name": ""}
            status, document, _ = observe({}, url=f"http://{address}", **tls_names)
            assert (status, document["resources"]["pods"]["objects"]) == (0, 5_379)
            assert document["replicas"]["reached"] >= 1  # it shares its connections to the server
        finally:
            proxy.terminate()


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_page_that_cannot_be_used(name: str, observe: Any, tls: TlsServer) -> None:
    answer, says = UNUSABLE[name]
    with answering(tls, answer):
        status, _, err = observe({"token": "admin"})
    assert status == 3
    assert says in err
    assert len(err.strip().splitlines()) == 1


def test_a_page_that_is_forbidden(observe: Any, tls: TlsServer) -> None:
    with answering(tls, FORBIDDEN):
        status, _, err = observe({"token": "admin"})
    assert status == 3
    assert "get on /metrics" in err and "ktui rbac" in err, err


def test_odd_lines_leave_the_rest_as_it_is(observe: Any, tls: TlsServer) -> None:
    with answering(tls, (200, "text/plain", odd(metrics(0, LAST)))):
        status, document, _ = observe({"token": "admin"})
    assert status == 0
    assert document["resources"]["pods"]["objects"] == 5_379
    names = [name for name in document["resources"] if "ird" in name]
    assert len(names) == 1
    assert not any(len(name) > 1_000 for name in document["resources"])


@contextmanager
def answering(tls: TlsServer, answer: Answer) -> Iterator[None]:
    tls.recorded.override = lambda _, path: answer if path == "/metrics" else None
    try:
        yield
    finally:
        tls.recorded.override = lambda _, path: None


@contextmanager
def connect_proxy() -> Iterator[tuple[str, list[str]]]:
    """An HTTP proxy that only tunnels; its address, and the first line of each request."""
    asked: list[str] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)

    def tunnel(client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        asked.append(head.split(b"\r\n")[0].decode())
        host, _, port = asked[-1].split()[1].partition(":")
        with closing(socket.create_connection((host, int(port)))) as server, client:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=tunnel, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)
