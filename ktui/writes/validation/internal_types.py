"""Values as upstream's errors show them after their conversion to internal types: by Go's names, each member.

Larger values are shown as they are: an error has room for 20,000 characters, and an object for more.
"""

from __future__ import annotations

import re
from difflib import unified_diff
from functools import cache
from itertools import takewhile
from typing import Any

import msgspec

from ktui.kube.golang.formatting import escaped
from ktui.kube.json_trees import Obj
from ktui.wire.schema import META, SERVED_AS, SchemaField, fields, member_order

MOST_BYTES, MOST_LINES = 32 * 1024, 1000
_CONTEXT = 3  # equal lines before and after a difference
# Go's names where they are not the JSON names with a capital; "TYPE.name" is one type's alone.
_GO_NAMES = {
    "apiGroup": "APIGroup", "apiVersion": "APIVersion", "awsElasticBlockStore": "AWSElasticBlockStore",
    "cephfs": "CephFS", "chapAuthDiscovery": "DiscoveryCHAPAuth", "chapAuthSession": "SessionCHAPAuth",
    "csi": "CSI", "diskURI": "DataDiskURI", "dnsConfig": "DNSConfig", "dnsPolicy": "DNSPolicy",
    "endpoints": "EndpointsName", "fc": "FC", "fsGroup": "FSGroup",
    "fsGroupChangePolicy": "FSGroupChangePolicy", "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk", "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName", "grpc": "GRPC", "httpGet": "HTTPGet",
    "httpHeaders": "HTTPHeaders", "ip": "IP", "iqn": "IQN", "iscsi": "ISCSI",
    "iscsiInterface": "ISCSIInterface", "nfs": "NFS", "os": "OS", "pdName": "PDName", "rbd": "RBD",
    "seLinuxChangePolicy": "SELinuxChangePolicy", "seLinuxOptions": "SELinuxOptions",
    "sslEnabled": "SSLEnabled", "storageos": "StorageOS", "tcpSocket": "TCPSocket", "tty": "TTY",
    "uid": "UID", "wwids": "WWIDs",
    "DeviceAttribute.bool": "BoolValue", "DeviceAttribute.bools": "BoolValues",
    "DeviceAttribute.int": "IntValue", "DeviceAttribute.ints": "IntValues",
    "DeviceAttribute.string": "StringValue", "DeviceAttribute.strings": "StringValues",
    "DeviceAttribute.version": "VersionValue", "DeviceAttribute.versions": "VersionValues",
    "DeviceSelector.cel": "CEL",
    "RBDVolumeSource.image": "RBDImage", "RBDVolumeSource.monitors": "CephMonitors",
    "RBDVolumeSource.pool": "RBDPool", "RBDVolumeSource.user": "RadosUser",
    "RBDPersistentVolumeSource.image": "RBDImage", "RBDPersistentVolumeSource.monitors": "CephMonitors",
    "RBDPersistentVolumeSource.pool": "RBDPool", "RBDPersistentVolumeSource.user": "RadosUser",
}  # fmt: skip
# Members of a pod's spec that are in its security context, and those that the internal types of 1.36 lack.
_OF_CONTEXT = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_LEFT_OUT = {
    *_OF_CONTEXT, "serviceAccount", "bindMountOptions", "defaultUser", "evictionResponders",
    "ClusterTrustBundleProjection.user", "DownwardAPIVolumeFile.user", "EmptyDirVolumeSource.mode",
    "GRPCAction.mode", "HTTPGetAction.protocol", "KeyToPath.user", "PodCertificateProjection.user",
    "ServiceAccountTokenProjection.user",
}  # fmt: skip
# Members that come later or earlier than in the API's type: each with the member that it follows.
_MOVED = {
    "core.v1.PodSpec": {
        "setHostnameAsFQDN": "subdomain", "preemptionPolicy": "priority", "overhead": "runtimeClassName",
    },
    "core.v1.PodSecurityContext": {"fsGroupChangePolicy": "fsGroup"},
    "core.v1.VolumeSource": {"quobyte": "rbd", "projected": "photonPersistentDisk"},
    "core.v1.PersistentVolumeSource": {"quobyte": "rbd", "flexVolume": "iscsi"},
}  # fmt: skip
_ZERO: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "double": 0, "intstr": 0}


