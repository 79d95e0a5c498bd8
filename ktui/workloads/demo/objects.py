"""Common parts of the demo's builders: an object to create, and the path to POST it to."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Create:
    """An object to POST to `path`, and the status to PATCH afterwards (a create drops `status`).

    Objects with the same `alike` get the same additions from the server (defaults, labels, managed fields),
    so a large cluster copies them from one example (see `copies`). "": not copied.
    """

    path: str
    body: Json
    status: Json | None = field(default=None)
    alike: str = field(default="")

    @property
    def object_path(self) -> str:
        return f"{self.path}/{self.body['metadata']['name']}"


def core(namespace: str, resource: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{resource}"


def group(api_version: str, namespace: str, resource: str) -> str:
    return f"/apis/{api_version}/namespaces/{namespace}/{resource}"


def owner(api_version: str, kind: str, name: str, uid: str) -> list[Json]:
    """Return the ownerReference of a controller."""
    return [
        {
            "apiVersion": api_version,
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def demo_uid(*parts: str) -> str:
    """Return a stable uid for ownerReferences: objects are posted before their owner's real uid is known."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "ktui-demo/" + "/".join(parts)))


def timestamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
