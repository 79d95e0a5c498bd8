"""Rows of the live tables, made again after each scrape or dump."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ktui.contract.events.live import CacheProbe, QueueSample, RunningRequest, SchemaConfig
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import LevelRow, ProcessGrowth, level_rows, process_growth
from ktui.core.live.resource_routes import ResourceRoutes, checks_of
from ktui.core.live.window import ReplicaRow
from ktui.kube.versions import BehaviourError, behaviour_of

WINDOW = 60.0  # seconds that rates cover
VERBS = ("gets", "lists", "watch_requests", "creates", "updates", "patches", "deletes")


class CacheAt(msgspec.Struct, frozen=True, gc=False):
    """A resource's watch cache at one replica."""

    resource: str
    replica: str
    routes: ResourceRoutes
    rv: int | None
    behind: int | None
    capacity: int | None
    probe: CacheProbe | None = None

    @property
    def lag(self) -> int | None:
        """Revisions behind etcd by the newest probe; None without a probe."""
        return max(0, self.probe.newest_rv - self.probe.cache_rv) if self.probe is not None else None


class RunningLine(msgspec.Struct, frozen=True):
    """One request in a replica's flow control."""

    replica: str
    request: RunningRequest
    age: float
    place: int


class SchemaLine(msgspec.Struct, frozen=True):
    """A FlowSchema with its requests in the newest dumps."""

    schema: SchemaConfig
    executing: int
    queued: int


class QueueLine(msgspec.Struct, frozen=True):
    """A queue with requests, at one replica."""

    replica: str
    queue: QueueSample


class GateLine(msgspec.Struct, frozen=True):
    """A feature gate as the server reports it; `default` is None for a gate that ktui does not know."""

    name: str
    on: bool
    default: bool | None


class ReplicaLine(msgspec.Struct, frozen=True):
    """One kube-apiserver process."""

    row: ReplicaRow
    present: bool
    uptime: float  # until it was last seen
    growth: ProcessGrowth

    @property
    def name(self) -> str:
        return self.row.name


def listed(live: LiveState) -> list[ResourceRoutes]:
    """Return the resources with LISTs by clients, those that read most first; then all consistency checks."""
    rows = all_routes(live, WINDOW)
    found = [row for row in rows if row.lists or row.served]
    checks = checks_of(rows)
    return [*found, checks] if checks is not None and checks.seconds else found


def requested(live: LiveState) -> list[ResourceRoutes]:
    """Return the resources with requests in the window, those with most GETs first."""
    found = [row for row in all_routes(live, WINDOW) if any(getattr(row, verb) for verb in VERBS)]
    return sorted(found, key=lambda row: (-(row.gets or 0), row.resource))


def etcd_lines(live: LiveState) -> list[ResourceRoutes]:
    return sorted(all_routes(live, WINDOW), key=lambda row: (-(row.etcd_timed or 0), row.resource))


def watched(live: LiveState) -> list[ResourceRoutes]:
    rows = [row for row in all_routes(live, WINDOW) if row.watches or row.watch_events]
    return sorted(rows, key=lambda row: (-(row.watch_events or 0), -(row.watches or 0)))


def caches(live: LiveState) -> list[CacheAt]:
    """Return every cache of every replica, those whose LISTs read most first."""
    found = []
    for resource in live.resources:
        rows = [row for row in live.present if resource in row.resources]
        revisions = {row.name: row.resources[resource].last.gauges.rv for row in rows}
        newest = max((rv for rv in revisions.values() if rv is not None), default=None)
        for row in rows:
            gauges = row.resources[resource].last.gauges
            if gauges.rv is None and gauges.capacity is None:
                continue  # no watch cache
            behind = newest - gauges.rv if newest is not None and gauges.rv is not None else None
            own = live.sums.of(resource, [row], WINDOW)
            if own is None:
                continue  # the next scrape has it
            probe = row.probes.get(resource)
            found.append(CacheAt(resource, row.name, own, gauges.rv, behind, gauges.capacity, probe))
    most = {item.resource: 0.0 for item in found}
    for item in found:
        most[item.resource] += item.routes.fetched or 0
    return sorted(found, key=lambda item: (-most[item.resource], item.resource, item.replica))


def running(live: LiveState) -> list[RunningLine]:
    """Return the sampled requests: those that wait first, then the oldest."""
    found = []
    for place, (replica, request) in enumerate(live.running()):
        dump = live.replicas[replica].dump
        at = dump.at if dump is not None else live.now
        age = max(0.0, at - request.arrived) if request.arrived else 0.0
        found.append(RunningLine(replica, request, age, place))
    return sorted(found, key=lambda line: (not line.request.queued, -line.age))


def levels(live: LiveState) -> list[LevelRow]:
    """Return the levels, busiest first, with their requests in the newest dumps, or else the last scrape."""
    dumped = any(row.dump is not None for row in live.present)
    requests = [request for _, request in live.running()]
    found = []
    for row in level_rows(live, WINDOW):
        own = [request for request in requests if request.level == row.level]
        executing = [request for request in own if not request.queued]
        queued = len(own) - len(executing)
        if (counted := _executing(live, row.level)) is None:
            held = sum(item.seats for item in executing)
            row = replace(row, executing_seats=held, executing=len(executing), queued=queued)
        elif dumped:
            row = replace(row, executing=counted, queued=queued)
        found.append(row)
    return sorted(found, key=lambda row: (-(row.queued or 0), -(row.executing_seats or 0), row.level))


def _executing(live: LiveState, level: str) -> int | None:
    """Return a level's executing requests before 1.28, where dump_requests has only queued ones, or None."""
    if any(row.minor == 0 or row.minor >= 28 for row in live.present):
        return None
    dumps = [row.levels_dump for row in live.present if row.levels_dump is not None]
    return sum(item.executing for dump in dumps for item in dump.levels if item.level == level)


def replicas(live: LiveState) -> list[ReplicaLine]:
    present = {row.name for row in live.present}
    found = []
    for row in live.replicas.values():
        seen = live.now if row.name in present else row.down.at if row.down is not None else row.scrape.at
        up = max(0.0, seen - row.scrape.started)
        found.append(ReplicaLine(row, row.name in present, up, process_growth(row, WINDOW)))
    return found


def schemas(live: LiveState) -> list[SchemaLine]:
    """Return the flow schemas in the order in which they are matched."""
    requests = [request for _, request in live.running()]
    found = []
    for schema in live.flow.schemas if live.flow is not None else ():
        own = [request for request in requests if request.schema == schema.name]
        queued = sum(request.queued for request in own)
        found.append(SchemaLine(schema, len(own) - queued, queued))
    return found


def queues(live: LiveState) -> list[QueueLine]:
    """Return the queues with requests, longest first."""
    dumps = [row.levels_dump for row in live.present if row.levels_dump is not None]
    found = [QueueLine(dump.replica, queue) for dump in dumps for queue in dump.queues]
    return sorted(found, key=lambda line: (-line.queue.pending, -line.queue.seats, line.queue.level))


def gates(live: LiveState) -> list[GateLine]:
    """Return the feature gates, those that differ from the version's default first."""
    server = live.server
    if server is None:
        return []
    try:
        defaults = behaviour_of(server.version).gates if server.version else {}
    except BehaviourError:  # older or newer than the rules
        defaults = {}
    found = [GateLine(name, on, defaults.get(name)) for name, on in server.gates.items()]
    return sorted(found, key=lambda line: (line.default in (None, line.on), line.default is None, line.name))
