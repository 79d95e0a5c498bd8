"""Rules of flow schemas and priority levels (upstream: pkg/apis/flowcontrol/validation)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.flow_rules import BY_NAMESPACE, BY_USER, EXEMPT, LIMITED, QUEUE, REJECT
from ktui.kube.flow_schemas import MANDATORY, default_levels, default_schemas
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.checks import (
    Check,
    Row,
    Rows,
    alone,
    below,
    between,
    conforms,
    demand,
    dns_label,
    has,
    inside,
    needed,
    needs,
    positive,
    subdomain,
    table_of,
)

MOST_PRECEDENCE, MOST_QUEUES, MOST_HASH_BITS = 10_000, 10_000_000, 60
# The member of a subject that each kind has.
SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


def _precedence(obj: Obj) -> Iterator[FieldError]:
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    precedence, field = spec.get("matchingPrecedence", 0), ".spec.matchingPrecedence"
    if precedence <= 0:
        yield invalid(field, precedence, "must be a positive value")
    if precedence > MOST_PRECEDENCE:
        yield invalid(field, precedence, f"must not be greater than {MOST_PRECEDENCE}")
    if precedence == 1 and name != "exempt":
        yield invalid(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")


def _method(method: Obj) -> Iterable[FieldError]:
    kind, kinds = method.get("type"), (BY_NAMESPACE, BY_USER)
    return () if kind in kinds else [not_supported(".type", {"Type": str(kind or "")}, kinds)]


def _mandatory_schema(obj: Obj) -> Iterator[FieldError]:
    """The server needs some schemas as they are."""
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    if name in MANDATORY and _typed(spec) != default_schemas(NEWEST_MINOR)[name]:
        shown = internal(spec, "flowcontrol.v1.FlowSchemaSpec")
        yield invalid(".spec", shown, f"spec of '{name}' must equal the fixed value")


def _mandatory_level(obj: Obj) -> Iterator[FieldError]:
    """The server needs some levels as they are; of `exempt` what applies to its seats may change."""
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    if name not in MANDATORY:
        return
    demanded, given, apart = default_levels(NEWEST_MINOR)[name], _typed(spec), ""
    if name == "exempt":
        demanded, given = ({n: v for n, v in each.items() if n != "exempt"} for each in (demanded, given))
        apart = " except the 'spec.exempt' field"
    if given != demanded:
        shown = internal(spec, "flowcontrol.v1.PriorityLevelConfigurationSpec")
        yield invalid(".spec", shown, f"spec of '{name}'{apart} must equal the fixed value")


def _typed(value: Any) -> Any:
    """Return a value without empty members, which Go's comparison does not tell from missing ones."""
    if isinstance(value, dict):
        there = {name: member for name, member in value.items() if member or member == 0}
        return {name: _typed(member) for name, member in there.items() if member is not False}
    return [_typed(item) for item in value] if isinstance(value, list) else value


def _subject(subject: Obj) -> Iterator[FieldError]:
    kind = str(subject.get("kind", ""))
    if kind not in SUBJECTS:
        yield not_supported(".kind", kind, sorted(SUBJECTS))
        return
    named, table = subject.get(SUBJECTS[kind]), _ACCOUNT if kind == "ServiceAccount" else _NAMED
    if named is None:
        yield required(f".{SUBJECTS[kind]}", f"{SUBJECTS[kind]} is required when subject kind is '{kind}'")
    else:
        yield from inside(f".{SUBJECTS[kind]}", table(named))
    for own, member in SUBJECTS.items():
        if own != kind and subject.get(member) is not None:
            yield forbidden(f".{member}", f"{member} is forbidden when subject kind is not '{own}'")


_NAMED = table_of(("", has("name")))
_ACCOUNT = table_of(
    ("", has("name")), ("name", lambda name: subdomain(name) if name != "*" else ()),
    ("namespace", dns_label), ("", has("namespace", why="must specify namespace for service account")),
)  # fmt: skip


def _level(obj: Obj) -> Iterator[FieldError]:
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    if (name == "exempt") != (spec.get("type") == EXEMPT):
        why = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield invalid(".spec.type", str(spec.get("type") or ""), why)
    match spec.get("type"):
        case "Exempt":
            if spec.get("limited") is not None:
                yield forbidden(".spec.limited", "must be nil if the type is not Limited")
            yield from inside(".spec.exempt", _EXEMPT(spec.get("exempt") or {}))
        case "Limited":
            if spec.get("exempt") is not None:
                yield forbidden(".spec.exempt", "must be nil if the type is Limited")
            if spec.get("limited") is None:
                yield required(".spec.limited", "must not be empty when type is Limited")
            else:
                yield from inside(".spec.limited", _LIMITED(spec["limited"]))
        case other:
            yield not_supported(".spec.type", str(other or ""), (EXEMPT, LIMITED))


