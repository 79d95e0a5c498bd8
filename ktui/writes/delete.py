"""DELETE of one object, or of all objects that a LIST selects."""

from __future__ import annotations

from dataclasses import replace

from ktui.apiserver.answer import send_other, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.listing import selection_of, send_list
from ktui.cacher.cacher_requests import ListAnswer, ListRequest
from ktui.kube.json_trees import Obj
from ktui.kube.listoptions import parse_list_options, read_list, read_shards
from ktui.kube.resources import Resource
from ktui.kube.status import forbidden, ignoring_not_found, precondition_failed, precondition_unmet, success
from ktui.kube.versions import Behaviour
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.unenforced import check_webhooks
from ktui.writes.before_delete import Fate, begin_deletion
from ktui.writes.decoding.body import SentBody
from ktui.writes.decoding.typed_objects import warn
from ktui.writes.options import DeleteOptions, delete_options
from ktui.writes.service_allocation import release
from ktui.writes.strategies import DELETED_OBJECT_ANSWERED
from ktui.writes.update import in_version
from ktui.writes.validation.values.cluster import SYSTEM_CLASSES

JOB_PODS_STAY = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
    "them or set propagationPolicy=Orphan to suppress this warning"
)


# Admission plugin NamespaceLifecycle.
IMMORTAL = frozenset({"default", "kube-public", "kube-system"})
PAGE = 10_000


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = await compute(sent_options, server, call, resource, body)
    if resource.id == "namespaces" and call.info.name in IMMORTAL:
        stored = await stored_objects.current(server, resource, "", call.info.name)
        found = await stored_objects.tree(server, stored, resource)
        check_preconditions(resource, call.info.name, found, options)  # before admission
        raise forbidden(resource, call.info.name, "this namespace may not be deleted")
    if resource.resource == "priorityclasses" and call.info.name in SYSTEM_CLASSES:
        why = "this is a system priority class and cannot be deleted"
        raise forbidden(resource, call.info.name, why)
    await check_webhooks(server, resource, call.info, "DELETE", None)
    call.writes()
    gone, obj = await delete(server, resource, call.info.namespace, call.info.name, options)
    if gone and resource.resource not in DELETED_OBJECT_ANSWERED:
        metadata = obj.get("metadata") or {}
        rv = metadata.get("resourceVersion", "") if rv_in_success(call.behaviour, options.dry_run) else ""
        done = success(resource, call.info.name, metadata.get("uid", ""), rv)
        await send_other(server, call, done, form)
    else:
        call.rv = str((obj.get("metadata") or {}).get("resourceVersion", ""))
        await send_tree(server, call, resource, obj, form)


def rv_in_success(behaviour: Behaviour, dry_run: bool) -> bool:
    """Return True if the Status of a deletion, eviction or binding has its resourceVersion; no dry run has.

    Since 1.38 (kubernetes#138724, #142197, #142327).
    """
    return behaviour.minor >= 38 and not dry_run


def sent_options(server: Server, call: Call, resource: Resource, body: SentBody) -> DeleteOptions:
    """The options of the request; warn if they orphan pods by default; raise StatusError 400 or 422."""
    options = delete_options(call.request, body, server.services.codec.go_mismatch)
    if call.objects is not None and isinstance(sent := call.objects.request, dict):
        call.objects.request = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"} | {
            name: value for name, value in sent.items() if name not in ("kind", "apiVersion")
        }
    if resource.id == "jobs.batch" and not options.policy:
        warn(call, [JOB_PODS_STAY])
    return options


async def delete(
    server: Server, resource: Resource, namespace: str, name: str, options: DeleteOptions
) -> tuple[bool, Obj]:
    """Return whether the object is gone, and its last state; raise StatusError 404 or 409."""
    store = server.cacher(resource).store
    fate, marked = Fate.NOTHING, Obj()

    def decide(obj: Obj) -> Obj | None:
        """Decide finalizers, grace period and propagation on the object that the Txn compares."""
        nonlocal fate, marked
        check_preconditions(resource, name, obj, options)
        fate, marked = begin_deletion(obj, options)
        if fate in (Fate.REMOVE, Fate.NOTHING):
            marked = obj
        if options.dry_run or fate is Fate.NOTHING:
            raise NoWrite
        return None if fate is Fate.REMOVE else marked

    while True:
        stored = await store.update(namespace or None, name, decide, verb="delete")
        if options.dry_run:
            return fate in (Fate.REMOVE, Fate.MARK_AND_REMOVE), in_version(server, marked, resource)
        if fate is not Fate.MARK_AND_REMOVE:
            removed = await stored_objects.tree(server, stored, resource)
            if fate is Fate.REMOVE:
                await release(server, resource, removed)
            return fate is Fate.REMOVE, removed
        if options.resource_version is not None:
            options = replace(options, resource_version=str(stored.rv))


def check_preconditions(resource: Resource, name: str, obj: Obj, options: DeleteOptions) -> None:
    """Raise StatusError 409 unless the object has the uid and the resourceVersion in the options."""
    metadata = obj.get("metadata") or {}
    for what, wanted, found in (
        ("UID", options.uid, metadata.get("uid", "")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion", "")),
    ):
        if wanted is not None and wanted != found:
            # Upstream deletes namespaces and definitions with separate code.
            if resource.resource in ("namespaces", "customresourcedefinitions"):
                raise precondition_failed(resource, name, what, wanted, found)
            raise precondition_unmet(
                replace(resource, group=resource.internal_group), name, what, wanted, found
            )


async def handle_collection(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = parse_list_options(call.request.query)
    selectors = await compute(read_list, options, call.behaviour, resource)
    selection = selection_of(*selectors, call.info, read_shards(options, call.behaviour))
    deletion = await compute(sent_options, server, call, resource, body)
    request = ListRequest(call.info.namespace or None, None, options, selection)
    await check_webhooks(server, resource, call.info, "DELETE", None)
    call.writes()
    answer = await _delete_listed(server, resource, request, deletion, call.behaviour.minor)
    renderer = object_form(form, resource, server.services.codec, include="", of_list=True)
    await send_list(call, resource, answer, renderer, form)


async def _delete_listed(
    server: Server, resource: Resource, request: ListRequest, deletion: DeleteOptions, minor: int
) -> ListAnswer:
    """Delete page by page. The response is the first page's, with the objects of all pages.

    Since 1.28 a deletion without limit lists in pages of its own, so a resourceVersion means exactly that
    one.
    """
    options = request.options
    one_page = options.limit > 0 or minor < 28
    if not one_page:
        options = replace(options, limit=PAGE)
    first: ListAnswer | None = None
    objects: list[StoredObject] = []
    while True:
        page = await server.cacher(resource).list(replace(request, options=options))
        for obj in page.objects:
            with ignoring_not_found():  # another client has already deleted it
                await delete(server, resource, obj.namespace, obj.name, deletion)
        first = first or page
        objects += page.objects
        if one_page or not page.continue_:
            return replace(first, objects=objects)
        options = replace(options, continue_=page.continue_, resource_version="", resource_version_match="")
