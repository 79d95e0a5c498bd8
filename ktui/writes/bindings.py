"""The binding subresource of pods: assign a pod to a node."""

from __future__ import annotations

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, bad_request, bare_error, created, unmet_in_storage
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.mutation import copy_topology
from ktui.writes.delete import rv_in_success
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.options import write_options


async def bind(server: Server, call: Call, _: Resource) -> None:
    """POST pods/NAME/binding, or bindings with the name in the Binding: the scheduler's choice of a node."""
    resource = builtin("", "pods")
    form, body = await request_body.begin(server, call, resource)
    options = write_options(call.request, "CreateOptions")
    binding = await compute(request_body.sent_document, server, body, "v1", "Binding") if body else {}
    name = call.info.name or str((binding.get("metadata") or {}).get("name") or "")
    node_name = _target(name, binding)
    node = await stored_objects.find(server, builtin("", "nodes"), "", node_name)

    def assign(pod: Obj) -> Obj:
        _check_preconditions(server, call, resource, name, pod, binding)
        if (pod.get("metadata") or {}).get("deletionTimestamp"):
            raise _conflict(name, f"pod {name} is being deleted, cannot be assigned to a host")
        if assigned := (pod.get("spec") or {}).get("nodeName"):
            raise _conflict(name, f'pod {name} is already assigned to node "{assigned}"')
        if (pod.get("spec") or {}).get("schedulingGates"):
            raise _conflict(name, f"pod {name} has non-empty .spec.schedulingGates")
        bound = _assigned(pod, binding, node_name)
        if node is not None:
            copy_topology(bound, node, call.behaviour.minor)
        if options.dry_run:
            raise NoWrite
        return bound

    call.writes()
    bound = await server.cacher(resource).store.update(call.info.namespace, name, assign)
    rv = str(bound.rv) if rv_in_success(call.behaviour, options.dry_run) else ""
    await send_other(server, call, created(rv), form, 201)


def _target(name: str, binding: Obj) -> str:
    """Return the node's name; raise StatusError 400 or 500."""
    if (binding.get("metadata") or {}).get("name", "") != name:
        raise bad_request("name in URL does not match name in Binding object")
    target = binding.get("target") or {}
    if target.get("kind") not in (None, "", "Node"):
        why = f'Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        raise bare_error(f"target.kind: {why}")
    if not target.get("name"):
        raise bare_error("target.name: Required value")
    node_name: str = target["name"]
    return node_name


def _check_preconditions(
    server: Server, call: Call, resource: Resource, name: str, pod: Obj, binding: Obj
) -> None:
    """Check the uid and resourceVersion of a Binding; StatusError 409."""
    wanted, found = binding.get("metadata") or {}, pod.get("metadata") or {}
    key = f"{server.cacher(resource).store.prefix}{call.info.namespace}/{name}"
    for what, member in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        if wanted.get(member) and wanted[member] != found.get(member):
            raise unmet_in_storage(resource, name, key, what, wanted[member], found.get(member, ""))


def _assigned(pod: Obj, binding: Obj, node_name: str) -> Obj:
    """Return the pod assigned to the node, with the Binding's annotations."""
    pod.setdefault("spec", {})["nodeName"] = node_name
    if annotations := (binding.get("metadata") or {}).get("annotations"):
        metadata = metadata_of(pod)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp()}
    pod["status"]["conditions"] = [c for c in conditions if c.get("type") != "PodScheduled"] + [scheduled]
    return pod


def _conflict(name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return StatusError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
