"""The promise to an etcd that is not ours, end to end.

A recording proxy stands between `ktui serve --etcd` and etcd while everything that
ktui has is used: all resources, all pages, all commands, all screens, and every way
of writing. Only Range, Watch and Status pass, and etcd is afterwards as it was before.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from ktui.cli.child import AttachLauncher
from ktui.client.connection import connection_from_url
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.telemetry.bus import Bus
from ktui.tui.app import KtuiApp
from ktui.tui.navigation.modes import MODES
from ktui.tui.source import LiveSource
from tests.etcd.recording import RecordingProxy
from tests.etcd.serving import Served, serving
from tests.tui.every_key import press_every_key
from tests.tui.frames import paint_due, paint_later

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

HARMLESS = {"/etcdserverpb.KV/Range", "/etcdserverpb.Watch/Watch", "/etcdserverpb.Maintenance/Status"}
WIDGETS = Path(__file__).parents[1] / "apiserver" / "widgets.json"
LISTS = (
    "",
    "?resourceVersion=0",
    "?limit=2",
    "?limit=2&resourceVersion=0",
    "?labelSelector=app%3Dweb",
    "?fieldSelector=metadata.name%3Dx&resourceVersion=0",
    "?resourceVersionMatch=NotOlderThan&resourceVersion=1",
    "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true",
    "?watch=1&timeoutSeconds=1&resourceVersion=0",
)
OF_NOTHING = ("", "?resourceVersion=0", "?watch=1&timeoutSeconds=1&resourceVersion=0")
STREAMS = ("/telemetry", "/ktui/v1/etcd/churn")  # without an end
PAGES = (
    *("/", "/api", "/apis", "/version", "/metrics", "/healthz", "/livez", "/readyz?verbose", "/openapi/v3"),
    *("/openapi/v3/api/v1", "/ktui/v1/info", "/ktui/v1/behaviour", "/ktui/v1/requests"),
    *("/ktui/v1/etcd/prefixes", "/ktui/v1/etcd/prefixes?prefix=", "/ktui/v1/etcd/keys?prefix=&limit=5"),
)


@pytest.fixture(scope="module")
async def furnished(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedEtcd]:
    """An etcd with a small cluster in it, a custom resource, and an event with a lease; only read here."""
    tmp_path = tmp_path_factory.mktemp("furnished")
    etcd = await EmbeddedEtcd.start()
    try:
        async with serving(tmp_path, "--etcd", etcd.endpoint, "--allow-writes") as served:
            await command(served, "seed", "--attach", served.url, "--pods", "60", "--nodes", "4", "--silent")
            definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            created = await served.http.post(definitions, json=json.loads(WIDGETS.read_text()))
            assert created.status_code == 201, created.text
            event = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "reason": "Made"}
            created = await served.http.post("/api/v1/namespaces/default/events", json=event)
            assert created.status_code == 201, created.text
        yield etcd
    finally:
        await etcd.stop()


async def test_only_range_watch_and_status_pass(
    furnished: EmbeddedEtcd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await everything(furnished)
    async with RecordingProxy(furnished.endpoint) as proxy:
        async with serving(tmp_path, "--etcd", proxy.endpoint, "--warm", "pods,nodes") as served:
            resources = await use_every_resource(served)
            await use_every_page(served, resources)
            await use_every_command(served, tmp_path)
            monkeypatch.chdir(tmp_path)  # where `e` writes its tables
            # What matters is what it sends: it is painted once per screen.
            monkeypatch.setattr("textual.screen.Screen._compositor_refresh", paint_later)
            fired = await use_every_screen(served)
            await served.json("/api/v1/namespaces")  # it still serves
        assert set(proxy.methods) == HARMLESS, proxy.methods
        print("METHODS", dict(proxy.methods))
        assert (
            proxy.methods["/etcdserverpb.KV/Range"] > 500 and proxy.methods["/etcdserverpb.Watch/Watch"] > 20
        )
    assert len(resources) > 60 and fired > 0
    assert await everything(furnished) == before


async def test_attaching_reads_little(furnished: EmbeddedEtcd, tmp_path: Path) -> None:
    async with serving(tmp_path, "--etcd", furnished.endpoint, "--record", str(tmp_path / "r")) as served:
        await served.until("/metrics", lambda text: "ktui" in text or "apiserver" in text)
        events: list[dict[str, Any]] = []
        async with served.http.stream("GET", "/telemetry") as telemetry:
            async for line in telemetry.aiter_lines():
                events.append(json.loads(line))
                if events[-1]["type"] == "prefix" and "/services/" in events[-1]["prefix"]:
                    break  # the census goes in key order: it is through
    # Only now: the recorder writes behind the telemetry's back.
    recorded = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()[1:]]
    calls = [event for event in recorded if event["type"] == "etcd_call" and event["op"] == "range"]
    assert len(calls) > 20
    values = [
        call
        for call in calls
        if "count_only:true" not in call["request"] and "keys_only:true" not in call["request"]
    ]
    secrets = [call for call in values if "/registry/secrets/" in call["request"]]
    assert secrets == [], "no value of a Secret is read before it is requested"
    pods = [call.get("count", 0) for call in values if "/registry/pods/" in call["request"]]
    assert sum(pods) <= 24, "pods are weighed by three of them at each of eight places"
    # Three values at each of eight places of each prefix: docs/etcd.md names the bound.
    assert sum(call.get("received_bytes", 0) for call in calls) < 500_000


# Using it all.


async def use_every_resource(served: Served) -> list[str]:
    """Read each resource in every way, then try to write it; the collections' paths."""
    collections = []
    groups = [group["preferredVersion"]["groupVersion"] for group in (await served.json("/apis"))["groups"]]
    for version in ("/api/v1", *(f"/apis/{group}" for group in groups)):
        for resource in (await served.json(version))["resources"]:
            if "/" not in resource["name"] and "list" in resource["verbs"]:
                namespace = "/namespaces/default" if resource["namespaced"] else ""
                collections.append(
                    (f"{version}/{resource['name']}", f"{version}{namespace}/{resource['name']}", resource)
                )
    some = asyncio.Semaphore(24)  # most of the time they wait for a WATCH to end

    async def use(path: str, place: str, kind: str) -> None:
        async with some:
            await read(served, path)
            await try_to_write(served, place, kind, version_of(path))

    await asyncio.gather(*(use(path, place, resource["kind"]) for path, place, resource in collections))
    return [path for path, _, _ in collections]


