"""fan-out: one change of an object is sent to many watchers, some of which have a selector.

Objects enter and leave a label selector, for which the cache sends ADDED and DELETED events. kube-apiserver's
deep copies and encodings are computed by its rule for every event that the watchers received.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, FanOut
from ktui.core.format import figure, integer, long_bytes
from ktui.kube.access_pattern import JSON
from ktui.workloads.behaviours.event_audiences import (
    PLAIN,
    SELECTING,
    TABLE,
    EventAudiences,
    Written,
    work_by_version,
)
from ktui.workloads.behaviours.watch_events import watch_lines
from ktui.workloads.demo.pods import MERGE
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import LoadAnswer, LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
LABEL = "ktui-fan-out"
AS_TABLE = f"{JSON};as=Table;g=meta.k8s.io;v=v1"
WATCH_SECONDS = 600
SETTLED = 1.0  # seconds after which every watcher has received an event
BACKOFF_SECONDS = 1.0
# Before and after each of the two changes that an article counts as one.
SELF_LINK_RELEASES = ("1.20 – 1.23 gate off", "1.20 – 1.23", "1.24 – 1.28")

KNOBS = (
    Knob("watchers", 100, "watches of the namespace's ConfigMaps", least=1, most=400),
    Knob("selecting", 30, "percent of them with a label selector", most=90, unit="%"),
    Knob("tables", 10, "percent of them as Table, like `kubectl get -w`", most=90, unit="%"),
    Knob("changes", 5.0, "changes a second", least=0.1, most=100, unit="/s", former="rate"),
    Knob("size", 2_000, "bytes of data in each object", least=0, most=200_000, unit="B"),
)


class LifeStep(NamedTuple):
    """One change in an object's life; `selected` is whether it has the label afterwards."""

    name: str
    verb: str
    change: str
    selected: bool


LIFE = (
    LifeStep("created outside", "POST", "ADDED", False),
    LifeStep("enters", "PATCH", "MODIFIED", True),
    LifeStep("changes inside", "PATCH", "MODIFIED", True),
    LifeStep("leaves", "PATCH", "MODIFIED", False),
    LifeStep("changes outside", "PATCH", "MODIFIED", False),
    LifeStep("enters again", "PATCH", "MODIFIED", True),
    LifeStep("deleted inside", "DELETE", "DELETED", True),
)


async def run(context: LoadContext) -> None:
    """Watch and write until the run ends; a changed knob opens the watches again."""
    seen = context.memory.setdefault("seen", EventAudiences(LABEL))
    samples: list[FanOut] = context.memory.setdefault("samples", [])

    def sample(event: AnyEvent) -> None:
        if isinstance(event, FanOut) and event.name.startswith(_prefix(context)):
            samples.append(event)

    context.account.observers.append(sample)
    try:
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    watches = [group.create_task(watch) for watch in await _watches(context, seen)]
                    await _write(context, seen, len(watches))
                    for task in watches:
                        task.cancel()
            finally:
                seen.fold(0.0)  # before later writes: a write that was cut off has no answer
    finally:
        context.account.observers.remove(sample)


def _prefix(context: LoadContext) -> str:
    return f"fan-out-{context.run}{context.variant.lower()}-"


async def _watches(context: LoadContext, seen: EventAudiences) -> list[Any]:
    """Send a LIST for the resourceVersion, and open the watches of each group from there."""
    knobs = context.knobs
    watchers = knobs.integer("watchers")
    tables = round(watchers * knobs.integer("tables") / 100)
    selecting = min(round(watchers * knobs.integer("selecting") / 100), watchers - tables)
    answer = await context.client("fan-out").get(f"{CONFIGMAPS}?limit=1", "LIST", keep=True)
    version = answer.metadata.resource_version
    if not (answer.ok and version.isdecimal()):
        raise ClientError(f"cannot list {CONFIGMAPS}: HTTP {answer.status}")
    groups = [TABLE] * tables + [SELECTING] * selecting + [PLAIN] * (watchers - tables - selecting)
    return [_watch(context, seen, group, version) for group in groups]


async def _watch(context: LoadContext, seen: EventAudiences, group: str, version: str) -> None:
    """Run one watcher from `version` on; reopen the watch when its stream ends."""
    client = context.client(f"fan-out-{group}")
    selector = f"&labelSelector={LABEL}%3Din" if group == SELECTING else ""
    query = f"watch=true&resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}{selector}"
    accept = AS_TABLE if group == TABLE else ""
    while True:
        pieces = client.watch(f"{CONFIGMAPS}?{query}", f"WATCH {group}", accept=accept)
        try:
            async for line in watch_lines(pieces):
                seen.received(group, line, _prefix(context))
        except ClientError:
            context.count("watches_broken")
        await asyncio.sleep(BACKOFF_SECONDS)


async def _write(context: LoadContext, seen: EventAudiences, watchers: int) -> None:
    """Create, change and delete objects in turn, until a knob changes; always delete the last one."""
    client = context.client("fan-out-writer")
    for number in itertools.count():
        name = f"{_prefix(context)}{number}"
        try:
            for step in LIFE:
                if step.verb == "DELETE":
                    seen.deleting(Written(step.name, step.change, name, "", watchers))
                began = time.monotonic()
                answer = await _change(context, client, name, step)
                context.paced(time.monotonic() - began, 1 / context.knobs.number("changes"))
                if answer.ok:
                    if step.verb != "DELETE":
                        version = answer.metadata.resource_version
                        seen.written(Written(step.name, step.change, name, version, watchers))
                    context.count("changes")
                seen.fold(SETTLED)
                context.now = f"{integer(seen.delivered)} events delivered"
                if await context.pause(1 / context.knobs.number("changes")):
                    return
        finally:
            if step.verb != "DELETE":
                seen.deleting(Written("", "DELETED", name, "", watchers))
                await client.write("DELETE", f"{CONFIGMAPS}/{name}", None, "delete")


