"""Recorded answers of a real kube-apiserver 1.36.2; other facts about it where this machine has them."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from tools.fidelity.recordings import ORACLE, lines

_BESIDE = Path(__file__).resolve().parents[3].parent / "shared"


def shared(path: str) -> Path:
    """A file beside the checkout, or at KTUI_SHARED; the test is skipped where there is none."""
    found = Path(os.environ.get("KTUI_SHARED", _BESIDE)) / path
    if not found.exists():
        pytest.skip(f"not on this machine: {path}; KTUI_SHARED may name their place")
    return found


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
