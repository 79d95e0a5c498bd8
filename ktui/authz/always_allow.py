"""`--authorization-mode AlwaysAllow`: every authenticated user may do everything."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.chain import Decision
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import ANONYMOUS, Requester

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
