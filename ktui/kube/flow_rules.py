"""The specs of FlowSchemas and PriorityLevelConfigurations, and which requests a FlowSchema matches.

Upstream: apiserver/pkg/util/flowcontrol/rule.go. msgspec reads specs in their stored form and raises
ValueError for a spec that is not valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ktui.kube.json_trees import without_nulls
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import SERVICE_ACCOUNT, Requester

ALL = "*"
QUEUE, REJECT = "Queue", "Reject"
LIMITED, EXEMPT = "Limited", "Exempt"
BY_USER, BY_NAMESPACE = "ByUser", "ByNamespace"
# The API's defaults.
DEFAULT_PRECEDENCE, DEFAULT_SHARES = 1000, 30


class _Named(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class FlowSubject(msgspec.Struct, frozen=True, rename="camel"):
    """The users whose requests a rule matches; only the member that `kind` names is set."""

    kind: str
    user: _Named | None = None
    group: _Named | None = None
    service_account: _Named | None = None

    def matches(self, who: Requester) -> bool:
        if self.kind == "User" and self.user is not None:
            return self.user.name in (ALL, who.user)
        if self.kind == "Group" and self.group is not None:
            return self.group.name == ALL or self.group.name in who.groups
        if self.kind == "ServiceAccount" and self.service_account is not None:
            account = self.service_account
            home = f"{SERVICE_ACCOUNT}{account.namespace}:"
            return who.user.startswith(home) if account.name == ALL else who.user == home + account.name
        return False


class ResourceRule(msgspec.Struct, frozen=True, rename="camel"):
    """Resource requests that a rule matches. `cluster_scope`: also requests without a namespace, such as a
    LIST over all namespaces."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    cluster_scope: bool = False
    namespaces: tuple[str, ...] = ()

    def matches(self, attributes: RequestAttributes) -> bool:
        return (
            _listed(attributes.verb, self.verbs)
            and _listed(attributes.full_resource, self.resources)
            and _listed(attributes.group, self.api_groups)
            and (
                _listed(attributes.namespace, self.namespaces) if attributes.namespace else self.cluster_scope
            )
        )


class PathRule(msgspec.Struct, frozen=True, rename="camel"):
    """Non-resource requests that a rule matches. A URL matches itself and, with or without a trailing star,
    all paths below it."""

    verbs: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def matches(self, attributes: RequestAttributes) -> bool:
        return _listed(attributes.verb, self.verbs) and any(
            url in (ALL, attributes.path)
            or attributes.path.startswith(f"{url.removesuffix(ALL).removesuffix('/')}/")
            for url in self.non_resource_urls
        )


EVERY_RESOURCE = ResourceRule((ALL,), (ALL,), (ALL,), True, (ALL,))
EVERY_PATH = PathRule((ALL,), (ALL,))


class FlowRule(msgspec.Struct, rename="camel"):
    """Subjects and the requests of theirs that match. Never changed after decoding."""

    subjects: tuple[FlowSubject, ...] = ()
    resource_rules: tuple[ResourceRule, ...] = ()
    non_resource_rules: tuple[PathRule, ...] = ()
    matches_everything: bool = False

    def __post_init__(self) -> None:
        self.matches_everything = (
            EVERY_RESOURCE in self.resource_rules and EVERY_PATH in self.non_resource_rules
        )

    def matches_subject(self, who: Requester) -> bool:
        return any(subject.matches(who) for subject in self.subjects)

    def matches_request(self, attributes: RequestAttributes) -> bool:
        rules: Sequence[ResourceRule | PathRule] = (
            self.non_resource_rules if attributes.path else self.resource_rules
        )
        return any(rule.matches(attributes) for rule in rules)


class _Distinguisher(msgspec.Struct, frozen=True):
    type: str = ""


class SchemaSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A FlowSchema's spec."""

    priority_level_configuration: _Named = _Named()
    matching_precedence: int = DEFAULT_PRECEDENCE
    distinguisher_method: _Distinguisher | None = None
    rules: tuple[FlowRule, ...] = ()

    @property
    def level(self) -> str:
        return self.priority_level_configuration.name

    def flow_of(self, who: Requester, attributes: RequestAttributes) -> str:
        """Return the flow distinguisher: requests of this schema with the same value share a flow."""
        method = self.distinguisher_method.type if self.distinguisher_method is not None else ""
        return who.user if method == BY_USER else attributes.namespace if method == BY_NAMESPACE else ""


class QueuingSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The number of queues of a level, how many of them a flow may use, and the length limit of each."""

    queues: int = 64
    hand_size: int = 8
    queue_length_limit: int = 50


class LimitResponse(msgspec.Struct, frozen=True):
    """What happens to a request that has to wait for seats: it is queued or rejected."""

    type: str = REJECT
    queuing: QueuingSpec | None = None


class LevelLimits(msgspec.Struct, frozen=True, rename="camel"):
    """Limits of a level; an exempt one uses only the first two. `borrowing_limit_percent` None: no limit."""

    nominal_concurrency_shares: int | None = None
    lendable_percent: int = 0
    borrowing_limit_percent: int | None = None
    limit_response: LimitResponse = LimitResponse()


class LevelSpec(msgspec.Struct, frozen=True):
    """A PriorityLevelConfiguration's spec."""

    type: str = LIMITED
    limited: LevelLimits | None = None
    exempt: LevelLimits | None = None

    @property
    def limits(self) -> LevelLimits:
        return self.limited or self.exempt or LevelLimits()

    @property
    def shares(self) -> int:
        shares = self.limits.nominal_concurrency_shares
        return shares if shares is not None else DEFAULT_SHARES if self.type == LIMITED else 0

    @property
    def queuing(self) -> QueuingSpec | None:
        """Return the queue settings; None if requests are not queued."""
        response = self.limits.limit_response
        return (response.queuing or QueuingSpec()) if response.type == QUEUE else None

    def fault(self, name: str) -> str:
        """Return why kube-apiserver ignores a stored level with this spec; "" if the spec is valid."""
        if (self.type == LIMITED) != (self.limited is not None):
            return "type and limited do not agree"
        if self.type == LIMITED and self.exempt is not None:
            return "a Limited level has no exempt"
        if (self.type == EXEMPT) != (name == "exempt"):
            return "only the level named exempt is of type Exempt"
        queuing = self.queuing
        if queuing is not None and not 0 < queuing.hand_size <= queuing.queues:
            return f"handSize {queuing.hand_size} of {queuing.queues} queues"
        return ""


# At import: msgspec crashes if two threads are the first to convert to a type.
for _type in (SchemaSpec, LevelSpec):
    msgspec.json.Decoder(_type)


def schema_spec(stored: Mapping[str, Any]) -> SchemaSpec:
    """Return the spec of a stored FlowSchema; raise ValueError if it is not valid."""
    return msgspec.convert(without_nulls(stored.get("spec") or {}), SchemaSpec, strict=False)


def level_spec(stored: Mapping[str, Any]) -> LevelSpec:
    """Return the spec of a stored PriorityLevelConfiguration; raise ValueError if it is not valid."""
    return msgspec.convert(without_nulls(stored.get("spec") or {}), LevelSpec, strict=False)


def _listed(value: str, values: tuple[str, ...]) -> bool:
    return value in values or values == (ALL,)
