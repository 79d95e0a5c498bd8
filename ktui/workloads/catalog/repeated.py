"""polling-controller, kubectl-users, helm and paged-export: clients that repeat an action."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import quote

from ktui.client.connection import ClientError
from ktui.kube.access_pattern import JSON, METADATA_ONLY
from ktui.workloads.behaviours.client_reflector import LoadReflector
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import Fix, LoadContext, Workload

Action = Callable[[LoadContext, LoadClient, int], Awaitable[None]]

MOST_PAGES = 1_000
PODS = "/api/v1/pods"


def repeated_workload(
    name: str, sentence: str, agent: str, forms: Mapping[str, tuple[str, Action]],
    *, clients: int, every: float,
) -> Workload:  # fmt: skip
    """Return a workload of `clients` that do an action every `every` seconds, in one of several forms.

    `forms` has a sentence (the title of the form's fix) and the action of each; the first form is the
    inefficient one.
    """
    first = next(iter(forms))
    about = "; ".join(f"{form}: {about}" for form, (about, _) in forms.items())
    knobs = (
        Knob("clients", clients, "clients, each at its own moment", least=1, most=500),
        Knob(
            "interval", every, "seconds between two actions of a client", least=0.05, most=3_600, unit="s",
            former="every",
        ),
        Knob("form", first, about, tuple(forms)),
    )  # fmt: skip

    async def run(context: LoadContext) -> None:
        context.begin(context.knobs.text("form"))
        async with asyncio.TaskGroup() as group:
            for number in range(context.knobs.integer("clients")):
                group.create_task(_client(context, context.client(agent), number, forms))

    fixes = tuple(Fix(f"{form}: {text}", (f"form={form}",)) for form, (text, _) in forms.items())
    return Workload(name, sentence, knobs, run, fixes=fixes)


async def _client(
    context: LoadContext, client: LoadClient, number: int, forms: Mapping[str, tuple[str, Action]]
) -> None:
    await asyncio.sleep(context.rng.random() * context.knobs.number("interval"))
    while True:
        _, action = forms[context.knobs.text("form")]
        try:
            await action(context, client, number)
        except ClientError:
            context.count("failed_actions")
        await asyncio.sleep(context.knobs.number("interval"))


def _paced(path: str, send: Callable[[LoadClient, str], Awaitable[object]]) -> Action:
    """Return an action that sends requests of a client's path; its time is compared with `interval`."""

    async def action(context: LoadContext, client: LoadClient, number: int) -> None:
        began = time.monotonic()
        try:
            await send(client, filled(path, context, number))
        finally:
            context.paced(time.monotonic() - began, context.knobs.number("interval"))

    return action


def get(path: str, accept: str = "") -> Action:
    return _paced(path, lambda client, filled: client.get(filled, "LIST", accept=accept))


def pages(path: str, accept: str = "") -> Action:
    """Return an action that sends a LIST with a limit, and reads the pages after it."""

    async def send(client: LoadClient, first: str) -> None:
        page, label = first, "page 1"
        for _ in range(MOST_PAGES):
            answer = await client.get(page, label, accept=accept, keep=True)
            token = answer.metadata.continue_token if answer.ok else ""
            if not token:
                return
            page, label = f"{first}&continue={quote(token, safe='')}", "page 2+"

    return _paced(path, send)


def informer(path: str) -> Action:
    """Return an action that LISTs from the cache, then WATCHes from there until the server ends it."""

    async def action(context: LoadContext, client: LoadClient, number: int) -> None:
        reflector = LoadReflector(client, filled(path, context, number))
        await reflector.send_list()
        await reflector.send_watch()

    return action


def filled(path: str, context: LoadContext, number: int) -> str:
    """Return the path for one client; clients are distributed over nodes and namespaces."""
    namespaces = context.cluster.namespaces
    namespace = namespaces[number % len(namespaces)]
    return path.replace("{node}", context.cluster.node(number)).replace("{namespace}", namespace)


# The Accept of kubectl: the server prints the table.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
OF_NAMESPACE = "/api/v1/namespaces/{namespace}"
RELEASES = "labelSelector=owner%3Dhelm"

WORKLOADS = (
    repeated_workload(
        "polling-controller",
        "Controllers that poll: all pods again and again, from etcd, from the cache, or by one watch.",
        "polling-controller/v0.3",
        {
            "poll": ("LIST all pods without resourceVersion", get(PODS)),
            "cached": ("the same with resourceVersion=0", get(f"{PODS}?resourceVersion=0")),
            "namespace": ("one namespace only", get(f"{OF_NAMESPACE}/pods?resourceVersion=0")),
            "informer": ("LIST once, then WATCH", informer(PODS)),
        },
        clients=5, every=2.0,
    ),
    repeated_workload(
        "kubectl-users",
        "People with kubectl: `watch kubectl get pods -A`, a label, a namespace, one pod's node.",
        "kubectl/v1.36.2 (linux/amd64)",
        {
            "all": ("kubectl get pods -A, in pages of 500", pages(f"{PODS}?limit=500", TABLE)),
            "raw": ("kubectl get --raw /api/v1/pods, all at once", get(PODS)),
            "label": ("kubectl get pods -A -l tier=backend",
                      pages(f"{PODS}?labelSelector=tier%3Dbackend&limit=500", TABLE)),
            "namespace": ("kubectl get pods -n", pages(f"{OF_NAMESPACE}/pods?limit=500", TABLE)),
            "cached": ("kubectl get --raw with resourceVersion=0", get(f"{PODS}?resourceVersion=0")),
        },
        clients=10, every=2.0,
    ),
    repeated_workload(
        "helm",
        "Pipelines that run `helm list -A`: every release Secret is read with its payload, for a few labels.",
        "Helm/4.0.1",
        {
            "all": ("helm list -A: all Secrets with owner=helm", get(f"/api/v1/secrets?{RELEASES}")),
            "namespace": ("helm list -n: one namespace", get(f"{OF_NAMESPACE}/secrets?{RELEASES}")),
            "metadata": ("labels only: PartialObjectMetadata",
                         get(f"/api/v1/secrets?{RELEASES}", accept=f"{JSON};{METADATA_ONLY}")),
            "pages": ("pages of 100", pages(f"/api/v1/secrets?{RELEASES}&limit=100")),
            "cached": ("with resourceVersion=0", get(f"/api/v1/secrets?{RELEASES}&resourceVersion=0")),
        },
        clients=5, every=2.0,
    ),
    repeated_workload(
        "paged-export",
        "Exporters that read all pods: at once, in pages, in pages with a selector, from the cache.",
        "inventory-export/2.0",
        {
            "whole": ("all pods in one answer", get(PODS)),
            "pages": ("pages of 100, each consistent with the first", pages(f"{PODS}?limit=100")),
            "selected": ("pages of 100 that match a rare label: many keys are read for few",
                         pages(f"{PODS}?labelSelector=app%3Dcart&limit=100")),
            "ignored": ("limit with resourceVersion=0: the limit is ignored",
                        pages(f"{PODS}?limit=100&resourceVersion=0")),
            "cached": ("resourceVersion=0, no limit", get(f"{PODS}?resourceVersion=0")),
        },
        clients=3, every=3.0,
    ),
)  # fmt: skip
