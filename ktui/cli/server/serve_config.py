"""The configuration of `ktui serve`, checked before anything starts."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import yaml

from ktui.apiserver.http.listener import split_listen
from ktui.apiserver.http.loopback import is_loopback
from ktui.apiserver.http.open_files import FRONT_FILES, file_limit, most_connections
from ktui.apiserver.http.tls_front import check_authorities
from ktui.authn.authenticator import read_users
from ktui.authn.keys import read_private_key, read_public_keys
from ktui.authn.service_accounts import ISSUER, TokenSettings
from ktui.cli.options import behaviour_from
from ktui.cli.server.etcd_source import endpoints_of
from ktui.cli.server.facts import policy_of
from ktui.kube.resources import BUILTIN
from ktui.kube.users import Requester
from ktui.kube.versions import Behaviour
from ktui.requestlogs.audit_policy import AuditPolicy
from ktui.writes.admission.limit_ranges import LIMIT_RANGER
from ktui.writes.admission.quotas import QUOTAS
from ktui.writes.admission.service_accounts import SERVICE_ACCOUNT
from ktui.writes.bootstrap import service_range_of

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1alpha1", "v1beta1", "v1"))


class TracingConfig(NamedTuple):
    """Where spans are sent, and for how many requests of a million."""

    endpoint: str
    rate: int


def read_tracing_config(path: Path) -> TracingConfig:
    """Parse the TracingConfiguration of `--tracing-config-file`, kube-apiserver's own. Raises ValueError."""
    try:
        document = yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"--tracing-config-file {path} cannot be read: {error}") from None
    if (
        not isinstance(document, dict)
        or document.get("kind") != "TracingConfiguration"
        or document.get("apiVersion") not in _VERSIONS
    ):
        raise ValueError(f"{path} is not a TracingConfiguration of {_VERSIONS[1]}")
    if unknown := document.keys() - {"kind", "apiVersion", "endpoint", "samplingRatePerMillion"}:
        raise ValueError(f"{path}: unknown field {sorted(map(str, unknown))[0]!r}")
    endpoint, rate = document.get("endpoint") or "localhost:4317", document.get("samplingRatePerMillion") or 0
    if not isinstance(endpoint, str) or urlsplit(f"//{endpoint}").hostname is None:
        raise ValueError(f"{path}: endpoint is HOST:PORT")
    if not isinstance(rate, int) or isinstance(rate, bool) or not 0 <= rate <= 1_000_000:
        raise ValueError(f"{path}: samplingRatePerMillion is a number from 0 to 1000000")
    return TracingConfig(endpoint, rate)


