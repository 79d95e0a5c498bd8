"""Rules of roles and of their bindings, in upstream's order (rbac/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    has,
    inside,
    listed,
    one_of_or_none,
    path_segment,
    selector,
    subdomain,
)

RBAC = "rbac.authorization.k8s.io"
_SOME_SELECTOR = "at least one clusterRoleSelector required if aggregationRule is non-nil"


def _subject(namespaced: bool) -> Check:
    """Check whom a binding names; in a namespace an account without one is of the binding's."""

    def check(subject: Obj) -> Iterator[FieldError]:
        kind, group = str(subject.get("kind") or ""), subject.get("apiGroup") or ""
        name = str(subject.get("name") or "")
        if not name:
            yield required(".name")
        if kind == "ServiceAccount":
            yield from inside(".name", subdomain(name))
            if group:
                yield not_supported(".apiGroup", group, ("",))
            if not namespaced and not subject.get("namespace"):
                yield required(".namespace")
        elif kind in ("User", "Group"):
            if group != RBAC:
                yield not_supported(".apiGroup", group, (RBAC,))
        else:
            yield not_supported(".kind", kind, ("ServiceAccount", "User", "Group"))

    return check


def _role_of(*kinds: str) -> Rows:
    """Return the rules of a binding that refers to one of these kinds."""
    return (
        ("roleRef!.apiGroup", one_of_or_none(RBAC)), ("roleRef!.kind:text", listed(*kinds)),
        ("roleRef!.name:text", path_segment), ("subjects[]", _subject("Role" in kinds)),
    )  # fmt: skip


def _rule(namespaced: bool) -> Check:
    """Check a rule of a role, which is about resources or, without a namespace, about URLs."""

    def check(rule: Obj) -> Iterator[FieldError]:
        yield from has("verbs", why="verbs must contain at least one value")(rule)
        if urls := rule.get("nonResourceURLs"):
            if namespaced:
                yield invalid(".nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
            if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
                why = "rules cannot apply to both regular resources and non-resource URLs"
                yield invalid(".nonResourceURLs", urls, why)
        else:
            for name, what in (("apiGroups", "api group"), ("resources", "resource")):
                yield from has(name, why=f"resource rules must supply at least one {what}")(rule)

    return check


def _selected(labels: Obj) -> Iterator[FieldError]:
    """Check which roles are aggregated; upstream also says that it cannot convert a wrong selector."""
    faults = list(selector(labels))
    yield from faults
    if faults:
        yield invalid("", None, "invalid label selector.")


KINDS: dict[str, Rows] = {
    "clusterrolebindings.rbac.authorization.k8s.io": _role_of("ClusterRole"),
    "clusterroles.rbac.authorization.k8s.io": (
        ("rules[]", _rule(namespaced=False)),
        ("aggregationRule", has("clusterRoleSelectors", why=_SOME_SELECTOR)),
        ("aggregationRule.clusterRoleSelectors[]", _selected),
    ),
    "rolebindings.rbac.authorization.k8s.io": _role_of("Role", "ClusterRole"),
    "roles.rbac.authorization.k8s.io": (("rules[]", _rule(namespaced=True)),),
}  # fmt: skip
