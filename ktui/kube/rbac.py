"""RBAC: find the rule of a role that allows a request (upstream: pkg/apis/rbac/v1/evaluation_helpers.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ktui.kube.golang.formatting import quote
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.selectors import LabelSelector
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.users import SERVICE_ACCOUNT, Requester

ALL = "*"


class PolicyRule(msgspec.Struct, frozen=True, rename="camel"):
    """A rule of a Role or ClusterRole; an absent list allows nothing."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def allows(self, attributes: RequestAttributes) -> bool:
        if ALL not in self.verbs and attributes.verb not in self.verbs:
            return False
        if attributes.path:
            return any(_url_matches(url, attributes.path) for url in self.non_resource_urls)
        return (
            (ALL in self.api_groups or attributes.group in self.api_groups)
            and any(_resource_matches(resource, attributes) for resource in self.resources)
            and (not self.resource_names or attributes.name in self.resource_names)
        )

    def document(self) -> dict[str, Any]:
        """Return the rule as in a SelfSubjectRulesReview; empty lists are left out."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {name: list(values) for name, values in found.items() if values}


def _url_matches(rule: str, path: str) -> bool:
    return rule in (ALL, path) or (rule.endswith(ALL) and path.startswith(rule.rstrip(ALL)))


def _resource_matches(rule: str, attributes: RequestAttributes) -> bool:
    if rule in (ALL, attributes.full_resource):
        return True
    return bool(attributes.subresource) and rule == f"*/{attributes.subresource}"


class BindingSubject(msgspec.Struct, frozen=True):
    """A user, group or service account to which a binding grants a role."""

    kind: str
    name: str
    namespace: str = ""

    def matches(self, who: Requester, namespace: str) -> bool:
        """Whether the subject includes `who`; `namespace` is the binding's, "" if cluster-wide."""
        match self.kind:
            case "User":
                return self.name == who.user
            case "Group":
                return self.name in who.groups
            case "ServiceAccount":
                home = self.namespace or namespace
                return bool(home) and who.user == f"{SERVICE_ACCOUNT}{home}:{self.name}"
        return False

    def described(self, namespace: str) -> str:
        if self.kind == "ServiceAccount":
            return f"{self.kind} {quote(f'{self.name}/{self.namespace or namespace}')}"
        return f"{self.kind} {quote(self.name)}"


class RoleRef(msgspec.Struct, frozen=True):
    kind: str
    name: str


class Binding(msgspec.Struct, frozen=True):
    """A RoleBinding, or without `namespace` a ClusterRoleBinding."""

    name: str
    namespace: str
    role: RoleRef
    subjects: tuple[BindingSubject, ...]

    def subject_of(self, who: Requester) -> BindingSubject | None:
        return next((subject for subject in self.subjects if subject.matches(who, self.namespace)), None)

    def described(self, subject: BindingSubject) -> str:
        """Return the reason of an allowed review: `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`."""
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        name = f"{self.name}/{self.namespace}" if self.namespace else self.name
        role = f"{self.role.kind} {quote(self.role.name)}"
        return f"{kind} {quote(name)} of {role} to {subject.described(self.namespace)}"


def rules_of(role: Mapping[str, Any]) -> tuple[PolicyRule, ...]:
    """Return the rules of a role, in which null counts as absent; raise ValueError if they are not valid."""
    rules = role.get("rules") or ()
    if not isinstance(rules, list | tuple):
        return msgspec.convert(rules, tuple[PolicyRule, ...])
    found = [
        {name: value for name, value in rule.items() if value is not None}
        if isinstance(rule, Mapping)
        else rule or {}
        for rule in rules
    ]
    return msgspec.convert(found, tuple[PolicyRule, ...], strict=False)


def binding_of(stored: Mapping[str, Any]) -> Binding:
    """Return a stored binding; raise ValueError if it is not valid."""
    metadata = stored.get("metadata") or {}
    return Binding(
        str(metadata.get("name", "")),
        str(metadata.get("namespace", "")),
        msgspec.convert(stored.get("roleRef") or {}, RoleRef),
        msgspec.convert(stored.get("subjects") or (), tuple[BindingSubject, ...]),
    )


def aggregated_rules(role: Mapping[str, Any], roles: Mapping[str, Mapping[str, Any]]) -> list[Any] | None:
    """Return the rules of the ClusterRoles among `roles` that the role's aggregationRule selects; None
    without one.

    Each rule appears once, in the order of the selectors and then of names. Raises ValueError for an invalid
    selector. Upstream: pkg/controller/clusterroleaggregation.
    """
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return None
    own, found = role["metadata"]["name"], []
    for selector in aggregation.get("clusterRoleSelectors") or ():
        selects = LabelSelector(requirements_of(selector)).matches
        for name, other in sorted(roles.items()):
            if name != own and selects(other["metadata"].get("labels") or {}):
                found += [rule for rule in other.get("rules") or () if rule not in found]
    return found
