"""Writes that cost much CPU time or memory, and what becomes of them: each may cost only its sender."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

from tools.hostile.case import case
from tools.hostile.costly import (
    APPLY,
    CRDS,
    DRY,
    EVILS,
    JSON_PATCH,
    MAPS,
    MERGE,
    PODS,
    SERVICES,
    STRATEGIC,
    containers,
    definition,
    evil,
    keys,
    named,
    patch,
    ports,
    post,
    with_managers,
    with_maps,
    with_patterns,
    with_pod,
)
from tools.hostile.target import ADMIN, MALLORY, Broken, Target

# Patterns.
post(
    "pattern_nested",
    "45 letters for the pattern ^(a+)+$",
    (422,),
    EVILS,
    lambda: evil(nested="a" * 45 + "!"),
    before=with_patterns,
    user=ADMIN,
)
post(
    "pattern_alternatives",
    "3 MB for the pattern ^(a|a|b)*c$",
    (422,),
    EVILS,
    lambda: evil(either="ab" * 1_400_000),
    before=with_patterns,
    user=ADMIN,
)
post(
    "pattern_counted",
    "15 KB for a pattern whose automaton has 2^900 states",
    (422,),
    EVILS,
    lambda: evil(counted="ab" * 7_500),
    before=with_patterns,
    user=ADMIN,
)
post(
    "pattern_counted_large",
    "3 MB for that pattern",
    (422,),
    EVILS,
    lambda: evil(counted="ab" * 1_400_000),
    before=with_patterns,
    user=ADMIN,
)
post(
    "enum_of_many",
    "50,000 values for an enum of 20,000",
    (422, 201),
    EVILS,
    lambda: evil(many=[f"e{n % 20_001}" for n in range(50_000)]),
    before=with_patterns,
    user=ADMIN,
)
post(
    "definition_of_patterns",
    "a definition with 2,000 patterns that compile to 10,000 steps each",
    (201, 422, 504),
    CRDS,
    lambda: definition(
        "slows", {f"p{n}": {"type": "string", "pattern": f"x{n}((.{{10}}){{10}}){{9}}"} for n in range(2000)}
    ),
    user=ADMIN,
    within=75,
)
post(
    "definition_of_long_names",
    "a definition with 10,000 properties below a name of 1 MB",
    (413, 422),
    CRDS,
    lambda: definition(
        "longs",
        {
            "n" * 1_000_000: {
                "type": "object",
                "properties": {f"p{n}": {"type": "string", "pattern": "+"} for n in range(10_000)},
            }
        },
    ),
    user=ADMIN,
)
# Services.
for number in (2_700, 3_000, 10_000, 30_000):
    post(
        f"node_ports_{number}",
        f"a Service with {number:,} node ports, which a dry run does not count, as upstream",
        (201,),
        SERVICES,
        lambda number=number: ports(number),
    )  # type: ignore[misc]
post(
    "node_ports_given",
    "a Service with the same node port 30,000 times",
    (422,),
    SERVICES,
    lambda: ports(30_000, nodePort=30_001),
)
post(
    "cluster_ports",
    "a Service with 30,000 ports",
    (201, 413, 422, 500),
    SERVICES,
    lambda: ports(30_000, "ClusterIP"),
)
post(
    "service_selector",
    "a Service that selects 50,000 labels",
    (201, 413, 422, 500),
    SERVICES,
    lambda: named("s", spec={"ports": [{"port": 1}], "selector": keys(50_000)}),
)
# Patches.
patch(
    "strategic_new",
    "a strategic merge patch of 30,000 new containers",
    (422,),
    STRATEGIC,
    f"{PODS}/p500",
    lambda: {"spec": {"containers": containers(30_000, 1000)}},
    before=with_pod,
)
patch(
    "strategic_same",
    "a strategic merge patch that names a container 30,000 times",
    (200, 422),
    STRATEGIC,
    f"{PODS}/p500",
    lambda: {"spec": {"containers": [{"name": "c1", "image": "j"}] * 30_000}},
    before=with_pod,
)
patch(
    "strategic_finalizers",
    "a strategic merge patch of 60,000 finalizers",
    (200, 422, 413),
    STRATEGIC,
    f"{PODS}/p500",
    lambda: {"metadata": {"finalizers": [f"a.b/{n}" for n in range(60_000)]}},
    before=with_pod,
)
patch(
    "json_patch_inserts",
    "10,000 insertions at the beginning of a list",
    (200, 422),
    JSON_PATCH,
    f"{PODS}/p500",
    lambda: [{"op": "add", "path": "/spec/containers/0", "value": c} for c in containers(10_000, 1000)],
    before=with_pod,
)
patch(
    "json_patch_tests",
    "10,000 tests of the whole list of containers",
    (200, 422, 413),
    JSON_PATCH,
    f"{PODS}/p500",
    lambda: [{"op": "test", "path": "/spec/containers", "value": containers(30)}] * 1_500,
    before=with_pod,
)
patch(
    "json_patch_copies",
    "10,000 copies that double",
    (422, 413),
    JSON_PATCH,
    f"{PODS}/p500",
    lambda: [{"op": "copy", "from": "/spec", "path": f"/spec/x{n}"} for n in range(10_000)],
    before=with_pod,
)
patch(
    "tolerations",
    "a strategic merge patch of 30,000 tolerations",
    (200, 422),
    STRATEGIC,
    f"{PODS}/p500",
    lambda: {"spec": {"tolerations": [{"key": f"k{n}", "operator": "Exists"} for n in range(30_000)]}},
    before=with_pod,
)
patch(
    "merge_keys",
    "a merge patch of 50,000 keys",
    (200, 413),
    MERGE,
    f"{MAPS}/m0",
    lambda: {"data": keys(50_000)},
    before=with_maps,
)
patch(
    "apply_keys",
    "an apply of 40,000 keys",
    (200, 201, 413),
    APPLY,
    f"{MAPS}/applied?fieldManager=a&force=true",
    lambda: {"apiVersion": "v1", "kind": "ConfigMap", **named("applied", data=keys(40_000))},
)
patch(
    "apply_conflicts",
    "an apply that conflicts with 3,000 managers",
    (409,),
    APPLY,
    f"{MAPS}/managed?fieldManager=a",
    lambda: {"apiVersion": "v1", "kind": "ConfigMap", **named("managed", data=keys(3000, "w"))},
    before=with_managers,
)
patch(
    "many_managers",
    "a merge patch of an object with 3,000 managers",
    (200,),
    MERGE,
    f"{MAPS}/managed",
    lambda: {"data": keys(3000, "x")},
    before=with_managers,
)
patch(
    "apply_containers",
    "an apply of the same container 30,000 times",
    (500, 422, 409, 400),
    APPLY,
    f"{PODS}/p500?fieldManager=a&force=true",
    lambda: {
        "apiVersion": "v1",
        "kind": "Pod",
        **named("p500", spec={"containers": [{"name": "c1", "image": "j"}] * 30_000}),
    },
    before=with_pod,
)


@case("20 LISTs at once with 6,000 requirements each", within=30)
async def parallel_selectors(target: Target) -> str:
    await with_maps(target)
    path = f"{MAPS}?labelSelector={quote(','.join(f'!k{n}' for n in range(6000)))}"
    began = target.cpu_seconds()
    answers = await asyncio.gather(*(target.send("GET", path, user=MALLORY) for _ in range(20)))
    target.expect(all(each.status in (200, 429) for each in answers), answers[0])
    slowest, spent = max(each.seconds for each in answers), target.cpu_seconds() - began
    return f"slowest {slowest:.2f} s, {spent:.1f} s of CPU time"


def heavy() -> bytes:
    """A body whose work takes seconds, although it is linear: the largest."""
    return json.dumps(
        named("heavy", spec={"containers": containers(33_000, resources={"requests": {"cpu": "1"}})})
    ).encode()


async def _worst_of_another(target: Target) -> float:
    """Return the seconds of the slowest of ten small writes of another user; raise Broken from 2 s on."""
    await asyncio.sleep(1)
    other, worst = named("b", data={"a": "x" * 20_000}), 0.0
    for _ in range(10):
        answer = await target.send("POST", f"/api/v1/namespaces/beside/configmaps{DRY}", other, user=ADMIN)
        target.expect(answer.status == 201, answer)
        worst = max(worst, answer.seconds)
        await asyncio.sleep(0.2)
    target.expect(worst < 2, f"the other user's write took {worst:.2f} s")
    return worst


@case("20 large writes of one user at once, beside a write of 20 KB of another", within=90, memory_mb=600)
async def large_writes_of_one_user(target: Target) -> str:
    body = await asyncio.to_thread(heavy)
    tasks = [asyncio.create_task(target.send("POST", PODS + DRY, body, user=MALLORY)) for _ in range(20)]
    try:
        worst = await _worst_of_another(target)
        answers = await asyncio.gather(*tasks)
    finally:
        for task in tasks:  # a broken case leaves no requests to the next one
            task.cancel()
    return f"the other's slowest write {worst:.2f} s; {sorted({each.status for each in answers})}"


async def _idle_within(target: Target, seconds: float) -> float:
    """Return the CPU seconds until the server is idle; raise Broken if that takes longer than `seconds`."""
    began = target.cpu_seconds()
    for _ in range(int(seconds / 0.25)):
        before = target.cpu_seconds()
        await asyncio.sleep(0.25)
        if target.cpu_seconds() - before < 0.15:
            return target.cpu_seconds() - began
    raise Broken(f"the server computes on {seconds:.0f} s after the last request has ended")


@case("four large writes whose clients leave", within=30, memory_mb=600)
async def clients_that_leave(target: Target) -> str:
    body = await asyncio.to_thread(heavy)
    tasks = [asyncio.create_task(target.send("POST", PODS + DRY, body, user=MALLORY)) for _ in range(4)]
    await asyncio.sleep(1.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return f"{await _idle_within(target, 4):.2f} s of CPU time after they had left"


@case("four large writes with a deadline of a second", within=30, memory_mb=600)
async def deadlines(target: Target) -> str:
    body = await asyncio.to_thread(heavy)
    path = f"{PODS}{DRY}&timeout=1s"
    answers = await asyncio.gather(*(target.send("POST", path, body, user=MALLORY) for _ in range(4)))
    target.expect(max(each.seconds for each in answers) < 4, max(answers, key=lambda each: each.seconds))
    idle = await _idle_within(target, 4)
    return f"{sorted({each.status for each in answers})}, then {idle:.2f} s of CPU time"


@case("SIGTERM during large writes", within=30, fresh=True, memory_mb=600)
async def terminated(target: Target) -> str:
    body = await asyncio.to_thread(heavy)
    tasks = [
        asyncio.create_task(target.send("POST", PODS + DRY, body, user=user)) for user in (MALLORY, ADMIN) * 3
    ]
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    return "the next line tells whether it is heard"
