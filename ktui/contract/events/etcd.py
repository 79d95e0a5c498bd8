"""What passes between ktui and etcd, and how etcd stands."""

from __future__ import annotations

from ktui.contract.events.base import Event


class EtcdCall(Event, frozen=True, kw_only=True, tag="etcd_call"):
    """One RPC that ktui made. `request` is etcd's own text form, values left out."""

    op: str  # range | txn | compact | lease_grant | status | watch_create | watch_progress | …
    request: str
    request_id: int = 0  # the API request that caused it; 0: ktui's own housekeeping
    purpose: str = ""  # "list", "get", "probe", "reflector", "count", "browse", …
    count: int = 0  # keys returned
    sent_bytes: int = 0
    received_bytes: int = 0
    ms: float = 0.0
    revision: int = 0
    error: str = ""


class Toll(Event, frozen=True, kw_only=True, tag="toll"):
    """What ktui itself has cost this etcd since it attached."""

    rpcs: int
    sent_bytes: int
    received_bytes: int


class EtcdHealth(Event, frozen=True, kw_only=True, tag="etcd_health"):
    """Whether etcd answers; `detail` is one clear sentence when it does not.

    `alarm` says why it takes no writes, "" while it takes them.
    """

    ok: bool
    detail: str = ""
    alarm: str = ""


class Progress(Event, frozen=True, kw_only=True, tag="progress"):
    """etcd's head revision, as last seen by anybody in the server.

    `histories`: how often another history has begun so far: the revision went back, because etcd was
    emptied or restored from a backup, or another cluster answers.
    """

    head: int
    compact: int = 0
    db_bytes: int = 0
    histories: int = 0


class Prefix(Event, frozen=True, kw_only=True, tag="prefix"):
    """Keys under one etcd prefix. `bytes` is keys plus values; `exact` False: extrapolated from a sample."""

    prefix: str  # "/registry/pods/"
    resource: str = ""  # "" when unknown
    count: int = 0
    bytes: int = 0
    exact: bool = True
    leased: bool = False
