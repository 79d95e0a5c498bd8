"""An etcd with TLS and with user and password."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aetcd import rpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ktui.etcd.binary import packaged_binary
from ktui.etcd.client import EtcdClient
from ktui.etcd.config import EtcdConfig, config_from
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.endpoints import Endpoints
from ktui.etcd.errors import AuthenticationError, EtcdError, PermissionDeniedError, UnreachableError
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio


class Authority:
    """A CA that signs certificates for 127.0.0.1 and for clients."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
        self.certificate = self._sign(self.name, self.key, ca=True)
        self.file = self._write("ca.pem", self.certificate)

    def issue(self, name: str) -> tuple[Path, Path]:
        """Certificate and key files."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        key_file = self.directory / f"{name}.key"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return self._write(f"{name}.pem", self._sign(subject, key)), key_file

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, ca: bool = False
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("etcd.test")]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256())
        )

    def _write(self, name: str, certificate: x509.Certificate) -> Path:
        file = self.directory / name
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return file


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def secured(authority: Authority, tmp_path: Path) -> AsyncIterator[str]:
    """The endpoint of an etcd that wants client certificates of the authority."""
    binary = packaged_binary()
    assert binary is not None
    certificate, key = authority.issue("server")
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        port, peer = one.getsockname()[1], two.getsockname()[1]
    endpoint = f"https://127.0.0.1:{port}"
    process = await asyncio.create_subprocess_exec(
        binary.path,
        f"--data-dir={tmp_path / 'data'}",
        f"--listen-client-urls={endpoint}",
        f"--advertise-client-urls={endpoint}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        *("--heartbeat-interval=20", "--election-timeout=100", "--client-cert-auth", "--logger=zap"),
        *(f"--cert-file={certificate}", f"--key-file={key}", f"--trusted-ca-file={authority.file}"),
        "--log-outputs=stderr",
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    async for line in process.stderr:
        if b"ready to serve" in line:
            break
    drain = asyncio.create_task(process.stderr.read())
    yield endpoint
    process.kill()
    await drain
    await process.wait()


async def test_tls_with_a_client_certificate_from_etcdctls_environment(
    secured: str, authority: Authority, bus: Bus
) -> None:
    certificate, key = authority.issue("client")
    environ = {
        "ETCDCTL_ENDPOINTS": f"http://127.0.0.1:1,{secured}",
        "ETCDCTL_CACERT": str(authority.file),
        "ETCDCTL_CERT": str(certificate),
        "ETCDCTL_KEY": str(key),
    }
    client = await EtcdClient.connect(config_from(environ), bus)
    assert (await client.range(b"/a")).count == 0
    await client.close()
    named = EtcdConfig((secured,), True, authority.file, certificate, key, server_name="etcd.test")
    await (await EtcdClient.connect(named, bus)).close()


async def test_what_is_wrong_with_tls_is_said(
    secured: str, authority: Authority, bus: Bus, tmp_path: Path
) -> None:
    certificate, key = authority.issue("client")
    (tmp_path / "other").mkdir()
    stranger = Authority(tmp_path / "other")
    for config in (
        EtcdConfig((secured,), True, stranger.file, certificate, key),
        EtcdConfig((secured,), True, authority.file, certificate, key, server_name="other.test"),
    ):
        with pytest.raises(UnreachableError, match="TLS") as caught:
            await EtcdClient.connect(config, bus)
        assert caught.value.step == "TLS" and secured in str(caught.value)
    with pytest.raises(UnreachableError):
        await EtcdClient.connect(EtcdConfig((secured,), True, authority.file), bus)
    with pytest.raises(EtcdError, match="--cert and --key"):
        await EtcdClient.connect(EtcdConfig((secured,), True, authority.file, certificate), bus)
    with pytest.raises(EtcdError, match=r"cannot read .*nothing\.pem: No such file"):
        await EtcdClient.connect(EtcdConfig((secured,), True, tmp_path / "nothing.pem"), bus)


async def test_user_password_and_permissions(bus: Bus) -> None:
    etcd = await EmbeddedEtcd.start()
    try:
        await enable_auth(etcd.endpoint)
        with pytest.raises(AuthenticationError, match="--user"):
            await (await EtcdClient.connect(EtcdConfig((etcd.endpoint,)), bus)).range(b"/a")
        with pytest.raises(AuthenticationError, match="--user"):
            await EtcdClient.connect(EtcdConfig((etcd.endpoint,), user="root", password="no"), bus)
        root = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), user="root", password="secret"), bus)
        assert (await root.range(b"/a")).count == 0
        root._transport._token = "expired.1"
        assert (await root.range(b"/a")).count == 0
        guest = await EtcdClient.connect(config_from({}, endpoints=etcd.endpoint, user="guest:guest"), bus)
        with pytest.raises(PermissionDeniedError, match="permission"):
            await guest.range(b"/a")
        with pytest.raises(PermissionDeniedError):
            await anext(guest.watch(b"/a"))
        await guest.close()
        await root.close()
    finally:
        await etcd.stop()


async def enable_auth(endpoint: str) -> None:
    """Users root:secret and guest:guest (who has no role)."""
    endpoints = Endpoints(EtcdConfig((endpoint,)))
    auth = rpc.AuthStub(endpoints.channel())
    for name, password in (("root", "secret"), ("guest", "guest")):
        await auth.UserAdd(rpc.AuthUserAddRequest(name=name, password=password))
    await auth.RoleAdd(rpc.AuthRoleAddRequest(name="root"))
    await auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="root", role="root"))
    await auth.AuthEnable(rpc.AuthEnableRequest())
    await endpoints.close()
