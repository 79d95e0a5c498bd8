"""Every figure of `ktui observe --json` that the load determines, over pages of a real kube-apiserver.

The whole recording is ../shared/live; the pages kept here are those of three moments, with the families that
ktui reads.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ktui.core.live.report import report_document
from ktui.core.live.state import LiveState, fold_all
from ktui.live.scraper import Scraper
from tests.unit.live.recorded import REDUCED, Recorded, answers, serving, truth
from tests.unit.wire.corpus import SHARED

pytestmark = pytest.mark.anyio
WHOLE = SHARED / "live" / "open" / "pages.jsonl.gz"
GONE = pytest.mark.skipif(not WHOLE.exists(), reason="no ../shared/live")


def sent() -> dict[str, Counter[str]]:
    """What each resource's figures must have grown by."""
    found: dict[str, Counter[str]] = {}
    for request in truth()["requests"]:
        path, query = urlsplit(request["path"]).path, parse_qs(urlsplit(request["path"]).query)
        resource = path.rpartition("/")[2]
        if resource not in ("ciliumnodes", "configmaps", "events", "pods", "secrets", "services"):
            continue  # a GET
        counts = found.setdefault(
            "ciliumnodes.cilium.io" if resource == "ciliumnodes" else resource, Counter()
        )
        served, cached = request["statuses"].get("200", 0), request["route"] == "cache"
        counts["lists"] += request["count"]
        counts["rejected"] += request["statuses"].get("429", 0)
        counts["namespace" if "/namespaces/" in path else "cluster"] += request["count"]
        counts[request["route"]] += served
        counts["success"] += served if cached and "resourceVersion" not in query else 0
        counts["indexed"] += served if "fieldSelector" in query else 0
    return found


def figures(found: dict[str, Any]) -> dict[str, int]:
    """The same of a resource in the report."""
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


@pytest.mark.parametrize(
    "file", [REDUCED, pytest.param(WHOLE, marks=GONE)], ids=["three moments", "the whole recording"]
)
async def test_every_figure_is_what_was_sent(file: Path) -> None:
    live, at = LiveState(), [1_795_352_800.0]
    with serving(Recorded(file=file)) as recorded:
        scraper = Scraper(recorded.connection, clock=lambda: at[0])
        fold_all(live, await scraper.start())
        for moment in range(len(answers(0, "/metrics", "admin", file))):
            recorded.moment = moment
            fold_all(live, await scraper.scrape())
            at[0] += 15
        await scraper.close()
    document = report_document(live)
    assert document["replicas"]["reached"] == truth()["replicas"]
    for resource, counts in sent().items():
        found = figures(document["resources"][resource])
        assert found == {name: counts[name] for name in found}, resource
    whole = document["resources"]["pods"]
    assert whole["consistent_reads"]["fallback"] == whole["errors"] == whole["etcd"]["fetched"] == 0
    assert document["resources"]["events"]["cache"]["fetched"] == 0
    untouched = [row for name, row in document["resources"].items() if name not in sent()]
    assert not any(row["cache"]["lists"] or row["etcd"]["fetched"] for row in untouched)