@cache
def _members(message: str) -> tuple[tuple[str, SchemaField], ...]:
    """Return Go's name and the field of each member, in the order of the internal type."""
    by_number = {field.number: field for field in fields(message, SERVED_AS)}
    order = member_order(message) or sorted(by_number)
    known = {by_number[n].name: by_number[n] for n in order if n in by_number and not by_number[n].has("x")}
    kind = message.rpartition(".")[2]
    names = [name for name in known if not _LEFT_OUT & {name, f"{kind}.{name}"}]
    for name, before in _MOVED.get(message, {}).items():
        names.remove(name)
        names.insert(names.index(before) + 1, name)
    capital = {name: name[:1].upper() + name[1:] for name in names}
    go = {name: _GO_NAMES.get(f"{kind}.{name}") or _GO_NAMES.get(name) or capital[name] for name in names}
    return tuple((go[name], known[name]) for name in names)


def internal(value: Any, message: str) -> Any:
    """Return the JSON of a value of this type as Go encodes its internal type, with missing members."""
    return _struct(value, message) if _fits(value) else value


def _fits(value: Any) -> bool:
    return len(msgspec.json.encode(value)) <= MOST_BYTES


def _struct(value: Any, message: str) -> Any:
    if value is None or message.startswith("meta.v1."):
        return value and {name: member for name, member in value.items() if member not in (None, [], {})}
    found: Obj = {}
    if message == "core.v1.PodSpec" and value.get("securityContext") is not None:
        hosts = {name: value[name] for name in _OF_CONTEXT if name in value}
        value = {**value, "securityContext": {**value["securityContext"], **hosts}}
    if message == "core.v1.PodSecurityContext":
        for name in _OF_CONTEXT:
            found[name[0].upper() + name[1:]] = value.get(name, False if name in _OF_CONTEXT[:3] else None)
    for name, field in _members(message):
        if field.has("i"):
            found |= _struct(value, field.type)
        elif field.type == META:
            found |= value.get(field.name) or {}  # embedded, with names of its own
        else:
            found[name] = _member(value.get(field.name), field)
    return found


def _member(value: Any, field: SchemaField) -> Any:
    if (field.repeated or field.is_map) and not value:
        return value
    if field.is_map:
        value = dict(sorted(value.items()))
    if field.kind != "message":
        return _ZERO.get(field.kind) if value is None and not field.has("p") else value
    if field.is_map:
        return {key: _struct(item, field.type) for key, item in value.items()}
    if field.repeated:
        return [_struct(item, field.type) for item in value]
    return _struct({} if value is None and not field.has("p") else value, field.type)


def internal_diff(message: str, old: Any, new: Any) -> str:
    """Return the lines in which two values of a type differ (upstream: util/diff, over indented JSON).

    Of long values MOST_LINES are compared, from the first difference on.
    """
    values = [_struct(old, message), _struct(new, message)] if _fits(old) and _fits(new) else [old, new]
    before, after = map(_lines, values)
    skipped = 0
    if max(len(before), len(after)) > MOST_LINES:
        equal = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))
        skipped = max(0, equal - _CONTEXT)
    before, after = before[skipped : skipped + MOST_LINES], after[skipped : skipped + MOST_LINES]
    found = [*unified_diff(before, after, n=_CONTEXT)][2:]
    return "".join(_moved(line, skipped) if line.startswith("@@") else line for line in found)


def _lines(value: Any) -> list[str]:
    text = escaped(msgspec.json.format(msgspec.json.encode(value), indent=1)).decode()
    return [f"{line}\n" for line in text.split("\n")]


def _moved(head: str, skipped: int) -> str:
    """Return the head of a hunk for lines of which the first were left out."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number[0]) + skipped), head)
