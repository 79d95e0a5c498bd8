"""Counts every request of ktui to an etcd, and tracks etcd's revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from ktui.contract.events import AnyEvent, EtcdCall, EtcdHealth, EtcdProgress, EtcdUsage
from ktui.etcd.errors import UnreachableError
from ktui.telemetry.bus import Bus, StatePublisher
from ktui.telemetry.meter import current_meter


@dataclass(slots=True)
class LedgerEntry:
    """One RPC: its purpose, bytes on the wire, returned keys, and duration."""

    op: str
    purpose: str
    sent: int = 0
    received: int = 0
    keys: int = 0
    revision: int = 0
    ms: float = 0.0
    error: str = ""


class Ledger:
    """Totals since the connection was made. `head` is the greatest revision in any response."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.rpcs = 0
        self.sent_bytes = 0
        self.received_bytes = 0
        self.head = 0
        self.cluster = 0  # etcd's id of the cluster that answers, 0 before the first response
        self.histories = 0  # how often the history was replaced, by a restore or by another cluster
        self.compact = 0
        self.db_bytes = self.in_use_bytes = 0
        self._health = EtcdHealth(ok=True)
        self._published: tuple[AnyEvent, ...] = ()
        self._publisher = StatePublisher(bus, self._publish)
        self._changed = self._publisher.changed
        bus.add_snapshot(self.describe)

    @property
    def usage(self) -> EtcdUsage:
        return EtcdUsage(rpcs=self.rpcs, sent_bytes=self.sent_bytes, received_bytes=self.received_bytes)

    @property
    def problem(self) -> str:
        """Why etcd does not answer, "" if it does."""
        return self._health.detail

    def describe(self) -> Iterator[AnyEvent]:
        """Yield the current state, for new subscribers of the bus."""
        yield self.usage
        yield EtcdProgress(
            head=self.head,
            compact=self.compact,
            db_bytes=self.db_bytes,
            in_use_bytes=self.in_use_bytes,
            histories=self.histories,
        )
        yield self._health

    def saw_revision(self, revision: int) -> None:
        if revision > self.head:
            self.head = revision
            self._changed()

    def went_back(self, revision: int) -> None:
        """Record another history if `revision` is below the head: etcd was emptied or restored."""
        if revision < self.head:
            self.head, self.compact = revision, 0
            self.histories += 1
            self._changed()

    def saw_cluster(self, cluster: int, revision: int) -> bool:
        """Return True if another cluster answers than before, which has another history at any revision."""
        before, self.cluster = self.cluster, cluster or self.cluster
        if before in (0, self.cluster):
            return False
        self.head, self.compact = revision, 0
        self.histories += 1
        self._changed()
        return True

    def saw_compaction(self, revision: int) -> None:
        if revision > self.compact:
            self.compact = revision
            self._changed()

    def saw_size(self, db_bytes: int, in_use_bytes: int) -> None:
        if (db_bytes, in_use_bytes) != (self.db_bytes, self.in_use_bytes):
            self.db_bytes, self.in_use_bytes = db_bytes, in_use_bytes
            self._changed()

    def saw_alarm(self, alarm: str) -> None:
        """Publish why etcd refuses writes; "": it accepts them (again)."""
        if alarm != self._health.alarm:
            self._publish_health(replace(self._health, alarm=alarm))

    def saw_streams(self, recheck_at: float) -> None:
        """Publish when etcd is asked for a RangeStream again (Unix seconds); 0: it streams."""
        if recheck_at != self._health.stream_recheck_at:
            self._publish_health(replace(self._health, stream_recheck_at=recheck_at))

    def charge(self, *, rpcs: int = 0, sent: int = 0, received: int = 0) -> None:
        self.rpcs += rpcs
        self.sent_bytes += sent
        self.received_bytes += received
        self._changed()

    def book(self, entry: LedgerEntry, text: Callable[[], str]) -> None:
        """Add an RPC to the totals and to the current meter, and publish it to subscribers with `text()`."""
        meter = current_meter()
        meter.etcd_rpcs += 1
        meter.etcd_keys += entry.keys
        meter.etcd_bytes += entry.received
        meter.hold(entry.received)
        meter.reach(entry.received)  # the raw response, in addition to the decoded one
        meter.add_phase("etcd", entry.ms)
        self.saw_revision(entry.revision)
        self.charge(rpcs=1, sent=entry.sent, received=entry.received)
        self.publish(entry, text, meter.request_id)

    def publish(self, entry: LedgerEntry, text: Callable[[], str], request_id: int = 0) -> None:
        """Publish a message without counting it as an RPC."""
        if self.bus.watched:
            self.bus.publish(
                EtcdCall(
                    op=entry.op,
                    request=text(),
                    request_id=request_id,
                    purpose=entry.purpose,
                    count=entry.keys,
                    sent_bytes=entry.sent,
                    received_bytes=entry.received,
                    ms=entry.ms,
                    revision=entry.revision,
                    error=entry.error,
                )
            )

    def answered(self) -> None:
        """Record that etcd answers (again)."""
        if not self._health.ok:
            self._publish_health(replace(self._health, ok=True, detail=""))

    def failed(self, error: Exception) -> None:
        """Publish that etcd does not answer, once per kind of error."""
        if isinstance(error, UnreachableError) and str(error) != self._health.detail:
            self._publish_health(replace(self._health, ok=False, detail=str(error)))

    def close(self) -> None:
        self._publisher.close()
        self._publish()

    def _publish_health(self, health: EtcdHealth) -> None:
        self._health = health
        self.bus.publish(health)

    def _publish(self) -> None:
        usage, progress, _ = state = tuple(self.describe())
        for event in (usage, progress):
            if event not in self._published:
                self.bus.publish(event)
        self._published = state
