"""`ktui record`: record a live kube-apiserver for days, without screens, into a directory of segments."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ktui import __version__
from ktui.cli.exit_codes import USAGE, fail
from ktui.cli.live_options import (
    add_kubeconfig_arguments,
    add_otlp_argument,
    add_prometheus_arguments,
    kubeconfig_connection,
    listen,
    metrics_feed,
    prometheus_connection,
)
from ktui.cli.options import long_seconds, seconds, size
from ktui.cli.output import warn

if TYPE_CHECKING:
    from ktui.traces.receiver import OtlpReceiver

LEAST_SIZE = 10_000_000  # bytes
LEAST_RETENTION = 600.0  # seconds

EPILOG = """examples:
  ktui record incident                                    the current context, until Ctrl-C
  ktui record --context prod --for 48h --retention 48h --max-size 2GB /var/lib/ktui
  ktui record --kubeconfig ~/.kube/config --otlp DIR      requests of its traces too: ktui tracing-config
  ktui record --prometheus https://prometheus.example DIR    what a Prometheus scrapes
  ktui --replay DIR                                       opens at the worst finding
  ktui recording info DIR

Only GETs are sent, as by `ktui observe`; `ktui rbac` prints the ClusterRole. DIR gets a new segment every
hour, or earlier for the size; the oldest ones are deleted. Each segment is a recording of its own, and has
a marker at each new finding. SIGINT and SIGTERM end it with a summary. docs/record.md has a systemd unit
and a Deployment.

exit status: 0 recorded, 1 the disk failed at the end, 2 usage, 3 nothing could be read"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "record",
        help="record a live kube-apiserver for days, to replay the worst moment",
        description="Record the metrics, dumps and traces of a real kube-apiserver without screens, in "
        "segments that rotate. It reconnects when the server restarts, and continues in a directory that it "
        "recorded into before.",
        epilog=EPILOG,
        usage="%(prog)s [options] DIR",
    )
    add = parser.add_argument
    add("directory", metavar="DIR", nargs="?",
        help="the directory of the segments (required); created if missing")  # fmt: skip
    add_kubeconfig_arguments(parser)
    add_prometheus_arguments(parser, ", from now on")
    add_otlp_argument(parser)
    add("--for", dest="window", type=long_seconds, default=None, metavar="TIME",
        help="how long: 90m, 48h, 7d (default: until it is stopped)")  # fmt: skip
    add("--retention", type=long_seconds, default="48h", metavar="TIME",
        help="delete segments that ended before this time (default 48h)")  # fmt: skip
    add("--max-size", type=size, default="2GB", metavar="SIZE",
        help="delete the oldest segments beyond this size on disk (default 2GB)")  # fmt: skip
    add("--interval", type=seconds, default=15.0, metavar="TIME",
        help="time between two scrapes of a replica (default 15s)")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    _find_directory(args)
    if problem := _misuse(args):
        return fail(problem, USAGE)
    if not _traces_only(args):  # a kubeconfig that is wrong now is not retried for 48 hours
        (prometheus_connection if args.prometheus else kubeconfig_connection)(args)
    receiver = listen(args) if args.otlp is not None else None
    try:
        return asyncio.run(_record(args, receiver))
    finally:
        if receiver is not None:
            receiver.close()


def _find_directory(args: argparse.Namespace) -> None:
    """Read `--otlp DIR` as `--otlp` without an address, and DIR."""
    if args.otlp and args.directory is None:
        from ktui.traces.receiver import parse_address  # start-up time

        try:
            parse_address(args.otlp)
        except ValueError:
            args.directory, args.otlp = args.otlp, ""


def _misuse(args: argparse.Namespace) -> str:
    if args.directory is None:
        return "DIR is missing, the directory of the segments: ktui record [options] DIR"
    if args.interval < 1:
        return "--interval must be at least 1s: a scrape is work for the server"
    if args.max_size < LEAST_SIZE:
        return f"--max-size must be at least {LEAST_SIZE // 1_000_000}MB: it has room for eight segments"
    if args.retention < LEAST_RETENTION:
        return f"--retention must be at least {LEAST_RETENTION / 60:.0f}m"
    return ""


def _traces_only(args: argparse.Namespace) -> bool:
    """True if traces are the only source, as for the dashboard."""
    return args.otlp is not None and not (args.kubeconfig or args.context or args.prometheus)


async def _record(args: argparse.Namespace, receiver: OtlpReceiver | None) -> int:

    from ktui.cli.record_session import RecordSession  # start-up time
    from ktui.traces.feed import address_of

    session = RecordSession(Path(args.directory), args.retention, args.max_size, receiver)
    if receiver is not None:
        warn(f"listening for OTLP on {address_of(receiver)}")
    if _traces_only(args):
        return await session.run([session.traces_alone()], args.window)
    # No history: a further run in the same directory would have it twice.
    agent = f"ktui/{__version__} (record)"
    sources = [session.metrics(lambda: metrics_feed(args, 0.0, agent))]
    if receiver is not None:
        sources.append(session.traces())
    return await session.run(sources, args.window)
