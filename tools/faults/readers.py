"""Clients that GET and LIST, with all combinations of parameters."""

from __future__ import annotations

import asyncio

from tools.faults.objects import NAMES, NAMESPACES, RESOURCES, key_of, some_selection
from tools.faults.records import Got, Listed, clock
from tools.faults.workload import EXCUSED, NO_ANSWER, Workload

LIST_KINDS = (
    *("consistent", "consistent", "any", "not_older", "exact"),
    *("paged", "paged", "paged_exact", "paged_any"),
)
_AT = {"not_older": "NotOlderThan", "exact": "Exact", "paged_exact": "Exact"}


async def list_objects(load: Workload, name: str) -> None:
    rnd = load.random(name)
    while True:
        await asyncio.sleep(rnd.choice((0.0, 0.02, 0.1)))
        selection, kind = some_selection(rnd), rnd.choice(LIST_KINDS)
        first, later = [], list(selection.query)
        asked = 0
        if kind in _AT:
            known = load.known(selection.resource, 40)
            if not known:
                continue
            asked = rnd.choice(known) if rnd.random() < 0.7 else known[-1]
            first = [f"resourceVersion={asked}", f"resourceVersionMatch={_AT[kind]}"]
        elif kind in ("any", "paged_any"):
            first = ["resourceVersion=0"]
        if kind.startswith("paged"):
            later.append(f"limit={rnd.choice((1, 3, 7))}")
        url = f"{selection.path}?{'&'.join(later + first)}"
        listed = Listed(kind, selection, load.records.acknowledged, url, asked, load.server.starts, clock())
        try:
            await _read_pages(load, listed, selection.path, later, [rnd.choice((0.0, 0.0, 0.05, 0.3))])
        except NO_ANSWER:
            load.records.counts["reads without an answer"] += 1


async def _read_pages(
    load: Workload, listed: Listed, path: str, later: list[str], pauses: list[float]
) -> None:
    url = listed.url
    while True:
        status, answer = await load.api.request("GET", url)
        if status != 200:
            if status not in EXCUSED:
                load.violations.add("a LIST with a status of its own", url=url, status=status, answer=answer)
            return
        listed.rvs.append(int(answer["metadata"]["resourceVersion"]))
        for item in answer["items"]:
            metadata = item["metadata"]
            key = key_of(listed.selection.resource, metadata["namespace"], metadata["name"])
            listed.items.append((key, int(metadata["resourceVersion"]), metadata["annotations"]["mark"]))
        following = answer["metadata"].get("continue", "")
        if not following:
            break
        url = f"{path}?{'&'.join([*later, f'continue={following}'])}"
        await asyncio.sleep(pauses[0])
    listed.ended = clock()
    load.records.lists.append(listed)
    load.records.counts["LISTs"] += 1
    load.learn(listed.selection.resource, listed.rvs[0])


async def get_objects(load: Workload, name: str) -> None:
    rnd = load.random(name)
    while True:
        await asyncio.sleep(rnd.choice((0.0, 0.02, 0.1)))
        resource, namespace, target = rnd.choice(RESOURCES), rnd.choice(NAMESPACES), rnd.choice(NAMES)
        kind = rnd.choice(("consistent", "consistent", "any"))
        got = Got(kind, key_of(resource, namespace, target), load.records.acknowledged)
        query = "?resourceVersion=0" if kind == "any" else ""
        path = f"/api/v1/namespaces/{namespace}/{resource}/{target}{query}"
        try:
            got.status, answer = await load.api.request("GET", path)
        except NO_ANSWER:
            load.records.counts["reads without an answer"] += 1
            continue
        if got.status == 200:
            metadata = answer["metadata"]
            got.rv, got.mark = int(metadata["resourceVersion"]), metadata["annotations"]["mark"]
        elif got.status != 404 and got.status not in EXCUSED:
            load.violations.add("a GET with a status of its own", path=path, status=got.status, answer=answer)
        if got.status in (200, 404):
            load.records.gets.append(got)
            load.records.counts["GETs"] += 1
