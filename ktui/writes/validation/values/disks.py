"""Rules of volumes on disks and servers outside the cluster, most of them of drivers that are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ktui.kube.fielderrors import FieldError, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import (
    RuleTree,
    any_dns_label,
    between,
    demand,
    dns_label,
    has,
    inside,
    listed,
    needed,
    needs,
    optional,
    relative_path,
    table_of,
)

_LONGEST_TENANT, _LONGEST_PORTAL = 64, 64
_NAMES = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z", re.ASCII),
    "eui": re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z"),
}
_unit = between(0, 255)
# Upstream says 1 where it means 0.
_partition = demand(lambda number: 0 <= number <= 255, "must be between 1 and 255, inclusive")
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_URIS = {
    "Managed": (
        "/subscriptions/",
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
    ),
    "": ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"),
}


def iscsi_name(name: str) -> Iterator[FieldError]:
    """Check the name of an iSCSI target or initiator, by the form that its first letters promise."""
    form = _NAMES.get(name[:3])
    if form is None:
        yield invalid("", name, "must be valid format starting with iqn, eui, or naa")
    elif not form.search(name):
        yield invalid("", name, "must be valid format")


def _initiator(source: Obj) -> Iterator[FieldError]:
    if (initiator := source.get("initiatorName")) is not None:
        yield from inside(".initiatorname", iscsi_name(initiator))


def has_secret(source: Obj) -> bool:
    """Whether an iSCSI target has the Secret that its authentication needs, if it has any."""
    used = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    return not used or source.get("secretRef") is not None


def long_portal(volume: Obj) -> Iterator[FieldError]:
    """The kubelet makes a name of a volume's name and its portal, if there is an initiator."""
    source = volume.get("iscsi") or {}
    name = str(volume.get("name") or "")
    whole = f"{name}:{source.get('targetPortal') or ''}"
    if source.get("initiatorName") is not None and len(whole.encode()) > _LONGEST_PORTAL:
        why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters"
        yield invalid(".name", name, f"{why} if iscsi.initiatorName is specified.")


def _flocker(source: Obj) -> Iterator[FieldError]:
    name, by_id = str(source.get("datasetName") or ""), source.get("datasetUUID")
    if not name and not by_id:
        yield required("", "one of datasetName and datasetUUID is required")
    if name and by_id:
        yield invalid("", "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(".datasetName", name, "must not contain '/'")


def _quobyte(source: Obj) -> Iterator[FieldError]:
    registry = str(source.get("registry") or "")
    if not registry:
        yield required(".registry", _PAIRS)
    elif len(str(source.get("tenant") or "").encode()) > _LONGEST_TENANT:
        yield required(".tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        pairs = registry.split(",")
        yield from (
            invalid(".registry", registry, _PAIRS) for pair in pairs if not _HOST_PORT.fullmatch(pair)
        )
    yield from has("volume")(source)


_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*", re.DOTALL)


def _fibre(source: Obj) -> Iterator[FieldError]:
    names, ids, field = source.get("targetWWNs") or [], source.get("wwids") or [], ".targetWWNs"
    if not names and not ids:
        yield required(field, "must specify either targetWWNs or wwids, but not both")
    if names and ids:
        yield invalid(field, names, "targetWWNs and wwids can not be specified simultaneously")
    if names and source.get("lun") is None:
        yield required(".lun", "lun is required if targetWWNs is specified")
    elif names:
        yield from inside(".lun", _unit(source["lun"]))


def _uri(source: Obj) -> Iterator[FieldError]:
    """The URI of a disk of Azure is one of its kind."""
    kind, uri = source.get("kind"), str(source.get("diskURI") or "")
    start, shown = _URIS["Managed" if kind == "Managed" else ""]
    if kind is not None and not uri.startswith(start):
        yield not_supported(".diskURI", uri, (shown,))


def _options(options: Obj) -> Iterator[FieldError]:
    """Names of Kubernetes' own are not those of a FlexVolume's options."""
    for name in options:
        domain = f".{name.partition('/')[0].lower()}"
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"[{name}]", name, "kubernetes.io and k8s.io namespaces are reserved")


SOURCES: dict[str, RuleTree] = {
    "gitRepo": table_of(("", has("repository")), ("directory", relative_path)),
    "gcePersistentDisk": table_of(("", has("pdName")), ("partition", _partition)),
    "awsElasticBlockStore": table_of(("", has("volumeID")), ("partition", _partition)),
    "iscsi": table_of(
        ("", has("targetPortal", "iqn")), ("iqn", optional(iscsi_name)), ("lun:number", _unit),
        ("", needs(has_secret, ".secretRef", "")), ("", _initiator),
    ),
    "glusterfs": table_of(("", has("endpoints", "path"))),
    "flocker": table_of(("", _flocker)),
    "rbd": table_of(("", has("monitors", "image"))),
    "cinder": table_of(("", has("volumeID")), ("secretRef", has("name"))),
    "cephfs": table_of(("", has("monitors"))),
    "quobyte": table_of(("", _quobyte)),
    "fc": table_of(("", _fibre)),
    "flexVolume": table_of(("", has("driver")), ("options", _options)),
    "azureFile": table_of(("", has("secretName", "shareName"))),
    "vsphereVolume": table_of(("", has("volumePath"))),
    "photonPersistentDisk": table_of(("", has("pdID"))),
    "portworxVolume": table_of(("", has("volumeID"))),
    "azureDisk": table_of(
        ("", has("diskName", "diskURI")), ("cachingMode", listed("None", "ReadOnly", "ReadWrite")),
        ("kind", listed("Dedicated", "Managed", "Shared")), ("", _uri),
    ),
    "storageos": table_of(
        ("volumeName:text", needed(any_dns_label)), ("volumeNamespace", dns_label),
        ("secretRef", has("name")),
    ),
    "scaleIO": table_of(("", has("gateway", "system", "volumeName"))),
}  # fmt: skip
"""The sources by their members; upstream's path of the first disk's own errors is another."""


def sources(names: Sequence[str], own: Mapping[str, RuleTree]) -> dict[str, RuleTree]:
    """Return the tables of sources in the order in which the first of them counts: the `own`, and these."""
    return {name: own[name] if name in own else SOURCES[name] for name in names}
