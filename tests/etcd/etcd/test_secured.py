"""An etcd with TLS and with user and password."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig, config_from
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import AuthenticationError, EtcdError, PermissionDeniedError, UnreachableError
from ktui.telemetry.bus import Bus
from tests.etcd.certificates import Authority
from tests.etcd.members import enable_auth

pytestmark = pytest.mark.anyio


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
        await enable_auth(EtcdConfig((etcd.endpoint,)))
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
