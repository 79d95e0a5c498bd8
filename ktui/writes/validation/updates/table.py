"""The update rules by kind."""

from __future__ import annotations

from ktui.kube.fielderrors import FieldError
from ktui.writes.validation.updates import cluster, definitions, pods, services, storage, workloads
from ktui.writes.validation.updates.field_rules import Obj, Rule, fixed

RULES: dict[str, Rule] = {
    "clusterrolebindings.rbac.authorization.k8s.io": cluster.role_binding,
    "configmaps": cluster.config_map,
    "controllerrevisions.apps": fixed("data"),
    "csidrivers.storage.k8s.io": storage.driver,
    "csistoragecapacities.storage.k8s.io": storage.capacity,
    definitions.ID: definitions.definition_change_errors,
    "daemonsets.apps": workloads.workload,
    "deployments.apps": workloads.workload,
    "endpointslices.discovery.k8s.io": fixed("addressType"),
    "ingressclasses.networking.k8s.io": fixed("spec.controller"),
    "jobs.batch": workloads.job,
    "nodes": cluster.node,
    "persistentvolumeclaims": storage.claim,
    "persistentvolumes": storage.volume,
    "pods": pods.pod,
    "priorityclasses.scheduling.k8s.io": cluster.priority_class,
    "replicasets.apps": workloads.workload,
    "resourcequotas": cluster.quota,
    "rolebindings.rbac.authorization.k8s.io": cluster.role_binding,
    "runtimeclasses.node.k8s.io": fixed("handler"),
    "secrets": cluster.secret,
    "services": services.service,
    "statefulsets.apps": workloads.stateful_set,
    "storageclasses.storage.k8s.io": storage.storage_class,
    "volumeattributesclasses.storage.k8s.io": storage.attributes_class,
}
"""Rules by resource id. Subresources have none: they change other parts, or nothing."""


def update_errors(resource: str, old: Obj, new: Obj) -> list[FieldError]:
    """Return every cause, in upstream's order; both objects must have their defaults."""
    rule = RULES.get(resource)
    return rule(old, new) if rule is not None else []
