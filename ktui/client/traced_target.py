"""A kube-apiserver whose traces are received: each request is judged by its own trace, not by counters.

Requests are sent with a sampled `traceparent`. kube-apiserver follows it for members of system:masters and
system:monitoring from 1.33 on, even where it samples nothing; other requests are traced at its own rate.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from ktui.client.measure import ApiRequest, Keep
from ktui.client.target import ESTIMATED, NO_METRICS, OTHERS, REPLICAS, SHARED, Target, whole_json
from ktui.core.lab.measured import OBSERVED, Measured, joined_route
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.traces.receiver import OtlpReceiver
from ktui.traces.spans import TracedRequest

WAIT_SECONDS = 8.0  # after the last request: an apiserver sends its spans every 5
_EVERY = 0.1
NO_TRACE = (
    "no trace arrived: the server has no TracingConfiguration for this address, or it samples this "
    "caller's requests not at all (system:monitoring may ask for it, from 1.33 on)"
)
FROM_TRACE = "route, objects and stages are those of this very request, from its trace"


class TracedTarget(Target):
    """Wraps a target; `settle` judges measures by their traces. Others may drain the receiver, too."""

    settles_later = True

    def __init__(self, target: Target, receiver: OtlpReceiver, wait: float = WAIT_SECONDS) -> None:
        super().__init__(target.client)
        self._target, self._receiver, self._wait = target, receiver, wait
        self._found: OrderedDict[str, TracedRequest] | None = None  # by Audit-ID, from the first request on

    async def assumptions(self) -> ServerAssumptions:
        return await self._target.assumptions()

    async def measure(self, request: ApiRequest, keep: Keep | None = None) -> Measured:
        if self._found is None:
            self._found = self._receiver.search()
        traceparent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        run = await self._target.measure(replace(request, traceparent=traceparent), keep)
        if run.ok and run.items and not run.average_bytes and whole_json(request.accept):
            run.average_bytes = run.body_bytes / run.items
        return run

    async def settle(self, runs: Sequence[Measured]) -> None:
        """Wait for the traces of these requests, and put what they contain into their measures.

        Where only some have one, the counters of the others are dropped: they are not comparable.
        """
        found = self._found if self._found is not None else OrderedDict()
        wanted = {audit_id for run in runs for audit_id in run.audit_ids}
        end = time.monotonic() + self._wait
        while True:
            if all(each in found for each in wanted) or time.monotonic() >= end:
                break
            await asyncio.sleep(_EVERY)
        self.forget()
        judged = [judge(run, [found[each] for each in run.audit_ids if each in found]) for run in runs]
        for run, traced in zip(runs, judged, strict=True):
            if any(judged) and not traced:
                run.counters = {name: count for name, count in run.counters.items() if name == "sent_bytes"}
                run.remarks = [text for text in run.remarks if text not in (SHARED, ESTIMATED)]

    def forget(self) -> None:
        """Wait for no trace any more: the requests were judged, or given up."""
        if self._found is not None:
            self._receiver.end_search(self._found)
            self._found = None


def judge(run: Measured, traces: Sequence[TracedRequest]) -> bool:
    """Replace what counters said of a request by what its traces say, one a page; False if one is missing."""
    if len(traces) < max(1, len(run.audit_ids)):
        run.remarks.append(NO_TRACE)
        return False
    said = (SHARED, OTHERS, REPLICAS)
    run.remarks = [text for text in run.remarks if text not in said and not text.startswith(NO_METRICS)]
    run.remarks.append(FROM_TRACE)
    run.route, run.first_route = "", traces[0].route
    for trace in traces:
        run.route = joined_route(run.route, "cache,etcd" if trace.fallback else trace.route)
    run.reason_id, run.reason = OBSERVED, traces[0].why
    counts = {
        "fetched": [trace.scanned for trace in traces],
        "returned": [trace.returned for trace in traces],
        "etcd_rpcs": [trace.rpcs for trace in traces],
    }
    sent = run.counters.get("sent_bytes")
    run.counters = {name: sum(values) for name, values in counts.items() if min(values) >= 0}
    if sent is not None:
        run.counters["sent_bytes"] = sent
    if run.counters.get("fetched") and run.average_bytes and ESTIMATED not in run.remarks:
        run.remarks.append(ESTIMATED)
    run.phases = {}
    for trace in traces:
        for stage, ms in trace.stages.items():
            run.phases[stage] = run.phases.get(stage, 0.0) + ms
    return True
