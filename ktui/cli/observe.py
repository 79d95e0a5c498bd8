"""`ktui observe`: report on a kube-apiserver's LISTs over some seconds, from its own metrics."""

from __future__ import annotations

import argparse
import asyncio
import signal
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ktui import __version__
from ktui.audit.report import Report
from ktui.cli.observe_text import print_report
from ktui.cli.options import listen, metrics_feed
from ktui.cli.output import FAILED, NO_CONNECTION, OK, USAGE, emit_json, fail, warn
from ktui.cli.printing import Printer
from ktui.client.connection import ClientError
from ktui.contract.events.live import Denied
from ktui.core.format import many
from ktui.core.live.findings import Severity, findings, worst
from ktui.core.live.live_state import LiveState, fold_all
from ktui.core.live.observe_document import report_document
from ktui.live.server_details import LiveFeed
from ktui.traces.receiver import OtlpReceiver
from ktui.traces.spans import TracedRequest

GRACE, CLOSING = 10.0, 2.0  # seconds after --for until the report is made, whatever the server does


def run(args: argparse.Namespace) -> int:
    if args.otlp is not None:
        if args.kubeconfig or args.context or args.prometheus:
            problem = (
                "ktui observe takes --otlp without --kubeconfig, --context and --prometheus: it reports the "
                "requests in traces, the others report metrics; `ktui --kubeconfig FILE --otlp` shows both"
            )
            return fail(problem, USAGE)
        return observe_traces(args)
    if args.interval < 1:
        return fail("--interval must be at least 1s: a scrape is work for the server", USAGE)
    live = asyncio.run(observed_state(args))
    if not live.replicas:
        return fail(nothing_read(live), NO_CONNECTION)
    if args.json:
        emit_json(report_document(live))
    else:
        print_report(live, Printer(), args.top)
    severity = worst(findings(live))
    failed = args.fail_on and severity is not None and severity >= Severity[args.fail_on.upper()]
    return FAILED if failed else OK


def nothing_read(live: LiveState) -> str:
    """Return why there are no figures, with the RBAC rule that would give them."""
    metrics = _refused(live)
    if metrics is None or not metrics.rule:
        reason = f" ({metrics.reason})" if metrics is not None else ""
        return f"no replica's /metrics could be read{reason}: nothing is known of its LISTs"
    return (
        f"/metrics may not be read ({metrics.reason}): nothing is known of its LISTs; "
        f"the missing rule is {metrics.rule}, which the ClusterRole of `ktui rbac` has"
    )


async def observed_state(args: argparse.Namespace) -> LiveState:
    """Scrape for `--for` seconds, at least once at the beginning and once at the end. Raises ClientError."""
    live = LiveState()
    feed = metrics_feed(args, args.window, f"ktui/{__version__} (observe)")
    late = False
    try:
        async with asyncio.timeout(args.window + GRACE):
            await _read(feed, live, args)
    except TimeoutError:
        late = True
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await feed.close()
    if late:
        text = f"the server did not answer within {args.window + GRACE:.0f} s"
        if not live.replicas:
            raise ClientError(feed.problem or text)
        warn(f"{text}: the last scrape is missing")
    if feed.problem:
        if not live.replicas:
            raise ClientError(feed.problem)
        warn(f"the last scrape failed: {feed.problem}")
    for denied in live.server.denied if live.server is not None else ():
        grant = f"; `ktui rbac` prints the role that grants {denied.rule}" if denied.rule else ""
        warn(f"{denied.path} cannot be read: {denied.reason}{grant}")
    return live


async def _read(feed: LiveFeed, live: LiveState, args: argparse.Namespace) -> None:
    began = time.monotonic()
    fold_all(live, await feed.start())
    for warning in feed.warnings:
        warn(f"warning: {warning}")
    if not args.prometheus:  # whose first answer contains the past
        async for events in feed.batches(max(0.0, args.window - (time.monotonic() - began))):
            fold_all(live, events)
            if not live.replicas and _refused(live) is not None:
                return  # waiting changes nothing


def _refused(live: LiveState) -> Denied | None:
    """Return the refusal of /metrics; None if it may be read."""
    denied = live.server.denied if live.server is not None else ()
    return next((item for item in denied if item.path == "/metrics"), None)


MOST = 50_000  # requests of one report
VERSION = "1.36"  # whose rules they are compared with
_EVERY = 0.25  # seconds between two looks for requests
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def observe_traces(args: argparse.Namespace) -> int:
    receiver = listen(args)
    warn(f"listening for OTLP on ports {receiver.grpc_port} (gRPC) and {receiver.http_port} (HTTP)")
    try:
        requests = _received(receiver, args.window)
    finally:
        receiver.close()
    requests += receiver.drain() + receiver.assembler.finish()
    if args.json:
        emit_json(traces_document(requests, receiver, args.top))
    else:
        from ktui.cli.auditing.text import print_report  # start-up time

        print_report(_report(requests, args.top))
    for text in problems(receiver):
        warn(text)
    return OK if requests else FAILED


def _received(receiver: OtlpReceiver, seconds: float) -> list[TracedRequest]:
    """Return the requests of some seconds; Ctrl-C and SIGTERM end earlier."""
    ended = threading.Event()
    previous = {number: signal.signal(number, lambda *_: ended.set()) for number in _SIGNALS}
    found: list[TracedRequest] = []
    end = time.monotonic() + seconds
    try:
        while not ended.is_set() and time.monotonic() < end:
            ended.wait(min(_EVERY, max(0.0, end - time.monotonic())))
            found += receiver.drain()
            del found[:-MOST]
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return found


def _report(requests: list[TracedRequest], top: int) -> Report:
    """Return the report of `ktui audit` about requests, under the newest rules."""
    from ktui.audit.build import Wish  # start-up time
    from ktui.audit.tally import Tally

    tally = Tally(datetime.now(UTC))
    tally.open_file("OTLP")
    if requests:
        tally.add_traced(requests)
    return Wish(VERSION).report(tally, top)


def traces_document(requests: list[TracedRequest], receiver: OtlpReceiver, top: int) -> dict[str, Any]:
    """Return the report as a document, with each request as `ktui audit --requests` prints it."""
    import msgspec  # start-up time

    from ktui.audit.request_list import of_trace

    received = msgspec.to_builtins(receiver.received)
    return {
        **msgspec.to_builtins(_report(requests, top)),
        "received": {**received, "spans": receiver.counts.spans, "problems": problems(receiver)},
        "requests_listed": [msgspec.to_builtins(of_trace(request)) for request in requests if request.path],
    }


def problems(receiver: OtlpReceiver) -> list[str]:
    """Return what was dropped or could not be read, as sentences."""
    received, found = receiver.received, []
    if not received.messages:
        found.append("no trace came: `ktui tracing-config` prints what the apiserver needs")
    if received.dropped:
        found.append(f"{many(received.dropped, 'message')} dropped: more than ktui could read")
    if received.bad:
        found.append(f"{many(received.bad, 'message')} could not be read: {received.problem}")
    return found + receiver.counts.problems()
