"""Answers of a real kube-apiserver, where this machine has them: beside the checkout, or at KTUI_SHARED."""

from __future__ import annotations

import functools
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable

_BESIDE = Path(__file__).resolve().parents[3].parent / "shared"


def shared(path: str) -> Path:
    """A file of the recordings; the test is skipped where there are none."""
    found = Path(os.environ.get("KTUI_SHARED", _BESIDE)) / path
    if not found.exists():
        pytest.skip(f"no recorded answers here ({path}); KTUI_SHARED may name their place")
    return found


@functools.cache
def cases() -> list[dict[str, Any]]:
    """Every recorded request with its answer."""
    with gzip.open(shared("oracle/open.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@functools.cache
def objects() -> list[dict[str, Any]]:
    """`{key, url, body}` of each object that the recorded server had."""
    with gzip.open(shared("oracle/objects.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@functools.cache
def served() -> ResourceTable:
    """The built-in resources and that server's custom ones."""
    bodies = [row["body"] for row in objects()]
    crds = [body for body in bodies if body.get("kind") == "CustomResourceDefinition"]
    return BUILTIN.plus(r for crd in crds for r in resources_of(crd))
