"""The fields of the form, and what they can be completed to."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.core.lab.form import ACCEPTS, MATCHES, PAGE, VERBS
from ktui.core.state import State
from ktui.kube.resources import ResourceTable
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.lab.field_form import Field

FIELDS = (
    Field("resource", "resource", "pods, leases, …"),
    Field("namespace", "namespace", "all"),
    Field("label_selector", "labelSelector", "app=web,tier!=db"),
    Field("field_selector", "fieldSelector", "spec.nodeName=…"),
    Field("resource_version", "resourceVersion", "unset"),
    Field("match", "resourceVersionMatch", "unset", MATCHES),
    Field("limit", "limit", "none"),
    Field("continue_token", "continue", "a page's token"),
    Field("accept", "accept", choices=tuple(ACCEPTS)),
    Field("kube_version", "rules of", "the server", ("", *reversed(KNOWN_VERSIONS))),
    Field("verb", "verb", choices=VERBS),
)


class Candidates:
    """What a field may be completed to, from what is known now."""

    def __init__(self) -> None:
        self.namespaces: list[str] = []

    @property
    def busy_namespace(self) -> str:
        """One that is likely to hold something; "" when none is known."""
        own = [name for name in self.namespaces if name != "default" and not name.startswith("kube-")]
        return next(iter(own or self.namespaces), "")

    def of(self, field: str, resource: str, table: ResourceTable, state: State) -> Iterable[str]:
        if field == "resource":
            return self._resources(table, state)
        if field == "namespace":
            return self.namespaces
        if field == "field_selector":
            found = table.by_name(resource)
            return [f"{name}=" for name in found.field_selectors] if found is not None else ()
        if field == "resource_version":
            found = table.by_name(resource)
            row = state.caches.get(found.id) if found is not None else None
            return ["0", *([str(row.rv)] if row is not None else [])]
        return [str(PAGE)] if field == "limit" else ()

    def _resources(self, table: ResourceTable, state: State) -> list[str]:
        """Those that etcd holds first, then every other by name."""
        held = {prefix.resource for prefix in state.prefixes.values() if prefix.resource}
        known = sorted(held | state.caches.keys())
        return [*known, *sorted(r.id for r in table.preferred() if r.stored and r.id not in held)]
