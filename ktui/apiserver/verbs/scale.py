"""The scale subresource: replicas of a workload as an autoscaling/v1 Scale."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.objects.body import media_type, parse_json
from ktui.apiserver.objects.managed.entries import track_update
from ktui.apiserver.objects.options import write_options
from ktui.apiserver.objects.patches.jsonpatch import PatchFailed, json_patch
from ktui.apiserver.objects.patches.merge import merge_patch
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.kube.listoptions import parse_get_options
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, not_found

Obj = dict[str, Any]


def scale_of(obj: Obj) -> Obj:
    """The Scale of a workload."""
    metadata = obj.get("metadata") or {}
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    shown_status: Obj = {"replicas": status.get("replicas", 0)}
    if selector := _selector_text(spec.get("selector")):
        shown_status["selector"] = selector
    replicas = spec.get("replicas", 0)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": shown_status,
    }


async def get(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(call.request.accept, custom=resource.custom)
    options = parse_get_options(call.request.query)
    call.meter.seats = 1
    answer = await server.cacher(resource).get(
        call.info.namespace or None, call.info.name, options.resource_version
    )
    if answer.object is None:
        raise not_found(resource, call.info.name)
    await writing.answer_tree(call, scale_of(writing.tree(server, answer.object, resource)), form)


async def update(server: Server, call: Call, resource: Resource) -> None:
    await _change(server, call, resource, patch_type="")


async def patch(server: Server, call: Call, resource: Resource) -> None:
    await _change(server, call, resource, media_type(call.request.headers.get("content-type", "")))


async def _change(server: Server, call: Call, resource: Resource, patch_type: str) -> None:
    form, body = await writing.begin(server, call, resource)
    options = write_options(call.request, "PatchOptions" if patch_type else "UpdateOptions")
    try:
        sent = parse_json(body)
    except ValueError as error:
        raise bad_request(f"error decoding patch: {error}") from None

    def rescale(old: Obj) -> Obj:
        replicas = _replicas(scale_of(old), sent, patch_type)
        new = {**old, "spec": {**(old.get("spec") or {}), "replicas": replicas}}
        if new["spec"] != old.get("spec"):
            metadata = dict(old.get("metadata") or {})
            metadata["generation"] = int(metadata.get("generation", 0)) + 1
            new["metadata"] = metadata
        track_update(
            old,
            new,
            manager=options.field_manager,
            time="",
            api_version=resource.api_version,
            subresource="scale",
            custom=resource.custom,
        )
        return new

    call.writes()
    if options.dry_run:
        old = await writing.current(server, resource, call.info.namespace, call.info.name)
        changed = rescale(writing.tree(server, old, resource))
    else:
        store = server.cacher(resource).store
        stored = await store.update(call.info.namespace or None, call.info.name, rescale)
        changed = writing.tree(server, stored, resource)
    await writing.answer_tree(call, scale_of(changed), form)


def _replicas(scale: Obj, sent: Any, patch_type: str) -> int:
    try:
        wanted = json_patch(scale, sent) if "json-patch" in patch_type else sent
    except PatchFailed:
        message = "the server rejected our request due to an error in our request"
        raise StatusError(422, "Invalid", message, {}) from None
    if patch_type and "json-patch" not in patch_type:
        wanted = merge_patch(scale, sent)
    replicas = (wanted.get("spec") or {}).get("replicas", 0) if isinstance(wanted, dict) else None
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        raise bad_request("spec.replicas must be a whole number that is not negative")
    return replicas


def _selector_text(selector: Any) -> str:
    if not isinstance(selector, dict):
        return ""
    labels = selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
