"""What all clients of a schedule share."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import aiohttp

from tools.faults.cluster import Cluster
from tools.faults.history import History
from tools.faults.objects import RESOURCES, Marks
from tools.faults.records import Records, Violations
from tools.faults.server import Api, Server

# What a request may run into while there are faults: no answer, or one that breaks off.
NO_ANSWER = (aiohttp.ClientError, TimeoutError, OSError)
# What may be answered while etcd does not: nothing else.
EXCUSED = (410, 429, 500, 503, 504)


@dataclass(slots=True)
class Workload:
    """`seed` draws what clients do; `quiet` is set once writing has ended and all is to catch up."""

    seed: int
    cluster: Cluster
    server: Server
    api: Api
    streams: aiohttp.ClientSession
    history: History
    violations: Violations
    marks: Marks
    records: Records = field(default_factory=Records)
    quiet: asyncio.Event = field(default_factory=asyncio.Event)

    def random(self, client: str) -> random.Random:
        """Each client draws from a source of its own: the order of their turns changes nothing."""
        return random.Random(f"{self.seed} {client}")

    def known(self, resource: str, newest: int) -> list[int]:
        """The newest resourceVersions that clients have seen of it."""
        assert resource in RESOURCES
        return self.records.known.setdefault(resource, [])[-newest:]

    def learn(self, resource: str, rv: int) -> None:
        self.records.known.setdefault(resource, []).append(rv)
