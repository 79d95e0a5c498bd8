"""metav1.ObjectMeta as Go encodes it: members in the type's order, empty ones left out.

Custom resources are stored with sorted members; only their metadata has this type.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, UnsetType

_EMPTY = frozenset((b"null", b'""', b"{}", b"[]"))
_Member = Raw | UnsetType
_encode = msgspec.json.encode


class _OwnerReference(msgspec.Struct):
    apiVersion: Raw = Raw(b'""')
    kind: Raw = Raw(b'""')
    name: Raw = Raw(b'""')
    uid: Raw = Raw(b'""')
    controller: _Member = UNSET
    blockOwnerDeletion: _Member = UNSET


class _ManagedFieldsEntry(msgspec.Struct):
    manager: _Member = UNSET
    operation: _Member = UNSET
    apiVersion: _Member = UNSET
    time: _Member = UNSET
    fieldsType: _Member = UNSET
    fieldsV1: _Member = UNSET
    subresource: _Member = UNSET


class _ObjectMeta(msgspec.Struct):
    name: _Member = UNSET
    generateName: _Member = UNSET
    namespace: _Member = UNSET
    selfLink: _Member = UNSET
    uid: _Member = UNSET
    resourceVersion: _Member = UNSET
    generation: _Member = UNSET
    creationTimestamp: _Member = UNSET
    deletionTimestamp: _Member = UNSET
    deletionGracePeriodSeconds: _Member = UNSET
    labels: _Member = UNSET
    annotations: _Member = UNSET
    ownerReferences: list[_OwnerReference] | UnsetType | None = UNSET
    finalizers: _Member = UNSET
    managedFields: list[_ManagedFieldsEntry] | UnsetType | None = UNSET


_decoder = msgspec.json.Decoder(_ObjectMeta)


def in_type_order(metadata: bytes) -> bytes:
    """Return the metadata of a custom resource in the type's order; unchanged if it does not fit the type."""
    try:
        meta = _decoder.decode(metadata)
    except msgspec.ValidationError:
        return metadata
    for name in _ObjectMeta.__struct_fields__:
        value = getattr(meta, name)
        if not value or (isinstance(value, Raw) and bytes(value) in _EMPTY):
            setattr(meta, name, UNSET)
    if meta.generation is not UNSET and bytes(meta.generation) == b"0":
        meta.generation = UNSET
    return _encode(meta)
