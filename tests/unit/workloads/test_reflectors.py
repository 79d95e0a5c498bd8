"""What reflectors send after each way in which a LIST or a WATCH ends, and how long they wait before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest

from ktui.client.api import ApiClient
from ktui.workloads.behaviours import client_reflector
from ktui.workloads.behaviours.client_reflector import (
    InformerReflector,
    LoadReflector,
    ObjectInformer,
    ReflectorBackoff,
)
from ktui.workloads.catalog.informers import WORKLOAD
from ktui.workloads.running import fleet
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import Fleet
from ktui.workloads.running.knobs import Knobs
from ktui.workloads.running.workload import Cluster, LoadContext
from tests.unit.client.rude import Answer, rude_server, whole

pytestmark = pytest.mark.anyio
PODS = "/api/v1/pods"
LIST = whole(b'{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}')
EVENT = b'{"type":"%s","object":{"kind":"%s","metadata":{"name":"a","resourceVersion":"%s"},"code":%d}}\n'
ADDED, BOOKMARK = EVENT % (b"ADDED", b"Pod", b"9", 0), EVENT % (b"BOOKMARK", b"Pod", b"12", 0)
GONE, BUSY = EVENT % (b"ERROR", b"Status", b"", 410), EVENT % (b"ERROR", b"Status", b"", 429)
REFUSED, LATER = whole(b"", status="429 Too Many Requests"), "Retry-After: 7"
LATER_REFUSED = whole(b"", LATER, status="429 Too Many Requests")
BROKEN = whole(b"{}", status="500 Internal Server Error")

Behaviour = Callable[[LoadContext], Awaitable[None]]


async def of_informers(context: LoadContext) -> None:
    await InformerReflector(context, context.client("informer/v1"), PODS).run()


async def of_controllers(context: LoadContext) -> None:
    await ObjectInformer(context.client("controller/v1"), PODS, "limit=0").run()


async def of_clients(context: LoadContext) -> None:
    await LoadReflector(context.client("kubelet/v1"), PODS).run()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is waited for: no time passes."""
    waited: list[float] = []
    sleep = asyncio.sleep

    async def at_once(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    clock = SimpleNamespace(**{**vars(asyncio), "sleep": at_once})
    for module in (client_reflector, fleet):
        monkeypatch.setattr(module, "asyncio", clock)
    monkeypatch.setattr(
        client_reflector, "random", SimpleNamespace(Random=lambda: SimpleNamespace(random=lambda: 0.0))
    )
    return waited


async def sent(behaviour: Behaviour, *answers: bytes) -> list[str]:
    """The requests that it sends, given these answers: `LIST rv=0`, `WATCH rv=7`, and the one after them."""
    found: list[str] = []
    all_sent = asyncio.Event()

    def answer(path: str, _: str) -> Answer:
        query = dict(pair.split("=", 1) for pair in path.partition("?")[2].split("&"))
        where = "initial" if "sendInitialEvents" in query else f"limit={query.get('limit')}"
        if "resourceVersion" in query:
            where = f"rv={query['resourceVersion']}"
        found.append(f"{'WATCH' if 'watch' in query else 'LIST'} {where}")
        if len(found) > len(answers):
            all_sent.set()
        return answers[len(found) - 1] if len(found) <= len(answers) else BROKEN

    async with rude_server(answer) as connection:
        connections, cluster = Fleet(connection), Cluster(ApiClient(connection), (), ())
        context = LoadContext("informers", "r", "", Knobs(WORKLOAD.knobs), cluster, connections, Account("r"))
        task = asyncio.ensure_future(behaviour(context))
        await all_sent.wait()
        task.cancel()
        await asyncio.wait({task})
        await connections.close()
        await cluster.client.close()
    return found[: len(answers) + 1]


def test_pauses_double_up_to_half_a_minute_and_begin_again_after_a_quiet_time() -> None:
    now = 0.0
    waits = ReflectorBackoff(clock=lambda: now, jitter=lambda: 0.0)
    assert [waits.pause() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    now = 120.0
    assert waits.pause() == 30.0
    now = 240.1
    assert waits.pause() == 0.8
    assert ReflectorBackoff(clock=lambda: now, jitter=lambda: 1.0).pause() == 1.6


@pytest.mark.parametrize("behaviour", [of_informers, of_controllers, of_clients])
async def test_a_watch_refused_with_429_is_sent_again_without_a_list(
    behaviour: Behaviour, pauses: list[float]
) -> None:
    found = await sent(behaviour, LIST, REFUSED, REFUSED, REFUSED)
    assert found == ["LIST rv=0", *["WATCH rv=7"] * 4]
    assert pauses[:3] == [0.8, 1.6, 3.2]


@pytest.mark.parametrize("behaviour", [of_informers, of_controllers, of_clients])
async def test_retry_after_is_waited_for(behaviour: Behaviour, pauses: list[float]) -> None:
    assert await sent(behaviour, LIST, *[LATER_REFUSED] * 10) == ["LIST rv=0", *["WATCH rv=7"] * 11]
    assert pauses[:3] == [7, 7, 7]


async def test_after_ten_refusals_the_reflector_waits_too(pauses: list[float]) -> None:
    assert (await sent(of_informers, LIST, *[LATER_REFUSED] * 11))[-1] == "WATCH rv=7"
    assert pauses[:11] == [7] * 10 + [0.8]


@pytest.mark.parametrize(
    ("ending", "then"),
    [
        (whole(ADDED), "WATCH rv=9"),  # the server's time is over
        (whole(BOOKMARK), "WATCH rv=12"),
        (whole(ADDED)[:-1], "WATCH rv=7"),  # broken within the event
        (whole(ADDED + BUSY), "WATCH rv=9"),
        (whole(ADDED + GONE), "LIST limit=500"),
        (BROKEN, "LIST rv=7"),
    ],
)
async def test_where_an_informer_continues(ending: bytes, then: str, pauses: list[float]) -> None:
    assert await sent(of_informers, LIST, ending) == ["LIST rv=0", "WATCH rv=7", then]


@pytest.mark.parametrize(
    ("ending", "then"),
    [(whole(ADDED), "WATCH rv=9"), (whole(ADDED + GONE), "LIST rv=0"), (BROKEN, "LIST rv=0")],
)
async def test_where_a_controller_continues(ending: bytes, then: str, pauses: list[float]) -> None:
    assert await sent(of_controllers, LIST, ending) == ["LIST rv=0", "WATCH rv=7", then]


async def test_a_410_makes_informers_list_after_a_pause(pauses: list[float]) -> None:
    await sent(of_informers, LIST, whole(GONE))
    assert pauses[0] == 0.8


async def test_a_streaming_list_that_is_refused_begins_again(pauses: list[float]) -> None:
    async def streaming(context: LoadContext) -> None:
        context.knobs.set("watchlist", "yes")
        await InformerReflector(context, context.client("informer/v1"), PODS).run()

    found = await sent(streaming, REFUSED, whole(ADDED), whole(GONE))
    assert found == ["WATCH initial", "WATCH initial", "WATCH rv=9", "WATCH initial"]


async def test_a_client_that_keeps_nothing_lists_again_after_each_watch(pauses: list[float]) -> None:
    assert await sent(of_clients, LIST, whole(ADDED)) == ["LIST rv=0", "WATCH rv=7", "LIST rv=0"]


async def test_a_list_alone_is_repeated_until_it_is_answered(pauses: list[float]) -> None:
    ended = False

    async def listing(context: LoadContext) -> None:
        nonlocal ended
        await LoadReflector(context.client("kubelet/v1"), PODS, watches=False).run()
        ended = True
        await context.client("last/v1").get(f"{PODS}?limit=1")

    assert await sent(listing, BROKEN, LIST) == ["LIST rv=0", "LIST rv=0", "LIST limit=1"]
    assert ended
