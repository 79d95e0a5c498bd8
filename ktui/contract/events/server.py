"""Who serves, and which of its background tasks fail."""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import Count, Event


class ServerInfo(Event, frozen=True, kw_only=True, tag="server"):
    """Who serves, over which etcd. First event of every stream, again when it changes."""

    ktui_version: str
    kube_version: str
    etcd_version: str
    etcd_kind: str  # "embedded" | "external" | "snapshot"
    endpoints: list[str]
    writable: bool
    progress: str  # "supported" | "assumed" | "unsupported"
    etcd_prefix: str = "/registry"
    pid: Count = 0
    name: str = ""  # what the header calls it: "demo", a file name, a host
    # Those that differ from the defaults of `kube_version`.
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    # About the source, for people: a snapshot without a hash, no Kubernetes in it.
    warnings: list[str] = msgspec.field(default_factory=list)


class TaskFailures(Event, frozen=True, kw_only=True, tag="task_failures"):
    """Background tasks of the server that have failed (a bug in ktui) and not recovered yet.

    Sent when one fails and when one has recovered: `failures` is empty when all of them run.
    """

    failures: list[str]  # a sentence each, with the error and when it is tried again
