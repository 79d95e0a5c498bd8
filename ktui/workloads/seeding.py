"""Fill a server with the demo cluster through its own create path; with a copier, most objects are copies."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec

from ktui.client.connection import ClientError, ServerConnection
from ktui.client.list_stream import ListBody
from ktui.workloads.demo import cluster
from ktui.workloads.demo.plan import DAEMONS, DemoPlan
from ktui.workloads.demo.pods import MERGE, Create

# Longer than any write that is still answered.
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's response, error Statuses included."""

    status: int
    body: bytes

    @property
    def success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """The message of a Status, or the beginning of a response that is not JSON."""
        answer = ListBody(collection=False)
        answer.feed(self.body)
        return answer.envelope().message


class BlockingClient:
    """One connection, used by one thread. Raises ClientError if the server is unreachable.

    For ktui's own servers: it uses no proxy. A thread that sends thousands of requests uses the standard
    library's client: 0.18 ms of CPU time per request, where httpx takes 0.55 ms, and 2 ms in an event loop.
    """

    def __init__(self, connection: ServerConnection, user_agent: str) -> None:
        self.connection = connection
        self._headers = {"User-Agent": user_agent, "Accept": "application/json", **connection.headers()}
        where = urlsplit(connection.url)
        assert where.hostname is not None
        place, trust = (where.hostname, where.port), connection.ssl_context()
        self._http = http.client.HTTPConnection(*place, timeout=TIMEOUT_SECONDS)
        if isinstance(trust, ssl.SSLContext):
            self._http = http.client.HTTPSConnection(*place, timeout=TIMEOUT_SECONDS, context=trust)

    def __enter__(self) -> BlockingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def write(self, method: str, path: str, body: Any, content_type: str = "application/json") -> Answer:
        try:
            headers = {**self._headers, "Content-Type": content_type}
            self._http.request(method, path, msgspec.json.encode(body), headers)
            response = self._http.getresponse()
            return Answer(response.status, response.read())
        except TimeoutError as error:
            raise self.connection.timed_out() from error
        except (http.client.HTTPException, OSError) as error:
            broken = (http.client.HTTPException, ConnectionResetError, BrokenPipeError)
            connecting = not isinstance(error, broken) and (
                not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLCertVerificationError)
            )
            raise self.connection.failed(error, connecting=connecting) from error


USER_AGENT = "ktui-seed"
# Threads: enough to keep server and etcd busy, few enough that other clients are served.
WRITERS = 8
COPIES = 50  # stored by one transaction


@dataclass(slots=True)
class SeedProgress:
    """Progress up to now; `existed` counts objects that existed before (a second run adds none)."""

    stage: str = ""
    created: int = 0
    existed: int = 0

    @property
    def done(self) -> int:
        return self.created + self.existed


class SeedStage(NamedTuple):
    """Objects that are created before those of the next stage; `size` is their number."""

    name: str
    size: int
    objects: Iterator[Create]


LAST_FOR_CLIENTS = "pods"  # the demo's clients read and write what exists after this stage


