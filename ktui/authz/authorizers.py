"""The modes of authorization: RBAC, by the stored roles, and AlwaysAllow."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ktui.apiserver.chain import Decision
from ktui.authz.roles import GROUP, Roles
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import ALL, PolicyRule, RuleIndex, rules_of
from ktui.kube.requestinfo import RequestAttributes, RequestInfo
from ktui.kube.resources import builtin
from ktui.kube.rule_cover import TooManyCombinations, refusal, uncovered
from ktui.kube.status import StatusError, bad_request, bare_error, forbidden, not_found
from ktui.kube.users import ANONYMOUS, MASTERS, Requester

Rules = Iterable[PolicyRule]
ROLES = ("roles", "clusterroles")
RESOURCE_OF_KIND = {"Role": "roles", "ClusterRole": "clusterroles"}
FULL_AUTHORITY = (PolicyRule((ALL,), (ALL,), (ALL,)), PolicyRule((ALL,), non_resource_urls=(ALL,)))
# The garbage collector writes these, and the server itself writes the last.
COLLECTORS_OWN = ("ownerReferences", "finalizers", "selfLink", "managedFields")
# Paths that the ClusterRole system:public-info-viewer allows.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


def aggregates(role: Obj) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _without_collectors(obj: Obj) -> Obj:
    metadata = {
        name: value for name, value in (obj.get("metadata") or {}).items() if name not in COLLECTORS_OWN
    }
    return {**obj, "metadata": metadata}


def _forbidden(info: RequestInfo, new: Obj, why: str) -> StatusError:
    name = str((new.get("metadata") or {}).get("name") or "")
    return forbidden(builtin(GROUP, info.resource), name, why)


class AlwaysAllow:
    """Allows users everything, and anonymous ones health and version, as RBAC does (upstream: nothing)."""

    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision:
        return Decision(who.user != ANONYMOUS.user or attributes.path.rstrip("/") in PUBLIC_PATHS)

    def confirm_grant(self, who: Requester, *_: Any, **__: Any) -> None:
        """Allow every role and binding: a user who may do everything may also `escalate` and `bind`."""

    def rules(self, who: Requester, namespace: str) -> Obj:
        return {
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": False,
        }


class RbacAuthorizer:
    """Decides by the stored roles; members of system:masters may do everything."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles

    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision:
        if MASTERS in who.groups:
            return Decision(True)
        problems: dict[str, None] = {}
        for grant in self._roles.grants(who, attributes.namespace):
            if grant.role is None:
                problems[grant.problem] = None
            elif grant.role.allows(attributes):
                return Decision(True, f"RBAC: allowed by {grant.binding.described(who)}")
        return Decision(False, f"RBAC: {_all_of(problems)}" if problems else "")

    def rules(self, who: Requester, namespace: str) -> Obj:
        """Return every rule that bindings grant; `evaluationError` names roles that do not exist."""
        resource_rules: list[Obj] = []
        other_rules: list[Obj] = []
        problems: dict[str, None] = {}
        for grant in self._roles.grants(who, namespace, first=False):
            if grant.role is None:
                problems[grant.problem] = None
                continue
            for rule in map(PolicyRule.document, grant.role.rules):
                paths = rule.pop("nonResourceURLs", None)
                if "resources" in rule:
                    resource_rules.append(rule)
                if paths:
                    other_rules.append({"verbs": rule["verbs"], "nonResourceURLs": paths})
        status: Obj = {
            "resourceRules": resource_rules,
            "nonResourceRules": other_rules,
            "incomplete": False,
        }
        return status | ({"evaluationError": _all_of(problems)} if problems else {})

    def confirm_grant(
        self, who: Requester, info: RequestInfo, new: Obj, old: Obj | None, granted: Rules | None = None
    ) -> None:
        """Raise StatusError 403 if `who` may not store `new`, 404 if a binding's role does not exist.

        Roles and bindings may not grant more than their author may do (upstream: registry/rbac, policybased):
        these four resources are the only ones through which RBAC could give a user rights that she does not
        have. `old` is None for a create. `granted` are the rules of the role that a binding refers to; None:
        as the server knows them.
        """
        if MASTERS in who.groups:
            return
        of_role = info.resource in ROLES
        if of_role and self._may(who, "escalate", info.resource, info.namespace, info.name):
            return
        if old is not None and _without_collectors(new) == _without_collectors(old):
            return  # an update of fields that the garbage collector writes
        if of_role:
            self._confirm_rules(who, info, new, rules_of(new))
            if aggregates(new) or (old is not None and aggregates(old)):
                try:  # an aggregationRule can collect any rule, so it needs all rights
                    self._confirm_rules(who, info, new, FULL_AUTHORITY)
                except StatusError:
                    why = "must have cluster-admin privileges to use the aggregationRule"
                    raise _forbidden(info, new, why) from None
            return
        ref = new.get("roleRef") or {}
        kind, name = str(ref.get("kind") or ""), str(ref.get("name") or "")
        resource = RESOURCE_OF_KIND.get(kind)
        if resource is None:
            raise bare_error(f'unsupported role reference kind: "{kind}"')
        if self._may(who, "bind", resource, info.namespace, name, str(ref.get("apiGroup") or "")):
            return
        if granted is None:
            granted = self._rules_of_role(info, resource, name)
        self._confirm_rules(who, info, new, granted)

    def _may(
        self, who: Requester, verb: str, resource: str, namespace: str, name: str, group: str = GROUP
    ) -> bool:
        asked = RequestAttributes(verb, group, resource, namespace=namespace, name=name, version=ALL)
        return self.decide(who, asked).allowed

    def _rules_of_role(self, info: RequestInfo, resource: str, name: str) -> Rules:
        """Return the rules of a binding's role; StatusError 404, as upstream with the request's resource."""
        if resource == "roles" and not info.namespace:
            raise bad_request("Namespace parameter required.")
        found = self._roles.role(resource, info.namespace if resource == "roles" else "", name)
        if found is None:
            raise not_found(builtin(GROUP, info.resource), name)
        return found.rules

    def _confirm_rules(self, who: Requester, info: RequestInfo, new: Obj, granted: Rules) -> None:
        """Raise StatusError 403 unless the rules that `who` has in the namespace include all of `granted`."""
        owned: dict[RuleIndex, None] = {}
        problems: dict[str, None] = {}
        for grant in self._roles.grants(who, info.namespace):
            if grant.role is None:
                problems[not_found(builtin(GROUP, info.resource), grant.binding.role.name).message] = None
            else:
                owned[grant.role] = None
        try:
            missing = uncovered([*owned], list(granted))
        except TooManyCombinations as error:
            raise _forbidden(info, new, str(error)) from None
        if missing:
            raise _forbidden(info, new, refusal(who, missing, _all_of(problems)))


def _all_of(problems: Collection[str]) -> str:
    text = ", ".join(problems)
    return f"[{text}]" if len(problems) > 1 else text