def _limit_response(response: Obj) -> Iterator[FieldError]:
    queuing, kind = response.get("queuing"), str(response.get("type", ""))
    if kind not in (QUEUE, REJECT):
        yield not_supported(".type", kind, (QUEUE, REJECT))
    elif kind == REJECT and queuing is not None:
        yield forbidden(".queuing", "must be nil if limited.limitResponse.type is not Limited")
    elif kind == QUEUE and queuing is None:
        yield required(".queuing", "must not be empty if limited.limitResponse.type is Limited")
    elif isinstance(queuing, dict) and kind == QUEUE:
        yield from inside(".queuing", _QUEUING(queuing))


def _hand(queuing: Obj) -> Iterator[FieldError]:
    queues, hand = queuing["queues"], queuing["handSize"]
    if hand <= 0:
        yield invalid(".handSize", hand, "must be positive")
    elif hand > queues:
        yield invalid(".handSize", hand, f"should not be greater than queues ({queues})")
    # Dealing a hand uses as many bits of entropy, as upstream counts them.
    elif queues <= MOST_QUEUES and math.ceil(math.log2(queues) * hand) > MOST_HASH_BITS:
        sizes = f"deckSize {queues} and handSize {hand}"
        why = f"required entropy bits of {sizes} should not be greater than {MOST_HASH_BITS}"
        yield invalid(".handSize", hand, why)


_QUEUING = table_of(
    ("queueLengthLimit", positive("must be positive")), ("queues", positive("must be positive")),
    ("queues", demand(lambda queues: queues <= MOST_QUEUES, f"must not be greater than {MOST_QUEUES}")),
    ("", _hand),
)  # fmt: skip
_SHARES: Row = (
    "nominalConcurrencyShares", demand(lambda shares: shares >= 0, "must be a non-negative integer")
)  # fmt: skip
_EXEMPT = table_of(_SHARES, ("lendablePercent", between(0, 100)))
_LIMITED = table_of(
    _SHARES,
    ("", lambda limited: inside(".limitResponse", _limit_response(limited.get("limitResponse") or {}))),
    ("lendablePercent", between(0, 100)),
    ("borrowingLimitPercent", demand(lambda n: n >= 0, "if specified, must be a non-negative integer")),
)  # fmt: skip
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_NAMESPACE = "each member of this list must be '*' or a DNS-1123 label; "


def _url_faults(url: str) -> Iterator[str]:
    """Yield why an URL is none to match: the first reason alone."""
    if not url:
        yield "must not be empty"
    elif not url.startswith("/"):
        yield "must start with slash"
    elif " " in url:
        yield "must not contain white-space"
    elif "//" in url:
        yield "must not contain double slash"
    elif "*" in url and (url.count("*") > 1 or not url.endswith("/*")):
        yield "wildcard can only do suffix matching"


def _unless_all(check: Check) -> Check:
    """Check each item of a list, unless it has `*`."""
    each = table_of(("[]", check))
    return lambda values: () if "*" in values else each(values)


def _known_verbs(verbs: list[str]) -> Iterable[FieldError]:
    known = "*" in verbs or set(verbs) <= set(_VERBS)
    return () if known else [not_supported("", verbs, _VERBS)]


def _some(member: str, others: str, what: str = "") -> Rows:
    """Return the rules of what a rule is for: `*` alone, or a list that is not empty."""
    why = (
        f"resource rules must supply at least one {what}"
        if what
        else f"{member} must contain at least one value"
    )
    return ("", has(member, why=why)), (member, alone(others))


_VERB_ROWS: Rows = (*_some("verbs", "verbs"), ("verbs", _known_verbs))
_NO_NAMESPACE = "resource rules that are not cluster scoped must supply at least one namespace"
_RESOURCE_RULE: Rows = (
    *_VERB_ROWS, *_some("apiGroups", "api groups", "api group"),
    *_some("resources", "resources", "resource"),
    ("", needs(lambda rule: rule.get("clusterScope") or rule.get("namespaces"), ".namespaces",
               _NO_NAMESPACE)),
    ("namespaces", alone("namespaces")),
    ("namespaces", _unless_all(conforms(lambda name: [_NAMESPACE + why for why in dns_label_faults(name)]))),
)  # fmt: skip
_URL_RULE: Rows = (
    *_VERB_ROWS, *_some("nonResourceURLs", "non-resource URLs"),
    ("nonResourceURLs", _unless_all(conforms(_url_faults))),
)  # fmt: skip
_SOME_RULES = "at least one of resourceRules and nonResourceRules has to be non-empty"
KINDS: dict[str, Rows] = {
    "flowschemas.flowcontrol.apiserver.k8s.io": (
        ("", _precedence), ("spec!.distinguisherMethod", _method),
        ("spec!.priorityLevelConfiguration!.name:text", needed(subdomain, "must reference a priority level")),
        ("spec.rules[]", has("subjects", why="subjects must contain at least one value")),
        ("spec.rules[].subjects[]", _subject),
        ("spec.rules[]",
         needs(lambda r: r.get("resourceRules") or r.get("nonResourceRules"), "", _SOME_RULES)),
        *below("spec.rules[].resourceRules[]", _RESOURCE_RULE),
        *below("spec.rules[].nonResourceRules[]", _URL_RULE), ("", _mandatory_schema),
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": (("", _level), ("", _mandatory_level)),
}  # fmt: skip
