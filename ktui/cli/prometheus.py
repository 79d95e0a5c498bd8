"""Options that name a Prometheus as the source of live figures."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ktui.live.prometheus import PrometheusConnection

TOKEN_ENV, USER_ENV, HEADER_ENV = "KTUI_PROMETHEUS_TOKEN", "KTUI_PROMETHEUS_USER", "KTUI_PROMETHEUS_HEADER"


def add_prometheus_arguments(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--prometheus",
        metavar="URL",
        default="",
        help="read the same figures from a Prometheus that scrapes the kube-apiservers, with their past; "
        f"credentials: {TOKEN_ENV}, {USER_ENV} (NAME:PASSWORD), {HEADER_ENV} (NAME: VALUE)",
    )


def prometheus_connection(args: argparse.Namespace) -> PrometheusConnection:
    """The Prometheus of `--prometheus`. Raises ClientError."""
    from ktui.client.connection import ClientError  # start-up time
    from ktui.live.prometheus import PrometheusConnection

    url: str = args.prometheus
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise ClientError(f"{url!r} is not the address of a Prometheus: write it like https://host:9090")
    name, _, password = os.environ.get(USER_ENV, "").partition(":")
    header, colon, value = os.environ.get(HEADER_ENV, "").partition(":")
    return PrometheusConnection(
        url=url.rstrip("/"),
        context=parts.hostname,
        token=os.environ.get(TOKEN_ENV, ""),
        username=name,
        password=password,
        extra_headers={header.strip(): value.strip()} if colon else {},
    )
