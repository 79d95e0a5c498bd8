"""Defaults of pods and of their templates: tables of paths and values."""

from __future__ import annotations

from ktui.kube.image_names import tag_of
from ktui.kube.json_trees import Obj
from ktui.wire.schema import SERVED_AS, fields_by_name
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


_VOLUME = (
    ("secret.defaultMode", 0o644), ("configMap.defaultMode", 0o644), ("downwardAPI.defaultMode", 0o644),
    ("downwardAPI.items[]", _OF_THE_POD), ("projected.defaultMode", 0o644),
    ("projected.sources[].serviceAccountToken.expirationSeconds", 3600),
    ("projected.sources[].downwardAPI.items[]", _OF_THE_POD), ("hostPath.type", ""),
    ("image", _pulled("reference", "pullPolicy")), ("iscsi.iscsiInterface", "default"),
    ("ephemeral.volumeClaimTemplate.spec!.volumeMode", "Filesystem"),
    ("rbd", members(pool=Unset("rbd"), user=Unset("admin"), keyring=Unset("/etc/ceph/keyring"))),
    ("azureDisk", members(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False)),
    ("scaleIO", members(storageMode=Unset("ThinProvisioned"), fsType=Unset("xfs"))), ("", _some_source),
)  # fmt: skip


POD_SPEC: Table = (
    ("dnsPolicy", Unset("ClusterFirst")), ("restartPolicy", Unset("Always")),
    ("schedulerName", Unset("default-scheduler")), ("terminationGracePeriodSeconds", 30),
    ("securityContext", {}), ("initContainers[]", _CONTAINER),
    ("containers[]", _CONTAINER), ("ephemeralContainers[]", _CONTAINER), ("volumes[]", _VOLUME),
)  # fmt: skip
