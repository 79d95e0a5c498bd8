"""`ktui observe --otlp`: report on the requests in the traces that arrive, as `ktui audit` does of a log."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from ktui.cli.exit_codes import FAILED, OK
from ktui.cli.live_options import listen
from ktui.cli.output import emit_json, warn

if TYPE_CHECKING:
    from ktui.audit.report import Report
    from ktui.traces.receiver import OtlpReceiver
    from ktui.traces.spans import TracedRequest

MOST = 50_000  # requests of one report
VERSION = "1.36"  # whose rules they are compared with
_EVERY = 0.25  # seconds between two looks for requests
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def observe_traces(args: argparse.Namespace) -> int:
    """Listen for `--for` seconds, print the report and return the exit status."""
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
    from datetime import UTC, datetime  # start-up time

    from ktui.audit.build import Wish
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
    from ktui.core.format import many  # start-up time

    received = receiver.received
    found = []
    if not received.messages:
        found.append("no trace came: `ktui tracing-config` prints what the apiserver needs")
    if received.dropped:
        found.append(f"{many(received.dropped, 'message')} dropped: more than ktui could read")
    if received.bad:
        found.append(f"{many(received.bad, 'message')} could not be read: {received.problem}")
    return found + receiver.counts.problems()
