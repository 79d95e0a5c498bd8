"""`ktui observe`: report on a kube-apiserver's LISTs over some seconds, from its own metrics."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.cli.exit_codes import FAILED, NO_CONNECTION, OK, USAGE, fail
from ktui.cli.live_options import (
    add_kubeconfig_arguments,
    add_otlp_argument,
    add_prometheus_arguments,
    metrics_feed,
)
from ktui.cli.options import seconds
from ktui.cli.output import emit_json, warn
from ktui.cli.printing import Printer

GRACE, CLOSING = 10.0, 2.0  # seconds after --for until the report is made, whatever the server does

if TYPE_CHECKING:
    from ktui.contract.events.live import Denied
    from ktui.core.live.live_state import LiveState
    from ktui.live.scraper import LiveFeed

EPILOG = """examples:
  ktui observe --for 1m
  ktui observe --kubeconfig ~/.kube/config --context prod --json | jq .resources.pods
  ktui observe --for 5m --fail-on warning          in a cron job or in CI
  ktui observe --otlp --for 1m                     requests of an apiserver's traces: ktui tracing-config
  ktui observe --prometheus https://prometheus.example --for 1h    the past hour, at once

Only GETs are sent: /metrics of every replica, /version, /readyz, the kube-apiserver Leases and the dumps
of API Priority and Fairness. `ktui rbac` prints the ClusterRole that this needs. Figures are those of the
whole server, all clients together; the ones that a server does not report are null, or ? in the tables.

exit status: 0 observed, 1 findings at least as severe as --fail-on, 2 usage, 3 no replica could be read"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "observe",
        help="report where a real kube-apiserver serves its LISTs from, by its own counters",
        description="Scrape a real kube-apiserver for some seconds and report, for each resource, how many "
        "LISTs the watch cache served and how many etcd, what they read and returned, who executes and "
        "who waits, and what to change.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add_kubeconfig_arguments(parser)
    add_prometheus_arguments(parser)
    add_otlp_argument(parser)
    add("--for", dest="window", type=seconds, default=30.0, metavar="TIME",
        help="how long: 30s, 5m, 1h (default 30s)")  # fmt: skip
    add("--interval", type=seconds, default=15.0, metavar="TIME",
        help="time between two scrapes of a replica (default 15s)")  # fmt: skip
    add("--json", action="store_true", help="one JSON document, for programs")
    add("--top", type=int, default=20, metavar="N", help="resources in the table (default %(default)s)")
    add("--fail-on", choices=("notice", "warning", "critical"), default="",
        help="exit status 1 when a finding is at least as severe")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from ktui.core.live.findings import Severity, findings, worst  # start-up time
    from ktui.core.live.report import report_document

    if args.otlp is not None:
        from ktui.cli.observe_traces import observe_traces  # start-up time

        if args.kubeconfig or args.context or args.prometheus:
            why = "it reports the requests in traces, the others report metrics"
            return fail(
                "ktui observe takes --otlp without --kubeconfig, --context and --prometheus: "
                f"{why}; `ktui --kubeconfig FILE --otlp` shows both",
                USAGE,
            )
        return observe_traces(args)
    if args.interval < 1:
        return fail("--interval must be at least 1s: a scrape is work for the server", USAGE)
    live = asyncio.run(observed_state(args))
    if not live.replicas:
        return fail(nothing_read(live), NO_CONNECTION)
    if args.json:
        emit_json(report_document(live))
    else:
        from ktui.cli.observe_text import print_report  # start-up time

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
    from ktui.client.connection import ClientError  # start-up time
    from ktui.core.live.live_state import LiveState

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
    from ktui.core.live.live_state import fold_all  # start-up time

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
