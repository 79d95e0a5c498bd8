"""Copies to give away: nothing that was named in them can be found in them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import get_args

import msgspec
import pytest

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    EtcdCall,
    EtcdHealth,
    FanOut,
    Marker,
    Prefix,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    WatcherClosed,
    WatcherOpened,
)
from ktui.contract.events.live import Denied, LiveServer, RequestsDump, RunningRequest
from ktui.contract.recording import encode_lines
from ktui.core.sharing.share import TABLE, Sharer, Treatment
from ktui.kube.continuetoken import decode, encode

KEY = b"k" * 32
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmVk"


def sharer(*, hashing: bool = True) -> Sharer:
    return Sharer(KEY, hashing=hashing)


def started(path: str, query: str = "", **facts: str) -> RequestStarted:
    told = {"resource": "pods", "namespace": "", "name": "", "client": "kubectl", **facts}
    return RequestStarted(id=1, verb="LIST", path=path, query=query, user_agent="kubectl/v1.36", **told)


def test_every_field_of_every_event_has_an_entry() -> None:
    for kind in get_args(AnyEvent):
        tag = str(kind.__struct_config__.tag)
        fields = set(kind.__struct_fields__)
        assert set(TABLE.get(tag, {})) == fields, f"put {tag}'s fields into ktui/core/sharing/share.py"


def test_a_field_without_an_entry_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLE, "request_started", {"id": Treatment.KEEP})
    shared = sharer().share_event(started("/api/v1/namespaces/shop/pods", namespace="shop"))
    assert shared == RequestStarted(
        id=1, verb="", path="", query="", resource="", namespace="", name="", client="", user_agent=""
    )


# In every place where something can be named, a word that must not be found again.
ALWAYS = "canary-always"
NAMED = "canary-named"


def telling() -> Iterator[AnyEvent]:
    yield ServerInfo(
        at=1.0, ktui_version="1", kube_version="1.36", etcd_version="3.6", etcd_kind="external",
        endpoints=[f"https://{ALWAYS}:2379", "10.9.8.7:2379"], writable=False, progress="supported",
        etcd_prefix=f"/{ALWAYS}/registry", name=ALWAYS,
        warnings=[f"the snapshot /var/lib/{ALWAYS}/db.gz has no hash", f"lookup {ALWAYS}: no such host"],
    )  # fmt: skip
    token = encode(48_213, f"{NAMED}/web-1\0")
    paths = {
        f"/api/v1/namespaces/{NAMED}/pods/{NAMED}-7d9f/log": "",
        f"/api/v1/namespaces/{NAMED}/pods/{NAMED}-7d9f/proxy/{ALWAYS}/admin": "",
        f"/api/v1/watch/namespaces/{NAMED}/pods": "",
        f"/api/v1/nodes/{NAMED}": "",
        f"/api/v1/namespaces/{NAMED}": "",
        f"/apis/apps/v1/namespaces/{NAMED}/deployments/{NAMED}/scale": "",
        f"/{ALWAYS}/login": f"access_token={ALWAYS}&{ALWAYS}",
        "/api/v1/pods": f"limit=500&continue={token}&labelSelector=app%3D{NAMED}"
        f",{NAMED}.corp/team+in+({NAMED},b)",
        "/api/v1/services": f"fieldSelector=metadata.name%3D{NAMED}&resourceVersion={ALWAYS}&bogus={ALWAYS}",
        "/ktui/v1/etcd/key": f"key=/{ALWAYS}/registry/pods/{NAMED}/web-1",
    }
    for path, query in paths.items():
        yield started(path, query, namespace=NAMED, name=NAMED, client=NAMED)
    yield RequestStarted(
        id=2, verb="GET", path="/api/v1/pods", query="", resource="pods", namespace="", name="",
        client="kubectl", user_agent=f"kubectl/v1.36.2 (linux/amd64; {ALWAYS}@laptop) kubernetes/abc",
    )  # fmt: skip
    yield RequestStarted(
        id=3, verb="GET", path="/api/v1/pods", query="", resource="pods", namespace="", name="",
        client="kubectl", user_agent="kubectl", accept=f"application/json;as=Table, {ALWAYS}/x;q={ALWAYS}",
        user=f"system:serviceaccount:{NAMED}:{NAMED}", level=NAMED, peer=f"{ALWAYS}:45871",
    )  # fmt: skip
    yield RequestRouted(
        id=1, route="etcd", reason_id="d.unset", reason="…",
        steps=[RouteStep("resourceVersion unparsable?", f'"{NAMED}"', True)],
    )  # fmt: skip
    for error in (
        f'pods "{NAMED}" not found',
        f"dial tcp: lookup {ALWAYS}.corp.example on 10.9.8.7:53: no such host",
        f"connect to https://user:{ALWAYS}@etcd:2379/x refused",
        f"open /etc/{ALWAYS}/ca.crt: no such file",
        f"user {ALWAYS}@corp.example may not",
        f"Authorization: Bearer {ALWAYS}{JWT} is wrong",
        f"the namespace {NAMED} is terminating",
        f"no key /{ALWAYS}/registry/pods/{NAMED}/web-1",
    ):
        yield RequestFinished(id=1, status=404, route="etcd", ms=1.0, error=error)
        yield EtcdHealth(ok=False, detail=error)
        yield CacheStatus(resource="pods", state="reinitializing", error=error)
        yield EtcdCall(op="range", request="", error=error)
        yield WatcherClosed(id=1, resource="pods", delivered=1, cause=error)
        yield Marker(text=error)
    root = f"/{ALWAYS}/registry"
    for request in (
        f'key:"{root}/pods/{NAMED}/" range_end:"{root}/pods/{NAMED}0" limit:500',
        f'key:"{root}/pods/{NAMED}/web-1\\000" range_end:"{root}/pods0" limit:500 revision:7',
        f'key:"{root}/services/specs/{NAMED}/web"',
        f'key:"{root}/cilium.io/ciliumendpoints/{NAMED}/web"',
        f'key:"{root}/masterleases/{ALWAYS}"',
        f'key:"/{ALWAYS}-else/where"',
        f'name:"{ALWAYS}" password:"{ALWAYS}"',
        f'compare:<target:MOD key:"{root}/minions/{NAMED}" mod_revision:0 > success:<> failure:<>',
    ):
        yield EtcdCall(op="range", request=request)
    yield Prefix(prefix=f"{root}/pods/", resource="pods", count=1)
    yield WatcherOpened(
        id=1, resource="pods", since="5", client=NAMED, namespace=NAMED, name=NAMED,
        selector=f"app={NAMED},spec.nodeName={NAMED},!{NAMED}",
    )  # fmt: skip
    yield FanOut(resource="pods", change="MODIFIED", rv=7, namespace=NAMED, name=NAMED)


@pytest.mark.parametrize("hashing", [True, False])
def test_nothing_that_is_private_is_found_again(hashing: bool) -> None:
    told = encode_lines(telling()).decode()
    shared = encode_lines(sharer(hashing=hashing).share(telling())).decode()
    everywhere = shared + "".join(_tokens(shared))
    assert ALWAYS in told and NAMED in told and NAMED in "".join(_tokens(told))
    assert ALWAYS not in everywhere and "10.9.8.7" not in everywhere
    assert (NAMED in shared) == (not hashing)
    assert NAMED not in "".join(_tokens(shared)), "a continue token holds a key"


def _tokens(lines: str) -> list[str]:
    found = re.findall(r"continue=([\w-]+)", lines)
    return [base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode() for token in found]


# Secrets' names in every place where they stand; a name of another kind that must stay in "keep".
SECRET = "canary-db-password"


def of_secrets() -> Iterator[AnyEvent]:
    path = f"/api/v1/namespaces/shop/secrets/{SECRET}"
    yield EtcdCall(op="range", request=f'key:"/registry/secrets/shop/{SECRET}"')
    yield started(path, resource="secrets", namespace="shop", name=SECRET)
    yield RequestFinished(id=1, status=404, route="cache", ms=1.0, error=f'secrets "{SECRET}" not found')
    yield started("/api/v1/secrets", f"fieldSelector=metadata.name%3D{SECRET}", resource="secrets")
    yield RequestFinished(id=9, status=500, route="etcd", ms=1.0, error=f"{SECRET} is not to be read")
    yield FanOut(resource="secrets", change="MODIFIED", rv=7, namespace="shop", name=SECRET)
    yield WatcherOpened(id=1, resource="secrets", since="", client="kubelet", name=SECRET,
                        selector=f"metadata.name={SECRET}")  # fmt: skip
    yield Marker(text=f"here {SECRET} was changed")


@pytest.mark.parametrize("hashing", [True, False])
def test_names_of_secrets_go_in_any_mode(hashing: bool) -> None:
    shared = encode_lines(sharer(hashing=hashing).share(of_secrets())).decode()
    assert SECRET in encode_lines(of_secrets()).decode() and SECRET not in shared
    assert ('"namespace":"shop"' in shared) == (not hashing)


def test_the_picture_still_makes_sense() -> None:
    one = sharer()
    opened = one.share_event(started("/api/v1/namespaces/shop/pods/web-1", namespace="shop", name="web-1"))
    call = one.share_event(EtcdCall(op="range", request='key:"/registry/pods/shop/web-1"'))
    listed = one.share_event(started("/api/v1/pods", "fieldSelector=spec.nodeName%3Dnode-7&limit=500"))
    node = one.share_event(started("/api/v1/nodes/node-7", resource="nodes", name="node-7"))
    assert isinstance(opened, RequestStarted) and isinstance(call, EtcdCall)
    assert isinstance(listed, RequestStarted) and isinstance(node, RequestStarted)
    assert opened.path == f"/api/v1/namespaces/{opened.namespace}/pods/{opened.name}"
    assert call.request == f'key:"/registry/pods/{opened.namespace}/{opened.name}"'
    assert listed.query == f"fieldSelector=spec.nodeName%3D{node.name}&limit=500"
    other = Sharer(b"x" * 32, hashing=True).share_event(started("/api/v1/nodes/node-7", name="node-7"))
    assert isinstance(other, RequestStarted) and other.name != node.name, "no two copies agree"


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ('key:"/registry/pods/" range_end:"/registry/pods0" limit:500', None),
        ('key:"/registry/pods/kube-system/" range_end:"/registry/pods/kube-system0" count_only:true', None),
        ('key:"/registry/services/specs/" range_end:"/registry/services/specs0"', None),
        ('key:"/registry/" range_end:"/registry0" limit:1', None),
        ("TTL: 3660", None),
        (
            'key:"/registry/pods/kube-system/coredns\\000" range_end:"/registry/pods0" limit:500 revision:7',
            None,
        ),
        ("progress_request:<>", None),
    ],
)
def test_ranges_stay_ranges(text: str, shared: str | None) -> None:
    call = sharer().share_event(EtcdCall(op="range", request=text))
    assert isinstance(call, EtcdCall) and call.request == (shared or text)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "limit=500&resourceVersion=0",
        "watch=true&allowWatchBookmarks=true&resourceVersion=42&timeoutSeconds=300&timeout=5m0s",
        "resourceVersionMatch=NotOlderThan&resourceVersion=7",
        "fieldSelector=status.phase%3DRunning",
        "labelSelector=%21app",
    ],
)
def test_queries_without_names_stay(query: str) -> None:
    shared = sharer().share_event(started("/api/v1/pods", query))
    assert isinstance(shared, RequestStarted) and shared.query == query


def test_a_continue_token_keeps_its_revision() -> None:
    shared = sharer().share_event(started("/api/v1/pods", f"continue={encode(48_213, 'shop/web' + chr(0))}"))
    assert isinstance(shared, RequestStarted)
    token = decode(shared.query.removeprefix("continue="))
    assert (token.rv, token.start) == (48_213, "left-out\0")
    broken = sharer().share_event(started("/api/v1/pods", "continue=%%%"))
    assert isinstance(broken, RequestStarted) and broken.query == "continue=left-out"


def test_numbers_and_times_are_untouched() -> None:
    finished = RequestFinished(seq=4, at=5.0, id=1, status=200, route="cache", ms=1.5, fetched=9, rv="7")
    assert sharer().share_event(finished) == finished
    assert msgspec.json.encode(sharer().share_event(finished)) == msgspec.json.encode(finished)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
        ("user", "system:kube-scheduler"),
        ("user", "kubernetes-admin"),
        ("level", "workload-low"),
        ("client", "kube-controller-manager"),
        ("namespace", "kube-system"),
    ],
)
def test_what_every_cluster_has_stays(field: str, value: str) -> None:
    shared = sharer().share_event(started("/api/v1/pods", **{field: value}))
    assert getattr(shared, field) == value


def test_running_requests_of_a_live_server_hold_no_names() -> None:
    request = RunningRequest(
        level="shop-level", schema="shop-schema", user="jane@shop.example", verb="list",
        path="/api/v1/namespaces/shop/pods", resource="pods", namespace="shop", seats=3,
    )  # fmt: skip
    server = LiveServer(
        context="shop-prod", url="https://shop.example:6443", origin="metrics",
        denied=[Denied("/metrics", 403, 'User "jane@shop.example" cannot get path')],
    )  # fmt: skip
    dump = RequestsDump(replica="1", requests=[request])
    shared = encode_lines(sharer().share([dump, server]))
    assert b"shop" not in shared
    assert b"jane" not in shared
    assert b'"seats":3' in shared
