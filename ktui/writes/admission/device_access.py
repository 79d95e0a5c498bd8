"""Access to devices in use, for their administration: only in namespaces with a label for it."""

from __future__ import annotations

from ktui.apiserver.server import Server
from ktui.kube.fielderrors import FieldError, forbidden
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.writes import stored_objects

_LABEL = "resource.kubernetes.io/admin-access"
_WITHOUT_LABEL = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
CLAIMS, _TEMPLATES = "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io"


async def admin_access_errors(
    server: Server, resource: Resource, namespace: str, obj: Obj
) -> list[FieldError]:
    """Return the error of a new claim or template that may not have this access (AuthorizedForAdmin).

    Upstream names the first request that has it, without its member `exactly`, in templates as in claims.
    """
    if resource.id not in (CLAIMS, _TEMPLATES):
        return []
    spec = obj.get("spec") or {}
    claim = spec if resource.id == CLAIMS else spec.get("spec") or {}
    requests = (claim.get("devices") or {}).get("requests") or []
    found = (at for at, each in enumerate(requests) if (each.get("exactly") or {}).get("adminAccess"))
    if (index := next(found, None)) is None:
        return []
    if await may_have_admin_access(server, namespace):
        return []
    return [forbidden(f"spec.devices.requests[{index}].adminAccess", _WITHOUT_LABEL)]


async def may_have_admin_access(server: Server, namespace: str) -> bool:
    owner = await stored_objects.find(server, builtin("", "namespaces"), "", namespace)
    return (((owner or {}).get("metadata") or {}).get("labels") or {}).get(_LABEL) == "true"


def granted_errors(old: Obj, new: Obj) -> list[FieldError]:
    """Return the error of a claim's status that grants this access (AuthorizedForAdminStatus)."""
    at = _granted(new)
    if at is None or _granted(old) is not None:
        return []
    return [forbidden(f"status.allocation.devices.results[{at}].adminAccess", _WITHOUT_LABEL)]


def _granted(claim: Obj) -> int | None:
    devices = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
    results = enumerate(devices.get("results") or [])
    return next((at for at, each in results if each.get("adminAccess")), None)
