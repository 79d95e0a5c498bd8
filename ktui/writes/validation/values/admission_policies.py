"""Rules of admission policies and their bindings, in upstream's order (admissionregistration/validation).

Expressions are only checked to be there: ktui does not compile CEL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import path_segment_faults, subdomain_faults
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.checks import (
    Row,
    Rows,
    below,
    conforms,
    demand,
    distinct,
    dns_1035_faults,
    duplicate,
    has,
    inside,
    label_key,
    listed,
    needed,
    needs,
    one_of,
    selector,
    subdomain,
    table_of,
    written,
)
from ktui.writes.validation.values.webhooks import (
    FAILURES,
    MATCHES,
    OPERATIONS_AND_RULE,
    match_conditions,
)

_MUTATED = ("*", "CONNECT", "CREATE", "UPDATE")
_ACTIONS = ("Audit", "Deny", "Warn")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_MOST_ANNOTATIONS, _LONGEST_ANNOTATION = 20, 5 * 1024
_NOTHING_DONE = "validations or auditAnnotations must contain at least one item"
_BOTH = "name and selector are mutually exclusive"
_DENY_AND_WARN = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API "
    "response and headers serves no purpose)"
)
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
    "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip


def _param_kind(kind: Obj) -> Iterator[FieldError]:
    version, name = str(kind.get("apiVersion") or ""), str(kind.get("kind") or "")
    if not version:
        yield required(".apiVersion")
    elif version.count("/") > 1:
        yield invalid(".apiVersion", version, f"unexpected GroupVersion string: {version}")
    else:
        group, _, own = version.rpartition("/")
        if group and (faults := subdomain_faults(group)):
            yield invalid(".apiVersion", group, ",".join(faults))
        if not own:
            yield invalid(".apiVersion", version, "version must be specified")
        elif faults := dns_1035_faults(own):
            yield invalid(".apiVersion", own, ",".join(faults))
    if not name:
        yield required(".kind")
    elif faults := dns_1035_faults(name.lower()):
        why = f"may have mixed case, but should otherwise match: {','.join(faults)}"
        yield invalid(".kind", name, why)


def _not_mutated(matched: Obj) -> Iterator[FieldError]:
    """Deletions are not mutated; upstream's path of an operation is not that in the object."""
    for rule in matched.get("resourceRules") or []:
        for operation in rule.get("operations") or []:
            if operation not in _MUTATED:
                yield not_supported(".resourceRules.operations", operation, _MUTATED)


def _variable_name(name: str) -> Iterable[FieldError]:
    if not name.strip():
        return [required("", "name is not specified")]
    known = _IDENTIFIER.fullmatch(name) and name not in _RESERVED
    return () if known else [invalid("", name, "must be a valid CEL identifier")]


