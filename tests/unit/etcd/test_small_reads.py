"""Reads of single keys: one answer is understood, and everything else sends the caller to gRPC."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.etcd import small_reads
from ktui.etcd.client_config import parse_endpoint
from ktui.etcd.small_reads import NotAnsweredError, SmallReads
from tests.unit.virtual_time import run

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
# As etcd 3.5.1 and 3.6 send them, and one with a TLS certificate.
HEAD = bytes.fromhex("880f108b1d75d0620d263d4c4d6564")
TRAILERS = bytes.fromhex("00889acac8b21234da8f013000899acac8b5254207317f00")
OVER_TLS = bytes.fromhex("00889acac8b21234da8f0130")
REFUSED = HEAD + bytes.fromhex("00889acac8b21234da8f023131")


def frame(kind: int, flags: int, number: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + number.to_bytes(4) + payload


def answer(number: int, message: bytes, trailers: bytes = TRAILERS) -> bytes:
    body = b"\0" + len(message).to_bytes(4) + message
    pieces = [body[at : at + 16384] for at in range(0, len(body), 16384)]
    sent = b"".join(frame(DATA, 0, number, piece) for piece in pieces)
    return frame(HEADERS, 4, number, HEAD) + sent + frame(HEADERS, 5, number, trailers)


class Wire(asyncio.Transport):
    """The client's end of a connection: what was written, and whether it was dropped."""

    def __init__(self, protocol: SmallReads) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.dropped = False
        self._protocol = protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.dropped

    def abort(self) -> None:
        if not self.dropped:
            self.dropped = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    def wrote(self, kind: int) -> int:
        """How many of the frames written alone are of this kind."""
        return sum(len(data) >= 9 and data[3] == kind for data in self.written)


class Connected:
    """A connection whose server has sent its SETTINGS."""

    def __init__(self, settings: bytes = b"") -> None:
        self.reads = SmallReads(parse_endpoint("http://127.0.0.1:2379"), ssl.SSLContext)
        self.wire = Wire(self.reads)
        self.reads.connection_made(self.wire)
        self.reads.data_received(frame(SETTINGS, 0, 0, settings))

    def ask(self, body: bytes = b"key") -> asyncio.Task[bytes]:
        return asyncio.ensure_future(self.reads.read(body, ()))

    async def asked(self, count: int = 1) -> list[asyncio.Task[bytes]]:
        tasks = [self.ask() for _ in range(count)]
        await asyncio.sleep(0)
        return tasks


def over(work: Callable[[Connected], Awaitable[None]], settings: bytes = b"") -> None:
    async def connected() -> None:
        await work(Connected(settings))

    run(connected())


@pytest.mark.parametrize("trailers", [TRAILERS, OVER_TLS, b"\x20" + TRAILERS])
@pytest.mark.parametrize("cut", [1, 7, 9, 10_000, 1 << 20])
def test_answers_arrive_in_any_order_and_in_any_pieces(cut: int, trailers: bytes) -> None:
    async def work(to: Connected) -> None:
        first, second = await to.asked(2)
        sent = answer(3, b"b" * 40_000, trailers) + answer(1, b"a", trailers)
        for at in range(0, len(sent), cut):
            to.reads.data_received(sent[at : at + cut])
        assert (await first, await second) == (b"a", b"b" * 40_000)
        assert not to.reads.in_use and not to.wire.dropped

    over(work)


@pytest.mark.parametrize(
    ("sent", "dropped"),
    [
        (frame(HEADERS, 5, 1, REFUSED), False),
        (frame(RST_STREAM, 0, 1, b"\0\0\0\2"), False),
        (frame(GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\0"), True),
        (answer(1, b"a", b"\x40" + TRAILERS[1:]), True),  # a server that encodes otherwise
        (frame(HEADERS, 4, 1, HEAD) + frame(DATA, 1, 1, b"\0\0\0\0\1a"), True),  # without trailers
        (frame(DATA, 8, 1, b"\1\0\0\0\0\1a\0"), True),  # padded
        (frame(HEADERS, 1, 1, TRAILERS), True),  # to be continued
        (frame(CONTINUATION, 4, 1, TRAILERS), True),
        (b"\0\x40\1" + bytes(6), True),  # larger than it may be
        (frame(DATA, 0, 1, b"\1\0\0\0\1a") + frame(HEADERS, 5, 1, TRAILERS), False),  # compressed
        (frame(DATA, 0, 1, b"\0\0\0\0\2a") + frame(HEADERS, 5, 1, TRAILERS), False),  # cut short
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True),
    ],
)
def test_anything_else_sends_the_reader_to_grpc(sent: bytes, dropped: bool) -> None:
    async def work(to: Connected) -> None:
        (task,) = await to.asked()
        to.reads.data_received(sent)
        with pytest.raises(NotAnsweredError):
            await task
        assert to.wire.dropped is dropped and not to.reads.in_use

    over(work)


@given(st.binary(max_size=300), st.integers(0, 12), st.integers(0, 255), st.integers(0, 4))
def test_no_bytes_do_harm(payload: bytes, kind: int, flags: int, number: int) -> None:
    async def work(to: Connected) -> None:
        (task,) = await to.asked()
        to.reads.data_received(frame(kind, flags, number, payload))
        to.reads.data_received(payload)
        to.reads.close()
        assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], NotAnsweredError | bytes)

    over(work)


