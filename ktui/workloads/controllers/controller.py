"""Common parts of the controllers: informers that fill a queue of names, and a worker that processes the
names.

As in client-go, a name is in the queue once, and a name whose sync fails comes back after 5 ms, doubling.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ktui.client.connection import ClientError
from ktui.documents.limits import decode_json
from ktui.kube.json_trees import Obj
from ktui.workloads.behaviours.client_reflector import ObjectInformer
from ktui.workloads.demo.pods import owner, timestamp
from ktui.workloads.running.users import LoadUser
from ktui.workloads.running.workload import LoadContext

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets"
PODS = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
LABEL = "ktui-chain"
FIRST_BACKOFF, MOST_BACKOFF = 0.005, 5.0  # seconds until a name whose sync failed comes back
CONFLICT, NOT_FOUND = 409, 404
STRATEGIC = "application/strategic-merge-patch+json"


class SyncError(ClientError):
    """A request was answered with an error, so the sync of its object is repeated."""


@dataclass(slots=True)
class Chain:
    """The run that the controllers serve; they see only objects with its label.

    `before_update` is awaited before each PUT of a path, and can cause conflicts.
    """

    context: LoadContext
    before_update: Callable[[str], Awaitable[None]]

    @property
    def name(self) -> str:
        return f"chain-{self.context.run}{self.context.variant.lower()}"

    @property
    def selector(self) -> str:
        return f"labelSelector={LABEL}%3D{self.name}"


class Controller(ABC):
    """A controller. AGENT is its User-Agent, USER the user as which it authenticates; both are upstream's."""

    AGENT: ClassVar[str]
    USER: ClassVar[LoadUser | None] = None
    COMPONENT: ClassVar[str]

    def __init__(self, chain: Chain, user: LoadUser | None = None) -> None:
        self.chain = chain
        self.client = chain.context.client(self.AGENT, user or self.USER)
        self.informers: list[ObjectInformer] = []
        self._queue: dict[str, str] = {}  # name → resourceVersion of the change that queued it
        self._waiting = asyncio.Event()
        self._failures: dict[str, int] = {}

    @abstractmethod
    async def sync(self, name: str, cause: str) -> None:
        """Bring the object closer to its spec; raise ClientError if the sync has to be repeated."""

    def informer(self, collection: str, more: str = "") -> ObjectInformer:
        """Add an informer of this run's objects."""
        found = ObjectInformer(self.client, collection, self.chain.selector + more)
        self.informers.append(found)
        return found

    def enqueue(self, name: str, cause: str) -> None:
        self._queue[name] = cause
        self._waiting.set()

    def enqueue_after(self, seconds: float, name: str, cause: str) -> None:
        asyncio.get_running_loop().call_later(seconds, self.enqueue, name, cause)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for informer in self.informers:
                group.create_task(informer.run())
            for informer in self.informers:
                await informer.synced.wait()
            while True:
                while not self._queue:
                    self._waiting.clear()
                    await self._waiting.wait()
                name = next(iter(self._queue))
                await self._try(name, self._queue.pop(name))

    async def _try(self, name: str, cause: str) -> None:
        try:
            await self.sync(name, cause)
        except ClientError:
            failures = self._failures[name] = self._failures.get(name, 0) + 1
            delay = min(MOST_BACKOFF, FIRST_BACKOFF * 2 ** min(failures - 1, 20))
            if name not in self._queue:  # otherwise a newer change has queued it
                self.enqueue_after(delay, name, cause)
        else:
            self._failures.pop(name, None)

    # Requests. The label of each says who does what, and is the step's name in the causal trace.

    async def update(self, path: str, body: Obj, what: str, cause: str) -> None:
        """PUT with the object's resourceVersion; refused with 409 if the object has changed."""
        await self.chain.before_update(path)
        await self.send("PUT", path, body, what, cause)

    async def report(self, collection: str, obj: Obj, status: Obj, what: str, cause: str) -> None:
        status["observedGeneration"] = obj["metadata"]["generation"]
        if status != (obj.get("status") or {}):
            path = f"{collection}/{obj['metadata']['name']}/status"
            await self.update(path, {**obj, "status": status}, what, cause)

    async def delete(self, path: str, options: Obj, what: str, cause: str) -> None:
        """Delete an object; a missing object counts as deleted."""
        await self.send("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options}, what, cause)

    async def read(self, path: str, what: str, cause: str) -> Obj | None:
        """Return the stored object, not the informer's; None if it does not exist."""
        answer = await self.client.read(path, f"{self.COMPONENT}: {what}", cause)
        if answer.status == NOT_FOUND:
            return None
        if not answer.ok:
            raise SyncError(f"GET {path}: HTTP {answer.status}")
        return decode_json(answer.body, dict)

    async def send(self, method: str, path: str, body: Obj, what: str, cause: str) -> Obj:
        """Send a write; a PATCH is a strategic merge. Raises SyncError if it is refused."""
        label = f"{self.COMPONENT}: {what}"
        kind = STRATEGIC if method == "PATCH" else "application/json"
        answer = await self.client.write(method, path, body, label, content_type=kind, cause=cause)
        if answer.ok:
            return decode_json(answer.body, dict)
        if method == "DELETE" and answer.status == NOT_FOUND:
            return {}
        if answer.status == CONFLICT:
            self.chain.context.count("conflicts")
        raise SyncError(f"{method} {path}: HTTP {answer.status}")

    async def record(self, obj: Obj, kind: str, reason: str, message: str, cause: str) -> None:
        """Create an Event about `obj`: a write with a lease."""
        metadata, now = obj["metadata"], timestamp(time.time())
        about = {"kind": kind, "namespace": "default", "name": metadata["name"], "uid": metadata["uid"]}
        body: dict[str, Any] = {
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{secrets.token_hex(8)}", "namespace": "default"},
            "involvedObject": about, "reason": reason, "message": message, "type": "Normal",
            "source": {"component": self.COMPONENT}, "firstTimestamp": now, "lastTimestamp": now,
            "count": 1,
        }  # fmt: skip
        await self.send("POST", EVENTS, body, f"Event {reason}", cause)


def version_of(obj: Obj) -> str:
    return str(obj["metadata"]["resourceVersion"])


def is_deleting(obj: Obj) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def owner_of(obj: Obj) -> Obj:
    """Return the reference to its controller, {} if it has none."""
    references: list[Obj] = obj["metadata"].get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), {})


def owned_by(obj: Obj, kind: str) -> list[Obj]:
    """Return the ownerReferences of an object that a controller creates for `obj`."""
    return owner("apps/v1", kind, obj["metadata"]["name"], obj["metadata"]["uid"])
