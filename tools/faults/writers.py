"""Clients that write: through the API, past it, by compare-and-swap, by patches."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tools.faults.cluster import encoded
from tools.faults.objects import COUNTER, NAMES, NAMESPACES, PATCHED, SHARED, body, key_of
from tools.faults.records import Write
from tools.faults.workload import NO_ANSWER, Workload

_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"
_PAUSES = (0.0, 0.01, 0.05, 0.1)
SHARED_PATH = f"/api/v1/namespaces/{SHARED}/configmaps"


async def create_shared(load: Workload) -> None:
    """Create the namespaces, and the two objects that writers share."""
    for name in (*NAMESPACES, SHARED):
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await load.api.request("POST", "/api/v1/namespaces", document)
    for name, data in ((COUNTER, {"n": "0"}), (PATCHED, {"begin": "0"})):
        mark = load.marks.next("configmaps")
        load.records.writes.append(Write("create", key_of("configmaps", SHARED, name), mark.id))
        document = body("configmaps", SHARED, name, mark, data)
        status, answer = await load.api.request("POST", SHARED_PATH, document)
        if status != 201:
            raise RuntimeError(f"{name} cannot be created: {status} {answer}")


async def write_through_api(load: Workload, name: str) -> None:
    """Write ConfigMaps in every way, also with DELETE bound to a resourceVersion."""
    rnd = load.random(name)
    ops = ("create", "put", "put", "patch", "apply", "delete", "delete_bound")
    while True:
        op, namespace, target = rnd.choice(ops), rnd.choice(NAMESPACES), rnd.choice(NAMES)
        mark = load.marks.next("configmaps")
        write = Write(op, key_of("configmaps", namespace, target), mark.id)
        collection = f"/api/v1/namespaces/{namespace}/configmaps"
        document = body("configmaps", namespace, target, mark)
        load.records.counts["writes through the API"] += 1
        try:
            await _send(load, write, collection, target, document, f"fieldManager={name}&force=true")
        except NO_ANSWER as error:
            write.message = repr(error)[:100]
        load.records.writes.append(write)
        await asyncio.sleep(rnd.choice(_PAUSES))


async def _send(
    load: Workload, write: Write, collection: str, target: str, document: dict[str, Any], manager: str
) -> None:
    request, path = load.api.request, f"{collection}/{target}"
    metadata = {name: document["metadata"][name] for name in ("labels", "annotations")}
    match write.op:
        case "create":
            status, answer = await request("POST", collection, document)
        case "put":
            status, answer = await request("PUT", path, document)
        case "patch":
            status, answer = await request("PATCH", path, {"metadata": metadata}, _MERGE)
        case "apply":
            status, answer = await request("PATCH", f"{path}?{manager}", document, _APPLY)
        case "delete":
            status, answer = await request("DELETE", path)
        case _:
            status, answer = await request("GET", f"{path}?resourceVersion=0")
            if status != 200:
                write.op = "none"
                return
            found = answer["metadata"]["resourceVersion"]
            write.base = int(found)
            status, answer = await request("DELETE", path, {"preconditions": {"resourceVersion": found}})
    write.status, write.message = status, str(answer.get("message", ""))[:160]
    if write.acknowledged:
        load.records.counts["writes acknowledged"] += 1
        if not write.op.startswith("delete"):
            load.records.acknowledge(write, int(answer["metadata"]["resourceVersion"]))
            if answer["metadata"]["annotations"].get("mark") != metadata["annotations"]["mark"]:
                load.violations.add("a write was answered with another content", write=write, answer=answer)


async def write_past_api(load: Workload, name: str) -> None:
    """Send transactions of one to three keys to etcd, and bursts of single writes."""
    rnd = load.random(name)
    while True:
        if rnd.random() < 0.02:
            for _ in range(60):
                await _transact(load, [_some_put(load, rnd, "pods")])
        keys: dict[str, tuple[Write, dict[str, Any]]] = {}
        for _ in range(rnd.choice((1, 1, 1, 2, 3))):
            resource = rnd.choice(("pods", "pods", "configmaps"))
            write, request = _some_put(load, rnd, resource)
            if rnd.random() < 0.25:
                write.op, request = "delete_past", {"request_delete_range": {"key": encoded(write.key)}}
            keys.setdefault(write.key, (write, request))
        await _transact(load, list(keys.values()))
        await asyncio.sleep(rnd.choice(_PAUSES))


def _some_put(load: Workload, rnd: Any, resource: str) -> tuple[Write, dict[str, Any]]:
    namespace, name, mark = rnd.choice(NAMESPACES), rnd.choice(NAMES), load.marks.next(resource)
    key = key_of(resource, namespace, name)
    value = json.dumps(body(resource, namespace, name, mark))
    return Write("put_past", key, mark.id), {"request_put": {"key": encoded(key), "value": encoded(value)}}


async def _transact(load: Workload, writes: list[tuple[Write, dict[str, Any]]]) -> None:
    load.records.writes += [write for write, _ in writes]
    try:
        answer = await load.cluster.call("/v3/kv/txn", {"success": [request for _, request in writes]})
    except (*NO_ANSWER, RuntimeError):
        return
    load.records.counts["writes past the API"] += 1
    revision = int(answer["header"]["revision"])
    load.records.acknowledged = max(load.records.acknowledged, revision)
    for write, _ in writes:
        write.status = 200
        write.rv = revision if write.op == "put_past" else 0


async def count(load: Workload, name: str) -> None:
    """Read the counter, add one, and PUT it with its resourceVersion."""
    rnd, path = load.random(name), f"{SHARED_PATH}/{COUNTER}"
    key = key_of("configmaps", SHARED, COUNTER)
    while True:
        try:
            status, found = await load.api.request("GET", path + rnd.choice(("", "", "?resourceVersion=0")))
            if status == 200:
                mark = load.marks.next("configmaps")
                value, base = int(found["data"]["n"]) + 1, int(found["metadata"]["resourceVersion"])
                found["data"]["n"] = str(value)
                found["metadata"]["annotations"]["mark"] = str(mark)
                found["metadata"]["labels"]["colour"] = mark.colour
                write = Write("count", key, mark.id, base=base, value=value)
                load.records.writes.append(write)
                write.status, answer = await load.api.request("PUT", path, found)
                if write.acknowledged:
                    load.records.acknowledge(write, int(answer["metadata"]["resourceVersion"]))
                    load.records.counts["compare-and-swap writes acknowledged"] += 1
        except NO_ANSWER:
            pass
        await asyncio.sleep(rnd.choice((0.0, 0.02, 0.2)))


async def patch_shared(load: Workload, name: str) -> None:
    """Set this client's field in an object that others patch too."""
    rnd, number = load.random(name), 0
    key = key_of("configmaps", SHARED, PATCHED)
    while True:
        number += 1
        mark = load.marks.next("configmaps")
        write = Write(name, key, mark.id, value=number)
        load.records.writes.append(write)
        metadata = {"labels": {"colour": mark.colour}, "annotations": {"mark": str(mark)}}
        patch = {"data": {name: str(number)}, "metadata": metadata}
        try:
            write.status, answer = await load.api.request(
                "PATCH", f"{SHARED_PATH}/{PATCHED}", patch, rnd.choice((_MERGE, _STRATEGIC))
            )
            if write.acknowledged:
                load.records.acknowledge(write, int(answer["metadata"]["resourceVersion"]))
        except NO_ANSWER:
            pass
        await asyncio.sleep(0.15)
