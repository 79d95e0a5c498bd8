"""A kubeconfig over real TLS servers: trust, names, client certificates, proxies, and what refuses."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import read_kubeconfig
from tests.etcd.certificates import DAY, Authority
from tests.http_server import TestServer

pytestmark = pytest.mark.anyio


class Server(TestServer):
    """Answers with who has asked; keeps what it was asked for."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.seen: list[str] = []
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class ApiServer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        peer = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        names = [value for part in (peer or {}).get("subject", ()) for _, value in part]
        self.server.seen.append(self.path)
        answer = json.dumps({"names": names, "header": self.headers.get("Authorization", "")}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


class Proxy(BaseHTTPRequestHandler):
    """An HTTP proxy: CONNECT only."""

    def do_CONNECT(self) -> None:
        assert isinstance(self.server, Server)
        self.server.seen.append(self.path)
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as onward:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=pump, args=(onward, self.connection))
            back.start()
            pump(self.connection, onward)
            back.join()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


class Refusing(Proxy):
    def do_CONNECT(self) -> None:
        self.send_error(407, "Proxy Authentication Required")


def pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side has gone


Start = Callable[..., Server]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "ca")


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Server] = []

    def begin(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Server:
        server = Server(handler, context)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        started.append(server)
        return server

    yield begin
    for server in started:
        server.shutdown()
        server.server_close()


def serving(authority: Authority, name: str = "server", **options: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue(name, **options))
    return context


def kubeconfig(folder: Path, url: str, cluster: str = "", user: str = "") -> Path:
    path = folder / "config"
    path.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        f"clusters: [{{name: c, cluster: {{server: '{url}', {cluster}}}}}]\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        f"users: [{{name: u, user: {{{user}}}}}]\n"
    )
    return path


async def version(config: Path) -> dict[str, Any]:
    client = ApiClient(read_kubeconfig([config]))
    try:
        return await client.get_json("/version")
    finally:
        await client.close()


async def test_a_token_to_a_server_with_a_ca_of_its_own(
    authority: Authority, start: Start, tmp_path: Path
) -> None:
    server = start(ApiServer, serving(authority))
    config = kubeconfig(
        tmp_path, f"https://{server.address}", f"certificate-authority: {authority.file}", "token: t0ken"
    )
    assert (await version(config))["header"] == "Bearer t0ken"


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_client_certificate_reaches_the_server(
    newest: ssl.TLSVersion, authority: Authority, start: Start, tmp_path: Path
) -> None:
    context = serving(authority)
    context.maximum_version = newest
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file)
    server = start(ApiServer, context)
    certificate, key = authority.issue("alice")
    trust = f"certificate-authority: {authority.file}"
    url = f"https://{server.address}"
    user = f"client-certificate: {certificate}, client-key: {key}"
    assert (await version(kubeconfig(tmp_path, url, trust, user)))["names"] == ["alice"]
    with pytest.raises(ClientError) as raised:
        await version(kubeconfig(tmp_path, url, trust))
    reasons = (
        ("handshake failure",) if newest is ssl.TLSVersion.TLSv1_2 else ("certificate required", "Error)")
    )
    assert any(
        reason in str(raised.value) for reason in reasons
    )  # 1.3: the server may be gone before it is read


@pytest.mark.parametrize(
    ("options", "trusted", "says"),
    [
        ({"age": 2 * DAY}, True, "certificate has expired"),
        ({}, False, "unable to get local issuer certificate"),
        ({"address": "127.0.0.9"}, True, "IP address mismatch"),
    ],
    ids=["expired", "unknown CA", "another name"],
)
async def test_a_certificate_that_is_refused_is_named(
    options: dict[str, Any], trusted: bool, says: str, authority: Authority, start: Start, tmp_path: Path
) -> None:
    server = start(ApiServer, serving(authority, **options))
    trust = f"certificate-authority: {authority.file}" if trusted else ""
    with pytest.raises(ClientError) as raised:
        await version(kubeconfig(tmp_path, f"https://{server.address}", trust))
    assert says in str(raised.value) and f"https://{server.address}" in str(raised.value)


async def test_the_server_name_of_a_kubeconfig_is_the_one_verified(
    authority: Authority, start: Start, tmp_path: Path
) -> None:
    names: list[str | None] = []
    context = serving(authority, address="127.0.0.9")  # reached by another address: only the name fits
    context.sni_callback = lambda connection, name, _: names.append(name)
    server = start(ApiServer, context)
    cluster = f"certificate-authority: {authority.file}, tls-server-name: etcd.test"
    await version(kubeconfig(tmp_path, f"https://{server.address}", cluster))
    assert names == ["etcd.test"]


@pytest.mark.parametrize("where", ["kubeconfig", "environment"])
async def test_a_proxy_carries_the_connection(
    where: str, authority: Authority, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, proxy = start(ApiServer, serving(authority)), start(Proxy)
    cluster = f"certificate-authority: {authority.file}"
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    if where == "kubeconfig":
        cluster += f", proxy-url: 'http://{proxy.address}'"
    else:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
        monkeypatch.setenv("https_proxy", f"http://{proxy.address}")
    await version(kubeconfig(tmp_path, f"https://{server.address}", cluster))
    assert proxy.seen == [server.address] and server.seen == ["/version"]


async def test_a_proxy_that_refuses_is_named(authority: Authority, start: Start, tmp_path: Path) -> None:
    server, proxy = start(ApiServer, serving(authority)), start(Refusing)
    cluster = f"certificate-authority: {authority.file}, proxy-url: 'http://{proxy.address}'"
    with pytest.raises(ClientError, match=r"the proxy to https://.* refuses: 407"):
        await version(kubeconfig(tmp_path, f"https://{server.address}", cluster))
    assert server.seen == []


async def test_plain_http_as_kubectl_proxy_serves_it(start: Start, tmp_path: Path) -> None:
    server = start(ApiServer)
    await version(kubeconfig(tmp_path, f"http://{server.address}"))
    assert server.seen == ["/version"]
