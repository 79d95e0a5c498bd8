"""The handlers of the write path, from which a server is composed."""

from __future__ import annotations

from ktui.apiserver import answer
from ktui.apiserver.call import Call
from ktui.apiserver.dispatch import Handlers
from ktui.apiserver.server import Server
from ktui.kube.golang.formatting import quote
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request
from ktui.writes import create, delete, patch, pod_subresources, scale, stored_objects, update

REFUSED = {
    "log": ("GET",),
    **dict.fromkeys(("attach", "exec", "portforward"), ("GET", "POST")),
    "proxy": ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
}


async def refuse(server: Server, call: Call, resource: Resource) -> None:
    """Raise StatusError 501 for a subresource that needs kubelets, running pods or answering services; 404 if
    its object does not exist.
    """
    name = call.info.name
    if call.info.subresource == "proxy":
        name = _proxied(resource, name)
    await stored_objects.current(server, resource, call.info.namespace, name)
    what = f"{resource.resource}/{call.info.subresource}"
    why = (
        "it is an apiserver over etcd without kubelets: pods do not run and nothing can be forwarded to them"
    )
    raise StatusError(501, "NotImplemented", f"ktui does not serve {what}: {why}")


def _proxied(resource: Resource, target: str) -> str:
    """Return the name in `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`; StatusError 400 for another form."""
    parts = target.split(":")
    scheme, name = ("", parts[0]) if len(parts) < 3 else parts[:2]
    if len(parts) > 3 or not name or scheme not in ("", "http", "https"):
        raise bad_request(f"invalid {resource.kind.lower()} request {quote(target)}")
    return name


WRITES = Handlers(
    {
        "POST": create.handle,
        "PUT": update.handle,
        "PATCH": patch.handle,
        "DELETE": delete.handle,
        "DELETECOLLECTION": delete.handle_collection,
    },
    {
        **{name: dict.fromkeys(verbs, refuse) for name, verbs in REFUSED.items()},
        **{
            name: {"GET": answer.get, "PUT": update.handle, "PATCH": patch.handle}
            for name in ("approval", "ephemeralcontainers", "resize")
        },
        "status": {"PUT": update.handle, "PATCH": patch.handle},
        "finalize": {"PUT": update.handle},
        "scale": {"GET": scale.get, "PUT": scale.update, "PATCH": scale.patch},
        "binding": {"POST": pod_subresources.bind},
        "eviction": {"POST": pod_subresources.evict},
    },
    {"bindings": pod_subresources.bind},
)
