"""The handlers of the write path, from which a server is composed."""

from __future__ import annotations

from ktui.apiserver import answer
from ktui.apiserver.call import Call
from ktui.apiserver.dispatch import Handlers
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.writes import bindings, create, delete, evictions, patch, scale, update

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NAMES = ("attach", "exec", "log", "portforward", "proxy")


async def refuse(server: Server, call: Call, resource: Resource) -> None:
    """Raise StatusError 501 for a subresource that needs kubelets, running pods or answering services."""
    what = f"{resource.resource}/{call.info.subresource}"
    why = (
        "it is an apiserver over etcd without kubelets: pods do not run and nothing can be forwarded to them"
    )
    raise StatusError(501, "NotImplemented", f"ktui does not serve {what}: {why}")


WRITES = Handlers(
    {
        "POST": create.handle,
        "PUT": update.handle,
        "PATCH": patch.handle,
        "DELETE": delete.handle,
        "DELETECOLLECTION": delete.handle_collection,
    },
    {
        **{name: dict.fromkeys(VERBS, refuse) for name in NAMES},
        **{
            name: {"GET": answer.get, "PUT": update.handle, "PATCH": patch.handle}
            for name in ("approval", "ephemeralcontainers", "resize")
        },
        "status": {"PUT": update.handle, "PATCH": patch.handle},
        "finalize": {"PUT": update.handle},
        "scale": {"GET": scale.get, "PUT": scale.update, "PATCH": scale.patch},
        "binding": {"POST": bindings.bind},
        "eviction": {"POST": evictions.evict},
    },
    {"bindings": bindings.bind},
)
