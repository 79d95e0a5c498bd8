"""One function per built-in kind: from an object's JSON to its Table cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.kube.tables.object_fields import Obj
from ktui.kube.tables.printers import cluster, core, network, storage, workloads

Printer = Callable[[Obj], list[Any]]

PRINTERS: dict[str, Printer] = {
    **core.PRINTERS,
    **workloads.PRINTERS,
    **network.PRINTERS,
    **storage.PRINTERS,
    **cluster.PRINTERS,
}
"""Printers by resource id. Their cells do not include the name, which nearly all kinds print the same way."""
