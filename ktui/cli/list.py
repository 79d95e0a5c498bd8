"""`ktui list`: fire one GET or LIST and say where it came from, why, and what it cost."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.cli.attach import add_attach_arguments
from ktui.cli.exits import NO_CONNECTION, OK, SERVER_ERROR, USAGE, fail

if TYPE_CHECKING:
    from ktui.client.connection import Connection
    from ktui.client.measure import Measured

EPILOG = """examples:
  ktui list /api/v1/pods
  ktui list '/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName=node-01' --json
  ktui list '/api/v1/pods?limit=500' --all-pages

exit status: 0 answered, 1 the server answered an error, 2 usage, 3 no connection"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "list",
        help="fire a GET or LIST and print route, reason and cost",
        description="Fire a GET or LIST at a server and print route, reason and cost, as measured. "
        "Without a running server one is started on an embedded etcd with a demo cluster.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", metavar="PATH", help="API path with its query, as in `kubectl get --raw`")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.add_argument("--all-pages", action="store_true", help="follow continue tokens to the end")
    parser.add_argument("--as-client", metavar="NAME", default="", help="the User-Agent to send")
    parser.add_argument("--save-body", metavar="FILE", help="keep the answer's body (of the last page)")
    add_attach_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from ktui.client.connection import ClientError

    if not args.path.startswith("/"):
        return fail(f"{args.path!r} is no API path: write it like '/api/v1/pods?limit=500'", USAGE)
    try:
        measured = asyncio.run(_fire(args))
        if args.save_body:
            Path(args.save_body).write_bytes(measured.body)
    except ClientError as error:
        return fail(str(error), NO_CONNECTION)
    except OSError as error:
        return fail(f"cannot write {error.filename}: {error.strerror}", USAGE)
    if args.json:
        _print_json(measured)
    else:
        from ktui.cli.verdict import print_verdict

        print_verdict(measured)
    return OK if measured.status < 400 else SERVER_ERROR


async def _fire(args: argparse.Namespace) -> Measured:
    from ktui.cli.attach import attached_connection
    from ktui.cli.child import ServerChild

    connection = attached_connection(args)
    if connection is not None:
        return await _fire_at(connection, args)
    child = ServerChild(["--demo", "--quiet"])
    print("ktui: no server runs here; starting one with a demo cluster …", file=sys.stderr)
    try:
        return await _fire_at(await child.start(), args)
    finally:
        await child.stop()


async def _fire_at(connection: Connection, args: argparse.Namespace) -> Measured:
    from ktui import __version__
    from ktui.client.api import ApiClient
    from ktui.client.measure import fire_measured

    client = ApiClient(connection, args.as_client or f"ktui/{__version__}")
    try:
        return await fire_measured(client, args.path, all_pages=args.all_pages)
    finally:
        await client.close()


def _print_json(measured: Measured) -> None:
    import msgspec

    document: dict[str, Any] = measured.document()
    print(msgspec.json.encode(document).decode())
