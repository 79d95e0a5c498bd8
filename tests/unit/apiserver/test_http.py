"""Requests, bodies, compression, certificates."""

from __future__ import annotations

import asyncio
import gzip
import random
import shutil
import socket
import stat
from pathlib import Path

import pytest
from cryptography import x509

from ktui.apiserver.http import tls
from ktui.apiserver.http.listener import HttpServer, PortInUse, claim_port, split_listen
from ktui.apiserver.http.loopback import host_of_header
from ktui.apiserver.http.request import BodyIncomplete, BodyTooLarge
from ktui.apiserver.http.response import MOST_AT_ONCE, PIECE_BYTES, THRESHOLD_BYTES, Body, accepts_gzip
from tests.unit.apiserver.asgi import Exchange


def test_the_client_is_the_first_word_of_its_user_agent() -> None:
    assert Exchange(headers={"User-Agent": "kubectl/v1.32.1 (linux/amd64)"}).request.client == "kubectl"
    assert Exchange().request.client == "unknown"


def test_a_user_agent_is_utf_8() -> None:
    sent = "Größe/1 \x9b31m".encode() + b" \xff"
    request = Exchange(headers=[("user-agent", sent)]).request
    assert request.user_agent == "Größe/1 \x9b31m \ufffd"


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ([("host", "localhost:1"), ("authorization", "Bearer a")], ""),
        ([], ""),
        ([("host", "")], ""),
        ([("host", "[::1]:6443")], ""),
        ([("host", "a"), ("host", "a")], "too many Host headers"),
        ([("authorization", "Bearer a"), ("authorization", "Bearer b")], "too many Authorization headers"),
        ([("host", "localhost#evil.com")], "malformed Host header"),
        ([("host", "evil.com@127.0.0.1")], "malformed Host header"),
        ([("host", "localhost/x")], "malformed Host header"),
        ([("host", "localhost evil.com")], "malformed Host header"),
        ([("host", "localhost\x80")], "malformed Host header"),
    ],
)
def test_what_two_readers_would_read_differently_is_refused(
    headers: list[tuple[str, str]], fault: str
) -> None:
    assert Exchange(headers=headers).request.head_fault() == fault


def test_the_first_of_several_headers_counts() -> None:
    request = Exchange(headers=[("impersonate-user", "a"), ("impersonate-user", "b")]).request
    assert request.headers["impersonate-user"] == "a"


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("LOCALHOST:8080", "localhost"),
        ("[::1]:6443", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost:", "localhost"),
        ("localhost#evil.com", ""),
        ("evil.com@127.0.0.1", ""),
        ("localhost:1:2", ""),
        ("localhost/", ""),
        ("localhost\n", ""),
        ("", ""),
    ],
)
def test_the_host_of_a_host_header(header: str, host: str) -> None:
    assert host_of_header(header) == host


def test_a_body_comes_in_pieces() -> None:
    assert asyncio.run(Exchange().body(b"ab", b"cd").request.body()) == b"abcd"


def test_a_body_over_the_limit_is_refused_before_its_end() -> None:
    exchange = Exchange().body(b"abc", b"def", b"ghi")
    with pytest.raises(BodyTooLarge):
        asyncio.run(exchange.request.body(limit=5))


def test_a_client_that_leaves_is_noticed() -> None:
    exchange = Exchange()
    exchange.hang_up()
    with pytest.raises(BodyIncomplete):
        asyncio.run(exchange.request.body())


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("deflate, gzip , br", True),
        ("deflate, gzip;q=0.5", False),
        ("br", False),
        ("", False),
    ],
)
def test_accept_encoding(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


async def write(exchange: Exchange, *pieces: bytes, packed: bool) -> None:
    body = Body(exchange.response, "application/json", packed)
    for piece in pieces:
        await body.write(piece)
    await body.end()


def test_small_answers_go_out_plain() -> None:
    exchange = Exchange()
    asyncio.run(write(exchange, b"ab", b"cd", packed=True))
    assert exchange.answer.body == b"abcd"
    assert "content-encoding" not in exchange.answer.headers
    assert exchange.answer.headers["content-length"] == "4"


@pytest.mark.parametrize("sizes", [[100_000] * 5, [THRESHOLD_BYTES + 1], [10, MOST_AT_ONCE + 1, 10, 100_000]])
def test_big_answers_are_packed_on_the_way(sizes: list[int]) -> None:
    exchange = Exchange()
    pieces = [b"x" * size for size in sizes]
    asyncio.run(write(exchange, *pieces, packed=True))
    assert exchange.answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(exchange.answer.body) == b"".join(pieces)
    assert exchange.response.sent_bytes < THRESHOLD_BYTES


def test_packed_bytes_are_sent_before_the_end() -> None:
    exchange = Exchange()
    noise = random.Random(1).randbytes(10 * PIECE_BYTES)
    asyncio.run(
        write(exchange, *(noise[at : at + 50_000] for at in range(0, len(noise), 50_000)), packed=True)
    )
    assert gzip.decompress(exchange.answer.body) == noise
    assert max(map(len, exchange.answer.pieces)) < 3 * PIECE_BYTES


def test_who_takes_no_gzip_gets_each_piece_at_once() -> None:
    exchange = Exchange()
    asyncio.run(write(exchange, b"ab", b"cd", packed=False))
    assert exchange.answer.pieces == [b"ab", b"cd"]


def test_a_taken_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=f"127.0.0.1:{port}"):
            claim_port("127.0.0.1", port)


