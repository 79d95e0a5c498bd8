"""`--authorization-mode RBAC`: the stored roles decide (upstream: plugin/pkg/auth/authorizer/rbac)."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.chain import Decision
from ktui.authz.escalation import EscalationCheck
from ktui.authz.roles import Roles
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import MASTERS, Requester


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
