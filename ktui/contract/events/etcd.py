"""RPCs between ktui and etcd, and the state of etcd."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event, Milliseconds, Seconds


class EtcdCall(Event, frozen=True, kw_only=True, tag="etcd_call"):
    """One RPC from ktui to etcd. `request` is etcd's text form of it, without values."""

    op: str  # range | txn | compact | lease_grant | status | watch_create | watch_progress | …
    request: str
    request_id: Count = 0  # the API request that caused it; 0: ktui itself
    purpose: str = ""  # "list", "get", "probe", "reflector", "count", "browse", …
    count: Count = 0  # keys returned
    sent_bytes: Count = 0
    received_bytes: Count = 0
    ms: Milliseconds = 0.0
    revision: Count = 0
    error: str = ""


class EtcdUsage(Event, frozen=True, kw_only=True, tag="toll"):
    """The total load of ktui on this etcd since it connected."""

    rpcs: Count
    sent_bytes: Count
    received_bytes: Count


class EtcdHealth(Event, frozen=True, kw_only=True, tag="etcd_health"):
    """Whether etcd answers; if not, `detail` is one sentence.

    `alarm` says why it refuses writes, "" while it accepts them. `stream_recheck_at` (Unix seconds): when an
    etcd that has answered Unimplemented to a RangeStream is asked again; 0: it has not.
    """

    ok: bool
    detail: str = ""
    alarm: str = ""
    stream_recheck_at: Seconds = 0.0


class EtcdProgress(Event, frozen=True, kw_only=True, tag="progress"):
    """etcd's current revision, as last seen by any part of the server.

    `histories`: how often etcd's history was replaced. Then the revision went back, because etcd was
    emptied or restored from a backup, or because another cluster answers.
    """

    head: Count
    compact: Count = 0
    db_bytes: Count = 0
    in_use_bytes: Count = 0  # part of `db_bytes`; the rest are free pages, which defragmentation returns
    histories: Count = 0


class Prefix(Event, frozen=True, kw_only=True, tag="prefix"):
    """Keys under one etcd prefix. `bytes` is keys plus values; `exact` False: estimated from a sample and
    most probably between `low` and `high`."""

    prefix: str  # "/registry/pods/"
    resource: str = ""  # "" when unknown
    count: Count = 0
    bytes: Count = 0
    exact: bool = True
    low: Count = 0
    high: Count = 0
    leased: bool = False
