"""Every figure of `ktui observe --json` that the recorded load determines, beside what was sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ktui.core.live.findings import findings
from ktui.core.live.live_state import LiveState, fold_all
from ktui.core.live.observe_document import report_document
from ktui.live.scraper import Scraper
from tools.fidelity.pages import IDLE, OPEN, Recorded, moments, serving_pages
from tools.fidelity.recordings import LIVE, document
from tools.fidelity.tally import Tally

LISTED = ("ciliumnodes", "configmaps", "events", "pods", "secrets", "services")
_STARTED, _BETWEEN_SECONDS = 1_795_352_800.0, 15


@cache
def truth() -> dict[str, Any]:
    """Return every request that was sent between the first and the last page of metrics."""
    return document(LIVE / "open-truth.json")


def sent() -> dict[str, Counter[str]]:
    """Return what each resource's figures must have grown by."""
    found: dict[str, Counter[str]] = {}
    for request in truth()["requests"]:
        path, query = urlsplit(request["path"]).path, parse_qs(urlsplit(request["path"]).query)
        resource = path.rpartition("/")[2]
        if resource not in LISTED:
            continue  # a GET
        counts = found.setdefault(
            "ciliumnodes.cilium.io" if resource == "ciliumnodes" else resource, Counter()
        )
        served, cached = request["statuses"].get("200", 0), request["route"] == "cache"
        counts["lists"] += request["count"] - request["statuses"].get("429", 0)
        counts["rejected"] += request["statuses"].get("429", 0)
        counts["namespace" if "/namespaces/" in path else "cluster"] += request["count"]
        counts[request["route"]] += served
        counts["success"] += served if cached and "resourceVersion" not in query else 0
        counts["indexed"] += served if "fieldSelector" in query else 0
    return found


def figures(found: dict[str, Any]) -> dict[str, int]:
    """Return the same of a resource in the report."""
    return {
        "lists": found["lists"],
        "rejected": found["rejected"],
        "namespace": found["scopes"]["namespace"]["lists"],
        "cluster": found["scopes"]["cluster"]["lists"],
        "cache": found["cache"]["lists"],
        "etcd": found["etcd"]["lists"],
        "success": found["consistent_reads"]["success"],
        "indexed": found["cache"]["indexed"],
    }


async def observed(file: Path) -> LiveState:
    """Read a recording's pages over HTTP, as `ktui observe` does."""
    live, at = LiveState(), [_STARTED]
    with serving_pages(Recorded(file=file)) as recorded:
        scraper = Scraper(recorded.connection, clock=lambda: at[0])
        fold_all(live, await scraper.start())
        for moment in range(moments(file)):
            recorded.moment = moment
            fold_all(live, await scraper.scrape())
            at[0] += _BETWEEN_SECONDS
        await scraper.close()
    return live


def replay() -> Tally:
    """Compare each figure of both recordings; without clients there must be no LIST and no finding."""
    tally = Tally("live: figures of ktui observe")
    reported = report_document(asyncio.run(observed(OPEN)))["resources"]
    for resource, counts in sent().items():
        for name, value in figures(reported[resource]).items():
            differs = [] if value == counts[name] else [f"sent {counts[name]}, reported {value}"]
            tally.add("known load", f"{resource} {name}", "ktui observe", differs)
    idle = asyncio.run(observed(IDLE))
    for resource, row in report_document(idle)["resources"].items():
        for name, lists in figures(row).items():
            differs = [f"{lists} reported, no LIST sent"] if lists else []
            tally.add("idle", f"{resource} {name}", "ktui observe", differs)
    tally.add("idle", "findings", "ktui observe", findings(idle, None))
    return tally
