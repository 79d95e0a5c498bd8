"""time-travel: a client moves from a current replica to one that is behind (kubernetes#59848)."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass, field

import msgspec

from ktui.client.connection import ClientError
from ktui.contract.faults import Fault
from ktui.core.format import integer, milliseconds
from ktui.workloads.behaviours.changes import CHANGED
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob, WorkloadError
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

OLD_NODE, NEW_NODE = "node-1", "node-2"
FORMS = {
    "0": "resourceVersion=0: whatever the replica has",
    "last": "resourceVersion of the newest that it has seen, as client-go since 1.18",
    "unset": "no resourceVersion: current, whatever that costs",
}
ALL = "all"

KNOBS = (
    Knob("relist", ALL, "; ".join(map(": ".join, FORMS.items())), (ALL, *FORMS)),
    Knob(
        "behind", 10.0, "seconds for which the first replica's watches deliver nothing", least=4, most=60,
        unit="s",
    ),
    Knob("interval", 4.0, "seconds between two journeys", least=0, most=600, unit="s", former="every"),
)  # fmt: skip


class _Pod(msgspec.Struct):
    data: dict[str, str] = {}


class _Pods(msgspec.Struct):
    items: list[_Pod] = []


@dataclass(slots=True)
class Journey:
    """LISTs of one form at the replica that is behind; `past` counts those that showed a deleted object."""

    sent: int = 0
    past: int = 0
    current: int = 0
    refused: int = 0
    behind: int = 0  # the most revisions
    ms: list[float] = field(default_factory=list)


async def run(context: LoadContext) -> None:
    """Repeatedly move an object between nodes while a replica is behind, and read it there."""
    if context.replica is None:
        raise WorkloadError("time-travel needs a second replica: it is started over an embedded etcd only")
    journeys: dict[str, Journey] = context.memory.setdefault("journeys", {})
    first, second = context.client("informer/v1.36.2"), context.replica_client("informer/v1.36.2")
    writer = context.client("statefulset-controller/v1")
    name = f"ktui-workload-{context.run}{context.variant.lower()}-web-0"
    one = f"{CHANGED}?fieldSelector=metadata.name%3D{name}"
    try:
        for _ in itertools.count():
            context.begin("level")
            await _place(writer, name, OLD_NODE)
            seen = await _current(first, one)
            context.begin("behind")
            await context.inject(Fault("stall", context.knobs.number("behind")))
            await writer.write("DELETE", f"{CHANGED}/{name}", None, "delete")
            await _place(writer, name, NEW_NODE)
            seen = max(seen, await _current(second, one))
            versions = {"0": "&resourceVersion=0", "last": f"&resourceVersion={seen}", "unset": ""}
            chosen = context.knobs.text("relist")
            for form in FORMS if chosen == ALL else (chosen,):
                counts = journeys.setdefault(form, Journey())
                await _travel(context, first, f"{one}{versions[form]}", form, seen, counts)
            context.begin("after")
            await writer.write("DELETE", f"{CHANGED}/{name}", None, "delete")
            await context.pause(context.knobs.number("behind") + context.knobs.number("interval"))
    finally:
        with contextlib.suppress(ClientError):
            await writer.write("DELETE", f"{CHANGED}/{name}", None, "delete")


async def _place(writer: LoadClient, name: str, node: str) -> None:
    body = {"metadata": {"name": name}, "data": {"node": node}}
    await writer.write("POST", CHANGED, body, f"web-0 on {node}")


async def _current(client: LoadClient, path: str) -> int:
    return int((await client.read(path, "consistent LIST")).metadata.resource_version or 0)


async def _travel(
    context: LoadContext, client: LoadClient, path: str, form: str, seen: int, counts: Journey
) -> None:
    answer = await client.read(path, f"LIST rv {form}")
    counts.sent += 1
    counts.ms.append(answer.ms)
    if not answer.ok:
        counts.refused += 1
        context.now = f"rv {form}: HTTP {answer.status} after {answer.ms:.0f} ms"
        return
    behind = seen - int(answer.metadata.resource_version or 0)
    pods = msgspec.json.decode(answer.body, type=_Pods).items
    nodes = [pod.data.get("node", "") for pod in pods]
    counts.behind = max(counts.behind, behind)
    if OLD_NODE in nodes:
        counts.past += 1
        context.count("time_travels")
    else:
        counts.current += 1
    distance = f"{abs(behind)} revisions {'behind' if behind >= 0 else 'ahead'}"
    context.now = f"rv {form}: web-0 on {', '.join(nodes) or 'no node'}, {distance}"


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    rows = tuple(
        (
            f"rv {form}",
            *map(integer, (counts.sent, counts.past, counts.current, counts.refused, counts.behind)),
            milliseconds(max(counts.ms)),
        )
        for form, counts in context.memory.get("journeys", {}).items()
        if counts.ms
    )
    heads = ("LIST", "sent", "past", "current", "refused", "behind by", "most ms")
    notes = (
        f"past: web-0 on {OLD_NODE}, which the client has seen deleted there and created on {NEW_NODE}",
        "refused: 504, Too large resource version: the client tries again until the replica has caught up",
    )
    title = "the client goes from a current replica to one that is behind"
    return [FindingsTable(title, heads, rows, notes)] if rows else []


WORKLOAD = Workload(
    name="time-travel",
    sentence="Two replicas at different revisions: a client sees an object again that it saw deleted.",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=tuple(Fix(about, (f"relist={form}",)) for form, about in FORMS.items()), writes=True,
    faults=("stall",), replica=True,
)  # fmt: skip
