"""Two subresources of pods: `binding` to a node, `eviction` if a disruption budget allows it."""

from __future__ import annotations

from dataclasses import replace

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import aggregate, invalid, invalid_object, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import (
    StatusCause,
    StatusError,
    bad_request,
    bare_error,
    created,
    forbidden,
    other_namespace,
    too_many_requests,
    unmet_in_storage,
)
from ktui.storage.lister import StoreListRequest
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.admission.mutation import copy_topology
from ktui.writes.create import check_namespace
from ktui.writes.delete import check_preconditions, delete, rv_in_success
from ktui.writes.managedfields.entries import tracked
from ktui.writes.objectmeta import metadata_of, set_condition, timestamp
from ktui.writes.options import DeleteOptions, read_delete_options, write_options
from ktui.writes.validation.selectors import matches

Budget = Obj

_SCHEDULED = "PodScheduled"
BINDINGS = Resource("", "v1", "bindings", "Binding", "binding", namespaced=True)
OLD_EVICTIONS = Resource("policy", "v1beta1", "evictions", "Eviction", "eviction", namespaced=True)
EVICTIONS = Resource("policy", "v1", "evictions", "Eviction", "eviction", namespaced=True)
MAX_DISRUPTED_PODS = 2000
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
STILL_PROCESSED_SECONDS = 10
# kube-apiserver updates a budget as a client of itself.
MANAGER = "kube-apiserver"
MAX_CONFLICTS = 20


async def find_budget(server: Server, pod: Obj) -> Budget | None:
    """Return the budget that selects the pod, None if there is none; raise StatusError 500 if several do."""
    resource = builtin("policy", "poddisruptionbudgets")
    store = server.cacher(resource).store
    listed = await store.list(StoreListRequest(metadata_of(pod)["namespace"]))
    budgets = [await stored_objects.tree(server, obj, resource) for obj in listed.objects]
    labels = metadata_of(pod).get("labels") or {}
    selecting = [budget for budget in budgets if _selects(budget, labels)]
    if len(selecting) > 1:
        why = "which the eviction subresource does not support."
        raise bare_error(f"This pod has more than one PodDisruptionBudget, {why}")
    return selecting[0] if selecting else None


async def take_disruption(server: Server, budget: Budget, pod: str, *, dry_run: bool) -> None:
    """Count the disruption of `pod` in the budget; raise StatusError 403, 404 or 429."""
    resource, metadata = builtin("policy", "poddisruptionbudgets"), metadata_of(budget)

    def charge(old: Budget) -> Budget:
        charged = _charged(old, pod)
        if dry_run:
            raise NoWrite
        return tracked(old, charged, MANAGER, resource, "status")

    await server.cacher(resource).store.update(metadata["namespace"], metadata["name"], charge)


def still_processed(budget: Budget) -> StatusError:
    """Return the 429 for a budget that the disruption controller has not processed yet."""
    cause = f"The disruption budget {metadata_of(budget)['name']} is still being processed by the server."
    return _refused(cause, STILL_PROCESSED_SECONDS)


def _charged(budget: Budget, pod: str) -> Budget:
    """Return the budget with one allowed disruption less; raise StatusError if it allows none."""
    metadata, status = metadata_of(budget), dict(budget.get("status") or {})
    name, allowed = metadata["name"], status.get("disruptionsAllowed", 0)
    disrupted = {**(status.get("disruptedPods") or {})}
    if status.get("observedGeneration", 0) < metadata.get("generation", 0):
        raise still_processed(budget)
    if allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    if len(disrupted) > MAX_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbidden(name, why)
    if allowed == 0:
        desired, current = (status.get(member, 0) for member in ("desiredHealthy", "currentHealthy"))
        why = f"needs {desired} healthy pods and has {current} currently"
        raise _refused(f"The disruption budget {name} {why}")
    status["disruptionsAllowed"] = allowed - 1
    status["disruptedPods"] = {**disrupted, pod: timestamp()}
    charged = {**budget, "status": status}
    if allowed == 1:
        observed = status.get("observedGeneration", 0)
        set_condition(charged, "DisruptionAllowed", "False", "InsufficientPods", observedGeneration=observed)
    return charged


def _selects(budget: Budget, labels: dict[str, str]) -> bool:
    """Return whether a budget selects the labels: without a selector none, with an empty one all."""
    selector = (budget.get("spec") or {}).get("selector")
    return selector is not None and matches(selector, labels, unknown=False)


def _refused(cause: str, retry_after: int = 0) -> StatusError:
    refusal = too_many_requests(VIOLATES, retry_after)
    details = {"causes": [StatusCause("DisruptionBudget", cause).body()], **(refusal.details or {})}
    return StatusError(refusal.code, refusal.reason, refusal.message, details)


