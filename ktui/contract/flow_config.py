"""Convert the LISTs of FlowSchemas and PriorityLevelConfigurations into one FlowConfig event."""

from __future__ import annotations

from typing import Any

import msgspec

from ktui.contract.events.live import FlowConfig, LevelConfig, SchemaConfig
from ktui.documents.limits import decode_json

MOST = 500  # of each kind
MOST_SUBJECTS = 50


# The first minor that serves each version, newest version first.
_VERSIONS = ((29, "v1"), (26, "v1beta3"), (23, "v1beta2"), (20, "v1beta1"))


def paths(minor: int) -> tuple[str, ...]:
    """Return the paths of the LISTs of flow schemas and of priority levels; () if `minor` serves neither.

    Of an unknown minor (0) they are those of the newest version.
    """
    version = next((name for since, name in _VERSIONS if minor >= since or not minor), "")
    base = f"/apis/flowcontrol.apiserver.k8s.io/{version}"
    resources = ("flowschemas", "prioritylevelconfigurations") if version else ()
    return tuple(f"{base}/{resource}?resourceVersion=0" for resource in resources)


class _Meta(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Queuing(msgspec.Struct, rename="camel"):
    """The last fields of LevelConfig."""

    queues: int | None = None
    hand_size: int | None = None
    queue_length_limit: int | None = None


class _Response(msgspec.Struct):
    type: str = ""
    queuing: _Queuing | None = None


class StoredLimits(msgspec.Struct, rename="camel"):
    nominal_concurrency_shares: int | None = None
    assured_concurrency_shares: int | None = None  # before v1beta3
    lendable_percent: int | None = None
    borrowing_limit_percent: int | None = None
    limit_response: _Response = msgspec.field(default_factory=_Response)

    @property
    def shares(self) -> int | None:
        nominal = self.nominal_concurrency_shares
        return nominal if nominal is not None else self.assured_concurrency_shares


class _LevelSpec(msgspec.Struct):
    type: str = ""
    limited: StoredLimits | None = None
    exempt: StoredLimits | None = None


class StoredLevel(msgspec.Struct):
    """A PriorityLevelConfiguration as the API has it."""

    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _LevelSpec = msgspec.field(default_factory=_LevelSpec)


class _Rule(msgspec.Struct):
    subjects: list[dict[str, Any]] | None = None


class _SchemaSpec(msgspec.Struct, rename="camel"):
    priority_level_configuration: _Meta = msgspec.field(default_factory=_Meta)
    matching_precedence: int = 0
    distinguisher_method: dict[str, Any] | None = None
    rules: list[_Rule] | None = None


class _Schema(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _SchemaSpec = msgspec.field(default_factory=_SchemaSpec)


class _Schemas(msgspec.Struct):
    items: list[_Schema] | None = None


class StoredLevels(msgspec.Struct):
    """The LIST of all of them."""

    items: list[StoredLevel] | None = None


def flow_config(schemas: bytes, levels: bytes) -> FlowConfig:
    """Return the event for the bodies of both LISTs. Raises DocumentError."""
    found = [_schema(item) for item in (decode_json(schemas, _Schemas).items or ())[:MOST]]
    return FlowConfig(
        schemas=sorted(found, key=lambda item: (item.precedence, item.name)),
        levels=[_level(item) for item in (decode_json(levels, StoredLevels).items or ())[:MOST]],
    )


def _schema(item: _Schema) -> SchemaConfig:
    spec, level = item.spec, item.spec.priority_level_configuration.name
    subjects = [_subject(subject) for rule in spec.rules or () for subject in rule.subjects or ()]
    kept = list(dict.fromkeys(subjects))[:MOST_SUBJECTS]
    method = str((spec.distinguisher_method or {}).get("type", ""))
    return SchemaConfig(item.metadata.name, level, max(0, spec.matching_precedence), method, kept)


def _subject(subject: dict[str, Any]) -> str:
    """Return a subject as text: `Group system:nodes`, `ServiceAccount kube-system/*`."""
    kind = str(subject.get("kind", ""))
    named = subject.get(kind[:1].lower() + kind[1:])
    named = named if isinstance(named, dict) else {}
    space = f"{named['namespace']}/" if named.get("namespace") else ""
    return f"{kind} {space}{named.get('name', '')}"


def _level(item: StoredLevel) -> LevelConfig:
    spec = item.spec.limited or item.spec.exempt or StoredLimits()
    response = spec.limit_response
    limits = (_count(spec.shares), _count(spec.lendable_percent), _count(spec.borrowing_limit_percent))
    queues, hand, length = map(_count, msgspec.structs.astuple(response.queuing or _Queuing()))
    return LevelConfig(item.metadata.name, item.spec.type, *limits, response.type, queues, hand, length)


def _count(value: int | None) -> int | None:
    return max(0, value) if value is not None else None
