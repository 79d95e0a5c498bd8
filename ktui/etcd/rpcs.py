"""The RPCs that ktui uses, and which of them a read-only client may send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ktui.etcd.errors import ReadOnlyError


@dataclass(frozen=True, slots=True)
class Rpc:
    """One method of etcd's gRPC API. `harmless`: it neither changes etcd nor keeps state in it.

    `linearizable`: its response is at least as new as any earlier response.
    """

    op: str  # its name in telemetry
    path: str
    harmless: bool
    timeout: float = 60.0  # seconds
    linearizable: bool = False

    def check(self, read_only: bool) -> None:
        """Raise ReadOnlyError unless the RPC may be sent."""
        if read_only and not self.harmless:
            raise ReadOnlyError(
                f"{self.op} is not sent: ktui only reads this etcd; --allow-writes lifts that."
            )


RANGE = Rpc("range", "/etcdserverpb.KV/Range", harmless=True, linearizable=True)
# etcd 3.7 and later; a read of gigabytes may take long, and is ended by its own reader.
RANGE_STREAM = Rpc("range_stream", "/etcdserverpb.KV/RangeStream", harmless=True, timeout=600.0)
STATUS = Rpc("status", "/etcdserverpb.Maintenance/Status", harmless=True, timeout=5.0)
WATCH = Rpc("watch_create", "/etcdserverpb.Watch/Watch", harmless=True)
AUTHENTICATE = Rpc("authenticate", "/etcdserverpb.Auth/Authenticate", harmless=True, timeout=5.0)
TXN = Rpc("txn", "/etcdserverpb.KV/Txn", harmless=False, linearizable=True)
COMPACT = Rpc("compact", "/etcdserverpb.KV/Compact", harmless=False)
LEASE_GRANT = Rpc("lease_grant", "/etcdserverpb.Lease/LeaseGrant", harmless=False)
ALARM = Rpc("alarm", "/etcdserverpb.Maintenance/Alarm", harmless=False)
# It only reads, but a read-only connection sends only Range, Watch and Status.
LEASE_TTL = Rpc("lease_ttl", "/etcdserverpb.Lease/LeaseTimeToLive", harmless=False)

Metadata = tuple[tuple[str, str], ...]
Message = Any  # a protobuf message: aetcd ships no types