async def _change(context: LoadContext, client: LoadClient, name: str, step: LifeStep) -> LoadAnswer:
    if step.verb == "DELETE":
        return await client.write("DELETE", f"{CONFIGMAPS}/{name}", None, "delete")
    metadata = {"name": name, "labels": {LABEL: "in" if step.selected else "out"}}
    data = {"step": step.name, "data": "x" * context.knobs.integer("size")}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    if step.verb == "POST":
        return await client.write("POST", CONFIGMAPS, body, "create")
    return await client.write("PATCH", f"{CONFIGMAPS}/{name}", body, "change", content_type=MERGE)


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    seen: EventAudiences | None = context.memory.get("seen")
    if seen is None:
        return []
    seen.fold(SETTLED)
    if not seen.steps:
        return []
    return [_work(context, account, seen), _saved(seen), _received(seen)]


def _work(context: LoadContext, account: Account, seen: EventAudiences) -> FindingsTable:
    events = sum(figures.events for figures in seen.steps.values())
    delivered = sum(figures.delivered for figures in seen.steps.values())
    rows = [
        (
            name, integer(work.copies), integer(work.encodings), integer(work.links),
            long_bytes(work.copied_bytes), long_bytes(work.encoded_bytes), figure(work.seconds * 1e3),
            figure(work.encodings / events),
        )
        for name, work in work_by_version(seen.steps).items()
    ]  # fmt: skip
    samples: Sequence[FanOut] = context.memory["samples"]
    if samples:
        each = sum(sample.encodings for sample in samples) / len(samples)
        rows.append((f"ktui, {integer(len(samples))} sampled", "none", "", "none", "", "", "", figure(each)))
    heads = ("version", "copies", "encodings", "selfLinks", "copied", "encoded", "CPU ms", "enc./event")
    watching = [
        figures.spent.cpu_ms
        for (variant, label), figures in account.labels.items()
        if variant == context.variant and label.startswith("WATCH")
    ]
    notes = (
        f"by each version's rule, followed for the {integer(events)} events that were delivered "
        f"{integer(delivered)} times; gate: RemoveSelfLink",
        "CPU: as many copies and encodings of the real object as timed in this process (Python)",
        f"measured: {figure(sum(watching))} ms of CPU in ktui's server for these watches; it copies nothing",
    )
    return FindingsTable("deep copies and encodings by version", heads, tuple(rows), notes)


def _saved(seen: EventAudiences) -> FindingsTable:
    """Return the deep copies that removing selfLinks saved: by the article's count, and by the code's."""
    work = work_by_version(seen.steps)
    deleted = sum(figures.events for figures in seen.steps.values() if figures.change == "DELETED")
    others = sum(figures.events for figures in seen.steps.values()) - deleted
    copies = [work[release].copies for release in SELF_LINK_RELEASES]
    rows = (
        ("the article: selfLinks removed", "1", "2", integer(deleted + 2 * others)),
        ("the code: the gate RemoveSelfLink (on in 1.20)", "0", "0", integer(copies[0] - copies[1])),
        ("the code: wrapped without a copy (1.24)", "0", "1", integer(copies[1] - copies[2])),
    )
    heads = ("deep copies saved", "per DELETED", "per other event", "in this run")
    note = "the article counts two changes as one: 1.20 stops writing the link, 1.24 therefore stops copying"
    title = "what removing selfLinks saved, by the article and by the code"
    return FindingsTable(title, heads, rows, (note,))


def _received(seen: EventAudiences) -> FindingsTable:
    """Return each step's newest event: its type in etcd, and as both kinds of watchers received it."""
    rows = []
    for step in LIFE:
        figures = seen.steps.get(step.name)
        if figures is None:
            continue
        version, got = figures.last
        groups = (_got(got, group) for group in (PLAIN, SELECTING, TABLE))
        rows.append((step.name, f"{step.change} {version}", *groups))
    heads = ("the object …", "in etcd", "without selector", "with selector", "as Table")
    notes = (
        "watchers × event (value of the label in the event's object)",
        f"the resourceVersion is that of the change in all events but {integer(seen.strays)}",
        "who loses the object gets DELETED with the previous object, whose label still matches",
        *([f"{integer(seen.late)} events came too late to be counted"] if seen.late else ()),
    )
    return FindingsTable("one change at each watcher", heads, tuple(rows), notes)


def _got(got: dict[tuple[str, str], tuple[int, str]], group: str) -> str:
    found = [
        f"{integer(count)} × {type_} ({label})" for (of, type_), (count, label) in got.items() if of == group
    ]
    return ", ".join(found) or "nothing"


WORKLOAD = Workload(
    name="fan-out",
    sentence="One change goes out to many watchers: how often is its object copied and encoded, by version?",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=(
        Fix("no selectors: every watcher takes the same", ("selecting=0",)),
        Fix("every third selects", ("selecting=30",)),
        Fix("half as Tables: up to 1.28 each encodes its own", ("tables=50",)),
        Fix("no Tables", ("tables=0",)),
        Fix("two watchers: up to 1.23 they share nothing", ("watchers=2", "selecting=0", "tables=0")),
        Fix("large objects (100 kB)", ("size=100000",)),
    ),
    writes=True,
)  # fmt: skip
