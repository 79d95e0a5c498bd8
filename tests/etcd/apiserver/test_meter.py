"""What each request cost, as its account tells it: counted, not estimated."""

from __future__ import annotations

import asyncio
import json

import pytest

from ktui.contract.events import RequestFinished, WatcherState
from ktui.kube.resources import builtin
from ktui.kube.versions import behaviour_of
from ktui.storage.store import Store
from tests.etcd.apiserver.conftest import Api
from tests.etcd.apiserver.test_watches import ready, watching
from tests.etcd.apiserver.told import Told, request_id

pytestmark = pytest.mark.anyio

PATH = "/api/v1/namespaces/a/configmaps"


async def fired(api: Api, path: str, **headers: str) -> tuple[RequestFinished, bytes]:
    """A request's account, and its body."""
    told = Told(api.services.bus.subscribe())
    answer = await api.get(path, **headers)
    assert answer.status_code == 200, answer.text
    return await told.account(answer), answer.content


async def filled(api: Api, count: int = 8) -> int:
    """Create `count` objects, every fourth selected; returns the stored bytes of all."""
    await ready(api)
    for number in range(count):
        created = await api.config_map(f"m{number}", **({"pick": "me"} if number % 4 == 0 else {}))
    await api.get(f"{PATH}?limit=1")
    await api.seen(created)
    cache = api.cacher().cache
    assert cache is not None
    return cache.memory.store.bytes


async def test_a_list_from_the_cache(api: Api) -> None:
    stored = await filled(api)
    account, body = await fired(api, f"{PATH}?resourceVersion=0")
    assert (account.fetched, account.matched, account.returned) == (8, 8, 8)
    assert (account.etcd_rpcs, account.etcd_bytes, account.cached_bytes) == (0, 0, stored)
    assert account.processed_bytes == stored
    assert account.encoded_bytes == account.sent_bytes == len(body)
    assert account.amplification == pytest.approx(stored / len(body))
    assert 0 < account.decoded_bytes < stored, "one of them had been asked for before"
    assert 0 < account.cpu_ms <= account.ms * 1.5
    assert account.seat_seconds == pytest.approx(account.seats * account.ms / 1000)
    again, _ = await fired(api, f"{PATH}?resourceVersion=0")
    assert again.decoded_bytes == 0, "the second time everything is ready"


async def test_a_list_from_etcd_decodes_all_to_return_a_few(api: Api) -> None:
    stored = await filled(api)
    api.services.settings.behaviour = behaviour_of("1.30")
    account, _ = await fired(api, f"{PATH}?labelSelector=pick%3Dme")
    assert account.route == "etcd"
    assert account.matched == account.returned == 2
    assert account.etcd_keys == account.fetched >= 8
    assert account.etcd_bytes > stored
    assert account.cached_bytes == 0
    assert account.decoded_bytes > stored, "all were scanned, those that match were transcoded"
    assert account.phases["decode"] > 0 and account.phases["filter"] > 0


async def test_a_get(api: Api) -> None:
    await filled(api, 1)
    account, body = await fired(api, f"{PATH}/m0")
    assert (account.fetched, account.returned, account.etcd_rpcs) == (1, 1, 1)
    assert account.etcd_bytes > 0 and account.cached_bytes == 0
    cached, _ = await fired(api, f"{PATH}/m0?resourceVersion=0")
    assert (cached.fetched, cached.etcd_rpcs) == (1, 0)
    assert 0 < cached.cached_bytes < account.etcd_bytes
    assert cached.encoded_bytes == len(body)


async def test_gzip_is_told_from_what_was_encoded(api: Api) -> None:
    await ready(api)
    for number in range(3):
        body = {"metadata": {"name": f"big{number}"}, "data": {"k": "x" * 100_000}}
        assert (await api.create(PATH, body)).status_code == 201
    account, content = await fired(api, PATH, **{"accept-encoding": "gzip"})
    assert account.encoded_bytes == len(content) > 300_000
    assert 0 < account.sent_bytes < 20_000


async def test_a_watch_is_told_apart_by_its_initial_events(api: Api) -> None:
    stored = await filled(api)
    told = Told(api.services.bus.subscribe())
    async with watching(
        api, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    ) as events:
        first = [await events.next() for _ in range(9)]  # 8 ADDED and the bookmark that ends them
        assert first[-1]["type"] == "BOOKMARK"
        await told.live(1)
        await api.config_map("later")
        later = await events.next()
        state = await told.next(WatcherState, lambda state: state.delivered == 10)
    assert state.initial == 9
    assert 0 < state.initial_bytes < state.bytes
    assert state.bytes - state.initial_bytes == len(json.dumps(later, separators=(",", ":"))) + 1
    account = await told.next(RequestFinished, lambda account: account.initial > 0)
    assert (account.initial, account.returned, account.fetched, account.matched) == (
        9,
        9,
        8,
        8,
    )  # a bookmark is no object
    assert account.cached_bytes == stored
    assert account.encoded_bytes == account.sent_bytes == state.bytes
    assert 0 < account.initial_ms < account.ms
    assert account.seat_seconds == pytest.approx(account.seats * account.initial_ms / 1000)


