"""RBAC: find the rule of a role that allows a request (upstream: pkg/apis/rbac/v1/evaluation_helpers.go)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import without_nulls
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.selectors import LabelSelector
from ktui.kube.selectors.requirements import requirements_of
from ktui.kube.users import SERVICE_ACCOUNT, Requester

ALL = "*"


class PolicyRule(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A rule of a Role or ClusterRole; an absent list allows nothing."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")

    def document(self) -> dict[str, Any]:
        """Return the rule as in a SelfSubjectRulesReview; empty lists are left out."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {name: list(values) for name, values in found.items() if values}


class _ByValue:
    """For each value the lists that contain it: their numbers, of many lists the bits of a number.

    The number of a single list is kept as `~number`, as the garbage collector visits each list of numbers.
    """

    def __init__(self, lists: Iterable[Sequence[str]]) -> None:
        found: dict[str, list[int]] = {}
        for number, values in enumerate(lists):
            for value in values:
                found.setdefault(value, []).append(number)
        self.values = found.keys()
        self._found = {value: _packed(numbers) for value, numbers in found.items()}

    def of(self, *values: str) -> int:
        """Return the lists that contain one of the values, as bits."""
        bits = 0
        for value in values:
            found = self._found.get(value, 0)
            if not isinstance(found, int):
                bits |= _bits(found)
            else:
                bits |= found if found >= 0 else 1 << ~found
        return bits


_MANY = 64


def _packed(numbers: list[int]) -> list[int] | int:
    if len(numbers) == 1:
        return ~numbers[0]
    return numbers if len(numbers) < _MANY else _bits(numbers)


def _bits(numbers: list[int]) -> int:
    field = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        field[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(field, "little")


class RuleIndex:
    """The rules of a role by what they name, so that a decision takes microseconds with 20,000 rules too.

    Each method but `allows` returns the rules that match one attribute, as the bits of a number (`unnamed`:
    those for objects of any name); a right needs one rule that matches all.
    """

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self.rules = rules = _sharing(rules)
        self._verbs = _ByValue(rule.verbs for rule in rules)
        self._groups = _ByValue(rule.api_groups for rule in rules)
        self._resources = _ByValue(rule.resources for rule in rules)
        self._names = _ByValue(rule.resource_names for rule in rules)
        self._paths = _ByValue(rule.non_resource_urls for rule in rules)
        self._prefixes = _ByValue(
            [url.rstrip(ALL) for url in rule.non_resource_urls if url.endswith(ALL)] for rule in rules
        )
        self._prefix_lengths = {len(prefix) for prefix in self._prefixes.values}
        self.unnamed = _bits([number for number, rule in enumerate(rules) if not rule.resource_names])

    def verb(self, verb: str) -> int:
        return self._verbs.of(ALL, verb)

    def group(self, group: str) -> int:
        return self._groups.of(ALL, group)

    def resource(self, resource: str) -> int:
        """`resource` as in rules: `pods`, `pods/log`."""
        _, slash, subresource = resource.partition("/")
        return self._resources.of(ALL, resource, *((f"*/{subresource}",) if slash else ()))

    def name(self, name: str) -> int:
        return self.unnamed | self._names.of(name)

    def path(self, path: str) -> int:
        return self._paths.of(path) | self._prefixes.of(*(path[:length] for length in self._prefix_lengths))

    def allows(self, attributes: RequestAttributes) -> bool:
        matching = self.verb(attributes.verb)
        if not matching:
            return False
        if attributes.path:
            return bool(matching & self.path(attributes.path))
        wanted = ALL, attributes.full_resource
        of_any = (f"*/{attributes.subresource}",) if attributes.subresource else ()
        matching &= self._resources.of(*wanted, *of_any)
        return bool(matching and matching & self.group(attributes.group) & self.name(attributes.name))


def _sharing(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Return the rules with equal lists kept once."""
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    lists = map(msgspec.structs.astuple, rules)
    return [PolicyRule(*(kept.setdefault(values, values) for values in rule)) for rule in lists]


class BindingSubject(msgspec.Struct, frozen=True, gc=False):
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


class RoleRef(msgspec.Struct, frozen=True, gc=False):
    kind: str
    name: str


class Binding(msgspec.Struct, frozen=True, gc=False):
    """A RoleBinding, or without `namespace` a ClusterRoleBinding."""

    name: str
    namespace: str
    role: RoleRef
    subjects: tuple[BindingSubject, ...]

    def subject_keys(self) -> Iterator[tuple[str, str]]:
        """Yield kind and name of each subject; of a service account the user name."""
        for subject in self.subjects:
            if subject.kind != "ServiceAccount":
                yield subject.kind, subject.name
            elif home := subject.namespace or self.namespace:
                yield subject.kind, f"{SERVICE_ACCOUNT}{home}:{subject.name}"

    def subject_of(self, who: Requester) -> BindingSubject | None:
        return next((subject for subject in self.subjects if subject.matches(who, self.namespace)), None)

    def described(self, who: Requester) -> str:
        """Return the reason of an allowed review: `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`."""
        subject = self.subject_of(who)
        assert subject is not None
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        name = f"{self.name}/{self.namespace}" if self.namespace else self.name
        role = f"{self.role.kind} {quote(self.role.name)}"
        return f"{kind} {quote(name)} of {role} to {subject.described(self.namespace)}"


def rules_of(role: Mapping[str, Any]) -> tuple[PolicyRule, ...]:
    """Return the rules of a role, in which null counts as absent; raise ValueError if they are not valid."""
    rules = role.get("rules") or ()
    if not isinstance(rules, list | tuple):
        return msgspec.convert(rules, tuple[PolicyRule, ...])
    found = [without_nulls(rule) or {} for rule in rules]
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


def requester_keys(who: Requester) -> list[tuple[str, str]]:
    """Return the subjects that include a user, as `Binding.subject_keys` yields them."""
    return [("User", who.user), ("ServiceAccount", who.user), *(("Group", group) for group in who.groups)]


def encoded_rules(role: Mapping[str, Any]) -> list[bytes]:
    """Return the rules of a stored role as JSON, equal ones as equal bytes."""
    return [msgspec.json.encode(rule, order="deterministic") for rule in role.get("rules") or ()]


def aggregated_rules(role: Mapping[str, Any], roles: Mapping[str, Mapping[str, Any]]) -> list[bytes] | None:
    """Return the rules of the ClusterRoles among `roles` that the role's aggregationRule selects; None
    without one.

    The roles have `encoded_rules`. Each rule appears once, in the order of the selectors and then of names.
    Raises ValueError for an invalid selector. Upstream: pkg/controller/clusterroleaggregation.
    """
    aggregation = role.get("aggregationRule")
    if aggregation is None:
        return None
    own, found = role["metadata"]["name"], dict[bytes, None]()
    for selector in aggregation.get("clusterRoleSelectors") or ():
        selects = LabelSelector(requirements_of(selector)).matches
        for name, other in sorted(roles.items()):
            if name != own and selects(other["metadata"].get("labels") or {}):
                found.update(dict.fromkeys(other["rules"]))
    return [*found]
