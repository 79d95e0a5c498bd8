"""Serve values stored as JSON: custom resources, CustomResourceDefinitions, APIServices.

Only members that change are parsed. Everything else keeps its stored bytes, so numbers that no float can
represent (2^53+1) survive.
"""

from collections.abc import Callable

import msgspec

from ktui.kube.golang.formatting import escaped
from ktui.wire.crd import served_as_v1
from ktui.wire.jsontext import embed, quote
from ktui.wire.pb import CodecError
from ktui.wire.schema import message_of

Raw = msgspec.Raw
Members = dict[str, Raw]

_members = msgspec.json.Decoder(Members)
_compact = msgspec.json.encode

CRD_STORED = ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition")
CRD_SERVED = "apiextensions.k8s.io/v1"

_BEFORE_REVISION = ("name", "generateName", "namespace", "selfLink", "uid")


def members_of(text: bytes | Raw, what: str) -> Members:
    """The members of a JSON object, each as its text; CodecError names `what` if it is not an object."""
    try:
        return _members.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CodecError(f"{what} cannot be read: {error}") from None


def json_object(
    raw: bytes,
    rv: bytes | None,
    api_version: str | None = None,
    *,
    bare: Callable[[str, str], bool] = lambda _api_version, _kind: False,
) -> bytes:
    """Return a stored JSON object with its resourceVersion, as `api_version` if given.

    `rv` is the text between the quotes; None keeps the stored text. Objects for which `bare(apiVersion,
    kind)` is True lose both, as built-ins do in a List.
    """
    text = embed(raw)
    members = members_of(text, "the object")
    stored, kind = _string(members, "apiVersion"), _string(members, "kind")
    if not stored or not kind:
        raise CodecError("JSON without apiVersion and kind: not a Kubernetes object")
    if (stored, kind) == CRD_STORED:
        members = served_as_v1(members)
        members["apiVersion"] = _text(api_version or CRD_SERVED)
    elif api_version is not None and api_version != stored:
        members["apiVersion"] = _text(api_version)
    if rv is not None:
        built_in = message_of(_string(members, "apiVersion"), kind) is not None
        members["metadata"] = _with_resource_version(members.get("metadata"), rv, built_in)
    if bare(_string(members, "apiVersion"), kind):
        members.pop("apiVersion")
        members.pop("kind")
    return escaped(_compact(members))  # names of members were decoded


def _with_resource_version(metadata: Raw | None, rv: bytes, built_in: bool) -> Raw:
    """Return metadata with the revision at upstream's position: in type order for built-ins, else sorted."""
    if metadata is None or bytes(metadata) == b"null":
        found: Members = {}
    else:
        found = members_of(metadata, "metadata")
    text = Raw(b'"' + rv + b'"')
    if built_in:
        before = {name: found.pop(name) for name in _BEFORE_REVISION if name in found}
        return Raw(_compact({**before, "resourceVersion": text, **found}))
    found["resourceVersion"] = text
    return Raw(_compact(dict(sorted(found.items()))))


def _string(members: Members, name: str) -> str:
    try:
        return msgspec.json.decode(members.get(name, Raw(b'""')), type=str)
    except msgspec.MsgspecError:
        raise CodecError(f"{name} is not a string") from None


def _text(value: str) -> Raw:
    return Raw(quote(value.encode()))
