"""Health, telemetry, etcd pages, metrics text, authentication, openapi."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest

from ktui.apiserver.authorization import authorize
from ktui.apiserver.call import Call
from ktui.apiserver.metrics.metric_types import Counter, Gauge, Histogram, render
from ktui.apiserver.pages import discovery
from ktui.apiserver.pages.discovery import aggregated_version
from ktui.apiserver.pages.etcd import MASK, describe
from ktui.apiserver.pages.own import TelemetryStream
from ktui.apiserver.pages.responses import PageRouter, number
from ktui.apiserver.pages.routes import Check, HealthPages, stale_text, version_document
from ktui.authn.authenticator import TokenAuthenticator
from ktui.authn.service_accounts import ServiceAccountTokens
from ktui.authz.authorizers import AlwaysAllow
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.contract.etcd_documents import FieldSize
from ktui.contract.events import EtcdProgress, EtcdUsage, ServerInfo
from ktui.etcd.types import KV
from ktui.kube.requestinfo import parse_path, request_verb
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.kube.versions import behaviour_of
from ktui.storage.browser import KeyValue
from ktui.storage.keys import DecodedValue
from ktui.storage.store import Store
from ktui.telemetry.bus import Bus
from tests.unit.apiserver.asgi import Exchange

INFO = ServerInfo(
    ktui_version="0",
    kube_version="1.36",
    etcd_version="3.5.1",
    etcd_kind="embedded",
    endpoints=[],
    writable=True,
    progress="assumed",
)


class Facts:
    def info(self) -> ServerInfo:
        return INFO

    def etcd_problem(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("path", "query", "status", "text"),
    [
        ("readyz", "", 500, "[+]ping ok\n[-]crds failed: reason withheld\nreadyz check failed\n"),
        ("readyz", "exclude=crds", 200, "ok"),
        ("livez", "", 200, "ok"),
        ("healthz", "verbose", 200, "[+]ping ok\nhealthz check passed\n"),
    ],
)
def test_health(path: str, query: str, status: int, text: str) -> None:
    health = HealthPages([Check("ping", lambda: "")], [Check("crds", lambda: "not synced")])
    exchange = Exchange(f"/{path}", query=query)
    asyncio.run(health.pages()[f"/{path}"](exchange.request, exchange.response))  # type: ignore[arg-type]
    assert (exchange.answer.status, exchange.answer.body.decode()) == (status, text)


def test_stale_caches_are_named_by_readyz() -> None:
    stale: dict[str, float] = {}
    check = Check("watch-caches", lambda: stale_text(stale), shown=True)
    health = HealthPages([Check("ping", lambda: "")], [check])

    def answer(path: str) -> tuple[int, str]:
        exchange = Exchange(path)
        asyncio.run(health.pages()[path](exchange.request, exchange.response))  # type: ignore[arg-type]
        return exchange.answer.status, exchange.answer.body.decode()

    assert answer("/readyz") == (200, "ok")
    stale.update(pods=12.4, configmaps=3.0)
    assert answer("/readyz") == (
        500,
        "[+]ping ok\n[-]watch-caches failed: stale for 12 s: configmaps, pods\nreadyz check failed\n",
    )
    stale.update({f"r{n}": 1.0 for n in range(9)})
    told = "stale for 12 s: configmaps, pods, r0, r1, r2 and 6 more"
    assert answer("/readyz/watch-caches") == (500, f"internal server error: readyz: {told}\n")


def test_telemetry_tells_the_state_first_then_what_happens() -> None:
    async def scenario() -> list[dict[str, Any]]:
        bus = Bus(now=lambda: 5.0)
        bus.add_snapshot(lambda: [EtcdUsage(rpcs=1, sent_bytes=2, received_bytes=3)])
        stream = TelemetryStream(bus, Facts())
        exchange = Exchange("/telemetry")
        task = asyncio.create_task(stream.get(exchange.request, exchange.response))
        while not bus.watched:
            await asyncio.sleep(0)
        bus.publish(EtcdProgress(head=9))
        while b'"head":9' not in exchange.answer.body:
            await asyncio.sleep(0)
        exchange.hang_up()
        await task
        assert not bus.watched
        return [json.loads(line) for line in exchange.answer.body.splitlines()]

    first, second, third = asyncio.run(scenario())
    assert first["type"] == "server"
    assert (second["type"], second["rpcs"]) == ("toll", 1)
    assert (third["type"], third["head"], third["at"]) == ("progress", 9, 5.0)


SECRET = {"kind": "Secret", "data": {"p": "aHVudGVy"}}


def stored(
    key: str = "/registry/secrets/shop/s", kind: str = "Secret", json: Any = SECRET, raw: bytes = b"hunter"
) -> KeyValue:
    decoded = DecodedValue("protobuf", "v1", kind, json, "", (FieldSize("data", 4, 0.6667),))
    return KeyValue(KV(key.encode(), raw, 6, 7, 2, 0), -1, decoded)


def test_a_secret_is_shown_when_asked_only() -> None:
    shown = describe(stored(), None, reveal=False)
    assert (
        "aHVudGVy" not in msgspec.json.encode(shown).decode()
        and b"hunter".hex() not in msgspec.json.encode(shown).decode()
    )
    assert shown.redacted is True and shown.raw_bytes == 6
    assert shown.json["data"] == {"p": MASK}
    revealed = describe(stored(), None, reveal=True)
    assert revealed.hex == b"hunter".hex()
    assert revealed.json["data"] == {"p": "aHVudGVy"}


def test_an_undecodable_secret_is_one_by_its_key() -> None:
    shown = describe(stored(kind="", json=None), None, reveal=False)
    assert shown.hex == "" and shown.json is None


def test_values_that_are_text_are_told_as_text() -> None:
    text = stored(key="/service/leader", kind="", json=None, raw="patroni ✓\n".encode())
    assert describe(text, None, reveal=False).text == "patroni ✓\n"
    for raw in (b"\x00\x01", b"\xff", b"a\x1b[31m"):
        assert describe(stored(key="/x", kind="", json=None, raw=raw), None, reveal=False).text == ""
    hidden = stored(kind="", json=None, raw=b"hunter2")
    assert describe(hidden, None, reveal=False).text == ""


def test_sizes_of_fields_are_shown_for_secrets_too() -> None:
    assert describe(stored(), None, reveal=False).sizes == [FieldSize("data", 4, 0.6667)]


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "١", "9" * 40])
def test_bad_numbers_are_400(text: str) -> None:
    with pytest.raises(StatusError) as caught:
        number(Exchange(query=f"limit={text}").request, "limit", 5)
    assert caught.value.code == 400


def test_metrics_text() -> None:
    counter = Counter("b_total", 'counts "b"\nand more')
    counter.add(2, (("resource", 'po"ds\n'),))
    gauge = Gauge("c", "c")
    gauge.add(1)
    gauge.add(-1)
    histogram = Histogram("a_seconds", "a", (0.1, 1))
    for value in (0.05, 0.1, 5):
        histogram.observe(value)
    assert b"".join(render([counter, gauge, histogram])).decode().splitlines() == [
        "# HELP a_seconds a",
        "# TYPE a_seconds histogram",
        'a_seconds_bucket{le="0.1"} 2',
        'a_seconds_bucket{le="1"} 2',
        'a_seconds_bucket{le="+Inf"} 3',
        "a_seconds_sum 5.15",
        "a_seconds_count 3",
        '# HELP b_total counts "b"\\nand more',
        "# TYPE b_total counter",
        'b_total{resource="po\\"ds\\n"} 2',
        "# HELP c c",
        "# TYPE c gauge",
        "c 0",
    ]


def let_in(path: str, authorization: str = "", method: str = "GET") -> None:
    path, _, query = path.partition("?")
    exchange = Exchange(path, method=method, query=query, headers={"Authorization": authorization})
    info = parse_path(path)
    who = asyncio.run(authenticator("s3cret").identify(exchange.request))
    verb = request_verb(method, info)
    call = Call(exchange.request, exchange.response, info, verb, "id", behaviour_of("1.36"), Bus())
    call.authenticated = call.who = who
    authorize(AlwaysAllow(), call)


def authenticator(token: str | None) -> TokenAuthenticator:
    return TokenAuthenticator(token, ServiceAccountTokens(Registry(never, Settings(), Bus())))


def never(resource: Resource) -> Store:
    raise AssertionError(f"nothing stored is needed to let a client in, but {resource.id} was")


def test_the_token_lets_in() -> None:
    let_in("/api/v1/pods", "Bearer s3cret")
    exchange = Exchange("/metrics")
    who = asyncio.run(authenticator(None).identify(exchange.request))
    info = parse_path("/metrics")
    call = Call(exchange.request, exchange.response, info, "GET", "id", behaviour_of("1.36"), Bus())
    call.authenticated = call.who = who
    authorize(AlwaysAllow(), call)


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz", "/version"])
def test_health_is_public(path: str) -> None:
    let_in(path)


@pytest.mark.parametrize(
    ("path", "authorization", "method", "code", "message"),
    [
        ("/api/v1/pods", "Bearer wrong", "GET", 401, "Unauthorized"),
        ("/readyz", "Bearer wrong", "GET", 401, "Unauthorized"),
        (
            "/api/v1/namespaces/shop/pods",
            "",
            "GET",
            403,
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" '
            'in the namespace "shop"',
        ),
        (
            "/apis/apps/v1/namespaces/shop/deployments/web",
            "",
            "PATCH",
            403,
            'deployments.apps "web" is forbidden: User "system:anonymous" cannot patch resource '
            '"deployments" in API group "apps" in the namespace "shop"',
        ),
        (
            "/api/v1/namespaces/shop",
            "",
            "GET",
            403,
            'namespaces "shop" is forbidden: User "system:anonymous" cannot get resource "namespaces" '
            'in API group "" in the namespace "shop"',
        ),
        (
            "/api/v1/namespaces/shop/pods",
            "",
            "HEAD",
            403,
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" '
            'in the namespace "shop"',
        ),
        (
            "/api/v1/namespaces/shop/pods/web",
            "",
            "OPTIONS",
            403,
            'pods "web" is forbidden: User "system:anonymous" cannot  resource "pods"',
        ),
        (
            "/api/v1/nodes?fieldSelector=metadata.name=n1",
            "",
            "GET",
            403,
            'nodes "n1" is forbidden: User "system:anonymous" cannot list resource "nodes"',
        ),
        ("/telemetry", "", "GET", 403, 'forbidden: User "system:anonymous" cannot get path "/telemetry"'),
        ("/ktui/v1/info", "Basic s3cret", "GET", 403, "forbidden: "),
    ],
)
def test_others_stay_out(path: str, authorization: str, method: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        let_in(path, authorization, method)
    assert caught.value.code == code
    assert caught.value.message.startswith(message)


def test_kubectl_learns_that_fields_are_validated_here() -> None:
    path = discovery.index(BUILTIN, 36)["paths"]["apis/apps/v1"]["serverRelativeURL"]
    assert path.startswith("/openapi/v3/apis/apps/v1?hash=")
    document = discovery.components(discovery._at(BUILTIN, "api/v1"), 36)
    patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
    assert discovery._at(BUILTIN, "apis/nope/v1") == []


@pytest.mark.parametrize(
    ("accept", "version"),
    [
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", "v2"),
        ("application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json", ""),
        ("application/json", ""),
        ("", ""),
    ],
)
def test_aggregated_discovery_is_asked_for(accept: str, version: str) -> None:
    assert aggregated_version(accept) == version


def test_pages_are_found_by_pattern_and_method() -> None:
    async def page(request: object, response: object) -> None: ...

    router = PageRouter()
    router.add("GET", "/a/{}/c", page)
    router.add("GET", "/", page)
    router.add("*", "/any", page)
    assert router.find("GET", "/a/x/c") is page
    assert router.find("GET", "/a/x/c/") is None
    assert router.find("BREW", "/any") is page
    assert router.find("GET", "/") is page
    assert router.find("GET", "/a/x/d") is None
    with pytest.raises(StatusError) as caught:
        router.find("POST", "/a/x/c")
    assert caught.value.code == 405


def test_a_version_that_can_be_emulated_says_so() -> None:
    before, since = (version_document(behaviour_of(version)) for version in ("1.32", "1.33"))
    added = {"emulationMajor": "1", "emulationMinor": "33"}
    added |= {"minCompatibilityMajor": "1", "minCompatibilityMinor": "32"}
    assert since.keys() - before.keys() == added.keys() and since | added == since
