"""Find the ktui server for a command: `--attach`, or the newest one that runs on this machine."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ktui.cli.token import add_token_arguments
from ktui.client.connection import ClientError, ServerConnection, connection_from_url
from ktui.client.running import find_by_url, find_running

NEWEST = "the server to talk to (default: the one that runs on this machine)"


def add_attach_arguments(parser: argparse._ActionsContainer, about: str = NEWEST) -> None:
    parser.add_argument("--attach", metavar="URL", help=about)
    add_token_arguments(parser, "its bearer token (default: KTUI_TOKEN, or its state file)")
    parser.add_argument("--server-ca", metavar="FILE", help="CA of the server's certificate")


def attached_connection(args: argparse.Namespace) -> ServerConnection | None:
    """Return the server of `--attach`, else the newest running on this machine, else None."""
    if args.attach:
        known = find_by_url(args.attach)
        if known is not None and not args.server_ca:
            return replace(known.connection, token=args.token or known.connection.token)
        return connection_from_url(args.attach, args.token, Path(args.server_ca) if args.server_ca else None)
    return next((server.connection for server in find_running()), None)


def require_connection(args: argparse.Namespace) -> ServerConnection:
    """Return the server as `attached_connection` does. Raises ClientError if there is none."""
    connection = attached_connection(args)
    if connection is None:
        raise ClientError("no ktui server runs on this machine; start one with `ktui` or `ktui serve`")
    return connection
