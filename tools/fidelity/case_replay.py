"""Replays the recorded cases of a profile: sets the cluster up, sends each request, compares its answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tools.fidelity.case_answers import CaseMasking
from tools.fidelity.case_comparison import compare, compare_cost
from tools.fidelity.case_requests import Names, Preparation, Prepared, cases
from tools.fidelity.client import Answer, Client, Watch, wait_for_caches
from tools.fidelity.gateway import Gateway
from tools.fidelity.recordings import Profile
from tools.fidelity.server import Target
from tools.fidelity.tally import Tally
from tools.fidelity.values import member

_AGENT = "python-httpx/0.28"
_NEWEST_FROM = "/apis/scheduling.k8s.io/v1/priorityclasses?limit=1"
_COLD_TRIES, _COLD_SECONDS = 80, 0.25  # a custom resource's cache is made by its first request
_SETTLED_SECONDS = 0.35  # from a WATCH's status to the first write: its initial events are out
_WRITE_SECONDS = 0.05
_SLOW_MS = 300  # recorded; longer ones wait for a timeout

Case = Mapping[str, Any]


def replay(target: Target, profile: Profile, sample: int | None = None) -> tuple[Tally, Tally]:
    """Replay a profile's cases; return the tallies of answers and of costs.

    `sample`: send only this many of the reads, evenly chosen, and none that waits.
    """
    run = _Replay(target, profile.name)
    chosen = cases(profile.name)
    for case in chosen if sample is None else sampled(chosen, sample):
        run.send(case)
    run.client.close()
    return run.answers, run.costs


def sampled(all_cases: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return the setup, `number` quick reads, and the earlier cases of their sequences."""
    setup = [case for case in all_cases if case.get("setup") and case["phase"] == "setup"]
    quick = [
        case
        for case in all_cases
        if case["phase"] == "read" and not case.get("watch") and case["elapsed_ms"] < _SLOW_MS
    ]
    step = max(1, len(quick) / max(1, number))
    picked = [quick[int(index * step)] for index in range(min(number, len(quick)))]
    ids = {case["id"] for case in picked}
    last = {case["group"]: case["seq"] for case in picked if case.get("chain")}
    chains = [
        case
        for case in all_cases
        if case.get("chain") and case["id"] not in ids and case["seq"] < last.get(case["group"], -1)
    ]
    return sorted([*setup, *picked, *chains], key=lambda case: int(case["seq"]))


class _Replay:
    def __init__(self, target: Target, title: str) -> None:
        self.client = Client(target.url, _AGENT)
        self.answers, self.costs = Tally(f"{title}: answers"), Tally(f"{title}: costs")
        self._writer = Client(target.url, _AGENT)  # of what happens while a WATCH is open
        self._gateway = Gateway(target.etcd_url)
        self._names = Names.of_snapshot()
        self._masking = CaseMasking(self._names)
        self._preparation = Preparation(self._names, self._newest)
        self._gateway.remove_start_events()
        wait_for_caches(self.client)

    def send(self, case: Case) -> None:
        """Send a case's request and count its answer, unless it only sets the cluster up."""
        request = case["request"]
        if "op" in request:
            self._operate(request)
        elif case.get("watch"):
            self._watch(case)
        else:
            prepared = self._preparation.prepared(request)
            answer = self._answer(prepared, patient=bool(case.get("retry429")))
            if case.get("retry429"):  # it begins to fill a cache, which must not have what is written next
                wait_for_caches(self.client)
            self._count(case, prepared, answer)

    def _answer(self, prepared: Prepared, *, patient: bool = False) -> Answer:
        for _ in range(_COLD_TRIES if patient else 1):
            answer = self.client.send(prepared.method, prepared.target, prepared.headers, prepared.body)
            if answer.status != 429:
                break
            time.sleep(_COLD_SECONDS)
        return answer

    def _count(
        self,
        case: Case,
        prepared: Prepared,
        answer: Answer,
        lines: list[bytes] | None = None,
        writes: list[Answer] | None = None,
    ) -> None:
        self._names.capture(case.get("capture") or {}, answer)
        if case.get("setup"):
            return
        request = f"{prepared.method} {prepared.target}"
        try:
            found = compare(case, prepared.target, answer, self._masking, lines, writes)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            self.answers.add(case["category"], case["id"], request, [f"not as recorded: {error!r}"])
            return
        self.answers.add(case["category"], case["id"], request, found)
        costs = compare_cost(case, answer)
        if costs is not None:
            self.costs.add(case["category"], case["id"], request, costs)

    def _watch(self, case: Case) -> None:
        prepared = self._preparation.prepared(case["request"])
        during = [self._preparation.prepared(request) for request in case.get("during") or []]
        writes: list[Answer] = []
        watch = Watch(self.client, prepared.target, prepared.headers)
        watch.opened.wait()
        answer = watch.answer or Answer(-1, None, b"")
        if during and not watch.ended.is_set():
            self._write(during, writes)
        watch.ended.wait()
        watch.stop()
        streamed = answer.status == 200 and "json" in answer.media_type
        self._count(case, prepared, answer, watch.lines if streamed else None, writes)

    def _write(self, during: list[Prepared], writes: list[Answer]) -> None:
        time.sleep(_SETTLED_SECONDS)
        for write in during:
            if write.method == "SLEEP":
                time.sleep(float(write.target))
                continue
            writes.append(self._writer.send(write.method, write.target, write.headers, write.body))
            time.sleep(_WRITE_SECONDS)

    def _operate(self, request: Mapping[str, Any]) -> None:
        """Compact etcd, or wait until the server has noticed."""
        if request["op"] == "sleep":
            time.sleep(request["seconds"])
        elif request["op"] == "etcd-compact":
            revision = self._preparation.text(request["rev"])
            self._gateway.compact(revision, as_apiserver=request.get("style") == "apiserver")
        else:
            raise ValueError(f"unknown operation {request['op']!r}")

    def _newest(self) -> int:
        answer = self.client.send("GET", _NEWEST_FROM, {})
        return int(member(answer.json(), "metadata.resourceVersion"))
