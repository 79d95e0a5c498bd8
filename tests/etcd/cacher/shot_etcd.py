"""An etcd that tests may stop, kill, compact and write to behind the back of the caches."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from urllib.parse import urlsplit

from aetcd import rpc

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.transport import Decoded
from ktui.etcd.types import Rpc
from ktui.telemetry.bus import Bus
from ktui.wire.codec import encode_object
from tests.etcd.stopping import stand_still

from ..ports import reserved_ports
from .truth import CONFIG_MAPS

_REVOKE = Rpc("lease_revoke", "/etcdserverpb.Lease/LeaseRevoke", harmless=False)


class ShotEtcd:
    """Its process, and a writable connection that nothing disturbs."""

    def __init__(self, etcd: EmbeddedEtcd, client: EtcdClient, port: contextlib.ExitStack) -> None:
        self.endpoint = etcd.endpoint
        self.client = client
        self._etcd = etcd
        self._port = port  # held while etcd is away: no other process can listen there
        self._pid = _child_of(etcd.pid)

    @classmethod
    async def start(cls, data_dir: Path | None = None) -> ShotEtcd:
        """One with a `data_dir` can be started again."""
        with contextlib.ExitStack() as held:
            (port,) = held.enter_context(reserved_ports(1))
            etcd = await EmbeddedEtcd.start(data_dir, port=port)
            client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
            return cls(etcd, client, held.pop_all())

    def pause(self) -> None:
        stand_still(self._pid)

    def resume(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    async def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            await self._etcd.failed
        await self._etcd.stop()

    async def start_again(self) -> None:
        """At the same port, with the same data."""
        port = urlsplit(self.endpoint).port
        self._etcd = await EmbeddedEtcd.start(self._etcd.data_dir, port=port)
        self._pid = _child_of(self._etcd.pid)

    async def start_another(self) -> None:
        """Another cluster at the same port, empty."""
        self._etcd = await EmbeddedEtcd.start(port=urlsplit(self.endpoint).port)
        self._pid = _child_of(self._etcd.pid)

    async def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # a test has failed between `kill` and the next start
            self.resume()
        await self.client.close()
        await self._etcd.stop()
        self._port.close()

    async def put(self, prefix: str, name: str, colour: str, lease: int = 0) -> int:
        """Write a ConfigMap, whatever is there; the revision."""
        key = _key(prefix, name)
        metadata = {"namespace": "a", "name": name, "labels": {"colour": colour}}
        value = encode_object(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}}, CONFIG_MAPS
        )
        at = 0
        while True:
            written = await self.client.update(key, value, at, lease)
            if written.succeeded:
                return written.revision
            at = written.kv.mod_revision if written.kv else 0

    async def delete(self, prefix: str, name: str) -> int:
        """Delete it, if it is there; the revision."""
        at = 0
        while True:
            gone = await self.client.delete(_key(prefix, name), at)
            if gone.succeeded or gone.kv is None:
                return gone.revision
            at = gone.kv.mod_revision

    async def put_leased(self, prefix: str, names: list[str], colour: str) -> int:
        """Write ConfigMaps that vanish all at once, in one revision, within the next seconds."""
        lease = await self.client.grant_lease(1)
        return max([await self.put(prefix, name, colour, lease) for name in names])

    async def put_and_revoke(self, prefix: str, names: list[str], colour: str) -> int:
        """The same, and they have vanished."""
        lease = await self.client.grant_lease(60)
        for name in names:
            await self.put(prefix, name, colour, lease)

        async def decode(raw: bytes) -> Decoded[int]:
            header = rpc.LeaseRevokeResponse.FromString(raw).header
            return Decoded(header.revision, header)

        return await self.client._transport.call(
            _REVOKE, rpc.LeaseRevokeRequest(ID=lease), decode, str, "lease"
        )


def _key(prefix: str, name: str) -> bytes:
    return f"{prefix}/configmaps/a/{name}".encode()


def _child_of(pid: int) -> int:
    """etcd's own process: the warden has one child."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
