"""Serve values stored as JSON: custom resources, CustomResourceDefinitions, APIServices.

Only members that change are parsed. Everything else keeps its stored bytes, so numbers that no float can
represent (2^53+1) survive.
"""

import msgspec

from ktui.kube.golang.formatting import escaped
from ktui.wire.jsontext import embed, quote
from ktui.wire.pb import CodecError
from ktui.wire.schema import message_of

Raw = msgspec.Raw
Members = dict[str, Raw]

_members = msgspec.json.Decoder(Members)
_list = msgspec.json.Decoder(list[Members] | None)
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


def json_object(raw: bytes, rv: bytes | None, api_version: str | None = None, *, bare: bool = False) -> bytes:
    """Return a stored JSON object with its resourceVersion, as `api_version` if given.

    `rv` is the text between the quotes; None keeps the stored text. `bare`: as in a List, where built-ins
    have neither kind nor apiVersion.
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
    built_in = message_of(_string(members, "apiVersion"), kind) is not None
    if rv is not None:
        members["metadata"] = _with_resource_version(members.get("metadata"), rv, built_in)
    if bare and built_in:
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


# CustomResourceDefinitions are stored as v1beta1 and served as v1 (1.36, apiextensions/conversion): each v1
# version has the members that v1beta1 has at the top of its spec; storing hoists those that all share.
_SHARED = (
    ("validation", "schema"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
)
"""Top-level member of a v1beta1 spec → member of each version in v1."""

_SPEC_ORDER = (
    "group", "version", "names", "scope", "validation", "subresources", "versions",
    "additionalPrinterColumns", "selectableFields", "conversion", "preserveUnknownFields",
)  # fmt: skip


def served_as_v1(definition: Members) -> Members:
    """Return the v1beta1 members of a definition as v1 members; the caller sets apiVersion."""
    try:
        spec = _members.decode(definition["spec"])
        sole = Members(served=Raw(b"true"), storage=Raw(b"true"))
        versions = (
            _list.decode(spec["versions"]) or []
            if "versions" in spec
            else [{"name": spec["version"], **sole}]
        )
        _spread(spec, versions)
        for version in versions:
            _rename_columns(version, "JSONPath", "jsonPath")
        if bytes(spec.get("preserveUnknownFields", b"")) == b"false":
            del spec["preserveUnknownFields"]
        served = {name: value for name, value in spec.items() if name != "version"}
        if bytes(spec.get("versions", b"")) != b"null":
            served["versions"] = _raw(versions)
        if "conversion" in served:
            served["conversion"] = _conversion_v1(served["conversion"])
        return {**definition, "spec": _raw(served)}
    except (KeyError, msgspec.MsgspecError) as error:
        raise CodecError(f"a v1beta1 CustomResourceDefinition cannot be shown as v1: {error}") from None


def stored_as_v1beta1(definition: Members) -> Members:
    """Return the v1 members of a definition as kube-apiserver stores them."""
    try:
        spec = _members.decode(definition.get("spec", b"{}")) or Members()
        given = _list.decode(spec.get("versions", b"null"))
        versions = given or []
        for version in versions:
            _rename_columns(version, "jsonPath", "JSONPath")
        if versions:
            spec["version"] = versions[0].get("name", Raw(b'""'))
            _hoist(spec, versions)
        spec["versions"] = _raw(given)
        if "conversion" in spec:
            spec["conversion"] = _conversion_v1beta1(spec["conversion"])
        spec.setdefault("preserveUnknownFields", Raw(b"false"))
        ordered = {name: spec[name] for name in _SPEC_ORDER if name in spec}
        return {**definition, "spec": _raw(ordered | spec)}
    except (KeyError, msgspec.MsgspecError) as error:
        raise CodecError(f"spec: not a v1 CustomResourceDefinition: {error}") from None


def _raw(value: object) -> Raw:
    return Raw(_compact(value))


def _spread(spec: Members, versions: list[Members]) -> None:
    for top, member in _SHARED:
        shared = spec.pop(top, None)
        if shared is None or bytes(shared) == b"null":
            continue
        for version in versions:
            version.setdefault(member, shared)


def _hoist(spec: Members, versions: list[Members]) -> None:
    for top, member in _SHARED:
        texts = {bytes(version[member]) if member in version else b"" for version in versions}
        if len(texts) == 1 and texts != {b""}:
            spec[top] = versions[0][member]
            for version in versions:
                del version[member]


def _rename_columns(version: Members, old: str, new: str) -> None:
    columns = version.get("additionalPrinterColumns")
    if columns is None or bytes(columns) == b"null":
        return
    renamed = [
        {new if name == old else name: text for name, text in column.items()}
        for column in _list.decode(columns) or ()
    ]
    version["additionalPrinterColumns"] = _raw(renamed)


_WEBHOOK = {"webhookClientConfig": "clientConfig", "conversionReviewVersions": "conversionReviewVersions"}
"""Member of a v1beta1 conversion → member of v1's webhook."""


def _conversion_v1(text: Raw) -> Raw:
    old = _members.decode(text)
    webhook = {member: old.pop(top) for top, member in _WEBHOOK.items() if top in old}
    return _raw({**old, "webhook": _raw(webhook)}) if webhook else text


def _conversion_v1beta1(text: Raw) -> Raw:
    new = _members.decode(text)
    webhook = new.pop("webhook", None)
    if webhook is None or bytes(webhook) == b"null":
        return text
    config = _members.decode(webhook)
    return _raw(new | {top: config[member] for top, member in _WEBHOOK.items() if member in config})
