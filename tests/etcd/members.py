"""etcd servers as a cluster runs them: with TLS, with users, as one of three."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from aetcd import rpc

from ktui.etcd.binary import packaged_binary
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.endpoints import Endpoints
from tests.etcd.certificates import Authority
from tests.etcd.ports import reserved_ports


class Member:
    """One etcd process; `kill` ends it as a power cut would."""

    def __init__(self, name: str, directory: Path, client_url: str, peer_url: str) -> None:
        self.name, self.endpoint, self.peer = name, client_url, peer_url
        self._directory = directory
        self._process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[bytes] | None = None

    async def start(self, cluster: str, flags: Sequence[str] = ()) -> None:
        """Return once it serves."""
        binary = packaged_binary()
        assert binary is not None
        self._process = process = await asyncio.create_subprocess_exec(
            binary.path,
            f"--name={self.name}",
            f"--data-dir={self._directory / self.name}",
            *(f"--listen-client-urls={self.endpoint}", f"--advertise-client-urls={self.endpoint}"),
            *(f"--listen-peer-urls={self.peer}", f"--initial-advertise-peer-urls={self.peer}"),
            f"--initial-cluster={cluster}",
            *("--unsafe-no-fsync", "--logger=zap", "--log-outputs=stderr", *flags),
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        line = b"nothing"
        async for line in process.stderr:
            if b"ready to serve" in line:
                break
        else:
            raise AssertionError(f"{self.name} ended before it was ready; it said last: {line!r}")
        self._drain = asyncio.create_task(process.stderr.read())

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        if self._drain is not None:
            await self._drain


@contextlib.asynccontextmanager
async def cluster_of(
    size: int, directory: Path, *, scheme: str = "http", flags: Sequence[str] = ()
) -> AsyncIterator[list[Member]]:
    """`size` members on loopback that have elected a leader."""
    with reserved_ports(2 * size) as ports:
        urls = [
            (f"{scheme}://127.0.0.1:{ports[n]}", f"http://127.0.0.1:{ports[n + size]}") for n in range(size)
        ]
        members = [Member(f"m{n}", directory, client, peer) for n, (client, peer) in enumerate(urls)]
        cluster = ",".join(f"{member.name}={member.peer}" for member in members)
        # Several need etcd's own patience: without its turn on a busy machine a leader would be voted out.
        patience = ["--heartbeat-interval=50", "--election-timeout=500"] if size == 1 else []
        try:
            await asyncio.gather(*(member.start(cluster, [*patience, *flags]) for member in members))
            yield members
        finally:
            await asyncio.gather(*(member.kill() for member in members))


def server_flags(
    authority: Authority, certificate: tuple[Path, Path], *, wants_client: bool = True
) -> list[str]:
    """TLS for a member's clients; `wants_client`: they have to show certificates of the authority."""
    flags = [f"--cert-file={certificate[0]}", f"--key-file={certificate[1]}"]
    return [*flags, "--client-cert-auth", f"--trusted-ca-file={authority.file}"] if wants_client else flags


async def enable_auth(config: EtcdConfig) -> None:
    """Users root:secret, guest:guest (who has no role) and reader:reader (who may read /registry/)."""
    endpoints = Endpoints(config)
    auth = rpc.AuthStub(endpoints.connection().channel)
    for name, password in (("root", "secret"), ("guest", "guest"), ("reader", "reader")):
        await auth.UserAdd(rpc.AuthUserAddRequest(name=name, password=password))
    for role in ("root", "registry"):
        await auth.RoleAdd(rpc.AuthRoleAddRequest(name=role))
    registry = rpc.Permission(permType=rpc.Permission.READ, key=b"/registry/", range_end=b"/registry0")
    await auth.RoleGrantPermission(rpc.AuthRoleGrantPermissionRequest(name="registry", perm=registry))
    await auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="root", role="root"))
    await auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="reader", role="registry"))
    await auth.AuthEnable(rpc.AuthEnableRequest())
    await endpoints.close()
