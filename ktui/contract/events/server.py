"""The server, and its failed background tasks."""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import Count, Event


class ServerInfo(Event, frozen=True, kw_only=True, tag="server"):
    """The server and its etcd. First event of every stream, sent again when it changes."""

    ktui_version: str
    kube_version: str
    etcd_version: str
    etcd_kind: str  # "embedded" | "external" | "snapshot"
    endpoints: list[str]
    writable: bool
    progress: str  # "supported" | "assumed" | "unsupported"
    etcd_prefix: str = "/registry"
    pid: Count = 0
    name: str = ""  # the name in the header: "demo", a file name, a host
    # Gates that override the defaults of `kube_version`.
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    filling: str = ""  # progress of creating the demo cluster, as text for users
    # Sentences for users about the source: a snapshot without a hash, an etcd without Kubernetes data.
    warnings: list[str] = msgspec.field(default_factory=list)


class TaskFailures(Event, frozen=True, kw_only=True, tag="task_failures"):
    """Background tasks of the server that have failed (a bug in ktui) and not recovered yet.

    Sent when one fails and when one recovers: `failures` is empty while all of them run.
    """

    failures: list[str]  # one sentence each, with the error and the time of the next attempt