def stages(plan: DemoPlan, now: float) -> Iterator[SeedStage]:
    """Yield the stages in order of dependency: definitions before custom resources, namespaces first."""
    spaces, nodes, each, pods = (len(plan.namespaces), len(plan.nodes), len(plan.apps), plan.app_pod_count)
    daemons = len(DAEMONS)
    yield SeedStage("namespaces", spaces, cluster.namespaces(plan))
    yield SeedStage("custom resource definitions", len(cluster.KINDS), cluster.definitions())
    yield SeedStage("nodes", nodes, cluster.nodes(plan, now))
    yield SeedStage("node leases", nodes, cluster.leases(plan, now))
    yield SeedStage("configuration", daemons, cluster.daemon_configs())
    yield SeedStage("configuration", spaces + 2 * each, cluster.configs(plan))
    yield SeedStage("deployments", 2 * each, cluster.deployments(plan))
    all_pods = chain(cluster.daemon_pods(plan, now), cluster.pods(plan, now))
    yield SeedStage(LAST_FOR_CLIENTS, daemons * nodes + pods, all_pods)
    yield SeedStage("services", each, cluster.services(plan))
    yield SeedStage("endpoint slices", each, cluster.endpoint_slices(plan))
    yield SeedStage("Cilium resources", nodes + each + pods + len(plan.teams) + 1, cluster.objects(plan))
    yield SeedStage("events", -(-pods // cluster.PODS_PER_EVENT), cluster.events(plan, now))


def count_objects(plan: DemoPlan) -> int:
    return sum(stage.size for stage in stages(plan, 0.0))


class Copier(Protocol):
    """Stores copies of objects that the server has stored. Called from several threads."""

    def has_example(self, item: Create) -> bool: ...

    def learn(self, item: Create, answer: bytes) -> None:
        """Use an object, whose creation got this answer, as the example for others."""

    def store(self, items: Sequence[Create]) -> Sequence[Create]:
        """Store copies; return the items that have to be created instead. Raises ClientError."""


async def seed(
    connection: ServerConnection, plan: DemoPlan, report: Callable[[SeedProgress], None] = lambda _: None,
    copier: Copier | None = None, clients_may_start: Callable[[], None] = lambda: None,
) -> SeedProgress:  # fmt: skip
    """Create every object of the plan; raise ClientError on the first refusal.

    `report` is called from several threads, but never from two at the same time. `clients_may_start` is
    called once, as soon as the objects exist that the demo's clients need.
    """
    work = _Work(report)
    with ExitStack() as stack:
        clients = [stack.enter_context(BlockingClient(connection, USER_AGENT)) for _ in range(WRITERS)]
        stack.callback(work.stop)  # threads cannot be cancelled: each ends after its current request
        for stage in stages(plan, time.time()):
            work.begin(stage.name, stage.objects)
            await asyncio.gather(*(asyncio.to_thread(_drain, client, work, copier) for client in clients))
            if stage.name == LAST_FOR_CLIENTS:
                clients_may_start()
    return work.progress


class _Work:
    """The objects still to be created, shared by the threads that create them."""

    def __init__(self, report: Callable[[SeedProgress], None]) -> None:
        self.progress = SeedProgress()
        self._report = report
        self._objects: Iterator[Create] = iter(())
        self._lock = threading.Lock()

    def begin(self, stage: str, objects: Iterator[Create]) -> None:
        self.progress.stage, self._objects = stage, objects

    def stop(self) -> None:
        with self._lock:
            self._objects = iter(())

    def take(self) -> Create | None:
        """Return the next object, None if there is none."""
        with self._lock:
            return next(self._objects, None)

    def done(self, existed: bool) -> None:
        with self._lock:
            self.progress.existed += existed
            self.progress.created += not existed
            self._report(self.progress)


def _drain(client: BlockingClient, work: _Work, copier: Copier | None) -> None:
    copies: list[Create] = []

    def store_copies() -> None:
        rest = copier.store(copies) if copier is not None and copies else ()
        for _ in range(len(copies) - len(rest)):
            work.done(existed=False)
        for each in rest:
            _create(client, work, None, each)
        copies.clear()

    try:
        while (item := work.take()) is not None:
            if copier is None or not copier.has_example(item):
                _create(client, work, copier, item)
                continue
            copies.append(item)
            if len(copies) == COPIES:
                store_copies()
        store_copies()
    except ClientError:
        work.stop()
        raise


def _create(client: BlockingClient, work: _Work, copier: Copier | None, item: Create) -> None:
    """Create an object with its status, unless it exists."""
    created = client.write("POST", item.path, item.body)
    path = item.object_path
    # An existing Service's cluster IP is in use, which is reported before its name.
    if created.status == 409 or (created.status == 422 and client.write("PATCH", path, {}, MERGE).success):
        work.done(existed=True)
        return
    answers = [created]
    if created.success and item.status is not None:
        answers.append(client.write("PATCH", f"{path}/status", {"status": item.status}, MERGE))
    for answer in answers:
        if not answer.success:
            raise ClientError(f"{path} was refused: {answer.status} {answer.message}")
    if copier is not None and item.alike:
        copier.learn(item, created.body)
    work.done(existed=False)
