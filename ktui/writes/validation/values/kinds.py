"""The table of each kind, made when an object of the kind is first validated."""

from __future__ import annotations

import functools

from ktui.kube.fielderrors import FieldError
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values import cluster, networks, pods, policies, storage, workloads
from ktui.writes.validation.values.checks import Row, RuleTree, below, table_of

_WEBHOOKS = "admissionregistration.k8s.io"
_ROWS: dict[str, tuple[Row, ...]] = {
    "apiservices.apiregistration.k8s.io": cluster.API_SERVICE,
    "certificatesigningrequests.certificates.k8s.io": cluster.SIGNING_REQUEST,
    "clusterrolebindings.rbac.authorization.k8s.io": cluster.CLUSTER_ROLE_BINDING,
    "clusterroles.rbac.authorization.k8s.io": cluster.CLUSTER_ROLE,
    "configmaps": cluster.CONFIG_MAP,
    "controllerrevisions.apps": cluster.REVISION,
    "cronjobs.batch": workloads.CRON_JOB,
    "csidrivers.storage.k8s.io": storage.CSI_DRIVER,
    "daemonsets.apps": workloads.DAEMON_SET,
    "deployments.apps": workloads.DEPLOYMENT,
    "endpoints": networks.ENDPOINTS,
    "endpointslices.discovery.k8s.io": networks.ENDPOINT_SLICE,
    "horizontalpodautoscalers.autoscaling": policies.AUTOSCALER,
    "ingressclasses.networking.k8s.io": networks.INGRESS_CLASS,
    "ingresses.networking.k8s.io": networks.INGRESS,
    "jobs.batch": workloads.JOB,
    "leases.coordination.k8s.io": cluster.LEASE,
    "limitranges": policies.LIMIT_RANGE,
    f"mutatingwebhookconfigurations.{_WEBHOOKS}": cluster.WEBHOOKS,
    "networkpolicies.networking.k8s.io": networks.NETWORK_POLICY,
    "nodes": cluster.NODE,
    "persistentvolumeclaims": storage.CLAIM,
    "persistentvolumes": storage.VOLUME,
    "poddisruptionbudgets.policy": policies.BUDGET,
    "pods": below("spec", pods.POD),
    "podtemplates": below("template", pods.TEMPLATE),
    "priorityclasses.scheduling.k8s.io": cluster.PRIORITY_CLASS,
    "replicasets.apps": workloads.REPLICA_SET,
    "replicationcontrollers": workloads.REPLICA_SET,
    "resourcequotas": policies.QUOTA,
    "rolebindings.rbac.authorization.k8s.io": cluster.ROLE_BINDING,
    "runtimeclasses.node.k8s.io": cluster.RUNTIME_CLASS,
    "secrets": cluster.SECRET,
    "services": networks.SERVICE,
    "statefulsets.apps": workloads.STATEFUL_SET,
    "storageclasses.storage.k8s.io": storage.STORAGE_CLASS,
    f"validatingwebhookconfigurations.{_WEBHOOKS}": cluster.WEBHOOKS,
}


def value_errors(resource: str, obj: Obj) -> list[FieldError]:
    """Return the errors in the values of an object; `resource` is the resource's id."""
    table = _table(resource)
    return table.errors(obj) if table is not None else []


@functools.cache
def _table(resource: str) -> RuleTree | None:
    rows = _ROWS.get(resource)
    return table_of(*rows) if rows is not None else None
