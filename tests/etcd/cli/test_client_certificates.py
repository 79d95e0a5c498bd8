"""`--client-ca-file`: users by their certificates, and with a real kubectl, which speaks HTTP/2."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import shutil
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ktui.apiserver.http.tls_front import user_of
from tests.etcd.serving import Served, serving

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
KUBECTL = shutil.which("kubectl")


class Authority:
    """Signs certificates into `directory`."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=0)
        made = self._builder(self._name, self._key).add_extension(basic, critical=True)
        self.file = directory / f"{name}.crt"
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def issue(
        self,
        user: str,
        *groups: str,
        usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.CLIENT_AUTH,
        ends: datetime.datetime = NOW + DAY,
    ) -> tuple[Path, Path]:
        """Certificate and key of a user."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        made = self._builder(subject, key, ends).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        certificate, file = (self._directory / f"{user}.{part}" for part in ("crt", "key"))
        signed = made.sign(self._key, hashes.SHA256())
        certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return certificate, file

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, ends: datetime.datetime = NOW + DAY
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - 2 * DAY)
            .not_valid_after(ends)
        )


@dataclass
class Certified:
    served: Served
    authority: Authority
    server_ca: Path

    @contextlib.asynccontextmanager
    async def client(
        self, files: tuple[Path, Path] | None, *, token: str = ""
    ) -> AsyncIterator[httpx.AsyncClient]:
        context = ssl.create_default_context(cafile=str(self.server_ca))
        if files is not None:
            context.load_cert_chain(*files)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx.AsyncClient(
            base_url=self.served.url, verify=context, headers=headers, trust_env=False
        ) as http:
            yield http


@pytest.fixture
async def certified(tmp_path: Path) -> AsyncIterator[Certified]:
    authority = Authority(tmp_path, "authority")
    words = ("--client-ca-file", str(authority.file), "--authorization-mode", "RBAC", "--warm", "none")
    async with serving(tmp_path, *words, environ={"KTUI_TOKEN": "s3cret"}, tls=True) as served:
        server_ca = next(tmp_path.rglob("tls.crt"))
        yield Certified(served, authority, server_ca)


async def whoami(http: httpx.AsyncClient) -> dict[str, Any]:
    answer = await http.post(WHOAMI, json={})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()["status"]["userInfo"]
    return found


async def test_users_by_certificate(certified: Certified, tmp_path: Path) -> None:
    """One server for all of it: a start takes seconds."""
    files = certified.authority.issue("jane", "dev", "system:masters")
    async with certified.client(files) as http:
        found = await whoami(http)
        assert (found["username"], found["groups"]) == (
            "jane",
            ["dev", "system:masters", "system:authenticated"],
        )
        (ids,) = found["extra"].values()
        assert ids[0].startswith("X509SHA256=")
        answer = await http.get(
            "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
        )
        assert answer.json()["data"] == {"client-ca-file": certified.authority.file.read_text()}
    async with certified.client(certified.authority.issue("bob"), token="s3cret") as http:
        answer = await http.get("/api/v1/namespaces?limit=5")  # the certificate goes before the token
        assert answer.status_code == 403
        assert 'User "bob" cannot list' in answer.json()["message"]
    async with certified.client(None) as http:
        assert 'User "system:anonymous"' in (await http.get("/api/v1/pods")).json()["message"]
    async with certified.client(None, token="s3cret") as http:
        assert (await whoami(http))["username"] == "admin"
    for refused in (
        Authority(tmp_path, "other").issue("mallory", "system:masters"),
        certified.authority.issue("late", "system:masters", ends=NOW - DAY),
        certified.authority.issue("server", "system:masters", usage=ExtendedKeyUsageOID.SERVER_AUTH),
    ):
        async with certified.client(refused, token="s3cret") as http:
            with pytest.raises(httpx.HTTPError):
                await http.get("/api/v1/namespaces?limit=5")
    async with certified.client(files) as http:
        assert (await http.get("/api/v1/namespaces?limit=5")).status_code == 200
    assert certified.served.said == []
    if KUBECTL is not None:
        await _kubectl_works(KUBECTL, certified, files, tmp_path)


async def _kubectl_works(kubectl: str, certified: Certified, files: tuple[Path, Path], home: Path) -> None:
    config = home / "config"
    url, authority = certified.served.url, certified.server_ca
    config.write_text(
        f"""\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{url}", certificate-authority: "{authority}"}}}}]
users: [{{name: u, user: {{client-certificate: "{files[0]}", client-key: "{files[1]}"}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""
    )
    for words, said in (
        (("auth", "whoami"), b"jane"),
        (("create", "namespace", "made"), b"namespace/made created"),
        (("get", "namespaces"), b"made"),
    ):
        process = await asyncio.create_subprocess_exec(
            kubectl,
            *words,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": str(config)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0 and said in out, out.decode()


def test_a_certificate_without_a_common_name_names_no_user() -> None:
    assert user_of({"subject": ((("organizationName", "dev"),),)}) is None


async def test_a_terminated_server_ends_its_watches_over_the_front(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    words = ("--client-ca-file", str(authority.file), "--warm", "none")
    async with contextlib.AsyncExitStack() as stack:
        served = await stack.enter_async_context(serving(tmp_path, *words, tls=True))
        certified = Certified(served, authority, next(tmp_path.rglob("tls.crt")))
        async with certified.client(authority.issue("jane")) as http, asyncio.timeout(60):
            while (await http.get("/api/v1/namespaces?resourceVersion=0")).status_code == 429:
                pass
            async with http.stream("GET", "/api/v1/namespaces?watch=1") as watch:
                assert watch.status_code == 200
                lines = watch.aiter_lines()
                assert '"ADDED"' in await anext(lines)
                stopping = asyncio.create_task(stack.aclose())
                async for _ in lines:  # raises for an answer that is cut off
                    pass
            await stopping
    assert served.said == []
