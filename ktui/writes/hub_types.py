"""What an object gains and loses on its way through the internal type, which upstream calls the hub.

kube-apiserver decodes an object of a version, sets that version's defaults and converts it to the internal
type; storage and answers are converted from there (upstream: pkg/apis/{core,apps}/v1/conversion.go, 1.36).
"""

from __future__ import annotations

from ktui.kube.golang.formatting import NumError, parse_int
from ktui.kube.json_trees import Obj
from ktui.writes.default_rows import Fill, Table, by_kind
from ktui.writes.defaults import TEMPLATE_GENERATION
from ktui.writes.objectmeta import metadata_of

ROLLBACK_TO = "deprecated.deployment.rollback.to"
# Fields of internal types that v1 shows as annotations; the error for one that is no number.
_COUNTERS = {
    "DaemonSet": (TEMPLATE_GENERATION, "{why}"),
    "Deployment": (ROLLBACK_TO, f"failed to parse annotation[{ROLLBACK_TO}]={{value}} as int64: {{why}}"),
}
_INIT_CONTAINERS = tuple(
    f"pod.{stage}.kubernetes.io/init-{what}"
    for stage in ("alpha", "beta")
    for what in ("containers", "container-statuses")
)


def counter_fault(obj: Obj) -> str:
    """Return why the object cannot be converted: "" or the error for an annotation that is no number."""
    name, text = _COUNTERS.get(str(obj.get("kind")), ("", ""))
    value = (metadata_of(obj).get("annotations") or {}).get(name) if name else None
    if value is None or (not value and name == ROLLBACK_TO):
        return ""
    try:
        parse_int(value)
    except NumError as error:
        return text.format(value=value, why=error)
    return ""


def _account(spec: Obj) -> None:
    """`serviceAccount` is another name of `serviceAccountName`, which wins."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    for name in ("serviceAccountName", "serviceAccount"):
        if account:
            spec[name] = account
        else:
            spec.pop(name, None)


def _without_init_containers(annotations: Obj) -> None:
    for name in _INIT_CONTAINERS:
        annotations.pop(name, None)


def _grace(spec: Obj) -> None:
    """A negative grace period is 1, in pods only."""
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1


def _counted(name: str) -> Fill:
    """Write a counter as Go does; an empty one is none."""

    def count(annotations: Obj) -> None:
        if value := annotations.pop(name, ""):
            annotations[name] = str(parse_int(value))

    return count


_POD: Table = (("metadata.annotations", _without_init_containers), ("spec", _account))
_OF_TEMPLATE: Table = (("spec.template", _POD),)
_BY_KIND: dict[str, Table] = {
    **dict.fromkeys(("Job", "ReplicaSet", "ReplicationController", "StatefulSet"), _OF_TEMPLATE),
    "CronJob": (("spec.jobTemplate.spec.template", _POD),),
    "DaemonSet": (*_OF_TEMPLATE, ("metadata.annotations", _counted(TEMPLATE_GENERATION))),
    "Deployment": (*_OF_TEMPLATE, ("metadata.annotations", _counted(ROLLBACK_TO))),
    "Pod": (*_POD, ("spec", _grace)),
    "PodTemplate": (("template", _POD),),
}
through_hub = by_kind(_BY_KIND)
"""Change an object without `counter_fault` as its conversion to the internal type and back does, in place."""
