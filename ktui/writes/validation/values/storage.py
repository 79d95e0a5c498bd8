"""Rules of volumes, claims, storage classes and CSI drivers, in upstream's order (core and storage)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation.values import disks
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_dns_label,
    any_subdomain,
    below,
    between,
    demand,
    distinct,
    dns_label,
    duplicate,
    has,
    inside,
    label_key,
    listed,
    more_than_nothing,
    natural,
    needed,
    needs,
    not_negative,
    numbered,
    one_of_or_none,
    optional,
    qualified,
    selector,
    subdomain,
    table_of,
    there,
    without_parents,
)
from ktui.writes.validation.values.disks import iscsi_name
from ktui.writes.validation.values.scheduling import NODE_SELECTOR
from ktui.writes.validation.values.volumes import (
    CLAIM_SPEC,
    HOST_PATH,
    NFS,
    SHOWN,
    VOLUME_MODES,
    access_modes,
    driver_name,
    token_lifetime,
)

_LONGEST_NODE_ID = 256
_INLINE = "in the context of inline volumes"
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_MOST_PARAMETERS, _MOST_PARAMETER_BYTES = 512, 256 * 1024


def _parameters(parameters: Obj) -> Iterator[FieldError]:
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("", _MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid("", "", "field can not be empty.")
    if sum(len(f"{name}{value}".encode()) for name, value in parameters.items()) > _MOST_PARAMETER_BYTES:
        yield too_long("", _MOST_PARAMETER_BYTES)


def _lifecycle(modes: list[str]) -> Iterator[FieldError]:
    """Check each mode; upstream's path of it is that of the list."""
    known = ("Persistent", "Ephemeral")
    yield from (not_supported("", mode, known) for mode in modes if mode not in known)


def _tokens(requests: list[Obj]) -> Iterator[FieldError]:
    """Check the tokens that a driver wants, each for another audience."""
    for where, request, _, again in numbered(requests, "audience"):
        if again:
            yield duplicate(f"{where}.audience", str(request.get("audience") or ""))
        elif (seconds := request.get("expirationSeconds")) is not None:
            yield from inside(f"{where}.expirationSeconds", token_lifetime(seconds))


def _in_secrets(spec: Obj) -> Iterator[FieldError]:
    member = "serviceAccountTokenInSecrets"
    if spec.get(member) is not None and not spec.get("tokenRequests"):
        yield invalid(f".{member}", spec[member], f"{member} is set but no tokenRequests are specified")


def _provisioner(name: str) -> Iterable[FieldError]:
    """A qualified name, in any case; upstream's error shows it in small letters."""
    return qualified(name.lower())


_NODE_ID = f"must be {_LONGEST_NODE_ID} characters or less"
_DRIVER = table_of(
    ("name:text", driver_name), ("nodeID:text", needed()),
    ("nodeID", demand(lambda name: len(name.encode()) <= _LONGEST_NODE_ID, _NODE_ID)),
    ("allocatable.count", natural),
)  # fmt: skip


def _topology_keys(driver: Obj) -> Iterator[FieldError]:
    """Check the keys of a driver's topology; upstream's path of each is that of the driver."""
    seen = set()
    for key in map(str, driver.get("topologyKeys") or []):
        if not key:
            yield required("")
        if key in seen:
            yield duplicate("", key)
        seen.add(key)
        yield from label_key(key)


def _attached(source: Obj) -> Iterator[FieldError]:
    """Check what is attached: a PersistentVolume by its name, or a copy of a pod's volume."""
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        yield required("", _ONE_SOURCE)
    elif name is not None and inline is not None:
        yield forbidden("", _ONE_SOURCE)
    elif inline is not None:
        yield from inside(".inlineVolumeSpec", inline_volume(inline))
    elif not name:
        yield required(".persistentVolumeName", "must specify non empty persistentVolumeName")


def _topologies(terms: list[Obj]) -> Iterator[FieldError]:
    """Check the topologies of a class, whose terms and values differ."""
    seen: list[dict[str, frozenset[str]]] = [{} for _ in terms]  # as upstream makes its list
    for index, term in enumerate(terms):
        keys: dict[str, frozenset[str]] = {}
        for at, expression in enumerate(term.get("matchLabelExpressions") or []):
            where = f"[{index}].matchLabelExpressions[{at}]"
            key, values = str(expression.get("key") or ""), expression.get("values") or []
            if not values:
                yield required(f"{where}.values")
            for number, value in enumerate(values):
                if value in values[:number]:
                    yield duplicate(f"{where}.values[{number}]", value)
            yield from inside(f"{where}.key", label_key(key))
            if key in keys:
                yield duplicate(f"{where}.key", key)
            keys[key] = frozenset(values)
        for _ in range(seen.count(keys)):
            yield duplicate(f"[{index}].matchLabelExpressions", "")
        seen.append(keys)


