"""Counts and sizes of objects for `ktui audit`: from a file, or from a server that runs."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ktui.audit.sizes import Child, Listing, Size, SizesError, parse_sizes, sizes_of
from ktui.cli.attach import attached_connection

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.client.connection import Connection


def find_sizes(args: argparse.Namespace) -> tuple[dict[str, Size], str]:
    """Sizes by resource id, and in words where they come from; empty when there is nothing to ask.

    Raises SizesError or OSError for the file, ClientError for the server of `--attach`.
    """
    from ktui.client.connection import ClientError

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
        print(f"ktui: no sizes from the server that runs here: {error}", file=sys.stderr)
        return {}, ""


def _from_file(name: str) -> dict[str, Size]:
    try:
        return parse_sizes(Path(name).read_bytes())
    except SizesError as error:
        raise SizesError(f"{name} {error}") from None


async def _ask(connection: Connection) -> dict[str, Size]:
    from ktui.client.api import ApiClient

    client = ApiClient(connection)
    try:
        return sizes_of(await _resources(client))
    finally:
        await client.close()


async def _resources(client: ApiClient) -> list[Child]:
    """Prefixes that are a resource's; groups of them (`services/`, custom resources) are looked into."""
    found = []
    for child in await _children(client, ""):
        if child.resource or child.leaf or not child.prefix.endswith("/"):
            found.append(child)
        else:
            found += await _children(client, f"?prefix={quote(child.prefix)}")
    return found


async def _children(client: ApiClient, query: str) -> list[Child]:
    import msgspec

    from ktui.client.connection import ClientError

    answer = await client.get_json(f"/ktui/v1/etcd/prefixes{query}")
    try:
        return msgspec.convert(answer, Listing).children
    except msgspec.ValidationError as error:
        raise ClientError(f"{client.connection.url} is no ktui server: {error}") from None
