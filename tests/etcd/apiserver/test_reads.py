"""GET and LIST over HTTP: bodies, forms, headers."""

from __future__ import annotations

import asyncio

import pytest

from ktui.contract.events import RequestRouted, RequestStarted
from ktui.etcd.errors import UnreachableError
from ktui.storage.store import Store
from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.told import Told

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"


async def test_an_object_comes_back_as_it_was_created(api: Api) -> None:
    created = await api.config_map("one", app="x")
    answer = await api.get(f"{COLLECTION}/one")
    assert answer.json() == created
    assert answer.headers["x-ktui-route"] == "etcd"
    assert answer.headers["x-ktui-cost"].startswith("fetched=")
    assert int(answer.headers["x-ktui-request-id"]) > 0
    assert "total;dur=" in answer.headers["server-timing"]
    assert answer.headers["x-ktui-reason"].split()[0] in answer.headers["x-ktui-reason"]


async def test_what_is_not_there_is_404(shared_api: Api) -> None:
    answer = await shared_api.get(f"{COLLECTION}/none")
    assert answer.status_code == 404
    assert answer.json()["message"] == 'configmaps "none" not found'
    assert answer.headers["x-ktui-route"] == "etcd"


async def test_a_warm_cache_answers_lists(api: Api) -> None:
    for name in ("a", "b", "c"):
        await api.config_map(name, even="yes" if name == "b" else "no")
    await api.http.post("/ktui/v1/caches/configmaps/warm")
    await api.warm()
    answer = await api.get(f"{COLLECTION}?labelSelector=even%3Dyes")
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["b"]
    assert answer.headers["x-ktui-route"] == "cache"
    cost = dict(part.split("=") for part in answer.headers["x-ktui-cost"].split(", "))
    assert (cost["fetched"], cost["returned"], cost["etcd_gets"]) == ("3", "1", "1")


async def test_pages_follow_their_token(api: Api) -> None:
    for at in range(5):
        await api.config_map(f"c{at}")
    names: list[str] = []
    url = f"{COLLECTION}?limit=2"
    for remaining in (3, 1, None):
        page = (await api.get(url)).json()
        names += [item["metadata"]["name"] for item in page["items"]]
        assert page["metadata"].get("remainingItemCount") == remaining
        url = f"{COLLECTION}?limit=2&continue={page['metadata'].get('continue', '')}"
    assert names == [f"c{at}" for at in range(5)]


async def test_tables_and_metadata_only(api: Api) -> None:
    await api.config_map("one")
    table = (await api.get(f"{COLLECTION}?limit=5", **TABLE)).json()
    assert (table["kind"], [column["name"] for column in table["columnDefinitions"]]) == (
        "Table",
        ["Name", "Data", "Age"],
    )
    assert table["rows"][0]["cells"][:2] == ["one", 1]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    bare = await api.get(f"{COLLECTION}?limit=5&includeObject=None", **TABLE)
    assert bare.json()["rows"][0]["object"] is None
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    listed = (await api.get(f"{COLLECTION}?limit=5", Accept=accept)).json()
    assert set(listed["items"][0]) == {"kind", "apiVersion", "metadata"}


async def test_big_answers_are_packed_for_who_takes_it(api: Api) -> None:
    for at in range(3):
        body = {"metadata": {"name": f"big-{at}"}, "data": {"k": "x" * 60_000}}
        assert (await api.create(COLLECTION, body)).status_code == 201
    packed = await api.get(f"{COLLECTION}?limit=9", **{"Accept-Encoding": "gzip"})
    plain = await api.get(f"{COLLECTION}?limit=9", **{"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json()


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("/api/v1/foos", 404, "the server could not find the requested resource"),
        ("/apis/nope.io/v1/things", 404, "404 page not found\n"),
        ("/nope", 404, "404 page not found\n"),
        ("/api/v1/namespaces/a/nodes", 404, "the server could not find the requested resource"),
        ("/api/v2", 404, "the server could not find the requested resource"),
        ("/api/v2/pods", 404, "the server could not find the requested resource"),
        ("/apis/apps/v9/deployments", 404, "the server could not find the requested resource"),
        ("/apis/apiextensions.k8s.io/foo", 404, "the server could not find the requested resource"),
        ("/version/x", 404, "the server could not find the requested resource"),
        ("/apis//apps/v1/deployments", 404, "404 page not found\n"),
        ("/healthz/", 404, "404 page not found\n"),
        ("//api/v1/pods", 404, "404 page not found\n"),
        (f"{COLLECTION}/%2e%2e", 400, "Name parameter invalid: \"..\": may not be '..'"),
        (f"{COLLECTION}/a%25b", 400, "Name parameter invalid: \"a%b\": may not contain '%'"),
        (f"{COLLECTION}?limit=abc", 400, "strconv.ParseInt"),
        (f"{COLLECTION}?resourceVersionMatch=Exact", 422, "resourceVersionMatch is forbidden"),
        (f"{COLLECTION}?labelSelector=a%20b%20c", 400, "unable to parse requirement"),
    ],
)
async def test_requests_that_make_no_sense(shared_api: Api, path: str, code: int, text: str) -> None:
    answer = await shared_api.get(path)
    assert answer.status_code == code
    assert text in (answer.text if answer.text.startswith("404") else answer.json()["message"])


async def test_a_watch_of_an_unknown_resource_is_not_distinguished(shared_api: Api) -> None:
    answer = await shared_api.get("/api/v1/watch?a=1&b=2")
    assert answer.status_code == 500
    assert answer.text == (
        'Internal Server Error: "/api/v1/watch?a=1&amp;b=2": failed to create RequestInfo: unable to '
        "determine kind and namespace from url, /api/v1/watch?a=1&amp;b=2\n"
    )