_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_NO_OPTIONS = "may not specify mount options for this volume type"
# Sources that can have that annotation (upstream: volume/validation).
_MOUNTED = (
    "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder",
    "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
)  # fmt: skip
_LONGEST_PORTAL = 64


def _capacity(spec: Obj) -> Iterator[FieldError]:
    given = spec.get("capacity")
    capacity = dict(sorted((given or {}).items()))
    if not capacity:
        yield required(".capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported(".capacity", None if given is None else capacity, ("storage",))
    for name, value in capacity.items():
        if amount(value) < 0:
            whole = math.ceil(amount(value))
            yield invalid(f".capacity[{name}]", whole, "must be a valid resource quantity")
        yield from inside(f".capacity[{name}]", more_than_nothing(value))


def _portal(source: Obj, volume: str) -> Iterator[FieldError]:
    """Check an iSCSI target; a volume with an initiator of its own is known by its name and the portal."""
    initiator, portal = source.get("initiatorName"), str(source.get("targetPortal") or "")
    if not portal:
        yield required(".targetPortal")
    if initiator is not None and len(f"{volume}:{portal}".encode()) > _LONGEST_PORTAL:
        why = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified."
        )
        yield invalid(".targetportal", portal, why)
    name = str(source.get("iqn") or "")
    if not name:
        yield required(".iqn")
    elif any(iscsi_name(name)):
        yield invalid(".iqn", name, "must be valid format")
    yield from inside(".lun", between(0, 255)(source.get("lun") or 0))
    if not disks.has_secret(source):
        yield required(".secretRef")
    if source.get("secretRef") is not None:
        yield from inside(".secretRef", has("name")(source["secretRef"]))
    if initiator is not None and any(iscsi_name(initiator)):
        yield invalid(".initiatorname", initiator, "must be valid format")


def _endpoints_namespace(name: str) -> Iterator[FieldError]:
    if not name:
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid("", name, why)
    else:
        yield from any_dns_label(name)


def _secret(member: str, **checks: Check) -> Rows:
    """A Secret is named with its namespace; the checks are those of names that are there."""
    both = tuple((name, check) for name, check in checks.items())
    return below(member, (("", has("name")), *both[:1], ("", has("namespace")), *both[1:]))


_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef")
_OWN = {
    "hostPath": HOST_PATH,
    "glusterfs": table_of(("", has("endpoints", "path")), ("endpointsNamespace", _endpoints_namespace)),
    "nfs": NFS,
    "iscsi": table_of(),  # needs the volume's name
    "cinder": table_of(("", has("volumeID")), *_secret("secretRef")),
    "azureFile": table_of(
        ("", has("secretName", "shareName")),
        ("secretNamespace", lambda name: () if name else [required("")]),
    ),
    "local": table_of(("", has("path")), ("path", without_parents)),
    "storageos": table_of(
        ("", has("volumeName")), ("volumeName", dns_label), ("volumeNamespace", dns_label),
        *_secret("secretRef"),
    ),
    "csi": table_of(
        ("driver:text", driver_name), ("", has("volumeHandle")),
        *(row for member in (*_SECRETS, "nodeExpandSecretRef")
          for row in _secret(member, name=subdomain, namespace=dns_label)),
    ),
}  # fmt: skip
# The sources of a persistent volume, in the order in which the first of them counts.
SOURCES = disks.sources((
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd",
    "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume",
    "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi",
), _OWN)  # fmt: skip
_CHECKED_AS = {"gcePersistentDisk": "persistentDisk"}


def _sources(spec: Obj, volume: str) -> Iterator[FieldError]:
    """Check the first source; others are too many, but for a flex volume, which is checked as well."""
    found = False
    for member, table in SOURCES.items():
        if (source := spec.get(member)) is None:
            continue
        if found and member != "flexVolume":
            yield forbidden(f".{SHOWN.get(member, member)}", "may not specify more than 1 volume type")
            continue
        found = True
        errors = _portal(source, volume) if member == "iscsi" else table(source)
        yield from inside(f".{_CHECKED_AS.get(member, member)}", errors)
        if member == "local" and spec.get("nodeAffinity") is None:
            yield required(".nodeAffinity", "Local volume requires node affinity")
    if not found:
        yield required("", "must specify a volume type")
    path, policy = (spec.get("hostPath") or {}).get("path"), spec.get("persistentVolumeReclaimPolicy")
    if (path, policy) == ("/", "Recycle"):
        yield forbidden(".persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")


