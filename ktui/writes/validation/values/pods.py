"""Rules of pod specs, in pods and in templates: scheduling, security, names, containers, volumes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_value_faults
from ktui.writes.validation.values.checks import (
    Row,
    absolute_path,
    address,
    below,
    between,
    dns_label,
    duplicate,
    file_mode,
    has,
    labels,
    not_negative,
    one_of,
    one_of_or_none,
    positive,
    qualified,
    relative_path,
    selector,
    subdomain,
    unique,
    user_id,
    without_parents,
)
from ktui.writes.validation.values.containers import CONTAINER, SECURITY

HOST_PATH_TYPES = (
    "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32


def _one_source(volume: Obj) -> Iterator[FieldError]:
    """A volume without a source is an emptyDir."""
    there = [name for name, value in volume.items() if name != "name" and value is not None]
    for name in there[1:]:
        yield forbidden(f".{name}", "may not specify more than 1 volume type")


def _lifetime(token: Obj) -> Iterator[FieldError]:
    seconds = token.get("expirationSeconds")
    if seconds is None:
        return
    if seconds < _LEAST_SECONDS:
        why = "may not specify a duration less than 10 minutes"
        yield invalid(".expirationSeconds", seconds, why)
    elif seconds > _MOST_SECONDS:
        why = "may not specify a duration larger than 2^32 seconds"
        yield invalid(".expirationSeconds", seconds, why)


def _size_limit(value: str) -> Iterator[FieldError]:
    if any(True for _ in not_negative(value)):
        yield forbidden("", "SizeLimit field must be a valid resource quantity")


def _downward(item: Obj) -> Iterator[FieldError]:
    if item.get("fieldRef") is not None and item.get("resourceFieldRef") is not None:
        yield invalid("", "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
        yield required("", "one of fieldRef and resourceFieldRef is required")


_ITEMS: tuple[Row, ...] = (
    ("defaultMode", file_mode),
    ("items[]", has("key", "path")),
    ("items[].path", relative_path),
    ("items[].mode", file_mode),
)
_DOWNWARD: tuple[Row, ...] = (
    ("defaultMode", file_mode),
    ("items[]", has("path")),
    ("items[].path", relative_path),
    ("items[].mode", file_mode),
    ("items[]", _downward),
)
HOST_PATH: tuple[Row, ...] = (
    ("", has("path")),
    ("path", without_parents),
    ("type", one_of_or_none(*HOST_PATH_TYPES)),
)
NFS: tuple[Row, ...] = (("", has("server", "path")), ("path", absolute_path))

VOLUMES: tuple[Row, ...] = (
    ("", unique("name")),
    ("[]", has("name")),
    ("[].name", dns_label),
    ("[]", _one_source),
    *below("[].hostPath", HOST_PATH),
    *below("[].nfs", NFS),
    ("[].emptyDir.sizeLimit", _size_limit),
    ("[].configMap", has("name")),
    *below("[].configMap", _ITEMS),
    *below("[].secret", _ITEMS),
    *below("[].downwardAPI", _DOWNWARD),
    ("[].persistentVolumeClaim", has("claimName")),
    ("[].csi", has("driver")),
    ("[].ephemeral", has("volumeClaimTemplate")),
    ("[].iscsi", has("targetPortal", "iqn")),
    ("[].projected.defaultMode", file_mode),
    ("[].projected.sources[].configMap", has("name")),
    *below("[].projected.sources[].configMap", _ITEMS),
    ("[].projected.sources[].secret", has("name")),
    *below("[].projected.sources[].secret", _ITEMS),
    *below("[].projected.sources[].downwardAPI", _DOWNWARD),
    ("[].projected.sources[].serviceAccountToken", has("path")),
    ("[].projected.sources[].serviceAccountToken", _lifetime),
    ("[].projected.sources[].serviceAccountToken.path", relative_path),
    ("[].image.pullPolicy", one_of("Always", "IfNotPresent", "Never")),
)


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MOST_NAMESERVERS, _MOST_SEARCHES = 3, 32
_PART_OF_STARTED = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def _weight(value: int) -> Iterator[FieldError]:
    if not 1 <= value <= 100:
        yield invalid("", value, "must be in the range 1-100")


def _template(template: Obj) -> Iterator[FieldError]:
    """Check what only templates may not have; upstream's path of their labels leaves `metadata` out."""
    for error in labels((template.get("metadata") or {}).get("labels") or {}):
        yield replace(error, field=".labels")
    if (template.get("spec") or {}).get("ephemeralContainers"):
        yield forbidden(".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def _toleration(toleration: Obj) -> Iterator[FieldError]:
    operator, effect = toleration.get("operator") or "Equal", toleration.get("effect") or ""
    if not toleration.get("key") and operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(".operator", toleration.get("operator") or "", why)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator == "Equal":
        for why in label_value_faults(toleration.get("value") or ""):
            yield invalid(".operator", toleration["value"], why)
    elif operator == "Exists":
        if toleration.get("value"):
            yield invalid(".operator", toleration, "value must be empty when `operator` is 'Exists'")
    elif operator not in ("Lt", "Gt"):
        yield not_supported(".operator", operator, ("Equal", "Exists"))


def _term(expression: Obj) -> Iterator[FieldError]:
    """Check one requirement of a node selector."""
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield required(".values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(".operator", operator, "not a valid selector operator")


def _matched_field(expression: Obj) -> Iterator[FieldError]:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid(".operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(
            ".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if expression.get("key") != "metadata.name":
        yield invalid(".key", expression.get("key") or "", "not a valid field selector key")


def _spread(constraints: list[Obj]) -> Iterator[FieldError]:
    seen = set()
    for index, constraint in enumerate(constraints):
        key, when = constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""
        if (key, when) in seen:
            yield duplicate(f"[{index}].{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        seen.add((key, when))


def _dns(config: Obj) -> Iterator[FieldError]:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_NAMESERVERS:
        yield invalid(".nameservers", servers, f"must not have more than {_MOST_NAMESERVERS} nameservers")
    if len(searches) > _MOST_SEARCHES:
        why = f"must not have more than {_MOST_SEARCHES} search paths"
        yield invalid(".searches", searches, why)


def _names(spec: Obj) -> Iterator[FieldError]:
    """Names of containers are unique in a pod."""
    seen = set()
    for member in ("containers", "initContainers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(member) or []):
            name = container.get("name")
            if name and name in seen:
                yield duplicate(f".{member}[{index}].name", name)
            seen.add(name)


def _host(spec: Obj) -> Iterator[FieldError]:
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield FieldError(".shareProcessNamespace", "FieldValueInvalid", f"Invalid value: true: {why}")
    taken = set()
    for index, container in enumerate(spec.get("containers") or []):
        for number, port in enumerate(container.get("ports") or []):
            host = port.get("hostPort")
            where = f".containers[{index}].ports[{number}]"
            if spec.get("hostNetwork") and host and host != port.get("containerPort"):
                why = "must match `hostPort` when `hostNetwork` is true"
                yield invalid(f"{where}.containerPort", port.get("containerPort") or 0, why)
            claimed = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
            if host and claimed in taken:
                yield duplicate(f"{where}.hostPort", claimed)
            taken.add(claimed)


def _starting(container: Obj) -> Iterator[FieldError]:
    if container.get("restartPolicy") == "Always":
        return
    for name in _PART_OF_STARTED:
        if container.get(name) is not None:
            yield forbidden(f".{name}", "may not be set for init containers without restartPolicy=Always")


def _tokens(spec: Obj) -> Iterator[FieldError]:
    """A token is of the pod's account: without one there is none. Templates are not checked."""
    if spec.get("serviceAccountName"):
        return
    for at, volume in enumerate(spec.get("volumes") or []):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or []):
            if source.get("serviceAccountToken") is not None:
                where = f".volumes[{at}].projected.sources[{number}].serviceAccountToken"
                yield forbidden(where, "must not be specified when serviceAccountName is not set")


_EXPRESSIONS: tuple[Row, ...] = (
    ("matchExpressions[].key", qualified),
    ("matchExpressions[]", _term),
    ("matchFields[]", _matched_field),
)
NODE_SELECTOR: tuple[Row, ...] = (
    ("", has("nodeSelectorTerms", why="must have at least one node selector term")),
    *below("nodeSelectorTerms[]", _EXPRESSIONS),
)
_POD_TERM: tuple[Row, ...] = (
    ("labelSelector", selector),
    ("namespaceSelector", selector),
    ("namespaces[]", dns_label),
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

POD_SPEC: tuple[Row, ...] = (
    ("restartPolicy", one_of("Always", "Never", "OnFailure")),
    ("dnsPolicy", one_of("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
    ("activeDeadlineSeconds", between(1, 2**31 - 1)),
    ("preemptionPolicy", one_of("Never", "PreemptLowerPriority")),
    ("serviceAccountName", subdomain),
    ("nodeName", subdomain),
    ("priorityClassName", subdomain),
    ("runtimeClassName", subdomain),
    ("hostname", dns_label),
    ("subdomain", dns_label),
    ("nodeSelector", labels),
    ("os.name", one_of("linux", "windows")),
    ("overhead{}", not_negative),
    ("hostAliases[].ip", address),
    ("hostAliases[].hostnames[]", subdomain),
    ("readinessGates[].conditionType", qualified),
    ("schedulingGates", unique("name")),
    ("schedulingGates[].name", qualified),
    ("tolerations[].key", qualified),
    ("tolerations[].effect", one_of_or_none(*EFFECTS)),
    ("tolerations[]", _toleration),
    ("dnsConfig", _dns),
    ("dnsConfig.nameservers[]", address),
    ("dnsConfig.options[]", has("name", why="must not be empty")),
    *below(f"affinity.nodeAffinity.{_REQUIRED}", NODE_SELECTOR),
    (f"affinity.nodeAffinity.{_PREFERRED}[].weight", _weight),
    *below(f"affinity.nodeAffinity.{_PREFERRED}[].preference", _EXPRESSIONS),
    *below(f"affinity.podAffinity.{_REQUIRED}[]", _POD_TERM),
    *below(f"affinity.podAffinity.{_PREFERRED}[].podAffinityTerm", _POD_TERM),
    *below(f"affinity.podAntiAffinity.{_REQUIRED}[]", _POD_TERM),
    *below(f"affinity.podAntiAffinity.{_PREFERRED}[].podAffinityTerm", _POD_TERM),
    ("topologySpreadConstraints", _spread),
    ("topologySpreadConstraints[].labelSelector", selector),
    ("topologySpreadConstraints[].minDomains", positive("must be greater than 0")),
    ("topologySpreadConstraints[].nodeAffinityPolicy", one_of("Honor", "Ignore")),
    ("topologySpreadConstraints[].nodeTaintsPolicy", one_of("Honor", "Ignore")),
    ("", _names),
    ("", _host),
    *below("containers[]", CONTAINER),
    *below("initContainers[]", CONTAINER),
    ("initContainers[]", _starting),
    *below("volumes", VOLUMES),
    *below("securityContext", SECURITY),
    ("securityContext.fsGroup", user_id),
    ("securityContext.supplementalGroups[]", user_id),
    ("securityContext.fsGroupChangePolicy", one_of("Always", "OnRootMismatch")),
    ("securityContext.supplementalGroupsPolicy", one_of("Merge", "Strict")),
    ("securityContext.sysctls", unique("name")),
    ("securityContext.sysctls[]", has("name")),
)

POD: tuple[Row, ...] = (*POD_SPEC, ("", _tokens))
TEMPLATE: tuple[Row, ...] = (("", _template), *below("spec", POD_SPEC))
