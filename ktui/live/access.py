"""The RBAC rules that reading a cluster needs, and the rule that would allow a refused request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ktui.contract.events.live import Denied

if TYPE_CHECKING:  # `ktui rbac` needs no HTTP client
    from ktui.client.api import RefusedError

NAME, RBAC = "ktui-observer", "rbac.authorization.k8s.io"
LONGEST_NAME = 200  # characters of a binding's name that come from its subject
RETRY_SECONDS = 300.0  # until a refused path is tried again


class Rule(msgspec.Struct, frozen=True):
    """A rule of a ClusterRole."""

    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("get",)

    @property
    def text(self) -> str:
        """The rule as text: `get on /metrics`, `list on leases.coordination.k8s.io`."""
        verbs = ", ".join(self.verbs)
        if self.non_resource_urls:
            return f"{verbs} on {', '.join(self.non_resource_urls)}"
        group = f".{self.api_groups[0]}" if self.api_groups and self.api_groups[0] else ""
        return f"{verbs} on {', '.join(f'{resource}{group}' for resource in self.resources)}"

    def document(self) -> dict[str, list[str]]:
        """Return the rule as it is written in a ClusterRole."""
        urls = {"nonResourceURLs": list(self.non_resource_urls)}
        named = {"apiGroups": list(self.api_groups), "resources": list(self.resources)}
        return {**(urls if self.non_resource_urls else named), "verbs": list(self.verbs)}


_FLOW = ("flowschemas", "prioritylevelconfigurations")
# Each rule with what it makes visible.
RULES: tuple[tuple[Rule, str], ...] = (
    (Rule(non_resource_urls=("/metrics",)), "every figure of LISTs, caches, watches, etcd and flow control"),
    (Rule(non_resource_urls=("/debug/api_priority_and_fairness/*",)),
     "the requests that execute or wait now, with user and path"),
    (Rule(non_resource_urls=("/version", "/readyz")), "the version, and the readiness checks"),
    (Rule(("coordination.k8s.io",), ("leases",), verbs=("list",)),
     "how many kube-apiserver replicas there are"),
    (Rule(("flowcontrol.apiserver.k8s.io",), _FLOW, verbs=("list",)),
     "how flow control is configured: shares, queues, which requests go to which level"),
)  # fmt: skip


def role_document() -> dict[str, object]:
    """Return a ClusterRole with all RULES; it grants neither writes nor reads of objects' content."""
    return {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": NAME},
        "rules": [rule.document() for rule, _ in RULES],
    }  # fmt: skip


def binding_document(user: str, group: str, service_account: str) -> dict[str, object]:
    """Return a ClusterRoleBinding of the role to one subject; `service_account` is NAMESPACE:NAME."""
    subject = {"apiGroup": RBAC, "kind": "Group" if group else "User", "name": group or user}
    if service_account and not group:
        namespace, _, name = service_account.partition(":")
        subject = {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    return {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": binding_name(subject)},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": NAME}, "subjects": [subject],
    }  # fmt: skip


def binding_name(subject: dict[str, str]) -> str:
    """Return a binding's name of its own for each subject, so that none replaces another's.

    The API server rejects only the path's separators in such a name; others are replaced so that it can be
    typed, and a digest keeps names apart that differ in these.
    """
    whole = ":".join(subject[part] for part in ("kind", "namespace", "name") if part in subject)
    plain = re.sub(r"[^a-z0-9.:-]+", "-", whole.lower())[:LONGEST_NAME]
    if plain != whole.lower() or subject["name"] != subject["name"].lower():
        plain += f"-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
    return f"{NAME}:{plain}"


def denied(path: str, status: int, message: str) -> Denied:
    """Return a refusal as an event, with the rule that would grant the path (403 only)."""
    plain = path.partition("?")[0]
    rule = next((rule.text for rule, _ in RULES if _covers(rule, plain)), "")
    return Denied(plain, status, message, rule if status == 403 else "")


def _covers(rule: Rule, path: str) -> bool:
    urls = rule.non_resource_urls
    if path in urls or any(url.endswith("*") and path.startswith(url[:-1]) for url in urls):
        return True
    return any(path.endswith(f"/{resource}") for resource in rule.resources)


class Refusals:
    """The paths, without query, that the server has refused."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._found: dict[str, tuple[float, Denied]] = {}

    @property
    def denied(self) -> list[Denied]:
        return [refusal for _, refusal in self._found.values()]

    def add(self, path: str, error: RefusedError) -> None:
        plain = path.partition("?")[0]
        self._found[plain] = (self._clock(), denied(path, error.status, str(error)))

    def refused(self, path: str) -> bool:
        """True if the path was refused within the last RETRY_SECONDS."""
        plain = path.partition("?")[0]
        if plain in self._found and self._clock() - self._found[plain][0] > RETRY_SECONDS:
            del self._found[plain]
        return plain in self._found
