"""Rules of pod specs, in pods and in templates: security, names, containers, volumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import starmap

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_found_value, required
from ktui.kube.json_trees import Obj
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
    of_member,
    one_kind,
    one_of,
    one_of_or_none,
    qualified,
    relative_path,
    repeated,
    subdomain,
    unique,
    user_id,
    without_parents,
)
from ktui.writes.validation.values.containers import CONTAINER, SECURITY
from ktui.writes.validation.values.scheduling import SCHEDULING

HOST_PATH_TYPES = (
    "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_LEAST_SECONDS, _MOST_SECONDS = 600, 1 << 32


def _host_and_gates(pod: Obj) -> Iterator[FieldError]:
    if pod.get("schedulingGates") and pod.get("nodeName"):
        yield forbidden(".nodeName", "cannot be set until all schedulingGates have been cleared")


def _dns_policy(spec: Obj) -> Iterator[FieldError]:
    if spec.get("dnsPolicy") == "None" and not spec.get("dnsConfig"):
        yield required(".dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")


def _hooks(spec: Obj) -> Iterator[FieldError]:
    """A hook that sleeps ends within the pod's grace period."""
    grace = spec.get("terminationGracePeriodSeconds")
    for member in _RUNNING if grace is not None else ():
        for index, container in enumerate(spec.get(member) or []):
            for name in ("postStart", "preStop"):
                hook = (container.get("lifecycle") or {}).get(name) or {}
                seconds = (hook.get("sleep") or {}).get("seconds")
                if seconds is not None and not 0 <= seconds <= grace:
                    why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                    yield invalid(f".{member}[{index}].lifecycle.{name}.sleep", seconds, why)


def mounts(spec: Obj, claims: Sequence[Obj] = ()) -> Iterator[FieldError]:
    """Volumes that are mounted exist; `claims` are claim templates, which are also volumes."""
    volumes = {
        volume.get("name")
        for volume in spec.get("volumes") or []
        if volume.get("secret") is None or volume["secret"].get("secretName")  # upstream counts no other
    }
    volumes |= {(claim.get("metadata") or {}).get("name") for claim in claims}
    for member in _RUNNING:
        for index, container in enumerate(spec.get(member) or []):
            for at, mount in enumerate(container.get("volumeMounts") or []):
                if mount.get("name") and mount["name"] not in volumes:
                    yield not_found_value(f".{member}[{index}].volumeMounts[{at}].name", mount["name"])


def _lifetime(seconds: int) -> Iterator[FieldError]:
    if seconds < _LEAST_SECONDS:
        yield invalid("", seconds, "may not specify a duration less than 10 minutes")
    elif seconds > _MOST_SECONDS:
        yield invalid("", seconds, "may not specify a duration larger than 2^32 seconds")


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
    # A volume without a source is an emptyDir.
    ("[]", one_kind("volume", "", lambda volume: [name for name in volume if name != "name"])),
    *below("[].hostPath", HOST_PATH),
    *below("[].nfs", NFS),
    ("[].emptyDir.sizeLimit", _size_limit),
    ("[].configMap", has("name")),
    *below("[].configMap", _ITEMS),
    ("[].secret", has("secretName")),
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
    ("[].projected.sources[].serviceAccountToken", of_member("expirationSeconds", _lifetime)),
    ("[].projected.sources[].serviceAccountToken.path", relative_path),
    ("[].image.pullPolicy", one_of("Always", "IfNotPresent", "Never")),
)


_RUNNING = ("containers", "initContainers")
_MOST_NAMESERVERS, _MOST_SEARCHES = 3, 32
_PART_OF_STARTED = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def _template(template: Obj) -> Iterator[FieldError]:
    """Check what only templates may not have; upstream's path of their labels leaves `metadata` out."""
    for error in labels((template.get("metadata") or {}).get("labels") or {}):
        yield replace(error, field=".labels")
    if (template.get("spec") or {}).get("ephemeralContainers"):
        yield forbidden(".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def _dns(config: Obj) -> Iterator[FieldError]:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_NAMESERVERS:
        yield invalid(".nameservers", servers, f"must not have more than {_MOST_NAMESERVERS} nameservers")
    if len(searches) > _MOST_SEARCHES:
        yield invalid(".searches", searches, f"must not have more than {_MOST_SEARCHES} search paths")


def _names(spec: Obj) -> Iterator[FieldError]:
    """Names of containers are unique in a pod."""
    return starmap(
        duplicate,
        repeated(
            (f".{member}[{index}].name", container.get("name"))
            for member in (*_RUNNING, "ephemeralContainers")
            for index, container in enumerate(spec.get(member) or [])
        ),
    )


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


POD_SPEC: tuple[Row, ...] = (
    ("", has("containers")),
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
    ("", _dns_policy),
    ("dnsConfig", _dns),
    ("dnsConfig.nameservers[]", address),
    ("dnsConfig.options[]", has("name", why="must not be empty")),
    *SCHEDULING,
    ("", _names),
    ("", _host),
    *below("containers[]", CONTAINER),
    *below("initContainers[]", CONTAINER),
    ("initContainers[]", _starting),
    ("", _hooks),
    *below("volumes", VOLUMES),
    *below("securityContext", SECURITY),
    ("securityContext.fsGroup", user_id),
    ("securityContext.supplementalGroups[]", user_id),
    ("securityContext.fsGroupChangePolicy", one_of("Always", "OnRootMismatch")),
    ("securityContext.supplementalGroupsPolicy", one_of("Merge", "Strict")),
    ("securityContext.sysctls", unique("name")),
    ("securityContext.sysctls[]", has("name")),
)

POD: tuple[Row, ...] = (*POD_SPEC, ("$", mounts), ("", _host_and_gates), ("", _tokens))
TEMPLATE: tuple[Row, ...] = (("", _template), *below("spec", POD_SPEC))
