"""From which size an object's row of a Table is computed off the event loop."""

from __future__ import annotations

from dataclasses import replace

from ktui.apiserver.forms.plain import Plain
from ktui.apiserver.forms.table_form import Table
from ktui.kube.resources import Resource, TableColumn
from ktui.telemetry.off_loop import LARGE_BYTES


def test_columns_that_search_make_small_objects_large() -> None:
    """400 that each look at 1,000 items held the loop for a third of a second, of an object of 15 KB."""
    resource = Resource(
        group="a.io", version="v1", resource="ws", kind="W", singular="w", namespaced=True, custom=True
    )

    def large_bytes(*sources: str) -> int:
        columns = tuple(TableColumn(f"c{number}", source=source) for number, source in enumerate(sources))
        own = replace(resource, columns=columns)
        return Table(Plain(own), own, "meta.k8s.io/v1", "None").large_bytes

    assert large_bytes(".spec.a", ".status.conditions[?(@.type=='Ready')].status") == LARGE_BYTES
    assert large_bytes(*[".spec.a"] * 400) == LARGE_BYTES
    assert large_bytes(*[".spec.items[?(@.a=='x')].a"] * 400) < 1_000
