"""Refuse subresources that need what ktui does not have: kubelets, running pods, answering services."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NAMES = ("attach", "exec", "log", "portforward", "proxy")


async def refuse(server: Server, call: Call, resource: Resource) -> None:
    """Send 501 with the reason."""
    what = f"{resource.resource}/{call.info.subresource}"
    why = (
        "it is an apiserver over etcd without kubelets: pods do not run and nothing can be forwarded to them"
    )
    raise StatusError(501, "NotImplemented", f"ktui does not serve {what}: {why}")
