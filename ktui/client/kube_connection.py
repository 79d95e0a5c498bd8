"""A real kube-apiserver and its credentials, from a kubeconfig."""

from __future__ import annotations

import base64
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from ktui.client.connection import ClientError, ServerConnection


@dataclass(frozen=True, slots=True)
class Material:
    """A certificate or key as PEM; `what` names it in messages."""

    what: str
    pem: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KubeConnection(ServerConnection):
    """One context of a kubeconfig. Secrets are not in its repr."""

    token: str = field(default="", repr=False)
    context: str = ""
    ca: Material | None = None
    certificate: Material | None = None
    key: Material | None = None
    username: str = ""
    password: str = field(default="", repr=False)
    insecure: bool = False
    proxy_url: str = field(default="", repr=False)

    @property
    def proxy(self) -> str | None:
        """The kubeconfig's proxy, else the environment's, as in kubectl."""
        return self.proxy_url or _proxy_of_environment(self.url)

    @property
    def unauthorized(self) -> str:
        return f"the server does not accept the credentials of context {self.context!r} (any more)"

    @property
    def untrusted(self) -> str:
        return f"context {self.context!r} names its CA in certificate-authority"

    @property
    def warnings(self) -> list[str]:
        """Warnings for the user before a secret is sent on this connection."""
        if self.insecure and self.url.startswith("https://"):
            return ["the server's certificate is not verified (insecure-skip-tls-verify)"]
        if self.url.startswith("http://") and (self.token or self.password):
            return ["credentials go out unencrypted (http://)"]
        return []

    def headers(self) -> Mapping[str, str]:
        if self.token:
            return {"Authorization": f"Bearer {self.token}"}
        if self.username:
            pair = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {}

    def ssl_context(self) -> ssl.SSLContext | bool:
        if not self.url.startswith("https://"):
            return False
        context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)  # which verifies
        context.server_name = self.server_name
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        elif self.ca is not None:  # and not the system's
            try:
                context.load_verify_locations(cadata=self.ca.pem.decode("ascii"))
            except (ssl.SSLError, UnicodeDecodeError, ValueError) as error:
                raise ClientError(f"the {self.ca.what} in the kubeconfig cannot be read: {error}") from error
        else:
            context.load_default_certs()
        if (self.certificate is None) != (self.key is None):
            raise ClientError(f"context {self.context!r} has a client certificate or a key, but not both")
        if self.certificate is not None and self.key is not None:
            _load_chain(context, self.certificate, self.key)
        return context


class _NamedContext(ssl.SSLContext):
    """Expects `server_name`, if set, in the certificate; httpx's extension does not work with a proxy."""

    server_name = ""

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_side: bool = False,
        server_hostname: str | bytes | None = None, session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:  # fmt: skip
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name or server_hostname, session)


def _load_chain(context: ssl.SSLContext, certificate: Material, key: Material) -> None:
    """Load a client certificate. OpenSSL reads it only from a file: a private one, removed at once."""
    descriptor, name = tempfile.mkstemp(prefix="ktui-")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(certificate.pem.rstrip() + b"\n" + key.pem)
        # The callback keeps OpenSSL from prompting for the password of an encrypted key.
        context.load_cert_chain(name, password=lambda: b"")
    except (ssl.SSLError, ValueError) as error:
        raise ClientError(f"the {certificate.what} and its key cannot be used: {error}") from error
    finally:
        Path(name).unlink()


def _proxy_of_environment(url: str) -> str | None:
    """Return the proxy of `HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` excludes the URL."""
    parts = urlsplit(url)
    proxy = getproxies_environment().get(parts.scheme)
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
