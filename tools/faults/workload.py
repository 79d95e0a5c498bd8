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

# Errors of requests during faults: no answer, or one that breaks off.
NO_ANSWER = (aiohttp.ClientError, TimeoutError, OSError)
# The only error statuses that are valid while etcd does not answer.
EXCUSED = (410, 429, 500, 503, 504)


@dataclass(slots=True)
class Workload:
    """What the clients of a schedule share. `quiet` is set once writing has ended and clients catch up."""

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
        """Return a separate random generator for `client`, so that the order of clients changes nothing."""
        return random.Random(f"{self.seed} {client}")

    def known(self, resource: str, newest: int) -> list[int]:
        """Return the newest resourceVersions of a resource that clients have received."""
        assert resource in RESOURCES
        return self.records.known.setdefault(resource, [])[-newest:]

    def learn(self, resource: str, rv: int) -> None:
        self.records.known.setdefault(resource, []).append(rv)
