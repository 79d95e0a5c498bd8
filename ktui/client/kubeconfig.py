"""Write a kubeconfig for a running server, for use with kubectl."""

from __future__ import annotations

import base64
from pathlib import Path

import msgspec

from ktui.client.connection import ServerConnection
from ktui.client.running import write_private


def kubeconfig_document(connection: ServerConnection) -> dict[str, object]:
    """Return a v1 Config with one cluster, one user and one context, all named `ktui`."""
    cluster: dict[str, object] = {"server": connection.url}
    if connection.ca_file is not None:
        cluster["certificate-authority-data"] = base64.b64encode(connection.ca_file.read_bytes()).decode()
    user = {"token": connection.token} if connection.token else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "ktui", "cluster": cluster}],
        "users": [{"name": "ktui", "user": user}],
        "contexts": [{"name": "ktui", "context": {"cluster": "ktui", "user": "ktui"}}],
        "current-context": "ktui",
    }


def write_kubeconfig(connection: ServerConnection, path: Path) -> None:
    """Write the kubeconfig as JSON, which is also YAML, with mode 0600."""
    write_private(
        path, msgspec.json.format(msgspec.json.encode(kubeconfig_document(connection)), indent=2) + b"\n"
    )
