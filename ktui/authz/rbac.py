"""The modes of authorization: RBAC, by the stored roles, and AlwaysAllow."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.chain import Decision
from ktui.authz.escalation import EscalationCheck
from ktui.authz.roles import Roles
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import ANONYMOUS, MASTERS, Requester

# Paths that the ClusterRole system:public-info-viewer allows.
PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


class AlwaysAllow:
    """Allows everything to authenticated users; anonymous users may read health and version, as with RBAC.

    (With AlwaysAllow alone kube-apiserver admits no anonymous request.)
    """

    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision:
        return Decision(who.user != ANONYMOUS.user or attributes.path.rstrip("/") in PUBLIC_PATHS)

    def confirm_grant(self, who: Requester, *_: Any, **__: Any) -> None:
        """Allow every role and binding: a user who may do everything may also `escalate` and `bind`."""

    def rules(self, who: Requester, namespace: str) -> dict[str, Any]:
        """Return rules that allow everything."""
        return {
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": False,
        }


class RbacAuthorizer:
    """Decides by the stored roles; members of system:masters may do everything."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self.confirm_grant = EscalationCheck(self, roles).confirm

    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision:
        if MASTERS in who.groups:
            return Decision(True)
        problems: dict[str, None] = {}
        for grant in self._roles.grants(who, attributes.namespace):
            if grant.rule is None:
                problems[grant.problem] = None
            elif grant.rule.allows(attributes):
                return Decision(True, f"RBAC: allowed by {grant.binding.described(grant.subject)}")
        return Decision(False, f"RBAC: {_all_of(list(problems))}" if problems else "")

    def rules(self, who: Requester, namespace: str) -> dict[str, Any]:
        """Return every rule that bindings grant; `evaluationError` names roles that do not exist."""
        resource_rules: list[dict[str, Any]] = []
        other_rules: list[dict[str, Any]] = []
        problems: dict[str, None] = {}
        for grant in self._roles.grants(who, namespace):
            if grant.rule is None:
                problems[grant.problem] = None
                continue
            rule = grant.rule.document()
            paths = rule.pop("nonResourceURLs", None)
            if "resources" in rule:
                resource_rules.append(rule)
            if paths:
                other_rules.append({"verbs": rule["verbs"], "nonResourceURLs": paths})
        status: dict[str, Any] = {
            "resourceRules": resource_rules,
            "nonResourceRules": other_rules,
            "incomplete": bool(problems),
        }
        return status | ({"evaluationError": _all_of(list(problems))} if problems else {})


def _all_of(problems: list[str]) -> str:
    """Join errors as Go does."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