def _forbidden(name: str, why: str) -> StatusError:
    budgets = builtin("policy", "poddisruptionbudgets")
    return forbidden(replace(budgets, resource="poddisruptionbudget"), name, why)


async def evict(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/eviction. StatusError 400, 404, 409, 422, 429."""
    form, body = await request_body.begin(server, call, resource)
    creation = write_options(call.request, "CreateOptions")
    kind = EVICTIONS
    if isinstance(body.tree, dict) and body.tree.get("apiVersion") == OLD_EVICTIONS.api_version:
        kind = OLD_EVICTIONS  # which upstream takes as well
    eviction = await compute(request_body.sent_document, server, call, body, kind, creation)
    if metadata_of(eviction).get("namespace", call.info.namespace) != call.info.namespace:
        raise other_namespace()
    await check_namespace(server, resource, call.info.namespace, {"metadata": {"name": call.info.name}})
    if metadata_of(eviction).get("name", "") != call.info.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options, refusal = read_delete_options(_deletion(call, eviction))
    call.writes()
    rv = await _Eviction(server, call, resource, options, refusal).run()
    shown = rv if rv_in_success(call.behaviour, options.dry_run) else ""
    await send_other(server, call, created(shown), form, 201)


_IGNORES = "ignoreStoreReadErrorWithClusterBreakingPotential"


def _deletion(call: Call, eviction: Obj) -> Obj:
    """Return the DeleteOptions of an eviction; raise StatusError 422 or 500."""
    wanted = dict(eviction.get("deleteOptions") or {})
    if wanted.get(_IGNORES):
        why = "can not be set for pod eviction, try after removing the option"
        errors = [invalid(f"deleteOptions.{_IGNORES}", True, why)]
        raise invalid_object("Eviction", "policy", call.info.name, errors)
    asked, sent = call.request.parameters.get("dryRun", []), wanted.get("dryRun") or []
    if asked and sent and asked != sent:
        shown = " and ".join(f"[{' '.join(values)}]" for values in (asked, sent))
        raise bare_error(f"Non-matching dry-run options in request and content: {shown}")
    return {**wanted, "dryRun": sent or asked}


class _Eviction:
    """The eviction of one pod. As upstream, a conflict is retried for a pod without budget.

    `refusal` is what is wrong with the options, which upstream sees when it deletes the pod.
    """

    def __init__(
        self,
        server: Server,
        call: Call,
        resource: Resource,
        options: DeleteOptions,
        refusal: StatusError | None,
    ) -> None:
        self._server = server
        self._resource = resource
        self._namespace, self._name = call.info.namespace, call.info.name
        self._options, self._refusal = options, refusal
        self._minor = call.behaviour.minor

    async def run(self) -> str:
        """Return the resourceVersion of the deletion, or of the change that begins it."""
        conflicts = 0
        while True:
            where = self._resource, self._namespace, self._name
            stored = await stored_objects.current(self._server, *where)
            pod = await stored_objects.tree(self._server, stored, self._resource)
            # Deleting a pod that is not running disrupts nothing.
            if (pod.get("status") or {}).get("phase") != "Pending" and not _is_over(pod):
                return await self._within_budget(pod)
            try:
                return await self._delete(self._at_revision_of(pod, unless=_is_over(pod)))
            except StatusError as error:
                conflicts += 1
                last = self._options.resource_version is not None or conflicts == MAX_CONFLICTS
                if error.code != 409 or last:
                    raise

    async def _within_budget(self, pod: Obj) -> str:
        """Delete a running pod, if its budget counts it as healthy or allows evicting unhealthy pods."""
        budget = await find_budget(self._server, pod)
        conditions = (pod.get("status") or {}).get("conditions") or []
        ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)
        if budget is None or ready or not _allows_unhealthy(budget):
            if budget is not None:
                await take_disruption(self._server, budget, self._name, dry_run=self._options.dry_run)
            return await self._delete(self._options)
        try:
            return await self._delete(self._at_revision_of(pod))
        except StatusError as error:
            if error.code != 409 or self._options.resource_version is not None:
                raise
            raise still_processed(budget) from None  # it may be ready now

    def _at_revision_of(self, pod: Obj, *, unless: bool = False) -> DeleteOptions:
        if unless or self._options.resource_version is not None:
            return self._options
        return replace(self._options, resource_version=metadata_of(pod)["resourceVersion"])

    async def _delete(self, options: DeleteOptions) -> str:
        """Record the reason in the pod's conditions and delete it; return the last resourceVersion."""
        if not options.dry_run and self._minor >= 26:  # PodDisruptionConditions

            def disrupted(pod: Obj) -> Obj:
                check_preconditions(self._resource, self._name, pod, options)
                why = "EvictionByEvictionAPI", "Eviction API: evicting"
                set_condition(pod, "DisruptionTarget", "True", *why)
                return pod

            store = self._server.cacher(self._resource).store
            stored = await store.update(self._namespace, self._name, disrupted)
            if options.resource_version is not None:
                options = replace(options, resource_version=str(stored.rv))
        if self._refusal is not None:
            raise self._refusal
        _, pod = await delete(self._server, self._resource, self._namespace, self._name, options)
        return str(metadata_of(pod).get("resourceVersion", ""))


def _is_over(pod: Obj) -> bool:
    ending = bool(metadata_of(pod).get("deletionTimestamp"))
    return ending or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _allows_unhealthy(budget: Budget) -> bool:
    """Return True if a pod that is not ready may be evicted without counting as a disruption."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


async def bind(server: Server, call: Call, _: Resource) -> None:
    """POST pods/NAME/binding, or bindings with the name in the Binding: the scheduler's choice of a node."""
    resource = builtin("", "pods")
    form, body = await request_body.begin(server, call, resource)
    options = write_options(call.request, "CreateOptions")
    binding = await compute(request_body.sent_document, server, call, body, BINDINGS, options)
    metadata = metadata_of(binding)
    if metadata.get("namespace", call.info.namespace) != call.info.namespace:
        raise other_namespace()
    of_pod = bool(call.info.subresource)
    if not of_pod:
        metadata.pop("uid", None)
    name = call.info.name or str(metadata.get("name") or "")
    await check_namespace(server, resource, call.info.namespace, binding)
    node_name = _target(name, binding)
    if not name:
        raise bad_request("Name parameter required.")
    node = await stored_objects.find(server, builtin("", "nodes"), "", node_name)

    def assign(pod: Obj) -> Obj:
        _check_preconditions(server, call, name, pod, binding, dry_run=options.dry_run)
        if (pod.get("metadata") or {}).get("deletionTimestamp"):
            raise _conflict(name, f"pod {name} is being deleted, cannot be assigned to a host")
        if assigned := (pod.get("spec") or {}).get("nodeName"):
            raise _conflict(name, f'pod {name} is already assigned to node "{assigned}"')
        if (pod.get("spec") or {}).get("schedulingGates"):
            raise _conflict(name, f"pod {name} has non-empty .spec.schedulingGates")
        bound = _assigned(pod, binding, node_name, call.behaviour.minor)
        if node is not None and of_pod and binding["target"].get("kind") == "Node":
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
    kind, node_name = target.get("kind") or "", str(target.get("name") or "")
    errors = [not_supported("target.kind", kind, ("Node", "<empty>"))] if kind not in ("", "Node") else []
    errors += [] if node_name else [required("target.name")]
    if errors:
        raise bare_error(aggregate(errors))
    return node_name


def _check_preconditions(
    server: Server, call: Call, name: str, pod: Obj, binding: Obj, *, dry_run: bool
) -> None:
    """Check the uid and resourceVersion of a Binding; StatusError 409."""
    resource = builtin("", "pods")
    wanted, found = binding.get("metadata") or {}, pod.get("metadata") or {}
    prefix = f"/{resource.prefix}" if dry_run else server.cacher(resource).store.prefix
    key = f"{prefix}{call.info.namespace}/{name}"
    for what, member in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        if wanted.get(member) and wanted[member] != found.get(member):
            raise unmet_in_storage(resource, name, key, what, wanted[member], found.get(member, ""))


def _assigned(pod: Obj, binding: Obj, node_name: str, minor: int) -> Obj:
    """Return the pod assigned to the node, with the Binding's annotations and labels."""
    pod.setdefault("spec", {})["nodeName"] = node_name
    for member in ("annotations", "labels") if minor >= 35 else ("annotations",):
        if more := (binding.get("metadata") or {}).get(member):
            metadata = metadata_of(pod)
            metadata[member] = {**(metadata.get(member) or {}), **more}
    status = pod.setdefault("status", {})
    if minor >= 35:  # ClearingNominatedNodeNameAfterBinding
        status.pop("nominatedNodeName", None)
    conditions = list(status.get("conditions") or [])
    at = next((at for at, each in enumerate(conditions) if each.get("type") == _SCHEDULED), len(conditions))
    before = conditions[at] if at < len(conditions) else {}
    since = before.get("lastTransitionTime") if before.get("status") == "True" else timestamp()
    conditions[at : at + 1] = [{"type": _SCHEDULED, "status": "True", "lastTransitionTime": since}]
    status["conditions"] = conditions
    return pod


def _conflict(name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return StatusError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
