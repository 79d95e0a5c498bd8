"""Counts and sizes of objects for `ktui audit`: from a file, or from the server of `--attach`."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.audit.other_servers import API_SERVICES, CRDS, AggregatedGroups, groups_of
from ktui.cli.attach import attached_connection
from ktui.core.prediction.sizes import ResourceSize, SizesError, parse_sizes, sizes_in_etcd
from ktui.documents.limits import DocumentError, read_bytes

MOST_BYTES = 16 << 20

if TYPE_CHECKING:
    from ktui.client.connection import ServerConnection


def find_sizes(args: argparse.Namespace) -> tuple[dict[str, ResourceSize], str]:
    """Return sizes by resource id, and their source as text; both are empty without a source.

    Raises SizesError or OSError for the file, ClientError for the server of `--attach`.
    """
    if args.sizes:
        return _from_file(args.sizes), args.sizes
    if not args.attach:
        return {}, ""  # a server that runs on this machine need not have the log's objects
    connection = attached_connection(args)
    if connection is None:
        return {}, ""
    return asyncio.run(_read_from(connection)), f"the ktui server at {connection.url}"


def find_aggregated(args: argparse.Namespace) -> AggregatedGroups:
    """Return the API groups of other servers: those of `--aggregated`, and by the objects of `--attach`.

    Raises ClientError.
    """
    connection = attached_connection(args) if args.attach else None
    if connection is None:
        return groups_of(args.aggregated)
    crds, services = asyncio.run(_read_lists(connection, (CRDS, API_SERVICES)))
    return groups_of(args.aggregated, crds, services)


async def _read_lists(connection: ServerConnection, paths: Sequence[str]) -> list[bytes]:
    from ktui.client.api import ApiClient  # start-up time

    client = ApiClient(connection)
    try:
        answers = [await client.request("GET", path) for path in paths]
    finally:
        await client.close()
    return [answer.content if answer.status_code == 200 else b"" for answer in answers]


def _from_file(name: str) -> dict[str, ResourceSize]:
    try:
        return parse_sizes(read_bytes(Path(name), MOST_BYTES))
    except DocumentError as error:
        raise SizesError(f"{name} cannot be used: {error}") from None
    except SizesError as error:
        raise SizesError(f"{name} {error}") from None


async def _read_from(connection: ServerConnection) -> dict[str, ResourceSize]:
    from ktui.client.api import ApiClient  # start-up time
    from ktui.client.ktui_api import KtuiApi

    client = ApiClient(connection)
    try:
        return await sizes_in_etcd(KtuiApi(client).prefixes)
    finally:
        await client.close()
