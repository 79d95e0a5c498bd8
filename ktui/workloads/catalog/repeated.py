"""Clients that repeat an action, for polling-controller, kubectl-users, helm and paged-export."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

from ktui.client.connection import ClientError
from ktui.workloads.behaviours.client_reflector import LoadReflector
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import Fix, LoadContext, Workload

Action = Callable[[LoadContext, LoadClient, int], Awaitable[None]]

MOST_PAGES = 1_000
PODS = "/api/v1/pods"


def repeated_workload(
    name: str,
    sentence: str,
    agent: str,
    forms: Mapping[str, tuple[str, Action]],
    *,
    clients: int,
    every: float,
) -> Workload:
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


@contextmanager
def _paced(context: LoadContext) -> Iterator[None]:
    """Compare the time of an action with the knob `interval`."""
    began = time.monotonic()
    try:
        yield
    finally:
        context.paced(time.monotonic() - began, context.knobs.number("interval"))


def get(path: str, label: str = "LIST", accept: str = "") -> Action:
    """Return an action that sends one GET or LIST; `{namespace}` and `{node}` become those of the client."""

    async def action(context: LoadContext, client: LoadClient, number: int) -> None:
        with _paced(context):
            await client.get(filled(path, context, number), label, accept=accept)

    return action


def pages(path: str, accept: str = "") -> Action:
    """Return an action that sends a LIST with a limit, and reads the pages after it."""

    async def action(context: LoadContext, client: LoadClient, number: int) -> None:
        first = page = filled(path, context, number)
        with _paced(context):
            for place in range(MOST_PAGES):
                answer = await client.get(
                    page, "page 1" if not place else "page 2+", accept=accept, keep=True
                )
                token = answer.metadata.continue_token if answer.ok else ""
                if not token:
                    return
                page = f"{first}&continue={quote(token, safe='')}"

    return action


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
    return path.replace("{node}", context.cluster.node(number)).replace(
        "{namespace}", namespaces[number % len(namespaces)]
    )
