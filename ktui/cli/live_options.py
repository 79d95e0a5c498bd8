"""Options for other sources of live figures than a kube-apiserver: `--otlp` (its traces), `--prometheus`."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from ktui.cli.exit_codes import FAILED, NO_CONNECTION, OK, USAGE, fail
from ktui.cli.output import emit_json, warn

if TYPE_CHECKING:
    from ktui.audit.report import Report
    from ktui.live.prometheus import PrometheusConnection
    from ktui.traces.receiver import OtlpReceiver
    from ktui.traces.spans import TracedRequest


def add_prometheus_arguments(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--prometheus",
        metavar="URL",
        default="",
        help="read the same figures from a Prometheus that scrapes the kube-apiservers, with their past; "
        "credentials: KTUI_PROMETHEUS_TOKEN, …_USER (NAME:PASSWORD), …_HEADER (NAME: VALUE)",
    )


def prometheus_connection(args: argparse.Namespace) -> PrometheusConnection:
    """Return the connection to the Prometheus of `--prometheus`. Raises ClientError."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.live.prometheus import PrometheusConnection

    url: str = args.prometheus
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise ClientError(f"{url!r} is not the address of a Prometheus: write it like https://host:9090")
    name, _, password = _secret(args, "user").partition(":")
    header, colon, value = _secret(args, "header").partition(":")
    return PrometheusConnection(
        url=url.rstrip("/"),
        context=parts.hostname,
        token=_secret(args, "token"),
        username=name,
        password=password,
        extra_headers={header.strip(): value.strip()} if colon else {},
    )


def _secret(args: argparse.Namespace, name: str) -> str:
    """Return a secret from the environment, else from the context; command lines are public on a machine."""
    chosen = args.configured.chosen
    written = chosen.context.values.get(f"prometheus_{name}", "") if chosen is not None else ""
    return os.environ.get(f"KTUI_PROMETHEUS_{name.upper()}", "") or str(written)


MOST = 50_000
"""Most requests of one report."""
VERSION = "1.36"  # whose rules they are compared with
_EVERY = 0.25


class _Group(Protocol):
    def add_argument(self, *names: str, **options: Any) -> Any: ...


def add_otlp_argument(group: _Group) -> None:
    group.add_argument(
        "--otlp",
        nargs="?",
        const="",
        metavar="HOST:PORT",
        help="listen for the traces of a kube-apiserver (default 127.0.0.1:4317 for gRPC, the next port for "
        "HTTP): see `ktui tracing-config`",
    )


def listen(args: argparse.Namespace) -> OtlpReceiver:
    """Return a receiver at the address of `--otlp`. Raises ClientError, ConfigError."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.config.errors import ConfigError
    from ktui.traces.receiver import OtlpReceiver, is_loopback, parse_address

    try:
        host, grpc_port, http_port = parse_address(args.otlp)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if not is_loopback(host):
        warn(f"warning: everyone who reaches {host} can send spans: OTLP has no credentials here")
    receiver = OtlpReceiver(host, grpc_port, http_port)
    try:
        receiver.start()
    except OSError as error:
        raise ClientError(f"cannot listen for OTLP on {error.filename}: {error.strerror}") from None
    return receiver


def observe_traces(args: argparse.Namespace) -> int:
    """Report on the requests in the traces that arrive within `--for`, as `ktui audit` does of a log."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.config.errors import ConfigError

    try:
        receiver = listen(args)
    except ConfigError as error:
        return fail(str(error), USAGE)
    except ClientError as error:
        return fail(str(error), NO_CONNECTION)
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

    from ktui.audit.build import ReportOptions, build_report
    from ktui.audit.server_version import versions_from
    from ktui.audit.tally import Tally

    tally = Tally(datetime.now(UTC))
    tally.open_file("OTLP")
    if requests:
        tally.add_traced(requests)
    return build_report(tally, ReportOptions(versions_from(VERSION, {}), {}, top=top))


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


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def problems(receiver: OtlpReceiver) -> list[str]:
    """Return what was dropped or could not be read, as sentences."""
    from ktui.core.format import integer, many  # start-up time

    received, counts = receiver.received, receiver.counts
    found = []
    if not received.messages:
        found.append("no trace came: `ktui tracing-config` prints what the apiserver needs")
    if received.dropped:
        found.append(f"{many(received.dropped, 'message')} dropped: more than ktui could read")
    if counts.dropped:
        found.append(f"{many(counts.dropped, 'span')} dropped: their requests were not complete")
    if received.bad:
        found.append(f"{many(received.bad, 'message')} could not be read: {received.problem}")
    found += [f"{integer(number)} spans cannot be used: {why}" for why, number in counts.bad.items()]
    if counts.others:
        found.append(f"{many(counts.others, 'span')} of other services left out")
    if counts.unknown:
        named = ", ".join(f"{name!r} ({integer(number)})" for name, number in counts.unknown.most_common(8))
        found.append(f"spans with names that ktui does not know: {named}")
    return found
