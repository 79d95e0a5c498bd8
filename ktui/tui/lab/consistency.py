"""Compares a watch cache with etcd at the cache's own revision."""

from __future__ import annotations

from functools import partial

from ktui.client.connection import ClientError
from ktui.contract.caches import ConsistencyCheck, EtcdDigest
from ktui.core.format import integer, long_bytes, many, milliseconds
from ktui.kube.resources import Resource
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.lab.context import LabContext

# From this many objects on, the user is asked before an etcd that ktui did not start is read.
MANY_OBJECTS = 5_000


def check_consistency(lab: LabContext) -> None:
    """Compare the cache of the form's resource with etcd."""
    resource = lab.table.by_name(lab.form.resource)
    if resource is None:
        lab.say("name a resource first")
    elif lab.kube is not None:
        lab.say("only ktui's own server compares its caches with etcd")
    else:
        lab.screen.in_background(partial(_check, lab, resource), "consistency")


async def _check(lab: LabContext, resource: Resource) -> None:
    if not await _agreed(lab, resource):
        return
    try:
        answer = await lab.screen.server.check(resource.id)
    except ClientError as error:
        lab.fail(str(error))
        return
    lab.consistency = headline(resource.id, answer)
    lab.changed()
    lab.screen.app.push_screen(TextScreen(f"{resource.id}, cache and etcd", report(resource.id, answer)))


async def _agreed(lab: LabContext, resource: Resource) -> bool:
    row, server = lab.state.caches.get(resource.id), lab.state.server
    objects = row.cache.objects if row is not None else 0
    if objects <= MANY_OBJECTS or server is None or server.etcd_kind != "external":
        return True
    text = f"This reads {many(objects, 'object')} from an etcd that ktui did not start. Go on?"
    agreed: bool = await lab.screen.app.push_screen_wait(ConfirmScreen("compare with etcd", text))
    return agreed


def report(resource_id: str, answer: ConsistencyCheck) -> str:
    """Return the text on the result of `POST /ktui/v1/caches/…/check`."""
    sides = (("watch cache", answer.cache, "from memory"), ("etcd", answer.etcd, _read(answer.etcd)))
    rows = [
        f"  {name:<12} {integer(side.objects):>10}   {side.digest}   {cost}" for name, side, cost in sides
    ]
    dropped = ["", "The cache's snapshots were dropped: LISTs at an exact resourceVersion go to etcd."]
    return "\n".join(
        [
            headline(resource_id, answer),
            "",
            f"  {'':<12} {'objects':>10}   {'digest':<16}",
            *rows,
            "",
            "The digest is FNV-1 (64 bit) over namespace/name/resourceVersion of every object in key",
            "order, as kube-apiserver's own consistency check makes it. etcd was read at exactly the",
            "resourceVersion that the cache had, in pages.",
            *([] if answer.consistent else dropped),
        ]
    )


def headline(resource_id: str, answer: ConsistencyCheck) -> str:
    """`pods: cache = etcd at rv 48,102 (3,000 objects, 41 ms)`."""
    sign = "=" if answer.consistent else "≠"
    objects = integer(answer.etcd.objects)
    return (
        f"{resource_id}: cache {sign} etcd at RV {integer(int(answer.rv))} "
        f"({objects} objects, {milliseconds(answer.ms)} ms)"
    )


def _read(etcd: EtcdDigest) -> str:
    return f"{many(etcd.rpcs, 'RPC')}, {long_bytes(etcd.bytes)}"
