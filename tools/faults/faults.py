"""The faults that a schedule can inject."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import aiohttp

from ktui.etcd.injection import Proxy
from tools.faults.cluster import Cluster, Member
from tools.faults.oracle import Oracle
from tools.faults.server import Server

LASTS = (0.3, 1.0, 2.0, 4.0)  # durations of a fault, seconds


@dataclass(slots=True)
class Faults:
    """Injects faults one after the other, chosen by `rnd`; `done` has their names."""

    rnd: random.Random
    cluster: Cluster
    server: Server
    oracle: Oracle
    done: list[str]
    compacted: int = 0
    restarts: bool = True  # True: the server may be killed

    async def next(self) -> None:
        """Inject one fault, and wait for its end."""
        kinds = [*_ANYWHERE, *(_IN_CLUSTERS if len(self.cluster.members) > 1 else ())]
        if self.restarts:
            kinds.append(restart_server)
        kind = self.rnd.choice(kinds)
        self.done.append(kind.__name__)
        try:
            await kind(self)
        except (aiohttp.ClientError, TimeoutError, OSError, RuntimeError) as error:
            self.done.append(f"failed: {error!r}"[:100])  # etcd did not accept it after an earlier fault
        await asyncio.sleep(self.rnd.choice((0.1, 0.5, 1.5)))

    @property
    def lasts(self) -> float:
        return self.rnd.choice(LASTS)

    @property
    def member(self) -> Member:
        return self.rnd.choice(self.cluster.members)

    @property
    def proxies(self) -> list[Proxy]:
        """All client proxies, or one of them."""
        return self.rnd.choice((self.cluster.clients, [self.rnd.choice(self.cluster.clients)]))


Fault = Callable[[Faults], Awaitable[None]]


async def stop_member(faults: Faults) -> None:
    member = faults.member
    member.stop()
    await asyncio.sleep(faults.lasts)
    member.resume()


async def kill_member(faults: Faults) -> None:
    member = faults.member
    member.kill()
    await asyncio.sleep(faults.lasts / 2)
    faults.cluster.start_member(member)


async def cut_connections(faults: Faults) -> None:
    for proxy in faults.proxies:
        proxy.cut()


async def stall_connections(faults: Faults) -> None:
    proxies = faults.proxies
    for proxy in proxies:
        proxy.stall()
    await asyncio.sleep(faults.lasts)
    for proxy in proxies:
        proxy.heal()


async def stall_one_way(faults: Faults) -> None:
    way = faults.rnd.choice(("up", "down"))
    for proxy in faults.cluster.clients:
        proxy.stall(way)
    await asyncio.sleep(faults.lasts)
    if faults.rnd.random() < 0.5:
        for proxy in faults.cluster.clients:
            proxy.cut()
    for proxy in faults.cluster.clients:
        proxy.heal()


async def delay_connections(faults: Faults) -> None:
    delay = faults.rnd.choice((0.02, 0.1, 0.4))
    for proxy in faults.cluster.clients:
        proxy.delay = delay
    await asyncio.sleep(faults.lasts + 1)
    for proxy in faults.cluster.clients:
        proxy.heal()


async def refuse_connections(faults: Faults) -> None:
    proxies = faults.proxies
    for proxy in proxies:
        proxy.refuse = True
        proxy.cut()
    await asyncio.sleep(faults.lasts)
    for proxy in proxies:
        proxy.heal()


async def hold_connections(faults: Faults) -> None:
    """Cut all connections; new ones are accepted but not forwarded."""
    for proxy in faults.cluster.clients:
        proxy.hold = True
        proxy.cut()
    await asyncio.sleep(faults.lasts)
    for proxy in faults.cluster.clients:
        proxy.heal()


async def kill_connections_silently(faults: Faults) -> None:
    """Stop forwarding on open connections, without closing them."""
    for proxy in faults.proxies:
        proxy.kill_silently()


async def compact(faults: Faults) -> None:
    revision = faults.oracle.revision - faults.rnd.choice((0, 1, 5, 50, 300))
    if revision > faults.compacted:
        body = {"revision": str(revision), "physical": faults.rnd.random() < 0.5}
        await faults.cluster.call("/v3/kv/compaction", body)
        faults.compacted = revision


async def defragment(faults: Faults) -> None:
    await faults.cluster.call("/v3/maintenance/defragment", {}, faults.member)


async def nothing(faults: Faults) -> None:
    await asyncio.sleep(faults.lasts)


async def restart_server(faults: Faults) -> None:
    """Kill ktui (SIGKILL) and start it again."""
    faults.server.kill()
    await asyncio.sleep(faults.rnd.choice((0.0, 0.5)))
    faults.server.start()
    await asyncio.sleep(3)


async def stop_majority(faults: Faults) -> None:
    members = faults.rnd.sample(faults.cluster.members, 2)
    for member in members:
        member.stop()
    await asyncio.sleep(faults.lasts)
    for member in members:
        member.resume()


async def kill_majority(faults: Faults) -> None:
    members = faults.rnd.sample(faults.cluster.members, 2)
    for member in members:
        member.kill()
    await asyncio.sleep(faults.lasts)
    for member in members:
        faults.cluster.start_member(member)


async def move_leader(faults: Faults) -> None:
    ids, leader = {}, ""
    for member in faults.cluster.members:
        status = await faults.cluster.call("/v3/maintenance/status", {}, member, seconds=1)
        ids[status["header"]["member_id"]] = member
        leader = status.get("leader", "") or leader
    target = faults.rnd.choice([one for one in ids if one != leader])
    await faults.cluster.call("/v3/maintenance/transfer-leadership", {"targetID": target}, ids.get(leader))


async def partition_member(faults: Faults) -> None:
    await _partition(faults, faults.member.number)


async def partition_member_in_use(faults: Faults) -> None:
    """Partition the member that ktui is connected to: it answers, but cannot have new revisions."""
    used = [n for n, proxy in enumerate(faults.cluster.clients) if proxy.in_use]
    await _partition(faults, faults.rnd.choice(used or [0]))


async def _partition(faults: Faults, number: int) -> None:
    faults.cluster.partition(number)
    await asyncio.sleep(faults.lasts + 1)
    for proxy in faults.cluster.peers:
        proxy.blocked = set()


_ANYWHERE: tuple[Fault, ...] = (
    stop_member,
    kill_member,
    *(cut_connections, cut_connections, stall_connections, stall_one_way, stall_one_way),
    *(delay_connections, refuse_connections, hold_connections),
    *(kill_connections_silently, kill_connections_silently),
    *(compact, compact, compact, defragment, nothing),
)
_IN_CLUSTERS: tuple[Fault, ...] = (
    *(move_leader, move_leader, partition_member, partition_member_in_use, partition_member_in_use),
    *(stop_majority, kill_majority, cut_connections),
)
