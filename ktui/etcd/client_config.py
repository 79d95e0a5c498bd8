"""Endpoints and credentials of an etcd."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ktui.etcd.errors import EtcdError

DEFAULT_PORT = 2379
_PORT = re.compile("[0-9]{1,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class EtcdConfig:
    """How to connect. Files are paths of PEM files."""

    endpoints: tuple[str, ...]  # as etcdctl takes them (`https://host:2379`, `host:2379`)
    read_only: bool = True
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    server_name: str = ""  # what the server's certificate is checked against, instead of the endpoint's host
    user: str = ""
    password: str = ""

    @property
    def tls_files(self) -> bool:
        return bool(self.ca_file or self.cert_file or self.key_file)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A parsed endpoint; `target` is its name in gRPC."""

    text: str
    target: str
    tls: bool

    @property
    def loopback(self) -> bool:
        return self.target.startswith(("127.", "localhost:", "[::1]:", "unix:"))


def parse_endpoint(text: str, tls_files: bool = False) -> Endpoint:
    """Parse an endpoint. `https://…` uses TLS, `http://…` does not; without a scheme certificates decide."""
    scheme, separator, rest = text.strip().partition("://")
    if not separator:
        scheme, rest = ("https" if tls_files else "http"), text.strip()
    if scheme in ("unix", "unixs"):
        return Endpoint(text, f"unix:{rest}", scheme == "unixs")
    if scheme not in ("http", "https"):
        raise EtcdError(f"etcd endpoint {text!r}: scheme {scheme!r} is not known; write https://HOST:PORT.")
    host = rest.rstrip("/")
    if not host or "/" in host:
        raise EtcdError(f"etcd endpoint {text!r} names no host; write https://HOST:PORT.")
    if ":" not in host.rpartition("]")[2]:
        host = f"{host}:{DEFAULT_PORT}"
    name, _, port = host.rpartition(":")
    if not name.isprintable() or not _PORT.fullmatch(port) or int(port) > 65535:
        raise EtcdError(f"etcd endpoint {text!r} has no valid host and port; write https://HOST:PORT.")
    return Endpoint(text, host, scheme == "https")


def config_from(
    environ: Mapping[str, str],
    *,
    endpoints: str = "",
    ca_file: str = "",
    cert_file: str = "",
    key_file: str = "",
    server_name: str = "",
    user: str = "",
    read_only: bool = True,
) -> EtcdConfig:
    """Return the configuration from options; missing ones come from etcdctl's environment
    (`ETCDCTL_ENDPOINTS` …).

    `user` is NAME or NAME:PASSWORD as for etcdctl; ETCDCTL_PASSWORD supplies a missing password.
    """
    if environ.get("ETCDCTL_INSECURE_SKIP_TLS_VERIFY", "").lower() in ("1", "true"):
        raise EtcdError(
            "ETCDCTL_INSECURE_SKIP_TLS_VERIFY is not supported: name the CA with --cacert instead."
        )
    name, _, password = (user or environ.get("ETCDCTL_USER", "")).partition(":")
    listed = (endpoints or environ.get("ETCDCTL_ENDPOINTS", "")).split(",")
    return EtcdConfig(
        endpoints=tuple(part.strip() for part in listed if part.strip()),
        read_only=read_only,
        ca_file=_path(ca_file or environ.get("ETCDCTL_CACERT", "")),
        cert_file=_path(cert_file or environ.get("ETCDCTL_CERT", "")),
        key_file=_path(key_file or environ.get("ETCDCTL_KEY", "")),
        server_name=server_name,
        user=name,
        password=password or environ.get("ETCDCTL_PASSWORD", ""),
    )


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