def version_of(path: str) -> str:
    return path.rpartition("/")[0].removeprefix("/apis/").removeprefix("/api/")


async def read(served: Served, path: str) -> None:
    """In every way if the collection holds something; else from etcd, from the cache, and by a WATCH."""
    listed = await served.until(path, lambda answer: "items" in answer)
    forms = LISTS if listed["items"] else OF_NOTHING
    answers = await asyncio.gather(*(served.http.get(path + query) for query in forms))
    if path == "/api/v1/componentstatuses":
        return  # they are in no etcd
    assert {answer.status_code for answer in answers} <= {200, 400, 429}, [a.text[:200] for a in answers]
    for item in listed["items"][:2]:
        namespace, name = item["metadata"].get("namespace"), item["metadata"]["name"]
        plural = path.rpartition("/")
        place = f"{plural[0]}/namespaces/{namespace}/{plural[2]}" if namespace else path
        table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        for query in ("", "?resourceVersion=0"):
            assert (await served.http.get(f"{place}/{name}{query}")).status_code == 200
        assert (await served.http.get(place, headers=table)).status_code in (200, 429)


async def try_to_write(served: Served, place: str, kind: str, version: str) -> None:
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": "intruder"}}
    merge = {"Content-Type": "application/merge-patch+json"}
    listed = (await served.http.get(place)).json().get("items") or [{"metadata": {"name": "nobody"}}]
    name = listed[0]["metadata"]["name"]
    ask = served.http.request
    answers = [
        await ask("POST", place, json=body),
        await ask("PUT", f"{place}/{name}", json={**body, "metadata": {"name": name}}),
        await ask("PATCH", f"{place}/{name}", content=b'{"metadata":{"labels":{"a":"b"}}}', headers=merge),
        await ask("DELETE", f"{place}/{name}"),
        await ask("DELETE", place),
    ]
    assert all(answer.status_code >= 400 or answer.json().get("items") == [] for answer in answers), [
        (place, answer.status_code, answer.text[:200]) for answer in answers
    ]


