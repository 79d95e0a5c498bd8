"""Additional clients of the demo cluster, so that the log shows every kind of answer: C, S, E, W and !."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.workloads.behaviours.client_reflector import LoadReflector
from ktui.workloads.demo.light_traffic import WATCH_SECONDS, demo_client
from ktui.workloads.running.fleet import Fleet

PODS = "/api/v1/pods"
CONFIGMAPS = "/api/v1/configmaps"
REFUSED = (
    "/api/v1/pods?fieldSelector=spec.nodename%3Dnode-01",
    "/api/v1/namespaces/shop/configmaps/no-such-map",
)
WATCHING = (
    ("argocd-application-controller/v3.1", PODS, ""),
    ("otel-collector/0.128", PODS, "fieldSelector=spec.nodeName%3Dnode-01"),
    ("ingress-controller/v1.13", "/apis/discovery.k8s.io/v1/endpointslices", ""),
    ("external-secrets/v0.19", "/api/v1/secrets", ""),
)


async def visit(connection: ServerConnection) -> None:
    """Read in many ways until cancelled."""
    fleet = Fleet(connection)
    async with contextlib.AsyncExitStack() as after, asyncio.TaskGroup() as group:
        after.push_async_callback(fleet.close)
        group.create_task(_ahead(ApiClient(connection, "deploy-controller/v2.4")))
        group.create_task(_exact(ApiClient(connection, "backup-operator/v1.2")))
        group.create_task(_refused(ApiClient(connection, "home-grown-script/0.1")))
        for client, collection, selector in WATCHING:
            watching = demo_client(fleet, client)
            group.create_task(LoadReflector(watching, collection, selector, seconds=WATCH_SECONDS).run())


async def _ahead(client: ApiClient) -> None:
    """Request a revision that the cache does not have yet, so that the request waits."""
    while True:
        with contextlib.suppress(ClientError):
            await client.send_timed(f"{CONFIGMAPS}?resourceVersion={await _head(client) + 8}")
        await asyncio.sleep(1.5)


async def _exact(client: ApiClient) -> None:
    """Read at a recent revision, which a snapshot of the cache has."""
    while True:
        with contextlib.suppress(ClientError):
            await client.send_timed(
                f"{PODS}?resourceVersion={await _head(client) - 9}&resourceVersionMatch=Exact"
            )
        await asyncio.sleep(16)


async def _refused(client: ApiClient) -> None:
    """Request what does not exist: an unknown field selector, an unknown object."""
    for path in itertools.cycle(REFUSED):
        with contextlib.suppress(ClientError):
            await client.send_timed(path)
        await asyncio.sleep(9)


async def _head(client: ApiClient) -> int:
    """Return etcd's newest revision, with a request that is not logged."""
    answer = await client.get_json("/ktui/v1/etcd/keys?prefix=/registry/configmaps/&limit=1")
    return int(answer["revision"])
