"""One `ktui serve` with RBAC for client libraries as they come from PyPI, and a namespace for each test."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lazily import Lazily
from tests.sharing import while_in_use

client, watch = Lazily("kubernetes.client"), Lazily("kubernetes.watch")

KUBE_VERSION = "1.35"  # kr8s warns of a version that it does not know
JANE = "jane's-token"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Cluster:
    """A running server: the kubeconfig of its admin, and of others by their tokens."""

    home: Path

    @property
    def admin(self) -> str:
        return str(self.home / "admin")

    def kubeconfig(self, user: str, token: str) -> str:
        """The path of a kubeconfig for another user."""
        document: dict[str, Any] = json.loads(Path(self.admin).read_text())
        document["users"][0]["user"] = {"token": token}
        (self.home / user).write_text(json.dumps(document))
        return str(self.home / user)


@pytest.fixture(scope=while_in_use)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("clients")
    (home / "tokens.csv").write_text(f"{JANE},jane,7,developers\n")
    (home / "tokens.csv").chmod(0o600)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home), "HOME": str(home)}
    ktui = sys.executable, "-m", "ktui"
    words = "--authorization-mode", "RBAC", "--token-auth-file", home / "tokens.csv"
    server = subprocess.Popen(
        [*ktui, "serve", *words, "--kube-version", KUBE_VERSION], env=env, stdout=subprocess.PIPE, text=True
    )
    with server:
        try:
            assert server.stdout is not None and server.stdout.readline().startswith("serving ")
            found = subprocess.run(
                [*ktui, "kubeconfig"], env=env, stdout=subprocess.PIPE, text=True, check=True
            )
            shutil.copy(found.stdout.strip(), home / "admin")
            yield Cluster(home)
        finally:
            server.terminate()


def establish(admin: Any, definition: dict[str, Any]) -> None:
    """Create a CustomResourceDefinition with the official client, and wait until its objects are served."""
    api = client.ApiextensionsV1Api(admin)
    api.create_custom_resource_definition(definition)
    selector, stream = f"metadata.name={definition['metadata']['name']}", watch.Watch()
    for event in stream.stream(
        api.list_custom_resource_definition, field_selector=selector, timeout_seconds=60
    ):
        found = event["object"].status
        if found and any((c.type, c.status) == ("Established", "True") for c in found.conditions or ()):
            return
    raise AssertionError(f"{definition['metadata']['name']} is not established")


@pytest.fixture
def namespace() -> str:
    """The name of a namespace that no other test uses; the test creates it."""
    return f"clients-{next(_numbers)}"


@pytest.fixture
def definition() -> dict[str, Any]:
    """A CustomResourceDefinition `things` in a group of this test's own."""
    group = f"g{next(_numbers)}.example.com"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [version],
        },
    }