@pytest.mark.parametrize("path", ["/healthz", "/livez/ping", "/readyz/etcd", "/apis", "/apis/apps"])
async def test_some_paths_answer_whatever_the_method(shared_api: Api, path: str) -> None:
    assert (await shared_api.http.request("BREW", path)).status_code == 200
    assert (await shared_api.http.request("POST", "/apis/apps/v1")).status_code == 405


async def test_who_is_not_let_in(shared_api: Api) -> None:
    wrong = await shared_api.get(COLLECTION, Authorization="Bearer wrong")
    assert (wrong.status_code, wrong.json()["message"]) == (401, "Unauthorized")
    anonymous = await shared_api.get(COLLECTION, Authorization="")
    assert anonymous.status_code == 403
    assert "system:anonymous" in anonymous.json()["message"]
    assert (await shared_api.get("/readyz", Authorization="")).text == "ok"


async def test_telemetry_follows_a_request(api: Api) -> None:
    subscription = api.services.bus.subscribe()
    answer = await api.get(f"{COLLECTION}?limit=1", **{"User-Agent": "curl/8 (x)"})
    told = Told(subscription)
    started, routed = await told.next(RequestStarted), await told.next(RequestRouted)
    finished = await told.account(answer)
    subscription.close()
    assert (started.verb, started.resource, started.namespace, started.client) == (
        "LIST",
        "configmaps",
        "a",
        "curl",
    )
    assert started.id == routed.id == finished.id
    assert routed.steps and routed.reason
    assert finished.status == 200 and finished.sent_bytes > 0 and finished.ms > 0
    assert finished.route == routed.route


async def test_a_fault_of_ours_is_a_500_without_a_traceback(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(resource: object) -> None:
        raise RuntimeError("secret details")

    monkeypatch.setattr(api.services.registry, "for_resource", broken)
    answer = await api.get(COLLECTION)
    assert answer.status_code == 500
    assert answer.json()["reason"] == "InternalError"
    assert "secret details" not in answer.text


async def test_the_route_is_told_before_anything_is_read(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await api.warm()
    subscription = api.services.bus.subscribe()

    async def unreachable(self: Store) -> int:
        raise UnreachableError("no etcd there")

    monkeypatch.setattr(Store, "probe", unreachable)
    answer = await api.get(COLLECTION)
    assert answer.status_code == 500
    assert answer.headers["x-ktui-route"] == "cache"
    await Told(subscription).next(RequestRouted, lambda event: event.route == "cache")
    subscription.close()


@pytest.mark.parametrize(
    ("query", "code", "route", "reason"),
    [
        ("?resourceVersion=99999999999", 504, "cache", "c.atleast_wait"),
        ("?resourceVersion=99999999999&resourceVersionMatch=Exact", 504, "cache", None),
        ("?resourceVersion=abc", 400, None, "v.bad_rv"),
        ("?resourceVersionMatch=Exact", 422, None, "v.match_needs_rv"),
        ("?limit=abc", 400, None, "v.bad_option"),
        ("?fieldSelector=spec.x%3D1", 400, None, "v.bad_option"),
        ("?fieldSelector=nope&resourceVersionMatch=Exact", 400, None, "v.bad_option"),
        ("?fieldSelector=spec.x%3D1&resourceVersionMatch=Exact", 422, None, "v.match_needs_rv"),
        ("?fieldSelector=spec.x%3D1&resourceVersion=abc", 400, None, "v.bad_option"),
        ("?fieldSelector=spec.x%3D1&watch=1&resourceVersionMatch=Exact", 422, None, "w.badmatch"),
        ("?continue=abc", 400, None, "v.bad_continue"),
    ],
)
async def test_refusals_bear_the_headers_as_well(
    shared_api: Api, query: str, code: int, route: str | None, reason: str | None
) -> None:
    await shared_api.warm()
    answer = await shared_api.get(COLLECTION + query)
    assert answer.status_code == code
    assert answer.headers.get("x-ktui-route") == route
    assert "fetched=0" in answer.headers["x-ktui-cost"]
    assert "seats=0" not in answer.headers["x-ktui-cost"]
    assert "total;dur=" in answer.headers["server-timing"]
    if reason is not None:
        assert answer.headers["x-ktui-reason"].split()[0] == reason


async def test_answers_can_be_found_again(api: Api) -> None:
    own = await api.get(COLLECTION, **{"Audit-ID": "mine"})
    other = await api.get(COLLECTION, **{"Impersonate-User": "system:kube-scheduler"})
    assert own.headers["audit-id"] == "mine" != other.headers["audit-id"]
    flow, level = "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"
    assert own.headers[flow] != other.headers[flow]
    assert own.headers[level] != other.headers[level]
    assert flow not in (await api.get(COLLECTION, Authorization="Bearer wrong")).headers


async def test_what_has_no_cache_is_counted_for_its_seats(api: Api) -> None:
    events = "/api/v1/namespaces/a/events"
    made = await api.create(events, {"metadata": {"name": "one"}, "involvedObject": {"namespace": "a"}})
    assert made.status_code == 201, made.text
    first = await api.get(events)
    assert "seats=1" in first.headers["x-ktui-cost"]  # not counted yet
    async with asyncio.timeout(60):
        while "seats=8" not in (await api.get(events)).headers["x-ktui-cost"]:
            await asyncio.sleep(0)