def test_a_port_stays_claimed_until_the_server_listens() -> None:
    with claim_port("127.0.0.1", 0) as claim:
        address = claim.getsockname()
        with pytest.raises(PortInUse):
            claim_port(*address)
        with pytest.raises(OSError, match="in use"):
            socket.create_server(address)
        with socket.create_server(address, reuse_port=True) as ours:  # as granian does
            for _ in range(20):
                with socket.create_connection(address), ours.accept()[0]:
                    pass


@pytest.mark.parametrize(
    ("text", "parts"),
    [("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:0", ("::1", 0)), ("a.b:443", ("a.b", 443))],
)
def test_listen_addresses(text: str, parts: tuple[str, int]) -> None:
    assert split_listen(text) == parts


@pytest.mark.parametrize("text", ["", "80", ":80", "host", "host:http", "host:70000"])
def test_bad_listen_addresses(text: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT"):
        split_listen(text)


def test_the_certificate_is_private_kept_and_covers_the_host(tmp_path: Path) -> None:
    home = tmp_path / "tls"
    files = tls.ensure_certificate(home, "ktui.example")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE(files.key.stat().st_mode) == 0o600
    before = files.cert.read_bytes()
    names = x509.load_pem_x509_certificate(before).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == ["ktui.example", "localhost"]
    assert [str(ip) for ip in names.value.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert tls.ensure_certificate(home, "ktui.example").cert.read_bytes() == before
    assert tls.ensure_certificate(home, "10.1.2.3").cert.read_bytes() != before


def test_a_certificate_that_ends_or_is_damaged_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tls.ensure_certificate(tmp_path / "tls", "localhost")
    before = files.cert.read_bytes()
    later = tls._now() + tls.LIFETIME - tls.RENEW_BEFORE
    monkeypatch.setattr(tls, "_now", lambda: later)
    renewed = tls.ensure_certificate(tmp_path / "tls", "localhost").cert.read_bytes()
    assert renewed != before
    files.key.write_bytes(b"damaged")
    assert tls.ensure_certificate(tmp_path / "tls", "localhost").cert.read_bytes() != renewed


def test_a_server_that_comes_back_is_lent_the_certificate_its_clients_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    first = tls.lend_certificate(kept, tmp_path / "1", "127.0.0.1")
    trusted = first.cert.read_bytes()
    shutil.rmtree(tmp_path / "1")
    again = tls.lend_certificate(kept, tmp_path / "2", "127.0.0.1")
    assert again.cert.read_bytes() == trusted
    assert stat.S_IMODE(again.key.stat().st_mode) == stat.S_IMODE((kept / "tls.key").stat().st_mode) == 0o600
    later = tls._now() + tls.LIFETIME - tls.RENEW_BEFORE
    monkeypatch.setattr(tls, "_now", lambda: later)
    assert tls.lend_certificate(kept, tmp_path / "3", "127.0.0.1").cert.read_bytes() != trusted
    assert again.cert.read_bytes() == trusted, "who serves keeps its own"


def test_a_service_that_cannot_start_says_why() -> None:
    class Service:
        async def start(self) -> None:
            raise RuntimeError("no etcd")

        async def stop(self) -> None:
            raise AssertionError

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError

    async def start() -> None:
        await HttpServer(app, "127.0.0.1:0", service=Service()).start()

    with pytest.raises(RuntimeError, match="no etcd"):
        asyncio.run(start())


@pytest.mark.parametrize(
    ("query", "agent", "pretty"),
    [
        ("pretty=true", "", True),
        ("pretty=T", "", True),
        ("pretty=yes", "curl/8", False),  # no boolean of Go's
        ("pretty=", "curl/8", True),
        ("", "curl/8", True),
        ("", "kubectl/v1.36", False),
    ],
)
def test_who_gets_indented_answers(query: str, agent: str, pretty: bool) -> None:
    assert Exchange(query=query, headers={"User-Agent": agent}).request.wants_pretty is pretty


def test_a_head_has_no_body() -> None:
    exchange = Exchange(method="HEAD")

    async def answer() -> None:
        await exchange.response.start(200, "text/plain")
        await exchange.response.write(b"a")
        await exchange.response.end(b"b")

    asyncio.run(answer())
    assert (exchange.answer.status, exchange.answer.body, exchange.answer.ended) == (200, b"", True)
