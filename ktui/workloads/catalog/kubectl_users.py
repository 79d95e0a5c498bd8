"""kubectl-users: people with terminals, some with `watch kubectl get pods -A`."""

from __future__ import annotations

from ktui.workloads.catalog.repeated import PODS, get, pages, repeated_workload

# The Accept of kubectl: the server prints the table.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
SELECTED = "labelSelector=tier%3Dbackend"

WORKLOAD = repeated_workload(
    "kubectl-users",
    "People with kubectl: `watch kubectl get pods -A`, a label, a namespace, one pod's node.",
    "kubectl/v1.36.2 (linux/amd64)",
    {
        "all": ("kubectl get pods -A, in pages of 500", pages(f"{PODS}?limit=500", TABLE)),
        "raw": ("kubectl get --raw /api/v1/pods, all at once", get(PODS)),
        "label": ("kubectl get pods -A -l tier=backend", pages(f"{PODS}?{SELECTED}&limit=500", TABLE)),
        "namespace": (
            "kubectl get pods -n",
            pages("/api/v1/namespaces/{namespace}/pods?limit=500", TABLE),
        ),
        "cached": ("kubectl get --raw with resourceVersion=0", get(f"{PODS}?resourceVersion=0")),
    },
    clients=10,
    every=2.0,
)
