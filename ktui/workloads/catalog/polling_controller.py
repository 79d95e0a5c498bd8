"""polling-controller: controllers that repeatedly LIST everything, and variants that cost less."""

from __future__ import annotations

from ktui.workloads.catalog.repeated import PODS, get, informer, repeated_workload

WORKLOAD = repeated_workload(
    "polling-controller",
    "Controllers that poll: all pods again and again, from etcd, from the cache, or by one watch.",
    "polling-controller/v0.3",
    {
        "poll": ("LIST all pods without resourceVersion", get(PODS)),
        "cached": ("the same with resourceVersion=0", get(f"{PODS}?resourceVersion=0")),
        "namespace": ("one namespace only", get("/api/v1/namespaces/{namespace}/pods?resourceVersion=0")),
        "informer": ("LIST once, then WATCH", informer(PODS)),
    },
    clients=5,
    every=2.0,
)
