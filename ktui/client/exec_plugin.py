"""Credentials from a program that a kubeconfig names, as client-go gets them (`users[].user.exec`).

The program prints an ExecCredential; what it is to know stands in KUBERNETES_EXEC_INFO.
"""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from ktui.client.connection import ClientError

# A login in the browser may take its time.
SECONDS = 120.0
GROUP = "client.authentication.k8s.io/"


class _Variable(msgspec.Struct):
    name: str = ""
    value: str = ""


class Plugin(msgspec.Struct):
    """`exec` of a user: the program, and how it wants to be run."""

    command: str = ""
    args: list[str] | None = None
    env: list[_Variable] | None = None
    api_version: str = msgspec.field(default="", name="apiVersion")
    install_hint: str = msgspec.field(default="", name="installHint")
    provide_cluster_info: bool = msgspec.field(default=False, name="provideClusterInfo")
    interactive_mode: str = msgspec.field(default="IfAvailable", name="interactiveMode")


class Credential(msgspec.Struct, frozen=True, rename="camel"):
    """What the program gave: a token, or a client certificate with its key (PEM)."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""

    def __repr__(self) -> str:
        return "Credential()"  # nothing of it may be seen


class _ExecCredential(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: Credential | None = None


def run_plugin(
    plugin: Plugin, user: str, cluster: dict[str, Any], home: Path, *, terminal: bool
) -> Credential:
    """Run it; `terminal` says whether it may ask there. ClientError says in one sentence what went wrong.

    `cluster` is what it may be told of the cluster, `home` the kubeconfig's directory.
    """
    who = f"user {user!r} gets its credentials from the program {plugin.command!r}"
    if not plugin.api_version.startswith(GROUP):
        raise ClientError(f"{who}, of an API that is not known: {plugin.api_version!r}")
    asks = terminal and plugin.interactive_mode != "Never"
    if plugin.interactive_mode == "Always" and not asks:
        raise ClientError(f"{who}, which has to ask at a terminal: `ktui list` in a shell lets it")
    spec: dict[str, Any] = {"interactive": asks}
    if plugin.provide_cluster_info:
        spec["cluster"] = cluster
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    environment = {
        **os.environ,
        **{variable.name: variable.value for variable in plugin.env or ()},
        "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode(),
    }
    return _read(_run(plugin, who, home, environment, asks=asks), plugin, who)


def _run(plugin: Plugin, who: str, home: Path, environment: dict[str, str], *, asks: bool) -> bytes:
    beside = os.sep in plugin.command  # a path is taken from where the kubeconfig lies
    program = str(home / plugin.command) if beside else plugin.command
    try:
        done = subprocess.run(
            [program, *(plugin.args or ())],
            env=environment,
            stdin=None if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if asks else subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError:
        hint = f": {plugin.install_hint.strip()}" if plugin.install_hint.strip() else ""
        raise ClientError(f"{who}, which is not found{hint}") from None
    except OSError as error:
        raise ClientError(f"{who}, which cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise ClientError(f"{who}, which gave none within {SECONDS:.0f} s") from None
    if done.returncode != 0:
        said = (done.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        why = f": {said[-1][:300]}" if said else ""
        raise ClientError(f"{who}, which failed with status {done.returncode}{why}")
    return done.stdout


def _read(out: bytes, plugin: Plugin, who: str) -> Credential:
    try:
        answer = msgspec.json.decode(out, type=_ExecCredential)
    except msgspec.DecodeError:
        raise ClientError(f"{who}, which printed no ExecCredential") from None
    if answer.kind != "ExecCredential" or answer.api_version != plugin.api_version:
        found = f"{answer.api_version} {answer.kind}".strip() or "something else"
        raise ClientError(
            f"{who}, which printed {found} instead of an ExecCredential of {plugin.api_version}"
        )
    status = answer.status
    if status is None or not (status.token or status.client_certificate_data):
        raise ClientError(f"{who}, which printed neither a token nor a client certificate")
    return status


def cluster_info(
    server: str, ca_pem: bytes | None, *, insecure: bool, tls_server_name: str, proxy_url: str
) -> dict[str, Any]:
    """What a program that wants it is told of the cluster."""
    info: dict[str, Any] = {"server": server, "insecure-skip-tls-verify": insecure}
    if ca_pem is not None:
        info["certificate-authority-data"] = base64.b64encode(ca_pem).decode()
    if tls_server_name:
        info["tls-server-name"] = tls_server_name
    return info | ({"proxy-url": proxy_url} if proxy_url else {})
