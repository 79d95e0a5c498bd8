"""`--audit-policy-file`: which requests are logged (audit.k8s.io/v1; upstream: audit/policy/checker.go)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ktui.documents.limits import DocumentError, read_bytes
from ktui.documents.yamlreader import read_yaml
from ktui.kube.json_trees import without_nulls
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester

MOST_BYTES = 1 << 20
Level = Literal["None", "Metadata", "Request", "RequestResponse"]
Stage = Literal["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"]


class GroupResources(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Resources of an API group: `pods`, `pods/log`, `pods/*`, `*/scale` or `*`; none: all resources."""

    group: str = ""
    resources: list[str] = []
    resource_names: list[str] = []

    def match(self, asked: RequestAttributes) -> bool:
        if self.group != asked.group:
            return False
        if not self.resources:
            return True
        if self.resource_names and asked.name not in self.resource_names:
            return False
        return any(_resource_matches(pattern, asked) for pattern in self.resources)


class AuditPolicyRule(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The first rule that matches a request decides. An empty field matches everything."""

    level: Level
    users: list[str] = []
    user_groups: list[str] = []
    verbs: list[str] = []
    resources: list[GroupResources] = []
    namespaces: list[str] = []
    non_resource_urls: list[str] = msgspec.field(name="nonResourceURLs", default=[])
    omit_stages: list[Stage] = []
    omit_managed_fields: bool | None = None

    def match(self, who: Requester | None, asked: RequestAttributes) -> bool:
        if self.users and (who is None or who.user not in self.users):
            return False
        if self.user_groups and (who is None or not set(self.user_groups).intersection(who.groups)):
            return False
        if self.verbs and asked.verb not in self.verbs:
            return False
        if self.namespaces or self.resources:
            if asked.path or (self.namespaces and asked.namespace not in self.namespaces):
                return False
            return not self.resources or any(resource.match(asked) for resource in self.resources)
        if self.non_resource_urls:
            return any(_path_matches(pattern, asked.path) for pattern in self.non_resource_urls)
        return True

    def faults(self) -> Iterator[str]:
        if self.non_resource_urls and (self.resources or self.namespaces):
            yield "a rule cannot apply to both regular resources and non-resource URLs"
        for url in self.non_resource_urls:
            if url != "*" and not url.startswith("/"):
                yield f"nonResourceURLs {url!r} must begin with a slash, or be *"
            if "*" in url[:-1]:
                yield f"nonResourceURLs {url!r}: * is allowed at the end only"
        for resource in self.resources:
            if resource.resource_names and not resource.resources:
                yield "resourceNames requires at least one resource"


class _Policy(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    api_version: Literal["audit.k8s.io/v1"]
    kind: Literal["Policy"]
    rules: list[AuditPolicyRule] = []
    omit_stages: list[Stage] = []
    omit_managed_fields: bool = False
    metadata: dict[str, object] = {}


class Audited(NamedTuple):
    """What is logged of a request: nothing at level `None`, else all stages except `omitted`."""

    level: str
    omitted: frozenset[str] = frozenset()
    unmanaged: bool = False  # the objects of levels Request and RequestResponse, without managedFields


NOT_AUDITED = Audited("None")


class AuditPolicy:
    """Decides by the first matching rule; a request that matches no rule is not logged."""

    def __init__(
        self, rules: list[AuditPolicyRule], omit_stages: list[Stage], *, omit_managed_fields: bool = False
    ) -> None:
        self._rules: list[tuple[AuditPolicyRule, Audited]] = []
        for rule in rules:
            own = rule.omit_managed_fields
            omitted = frozenset([*omit_stages, *rule.omit_stages])
            audited = Audited(rule.level, omitted, omit_managed_fields if own is None else own)
            self._rules.append((rule, audited))

    def decide(self, who: Requester | None, asked: RequestAttributes) -> Audited:
        """Return what is logged of a request; `who` None: authentication failed."""
        return next((audited for rule, audited in self._rules if rule.match(who, asked)), NOT_AUDITED)


EVERYTHING = AuditPolicy([AuditPolicyRule("Metadata")], [])


def read_policy(path: Path) -> AuditPolicy:
    """Read a policy. Raises ValueError, which names the invalid rule and why."""
    try:
        policy = msgspec.convert(without_nulls(read_yaml(read_bytes(path, MOST_BYTES))), _Policy)
    except (OSError, DocumentError, ValueError) as error:
        raise ValueError(f"--audit-policy-file {path} cannot be read: {error}") from error
    if not policy.rules:
        raise ValueError(f"--audit-policy-file {path} has no rules: nothing would be logged")
    for number, rule in enumerate(policy.rules, 1):
        for fault in rule.faults():
            raise ValueError(f"--audit-policy-file {path}: rule {number}: {fault}")
    return AuditPolicy(policy.rules, policy.omit_stages, omit_managed_fields=policy.omit_managed_fields)


def _resource_matches(pattern: str, asked: RequestAttributes) -> bool:
    if pattern in ("*", asked.full_resource):
        return True
    if pattern.startswith("*/"):
        return bool(asked.subresource) and asked.subresource == pattern[2:]
    return pattern.endswith("/*") and asked.resource == pattern[:-2]


def _path_matches(pattern: str, path: str) -> bool:
    """False for a resource, whose `path` is ""."""
    if not path:
        return False
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