def test_goaway_lets_earlier_reads_end_and_takes_no_more() -> None:
    async def work(to: Connected) -> None:
        first, second = await to.asked(2)
        to.reads.data_received(frame(GOAWAY, 0, 0, b"\0\0\0\1\0\0\0\0"))
        with pytest.raises(NotAnsweredError):
            await second
        with pytest.raises(NotAnsweredError):
            await to.ask()
        to.reads.data_received(answer(1, b"a"))
        assert await first == b"a"

    over(work)


def test_a_reader_that_leaves_cancels_its_stream() -> None:
    async def work(to: Connected) -> None:
        first, second = await to.asked(2)
        first.cancel()
        await asyncio.wait((first,))
        assert frame(RST_STREAM, 0, 1, b"\0\0\0\x08") in to.wire.written
        to.reads.data_received(answer(1, b"late") + answer(3, b"b"))
        assert await second == b"b"

    over(work)


def test_limits_of_the_server_are_kept() -> None:
    async def work(to: Connected) -> None:
        tasks = await to.asked(2)
        with pytest.raises(NotAnsweredError):
            await to.ask()  # two streams at once
        to.reads.data_received(answer(1, b"a") + answer(3, b"a"))
        await asyncio.gather(*tasks)
        with pytest.raises(NotAnsweredError):
            await to.ask(b"k" * 16_384)  # more than a frame
        sent = 2
        while to.wire.written:
            task = to.ask(b"k" * 16_000)
            await asyncio.sleep(0)
            if task.done():
                break
            sent += 1
            to.reads.data_received(answer(2 * sent - 1, b"a"))
            await task
        assert sent == 2 + 65_535 // 16_005  # the window of the connection
        assert isinstance(task.exception(), NotAnsweredError)
        to.reads.data_received(frame(WINDOW_UPDATE, 0, 0, (100_000).to_bytes(4)))
        again = to.ask(b"k" * 16_000)
        await asyncio.sleep(0)
        to.reads.data_received(answer(2 * sent + 1, b"b"))
        assert await again == b"b"

    over(work, b"\0\3\0\0\0\2")


def test_pings_and_settings_are_acknowledged_and_the_window_renewed() -> None:
    async def work(to: Connected) -> None:
        (task,) = await to.asked()
        to.reads.data_received(frame(PING, 0, 0, b"12345678") + frame(PING, 1, 0, b"87654321"))
        to.reads.data_received(answer(1, bytes(17 << 20)))
        assert len(await task) == 17 << 20
        assert to.wire.written.count(frame(PING, 1, 0, b"12345678")) == to.wire.wrote(PING) == 1
        assert frame(SETTINGS, 1, 0) in to.wire.written
        assert to.wire.wrote(WINDOW_UPDATE) == 1  # the first one is written with the preface

    over(work)


def test_a_silent_connection_is_given_up_and_a_slow_read_alone() -> None:
    async def silent(to: Connected) -> None:
        (task,) = await to.asked()
        with pytest.raises(NotAnsweredError):
            await task
        assert to.wire.dropped
        assert asyncio.get_running_loop().time() == pytest.approx(small_reads.SILENT_SECONDS, abs=0.1)

    async def slow(to: Connected) -> None:
        (task,) = await to.asked()
        while not task.done():
            await asyncio.sleep(1)
            to.reads.data_received(frame(PING, 1, 0, bytes(8)))
        assert isinstance(task.exception(), NotAnsweredError) and not to.wire.dropped
        assert frame(RST_STREAM, 0, 1, b"\0\0\0\x08") in to.wire.written
        assert asyncio.get_running_loop().time() == pytest.approx(small_reads.SLOW_SECONDS, abs=3)

    over(silent)
    over(slow)


def test_a_proxy_of_the_environment_is_left_to_grpc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")

    async def work(_: Connected) -> None:
        far = SmallReads(parse_endpoint("http://etcd.example:2379"), ssl.SSLContext)
        with pytest.raises(NotAnsweredError):
            await far.read(b"key", ())
        assert len(asyncio.all_tasks()) == 1  # nothing connects

    over(work)
