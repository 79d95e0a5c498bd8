"""helm: `helm list` in pipelines, which reads every release Secret with its whole payload."""

from __future__ import annotations

from ktui.kube.access_pattern import JSON, METADATA_ONLY
from ktui.workloads.catalog.repeated import get, pages, repeated_workload

RELEASES = "labelSelector=owner%3Dhelm"

WORKLOAD = repeated_workload(
    "helm",
    "Pipelines that run `helm list -A`: every release Secret is read with its payload, for a few labels.",
    "Helm/4.0.1",
    {
        "all": ("helm list -A: all Secrets with owner=helm", get(f"/api/v1/secrets?{RELEASES}")),
        "namespace": (
            "helm list -n: one namespace",
            get(f"/api/v1/namespaces/{{namespace}}/secrets?{RELEASES}"),
        ),
        "metadata": (
            "labels only: PartialObjectMetadata",
            get(f"/api/v1/secrets?{RELEASES}", accept=f"{JSON};{METADATA_ONLY}"),
        ),
        "pages": ("pages of 100", pages(f"/api/v1/secrets?{RELEASES}&limit=100")),
        "cached": ("with resourceVersion=0", get(f"/api/v1/secrets?{RELEASES}&resourceVersion=0")),
    },
    clients=5,
    every=2.0,
)
