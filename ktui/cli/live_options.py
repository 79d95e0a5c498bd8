"""Options for sources of live figures: a kube-apiserver of a kubeconfig, a Prometheus, traces (`--otlp`)."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ktui.cli.output import warn

if TYPE_CHECKING:
    from ktui.client.kube_connection import KubeConnection
    from ktui.live.prometheus import PrometheusConnection
    from ktui.live.server_details import LiveFeed
    from ktui.traces.receiver import OtlpReceiver


def kubeconfig_connection(args: argparse.Namespace) -> KubeConnection:
    """Return the connection of `--kubeconfig` and `--context`. Raises ClientError."""
    from ktui.client.kubeconfig_reader import kubeconfig_files, read_kubeconfig  # start-up time

    files = kubeconfig_files(args.kubeconfig)
    return read_kubeconfig(files, args.context, terminal=sys.stdin.isatty(), announce=warn)


def metrics_feed(args: argparse.Namespace, history: float, user_agent: str) -> LiveFeed:
    """Return the metrics of `--prometheus` with `history` seconds of its past, else of `--kubeconfig`.

    Sends nothing yet. Raises ClientError for an address that is none.
    """
    if args.prometheus:
        from ktui.live.prometheus import PrometheusFeed  # start-up time

        connection = prometheus_connection(args)
        return PrometheusFeed(connection, history, interval=args.interval, user_agent=user_agent)
    from ktui.live.scraper import Scraper  # start-up time

    return Scraper(lambda: kubeconfig_connection(args), args.interval, user_agent=user_agent)


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
        url=url.rstrip("/"), context=parts.hostname, token=_secret(args, "token"), username=name,
        password=password, extra_headers={header.strip(): value.strip()} if colon else {},
    )  # fmt: skip


def _secret(args: argparse.Namespace, name: str) -> str:
    """Return a secret from the environment, else from the context; command lines are public on a machine."""
    chosen = args.configured.chosen
    written = chosen.context.values.get(f"prometheus_{name}", "") if chosen is not None else ""
    return os.environ.get(f"KTUI_PROMETHEUS_{name.upper()}", "") or str(written)


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
