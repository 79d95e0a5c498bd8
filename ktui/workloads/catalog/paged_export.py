"""paged-export: exporters that read a whole collection, in pages or at once."""

from __future__ import annotations

from ktui.workloads.catalog.repeated import PODS, get, pages, repeated_workload

WORKLOAD = repeated_workload(
    "paged-export",
    "Exporters that read all pods: at once, in pages, in pages with a selector, from the cache.",
    "inventory-export/2.0",
    {
        "whole": ("all pods in one answer", get(PODS)),
        "pages": ("pages of 100, each consistent with the first", pages(f"{PODS}?limit=100")),
        "selected": (
            "pages of 100 that match a rare label: many keys are read for few",
            pages(f"{PODS}?labelSelector=app%3Dcart&limit=100"),
        ),
        "ignored": (
            "limit with resourceVersion=0: the limit is ignored",
            pages(f"{PODS}?limit=100&resourceVersion=0"),
        ),
        "cached": ("resourceVersion=0, no limit", get(f"{PODS}?resourceVersion=0")),
    },
    clients=3,
    every=3.0,
)
