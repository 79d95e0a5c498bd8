"""Recorded answers of a real kube-apiserver 1.36.2."""

from __future__ import annotations

import functools
from typing import Any

from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from tools.fidelity.recordings import ORACLE, lines


@functools.cache
def cases() -> list[dict[str, Any]]:
    """Every recorded request with its answer."""
    return list(lines(ORACLE / "cases.jsonl.xz"))


@functools.cache
def objects() -> list[dict[str, Any]]:
    """`{key, url, body}` of each object that the recorded server had."""
    return list(lines(ORACLE / "objects.jsonl.xz"))


@functools.cache
def served() -> ResourceTable:
    """The built-in resources and that server's custom ones."""
    bodies = [row["body"] for row in objects()]
    crds = [body for body in bodies if body.get("kind") == "CustomResourceDefinition"]
    return BUILTIN.plus(r for crd in crds for r in resources_of(crd))