def _annotations(policy: Obj) -> Iterator[FieldError]:
    """Check what is added to the audit log, under keys that the policy's name precedes."""
    name = (policy.get("metadata") or {}).get("name") or ""
    annotations = (policy.get("spec") or {}).get("auditAnnotations") or []
    if len(annotations) > _MOST_ANNOTATIONS:
        shown = [internal(each, "admissionregistration.v1.AuditAnnotation") for each in annotations]
        yield invalid("", shown, f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations")
    yield from distinct("key", lambda annotation: _annotation(annotation, name))(annotations)


def _annotation(annotation: Obj, policy: str) -> Iterator[FieldError]:
    whole = f"{policy}/{annotation.get('key') or ''}"
    value = (annotation.get("valueExpression") or "").strip()
    yield from inside(".key", label_key(whole))
    if not value:
        yield required(".valueExpression", "valueExpression is not specified")
    elif len(value.encode()) > _LONGEST_ANNOTATION:
        yield required(".valueExpression", f"must not exceed {_LONGEST_ANNOTATION} bytes in length")


def _mutation(mutation: Obj) -> Iterator[FieldError]:
    """A mutation has the member of its type, not that of the other."""
    if (kind := mutation.get("patchType")) not in _PATCHES:
        return
    own, (other,) = _PATCHES[kind], (name for of, name in _PATCHES.items() if of != kind)
    if (part := mutation.get(own)) is None:
        yield required(f".{own}", f"must be specified when patchType is {kind}")
    else:
        yield from inside(f".{own}", _EXPRESSION(part))
    if mutation.get(other) is not None:
        yield invalid(f".{other}", f"{{{other}}}", f"must not be specified when patchType is {kind}")


def _param(reference: Obj) -> Iterator[FieldError]:
    """Check a reference to parameters: by name or by labels, and what to do if there are none."""
    name, labels = str(reference.get("name") or ""), reference.get("selector")
    yield from (invalid(".name", name, why) for why in path_segment_faults(name))
    if name and labels is not None:
        yield forbidden(".name", _BOTH)
    if labels is not None:
        yield from inside(".selector", selector(labels))
        if name:
            yield forbidden(".selector", _BOTH)
    elif not name:
        yield required("", "one of name or selector must be specified")


def _actions(actions: list[str]) -> Iterator[FieldError]:
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(f"[{index}]", action, _ACTIONS)
        if action in actions[:index]:
            yield duplicate(f"[{index}]", action)
    if {"Deny", "Warn"} <= set(actions):
        yield invalid("", actions, _DENY_AND_WARN)


def _message(message: str) -> Iterable[FieldError]:
    if message and not message.strip():
        return [invalid("", message, "must be non-empty if specified")]
    breaks = re.search("[\n\r]", message.strip())
    return [invalid("", message, "must not contain line breaks")] if breaks else ()


def _does_nothing(spec: Obj) -> Iterable[FieldError]:
    members = ("validations", "auditAnnotations")
    return () if any(map(spec.get, members)) else [required(f".{name}", _NOTHING_DONE) for name in members]


_EXPRESSION = table_of(("expression:text", written()))
_specified = written("expression is not specified")
_RULE: Rows = (
    ("resourceNames", distinct("", conforms(path_segment_faults))), *OPERATIONS_AND_RULE,
)  # fmt: skip
# What a policy or a binding matches.
_MATCHED: Rows = (
    ("matchPolicy", MATCHES), ("namespaceSelector", selector), ("objectSelector", selector),
    *below("resourceRules[]", _RULE), *below("excludeResourceRules[]", _RULE),
)  # fmt: skip


def _policy(*mutated: Row) -> Rows:
    """Return the rules that policies of both kinds have, and those of mutated resources."""
    return (
        ("failurePolicy", FAILURES), ("paramKind", _param_kind),
        ("", needs(lambda spec: spec.get("matchConstraints") is not None, ".matchConstraints", "")),
        *below("matchConstraints", (*_MATCHED, ("", has("resourceRules")), *mutated)),
        ("matchConditions", match_conditions), ("variables[].name:text", _variable_name),
        ("variables[].expression:text", _specified),
    )  # fmt: skip


_VALIDATION: Rows = (
    ("expression:text", _specified),
    ("messageExpression", demand(lambda text: not text or text.strip(), "must be non-empty if specified")),
    ("message", _message), ("reason", listed(*_REASONS)),
)  # fmt: skip
_BINDING: Rows = (
    ("policyName:text", needed(subdomain)), ("paramRef", _param),
    ("paramRef.parameterNotFoundAction:text", one_of("Deny", "Allow")), *below("matchResources", _MATCHED),
)  # fmt: skip
KINDS: dict[str, Rows] = {
    "mutatingadmissionpolicies.admissionregistration.k8s.io": below("spec!", (
        *_policy(("", _not_mutated)),
        ("", has("mutations", why="mutations must contain at least one item")),
        ("mutations[].patchType:text", one_of(*_PATCHES)), ("mutations[]", _mutation),
        ("reinvocationPolicy:text", one_of("IfNeeded", "Never")),
    )),
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": below(
        "spec!", (*_BINDING, ("matchResources", _not_mutated))
    ),
    "validatingadmissionpolicies.admissionregistration.k8s.io": (
        *below("spec!", (*_policy(), ("", _does_nothing), *below("validations[]", _VALIDATION))),
        ("", lambda policy: inside(".spec.auditAnnotations", _annotations(policy))),
    ),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": below("spec!", (
        *_BINDING, ("validationActions", _actions),
        ("", has("validationActions", why="at least one validation action is required")),
    )),
}  # fmt: skip
