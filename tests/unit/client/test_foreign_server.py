"""A server that is none of ours may answer anything: one sentence comes of it, in bounded memory."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from ktui.client import api
from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection, header_number
from ktui.client.ktui_api import KtuiApi
from ktui.client.measure import ApiRequest, send_measured
from ktui.client.target import KubeTarget, assumptions_of_ktui, assumptions_of_kube
from ktui.contract.recording import LONGEST
from tests.unit.client import rude
from tests.unit.client.rude import Answer, rude_server, whole

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MEGABYTE = 1 << 20


def short(value: object) -> str:
    return str(value)[:40]


async def refusal(answer: Answer) -> str:
    async with rude_server(lambda path, head: answer) as connection:
        client = ApiClient(connection)
        with pytest.raises(ClientError) as raised:
            await KtuiApi(client).prefixes()
        await client.close()
    said = str(raised.value)
    assert "\n" not in said and 10 < len(said) < 600
    return said.replace(connection.url, "URL")


@pytest.mark.parametrize("name", rude.BROKEN)
async def test_documents_that_are_none(name: str) -> None:
    await refusal(rude.BROKEN[name])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            rude.HTML,
            "the answer of URL to /ktui/v1/etcd/prefixes is not valid: JSON is malformed",
        ),
        (rude.DEEP, "exceeded max depth"),
        (rude.WRONG, "Expected `object`, got `array`"),
        (rude.NOT_UTF8, "JSON is not UTF-8"),
        (rude.HALF, "broke off"),
        (rude.DAMAGED, "gzip data is damaged"),
        (rude.CUT_GZIP, "gzip data is broken off"),
        (whole(b"x", "Content-Encoding: br"), "has the Content-Encoding 'br'"),
        (whole(b"x", "Content-Encoding: gzip, gzip, gzip"), "has the Content-Encoding 'gzip, gzip, gzip'"),
        (whole(b'{"revision":1,"children":[{"prefix":"/","count":-1}]}'), "`int` >= 0"),
        (
            whole(b'{"revision":1,"children":[{"prefix":"/","count":%s}]}' % (b"9" * 30)),
            "`int` <= 9223372036854775807",
        ),
        (whole(b"<html>\x1b[31mbad gateway", status="502 Bad Gateway"), "502: <html>\x1b[31mbad gateway"),
    ],
    ids=short,
)
async def test_what_is_wrong_is_said(answer: bytes, says: str) -> None:
    assert says in await refusal(answer)


@pytest.mark.parametrize(
    "body",
    [
        b'{"key":"/k","json":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"key":"/k","sizes":[{"path":"a","share":1e308}]}',
    ],
    ids=["deep", "large"],
)
async def test_what_could_break_a_screen_does_not_reach_it(body: bytes) -> None:
    async with rude_server(lambda path, head: whole(body)) as connection:
        client = ApiClient(connection)
        with pytest.raises(ClientError):
            await KtuiApi(client).key("/registry/pods/a/b")
        await client.close()


async def memory_of(answer: Answer) -> str:
    """What is said of an answer without an end; reading it takes memory for the limit alone."""
    tracemalloc.start()
    try:
        said = await refusal(answer)
        assert tracemalloc.get_traced_memory()[1] < 12 * MEGABYTE
    finally:
        tracemalloc.stop()
    return said


@pytest.fixture
def one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_BYTES", MEGABYTE)


@pytest.mark.usefixtures("one_megabyte")
async def test_an_endless_document_is_left() -> None:
    assert "answers with more than 1 MiB" in await memory_of(rude.endless(b"[", b"[]," * 10_000))


@pytest.mark.usefixtures("one_megabyte")
async def test_a_gzip_bomb_is_left() -> None:
    bomb = gzip.compress(bytes(400 * MEGABYTE), compresslevel=9)
    assert len(bomb) < MEGABYTE
    assert "answers with more than 1 MiB" in await memory_of(whole(bomb, "Content-Encoding: gzip"))


async def test_an_endless_error_is_cut() -> None:
    assert (await refusal(whole(b"y" * 5 * MEGABYTE, status="500 Oh"))).startswith("500: yyy")


async def test_gzip_in_several_members_is_whole() -> None:
    body = gzip.compress(b'{"rv":"5",') + gzip.compress(b'"total":7}')
    async with rude_server(lambda path, head: whole(body, "Content-Encoding: gzip")) as connection:
        client = ApiClient(connection)
        assert await client.get_json("/") == {"rv": "5", "total": 7}
        await client.close()


# Lists, as `ktui list`, `ktui bench` and the Lab fire them.


@pytest.mark.parametrize("name", [*rude.BROKEN, "odd headers"])
async def test_a_list_is_measured_or_refused(name: str) -> None:
    answer = rude.BROKEN.get(name, rude.ODD_HEADERS)
    async with rude_server(lambda path, head: answer) as connection:
        client = ApiClient(connection)
        pods = ApiRequest("/api/v1/pods")
        for measure in (send_measured(client, pods), KubeTarget(client).measure(pods)):
            try:
                await measure
            except ClientError as error:
                assert "\n" not in str(error)
        await client.close()


@pytest.mark.parametrize("name", rude.BROKEN)
async def test_a_state_that_no_server_reports(name: str) -> None:
    async with rude_server(lambda path, head: rude.BROKEN[name]) as connection:
        client = ApiClient(connection)
        for world in (assumptions_of_ktui(client), assumptions_of_kube(client)):
            with pytest.raises(ClientError):
                await world
        await client.close()


async def test_an_account_that_is_none() -> None:
    async with rude_server(lambda path, head: rude.DEEP) as connection:
        client = ApiClient(connection)
        assert await KtuiApi(client).finished_request(7) is None
        await client.close()


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/v1/pods\x00", rude.HTML),
        ("/api/v1/pods?continue=" + "x" * 70_000, rude.HTML),
        ("/api/v1/pods?watch=true", rude.endless(b"", b"x" * MEGABYTE)),
    ],
    ids=["null byte", "long", "endless"],
)
async def test_a_request_that_cannot_be_made_or_never_ends(path: str, answer: Answer) -> None:
    async with rude_server(lambda path, head: answer) as connection:
        client = ApiClient(connection)
        with pytest.raises(ClientError):
            await send_measured(client, ApiRequest(path))
        await client.close()


# Telemetry.


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "sends invalid telemetry: not a telemetry event: JSON is malformed"),
        (b'{"type":"progress","head":1,"new":' + b"[" * 1_000_000, "JSON nests too deeply"),
        (b'{"type":"progress","head":1,"at":1e308}', "`float` <= 253402300799.0 - at `$.at`"),
        (b'{"type":"progress","head":1,"at":-1}', "`float` >= 0.0 - at `$.at`"),
        (b'{"type":"progress","head":1,"at":NaN}', "JSON is malformed"),
        (b'{"type":"progress","head":%s}' % (b"1" * 40), "`int` <= 9223372036854775807 - at `$.head`"),
        (b'{"type":"etcd_health","ok":true,"detail":"\xff"}', "a text in it is not UTF-8"),
        (b"x" * (LONGEST + 2 * MEGABYTE), "a line is longer than any event (4 MiB)"),
    ],
    ids=short,
)
async def test_telemetry_that_is_none(body: bytes, says: str) -> None:
    async with rude_server(lambda path, head: whole(body + b"\n")) as connection:
        client = ApiClient(connection)
        with pytest.raises(ClientError) as raised:
            async for _ in client.telemetry():
                pass
        assert says in str(raised.value)
        with pytest.raises(ClientError):
            await client.present()
        await client.close()


# Credentials.


@pytest.mark.parametrize("token", ["hunter2\nX-Evil: 1", "hünter2", "hunter2\x00"])
def test_a_token_that_no_header_can_carry_is_not_shown(token: str) -> None:
    with pytest.raises(ClientError, match="has characters that no header can carry") as raised:
        ApiClient(ServerConnection("http://127.0.0.1:1", token))
    assert "nter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), (" -3 ", -3), ("", 0), ("\xb2", 0), ("9" * 5000, 0), ("1e3", 0)]
)
def test_numbers_in_headers(text: str, number: int) -> None:
    assert header_number(text) == number
