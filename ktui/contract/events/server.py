"""Who serves."""

from __future__ import annotations

import msgspec

from ktui.contract.events.base import Event


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
    pid: int = 0
    name: str = ""  # what the header calls it: "demo", a file name, a host
    # Those that differ from the defaults of `kube_version`.
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    # About the source, for people: a snapshot without a hash, no Kubernetes in it.
    warnings: list[str] = msgspec.field(default_factory=list)
