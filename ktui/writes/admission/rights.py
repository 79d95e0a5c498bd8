"""Rights that a write needs in addition to that of its verb: to grant rights, to create what is missing."""

from __future__ import annotations

from functools import partial

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import rules_of
from ktui.kube.requestinfo import attributes_of
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, forbidden
from ktui.telemetry.off_loop import compute
from ktui.writes import stored_objects

GROUP = "rbac.authorization.k8s.io"
RESOURCES = ("roles", "clusterroles", "rolebindings", "clusterrolebindings")
GRANTS = frozenset(f"{name}.{GROUP}" for name in RESOURCES)


async def confirm_new_grant(server: Server, call: Call, resource: Resource, obj: Obj) -> None:
    """Raise StatusError 403 if a new role or binding grants what the client may not do, 404 without a role.

    A role that was created a moment ago is read from etcd: the server may not follow it yet.
    """
    if resource.id not in GRANTS:
        return
    confirm = partial(server.services.authorizer.confirm_grant, call.who, call.info, obj, None)
    try:
        await compute(confirm)
    except StatusError as missing:
        if missing.code != 404:
            raise
        ref = obj.get("roleRef") or {}
        of_namespace = ref.get("kind") == "Role"
        roles = builtin(GROUP, "roles" if of_namespace else "clusterroles")
        where = call.info.namespace if of_namespace else None
        answer = await server.cacher(roles).get(where, str(ref.get("name") or ""), "")
        if answer.object is None:
            raise
        role = await stored_objects.tree(server, answer.object, roles)
        await compute(lambda: confirm(rules_of(role)))


def confirm_changed_grant(server: Server, call: Call, resource: Resource, old: Obj, new: Obj) -> None:
    """Raise StatusError 403 or 404 if a changed role or binding grants what the client may not do."""
    if resource.id in GRANTS:
        server.services.authorizer.confirm_grant(call.who, call.info, new, old)


def authorize_creation(server: Server, call: Call, resource: Resource) -> None:
    """Raise StatusError 403 if an update or apply of a missing object may not create it.

    Upstream: withAuthorization of endpoints/handlers; the text ends with the authorizer's reason, if any.
    """
    attributes = attributes_of(call.info, "create")
    decision = server.services.authorizer.decide(call.who, attributes)
    if not decision.allowed:
        raise forbidden(resource, call.info.name, decision.reason)
