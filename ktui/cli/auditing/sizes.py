"""Number and size of objects for `ktui audit`: from a file, or from a running server."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.cli.attach import attached_connection
from ktui.cli.output import warn
from ktui.core.prediction.sizes import ResourceSize, SizesError, parse_sizes, sizes_in_etcd
from ktui.documents.files import read_bytes
from ktui.documents.limits import DocumentError

MOST_BYTES = 16 << 20

if TYPE_CHECKING:
    from ktui.client.connection import ServerConnection


def find_sizes(args: argparse.Namespace) -> tuple[dict[str, ResourceSize], str]:
    """Sizes by resource id, and their source as text; empty if there is none.

    Raises SizesError or OSError for the file, ClientError for the server of `--attach`.
    """
    from ktui.client.connection import ClientError  # start-up time

    if args.sizes:
        return _from_file(args.sizes), args.sizes
    if args.no_attach and not args.attach:
        return {}, ""
    connection = attached_connection(args)
    if connection is None:
        return {}, ""
    try:
        return asyncio.run(_ask(connection)), f"the ktui server at {connection.url}"
    except ClientError as error:
        if args.attach:
            raise
        warn(f"no sizes from the server that runs here: {error}")
        return {}, ""


def _from_file(name: str) -> dict[str, ResourceSize]:
    try:
        return parse_sizes(read_bytes(Path(name), MOST_BYTES))
    except DocumentError as error:
        raise SizesError(f"{name} cannot be used: {error}") from None
    except SizesError as error:
        raise SizesError(f"{name} {error}") from None


async def _ask(connection: ServerConnection) -> dict[str, ResourceSize]:
    from ktui.client.api import ApiClient  # start-up time
    from ktui.client.ktui_api import KtuiApi

    client = ApiClient(connection)
    try:
        return await sizes_in_etcd(KtuiApi(client).prefixes)
    finally:
        await client.close()