def _plain(obj: Obj) -> Iterator[FieldError]:
    """Options of mounting are an annotation only of volumes that have them."""
    spec, annotations = obj.get("spec") or {}, (obj.get("metadata") or {}).get("annotations") or {}
    if _MOUNT_OPTIONS in annotations and all(spec.get(member) is None for member in _MOUNTED):
        yield forbidden(f".metadata.annotations.{_MOUNT_OPTIONS}", _NO_OPTIONS)


def _named_sources(obj: Obj) -> Iterator[FieldError]:
    name = str((obj.get("metadata") or {}).get("name") or "")
    return inside(".spec", _sources(obj.get("spec") or {}, name))


_MODES: Rows = (("", has("accessModes")), ("accessModes", access_modes))
_CLASS = "volumeAttributesClassName"


def _only(why: str, *allowed: str) -> Check:
    return lambda value: () if value in allowed else [forbidden("", f"{why} {_INLINE}")]


_unset = _only("may not be specified")
inline_volume = table_of(
    ("claimRef", _unset), ("capacity", optional(_unset)),
    ("", there("csi", why=f"has to be specified {_INLINE}")), *_MODES,
    ("persistentVolumeReclaimPolicy", _only("may only be Retain", "", "Retain")),
    ("nodeAffinity", _unset), ("", lambda spec: _sources({**spec, "nodeAffinity": None}, "")),
    ("storageClassName", optional(_unset)),
    ("volumeMode", _only("may not specify volumeMode other than Filesystem", "Filesystem")),
)  # fmt: skip
"""The volume of a pod that an attachment has a copy of: a CSI volume, with little else."""


KINDS: dict[str, Rows] = {
    "csidrivers.storage.k8s.io": (
        ("spec.fsGroupPolicy", listed("File", "None", "ReadWriteOnceWithFSType")),
        ("spec.tokenRequests", _tokens), ("spec.volumeLifecycleModes", _lifecycle),
        ("spec.nodeAllocatableUpdatePeriodSeconds",
         demand(lambda seconds: seconds >= 10, "must be greater than or equal to 10 seconds")),
        ("spec", _in_secrets),
    ),
    "csinodes.storage.k8s.io": (("spec.drivers", distinct("name", _DRIVER, _topology_keys)),),
    "csistoragecapacities.storage.k8s.io": (
        ("nodeTopology", selector), ("storageClassName:text", any_subdomain),
        ("capacity", not_negative),
    ),
    "persistentvolumeclaims": below("spec", CLAIM_SPEC),
    "persistentvolumes": (
        *below("spec!", (
            *_MODES, ("", _capacity),
            ("persistentVolumeReclaimPolicy", one_of_or_none("Delete", "Recycle", "Retain")),
            ("nodeAffinity", has("required", why="must specify required node constraints")),
            *below("nodeAffinity.required", NODE_SELECTOR),
        )),
        ("", _named_sources),
        *below("spec!", (
            ("storageClassName", subdomain), ("volumeMode", listed(*VOLUME_MODES)),
            (_CLASS, needed(subdomain, "an empty string is disallowed")),
            ("", needs(lambda spec: spec.get(_CLASS) is None or spec.get("csi") is not None, ".csi",
                       "has to be specified when using volumeAttributesClassName")),
        )),
        ("", _plain),
    ),
    "storageclasses.storage.k8s.io": (
        ("", has("provisioner")), ("provisioner", _provisioner),
        ("parameters", _parameters), ("reclaimPolicy", one_of_or_none("Delete", "Retain")),
        ("volumeBindingMode", listed("Immediate", "WaitForFirstConsumer")),
        ("allowedTopologies", _topologies),
    ),
    "volumeattachments.storage.k8s.io": (
        ("spec!.attacher:text", driver_name), ("spec!.source!", _attached),
        ("spec!.nodeName:text", any_subdomain), ("spec!.source.persistentVolumeName", any_subdomain),
    ),
    "volumeattributesclasses.storage.k8s.io": (
        ("", has("driverName")), ("driverName", _provisioner), ("parameters", _parameters),
        ("", has("parameters", why="must contain at least one key/value pair")),
    ),
}  # fmt: skip
