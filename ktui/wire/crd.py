"""CustomResourceDefinitions: stored as v1beta1 JSON, served as v1.

kube-apiserver 1.36 (apiextensions/conversion): each v1 version has the members that v1beta1 has at the top of
its spec; storing hoists those that all versions share. Members are JSON texts by name, so schemas are moved
without being parsed.
"""

import msgspec

from ktui.wire.pb import CodecError

Raw = msgspec.Raw
Members = dict[str, Raw]

_members = msgspec.json.Decoder(Members)
_list = msgspec.json.Decoder(list[Members])
_encode = msgspec.json.encode

_SHARED = (
    ("validation", "schema"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
)
"""Top-level member of a v1beta1 spec → member of each version in v1."""

_SPEC_ORDER = (
    "group",
    "version",
    "names",
    "scope",
    "validation",
    "subresources",
    "versions",
    "additionalPrinterColumns",
    "selectableFields",
    "conversion",
    "preserveUnknownFields",
)


def served_as_v1(definition: Members) -> Members:
    """Return the v1beta1 members of a definition as v1 members; the caller sets apiVersion."""
    try:
        spec = _members.decode(definition["spec"])
        versions = _list.decode(spec["versions"]) if "versions" in spec else _sole_version(spec)
        _spread(spec, versions)
        for version in versions:
            _rename_columns(version, "JSONPath", "jsonPath")
        served: Members = {}
        for name, value in spec.items():
            if name == "version" or (name == "preserveUnknownFields" and bytes(value) == b"false"):
                continue
            served[name] = value
        served["versions"] = _raw(versions)
        if "conversion" in served:
            served["conversion"] = _conversion_v1(served["conversion"])
        return {**definition, "spec": _raw(served)}
    except (KeyError, msgspec.MsgspecError) as error:
        raise CodecError(f"a v1beta1 CustomResourceDefinition cannot be shown as v1: {error}") from None


def stored_as_v1beta1(definition: Members) -> Members:
    """Return the v1 members of a definition as kube-apiserver stores them."""
    try:
        spec = _members.decode(definition["spec"])
        versions = _list.decode(spec["versions"])
        for version in versions:
            _rename_columns(version, "jsonPath", "JSONPath")
        if versions:
            spec["version"] = versions[0]["name"]
            _hoist(spec, versions)
        spec["versions"] = _raw(versions)
        if "conversion" in spec:
            spec["conversion"] = _conversion_v1beta1(spec["conversion"])
        spec.setdefault("preserveUnknownFields", Raw(b"false"))
        ordered = {name: spec[name] for name in _SPEC_ORDER if name in spec}
        return {**definition, "spec": _raw(ordered | spec)}
    except (KeyError, msgspec.MsgspecError) as error:
        raise CodecError(f"spec: not a v1 CustomResourceDefinition: {error}") from None


def _raw(value: object) -> Raw:
    return Raw(_encode(value))


def _sole_version(spec: Members) -> list[Members]:
    yes = Raw(b"true")
    return [{"name": spec["version"], "served": yes, "storage": yes}]


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
        for column in _list.decode(columns)
    ]
    version["additionalPrinterColumns"] = _raw(renamed)


def _conversion_v1(text: Raw) -> Raw:
    old = _members.decode(text)
    webhook = {}
    if "webhookClientConfig" in old:
        webhook["clientConfig"] = old.pop("webhookClientConfig")
    if "conversionReviewVersions" in old:
        webhook["conversionReviewVersions"] = old.pop("conversionReviewVersions")
    return _raw({**old, "webhook": _raw(webhook)}) if webhook else text


def _conversion_v1beta1(text: Raw) -> Raw:
    new = _members.decode(text)
    webhook = new.pop("webhook", None)
    if webhook is None or bytes(webhook) == b"null":
        return text
    config = _members.decode(webhook)
    if "clientConfig" in config:
        new["webhookClientConfig"] = config["clientConfig"]
    if "conversionReviewVersions" in config:
        new["conversionReviewVersions"] = config["conversionReviewVersions"]
    return _raw(new)