async def use_every_page(served: Served, collections: list[str]) -> None:
    for page in PAGES:
        assert (await served.http.get(page)).status_code == 200, page
    for page in (await served.json("/"))["paths"]:
        if page in STREAMS:
            async with served.http.stream("GET", page) as stream:
                assert await anext(stream.aiter_lines())
        elif "{}" not in page and page not in ("/ktui/v1/etcd/key", "/ktui/v1/etcd/history"):
            await served.http.get(page)
    keys = (await served.json("/ktui/v1/etcd/keys?prefix=/registry/&limit=400"))["keys"]
    for row in keys[::7]:
        for page in ("key", "history"):
            await served.json(f"/ktui/v1/etcd/{page}?key={row['key']}&reveal=1")
    leased = (await served.json("/ktui/v1/etcd/keys?prefix=/registry/events/"))["keys"][0]
    event = await served.json(f"/ktui/v1/etcd/key?key={leased['key']}")
    assert event["lease"] and event["ttl"] is None
    for resource in ("pods", "secrets", "widgets.example.io"):
        path = f"/ktui/v1/caches/{resource}"
        await served.http.post(f"{path}/warm")
        for page in ("objects", "events"):
            await served.http.get(f"{path}/{page}")
        await served.http.delete(f"{path}/warm")
    await served.http.put("/ktui/v1/behaviour", json={"kube_version": "1.24", "feature_gates": {}})
    await asyncio.gather(*(served.http.get(path) for path in collections))
    await served.http.put("/ktui/v1/behaviour", json={"kube_version": "1.36", "feature_gates": {}})


async def use_every_command(served: Served, directory: Path) -> None:
    log = directory / "audit.log"
    log.write_text(json.dumps(AUDIT_LINE) + "\n")
    attach = ("--attach", served.url)
    *_, refused = await asyncio.gather(
        command(served, "list", "/api/v1/pods?limit=7", "--all-pages", "--try", *attach),
        command(served, "bench", "kubelet", "--repeat", "1", *attach),
        command(served, "audit", str(log), *attach),
        command(served, "kubeconfig"),
        command(served, "seed", "--pods", "3", *attach, status=3),
    )
    assert "reads this etcd only" in refused or "403" in refused, refused


async def use_every_screen(served: Served) -> int:
    """Every mode, with every key that it binds, over a real connection; requests that the Lab fired."""
    app = KtuiApp(LiveSource(AttachLauncher(connection_from_url(served.url, "", None))))
    pressed: set[tuple[str, str]] = set()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.state.server is not None and len(app.state.prefixes) > 5)
        for mode in MODES:
            await press_every_key(pilot, mode, pressed)
            await pilot.press("down", "right", "enter", "y", "escape", "x", "y", "f", "a", "escape", "escape")
            paint_due()
            await pilot.pause()
        visited = {mode.name for mode in MODES}
        await until(pilot, lambda: any("ktui" in row.started.client for row in app.state.requests.values()))
        assert visited <= set(app._screen_stacks)
        await app.action_quit()  # else its connections are open when the loop of all tests is closed
        return sum("ktui" in row.started.client for row in app.state.requests.values())


async def until(pilot: Pilot[Any], holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await pilot.pause(0.02)


async def command(served: Served, *words: str, status: int = 0) -> str:
    """Run a command as a user would; what it printed."""
    env = {
        **os.environ,
        "HOME": str(served.home),
        "XDG_STATE_HOME": str(served.home),
        "XDG_RUNTIME_DIR": str(served.home),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ktui", *words),
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(90):
        out, _ = await process.communicate()
    assert process.returncode == status, f"ktui {words[0]}: {process.returncode} {out.decode()[-800:]}"
    return out.decode()


async def everything(etcd: EmbeddedEtcd) -> dict[bytes, tuple[bytes, int]]:
    """All keys of an etcd, their values and when they were written."""
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), Bus())
    found = await client.range(b"\0", b"\0")
    await client.close()
    return {kv.key: (kv.value, kv.mod_revision) for kv in found.kvs}


AUDIT_LINE = {
    "kind": "Event",
    "apiVersion": "audit.k8s.io/v1",
    "level": "Metadata",
    "auditID": "1",
    "stage": "ResponseComplete",
    "requestURI": "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1",
    "verb": "list",
    "user": {"username": "kubelet"},
    "userAgent": "kubelet/v1.30.0",
    "objectRef": {"resource": "pods", "apiVersion": "v1"},
    "responseStatus": {"code": 200},
    "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
    "stageTimestamp": "2026-01-01T00:00:00.100000Z",
}
