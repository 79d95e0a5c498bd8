"""API Priority and Fairness: the flow schema that matches a request, and the limits of its priority level.

A request gets the first matching schema by precedence, then by name. Where no server supplies its
configuration, kube-apiserver's defaults apply, with the default concurrency of 400 + 200.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from ktui.kube.flow_defaults import default_levels, default_schemas
from ktui.kube.flow_rules import FlowRule, SchemaSpec, level_spec, schema_spec
from ktui.kube.requestinfo import RequestAttributes, RequestInfo, attributes_of
from ktui.kube.seats import priority_level_max
from ktui.kube.users import Requester

SERVER_SEATS = 600  # --max-requests-inflight 400 and --max-mutating-requests-inflight 200
MOST_USERS = 1024  # number of users whose schemas are cached


@cache
def _uid(resource: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"flowcontrol.apiserver.k8s.io/{resource}/{name}"))


@dataclass(frozen=True, slots=True)
class PriorityLevel:
    """A priority level. `shares` of the server's concurrency; `hand_size` 0: requests are not queued.

    `nominal` is the number of seats that the server reports; None: derived from the default shares.
    """

    name: str
    shares: int
    hand_size: int = 0
    nominal: int | None = None
    stored_uid: str = ""
    uid: str = field(init=False, default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "uid", self.stored_uid or _uid("prioritylevelconfigurations", self.name))

    @property
    def max_seats(self) -> int | None:
        """The most seats that one request may take of a queuing level (since 1.25), None if uncapped."""
        if not self.hand_size:
            return None
        return priority_level_max(self.nominal_seats, self.hand_size)

    @property
    def nominal_seats(self) -> int:
        """Return the level's seats before lending and borrowing (nominalConcurrencyLimit)."""
        return self.nominal or math.ceil(SERVER_SEATS * self.shares / _default_shares())


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """A flow schema and the priority level of its requests.

    `uid` is that of the stored object, else one derived from the name, the same in every ktui.
    """

    name: str
    level: PriorityLevel
    spec: SchemaSpec = field(default_factory=SchemaSpec)
    stored_uid: str = ""
    uid: str = field(init=False, default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "uid", self.stored_uid or _uid("flowschemas", self.name))


LEVELS = {
    name: PriorityLevel(name, spec.shares, spec.queuing.hand_size if spec.queuing else 0)
    for name, spec in ((name, level_spec({"spec": doc})) for name, doc in default_levels(36).items())
}


def displayed_level(level: PriorityLevel) -> PriorityLevel:
    """Return the level for which ktui's own server reports seats.

    Requests of the level `exempt` are never queued, so seats mean nothing there: they are reported as for an
    ordinary user, whose level is `global-default`.
    """
    return LEVELS["global-default"] if level.name == "exempt" else level


def level_of(requester: Requester, verb: str, info: RequestInfo, minor: int) -> PriorityLevel:
    """Return the priority level of a request; `verb` as in a flow schema's rules."""
    return classify(requester, attributes_of(info, verb), minor).level


@cache
def _default_shares() -> int:
    return sum(level.shares for level in LEVELS.values())


class Classifier:
    """Finds the flow schema of a request. Caches, by user, the schemas whose subjects match that user."""

    def __init__(self, schemas: Iterable[FlowSchema]) -> None:
        """Take schemas in any order; the last by precedence gets the requests that no schema matches."""
        self.schemas = sorted(schemas, key=lambda schema: (schema.spec.matching_precedence, schema.name))
        self._by_user: dict[tuple[str, tuple[str, ...]], list[tuple[FlowSchema, list[FlowRule]]]] = {}

    def classify(self, who: Requester, attributes: RequestAttributes) -> FlowSchema:
        key = (who.user, who.groups)
        found = self._by_user.get(key)
        if found is None:
            if len(self._by_user) >= MOST_USERS:
                self._by_user.clear()
            found = self._by_user[key] = self._rules_for(who)
        for schema, rules in found:
            for rule in rules:
                if rule.matches_everything or rule.matches_request(attributes):
                    return schema
        return self.schemas[-1]

    def _rules_for(self, who: Requester) -> list[tuple[FlowSchema, list[FlowRule]]]:
        own = (
            (schema, [rule for rule in schema.spec.rules if rule.matches_subject(who)])
            for schema in self.schemas
        )
        return [(schema, rules) for schema, rules in own if rules]


def classify(requester: Requester, attributes: RequestAttributes, minor: int) -> FlowSchema:
    """Return the flow schema of a request in kube-apiserver 1.`minor` with its default configuration."""
    return _defaults(minor).classify(requester, attributes)


@cache
def _defaults(minor: int) -> Classifier:
    specs = {name: schema_spec({"spec": doc}) for name, doc in default_schemas(minor).items()}
    return Classifier(FlowSchema(name, LEVELS[spec.level], spec) for name, spec in specs.items())
