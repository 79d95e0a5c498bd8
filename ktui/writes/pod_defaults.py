"""Defaults of pods and of their templates: tables of paths and values."""

from __future__ import annotations

from ktui.kube.image_names import tag_of
from ktui.kube.json_trees import Obj
from ktui.wire.schema import SERVED_AS, fields_by_name
from ktui.writes.admission.pod_resources import pod_total
from ktui.writes.default_rows import Fill, Table, Unset, members


def _pulled(image: str, policy: str) -> Fill:
    """Set the pull policy by the tag of the image."""

    def pull(obj: Obj) -> None:
        latest = tag_of(str(obj.get(image, ""))) == "latest"
        obj[policy] = obj.get(policy) or ("Always" if latest else "IfNotPresent")

    return pull


_OF_THE_POD = (("fieldRef.apiVersion", Unset("v1")), ("resourceFieldRef.divisor", "0"))
PROTOCOL = (("ports[].protocol", Unset("TCP")),)
_HTTP = (("httpGet", members(path=Unset("/"), scheme=Unset("HTTP"))),)
_PROBE = (
    *members(timeoutSeconds=Unset(1), periodSeconds=Unset(10)),
    *members(successThreshold=Unset(1), failureThreshold=Unset(3)), *_HTTP, ("grpc.service", ""),
)  # fmt: skip
_CONTAINER: Table = (
    ("", _pulled("image", "imagePullPolicy")), ("resources", {}),
    ("terminationMessagePath", Unset("/dev/termination-log")),
    ("terminationMessagePolicy", Unset("File")), *PROTOCOL, ("env[].valueFrom", _OF_THE_POD),
    ("livenessProbe", _PROBE), ("readinessProbe", _PROBE), ("startupProbe", _PROBE),
    ("lifecycle.postStart", _HTTP), ("lifecycle.preStop", _HTTP),
)  # fmt: skip


def _some_source(volume: Obj) -> None:
    """Make a volume without a source an empty directory."""
    sources = fields_by_name("core.v1.VolumeSource", SERVED_AS)
    if all(value is None for name, value in volume.items() if name in sources):
        volume["emptyDir"] = {}


# Of the sources that a pod's volume and a PersistentVolume both have.
VOLUME_SOURCES: Table = (
    ("hostPath.type", ""), ("iscsi.iscsiInterface", Unset("default")),
    ("rbd", members(pool=Unset("rbd"), user=Unset("admin"), keyring=Unset("/etc/ceph/keyring"))),
    ("azureDisk", members(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False)),
    ("scaleIO", members(storageMode=Unset("ThinProvisioned"), fsType=Unset("xfs"))),
)  # fmt: skip
_VOLUME: Table = (
    ("secret.defaultMode", 0o644), ("configMap.defaultMode", 0o644), ("downwardAPI.defaultMode", 0o644),
    ("downwardAPI.items[]", _OF_THE_POD), ("projected.defaultMode", 0o644),
    ("projected.sources[].serviceAccountToken.expirationSeconds", 3600),
    ("projected.sources[].downwardAPI.items[]", _OF_THE_POD), *VOLUME_SOURCES,
    ("image", _pulled("reference", "pullPolicy")),
    ("ephemeral.volumeClaimTemplate.spec!.volumeMode", "Filesystem"), ("", _some_source),
)  # fmt: skip


def whole_pod(spec: Obj) -> None:
    """Set what a pod requests as a whole, if it limits itself as a whole (SetDefaults_Pod).

    Of huge pages the limit is that of the containers; requests are those of the containers, else the limits.
    """
    own = spec.get("resources")
    if not own or not (own.get("limits") or own.get("requests")):
        return
    parts = {name: _with_texts(spec.get(name) or []) for name in ("containers", "initContainers")}
    limits, requests = dict(own.get("limits") or {}), dict(own.get("requests") or {})
    for name, value in pod_total(parts, "limits").items():
        if name.startswith(_PAGES) and name not in requests:
            limits.setdefault(name, value)
    if limits:
        own["limits"] = limits
        together = pod_total(parts, "requests")
        filled = {name: together[name] for name in ("cpu", "memory") if name in together}
        filled |= {n: value for n, value in limits.items() if n not in filled and _of_pods(n)}
        if filled := {**filled, **requests}:
            own["requests"] = filled


_PAGES = "hugepages-"


def _of_pods(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(_PAGES)


def _with_texts(containers: list[Obj]) -> list[Obj]:
    """Return the resources of containers, whose quantities may be numbers yet."""
    found = []
    for container in containers:
        given = container.get("resources") or {}
        texts = {
            which: {name: str(value or "0") for name, value in (given.get(which) or {}).items()}
            for which in ("limits", "requests")
        }
        found.append({"resources": texts, "restartPolicy": container.get("restartPolicy")})
    return found


POD_SPEC: Table = (
    ("dnsPolicy", Unset("ClusterFirst")), ("restartPolicy", Unset("Always")),
    ("schedulerName", Unset("default-scheduler")), ("terminationGracePeriodSeconds", 30),
    ("securityContext", {}), ("initContainers[]", _CONTAINER),
    ("containers[]", _CONTAINER), ("ephemeralContainers[]", _CONTAINER), ("volumes[]", _VOLUME),
)  # fmt: skip