ADMISSION = (LIMIT_RANGER, QUOTAS, SERVICE_ACCOUNT)  # the plugins that can be disabled
SERVICE_RANGE = "10.32.0.0/16"  # the demo cluster's services are in it


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The checked configuration. `token` None: no authentication."""

    args: argparse.Namespace
    behaviour: Behaviour
    token: str | None
    warm: tuple[str, ...] | None  # None: all
    users: Mapping[str, Requester]  # of --token-auth-file, by token
    audit_policy: AuditPolicy
    service_range: str  # of cluster IPs, a CIDR
    most_connections: int
    disabled_admission: frozenset[str]
    tokens: TokenSettings
    tracing: TracingConfig | None = None

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> ServeConfig:
        """Check the arguments. Raises ValueError, whose message says what to do."""
        if args.etcd and args.snapshot:
            raise ValueError("--etcd and --snapshot exclude each other: choose one source")
        if args.etcd and args.demo:
            raise ValueError("--demo fills an embedded etcd only: leave out --etcd")
        if args.etcd:
            endpoints_of(args.etcd, os.environ)
        host, _ = split_listen(args.listen)
        if args.insecure_http and not is_loopback(host):
            raise ValueError(f"--insecure-http requires a loopback address, and {host} is not one")
        inflight = args.max_requests_inflight, args.max_mutating_requests_inflight
        if min(inflight) < 0 or not any(inflight):
            raise ValueError(
                "--max-requests-inflight and --max-mutating-requests-inflight are not negative, nor both 0"
            )
        if args.client_ca_file:
            if args.insecure_http:
                raise ValueError("--client-ca-file needs TLS: leave out --insecure-http")
            check_authorities(Path(args.client_ca_file).expanduser())
        behaviour = behaviour_from(args)
        token = args.token or os.environ.get("KTUI_TOKEN") or secrets.token_urlsafe(24)
        users = read_users(Path(args.token_auth_file).expanduser()) if args.token_auth_file else {}
        services = service_range_of(args.service_cluster_ip_range)
        if args.demo and services != SERVICE_RANGE:
            raise ValueError(f"--demo has services in {SERVICE_RANGE}: leave out --service-cluster-ip-range")
        warm = _warm(args.warm, owned=not args.etcd)
        most = _most_connections(args)
        tracing = None
        if args.tracing_config_file:
            tracing = read_tracing_config(Path(args.tracing_config_file).expanduser())
        return cls(
            args, behaviour, None if args.insecure_http else token, warm, users, policy_of(args), services,
            most, _disabled_admission(args.disable_admission_plugins), _token_settings(args), tracing,
        )  # fmt: skip


def _token_settings(args: argparse.Namespace) -> TokenSettings:
    """Return how tokens of service accounts are signed and verified, by the options of kube-apiserver."""
    signing, own = args.service_account_signing_key_file, None
    if signing:
        own = read_private_key(Path(signing).expanduser(), "--service-account-signing-key-file")
    keys = [
        key
        for name in args.service_account_key_file
        for key in read_public_keys(Path(name).expanduser(), "--service-account-key-file")
    ]
    issuers = tuple(args.service_account_issuer) or (ISSUER,)
    for at, issuer in enumerate(issuers):
        if not issuer:
            raise ValueError("--service-account-issuer should not be an empty string")
        if issuer in issuers[:at]:
            raise ValueError(f"--service-account-issuer {issuer} is already specified")
        url = False
        with suppress(ValueError):
            url = bool(urlsplit(issuer).scheme)
        if ":" in issuer and not url:
            raise ValueError(f"--service-account-issuer {issuer} has a ':' and is not a URL")
    audiences = [name.strip() for text in args.api_audiences for name in text.split(",")]
    return TokenSettings(own, tuple(keys), issuers, tuple(name for name in audiences if name))


def _disabled_admission(given: list[str]) -> frozenset[str]:
    """Return the names in all `--disable-admission-plugins`, each a list with commas."""
    names = frozenset(name.strip() for text in given for name in text.split(",") if name.strip())
    if unknown := sorted(names.difference(ADMISSION)):
        allowed = f"{', '.join(ADMISSION[:-1])} and {ADMISSION[-1]}"
        raise ValueError(f"--disable-admission-plugins {unknown[0]}: only {allowed} can be disabled")
    return names


def _most_connections(args: argparse.Namespace) -> int:
    """Return `--max-connections`, or what the limit of open files allows."""
    files_each = FRONT_FILES if args.client_ca_file else 1
    allowed, wanted = most_connections(file_limit(), files_each), args.max_connections
    if wanted is not None and not 1 <= wanted <= allowed:
        files = f"which {file_limit()} open files allow (ulimit -n)"
        raise ValueError(f"--max-connections {wanted} is not between 1 and {allowed}, {files}")
    return allowed if wanted is None else wanted


def _warm(text: str | None, owned: bool) -> tuple[str, ...] | None:
    """Return the resources to warm at start; None: all. By default none on an etcd that ktui does not own."""
    words = (text or ("all" if owned else "none")).split(",")
    if words == ["all"]:
        return None
    if words == ["none"]:
        return ()
    known = {resource.id for resource in BUILTIN.all()} | {resource.resource for resource in BUILTIN.all()}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise ValueError(
            f"--warm {unknown[0]!r}: no such resource; write all, none, or names like pods,nodes"
        )
    return tuple(words)