async def test_the_cache_is_compared_with_etcd_at_its_own_revision(api: Api) -> None:
    stored = await filled(api)
    answer = await api.http.post("/ktui/v1/caches/configmaps/check")
    result = answer.json()
    assert answer.status_code == 200
    assert result["consistent"] and result["cache"]["digest"] == result["etcd"]["digest"]
    assert result["cache"]["objects"] == result["etcd"]["objects"] >= 8
    assert result["etcd"]["bytes"] > stored and result["etcd"]["rpcs"] == 1

    cacher = api.services.registry.for_resource(builtin("", "configmaps"))
    assert cacher is not None and cacher.cache is not None
    store = cacher.cache.memory.store
    store.remove(store.all()[0].key)
    wrong = (await api.http.post("/ktui/v1/caches/configmaps/check")).json()
    assert not wrong["consistent"]
    assert wrong["etcd"]["objects"] - wrong["cache"]["objects"] == 1


async def test_there_is_nothing_to_compare_without_a_cache(api: Api) -> None:
    answer = await api.http.post("/ktui/v1/caches/events/check")
    assert answer.status_code == 409
    assert "events is disabled" in answer.json()["message"]


async def large(api: Api, count: int) -> int:
    """`count` objects of 20 kB each; their bytes."""
    await ready(api)
    for number in range(count):
        body = {"metadata": {"name": f"l{number:03}"}, "data": {"k": "x" * 20_000}}
        created = await api.create(PATH, body)
        assert created.status_code == 201
    await api.seen(created.json())
    return count * 20_000


async def test_a_whole_list_from_etcd_is_held_and_a_page_is_not(api: Api) -> None:
    stored = await large(api, 100)
    api.services.settings.behaviour = behaviour_of("1.30")
    whole, body = await fired(api, PATH)
    assert whole.route == "etcd" and len(body) > stored
    assert whole.peak_held > stored, "every object is kept until the body is made"
    assert whole.peak_held < 2.5 * stored, "etcd's answer as it came and as it was decoded, and a chunk"
    page, _ = await fired(api, f"{PATH}?limit=5")
    assert 5 * 20_000 < page.peak_held < whole.peak_held / 5
    few, _ = await fired(api, f"{PATH}?fieldSelector=metadata.namespace%3Da,metadata.name%3Dl001")
    assert few.peak_held < page.peak_held


async def test_a_list_from_the_cache_holds_references_and_a_piece_of_the_body(api: Api) -> None:
    stored = await large(api, 100)
    cached, body = await fired(api, f"{PATH}?resourceVersion=0")
    assert cached.route == "cache" and len(body) > stored
    assert 0 < cached.peak_held < stored / 4


async def test_growth_of_the_process_is_reported_for_large_requests_only(api: Api) -> None:
    await large(api, 100)
    api.services.settings.behaviour = behaviour_of("1.30")
    whole, _ = await fired(api, PATH)
    assert whole.process_growth is not None and whole.process_growth >= 0
    assert not whole.shared
    small, _ = await fired(api, f"{PATH}/l001")
    assert small.process_growth is None
    assert 20_000 < small.peak_held < 100_000


async def test_requests_that_are_served_together_say_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await large(api, 5)
    told = Told(api.services.bus.subscribe())
    everybody, alone = asyncio.Barrier(4), Store.probe

    async def probe(self: Store) -> int:
        await everybody.wait()
        return await alone(self)

    monkeypatch.setattr(Store, "probe", probe)
    answers = await asyncio.gather(*(api.get(PATH) for _ in range(4)))
    ids = {request_id(answer) for answer in answers}
    accounts = [await told.next(RequestFinished, lambda event: event.id in ids) for _ in range(4)]
    assert all(account.shared for account in accounts)


async def test_an_open_watch_is_no_company(api: Api) -> None:
    await filled(api, 2)
    async with watching(api, "resourceVersion=0") as events:
        for _ in range(2):
            await events.next()
        await Told(api.services.bus.subscribe()).live(1)
        await api.config_map("later")
        await events.next()
        account, _ = await fired(api, PATH)
    assert not account.shared
