"""RequestScope: the keys that a request can concern, by namespace, name and field selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.kube.names import dns_label_faults, path_segment_faults
from ktui.kube.selectors import FieldTerm

if TYPE_CHECKING:
    from ktui.kube.selectors import FieldSelector, LabelSelector
    from ktui.kube.versions import Behaviour

NAME, NAMESPACE = "metadata.name", "metadata.namespace"


@dataclass(frozen=True, slots=True)
class RequestScope:
    """Namespace and name after narrowing, "" for all.

    `single`: one key, not a collection. `narrowed`: a metadata.namespace selector narrowed the prefix.
    `selective`: selectors remain after narrowing.
    """

    namespace: str
    name: str
    single: bool
    narrowed: bool
    selective: bool

    @property
    def prefix(self) -> str:
        """The common prefix of all keys of a collection, below the resource's own prefix."""
        return f"{self.namespace}/" if self.namespace else ""

    @property
    def key(self) -> str:
        """The key of a single object, below the resource's own prefix."""
        return self.prefix + self.name


def scope_of(
    namespace: str | None,
    name: str | None,
    labels: LabelSelector,
    fields: FieldSelector,
    behaviour: Behaviour,
    *,
    namespaced: bool,
    continued: bool,
) -> RequestScope:
    """Narrow a LIST as kube-apiserver's registry does.

    A metadata.name selector turns the LIST into a single key if the key can be built; since 1.27 a
    metadata.namespace selector narrows it to one namespace. Neither applies to a continued LIST.
    """
    narrowed = False
    if namespaced and not namespace and behaviour.minor >= 27 and not continued:
        wanted = fields.requires(NAMESPACE)
        if wanted and not dns_label_faults(wanted):
            namespace, narrowed = wanted, True
    name = name or fields.requires(NAME) or ""
    buildable = bool(name) and (bool(namespace) or not namespaced) and not path_segment_faults(name)
    single = buildable and not continued
    used = {FieldTerm(NAME, name)} if single else set()
    if narrowed:
        used.add(FieldTerm(NAMESPACE, namespace or ""))
    selective = not labels.empty or not used.issuperset(fields.terms)
    return RequestScope(namespace or "", name if single else "", single, narrowed, selective)
