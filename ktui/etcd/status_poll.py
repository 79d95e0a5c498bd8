"""Poll etcd's status, to notice its silence, its size and its alarms in time."""

from __future__ import annotations

import asyncio

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import EtcdError, PermissionDeniedError

EVERY_SECONDS = 5.0  # one Status RPC, which etcd answers from memory


async def poll_status(client: EtcdClient) -> None:
    """Poll until cancelled or denied; the ledger publishes the results."""
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            await client.status()
        except PermissionDeniedError:
            return
        except EtcdError:
            continue  # the ledger has reported the error
