"""The option `--prometheus`: a Prometheus as the source of live figures."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ktui.live.prometheus import PrometheusConnection


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
